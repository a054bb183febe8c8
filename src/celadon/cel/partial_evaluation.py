"""The interpreter: evaluation while some inputs are unknown, what is left of the expression
(`residual`), and evaluation of what is not worth generating yet (`interpret`)."""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import field, replace
from typing import Any, TypeAlias

from celadon.cel import runtime, syntax
from celadon.cel.analysis.tree_context import Chain, Context, chain_of
from celadon.cel.codegen.inline_operators import block_slots
from celadon.cel.errors import EvaluationError
from celadon.cel.types import DYN, Type
from celadon.cel.values import Value, container_access
from celadon.cel.values.maps import MISSING
from celadon.cel.values.runtime_types import ANY, NONE, AttributePattern, Optional, Unknown
from celadon.cel.values.text import Uint
from celadon.records import dataclass

# --- Partial evaluation ------------------------------------------------------
#
# Partial evaluation: what can be said while some inputs are not known yet.
#
# `evaluate_partial` evaluates with a set of unknown attributes. The result is a value (when the
# unknowns do not matter: `known || unknown` may be true), an `Unknown` that names the nodes the
# result waits for, or an `EvaluationError`. `residual` then gives the smaller expression that
# is left: what is known is replaced by literals, decided branches are dropped.
#
# This is a plain interpreter over the checked tree, because its results are trees and it runs
# rarely; programs are what is fast. Order of precedence as in cel-go: in `&&` and `||` an
# unknown outranks an error; a strict call returns its leftmost unknown or error argument.

#: Ours, not cel-go's (Go grows its stack).
TOO_DEEP = "expression is nested too deeply to be evaluated partially"

Outcome: TypeAlias = Any
"""A value, an `EvaluationError` or an `Unknown`."""


def evaluate_partial(
    context: Context, activation: Mapping[str, Value], unknowns: Sequence[AttributePattern]
) -> tuple[Outcome, dict[int, Outcome]]:
    """Return the outcome, and the outcome of every node evaluated outside of loops."""
    partial = _Partial(context, activation, tuple(unknowns))
    try:
        return partial.node(context.checked.root), partial.outcomes
    except RecursionError:
        return EvaluationError(TOO_DEEP), {}


class TooLong(Exception):
    """An interpretation visited more nodes than it was allowed."""


def interpret(context: Context, activation: Mapping[str, Value], visits: int) -> Value:
    """Return the value, with everything known. Nothing is absorbed: where anything at all fails,
    that is raised, though the whole may have a value. Raises `TooLong` after so many visits of
    nodes."""
    work = container_access.unpaid_work(activation) if context.counts_unpaid_work() else None
    interpreter = _Interpreter(context, activation, (), visits=visits, work=work)
    return interpreter.node(context.checked.root)


def origin(context: Context, activation: Mapping[str, Value]) -> int | None:
    """Return the node where the error came up that the expression evaluates to; None if it does
    not."""
    partial = _Partial(context, activation, ())
    try:
        outcome = partial.node(context.checked.root)
    except RecursionError:
        return None
    failure = partial.failures.get(id(outcome))
    return failure[0] if failure is not None else None


def stops(outcome: Outcome) -> bool:
    """Return whether the outcome is no value."""
    return outcome.__class__ is Unknown or isinstance(outcome, EvaluationError)


@dataclass(slots=True)
class _Partial:
    context: Context
    activation: Mapping[str, Any]
    unknowns: tuple[AttributePattern, ...]
    outcomes: dict[int, Outcome] = field(default_factory=dict)
    locals: dict[str, Outcome] = field(default_factory=dict)
    depth: int = 0
    failures: dict[int, tuple[int, EvaluationError]] = field(default_factory=dict)
    """Every error that came up, by identity, with the node where it came up first."""

    def node(self, node: syntax.Expr) -> Outcome:
        if self.context.is_constant(node):
            outcome: Outcome = self.context.constant(node)
        else:
            try:
                outcome = self._call(node) if isinstance(node, syntax.Call) else self._node(node)
            except EvaluationError as error:
                outcome = error
        if not self.depth:
            self.outcomes[node.id] = outcome
        if isinstance(outcome, EvaluationError):
            self.failures.setdefault(id(outcome), (node.id, outcome))
        return outcome

    def _node(self, node: syntax.Expr) -> Outcome:
        match node:
            case syntax.Ident():
                return self._attribute(node, chain_of(node))
            case syntax.Select() if node.test_only:
                return self._has(node)
            case syntax.Select():
                return self._attribute(node, chain_of(node))
            case syntax.ListLiteral():
                return self._collect(
                    node.elements, lambda items: runtime.list_with_optionals(items, node.optional)
                )
            case syntax.MapLiteral():
                parts = [part for entry in node.entries for part in (entry.key, entry.value)]
                return self._collect(parts, lambda items: self._map(node, items))
            case syntax.Struct():
                return self._collect(
                    [f.value for f in node.fields], lambda items: self._struct(node, items)
                )
            case syntax.Comprehension():
                return self._comprehension(node)
            case _:
                raise AssertionError("literals are constants; unspecified nodes never check")

    # --- attributes ---------------------------------------------------------------------------

    def _attribute(self, node: syntax.Expr, chain: Chain) -> Outcome:
        """Evaluate an attribute; return whatever stops the evaluation first, from left to right:
        the base, a step that leads nowhere, a key that is unknown or fails."""
        keys: list[object] = []
        for step in chain.steps:
            keys.append(step.key if step.expr is None else self._part(step.expr))
            if stops(keys[-1]):
                break
        stop = keys.pop() if keys and stops(keys[-1]) else None
        base = self._base(chain.base, keys, node.id)
        if stops(base):
            return base
        if chain.is_optional or base.__class__ is Optional:
            walk = runtime.EXPORTS[self.context.presence("walk_optional_v")]
            marks = [step.optional for step in chain.steps]
            base = walk(base, list(zip(keys, marks, strict=False)))[0]
            return stop if stop is not None and base is not NONE and not stops(base) else base
        for key in keys:
            base = container_access.index(base, key)
        return base if stop is None else stop

    def _base(self, base: syntax.Expr, keys: list[Value], node_id: int) -> Outcome:
        if not isinstance(base, syntax.Ident):
            return self.node(base)
        if base.name in self.locals:
            return self.locals[base.name]
        if base.id in self.context.constants:
            return self.context.constants[base.id]
        name = base.name.removeprefix(".")
        if any(_covers(pattern, name, keys) for pattern in self.unknowns):
            return Unknown(frozenset({node_id}))
        return self.activation[name] if name in self.activation else runtime.unbound(name)

    def _part(self, node: syntax.Expr) -> Outcome:
        """Evaluate a part of another attribute: a test of presence there is what it finds in an
        optional (see `Context.tests_optional`)."""
        if not self.context.tests_optional(node):
            return self.node(node)
        assert isinstance(node, syntax.Select), "only tests find anything"
        outcome = self._has(node, part=True)
        if not self.depth:
            self.outcomes[node.id] = outcome
        return outcome

    def _has(self, node: syntax.Select, *, part: bool = False) -> Outcome:
        chain = chain_of(node.operand)
        keys = [step.key for step in chain.steps]
        base = self._base(chain.base, [*keys, node.field], node.id)
        if stops(base):
            return base
        if chain.steps:
            base = self._attribute(node.operand, chain)
        if base.__class__ is Optional:
            if part:
                return runtime.EXPORTS[self.context.presence("tested_v")](base, node.field)[0]
            if base is NONE:
                return False
            base = base.value
        if stops(base):
            return base
        return runtime.EXPORTS[self.context.presence("has_field")](base, node.field)

    # --- calls ----------------------------------------------------------------------------------

    def _call(self, node: syntax.Call) -> Outcome:
        match node.function:
            case syntax.LOGICAL_AND:
                return self._logic(node, decisive=False)
            case syntax.LOGICAL_OR:
                return self._logic(node, decisive=True)
            case syntax.CONDITIONAL:
                test = self.node(node.args[0])
                if test.__class__ is not bool:
                    return test if test.__class__ is Unknown else runtime.no_bool_v(test)
                return self._part(node.args[1] if test else node.args[2])
            case syntax.INDEX | syntax.OPT_INDEX | syntax.OPT_SELECT:
                return self._attribute(node, chain_of(node))
            case syntax.NOT_STRICTLY_FALSE:
                return self.node(node.args[0]) is not False
            case syntax.BLOCK:
                return self._block(node)
            case "or" | "orValue" if node.target is not None:
                return self._otherwise(node)
            case _:
                operands = node.args if node.target is None else (node.target, *node.args)
                run = self._runs(node)
                return self._collect(operands, lambda items: run(*items))

    def _runs(self, node: syntax.Call) -> Callable[..., Value]:
        return self.context.impl(node) or runtime.unknown_function(node.function)

    def _block(self, node: syntax.Call) -> Outcome:
        outer = dict(self.locals)
        for position, slot in enumerate(block_slots(node.args[0])):
            self.locals[f"@index{position}"] = self.node(slot)
        outcome = self.node(node.args[1])
        self.locals = outer
        return outcome

    def _logic(self, node: syntax.Call, *, decisive: bool) -> Outcome:
        unknown: Unknown | None = None
        error: Outcome = None
        for term in node.args:
            outcome = self.node(term)
            if outcome is decisive:
                return decisive
            if outcome.__class__ is Unknown:
                unknown = outcome if unknown is None else unknown.merged(outcome)
            elif outcome.__class__ is not bool and error is None:
                error = runtime.no_bool_v(outcome)
        return unknown or error or (not decisive)

    def _otherwise(self, node: syntax.Call) -> Outcome:
        assert node.target is not None, "both have a receiver"
        left = self.node(node.target)
        if left is NONE:
            return self.node(node.args[0])
        unwraps = node.function == "orValue" and left.__class__ is Optional
        return left.value if unwraps else left

    def _collect(
        self, parts: Sequence[syntax.Expr], use: Callable[[list[Value]], Value]
    ) -> Outcome:
        """Evaluate all parts; the leftmost that is no value is the outcome.

        A plain loop: each level of an expression costs three Python frames, and expressions may be
        250 levels deep.
        """
        items = []
        for part in parts:
            items.append(self.node(part))
        for item in items:
            if stops(item):
                return item
        return use(items)

    def _map(self, node: syntax.MapLiteral, items: list[Value]) -> Any:
        pairs = list(zip(items[::2], items[1::2], strict=True))
        optional = frozenset(i for i, entry in enumerate(node.entries) if entry.optional)
        if optional:
            return runtime.EXPORTS[self.context.optional_map_maker](pairs, optional)
        return runtime.EXPORTS[self.context.map_maker](pairs)

    def _struct(self, node: syntax.Struct, items: list[Value]) -> Any:
        pairs = [(f.name, item) for f, item in zip(node.fields, items, strict=True)]
        optional = frozenset(i for i, f in enumerate(node.fields) if f.optional)
        construct = self.context.constructor(node.type_name)
        return construct(runtime.map_with_optionals(pairs, optional))

    # --- comprehensions ---------------------------------------------------------------------------

    def _comprehension(self, node: syntax.Comprehension) -> Outcome:
        over = self.node(node.iter_range)
        if stops(over):
            return over
        self.depth += 1
        outer = dict(self.locals)
        try:
            self.locals[node.accu_var] = self.node(node.accu_init)
            rounds = (
                container_access.iterate2(over)
                if node.iter_var2
                else [(item,) for item in container_access.iterate(over)]
            )
            names = [name for name in (node.iter_var, node.iter_var2) if name]
            for round_values in rounds:
                self.locals.update(zip(names, round_values, strict=True))
                if self.node(node.condition) is False:
                    break
                self.locals[node.accu_var] = self.node(node.step)
            accumulated = self.locals[node.accu_var]
            self.locals = {**outer, node.accu_var: accumulated}
            return self.node(node.result)
        finally:
            self.locals = outer
            self.depth -= 1


@dataclass(slots=True)
class _Interpreter(_Partial):
    """An evaluation that gives up where anything is unusual; `visits` are left."""

    visits: int = 0
    work: container_access.UnpaidWork | None = None

    def _runs(self, node: syntax.Call) -> Callable[..., Value]:
        run, function = _Partial._runs(self, node), self.context.function(node)
        if self.work is None or function is None or not self.context.is_unpaid(node):
            return run
        assert function.unpaid is not None, "the call is unpaid"
        return functools.partial(function.unpaid, self.work, run)

    def node(self, node: syntax.Expr) -> Outcome:
        context = self.context
        if context.is_constant(node):
            return context.constant(node)
        if not self.visits:
            raise TooLong
        self.visits -= 1
        outcome = self._call(node) if isinstance(node, syntax.Call) else self._node(node)
        if isinstance(outcome, EvaluationError):
            raise outcome
        return outcome


def _covers(pattern: AttributePattern, variable: str, keys: Sequence[Value]) -> bool:
    """Is the attribute at, below or above the pattern?"""
    return pattern.variable == variable and all(
        item is ANY or (item.__class__ is key.__class__ and item == key)
        for item, key in zip(pattern.keys, keys, strict=False)
    )


# --- Residual ----------------------------------------------------------------
#
# The expression that is left after a partial evaluation: what is known became literals, decided
# branches are gone.

_LITERALS = frozenset({bool, int, Uint, str, bytes})


def residual(context: Context, outcomes: Mapping[int, Outcome]) -> syntax.Ast:
    """Return the expression that is left after an evaluation with these outcomes, to be checked
    again. With the inputs that were missing it gives what the whole expression gives."""
    ast = context.checked.ast
    first = max((node.id for node in syntax.walk(ast.root)), default=0) + 1
    root = _Residual(context, outcomes, itertools.count(first)).prune(ast.root)
    return syntax.Ast(root, ast.source, ast.positions, {})


@dataclass(frozen=True, slots=True)
class _Residual:
    """Builds what is left of an expression when its known parts are in place. `ids` are numbers for
    new nodes."""

    context: Context
    outcomes: Mapping[int, Outcome]
    ids: Iterator[int]

    def prune(self, node: syntax.Expr) -> syntax.Expr:
        outcome = self.outcomes.get(node.id, MISSING)
        if isinstance(outcome, EvaluationError):
            return node  # with literals in it, the program might fail instead of the evaluation
        if outcome is not MISSING and not stops(outcome):
            literal = self._literal(outcome)
            if literal is not None:
                return (
                    literal
                    if isinstance(node, syntax.Literal)
                    else self._in_place_of(node, literal)
                )
        match node:
            case syntax.Select():
                return syntax.Select(node.id, self.prune(node.operand), node.field, node.test_only)
            case syntax.Call():
                return self._call(node)
            case syntax.ListLiteral():
                return syntax.ListLiteral(node.id, self._all(node.elements), node.optional)
            case syntax.MapLiteral():
                entries = tuple(
                    syntax.MapEntry(e.id, self.prune(e.key), self.prune(e.value), e.optional)
                    for e in node.entries
                )
                return syntax.MapLiteral(node.id, entries)
            case syntax.Struct():
                fields = tuple(
                    syntax.StructField(f.id, f.name, self.prune(f.value), f.optional)
                    for f in node.fields
                )
                return syntax.Struct(node.id, node.type_name, fields)
            case syntax.Comprehension():
                return replace(node, iter_range=self.prune(node.iter_range))
            case _:
                return node

    def _all(self, nodes: tuple[syntax.Expr, ...]) -> tuple[syntax.Expr, ...]:
        return tuple(self.prune(node) for node in nodes)

    def _call(self, node: syntax.Call) -> syntax.Expr:
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
            return syntax.Call(
                node.id, node.function, None, (self.prune(node.args[0]), node.args[1])
            )
        target = None if node.target is None else self.prune(node.target)
        return syntax.Call(node.id, node.function, target, self._all(node.args))

    def _may_drop(self, term: syntax.Expr, other: syntax.Expr, *, neutral: bool) -> bool:
        """Return whether a term may be dropped: `true && x` is x, but only if x is a bool;
        otherwise it is an error."""
        outcome = self.outcomes.get(term.id, MISSING)
        return outcome is neutral and self.context.certain(other) is bool

    def _type(self, node: syntax.Expr) -> Type:
        return self.context.checked.types.get(node.id, DYN)

    def _in_place_of(
        self, node: syntax.Expr, replacement: syntax.Expr, kind: Type | None = None
    ) -> syntax.Expr:
        """Return what replaces a node of type dyn is dyn, too: else a check could refuse what was a
        matter of the evaluation."""
        return self._dyn(replacement) if self._type(node) == DYN and kind != DYN else replacement

    def _dyn(self, node: syntax.Expr) -> syntax.Expr:
        return syntax.Call(next(self.ids), "dyn", None, (node,))

    def _literal(self, value: Any) -> syntax.Expr | None:
        """Return a value as a literal, where one exists."""
        kind = value.__class__
        if kind is float:
            return syntax.Literal(next(self.ids), value) if math.isfinite(value) else None
        if value is None or kind in _LITERALS:
            return syntax.Literal(next(self.ids), value)
        if kind is list:
            elements = self._elements(value)
            return None if elements is None else syntax.ListLiteral(next(self.ids), elements)
        if kind is dict:
            keys, values = self._elements(list(value)), self._elements(list(value.values()))
            if keys is None or values is None:
                return None
            entries = (
                syntax.MapEntry(next(self.ids), key, content)
                for key, content in zip(keys, values, strict=True)
            )
            return syntax.MapLiteral(next(self.ids), tuple(entries))
        return None

    def _elements(self, values: list[object]) -> tuple[syntax.Expr, ...] | None:
        """Return the elements of a literal, all of one type, be it dyn."""
        literals = [self._literal(value) for value in values]
        known_literals = [literal for literal in literals if literal is not None]
        if len(known_literals) < len(values):
            return None
        kinds = {value.__class__ for value in values}
        if len(kinds) > 1 or kinds & {list, dict}:
            known_literals = [self._dyn(literal) for literal in known_literals]
        return tuple(known_literals)


def _is_empty(node: syntax.Expr) -> bool:
    return isinstance(node, syntax.ListLiteral) and not node.elements
