"""The walk through a schema of a CRD that is being written: its keywords, and its
validation rules. Are they well formed, do they compile, and can every one of them, and all
together, be afforded in the worst case?

As k8s.io/apiextensions-apiserver `pkg/apis/apiextensions/validation/validation.go`. A rule may cost
as much as its worst evaluation times the number of times that its part can occur in an object.
Nodes are visited from below, members in the order of their names (upstream: that of a Go map). The
rules of a node are compiled only if nothing else is wrong there or below.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import field, replace
from typing import Any, Final

from celadon.kube import fieldpath
from celadon.kube.crd import definition_parts
from celadon.kube.crd.rule_validation import CompiledRule, NodeRules, compile_rules, field_path
from celadon.kube.crd.structural_schemas import (
    EMBEDDED,
    PRESERVE,
    GivenSchema,
    branches,
    is_readable,
    members,
)
from celadon.kube.fieldpath import FieldError, FieldPath
from celadon.kube.go.go_text import trim_space
from celadon.kube.json_types import JsonObject, text_member
from celadon.kube.releases import MESSAGE_BLANK, MESSAGE_BROKEN, wording
from celadon.kube.schemas.schema_packs import Schema
from celadon.kube.well_known_values import OBJECT_FIELDS
from celadon.records import dataclass

# --- Definition texts --------------------------------------------------------
#
# What an API server says about the validation rules of a CRD.
#
# Texts of k8s.io/apiextensions-apiserver `pkg/apis/apiextensions/validation/validation.go`.

NO_RULE: Final = "rule is not specified"
EMPTY_PATH: Final = wording(
    "must be non-empty if specified", v1_34="fieldPath must be non-empty if specified"
)
BROKEN_PATH: Final = wording(
    "must not contain line breaks", v1_34="fieldPath must not contain line breaks"
)
NO_MESSAGE: Final = "message must be specified if rule contains line breaks"
EMPTY_EXPRESSION: Final = "messageExpression must be non-empty if specified"
WRONG_PATH: Final = wording("must be a valid path", v1_34="fieldPath must be a valid path")
WITHOUT_TYPE: Final = (
    "internal error: failed to construct type information for x-kubernetes-validations rules: "
    "unable to convert structural schema to CEL declarations"
)
OPTIONAL_WITHOUT_OLD_SELF: Final = "may not be set if oldSelf is not used in rule"

_ADVICE: Final = (
    "(try simplifying the rule, or adding maxItems, maxProperties, and maxLength where arrays, "
    "maps, and strings are declared)"
)
_SCHEMA: Final = "entire OpenAPIv3 schema"
_SMALL_FACTOR: Final = 1.5
_LARGE_FACTOR: Final = 100.0


def uncorrelatable(path: str) -> str:
    """Return the error about a rule with `oldSelf` below a list whose items nobody can recognize;
    `path` is that list."""
    return f"oldSelf cannot be used on the uncorrelatable portion of the schema within {path}"


def too_expensive(path: FieldPath, subject: str, cost: int, limit: int) -> FieldError:
    """`subject` is `rule` or `messageExpression`."""
    return fieldpath.forbidden(path, _exceeds(f"estimated {subject} cost", cost, limit))


def contributed(path: FieldPath) -> FieldError:
    """One of the most expensive rules, when all together cost too much."""
    detail = f"contributed to estimated rule cost total exceeding cost limit for {_SCHEMA}"
    return fieldpath.forbidden(path, detail)


def too_expensive_together(path: FieldPath, cost: int, limit: int) -> FieldError:
    """`cost` and `limit` of all rules of one version, in units of the CEL cost model."""
    subject = f"x-kubernetes-validations estimated rule cost total for {_SCHEMA}"
    return fieldpath.forbidden(path, _exceeds(subject, cost, limit))


def _exceeds(subject: str, cost: int, limit: int) -> str:
    factor = cost / limit
    if factor > _LARGE_FACTOR:
        text = "more than 100x"
    elif factor < _SMALL_FACTOR:
        text = f"{factor:.6f}x"
    else:
        text = f"{factor:.1f}x"
    return f"{subject} exceeds budget by factor of {text} {_ADVICE}"


# --- Schema keywords ---------------------------------------------------------
#
# Which keywords a schema of a CRD may use, and which belong together.
#
# As `ValidateCustomResourceDefinitionOpenAPISchema` in k8s.io/apiextensions-apiserver
# `pkg/apis/apiextensions/validation/validation.go`. The errors of one node come in two parts:
# upstream has the first before what is below the node, and the second behind it.

Errors = Iterator[FieldError]

_UNSUPPORTED: Final = (
    "id",
    "additionalItems",
    "patternProperties",
    "definitions",
    "dependencies",
    "$ref",
)
_PRESENT: Final = frozenset({"additionalItems", "dependencies", "$ref"})
"""Of these an empty value counts as one."""
_QUADRATIC: Final = (
    "uniqueItems cannot be set to true since the runtime complexity becomes quadratic"
)
_WHOLE: Final = f"must be atomic as item of a list with {definition_parts.LIST_TYPE}=set"


def errors_before(
    value: JsonObject,
    path: FieldPath,
    demands: definition_parts.Demands,
    no_default: str,
    *,
    in_metadata: bool,
) -> Errors:
    """Return what is said of a node before the nodes below it. With `no_default`, which says where
    the node stands, it may have no default."""
    type_ = value.get("type") or ""
    if demands.valid_types and type_ and type_ not in definition_parts.TYPES:
        yield fieldpath.not_supported(path.child("type"), type_, definition_parts.TYPES)
    if no_default and value.get("default") is not None:
        yield fieldpath.forbidden(path.child("default"), f"must not be set {no_default}")
    for name in _UNSUPPORTED:
        if value.get(name) or (name in _PRESENT and value.get(name) is not None):
            yield fieldpath.forbidden(path.child(name), f"{name} is not supported")
    if type_ == "null":
        detail = "type cannot be set to null, use nullable as an alternative"
        yield fieldpath.forbidden(path.child("type"), detail)
    if isinstance(value.get("items"), list) and value["items"]:
        detail = "items must be a schema object and not an array"
        yield fieldpath.forbidden(path.child("items"), detail)
    if in_metadata and value.get(EMBEDDED):
        detail = "must not be used inside of resource meta"
        yield fieldpath.forbidden(path.child(EMBEDDED), detail)
    if value.get("uniqueItems"):
        yield fieldpath.forbidden(path.child("uniqueItems"), _QUADRATIC)
    values = value.get("additionalProperties")
    if values is not None and values is not True and value.get("properties"):
        detail = "additionalProperties and properties are mutual exclusive"
        yield fieldpath.forbidden(path.child("additionalProperties"), detail)


def errors_after(value: JsonObject, path: FieldPath, demands: definition_parts.Demands) -> Errors:
    """Return what is said of a node behind the nodes below it, its rules left out."""
    if value.get(PRESERVE) is False:
        yield fieldpath.invalid(path.child(PRESERVE), False, "must be true or undefined")
    map_type, list_type = (
        value.get(definition_parts.MAP_TYPE),
        value.get(definition_parts.LIST_TYPE),
    )
    if map_type is not None:
        yield from _typed(value, path, "object", definition_parts.MAP_TYPE)
        if map_type not in ("atomic", "granular"):
            choices = ("atomic", "granular")
            yield fieldpath.not_supported(path.child(definition_parts.MAP_TYPE), map_type, choices)
    if list_type is not None:
        yield from _typed(value, path, "array", definition_parts.LIST_TYPE)
        if (
            demands.atomic_sets
            and value.get("type") == "array"
            and definition_parts.has_divided_items(value)
        ):
            # upstream shows the list type of either.
            items = value["items"]
            name = (
                definition_parts.LIST_TYPE
                if items.get("type") == "array"
                else definition_parts.MAP_TYPE
            )
            yield fieldpath.invalid(
                path.child("items", name), items.get(definition_parts.LIST_TYPE), _WHOLE
            )
        if list_type not in ("atomic", "set", "map"):
            yield fieldpath.not_supported(
                path.child(definition_parts.LIST_TYPE), list_type, ("atomic", "set", "map")
            )
    if value.get(definition_parts.LIST_KEYS) and list_type != "map":
        detail, place = (
            f"must be map if {definition_parts.LIST_KEYS} is non-empty",
            path.child(definition_parts.LIST_TYPE),
        )
        yield (
            fieldpath.required(place, detail)
            if list_type is None
            else fieldpath.invalid(place, list_type, detail)
        )
    if list_type == "map":
        yield from _map_list(value, path)
    if demands.keyed_items:
        yield from _loose_keys(value, path)


def _typed(value: JsonObject, path: FieldPath, expected: str, because: str) -> Errors:
    type_, place = value.get("type") or "", path.child("type")
    detail = f"must be {expected} if {because} is specified"
    if not type_:
        yield fieldpath.required(place, detail)
    elif type_ != expected:
        yield fieldpath.invalid(place, type_, detail)


def _map_list(value: JsonObject, path: FieldPath) -> Errors:
    keys, items = value.get(definition_parts.LIST_KEYS) or [], value.get("items")
    if not keys:
        yield fieldpath.required(
            path.child(definition_parts.LIST_KEYS),
            f"must not be empty if {definition_parts.LIST_TYPE} is map",
        )
    if items is None:
        detail = f"must have a schema if {definition_parts.LIST_TYPE} is map"
        yield fieldpath.required(path.child("items"), detail)
    if isinstance(items, list):
        shown = definition_parts.shown_items(items)
        detail = f"must only have a single schema if {definition_parts.LIST_TYPE} is map"
        yield fieldpath.invalid(path.child("items"), shown, detail)
    if not isinstance(items, dict):
        return
    type_ = items.get("type") or ""
    if type_ != "object":
        detail = f"must be object if parent array's {definition_parts.LIST_TYPE} is map"
        yield fieldpath.invalid(path.child("items").child("type"), type_, detail)
        return
    properties = members(items, "properties")
    seen: set[str] = set()
    for key in keys:
        if key not in properties:
            detail = "entries must all be names of item properties"
            yield fieldpath.invalid(path.child(definition_parts.LIST_KEYS), keys, detail)
        elif properties[key].get("type") in ("array", "object"):
            place = path.child("items").child("properties").key(key).child("type")
            detail = f"must be a scalar type if parent array's {definition_parts.LIST_TYPE} is map"
            yield fieldpath.invalid(place, type_, detail)
        if key in seen:
            detail = "must not contain duplicate entries"
            yield fieldpath.invalid(path.child(definition_parts.LIST_KEYS), keys, detail)
        seen.add(key)


def _loose_keys(value: JsonObject, path: FieldPath) -> Errors:
    items = path.child("items")
    for key, name in definition_parts.loose_keys(value):
        if not key:
            list_type = value[definition_parts.LIST_TYPE]
            detail = f"cannot be nullable when {definition_parts.LIST_TYPE} is {list_type}"
            yield fieldpath.forbidden(items.child(name), detail)
            continue
        place, subject = items.child("properties").key(key).child(name), "this property is in"
        if name == "default":
            detail = (
                f"{subject} {definition_parts.LIST_KEYS}, "
                "so it must have a default or be a required property"
            )
            yield fieldpath.required(place, detail)
        else:
            yield fieldpath.forbidden(
                place, f"{subject} {definition_parts.LIST_KEYS}, so it cannot be nullable"
            )


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
    """All that is wrong with a schema: with its keywords, its rules, and what they cost
    together."""

    keywords: list[FieldError] = field(default_factory=list)
    rules: list[FieldError] = field(default_factory=list)
    costs: list[FieldError] = field(default_factory=list)


def schema_findings(
    schema: GivenSchema,
    demands: definition_parts.Demands,
    *,
    compiles: bool = True,
    limits_costs: bool = True,
) -> SchemaFindings:
    """Return what is wrong with a schema. Rules are only compiled with `compiles`, in a structural
    schema; without `limits_costs` each may cost what it likes."""
    check = _Check(demands, compiles, limits_costs)
    check.visit(schema.source, schema.schema, _Node(schema.path, is_root=True))
    findings = check.findings
    if check.total > DEFINITION_COST_LIMIT:
        findings.costs += [contributed(where) for _, where in check.most_expensive()]
        findings.costs.append(
            too_expensive_together(schema.path, check.total, DEFINITION_COST_LIMIT)
        )
    return findings


@dataclass(frozen=True, slots=True)
class _Node:
    """The place where a schema stands. `cardinality` is None where nothing bounds it; below
    `uncorrelatable` no rule may look at `oldSelf`. `no_default` says where no default may be, and
    why."""

    path: FieldPath
    is_root: bool = False
    cardinality: int | None = 1
    uncorrelatable: str = ""
    in_metadata: bool = False
    no_default: str = ""

    def below(self, path: FieldPath, value: JsonObject) -> _Node:
        """Return a part, which occurs as often as the type of the node lets it."""
        most = _occurrences(value)
        cardinality = None
        if self.cardinality is not None and most is not None:
            cardinality = min(self.cardinality * most, _MAX_UINT64)
        return replace(self, path=path, is_root=False, cardinality=cardinality)

    def branch(self, path: FieldPath) -> _Node:
        """Return what a branch says about the same part."""
        return replace(self, path=path, is_root=False)

    def uncorrelated(self, path: FieldPath) -> _Node:
        if self.uncorrelatable:
            return self
        return replace(self, uncorrelatable=path.text)

    def member(self, name: str, value: JsonObject) -> _Node:
        is_meta = name in OBJECT_FIELDS and (
            self.is_root or value.get("x-kubernetes-embedded-resource") is True
        )
        below = self.below(self.path.child("properties").key(name), value)
        if not is_meta:
            return below
        no_default = f"in top-level {name}" if self.is_root else self.no_default
        return replace(below, in_metadata=True, no_default=no_default)


def _occurrences(value: JsonObject) -> int | None:
    """Return how many of each of its parts a value can have; None if nothing says so."""
    most: int | None = 1
    if value.get("type") == "array":
        most = value.get("maxItems")
    elif value.get("type") == "object" and value.get("additionalProperties") is not None:
        most = value.get("maxProperties")
    return None if most is None else max(most, 0)


@dataclass(slots=True)
class _Check:
    """One walk through a schema."""

    demands: definition_parts.Demands
    compiles: bool
    limits_costs: bool
    findings: SchemaFindings = field(default_factory=SchemaFindings)
    costs: list[tuple[int, FieldPath]] = field(default_factory=list)

    @property
    def total(self) -> int:
        return min(sum(cost for cost, _ in self.costs), _MAX_UINT64)

    def most_expensive(self) -> list[tuple[int, FieldPath]]:
        dear = [cost for cost in self.costs if cost[0] >= DEFINITION_COST_LIMIT // 100]
        return sorted(dear, key=lambda pair: -pair[0])[:_LISTED]

    def visit(self, value: JsonObject, schema: Schema | None, node: _Node) -> bool:
        """Look at a schema and return whether it can be read as a structural one. `value` is its
        JSON: what it says of rules is shown as it was written. `schema` None: nothing is known of
        the fields there, and no rules are compiled."""
        keywords = self.findings.keywords
        before = len(keywords)
        keywords += errors_before(
            value, node.path, self.demands, node.no_default, in_metadata=node.in_metadata
        )
        readable = [is_readable(value), *self._visit_below(value, schema, node)]
        for name, member in members(value, "dependencies").items():
            self.visit(member, None, node.branch(node.path.child("dependencies").key(name)))
        keywords += errors_after(value, node.path, self.demands)
        rules = value.get("x-kubernetes-validations")
        if rules:
            path = node.path.child("x-kubernetes-validations")
            for i, rule in enumerate(rules):
                keywords += _shape(rule, path.index(i), schema, readable=all(readable))
            if self.compiles and schema is not None and len(keywords) == before:
                self._rules(schema, rules, node)
        return all(readable)

    def _visit_below(self, value: JsonObject, schema: Schema | None, node: _Node) -> Iterator[bool]:
        """Look at the schemas below, and yield of each that matters for that whether it can be
        read."""
        values, items = value.get("additionalProperties"), value.get("items")
        if isinstance(values, dict):
            below = node.below(node.path.child("additionalProperties"), value)
            if node.in_metadata:
                below = replace(below, no_default=_IN_METADATA)
            yield self.visit(values, schema and schema.additional_properties, below)
        for name, member in members(value, "properties").items():
            yield self.visit(
                member, schema and schema.properties.get(name), node.member(name, value)
            )
        for place, branch in branches(value):
            yield self.visit(branch, None, node.branch(node.path.join(place)))
        for name, member in members(value, "definitions").items():
            self.visit(member, None, node.branch(node.path.child("definitions").key(name)))
        if items is not None:
            below = node.below(node.path.child("items"), value)
            if value.get("x-kubernetes-list-type") != "map":
                below = below.uncorrelated(node.path)
            if isinstance(items, dict):
                yield self.visit(items, schema and schema.items, below)
            for i, item in enumerate(items if isinstance(items, list) else ()):
                self.visit(item, None, replace(below, path=below.path.index(i)))

    def _rules(self, schema: Schema, raw_rules: list[Any], node: _Node) -> None:
        path = node.path.child("x-kubernetes-validations")
        compiled = compile_rules(schema, self.demands, is_root=node.is_root)
        if compiled.error:
            self.findings.rules.append(fieldpath.internal(path, WITHOUT_TYPE))
        for i, rule in enumerate(compiled.rules):
            self._rule(rule, raw_rules[i], path.index(i), node, compiled)

    def _rule(
        self, rule: CompiledRule, data: Any, path: FieldPath, node: _Node, compiled: NodeRules
    ) -> None:
        assert compiled.declared is not None, "there would be no compiled rule"
        refused = self.findings.rules
        times = node.cardinality
        if times is None:
            times = compiled.declared.max_cardinality
        if rule.rule is not None:
            self._cost("rule", min(rule.rule.max_cost * times, _MAX_UINT64), path)
        if rule.error:
            refused.append(
                fieldpath.invalid(path.child("rule"), definition_parts.shown_rule(data), rule.error)
            )
        if rule.message_error:
            member_path, printed_rule = (
                path.child("messageExpression"),
                definition_parts.shown_rule(data),
            )
            refused.append(fieldpath.invalid(member_path, printed_rule, rule.message_error))
        elif rule.message is not None:
            self._cost("messageExpression", rule.message.max_cost, path)
        if rule.uses_old_self and node.uncorrelatable:
            detail = uncorrelatable(node.uncorrelatable)
            refused.append(fieldpath.invalid(path.child("rule"), rule.source.rule, detail))
        elif not rule.uses_old_self and data.get("optionalOldSelf") is not None:
            value, member_path = data["optionalOldSelf"], path.child("optionalOldSelf")
            refused.append(fieldpath.invalid(member_path, value, OPTIONAL_WITHOUT_OLD_SELF))

    def _cost(self, subject: str, cost: int, path: FieldPath) -> None:
        self.costs.append((cost, path.child(subject)))
        if self.limits_costs and cost > RULE_COST_LIMIT:
            error = too_expensive(path.child(subject), subject, cost, RULE_COST_LIMIT)
            self.findings.rules.append(error)


def _shape(
    rule: Any, path: FieldPath, schema: Schema | None, *, readable: bool
) -> list[FieldError]:
    """Return what can be wrong with a rule before it is compiled."""
    result = []
    rule_text, message = text_member(rule, "rule"), text_member(rule, "message")
    if not trim_space(rule_text):
        result.append(fieldpath.required(path.child("rule"), NO_RULE))
    elif message and not trim_space(message):
        result.append(fieldpath.invalid(path.child("message"), message, MESSAGE_BLANK.text))
    elif _has_breaks(trim_space(message)):
        result.append(fieldpath.invalid(path.child("message"), message, MESSAGE_BROKEN.text))
    elif _has_breaks(trim_space(rule_text)) and not trim_space(message):
        result.append(fieldpath.required(path.child("message"), NO_MESSAGE))
    expression = text_member(rule, "messageExpression")
    if expression and not trim_space(expression):
        result.append(fieldpath.required(path.child("messageExpression"), EMPTY_EXPRESSION))
    reason = rule.get("reason")
    if reason is not None and reason not in _REASONS:
        result.append(fieldpath.not_supported(path.child("reason"), reason, _REASONS))
    rule_path, place = text_member(rule, "fieldPath"), path.child("fieldPath")
    return result + _field_path(rule_path, place, schema, readable=readable)


def _field_path(
    path: str, place: FieldPath, schema: Schema | None, *, readable: bool
) -> list[FieldError]:
    """Return what is wrong with the path of a rule. Where a schema cannot be read, nobody looks
    where it leads."""
    result = []
    if path and not trim_space(path):
        result.append(fieldpath.invalid(place, path, EMPTY_PATH.text))
    if _has_breaks(path):
        result.append(fieldpath.invalid(place, path, BROKEN_PATH.text))
    if path and readable and schema is not None and field_path(path, schema) is None:
        result.append(fieldpath.invalid(place, path, WRONG_PATH.text))
    return result


def _has_breaks(text: str) -> bool:
    return "\n" in text or "\r" in text
