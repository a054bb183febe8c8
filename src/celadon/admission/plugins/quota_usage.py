"""What an object counts for: `usage_of`, and the names that its resource can count under.

As k8s.io/kubernetes `pkg/quota/v1/evaluator/core` and k8s.io/apiserver `pkg/quota/v1/generic`.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from datetime import datetime, timedelta
from typing import Final

from celadon.admission.plugins.namespace_plugins import class_of_claim
from celadon.admission.plugins.node_selection import is_extended_resource
from celadon.admission.plugins.quota_amounts import ONE, ZERO, Amounts, amounts_of
from celadon.kube import GroupResource, JsonObject, metadata
from celadon.kube.quantity import Quantity, from_int, has_own_needs, parse_amounts, pod_needs
from celadon.kube.well_known_values import HUGE_PAGES, NATIVE_DOMAIN

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
    """Whether a quota's name is about pods."""
    if name in _NAMES or name.startswith((HUGE_PAGES, REQUESTS + HUGE_PAGES)):
        return True
    if not name.startswith(REQUESTS):
        return False
    return ("/" in name and NATIVE_DOMAIN not in name) or name.startswith(POD_DEVICE_CLASS)


def usage_of_pod(pod: JsonObject, now: str) -> dict[str, Quantity]:
    """A pod that has ended is one object, and nothing else."""
    found = {COUNT_PODS: ONE}
    spec = pod.get("spec") or {}
    if not has_ended(pod, now):
        found.update(_computed(pod_needs(spec, "requests"), pod_needs(spec, "limits")))
    return found


def has_ended(pod: JsonObject, now: str) -> bool:
    """Whether it has run to its end, or should have been gone for as long as it was given."""
    if (pod.get("status") or {}).get("phase") in TERMINAL:
        return True
    deleted = metadata.deletion_timestamp(pod)
    grace = metadata.metadata(pod).get("deletionGracePeriodSeconds")
    if not deleted or grace is None:
        return False
    last = datetime.fromisoformat(deleted) + timedelta(seconds=grace)
    return datetime.fromisoformat(now) > last


def _computed(requests: Amounts, limits: Amounts) -> dict[str, Quantity]:
    found: dict[str, Quantity] = {"pods": ONE}
    for name in COMPUTED:
        if name in requests:
            found[name] = found[REQUESTS + name] = requests[name]
        if name in limits:
            found[LIMITS + name] = limits[name]
    for name, amount in requests.items():
        if name.startswith(HUGE_PAGES):
            found[name] = found[REQUESTS + name] = amount
        elif is_extended_resource(name):
            found[REQUESTS + name] = amount
    return found


def unsaid(pod: JsonObject, names: Collection[str]) -> str:
    """What containers do not say although a quota counts it: `cpu for: a,b; memory for: a`."""
    spec = pod.get("spec") or {}
    required = REQUIRED.intersection(names)
    if not required or has_own_needs(spec):
        return ""
    missing: dict[str, set[str]] = {}
    for field in ("containers", "initContainers"):
        for container in spec.get(field) or ():
            needs = container.get("resources") or {}
            said = _computed(amounts_of(needs.get("requests")), amounts_of(needs.get("limits")))
            for name in required - said.keys():
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
    """`count/deployments.apps`."""
    return f"{COUNT}{resource}"


def counted_resource(name: str) -> GroupResource | None:
    """Whose objects a name such as `count/deployments.apps` counts; None for other names."""
    if not name.startswith(COUNT):
        return GroupResource("", name) if name in ALIASED else None
    resource, _, group = name.removeprefix(COUNT).partition(".")
    return GroupResource(group, resource)


def usage_of(resource: GroupResource, obj: JsonObject, now: str) -> dict[str, Quantity]:
    """By name. `now` is the time as objects have it: a pod that should be gone counts less."""
    if resource == POD:
        return usage_of_pod(obj, now)
    special = _SPECIAL.get(resource)
    found = {count_name(resource): ONE}
    if special is not None:
        found.update(special(obj))
    elif not resource.group and resource.resource in ALIASED:
        found[resource.resource] = ONE
    return found


def matching(resource: GroupResource, names: Iterable[str]) -> list[str]:
    """Those of a quota's names that objects of a resource can count under, by name."""
    return sorted(name for name in names if _matches(resource, name))


def _matches(resource: GroupResource, name: str) -> bool:
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
    found = {CLAIMS: ONE}
    requests = ((claim.get("spec") or {}).get("resources") or {}).get("requests") or {}
    if "storage" in requests:
        found[STORAGE] = _storage(requests["storage"], claim)
    name = class_of_claim(dict(claim))
    if name:
        found.update({f"{name}{STORAGE_CLASS}{key}": found[key] for key in tuple(found)})
    return found


def _storage(requested: str, claim: JsonObject) -> Quantity:
    """In whole bytes; what was given already counts when it is more."""
    wanted = parse_amounts(requested).round_up(0)
    given = ((claim.get("status") or {}).get("allocatedResources") or {}).get("storage")
    allocated = None if given is None else parse_amounts(given).round_up(0)
    return wanted if allocated is None or allocated.compare(wanted) <= 0 else allocated


def _device_claim(claim: JsonObject) -> Amounts:
    devices: dict[str, int] = {}
    for request in ((claim.get("spec") or {}).get("devices") or {}).get("requests") or ():
        most: dict[str, int] = {}
        alternatives = request.get("firstAvailable") or [request.get("exactly") or request]
        for one in alternatives:
            name = one.get("deviceClassName", "") + DEVICE_CLASS
            most[name] = max(most.get(name, 0), _devices(one))
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
