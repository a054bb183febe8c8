"""An upper bound of what an evaluation can cost, from the size of its inputs.

The plain variant charges nothing, so it may run only where no limit can be reached. This module
proves that: it computes from the tree a polynomial in `n`, the length of the JSON text of all
inputs, that is never below the true cost (INVARIANT (bound): checked by a property over the
recorded corpus and random expressions). It is crude on purpose; what matters is that the ordinary
expression on the ordinary object is far below the limits.

Why `n` bounds everything: a string of k characters, a list of k elements, a map of k entries takes
at least k characters of JSON. What an expression builds itself is bounded along with the cost.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import assert_never

from celadon.cel import syntax
from celadon.cel.codegen.context import Context
from celadon.cel.shapes import Bind, classify
from celadon.cel.syntax import (
    Call,
    Comprehension,
    Expr,
    Ident,
    ListLiteral,
    Literal,
    MapLiteral,
    Select,
    Struct,
    Unspecified,
)

Polynomial = tuple[int, ...]
"""Coefficients by power of n, lowest first; saturating at `_HUGE`."""

_HUGE = 1 << 80
_MAX_DEGREE = 8
_UNBOUNDED: Polynomial = (_HUGE,)
_ONE: Polynomial = (1,)
_N: Polynomial = (0, 1)


@dataclass(frozen=True, slots=True)
class CostBound:
    polynomial: Polynomial

    @classmethod
    def of(cls, context: Context) -> CostBound:
        return cls(_Bound(context, {}).node(context.checked.root).cost)

    def at(self, size: int) -> int:
        total, power = 0, 1
        for coefficient in self.polynomial:
            total += coefficient * power
            power *= size
        return total


@dataclass(frozen=True, slots=True)
class _Bounded:
    """Bounds of a node: its cost, and the size of its value (everything in it counted)."""

    cost: Polynomial
    size: Polynomial


@dataclass(frozen=True, slots=True)
class _Bound:
    context: Context
    locals: dict[str, Polynomial]

    def node(self, node: Expr) -> _Bounded:
        if self.context.is_constant(node):
            return _Bounded((0,), (_weight(self.context.constant(node)),))
        match node:
            case Ident():
                return _Bounded(_ONE, self.locals.get(node.name, _N))
            case Select():
                operand = self.node(node.operand)
                return _Bounded(_add(operand.cost, (2,)), operand.size)
            case Call():
                return self._call(node)
            case ListLiteral():
                return self._parts(node.elements, 10)
            case MapLiteral():
                parts = tuple(part for entry in node.entries for part in (entry.key, entry.value))
                return self._parts(parts, 30)
            case Struct():
                return self._parts(tuple(f.value for f in node.fields), 40)
            case Comprehension():
                return self._comprehension(node)
            case Literal() | Unspecified():
                return _Bounded((0,), _ONE)
            case _:
                assert_never(node)

    def _parts(self, parts: tuple[Expr, ...], cost: int) -> _Bounded:
        total = _Bounded((cost,), (1 + len(parts),))
        for part in parts:
            bounded = self.node(part)
            total = _Bounded(_add(total.cost, bounded.cost), _add(total.size, bounded.size))
        return total

    def _call(self, node: Call) -> _Bounded:
        args = node.args if node.target is None else (node.target, *node.args)
        bounded = [self.node(arg) for arg in args]
        cost: Polynomial = (2,)
        size: Polynomial = (64,)
        for arg in bounded:
            cost, size = _add(cost, arg.cost), _add(size, arg.size)
        if node.function in _FREE:
            return _Bounded(cost, size)
        if node.function == "check":
            return _Bounded(_add(cost, (350_000,)), _ONE)
        rule = self.context.cost_rule(node)
        product = _multiply(size, size)
        if rule is None or rule.fixed is not None:
            cost = _add(cost, (rule.fixed if rule and rule.fixed is not None else 1,))
        elif node.function in _LINEAR:
            cost = _add(cost, size)
        else:
            # the dearest rules are products of two sizes, or twice the square of one
            cost = _add(cost, _multiply((4,), product))
        return _Bounded(cost, size if node.function in _LINEAR else _result(node, size, product))

    def _comprehension(self, node: Comprehension) -> _Bounded:
        shape = classify(node)
        if isinstance(shape, Bind):
            value = self.node(shape.value)
            inner = _Bound(self.context, {**self.locals, shape.name: value.size})
            body = inner.node(shape.body)
            return _Bounded(_add(_add(value.cost, body.cost), (4,)), body.size)
        over = self.node(node.iter_range)
        names = {node.iter_var: over.size, node.accu_var: (0,)}
        if node.iter_var2:
            names[node.iter_var2] = over.size
        inner = _Bound(self.context, {**self.locals, **names})
        step = inner.node(node.step)
        condition = inner.node(node.condition)
        per_round = _add(_add(step.cost, condition.cost), (4,))
        cost = _add(_add(over.cost, _multiply(over.size, per_round)), (8,))
        return _Bounded(cost, _add(_ONE, _multiply(over.size, step.size)))


#: Calls without a charge that depends on sizes, whatever rule they have.
_FREE = frozenset(
    {
        syntax.LOGICAL_AND,
        syntax.LOGICAL_OR,
        syntax.CONDITIONAL,
        syntax.INDEX,
        syntax.OPT_INDEX,
        syntax.OPT_SELECT,
        syntax.NOT_STRICTLY_FALSE,
        "or",
        "orValue",
    }
)
#: Calls whose charge and whose result are at most the sizes of their operands together.
_LINEAR = frozenset(
    {
        syntax.EQUALS,
        syntax.NOT_EQUALS,
        syntax.LESS,
        syntax.LESS_EQUALS,
        syntax.GREATER,
        syntax.GREATER_EQUALS,
        syntax.ADD,
        syntax.IN,
        "startsWith",
        "endsWith",
        "quantity",
        "isQuantity",
        "size",
    }
)


def _result(node: Call, size: Polynomial, product: Polynomial) -> Polynomial:
    """What a call can return at most."""
    if node.function == "lists.range":
        return _UNBOUNDED
    return product if node.function in ("replace", "join", "format", "split") else _multiply(
        (8,), size
    )


def _weight(value: object) -> int:
    """The size of a constant, everything in it counted."""
    if isinstance(value, str | bytes):
        return 1 + len(value)
    if isinstance(value, list):
        return 1 + sum(map(_weight, value))
    if isinstance(value, dict):
        return 1 + sum(_weight(k) + _weight(v) for k, v in value.items())
    return 1


def _add(a: Polynomial, b: Polynomial) -> Polynomial:
    if len(a) < len(b):
        a, b = b, a
    return tuple(min(x + (b[i] if i < len(b) else 0), _HUGE) for i, x in enumerate(a))


def _multiply(a: Polynomial, b: Polynomial) -> Polynomial:
    if a == _UNBOUNDED or b == _UNBOUNDED or len(a) + len(b) - 1 > _MAX_DEGREE:
        return _UNBOUNDED
    result = [0] * (len(a) + len(b) - 1)
    for i, x in enumerate(a):
        for j, y in enumerate(b):
            result[i + j] = min(result[i + j] + x * y, _HUGE)
    return tuple(result)
