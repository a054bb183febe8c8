from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from celadon.cel.parsing import tokens
from celadon.cel.parsing.lexer import LiteralError, decode_bytes, decode_literal, decode_string
from celadon.cel.values.text import Uint


@pytest.mark.parametrize(
    ("kind", "text", "negative", "value"),
    [
        (tokens.INT, "007", False, 7),
        (tokens.INT, "0x1f", False, 31),
        (tokens.INT, "9223372036854775807", False, (1 << 63) - 1),
        (tokens.INT, "9223372036854775808", True, -(1 << 63)),
        (tokens.INT, "0x8000000000000000", True, -(1 << 63)),
        (tokens.INT, "0" * 5000 + "1", False, 1),
        (tokens.UINT, "18446744073709551615u", False, Uint((1 << 64) - 1)),
        (tokens.UINT, "0xfU", False, Uint(15)),
        (tokens.FLOAT, "1.5e3", True, -1500.0),
        (tokens.FLOAT, "1e-400", False, 0.0),
        ("true", "true", False, True),
        ("false", "false", False, False),
        ("null", "null", False, None),
    ],
)
def test_values(kind: str, text: str, negative: bool, value: object) -> None:
    decoded = decode_literal(kind, text, negative=negative)
    assert decoded == value
    assert type(decoded) is type(value)


@pytest.mark.parametrize(
    ("kind", "text", "negative", "message"),
    [
        (tokens.INT, "9223372036854775808", False, "invalid int literal"),
        (tokens.INT, "9223372036854775809", True, "invalid int literal"),
        (tokens.INT, "1" * 90_000, False, "invalid int literal"),
        (tokens.INT, "0x" + "f" * 17, False, "invalid int literal"),
        (tokens.UINT, "18446744073709551616u", False, "invalid uint literal"),
        (tokens.FLOAT, "1.99e90000009", False, "invalid double literal"),
        (tokens.STRING, r"'\ud800'", False, "invalid unicode code point"),
        (tokens.STRING, r"'\U00110000'", False, "invalid unicode code point"),
        (tokens.BYTES, r"b'\u0041'", False, "unable to unescape string"),
    ],
)
def test_errors(kind: str, text: str, negative: bool, message: str) -> None:
    with pytest.raises(LiteralError) as error:
        decode_literal(kind, text, negative=negative)
    assert str(error.value) == message


@pytest.mark.parametrize(
    ("text", "value"),
    [
        (r"'\a\b\f\n\r\t\v\\\"\'\`\?'", "\a\b\f\n\r\t\v\\\"'`?"),
        (r"'\x41\X42\103\u0044\U00000045'", "ABCDE"),
        (r"'\377\xff'", "ÿÿ"),
        (r"r'\n'", "\\n"),
        ("'''a\r\nb\rc'''", "a\nb\nc"),
        ("r'''a\r\n'''", "a\n"),
        (r"'\r\n'", "\r\n"),
        ("'''x'''", "x"),
        ("''", ""),
        ("''''''", ""),
    ],
)
def test_strings(text: str, value: str) -> None:
    assert decode_string(text) == value


@pytest.mark.parametrize(
    ("text", "value"),
    [
        (r"b'\xff\377\n'", b"\xff\xff\n"),
        ("b'é'", "é".encode()),
        (r"br'\x'", b"\\x"),
        ("B'''a\r\n'''", b"a\n"),
    ],
)
def test_bytes(text: str, value: bytes) -> None:
    assert decode_bytes(text) == value


@given(st.integers(-(1 << 70), 1 << 70))
def test_every_int_in_range_and_no_other(number: int) -> None:
    try:
        decoded = decode_literal(tokens.INT, str(abs(number)), negative=number < 0)
    except LiteralError:
        assert not -(1 << 63) <= number < 1 << 63
    else:
        assert decoded == number
