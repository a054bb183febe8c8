"""When a schedule is due: the next time after another one.

As github.com/robfig/cron `spec.go` and `constantdelay.go`, hour by hour where clocks are changed: a
time that a day does not have is left out, and one that it has twice comes twice.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, tzinfo
from typing import Final
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from celadon.kube.validation import Schedule

_YEARS: Final = 5
"""After so many years without a time there is none."""
_SECOND: Final = timedelta(seconds=1)
_MINUTE: Final = timedelta(minutes=1)
_HOUR: Final = timedelta(hours=1)
_NOON: Final = 12
_DAY_HOURS: Final = 24


class UnknownZone(Exception):
    """There is no time zone of this name."""


def time_zone(name: str) -> tzinfo:
    """UTC where there is no name. Raises UnknownZone."""
    if name in {"", "UTC"}:
        return UTC
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError) as error:
        raise UnknownZone(f"unknown time zone {name}") from error


def next_time(schedule: Schedule, after: datetime) -> datetime | None:
    """None if there is none in the years to come. Raises UnknownZone."""
    if schedule.every:
        return after.replace(microsecond=0) + timedelta(seconds=schedule.every)
    found = _Search(schedule, after.astimezone(time_zone(schedule.zone))).found()
    return None if found is None else found.astimezone(UTC)


class _Search:
    """From a time onward. Whatever moves to a later month, day or hour begins at its start."""

    def __init__(self, schedule: Schedule, after: datetime) -> None:
        minutes, hours, self._days, months, self._weekdays = schedule.fields
        self._minutes, self._hours, self._months = minutes.numbers, hours.numbers, months.numbers
        self._zone = after.tzinfo
        self._at = self._moved(after.replace(microsecond=0), _SECOND)
        self._last_year = self._at.year + _YEARS

    def found(self) -> datetime | None:
        if self._at.second:
            self._at = self._moved(self._at.replace(second=0), _MINUTE)
        while self._at.year <= self._last_year:
            if self._at.month not in self._months:
                self._to_next_month()
            elif not self._day_fits():
                self._to_next_day()
            elif self._at.hour not in self._hours:
                self._at = self._moved(self._at.replace(minute=0), _HOUR)
            elif self._at.minute not in self._minutes:
                self._at = self._moved(self._at, _MINUTE)
            else:
                return self._at
        return None

    def _moved(self, at: datetime, by: timedelta) -> datetime:
        """By time that passes, not by what clocks show."""
        return (at.astimezone(UTC) + by).astimezone(self._zone)

    def _day_fits(self) -> bool:
        of_month = self._at.day in self._days.numbers
        of_week = self._at.isoweekday() % 7 in self._weekdays.numbers
        if self._days.is_open or self._weekdays.is_open:
            return of_month and of_week
        return of_month or of_week

    def _to_next_month(self) -> None:
        year, month = divmod(self._at.year * 12 + self._at.month, 12)
        self._at = datetime(year, month + 1, 1, tzinfo=self._zone)

    def _to_next_day(self) -> None:
        """Where midnight is left out, the day begins at another hour."""
        day = datetime(self._at.year, self._at.month, self._at.day, tzinfo=self._zone)
        following = (day + timedelta(days=1)).astimezone(UTC).astimezone(self._zone)
        if following.hour:
            hours = following.hour
            back = _DAY_HOURS - hours if hours > _NOON else -hours
            following = self._moved(following, timedelta(hours=back))
        self._at = following
