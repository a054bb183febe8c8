"""An upper bound of what an evaluation can cost, from the size of its inputs.

The plain variant charges nothing, so it may run only where no limit can be reached. This module
proves that: from the tree it computes a polynomial in n, the length of the JSON text of all inputs
together, that is never below the true cost (INVARIANT (bound): a property test over the recorded
corpus and random expressions). It is crude; what matters is that the ordinary expression on the
ordinary object stays far below the limits.

Theory. A string of k characters, a list of k elements, a map of k entries takes more than k
characters of JSON, so n bounds every size; what an expression builds itself is bounded along with
its cost. Taking n for the size of every loop variable would make every loop quadratic. But the
elements of a list together are no larger than the list. So each loop gets a variable of its own
for the size of its element, and when the loop is summed up, a term without it is multiplied by the
number of elements, and a power j of it by the j-th power of the size of the whole range:
sum(m_i ** j) <= sum(m_i) ** j.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import assert_never

from celadon.cel import syntax
from celadon.cel.analysis.comprehension_shapes import Bind, classify
from celadon.cel.analysis.tree_context import Context
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

Polynomial = dict[tuple[int, ...], float]
"""Coefficients by exponents: first n, then the loop variables from the outside in."""

_MAX_DEGREE = 6
_UNBOUNDED: Polynomial = {(): math.inf}

_NONE: Polynomial = {}
_ONE: Polynomial = {(): 1.0}
_N: Polynomial = {(1,): 1.0}


class CostBound:
    """The bounds of one expression: of its cost, and of the size of its value."""

    __slots__ = ("_cost", "_size")

    def __init__(self, context: Context) -> None:
        try:
            bounded = _Bound(context, {}, 0).node(context.checked.root)
        except RecursionError:  # too deep to say anything
            bounded = _Bounded(_UNBOUNDED, _UNBOUNDED)
        self._cost = _coefficients(bounded.cost)
        self._size = _coefficients(bounded.size)

    def cost(self, size: int) -> float:
        """No evaluation on inputs of that size costs more; infinity when nothing is known."""
        return _at(self._cost, size)

    def size(self, size: int) -> float:
        """No value computed from inputs of that size is larger."""
        return _at(self._size, size)


def _coefficients(polynomial: Polynomial) -> tuple[float, ...]:
    """As a polynomial in n alone, lowest power first."""
    degree = max((sum(exponents) for exponents in polynomial), default=0)
    result = [0.0] * (degree + 1)
    for exponents, coefficient in polynomial.items():
        result[sum(exponents)] += coefficient
    return tuple(result)


def _at(coefficients: tuple[float, ...], size: int) -> float:
    total = 0.0
    for coefficient in reversed(coefficients):
        total = total * size + coefficient
    return total + 1


@dataclass(frozen=True, slots=True)
class _Bounded:
    """Bounds of a node: its cost, and the size of its value (everything in it counted)."""

    cost: Polynomial
    size: Polynomial


@dataclass(frozen=True, slots=True)
class _Bound:
    context: Context
    locals: dict[str, Polynomial]
    loops: int

    def node(self, node: Expr) -> _Bounded:
        if self.context.is_constant(node):
            return _Bounded(_NONE, {(): float(_weight(self.context.constant(node)))})
        match node:
            case Ident():
                return _Bounded(_ONE, self.locals.get(node.name, _N))
            case Select():
                operand = self.node(node.operand)
                return _Bounded(_add(operand.cost, {(): 2.0}), operand.size)
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
                return _Bounded(_NONE, _ONE)
            case _:
                assert_never(node)

    def _parts(self, parts: tuple[Expr, ...], cost: int) -> _Bounded:
        total = _Bounded({(): float(cost)}, {(): 1.0 + len(parts)})
        for part in parts:
            bounded = self.node(part)
            total = _Bounded(_add(total.cost, bounded.cost), _add(total.size, bounded.size))
        return total

    def _call(self, node: Call) -> _Bounded:
        if node.function == syntax.BLOCK:
            return _Bounded(_UNBOUNDED, _UNBOUNDED)
        args = node.args if node.target is None else (node.target, *node.args)
        bounded = [self.node(arg) for arg in args]
        cost: Polynomial = {(): 2.0}
        size: Polynomial = {(): 4.0}
        for arg in bounded:
            cost, size = _add(cost, arg.cost), _add(size, arg.size)
        name = node.function
        if name in _FREE:
            return _Bounded(cost, size)
        if name in _COMPARISONS:
            constants = [arg.size for arg in bounded if arg.size.keys() <= {()}]
            return _Bounded(_add(cost, _scale(constants[0] if constants else size, 0.1)), _ONE)
        if name == syntax.IN:
            return _Bounded(_add(cost, bounded[1].size), _ONE)
        if name in _PATTERNS:
            steps = _multiply(_scale(bounded[0].size, 0.1), _scale(bounded[1].size, 0.25))
            extra = _add(_scale(bounded[0].size, 0.1), bounded[1].size)
            return _Bounded(_add(cost, _add(steps, extra)), _scale(size, 4))
        if name in _LINEAR:
            return _Bounded(_add(cost, _scale(size, 0.2)), size)
        if name in ("split", "replace"):
            result = size if name == "split" else _multiply(size, size)
            return _Bounded(_add(cost, _scale(size, 0.2)), _scale(result, 2))
        if name in _PAIRWISE:
            pairs = _multiply(bounded[0].size, bounded[1].size)
            return _Bounded(_add(cost, _scale(pairs, 2)), _ONE)
        rule = self.context.cost_rule(node)
        product = _multiply(size, size)
        if rule is None or rule.fixed is not None:
            cost = _add(cost, {(): float(rule.fixed if rule and rule.fixed is not None else 1)})
        else:
            # the dearest rules are twice the product of two sizes and a few constants
            cost = _add(cost, _scale(product, 4))
        if name in _UNRELATED:
            return _Bounded(_UNBOUNDED if rule is not None else cost, _UNBOUNDED)
        return _Bounded(cost, product if name in _BUILDERS else _add(_scale(size, 8), {(): 64.0}))

    def _comprehension(self, node: Comprehension) -> _Bounded:
        shape = classify(node)
        if isinstance(shape, Bind):
            value = self.node(shape.value)
            names = {**self.locals, shape.name: value.size}
            body = _Bound(self.context, names, self.loops).node(shape.body)
            return _Bounded(_add(_add(value.cost, body.cost), {(): 4.0}), body.size)
        over = self.node(node.iter_range)
        rounds_at_most = over.size
        if self.context.is_constant(node.iter_range):
            rounds_at_most = {(): float(_count(self.context.constant(node.iter_range)))}
        loops = self.loops + 1
        element: Polynomial = {(0,) * loops + (1,): 1.0}
        names = {**self.locals, node.iter_var: element, node.accu_var: _NONE}
        if node.iter_var2:
            names[node.iter_var2] = element
        inner = _Bound(self.context, names, loops)
        step, condition = inner.node(node.step), inner.node(node.condition)
        rounds = _add(_add(step.cost, condition.cost), {(): 14.0})
        total = _summed(rounds, loops, rounds_at_most, over.size)
        sizes = _summed(_add(step.size, _ONE), loops, rounds_at_most, over.size)
        return _Bounded(_add(_add(over.cost, total), {(): 8.0}), _add(_ONE, sizes))


def _summed(each: Polynomial, variable: int, count: Polynomial, over: Polynomial) -> Polynomial:
    """The sum over all elements of a range of `count` elements and size `over`."""
    result: Polynomial = {}
    for exponents, coefficient in each.items():
        power = exponents[variable] if len(exponents) > variable else 0
        term: Polynomial = {_trim(exponents[:variable]): coefficient}
        if not power:
            term = _multiply(term, count)
        for _ in range(power):
            term = _multiply(term, over)
        result = _add(result, term)
    return result


def _count(value: object) -> int:
    return len(value) if isinstance(value, list | dict) else 0


#: Calls that are charged nothing (or 1) whatever their operands are.
_FREE = frozenset(
    {
        syntax.LOGICAL_AND,
        syntax.LOGICAL_OR,
        syntax.CONDITIONAL,
        syntax.INDEX,
        syntax.OPT_INDEX,
        syntax.OPT_SELECT,
        syntax.NOT_STRICTLY_FALSE,
        syntax.LOGICAL_NOT,
        "or",
        "orValue",
        "size",
        "hasValue",
        "value",
    }
)
#: Charged a tenth of the smaller operand.
_COMPARISONS = frozenset(
    {
        syntax.EQUALS,
        syntax.NOT_EQUALS,
        syntax.LESS,
        syntax.LESS_EQUALS,
        syntax.GREATER,
        syntax.GREATER_EQUALS,
    }
)
#: Charged a tenth of the subject times a quarter of the pattern.
_PATTERNS = frozenset({"matches", "find", "findAll", "contains"})
#: Charged at most a fifth of the operands together; the result is no larger than they are.
_LINEAR = frozenset(
    {
        syntax.ADD,
        "startsWith",
        "endsWith",
        "lowerAscii",
        "upperAscii",
        "trim",
        "substring",
        "quantity",
        "isQuantity",
    }
)
#: Charged at most twice the product of the two operands.
_PAIRWISE = frozenset({"sets.contains", "sets.intersects", "sets.equivalent"})
#: Results as large as the product of the operands.
_BUILDERS = frozenset({"join", "format"})
#: Results whose size has nothing to do with the sizes of the operands.
_UNRELATED = frozenset({"lists.range"})


def _weight(value: object) -> int:
    """The size of a constant, everything in it counted."""
    if isinstance(value, str | bytes):
        return 1 + len(value)
    if isinstance(value, list):
        return 1 + sum(map(_weight, value))
    if isinstance(value, dict):
        return 1 + sum(_weight(k) + _weight(v) for k, v in value.items())
    return 1


def _trim(exponents: tuple[int, ...]) -> tuple[int, ...]:
    while exponents and exponents[-1] == 0:
        exponents = exponents[:-1]
    return exponents


def _add(a: Polynomial, b: Polynomial) -> Polynomial:
    result = dict(a)
    for exponents, coefficient in b.items():
        result[exponents] = result.get(exponents, 0.0) + coefficient
    return result


def _scale(a: Polynomial, factor: float) -> Polynomial:
    return {exponents: coefficient * factor + 1e-9 for exponents, coefficient in a.items()}


def _multiply(a: Polynomial, b: Polynomial) -> Polynomial:
    result: Polynomial = {}
    for left, x in a.items():
        for right, y in b.items():
            if len(left) < len(right):
                left, right = right, left  # the longer one first
            padded = right + (0,) * (len(left) - len(right))
            exponents = tuple(i + j for i, j in zip(left, padded, strict=True))
            if sum(exponents) > _MAX_DEGREE or math.isinf(x) or math.isinf(y):
                return _UNBOUNDED
            result[exponents] = result.get(exponents, 0.0) + x * y
    return result
