"""The cells of devices and claims to them, and of the server's own storage."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from celadon.kube import GroupResource, JsonObject, metadata
from celadon.serve.tables.cell_texts import (
    NONE,
    UNSET,
    Cell,
    CellsOf,
    age,
    at,
    condition,
    first_three,
    is_true,
    items,
    number,
    since,
    text,
)

_MIGRATION_STATES: Final = ("Running", "Failed", "Succeeded")


def _claim(obj: JsonObject, now: float) -> list[Cell]:
    return [metadata.name(obj), _claim_state(obj), age(obj, now)]


def _claim_state(obj: JsonObject) -> str:
    deleted = bool(metadata.deletion_timestamp(obj))
    states = ["deleted"] if deleted else []
    if at(obj, "status", "allocation") is not None:
        states.append("allocated")
        if items(obj, "status", "reservedFor"):
            states.append("reserved")
    elif not deleted:
        states.append("pending")
    return ",".join(states)


def _slice(obj: JsonObject, now: float) -> list[Cell]:
    spec = at(obj, "spec")
    return [
        metadata.name(obj),
        text(spec, "nodeName"),
        text(spec, "driver"),
        text(spec, "pool", "name"),
        age(obj, now),
    ]


def _taint_rule(obj: JsonObject, now: float) -> list[Cell]:
    taint = at(obj, "spec", "taint")
    added = text(taint, "timeAdded")
    return [
        metadata.name(obj),
        text(taint, "key"),
        text(taint, "value"),
        text(taint, "effect"),
        since(added, now) if added else "",
        age(obj, now),
    ]


def _pool_status(obj: JsonObject, now: float) -> list[Cell]:
    pools, state = items(obj, "status", "pools"), _pool_state(obj)
    known = at(obj, "status") is not None and state != "Failed"
    completed = condition(obj, "Complete")
    return [
        metadata.name(obj),
        text(obj, "spec", "driver"),
        *(_sum(pools, member) if known else "-" for member in _DEVICE_COUNTS),
        str(sum(bool(text(one, "validationError")) for one in pools)),
        number(obj, "status", "poolCount"),
        state,
        NONE if completed is None else since(text(completed, "lastTransitionTime"), now),
    ]


_DEVICE_COUNTS: Final = (
    "totalDevices",
    "availableDevices",
    "allocatedDevices",
    "unavailableDevices",
)


def _sum(pools: Sequence[Any], member: str) -> str:
    return str(sum(number(one, member) for one in pools))


def _pool_state(obj: JsonObject) -> str:
    if is_true(obj, "Failed"):
        return "Failed"
    if not is_true(obj, "Complete"):
        return "Pending"
    shown, count = len(items(obj, "status", "pools")), number(obj, "status", "poolCount")
    return f"Complete ({shown}/{count} pools)" if shown < count else "Complete"


def _storage_version(obj: JsonObject, now: float) -> list[Cell]:
    common = at(obj, "status", "commonEncodingVersion")
    versions = [
        f"{text(one, 'apiServerID')}={text(one, 'encodingVersion')}"
        for one in items(obj, "status", "storageVersions")
    ]
    return [
        metadata.name(obj),
        UNSET if common is None else common,
        first_three(versions, UNSET),
        age(obj, now),
    ]


def _migration(obj: JsonObject, now: float) -> list[Cell]:
    resource = at(obj, "spec", "resource")
    states = [state for state in _MIGRATION_STATES if is_true(obj, state)]
    return [
        metadata.name(obj),
        str(GroupResource(text(resource, "group"), text(resource, "resource"))),
        states[-1] if states else "Unknown",
    ]


DEVICES: Final[Mapping[str, CellsOf]] = {
    "devicetaintrules.resource.k8s.io": _taint_rule,
    "resourceclaims.resource.k8s.io": _claim,
    "resourcepoolstatusrequests.resource.k8s.io": _pool_status,
    "resourceslices.resource.k8s.io": _slice,
    "storageversionmigrations.storagemigration.k8s.io": _migration,
    "storageversions.internal.apiserver.k8s.io": _storage_version,
}
"""By the resource's name with its group."""
