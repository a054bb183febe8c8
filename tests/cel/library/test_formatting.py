"""`string.format` in both styles, and its validator."""

from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from celadon.cel import Environment, Switches, types
from celadon.cel.errors import EvaluationError
from celadon.cel.library import optionals, strings
from celadon.cel.library.formatting import legacy_format, plain_format
from celadon.cel.values.maps import make_map
from celadon.cel.values.runtime_types import NONE
from celadon.cel.values.text import Uint
from celadon.cel.values.timestamps import Duration, Timestamp

HOUR = Duration(3_600_000_000_000)
MOMENT = Timestamp(0, 0, 60)


@pytest.mark.parametrize(
    ("text", "value", "legacy", "plain"),
    [
        ("%s", "a", "a", "a"),
        ("100%%", None, "100%", "100%"),
        ("%s", None, "null", "null"),
        ("%s", True, "true", "true"),
        ("%s", -1, "-1", "-1"),
        ("%s", Uint(1), "1", "1"),
        ("%s", 2e-9, "2e-09", "0.000000002"),
        ("%s", math.inf, "+Inf", "Infinity"),
        ("%s", -math.inf, "-Inf", "-Infinity"),
        ("%s", math.nan, "NaN", "NaN"),
        ("%s", b"ab", "ab", "ab"),
        ("%s", types.INT, "int", "int"),
        ("%s", HOUR, "3600s", "3600s"),
        ("%s", MOMENT, "1970-01-01T01:00:00+01:00", "1970-01-01T00:00:00Z"),
        ("%s", [1, "a", None, 1.5], '[1, "a", null, 1.500000]', "[1, a, null, 1.5]"),
        ("%s", [math.nan, b"x", True], '["NaN", b"x", true]', "[NaN, x, true]"),
        ("%s", [HOUR], '[duration("3600s")]', "[3600s]"),
        (
            "%s",
            [Timestamp(0)],
            '[timestamp("1970-01-01T00:00:00Z")]',
            "[1970-01-01T00:00:00Z]",
        ),
        ("%s", ["\n\u200b"], '["\\n\\u200b"]', "[\n\u200b]"),
        ("%s", {"b": 1, "a": [types.INT]}, '{"a":[int], "b":1}', "{a: [int], b: 1}"),
        ("%s", {"a": 1, "a b": 2}, '{"a b":2, "a":1}', "{a: 1, a b: 2}"),
        ("%s", make_map([(True, 1), (2, 3)]), "{2:3, true:1}", "{2: 3, true: 1}"),
        ("%d", -5, "-5", "-5"),
        ("%d", Uint(5), "5", "5"),
        ("%.3d", 5, "5", "5"),
        ("%f", 1234567.5, "1,234,567.500000", "1234567.500000"),
        ("%.2f", -1234.567, "-1,234.57", "-1234.57"),
        ("%.0f", 2.5, "2", "2"),
        ("%.1f", 0.25, "0.2", "0.2"),
        ("%.01f", 0.5, "0.5", "0.5"),
        ("%f", math.inf, "∞", "Infinity"),
        ("%f", -math.inf, "-∞", "-Infinity"),
        ("%f", math.nan, "NaN", "NaN"),
        ("%e", 1052.032911275, "1.052033×10⁰³", "1.052033e+03"),
        ("%e", 1.5e-7, "1.500000×10⁻⁰⁷", "1.500000e-07"),
        ("%e", 1e100, "1.000000×10¹⁰⁰", "1.000000e+100"),
        ("%.1e", 1.25, "1.250000×10⁰⁰", "1.2e+00"),
        ("%.15e", 1.5, "  1.500000×10⁰⁰", "1.500000000000000e+00"),
        ("%e", math.inf, "     ∞", "Infinity"),
        ("%.3e", math.nan, "NaN", "NaN"),
        ("%b", 5, "101", "101"),
        ("%b", -5, "-101", "-101"),
        ("%b", True, "1", "1"),
        ("%b", False, "0", "0"),
        ("%x", -30, "-1e", "-1e"),
        ("%X", Uint(255), "FF", "FF"),
        ("%x", "é", "c3a9", "c3a9"),
        ("%X", b"\xab", "AB", "AB"),
        ("%o", 8, "10", "10"),
    ],
)
def test_rendering(text: str, value: object, legacy: str, plain: str) -> None:
    assert legacy_format(text, [value]) == legacy
    assert plain_format(text, [value]) == plain


def test_only_one_style_takes_each_of_these() -> None:
    assert legacy_format("%f %f", ["Infinity", "NaN"]) == "∞ NaN"
    assert legacy_format("%f", [-0.0]) == "0.000000"
    assert plain_format("%d %f %e", [1.5, 1, Uint(2)]) == "1.5 1.000000 2.000000e+00"
    assert plain_format("%s", [b"\xff"]) == "\ufffd"
    assert plain_format("%s", [make_map([(1.5, 1)])]) == "{1.5: 1}"


def test_many_fraction_digits() -> None:
    assert legacy_format("%.255f", [0.5]) == "0.5" + "0" * 254
    assert legacy_format("%.256f", [0.5]) == "0.5"
    assert legacy_format("%.258f", [0.5]) == "0.50"
    assert legacy_format("%.512f", [3.0]) == "3"
    assert legacy_format("%.2000000f", [1.5]) == "2"


def test_huge_widths_are_ignored() -> None:
    assert legacy_format("%.2000000e", [1.5]) == "1.500000×10⁰⁰"
    assert len(legacy_format("%.1000000e", [1.5])) == 1_000_000


WRONG = "error during formatting: "
UNPARSABLE = "could not parse formatting clause: "
STRINGS = (
    "string clause can only be used on strings, bools, bytes, ints, doubles, maps, lists, types, "
    "durations, and timestamps, was given optional_type"
)


@pytest.mark.parametrize(
    ("text", "args", "legacy"),
    [
        ("%s", [], "index 0 out of range"),
        ("%s %s", ["a"], "index 1 out of range"),
        ("%", [], "index 0 out of range"),
        ("%", ["a"], "unexpected end of string"),
        ("%q", ["a"], UNPARSABLE + 'unrecognized formatting clause "q"'),
        ("%10d", [1], UNPARSABLE + 'unrecognized formatting clause "1"'),
        ("%é", [1], UNPARSABLE + 'unrecognized formatting clause "Ã"'),
        ("%.2%", [1], UNPARSABLE + 'unrecognized formatting clause "%"'),
        (
            "%.2",
            [1],
            UNPARSABLE + "error while parsing precision: could not find end of precision specifier",
        ),
        (
            "%.f",
            [1.0],
            UNPARSABLE
            + "error while parsing precision: error while converting precision to integer: "
            'strconv.Atoi: parsing "": invalid syntax',
        ),
        (
            "%.99999999999999999999f",
            [1.0],
            UNPARSABLE
            + "error while parsing precision: error while converting precision to integer: "
            'strconv.Atoi: parsing "99999999999999999999": value out of range',
        ),
        ("%s", [NONE], WRONG + STRINGS),
        ("%s", [[NONE]], WRONG + "no formatting function for optional_type"),
        (
            "%s",
            [make_map([(1.5, 1)])],
            WRONG + "no formatting function for map key of type double",
        ),
        (
            "%s",
            [b"\xff"],
            WRONG + 'could not convert argument "invalid UTF-8 in bytes, cannot convert to string" '
            "to string",
        ),
        ("%d", [1.5], WRONG + "decimal clause can only be used on integers, was given double"),
        ("%f", [1], WRONG + "fixed-point clause can only be used on doubles, was given int"),
        ("%f", ["x"], WRONG + "fixed-point clause can only be used on doubles, was given string"),
        (
            "%e",
            [None],
            WRONG + "scientific clause can only be used on doubles, was given null_type",
        ),
        (
            "%b",
            ["a"],
            WRONG + "only integers and bools can be formatted as binary, was given string",
        ),
        (
            "%x",
            [True],
            WRONG
            + "only integers, byte buffers, and strings can be formatted as hex, was given bool",
        ),
        ("%o", [True], WRONG + "octal clause can only be used on integers, was given bool"),
    ],
)
def test_legacy_errors(text: str, args: list[Any], legacy: str) -> None:
    with pytest.raises(EvaluationError) as raised:
        legacy_format(text, args)
    assert raised.value.message == legacy


@pytest.mark.parametrize(
    ("text", "value", "message"),
    [
        ("%s", NONE, STRINGS),
        ("%s", [NONE], STRINGS),
        (
            "%d",
            "a",
            "decimal clause can only be used on ints, uints, and doubles, was given string",
        ),
        (
            "%f",
            "NaN",
            "fixed-point clause can only be used on ints, uints, and doubles, was given string",
        ),
        (
            "%e",
            True,
            "scientific clause can only be used on ints, uints, and doubles, was given bool",
        ),
        (
            "%b",
            1.0,
            "only ints, uints, and bools can be formatted as binary, was given double",
        ),
        (
            "%x",
            True,
            "only ints, uints, bytes, and strings can be formatted as hex, was given bool",
        ),
        ("%o", "a", "octal clause can only be used on ints and uints, was given string"),
    ],
)
def test_plain_errors(text: str, value: object, message: str) -> None:
    with pytest.raises(EvaluationError) as raised:
        plain_format(text, [value])
    assert raised.value.message == WRONG + message


def test_arguments_may_be_left_over() -> None:
    assert legacy_format("x", [1, 2]) == "x"


def test_thousands_of_zeros_before_a_precision() -> None:
    assert legacy_format(f"%.{'0' * 5000}1f", [1.25]) == "1.2"


def test_values_nested_too_deeply() -> None:
    deep: list[Any] = []
    for _ in range(5000):
        deep = [deep]
    for style in (legacy_format, plain_format):
        with pytest.raises(EvaluationError, match="nested too deeply"):
            style("%s", [deep])


def _compile(version: int, source: str) -> str:
    environment = Environment(
        {"x": types.DYN},
        libraries=(strings.library(version), optionals.library()),
        switches=Switches(optional_syntax=True),
    )
    return environment.compile(source).issues.display()


@pytest.mark.parametrize(
    ("source", "position", "message"),
    [
        ("'%s'.format([])", "1:12", "index 0 out of range"),
        ("'%'.format([])", "1:11", "unexpected end of string"),
        ("'%z'.format([])", "1:12", "index 0 out of range"),
        ("'%z'.format([1])", "1:12", UNPARSABLE + 'unrecognized formatting clause "z"'),
        (
            "'%s'.format([1, 2])",
            "1:12",
            "too many arguments supplied to string.format (expected 1, got 2)",
        ),
        (
            "'%d'.format([1.5])",
            "1:14",
            WRONG + "decimal clause can only be used on integers, was given double",
        ),
        ("'%s'.format([[1, optional.none()]])", "1:31", WRONG + STRINGS),
        ("'%s'.format([{'a': optional.none()}])", "1:33", WRONG + STRINGS),
    ],
)
def test_literal_calls_are_checked(source: str, position: str, message: str) -> None:
    assert _compile(2, source).splitlines()[0] == f"ERROR: <input>:{position}: {message}"


@pytest.mark.parametrize(
    "source",
    [
        "'%d %f %s %x'.format([x, x, x, x])",
        "'%f'.format(['not a number'])",
        "'%s'.format([[1, 'a', null]])",
        "'%s'.format([{'a': [1.5]}])",
        "'%z'.format(x)",
        "x.format([1])",
        "'%%'.format([])",
    ],
)
def test_calls_that_pass_the_check(source: str) -> None:
    assert _compile(2, source) == ""


def test_each_style_has_its_own_check() -> None:
    assert _compile(2, "'%f'.format([1])") != ""
    assert _compile(4, "'%f %d'.format([1, 1.5])") == ""
    assert "ints, uints, and doubles" in _compile(4, "'%f'.format(['NaN'])")
    assert _compile(0, "'%f'.format([1])") != ""


@given(st.text(alphabet="%.0123456789sdfebxXoq a", max_size=8))
def test_hostile_format_strings(text: str) -> None:
    for style in (legacy_format, plain_format):
        try:
            assert isinstance(style(text, [1, "a", 1.5]), str)
        except EvaluationError:
            continue


def shared(value: Any, as_map: bool) -> Any:
    """Small, and yet longer than any memory when it is written down."""
    for _ in range(60):
        value = {"a": value, "b": value} if as_map else [value, value]
    return value


@pytest.mark.parametrize("write", [legacy_format, plain_format])
@pytest.mark.parametrize("as_map", [True, False])
def test_values_that_share_structure_end_in_an_error(write: Any, as_map: bool) -> None:
    with pytest.raises(EvaluationError, match="actual cost limit exceeded"):
        write("%s", [shared(1, as_map)])
    once = [1.5, "a"]
    assert write("%s", [[once, once]]) == write("%s", [[[1.5, "a"], [1.5, "a"]]])
