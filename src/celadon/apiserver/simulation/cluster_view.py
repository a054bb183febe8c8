"""The objects of some kinds as they are now, found by name, namespace and owner.

What is read here is never older than the store: whoever has written something sees it. A controller
needs no expectations for that reason.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, TypeAlias

from celadon.apiserver.controllers.server_controllers import built_in
from celadon.apiserver.object_store import ObjectStore, Undecodable, collection_prefix, object_key
from celadon.apiserver.simulation.planning.pod_facts import controller_of, node_of
from celadon.kube import GroupVersionResource, JsonObject, metadata
from celadon.storage import Compacted, Entry, Watch, WatchLost, WatchOverflow


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
