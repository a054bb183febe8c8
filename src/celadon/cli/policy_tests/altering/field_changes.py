"""The ways in which the fields of a policy or a binding are changed, expressions left aside.

Each change leaves an object that the API server would take: the last rule, the last operation or
the last validation stays where it is.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from celadon.admission.registration import BINDING_KIND, MUTATING_BINDING_KIND
from celadon.cli.policy_tests.alteration_counts import AlterationKind as Kind
from celadon.cli.reading.json_places import Path
from celadon.records import dataclass

ABSENT: Final = object()
"""What is in the place of something that is left out."""

_OPPOSITES: Final = {
    "In": "NotIn",
    "NotIn": "In",
    "Exists": "DoesNotExist",
    "DoesNotExist": "Exists",
}
_LISTS: Final = {
    "operations": Kind.OPERATION,
    "resources": Kind.RESOURCE,
    "apiGroups": Kind.RESOURCE,
    "apiVersions": Kind.RESOURCE,
    "resourceNames": Kind.RESOURCE,
}


@dataclass(frozen=True, slots=True)
class FieldChange:
    """`value` is what stands at a path of the document instead, `ABSENT` for nothing. `of` is
    what is left out, where the value is a list that is shorter by that."""

    kind: Kind
    path: Path
    value: Any


def field_changes(document: Mapping[str, Any]) -> Iterator[FieldChange]:
    """Those of a policy, or of a binding."""
    spec = document["spec"]
    if document["kind"] in (BINDING_KIND, MUTATING_BINDING_KIND):
        yield from _binding(spec)
    else:
        yield from _policy(spec)


def _binding(spec: Mapping[str, Any]) -> Iterator[FieldChange]:
    actions = spec.get("validationActions") or []
    path = ("spec", "validationActions")
    if len(actions) > 1:
        for one in actions:
            yield FieldChange(Kind.ACTIONS, path, [other for other in actions if other != one])
    if "Deny" in actions and "Warn" not in actions:
        soft = ["Warn" if one == "Deny" else one for one in actions]
        yield FieldChange(Kind.ACTIONS, path, soft)
    elif actions == ["Warn"]:
        yield FieldChange(Kind.ACTIONS, path, ["Deny"])
    elif actions == ["Audit"]:
        yield FieldChange(Kind.ACTIONS, path, ["Warn"])
    param_ref = spec.get("paramRef") or {}
    found = param_ref.get("parameterNotFoundAction")
    if found:
        other = "Allow" if found == "Deny" else "Deny"
        yield FieldChange(Kind.PARAMS, ("spec", "paramRef", "parameterNotFoundAction"), other)
    yield from _selector(("spec", "paramRef", "selector"), param_ref.get("selector"), Kind.PARAMS)
    yield from _matching(("spec", "matchResources"), spec.get("matchResources") or {})
    yield FieldChange(Kind.BINDING, (), ABSENT)


def _policy(spec: Mapping[str, Any]) -> Iterator[FieldChange]:
    other = "Fail" if spec.get("failurePolicy") == "Ignore" else "Ignore"
    yield FieldChange(Kind.FAILURE_POLICY, ("spec", "failurePolicy"), other)
    if "reinvocationPolicy" in spec:
        again = "Never" if spec["reinvocationPolicy"] == "IfNeeded" else "IfNeeded"
        yield FieldChange(Kind.REINVOCATION, ("spec", "reinvocationPolicy"), again)
    constraints = spec.get("matchConstraints") or {}
    at: Path = ("spec", "matchConstraints")
    exact = "Equivalent" if constraints.get("matchPolicy") == "Exact" else "Exact"
    yield FieldChange(Kind.MATCH_POLICY, (*at, "matchPolicy"), exact)
    yield from _matching(at, constraints)
    yield from _items(spec, "matchConditions", Kind.CONDITION, least=0)
    annotations, validations = spec.get("auditAnnotations"), spec.get("validations")
    yield from _items(spec, "validations", Kind.VALIDATION, least=0 if annotations else 1)
    yield from _items(spec, "auditAnnotations", Kind.ANNOTATION, least=0 if validations else 1)
    yield from _items(spec, "mutations", Kind.MUTATION, least=1)
    for i, one in enumerate(validations or ()):
        if one.get("messageExpression"):
            path = ("spec", "validations", i, "messageExpression")
            yield FieldChange(Kind.MESSAGE, path, ABSENT)


def _items(spec: Mapping[str, Any], name: str, kind: Kind, *, least: int) -> Iterator[FieldChange]:
    """Each one left out; so many have to stay."""
    found = spec.get(name) or []
    if len(found) > least:
        for i in range(len(found)):
            yield FieldChange(kind, ("spec", name, i), ABSENT)


def _matching(at: Path, found: Mapping[str, Any]) -> Iterator[FieldChange]:
    for name in ("namespaceSelector", "objectSelector"):
        yield from _selector((*at, name), found.get(name), Kind.SELECTOR)
    for name in ("resourceRules", "excludeResourceRules"):
        rules = found.get(name) or []
        for i, rule in enumerate(rules):
            if len(rules) > 1 or name == "excludeResourceRules":
                yield FieldChange(Kind.RULE, (*at, name, i), ABSENT)
            yield from _rule((*at, name, i), rule)


def _rule(at: Path, rule: Mapping[str, Any]) -> Iterator[FieldChange]:
    for name, kind in _LISTS.items():
        found = rule.get(name) or []
        if len(found) > 1:
            for i in range(len(found)):
                yield FieldChange(kind, (*at, name, i), ABSENT)
    if rule.get("resourceNames"):
        yield FieldChange(Kind.RESOURCE, (*at, "resourceNames"), ABSENT)
    if rule.get("scope", "*") != "*":
        yield FieldChange(Kind.RULE, (*at, "scope"), "*")


def _selector(at: Path, found: Mapping[str, Any] | None, kind: Kind) -> Iterator[FieldChange]:
    """Each requirement left out, so that more is selected; or turned around."""
    if not found:
        return
    for key in found.get("matchLabels") or {}:
        yield FieldChange(kind, (*at, "matchLabels", key), ABSENT)
    for i, one in enumerate(found.get("matchExpressions") or ()):
        path = (*at, "matchExpressions", i)
        yield FieldChange(kind, path, ABSENT)
        yield FieldChange(kind, (*path, "operator"), _OPPOSITES[one["operator"]])
        values = one.get("values") or []
        for j in range(len(values) if len(values) > 1 else 0):
            yield FieldChange(kind, (*path, "values", j), ABSENT)
