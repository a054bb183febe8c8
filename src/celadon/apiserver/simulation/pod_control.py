"""The pods of an owner: which are its own, how they are, how it makes and deletes them.

As k8s.io/kubernetes `pkg/controller/{controller_utils,controller_ref_manager}.go` and
`pkg/api/v1/pod/util.go`.
"""

from __future__ import annotations

from collections.abc import Sequence

from celadon.apiserver.controllers.controller_loops import Reply, Stale
from celadon.apiserver.simulation.cluster_view import KindView
from celadon.apiserver.simulation.event_recorder import EventRecorder
from celadon.apiserver.simulation.planning.pod_facts import claims_of
from celadon.apiserver.simulation.requests import CREATED, NOT_FOUND, Requests
from celadon.kube import JsonObject, metadata
from celadon.kube.json_types import JsonDict
from celadon.kube.resources import Resource
from celadon.kube.workload_controllers import owner_reference


class Dependents:
    """Finds what an owner has in a view; adopts and releases what it must."""

    def __init__(self, view: KindView, requests: Requests) -> None:
        self._view = view
        self._requests = requests

    async def claimed(self, owner: JsonObject) -> list[JsonObject]:
        """What is the owner's now, in the order of names. Raises Stale."""
        claims = claims_of(owner, self._view.candidates(owner))
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
    causes: Sequence[JsonDict] = (reply.body.get("details") or {}).get("causes") or ()
    return any(one.get("reason") == "NamespaceTerminating" for one in causes)
