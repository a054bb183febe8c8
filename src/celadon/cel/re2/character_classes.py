"""Escapes and character classes: the parts of a pattern that stand for characters.

Every function takes the whole pattern and the index where its subject starts, and returns what it
found with the index after it. Where Go would slice the rest of the pattern into an error message,
so do we: the fragments are part of the texts.
"""

from __future__ import annotations

from functools import lru_cache

from celadon.cel.re2 import pattern_tree
from celadon.cel.re2.unicode15 import load_categories, load_scripts

# --- Unicode names -----------------------------------------------------------
#
# What `\p{name}`, `\d` and `[:name:]` stand for.
#
# `\p` names are looked up as Go 1.26 does (golang/go `regexp/syntax/parse.go` `unicodeTable`):
# the name is made canonical (separators dropped, first letter upper case, the rest lower case),
# then sought among the special names, the general categories, the scripts and the long names of
# the categories. Because of the canonical form Go cannot find scripts whose name has several
# words (`Old_Italic`, `SignWriting`); neither can we.

_DIGIT: pattern_tree.CharSet = ((0x30, 0x39),)
_UPPER: pattern_tree.CharSet = ((0x41, 0x5A),)
_LOWER: pattern_tree.CharSet = ((0x61, 0x7A),)
_SPACE: pattern_tree.CharSet = ((0x09, 0x0A), (0x0C, 0x0D), (0x20, 0x20))
_ALPHA: pattern_tree.CharSet = _UPPER + _LOWER

PERL_CLASSES: dict[str, tuple[pattern_tree.CharSet, bool]] = {
    "d": (_DIGIT, False),
    "D": (_DIGIT, True),
    "s": (_SPACE, False),
    "S": (_SPACE, True),
    "w": (pattern_tree.WORD, False),
    "W": (pattern_tree.WORD, True),
}
"""Letter after the backslash to the set and whether it is negated."""

_POSIX_SETS: dict[str, pattern_tree.CharSet] = {
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
    "word": pattern_tree.WORD,
    "xdigit": ((0x30, 0x39), (0x41, 0x46), (0x61, 0x66)),
}

POSIX_CLASSES: dict[str, tuple[pattern_tree.CharSet, bool]] = {
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
def _tables() -> dict[str, pattern_tree.CharSet]:
    categories = load_categories()
    tables: dict[str, pattern_tree.CharSet] = {**load_scripts(), **categories}
    for letter in "CLMNPSZ":
        tables[letter] = pattern_tree.normalize(
            pair for name, chars in categories.items() if name[0] == letter for pair in chars
        )
    tables["Lc"] = pattern_tree.normalize(
        pair for name in ("Lu", "Ll", "Lt") for pair in categories[name]
    )
    tables["Any"] = pattern_tree.ANY
    tables["Assigned"] = pattern_tree.negate(categories["Cn"])
    tables["Ascii"] = _POSIX_SETS["ascii"]
    return tables


def _canonical(name: str) -> str:
    letters = name.translate({ord(separator): None for separator in "_- "})
    return _ascii_upper(letters[:1]) + _ascii_lower(letters[1:])


def _ascii_upper(text: str) -> str:
    return text.upper() if text.isascii() else text


def _ascii_lower(text: str) -> str:
    return "".join(char.lower() if char.isascii() else char for char in text)


def unicode_set(name: str) -> pattern_tree.CharSet | None:
    r"""Return the characters of `\p{name}`; None when Go knows no such name."""
    canonical = _canonical(name)
    tables = _tables()
    return tables.get(_ALIASES.get(canonical, canonical))


_SIMPLE_ESCAPES = {"a": "\a", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v"}
_OCTAL = frozenset("01234567")
_HEX = frozenset("0123456789abcdefABCDEF")


def parse_escape(pattern: str, start: int) -> tuple[str, int]:
    """Parse one escaped character; `start` is at the backslash."""
    index = start + 1
    if index == len(pattern):
        raise pattern_tree.RegexError(pattern_tree.ErrorCode.TRAILING_BACKSLASH, "")
    char = pattern[index]
    index += 1
    if char == "x":
        return _parse_hex(pattern, start)
    if char == "0" or (char in _OCTAL and pattern[index : index + 1] in _OCTAL):
        while index < start + 4 and pattern[index : index + 1] in _OCTAL:
            index += 1
        return chr(int(pattern[start + 1 : index], 8)), index
    if char in _SIMPLE_ESCAPES:
        return _SIMPLE_ESCAPES[char], index
    if char.isascii() and not char.isalnum():
        return char, index
    raise pattern_tree.RegexError(pattern_tree.ErrorCode.INVALID_ESCAPE, pattern[start:index])


def _parse_hex(pattern: str, start: int) -> tuple[str, int]:
    r"""`\xhh` or `\x{h...}`."""
    index = start + 2
    if pattern[index : index + 1] == "{":
        return _parse_braced_hex(pattern, start)
    digits = pattern[index : index + 2]
    if len(digits) == 2 and _HEX.issuperset(digits):
        return chr(int(digits, 16)), index + 2
    raise pattern_tree.RegexError(pattern_tree.ErrorCode.INVALID_ESCAPE, pattern[start : index + 2])


def _parse_braced_hex(pattern: str, start: int) -> tuple[str, int]:
    first = index = start + 3
    value = 0
    while index < len(pattern):
        char = pattern[index]
        index += 1
        if char == "}" and index > first + 1:
            return chr(value), index
        if char not in _HEX:
            break
        value = value * 16 + int(char, 16)
        if value > pattern_tree.MAX_CODE_POINT:
            break
    raise pattern_tree.RegexError(pattern_tree.ErrorCode.INVALID_ESCAPE, pattern[start:index])


def parse_class_escape(
    pattern: str, start: int, *, folded: bool
) -> tuple[pattern_tree.CharSet, int] | None:
    r"""`\d`, `\pL`, `\p{Greek}` and their like; None when something else is at `start`."""
    if pattern[start : start + 1] != "\\":
        return None
    letter = pattern[start + 1 : start + 2]
    if letter in ("p", "P"):
        return _parse_unicode(pattern, start, folded=folded)
    if letter in PERL_CLASSES:
        chars, negated = PERL_CLASSES[letter]
        return _signed(chars, negated=negated, folded=folded), start + 2
    return None


def _parse_unicode(pattern: str, start: int, *, folded: bool) -> tuple[pattern_tree.CharSet, int]:
    index = start + 2
    if pattern[index : index + 1] == "{":
        end = pattern.find("}", start)
        if end < 0:
            raise pattern_tree.RegexError(pattern_tree.ErrorCode.INVALID_RANGE, pattern[start:])
        name, end = pattern[index + 1 : end], end + 1
    else:
        end = min(index + 1, len(pattern))
        name = pattern[index:end]
    negated = pattern[start + 1] == "P"
    if name.startswith("^"):
        negated = not negated
        name = name[1:]
    chars = unicode_set(name)
    if chars is None:
        raise pattern_tree.RegexError(pattern_tree.ErrorCode.INVALID_RANGE, pattern[start:end])
    return _signed(chars, negated=negated, folded=folded), end


def _signed(chars: pattern_tree.CharSet, *, negated: bool, folded: bool) -> pattern_tree.CharSet:
    if folded:
        chars = pattern_tree.fold(chars)
    return pattern_tree.negate(chars) if negated else chars


def _parse_posix(
    pattern: str, start: int, *, folded: bool
) -> tuple[pattern_tree.CharSet, int] | None:
    """`[:alpha:]` inside a class; None when `start` is not at one."""
    if not pattern.startswith("[:", start) or len(pattern) <= start + 2:
        return None
    end = pattern.find(":]", start + 2)
    if end < 0:
        return None
    name = pattern[start : end + 2]
    if name not in POSIX_CLASSES:
        raise pattern_tree.RegexError(pattern_tree.ErrorCode.INVALID_RANGE, name)
    chars, negated = POSIX_CLASSES[name]
    return _signed(chars, negated=negated, folded=folded), end + 2


def parse_class(pattern: str, start: int, *, folded: bool) -> tuple[pattern_tree.CharSet, int]:
    """Return a bracketed class; `start` is at the opening bracket."""
    index = start + 1
    negated = pattern.startswith("^", index)
    if negated:
        index += 1
    result: list[tuple[int, int]] = []
    first = index
    while index == first or not pattern.startswith("]", index):
        group = _parse_posix(pattern, index, folded=folded)
        if group is None:
            group = parse_class_escape(pattern, index, folded=folded)
        if group is None:
            low, high, index = _parse_range(pattern, index, start)
            result.extend(pattern_tree.fold(((low, high),)) if folded else ((low, high),))
        else:
            result.extend(group[0])
            index = group[1]
    chars = pattern_tree.normalize(result)
    return pattern_tree.negate(chars) if negated else chars, index + 1


def _parse_range(pattern: str, start: int, class_start: int) -> tuple[int, int, int]:
    """Read `a` or `a-z` inside a class: both ends and the index after; `[a-]` ends with a plain
    dash."""
    low, index = _parse_class_char(pattern, start, class_start)
    if pattern.startswith("-", index) and index + 1 < len(pattern) and pattern[index + 1] != "]":
        high, index = _parse_class_char(pattern, index + 1, class_start)
        if high < low:
            raise pattern_tree.RegexError(
                pattern_tree.ErrorCode.INVALID_RANGE, pattern[start:index]
            )
        return ord(low), ord(high), index
    return ord(low), ord(low), index


def _parse_class_char(pattern: str, index: int, class_start: int) -> tuple[str, int]:
    if index == len(pattern):
        raise pattern_tree.RegexError(pattern_tree.ErrorCode.MISSING_BRACKET, pattern[class_start:])
    if pattern[index] == "\\":
        return parse_escape(pattern, index)
    return pattern[index], index + 1
