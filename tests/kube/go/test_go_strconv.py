"""`strconv.ParseInt`, `ParseUint`, `ParseBool`."""

from __future__ import annotations

import re

import pytest

from celadon.kube.go.go_text import int_or, parse_bool, parse_int, parse_uint


@pytest.mark.parametrize(
    ("text", "bits", "value"),
    [
        ("0", 64, 0),
        ("+7", 64, 7),
        ("-7", 64, -7),
        ("007", 64, 7),
        ("0" * 5000 + "1", 64, 1),
        ("9223372036854775807", 64, 2**63 - 1),
        ("-2147483648", 32, -(2**31)),
    ],
)
def test_integers(text: str, bits: int, value: int) -> None:
    assert parse_int(text, bits) == value


@pytest.mark.parametrize(
    ("text", "bits", "why"),
    [
        ("", 64, 'parsing "": invalid syntax'),
        ("1.5", 64, 'parsing "1.5": invalid syntax'),
        ("1_000", 64, 'parsing "1_000": invalid syntax'),
        ("٣", 64, 'parsing "٣": invalid syntax'),
        ("1\n", 64, 'parsing "1\\n": invalid syntax'),
        ("9223372036854775808", 64, "value out of range"),
        ("2147483648", 32, "value out of range"),
        ("9" * 5000, 64, "value out of range"),
    ],
)
def test_what_is_none(text: str, bits: int, why: str) -> None:
    with pytest.raises(ValueError, match=f"strconv.ParseInt: .*{re.escape(why)}"):
        parse_int(text, bits)


@pytest.mark.parametrize(
    ("text", "bits", "value"), [("0", 16, 0), ("0080", 16, 80), ("65535", 16, 65535)]
)
def test_numbers_without_a_sign(text: str, bits: int, value: int) -> None:
    assert parse_uint(text, bits) == value


@pytest.mark.parametrize(
    ("text", "why"), [("-1", "invalid syntax"), ("+1", "invalid syntax"), ("65536", "out of range")]
)
def test_what_is_no_number_without_a_sign(text: str, why: str) -> None:
    with pytest.raises(ValueError, match=f"strconv.ParseUint: .*{why}"):
        parse_uint(text, 16)


@pytest.mark.parametrize(
    ("texts", "value"),
    [("1 t T true TRUE True", True), ("0 f F false FALSE False", False), ("yes tRUE 01", None)],
)
def test_booleans(texts: str, value: bool | None) -> None:
    assert {parse_bool(text) for text in texts.split()} == {value}
    assert parse_bool("") is None


@pytest.mark.parametrize(
    ("text", "number"),
    [("12", 12), ("-3", -3), ("", 7), ("x", 7), ("1_0", 7), ("²", 7), ("9" * 5000, 7), (" 1", 7)],
)
def test_numbers_that_may_be_none(text: str, number: int) -> None:
    assert int_or(text, 7) == number
