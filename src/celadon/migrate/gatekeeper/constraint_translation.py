"""Constraint templates and constraints as admission policies, bindings and params.

A template becomes a policy, each constraint of it a binding. Parameters become objects of a kind of
their own, which the policy has as its params: the definition that is written has the template's
schema. So they keep their types, and whoever may set them is told by RBAC, as with Gatekeeper. The
group is another one than Gatekeeper's, whose definitions go when its templates go, and take the
constraints with them.

What only a policy can say, not a binding (names with wildcards), makes a policy of its own for the
constraints that say it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from celadon.admission import Operation
from celadon.kube import JsonObject
from celadon.kube.json_types import JsonDict
from celadon.kube.resources import Catalog
from celadon.migrate.gatekeeper import known_general, known_pods, known_resources
from celadon.migrate.gatekeeper.constraint_matching import ANYTHING, Matching, matching, union
from celadon.migrate.gatekeeper.known_rego import KnownTemplate, digest
from celadon.migrate.gatekeeper.templates import Constraint, Source, Template
from celadon.migrate.losses import NotTranslated
from celadon.migrate.translations import (
    Origin,
    Translation,
    binding_document,
    policy_document,
)

PARAMS_GROUP: Final = "constraints.policy.internal"
"""The API group of parameters, unless another one is asked for."""

_PARAMS_VERSION: Final = "v1"

_OPERATIONS: Final = (Operation.CREATE.name, Operation.UPDATE.name)
"""What Gatekeeper's webhook asks about, unless it is told otherwise."""


@dataclass(frozen=True, slots=True)
class _Demand:
    """What a template demands, and of which operations."""

    source: Source
    operations: tuple[str, ...]
    known: KnownTemplate | None = None


def translate_template(
    template: Template,
    constraints: Sequence[Constraint],
    catalog: Catalog,
    group: str = PARAMS_GROUP,
) -> list[Translation]:
    """Return what becomes of each constraint of a template; of the template alone if it has none.
    What constraints share stands in the translation of each of them."""
    if not constraints:
        return [_translated(template, "", lambda: _unbound(template, group))]
    matches = _Matches(constraints, catalog)
    return [
        _translated(template, one.name, lambda one=one: _bound(template, one, matches, group))  # type: ignore[misc]
        for one in constraints
    ]


def _translated(
    template: Template, constraint: str, documents: Callable[[], Iterable[JsonObject]]
) -> Translation:
    origin = Origin(template.name, constraint, (), "validate")
    try:
        return Translation(origin, tuple(documents()))
    except NotTranslated as error:
        return Translation(origin, reason=error.reason, instead=error.instead)


class _Matches:
    """What the constraints of a template apply to, and which of them share a policy."""

    def __init__(self, constraints: Sequence[Constraint], catalog: Catalog) -> None:
        self._catalog = catalog
        self._first: dict[tuple[tuple[str, str], ...], str] = {}
        self._together: dict[tuple[tuple[str, str], ...], list[Matching]] = {}
        for one in constraints:
            try:
                found = self.of(one)
            except NotTranslated:
                continue
            self._first.setdefault(found.conditions, one.name)
            self._together.setdefault(found.conditions, []).append(found)

    def of(self, constraint: Constraint) -> Matching:
        """Return what a constraint applies to. Raises NotTranslated."""
        return matching(constraint.match, self._catalog)

    def shared(self, found: Matching) -> tuple[list[str], Matching, bool]:
        """Return what the policy's name has after the template's, what the policy matches, and
        whether it is that of several constraints."""
        together = self._together[found.conditions]
        is_only = len(self._together) == 1
        name = [] if is_only or not found.conditions else [self._first[found.conditions]]
        return name, union(together), len(together) > 1


def _unbound(template: Template, group: str) -> Iterator[JsonObject]:
    demand = _demand(template)
    if template.parameters:
        yield _definition(template, group)
    yield _policy(template, demand, [], ANYTHING, group)


def _bound(
    template: Template, constraint: Constraint, matches: _Matches, group: str
) -> Iterator[JsonObject]:
    """Return the documents of a constraint. Raises NotTranslated."""
    demand = _demand(template)
    _check_parameters(demand, constraint)
    actions = _actions(constraint)
    match = matches.of(constraint)
    suffix, of_policy, is_shared = matches.shared(match)
    if template.parameters:
        yield _definition(template, group)
    policy = _policy(template, demand, suffix, of_policy, group)
    yield policy
    param_ref: JsonObject | None = None
    if template.parameters:
        yield {
            "apiVersion": f"{group}/{_PARAMS_VERSION}",
            "kind": template.kind,
            "metadata": {"name": constraint.name},
            "spec": constraint.parameters,
        }
        param_ref = {"name": constraint.name, "parameterNotFoundAction": "Deny"}
    binding = binding_document(policy, actions, param_ref)
    spec = binding["spec"]
    if is_shared and match != of_policy:
        spec = {**spec, "matchResources": match.constraints(demand.operations)}
    name = f"{template.name}-{constraint.name}"[:253]
    yield {**binding, "metadata": {"name": name}, "spec": spec}


def _actions(constraint: Constraint) -> list[str]:
    """Return what a binding does. Raises NotTranslated."""
    named = {constraint.action}
    if constraint.action == "scoped":
        named = {
            one["action"]
            for one in constraint.scoped
            if {point["name"] for point in one.get("enforcementPoints") or ()} & _OF_ADMISSION
        }
        if not named:
            raise NotTranslated(
                "a constraint that is for audits only",
                "`celadon audit` reads policies, and objects that are there.",
            )
    unknown = named - set(_ACTIONS)
    if unknown:
        raise NotTranslated(f"the enforcement action `{min(unknown)}`")
    found = {_ACTIONS[one] for one in named}
    return [one for one in ("Deny", "Warn", "Audit") if one in found - _implied(found)]


_ACTIONS: Final = {"deny": "Deny", "warn": "Warn", "dryrun": "Audit"}
_OF_ADMISSION: Final = {"*", "validation.gatekeeper.sh", "vap.k8s.io"}


def _implied(found: set[str]) -> set[str]:
    """Return what cannot stand beside `Deny`, which says it anyway."""
    return {"Warn"} if "Deny" in found else set()


# --- What is demanded --------------------------------------------------------


def _demand(template: Template) -> _Demand:
    """Return what a template demands: what it says in CEL, or is known to say in Rego. Raises
    NotTranslated."""
    if template.targets != 1:
        raise NotTranslated("a template that has not exactly one target")
    operations = _operations(template)
    if template.source is not None:
        return _Demand(_plain(template.source, operations), operations)
    known, looks_at_all = _known(template)
    source = Source(
        tuple({"expression": one, "messageExpression": message} for one, message in known.checks),
        tuple({"name": name, "expression": one} for name, one in known.variables),
    )
    if known.operations and not looks_at_all:
        operations = tuple(one for one in operations if one in known.operations)
    return _Demand(source, operations, known)


def _operations(template: Template) -> tuple[str, ...]:
    if "*" in template.operations:
        return ("CREATE", "UPDATE", "DELETE", "CONNECT")
    return template.operations or _OPERATIONS


_KNOWN: Final[Mapping[str, tuple[KnownTemplate, ...]]] = {
    **known_general.KNOWN,
    **known_pods.KNOWN,
    **known_resources.KNOWN,
}
_LOOKS_UP: Final = "objects that are looked up (`data.inventory`)"
_SEES_ONE: Final = "Policies see the request, its namespace and params, and no other objects."


def _known(template: Template) -> tuple[KnownTemplate, bool]:
    """Return a template that is known by its content, and whether this text of it looks at all
    operations. Raises NotTranslated."""
    content = digest(template.rego)
    for one in _KNOWN.get(template.kind, ()):
        if content in one.digests or content in one.digests_of_all_operations:
            return one, content in one.digests_of_all_operations
    if any("data.inventory" in text for text in template.rego):
        raise NotTranslated(_LOOKS_UP, _SEES_ONE)
    raise NotTranslated(
        "Rego that is not known",
        "Templates of gatekeeper-library are known, and those with K8sNativeValidation are "
        "translated: see whether a newer version of this one has it.",
    )


def _check_parameters(demand: _Demand, constraint: Constraint) -> None:
    """Raise NotTranslated where parameters switch on what cannot be translated, or leave nothing
    to do."""
    if demand.known is None:
        return
    if constraint.parameters.get(demand.known.looks_up_with):
        raise NotTranslated(_LOOKS_UP, _SEES_ONE)
    for name in demand.known.needs:
        if name not in constraint.parameters:
            raise NotTranslated(f"a constraint that refuses nothing: it has no `{name}`")


_PARAMS: Final = re.compile(r"(?<![\w.])variables\.params\b")
_ANY_OBJECT: Final = re.compile(r"(?<![\w.])variables\.anyObject\b")


def _plain(source: Source, operations: Sequence[str]) -> Source:
    """Return CEL of Gatekeeper without its own variables: parameters are what the params have, and
    any object is the object, unless there are requests without one."""
    is_plain = not {"DELETE", "CONNECT"} & set(operations)

    def text(expression: str) -> str:
        expression = _PARAMS.sub("params.spec", expression)
        return _ANY_OBJECT.sub("object", expression) if is_plain else expression

    def each(items: Iterable[JsonObject]) -> tuple[JsonObject, ...]:
        fields = ("expression", "messageExpression")
        return tuple({**one, **{f: text(one[f]) for f in fields if one.get(f)}} for one in items)

    any_object = {"name": "anyObject", "expression": "object == null ? oldObject : object"}
    variables = each(source.variables)
    return replace(
        source,
        validations=each(source.validations),
        variables=variables if is_plain else (any_object, *variables),
        match_conditions=each(source.match_conditions),
    )


def _policy(
    template: Template, demand: _Demand, suffix: Sequence[str], match: Matching, group: str
) -> JsonObject:
    """Return the policy of a template. Raises NotTranslated."""
    spec: JsonDict = {"failurePolicy": demand.source.failure_policy}
    if template.parameters:
        kind = {"apiVersion": f"{group}/{_PARAMS_VERSION}", "kind": template.kind}
        spec["paramKind"] = kind
    spec["matchConstraints"] = match.constraints(demand.operations)
    conditions = [
        *({"name": name, "expression": one} for name, one in match.conditions),
        *demand.source.match_conditions,
    ]
    if conditions:
        spec["matchConditions"] = conditions
    if demand.source.variables:
        spec["variables"] = list(demand.source.variables)
    spec["validations"] = list(demand.source.validations)
    return policy_document([template.name, *suffix], template.annotations, spec)


# --- Parameters --------------------------------------------------------------


def _definition(template: Template, group: str) -> JsonObject:
    """Return the definition of the kind that parameters are of."""
    kind, plural = template.kind, template.kind.lower()
    names = {"kind": kind, "listKind": f"{kind}List", "plural": plural, "singular": plural}
    schema = _structural(template.parameters)
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{plural}.{group}"},
        "spec": {
            "group": group,
            "scope": "Cluster",
            "names": names,
            "versions": [
                {
                    "name": _PARAMS_VERSION,
                    "served": True,
                    "storage": True,
                    "schema": {
                        "openAPIV3Schema": {
                            "type": "object",
                            "required": ["spec"],
                            "properties": {"spec": schema},
                        }
                    },
                }
            ],
        },
    }


def _structural(schema: JsonObject) -> JsonObject:
    """Return a schema as definitions must have it: every value has a type, or any may be there."""
    made: JsonDict = dict(schema)
    if "type" not in made and not made.get("x-kubernetes-int-or-string"):
        if "properties" in made or "additionalProperties" in made:
            made["type"] = "object"
        elif "items" in made:
            made["type"] = "array"
        else:
            made["x-kubernetes-preserve-unknown-fields"] = True
    for name in ("items", "additionalProperties"):
        if isinstance(made.get(name), Mapping):
            made[name] = _structural(made[name])
    if "properties" in made:
        made["properties"] = {name: _structural(one) for name, one in made["properties"].items()}
    if made.get("type") == "object" and not {"properties", "additionalProperties"} & set(made):
        made["x-kubernetes-preserve-unknown-fields"] = True
    return made
