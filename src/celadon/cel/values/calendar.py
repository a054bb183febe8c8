"""Reading the parts of a timestamp or duration: `getHours()`, `getFullYear('Europe/Rome')`, …

Names of zones are looked up in tables of this module. As in cel-go, the parts of a duration are
totals (`getMinutes` of two hours is 120), computed through doubles.
"""

from __future__ import annotations

from celadon.cel.errors import EvaluationError
from celadon.cel.values.text import MAX_INT, MIN_INT, go_quote
from celadon.cel.values.timestamps import (
    SECONDS_PER_DAY,
    Duration,
    Timestamp,
    civil_from_days,
    days_from_civil,
    duration_seconds,
)
from celadon.patterns import late_pattern

_INTEGER = late_pattern(r"([+-]?)0*([0-9]+)")


def _local_seconds(t: Timestamp, zone: str | None) -> int:
    return t.seconds if zone is None else t.seconds + _offset_seconds(t, zone)


def _offset_seconds(t: Timestamp, zone: str) -> int:
    if ":" in zone:
        return _fixed_offset(zone)
    if zone in ("", "UTC", "Local"):
        return 0
    # late: few expressions name a zone, and reading the database is slow to import.
    from celadon.cel.values.zones import offset_seconds

    return offset_seconds(t.seconds, zone)


def _fixed_offset(zone: str) -> int:
    """`-02:30` and the like: hours and minutes without a range check."""
    hours_text, _, minutes_text = zone.partition(":")
    hours, minutes = _atoi(hours_text), _atoi(minutes_text)
    total = hours * 60 - minutes if zone[0] == "-" else hours * 60 + minutes
    nanoseconds = total * 60_000_000_000
    wrapped = (nanoseconds + (1 << 63)) % (1 << 64) - (1 << 63)
    return int(duration_seconds(Duration(wrapped)))


def _atoi(text: str) -> int:
    parts = _INTEGER.fullmatch(text)
    if parts is None:
        raise EvaluationError(f"strconv.Atoi: parsing {go_quote(text)}: invalid syntax")
    if len(parts[2]) > 19 or not MIN_INT <= int(parts[1] + parts[2]) <= MAX_INT:
        raise EvaluationError(f"strconv.Atoi: parsing {go_quote(text)}: value out of range")
    return int(parts[1] + parts[2])


def full_year(t: Timestamp, zone: str | None = None) -> int:
    """The year, in UTC or the zone (a name, or an offset like `+02:00`). Raises EvaluationError for
    an unknown zone, as all with a zone do."""
    return civil_from_days(_local_seconds(t, zone) // SECONDS_PER_DAY)[0]


def month(t: Timestamp, zone: str | None = None) -> int:
    """0 for January."""
    return civil_from_days(_local_seconds(t, zone) // SECONDS_PER_DAY)[1] - 1


def day_of_year(t: Timestamp, zone: str | None = None) -> int:
    """0 for the first of January."""
    days = _local_seconds(t, zone) // SECONDS_PER_DAY
    return days - days_from_civil(civil_from_days(days)[0], 1, 1)


def day_of_month(t: Timestamp, zone: str | None = None) -> int:
    """0 for the first."""
    return date(t, zone) - 1


def date(t: Timestamp, zone: str | None = None) -> int:
    """1 for the first of the month."""
    return civil_from_days(_local_seconds(t, zone) // SECONDS_PER_DAY)[2]


def day_of_week(t: Timestamp, zone: str | None = None) -> int:
    """0 for Sunday."""
    return (_local_seconds(t, zone) // SECONDS_PER_DAY + 4) % 7


def hours(t: Timestamp, zone: str | None = None) -> int:
    """0 to 23."""
    return _local_seconds(t, zone) % SECONDS_PER_DAY // 3600


def minutes(t: Timestamp, zone: str | None = None) -> int:
    """0 to 59."""
    return _local_seconds(t, zone) % 3600 // 60


def seconds(t: Timestamp, zone: str | None = None) -> int:
    """0 to 59."""
    return _local_seconds(t, zone) % 60


def milliseconds(t: Timestamp, zone: str | None = None) -> int:
    """0 to 999."""
    if zone is not None:
        _offset_seconds(t, zone)
    return t.nanos // 1_000_000


def duration_hours(d: Duration) -> int:
    """Whole hours, towards zero."""
    return _total(d, 3600)


def duration_minutes(d: Duration) -> int:
    """Whole minutes, towards zero."""
    return _total(d, 60)


def duration_whole_seconds(d: Duration) -> int:
    """Whole seconds, towards zero."""
    return _total(d, 1)


def duration_milliseconds(d: Duration) -> int:
    """Whole milliseconds, towards zero."""
    total = abs(d.nanoseconds) // 1_000_000
    return -total if d.nanoseconds < 0 else total


def duration_millisecond_part(d: Duration) -> int:
    """The milliseconds beyond whole seconds, with the sign of the duration."""
    part = abs(d.nanoseconds) // 1_000_000 % 1000
    return -part if d.nanoseconds < 0 else part


def _total(d: Duration, unit_seconds: int) -> int:
    unit = unit_seconds * 1_000_000_000
    whole, rest = divmod(abs(d.nanoseconds), unit)
    total = int(whole + rest / unit)
    return -total if d.nanoseconds < 0 else total
