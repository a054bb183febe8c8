"""The operators with two operands: sign, function, and how strongly they bind.

One table for both parsers and the unparser (cel-go `parser/gen/CEL.g4`, `common/operators`).
"""

from __future__ import annotations

from typing import Final, NamedTuple

from celadon.cel import syntax

#: Binding strengths from the loosest; what is as strong as a member needs no parentheses anywhere.
TERNARY, OR, AND, RELATION, SUM, PRODUCT, UNARY, MEMBER = range(8)


class Operator(NamedTuple):
    """`function` is the name that calls of the operator have in the tree."""

    sign: str
    function: str
    strength: int


#: Runs of these are balanced, not read from the left.
LOGIC: Final = (
    Operator("||", syntax.LOGICAL_OR, OR),
    Operator("&&", syntax.LOGICAL_AND, AND),
)
BINARY: Final = (
    Operator("==", syntax.EQUALS, RELATION),
    Operator("!=", syntax.NOT_EQUALS, RELATION),
    Operator("in", syntax.IN, RELATION),
    Operator("<", syntax.LESS, RELATION),
    Operator("<=", syntax.LESS_EQUALS, RELATION),
    Operator(">=", syntax.GREATER_EQUALS, RELATION),
    Operator(">", syntax.GREATER, RELATION),
    Operator("+", syntax.ADD, SUM),
    Operator("-", syntax.SUBTRACT, SUM),
    Operator("*", syntax.MULTIPLY, PRODUCT),
    Operator("/", syntax.DIVIDE, PRODUCT),
    Operator("%", syntax.MODULO, PRODUCT),
)


def signs(strength: int) -> tuple[str, ...]:
    """The signs of the binary operators that bind that strongly."""
    return tuple(one.sign for one in BINARY if one.strength == strength)
