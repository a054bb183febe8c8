"""What a kubelet says of a pod.

As k8s.io/kubernetes `pkg/apis/core/validation`. Conditions are complained about below `metadata`,
by the name that their type has inside.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Final

from celadon.kube import fieldpath
from celadon.kube.fieldpath import FieldPath
from celadon.kube.json_types import JsonObject
from celadon.kube.validation import text_rules
from celadon.kube.validation.address_rules import older_address
from celadon.kube.validation.field_checks import (
    METADATA,
    Errors,
    dns_subdomain,
    items,
    qualified_name,
)
from celadon.kube.validation.pod_annotations import annotation_changes

SYSTEM_CONDITIONS: Final = frozenset({"PodScheduled", "Ready", "Initialized"})
_STATUS: Final = FieldPath("status")
ONE_PER_FAMILY: Final = "may specify no more than one IP for each IP family"


def pod_status(obj: JsonObject, old: JsonObject) -> Errors:
    """What is wrong with the status of a pod."""
    status, before = obj.get("status") or {}, old.get("status") or {}
    spec = old.get("spec") or {}
    yield from annotation_changes(obj, old)
    for at, condition in items(status, "conditions", METADATA):
        kind = condition.get("type") or ""
        if kind not in SYSTEM_CONDITIONS:
            yield from qualified_name(at.child("Type"), kind)
    nominated = status.get("nominatedNodeName")
    if nominated and nominated != before.get("nominatedNodeName"):
        yield from dns_subdomain(_STATUS.child("nominatedNodeName"), nominated)
    policy = spec.get("restartPolicy") or ""
    sidecars = {
        one.get("name")
        for one in spec.get("initContainers") or ()
        if one.get("restartPolicy") == "Always"
    }
    yield from _terminated(status, before, "containerStatuses", policy)
    yield from _terminated(status, before, "initContainerStatuses", policy, sidecars)
    yield from _terminated(status, before, "ephemeralContainerStatuses", "Never")
    yield from _claims(status, obj.get("spec") or {})
    for field in ("podIPs", "hostIPs"):
        yield from _addresses(status, before, field)


def _terminated(
    status: JsonObject,
    before: JsonObject,
    field: str,
    policy: str,
    restarted: Collection[str | None] = (),
) -> Errors:
    """What will not be started again stays ended."""
    if policy == "Always":
        return
    for index, old in enumerate(before.get(field) or ()):
        ended = (old.get("state") or {}).get("terminated")
        if ended is None or old.get("name") in restarted:
            continue
        if ended.get("exitCode") and policy == "OnFailure":
            continue
        for one in status.get(field) or ():
            state = one.get("state") or {}
            if one.get("name") == old.get("name") and state.get("terminated") is None:
                at = _STATUS.child(field).index(index).child("state")
                yield fieldpath.forbidden(at, "may not be transitioned to non-terminated state")


def _claims(status: JsonObject, spec: JsonObject) -> Errors:
    wanted = {one.get("name") for one in spec.get("resourceClaims") or ()}
    seen: set[str] = set()
    for at, one in items(status, "resourceClaimStatuses", _STATUS):
        name = one.get("name") or ""
        if name not in wanted:
            why = "must match the name of an entry in `spec.resourceClaims`"
            yield fieldpath.invalid(at.child("name"), name, why)
        if name in seen:
            yield fieldpath.duplicate(at.child("name"), name)
        seen.add(name)
        if one.get("resourceClaimName") is not None:
            yield from dns_subdomain(at.child("name"), one["resourceClaimName"])


def _addresses(status: JsonObject, before: JsonObject, field: str) -> Errors:
    known = [one.get("ip") or "" for one in before.get(field) or ()]
    given = [one.get("ip") or "" for one in status.get(field) or ()]
    at, first = _STATUS.child(field), status.get("hostIP") or ""
    if field == "hostIPs" and given and given[0] != first:
        yield fieldpath.invalid(at.index(0).child("ip"), given[0], "must be equal to `hostIP`")
    for index, address in enumerate(given):
        yield from older_address(at.index(index), address, known)
    if len(given) < 2:
        return
    found = [text_rules.address(one) for one in given]
    families = {one.is_v4 for one in found if one is not None}
    if None not in found and (len(families) < 2 or len(given) > 2):
        yield fieldpath.invalid(at, [{"IP": one} for one in given], ONE_PER_FAMILY)
    seen = set[str]()
    for index, address in enumerate(given):
        if address in seen:
            yield fieldpath.duplicate(at.index(index), {"IP": address})
        seen.add(address)
