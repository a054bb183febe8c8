"""What a quota should say, from all that is there: for a controller.

As k8s.io/kubernetes `pkg/controller/resourcequota` (`syncResourceQuota`) and k8s.io/apiserver
`pkg/quota/v1` (`CalculateUsage`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final

from celadon.admission.plugins.quotas.object_usage import (
    DEVICE_CLAIM,
    POD,
    SERVICE,
    VOLUME_CLAIM,
    counted_resource,
    matching,
    usage_of,
)
from celadon.admission.plugins.quotas.quota_amounts import (
    ZERO,
    added,
    amounts_of,
    masked,
    same,
    texts_of,
)
from celadon.admission.plugins.quotas.quota_scopes import is_in_scope
from celadon.kube import GroupResource, JsonObject
from celadon.kube.quantities import Quantity

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
    """Whether an update has changed what an object counts for."""
    if resource not in MEASURED:
        return False
    return not same(usage_of(resource, new, now), usage_of(resource, old, now))
