"""What controllers ask of pods: ready, available, active, ended since when; and whose they are.

As k8s.io/kubernetes `pkg/api/v1/pod/util.go`, `pkg/controller/controller_utils.go`, and for the
time of an end `pkg/controller/job/backoff_utils.go`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta
from typing import Any

from celadon.apiserver.simulation.cluster_view import controller_of
from celadon.apiserver.simulation.pod_control import ENDED, phase
from celadon.apiserver.simulation.surroundings import read_time
from celadon.kube import JsonObject, metadata


def spec_of(obj: JsonObject) -> Mapping[str, Any]:
    """Empty where there is none."""
    found: Mapping[str, Any] = obj.get("spec") or {}
    return found


def status_of(obj: JsonObject) -> Mapping[str, Any]:
    """Empty where there is none."""
    found: Mapping[str, Any] = obj.get("status") or {}
    return found


def has_ended(pod: JsonObject) -> bool:
    """Succeeded or failed."""
    return phase(pod) in ENDED


def is_going(obj: JsonObject) -> bool:
    """Whether it is being deleted."""
    return bool(metadata.deletion_timestamp(obj))


def condition_of(obj: JsonObject, kind: str) -> JsonObject | None:
    """The condition of a type, if there is one."""
    found = status_of(obj).get("conditions") or ()
    return next((one for one in found if one.get("type") == kind), None)


def is_controlled_by(obj: JsonObject, owner: JsonObject) -> bool:
    """Whether this very owner manages it."""
    return controller_of(obj).get("uid") == metadata.uid(owner)


def controlled(objects: Iterable[JsonObject], owner: JsonObject) -> list[JsonObject]:
    """Those that this owner manages."""
    return [one for one in objects if is_controlled_by(one, owner)]


def scaled(value: int | str | None, total: int, *, round_up: bool) -> int:
    """A number, or a share of the total in percent."""
    if isinstance(value, str):
        share = int(value.removesuffix("%")) * total
        return -(-share // 100) if round_up else share // 100
    return value or 0


def finished_at(pod: JsonObject) -> datetime:
    """When its last container ended; else when it was no longer ready; else when it was deleted;
    else, which happens in no real cluster, when it was created."""
    ends = [_end_of_container(one) for one in status_of(pod).get("containerStatuses") or ()]
    known = [one for one in ends if one is not None]
    if known and len(known) == len(ends):
        return max(known)
    ready = condition_of(pod, "Ready") or {}
    since = _moment(ready.get("lastTransitionTime")) if ready.get("status") == "False" else None
    if since is not None:
        return since
    deleted = _moment(metadata.deletion_timestamp(pod))
    if deleted is not None:
        grace = metadata.metadata(pod).get("deletionGracePeriodSeconds") or 0
        return deleted - timedelta(seconds=grace)
    return read_time(metadata.creation_timestamp(pod))


def _end_of_container(state: JsonObject) -> datetime | None:
    return _moment(((state.get("state") or {}).get("terminated") or {}).get("finishedAt"))


def _moment(text: str | None) -> datetime | None:
    return read_time(text) if text else None
