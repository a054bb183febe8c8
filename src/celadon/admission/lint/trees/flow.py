"""What the expressions of a policy read, and what they have made sure of at that point.

`&&` and `||` absorb the errors of one side when the other decides, whatever the order, so each side
is read with what the other makes sure of. Match conditions come before everything else: where one
of them is false, nothing is evaluated. A message expression is evaluated only after its validation
was false. A variable is followed into its expression where it is used, with what is known there.

The rules at one node of a definition are read with what the others make sure of: where one of those
is false, the object is refused anyway.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence, Set
from functools import reduce
from itertools import accumulate
from typing import Final

from celadon.admission.lint.policy_expressions import PolicyExpression, Role
from celadon.admission.lint.subjects import ITEM, NOTHING, Access, Facts, Path, Reading
from celadon.admission.lint.trees.outcomes import Names
from celadon.cel.syntax import (
    CONDITIONAL,
    INDEX,
    LOGICAL_AND,
    LOGICAL_OR,
    OPT_INDEX,
    OPT_SELECT,
    Call,
    Comprehension,
    Expr,
    Select,
    children,
)
from celadon.kube import FieldPath
from celadon.kube.crd import OLD_SELF, SELF

MAX_STEPS: Final = 20_000
"""Nodes of one expression that are looked at, counting variables as often as they are used."""


def accesses(
    expressions: Sequence[PolicyExpression], operations: frozenset[str]
) -> Iterator[Access]:
    """Every field that is read when the policy is evaluated for one of these operations."""
    variables = {
        one.name: one
        for one in expressions
        if one.role is Role.VARIABLE and one.checked is not None
    }
    names = Names(variables)
    start = Facts(operations=operations)
    conditions = [one for one in expressions if one.role is Role.CONDITION]
    tested = [_when_true(one, names) for one in conditions]
    matched = reduce(Facts.and_, tested, start)
    beside = dict(zip((one.path for one in conditions), _others(start, tested), strict=True))
    yield from _walked(expressions, names, matched, beside)


def rule_accesses(
    expressions: Sequence[PolicyExpression], transitions: Set[int]
) -> Iterator[Access]:
    """Every field that the rules at a node and their messages read. `transitions` are the rules
    that are evaluated only in updates: nothing that they make sure of counts for the others."""
    names = Names({})
    rules = [one for one in expressions if one.role is Role.RULE]
    tested = [_when_true(one, names) for one in rules]
    always = [
        NOTHING if one.index in transitions else _held_before(facts)
        for one, facts in zip(rules, tested, strict=True)
    ]
    stored = reduce(Facts.and_, always, Facts())
    in_updates, on_creation = _others(stored, tested), _others(Facts(), always)
    beside = {
        one.path: update if one.index in transitions else creation
        for one, update, creation in zip(rules, in_updates, on_creation, strict=True)
    }
    yield from _walked(expressions, names, Facts(), beside)


def _held_before(facts: Facts) -> Facts:
    """Return what was true of what was stored, too: the rule is always evaluated."""
    before = {(OLD_SELF, *path[1:]) for path in facts.present if path[0] == SELF}
    return Facts(facts.present | before, facts.operations)


def _walked(
    expressions: Sequence[PolicyExpression],
    names: Names,
    matched: Facts,
    beside: Mapping[FieldPath, Facts],
) -> Iterator[Access]:
    """Yield what expressions read that are evaluated with what is known by `matched`, some of them
    with what others make sure of instead."""
    verdicts = {one.index: one for one in expressions if one.role in (Role.VALIDATION, Role.RULE)}
    for one in expressions:
        facts = beside.get(one.path, matched)
        if one.role is Role.VARIABLE or one.checked is None:
            continue
        if one.role is Role.MESSAGE:
            verdict = verdicts[one.index].checked
            if verdict is not None:
                facts = facts.and_(names.outcomes(verdict.root).if_false)
        walker = _Walker(one, names)
        try:
            walker.visit(one.checked.root, facts)
        except RecursionError:
            names.forget()  # what was found so far is true; nobody nests as deep by hand
        yield from walker.found


def _when_true(condition: PolicyExpression, names: Names) -> Facts:
    checked = condition.checked
    return NOTHING if checked is None else names.outcomes(checked.root).if_true


def _others(start: Facts, tested: Sequence[Facts]) -> list[Facts]:
    """Return for each of these facts what is known of all the others, in time that grows with their
    number alone."""
    before = list(accumulate(tested, Facts.and_, initial=start))
    after = list(accumulate(reversed(tested), Facts.and_, initial=NOTHING))
    after.reverse()
    return [one.and_(other) for one, other in zip(before, after[1:], strict=False)]


class _Walker:
    """Reads one expression, and the variables it uses."""

    def __init__(self, within: PolicyExpression, names: Names) -> None:
        self.found: list[Access] = []
        self._within = within
        self._names = names
        self._current = within
        self._entered: set[tuple[str, Facts]] = set()
        self._steps = 0

    def visit(self, node: Expr, facts: Facts) -> None:
        self._steps += 1
        if self._steps > MAX_STEPS:
            return
        if node.__class__ is Select:
            self._select(node, facts)
        elif node.__class__ is Call:
            self._call(node, facts)
        elif node.__class__ is Comprehension:
            self._comprehension(node, facts)
        else:
            for child in children(node):
                self.visit(child, facts)

    def _select(self, node: Select, facts: Facts) -> None:
        meant = self._names.variable(node)
        if meant is not None:
            self._enter(meant, facts)
            return
        self.visit(node.operand, facts)
        base = self._names.path(node.operand)
        if base is not None:
            reading = Reading.TEST if node.test_only else Reading.READ
            if _is_optional(node.operand):
                reading = Reading.OPTIONAL
            self._add((*base, node.field), reading, facts, node)

    def _enter(self, variable: PolicyExpression, facts: Facts) -> None:
        key = (variable.name, facts)
        if variable.checked is None or key in self._entered:
            return
        self._entered.add(key)
        outer, self._current = self._current, variable
        self.visit(variable.checked.root, facts)
        self._current = outer

    def _add(self, path: Path, reading: Reading, facts: Facts, node: Expr) -> None:
        self.found.append(Access(path, reading, facts, node, self._current, self._within))

    def _call(self, node: Call, facts: Facts) -> None:
        args = node.args
        outcomes = self._names.outcomes
        if node.function == LOGICAL_AND:
            self.visit(args[0], facts.and_(outcomes(args[1]).if_true))
            self.visit(args[1], facts.and_(outcomes(args[0]).if_true))
        elif node.function == LOGICAL_OR:
            self.visit(args[0], facts.and_(outcomes(args[1]).if_false))
            self.visit(args[1], facts.and_(outcomes(args[0]).if_false))
        elif node.function == CONDITIONAL:
            condition = outcomes(args[0])
            self.visit(args[0], facts)
            self.visit(args[1], facts.and_(condition.if_true))
            self.visit(args[2], facts.and_(condition.if_false))
        else:
            for child in children(node):
                self.visit(child, facts)
            if node.function in (INDEX, OPT_INDEX, OPT_SELECT):
                path = self._names.path(node)
                if path is not None:
                    reading = Reading.OPTIONAL if _is_optional(node) else Reading.READ
                    self._add(path, reading, facts, node)
            elif node.function == "value" and node.target is not None:
                path = self._names.path(node.target)
                if path is not None:
                    self._add(path, Reading.VALUE, facts, node)

    def _comprehension(self, node: Comprehension, facts: Facts) -> None:
        self.visit(node.iter_range, facts)
        self.visit(node.accu_init, facts)
        over = self._names.path(node.iter_range)
        item = None if over is None else (*over, ITEM)
        inner: Mapping[str, Path | None] = {
            node.iter_var: None if node.iter_var2 else item,
            node.iter_var2: item,
            node.accu_var: self._names.path(node.accu_init),
        }
        hidden = dict(self._names.locals)
        self._names.locals.update(inner)
        for part in (node.condition, node.step, node.result):
            self.visit(part, facts)
        self._names.locals = hidden


def _is_optional(node: Expr) -> bool:
    """Return whether it gives an optional, so that fields below it may be absent."""
    while node.__class__ is Select:
        node = node.operand
    if node.__class__ is not Call:
        return False
    if node.function in (OPT_SELECT, OPT_INDEX):
        return True
    return node.function == INDEX and _is_optional(node.args[0])
