"""The values of number, string and bytes literals (cel-go `parser/unescape.go`).

The functions take a token's text and raise `LiteralError` with the message to report.
"""

from __future__ import annotations

import math
import re

from celadon.cel.parsing import tokens
from celadon.cel.syntax import LiteralValue
from celadon.cel.values.numbers import MAX_INT, MAX_UINT, MIN_INT, Uint
from celadon.patterns import late_pattern

INVALID_INT = "invalid int literal"
INVALID_UINT = "invalid uint literal"
INVALID_DOUBLE = "invalid double literal"
INVALID_ESCAPE = "unable to unescape string"
INVALID_CODE_POINT = "invalid unicode code point"

#: No number of more digits than this fits 64 bits; Python refuses to convert very long ones.
_MAX_DIGITS = 20

_MAX_CODE_POINT = 0x10FFFF
_ESCAPE = late_pattern(r"\\(?:x(..)|X(..)|u(....)|U(........)|([0-3]..)|(.))", re.DOTALL)
_SIMPLE_ESCAPES = {
    "a": "\a",
    "b": "\b",
    "f": "\f",
    "n": "\n",
    "r": "\r",
    "t": "\t",
    "v": "\v",
    "\\": "\\",
    '"': '"',
    "'": "'",
    "`": "`",
    "?": "?",
}
_CARRIAGE_RETURN = late_pattern("\r\n?")


class LiteralError(Exception):
    """A literal without a value; the text is cel-go's."""


def decode_literal(kind: str, text: str, *, negative: bool = False) -> LiteralValue:
    """The value of a literal token; `negative` if a minus sign belongs to it."""
    match kind:
        case tokens.STRING:
            return decode_string(text)
        case tokens.INT:
            return _decode_int(text, negative=negative)
        case tokens.FLOAT:
            return _decode_double(text, negative=negative)
        case tokens.UINT:
            return _decode_uint(text)
        case tokens.BYTES:
            return decode_bytes(text)
        case "null":
            return None
        case _:
            return kind == "true"


def _decode_int(text: str, *, negative: bool) -> int:
    magnitude = _magnitude(text)
    value = -magnitude if negative else magnitude
    if not MIN_INT <= value <= MAX_INT:
        raise LiteralError(INVALID_INT)
    return value


def _decode_uint(text: str) -> Uint:
    magnitude = _magnitude(text[:-1])
    if magnitude > MAX_UINT:
        raise LiteralError(INVALID_UINT)
    return Uint(magnitude)


def _magnitude(text: str) -> int:
    """The number, or one that fits no type if there are too many digits to convert."""
    if text.startswith("0x"):
        digits, base = text[2:], 16
    else:
        digits, base = text, 10
    if len(digits) > _MAX_DIGITS:
        digits = digits.lstrip("0") or "0"
        if len(digits) > _MAX_DIGITS:
            return MAX_UINT + 1
    return int(digits, base)


def _decode_double(text: str, *, negative: bool) -> float:
    value = float(text)
    if math.isinf(value):
        raise LiteralError(INVALID_DOUBLE)
    return -value if negative else value


def decode_string(text: str) -> str:
    """The text of a string literal, as written with prefix and quotes. Raises `LiteralError`."""
    content, raw = _content(text)
    if raw or "\\" not in content:
        return content
    return _ESCAPE.sub(_string_escape, content)


def decode_bytes(text: str) -> bytes:
    """The bytes of a bytes literal: text as UTF-8, octal and hexadecimal escapes as single bytes.
    Raises `LiteralError`."""
    content, raw = _content(text[1:])
    if raw or "\\" not in content:
        return content.encode()
    out = bytearray()
    position = 0
    for match in _ESCAPE.finditer(content):
        out += content[position : match.start()].encode()
        out += _byte_escape(match)
        position = match.end()
    out += content[position:].encode()
    return bytes(out)


def _content(text: str) -> tuple[str, bool]:
    """What is between the quotes, with line ends normalised, and whether the literal is raw."""
    raw = text[0] in "rR"
    if raw:
        text = text[1:]
    width = 3 if text.startswith(('"""', "'''")) else 1
    content = text[width:-width]
    if "\r" in content:
        content = _CARRIAGE_RETURN.sub("\n", content)
    return content, raw


def _string_escape(match: re.Match[str]) -> str:
    hex2, upper_hex2, hex4, hex8, octal, simple = match.groups()
    if simple is not None:
        return _SIMPLE_ESCAPES[simple]
    if octal is not None:
        return chr(int(octal, 8))
    code_point = int(hex2 or upper_hex2 or hex4 or hex8, 16)
    if code_point > _MAX_CODE_POINT or 0xD800 <= code_point <= 0xDFFF:
        raise LiteralError(INVALID_CODE_POINT)
    return chr(code_point)


def _byte_escape(match: re.Match[str]) -> bytes:
    hex2, upper_hex2, _, _, octal, simple = match.groups()
    if simple is not None:
        return _SIMPLE_ESCAPES[simple].encode()
    if octal is not None:
        return bytes((int(octal, 8),))
    two_digits = hex2 or upper_hex2
    if two_digits is None:
        raise LiteralError(INVALID_ESCAPE)
    return bytes((int(two_digits, 16),))
