"""What an API server has to send a webhook for the policies to see all that they match.

Policies with the same `failurePolicy` and `matchPolicy` share a webhook: its rules are theirs, its
selectors take whatever any of theirs takes. What only the policies can say (excluded resources,
names, match conditions, the rules of bindings but for their operations) is left to them: they get
more than they match, never less.

Two selectors for objects are not put together into one: each may be satisfied by another of the old
and the new object.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from celadon.admission import ValidatingAdmissionPolicy, ValidatingAdmissionPolicyBinding
from celadon.admission.registration import (
    MatchResources,
    MutatingAdmissionPolicy,
    MutatingAdmissionPolicyBinding,
    Rule,
)
from celadon.kube.well_known_values import AUTHENTICATION_GROUP, AUTHORIZATION_GROUP
from celadon.records import dataclass
from celadon.webhook.installation.rule_unions import ANY, OPERATIONS, union_of_rules
from celadon.webhook.installation.selector_unions import Selector, conjunction, union

NEVER: Final = "Never"
IF_NEEDED: Final = "IfNeeded"
REVIEW_GROUPS: Final = (AUTHENTICATION_GROUP, AUTHORIZATION_GROUP)
"""Groups of which no policy sees anything: reviews that API servers ask for all the time, and that
the webhook itself asks for."""


@dataclass(frozen=True, slots=True)
class Coverage:
    """The requests of one webhook. `reinvocation_policy` is for mutating ones."""

    failure_policy: str
    match_policy: str
    rules: tuple[Rule, ...]
    namespace_selector: Selector
    object_selector: Selector
    reinvocation_policy: str = NEVER

    @property
    def takes_reviews(self) -> bool:
        """Whether the rules cover groups of which no policy sees anything."""
        taken = {group for rule in self.rules for group in rule.api_groups}
        return bool(taken & {ANY, *REVIEW_GROUPS})


def coverages(
    policies: Iterable[ValidatingAdmissionPolicy | MutatingAdmissionPolicy],
    bindings: Iterable[ValidatingAdmissionPolicyBinding | MutatingAdmissionPolicyBinding],
) -> list[Coverage]:
    """For policies that have a binding, all of them validating or all of them mutating; those that
    fail closed come first."""
    bound: dict[str, list[MatchResources]] = {}
    for binding in bindings:
        narrowed = binding.spec.match_resources or MatchResources({}, {})
        bound.setdefault(binding.spec.policy_name, []).append(narrowed)
    groups: dict[tuple[str, str], list[_Part]] = {}
    for policy in sorted(policies, key=lambda one: one.name):
        match = policy.spec.match_constraints
        if match is None or policy.name not in bound:
            continue
        kind = (policy.spec.failure_policy or "Fail", match.match_policy or "Equivalent")
        part = _part(match, bound[policy.name], again=_wants_again(policy))
        groups.setdefault(kind, []).append(part)
    return [
        Coverage(
            failure_policy,
            match_policy,
            union_of_rules([rule for part in parts for rule in part.rules]),
            union([selector for part in parts for selector in part.namespaces]),
            union([selector for part in parts for selector in part.objects]),
            IF_NEEDED if any(part.again for part in parts) else NEVER,
        )
        for (failure_policy, match_policy), parts in sorted(groups.items())
        if any(part.rules for part in parts)
    ]


@dataclass(frozen=True, slots=True)
class _Part:
    """What one policy takes: of each list of selectors, any. `again` says that it wants to see what
    others have changed after it."""

    rules: tuple[Rule, ...]
    namespaces: tuple[Selector, ...]
    objects: tuple[Selector, ...]
    again: bool


def _wants_again(policy: ValidatingAdmissionPolicy | MutatingAdmissionPolicy) -> bool:
    if isinstance(policy, ValidatingAdmissionPolicy):
        return False
    return policy.spec.reinvocation_policy == IF_NEEDED


def _part(match: MatchResources, bindings: Sequence[MatchResources], *, again: bool) -> _Part:
    wanted = _operations(bindings)
    rules = (_narrowed(rule, wanted) for rule in match.resource_rules)
    objects = match.object_selector or {}
    return _Part(
        tuple(rule for rule in rules if rule.operations),
        tuple(
            conjunction([match.namespace_selector or {}, one.namespace_selector or {}])
            for one in bindings
        ),
        (objects,) if objects else tuple(one.object_selector or {} for one in bindings),
        again,
    )


def _operations(bindings: Sequence[MatchResources]) -> frozenset[str]:
    """Those that any binding takes."""
    if not all(one.resource_rules for one in bindings):
        return frozenset([ANY])
    return frozenset(
        operation
        for one in bindings
        for rule in one.resource_rules
        for operation in rule.operations
    )


def _narrowed(rule: Rule, wanted: frozenset[str]) -> Rule:
    if ANY in wanted:
        operations = rule.operations
    elif ANY in rule.operations:
        operations = tuple(one for one in OPERATIONS if one in wanted)
    else:
        operations = tuple(one for one in rule.operations if one in wanted)
    return replace(rule, operations=operations, resource_names=())


def rule_document(rule: Rule) -> Mapping[str, Any]:
    """A rule as a configuration has it."""
    return {
        "apiGroups": list(rule.api_groups),
        "apiVersions": list(rule.api_versions),
        "operations": list(rule.operations),
        "resources": list(rule.resources),
        "scope": rule.scope or ANY,
    }
