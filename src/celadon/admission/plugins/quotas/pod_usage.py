"""What a pod counts for, and what its containers must say if a quota counts it.

As k8s.io/kubernetes `pkg/quota/v1/evaluator/core/pods.go`. The resources of a pod are those of its
spec: what a kubelet says of resizes is not looked at.
"""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime, timedelta
from typing import Final

from celadon.admission.plugins.pod_plugins.toleration_limits import is_extended_resource
from celadon.admission.plugins.quotas.quota_amounts import ONE, Amounts, amounts_of
from celadon.kube import JsonObject, metadata
from celadon.kube.quantities import Quantity, has_own_needs, pod_needs
from celadon.kube.well_known_values import HUGE_PAGES, NATIVE_DOMAIN

COUNT_PODS: Final = "count/pods"
REQUESTS: Final = "requests."
LIMITS: Final = "limits."
DEVICE_CLASS: Final = "requests.deviceclass.resource.kubernetes.io/"
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
    return ("/" in name and NATIVE_DOMAIN not in name) or name.startswith(DEVICE_CLASS)


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
