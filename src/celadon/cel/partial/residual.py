"""The expression that is left after a partial evaluation: what is known became literals, decided
branches are gone.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from celadon.cel import syntax
from celadon.cel.analysis.tree_context import Context
from celadon.cel.errors import EvaluationError
from celadon.cel.partial.partial_evaluation import Outcome, stops
from celadon.cel.syntax import (
    Ast,
    Call,
    Comprehension,
    Expr,
    ListLiteral,
    Literal,
    MapEntry,
    MapLiteral,
    Select,
    Struct,
    StructField,
)
from celadon.cel.types import DYN, Type
from celadon.cel.values.maps import MISSING
from celadon.cel.values.numbers import Uint
from celadon.records import dataclass

_LITERALS = frozenset({bool, int, Uint, str, bytes})


def residual(context: Context, outcomes: Mapping[int, Outcome]) -> Ast:
    """The expression that is left after an evaluation with these outcomes, to be checked again.
    With the inputs that were missing it gives what the whole expression gives."""
    ast = context.checked.ast
    first = max((node.id for node in syntax.walk(ast.root)), default=0) + 1
    root = _Residual(context, outcomes, itertools.count(first)).prune(ast.root)
    return Ast(root, ast.source, ast.positions, {})


@dataclass(frozen=True, slots=True)
class _Residual:
    """`ids` are numbers for new nodes."""

    context: Context
    outcomes: Mapping[int, Outcome]
    ids: Iterator[int]

    def prune(self, node: Expr) -> Expr:
        known = self.outcomes.get(node.id, MISSING)
        if isinstance(known, EvaluationError):
            return node  # with literals in it, the program might fail instead of the evaluation
        if known is not MISSING and not stops(known):
            literal = self._literal(known)
            if literal is not None:
                return literal if isinstance(node, Literal) else self._in_place_of(node, literal)
        match node:
            case Select():
                return Select(node.id, self.prune(node.operand), node.field, node.test_only)
            case Call():
                return self._call(node)
            case ListLiteral():
                return ListLiteral(node.id, self._all(node.elements), node.optional)
            case MapLiteral():
                entries = tuple(
                    MapEntry(e.id, self.prune(e.key), self.prune(e.value), e.optional)
                    for e in node.entries
                )
                return MapLiteral(node.id, entries)
            case Struct():
                fields = tuple(
                    StructField(f.id, f.name, self.prune(f.value), f.optional) for f in node.fields
                )
                return Struct(node.id, node.type_name, fields)
            case Comprehension():
                return replace(node, iter_range=self.prune(node.iter_range))
            case _:
                return node

    def _all(self, nodes: tuple[Expr, ...]) -> tuple[Expr, ...]:
        return tuple(self.prune(node) for node in nodes)

    def _call(self, node: Call) -> Expr:
        if node.function in (syntax.LOGICAL_AND, syntax.LOGICAL_OR):
            neutral = node.function == syntax.LOGICAL_AND
            left, right = node.args
            if self._may_drop(left, right, neutral=neutral):
                return self.prune(right)
            if self._may_drop(right, left, neutral=neutral):
                return self.prune(left)
        if node.function == syntax.CONDITIONAL:
            test = self.outcomes.get(node.args[0].id, MISSING)
            if test.__class__ is bool:
                branch = node.args[1] if test else node.args[2]
                return self._in_place_of(node, self.prune(branch), self._type(branch))
        if node.function == syntax.IN and _is_empty(self.prune(node.args[1])):
            # `x in []` would be folded to false, whatever becomes of x.
            return Call(node.id, node.function, None, (self.prune(node.args[0]), node.args[1]))
        target = None if node.target is None else self.prune(node.target)
        return Call(node.id, node.function, target, self._all(node.args))

    def _may_drop(self, term: Expr, other: Expr, *, neutral: bool) -> bool:
        """`true && x` is x, but only if x is a bool: otherwise it is an error."""
        known = self.outcomes.get(term.id, MISSING)
        return known is neutral and self.context.certain(other) is bool

    def _type(self, node: Expr) -> Type:
        return self.context.checked.types.get(node.id, DYN)

    def _in_place_of(self, node: Expr, by: Expr, kind: Type | None = None) -> Expr:
        """What replaces a node of type dyn is dyn, too: else a check could refuse what was a
        matter of the evaluation."""
        return self._dyn(by) if self._type(node) == DYN and kind != DYN else by

    def _dyn(self, node: Expr) -> Expr:
        return Call(next(self.ids), "dyn", None, (node,))

    def _literal(self, value: Any) -> Expr | None:
        """A value as a literal, where one exists."""
        kind = value.__class__
        if kind is float:
            return Literal(next(self.ids), value) if math.isfinite(value) else None
        if value is None or kind in _LITERALS:
            return Literal(next(self.ids), value)
        if kind is list:
            elements = self._elements(value)
            return None if elements is None else ListLiteral(next(self.ids), elements)
        if kind is dict:
            keys, values = self._elements(list(value)), self._elements(list(value.values()))
            if keys is None or values is None:
                return None
            entries = (
                MapEntry(next(self.ids), key, content)
                for key, content in zip(keys, values, strict=True)
            )
            return MapLiteral(next(self.ids), tuple(entries))
        return None

    def _elements(self, values: list[Any]) -> tuple[Expr, ...] | None:
        """The elements of a literal, all of one type, be it dyn."""
        literals = [self._literal(value) for value in values]
        known = [literal for literal in literals if literal is not None]
        if len(known) < len(values):
            return None
        kinds = {value.__class__ for value in values}
        if len(kinds) > 1 or kinds & {list, dict}:
            known = [self._dyn(literal) for literal in known]
        return tuple(known)


def _is_empty(node: Expr) -> bool:
    return isinstance(node, ListLiteral) and not node.elements
