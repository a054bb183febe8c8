"""The walk through a schema of a CRD that is being written: its keywords (`schema_keywords`), and
its validation rules. Are they well formed, do they compile, and can every one of them, and all
together, be afforded in the worst case?

As k8s.io/apiextensions-apiserver `pkg/apis/apiextensions/validation/validation.go`. A rule may cost
as much as its worst evaluation times the number of times that its part can occur in an object.
Nodes are visited from below, members in the order of their names (upstream: that of a Go map). The
rules of a node are compiled only if nothing else is wrong there or below.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field, replace
from typing import Any, Final

from celadon.kube import fieldpath
from celadon.kube.custom.definitions import definition_texts as texts
from celadon.kube.custom.definitions.definition_demands import Demands
from celadon.kube.custom.definitions.given_schemas import GivenSchema
from celadon.kube.custom.definitions.internal_definitions import rule_value
from celadon.kube.custom.definitions.schema_keywords import errors_after, errors_before
from celadon.kube.custom.definitions.schema_tree import branches, members
from celadon.kube.custom.rules.compiled_rules import CompiledRule, NodeRules, compile_rules
from celadon.kube.custom.rules.rule_field_paths import field_path
from celadon.kube.fieldpath import FieldError, FieldPath
from celadon.kube.go.go_text import trim_space
from celadon.kube.json_types import JsonObject
from celadon.kube.schemas.schema_model import Schema
from celadon.kube.well_known_values import OBJECT_FIELDS
from celadon.records import dataclass

RULE_COST_LIMIT: Final = 10_000_000
"""Of one rule (upstream: `StaticEstimatedCostLimit`)."""
DEFINITION_COST_LIMIT: Final = 100_000_000
"""Of all rules of one version (`StaticEstimatedCRDCostLimit`)."""
_MAX_UINT64: Final = (1 << 64) - 1
_LISTED: Final = 4
"""So many of the most expensive rules are named, of those that take a hundredth of the limit."""
_REASONS: Final = (
    "FieldValueDuplicate",
    "FieldValueForbidden",
    "FieldValueInvalid",
    "FieldValueRequired",
)
_IN_METADATA: Final = "inside additionalProperties applying to object metadata"


@dataclass(slots=True)
class SchemaFindings:
    """What is wrong with a schema: its keywords, its rules, and what they cost together."""

    keywords: list[FieldError] = field(default_factory=list)
    rules: list[FieldError] = field(default_factory=list)
    costs: list[FieldError] = field(default_factory=list)


def schema_findings(
    one: GivenSchema, demands: Demands, *, compiles: bool = True, limits_costs: bool = True
) -> SchemaFindings:
    """What is wrong with a schema. Rules are only compiled with `compiles`, in a structural schema;
    without `limits_costs` each may cost what it likes."""
    check = _Check(demands, limits_costs)
    check.visit(one.given, one.schema if compiles else None, _Node(one.path, is_root=True))
    found = check.found
    if check.total > DEFINITION_COST_LIMIT:
        found.costs += [texts.contributed(where) for _, where in check.most_expensive()]
        found.costs.append(
            texts.too_expensive_together(one.path, check.total, DEFINITION_COST_LIMIT)
        )
    return found


@dataclass(frozen=True, slots=True)
class _Node:
    """Where a schema stands. `cardinality` is None where nothing bounds it; below `uncorrelatable`
    no rule may look at `oldSelf`. `no_default` says where no default may be, and why."""

    path: FieldPath
    is_root: bool = False
    cardinality: int | None = 1
    uncorrelatable: str = ""
    in_metadata: bool = False
    no_default: str = ""

    def below(self, path: FieldPath, given: JsonObject) -> _Node:
        """A part, which occurs as often as the type of the node lets it."""
        most = _occurrences(given)
        cardinality = None
        if self.cardinality is not None and most is not None:
            cardinality = min(self.cardinality * most, _MAX_UINT64)
        return replace(self, path=path, is_root=False, cardinality=cardinality)

    def branch(self, path: FieldPath) -> _Node:
        """What a branch says about the same part."""
        return replace(self, path=path, is_root=False)

    def uncorrelated(self, path: FieldPath) -> _Node:
        if self.uncorrelatable:
            return self
        return replace(self, uncorrelatable=path.text)

    def member(self, name: str, given: JsonObject) -> _Node:
        is_meta = name in OBJECT_FIELDS and (
            self.is_root or given.get("x-kubernetes-embedded-resource") is True
        )
        below = self.below(self.path.child("properties").key(name), given)
        if not is_meta:
            return below
        no_default = f"in top-level {name}" if self.is_root else self.no_default
        return replace(below, in_metadata=True, no_default=no_default)


def _occurrences(given: JsonObject) -> int | None:
    """How many of each of its parts a value can have; None if nothing says so."""
    most: int | None = 1
    if given.get("type") == "array":
        most = given.get("maxItems")
    elif given.get("type") == "object" and given.get("additionalProperties") is not None:
        most = given.get("maxProperties")
    return None if most is None else max(most, 0)


@dataclass(slots=True)
class _Check:
    """One walk through a schema."""

    demands: Demands
    limits_costs: bool
    found: SchemaFindings = field(default_factory=SchemaFindings)
    costs: list[tuple[int, FieldPath]] = field(default_factory=list)

    @property
    def total(self) -> int:
        return min(sum(cost for cost, _ in self.costs), _MAX_UINT64)

    def most_expensive(self) -> list[tuple[int, FieldPath]]:
        dear = [one for one in self.costs if one[0] >= DEFINITION_COST_LIMIT // 100]
        return sorted(dear, key=lambda one: -one[0])[:_LISTED]

    def visit(self, given: JsonObject, schema: Schema | None, node: _Node) -> None:
        """`given` is the JSON of the schema: what it says of rules is shown as it was written.
        `schema` None: no rules are compiled there."""
        keywords = self.found.keywords
        before = len(keywords)
        keywords += errors_before(
            given, node.path, self.demands, node.no_default, in_metadata=node.in_metadata
        )
        values, items = given.get("additionalProperties"), given.get("items")
        if isinstance(values, dict):
            below = node.below(node.path.child("additionalProperties"), given)
            if node.in_metadata:
                below = replace(below, no_default=_IN_METADATA)
            self.visit(values, schema and schema.additional_properties, below)
        for name, member in members(given, "properties").items():
            self.visit(member, schema and schema.properties.get(name), node.member(name, given))
        for place, branch in branches(given):
            self.visit(branch, None, node.branch(node.path.join(place)))
        for name, member in members(given, "definitions").items():
            self.visit(member, None, node.branch(node.path.child("definitions").key(name)))
        if items is not None:
            below = node.below(node.path.child("items"), given)
            if given.get("x-kubernetes-list-type") != "map":
                below = below.uncorrelated(node.path)
            if isinstance(items, dict):
                self.visit(items, schema and schema.items, below)
            for i, one in enumerate(items if isinstance(items, list) else ()):
                self.visit(one, None, replace(below, path=below.path.index(i)))
        for name, member in members(given, "dependencies").items():
            self.visit(member, None, node.branch(node.path.child("dependencies").key(name)))
        keywords += errors_after(given, node.path, self.demands)
        rules = given.get("x-kubernetes-validations")
        if rules:
            at = node.path.child("x-kubernetes-validations")
            for i, rule in enumerate(rules):
                keywords += _shape(rule, at.index(i), schema)
            if schema is not None and len(keywords) == before:
                self._rules(schema, rules, node)

    def _rules(self, schema: Schema, given: list[Any], node: _Node) -> None:
        at = node.path.child("x-kubernetes-validations")
        compiled = compile_rules(schema, self.demands, is_root=node.is_root)
        if compiled.error:
            self.found.rules.append(fieldpath.internal(at, texts.WITHOUT_TYPE))
        for i, one in enumerate(compiled.rules):
            self._rule(one, given[i], at.index(i), node, compiled)

    def _rule(
        self, rule: CompiledRule, given: Any, at: FieldPath, node: _Node, compiled: NodeRules
    ) -> None:
        assert compiled.declared is not None, "there would be no compiled rule"
        refused = self.found.rules
        times = node.cardinality
        if times is None:
            times = compiled.declared.max_cardinality
        if rule.rule is not None:
            self._cost("rule", min(rule.rule.max_cost * times, _MAX_UINT64), at)
        if rule.error:
            refused.append(fieldpath.invalid(at.child("rule"), rule_value(given), rule.error))
        if rule.message_error:
            where, shown = at.child("messageExpression"), rule_value(given)
            refused.append(fieldpath.invalid(where, shown, rule.message_error))
        elif rule.message is not None:
            self._cost("messageExpression", rule.message.max_cost, at)
        if rule.uses_old_self and node.uncorrelatable:
            detail = texts.uncorrelatable(node.uncorrelatable)
            refused.append(fieldpath.invalid(at.child("rule"), rule.source.rule, detail))
        elif not rule.uses_old_self and given.get("optionalOldSelf") is not None:
            value, where = given["optionalOldSelf"], at.child("optionalOldSelf")
            refused.append(fieldpath.invalid(where, value, texts.OPTIONAL_WITHOUT_OLD_SELF))

    def _cost(self, what: str, cost: int, at: FieldPath) -> None:
        self.costs.append((cost, at.child(what)))
        if self.limits_costs and cost > RULE_COST_LIMIT:
            error = texts.too_expensive(at.child(what), what, cost, RULE_COST_LIMIT)
            self.found.rules.append(error)


def _shape(rule: Any, at: FieldPath, schema: Schema | None) -> list[FieldError]:
    """What can be wrong with a rule before it is compiled."""
    found = []
    rule_text, message = _text(rule, "rule"), _text(rule, "message")
    if not trim_space(rule_text):
        found.append(fieldpath.required(at.child("rule"), texts.NO_RULE))
    elif message and not trim_space(message):
        found.append(fieldpath.invalid(at.child("message"), message, texts.EMPTY))
    elif _has_breaks(trim_space(message)):
        found.append(fieldpath.invalid(at.child("message"), message, texts.BROKEN))
    elif _has_breaks(trim_space(rule_text)) and not trim_space(message):
        found.append(fieldpath.required(at.child("message"), texts.NO_MESSAGE))
    expression = _text(rule, "messageExpression")
    if expression and not trim_space(expression):
        found.append(fieldpath.required(at.child("messageExpression"), texts.EMPTY_EXPRESSION))
    reason = rule.get("reason")
    if reason is not None and reason not in _REASONS:
        found.append(fieldpath.not_supported(at.child("reason"), reason, _REASONS))
    return found + _field_path(_text(rule, "fieldPath"), at.child("fieldPath"), schema)


def _field_path(path: str, at: FieldPath, schema: Schema | None) -> list[FieldError]:
    found = []
    if path and not trim_space(path):
        found.append(fieldpath.invalid(at, path, texts.EMPTY))
    if _has_breaks(path):
        found.append(fieldpath.invalid(at, path, texts.BROKEN))
    if path and schema is not None and field_path(path, schema) is None:
        found.append(fieldpath.invalid(at, path, texts.WRONG_PATH))
    return found


def _text(rule: Mapping[str, Any], key: str) -> str:
    value = rule.get(key)
    return value if isinstance(value, str) else ""


def _has_breaks(text: str) -> bool:
    return "\n" in text or "\r" in text
