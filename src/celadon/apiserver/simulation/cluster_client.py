"""The cluster as a simulated controller meets it: objects that it reads, requests that it makes as
itself, and events in which it tells what has happened.
"""

from __future__ import annotations

import contextlib
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterator
from datetime import datetime, timedelta
from typing import Final, Generic, Literal, TypeAlias, TypeVar

from celadon.apiserver.controllers import controller_loops
from celadon.apiserver.controllers.server_controllers import built_in
from celadon.apiserver.object_store import ObjectStore, Undecodable, collection_prefix, object_key
from celadon.apiserver.simulation.planning import pod_predicates as facts
from celadon.kube import GroupVersionResource, JsonObject, metadata
from celadon.kube.json_types import JsonDict
from celadon.kube.resources import Resource
from celadon.kube.selectors import KeyConditions
from celadon.records import dataclass, field
from celadon.storage import Compacted, Entry, Watch, WatchLost, WatchOverflow

# --- Objects as they are now -------------------------------------------------
#
# The objects of some kinds as they are now, found by name, namespace and owner.
#
# What is read here is never older than the store: whoever has written something sees it. A
# controller needs no expectations for that reason.


def _owner(obj: JsonObject) -> str:
    return str(facts.controller_of(obj).get("uid") or "")


_Index: TypeAlias = Callable[[JsonObject], str]
_Follower: TypeAlias = Callable[[JsonObject | None, JsonObject | None], None]
_INDEXES: Final[tuple[_Index, ...]] = (metadata.namespace, _owner, facts.node_of)


class KindView:
    """The objects of one resource. Those that cannot be decoded are not seen."""

    def __init__(self, objects: ObjectStore, gvr: GroupVersionResource) -> None:
        self.resource = built_in(gvr)
        self._objects = objects
        self._prefix = collection_prefix(self.resource)
        self._watch: Watch | None = None
        self._found: dict[str, JsonObject] = {}
        self._keys: dict[_Index, dict[str, dict[str, None]]] = {index: {} for index in _INDEXES}
        self._followers: list[_Follower] = []
        self._selectors: dict[str, tuple[JsonObject, KeyConditions]] = {}

    def follow(self, follower: _Follower) -> None:
        """Tell somebody of all objects that there are, and of each change from now on, when the
        view sees it: what was there, what is there."""
        self.refresh()
        for key in sorted(self._found):
            follower(None, self._found[key])
        self._followers.append(follower)

    @property
    def prefix(self) -> str:
        """Return the prefix of the keys of its objects."""
        return self._prefix

    def get(self, namespace: str, name: str) -> JsonObject | None:
        """Return the object of this name, or None if there is none."""
        self.refresh()
        return self._found.get(object_key(self.resource, namespace, name))

    def size(self, obj: JsonObject) -> int:
        """Return the bytes of an object as it is stored."""
        stored = self._objects.get(self.resource, metadata.namespace(obj), metadata.name(obj))
        return 0 if stored is None else stored.size

    def selector(
        self, obj: JsonObject, read: Callable[[JsonObject], KeyConditions]
    ) -> KeyConditions:
        """Return the selector of an object, which is read once: each change of a pod asks all."""
        key = object_key(self.resource, metadata.namespace(obj), metadata.name(obj))
        known = self._selectors.get(key)
        if known is None or known[0] is not obj:
            known = self._selectors[key] = obj, read(obj)
        return known[1]

    def every(self) -> list[JsonObject]:
        """Return all objects in the order of their keys."""
        self.refresh()
        return [self._found[key] for key in sorted(self._found)]

    def in_namespace(self, namespace: str) -> list[JsonObject]:
        """Return the objects of a namespace in the order of their names."""
        return self._listed(metadata.namespace, namespace)

    def managed_by(self, uid: str) -> list[JsonObject]:
        """Return the objects whose managing owner has this uid, in the order of their keys."""
        return self._listed(_owner, uid)

    def candidates(self, owner: JsonObject) -> list[JsonObject]:
        """Return what an owner has, and what nobody has in its namespace, in the order of names."""
        self.refresh()
        owners, spaces = self._keys[_owner], self._keys[metadata.namespace]
        free = owners.get("", {}).keys() & spaces.get(metadata.namespace(owner), {}).keys()
        mine = owners.get(metadata.uid(owner), {}).keys()
        return [self._found[key] for key in sorted(free | mine)]

    def on_node(self, name: str) -> list[JsonObject]:
        """Return the pods that are assigned to a node, in the order of their keys; those without a
        node, for the empty name."""
        return self._listed(facts.node_of, name)

    def _listed(self, index: _Index, value: str) -> list[JsonObject]:
        self.refresh()
        return [self._found[key] for key in sorted(self._keys[index].get(value, ()))]

    def refresh(self) -> None:
        """See what has changed. Whoever reads does that."""
        try:
            events = () if self._watch is None else self._watch.take().events
        except (Compacted, WatchLost, WatchOverflow):
            self._watch, events = None, ()
        if self._watch is None:
            self._load()
        for event in events:
            self._note(event.key, event.entry)

    def _load(self) -> None:
        page = self._objects.store.range(self._prefix)
        self._watch = self._objects.store.watch(self._prefix, page.revision)
        for key in self._found.keys() - {entry.key for entry in page.entries}:
            self._note(key, None)
        for entry in page.entries:
            self._note(entry.key, entry)

    def _note(self, key: str, entry: Entry | None) -> None:
        former = self._found.pop(key, None)
        self._selectors.pop(key, None)
        if former is not None:
            for index, keys in self._keys.items():
                result = keys[index(former)]
                del result[key]
                if not result:
                    del keys[index(former)]
        obj = self._decoded(entry)
        if obj is not None:
            self._found[key] = obj
            for index, keys in self._keys.items():
                keys.setdefault(index(obj), {})[key] = None
        for follower in self._followers:
            follower(former, obj)

    def _decoded(self, entry: Entry | None) -> JsonObject | None:
        try:
            return None if entry is None else self._objects.stored(entry).object
        except Undecodable:
            return None


class ClusterView:
    """A view of each kind that somebody asks for."""

    def __init__(self, objects: ObjectStore) -> None:
        self._objects = objects
        self._views: dict[GroupVersionResource, KindView] = {}

    def of(self, gvr: GroupVersionResource) -> KindView:
        """Return the view of one kind, which is always the same view."""
        view = self._views.get(gvr)
        if view is None:
            view = self._views[gvr] = KindView(self._objects, gvr)
        return view


# --- Requests ----------------------------------------------------------------

CONFLICT: Final = 409
CREATED: Final = 201
NOT_FOUND: Final = 404


class Requests:
    """Makes the requests of one controller. An unwanted answer is a reply like any other, but for
    lost races, which raise Stale."""

    def __init__(self, server: controller_loops.ServerRequests) -> None:
        self._server = server

    async def create(self, resource: Resource, obj: JsonObject) -> controller_loops.Reply:
        """Create an object in the namespace that it names."""
        path = controller_loops.resource_path(resource, metadata.namespace(obj))
        return await self._server.call("POST", path, obj)

    async def update(
        self, resource: Resource, obj: JsonObject, subresource: str = ""
    ) -> controller_loops.Reply:
        """Write an object if it is still the version that its metadata tells of. Raises Stale."""
        path = self._path(resource, obj, subresource)
        return self._checked(await self._server.call("PUT", path, obj))

    async def require_update(
        self, resource: Resource, obj: JsonObject, subresource: str = ""
    ) -> None:
        """Update the object; unlike `update`, raise Stale also when the server refuses for another
        reason."""
        reply = await self.update(resource, obj, subresource)
        if reply.failed:
            raise controller_loops.Stale

    async def update_status(
        self, resource: Resource, obj: JsonObject, status: JsonObject
    ) -> controller_loops.Reply | None:
        """Write another status; nothing is asked when it is the same. Raises Stale."""
        if (obj.get("status") or {}) == status:
            return None
        return await self.update(resource, {**obj, "status": status}, "status")

    async def patch(
        self, resource: Resource, obj: JsonObject, change: JsonObject, subresource: str = ""
    ) -> controller_loops.Reply:
        """Send a merge patch for the object with the same uid only. Raises Stale."""
        meta = {**(change.get("metadata") or {}), "uid": metadata.uid(obj)}
        path = self._path(resource, obj, subresource)
        patch = {**change, "metadata": meta}
        return self._checked(await self._server.call("PATCH", path, patch))

    async def delete(
        self, resource: Resource, obj: JsonObject, *, grace: int | None = None, policy: str = ""
    ) -> controller_loops.Reply:
        """Delete the object with the same uid only. Raises Stale."""
        options: JsonDict = {"preconditions": {"uid": metadata.uid(obj)}}
        if grace is not None:
            options["gracePeriodSeconds"] = grace
        if policy:
            options["propagationPolicy"] = policy
        return self._checked(await self._server.call("DELETE", self._path(resource, obj), options))

    async def post(self, path: str, body: JsonObject) -> controller_loops.Reply:
        """Post to a subresource that is no object of its own."""
        return await self._server.call("POST", path, body)

    def _path(self, resource: Resource, obj: JsonObject, subresource: str = "") -> str:
        path = controller_loops.resource_path(resource, metadata.namespace(obj), metadata.name(obj))
        return f"{path}/{subresource}" if subresource else path

    def _checked(self, reply: controller_loops.Reply) -> controller_loops.Reply:
        if reply.code in (CONFLICT, NOT_FOUND):
            raise controller_loops.Stale
        return reply


# --- Events ------------------------------------------------------------------
#
# How controllers tell what has happened: events that are counted, combined and held back.
#
# As k8s.io/client-go `tools/record`. What is told again is counted. From the tenth message on
# that differs from others of the same reason about the same object, they are one event together.
# And about one object a controller tells 25 things at once, and then one in five minutes.

EVENTS: Final = GroupVersionResource("", "v1", "events")
NEW_EVENTS: Final = GroupVersionResource("events.k8s.io", "v1", "events")
COMBINED: Final = "(combined from similar events): "
SIMILAR: Final = 10
"""Messages of one reason that are told each on its own, and one more."""
SIMILAR_FOR: Final = timedelta(minutes=10)
"""After so long without a similar one, each is told on its own again."""
BURST: Final = 25
"""Events of one type about one object at once."""
REFILL_SECONDS: Final = 300.0
"""After which there may be another one."""
_SERIES: Final = 2
"""Times that are a series, which is told then, and counted on later only."""
_REMEMBERED: Final = 4_096

V = TypeVar("V")


class _Recent(Generic[V]):
    """Keeps what was asked for last; the rest is forgotten."""

    def __init__(self, make: Callable[[], V]) -> None:
        self._make = make
        self._found: OrderedDict[Hashable, V] = OrderedDict()

    def of(self, key: Hashable) -> V:
        value = self._found.pop(key, None)
        if value is None:
            value = self._make()
        self._found[key] = value
        if len(self._found) > _REMEMBERED:
            self._found.popitem(last=False)
        return value


@dataclass(slots=True)
class _Similar:
    """The messages of one reason about one object, and when there was one last."""

    messages: dict[str, None] = field(default_factory=dict)
    last: datetime | None = None


@dataclass(slots=True)
class _Bucket:
    """Counts how many more events there may be."""

    tokens: float = BURST
    at: datetime | None = None

    def take(self, now: datetime) -> bool:
        """Return whether there may be one more event now, and count it."""
        if self.at is not None:
            elapsed = (now - self.at).total_seconds()
            self.tokens = min(float(BURST), self.tokens + elapsed / REFILL_SECONDS)
        self.at = now
        if self.tokens < 1:
            return False
        self.tokens -= 1
        return True


class Correlator:
    """Decides what becomes of an event: it is another one, or counted, or not told at all."""

    def __init__(self) -> None:
        self._similar = _Recent(_Similar)
        self._buckets = _Recent(_Bucket)

    def key_of(
        self, about: Hashable, kind: str, reason: str, message: str, field: str, now: datetime
    ) -> tuple[Hashable, ...]:
        """Return the key by which an event is counted. It has no message and field once the event
        is one of many that are similar."""
        group = (about, kind, reason)
        similar = self._similar.of(group)
        if similar.last is not None and now - similar.last > SIMILAR_FOR:
            similar.messages.clear()
        similar.last = now
        similar.messages[message] = None
        if len(similar.messages) < SIMILAR:
            return (*group, message, field)
        del similar.messages[next(iter(similar.messages))]
        return group

    def may_tell(self, about: Hashable, kind: str, now: datetime) -> bool:
        """Tell whether one more event about the object is not too much."""
        return self._buckets.of((about, kind)).take(now)


@dataclass(slots=True)
class _RecordedEvent:
    """The event that was made, if there is one, and how often it has been told."""

    event: JsonObject | None = None
    count: int = 0


class EventRecorder:
    """Tells in the name of a component, which may be on a host."""

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
        self._component, self._host = component, host
        self._correlator = Correlator()
        self._recent = _Recent(_RecordedEvent)

    async def record(
        self,
        obj: JsonObject,
        kind: Literal["Normal", "Warning"],
        reason: str,
        message: str,
        field: str = "",
    ) -> None:
        """Write an Event about an object, or a field of it. What the server answers is nobody's
        concern."""
        about, now = (metadata.uid(obj), metadata.name(obj)), self._now()
        key = self._correlator.key_of(about, kind, reason, message, field, now)
        is_combined = key == (about, kind, reason)
        series = self._recent.of(key)
        series.count += 1
        if not self._correlator.may_tell(about, kind, now):
            return
        text = COMBINED + message if is_combined else message
        time = facts.time_text(now)
        if series.event is not None:
            change = {"count": series.count, "lastTimestamp": time, "message": text}
            with contextlib.suppress(controller_loops.Stale):  # then it is gone by now
                await self._requests.patch(built_in(EVENTS), series.event, change)
                return
        host = {"host": self._host} if self._host else {}
        reporting = {"reportingComponent": self._component, "reportingInstance": self._host}
        result = {
            **self._event("v1", obj, kind, reason),
            "involvedObject": _reference(obj, field),
            "message": text,
            "firstTimestamp": time,
            "lastTimestamp": time,
            "count": series.count,
            "source": {"component": self._component, **host},
            **({} if is_combined else reporting),
        }
        reply = await self._requests.create(built_in(EVENTS), result)
        if reply.code == CREATED:
            series.event = reply.body

    async def record_action(
        self,
        obj: JsonObject,
        kind: Literal["Normal", "Warning"],
        reason: str,
        message: str,
        action: str,
    ) -> None:
        """Write an event of `events.k8s.io`: what is told again about the same version of an object
        is a series, whatever its message is."""
        about = (metadata.uid(obj), metadata.resource_version(obj))
        series = self._recent.of((about, kind, reason, action))
        series.count += 1
        time = facts.precise_time_text(self._now())
        if series.event is not None:
            if series.count == _SERIES:
                change = {"series": {"count": series.count, "lastObservedTime": time}}
                with contextlib.suppress(controller_loops.Stale):
                    await self._requests.patch(built_in(NEW_EVENTS), series.event, change)
            return
        result = {
            **self._event("events.k8s.io/v1", obj, kind, reason),
            "regarding": _reference(obj),
            "note": message,
            "eventTime": time,
            "action": action,
            "reportingController": self._component,
            "reportingInstance": self._host,
        }
        reply = await self._requests.create(built_in(NEW_EVENTS), result)
        if reply.code == CREATED:
            series.event = reply.body

    def _event(self, version: str, obj: JsonObject, kind: str, reason: str) -> JsonDict:
        nanoseconds = int(self._now().timestamp() * 1e9) + next(self._numbers)
        name = f"{metadata.name(obj)}.{nanoseconds:x}"
        return {
            "apiVersion": version,
            "kind": "Event",
            "metadata": {"name": name, "namespace": metadata.namespace(obj) or "default"},
            "reason": reason,
            "type": kind,
        }


def _reference(obj: JsonObject, field: str = "") -> dict[str, str]:
    about = {
        "kind": obj["kind"],
        "namespace": metadata.namespace(obj),
        "name": metadata.name(obj),
        "uid": metadata.uid(obj),
        "apiVersion": obj["apiVersion"],
        "resourceVersion": metadata.resource_version(obj),
        "fieldPath": field,
    }
    return {key: value for key, value in about.items() if value}
