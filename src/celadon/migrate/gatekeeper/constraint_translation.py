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

import itertools
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from celadon.admission import Operation
from celadon.kube import GroupVersionKind, Json, JsonObject
from celadon.kube.json_types import JsonDict, Needed, Shape
from celadon.kube.resources import Catalog, guess_resource
from celadon.kube.well_known_values import NAMESPACE_NAME
from celadon.migrate import translations
from celadon.migrate.cel_text import (
    Condition,
    comparison,
    disjunction,
    literal,
    member,
    negation,
    quoted,
    truth,
)
from celadon.migrate.gatekeeper import rego_azure, rego_general, rego_pod_security
from celadon.migrate.gatekeeper.rego_general import KnownTemplate, digest
from celadon.migrate.gatekeeper.templates import (
    CONSTRAINT_SHAPE,
    MUTATOR_SHAPE,
    TEMPLATE_SHAPE,
    Constraint,
    Source,
    Template,
    is_constraint,
    is_mutator,
    is_template,
    read_constraint,
    read_template,
)

# --- What a constraint applies to --------------------------------------------

# What a constraint applies to: its `match` as match constraints and match conditions.
#
# Selectors, kinds, scopes and plain names of namespaces have fields of their own, which a
# binding can have. Names with wildcards are match conditions, which only a policy can have.
# Facts about the meaning: gatekeeper `pkg/mutation/match/match.go` and `pkg/util/wildcard.go`.

_ALSO: Final = {
    ("", "Pod"): ("pods/ephemeralcontainers",),
    ("", "Service"): ("services/status",),
}
"""Subresources whose requests carry an object of the kind, and which Gatekeeper's webhook asks for,
too (charts/gatekeeper/values.yaml)."""

_Kinds = tuple[tuple[str, ...], tuple[str, ...]]
"""API groups, and resources that they have."""


@dataclass(frozen=True, slots=True)
class Matching:
    """A constraint applies to the kinds, scope and namespaces that this says."""

    kinds: tuple[_Kinds, ...]
    scope: str
    namespace_selector: JsonObject | None
    object_selector: JsonObject | None
    conditions: tuple[tuple[str, str], ...]
    """Match conditions, each with its name."""

    def constraints(self, operations: Sequence[str]) -> dict[str, Json]:
        """Return the match constraints of a policy, or the match resources of a binding."""
        result: JsonDict = {
            "resourceRules": [
                {
                    "apiGroups": list(groups),
                    "apiVersions": ["*"],
                    "operations": list(operations),
                    "resources": list(resources),
                    **({"scope": self.scope} if self.scope != "*" else {}),
                }
                for groups, resources in self.kinds
            ]
        }
        if self.namespace_selector:
            result["namespaceSelector"] = self.namespace_selector
        if self.object_selector:
            result["objectSelector"] = self.object_selector
        return result


ANYTHING: Final = Matching(((("*",), ("*",)),), "*", None, None, ())


def matching(match: JsonObject, catalog: Catalog) -> Matching:
    """Return what a constraint applies to. Raises NotTranslated."""
    unknown = sorted(set(match) - _MATCH_FIELDS)
    if unknown:
        raise translations.NotTranslated(f"`{unknown[0]}` in match")
    # Gatekeeper expands a Deployment into the Pod that it would make (`source: Generated`); an
    # admission policy has the Deployment alone.
    if match.get("source") == "Generated":
        raise translations.NotTranslated(
            "a constraint for Pods that are expected of their controllers (`source: Generated`)",
            "Write a policy for the controllers' kinds.",
        )
    entries: Sequence[JsonObject] = match.get("kinds") or ({},)
    kinds = [group_kinds for entry in entries for group_kinds in _kinds(entry, catalog)]
    scope = match.get("scope")
    expressions, conditions = _namespaces(match)
    if match.get("name"):
        is_named = _one_of("object.metadata.name", [match["name"]])
        conditions = (*conditions, ("has-name", is_named.text))
    selector = match.get("namespaceSelector") or {}
    if expressions:
        # Requirements are all to be met, so those of the names join those of the selector.
        match_expressions = selector.get("matchExpressions") or ()
        selector = {**selector, "matchExpressions": [*match_expressions, *expressions]}
    return Matching(
        _together(kinds),
        scope if scope in ("Cluster", "Namespaced") else "*",
        selector or None,
        match.get("labelSelector") or None,
        conditions,
    )


_MATCH_FIELDS: Final = {
    "kinds",
    "scope",
    "namespaces",
    "excludedNamespaces",
    "labelSelector",
    "namespaceSelector",
    "name",
    "source",
}


def _kinds(entry: JsonObject, catalog: Catalog) -> Iterator[_Kinds]:
    """Return the resources of an entry by their API groups: groups in which all kinds are known go
    their own way, so that no resource is asked of a group that has none of the name."""
    groups = tuple(entry.get("apiGroups") or ("*",))
    names = tuple(entry.get("kinds") or ("*",))
    if "*" in names:
        yield (("*",) if "*" in groups else groups), ("*",)
        return
    # `kinds` in a constraint are a product of groups and kinds; rules are one of groups and
    # resources. So groups stay together only where they lead to the same resources.
    served_kinds = (
        {(resource.gvk.group, resource.gvk.kind) for resource in catalog}
        if "*" not in groups
        else set()
    )
    served = {group for group, _ in served_kinds}
    elsewhere = {name for name in names if any((group, name) in served_kinds for group in groups)}
    resources = {
        group: tuple(
            dict.fromkeys(
                resource
                for name in names
                if (group, name) in served_kinds or group not in served or name not in elsewhere
                for resource in resources_of(group, name, catalog)
            )
        )
        for group in (("*",) if "*" in groups else groups)
    }
    for same in dict.fromkeys(resources.values()):
        if same:
            yield tuple(group for group in resources if resources[group] == same), same


def resources_of(group: str, kind: str, catalog: Catalog) -> Iterator[str]:
    """Yield the resources of a kind, and those subresources whose requests carry one. The group may
    be an asterisk."""
    resources = [
        resource
        for resource in catalog
        if resource.gvk.kind == kind and group in ("*", resource.gvk.group)
    ]
    if not resources:
        yield guess_resource(GroupVersionKind(group, "", kind)).resource
    for resource in resources:
        yield resource.gvr.resource
        yield from _ALSO.get((resource.gvk.group, kind), ())


# --- Names -------------------------------------------------------------------


def _namespaces(match: JsonObject) -> tuple[list[Json], tuple[tuple[str, str], ...]]:
    """Return the requirements of namespaces' labels, and the match conditions, that say in which
    namespaces objects are. Objects outside of namespaces are always meant, as by selectors."""
    namespaces: Sequence[str] = match.get("namespaces") or ()
    excluded: Sequence[str] = match.get("excludedNamespaces") or ()
    expressions: list[Json] = []
    conditions = []
    # The name of a namespace is a label of it, so lists of names fit into the selector of a
    # binding.
    if namespaces and not any(map(_is_wild, namespaces)):
        expressions.append(_requirement("In", namespaces))
    elif namespaces:
        has_none = comparison("request.namespace", "==", "''")
        is_wanted = disjunction([has_none, _one_of("request.namespace", namespaces)])
        conditions.append(("is-in-namespace", is_wanted.text))
    if excluded and not any(map(_is_wild, excluded)):
        expressions.append(_requirement("NotIn", excluded))
    elif excluded:
        is_excluded = _one_of("request.namespace", excluded)
        conditions.append(("is-in-no-excluded-namespace", negation(is_excluded).text))
    return expressions, tuple(conditions)


def _requirement(operator: str, names: Sequence[str]) -> Mapping[str, Json]:
    return {"key": NAMESPACE_NAME, "operator": operator, "values": list(names)}


def _is_wild(name: str) -> bool:
    return name.startswith("*") or name.endswith("*")


def _one_of(text: str, names: Sequence[str]) -> Condition:
    """Return whether a text is one of some names, or matches one with an asterisk at an end."""
    plain = [name for name in names if not _is_wild(name)]
    wild = [_matches(text, name) for name in names if _is_wild(name)]
    if len(plain) == 1:
        return disjunction([comparison(text, "==", quoted(plain[0])), *wild])
    return disjunction([*([member(text, literal(plain))] if plain else ()), *wild])


def _matches(text: str, name: str) -> Condition:
    # An asterisk is one only at an end of a name (`wildcard.go`): inside of it, it is a character.
    if name.startswith("*") and name.endswith("*"):
        return truth(f"{text}.contains({quoted(name.removeprefix('*').removesuffix('*'))})")
    if name.startswith("*"):
        return truth(f"{text}.endsWith({quoted(name.removeprefix('*'))})")
    return truth(f"{text}.startsWith({quoted(name.removesuffix('*'))})")


def _together(kinds: Iterable[_Kinds]) -> tuple[_Kinds, ...]:
    """Return resources with those that are of the same groups."""
    result: dict[tuple[str, ...], dict[str, None]] = {}
    for groups, resources in kinds:
        result.setdefault(groups, {}).update(dict.fromkeys(resources))
    return tuple((groups, tuple(resources)) for groups, resources in result.items())


def union(matches: Sequence[Matching]) -> Matching:
    """Return what applies to all that some constraints with equal conditions apply to: what they
    have in common is kept, and kinds are put together."""
    first = matches[0]
    if all(match == first for match in matches):
        return first
    scopes = {match.scope for match in matches}
    return Matching(
        _together(kind for match in matches for kind in match.kinds),
        first.scope if len(scopes) == 1 else "*",
        _common([match.namespace_selector for match in matches]),
        _common([match.object_selector for match in matches]),
        first.conditions,
    )


def _common(selectors: Sequence[JsonObject | None]) -> JsonObject | None:
    return selectors[0] if all(selector == selectors[0] for selector in selectors) else None


# --- Templates and constraints -----------------------------------------------

PARAMS_GROUP: Final = "constraints.policy.internal"
"""The API group of parameters, unless another one is asked for."""

_PARAMS_VERSION: Final = "v1"

OPERATIONS: Final = (Operation.CREATE.name, Operation.UPDATE.name)
"""What Gatekeeper's webhooks ask about, unless they are told otherwise."""


@dataclass(frozen=True, slots=True)
class _Demand:
    """A template demands `source` of objects, for some operations."""

    source: Source
    operations: tuple[str, ...]
    known_template: KnownTemplate | None = None


def translate_template(
    template: Template,
    constraints: Sequence[Constraint],
    catalog: Catalog,
    group: str = PARAMS_GROUP,
) -> list[translations.Translation]:
    """Return what becomes of each constraint of a template; of the template alone if it has none.
    What constraints share stands in the translation of each of them."""
    if not constraints:
        return [_translated(template, "", lambda: _unbound(template, group))]
    matches = _Matches(constraints, catalog)
    return [
        _translated(template, item.name, lambda item=item: _bound(template, item, matches, group))  # type: ignore[misc]
        for item in constraints
    ]


def _translated(
    template: Template, constraint: str, documents: Callable[[], Iterable[JsonObject]]
) -> translations.Translation:
    origin = translations.Origin(template.name, constraint, (), "validate")
    try:
        return translations.Translation(origin, tuple(documents()))
    except translations.NotTranslated as error:
        return translations.Translation(origin, reason=error.reason, instead=error.instead)


class _Matches:
    """Tells what the constraints of a template apply to, and which of them share a policy."""

    def __init__(self, constraints: Sequence[Constraint], catalog: Catalog) -> None:
        self._catalog = catalog
        self._first: dict[tuple[tuple[str, str], ...], str] = {}
        self._together: dict[tuple[tuple[str, str], ...], list[Matching]] = {}
        for constraint in constraints:
            try:
                matching = self.of(constraint)
            except translations.NotTranslated:
                continue
            self._first.setdefault(matching.conditions, constraint.name)
            self._together.setdefault(matching.conditions, []).append(matching)

    def of(self, constraint: Constraint) -> Matching:
        """Return what a constraint applies to. Raises NotTranslated."""
        return matching(constraint.match, self._catalog)

    def shared(self, match: Matching) -> tuple[list[str], Matching, bool]:
        """Return what the policy's name has after the template's, what the policy matches, and
        whether it is that of several constraints."""
        together = self._together[match.conditions]
        is_only = len(self._together) == 1
        name = [] if is_only or not match.conditions else [self._first[match.conditions]]
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
    suffix, policy_match, is_shared = matches.shared(match)
    if template.parameters:
        yield _definition(template, group)
    policy = _policy(template, demand, suffix, policy_match, group)
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
    binding = translations.binding_document(policy, actions, param_ref)
    spec = binding["spec"]
    if is_shared and match != policy_match:
        spec = {**spec, "matchResources": match.constraints(demand.operations)}
    name = f"{template.name}-{constraint.name}"[:253]
    yield {**binding, "metadata": {"name": name}, "spec": spec}


def _actions(constraint: Constraint) -> list[str]:
    """Return what a binding does. Raises NotTranslated."""
    named = {constraint.action}
    if constraint.action == "scoped":
        named = {
            action["action"]
            for action in constraint.scoped
            if {point["name"] for point in action.get("enforcementPoints") or ()} & _OF_ADMISSION
        }
        if not named:
            raise translations.NotTranslated(
                "a constraint that is for audits only",
                "`celadon audit` reads policies, and objects that are there.",
            )
    unknown = named - set(_ACTIONS)
    if unknown:
        raise translations.NotTranslated(f"the enforcement action `{min(unknown)}`")
    result = {_ACTIONS[action] for action in named}
    return [action for action in ("Deny", "Warn", "Audit") if action in result - _implied(result)]


_ACTIONS: Final = {"deny": "Deny", "warn": "Warn", "dryrun": "Audit"}
_OF_ADMISSION: Final = {"*", "validation.gatekeeper.sh", "vap.k8s.io"}


def _implied(actions: set[str]) -> set[str]:
    """Return what cannot stand beside `Deny`, which says it anyway."""
    return {"Warn"} if "Deny" in actions else set()


# --- What is demanded --------------------------------------------------------


def _demand(template: Template) -> _Demand:
    """Return what a template demands: what it says in CEL, or is known to say in Rego. Raises
    NotTranslated."""
    if template.targets != 1:
        raise translations.NotTranslated("a template that has not exactly one target")
    operations = _operations(template)
    if template.source is not None:
        return _Demand(_plain(template.source, operations), operations)
    known_template, looks_at_all = _known(template)
    source = Source(
        tuple(
            {"expression": expression, "messageExpression": message}
            for expression, message in known_template.checks
        ),
        tuple(
            {"name": name, "expression": expression}
            for name, expression in known_template.variables
        ),
    )
    if known_template.operations and not looks_at_all:
        operations = tuple(
            operation for operation in operations if operation in known_template.operations
        )
    return _Demand(source, operations, known_template)


def _operations(template: Template) -> tuple[str, ...]:
    if "*" in template.operations:
        return ("CREATE", "UPDATE", "DELETE", "CONNECT")
    return template.operations or OPERATIONS


_TABLES: Final = (
    rego_general.KNOWN,
    rego_pod_security.KNOWN,
    rego_azure.KNOWN,
)
_KNOWN: Final = {
    content: known_template
    for templates in _TABLES
    for known_template in itertools.chain.from_iterable(templates.values())
    for content in known_template.digests | known_template.digests_of_all_operations
}
"""The templates by the digests of their texts: what one is called says nothing."""
_LOOKS_UP: Final = "objects that are looked up (`data.inventory`)"
_SEES_ONE: Final = "Policies see the request, its namespace and params, and no other objects."


def _known(template: Template) -> tuple[KnownTemplate, bool]:
    """Return a template that is known by its content, and whether this text of it looks at all
    operations. Raises NotTranslated."""
    if template.rego:
        content = digest(template.rego)
        known_template = _KNOWN.get(content)
        if known_template is not None:
            return known_template, content in known_template.digests_of_all_operations
    if any("data.inventory" in text for text in template.rego):
        raise translations.NotTranslated(_LOOKS_UP, _SEES_ONE)
    raise translations.NotTranslated(
        "Rego that is not known",
        "Templates of gatekeeper-library are known, and those with K8sNativeValidation are "
        "translated: see whether a newer version of this one has it.",
    )


def _check_parameters(demand: _Demand, constraint: Constraint) -> None:
    """Raise NotTranslated where parameters switch on what cannot be translated, or leave nothing
    to do."""
    if demand.known_template is None:
        return
    if constraint.parameters.get(demand.known_template.looks_up_with):
        raise translations.NotTranslated(_LOOKS_UP, _SEES_ONE)
    for name in demand.known_template.needs:
        if name not in constraint.parameters:
            raise translations.NotTranslated(
                f"a constraint that refuses nothing: it has no `{name}`"
            )


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
        return tuple(
            {**item, **{f: text(item[f]) for f in fields if item.get(f)}} for item in items
        )

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
        *({"name": name, "expression": expression} for name, expression in match.conditions),
        *demand.source.match_conditions,
    ]
    if conditions:
        spec["matchConditions"] = conditions
    if demand.source.variables:
        spec["variables"] = list(demand.source.variables)
    spec["validations"] = list(demand.source.validations)
    return translations.policy_document([template.name, *suffix], template.annotations, spec)


# --- Parameters --------------------------------------------------------------


def _definition(template: Template, group: str) -> JsonObject:
    """Return the definition of the kind that parameters are of."""
    kind, plural = template.kind, template.kind.lower()
    names = {"kind": kind, "listKind": f"{kind}List", "plural": plural, "singular": plural}
    schema = _structural(template.parameters)
    if template.takes_all:
        schema = {**schema, "x-kubernetes-preserve-unknown-fields": True}
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
    result: JsonDict = dict(schema)
    if "type" not in result and not result.get("x-kubernetes-int-or-string"):
        if "properties" in result or "additionalProperties" in result:
            result["type"] = "object"
        elif "items" in result:
            result["type"] = "array"
        else:
            result["x-kubernetes-preserve-unknown-fields"] = True
    for name in ("items", "additionalProperties"):
        if isinstance(result.get(name), Mapping):
            result[name] = _structural(result[name])
    if "properties" in result:
        result["properties"] = {
            name: _structural(member) for name, member in result["properties"].items()
        }
    if result.get("type") == "object" and not {"properties", "additionalProperties"} & set(result):
        result["x-kubernetes-preserve-unknown-fields"] = True
    return result


# --- Documents ---------------------------------------------------------------

# Which documents are Gatekeeper's, and what becomes of those that belong together.

_CONFIG_SHAPE: Final[Shape] = {
    "metadata": Needed({"name": Needed(str)}),
    "spec": {"match": [{"excludedNamespaces": [str], "processes": [str]}]},
}
_NAMED: Final[Shape] = {"metadata": Needed({"name": Needed(str)})}

_NO_EQUAL: Final = {
    "expansion.gatekeeper.sh": (
        "expand",
        "it expects Pods of their controllers",
        "Write a policy for the controllers' kinds.",
    ),
    "externaldata.gatekeeper.sh": (
        "provide",
        "it asks a service",
        "Policies see the request, its namespace and params: keep it in Gatekeeper.",
    ),
    "syncset.gatekeeper.sh": (
        "sync",
        "it copies objects for templates that look them up",
        "Policies look nothing up: it goes when the last of those templates goes.",
    ),
}


def _group(document: object) -> str:
    if not isinstance(document, Mapping):
        return ""
    return str(document.get("apiVersion", "")).partition("/")[0]


def gatekeeper_shape(document: object) -> Shape | None:
    """Return the shape that a document of Gatekeeper must have; None of what is none."""
    if is_template(document):
        return TEMPLATE_SHAPE
    if is_constraint(document):
        return CONSTRAINT_SHAPE
    if is_mutator(document):
        return MUTATOR_SHAPE
    if _group(document) == "config.gatekeeper.sh":
        return _CONFIG_SHAPE
    return _NAMED if _group(document) in _NO_EQUAL else None


def exempt_namespaces(documents: Sequence[JsonObject], process: str = "webhook") -> list[str]:
    """Return the namespaces that configurations exempt from a process: from constraints, unless
    another one is named (`mutation-webhook`)."""
    return [
        name
        for document in documents
        if _group(document) == "config.gatekeeper.sh"
        for entry in (document.get("spec") or {}).get("match") or ()
        if {"*", process} & set(entry.get("processes") or ())
        for name in entry.get("excludedNamespaces") or ()
    ]


def translate_constraints(
    template: JsonObject,
    constraints: Sequence[JsonObject],
    catalog: Catalog,
    exempt: Sequence[str] = (),
) -> list[translations.Translation]:
    """Return what becomes of each constraint of a template; of the template if it has none. All
    documents have their shapes."""
    read = [_exempting(read_constraint(constraint), exempt) for constraint in constraints]
    return translate_template(read_template(template), read, catalog)


def _exempting(constraint: Constraint, exempt: Sequence[str]) -> Constraint:
    if not exempt:
        return constraint
    excluded = dict.fromkeys([*(constraint.match.get("excludedNamespaces") or ()), *exempt])
    match: JsonDict = {**constraint.match, "excludedNamespaces": list(excluded)}
    return replace(constraint, match=match)


def left_behind(document: JsonObject) -> Iterator[translations.Translation]:
    """Return why a document that stands alone is not translated: a constraint whose template is
    missing, or what has no equal."""
    name = document["metadata"]["name"]
    if is_constraint(document):
        origin = translations.Origin(document["kind"].lower(), name, (), "validate")
        yield translations.Translation(
            origin,
            reason="a constraint without its template",
            instead="Give the ConstraintTemplate along with it.",
        )
    elif _group(document) in _NO_EQUAL:
        does, reason, instead = _NO_EQUAL[_group(document)]
        yield translations.Translation(
            translations.Origin(name, "", (), does), reason=reason, instead=instead
        )
