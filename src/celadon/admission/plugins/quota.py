"""Whether a request fits into the quotas of its namespace, and what they count afterwards.

As k8s.io/apiserver `pkg/admission/plugin/resourcequota/controller.go` (`CheckRequest`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import field
from typing import Any, Final

from celadon.admission.plugins.plugin_answers import forbidden
from celadon.admission.plugins.quota_amounts import (
    ZERO,
    Amounts,
    added,
    amounts_of,
    growth,
    masked,
    multiplied,
    same,
    shown,
    texts_of,
)
from celadon.admission.plugins.quota_usage import (
    DEVICE_CLAIM,
    POD,
    SERVICE,
    UNCOUNTED,
    VOLUME_CLAIM,
    counted_resource,
    matching,
    unsaid,
    usage_of,
)
from celadon.admission.request import Operation, Request
from celadon.kube import GroupResource, JsonObject, StatusError, metadata
from celadon.kube.quantity import Quantity, qos_class
from celadon.records import dataclass

# --- Quota scopes ------------------------------------------------------------
#
# Which objects a quota is about: scopes and scope selectors.
#
# As k8s.io/kubernetes `pkg/quota/v1/evaluator/core`. Only pods have scopes; claims of volumes
# have one.


def is_in_scope(quota: JsonObject, resource: GroupResource, obj: JsonObject) -> bool:
    """Whether an object is one that a quota counts, as far as its scopes say."""
    return all(_matches(selector, resource, obj) for selector in selectors_of(quota))


def matched_selectors(
    selectors: Iterable[JsonObject], resource: GroupResource, obj: JsonObject
) -> list[JsonObject]:
    """Those that an object meets."""
    return [one for one in selectors if _matches(one, resource, obj)]


def is_terminating(pod: JsonObject) -> bool:
    """Return whether a pod is meant to end."""
    seconds = (pod.get("spec") or {}).get("activeDeadlineSeconds")
    return seconds is not None and seconds >= 0


def selectors_of(quota: JsonObject) -> Iterator[JsonObject]:
    """What a quota says of what it counts, in the longer form."""
    spec = quota.get("spec") or {}
    for scope in spec.get("scopes") or ():
        yield {"scopeName": scope, "operator": "Exists"}
    yield from (spec.get("scopeSelector") or {}).get("matchExpressions") or ()


def _matches(selector: JsonObject, resource: GroupResource, obj: JsonObject) -> bool:
    spec = obj.get("spec") or {}
    scope = selector.get("scopeName")
    if resource == VOLUME_CLAIM and scope == "VolumeAttributesClass":
        return _selects(selector, _attribute_classes(obj))
    if resource != POD:
        return False
    match scope:
        case "Terminating":
            return is_terminating(obj)
        case "NotTerminating":
            return not is_terminating(obj)
        case "BestEffort":
            return qos_class(spec) == "BestEffort"
        case "NotBestEffort":
            return qos_class(spec) != "BestEffort"
        case "PriorityClass":
            name = spec.get("priorityClassName")
            return _selects(selector, {name} if name else set())
        case "CrossNamespacePodAffinity":
            return any(map(_crosses, _affinity_terms(spec)))
    return False


def _selects(selector: JsonObject, names: set[str]) -> bool:
    values = set(selector.get("values") or ())
    match selector.get("operator"):
        case "In":
            return bool(names & values)
        case "NotIn":
            return not names & values
        case "DoesNotExist":
            return not names
    return bool(names)


def _attribute_classes(claim: JsonObject) -> set[str]:
    """What a claim is, is to be, and becomes."""
    spec, state = claim.get("spec") or {}, claim.get("status") or {}
    found = {
        spec.get("volumeAttributesClassName"),
        state.get("currentVolumeAttributesClassName"),
        (state.get("modifyVolumeStatus") or {}).get("targetVolumeAttributesClassName"),
    }
    return {name for name in found if name}


def _affinity_terms(spec: JsonObject) -> Iterator[JsonObject]:
    affinity = spec.get("affinity") or {}
    for side in ("podAffinity", "podAntiAffinity"):
        terms = affinity.get(side) or {}
        yield from terms.get("requiredDuringSchedulingIgnoredDuringExecution") or ()
        for weighted in terms.get("preferredDuringSchedulingIgnoredDuringExecution") or ():
            yield weighted.get("podAffinityTerm") or {}


def _crosses(term: JsonObject) -> bool:
    return bool(term.get("namespaces")) or term.get("namespaceSelector") is not None


# --- Limited resources -------------------------------------------------------
#
# What nobody may use without a quota that allows for it, as an operator has said.
#
# As k8s.io/apiserver `pkg/admission/plugin/resourcequota/controller.go` (`limitedByDefault`,
# `getMatchedLimitedScopes`).


@dataclass(frozen=True, slots=True)
class LimitedResource:
    """`contains` are parts of the names of what is counted, `scopes` selectors as they stand in the
    scope selector of a quota."""

    resource: GroupResource
    contains: tuple[str, ...] = ()
    scopes: tuple[JsonObject, ...] = ()


def uncovered(
    limited: Iterable[LimitedResource],
    resource: GroupResource,
    obj: JsonObject,
    usage: Amounts,
    quotas: Sequence[tuple[JsonObject, Iterable[str]]],
) -> str:
    """What an object lacks, as the sentence says it; empty if nothing. `quotas` are those that the
    object falls under, each with the names of what it counts of it."""
    concerned = [one for one in limited if one.resource == resource]
    if not concerned:
        return ""
    parts = [part for one in concerned for part in one.contains]
    needed = {
        name
        for name, amount in usage.items()
        if amount.sign > 0 and any(part in name for part in parts)
    }
    lacking = needed.difference(*(names for _, names in quotas))
    if lacking:
        return f"insufficient quota to consume: {','.join(sorted(lacking))}"
    asked = [
        selector for one in concerned for selector in matched_selectors(one.scopes, resource, obj)
    ]
    covered = {
        selector.get("scopeName")
        for quota, _ in quotas
        for selector in matched_selectors(selectors_of(quota), resource, obj)
    }
    scopes = [_shown(one) for one in asked if one.get("scopeName") not in covered]
    return f"insufficient quota to match these scopes: [{' '.join(scopes)}]" if scopes else ""


def _shown(selector: JsonObject) -> str:
    """As Go prints the struct."""
    values = " ".join(selector.get("values") or ())
    return f"{{{selector.get('scopeName')} {selector.get('operator')} [{values}]}}"


_COUNTED_WHEN_UPDATED: Final = frozenset({SERVICE, VOLUME_CLAIM, DEVICE_CLAIM})
"""Resources whose objects can count for more after an update."""


@dataclass(frozen=True, slots=True)
class Charge:
    """Holds what a request takes from a quota, and what the quota counts afterwards."""

    taken: Mapping[str, str]
    used: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Fit:
    """The refusal if a request does not fit; else its charges by the names of the quotas."""

    refusal: StatusError | None = None
    charges: Mapping[str, Charge] = field(default_factory=dict)


FITS: Final = Fit()


def is_counted(request: Request) -> bool:
    """Return whether a request may change what a quota counts."""
    resource, new = request.resource.group_resource, request.object
    if not request.namespace or request.resource.resource == "namespaces" or new is None:
        return False
    if resource == POD and request.subresource == "resize":
        return request.operation is Operation.UPDATE
    if request.subresource or resource in UNCOUNTED:
        return False
    if request.operation is Operation.CREATE:
        return True
    if request.operation is not Operation.UPDATE:
        return False
    if resource == POD:
        return is_terminating(new) != is_terminating(request.old_object or {})
    return resource in _COUNTED_WHEN_UPDATED


def fit(
    quotas: Sequence[JsonObject],
    request: Request,
    now: str,
    limited: Sequence[LimitedResource] = (),
    times: int = 1,
) -> Fit:
    """`quotas` are those of the request's namespace, `now` is the time as objects have it; without
    a quota nobody may use what is `limited`. With `times`, so many new objects like this one are
    asked for at once."""
    resource, new = request.resource.group_resource, request.object
    if new is None:
        return FITS
    concerned: list[tuple[JsonObject, Sequence[str]]] = []
    for quota in quotas:
        names = matching(resource, _status(quota, "hard"))
        if not names or not is_in_scope(quota, resource, new):
            continue
        refusal = _incomplete(quota, names, resource, request)
        if refusal is not None:
            return Fit(refusal)
        concerned.append((quota, names))
    if not concerned and not limited:
        return FITS
    usage = usage_of(resource, new, now)
    why = uncovered(limited, resource, new, usage, concerned)
    if why:
        return Fit(forbidden(request, why))
    if times > 1:
        usage = multiplied(usage, times)
    return _charged([quota for quota, _ in concerned], request, usage, now)


def _status(quota: JsonObject, field: str) -> dict[str, str]:
    return (quota.get("status") or {}).get(field) or {}


def _incomplete(
    quota: JsonObject, names: Sequence[str], resource: GroupResource, request: Request
) -> StatusError | None:
    missing = unsaid(request.object or {}, names) if resource == POD else ""
    if missing:
        why = f"failed quota: {metadata.name(quota)}: must specify {missing}"
        return forbidden(request, why)
    used = _status(quota, "used")
    if any(name not in used for name in names):
        text = ",".join(names)
        why = f"status unknown for quota: {metadata.name(quota)}, resources: {text}"
        return forbidden(request, why)
    return None


def _charged(quotas: Sequence[JsonObject], request: Request, usage: Amounts, now: str) -> Fit:
    resource, old = request.resource.group_resource, request.old_object
    negative = sorted(name for name, amount in usage.items() if amount.sign < 0)
    if negative:
        why = f"quota usage is negative for resource(s): {','.join(negative)}"
        return Fit(forbidden(request, why))
    more = growth(usage, {} if old is None else usage_of(resource, old, now))
    found = {}
    for quota in quotas:
        was_counted = old is not None and is_in_scope(quota, resource, old)
        delta = more if was_counted or old is None else growth(usage, {})
        hard = amounts_of(_status(quota, "hard"))
        requested = masked(delta, hard)
        if not requested:
            continue
        used = amounts_of(_status(quota, "used"))
        after = added(used, requested)
        exceeded = [name for name in requested if after[name].compare(hard[name]) > 0]
        if exceeded:
            return Fit(_exceeded(quota, request, exceeded, (requested, used, hard)))
        found[metadata.name(quota)] = Charge(texts_of(requested), texts_of(after))
    return Fit(charges=found)


def given_back(used: Mapping[str, str], taken: Mapping[str, str]) -> dict[str, str]:
    """Return what a quota counts without a charge that came to nothing; never less than nothing."""
    present = amounts_of(used)
    rest = growth(present, amounts_of(taken))
    return texts_of({name: rest.get(name, ZERO) for name in present})


def _exceeded(
    quota: JsonObject,
    request: Request,
    names: Sequence[str],
    amounts: tuple[Amounts, Amounts, Amounts],
) -> StatusError:
    requested, used, hard = (shown(masked(one, names)) for one in amounts)
    return forbidden(
        request,
        f"exceeded quota: {metadata.name(quota)}, requested: {requested}, used: {used}, "
        f"limited: {hard}",
    )


# --- Quota recounts ----------------------------------------------------------
#
# What a quota should say, from all that is there: for a controller.
#
# As k8s.io/kubernetes `pkg/controller/resourcequota` (`syncResourceQuota`) and k8s.io/apiserver
# `pkg/quota/v1` (`CalculateUsage`).


MEASURED: Final = (POD, SERVICE, VOLUME_CLAIM, DEVICE_CLAIM)
"""Resources of whose objects more is counted than their number."""

Objects = Callable[[GroupResource], Sequence[Mapping[str, Any]] | None]
"""Those of a resource in the quota's namespace; None when there is no such resource."""


def recounted(quota: JsonObject, objects: Objects, now: str) -> JsonObject:
    """The status of a quota: the present one if there is nothing to change."""
    hard: dict[str, str] = (quota.get("spec") or {}).get("hard") or {}
    present = quota.get("status") or {}
    used = {**amounts_of(present.get("used")), **_used(quota, hard, objects, now)}
    used = masked(used, hard)
    if present.get("hard") == hard and same(used, amounts_of(present.get("used"))):
        return present
    return {"hard": dict(hard), "used": texts_of(used)}


def _used(
    quota: JsonObject, hard: Iterable[str], objects: Objects, now: str
) -> dict[str, Quantity]:
    sums: dict[str, Quantity] = {}
    for resource in _resources(hard):
        names = matching(resource, hard)
        found = objects(resource) if names else None
        if found is None:
            continue
        sums = added(sums, dict.fromkeys(names, ZERO))
        for obj in found:
            if is_in_scope(quota, resource, obj):
                sums = added(sums, masked(usage_of(resource, obj, now), names))
    return sums


def _resources(hard: Iterable[str]) -> list[GroupResource]:
    counted = (counted_resource(name) for name in hard)
    return list(dict.fromkeys((*MEASURED, *(one for one in counted if one is not None))))


def counts_differ(resource: GroupResource, new: JsonObject, old: JsonObject, now: str) -> bool:
    """Return whether an update has changed what an object counts for."""
    if resource not in MEASURED:
        return False
    return not same(usage_of(resource, new, now), usage_of(resource, old, now))
