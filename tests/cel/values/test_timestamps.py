"""Timestamps and durations: reading, printing, order."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from celadon.cel.errors import EvaluationError
from celadon.cel.values.conversions import duration_to_string
from celadon.cel.values.text import MAX_INT, MIN_INT
from celadon.cel.values.timestamps import (
    MAX_SECONDS,
    MIN_SECONDS,
    Duration,
    Timestamp,
    civil_from_days,
    days_from_civil,
    format_timestamp,
    go_duration,
    go_time,
    parse_duration,
    parse_timestamp,
    timestamp_at,
)


@pytest.mark.parametrize(
    ("text", "printed"),
    [
        ("2023-01-01T00:00:00Z", "2023-01-01T00:00:00Z"),
        ("2023-01-01T00:00:00.5+02:00", "2023-01-01T00:00:00.5+02:00"),
        ("2023-01-01T00:00:00-00:30", "2023-01-01T00:00:00-00:30"),
        ("2023-01-01T00:00:00+00:00", "2023-01-01T00:00:00Z"),
        ("2023-01-01T3:04:05Z", "2023-01-01T03:04:05Z"),
        ("2023-01-01T00:00:00,5Z", "2023-01-01T00:00:00.5Z"),
        ("2023-01-01T00:00:00.1234567891Z", "2023-01-01T00:00:00.123456789Z"),
        ("2024-02-29T00:00:00Z", "2024-02-29T00:00:00Z"),
        ("2023-01-01T00:00:00+24:60", "2023-01-01T00:00:00+25:00"),
        ("0001-01-01T00:00:00Z", "0001-01-01T00:00:00Z"),
        ("9999-12-31T23:59:59.999999999Z", "9999-12-31T23:59:59.999999999Z"),
    ],
)
def test_timestamp_is_read_and_printed(text: str, printed: str) -> None:
    timestamp = parse_timestamp(text)
    assert timestamp is not None
    assert format_timestamp(timestamp) == printed


@pytest.mark.parametrize(
    "text",
    [
        "",
        "2023-01-01",
        "2023-01-01t00:00:00Z",
        "2023-01-01T00:00:00z",
        "2023-01-01T00:00:00",
        "2023-01-01T00:00:60Z",
        "2023-01-01T24:00:00Z",
        "2023-13-01T00:00:00Z",
        "2023-00-01T00:00:00Z",
        "2023-02-29T00:00:00Z",
        "2023-01-01T00:00:00.Z",
        "2023-01-01T00:00:00+25:00",
        "2023-01-01T00:00:00+00:61",
        "2023-01-01T00:00:00Z\n",
        " 2023-01-01T00:00:00Z",
        "２023-01-01T00:00:00Z",
    ],
)
def test_not_a_timestamp(text: str) -> None:
    assert parse_timestamp(text) is None


@pytest.mark.parametrize(
    "text", ["0000-12-31T23:59:59Z", "9999-12-31T23:59:59-00:01", "0001-01-01T00:00:00+00:01"]
)
def test_timestamp_out_of_range(text: str) -> None:
    with pytest.raises(EvaluationError, match=r"^timestamp overflow$"):
        parse_timestamp(text)


@pytest.mark.parametrize(
    ("text", "nanoseconds"),
    [
        ("0", 0),
        ("-0", 0),
        ("+5s", 5_000_000_000),
        ("1h30m", 5_400_000_000_000),
        ("-1.5s", -1_500_000_000),
        (".5s", 500_000_000),
        ("1.s", 1_000_000_000),
        ("1us", 1_000),
        ("1µs", 1_000),
        ("1μs", 1_000),
        ("0.3333333333333333333h", 1_200_000_000_000),
        ("9223372036854775807ns", MAX_INT),
        ("-9223372036854775808ns", MIN_INT),
    ],
)
def test_duration_is_read(text: str, nanoseconds: int) -> None:
    duration = parse_duration(text)
    assert duration is not None
    assert duration.nanoseconds == nanoseconds


@pytest.mark.parametrize(
    "text",
    [
        "",
        "+",
        "1",
        "1d",
        ".s",
        "1h 2m",
        "h",
        "--1s",
        "9223372036854775808ns",
        "-9223372036854775809ns",
        "1" + "0" * 5000 + "h",
        "3000000h",
        "١s",
    ],
)
def test_not_a_duration(text: str) -> None:
    assert parse_duration(text) is None


@pytest.mark.parametrize(
    ("nanoseconds", "printed", "go"),
    [
        (0, "0s", "0s"),
        (1, "0.000000001s", "1ns"),
        (1_500, "0.0000015s", "1.5µs"),
        (1_500_000, "0.0015s", "1.5ms"),
        (6_347_000_000_000, "6347s", "1h45m47s"),
        (-90_500_000_000, "-90.5s", "-1m30.5s"),
        (MAX_INT, "9223372036.854776s", "2562047h47m16.854775807s"),
        (MIN_INT, "-9223372036.854776s", "-2562047h47m16.854775808s"),
    ],
)
def test_duration_is_printed(nanoseconds: int, printed: str, go: str) -> None:
    assert duration_to_string(Duration(nanoseconds)) == printed
    assert go_duration(Duration(nanoseconds)) == go


def test_go_prints_times_with_their_zone() -> None:
    assert go_time(Timestamp(0)) == "1970-01-01 00:00:00 +0000 UTC"
    assert go_time(Timestamp(0, 5, 90)) == "1970-01-01 01:30:00.000000005 +0130 +0130"


@given(st.integers(MIN_SECONDS, MAX_SECONDS), st.integers(0, 999_999_999))
def test_printing_then_reading_is_the_identity(seconds: int, nanos: int) -> None:
    timestamp = Timestamp(seconds, nanos)
    assert parse_timestamp(format_timestamp(timestamp)) == timestamp


@given(st.integers(-10_000_000, 10_000_000))
def test_calendar_conversions_are_inverse(days: int) -> None:
    assert days_from_civil(*civil_from_days(days)) == days


def test_instants_compare_whatever_their_offset() -> None:
    early, late = Timestamp(10, 5, 60), Timestamp(10, 6)
    assert early < late
    assert early <= late
    assert late > early
    assert late >= early
    assert Timestamp(10, 5) == early
    assert hash(Timestamp(10, 5)) == hash(early)


def test_foreign_classes_are_neither_equal_nor_ordered() -> None:
    assert Duration(0) != 0
    assert Timestamp(0) != 0
    assert Duration(0) != Timestamp(0)
    with pytest.raises(TypeError):
        assert Duration(0) < 1  # type: ignore[operator]  # what is tested
    with pytest.raises(TypeError):
        assert Timestamp(0) >= Duration(0)  # type: ignore[operator]  # what is tested


def test_instants_out_of_range_cannot_be_made() -> None:
    assert timestamp_at(MAX_SECONDS * 1_000_000_000 + 999_999_999).seconds == MAX_SECONDS
    with pytest.raises(EvaluationError, match="timestamp overflow"):
        timestamp_at((MAX_SECONDS + 1) * 1_000_000_000)
    with pytest.raises(EvaluationError, match="timestamp overflow"):
        timestamp_at(MIN_SECONDS * 1_000_000_000 - 1)
