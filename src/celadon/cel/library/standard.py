"""The standard library: what every CEL environment has.

The tables are spread over `operators` and `conversion_functions`; this module
adds the functions on strings and sizes and puts everything together, in cel-go's order.
"""

from __future__ import annotations

from celadon.cel import re2
from celadon.cel.codegen import inline_functions
from celadon.cel.declarations import Function, Impl, Library, Overload
from celadon.cel.errors import EvaluationError, no_such_overload
from celadon.cel.library import conversion_functions, operators
from celadon.cel.library import standard_costs as costs
from celadon.cel.parsing.macros import STANDARD_MACROS
from celadon.cel.types import (
    BOOL,
    BYTES,
    DOUBLE,
    DURATION,
    INT,
    LIST,
    MAP,
    NULL,
    STRING,
    TIMESTAMP,
    TYPE,
    UINT,
    Type,
    list_of,
    map_of,
    type_param,
)
from celadon.cel.values import calendar, container_access
from celadon.cel.values.equality import refusal

# --- Time functions ----------------------------------------------------------
#
# The parts of timestamps and durations as member functions, plain and with a time zone.


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
SPECIFIED_TIME_FUNCTIONS: tuple[Function, ...] = tuple(
    function._replace(overloads=tuple(map(_with_millisecond_part, function.overloads)))
    for function in FUNCTIONS
)

_LIST = list_of(type_param("A"))
_MAP = map_of(type_param("A"), type_param("B"))
_STRING_ONLY = frozenset({str})


def contains(text: object, part: object) -> bool:
    if text.__class__ is str and part.__class__ is str:
        return part in text
    raise no_such_overload()


def starts_with(text: object, prefix: object) -> bool:
    if text.__class__ is str and prefix.__class__ is str:
        return bool(text.startswith(prefix))
    raise no_such_overload()


def ends_with(text: object, suffix: object) -> bool:
    if text.__class__ is str and suffix.__class__ is str:
        return bool(text.endswith(suffix))
    raise no_such_overload()


def matches(text: object, pattern: object) -> bool:
    """Whether the pattern is found anywhere in the text (RE2 syntax)."""
    if text.__class__ is not str:
        raise refusal("matches", text, _STRING_ONLY)
    if pattern.__class__ is not str:
        raise no_such_overload()
    try:
        return re2.compile(pattern).search(text)
    except re2.RegexError as error:
        raise EvaluationError(str(error)) from error


def _sizes(name: str, type_: Type, example: str, count: int, doc: str) -> tuple[Overload, ...]:
    return (
        Overload(
            f"size_{name}", (type_,), INT, doc=doc, examples=((f"size({example})", str(count)),)
        ),
        Overload(
            f"{name}_size",
            (type_,),
            INT,
            member=True,
            doc=doc,
            examples=((f"{example}.size()", str(count)),),
        ),
    )


_SIZE = Function(
    "size",
    (
        *_sizes("bytes", BYTES, "b'é'", 2, "The number of bytes."),
        *_sizes("list", _LIST, "[1, 2, 3]", 3, "The number of elements."),
        *_sizes("map", _MAP, "{'a': 1}", 1, "The number of entries."),
        *_sizes("string", STRING, "'é'", 1, "The number of code points."),
    ),
    container_access.size,
).with_each(inline=inline_functions.SIZE)

_STRINGS = (
    Function(
        "contains",
        (
            Overload(
                "contains_string",
                (STRING, STRING),
                BOOL,
                contains,
                member=True,
                cost=costs.CONTAINS,
                doc="Whether the argument occurs in the string.",
                examples=(("'hello'.contains('ell')", "true"),),
                inline=inline_functions.CONTAINS,
            ),
        ),
        contains,
    ),
    Function(
        "endsWith",
        (
            Overload(
                "ends_with_string",
                (STRING, STRING),
                BOOL,
                ends_with,
                member=True,
                cost=costs.AFFIX,
                doc="Whether the string ends with the argument.",
                examples=(("'hello'.endsWith('lo')", "true"),),
                inline=inline_functions.ENDS_WITH,
            ),
        ),
        ends_with,
    ),
    Function(
        "startsWith",
        (
            Overload(
                "starts_with_string",
                (STRING, STRING),
                BOOL,
                starts_with,
                member=True,
                cost=costs.AFFIX,
                doc="Whether the string starts with the argument.",
                examples=(("'hello'.startsWith('he')", "true"),),
                inline=inline_functions.STARTS_WITH,
            ),
        ),
        starts_with,
    ),
    Function(
        "matches",
        (
            Overload(
                "matches",
                (STRING, STRING),
                BOOL,
                doc="Whether a regular expression (RE2) matches anywhere in the string.",
                examples=(("matches('hello', 'l+')", "true"),),
            ),
            Overload(
                "matches_string",
                (STRING, STRING),
                BOOL,
                None,
                member=True,
                cost=costs.MATCHES,
                doc="Whether a regular expression (RE2) matches anywhere in the string.",
                examples=(("'hello'.matches('^h.*o$')", "true"),),
            ),
        ),
        matches,
        pattern=1,
    ).with_each(inline=inline_functions.MATCHES),
)


def _library(name: str, time: tuple[Function, ...]) -> Library:
    return Library(
        name,
        functions=(
            *operators.FUNCTIONS,
            _SIZE,
            *conversion_functions.FUNCTIONS,
            *_STRINGS,
            *time,
        ),
        types=(BOOL, BYTES, DOUBLE, DURATION, INT, LIST, MAP, NULL, STRING, TIMESTAMP, TYPE, UINT),
        macros=STANDARD_MACROS,
    )


LIBRARY = _library("standard", FUNCTIONS)

#: The standard library as the specification has it where cel-go differs.
SPECIFIED = _library("standard, as specified", SPECIFIED_TIME_FUNCTIONS)
