"""What a simulated controller asks of the server, as itself."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, TypeAlias

from celadon.apiserver.controllers.controller_loops import (
    Reply,
    ServerRequests,
    Stale,
    resource_path,
)
from celadon.apiserver.controllers.server_controllers import built_in
from celadon.apiserver.object_store import ObjectStore, Undecodable, collection_prefix, object_key
from celadon.apiserver.simulation.planning.pod_facts import controller_of, node_of
from celadon.kube import GroupVersionResource, JsonObject, metadata
from celadon.kube.json_types import JsonDict
from celadon.kube.resources import Resource
from celadon.storage import Compacted, Entry, Watch, WatchLost, WatchOverflow

# --- Objects as they are now -------------------------------------------------
#
# The objects of some kinds as they are now, found by name, namespace and owner.
#
# What is read here is never older than the store: whoever has written something sees it. A
# controller needs no expectations for that reason.


def _owner(obj: JsonObject) -> str:
    return str(controller_of(obj).get("uid") or "")


_Index: TypeAlias = Callable[[JsonObject], str]
_INDEXES: Final[tuple[_Index, ...]] = (metadata.namespace, _owner, node_of)


class KindView:
    """The objects of one resource. Those that cannot be decoded are not seen."""

    def __init__(self, objects: ObjectStore, gvr: GroupVersionResource) -> None:
        self.resource = built_in(gvr)
        self._objects = objects
        self._prefix = collection_prefix(self.resource)
        self._watch: Watch | None = None
        self._found: dict[str, JsonObject] = {}
        self._keys: dict[_Index, dict[str, dict[str, None]]] = {one: {} for one in _INDEXES}

    @property
    def prefix(self) -> str:
        """Of the keys of its objects."""
        return self._prefix

    def get(self, namespace: str, name: str) -> JsonObject | None:
        """None if there is none."""
        self._refresh()
        return self._found.get(object_key(self.resource, namespace, name))

    def every(self) -> list[JsonObject]:
        """In the order of their keys."""
        self._refresh()
        return [self._found[key] for key in sorted(self._found)]

    def in_namespace(self, namespace: str) -> list[JsonObject]:
        """In the order of their names."""
        return self._listed(metadata.namespace, namespace)

    def managed_by(self, uid: str) -> list[JsonObject]:
        """Those whose managing owner has this uid, in the order of their keys."""
        return self._listed(_owner, uid)

    def candidates(self, owner: JsonObject) -> list[JsonObject]:
        """What an owner has, and what nobody has in its namespace, in the order of names."""
        self._refresh()
        owners, spaces = self._keys[_owner], self._keys[metadata.namespace]
        free = owners.get("", {}).keys() & spaces.get(metadata.namespace(owner), {}).keys()
        mine = owners.get(metadata.uid(owner), {}).keys()
        return [self._found[key] for key in sorted(free | mine)]

    def on_node(self, name: str) -> list[JsonObject]:
        """Pods that are assigned to a node, in the order of their keys; those without a node, for
        the empty name."""
        return self._listed(node_of, name)

    def _listed(self, index: _Index, value: str) -> list[JsonObject]:
        self._refresh()
        return [self._found[key] for key in sorted(self._keys[index].get(value, ()))]

    def _refresh(self) -> None:
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
        if former is not None:
            for index, keys in self._keys.items():
                found = keys[index(former)]
                del found[key]
                if not found:
                    del keys[index(former)]
        try:
            obj = None if entry is None else self._objects.stored(entry).object
        except Undecodable:
            return
        if obj is not None:
            self._found[key] = obj
            for index, keys in self._keys.items():
                keys.setdefault(index(obj), {})[key] = None


class ClusterView:
    """A view of each kind that somebody asks for."""

    def __init__(self, objects: ObjectStore) -> None:
        self._objects = objects
        self._views: dict[GroupVersionResource, KindView] = {}

    def of(self, gvr: GroupVersionResource) -> KindView:
        """Of one kind; always the same view."""
        found = self._views.get(gvr)
        if found is None:
            found = self._views[gvr] = KindView(self._objects, gvr)
        return found


# --- Requests ----------------------------------------------------------------

CONFLICT: Final = 409
CREATED: Final = 201
NOT_FOUND: Final = 404


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
        options: JsonDict = {"preconditions": {"uid": metadata.uid(obj)}}
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
