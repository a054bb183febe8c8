"""The pods of an owner: which are its own, how they are, how it makes and deletes them.

As k8s.io/kubernetes `pkg/controller/{controller_utils,controller_ref_manager}.go` and
`pkg/api/v1/pod/util.go`.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any, Final

from celadon.apiserver.controllers.controller_loops import Reply, Stale, find_condition, is_true
from celadon.apiserver.simulation.cluster_view import KindView, controller_of
from celadon.apiserver.simulation.surroundings import (
    CREATED,
    NOT_FOUND,
    EventRecorder,
    Requests,
    read_time,
)
from celadon.apiserver.simulation.workload_controller import is_selected
from celadon.kube import JsonObject, metadata
from celadon.kube.resources import Resource
from celadon.kube.workload_controllers import owner_reference
from celadon.records import dataclass

ENDED: Final = frozenset({"Succeeded", "Failed"})


def phase(pod: JsonObject) -> str:
    """Empty for a pod whose status says nothing."""
    return str((pod.get("status") or {}).get("phase") or "")


def is_active(pod: JsonObject) -> bool:
    """Neither ended nor being deleted."""
    return phase(pod) not in ENDED and not metadata.deletion_timestamp(pod)


def is_terminating(pod: JsonObject) -> bool:
    """Being deleted, but not ended."""
    return phase(pod) not in ENDED and bool(metadata.deletion_timestamp(pod))


def is_ready(pod: JsonObject) -> bool:
    """By its condition."""
    return is_true((pod.get("status") or {}).get("conditions"), "Ready")


def seconds_to_availability(pod: JsonObject, least: float, now: datetime) -> float | None:
    """Until it has been ready for the least number of seconds; 0 if it has, None if it is not
    ready."""
    ready = find_condition((pod.get("status") or {}).get("conditions"), "Ready")
    if ready is None or ready.get("status") != "True":
        return None
    since = ready.get("lastTransitionTime")
    if not least or not since:
        return 0.0 if not least else None
    return max(0.0, least - (now - read_time(since)).total_seconds())


def is_available(pod: JsonObject, least: float, now: datetime) -> bool:
    """Ready for the least number of seconds."""
    return seconds_to_availability(pod, least, now) == 0.0


@dataclass(frozen=True, slots=True)
class Claims:
    """Says which objects are an owner's, which of the others it should adopt, and which of its own
    it should release: its selector matches them no longer."""

    owned: Sequence[JsonObject]
    adopted: Sequence[JsonObject] = ()
    released: Sequence[JsonObject] = ()


def claims_of(owner: JsonObject, candidates: Sequence[JsonObject]) -> Claims:
    """Of the objects in its namespace. An owner that is being deleted adopts and releases
    nothing."""
    is_going = bool(metadata.deletion_timestamp(owner))
    owned, adopted, released = [], [], []
    for one in candidates:
        manager = controller_of(one)
        matches = is_selected(owner, metadata.labels(one))
        if manager:
            if manager.get("uid") != metadata.uid(owner):
                continue
            if matches:
                owned.append(one)
            elif not is_going:
                released.append(one)
        elif matches and not is_going and not metadata.deletion_timestamp(one):
            adopted.append(one)
    return Claims(owned, adopted, released)


class Dependents:
    """Finds what an owner has in a view; adopts and releases what it must."""

    def __init__(self, view: KindView, requests: Requests) -> None:
        self._view = view
        self._requests = requests

    async def claimed(self, owner: JsonObject) -> list[JsonObject]:
        """What is the owner's now, in the order of names. Raises Stale."""
        found = self._view.in_namespace(metadata.namespace(owner))
        claims = claims_of(owner, found)
        for one in claims.released:
            others = [ref for ref in _references(one) if ref.get("uid") != metadata.uid(owner)]
            await self._refer(one, others)
        for one in claims.adopted:
            await self._refer(one, [*_references(one), owner_reference(owner)])
        if claims.adopted:
            return await self.claimed(owner)
        return list(claims.owned)

    async def _refer(self, obj: JsonObject, references: Sequence[JsonObject]) -> None:
        change = {"metadata": {"ownerReferences": list(references) or None}}
        reply = await self._requests.patch(self._view.resource, obj, change)
        if reply.failed:
            raise Stale


def _references(obj: JsonObject) -> list[JsonObject]:
    return list(metadata.metadata(obj).get("ownerReferences") or ())


class PodControl:
    """Makes and deletes pods, and tells of it on their owner."""

    def __init__(self, pods: Resource, requests: Requests, events: EventRecorder) -> None:
        self._pods = pods
        self._requests = requests
        self._events = events

    async def create(self, pod: JsonObject, owner: JsonObject) -> Reply:
        """Whatever the answer is. That a namespace is ending is not told."""
        reply = await self._requests.create(self._pods, pod)
        if reply.code == CREATED:
            made = metadata.name(reply.body)
            await self._events.record(owner, "Normal", "SuccessfulCreate", f"Created pod: {made}")
        elif not is_namespace_ending(reply):
            said = f"Error creating: {reply.message}"
            await self._events.record(owner, "Warning", "FailedCreate", said)
        return reply

    async def delete(self, pod: JsonObject, owner: JsonObject) -> Reply | None:
        """None when it is gone already."""
        name = metadata.name(pod)
        try:
            reply = await self._requests.delete(self._pods, pod)
        except Stale:
            return None
        if reply.failed:
            said = f"Error deleting: {reply.message}"
            await self._events.record(owner, "Warning", "FailedDelete", said)
        elif reply.code != NOT_FOUND:
            await self._events.record(owner, "Normal", "SuccessfulDelete", f"Deleted pod: {name}")
        return reply


def is_namespace_ending(reply: Reply) -> bool:
    """Whether something was refused because its namespace is being deleted."""
    causes: Sequence[dict[str, Any]] = (reply.body.get("details") or {}).get("causes") or ()
    return any(one.get("reason") == "NamespaceTerminating" for one in causes)
