"""Predicates on pods that controllers share: ready, available, active, finished since when, owned
by whom.

As k8s.io/kubernetes `pkg/api/v1/pod/util.go`, `pkg/controller/controller_utils.go`, and for the
time of an end `pkg/controller/job/backoff_utils.go`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime, timedelta

from celadon.apiserver.controllers.controller_loops import find_condition, is_true
from celadon.kube import JsonObject, metadata
from celadon.kube.go import int_or
from celadon.kube.json_types import JsonDict
from celadon.kube.selectors import NOTHING, LabelSelector, SelectorError, label_selector
from celadon.kube.well_known_values import ENDED_PHASES
from celadon.records import dataclass


def spec_of(obj: JsonObject) -> JsonObject:
    """Return the spec; empty where there is none."""
    spec: JsonObject = obj.get("spec") or {}
    return spec


def status_of(obj: JsonObject) -> JsonObject:
    """Return the status; empty where there is none."""
    status: JsonObject = obj.get("status") or {}
    return status


def has_ended(pod: JsonObject) -> bool:
    """Tell whether the pod has succeeded or failed."""
    return phase(pod) in ENDED_PHASES


def is_going(obj: JsonObject) -> bool:
    """Tell whether the object is being deleted."""
    return bool(metadata.deletion_timestamp(obj))


def condition_of(obj: JsonObject, kind: str) -> JsonObject | None:
    """Return the condition of a type, or None."""
    conditions = status_of(obj).get("conditions") or ()
    return next((condition for condition in conditions if condition.get("type") == kind), None)


def is_controlled_by(obj: JsonObject, owner: JsonObject) -> bool:
    """Tell whether this very owner, by its uid, manages the object."""
    return controller_of(obj).get("uid") == metadata.uid(owner)


def controlled(objects: Iterable[JsonObject], owner: JsonObject) -> list[JsonObject]:
    """Return the objects that this owner manages."""
    return [obj for obj in objects if is_controlled_by(obj, owner)]


# As `GetScaledValueFromIntOrPercent` of k8s.io/apimachinery `pkg/util/intstr`, in whole numbers:
# floats round 7 percent of 100 up to 8.
def scaled(value: int | str | None, total: int, *, round_up: bool) -> int:
    """Return a number, or a share of the total in percent; 0 for more than Go reads, where upstream
    fails again and again."""
    if isinstance(value, str):
        share = int_or(value.removesuffix("%"), 0) * total
        return -(-share // 100) if round_up else share // 100
    return value or 0


# As `getFinishedTime` of `pkg/controller/job/backoff_utils.go`.
def finished_at(pod: JsonObject) -> datetime:
    """Return when the pod's last container ended; else when it was no longer ready; else when it
    was deleted; else, which happens in no real cluster, when it was created."""
    ends = [_end_of_container(status) for status in status_of(pod).get("containerStatuses") or ()]
    known_ends = [end for end in ends if end is not None]
    if known_ends and len(known_ends) == len(ends):
        return max(known_ends)
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


def controller_of(obj: JsonObject) -> JsonDict:
    """Return the reference to the owner that manages an object; empty if there is none."""
    for reference in metadata.metadata(obj).get("ownerReferences") or ():
        if reference.get("controller"):
            result: JsonDict = reference
            return result
    return {}


def node_of(pod: JsonObject) -> str:
    """Return the name of the node that it is assigned to; empty if there is none."""
    return str((pod.get("spec") or {}).get("nodeName") or "")


def selector_of(owner: JsonObject) -> LabelSelector:
    """Return the selector of a workload, which is labels alone in a ReplicationController; one that
    is empty or broken matches nothing."""
    selector = spec_of(owner).get("selector")
    if owner.get("kind") == "ReplicationController":
        selector = {"matchLabels": selector}
    try:
        parsed = label_selector(selector)
    except SelectorError:
        return NOTHING
    return NOTHING if parsed.is_everything else parsed


def phase(pod: JsonObject) -> str:
    """Return the phase of a pod; empty where its status says nothing."""
    return str((pod.get("status") or {}).get("phase") or "")


# As `IsPodActive` of `pkg/controller/controller_utils.go`; the next one is `IsPodTerminating`.
def is_active(pod: JsonObject) -> bool:
    """Tell whether the pod has neither ended nor is being deleted."""
    return not has_ended(pod) and not metadata.deletion_timestamp(pod)


def is_terminating(pod: JsonObject) -> bool:
    """Tell whether the pod is being deleted, but has not ended."""
    return not has_ended(pod) and bool(metadata.deletion_timestamp(pod))


def is_ready(pod: JsonObject) -> bool:
    """Tell whether the condition `Ready` of the pod is true."""
    return is_true((pod.get("status") or {}).get("conditions"), "Ready")


def seconds_to_availability(pod: JsonObject, least: float, now: datetime) -> float | None:
    """Return the seconds until the pod has been ready for long enough; 0 if it has, None if it is
    not ready."""
    ready = find_condition((pod.get("status") or {}).get("conditions"), "Ready")
    if ready is None or ready.get("status") != "True":
        return None
    since = ready.get("lastTransitionTime")
    if not least or not since:
        return 0.0 if not least else None
    return max(0.0, least - (now - read_time(since)).total_seconds())


def is_available(pod: JsonObject, least: float, now: datetime) -> bool:
    """Tell whether the pod has been ready for the least number of seconds."""
    return seconds_to_availability(pod, least, now) == 0.0


@dataclass(frozen=True, slots=True)
class Claims:
    """Says which objects are an owner's, which of the others it should adopt, and which of its own
    it should release: its selector matches them no longer."""

    owned: Sequence[JsonObject]
    adopted: Sequence[JsonObject] = ()
    released: Sequence[JsonObject] = ()


# As `ClaimObject` of `pkg/controller/controller_ref_manager.go`: no two owners can hold one object,
# since only what nobody manages is adopted.
def claims_of(owner: JsonObject, candidates: Sequence[JsonObject]) -> Claims:
    """Sort the candidates, which are in the owner's namespace, into those that it owns, adopts and
    releases. An owner that is being deleted adopts and releases nothing."""
    is_going, selector = bool(metadata.deletion_timestamp(owner)), selector_of(owner)
    owned, adopted, released = [], [], []
    for candidate in candidates:
        manager = controller_of(candidate)
        matches = selector.matches(metadata.metadata(candidate).get("labels") or {})
        if manager:
            if manager.get("uid") != metadata.uid(owner):
                continue
            if matches:
                owned.append(candidate)
            elif not is_going:
                released.append(candidate)
        elif matches and not is_going and not metadata.deletion_timestamp(candidate):
            adopted.append(candidate)
    return Claims(owned, adopted, released)


# --- Times -------------------------------------------------------------------


def time_text(time: datetime) -> str:
    """Return the time as objects have it, in whole seconds."""
    return time.strftime("%Y-%m-%dT%H:%M:%SZ")


def precise_time_text(time: datetime) -> str:
    """Return the time with microseconds, as Leases and some Events have it."""
    return time.strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def read_time(text: str) -> datetime:
    """Return the time that an object's text tells. Objects have been through validation, so the
    text is one."""
    return datetime.fromisoformat(text).astimezone(UTC)
