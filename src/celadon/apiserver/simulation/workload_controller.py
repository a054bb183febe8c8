"""The base of the controllers of workloads: it finds the workload that a change is about, and makes
and deletes its pods."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Sequence
from typing import ClassVar, Final, TypeVar

from celadon.apiserver.api_settings import SimulationSettings
from celadon.apiserver.controllers import controller_loops
from celadon.apiserver.controllers.server_controllers import ControllerSurroundings, built_in
from celadon.apiserver.loop_offloading import LARGE_BYTES
from celadon.apiserver.simulation import cluster_client
from celadon.apiserver.simulation.planning import pod_predicates as facts
from celadon.kube import GroupVersionResource, JsonObject, User, metadata
from celadon.kube.json_types import JsonDict
from celadon.kube.resources import Resource
from celadon.kube.workload_controllers import owner_reference
from celadon.records import dataclass

# --- Surroundings ------------------------------------------------------------
#
# What a simulated controller sees and may do: objects, the time, requests, events.

T = TypeVar("T")

CONTROLLER_MANAGER: Final = "kube-controller-manager"


class Surroundings:
    """Holds what all simulated controllers of a server share."""

    def __init__(self, surroundings: ControllerSurroundings, settings: SimulationSettings) -> None:
        self.settings = settings
        self.version = surroundings.version
        self.now = surroundings.now
        self._surroundings = surroundings
        self._perform = surroundings.perform
        self._cluster = cluster_client.ClusterView(surroundings.objects)
        self._numbers = itertools.count()
        """By which events differ that are told at one time."""

    def view(self, gvr: GroupVersionResource) -> cluster_client.KindView:
        """Return the objects of a kind."""
        return self._cluster.of(gvr)

    def stored(self, gvr: GroupVersionResource, namespace: str, name: str) -> JsonObject | None:
        """Return an object of a kind that nobody keeps in view; None if it is not there."""
        entry = self._surroundings.objects.get(built_in(gvr), namespace, name)
        return None if entry is None else entry.object

    def timestamp(self) -> str:
        """Return the time as objects have it."""
        return facts.time_text(self.now())

    def requests(self, account: str) -> cluster_client.Requests:
        """Return requests as a service account in `kube-system`, from the controller manager."""
        return cluster_client.Requests(
            controller_loops.ServerRequests(self._perform, account, CONTROLLER_MANAGER)
        )

    def requests_of(self, user: User, agent: str) -> cluster_client.Requests:
        """Return requests as another user, from another program."""
        return cluster_client.Requests(
            controller_loops.ServerRequests(self._perform, agent, agent, user)
        )

    def aside(self, account: str) -> controller_loops.Offload:
        """Return what does long work of a controller, which has as much time as a user."""
        return self._surroundings.aside(account)

    def recorder(
        self, requests: cluster_client.Requests, component: str, host: str = ""
    ) -> cluster_client.EventRecorder:
        """Return the recorder of events that come from a component, in its own name."""
        return cluster_client.EventRecorder(requests, self.now, self._numbers, component, host)


# --- Workloads ---------------------------------------------------------------


def item_of(obj: JsonObject) -> str:
    """Return the name that queues have for an object: `namespace/name`."""
    return f"{metadata.namespace(obj)}/{metadata.name(obj)}"


class WorkloadController:
    """Looks after the objects of `workloads`. Items are their `namespace/name`. A change of one of
    `dependents` concerns the workload that manages it, or managed it before; one that nobody
    manages concerns all whose selectors match."""

    urgent = False
    account: ClassVar[str]
    workloads: ClassVar[GroupVersionResource]
    dependents: ClassVar[tuple[GroupVersionResource, ...]] = ()

    def __init__(self, around: Surroundings) -> None:
        self.around = around
        self.view = around.view(self.workloads)
        self.requests = around.requests(self.account)
        self.events = around.recorder(self.requests, self.account)
        self.aside = around.aside(self.account)

    async def worked_out(
        self, function: Callable[..., T], workload: JsonObject, *args: object
    ) -> T:
        """Return what a function makes of a workload: in a worker if that is large, for the hash of
        a template takes a step for each byte."""
        if self.view.size(workload) <= LARGE_BYTES:
            return function(workload, *args)
        return await self.aside(function, workload, *args)

    @property
    def prefixes(self) -> Sequence[str]:
        """Return the prefixes of the workloads and of what depends on them."""
        return (
            self.view.prefix,
            *(self.around.view(dependent).prefix for dependent in self.dependents),
        )

    def concerned(self, change: controller_loops.Change) -> Iterable[str]:
        """Return the items to look at after a change."""
        changed = change.new or change.old
        if changed is None:
            return ()
        if change.key.startswith(self.view.prefix):
            return (item_of(changed),)
        return self._owners(change.old, change.new)

    def _owners(self, old: JsonObject | None, new: JsonObject | None) -> Iterable[str]:
        for obj in (old, new):
            owner = {} if obj is None else facts.controller_of(obj)
            kind = self.view.resource.gvk.kind
            if obj is not None and owner.get("kind") == kind:
                yield f"{metadata.namespace(obj)}/{owner.get('name')}"
        if new is not None and not facts.controller_of(new):
            labels = metadata.labels(new)
            for item in self.view.in_namespace(metadata.namespace(new)):
                if self.view.selector(item, facts.selector_of).matches(labels):
                    yield item_of(item)

    async def reconcile(self, item: str) -> float | None:
        """Bring the workload of an item to where it should be; return in how many seconds to look
        again, if at all. Raises Stale."""
        namespace, _, name = item.partition("/")
        view = self.view.get(namespace, name)
        return None if view is None else await self.sync(view)

    async def sync(self, workload: JsonObject) -> float | None:
        """Bring one workload to where it should be. Raises Stale."""
        raise NotImplementedError


# --- Pods of an owner --------------------------------------------------------
#
# The pods of an owner: which are its own, how they are, how it makes and deletes them.
#
# As k8s.io/kubernetes `pkg/controller/{controller_utils,controller_ref_manager}.go` and
# `pkg/api/v1/pod/util.go`.


@dataclass(frozen=True, slots=True, eq=False)
class Dependents:
    """Finds what an owner has in a view; adopts and releases what it must."""

    view: cluster_client.KindView
    requests: cluster_client.Requests

    async def claimed(self, owner: JsonObject) -> list[JsonObject]:
        """Adopt and release what has to be, then return what is the owner's now, in the order of
        names. Raises Stale."""
        claims = facts.claims_of(owner, self.view.candidates(owner))
        for item in claims.released:
            references = [ref for ref in _references(item) if ref.get("uid") != metadata.uid(owner)]
            await self._refer(item, references)
        for item in claims.adopted:
            await self._refer(item, [*_references(item), owner_reference(owner)])
        if claims.adopted:
            return await self.claimed(owner)
        return list(claims.owned)

    async def _refer(self, obj: JsonObject, references: Sequence[JsonObject]) -> None:
        change = {"metadata": {"ownerReferences": list(references) or None}}
        reply = await self.requests.patch(self.view.resource, obj, change)
        if reply.failed:
            raise controller_loops.Stale


def _references(obj: JsonObject) -> list[JsonObject]:
    return list(metadata.metadata(obj).get("ownerReferences") or ())


@dataclass(frozen=True, slots=True, eq=False)
class PodControl:
    """Makes and deletes pods, and tells of it on their owner."""

    pods: Resource
    requests: cluster_client.Requests
    events: cluster_client.EventRecorder

    async def create(self, pod: JsonObject, owner: JsonObject) -> controller_loops.Reply:
        """Create a pod, tell of it, and return the answer, whatever it is. That a namespace is
        ending is not told."""
        reply = await self.requests.create(self.pods, pod)
        if reply.code == cluster_client.CREATED:
            name = metadata.name(reply.body)
            await self.events.record(owner, "Normal", "SuccessfulCreate", f"Created pod: {name}")
        elif not is_namespace_ending(reply):
            text = f"Error creating: {reply.message}"
            await self.events.record(owner, "Warning", "FailedCreate", text)
        return reply

    async def delete(self, pod: JsonObject, owner: JsonObject) -> controller_loops.Reply | None:
        """Delete a pod and tell of it; return None when it is gone already."""
        name = metadata.name(pod)
        try:
            reply = await self.requests.delete(self.pods, pod)
        except controller_loops.Stale:
            return None
        if reply.failed:
            text = f"Error deleting: {reply.message}"
            await self.events.record(owner, "Warning", "FailedDelete", text)
        elif reply.code != cluster_client.NOT_FOUND:
            await self.events.record(owner, "Normal", "SuccessfulDelete", f"Deleted pod: {name}")
        return reply


def is_namespace_ending(reply: controller_loops.Reply) -> bool:
    """Tell whether something was refused because its namespace is being deleted."""
    causes: Sequence[JsonDict] = (reply.body.get("details") or {}).get("causes") or ()
    return any(cause.get("reason") == "NamespaceTerminating" for cause in causes)
