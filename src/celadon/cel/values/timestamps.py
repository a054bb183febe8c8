"""timestamp and duration: the two classes, parsing and printing, and reading their parts.

A `Timestamp` is an instant with nanoseconds in years 1 to 9999, plus the offset it was written
with, which only printing shows. A `Duration` is an int64 number of nanoseconds. `datetime` has
microseconds only, so neither builds on it.

Both classes compare only with their own class; everything else is `equality`'s business.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from celadon.cel.errors import EvaluationError
from celadon.cel.values.text import MAX_INT, MIN_INT, go_quote
from celadon.late_patterns import late_pattern

if TYPE_CHECKING:
    from zoneinfo import ZoneInfo

NANOS: Final = 1_000_000_000
#: 0001-01-01T00:00:00Z and 9999-12-31T23:59:59Z in Unix seconds.
MIN_SECONDS: Final = -62135596800
MAX_SECONDS: Final = 253402300799
SECONDS_PER_DAY: Final = 86400

_TIMESTAMP = late_pattern(
    r"(\d{4})-(\d\d)-(\d\d)T(\d\d?):(\d\d):(\d\d)(?:[.,](\d+))?(?:Z|([+-])(\d\d):(\d\d))", re.ASCII
)
_DURATION_GROUP = late_pattern(r"(\d*)(?:\.(\d*))?(ns|us|µs|μs|ms|s|m|h)", re.ASCII)
_UNITS = {
    "ns": 1,
    "us": 1_000,
    "µs": 1_000,
    "μs": 1_000,
    "ms": 1_000_000,
    "s": NANOS,
    "m": 60 * NANOS,
    "h": 3600 * NANOS,
}
_DAYS_BEFORE_1970: Final = 719468


class Duration:
    """Holds a duration. `nanoseconds` is any int64; operations check the range, the constructor
    does not."""

    __slots__ = ("nanoseconds",)

    def __init__(self, nanoseconds: int) -> None:
        self.nanoseconds = nanoseconds

    def __repr__(self) -> str:
        return f"Duration({self.nanoseconds})"

    def __eq__(self, other: object) -> bool:
        if other.__class__ is Duration:
            return self.nanoseconds == other.nanoseconds
        return NotImplemented

    def __lt__(self, other: Duration) -> bool:
        return (
            self.nanoseconds < other.nanoseconds if other.__class__ is Duration else NotImplemented
        )

    def __le__(self, other: Duration) -> bool:
        return (
            self.nanoseconds <= other.nanoseconds if other.__class__ is Duration else NotImplemented
        )

    def __gt__(self, other: Duration) -> bool:
        return (
            self.nanoseconds > other.nanoseconds if other.__class__ is Duration else NotImplemented
        )

    def __ge__(self, other: Duration) -> bool:
        return (
            self.nanoseconds >= other.nanoseconds if other.__class__ is Duration else NotImplemented
        )

    def __hash__(self) -> int:
        return hash(self.nanoseconds)


class Timestamp:
    """Holds a timestamp: `seconds` since 1970 (floored), `nanos` in [0, 1e9), and the offset it
    prints with."""

    __slots__ = ("nanos", "offset_minutes", "seconds")

    def __init__(self, seconds: int, nanos: int = 0, offset_minutes: int = 0) -> None:
        self.seconds = seconds
        self.nanos = nanos
        self.offset_minutes = offset_minutes

    @property
    def unix_nanoseconds(self) -> int:
        """Nanoseconds since 1970; negative before."""
        return self.seconds * NANOS + self.nanos

    def __repr__(self) -> str:
        return f"Timestamp({format_timestamp(self)})"

    def __eq__(self, other: object) -> bool:
        if other.__class__ is Timestamp:
            return self.seconds == other.seconds and self.nanos == other.nanos
        return NotImplemented

    def __lt__(self, other: Timestamp) -> bool:
        if other.__class__ is not Timestamp:
            return NotImplemented
        return (self.seconds, self.nanos) < (other.seconds, other.nanos)

    def __le__(self, other: Timestamp) -> bool:
        if other.__class__ is not Timestamp:
            return NotImplemented
        return (self.seconds, self.nanos) <= (other.seconds, other.nanos)

    def __gt__(self, other: Timestamp) -> bool:
        if other.__class__ is not Timestamp:
            return NotImplemented
        return (self.seconds, self.nanos) > (other.seconds, other.nanos)

    def __ge__(self, other: Timestamp) -> bool:
        if other.__class__ is not Timestamp:
            return NotImplemented
        return (self.seconds, self.nanos) >= (other.seconds, other.nanos)

    def __hash__(self) -> int:
        return hash((self.seconds, self.nanos))


def timestamp_overflow() -> EvaluationError:
    """Return the error for a time beyond the years 1 to 9999."""
    return EvaluationError("timestamp overflow")


def timestamp_at(unix_nanoseconds: int, offset_minutes: int = 0) -> Timestamp:
    """Return the timestamp at that many nanoseconds since 1970, if it is in range."""
    seconds, nanos = divmod(unix_nanoseconds, NANOS)
    if not MIN_SECONDS <= seconds <= MAX_SECONDS:
        raise timestamp_overflow()
    return Timestamp(seconds, nanos, offset_minutes)


def days_from_civil(year: int, month: int, day: int) -> int:
    """Days since 1970-01-01 in the proleptic Gregorian calendar."""
    year -= month <= 2
    era, of_era = divmod(year, 400)
    of_year = (153 * (month + (-3 if month > 2 else 9)) + 2) // 5 + day - 1
    return era * 146097 + of_era * 365 + of_era // 4 - of_era // 100 + of_year - _DAYS_BEFORE_1970


def civil_from_days(days: int) -> tuple[int, int, int]:
    """Year, month and day; any year, because a zone may push an instant out of 1 to 9999."""
    era, of_era = divmod(days + _DAYS_BEFORE_1970, 146097)
    year_of_era = (of_era - of_era // 1460 + of_era // 36524 - of_era // 146096) // 365
    of_year = of_era - (365 * year_of_era + year_of_era // 4 - year_of_era // 100)
    shifted = (5 * of_year + 2) // 153
    month = shifted + 3 if shifted < 10 else shifted - 9
    return year_of_era + era * 400 + (month <= 2), month, of_year - (153 * shifted + 2) // 5 + 1


def is_leap_year(year: int) -> bool:
    """Return whether it is one by the Gregorian calendar, also before it was introduced."""
    return year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)


def _days_in(year: int, month: int) -> int:
    if month == 2:
        return 29 if is_leap_year(year) else 28
    return 30 if month in (4, 6, 9, 11) else 31


def parse_timestamp(text: str) -> Timestamp | None:
    """RFC 3339 as Go's `time.Parse` reads it; None when it is not, overflow raises.

    Looser than the standard: one-digit hours, a comma before the fraction, any number of fraction
    digits (nine count), offsets up to 24:60. Stricter: upper-case T and Z, no leap second.
    """
    parts = _TIMESTAMP.fullmatch(text)
    if parts is None:
        return None
    year, month, day, hour, minute, second = (int(n) for n in parts.group(1, 2, 3, 4, 5, 6))
    if not (1 <= month <= 12 and 1 <= day <= _days_in(year, month)):
        return None
    if hour > 23 or minute > 59 or second > 59:
        return None
    offset = 0
    if parts[8]:
        hours, minutes = int(parts[9]), int(parts[10])
        if hours > 24 or minutes > 60:
            return None
        offset = (hours * 60 + minutes) * (-1 if parts[8] == "-" else 1)
    nanos = int(parts[7][:9].ljust(9, "0")) if parts[7] else 0
    seconds = days_from_civil(year, month, day) * SECONDS_PER_DAY
    seconds += hour * 3600 + (minute - offset) * 60 + second
    if not MIN_SECONDS <= seconds <= MAX_SECONDS:
        raise timestamp_overflow()
    return Timestamp(seconds, nanos, offset)


def format_timestamp(t: Timestamp) -> str:
    """`2023-01-01T00:00:00.5+02:00`: RFC 3339, trailing zeros of the fraction cut, own offset."""
    offset = t.offset_minutes
    if offset == 0:
        zone = "Z"
    else:
        hours, minutes = divmod(abs(offset), 60)
        zone = f"{'-' if offset < 0 else '+'}{hours:02d}:{minutes:02d}"
    return _date_and_time(t, "T") + zone


def go_time(t: Timestamp) -> str:
    """Go's `%v` of a time: `2023-01-01 00:00:00 +0000 UTC`."""
    offset = t.offset_minutes
    hours, minutes = divmod(abs(offset), 60)
    zone = f"{'-' if offset < 0 else '+'}{hours:02d}{minutes:02d}"
    return f"{_date_and_time(t, ' ')} {zone} {'UTC' if offset == 0 else zone}"


def _date_and_time(t: Timestamp, separator: str) -> str:
    days, of_day = divmod(t.seconds + t.offset_minutes * 60, SECONDS_PER_DAY)
    year, month, day = civil_from_days(days)
    hour, rest = divmod(of_day, 3600)
    minute, second = divmod(rest, 60)
    fraction = f".{t.nanos:09d}".rstrip("0") if t.nanos else ""
    date = f"{year:04d}-{month:02d}-{day:02d}"
    return f"{date}{separator}{hour:02d}:{minute:02d}:{second:02d}{fraction}"


def parse_duration(text: str) -> Duration | None:
    """`1h30m`, `-1.5s`, `0`: Go's `time.ParseDuration`; None when it is not one or too long."""
    negative = text[:1] == "-"
    start = 1 if text[:1] in ("-", "+") else 0
    if text[start:] == "0":
        return Duration(0)
    if start == len(text):
        return None
    total = 0
    while start < len(text):
        group = _DURATION_GROUP.match(text, start)
        if group is None or not (group[1] or group[2]):
            return None
        total += _duration_group(group[1], group[2] or "", _UNITS[group[3]])
        if total > MAX_INT + 1:
            return None
        start = group.end()
    if negative:
        return Duration(-total)
    return Duration(total) if total <= MAX_INT else None


def _duration_group(whole: str, fraction: str, unit: int) -> int:
    """Nanoseconds of one group. The fraction goes through a double, as in Go."""
    whole = whole.lstrip("0")
    if len(whole) > 19:
        return MAX_INT + 2
    amount = int(whole or "0") * unit
    if fraction:
        digits, scale = 0, 1.0
        for c in fraction:
            if digits > MAX_INT // 10 or digits * 10 + int(c) > MAX_INT + 1:
                break
            digits = digits * 10 + int(c)
            scale *= 10
        amount += int(digits * (unit / scale))
    return amount


def duration_seconds(d: Duration) -> float:
    """Seconds as a double, summed the way Go does (whole seconds plus fraction)."""
    seconds, nanos = divmod(abs(d.nanoseconds), NANOS)
    total = seconds + nanos / 1e9
    return -total if d.nanoseconds < 0 else total


def go_duration(d: Duration) -> str:
    """Go's `%v` of a duration: `1h30m0s`, `1.5ms`, `0s`."""
    total = abs(d.nanoseconds)
    sign = "-" if d.nanoseconds < 0 else ""
    if total == 0:
        return "0s"
    if total < NANOS:
        unit, name = next(u for u in ((1_000_000, "ms"), (1_000, "µs"), (1, "ns")) if total >= u[0])
        return sign + _with_fraction(total, unit) + name
    minutes, rest = divmod(total, 60 * NANOS)
    text = _with_fraction(rest, NANOS) + "s"
    if minutes:
        hours, minutes = divmod(minutes, 60)
        text = (f"{hours}h" if hours else "") + f"{minutes}m" + text
    return sign + text


def _with_fraction(amount: int, unit: int) -> str:
    whole, rest = divmod(amount, unit)
    width = len(str(unit)) - 1
    return str(whole) + (f".{rest:0{width}d}".rstrip("0") if rest else "")


def in_int64(n: int) -> bool:
    """Return whether the number fits in 64 bits with a sign."""
    return MIN_INT <= n <= MAX_INT


# --- Parts of timestamps and durations ---------------------------------------
#
# Reading the parts of a timestamp or duration: `getHours()`, `getFullYear('Europe/Rome')`, …
#
# Names of zones are looked up in tables of this module. As in cel-go, the parts of a duration are
# totals (`getMinutes` of two hours is 120), computed through doubles.

_INTEGER = late_pattern(r"([+-]?)(?=[0-9])0*+([0-9]*+)")


def _local_seconds(t: Timestamp, zone: str | None) -> int:
    return t.seconds if zone is None else t.seconds + _offset_seconds(t, zone)


def _offset_seconds(t: Timestamp, zone: str) -> int:
    if ":" in zone:
        return _fixed_offset(zone)
    if zone in ("", "UTC", "Local"):
        return 0
    return _named_offset(t.seconds, zone)


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
    digits = parts[2] or "0"
    if len(digits) > 19 or not MIN_INT <= int(parts[1] + digits) <= MAX_INT:
        raise EvaluationError(f"strconv.Atoi: parsing {go_quote(text)}: value out of range")
    return int(parts[1] + digits)


def full_year(t: Timestamp, zone: str | None = None) -> int:
    """Return the year, in UTC or the zone (a name, or an offset like `+02:00`). Raises
    EvaluationError for an unknown zone, as all with a zone do."""
    return civil_from_days(_local_seconds(t, zone) // SECONDS_PER_DAY)[0]


def month(t: Timestamp, zone: str | None = None) -> int:
    """Return the month, 0 for January."""
    return civil_from_days(_local_seconds(t, zone) // SECONDS_PER_DAY)[1] - 1


def day_of_year(t: Timestamp, zone: str | None = None) -> int:
    """0 for the first of January."""
    days = _local_seconds(t, zone) // SECONDS_PER_DAY
    return days - days_from_civil(civil_from_days(days)[0], 1, 1)


def day_of_month(t: Timestamp, zone: str | None = None) -> int:
    """Return the day of the month, 0 for the first."""
    return date(t, zone) - 1


def date(t: Timestamp, zone: str | None = None) -> int:
    """1 for the first of the month."""
    return civil_from_days(_local_seconds(t, zone) // SECONDS_PER_DAY)[2]


def day_of_week(t: Timestamp, zone: str | None = None) -> int:
    """Return the day of the week, 0 for Sunday."""
    return (_local_seconds(t, zone) // SECONDS_PER_DAY + 4) % 7


def hours(t: Timestamp, zone: str | None = None) -> int:
    """Return the hour, 0 to 23."""
    return _local_seconds(t, zone) % SECONDS_PER_DAY // 3600


def minutes(t: Timestamp, zone: str | None = None) -> int:
    """Return the minute, 0 to 59."""
    return _local_seconds(t, zone) % 3600 // 60


def seconds(t: Timestamp, zone: str | None = None) -> int:
    """Return the second, 0 to 59."""
    return _local_seconds(t, zone) % 60


def milliseconds(t: Timestamp, zone: str | None = None) -> int:
    """Return the millisecond, 0 to 999."""
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
    """Return the milliseconds beyond whole seconds, with the sign of the duration."""
    part = abs(d.nanoseconds) // 1_000_000 % 1000
    return -part if d.nanoseconds < 0 else part


def _total(d: Duration, unit_seconds: int) -> int:
    unit = unit_seconds * 1_000_000_000
    whole, rest = divmod(abs(d.nanoseconds), unit)
    total = int(whole + rest / unit)
    return -total if d.nanoseconds < 0 else total


# --- Named time zones --------------------------------------------------------
#
# `zoneinfo` reads the machine's time-zone database. Names come from policies, so the cache is
# bounded.

# Instants are moved into these bounds by whole 400-year cycles before `zoneinfo` sees them: the
# dates of Python end where those of CEL do, and an offset must not lead beyond.
_CYCLE_SECONDS: Final = 146097 * SECONDS_PER_DAY
_ZONE_MIN: Final = -62135596800 + 2 * SECONDS_PER_DAY
_ZONE_MAX: Final = 253402300799 - 2 * SECONDS_PER_DAY


def _named_offset(seconds: int, zone: str) -> int:
    """Return how many seconds a zone is east of UTC at an instant (seconds since 1970). Raises
    `EvaluationError` for a name that is no zone's."""
    from datetime import UTC, datetime, timedelta  # late: few expressions name a zone

    if seconds < _ZONE_MIN:
        seconds += _CYCLE_SECONDS
    elif seconds > _ZONE_MAX:
        seconds -= _CYCLE_SECONDS
    epoch = datetime(1970, 1, 1, tzinfo=UTC)
    offset = (epoch + timedelta(seconds=seconds)).astimezone(_load_zone(zone)).utcoffset()
    return int(offset.total_seconds()) if offset is not None else 0


@lru_cache(maxsize=256)
def _load_zone(name: str) -> ZoneInfo:
    import zoneinfo  # late: few expressions name a zone, and it is slow to import

    if ".." in name or name[0] in "/\\":
        raise EvaluationError("time: invalid location name")
    if "\x00" in name:
        raise EvaluationError("invalid argument")
    try:
        return zoneinfo.ZoneInfo(name)
    except (zoneinfo.ZoneInfoNotFoundError, ValueError, OSError) as error:
        raise EvaluationError(f"unknown time zone {name}") from error
