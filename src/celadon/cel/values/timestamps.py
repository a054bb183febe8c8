"""timestamp and duration: the two classes, parsing and printing.

A `Timestamp` is an instant with nanoseconds in years 1 to 9999, plus the offset it was written
with, which only printing shows. A `Duration` is an int64 number of nanoseconds. `datetime` has
microseconds only, so neither builds on it. Reading parts in a time zone is in `calendar`.

Both classes compare only with their own class; everything else is `equality`'s business.
"""

from __future__ import annotations

import re
from typing import Final

from celadon.cel.errors import EvaluationError
from celadon.cel.values.text import MAX_INT, MIN_INT
from celadon.patterns import late_pattern

NANOS: Final = 1_000_000_000
#: 0001-01-01T00:00:00Z and 9999-12-31T23:59:59Z in Unix seconds.
MIN_SECONDS: Final = -62135596800
MAX_SECONDS: Final = 253402300799
SECONDS_PER_DAY: Final = 86400

_TIMESTAMP = late_pattern(
    r"(\d{4})-(\d\d)-(\d\d)T(\d\d?):(\d\d):(\d\d)(?:[.,](\d+))?(?:Z|([+-])(\d\d):(\d\d))",
    re.ASCII,
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
    """`nanoseconds` is any int64; operations check the range, the constructor does not."""

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
    """`seconds` since 1970 (floored), `nanos` in [0, 1e9), and the offset it prints with."""

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
    """Beyond the years 1 to 9999."""
    return EvaluationError("timestamp overflow")


def timestamp_at(unix_nanoseconds: int, offset_minutes: int = 0) -> Timestamp:
    """The timestamp at that many nanoseconds since 1970, if it is in range."""
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
    """Does the number fit in 64 bits with a sign?"""
    return MIN_INT <= n <= MAX_INT
