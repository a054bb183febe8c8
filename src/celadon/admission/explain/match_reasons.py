"""Why a policy or a binding matches a request, or does not: what `matching` says of each part."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from celadon.admission.expressions.activation import RequestContext
from celadon.admission.hits import Hit, MatchError
from celadon.admission.policies.matching import Miss, Target, hit_or_miss, plan, uncovered
from celadon.admission.policies.params import ParamError, looked_in, resolve
from celadon.admission.registration.registration_types import (
    EQUIVALENT,
    MatchResources,
    ParamKind,
    ParamRef,
    Rule,
)
from celadon.kube import GroupVersionResource
from celadon.kube.json_types import JsonObject
from celadon.kube.resources import Catalog
from celadon.kube.selectors import SelectorError, label_selector
from celadon.records import dataclass

RULES = "resourceRules"
"""What does not match if no rule covers the request; the other fields are those of `Miss`."""


@dataclass(frozen=True, slots=True)
class RuleReason:
    """A rule, and the first of its fields that does not cover the request (`resourceNames` too),
    empty if it does. `resource` is what it covers: that of the request, or an equivalent one."""

    index: int
    rule: Rule
    uncovered: str
    resource: GroupVersionResource


@dataclass(frozen=True, slots=True)
class SelectorReason:
    """A label selector and the labels it looks at: of the object and the old one, or of the
    namespace; none where it does not apply. `selects` is None if that cannot be said."""

    selector: JsonObject
    labels: Sequence[Mapping[str, str]]
    selects: bool | None


@dataclass(frozen=True, slots=True)
class MatchReason:
    """`hit` is what the request is matched as; without it, `missed` is the field that does not
    match, or `error` says why that cannot be said. A match of everything has no parts."""

    hit: Hit | None
    missed: str = ""
    error: str = ""
    rules: tuple[RuleReason, ...] = ()
    excludes: tuple[RuleReason, ...] = ()
    namespace_selector: SelectorReason | None = None
    object_selector: SelectorReason | None = None


def match_reason(
    match: MatchResources | None, target: Target, context: RequestContext
) -> MatchReason:
    """What match constraints or match resources say of the request."""
    found, missed, error = _outcome(match, target, context)
    if match is None:
        return MatchReason(found)
    return MatchReason(
        found,
        missed,
        error,
        tuple(_rules(match.resource_rules, match, target, context)),
        tuple(_rules(match.exclude_resource_rules, match, target, context)),
        _selector(match.namespace_selector, _namespace_labels(context)),
        _selector(match.object_selector, context.object_labels()),
    )


def _outcome(
    match: MatchResources | None, target: Target, context: RequestContext
) -> tuple[Hit | None, str, str]:
    planned = plan(match, target, context.world.catalog)
    if planned is None:
        assert match is not None, "nothing to match matches everything"
        rules = _rules(match.resource_rules, match, target, context)
        covered = not match.resource_rules or any(not one.uncovered for one in rules)
        return None, Miss.EXCLUDED.value if covered else RULES, ""
    try:
        found = hit_or_miss(planned, context)
    except MatchError as error:
        return None, "", str(error)
    return (None, found.value, "") if isinstance(found, Miss) else (found, "", "")


def _rules(
    rules: Sequence[Rule], match: MatchResources, target: Target, context: RequestContext
) -> Iterator[RuleReason]:
    equivalents: Sequence[GroupVersionResource] = ()
    if match.match_policy == EQUIVALENT:
        known = context.world.catalog.equivalents(target.resource, target.subresource)
        equivalents = [resource for resource, _ in known]
    for index, rule in enumerate(rules):
        reason = uncovered(rule, target, target.resource)
        resource = target.resource
        for other in equivalents if reason else ():
            if not uncovered(rule, target, other):
                reason, resource = "", other
                break
        if not reason and rule.resource_names and context.name not in rule.resource_names:
            reason = Miss.NAMES.value
        yield RuleReason(index, rule, reason, resource)


def _namespace_labels(context: RequestContext) -> Sequence[Mapping[str, str]] | None:
    """None if they cannot be had."""
    try:
        found = context.namespace_labels()
    except MatchError:
        return None
    return () if found is None else (found,)


def _selector(
    selector: JsonObject | None, labels: Sequence[Mapping[str, str]] | None
) -> SelectorReason | None:
    """None for one that selects everything."""
    if not selector:
        return None
    try:
        compiled = label_selector(selector)
    except SelectorError:
        return SelectorReason(selector, labels or (), None)
    if labels is None:
        return SelectorReason(selector, (), None)
    return SelectorReason(selector, labels, any(map(compiled.matches, labels)))


# --- Param lookups -----------------------------------------------------------
#
# Where the params of a binding were looked for, and which were found.


@dataclass(frozen=True, slots=True)
class ParamLookup:
    """Params of a kind: in `namespace` (empty for kinds that are in none) by name, or by labels.
    `resource` is None for a kind that is not known; `found` are names, `error` says why nothing
    could be looked for, `action` is `parameterNotFoundAction`."""

    kind: ParamKind
    resource: GroupVersionResource | None
    namespace: str
    name: str
    selector: JsonObject | None
    action: str
    found: tuple[str, ...]
    error: str = ""


def param_lookup(
    kind: ParamKind | None,
    ref: ParamRef | None,
    namespace: str,
    catalog: Catalog,
    found: tuple[str, ...],
) -> ParamLookup | None:
    """For a request in `namespace`, with what was found; None where the policy or the binding has
    no params."""
    if kind is None or ref is None:
        return None
    resource, where, wrong = None, "", ""
    try:
        source = resolve(kind, catalog)
        if source is not None:
            resource = source.resource
            where = looked_in(source, ref, namespace)
    except ParamError as error:
        wrong = str(error)
    return ParamLookup(
        kind,
        resource,
        where,
        ref.name,
        ref.selector,
        ref.parameter_not_found_action or "",
        found,
        wrong,
    )
