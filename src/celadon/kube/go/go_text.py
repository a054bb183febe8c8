"""How Go prints values into texts that clients see: `%q`, `%v`, `%T` and `encoding/json`.

And what it takes for white space at their ends.
"""

from __future__ import annotations

import base64
import json
import re
from typing import Final

from celadon.kube.errors import MalformedText
from celadon.patterns import late_pattern

_NAMED_ESCAPES: Final = {
    "\a": "\\a",
    "\b": "\\b",
    "\f": "\\f",
    "\n": "\\n",
    "\r": "\\r",
    "\t": "\\t",
    "\v": "\\v",
    "\\": "\\\\",
    '"': '\\"',
}
_PLAIN: Final = late_pattern(r"[ !#-\[\]-~]*")
_HTML: Final = {
    "<": "\\u003c",
    ">": "\\u003e",
    "&": "\\u0026",
    "\u2028": "\\u2028",
    "\u2029": "\\u2029",
}

_WHITE_SPACE: Final = (
    "\t\n\v\f\r \x85\xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a"
    "\u2028\u2029\u202f\u205f\u3000"
)

_TYPES: Final = {
    dict: "map[string]interface {}",
    list: "[]interface {}",
    str: "string",
    bool: "bool",
    int: "int64",
    type(None): "<nil>",
}


def trim_space(text: str) -> str:
    """`strings.TrimSpace`: unlike `str.strip`, it leaves the separators 1c to 1f."""
    return text.strip(_WHITE_SPACE)


def _quoted_char(char: str) -> str:
    named = _NAMED_ESCAPES.get(char)
    if named is not None:
        return named
    code = ord(char)
    if 0xD800 <= code <= 0xDFFF:  # Go has no lone surrogates: it would hold the replacement
        return "\ufffd"
    if char.isprintable():
        return char
    if code < 0x80:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def quote(text: str) -> str:
    """`%q`, as `strconv.Quote`."""
    if _PLAIN.fullmatch(text) is not None:
        return f'"{text}"'
    return '"' + "".join(map(_quoted_char, text)) + '"'


def json_text(value: object) -> str:
    """Compact JSON as `json.Marshal` writes it: members in the order given, `<>&` escaped."""
    return escaped_html(json.dumps(value, ensure_ascii=False, separators=(",", ":")))


def escaped_html(text: str) -> str:
    """JSON with what browsers could take for something else written as escapes."""
    for char, escape in _HTML.items():
        if char in text:
            text = text.replace(char, escape)
    return text


def plain_text(value: object) -> str:
    """A JSON value as `%v` prints it: `map[a:1 b:[x y]]`."""
    if isinstance(value, dict):
        return f"map[{' '.join(f'{key}:{plain_text(value[key])}' for key in sorted(value))}]"
    if isinstance(value, list):
        return f"[{' '.join(map(plain_text, value))}]"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        # late: few such values are doubles, and the names of Kubernetes need no language.
        from celadon.cel.value_functions import text

        return text.go_float(value)
    return "<nil>" if value is None else str(value)


def type_text(value: object) -> str:
    """The Go type of a JSON value as `%T` prints it."""
    return _TYPES.get(value.__class__, "float64")


# --- Go strconv --------------------------------------------------------------
#
# Numbers and booleans in texts, as Go's `strconv` reads them.


_INTEGER: Final = late_pattern(r"[+-]?[0-9]+", re.ASCII)
_DIGITS: Final = late_pattern(r"[0-9]+", re.ASCII)
_MOST_DIGITS: Final = 64
"""Longer texts are not worth converting: no integer of 64 bits has as many, save for zeros."""


_BOOLEANS: Final = {
    **dict.fromkeys(("1", "t", "T", "true", "TRUE", "True"), True),
    **dict.fromkeys(("0", "f", "F", "false", "FALSE", "False"), False),
}


def parse_bool(text: str) -> bool | None:
    """Return what `ParseBool` reads; None for what it refuses."""
    return _BOOLEANS.get(text)


def parse_int(text: str, bits: int = 64) -> int:
    """A decimal integer of so many bits. Raises ValueError with the text of Go's error."""
    if _INTEGER.fullmatch(text) is None:
        raise ValueError(f"strconv.ParseInt: parsing {quote(text)}: invalid syntax")
    digits = text.lstrip("+-0")
    value = int(digits or "0") if len(digits) < _MOST_DIGITS else 1 << bits
    value = -value if text[0] == "-" else value
    if not -(1 << bits - 1) <= value < 1 << bits - 1:
        raise ValueError(f"strconv.ParseInt: parsing {quote(text)}: value out of range")
    return value


def parse_uint(text: str, bits: int = 64) -> int:
    """A decimal number without a sign. Raises ValueError with the text of Go's error."""
    if _DIGITS.fullmatch(text) is None:
        raise ValueError(f"strconv.ParseUint: parsing {quote(text)}: invalid syntax")
    digits = text.lstrip("0")
    value = int(digits or "0") if len(digits) < _MOST_DIGITS else 1 << bits
    if value >= 1 << bits:
        raise ValueError(f"strconv.ParseUint: parsing {quote(text)}: value out of range")
    return value


# --- Go base64 ---------------------------------------------------------------
#
# Bytes in JSON: standard base64 with padding, as Go's `encoding/base64` reads and writes it.
#
# Line breaks are skipped, the unused bits of the last character are ignored, anything else is
# refused with the position of the first offending byte.


_CHARACTER: Final = "[A-Za-z0-9+/]"
_WELL_FORMED: Final = late_pattern(
    f"(?:{_CHARACTER}{{4}})*(?:{_CHARACTER}{{2}}==|{_CHARACTER}{{3}}=)?"
)
_QUANTUM: Final = late_pattern(f"(?:[\r\n]*{_CHARACTER}){{4}}")
_BREAKS: Final = "\r\n"


class Base64Error(MalformedText):
    """The text is no base64; the message is Go's."""

    def __init__(self, position: int) -> None:
        super().__init__(f"illegal base64 data at input byte {position}")


def canonical_base64(text: str) -> str:
    """The same bytes without line breaks and with unused bits zero."""
    bare = text.replace("\r", "").replace("\n", "")
    if _WELL_FORMED.fullmatch(bare) is None:
        raise Base64Error(_offending_byte(text))
    return base64.b64encode(base64.b64decode(bare)).decode() if bare.endswith("=") else bare


def _offending_byte(text: str) -> int:
    """Return where Go stops: quanta of four characters, the last of them possibly padded."""
    start = 0
    while (match := _QUANTUM.match(text, start)) is not None:
        start = match.end()
    characters, position = 0, start
    while position < len(text):
        char = text[position]
        if re.fullmatch(_CHARACTER, char):
            characters += 1
        elif char not in _BREAKS:
            break
        position += 1
    if position == len(text):  # the text ends inside a quantum
        return position - characters
    if text[position] != "=" or characters < 2:
        return position
    return _offence_in_padding(text, position + 1, missing=characters == 2)


def _offence_in_padding(text: str, position: int, *, missing: bool) -> int:
    """After the first `=`: a second one where it is due, then nothing more."""
    position = _skip_breaks(text, position)
    if missing:
        if position == len(text):
            return position
        if text[position] != "=":
            return position - 1
        position = _skip_breaks(text, position + 1)
    return position


def _skip_breaks(text: str, position: int) -> int:
    while position < len(text) and text[position] in _BREAKS:
        position += 1
    return position


# --- Go media type -----------------------------------------------------------
#
# Media types, as Go's `mime.ParseMediaType` reads them.


_TOKEN: Final = r"[!#$%&'*+.^_`|~0-9A-Za-z-]+"
_PARAMETER: Final = rf'\s*;\s*{_TOKEN}\s*=\s*(?:{_TOKEN}|"(?:[^"\\]|\\.)*")'
_MEDIA_TYPE: Final = late_pattern(rf"\s*({_TOKEN}(?:/{_TOKEN})?)\s*(?:{_PARAMETER})*\s*;?\s*")
_LEADING_TOKEN: Final = late_pattern(_TOKEN)


def parse_media_type(text: str) -> str | None:
    """The type in lower case, without its parameters; None for what Go cannot read."""
    found = _MEDIA_TYPE.fullmatch(text)
    return None if found is None else found[1].lower()


def media_type_complaint(text: str) -> str:
    """Return what Go says of a text that `parse_media_type` cannot read."""
    kind, slash, subtype = text.partition(";")[0].strip().partition("/")
    name, more = _cut(kind)
    if not name:
        return "mime: no media type"
    if more:
        return "mime: expected slash after first token"
    name, more = _cut(subtype)
    if slash and not name:
        return "mime: expected token after slash"
    if more:
        return "mime: unexpected content after media subtype"
    return "mime: invalid media parameter"


def _cut(text: str) -> tuple[str, str]:
    """The token that it begins with, and the rest."""
    found = _LEADING_TOKEN.match(text)
    name = found[0] if found else ""
    return name, text.removeprefix(name)
