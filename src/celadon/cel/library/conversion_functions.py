"""The conversions as functions: `bool bytes double duration dyn int string timestamp type uint`."""

from __future__ import annotations

from celadon.cel import growth
from celadon.cel.codegen import inline_functions
from celadon.cel.cost import CostRule
from celadon.cel.declarations import Function, Impl, Overload
from celadon.cel.growth import Growth
from celadon.cel.library import standard_costs as costs
from celadon.cel.types import (
    BOOL,
    BYTES,
    DOUBLE,
    DURATION,
    DYN,
    INT,
    STRING,
    TIMESTAMP,
    UINT,
    Type,
    type_of,
    type_param,
)
from celadon.cel.values import conversions as c
from celadon.cel.values import runtime_types
from celadon.cel.values.timestamps import format_timestamp

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
        growth=growth.first,
    )


FUNCTIONS: tuple[Function, ...] = (
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
                growth=growth.times(4),
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
                growth=growth.first,
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
                growth=growth.short_text,
            ),
            _unary(
                "bytes_to_string",
                BYTES,
                STRING,
                c.bytes_to_string,
                "Decodes UTF-8; anything else is an error.",
                ("string(b'abc')", "'abc'"),
                cost=costs.BYTES_TO_STRING,
                growth=growth.first,
            ),
            _unary(
                "double_to_string",
                DOUBLE,
                STRING,
                c.double_to_string,
                "The fewest digits that read back the same.",
                ("string(1234567.5)", "'1.2345675e+06'"),
                growth=growth.short_text,
            ),
            _unary(
                "duration_to_string",
                DURATION,
                STRING,
                c.duration_to_string,
                "In seconds.",
                ("string(duration('1m1ms'))", "'60.001s'"),
                growth=growth.short_text,
            ),
            _unary(
                "int64_to_string",
                INT,
                STRING,
                c.int_to_string,
                "Decimal.",
                ("string(-1)", "'-1'"),
                growth=growth.short_text,
            ),
            _unary(
                "timestamp_to_string",
                TIMESTAMP,
                STRING,
                format_timestamp,
                "RFC 3339, in the zone it was written in.",
                ("string(timestamp('2024-02-29T00:00:00+01:00'))", "'2024-02-29T00:00:00+01:00'"),
                growth=growth.short_text,
            ),
            _unary(
                "uint64_to_string",
                UINT,
                STRING,
                c.int_to_string,
                "Decimal.",
                ("string(1u)", "'1'"),
                growth=growth.short_text,
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
