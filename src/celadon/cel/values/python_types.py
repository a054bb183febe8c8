"""The objects of `datetime` and `decimal` as CEL values; `conversions` sends them here."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from decimal import Decimal

from celadon.cel.values import Value
from celadon.cel.values.timestamps import Duration, Timestamp, in_int64

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)


def converted(value: object, path: str) -> Value:
    """Raises TypeError for other classes, ValueError for what is out of range."""
    match value:
        case datetime():
            return _timestamp(value)
        case timedelta():
            return _duration(value, path)
        case Decimal():
            integral = value.is_finite() and value == value.to_integral_value()
            return int(value) if integral and in_int64(int(value)) else float(value)
        case _:
            raise TypeError(f"{path}: a {type(value).__name__} cannot be a CEL value")


def _timestamp(moment: datetime) -> Timestamp:
    aware = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    microseconds = (aware - _EPOCH) // _MICROSECOND
    offset = aware.utcoffset() or timedelta()
    seconds, rest = divmod(microseconds, 1_000_000)
    return Timestamp(seconds, rest * 1000, offset // timedelta(minutes=1))


def _duration(delta: timedelta, path: str) -> Duration:
    nanoseconds = delta // _MICROSECOND * 1000
    if not in_int64(nanoseconds):
        raise ValueError(f"{path}: {delta} is longer than a duration can be")
    return Duration(nanoseconds)
