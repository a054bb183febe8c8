"""ResourceQuota: decides whether a request fits into the quotas of its namespace, and computes what
they count afterwards.

As k8s.io/apiserver `pkg/admission/plugin/resourcequota/controller.go` (`CheckRequest`).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Final

from celadon.admission.plugins.deny_resize_and_owners import class_of_claim
from celadon.admission.plugins.plugin_interface import forbidden
from celadon.admission.plugins.pod_plugins import is_extended_resource
from celadon.admission.request import Operation, Request
from celadon.kube import GroupResource, JsonObject, StatusError, metadata
from celadon.kube.quantity import (
    Quantity,
    ResourceList,
    from_int,
    has_own_needs,
    parse_amounts,
    pod_needs,
    qos_class,
)
from celadon.kube.releases import is_since
from celadon.kube.well_known_values import HUGE_PAGES, NATIVE_DOMAIN
from celadon.records import dataclass, field

# --- Amounts -----------------------------------------------------------------
#
# Arithmetic on amounts by resource name, as k8s.io/apiserver `pkg/quota/v1`.

Amounts = Mapping[str, Quantity]

ONE: Final = from_int(1)
ZERO: Final = from_int(0)


def amounts_of(texts: ResourceList | None) -> dict[str, Quantity]:
    """Read the amounts of an object; there are none of what it does not say."""
    return {name: parse_amounts(amount) for name, amount in (texts or {}).items()}


def texts_of(amounts: Amounts) -> dict[str, str]:
    """Return the amounts as an object says them, by name."""
    return {name: str(amounts[name]) for name in sorted(amounts)}


def added(a: Amounts, b: Amounts) -> dict[str, Quantity]:
    """Return the sum for each name; a name that only one side has keeps its amount."""
    sums = dict(a)
    for name, amount in b.items():
        sums[name] = sums[name].add(amount) if name in sums else amount
    return sums


def multiplied(amounts: Amounts, times: int) -> dict[str, Quantity]:
    """Return so many times as much; `times` is 1 at least. It takes as many steps as that has
    binary digits."""
    sums: dict[str, Quantity] = {}
    power: Amounts = amounts
    while True:
        if times & 1:
            sums = added(sums, power)
        times >>= 1
        if not times:
            return sums
        power = added(power, power)


def growth(new: Amounts, old: Amounts) -> dict[str, Quantity]:
    """Return by how much `new` is more than `old`; what has become less is left out."""
    result = {}
    for name, amount in new.items():
        more = amount.sub(old[name]) if name in old else amount
        if more.sign > 0:
            result[name] = more
    return result


def masked(amounts: Amounts, names: Collection[str]) -> dict[str, Quantity]:
    """Return the amounts of these names only."""
    return {name: amount for name, amount in amounts.items() if name in names}


def same(a: Amounts, b: Amounts) -> bool:
    """Return whether both have the same names with the same amounts."""
    return a.keys() == b.keys() and all(a[name].compare(b[name]) == 0 for name in a)


def shown(amounts: Amounts) -> str:
    """Return amounts as text: `cpu=1,pods=2`, by name."""
    return ",".join(f"{name}={amounts[name]}" for name in sorted(amounts))


# --- Pod usage ---------------------------------------------------------------
#
# What a pod counts for, and what its containers must say if a quota counts it.
#
# As k8s.io/kubernetes `pkg/quota/v1/evaluator/core/pods.go`. The resources of a pod are those
# of its spec: what a kubelet says of resizes is not looked at.

COUNT_PODS: Final = "count/pods"
REQUESTS: Final = "requests."
LIMITS: Final = "limits."
POD_DEVICE_CLASS: Final = "requests.deviceclass.resource.kubernetes.io/"
COMPUTED: Final = ("cpu", "memory", "ephemeral-storage")
"""What is counted under three names: bare and with `requests.` what is requested, with `limits.`
what is allowed."""
REQUIRED: Final = frozenset(
    prefix + name for prefix in ("", REQUESTS, LIMITS) for name in ("cpu", "memory")
)
"""What every container must say when a quota counts it."""
TERMINAL: Final = frozenset({"Failed", "Succeeded"})

_NAMES: Final = frozenset({"pods"}) | {
    prefix + name for prefix in ("", REQUESTS, LIMITS) for name in COMPUTED
}


def counts_for_pods(name: str) -> bool:
    """Return whether a quota's name is about pods."""
    if name in _NAMES or name.startswith((HUGE_PAGES, REQUESTS + HUGE_PAGES)):
        return True
    if not name.startswith(REQUESTS):
        return False
    return ("/" in name and NATIVE_DOMAIN not in name) or name.startswith(POD_DEVICE_CLASS)


def usage_of_pod(pod: JsonObject, now: str) -> dict[str, Quantity]:
    """Return a pod that has ended is one object, and nothing else."""
    result = {COUNT_PODS: ONE}
    spec = pod.get("spec") or {}
    if not has_ended(pod, now):
        result.update(_computed(pod_needs(spec, "requests"), pod_needs(spec, "limits")))
    return result


def has_ended(pod: JsonObject, now: str) -> bool:
    """Return whether it has run to its end, or should have been gone for as long as it was
    given."""
    if (pod.get("status") or {}).get("phase") in TERMINAL:
        return True
    deleted = metadata.deletion_timestamp(pod)
    grace = metadata.metadata(pod).get("deletionGracePeriodSeconds")
    if not deleted or grace is None:
        return False
    last = datetime.fromisoformat(deleted) + timedelta(seconds=grace)
    return datetime.fromisoformat(now) > last


def _computed(requests: Amounts, limits: Amounts) -> dict[str, Quantity]:
    result: dict[str, Quantity] = {"pods": ONE}
    for name in COMPUTED:
        if name in requests:
            result[name] = result[REQUESTS + name] = requests[name]
        if name in limits:
            result[LIMITS + name] = limits[name]
    for name, amount in requests.items():
        if name.startswith(HUGE_PAGES):
            result[name] = result[REQUESTS + name] = amount
        elif is_extended_resource(name):
            result[REQUESTS + name] = amount
    return result


def unsaid(pod: JsonObject, names: Collection[str]) -> str:
    """Return what containers do not say although a quota counts it: `cpu for: a,b; memory for:
    a`."""
    spec = pod.get("spec") or {}
    required = REQUIRED.intersection(names)
    if not required or has_own_needs(spec):
        return ""
    missing: dict[str, set[str]] = {}
    for list_name in ("containers", "initContainers"):
        for container in spec.get(list_name) or ():
            resources = container.get("resources") or {}
            computed = _computed(
                amounts_of(resources.get("requests")), amounts_of(resources.get("limits"))
            )
            for name in required - computed.keys():
                missing.setdefault(name, set()).add(container.get("name", ""))
    return "; ".join(f"{name} for: {','.join(sorted(missing[name]))}" for name in sorted(missing))


COUNT: Final = "count/"
"""What the names begin with that count objects of any resource."""
STORAGE_CLASS: Final = ".storageclass.storage.k8s.io/"
CLAIMS: Final = "persistentvolumeclaims"
STORAGE: Final = "requests.storage"
DEVICE_CLASS: Final = ".deviceclass.resource.k8s.io/devices"
MOST_DEVICES: Final = 32
"""What a claim for all devices counts for."""

POD: Final = GroupResource("", "pods")
SERVICE: Final = GroupResource("", "services")
VOLUME_CLAIM: Final = GroupResource("", CLAIMS)
DEVICE_CLAIM: Final = GroupResource("resource.k8s.io", "resourceclaims")
ALIASED: Final = frozenset({"configmaps", "replicationcontrollers", "resourcequotas", "secrets"})
"""Resources of the group without a name that are counted under their bare name, too."""
UNCOUNTED: Final = frozenset(
    {
        GroupResource("", "bindings"),
        GroupResource("", "events"),
        GroupResource("authorization.k8s.io", "localsubjectaccessreviews"),
        GroupResource("events.k8s.io", "events"),
    }
)


def count_name(resource: GroupResource) -> str:
    """Return the name under which objects are counted: `count/deployments.apps`."""
    return f"{COUNT}{resource}"


def counted_resource(name: str) -> GroupResource | None:
    """Return whose objects a name such as `count/deployments.apps` counts; None for other names."""
    if not name.startswith(COUNT):
        return GroupResource("", name) if name in ALIASED else None
    resource, _, group = name.removeprefix(COUNT).partition(".")
    return GroupResource(group, resource)


def usage_of(resource: GroupResource, obj: JsonObject, now: str) -> dict[str, Quantity]:
    """Return by name what the object counts for. `now` is the time as objects have it: a pod that
    should be gone counts less."""
    if resource == POD:
        return usage_of_pod(obj, now)
    special = _SPECIAL.get(resource)
    result = {count_name(resource): ONE}
    if special is not None:
        result.update(special(obj))
    elif not resource.group and resource.resource in ALIASED:
        result[resource.resource] = ONE
    return result


def matching(resource: GroupResource, names: Iterable[str]) -> list[str]:
    """Return those of a quota's names that objects of a resource can count under, by name."""
    return sorted(name for name in names if _is_of(resource, name))


def _is_of(resource: GroupResource, name: str) -> bool:
    if name == count_name(resource):
        return True
    if resource == POD:
        return counts_for_pods(name)
    if resource == SERVICE:
        return name in _SERVICE_NAMES
    if resource == VOLUME_CLAIM:
        return name in _CLAIM_NAMES or name.endswith(_BY_CLASS)
    if resource == DEVICE_CLAIM:
        return name.endswith(DEVICE_CLASS)
    return not resource.group and resource.resource in ALIASED and name == resource.resource


_SERVICE_NAMES: Final = frozenset({"services", "services.nodeports", "services.loadbalancers"})
_CLAIM_NAMES: Final = frozenset({CLAIMS, STORAGE})
_BY_CLASS: Final = tuple(STORAGE_CLASS + name for name in (CLAIMS, STORAGE))


def _service(service: JsonObject) -> Amounts:
    spec = service.get("spec") or {}
    kind, ports = spec.get("type"), from_int(len(spec.get("ports") or ()))
    balanced = kind == "LoadBalancer"
    return {
        "services": ONE,
        "services.loadbalancers": ONE if balanced else ZERO,
        "services.nodeports": ports if balanced or kind == "NodePort" else ZERO,
    }


def _volume_claim(claim: JsonObject) -> Amounts:
    result = {CLAIMS: ONE}
    requests = ((claim.get("spec") or {}).get("resources") or {}).get("requests") or {}
    if "storage" in requests:
        result[STORAGE] = _storage(requests["storage"], claim)
    name = class_of_claim(dict(claim))
    if name:
        result.update({f"{name}{STORAGE_CLASS}{key}": result[key] for key in tuple(result)})
    return result


def _storage(requested: str, claim: JsonObject) -> Quantity:
    """Return the storage of a claim in whole bytes; what was given already counts when it is
    more."""
    quantity = parse_amounts(requested).round_up(0)
    storage = ((claim.get("status") or {}).get("allocatedResources") or {}).get("storage")
    allocated = None if storage is None else parse_amounts(storage).round_up(0)
    return quantity if allocated is None or allocated.compare(quantity) <= 0 else allocated


def _device_claim(claim: JsonObject) -> Amounts:
    devices: dict[str, int] = {}
    for request in ((claim.get("spec") or {}).get("devices") or {}).get("requests") or ():
        most: dict[str, int] = {}
        alternatives = request.get("firstAvailable") or [request.get("exactly") or request]
        for alternative in alternatives:
            name = alternative.get("deviceClassName", "") + DEVICE_CLASS
            most[name] = max(most.get(name, 0), _devices(alternative))
        for name, number in most.items():
            devices[name] = devices.get(name, 0) + number
    return {name: from_int(number) for name, number in devices.items()}


def _devices(request: JsonObject) -> int:
    match request.get("allocationMode"):
        case "ExactCount":
            return int(request.get("count", 0))
        case "All":
            return MOST_DEVICES
    return 0


_SPECIAL: Final[Mapping[GroupResource, Callable[[JsonObject], Amounts]]] = {
    DEVICE_CLAIM: _device_claim,
    SERVICE: _service,
    VOLUME_CLAIM: _volume_claim,
}


# --- Quota scopes ------------------------------------------------------------
#
# Which objects a quota is about: scopes and scope selectors.
#
# As k8s.io/kubernetes `pkg/quota/v1/evaluator/core`. Only pods have scopes; claims of volumes
# have one.


def is_in_scope(quota: JsonObject, resource: GroupResource, obj: JsonObject) -> bool:
    """Return whether an object is one that a quota counts, as far as its scopes say."""
    return all(_matches(selector, resource, obj) for selector in selectors_of(quota))


def matched_selectors(
    selectors: Iterable[JsonObject], resource: GroupResource, obj: JsonObject
) -> list[JsonObject]:
    """Return the scope selectors that an object meets."""
    return [selector for selector in selectors if _matches(selector, resource, obj)]


def is_terminating(pod: JsonObject) -> bool:
    """Return whether a pod is meant to end."""
    seconds = (pod.get("spec") or {}).get("activeDeadlineSeconds")
    return seconds is not None and seconds >= 0


def selectors_of(quota: JsonObject) -> Iterator[JsonObject]:
    """Yield what a quota says of what it counts, in the longer form."""
    spec = quota.get("spec") or {}
    for scope in spec.get("scopes") or ():
        yield {"scopeName": scope, "operator": "Exists"}
    yield from (spec.get("scopeSelector") or {}).get("matchExpressions") or ()


def _matches(selector: JsonObject, resource: GroupResource, obj: JsonObject) -> bool:
    spec = obj.get("spec") or {}
    scope = selector.get("scopeName")
    if resource == VOLUME_CLAIM and scope == "VolumeAttributesClass":
        return _selects(selector, attributes_classes(obj))
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


def attributes_classes(obj: JsonObject) -> set[str]:
    """Return the VolumeAttributesClasses that a claim has, asks for and is being given; of a
    volume, the one that it has."""
    spec, state = obj.get("spec") or {}, obj.get("status") or {}
    result = {
        spec.get("volumeAttributesClassName"),
        state.get("currentVolumeAttributesClassName"),
        (state.get("modifyVolumeStatus") or {}).get("targetVolumeAttributesClassName"),
    }
    return {name for name in result if name}


_CHANGING_SCOPES: Final[Mapping[GroupResource, Callable[[JsonObject], object]]] = {
    POD: is_terminating,
    VOLUME_CLAIM: attributes_classes,
}
"""What scopes ask of an object that an update can change."""


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
    """Names a resource that nobody may use without a quota. `contains` are parts of the names of
    what is counted, `scopes` selectors as they stand in the scope selector of a quota."""

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
    """Return what an object lacks, as the sentence says it; empty if nothing. `quotas` are those
    that the object falls under, each with the names of what it counts of it."""
    concerned = [limit for limit in limited if limit.resource == resource]
    if not concerned:
        return ""
    parts = [part for resource in concerned for part in resource.contains]
    needed = {
        name
        for name, amount in usage.items()
        if amount.sign > 0 and any(part in name for part in parts)
    }
    lacking = needed.difference(*(names for _, names in quotas))
    if lacking:
        return f"insufficient quota to consume: {','.join(sorted(lacking))}"
    matched = [
        selector
        for limit in concerned
        for selector in matched_selectors(limit.scopes, resource, obj)
    ]
    covered = {
        selector.get("scopeName")
        for quota, _ in quotas
        for selector in matched_selectors(selectors_of(quota), resource, obj)
    }
    scopes = [_shown(selector) for selector in matched if selector.get("scopeName") not in covered]
    return f"insufficient quota to match these scopes: [{' '.join(scopes)}]" if scopes else ""


def _shown(selector: JsonObject) -> str:
    """Write the selector as Go prints the struct."""
    values = " ".join(selector.get("values") or ())
    return f"{{{selector.get('scopeName')} {selector.get('operator')} [{values}]}}"


_COUNTED_WHEN_UPDATED: Final = frozenset({SERVICE, VOLUME_CLAIM, DEVICE_CLAIM})
"""Resources whose objects can count for more after an update."""


@dataclass(frozen=True, slots=True)
class Charge:
    """Holds what a request takes from a quota, and what the quota counts afterwards."""

    charged_amounts: Mapping[str, str]
    used: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Fit:
    """Holds the refusal if a request does not fit; else its charges by the names of the quotas."""

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
        is_other = is_terminating(new) != is_terminating(request.old_object or {})
        return is_other and is_since("1.33")
    return resource in _COUNTED_WHEN_UPDATED


def fit(
    quotas: Sequence[JsonObject],
    request: Request,
    now: str,
    limited: Sequence[LimitedResource] = (),
    times: int = 1,
) -> Fit:
    """Return whether a request fits into its quotas, and what it charges. `quotas` are those of the
    request's namespace, `now` is the time as objects have it; without a quota nobody may use what
    is `limited`. With `times`, so many new objects like this one are asked for at once."""
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
    reason = uncovered(limited, resource, new, usage, concerned)
    if reason:
        return Fit(forbidden(request, reason))
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
        reason = f"failed quota: {metadata.name(quota)}: must specify {missing}"
        return forbidden(request, reason)
    used = _status(quota, "used")
    if any(name not in used for name in names):
        text = ",".join(names)
        reason = f"status unknown for quota: {metadata.name(quota)}, resources: {text}"
        return forbidden(request, reason)
    return None


def _charged(quotas: Sequence[JsonObject], request: Request, usage: Amounts, now: str) -> Fit:
    resource, old = request.resource.group_resource, request.old_object
    negative = sorted(name for name, amount in usage.items() if amount.sign < 0)
    if negative:
        reason = f"quota usage is negative for resource(s): {','.join(negative)}"
        return Fit(forbidden(request, reason))
    more = growth(usage, {} if old is None else usage_of(resource, old, now))
    result = {}
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
        result[metadata.name(quota)] = Charge(texts_of(requested), texts_of(after))
    return Fit(charges=result)


def given_back(used: Mapping[str, str], obj: Mapping[str, str]) -> dict[str, str]:
    """Return what a quota counts without a charge that came to nothing; never less than nothing."""
    present = amounts_of(used)
    rest = growth(present, amounts_of(obj))
    return texts_of({name: rest.get(name, ZERO) for name in present})


def _exceeded(
    quota: JsonObject,
    request: Request,
    names: Sequence[str],
    amounts: tuple[Amounts, Amounts, Amounts],
) -> StatusError:
    requested, used, hard = (shown(masked(amount, names)) for amount in amounts)
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

Objects = Callable[[GroupResource], Sequence[JsonObject] | None]
"""Those of a resource in the quota's namespace; None when there is no such resource."""


def recounted(quota: JsonObject, objects: Objects, now: str) -> JsonObject:
    """Return the status of a quota: the present one if there is nothing to change."""
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
        listed = objects(resource) if names else None
        if listed is None:
            continue
        sums = added(sums, dict.fromkeys(names, ZERO))
        for obj in listed:
            if is_in_scope(quota, resource, obj):
                sums = added(sums, masked(usage_of(resource, obj, now), names))
    return sums


def _resources(hard: Iterable[str]) -> list[GroupResource]:
    counted = (counted_resource(name) for name in hard)
    return list(dict.fromkeys((*MEASURED, *(item for item in counted if item is not None))))


def counts_differ(resource: GroupResource, new: JsonObject, old: JsonObject, now: str) -> bool:
    """Return whether an update has changed what an object counts for, or which quotas count it."""
    if resource not in MEASURED:
        return False
    scoped = _CHANGING_SCOPES.get(resource)
    if scoped is not None and scoped(new) != scoped(old):
        return True
    return not same(usage_of(resource, new, now), usage_of(resource, old, now))
