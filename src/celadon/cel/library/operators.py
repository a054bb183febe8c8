"""The operators: logic, equality, ordering, membership, indexing, and arithmetic from its module.

Every operator runs one implementation that looks at its operands itself, whatever overload the
checker chose. `?:`, `&&`, `||` and `@not_strictly_false` have none: they do not evaluate all their
operands, so the code generator writes them out. Overloads are in cel-go's order
(`common/stdlib/standard.go`), because the order shows in error texts.
"""

from __future__ import annotations

from celadon.cel import cost as costs
from celadon.cel import size_growth, syntax
from celadon.cel.codegen import inline_functions, inline_operators
from celadon.cel.cost import CostRule, Lazily
from celadon.cel.declarations import Contents, Function, Impl, Inline, Overload
from celadon.cel.errors import no_such_overload
from celadon.cel.size_growth import Growth
from celadon.cel.types import (
    BOOL,
    BYTES,
    DOUBLE,
    DURATION,
    INT,
    STRING,
    TIMESTAMP,
    UINT,
    Type,
    list_of,
    map_of,
    type_param,
)
from celadon.cel.values import arithmetic, container_access, equality

# --- Binary overloads --------------------------------------------------------
#
# The shape most operators share: two operands, no implementation of its own.


def binary(
    id: str,
    left: Type,
    right: Type,
    result: Type,
    doc: str,
    example: tuple[str, str],
    cost: CostRule | None = None,
    growth: Growth | None = None,
    inline: Inline | None = None,
    contents: Contents | None = None,
    lazily: Lazily | None = None,
) -> Overload:
    return Overload(
        id,
        (left, right),
        result,
        cost=cost,
        doc=doc,
        examples=(example,),
        growth=growth,
        inline=inline,
        contents=contents,
        lazily=lazily,
    )


def _alike(
    id: str,
    type_: Type,
    doc: str,
    source: str,
    value: str,
    cost: CostRule | None = None,
    growth: Growth | None = None,
    contents: Contents | None = None,
) -> Overload:
    """Return an overload whose operands and result have one type."""
    return binary(id, type_, type_, type_, doc, (source, value), cost, growth, contents=contents)


# --- Arithmetic operators ----------------------------------------------------
#
# `+ - * / %` and unary minus; `celadon.cel.values.arithmetic` computes them.

_A = type_param("A")
_B = type_param("B")
_LIST = list_of(_A)
_MAP = map_of(_A, _B)

LEAP_DAY = "timestamp('2024-02-29T00:00:00Z')"
NEXT_DAY = "timestamp('2024-03-01T00:00:00Z')"

ARITHMETIC: tuple[Function, ...] = (
    Function(
        syntax.ADD,
        (
            _alike(
                "add_bytes",
                BYTES,
                "Concatenation.",
                "b'ab' + b'c'",
                "b'abc'",
                costs.CONCATENATION,
                size_growth.together,
            ),
            _alike("add_double", DOUBLE, "Sum.", "1.5 + 1.0", "2.5"),
            _alike(
                "add_duration_duration",
                DURATION,
                "Sum.",
                "duration('1m') + duration('1s')",
                "duration('61s')",
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
            _alike("add_int64", INT, "Sum; overflow is an error.", "1 + 2", "3"),
            _alike(
                "add_list",
                _LIST,
                "Concatenation.",
                "[1] + [2]",
                "[1, 2]",
                costs.LIST_CONCATENATION,
                size_growth.together,
                contents=Contents.JOINED,
            ),
            _alike(
                "add_string",
                STRING,
                "Concatenation.",
                "'ab' + 'c'",
                "'abc'",
                costs.CONCATENATION,
                size_growth.together,
            ),
            _alike("add_uint64", UINT, "Sum; overflow is an error.", "1u + 2u", "3u"),
        ),
        arithmetic.add,
    ).with_each(inline=inline_operators.ADD),
    Function(
        syntax.DIVIDE,
        (
            _alike("divide_double", DOUBLE, "Quotient.", "1.0 / 4.0", "0.25"),
            _alike(
                "divide_int64",
                INT,
                "Quotient, cut off toward zero; division by zero is an error.",
                "-7 / 2",
                "-3",
            ),
            _alike(
                "divide_uint64",
                UINT,
                "Quotient, rounded down; division by zero is an error.",
                "7u / 2u",
                "3u",
            ),
        ),
        arithmetic.divide,
    ),
    Function(
        syntax.MODULO,
        (
            _alike(
                "modulo_int64", INT, "Remainder, with the sign of the left operand.", "-7 % 3", "-1"
            ),
            _alike("modulo_uint64", UINT, "Remainder.", "7u % 3u", "1u"),
        ),
        arithmetic.modulo,
    ),
    Function(
        syntax.MULTIPLY,
        (
            _alike("multiply_double", DOUBLE, "Product.", "1.5 * 2.0", "3.0"),
            _alike("multiply_int64", INT, "Product; overflow is an error.", "2 * 3", "6"),
            _alike("multiply_uint64", UINT, "Product; overflow is an error.", "2u * 3u", "6u"),
        ),
        arithmetic.multiply,
    ).with_each(inline=inline_operators.MULTIPLY),
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
            _alike("subtract_double", DOUBLE, "Difference.", "1.5 - 1.0", "0.5"),
            _alike(
                "subtract_duration_duration",
                DURATION,
                "Difference.",
                "duration('1m') - duration('1s')",
                "duration('59s')",
            ),
            _alike("subtract_int64", INT, "Difference; overflow is an error.", "3 - 5", "-2"),
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
            _alike(
                "subtract_uint64", UINT, "Difference; a negative one is an error.", "5u - 3u", "2u"
            ),
        ),
        arithmetic.subtract,
    ).with_each(inline=inline_operators.SUBTRACT),
)

#: suffix of the overload ids, operand types, a smaller left and a larger right operand
_ORDERED: tuple[tuple[str, Type, Type, str, str], ...] = (
    ("bool", BOOL, BOOL, "false", "true"),
    ("int64", INT, INT, "1", "2"),
    ("int64_double", INT, DOUBLE, "1", "1.5"),
    ("int64_uint64", INT, UINT, "-1", "0u"),
    ("uint64", UINT, UINT, "1u", "2u"),
    ("uint64_double", UINT, DOUBLE, "1u", "1.5"),
    ("uint64_int64", UINT, INT, "1u", "2"),
    ("double", DOUBLE, DOUBLE, "1.5", "2.5"),
    ("double_int64", DOUBLE, INT, "1.5", "2"),
    ("double_uint64", DOUBLE, UINT, "1.5", "2u"),
    ("string", STRING, STRING, "'a'", "'b'"),
    ("bytes", BYTES, BYTES, "b'a'", "b'b'"),
    ("timestamp", TIMESTAMP, TIMESTAMP, LEAP_DAY, NEXT_DAY),
    ("duration", DURATION, DURATION, "duration('59s')", "duration('1m')"),
)


def logical_not(value: object) -> bool:
    if value.__class__ is not bool:
        raise no_such_overload()
    return not value


def _ordering(
    name: str, prefix: str, symbol: str, impl: Impl, doc: str, inline: Inline, *, holds: bool
) -> Function:
    """One ordering operator; `holds` says whether a smaller left operand satisfies it."""
    return Function(
        name,
        tuple(
            Overload(
                f"{prefix}_{suffix}",
                (left, right),
                BOOL,
                cost=costs.COMPARISON if suffix in ("string", "bytes") else None,
                doc=doc,
                examples=((f"{small} {symbol} {large}", "true" if holds else "false"),),
                inline=inline,
            )
            for suffix, left, right, small, large in _ORDERED
        ),
        impl,
    )


_LOGIC = (
    Function(
        syntax.CONDITIONAL,
        (
            Overload(
                "conditional",
                (BOOL, _A, _A),
                _A,
                doc="The second operand if the first is true, else the third.",
                examples=(("1 < 2 ? 'a' : 'b'", "'a'"),),
                growth=lambda test, yes, no: yes.size | no.size,
                contents=Contents.CHOSEN,
                lazily=costs.chosen,
            ),
        ),
    ),
    Function(
        syntax.LOGICAL_AND,
        (
            binary(
                "logical_and",
                BOOL,
                BOOL,
                BOOL,
                "True if both are true. A false operand decides even if the other fails.",
                ("true && false", "false"),
                lazily=costs.either_or_both,
            ),
        ),
    ),
    Function(
        syntax.LOGICAL_OR,
        (
            binary(
                "logical_or",
                BOOL,
                BOOL,
                BOOL,
                "True if either is true. A true operand decides even if the other fails.",
                ("true || 1 / 0 > 1", "true"),
                lazily=costs.either_or_both,
            ),
        ),
    ),
    Function(
        syntax.LOGICAL_NOT,
        (
            Overload(
                "logical_not",
                (BOOL,),
                BOOL,
                doc="Negation.",
                examples=(("!true", "false"),),
                inline=inline_operators.LOGICAL_NOT,
            ),
        ),
        logical_not,
    ),
    Function(
        syntax.NOT_STRICTLY_FALSE,
        (
            Overload(
                "not_strictly_false",
                (BOOL,),
                BOOL,
                doc="False only for false; errors count as true. Used by macros.",
                inline=inline_operators.NOT_STRICTLY_FALSE,
            ),
        ),
    ),
    Function(
        syntax.EQUALS,
        (
            binary(
                "equals",
                _A,
                _A,
                BOOL,
                "Whether two values are equal; numbers of different types by value.",
                ("[1, 2] == [1, 2]", "true"),
                costs.COMPARISON,
                inline=inline_operators.EQUALS,
            ),
        ),
        equality.equal,
        unpaid=container_access.equal_again,
    ),
    Function(
        syntax.NOT_EQUALS,
        (
            binary(
                "not_equals",
                _A,
                _A,
                BOOL,
                "Whether two values are not equal.",
                ("'a' != 'b'", "true"),
                costs.COMPARISON,
                inline=inline_operators.NOT_EQUALS,
            ),
        ),
        equality.not_equal,
        unpaid=container_access.not_equal_again,
    ),
)

_ORDERING = (
    _ordering(
        syntax.LESS, "less", "<", equality.less, "Smaller than.", inline_operators.LESS, holds=True
    ),
    _ordering(
        syntax.LESS_EQUALS,
        "less_equals",
        "<=",
        equality.less_equals,
        "Smaller or equal.",
        inline_operators.LESS_EQUALS,
        holds=True,
    ),
    _ordering(
        syntax.GREATER,
        "greater",
        ">",
        equality.greater,
        "Greater than.",
        inline_operators.GREATER,
        holds=False,
    ),
    _ordering(
        syntax.GREATER_EQUALS,
        "greater_equals",
        ">=",
        equality.greater_equals,
        "Greater or equal.",
        inline_operators.GREATER_EQUALS,
        holds=False,
    ),
)

_CONTAINERS = (
    Function(
        syntax.INDEX,
        (
            binary(
                "index_list",
                _LIST,
                INT,
                _A,
                "The element at a position, from 0; none there is an error.",
                ("['a', 'b'][1]", "'b'"),
                growth=size_growth.first,
                contents=Contents.ITEM,
            ),
            binary(
                "index_map",
                _MAP,
                _A,
                _B,
                "The value for a key; an absent key is an error.",
                ("{'a': 1}['a']", "1"),
                growth=size_growth.first,
                contents=Contents.VALUE,
            ),
        ),
        container_access.index,
    ),
    Function(
        syntax.IN,
        (
            binary(
                "in_list",
                _A,
                _LIST,
                BOOL,
                "Whether some element equals the value.",
                ("2 in [1, 2]", "true"),
                costs.IN_LIST,
                inline=inline_functions.IN,
            ),
            binary(
                "in_map",
                _A,
                _MAP,
                BOOL,
                "Whether the key is present.",
                ("'a' in {'a': 1}", "true"),
                inline=inline_functions.IN,
            ),
        ),
        container_access.contains,
        unpaid=container_access.contains_again,
    ),
)

FUNCTIONS: tuple[Function, ...] = (
    *_LOGIC,
    *ARITHMETIC,
    *_ORDERING,
    *_CONTAINERS,
)
