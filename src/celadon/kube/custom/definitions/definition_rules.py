"""The validation rules of a CRD that is being written: are they well formed, do they compile, and
can every one of them, and all together, be afforded in the worst case?

As k8s.io/apiextensions-apiserver `pkg/apis/apiextensions/validation/validation.go`. A rule may cost
as much as its worst evaluation times the number of times that its part can occur in an object.
Nodes are visited from below, members in the order of their names (upstream: that of a Go map).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import field, replace
from typing import Any, Final

from celadon.cel import Environment
from celadon.kube import fieldpath
from celadon.kube.custom.definitions import definition_texts as texts
from celadon.kube.custom.definitions.given_schemas import GivenSchema
from celadon.kube.custom.rules.compiled_rules import CompiledRule, NodeRules, compile_rules
from celadon.kube.custom.rules.rule_field_paths import field_path
from celadon.kube.fieldpath import FieldError, FieldPath
from celadon.kube.go.go_text import trim_space
from celadon.kube.library.releases import DEFAULT, environment, previous_minor
from celadon.kube.schemas.schema_model import Schema
from celadon.records import dataclass

RULE_COST_LIMIT: Final = 10_000_000
"""Of one rule (upstream: `StaticEstimatedCostLimit`)."""
DEFINITION_COST_LIMIT: Final = 100_000_000
"""Of all rules of one version (`StaticEstimatedCRDCostLimit`)."""
_MAX_UINT64: Final = (1 << 64) - 1
_LISTED: Final = 4
"""So many of the most expensive rules are named."""
_REASONS: Final = (
    "FieldValueDuplicate",
    "FieldValueForbidden",
    "FieldValueInvalid",
    "FieldValueRequired",
)


def rule_errors(schemas: Iterable[GivenSchema], version: str = DEFAULT) -> list[FieldError]:
    """What is wrong with the rules in the schemas of a CustomResourceDefinition, on a server of
    release `version`."""
    rules_of = environment(previous_minor(version))
    return [error for one in schemas for error in _schema_errors(one, rules_of)]


def _schema_errors(one: GivenSchema, rules_of: Environment) -> list[FieldError]:
    check = _Check(rules_of)
    check.visit(one.schema, one.given, _Node(one.path, is_root=True))
    found = check.malformed + check.refused
    if check.total > DEFINITION_COST_LIMIT:
        found += [texts.contributed(where) for _, where in check.most_expensive()]
        found.append(texts.too_expensive_together(one.path, check.total, DEFINITION_COST_LIMIT))
    return found


@dataclass(frozen=True, slots=True)
class _Node:
    """Where a schema stands. `cardinality` is None where nothing bounds it; below
    `uncorrelatable` no rule may look at `oldSelf`."""

    path: FieldPath
    is_root: bool = False
    cardinality: int | None = 1
    uncorrelatable: str = ""

    def below(self, *names: str) -> _Node:
        return replace(self, path=self.path.child(*names), is_root=False)

    def repeated(self, most: int | None) -> _Node:
        """Of a part that occurs at most so many times in each of these."""
        if self.cardinality is None or most is None:
            return replace(self, cardinality=None)
        return replace(self, cardinality=min(self.cardinality * most, _MAX_UINT64))


@dataclass(slots=True)
class _Check:
    """One walk through a schema."""

    rules_of: Environment
    malformed: list[FieldError] = field(default_factory=list)
    refused: list[FieldError] = field(default_factory=list)
    costs: list[tuple[int, FieldPath]] = field(default_factory=list)

    @property
    def total(self) -> int:
        return min(sum(cost for cost, _ in self.costs), _MAX_UINT64)

    def most_expensive(self) -> list[tuple[int, FieldPath]]:
        return sorted(self.costs, key=lambda one: -one[0])[:_LISTED]

    def visit(self, schema: Schema, given: Mapping[str, Any], node: _Node) -> None:
        """`given` is the JSON of the schema: what it says of rules is shown as it was written."""
        before = len(self.malformed)
        values, items = schema.additional_properties, schema.items
        if values is not None:
            below = node.below("additionalProperties").repeated(schema.limits.max_properties)
            self.visit(values, given["additionalProperties"], below)
        for name, member in sorted(schema.properties.items()):
            below = node.below("properties")
            text = given["properties"][name]
            self.visit(member, text, replace(below, path=below.path.key(name)))
        if items is not None:
            below = node.below("items").repeated(schema.limits.max_items)
            if schema.list_type != "map" and not node.uncorrelatable:
                below = replace(below, uncorrelatable=str(node.path))
            self.visit(items, given["items"], below)
        if schema.rules:
            clean = len(self.malformed) == before
            self._rules(schema, given["x-kubernetes-validations"], node, clean=clean)

    def _rules(self, schema: Schema, given: list[Any], node: _Node, *, clean: bool) -> None:
        at = node.path.child("x-kubernetes-validations")
        for i, rule in enumerate(given):
            found = list(_shape(rule if isinstance(rule, dict) else {}, at.index(i), schema))
            self.malformed += found
            clean = clean and not found
        if not clean:
            return
        compiled = compile_rules(schema, self.rules_of, is_root=node.is_root)
        if compiled.error:
            self.refused.append(fieldpath.internal(at, compiled.error))
        for i, one in enumerate(compiled.rules):
            self._rule(one, given[i], at.index(i), node, compiled)

    def _rule(
        self, rule: CompiledRule, given: Any, at: FieldPath, node: _Node, compiled: NodeRules
    ) -> None:
        assert compiled.declared is not None, "there would be no compiled rule"
        times = node.cardinality
        if times is None:
            times = compiled.declared.max_cardinality
        if rule.rule is not None:
            self._cost("rule", min(rule.rule.max_cost * times, _MAX_UINT64), at)
        if rule.error:
            shown = texts.rule_value(given)
            self.refused.append(fieldpath.invalid(at.child("rule"), shown, rule.error))
        if rule.message_error:
            where, shown = at.child("messageExpression"), texts.rule_value(given)
            self.refused.append(fieldpath.invalid(where, shown, rule.message_error))
        elif rule.message is not None:
            self._cost("messageExpression", rule.message.max_cost, at)
        if rule.uses_old_self and node.uncorrelatable:
            detail = texts.uncorrelatable(node.uncorrelatable)
            self.refused.append(fieldpath.invalid(at.child("rule"), rule.source.rule, detail))
        elif not rule.uses_old_self and given.get("optionalOldSelf") is not None:
            value = given["optionalOldSelf"]
            where = at.child("optionalOldSelf")
            self.refused.append(fieldpath.invalid(where, value, texts.OPTIONAL_WITHOUT_OLD_SELF))

    def _cost(self, what: str, cost: int, at: FieldPath) -> None:
        self.costs.append((cost, at.child(what)))
        if cost > RULE_COST_LIMIT:
            self.refused.append(texts.too_expensive(at.child(what), what, cost, RULE_COST_LIMIT))


def _shape(rule: Mapping[str, Any], at: FieldPath, schema: Schema) -> list[FieldError]:
    """What can be wrong with a rule before it is compiled."""
    found = []
    rule_text, message = _text(rule, "rule"), _text(rule, "message")
    if not trim_space(rule_text):
        found.append(fieldpath.required(at.child("rule"), texts.NO_RULE))
    elif message and not trim_space(message):
        found.append(fieldpath.invalid(at.child("message"), message, texts.EMPTY_MESSAGE))
    elif _has_breaks(trim_space(message)):
        found.append(fieldpath.invalid(at.child("message"), message, texts.BROKEN_MESSAGE))
    elif _has_breaks(trim_space(rule_text)) and not trim_space(message):
        found.append(fieldpath.required(at.child("message"), texts.NO_MESSAGE))
    expression = _text(rule, "messageExpression")
    if expression and not trim_space(expression):
        found.append(fieldpath.required(at.child("messageExpression"), texts.EMPTY_EXPRESSION))
    reason = rule.get("reason")
    if reason is not None and reason not in _REASONS:
        found.append(fieldpath.not_supported(at.child("reason"), reason, _REASONS))
    return found + _field_path(_text(rule, "fieldPath"), at.child("fieldPath"), schema)


def _field_path(path: str, at: FieldPath, schema: Schema) -> list[FieldError]:
    found = []
    if path and not trim_space(path):
        found.append(fieldpath.invalid(at, path, texts.EMPTY_PATH))
    if _has_breaks(path):
        found.append(fieldpath.invalid(at, path, texts.BROKEN_PATH))
    if path and field_path(path, schema) is None:
        found.append(fieldpath.invalid(at, path, texts.WRONG_PATH))
    return found


def _text(rule: Mapping[str, Any], key: str) -> str:
    value = rule.get(key)
    return value if isinstance(value, str) else ""


def _has_breaks(text: str) -> bool:
    return "\n" in text or "\r" in text
