"""The quality of service of a pod: what its containers ask for, and may have at most.

As k8s.io/kubernetes `pkg/apis/core/helper/qos`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from celadon.kube.quantities.resource_amounts import is_positive, same_amount, total

QOS_RESOURCES: Final = ("cpu", "memory")
"""The resources that count."""


def _has_amount(resources: Mapping[str, Any], part: str) -> bool:
    amounts = resources.get(part) or {}
    return any(name in amounts and is_positive(amounts[name]) for name in QOS_RESOURCES)


def _qos_amounts(resources: Mapping[str, Any], part: str) -> dict[str, str]:
    amounts = resources.get(part) or {}
    return {
        name: amounts[name]
        for name in QOS_RESOURCES
        if name in amounts and is_positive(amounts[name])
    }


def qos_class(spec: Mapping[str, Any]) -> str:
    """`BestEffort`, `Burstable` or `Guaranteed`; only positive cpu and memory count."""
    if spec.get("resources"):
        considered = [spec["resources"]]
    else:
        containers = [*(spec.get("containers") or ()), *(spec.get("initContainers") or ())]
        considered = [container.get("resources") or {} for container in containers]
    if not any(_has_amount(one, part) for one in considered for part in ("limits", "requests")):
        return "BestEffort"
    if any(len(_qos_amounts(one, "limits")) != len(QOS_RESOURCES) for one in considered):
        return "Burstable"
    limits = total(_qos_amounts(one, "limits") for one in considered)
    requests = total(_qos_amounts(one, "requests") for one in considered)
    equal = len(limits) == len(requests) and all(
        name in limits and same_amount(str(limits[name]), str(amount))
        for name, amount in requests.items()
    )
    return "Guaranteed" if equal else "Burstable"
