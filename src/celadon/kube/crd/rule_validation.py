"""Validation rules of custom resources (`x-kubernetes-validations`): compiled and evaluated.

`rule_scopes` is what they may name, `compiled_rules` are the rules at one node, `rule_validation`
runs them over an object whose parts carry their schema (`typed_data`) and know what they were
before (`typed_data`).
"""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from typing import Any, Final

from celadon.cel import CostLimitExceeded, Environment, EvaluationError, Program
from celadon.cel.extend import NONE, Optional
from celadon.kube import fieldpath
from celadon.kube.crd import compiled_rules as texts
from celadon.kube.crd.compiled_rules import OLD_SELF, SELF, CompiledRule, NodeRules, compile_rules
from celadon.kube.crd.typed_data import Correlated, ItemsBefore, Unknown, member_before, typed
from celadon.kube.fieldpath import OMITTED, ROOT, FieldError, FieldPath
from celadon.kube.go.go_text import trim_space
from celadon.kube.json_types import JsonObject
from celadon.kube.library.costs import (
    MESSAGE_EXPRESSION_BYTES,
    OUT_OF_BUDGET,
    PER_CALL_COST,
    RUNTIME_COST_BUDGET,
)
from celadon.kube.releases import is_since
from celadon.kube.schemas.definition_schemas import with_type_and_meta
from celadon.kube.schemas.schema_model import Schema, ValidationRule
from celadon.kube.well_known_values import TYPE_FIELDS
from celadon.records import dataclass, field

# --- Rule validation ---------------------------------------------------------
#
# Validation rules, evaluated: the rules of every node against its part of an object.
#
# `RuleValidator` holds the compiled rules of a whole schema; where there are none below a node
# there is no validator. `errors` walks the object, parents before children, and charges every
# expression to one budget: when that is gone, validation ends with the error that says so.
#
# A rule that uses `oldSelf` compares, so it runs only where the part was there before (or if it
# is marked `optionalOldSelf`). Failures of other rules in a part that did not change are
# forgiven on update; they become warnings.
#
# As k8s.io/apiextensions-apiserver `pkg/apiserver/schema/cel/validation.go`.


@dataclass(frozen=True, slots=True)
class RuleValidator:
    """The rules at a node and below it."""

    schema: Schema
    node: NodeRules
    is_root: bool = False
    properties: Mapping[str, RuleValidator] = field(default_factory=dict)
    additional: RuleValidator | None = None
    items: RuleValidator | None = None

    def errors(
        self,
        obj: object,
        before: object | Unknown,
        asked: list[AskedRule] | None = None,
        *,
        spent: int = 0,
        ratchets: bool = True,
    ) -> RuleOutcome:
        """For a whole object; `before` is the stored object of an update, else `Unknown`. Whoever
        wants to know which rules were asked what gives a list for it. `spent` is what other rules
        of the same request have cost; without `ratchets` nothing is forgiven."""
        outcome = RuleOutcome(cost=spent)
        ratchet = _NO_RATCHET
        if ratchets and not isinstance(before, Unknown):
            ratchet = _Ratchet(Correlated(obj, before, self.schema), None)
        with contextlib.suppress(_OutOfBudget):
            _Run(outcome, asked).visit(self, ROOT, obj, before, ratchet)
        return outcome


@dataclass(frozen=True, slots=True)
class AskedRule:
    """A rule that was evaluated: for the part of the object at a path, with these variables."""

    path: FieldPath
    source: ValidationRule
    program: Program
    activation: JsonObject
    max_cost: int


@dataclass(slots=True)
class RuleOutcome:
    """Holds what the rules of an object say. `warnings` are errors forgiven because nothing
    changed."""

    errors: list[FieldError] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    cost: int = 0


def rule_validator(
    schema: Schema, environment: Environment, owner: str = "schema", *, is_root: bool = True
) -> RuleValidator | None:
    """Compiles all rules of a schema, which is a resource's unless `is_root` is false; None if it
    has none. Tracebacks call the rules by their owner, the definition's name, and the field that
    they are about."""
    return _build(schema, environment, owner, is_root=is_root)


class RulesOnDemand:
    """The rules of a resource's schema, compiled when the first object is judged: that is the work
    of who writes it, and a server goes through all definitions whenever one of them changes."""

    __slots__ = ("_compiled", "_environment", "_is_compiled", "_owner", "_schema")

    def __init__(self, schema: Schema, environment: Environment, owner: str) -> None:
        self._schema, self._environment, self._owner = schema, environment, owner
        self._compiled: RuleValidator | None = None
        self._is_compiled = False

    def compiled(self) -> RuleValidator | None:
        """None if the schema has none."""
        if not self._is_compiled:
            self._compiled = rule_validator(self._schema, self._environment, self._owner)
            self._is_compiled = True
        return self._compiled


def _build(
    schema: Schema | None, environment: Environment, place: str, *, is_root: bool = False
) -> RuleValidator | None:
    if schema is None:
        return None
    below = f"{place} " if is_root else f"{place}."
    members = (
        (key, _build(one, environment, below + key)) for key, one in schema.properties.items()
    )
    properties = {key: one for key, one in members if one is not None}
    additional = _build(schema.additional_properties, environment, f"{place}[*]")
    items = _build(schema.items, environment, f"{place}[*]")
    if not (schema.rules or properties or additional or items):
        return None
    node = compile_rules(schema, environment, is_root=is_root, place=place)
    return RuleValidator(schema, node, is_root, properties, additional, items)


@dataclass(frozen=True, slots=True)
class _Ratchet:
    """Whether faults are forgiven: a part beside what it was, or None of a part of which nobody can
    say what it was; and the nearest part around it that corresponds to something."""

    current: Correlated | None
    nearest: Correlated | None

    @property
    def forgives(self) -> bool:
        judged = self.current or self.nearest
        return judged is not None and judged.is_same

    def member(self, key: str) -> _Ratchet:
        if self.current is None:
            return self
        if self.nearest is None and key in TYPE_FIELDS:
            return _NO_RATCHET  # what version an object was stored in cannot be seen
        return _Ratchet(self.current.member(key), self.current)

    def item(self, position: int) -> _Ratchet:
        if self.current is None:
            return self
        return _Ratchet(self.current.item(position), self.current)


_NO_RATCHET: Final = _Ratchet(None, None)


def _typed(value: object, schema: Schema, name: str, faults: dict[str, str]) -> Any:
    try:
        return typed(value, schema)
    except EvaluationError as error:
        faults[name] = error.message
        return None


class _OutOfBudget(Exception):
    """No further rule is evaluated."""


class _Discarded(Exception):
    """A message expression whose result cannot be used."""


@dataclass(frozen=True, slots=True)
class _Place:
    """Where rules are evaluated: the node's type and value as errors show them, and the two
    activations."""

    path: FieldPath
    type: str
    shown: object
    plain: JsonObject
    optional: JsonObject
    has_before: bool
    ratchet: _Ratchet
    faults: Mapping[str, str]
    """What does not fit its schema as a whole, by the name of the variable, and why."""


class _Run:
    """The evaluation of all rules about one object."""

    def __init__(self, outcome: RuleOutcome, asked: list[AskedRule] | None = None) -> None:
        self.outcome = outcome
        self.asked = asked

    def visit(
        self,
        validator: RuleValidator,
        path: FieldPath,
        value: object,
        before: object | Unknown,
        ratchet: _Ratchet,
    ) -> None:
        if value is None:
            return
        if validator.schema.rules:
            self._evaluate(validator, path, value, before, ratchet)
        if isinstance(value, dict):
            self._members(validator, path, value, before, ratchet)
        elif isinstance(value, list) and validator.items is not None:
            items = ItemsBefore(validator.schema, before)
            for i, one in enumerate(value):
                self.visit(validator.items, path.index(i), one, items.of(one), ratchet.item(i))

    def _members(
        self,
        validator: RuleValidator,
        path: FieldPath,
        value: Any,
        before: Any | Unknown,
        ratchet: _Ratchet,
    ) -> None:
        for key, one in sorted(value.items()):
            was = member_before(before, key)
            if validator.additional is not None:
                below, place = validator.additional, path.key(key)
            elif key in validator.properties:
                below, place = validator.properties[key], path.child(key)
            else:
                continue
            self.visit(below, place, one, was, ratchet.member(key))

    def _evaluate(
        self,
        validator: RuleValidator,
        path: FieldPath,
        value: object,
        before: object | Unknown,
        ratchet: _Ratchet,
    ) -> None:
        shown = OMITTED if isinstance(value, dict | list) else value
        if not is_since("1.35"):
            shown = validator.schema.type
        if validator.node.error:
            detail = texts.not_initialized(validator.node.error)
            self.outcome.errors.append(fieldpath.invalid(path, validator.schema.type, detail))
            return
        schema = validator.schema
        if validator.is_root or schema.embedded_resource:
            schema = with_type_and_meta(schema)
        has_before = not isinstance(before, Unknown | None)
        faults: dict[str, str] = {}
        itself = _typed(value, schema, SELF, faults)
        plain, optional = {SELF: itself}, {SELF: itself}
        if any(rule.uses_old_self for rule in validator.node.rules):
            optional[OLD_SELF] = NONE
            if has_before:
                plain[OLD_SELF] = _typed(before, schema, OLD_SELF, faults)
                optional[OLD_SELF] = Optional(plain[OLD_SELF])
        place = _Place(path, schema.type, shown, plain, optional, has_before, ratchet, faults)
        for rule in validator.node.rules:
            self._rule(rule, place)

    def _rule(self, rule: CompiledRule, place: _Place) -> None:
        source = rule.source
        if rule.error:
            self._report(place, texts.not_compiled(rule.error))
            return
        optional = source.optional_old_self
        if rule.rule is None or (rule.uses_old_self and not place.has_before and not optional):
            return
        fault = (rule.uses_self and place.faults.get(SELF)) or (
            rule.uses_old_self and place.faults.get(OLD_SELF)
        )
        if fault:
            self._report(place, texts.failed_evaluation(source, fault))
            return
        activation = place.optional if optional else place.plain
        if self.asked is not None:
            program, most = rule.rule.program, rule.rule.max_cost
            self.asked.append(AskedRule(place.path, source, program, activation, most))
        try:
            value, cost = rule.rule.program.evaluate_metered(activation, PER_CALL_COST)
        except EvaluationError as error:
            self._charge(error.cost or 0, place, OUT_OF_BUDGET)
            if isinstance(error, CostLimitExceeded):
                self._report(place, texts.too_expensive(source, error.message))
                raise _OutOfBudget from None
            self._report(place, texts.failed_evaluation(source, error.message))
            return
        self._charge(cost, place, OUT_OF_BUDGET)
        if value is not True:
            self._broken(rule, place)

    def _broken(self, rule: CompiledRule, place: _Place) -> None:
        path = place.path.join(rule.field)
        detail = texts.message_of(rule.source)
        if rule.message is not None:
            with contextlib.suppress(_Discarded):
                detail = self._message(rule, place)
        error = texts.broken(rule.source, path, place.shown, detail)
        if not rule.uses_old_self and place.ratchet.forgives:
            self.outcome.warnings.append(str(error))
        else:
            self.outcome.errors.append(error)

    def _message(self, rule: CompiledRule, place: _Place) -> str:
        assert rule.message is not None, "the caller has looked"
        if not rule.message.is_usable:
            raise _Discarded
        try:
            value, cost = rule.message.program.evaluate_metered(place.plain, PER_CALL_COST)
        except EvaluationError as error:
            self._charge(error.cost or 0, place, texts.MESSAGE_OUT_OF_BUDGET)
            if isinstance(error, CostLimitExceeded):
                self._report(place, texts.message_too_expensive(rule.source.message_expression))
                raise _OutOfBudget from None
            raise _Discarded from None
        self._charge(cost, place, texts.MESSAGE_OUT_OF_BUDGET)
        message = trim_space(value)
        if not message or "\n" in message or len(message.encode()) > MESSAGE_EXPRESSION_BYTES:
            raise _Discarded
        return message

    def _charge(self, cost: int, place: _Place, complaint: str) -> None:
        if cost > RUNTIME_COST_BUDGET - self.outcome.cost:
            self._report(place, complaint)
            raise _OutOfBudget
        self.outcome.cost += cost

    def _report(self, place: _Place, detail: str) -> None:
        """What went wrong is no fault of the value: its type is shown in its place."""
        self.outcome.errors.append(fieldpath.invalid(place.path, place.type, detail))
