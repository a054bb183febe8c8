"""What unquoted words mean: rows of goyaml.v2's `resolve.go` followed by the JSON decoder."""

from __future__ import annotations

from typing import Any

import pytest

from celadon.goyaml.yaml_scalars import NotJsonError, integer_or_double, resolve_plain, whole

ROWS: list[tuple[str, Any]] = [
    ("", None),
    ("~", None),
    ("null", None),
    ("NULL", None),
    ("nULL", "nULL"),
    ("y", True),
    ("Y", True),
    ("yes", True),
    ("Yes", True),
    ("yEs", "yEs"),
    ("on", True),
    ("n", False),
    ("No", False),
    ("OFF", False),
    ("true", True),
    ("False", False),
    ("0", 0),
    ("00", 0),
    ("017", 15),
    ("-017", -15),
    ("08", 8),
    ("0o17", 15),
    ("0x1F", 31),
    ("-0x1f", -31),
    ("0b101", 5),
    ("0b102", "0b102"),
    ("1_000", 1000),
    ("0_7", 7),
    ("+12", 12),
    ("12:30:45", "12:30:45"),
    ("190:20:30", "190:20:30"),
    ("1.0", 1),
    ("1.5", 1.5),
    ("1.", 1),
    (".5", 0.5),
    ("-.5", -0.5),
    (".5_0", ".5_0"),
    ("1e3", 1000),
    ("1E-2", 0.01),
    ("1e400", "1e400"),
    ("1.2.3", "1.2.3"),
    ("9223372036854775807", 9223372036854775807),
    ("-9223372036854775808", -9223372036854775808),
    ("9223372036854775808", 9223372036854775808.0),
    ("99999999999999999999999", 1e23),
    ("1.2345678901234567e18", 1234567890123456800),
    ("1e20", 1e20),
    ("0xFFFFFFFFFFFFFFFF", 18446744073709551615.0),
    ("2001-12-14", "2001-12-14"),
    ("2001-12-14T21:59:43Z", "2001-12-14T21:59:43Z"),
    ("-", "-"),
    ("+", "+"),
    (".", "."),
    ("-1h", "-1h"),
    ("100m", "100m"),
    ("<<", "<<"),
    ("=", "="),
    (".infinity", ".infinity"),
]


@pytest.mark.parametrize(("text", "want"), ROWS, ids=[row[0] or "empty" for row in ROWS])
def test_words(text: str, want: Any) -> None:
    got = resolve_plain(text)
    assert got == want
    assert type(got) is type(want)


@pytest.mark.parametrize("text", [".nan", ".NaN", ".inf", "-.Inf", "+.INF", "0x" + "f" * 400])
def test_numbers_without_a_json_form(text: str) -> None:
    with pytest.raises(NotJsonError):
        resolve_plain(text)


def test_whole_keeps_what_is_no_integer() -> None:
    assert whole(-0.0) == 0
    assert type(whole(-0.0)) is int
    assert whole(1e22) == 1e22
    assert type(whole(1e22)) is float
    assert whole(0.5) == 0.5


def test_long_integers_do_not_cost_quadratic_time() -> None:
    with pytest.raises(NotJsonError):
        integer_or_double("9" * 100_000)


@pytest.mark.parametrize("text", ["0x" + "f" * 100_000, "-0b" + "1" * 100_000, "0o" + "7" * 9000])
def test_numbers_that_are_longer_than_python_writes(text: str) -> None:
    with pytest.raises(NotJsonError):
        resolve_plain(text)
