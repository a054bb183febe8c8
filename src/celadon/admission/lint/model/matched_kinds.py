"""Which kinds the rules of a policy are about, wildcards and subresources included."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from celadon.admission.registration.registration_types import MatchResources, Rule
from celadon.kube import GroupVersionKind
from celadon.kube.catalogue import Catalog, Resource

ALL: Final = "*"
OPERATIONS: Final = frozenset({"CREATE", "UPDATE", "DELETE", "CONNECT"})


def operations_of(rules: Iterable[Rule]) -> frozenset[str]:
    """The operations that any of the rules names."""
    named = {operation for rule in rules for operation in rule.operations}
    return OPERATIONS if ALL in named else OPERATIONS & named


def covers(names: Iterable[str], name: str) -> bool:
    return any(one in (ALL, name) for one in names)


def matched_resources(rule: Rule, catalog: Catalog) -> list[tuple[Resource, str]]:
    """The endpoints of a rule: resources and, where it asks for them, subresources."""
    found = []
    for resource in catalog:
        if not resource.served or not covers(rule.api_groups, resource.gvr.group):
            continue
        if not covers(rule.api_versions, resource.gvr.version):
            continue
        names = ["", *(one.name for one in resource.subresources)]
        found += [
            (resource, name)
            for name in names
            if any(_matches(entry, resource.gvr.resource, name) for entry in rule.resources)
        ]
    return found


def _matches(entry: str, resource: str, subresource: str) -> bool:
    wanted, slash, below = entry.partition("/")
    if wanted not in (ALL, resource):
        return False
    return below in (ALL, subresource) if slash else not subresource


def matched_kinds(match: MatchResources | None, catalog: Catalog) -> tuple[GroupVersionKind, ...]:
    """The kinds of all rules, each once, in the order of the catalog."""
    found: dict[GroupVersionKind, None] = {}
    for rule in () if match is None else match.resource_rules:
        for resource, subresource in matched_resources(rule, catalog):
            kind = resource.kind_of(subresource)
            if kind is not None:
                found[kind] = None
    return tuple(found)
