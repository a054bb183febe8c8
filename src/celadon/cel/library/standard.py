"""The standard library: what every CEL environment has.

The operators have a module of their own; here are the conversions, and the functions on strings
and sizes, and everything is put together in cel-go's order.
"""

from __future__ import annotations

from celadon.cel import cost as costs
from celadon.cel import re2, size_growth
from celadon.cel.codegen import inline_functions
from celadon.cel.cost import CostRule
from celadon.cel.declarations import Function, Impl, Library, Overload
from celadon.cel.errors import EvaluationError, no_such_overload
from celadon.cel.library import operators
from celadon.cel.parsing.macros import STANDARD_MACROS
from celadon.cel.size_growth import Growth
from celadon.cel.types import (
    BOOL,
    BYTES,
    DOUBLE,
    DURATION,
    DYN,
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
    type_of,
    type_param,
)
from celadon.cel.values import container_access, runtime_types, timestamps
from celadon.cel.values import conversions as c
from celadon.cel.values.equality import refusal
from celadon.cel.values.timestamps import format_timestamp

# --- Conversions -------------------------------------------------------------
#
# The conversions as functions: `bool bytes double duration dyn int string timestamp type uint`.

_A = type_param("A")


def _unary(
    id: str,
    source: Type,
    target: Type,
    impl: Impl | None,
    doc: str,
    *examples: tuple[str, str],
    cost: CostRule | None = None,
    growth: Growth | None = None,
) -> Overload:
    return Overload(
        id, (source,), target, impl, cost=cost, doc=doc, examples=examples, growth=growth
    )


def _same(id: str, type_: Type, example: str) -> Overload:
    return _unary(
        id,
        type_,
        type_,
        c.identity,
        "The value itself.",
        (f"{type_.display()}({example})", example),
        growth=size_growth.first,
    )


CONVERSIONS: tuple[Function, ...] = (
    Function(
        "type",
        (
            _unary(
                "type", _A, type_of(_A), None, "The type of a value.", ("type(1) == int", "true")
            ),
        ),
        runtime_types.type_of,
    ),
    Function(
        "bool",
        (
            _same("bool_to_bool", BOOL, "true"),
            _unary(
                "string_to_bool",
                STRING,
                BOOL,
                c.string_to_bool,
                "Reads `1 t T TRUE true True 0 f F FALSE false False`.",
                ("bool('t')", "true"),
            ),
        ),
    ),
    Function(
        "bytes",
        (
            _same("bytes_to_bytes", BYTES, "b'a'"),
            _unary(
                "string_to_bytes",
                STRING,
                BYTES,
                c.string_to_bytes,
                "The UTF-8 encoding.",
                ("bytes('é')", "b'é'"),
                cost=costs.STRING_TO_BYTES,
                growth=size_growth.times(4),
            ),
        ),
    ),
    Function(
        "double",
        (
            _same("double_to_double", DOUBLE, "1.5"),
            _unary(
                "int64_to_double",
                INT,
                DOUBLE,
                c.int_to_double,
                "The nearest.",
                ("double(1)", "1.0"),
            ),
            _unary(
                "string_to_double",
                STRING,
                DOUBLE,
                c.string_to_double,
                "Reads decimal and hexadecimal notation, `inf` and `nan`.",
                ("double('1.5e3')", "1500.0"),
            ),
            _unary(
                "uint64_to_double",
                UINT,
                DOUBLE,
                c.int_to_double,
                "The nearest.",
                ("double(1u)", "1.0"),
            ),
        ),
        unpaid=container_access.paid_again,
    ),
    Function(
        "duration",
        (
            _same("duration_to_duration", DURATION, "duration('1s')"),
            _unary("int64_to_duration", INT, DURATION, c.int_to_duration, "Always an error."),
            _unary(
                "string_to_duration",
                STRING,
                DURATION,
                c.string_to_duration,
                "Reads numbers with the units `ns us ms s m h`.",
                ("duration('1h30m')", "duration('90m')"),
            ),
        ),
        unpaid=container_access.paid_again,
    ),
    Function(
        "dyn",
        (
            _unary(
                "to_dyn",
                _A,
                DYN,
                None,
                "The value itself, of unknown type.",
                ("dyn(1) == 1.0", "true"),
                growth=size_growth.first,
            ),
        ),
        c.identity,
    ),
    Function(
        "int",
        (
            _same("int64_to_int64", INT, "1"),
            _unary(
                "double_to_int64",
                DOUBLE,
                INT,
                c.double_to_int,
                "Cut off toward zero; out of range is an error.",
                ("int(-5.9)", "-5"),
            ),
            _unary(
                "duration_to_int64",
                DURATION,
                INT,
                c.duration_to_int,
                "Nanoseconds.",
                ("int(duration('1us'))", "1000"),
            ),
            _unary(
                "string_to_int64",
                STRING,
                INT,
                c.string_to_int,
                "Reads decimal.",
                ("int('-5')", "-5"),
            ),
            _unary(
                "timestamp_to_int64",
                TIMESTAMP,
                INT,
                c.timestamp_to_int,
                "Seconds since 1970.",
                ("int(timestamp('1970-01-01T00:01:00Z'))", "60"),
            ),
            _unary(
                "uint64_to_int64",
                UINT,
                INT,
                c.uint_to_int,
                "Out of range is an error.",
                ("int(1u)", "1"),
            ),
        ),
    ).with_each(inline=inline_functions.INT),
    Function(
        "string",
        (
            _same("string_to_string", STRING, "'a'"),
            _unary(
                "bool_to_string",
                BOOL,
                STRING,
                c.bool_to_string,
                "`true` or `false`.",
                ("string(true)", "'true'"),
                growth=size_growth.short_text,
            ),
            _unary(
                "bytes_to_string",
                BYTES,
                STRING,
                c.bytes_to_string,
                "Decodes UTF-8; anything else is an error.",
                ("string(b'abc')", "'abc'"),
                cost=costs.BYTES_TO_STRING,
                growth=size_growth.first,
            ),
            _unary(
                "double_to_string",
                DOUBLE,
                STRING,
                c.double_to_string,
                "The fewest digits that read back the same.",
                ("string(1234567.5)", "'1.2345675e+06'"),
                growth=size_growth.short_text,
            ),
            _unary(
                "duration_to_string",
                DURATION,
                STRING,
                c.duration_to_string,
                "In seconds.",
                ("string(duration('1m1ms'))", "'60.001s'"),
                growth=size_growth.short_text,
            ),
            _unary(
                "int64_to_string",
                INT,
                STRING,
                c.int_to_string,
                "Decimal.",
                ("string(-1)", "'-1'"),
                growth=size_growth.short_text,
            ),
            _unary(
                "timestamp_to_string",
                TIMESTAMP,
                STRING,
                format_timestamp,
                "RFC 3339, in the zone it was written in.",
                ("string(timestamp('2024-02-29T00:00:00+01:00'))", "'2024-02-29T00:00:00+01:00'"),
                growth=size_growth.short_text,
            ),
            _unary(
                "uint64_to_string",
                UINT,
                STRING,
                c.int_to_string,
                "Decimal.",
                ("string(1u)", "'1'"),
                growth=size_growth.short_text,
            ),
        ),
    ).with_each(inline=inline_functions.STRING),
    Function(
        "timestamp",
        (
            _same("timestamp_to_timestamp", TIMESTAMP, "timestamp(0)"),
            _unary(
                "int64_to_timestamp",
                INT,
                TIMESTAMP,
                c.int_to_timestamp,
                "Seconds since 1970.",
                ("timestamp(60)", "timestamp('1970-01-01T00:01:00Z')"),
            ),
            _unary(
                "string_to_timestamp",
                STRING,
                TIMESTAMP,
                c.string_to_timestamp,
                "Reads RFC 3339.",
                ("timestamp('1970-01-01T01:00:00+01:00')", "timestamp(0)"),
            ),
        ),
        unpaid=container_access.paid_again,
    ),
    Function(
        "uint",
        (
            _same("uint64_to_uint64", UINT, "1u"),
            _unary(
                "double_to_uint64",
                DOUBLE,
                UINT,
                c.double_to_uint,
                "Cut off; out of range is an error.",
                ("uint(5.9)", "5u"),
            ),
            _unary(
                "int64_to_uint64",
                INT,
                UINT,
                c.int_to_uint,
                "Negative is an error.",
                ("uint(1)", "1u"),
            ),
            _unary(
                "string_to_uint64",
                STRING,
                UINT,
                c.string_to_uint,
                "Reads decimal, without a sign.",
                ("uint('5')", "5u"),
            ),
        ),
    ),
)


# --- The standard library ----------------------------------------------------

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
    ("getFullYear", "timestamp_to_year", timestamps.full_year, "The year.", 2024, 2024, None),
    ("getMonth", "timestamp_to_month", timestamps.month, "The month, from 0.", 1, 2, None),
    (
        "getDayOfYear",
        "timestamp_to_day_of_year",
        timestamps.day_of_year,
        "The day of the year, from 0.",
        59,
        60,
        None,
    ),
    (
        "getDayOfMonth",
        "timestamp_to_day_of_month",
        timestamps.day_of_month,
        "The day of the month, from 0.",
        28,
        0,
        None,
    ),
    (
        "getDate",
        "timestamp_to_day_of_month_1_based",
        timestamps.date,
        "The day of the month, from 1.",
        29,
        1,
        None,
    ),
    (
        "getDayOfWeek",
        "timestamp_to_day_of_week",
        timestamps.day_of_week,
        "The day of the week, from 0 for Sunday.",
        4,
        5,
        None,
    ),
    (
        "getHours",
        "timestamp_to_hours",
        timestamps.hours,
        "The hour, from 0 to 23.",
        22,
        7,
        ("duration_to_hours", timestamps.duration_hours, "Whole hours.", 3),
    ),
    (
        "getMinutes",
        "timestamp_to_minutes",
        timestamps.minutes,
        "The minute, from 0 to 59.",
        5,
        5,
        ("duration_to_minutes", timestamps.duration_minutes, "All whole minutes.", 205),
    ),
    (
        "getSeconds",
        "timestamp_to_seconds",
        timestamps.seconds,
        "The second, from 0 to 59.",
        6,
        6,
        ("duration_to_seconds", timestamps.duration_whole_seconds, "All whole seconds.", 12345),
    ),
    (
        "getMilliseconds",
        "timestamp_to_milliseconds",
        timestamps.milliseconds,
        "The millisecond, from 0 to 999.",
        789,
        789,
        (
            "duration_to_milliseconds",
            timestamps.duration_milliseconds,
            "All milliseconds.",
            12345500,
        ),
    ),
)


def _zoned_id(id: str) -> str:
    """Return the overload's id with a time zone; cel-go names one of them differently."""
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
        impl=timestamps.duration_millisecond_part,
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
    """Return whether the pattern is found anywhere in the text (RE2 syntax)."""
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
            *CONVERSIONS,
            *_STRINGS,
            *time,
        ),
        types=(BOOL, BYTES, DOUBLE, DURATION, INT, LIST, MAP, NULL, STRING, TIMESTAMP, TYPE, UINT),
        macros=STANDARD_MACROS,
    )


LIBRARY = _library("standard", FUNCTIONS)

#: The standard library as the specification has it where cel-go differs.
SPECIFIED = _library("standard, as specified", SPECIFIED_TIME_FUNCTIONS)
