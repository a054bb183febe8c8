"""Conversions: what they read, and what they refuse."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from celadon.cel.errors import EvaluationError
from celadon.cel.values import conversions as c
from celadon.cel.values.text import MAX_INT, MAX_UINT, MIN_INT, Uint
from celadon.cel.values.timestamps import Timestamp

Conversion = Callable[[Any], Any]


@pytest.mark.parametrize(
    ("convert", "value", "result"),
    [
        (c.string_to_bool, "t", True),
        (c.string_to_bool, "False", False),
        (c.string_to_bytes, "é", b"\xc3\xa9"),
        (c.string_to_double, "1_000.5e1_0", 1000.5e10),
        (c.string_to_double, "0x1p-2", 0.25),
        (c.string_to_double, "-0X_1.8P1", -3.0),
        (c.string_to_double, ".5", 0.5),
        (c.string_to_double, "5.", 5.0),
        (c.string_to_double, "+iNf", math.inf),
        (c.string_to_double, "-Infinity", -math.inf),
        (c.string_to_double, "1e-400", 0.0),
        (c.string_to_int, "-9223372036854775808", MIN_INT),
        (c.string_to_int, "+5", 5),
        (c.string_to_int, "0" * 5000 + "7", 7),
        (c.string_to_uint, "18446744073709551615", Uint(MAX_UINT)),
        (c.double_to_int, 5.9, 5),
        (c.double_to_int, -5.9, -5),
        (c.double_to_int, -0.0, 0),
        (c.double_to_uint, 5.9, Uint(5)),
        (c.int_to_uint, 5, Uint(5)),
        (c.uint_to_int, Uint(5), 5),
        (c.timestamp_to_int, Timestamp(-1, 5), -1),
        (c.bytes_to_string, b"\xc3\xa9", "é"),
        (c.bool_to_string, True, "true"),
        (c.int_to_string, Uint(7), "7"),
    ],
)
def test_results(convert: Conversion, value: object, result: object) -> None:
    found = convert(value)
    assert found == result
    assert found.__class__ is result.__class__


def test_nan_is_read() -> None:
    assert math.isnan(c.string_to_double("NaN"))


@pytest.mark.parametrize(
    ("convert", "target", "texts"),
    [
        (c.string_to_bool, "bool", ["", "yes", "tRUE", "01"]),
        (c.string_to_int, "int", ["", " 5", "5.0", "0x10", "1_0", "9223372036854775808", "٣", "+"]),
        (c.string_to_uint, "uint", ["", "+1", "-1", "18446744073709551616", "9" * 5000]),
        (
            c.string_to_double,
            "double",
            ["", " 1", "1 ", "1__0", "_1", "1_", "1e", "0x10", "1e400", "+nan", "0x1p99999", "١"],
        ),
        (c.string_to_duration, "google.protobuf.Duration", ["", "1", "1d"]),
        (c.string_to_timestamp, "google.protobuf.Timestamp", ["", "2023-01-01"]),
    ],
)
def test_texts_that_do_not_parse(convert: Conversion, target: str, texts: list[str]) -> None:
    for text in texts:
        with pytest.raises(EvaluationError) as raised:
            convert(text)
        assert raised.value.message == f"type conversion error from 'string' to '{target}'"


@pytest.mark.parametrize(
    ("convert", "value", "message"),
    [
        (c.double_to_int, math.nan, "integer overflow"),
        (c.double_to_int, 2.0**63, "integer overflow"),
        (c.double_to_int, -(2.0**63), "integer overflow"),
        (c.double_to_uint, -0.5, "unsigned integer overflow"),
        (c.double_to_uint, 2.0**64, "unsigned integer overflow"),
        (c.double_to_uint, math.nan, "unsigned integer overflow"),
        (c.int_to_uint, -1, "unsigned integer overflow"),
        (c.uint_to_int, Uint(MAX_INT + 1), "integer overflow"),
        (c.int_to_timestamp, 253402300800, "timestamp overflow"),
        (c.int_to_timestamp, -62135596801, "timestamp overflow"),
        (
            c.int_to_duration,
            1,
            "type conversion error from 'int' to 'google.protobuf.Duration'",
        ),
        (c.bytes_to_string, b"\xff", "invalid UTF-8 in bytes, cannot convert to string"),
    ],
)
def test_errors(convert: Conversion, value: object, message: str) -> None:
    with pytest.raises(EvaluationError) as raised:
        convert(value)
    assert raised.value.message == message


def _message(convert: Conversion, text: str) -> str:
    try:
        convert(text)
    except EvaluationError as error:
        return error.message
    return ""


@given(st.text(alphabet="0123456789+-._eExXpPinfatyNI abc", max_size=8))
def test_hostile_texts_are_read_or_refused(text: str) -> None:
    for convert in (
        c.string_to_int,
        c.string_to_uint,
        c.string_to_double,
        c.string_to_bool,
        c.string_to_duration,
        c.string_to_timestamp,
    ):
        message = _message(convert, text)
        assert not message or message.startswith(("type conversion error", "timestamp overflow"))


@given(st.integers(MIN_INT, MAX_INT))
def test_integers_survive_their_text(n: int) -> None:
    assert c.string_to_int(c.int_to_string(n)) == n
