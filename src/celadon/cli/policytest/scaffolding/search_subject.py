"""What a search is about: a policy, its rules, and what these read.

A rule is a validation, which a request is wanted for that it refuses, or a mutation, for which one
is wanted that it changes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from celadon.admission.explain import policy_expressions
from celadon.admission.registration import MatchResources, MutatingAdmissionPolicy, Policy
from celadon.cel import syntax
from celadon.cli.check.policy_set import PolicySet, PolicySets
from celadon.cli.policytest.scaffolding.read_places import ReadPlaces, read_places
from celadon.kube import GroupVersionKind
from celadon.kube.resources import Catalog, Resource
from celadon.records import dataclass

_RULES: Final = frozenset({"validations", "mutations"})
_MOST_KINDS: Final = 12
_FIRST_KINDS: Final = ("Pod", "Deployment", "ConfigMap", "Namespace", "Service")
"""Those that are tried where a policy matches anything."""


@dataclass(frozen=True, slots=True)
class Rule:
    """A validation or a mutation: its expression, the path of that, what it reads, and its tree
    (None for what cannot be compiled)."""

    text: str
    field: str
    read: ReadPlaces
    root: syntax.Expr | None


@dataclass(frozen=True, slots=True)
class Subject:
    """`read` is what all expressions read that decide, `param_kind` the kind of params and
    `param_name` and `param_labels` what bindings call them; labels are those that selectors ask
    for. `conditions` are the trees of match conditions, `variables` those of variables."""

    name: str
    mutates: bool
    rules: tuple[Rule, ...]
    read: ReadPlaces
    conditions: tuple[syntax.Expr, ...]
    variables: Mapping[str, syntax.Expr]
    resources: tuple[tuple[Resource, frozenset[str]], ...]
    object_labels: Mapping[str, str]
    namespace_labels: Mapping[str, str]
    param_kind: GroupVersionKind | None = None
    param_name: str = ""
    param_labels: Mapping[str, str] | None = None


def subject_of(sets: PolicySets, name: str, version: str, catalog: Catalog) -> Subject:
    """The policy of a name, and its bindings."""
    part = next(one for one in sets.all if name in one.policies)
    policy = part.policies[name].value
    rules, read, conditions, variables = _rules(policy, version)
    constraints = [policy.spec.match_constraints, *_match_resources(part, name)]
    kind = policy.spec.param_kind
    param_kind = None
    if kind is not None:
        group, _, served = kind.api_version.rpartition("/")
        param_kind = GroupVersionKind(group, served, kind.kind)
    refs = [
        one.value.spec.param_ref
        for one in part.bindings.values()
        if one.value.spec.policy_name == name and one.value.spec.param_ref is not None
    ]
    return Subject(
        name,
        isinstance(policy, MutatingAdmissionPolicy),
        rules,
        read,
        conditions,
        variables,
        tuple(sorted(_resources(policy.spec.match_constraints, catalog), key=_rank))[:_MOST_KINDS],
        _wanted_labels(constraints, "object_selector"),
        _wanted_labels(constraints, "namespace_selector"),
        param_kind,
        next((one.name for one in refs if one.name), "params"),
        next((dict(one.selector.get("matchLabels", {})) for one in refs if one.selector), {}),
    )


_Read = tuple[tuple[Rule, ...], ReadPlaces, tuple[syntax.Expr, ...], dict[str, syntax.Expr]]


def _rules(policy: Policy, version: str) -> _Read:
    """The rules, and what they and the match conditions read; the trees of conditions and
    variables."""
    deciding: list[syntax.Expr] = []
    conditions: list[syntax.Expr] = []
    variables: dict[str, syntax.Expr] = {}
    rules: list[tuple[str, str, list[syntax.Expr]]] = []
    for one in policy_expressions(policy, version):
        section, index = one.source.path.steps[1:3]
        root = None if one.program is None else one.program.checked.ast.root
        if one.source.path.steps[-1] == "messageExpression":
            continue
        if section in _RULES:
            rules.append((one.text, one.source.path.text, [] if root is None else [root]))
        if root is None:
            continue
        if section == "variables":
            assert isinstance(index, int), "variables are a list"
            variables[policy.spec.variables[index].name] = root
        elif section in _RULES or section == "matchConditions":
            deciding.append(root)
            conditions += [root] if section == "matchConditions" else []
    found = tuple(
        Rule(text, field, read_places(roots, variables), next(iter(roots), None))
        for text, field, roots in rules
    )
    return found, read_places(deciding, variables), tuple(conditions), variables


def _match_resources(part: PolicySet, name: str) -> Iterator[MatchResources | None]:
    for one in part.bindings.values():
        if one.value.spec.policy_name == name:
            yield one.value.spec.match_resources


def _rank(found: tuple[Resource, frozenset[str]]) -> int:
    """Kinds that many policies are about come first; the order is else that of the rules."""
    kind = found[0].gvk.kind
    return _FIRST_KINDS.index(kind) if kind in _FIRST_KINDS else len(_FIRST_KINDS)


def _resources(
    constraints: MatchResources | None, catalog: Catalog
) -> Iterator[tuple[Resource, frozenset[str]]]:
    for rule in () if constraints is None else constraints.resource_rules:
        for resource in catalog:
            own = resource.gvr
            if (
                {own.group, "*"} & set(rule.api_groups)
                and {own.version, "*"} & set(rule.api_versions)
                and {own.resource, "*", "*/*"} & set(rule.resources)
            ):
                yield resource, frozenset(rule.operations)


def _wanted_labels(constraints: Sequence[MatchResources | None], which: str) -> dict[str, str]:
    """The labels that selectors name."""
    found: dict[str, Any] = {}
    for one in constraints:
        if one is not None:
            selectors = {
                "namespace_selector": one.namespace_selector,
                "object_selector": one.object_selector,
            }
            found |= (selectors[which] or {}).get("matchLabels", {})
    return found
