"""The parts of timestamps and durations."""

from __future__ import annotations

import pytest

from celadon.cel.errors import EvaluationError
from celadon.cel.values import timestamps
from celadon.cel.values.timestamps import MAX_SECONDS, MIN_SECONDS, Duration, Timestamp

NEW_YEAR = Timestamp(1672531200)  # 2023-01-01T00:00:00Z, a Sunday


@pytest.mark.parametrize(
    ("zone", "hour"),
    [
        (None, 0),
        ("", 0),
        ("UTC", 0),
        ("America/New_York", 19),
        ("Asia/Kolkata", 5),
        ("-02:30", 21),
        ("+02:30", 2),
        ("02:30", 2),
        ("99:00", 3),
    ],
)
def test_hours_in_a_zone(zone: str | None, hour: int) -> None:
    assert timestamps.hours(NEW_YEAR, zone) == hour


@pytest.mark.parametrize(
    ("zone", "message"),
    [
        ("Nope/Zone", "unknown time zone Nope/Zone"),
        ("America", "unknown time zone America"),
        ("a" * 300, f"unknown time zone {'a' * 300}"),
        ("../etc/passwd", "time: invalid location name"),
        ("/UTC", "time: invalid location name"),
        ("\\UTC", "time: invalid location name"),
        (":30", 'strconv.Atoi: parsing "": invalid syntax'),
        ("1:2:3", 'strconv.Atoi: parsing "2:3": invalid syntax'),
        ("1 :00", 'strconv.Atoi: parsing "1 ": invalid syntax'),
        (f"{1 << 64}:0", f'strconv.Atoi: parsing "{1 << 64}": value out of range'),
    ],
)
def test_bad_zones(zone: str, message: str) -> None:
    for part in (timestamps.hours, timestamps.milliseconds, timestamps.full_year):
        with pytest.raises(EvaluationError) as raised:
            part(NEW_YEAR, zone)
        assert raised.value.message == message


def test_zones_may_leave_the_range_of_years() -> None:
    assert timestamps.full_year(Timestamp(MIN_SECONDS), "-01:00") == 0
    assert timestamps.full_year(Timestamp(MAX_SECONDS), "01:00") == 10000
    assert timestamps.full_year(Timestamp(MAX_SECONDS), "Asia/Tokyo") == 10000
    assert timestamps.full_year(Timestamp(MIN_SECONDS), "America/New_York") == 0


def test_first_of_january() -> None:
    parts = (
        timestamps.month,
        timestamps.day_of_month,
        timestamps.day_of_year,
        timestamps.day_of_week,
    )
    assert [part(NEW_YEAR) for part in parts] == [0, 0, 0, 0]
    assert timestamps.date(NEW_YEAR) == 1
    assert timestamps.full_year(NEW_YEAR, "-00:01") == 2022
    assert timestamps.day_of_year(NEW_YEAR, "-00:01") == 364


def test_parts_before_1970() -> None:
    t = Timestamp(-1, 500_000_000)
    assert [timestamps.hours(t), timestamps.minutes(t), timestamps.seconds(t)] == [23, 59, 59]
    assert timestamps.milliseconds(t) == 500


@pytest.mark.parametrize(
    ("nanoseconds", "hours", "minutes", "seconds", "milliseconds"),
    [
        (5_400_000_000_000, 1, 90, 5400, 5_400_000),
        (-1_500_000_000, 0, 0, -1, -1500),
        (-5_400_000_000_000, -1, -90, -5400, -5_400_000),
    ],
)
def test_parts_of_durations_are_totals(
    nanoseconds: int, hours: int, minutes: int, seconds: int, milliseconds: int
) -> None:
    d = Duration(nanoseconds)
    assert timestamps.duration_hours(d) == hours
    assert timestamps.duration_minutes(d) == minutes
    assert timestamps.duration_whole_seconds(d) == seconds
    assert timestamps.duration_milliseconds(d) == milliseconds


def test_hours_are_counted_through_doubles() -> None:
    """As in Go: just below 2562047 hours, the double rounds up."""
    assert timestamps.duration_hours(Duration(2562047 * 3_600_000_000_000 - 1)) == 2562047
