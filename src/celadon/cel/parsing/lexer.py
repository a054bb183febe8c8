"""Characters to tokens.

Two ways to the same tokens. `tokenize` is for texts without errors and is what nearly every
expression needs: one pass of one regular expression, three parallel lists. If it meets something
that is no token it returns None. `next_token` makes one token at a time, and says of a part that is
no token how far it looked like one.

Longest match is kept by the order of alternatives: literals with a prefix before identifiers,
triple quotes before single ones, floats before unsigned before signed numbers. No alternative can
backtrack over more than one token, so the time is linear.
"""

from __future__ import annotations

import math
import re
from typing import Final, NamedTuple

from celadon.cel import syntax
from celadon.cel.parsing import tokens
from celadon.cel.syntax import LiteralValue
from celadon.cel.values.text import MAX_INT, MAX_UINT, MIN_INT, Uint
from celadon.late_patterns import late_pattern

_SKIP = r"(?:[ \t\r\n\f]++|//[^\n]*+)*+"
_ESCAPE = (
    r"\\(?:[abfnrtv\"'\\?`]|[xX][0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|[0-3][0-7][0-7])"
)
_QUOTED = (
    rf'(?:"""(?:[^\\]|{_ESCAPE})*?"""|'
    rf"'''(?:[^\\]|{_ESCAPE})*?'''|"
    rf'"(?:[^\\"\n\r]|{_ESCAPE})*+"|'
    rf"'(?:[^\\'\n\r]|{_ESCAPE})*+'|"
    r'[rR](?:"""(?:.*?)"""|'
    r"'''(?:.*?)'''|"
    r'"[^"\n\r]*+"|'
    r"'[^'\n\r]*+'))"
)
_DIGITS = r"[0-9]++"
_EXPONENT = r"[eE][+-]?[0-9]+"
_HEX = r"0x[0-9a-fA-F]++"
_NAME = r"[A-Za-z_][A-Za-z0-9_]*+"

#: Group numbers say what matched; see `_KIND_OF_GROUP`. Group 1 are texts that decide themselves.
_TOKEN = late_pattern(
    rf"{_SKIP}(?:"
    rf"({_NAME}(?![\"'])|&&|\|\||[=!<>]=|[\[\]{{}}(),\-!?:+*/%<>]|\.(?![0-9]))"
    rf"|({_QUOTED})"
    rf"|([bB]{_QUOTED})"
    rf"|([0-9]+\.[0-9]+(?:{_EXPONENT})?|[0-9]+{_EXPONENT}|\.[0-9]+(?:{_EXPONENT})?)"
    rf"|((?:{_HEX}|{_DIGITS})[uU])"
    rf"|({_HEX}|{_DIGITS})"
    r"|(`[A-Za-z0-9_.\-/ ]++`)"
    rf"|({_NAME})"
    r"|(.)"
    r")?",
    re.DOTALL,
)
_WORD, _STRING, _BYTES, _FLOAT, _UINT, _INT, _ESCAPED, _PREFIX, _JUNK = range(1, 10)
_KIND_OF_GROUP: dict[int, str] = {
    _STRING: tokens.STRING,
    _BYTES: tokens.BYTES,
    _FLOAT: tokens.FLOAT,
    _UINT: tokens.UINT,
    _INT: tokens.INT,
    _ESCAPED: tokens.ESC_IDENTIFIER,
}
_KIND_OF_TEXT: dict[str, str] = {text: text for text in tokens.FIXED}

_BEGUN_ESCAPE = r"\\(?:[xX][0-9a-fA-F]?|u[0-9a-fA-F]{0,3}|U[0-9a-fA-F]{0,7}|[0-3][0-7]?)?"
#: The longest beginning of some token, where no token is.
_BEGUN = late_pattern(
    rf'"(?:[^\\"\n\r]|{_ESCAPE})*+(?:{_BEGUN_ESCAPE})?'
    rf"|'(?:[^\\'\n\r]|{_ESCAPE})*+(?:{_BEGUN_ESCAPE})?"
    r"|`[A-Za-z0-9_.\-/ ]*+"
    r"|[&|=]"
)


class TokenList(NamedTuple):
    """Parallel lists, one entry per token; the last one is the end of input."""

    kinds: list[str]
    texts: list[str]
    offsets: list[int]


def tokenize(text: str) -> TokenList | None:
    """Return all tokens, or None if some part of the text is no token."""
    kinds: list[str] = []
    texts: list[str] = []
    offsets: list[int] = []
    for match in _TOKEN.finditer(text):
        group = match.lastindex
        if group is None:
            break
        token = match[group]
        if group == _WORD or group == _PREFIX:  # noqa: SIM109  # a seventh of the time
            kinds.append(_KIND_OF_TEXT.get(token, tokens.IDENTIFIER))
        elif group == _JUNK:
            return None
        else:
            kinds.append(_KIND_OF_GROUP[group])
        texts.append(token)
        offsets.append(match.start(group))
    kinds.append(tokens.EOF)
    texts.append(tokens.EOF)
    offsets.append(len(text))
    return TokenList(kinds, texts, offsets)


def next_token(text: str, index: int) -> tuple[str | None, int, int]:
    """Kind, start and end of the next token from there. Without kind it is no token.

    That part ends behind the character at which it became clear that there is no token.
    """
    match = _TOKEN.match(text, index)
    assert match is not None
    group = match.lastindex
    if group is None:
        return tokens.EOF, len(text), len(text)
    start, end = match.span(group)
    if group in (_WORD, _PREFIX):
        return _KIND_OF_TEXT.get(match[group], tokens.IDENTIFIER), start, end
    if group != _JUNK:
        return _KIND_OF_GROUP[group], start, end
    begun = _BEGUN.match(text, start)
    end = start if begun is None else begun.end()
    return None, start, min(end + 1, len(text))


# --- Literals ----------------------------------------------------------------
#
# The values of number, string and bytes literals (cel-go `parser/unescape.go`).
#
# The functions take a token's text and raise `LiteralError` with the message to report.

INVALID_INT = "invalid int literal"
INVALID_UINT = "invalid uint literal"
INVALID_DOUBLE = "invalid double literal"
INVALID_ESCAPE = "unable to unescape string"
INVALID_CODE_POINT = "invalid unicode code point"

#: No number of more digits than this fits 64 bits; Python refuses to convert very long ones.
_MAX_DIGITS = 20

_MAX_CODE_POINT = 0x10FFFF
_LITERALS_ESCAPE = late_pattern(r"\\(?:x(..)|X(..)|u(....)|U(........)|([0-3]..)|(.))", re.DOTALL)
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


def decode_literal(
    kind: str, text: str, *, negative: bool = False, older: bool = False
) -> LiteralValue:
    """Return the value of a literal token; `negative` if a minus sign belongs to it. `older` texts
    are those of cel-go before 0.23."""
    match kind:
        case tokens.STRING:
            return decode_string(text, older=older)
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
    """Return the number, or one that fits no type if there are too many digits to convert."""
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


def decode_string(text: str, *, older: bool = False) -> str:
    """Return the text of a string literal, as written with prefix and quotes. In `older` ones a
    surrogate is no error. Raises `LiteralError`."""
    content, raw = _content(text)
    if raw or "\\" not in content:
        return content
    return _LITERALS_ESCAPE.sub(_older_string_escape if older else _string_escape, content)


def decode_bytes(text: str) -> bytes:
    """Return the bytes of a bytes literal: text as UTF-8, octal and hexadecimal escapes as single
    bytes. Raises `LiteralError`."""
    content, raw = _content(text[1:])
    if raw or "\\" not in content:
        return content.encode()
    out = bytearray()
    position = 0
    for match in _LITERALS_ESCAPE.finditer(content):
        out += content[position : match.start()].encode()
        out += _byte_escape(match)
        position = match.end()
    out += content[position:].encode()
    return bytes(out)


def _content(text: str) -> tuple[str, bool]:
    """Return what is between the quotes, with line ends normalised, and whether the literal is
    raw."""
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


def _older_string_escape(match: re.Match[str]) -> str:
    """Go writes U+FFFD for a surrogate."""
    try:
        return _string_escape(match)
    except LiteralError:
        code_point = int(next(filter(None, match.groups())), 16)
        if code_point > _MAX_CODE_POINT:
            raise LiteralError(INVALID_ESCAPE) from None
        return "\ufffd"


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


# --- Operator table ----------------------------------------------------------
#
# The operators with two operands: sign, function, and how strongly they bind.
#
# One table for both parsers and the unparser (cel-go `parser/gen/CEL.g4`, `common/operators`).

#: Binding strengths from the loosest; what is as strong as a member needs no parentheses anywhere.
TERNARY, OR, AND, RELATION, SUM, PRODUCT, UNARY, MEMBER = range(8)


class Operator(NamedTuple):
    """Describes an operator. `function` is the name that calls of the operator have in the tree."""

    sign: str
    function: str
    strength: int


#: Runs of these are balanced, not read from the left.
LOGIC: Final = (
    Operator("||", syntax.LOGICAL_OR, OR),
    Operator("&&", syntax.LOGICAL_AND, AND),
)
BINARY: Final = (
    Operator("==", syntax.EQUALS, RELATION),
    Operator("!=", syntax.NOT_EQUALS, RELATION),
    Operator("in", syntax.IN, RELATION),
    Operator("<", syntax.LESS, RELATION),
    Operator("<=", syntax.LESS_EQUALS, RELATION),
    Operator(">=", syntax.GREATER_EQUALS, RELATION),
    Operator(">", syntax.GREATER, RELATION),
    Operator("+", syntax.ADD, SUM),
    Operator("-", syntax.SUBTRACT, SUM),
    Operator("*", syntax.MULTIPLY, PRODUCT),
    Operator("/", syntax.DIVIDE, PRODUCT),
    Operator("%", syntax.MODULO, PRODUCT),
)


def signs(strength: int) -> tuple[str, ...]:
    """Return the signs of the binary operators that bind that strongly."""
    return tuple(item.sign for item in BINARY if item.strength == strength)
