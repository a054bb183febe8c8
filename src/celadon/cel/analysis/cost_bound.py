"""An upper bound of what an evaluation can cost, from the size of its inputs.

The plain variant charges nothing, so it may run only where no limit can be reached. This module
proves that: from the tree it computes a polynomial in n, the size of all inputs together, that is
never below the true cost (INVARIANT (bound): a property test over every overload's examples, the
recorded corpus and random expressions, with functions that nobody described). It is crude; what
matters is that the ordinary expression on the ordinary object stays far below the limits. What
functions cost and return is in their records (`CostRule.bound`, `Overload.growth`); where a record
does not say, nothing is promised, and every evaluation is counted.

Theory. What counts as a size is told in `celadon.cel.size_growth`. n bounds every size; what an
expression builds itself is bounded along with its cost. Taking n for the size of every loop
variable would make every loop quadratic. But the elements of a list together are no larger than the
list. So each loop gets a variable of its own for the size of its element, and when the loop is
summed up, that variable goes (`Polynomial.summed`).
"""

from __future__ import annotations

from typing import NamedTuple, assert_never

from celadon.cel import syntax
from celadon.cel.analysis import tree_context
from celadon.cel.cost import LIST_CREATE_COST, MAP_CREATE_COST, STRUCT_CREATE_COST, CostRule
from celadon.cel.size_growth import ONE, UNBOUNDED, ZERO, Argument, Polynomial, at_most
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
from celadon.cel.values.runtime_types import NONE, Opaque, Optional
from celadon.cel.values.typed_lists import size_of
from celadon.records import dataclass

_INPUTS = Polynomial({(1,): 1.0})


class CostBound:
    """The bounds of one expression: of its cost, and of the size of its value."""

    __slots__ = ("_cost", "_size")

    def __init__(self, context: tree_context.Context) -> None:
        try:
            bounded = _Bound(context, {}, 0).node(context.checked.root)
        except RecursionError:  # too deep to say anything
            bounded = _UNKNOWN
        self._cost = bounded.cost.in_one_variable()
        self._size = bounded.size.in_one_variable()

    def cost(self, size: int) -> float:
        """No evaluation on inputs of that size costs more; infinity when nothing is known."""
        return _at(self._cost, size)

    def size(self, size: int) -> float:
        """No value computed from inputs of that size is larger."""
        return _at(self._size, size)


def _at(coefficients: tuple[float, ...], size: int) -> float:
    total = 0.0
    for coefficient in reversed(coefficients):
        total = total * size + coefficient
    return total + 1


class _Bounded(NamedTuple):
    """Bounds of a node: its cost, and the size of its value."""

    cost: Polynomial
    size: Polynomial


_UNKNOWN = _Bounded(UNBOUNDED, UNBOUNDED)


@dataclass(frozen=True, slots=True)
class _Bound:
    """Bounds what nodes cost, and how large they become. `locals` are the sizes of the variables of
    the loops around, which are so many."""

    context: tree_context.Context
    locals: dict[str, Polynomial]
    loops: int

    def node(self, node: Expr) -> _Bounded:
        if self.context.is_constant(node):
            return _Bounded(ZERO, at_most(weight(self.context.constant(node))))
        match node:
            case Ident():
                return _Bounded(ONE, self.locals.get(node.name, _INPUTS))
            case Select():
                return self._select(node)
            case Call():
                return self._call(node)
            case ListLiteral():
                return self._parts(node.elements, LIST_CREATE_COST)
            case MapLiteral():
                parts = tuple(part for entry in node.entries for part in (entry.key, entry.value))
                return self._parts(parts, MAP_CREATE_COST)
            case Struct():
                return self._struct(node)
            case Comprehension():
                return self._comprehension(node)
            case Literal() | Unspecified():
                return _Bounded(ZERO, ONE)
            case _:
                assert_never(node)

    def _select(self, node: Select) -> _Bounded:
        """Analyse a whole row of selections at once."""
        if node.test_only and tree_context.is_conditional(tree_context.chain_of(node.operand).base):
            return _Bounded(UNBOUNDED, self.node(node.operand).size)
        steps = 1
        operand = node.operand
        while isinstance(operand, Select) and not operand.test_only:
            steps += 1
            operand = operand.operand
        bounded = self.node(operand)
        return _Bounded(bounded.cost + 2 * steps, bounded.size)

    def _parts(self, parts: tuple[Expr, ...], cost: int) -> _Bounded:
        total = _Bounded(at_most(cost), at_most(1 + len(parts)))
        for part in parts:
            bounded = self.node(part)
            total = _Bounded(total.cost + bounded.cost, total.size + bounded.size)
        return total

    def _struct(self, node: Struct) -> _Bounded:
        """Analyse a message; the names of the fields count too."""
        bounded = self._parts(tuple(f.value for f in node.fields), STRUCT_CREATE_COST)
        declared = self.context.find_object(node.type_name)
        if declared is not None and declared.construct is not None and not declared.keeps_size:
            return _Bounded(bounded.cost, UNBOUNDED)
        return _Bounded(bounded.cost, bounded.size + sum(len(f.name) for f in node.fields))

    def _call(self, node: Call) -> _Bounded:
        if node.function == syntax.BLOCK:  # its slots are names of its body
            return _UNKNOWN
        context = self.context
        cost = ONE
        arguments = []
        for operand in node.args if node.target is None else (node.target, *node.args):
            if context.is_constant(operand):
                value = context.constant(operand)
                arguments.append(Argument(at_most(weight(value)), is_constant=True, value=value))
            else:
                bounded = self.node(operand)
                cost = cost + bounded.cost
                arguments.append(Argument(bounded.size))
        resolved = context.resolved_call(node)
        size = ONE  # whichever overload runs; what has none fails
        for growth in resolved.growths:
            size = size | growth(*arguments)
        return _Bounded(cost + _charge(resolved.cost_rule, arguments), size)

    def _comprehension(self, node: Comprehension) -> _Bounded:
        shape = tree_context.classify(node)
        if isinstance(shape, tree_context.Bind):
            value = self.node(shape.value)
            names = {**self.locals, shape.name: value.size}
            body = _Bound(self.context, names, self.loops).node(shape.body)
            return _Bounded(value.cost + body.cost + 4, body.size)
        if isinstance(shape, tree_context.Fold):  # its accumulator may grow with each round
            return _UNKNOWN
        over = self.node(node.iter_range)
        count = over.size
        if self.context.is_constant(node.iter_range):
            count = at_most(size_of(self.context.constant(node.iter_range)))
        loops = self.loops + 1
        element = Polynomial({(0,) * loops + (1,): 1.0})
        names = {**self.locals, node.iter_var: element, node.accu_var: ZERO}
        if node.iter_var2:
            names[node.iter_var2] = element
        inner = _Bound(self.context, names, loops)
        step, condition = inner.node(node.step), inner.node(node.condition)
        total = (step.cost + condition.cost + 14).summed(loops, count, over.size)
        size = (step.size + 1).summed(loops, count, over.size)
        return _Bounded(over.cost + total + 8, size + 1)


def _charge(rule: CostRule | None, arguments: list[Argument]) -> Polynomial | float:
    """Return the cost of a call alone."""
    if rule is None:
        return 1.0
    if rule.fixed is not None:
        return rule.fixed
    return UNBOUNDED if rule.bound is None else rule.bound(*arguments)


def weight(value: object) -> int:
    """Return the size of a value, everything in it counted (see `celadon.cel.size_growth`). Of an
    abstract value the text counts too, since functions may make texts of it."""
    if isinstance(value, str | bytes):
        return 1 + len(value)
    if isinstance(value, list):
        return 1 + sum(map(weight, value))
    if isinstance(value, Opaque):
        return max(size_of(value), len(value.display()))
    if isinstance(value, Optional):
        return 1 if value is NONE else 1 + weight(value.value)
    if hasattr(value, "items"):
        return 1 + sum(weight(k) + weight(v) for k, v in value.items())
    return 1
