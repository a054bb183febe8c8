"""Whether somebody who grants rights has them.

Rules are broken down to single permissions; each must lie within one rule of the owner. As
k8s.io/component-helpers `auth/rbac/validation/policy_comparator.go` and k8s.io/kubernetes
`pkg/registry/rbac/validation/policy_compact.go`.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import product

from celadon.kube.roles.policy_rules import ALL, PolicyRule, covers_url


def uncovered(owned: Sequence[PolicyRule], wanted: Iterable[PolicyRule]) -> list[PolicyRule]:
    """The single permissions in `wanted` that no owned rule includes, in their order."""
    return [
        single
        for rule in wanted
        for single in single_permissions(rule)
        if not any(_covers(owner, single) for owner in owned)
    ]


def single_permissions(rule: PolicyRule) -> Iterator[PolicyRule]:
    """One verb on one resource (with one name, if names are listed) or path each."""
    one_each: list[tuple[str, ...]] = [(name,) for name in rule.resource_names]
    names = one_each or [()]
    for group, resource, verb, name in product(rule.api_groups, rule.resources, rule.verbs, names):
        yield PolicyRule((verb,), (group,), (resource,), name)
    for url, verb in product(rule.non_resource_urls, rule.verbs):
        yield PolicyRule((verb,), non_resource_urls=(url,))


def _covers(owner: PolicyRule, single: PolicyRule) -> bool:
    return (
        _has(owner.verbs, single.verbs)
        and _has(owner.api_groups, single.api_groups)
        and all(_has_resource(owner.resources, one) for one in single.resources)
        and all(
            any(covers_url(own, url) for own in owner.non_resource_urls)
            for url in single.non_resource_urls
        )
        and _has_names(owner.resource_names, single.resource_names)
    )


def _has(owned: Collection[str], wanted: Iterable[str]) -> bool:
    return ALL in owned or all(one in owned for one in wanted)


def _has_resource(owned: Collection[str], wanted: str) -> bool:
    if ALL in owned or wanted in owned:
        return True
    _, slash, subresource = wanted.partition("/")
    return bool(slash) and f"{ALL}/{subresource}" in owned


def _has_names(owned: Collection[str], wanted: Collection[str]) -> bool:
    """Who may touch only some names does not hold the right to touch any."""
    if not wanted:
        return not owned
    return not owned or all(one in owned for one in wanted)


def compacted(rules: Iterable[PolicyRule]) -> list[PolicyRule]:
    """With the verbs of rules for the same single resource (and name) brought together."""
    others: list[PolicyRule] = []
    simple: dict[PolicyRule, PolicyRule] = {}
    for rule in rules:
        if not _is_simple(rule):
            others.append(rule)
            continue
        key = replace(rule, verbs=())
        known = simple.get(key)
        simple[key] = rule if known is None else replace(rule, verbs=known.verbs + rule.verbs)
    return [*others, *simple.values()]


def _is_simple(rule: PolicyRule) -> bool:
    return (
        len(rule.api_groups) == len(rule.resources) == 1
        and len(rule.resource_names) <= 1
        and not rule.non_resource_urls
    )
