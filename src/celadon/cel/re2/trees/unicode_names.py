r"""What `\p{name}`, `\d` and `[:name:]` stand for.

`\p` names are looked up as Go 1.26 does (golang/go `regexp/syntax/parse.go` `unicodeTable`): the
name is made canonical (separators dropped, first letter upper case, the rest lower case), then
sought among the special names, the general categories, the scripts and the long names of the
categories. Because of the canonical form Go cannot find scripts whose name has several words
(`Old_Italic`, `SignWriting`); neither can we.
"""

from __future__ import annotations

from functools import lru_cache

from celadon.cel.re2.trees.charsets import ANY, WORD, CharSet, negate, normalize
from celadon.cel.re2.trees.unicode15 import load_categories, load_scripts

_DIGIT: CharSet = ((0x30, 0x39),)
_UPPER: CharSet = ((0x41, 0x5A),)
_LOWER: CharSet = ((0x61, 0x7A),)
_SPACE: CharSet = ((0x09, 0x0A), (0x0C, 0x0D), (0x20, 0x20))
_ALPHA: CharSet = _UPPER + _LOWER

PERL_CLASSES: dict[str, tuple[CharSet, bool]] = {
    "d": (_DIGIT, False),
    "D": (_DIGIT, True),
    "s": (_SPACE, False),
    "S": (_SPACE, True),
    "w": (WORD, False),
    "W": (WORD, True),
}
"""Letter after the backslash to the set and whether it is negated."""

_POSIX_SETS: dict[str, CharSet] = {
    "alnum": _DIGIT + _ALPHA,
    "alpha": _ALPHA,
    "ascii": ((0x00, 0x7F),),
    "blank": ((0x09, 0x09), (0x20, 0x20)),
    "cntrl": ((0x00, 0x1F), (0x7F, 0x7F)),
    "digit": _DIGIT,
    "graph": ((0x21, 0x7E),),
    "lower": _LOWER,
    "print": ((0x20, 0x7E),),
    "punct": ((0x21, 0x2F), (0x3A, 0x40), (0x5B, 0x60), (0x7B, 0x7E)),
    "space": ((0x09, 0x0D), (0x20, 0x20)),
    "upper": _UPPER,
    "word": WORD,
    "xdigit": ((0x30, 0x39), (0x41, 0x46), (0x61, 0x66)),
}

POSIX_CLASSES: dict[str, tuple[CharSet, bool]] = {
    f"[:{sign}{name}:]": (chars, bool(sign))
    for name, chars in _POSIX_SETS.items()
    for sign in ("", "^")
}
"""`[:alpha:]` and `[:^alpha:]` to the set and whether it is negated."""

_ALIASES: dict[str, str] = {
    "Casedletter": "Lc",
    "Closepunctuation": "Pe",
    "Cntrl": "Cc",
    "Combiningmark": "M",
    "Connectorpunctuation": "Pc",
    "Control": "Cc",
    "Currencysymbol": "Sc",
    "Dashpunctuation": "Pd",
    "Decimalnumber": "Nd",
    "Digit": "Nd",
    "Enclosingmark": "Me",
    "Finalpunctuation": "Pf",
    "Format": "Cf",
    "Initialpunctuation": "Pi",
    "Letter": "L",
    "Letternumber": "Nl",
    "Lineseparator": "Zl",
    "Lowercaseletter": "Ll",
    "Mark": "M",
    "Mathsymbol": "Sm",
    "Modifierletter": "Lm",
    "Modifiersymbol": "Sk",
    "Nonspacingmark": "Mn",
    "Number": "N",
    "Openpunctuation": "Ps",
    "Other": "C",
    "Otherletter": "Lo",
    "Othernumber": "No",
    "Otherpunctuation": "Po",
    "Othersymbol": "So",
    "Paragraphseparator": "Zp",
    "Privateuse": "Co",
    "Punct": "P",
    "Punctuation": "P",
    "Separator": "Z",
    "Spaceseparator": "Zs",
    "Spacingmark": "Mc",
    "Surrogate": "Cs",
    "Symbol": "S",
    "Titlecaseletter": "Lt",
    "Unassigned": "Cn",
    "Uppercaseletter": "Lu",
}


@lru_cache(maxsize=1)
def _tables() -> dict[str, CharSet]:
    categories = load_categories()
    tables: dict[str, CharSet] = {**load_scripts(), **categories}
    for letter in "CLMNPSZ":
        tables[letter] = normalize(
            pair for name, chars in categories.items() if name[0] == letter for pair in chars
        )
    tables["Lc"] = normalize(pair for name in ("Lu", "Ll", "Lt") for pair in categories[name])
    tables["Any"] = ANY
    tables["Assigned"] = negate(categories["Cn"])
    tables["Ascii"] = _POSIX_SETS["ascii"]
    return tables


def _canonical(name: str) -> str:
    kept = name.translate({ord(separator): None for separator in "_- "})
    return _ascii_upper(kept[:1]) + _ascii_lower(kept[1:])


def _ascii_upper(text: str) -> str:
    return text.upper() if text.isascii() else text


def _ascii_lower(text: str) -> str:
    return "".join(char.lower() if char.isascii() else char for char in text)


def unicode_set(name: str) -> CharSet | None:
    r"""The characters of `\p{name}`; None when Go knows no such name."""
    canonical = _canonical(name)
    tables = _tables()
    return tables.get(_ALIASES.get(canonical, canonical))
