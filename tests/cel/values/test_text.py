"""How Go prints values."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from celadon.cel import types
from celadon.cel.values.maps import make_map
from celadon.cel.values.runtime_types import NONE, Optional, display
from celadon.cel.values.text import Uint, go_float, go_plain_float, go_quote, utf8
from celadon.cel.values.timestamps import Duration, Timestamp


@pytest.mark.parametrize(
    ("value", "text", "plain"),
    [
        (1.0, "1", "1"),
        (0.0, "0", "0"),
        (-0.0, "-0", "-0"),
        (123456.0, "123456", "123456"),
        (999999.0, "999999", "999999"),
        (1000000.0, "1e+06", "1000000"),
        (1234567.8, "1.2345678e+06", "1234567.8"),
        (0.0001, "0.0001", "0.0001"),
        (0.00001, "1e-05", "0.00001"),
        (1e23, "1e+23", "100000000000000000000000"),
        (1.5e-7, "1.5e-07", "0.00000015"),
        (-2.5, "-2.5", "-2.5"),
        (1e100, "1e+100", "1" + "0" * 100),
        (math.nan, "NaN", "NaN"),
        (math.inf, "+Inf", "+Inf"),
        (-math.inf, "-Inf", "-Inf"),
    ],
)
def test_doubles(value: float, text: str, plain: str) -> None:
    assert go_float(value) == text
    assert go_plain_float(value) == plain


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_printed_doubles_read_back(value: float) -> None:
    assert float(go_float(value)) == value
    assert float(go_plain_float(value)) == value


@pytest.mark.parametrize(
    ("text", "quoted"),
    [
        ("a b", '"a b"'),
        ('a"b\\', '"a\\"b\\\\"'),
        ("\a\b\f\n\r\t\v", '"\\a\\b\\f\\n\\r\\t\\v"'),
        ("\x01\x7f", '"\\x01\\x7f"'),
        ("é\u200b\U000e0001", '"é\\u200b\\U000e0001"'),
        ("\ud800", '"\\ufffd"'),
    ],
)
def test_quoting(text: str, quoted: str) -> None:
    assert go_quote(text) == quoted


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("a", "a"),
        (None, "0"),
        (True, "true"),
        (-1, "-1"),
        (Uint(1), "1"),
        (1e6, "1e+06"),
        (b"ab", "[97 98]"),
        ([1, "a", [None]], "[1, a, [0]]"),
        ({"a": 1}, "{a: 1}"),
        (make_map([(True, 1)]), "{true: 1}"),
        (Timestamp(0), "1970-01-01 00:00:00 +0000 UTC"),
        (Duration(1), "1ns"),
        (types.LIST, "list(dyn)"),
        (NONE, "optional.none()"),
        (Optional(1), "optional(1)"),
    ],
)
def test_display(value: object, text: str) -> None:
    assert display(value) == text


def test_lone_surrogates_become_replacement_characters() -> None:
    assert utf8("a\ud800b") == b"a\xef\xbf\xbdb"
    assert utf8("é") == b"\xc3\xa9"
