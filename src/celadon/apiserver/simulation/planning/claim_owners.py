"""Whose the claims of a StatefulSet's pods are: it follows from its retention policy.

As k8s.io/kubernetes `pkg/controller/statefulset/stateful_set_utils.go`
(`persistentVolumeClaimRetentionPolicy`).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from celadon.apiserver.simulation.planning.pod_facts import spec_of
from celadon.kube import JsonObject, metadata
from celadon.kube.json_types import JsonDict
from celadon.kube.workload_controllers import owner_reference

_DELETE: Final = "Delete"


def _policy(stateful_set: JsonObject) -> tuple[bool, bool]:
    """Whether claims go with the set, and with a pod that is scaled down."""
    found = spec_of(stateful_set).get("persistentVolumeClaimRetentionPolicy") or {}
    return found.get("whenDeleted") == _DELETE, found.get("whenScaled") == _DELETE


def _owners(claim: JsonObject) -> list[JsonDict]:
    return list(metadata.metadata(claim).get("ownerReferences") or ())


def _names(reference: JsonObject, owner: JsonObject) -> bool:
    """Whether it is about an owner of this name, though perhaps another one than this."""
    fields = ("apiVersion", "kind")
    return reference.get("name") == metadata.name(owner) and all(
        reference.get(field) == owner.get(field) for field in fields
    )


def _is_stale_about(claim: JsonObject, owner: JsonObject) -> bool:
    found = next((one for one in _owners(claim) if _names(one, owner)), None)
    return found is not None and found.get("uid") != metadata.uid(owner)


def is_stale(stateful_set: JsonObject, pod: JsonObject, claims: Iterable[JsonObject]) -> bool:
    """Whether a claim still belongs to the pod's predecessor, so that it will go with it."""
    _, when_scaled = _policy(stateful_set)
    return when_scaled and any(_is_stale_about(one, pod) for one in claims)


def wanted_owners(
    claim: JsonObject, stateful_set: JsonObject, pod: JsonObject, *, is_scaled_down: bool
) -> list[JsonDict] | None:
    """The owners that a claim should have; None if it is to stay as it is."""
    owners = (
        {"apiVersion": "apps/v1", "kind": "StatefulSet", **stateful_set},
        {"apiVersion": "v1", "kind": "Pod", **pod},
    )
    if any(_is_stale_about(claim, one) for one in owners):
        return None
    found = _owners(claim)
    others = [one for one in found if not any(_names(one, owner) for owner in owners)]
    when_deleted, when_scaled = _policy(stateful_set)
    if (when_deleted or when_scaled) and any(one.get("controller") for one in others):
        wanted = others
    elif when_scaled and is_scaled_down:
        wanted = [*others, owner_reference(owners[1])]
    elif when_deleted:
        wanted = [*others, owner_reference(owners[0])]
    else:
        wanted = others
    return None if found == wanted else wanted
