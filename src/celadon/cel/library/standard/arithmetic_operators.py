"""`+ - * / %` and unary minus; `celadon.cel.values.operations.arithmetic` computes them."""

from __future__ import annotations

from celadon.cel import syntax
from celadon.cel.codegen.inline_forms import operator_forms
from celadon.cel.declarations import Contents, Function, Overload
from celadon.cel.library.standard import standard_costs as costs
from celadon.cel.library.standard.binary_overloads import binary
from celadon.cel.pricing import growth
from celadon.cel.types import (
    BYTES,
    DOUBLE,
    DURATION,
    INT,
    STRING,
    TIMESTAMP,
    UINT,
    list_of,
    type_param,
)
from celadon.cel.values.operations import arithmetic

_LIST = list_of(type_param("A"))

LEAP_DAY = "timestamp('2024-02-29T00:00:00Z')"
NEXT_DAY = "timestamp('2024-03-01T00:00:00Z')"

FUNCTIONS: tuple[Function, ...] = (
    Function(
        syntax.ADD,
        (
            binary(
                "add_bytes",
                BYTES,
                BYTES,
                BYTES,
                "Concatenation.",
                ("b'ab' + b'c'", "b'abc'"),
                costs.CONCATENATION,
                growth.together,
            ),
            binary("add_double", DOUBLE, DOUBLE, DOUBLE, "Sum.", ("1.5 + 1.0", "2.5")),
            binary(
                "add_duration_duration",
                DURATION,
                DURATION,
                DURATION,
                "Sum.",
                ("duration('1m') + duration('1s')", "duration('61s')"),
            ),
            binary(
                "add_duration_timestamp",
                DURATION,
                TIMESTAMP,
                TIMESTAMP,
                "The instant that much later.",
                (f"duration('24h') + {LEAP_DAY}", NEXT_DAY),
            ),
            binary(
                "add_timestamp_duration",
                TIMESTAMP,
                DURATION,
                TIMESTAMP,
                "The instant that much later.",
                (f"{LEAP_DAY} + duration('24h')", NEXT_DAY),
            ),
            binary("add_int64", INT, INT, INT, "Sum; overflow is an error.", ("1 + 2", "3")),
            binary(
                "add_list",
                _LIST,
                _LIST,
                _LIST,
                "Concatenation.",
                ("[1] + [2]", "[1, 2]"),
                costs.LIST_CONCATENATION,
                growth.together,
                contents=Contents.JOINED,
            ),
            binary(
                "add_string",
                STRING,
                STRING,
                STRING,
                "Concatenation.",
                ("'ab' + 'c'", "'abc'"),
                costs.CONCATENATION,
                growth.together,
            ),
            binary("add_uint64", UINT, UINT, UINT, "Sum; overflow is an error.", ("1u + 2u", "3u")),
        ),
        arithmetic.add,
    ).with_each(inline=operator_forms.ADD),
    Function(
        syntax.DIVIDE,
        (
            binary("divide_double", DOUBLE, DOUBLE, DOUBLE, "Quotient.", ("1.0 / 4.0", "0.25")),
            binary(
                "divide_int64",
                INT,
                INT,
                INT,
                "Quotient, cut off toward zero; division by zero is an error.",
                ("-7 / 2", "-3"),
            ),
            binary(
                "divide_uint64",
                UINT,
                UINT,
                UINT,
                "Quotient, rounded down; division by zero is an error.",
                ("7u / 2u", "3u"),
            ),
        ),
        arithmetic.divide,
    ),
    Function(
        syntax.MODULO,
        (
            binary(
                "modulo_int64",
                INT,
                INT,
                INT,
                "Remainder, with the sign of the left operand.",
                ("-7 % 3", "-1"),
            ),
            binary("modulo_uint64", UINT, UINT, UINT, "Remainder.", ("7u % 3u", "1u")),
        ),
        arithmetic.modulo,
    ),
    Function(
        syntax.MULTIPLY,
        (
            binary("multiply_double", DOUBLE, DOUBLE, DOUBLE, "Product.", ("1.5 * 2.0", "3.0")),
            binary(
                "multiply_int64", INT, INT, INT, "Product; overflow is an error.", ("2 * 3", "6")
            ),
            binary(
                "multiply_uint64",
                UINT,
                UINT,
                UINT,
                "Product; overflow is an error.",
                ("2u * 3u", "6u"),
            ),
        ),
        arithmetic.multiply,
    ).with_each(inline=operator_forms.MULTIPLY),
    Function(
        syntax.NEGATE,
        (
            Overload(
                "negate_double", (DOUBLE,), DOUBLE, doc="Negation.", examples=(("-(1.5)", "-1.5"),)
            ),
            Overload(
                "negate_int64",
                (INT,),
                INT,
                doc="Negation; overflow is an error.",
                examples=(("-(5)", "-5"),),
            ),
        ),
        arithmetic.negate,
    ),
    Function(
        syntax.SUBTRACT,
        (
            binary("subtract_double", DOUBLE, DOUBLE, DOUBLE, "Difference.", ("1.5 - 1.0", "0.5")),
            binary(
                "subtract_duration_duration",
                DURATION,
                DURATION,
                DURATION,
                "Difference.",
                ("duration('1m') - duration('1s')", "duration('59s')"),
            ),
            binary(
                "subtract_int64",
                INT,
                INT,
                INT,
                "Difference; overflow is an error.",
                ("3 - 5", "-2"),
            ),
            binary(
                "subtract_timestamp_duration",
                TIMESTAMP,
                DURATION,
                TIMESTAMP,
                "The instant that much earlier.",
                (f"{NEXT_DAY} - duration('24h')", LEAP_DAY),
            ),
            binary(
                "subtract_timestamp_timestamp",
                TIMESTAMP,
                TIMESTAMP,
                DURATION,
                "The time between two instants.",
                (f"{NEXT_DAY} - {LEAP_DAY}", "duration('24h')"),
            ),
            binary(
                "subtract_uint64",
                UINT,
                UINT,
                UINT,
                "Difference; a negative one is an error.",
                ("5u - 3u", "2u"),
            ),
        ),
        arithmetic.subtract,
    ).with_each(inline=operator_forms.SUBTRACT),
)
