"""The parts of timestamps and durations as member functions, plain and with a time zone."""

from __future__ import annotations

from celadon.cel.declarations import Function, Impl, Overload
from celadon.cel.types import DURATION, INT, STRING, TIMESTAMP
from celadon.cel.values.times import calendar

_T = "timestamp('2024-02-29T22:05:06.789Z')"
_D = "duration('3h25m45.5s')"

#: name, id, implementation, documentation, value for `_T` in UTC, value in `Asia/Tokyo`,
#: and for parts that durations have: id, implementation, documentation, value for `_D`
_DurationPart = tuple[str, Impl, str, int]
_Part = tuple[str, str, Impl, str, int, int, _DurationPart | None]
_PARTS: tuple[_Part, ...] = (
    ("getFullYear", "timestamp_to_year", calendar.full_year, "The year.", 2024, 2024, None),
    ("getMonth", "timestamp_to_month", calendar.month, "The month, from 0.", 1, 2, None),
    (
        "getDayOfYear",
        "timestamp_to_day_of_year",
        calendar.day_of_year,
        "The day of the year, from 0.",
        59,
        60,
        None,
    ),
    (
        "getDayOfMonth",
        "timestamp_to_day_of_month",
        calendar.day_of_month,
        "The day of the month, from 0.",
        28,
        0,
        None,
    ),
    (
        "getDate",
        "timestamp_to_day_of_month_1_based",
        calendar.date,
        "The day of the month, from 1.",
        29,
        1,
        None,
    ),
    (
        "getDayOfWeek",
        "timestamp_to_day_of_week",
        calendar.day_of_week,
        "The day of the week, from 0 for Sunday.",
        4,
        5,
        None,
    ),
    (
        "getHours",
        "timestamp_to_hours",
        calendar.hours,
        "The hour, from 0 to 23.",
        22,
        7,
        ("duration_to_hours", calendar.duration_hours, "Whole hours.", 3),
    ),
    (
        "getMinutes",
        "timestamp_to_minutes",
        calendar.minutes,
        "The minute, from 0 to 59.",
        5,
        5,
        ("duration_to_minutes", calendar.duration_minutes, "All whole minutes.", 205),
    ),
    (
        "getSeconds",
        "timestamp_to_seconds",
        calendar.seconds,
        "The second, from 0 to 59.",
        6,
        6,
        ("duration_to_seconds", calendar.duration_whole_seconds, "All whole seconds.", 12345),
    ),
    (
        "getMilliseconds",
        "timestamp_to_milliseconds",
        calendar.milliseconds,
        "The millisecond, from 0 to 999.",
        789,
        789,
        ("duration_to_milliseconds", calendar.duration_milliseconds, "All milliseconds.", 12345500),
    ),
)


def _zoned_id(id: str) -> str:
    """cel-go names one of these differently."""
    return "timestamp_to_seconds_tz" if id == "timestamp_to_seconds" else f"{id}_with_tz"


def _overloads(part: _Part) -> tuple[Overload, ...]:
    name, id, impl, doc, utc, zoned, of_duration = part
    plain = Overload(
        id, (TIMESTAMP,), INT, impl, member=True, doc=doc, examples=((f"{_T}.{name}()", str(utc)),)
    )
    in_zone = Overload(
        _zoned_id(id),
        (TIMESTAMP, STRING),
        INT,
        impl,
        member=True,
        doc=f"{doc[:-1]}, in a time zone.",
        examples=((f"{_T}.{name}('Asia/Tokyo')", str(zoned)),),
    )
    if of_duration is None:
        return (plain, in_zone)
    duration_id, duration_impl, duration_doc, value = of_duration
    total = Overload(
        duration_id,
        (DURATION,),
        INT,
        duration_impl,
        member=True,
        doc=duration_doc,
        examples=((f"{_D}.{name}()", str(value)),),
    )
    return (plain, in_zone, total)


FUNCTIONS: tuple[Function, ...] = tuple(Function(part[0], _overloads(part)) for part in _PARTS)


def _with_millisecond_part(overload: Overload) -> Overload:
    if overload.id != "duration_to_milliseconds":
        return overload
    return overload._replace(
        impl=calendar.duration_millisecond_part,
        doc="The milliseconds beyond whole seconds.",
        examples=((f"{_D}.getMilliseconds()", "500"),),
    )


#: The same with `getMilliseconds` of a duration as the specification has it: the part beyond whole
#: seconds, where cel-go gives all milliseconds.
SPECIFIED: tuple[Function, ...] = tuple(
    function._replace(overloads=tuple(map(_with_millisecond_part, function.overloads)))
    for function in FUNCTIONS
)
