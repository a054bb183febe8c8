"""Partial evaluation: what can be said while some inputs are not known yet.

`evaluate_partial` evaluates with a set of unknown attributes. The result is a value (when the
unknowns do not matter: `known || unknown` may be true), an `Unknown` that names the nodes the
result waits for, or an `EvaluationError`. `residual` then gives the smaller expression that is
left: what is known is replaced by literals, decided branches are dropped.

This is a plain interpreter over the checked tree, because its results are trees and it runs rarely;
programs are what is fast. Order of precedence as in cel-go: in `&&` and `||` an unknown outranks an
error; a strict call returns its leftmost unknown or error argument.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from celadon.cel import runtime, syntax
from celadon.cel.chains import Chain, chain_of
from celadon.cel.codegen.context import Context
from celadon.cel.codegen.plain_calls import block_slots
from celadon.cel.errors import EvaluationError
from celadon.cel.syntax import (
    Ast,
    Call,
    Comprehension,
    Expr,
    Ident,
    ListLiteral,
    Literal,
    MapEntry,
    MapLiteral,
    Select,
    Struct,
    StructField,
)
from celadon.cel.unknowns import ANY, AttributePattern, Unknown
from celadon.cel.values import containers
from celadon.cel.values.maps import MISSING
from celadon.cel.values.numbers import Uint
from celadon.cel.values.optionals import NONE, Optional

Outcome: TypeAlias = Any
"""A value, an `EvaluationError` or an `Unknown`."""


def evaluate_partial(
    context: Context, activation: Mapping[str, Any], unknowns: Sequence[AttributePattern]
) -> tuple[Outcome, dict[int, Outcome]]:
    """The outcome, and the outcome of every node evaluated outside of loops."""
    partial = _Partial(context, activation, tuple(unknowns))
    return partial.node(context.checked.root), partial.outcomes


def origin(context: Context, activation: Mapping[str, Any]) -> int | None:
    """The node where the error came up that the expression evaluates to; None if it does not."""
    partial = _Partial(context, activation, ())
    outcome = partial.node(context.checked.root)
    found = partial.failures.get(id(outcome))
    return found[0] if found is not None else None


def residual(context: Context, outcomes: Mapping[int, Outcome]) -> Ast:
    """The expression that is left after an evaluation with these outcomes."""
    ast = context.checked.ast
    return Ast(_prune(ast.root, outcomes), ast.source, ast.positions, {})


def _stops(outcome: Outcome) -> bool:
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

    def node(self, node: Expr) -> Outcome:
        if self.context.is_constant(node):
            outcome: Outcome = self.context.constant(node)
        else:
            try:
                outcome = self._node(node)
            except EvaluationError as error:
                outcome = error
        if not self.depth:
            self.outcomes[node.id] = outcome
        if isinstance(outcome, EvaluationError):
            self.failures.setdefault(id(outcome), (node.id, outcome))
        return outcome

    def _node(self, node: Expr) -> Outcome:
        match node:
            case Ident():
                return self._attribute(node, chain_of(node))
            case Select() if node.test_only:
                return self._has(node)
            case Select():
                return self._attribute(node, chain_of(node))
            case Call():
                return self._call(node)
            case ListLiteral():
                return self._collect(
                    node.elements,
                    lambda items: runtime.list_with_optionals(items, node.optional),
                )
            case MapLiteral():
                parts = [part for entry in node.entries for part in (entry.key, entry.value)]
                return self._collect(parts, lambda items: self._map(node, items))
            case Struct():
                construct = self.context.constructor(node.type_name)
                names = [f.name for f in node.fields]
                return self._collect(
                    [f.value for f in node.fields],
                    lambda items: construct(dict(zip(names, items, strict=True))),
                )
            case Comprehension():
                return self._comprehension(node)
            case _:
                raise AssertionError("literals are constants; unspecified nodes never check")

    # --- attributes ---------------------------------------------------------------------------

    def _attribute(self, node: Expr, chain: Chain) -> Outcome:
        keys: list[tuple[Any, bool]] = []
        for step in chain.steps:
            key = step.key if step.expr is None else self.node(step.expr)
            if _stops(key):
                return key
            keys.append((key, step.optional))
        base = self._base(chain.base, [key for key, _ in keys], node.id)
        if _stops(base):
            return base
        if any(optional for _, optional in keys) or base.__class__ is Optional:
            walk = runtime.EXPORTS[self.context.presence("walk_optional_v")]
            return walk(base, keys)[0]
        for key, _ in keys:
            base = containers.index(base, key)
        return base

    def _base(self, base: Expr, keys: list[Any], node_id: int) -> Outcome:
        if not isinstance(base, Ident) or base.id in self.context.constants:
            return self.node(base)
        if base.name in self.locals:
            return self.locals[base.name]
        name = base.name.removeprefix(".")
        if any(_covers(pattern, name, keys) for pattern in self.unknowns):
            return Unknown(frozenset({node_id}))
        return self.activation[name] if name in self.activation else runtime.unbound(name)

    def _has(self, node: Select) -> Outcome:
        chain = chain_of(node.operand)
        keys = [step.key for step in chain.steps]
        base = self._base(chain.base, [*keys, node.field], node.id)
        if _stops(base):
            return base
        if chain.steps:
            base = self._attribute(node.operand, chain)
        if base.__class__ is Optional:
            if base is NONE:
                return False
            base = base.value
        if _stops(base):
            return base
        return runtime.EXPORTS[self.context.presence("has_field")](base, node.field)

    # --- calls ----------------------------------------------------------------------------------

    def _call(self, node: Call) -> Outcome:
        match node.function:
            case syntax.LOGICAL_AND:
                return self._logic(node, decisive=False)
            case syntax.LOGICAL_OR:
                return self._logic(node, decisive=True)
            case syntax.CONDITIONAL:
                test = self.node(node.args[0])
                if test.__class__ is not bool:
                    return test if test.__class__ is Unknown else runtime.no_bool_v(test)
                return self.node(node.args[1] if test else node.args[2])
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
                impl = self.context.impl(node) or runtime.unknown_function(node.function)
                return self._collect(operands, lambda items: impl(*items))

    def _block(self, node: Call) -> Outcome:
        outer = dict(self.locals)
        for position, slot in enumerate(block_slots(node.args[0])):
            self.locals[f"@index{position}"] = self.node(slot)
        outcome = self.node(node.args[1])
        self.locals = outer
        return outcome

    def _logic(self, node: Call, *, decisive: bool) -> Outcome:
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

    def _otherwise(self, node: Call) -> Outcome:
        assert node.target is not None, "both have a receiver"
        left = self.node(node.target)
        if left is NONE:
            return self.node(node.args[0])
        unwraps = node.function == "orValue" and left.__class__ is Optional
        return left.value if unwraps else left

    def _collect(self, parts: Sequence[Expr], use: Callable[[list[Any]], Any]) -> Outcome:
        """Evaluate all parts; the leftmost that is no value is the outcome."""
        items = [self.node(part) for part in parts]
        for item in items:
            if _stops(item):
                return item
        return use(items)

    def _map(self, node: MapLiteral, items: list[Any]) -> Any:
        pairs = list(zip(items[::2], items[1::2], strict=True))
        optional = frozenset(i for i, entry in enumerate(node.entries) if entry.optional)
        if optional:
            return runtime.EXPORTS[self.context.optional_map_maker](pairs, optional)
        return runtime.EXPORTS[self.context.map_maker](pairs)

    # --- comprehensions ---------------------------------------------------------------------------

    def _comprehension(self, node: Comprehension) -> Outcome:
        over = self.node(node.iter_range)
        if _stops(over):
            return over
        self.depth += 1
        outer = dict(self.locals)
        try:
            self.locals[node.accu_var] = self.node(node.accu_init)
            rounds = (
                containers.iterate2(over)
                if node.iter_var2
                else [(item,) for item in containers.iterate(over)]
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


def _covers(pattern: AttributePattern, variable: str, keys: Sequence[Any]) -> bool:
    """Is the attribute at, below or above the pattern?"""
    return pattern.variable == variable and all(
        wanted is ANY or (wanted.__class__ is key.__class__ and wanted == key)
        for wanted, key in zip(pattern.keys, keys, strict=False)
    )


# --- the residual ---------------------------------------------------------------------------------


def _prune(node: Expr, outcomes: Mapping[int, Outcome]) -> Expr:
    known = outcomes.get(node.id, MISSING)
    if known is not MISSING and not _stops(known):
        literal = _literal(node.id, known)
        if literal is not None:
            return literal
    match node:
        case Select():
            return Select(node.id, _prune(node.operand, outcomes), node.field, node.test_only)
        case Call():
            return _prune_call(node, outcomes)
        case ListLiteral():
            elements = tuple(_prune(element, outcomes) for element in node.elements)
            return ListLiteral(node.id, elements, node.optional)
        case MapLiteral():
            entries = tuple(
                MapEntry(e.id, _prune(e.key, outcomes), _prune(e.value, outcomes), e.optional)
                for e in node.entries
            )
            return MapLiteral(node.id, entries)
        case Struct():
            fields = tuple(
                StructField(f.id, f.name, _prune(f.value, outcomes), f.optional)
                for f in node.fields
            )
            return Struct(node.id, node.type_name, fields)
        case Comprehension():
            return Comprehension(
                node.id,
                _prune(node.iter_range, outcomes),
                node.iter_var,
                node.iter_var2,
                node.accu_var,
                node.accu_init,
                node.condition,
                node.step,
                node.result,
            )
        case _:
            return node


def _prune_call(node: Call, outcomes: Mapping[int, Outcome]) -> Expr:
    if node.function in (syntax.LOGICAL_AND, syntax.LOGICAL_OR):
        neutral = node.function == syntax.LOGICAL_AND
        left, right = node.args
        if outcomes.get(left.id, MISSING) is neutral:
            return _prune(right, outcomes)
        if outcomes.get(right.id, MISSING) is neutral:
            return _prune(left, outcomes)
    if node.function == syntax.CONDITIONAL:
        test = outcomes.get(node.args[0].id, MISSING)
        if test.__class__ is bool:
            return _prune(node.args[1] if test else node.args[2], outcomes)
    target = None if node.target is None else _prune(node.target, outcomes)
    return Call(node.id, node.function, target, tuple(_prune(a, outcomes) for a in node.args))


def _literal(node_id: int, value: Any) -> Expr | None:
    """A value as a literal, where one exists."""
    kind = value.__class__
    if value is None or kind in (bool, int, Uint, float, str, bytes):
        return Literal(node_id, value)
    if kind is list:
        elements = [_literal(node_id, item) for item in value]
        if all(element is not None for element in elements):
            return ListLiteral(node_id, tuple(e for e in elements if e is not None))
    if kind is dict:
        pairs = [(_literal(node_id, k), _literal(node_id, v)) for k, v in value.items()]
        entries = [MapEntry(node_id, k, v) for k, v in pairs if k is not None and v is not None]
        if len(entries) == len(pairs):
            return MapLiteral(node_id, tuple(entries))
    return None
