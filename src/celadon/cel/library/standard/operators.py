"""The operators: logic, equality, ordering, membership, indexing, and arithmetic from its module.

Every operator runs one implementation that looks at its operands itself, whatever overload the
checker chose. `?:`, `&&`, `||` and `@not_strictly_false` have none: they do not evaluate all their
operands, so the code generator writes them out. Overloads are in cel-go's order
(`common/stdlib/standard.go`), because the order shows in error texts.
"""

from __future__ import annotations

from celadon.cel import syntax
from celadon.cel.codegen.inline_forms import container_forms, lazy_forms, operator_forms
from celadon.cel.declarations import Contents, Function, Impl, Inline, Overload
from celadon.cel.errors import no_such_overload
from celadon.cel.library.standard import arithmetic_operators
from celadon.cel.library.standard import standard_costs as costs
from celadon.cel.library.standard.arithmetic_operators import LEAP_DAY, NEXT_DAY
from celadon.cel.library.standard.binary_overloads import binary
from celadon.cel.pricing import growth
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
from celadon.cel.values.operations import container_access, equality

_A = type_param("A")
_B = type_param("B")
_LIST = list_of(_A)
_MAP = map_of(_A, _B)


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
                inline=operator_forms.LOGICAL_NOT,
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
                inline=lazy_forms.NOT_STRICTLY_FALSE,
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
                inline=operator_forms.EQUALS,
            ),
        ),
        equality.equal,
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
                inline=operator_forms.NOT_EQUALS,
            ),
        ),
        equality.not_equal,
    ),
)

_ORDERING = (
    _ordering(
        syntax.LESS,
        "less",
        "<",
        equality.less,
        "Smaller than.",
        operator_forms.LESS,
        holds=True,
    ),
    _ordering(
        syntax.LESS_EQUALS,
        "less_equals",
        "<=",
        equality.less_equals,
        "Smaller or equal.",
        operator_forms.LESS_EQUALS,
        holds=True,
    ),
    _ordering(
        syntax.GREATER,
        "greater",
        ">",
        equality.greater,
        "Greater than.",
        operator_forms.GREATER,
        holds=False,
    ),
    _ordering(
        syntax.GREATER_EQUALS,
        "greater_equals",
        ">=",
        equality.greater_equals,
        "Greater or equal.",
        operator_forms.GREATER_EQUALS,
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
                growth=growth.first,
                contents=Contents.ITEM,
            ),
            binary(
                "index_map",
                _MAP,
                _A,
                _B,
                "The value for a key; an absent key is an error.",
                ("{'a': 1}['a']", "1"),
                growth=growth.first,
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
                inline=container_forms.IN,
            ),
            binary(
                "in_map",
                _A,
                _MAP,
                BOOL,
                "Whether the key is present.",
                ("'a' in {'a': 1}", "true"),
                inline=container_forms.IN,
            ),
        ),
        container_access.contains,
    ),
)

FUNCTIONS: tuple[Function, ...] = (
    *_LOGIC,
    *arithmetic_operators.FUNCTIONS,
    *_ORDERING,
    *_CONTAINERS,
)
