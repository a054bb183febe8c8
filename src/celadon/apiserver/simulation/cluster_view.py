"""The objects of some kinds as they are now, found by name, namespace and owner.

What is read here is never older than the store: whoever has written something sees it. A controller
needs no expectations for that reason.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from celadon.apiserver.controllers.server_controllers import built_in
from celadon.apiserver.object_store import ObjectStore, Undecodable, collection_prefix, object_key
from celadon.kube import GroupVersionResource, JsonObject, metadata
from celadon.storage import Compacted, Entry, Watch, WatchLost, WatchOverflow


def controller_of(obj: JsonObject) -> dict[str, Any]:
    """The reference to the owner that manages an object; empty if there is none."""
    for one in metadata.metadata(obj).get("ownerReferences") or ():
        if one.get("controller"):
            found: dict[str, Any] = one
            return found
    return {}


class KindView:
    """The objects of one resource. Those that cannot be decoded are not seen."""

    def __init__(self, objects: ObjectStore, gvr: GroupVersionResource) -> None:
        self.resource = built_in(gvr)
        self._objects = objects
        self._prefix = collection_prefix(self.resource)
        self._watch: Watch | None = None
        self._found: dict[str, JsonObject] = {}
        self._of_owners: dict[str, dict[str, None]] = {}
        self._of_namespaces: dict[str, dict[str, None]] = {}

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
        return self._listed(self._found)

    def in_namespace(self, namespace: str) -> list[JsonObject]:
        """In the order of their names."""
        self._refresh()
        return self._listed(self._of_namespaces.get(namespace, ()))

    def managed_by(self, uid: str) -> list[JsonObject]:
        """Those whose managing owner has this uid, in the order of their keys."""
        self._refresh()
        return self._listed(self._of_owners.get(uid, ()))

    def _listed(self, keys: Iterable[str]) -> list[JsonObject]:
        return [self._found[key] for key in sorted(keys)]

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
            self._of_owners[_owner(former)].pop(key)
            self._of_namespaces[metadata.namespace(former)].pop(key)
        try:
            obj = None if entry is None else self._objects.stored(entry).object
        except Undecodable:
            return
        if obj is not None:
            self._found[key] = obj
            self._of_owners.setdefault(_owner(obj), {})[key] = None
            self._of_namespaces.setdefault(metadata.namespace(obj), {})[key] = None


def _owner(obj: JsonObject) -> str:
    return str(controller_of(obj).get("uid") or "")


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
