"""Attribute chains: a base value and the selects and indexes applied to it.

cel-go evaluates `object.spec.containers[0].image` as one attribute with qualifiers, and both its
cost model and its optional semantics are defined on that whole (reference, section 8.6 and 11.3).
"""

from __future__ import annotations

from typing import NamedTuple, TypeGuard

from celadon.cel import syntax
from celadon.cel.syntax import Call, Expr, Ident, Literal, LiteralValue, Select


class Step(NamedTuple):
    """One qualifier: a constant `key`, or `expr` to be evaluated (then `key` is None)."""

    node: Select | Call
    key: LiteralValue
    expr: Expr | None = None
    optional: bool = False

    @property
    def operand(self) -> Expr:
        """What the qualifier is applied to."""
        return self.node.operand if isinstance(self.node, Select) else self.node.args[0]


class Chain(NamedTuple):
    """An expression as the base that it starts from and the keys applied to it, in order."""

    base: Expr
    steps: tuple[Step, ...]

    @property
    def is_optional(self) -> bool:
        """Does a step begin with `?`, so that the value is an optional?"""
        return any(step.optional for step in self.steps)

    def constant_keys(self) -> tuple[str, ...] | None:
        """The keys, if all of them are constant strings and none is optional."""
        keys = tuple(
            step.key
            for step in self.steps
            if step.expr is None and not step.optional and step.key.__class__ is str
        )
        return keys if len(keys) == len(self.steps) else None


def last_step(node: Expr) -> tuple[Expr, Step] | None:
    """The operand and the qualifier this node adds, or None if it is not part of a chain."""
    if isinstance(node, Select):
        return None if node.test_only else (node.operand, Step(node, node.field))
    if isinstance(node, Call) and node.target is None and len(node.args) == 2:
        operand, key = node.args
        if node.function == syntax.OPT_SELECT and isinstance(key, Literal):
            return operand, Step(node, key.value, None, optional=True)
        if node.function in (syntax.INDEX, syntax.OPT_INDEX):
            optional = node.function == syntax.OPT_INDEX
            if isinstance(key, Literal):
                return operand, Step(node, key.value, None, optional)
            return operand, Step(node, None, key, optional)
    return None


def is_attribute(node: Expr) -> bool:
    """Does cel-go evaluate this as an attribute: a name, a chain, a test of presence, a
    conditional?"""
    if isinstance(node, Call):
        return is_conditional(node) or last_step(node) is not None
    return isinstance(node, (Ident, Select))


def is_conditional(node: Expr) -> TypeGuard[Call]:
    """Is it `test ? yes : no`?"""
    return isinstance(node, Call) and node.function == syntax.CONDITIONAL


def chain_of(node: Expr) -> Chain:
    """The longest chain that ends in this node (no steps if it is not a select or index)."""
    steps: list[Step] = []
    while (last := last_step(node)) is not None:
        node, step = last
        steps.append(step)
    steps.reverse()
    return Chain(node, tuple(steps))
