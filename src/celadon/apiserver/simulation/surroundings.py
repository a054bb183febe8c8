"""What a simulated controller sees and may do: objects, the time, requests, events."""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Callable, Iterator
from datetime import datetime
from typing import Any, Final, Literal

from celadon.apiserver.api_settings import SimulationSettings
from celadon.apiserver.controllers.controller_loops import (
    Aside,
    Reply,
    ServerRequests,
    Stale,
    resource_path,
)
from celadon.apiserver.controllers.server_controllers import ControllerSurroundings, built_in
from celadon.apiserver.simulation.cluster_view import ClusterView, KindView
from celadon.apiserver.simulation.planning.pod_facts import precise_time_text, time_text
from celadon.kube import GroupVersionResource, JsonObject, User, metadata
from celadon.kube.resources import Resource

CONTROLLER_MANAGER: Final = "kube-controller-manager"
CONFLICT: Final = 409
CREATED: Final = 201
NOT_FOUND: Final = 404
EVENTS: Final = GroupVersionResource("", "v1", "events")
_REMEMBERED_EVENTS: Final = 4_096
"""As many as upstream's recorder counts repetitions of."""


class Requests:
    """What one controller asks of the server. Answers of others than those that were hoped for
    are replies, too, but for lost races, which raise Stale."""

    def __init__(self, server: ServerRequests) -> None:
        self._server = server

    async def create(self, resource: Resource, obj: JsonObject) -> Reply:
        """In the namespace that the object names."""
        path = resource_path(resource, metadata.namespace(obj))
        return await self._server.call("POST", path, obj)

    async def update(self, resource: Resource, obj: JsonObject, subresource: str = "") -> Reply:
        """If it is still the version that its metadata tells of. Raises Stale."""
        path = self._path(resource, obj, subresource)
        return self._checked(await self._server.call("PUT", path, obj))

    async def require_update(
        self, resource: Resource, obj: JsonObject, subresource: str = ""
    ) -> None:
        """As `update`; raises Stale also when the server refuses for another reason."""
        reply = await self.update(resource, obj, subresource)
        if reply.failed:
            raise Stale

    async def update_status(
        self, resource: Resource, obj: JsonObject, status: JsonObject
    ) -> Reply | None:
        """Nothing is asked when it is the same. Raises Stale."""
        if (obj.get("status") or {}) == status:
            return None
        return await self.update(resource, {**obj, "status": status}, "status")

    async def patch(
        self, resource: Resource, obj: JsonObject, change: JsonObject, subresource: str = ""
    ) -> Reply:
        """A merge patch, of the object with the same uid only. Raises Stale."""
        meta = {**(change.get("metadata") or {}), "uid": metadata.uid(obj)}
        path = self._path(resource, obj, subresource)
        patch = {**change, "metadata": meta}
        return self._checked(await self._server.call("PATCH", path, patch))

    async def delete(
        self, resource: Resource, obj: JsonObject, *, grace: int | None = None, policy: str = ""
    ) -> Reply:
        """The object with the same uid only. Raises Stale."""
        options: dict[str, Any] = {"preconditions": {"uid": metadata.uid(obj)}}
        if grace is not None:
            options["gracePeriodSeconds"] = grace
        if policy:
            options["propagationPolicy"] = policy
        return self._checked(await self._server.call("DELETE", self._path(resource, obj), options))

    async def post(self, path: str, body: JsonObject) -> Reply:
        """To a subresource that is no object of its own."""
        return await self._server.call("POST", path, body)

    def _path(self, resource: Resource, obj: JsonObject, subresource: str = "") -> str:
        path = resource_path(resource, metadata.namespace(obj), metadata.name(obj))
        return f"{path}/{subresource}" if subresource else path

    def _checked(self, reply: Reply) -> Reply:
        if reply.code in (CONFLICT, NOT_FOUND):
            raise Stale
        return reply


class EventRecorder:
    """Tells what has happened, as upstream's recorder does: what is told again is counted."""

    def __init__(
        self,
        requests: Requests,
        now: Callable[[], datetime],
        numbers: Iterator[int],
        component: str,
        host: str = "",
    ) -> None:
        self._requests = requests
        self._now = now
        self._numbers = numbers
        self._source = {"component": component, **({"host": host} if host else {})}
        self._told: dict[tuple[str, ...], tuple[JsonObject, int]] = {}

    async def record(
        self,
        obj: JsonObject,
        kind: Literal["Normal", "Warning"],
        reason: str,
        message: str,
        field: str = "",
        action: str = "",
    ) -> None:
        """About an object, or a field of it. What the server answers is nobody's concern. With an
        `action`, as those tell who write events of `events.k8s.io`."""
        key = (metadata.uid(obj), kind, reason, message, field)
        now = time_text(self._now())
        former = self._told.pop(key, None)
        if former is not None:
            event, count = former[0], former[1] + 1
            change: JsonObject = {"count": count, "lastTimestamp": now}
            if action:
                change = {"series": {"count": count, "lastObservedTime": self._precise()}}
            with contextlib.suppress(Stale):  # then it is gone by now
                await self._requests.patch(built_in(EVENTS), event, change)
                self._told[key] = event, count
                return
        made = {**self._event(obj, kind, reason, message, field), **self._times(now, action)}
        reply = await self._requests.create(built_in(EVENTS), made)
        if reply.code == CREATED:
            self._told[key] = reply.body, 1
            if len(self._told) > _REMEMBERED_EVENTS:
                del self._told[next(iter(self._told))]

    def _event(
        self, obj: JsonObject, kind: str, reason: str, message: str, field: str
    ) -> dict[str, Any]:
        namespace = metadata.namespace(obj)
        nanoseconds = int(self._now().timestamp() * 1e9) + next(self._numbers)
        about = {
            "kind": obj["kind"],
            "namespace": namespace,
            "name": metadata.name(obj),
            "uid": metadata.uid(obj),
            "apiVersion": obj["apiVersion"],
            "resourceVersion": metadata.resource_version(obj),
            "fieldPath": field,
        }
        return {
            "apiVersion": "v1",
            "kind": "Event",
            "metadata": {
                "name": f"{metadata.name(obj)}.{nanoseconds:x}",
                "namespace": namespace or "default",
            },
            "involvedObject": {key: value for key, value in about.items() if value},
            "reason": reason,
            "message": message,
            "type": kind,
            "reportingComponent": self._source["component"],
            "reportingInstance": self._source.get("host", ""),
        }

    def _times(self, now: str, action: str) -> dict[str, Any]:
        if action:
            return {"eventTime": self._precise(), "action": action}
        times = {"firstTimestamp": now, "lastTimestamp": now}
        return {**times, "count": 1, "source": self._source}

    def _precise(self) -> str:
        return precise_time_text(self._now())


class Surroundings:
    """What all simulated controllers of a server share."""

    def __init__(self, given: ControllerSurroundings, settings: SimulationSettings) -> None:
        self.settings = settings
        self.version = given.version
        self.now = given.now
        self._given = given
        self._perform = given.perform
        self._cluster = ClusterView(given.objects)
        self._numbers = itertools.count()
        """By which events differ that are told at one time."""

    def view(self, gvr: GroupVersionResource) -> KindView:
        """The objects of a kind."""
        return self._cluster.of(gvr)

    def timestamp(self) -> str:
        """The time as objects have it."""
        return time_text(self.now())

    def requests(self, account: str) -> Requests:
        """As a service account in `kube-system`, from the controller manager."""
        return Requests(ServerRequests(self._perform, account, CONTROLLER_MANAGER))

    def requests_of(self, user: User, agent: str) -> Requests:
        """As somebody else."""
        return Requests(ServerRequests(self._perform, agent, agent, user))

    def aside(self, account: str) -> Aside:
        """Long work of a controller, which has as much time as a user."""
        return self._given.aside(account)

    def recorder(self, requests: Requests, component: str, host: str = "") -> EventRecorder:
        """Of events that come from a component, in its own name."""
        return EventRecorder(requests, self.now, self._numbers, component, host)
