"""Schedules of CronJobs: five fields, or `@every` and its relatives.

As github.com/robfig/cron `ParseStandard` reads them. Only the complaint matters here:
the first one, field by field.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import Final

from celadon.kube.errors import MalformedText
from celadon.kube.go.go_text import quote
from celadon.patterns import late_pattern
from celadon.records import dataclass

DESCRIPTORS: Final = frozenset(
    {"@yearly", "@annually", "@monthly", "@weekly", "@daily", "@midnight", "@hourly"}
)
EVERY: Final = "@every "
_MONTHS: Final = (
    "jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec",
)  # fmt: skip
_DAYS: Final = ("sun", "mon", "tue", "wed", "thu", "fri", "sat")
_INTEGER: Final = late_pattern("[+-]?[0-9]+")
_DURATION: Final = late_pattern(r"[+-]?(0|([0-9]+\.?[0-9]*|\.[0-9]+)(ns|us|µs|μs|ms|s|m|h))+")
_ZONED: Final = late_pattern("(?:CRON_)?TZ=")
_MAX_DIGITS: Final = 18


class ScheduleError(MalformedText):
    """A schedule that cannot be parsed, in the parser's words."""


@dataclass(frozen=True, slots=True)
class Bounds:
    """The numbers that a field may hold, and the names of some of them."""

    low: int
    high: int
    names: Mapping[str, int] = field(default_factory=dict)


FIELDS: Final = (
    Bounds(0, 59),
    Bounds(0, 23),
    Bounds(1, 31),
    Bounds(1, 12, {name: number for number, name in enumerate(_MONTHS, 1)}),
    Bounds(0, 6, {name: number for number, name in enumerate(_DAYS)}),
)
"""Minute, hour, day of month, month, day of week."""


def parse_schedule(text: str) -> None:
    """Raises ScheduleError."""
    if not text:
        raise ScheduleError("empty spec string")
    if _ZONED.match(text):
        text = text.partition(" ")[2].strip()
    if text.startswith("@"):
        _descriptor(text)
        return
    parts = text.split()
    if len(parts) != len(FIELDS):
        listed = " ".join(parts)
        raise ScheduleError(
            f"expected exactly {len(FIELDS)} fields, found {len(parts)}: [{listed}]"
        )
    for part, bounds in zip(parts, FIELDS, strict=True):
        for term in filter(None, part.split(",")):
            _range(term, bounds)


def _descriptor(text: str) -> None:
    if text in DESCRIPTORS:
        return
    if not text.startswith(EVERY):
        raise ScheduleError(f"unrecognized descriptor: {text}")
    duration = text.removeprefix(EVERY)
    if _DURATION.fullmatch(duration) is None:
        raise ScheduleError(
            f"failed to parse duration {text}: time: invalid duration {quote(duration)}"
        )


def _range(term: str, bounds: Bounds) -> None:
    span, *steps = term.split("/")
    ends = span.split("-")
    if ends[0] in {"*", "?"}:
        start, end = bounds.low, bounds.high
    else:
        start = end = _number(ends[0], bounds)
        if len(ends) == 2:
            end = _number(ends[1], bounds)
        elif len(ends) > 2:
            raise ScheduleError(f"too many hyphens: {term}")
    step = 1
    if len(steps) > 1:
        raise ScheduleError(f"too many slashes: {term}")
    if steps:
        step = _integer(steps[0])
        end = bounds.high if len(ends) == 1 else end
    _check(term, bounds, start, end, step)


def _check(term: str, bounds: Bounds, start: int, end: int, step: int) -> None:
    if start < bounds.low:
        why = f"beginning of range ({start}) below minimum ({bounds.low})"
    elif end > bounds.high:
        why = f"end of range ({end}) above maximum ({bounds.high})"
    elif start > end:
        why = f"beginning of range ({start}) beyond end of range ({end})"
    elif step == 0:
        why = "step of range should be a positive number"
    else:
        return
    raise ScheduleError(f"{why}: {term}")


def _number(text: str, bounds: Bounds) -> int:
    named = bounds.names.get(text.lower())
    return _integer(text) if named is None else named


def _integer(text: str) -> int:
    if _INTEGER.fullmatch(text) is None or len(text) > _MAX_DIGITS:
        large = _INTEGER.fullmatch(text) is not None
        why = "value out of range" if large else "invalid syntax"
        raise ScheduleError(
            f"failed to parse int from {text}: strconv.Atoi: parsing {quote(text)}: {why}"
        )
    number = int(text)
    if number < 0:
        raise ScheduleError(f"negative number ({number}) not allowed: {text}")
    return number
