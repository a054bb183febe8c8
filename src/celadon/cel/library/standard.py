"""The standard library: what every CEL environment has.

The operators have a module of their own; here are the conversions, and the functions on strings
and sizes, and everything is put together in cel-go's order.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from typing import Final

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

_TYPES: Final = {
    "bool": BOOL,
    "bytes": BYTES,
    "double": DOUBLE,
    "duration": DURATION,
    "int64": INT,
    "string": STRING,
    "timestamp": TIMESTAMP,
    "uint64": UINT,
}
"""The types by their names in ids of overloads."""


def _conversion(
    id: str,
    impl: Impl,
    doc: str,
    argument: str = "",
    value: str = "",
    cost: CostRule | None = None,
    growth: Growth | None = None,
) -> Overload:
    """Return the overload whose id names both types; its example converts `argument` to `value`."""
    source, target = (_TYPES[name] for name in id.split("_to_"))
    examples = ((f"{target.display()}({argument})", value),) if argument else ()
    return Overload(
        id, (source,), target, impl, cost=cost, doc=doc, examples=examples, growth=growth
    )


def _same(name: str, value: str) -> Overload:
    return _conversion(
        f"{name}_to_{name}", c.identity, "The value itself.", value, value, growth=size_growth.first
    )


_short_text = partial(_conversion, growth=size_growth.short_text)

CONVERSIONS: tuple[Function, ...] = (
    Function(
        "type",
        (
            Overload(
                "type",
                (_A,),
                type_of(_A),
                doc="The type of a value.",
                examples=(("type(1) == int", "true"),),
            ),
        ),
        runtime_types.type_of,
    ),
    Function(
        "bool",
        (
            _same("bool", "true"),
            _conversion(
                "string_to_bool",
                c.string_to_bool,
                "Reads `1 t T TRUE true True 0 f F FALSE false False`.",
                "'t'",
                "true",
            ),
        ),
    ),
    Function(
        "bytes",
        (
            _same("bytes", "b'a'"),
            _conversion(
                "string_to_bytes",
                c.string_to_bytes,
                "The UTF-8 encoding.",
                "'é'",
                "b'é'",
                costs.STRING_TO_BYTES,
                size_growth.times(4),
            ),
        ),
    ),
    Function(
        "double",
        (
            _same("double", "1.5"),
            _conversion("int64_to_double", c.int_to_double, "The nearest.", "1", "1.0"),
            _conversion(
                "string_to_double",
                c.string_to_double,
                "Reads decimal and hexadecimal notation, `inf` and `nan`.",
                "'1.5e3'",
                "1500.0",
            ),
            _conversion("uint64_to_double", c.int_to_double, "The nearest.", "1u", "1.0"),
        ),
        unpaid=container_access.paid_again,
    ),
    Function(
        "duration",
        (
            _same("duration", "duration('1s')"),
            _conversion("int64_to_duration", c.int_to_duration, "Always an error."),
            _conversion(
                "string_to_duration",
                c.string_to_duration,
                "Reads numbers with the units `ns us ms s m h`.",
                "'1h30m'",
                "duration('90m')",
            ),
        ),
        unpaid=container_access.paid_again,
    ),
    Function(
        "dyn",
        (
            Overload(
                "to_dyn",
                (_A,),
                DYN,
                doc="The value itself, of unknown type.",
                examples=(("dyn(1) == 1.0", "true"),),
                growth=size_growth.first,
            ),
        ),
        c.identity,
    ),
    Function(
        "int",
        (
            _same("int64", "1"),
            _conversion(
                "double_to_int64",
                c.double_to_int,
                "Cut off toward zero; out of range is an error.",
                "-5.9",
                "-5",
            ),
            _conversion(
                "duration_to_int64", c.duration_to_int, "Nanoseconds.", "duration('1us')", "1000"
            ),
            _conversion("string_to_int64", c.string_to_int, "Reads decimal.", "'-5'", "-5"),
            _conversion(
                "timestamp_to_int64",
                c.timestamp_to_int,
                "Seconds since 1970.",
                "timestamp('1970-01-01T00:01:00Z')",
                "60",
            ),
            _conversion("uint64_to_int64", c.uint_to_int, "Out of range is an error.", "1u", "1"),
        ),
    ).with_each(inline=inline_functions.INT),
    Function(
        "string",
        (
            _same("string", "'a'"),
            _short_text("bool_to_string", c.bool_to_string, "`true` or `false`.", "true", "'true'"),
            _conversion(
                "bytes_to_string",
                c.bytes_to_string,
                "Decodes UTF-8; anything else is an error.",
                "b'abc'",
                "'abc'",
                costs.BYTES_TO_STRING,
                size_growth.first,
            ),
            _short_text(
                "double_to_string",
                c.double_to_string,
                "The fewest digits that read back the same.",
                "1234567.5",
                "'1.2345675e+06'",
            ),
            _short_text(
                "duration_to_string",
                c.duration_to_string,
                "In seconds.",
                "duration('1m1ms')",
                "'60.001s'",
            ),
            _short_text("int64_to_string", c.int_to_string, "Decimal.", "-1", "'-1'"),
            _short_text(
                "timestamp_to_string",
                format_timestamp,
                "RFC 3339, in the zone it was written in.",
                "timestamp('2024-02-29T00:00:00+01:00')",
                "'2024-02-29T00:00:00+01:00'",
            ),
            _short_text("uint64_to_string", c.int_to_string, "Decimal.", "1u", "'1'"),
        ),
    ).with_each(inline=inline_functions.STRING),
    Function(
        "timestamp",
        (
            _same("timestamp", "timestamp(0)"),
            _conversion(
                "int64_to_timestamp",
                c.int_to_timestamp,
                "Seconds since 1970.",
                "60",
                "timestamp('1970-01-01T00:01:00Z')",
            ),
            _conversion(
                "string_to_timestamp",
                c.string_to_timestamp,
                "Reads RFC 3339.",
                "'1970-01-01T01:00:00+01:00'",
                "timestamp(0)",
            ),
        ),
        unpaid=container_access.paid_again,
    ),
    Function(
        "uint",
        (
            _same("uint64", "1u"),
            _conversion(
                "double_to_uint64",
                c.double_to_uint,
                "Cut off; out of range is an error.",
                "5.9",
                "5u",
            ),
            _conversion("int64_to_uint64", c.int_to_uint, "Negative is an error.", "1", "1u"),
            _conversion(
                "string_to_uint64", c.string_to_uint, "Reads decimal, without a sign.", "'5'", "5u"
            ),
        ),
    ),
)


# --- Time functions ----------------------------------------------------------
#
# The parts of timestamps and durations as member functions, plain and with a time zone.

_T = "timestamp('2024-02-29T22:05:06.789Z')"
_D = "duration('3h25m45.5s')"

_PARTS: tuple[tuple[str, str, Impl, str, int, int], ...] = (
    ("getFullYear", "year", timestamps.full_year, "The year.", 2024, 2024),
    ("getMonth", "month", timestamps.month, "The month, from 0.", 1, 2),
    ("getDayOfYear", "day_of_year", timestamps.day_of_year, "The day of the year, from 0.", 59, 60),
    (
        "getDayOfMonth",
        "day_of_month",
        timestamps.day_of_month,
        "The day of the month, from 0.",
        28,
        0,
    ),
    ("getDate", "day_of_month_1_based", timestamps.date, "The day of the month, from 1.", 29, 1),
    (
        "getDayOfWeek",
        "day_of_week",
        timestamps.day_of_week,
        "The day of the week, from 0 for Sunday.",
        4,
        5,
    ),
    ("getHours", "hours", timestamps.hours, "The hour, from 0 to 23.", 22, 7),
    ("getMinutes", "minutes", timestamps.minutes, "The minute, from 0 to 59.", 5, 5),
    ("getSeconds", "seconds", timestamps.seconds, "The second, from 0 to 59.", 6, 6),
    (
        "getMilliseconds",
        "milliseconds",
        timestamps.milliseconds,
        "The millisecond, from 0 to 999.",
        789,
        789,
    ),
)
"""Name, id, implementation, documentation, value for `_T` in UTC, value in `Asia/Tokyo`."""

_DURATION_PARTS: Mapping[str, tuple[Impl, str, int]] = {
    "hours": (timestamps.duration_hours, "Whole hours.", 3),
    "minutes": (timestamps.duration_minutes, "All whole minutes.", 205),
    "seconds": (timestamps.duration_whole_seconds, "All whole seconds.", 12345),
    "milliseconds": (timestamps.duration_milliseconds, "All milliseconds.", 12345500),
}
"""By id, the parts that durations have, too: implementation, documentation, value for `_D`."""


def _overloads(
    name: str, id: str, impl: Impl, doc: str, utc: int, zoned: int
) -> Iterator[Overload]:
    example = (f"{_T}.{name}()", str(utc))
    yield Overload.method(f"timestamp_to_{id}", (TIMESTAMP,), INT, impl, doc, example)
    yield Overload.method(
        # cel-go names one of them differently.
        "timestamp_to_seconds_tz" if id == "seconds" else f"timestamp_to_{id}_with_tz",
        (TIMESTAMP, STRING),
        INT,
        impl,
        f"{doc[:-1]}, in a time zone.",
        (f"{_T}.{name}('Asia/Tokyo')", str(zoned)),
    )
    if id in _DURATION_PARTS:
        impl, doc, value = _DURATION_PARTS[id]
        example = (f"{_D}.{name}()", str(value))
        yield Overload.method(f"duration_to_{id}", (DURATION,), INT, impl, doc, example)


FUNCTIONS: tuple[Function, ...] = tuple(
    Function(part[0], tuple(_overloads(*part))) for part in _PARTS
)


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
    called, method = (f"size({example})", str(count)), (f"{example}.size()", str(count))
    return (
        Overload(f"size_{name}", (type_,), INT, doc=doc, examples=(called,)),
        Overload.method(f"{name}_size", (type_,), INT, None, doc, method),
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

_MATCHES = "Whether a regular expression (RE2) matches anywhere in the string."

_STRINGS = (
    Function(
        "contains",
        (
            Overload.method(
                "contains_string",
                (STRING, STRING),
                BOOL,
                contains,
                "Whether the argument occurs in the string.",
                ("'hello'.contains('ell')", "true"),
                cost=costs.CONTAINS,
                inline=inline_functions.CONTAINS,
            ),
        ),
        contains,
    ),
    Function(
        "endsWith",
        (
            Overload.method(
                "ends_with_string",
                (STRING, STRING),
                BOOL,
                ends_with,
                "Whether the string ends with the argument.",
                ("'hello'.endsWith('lo')", "true"),
                cost=costs.AFFIX,
                inline=inline_functions.ENDS_WITH,
            ),
        ),
        ends_with,
    ),
    Function(
        "startsWith",
        (
            Overload.method(
                "starts_with_string",
                (STRING, STRING),
                BOOL,
                starts_with,
                "Whether the string starts with the argument.",
                ("'hello'.startsWith('he')", "true"),
                cost=costs.AFFIX,
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
                doc=_MATCHES,
                examples=(("matches('hello', 'l+')", "true"),),
            ),
            Overload.method(
                "matches_string",
                (STRING, STRING),
                BOOL,
                None,
                _MATCHES,
                ("'hello'.matches('^h.*o$')", "true"),
                cost=costs.MATCHES,
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
