"""The entries under a prefix, kept current by a watch that is read when somebody asks.

Asking costs one look at the store's revision when nothing has changed. A view that computes
something from a mirror does so again when `refresh` says that there is something new.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from celadon.apiserver.object_store import ObjectStore, StoredObject, Undecodable, collection_prefix
from celadon.apiserver.workers import on_loop
from celadon.kube import Answer, Attributes, GroupVersionResource
from celadon.kube.rbac import RbacAuthorizer, RoleIndex
from celadon.kube.resources import known_resources
from celadon.kube.well_known_values import RBAC_GROUP
from celadon.storage import Compacted, Watch, WatchLost, WatchOverflow

_NEVER: Final = -1
"""Seen, until all has been taken in."""


class Mirror:
    """Stored objects by key, in the order of their keys when listed."""

    _seen: int
    """The revision of the last look."""
    _watch: Watch

    def __init__(self, objects: ObjectStore, prefix: str) -> None:
        self._objects = objects
        self._prefix = prefix
        self._stored: dict[str, StoredObject] = {}
        self._seen: int
        self._watch: Watch
        self._reload()

    def refresh(self) -> bool:
        """Take in what has happened; whether anything has. Raises Undecodable as long as there is
        such an entry: what is computed without it might allow more."""
        revision = self._objects.store.revision()
        if revision == self._seen:
            return False
        if self._seen == _NEVER:
            self._reload()
            return True
        self._seen = revision
        try:
            events = {event.key: event.entry for event in self._watch.take().events}
            for key, entry in events.items():  # the last of each; those before are not decoded
                if entry is None:
                    self._stored.pop(key, None)
                else:
                    self._stored[key] = self._objects.stored(entry)
        except (Compacted, WatchLost, WatchOverflow, Undecodable):
            self._reload()
            return True
        return bool(events)

    def get(self, key: str) -> StoredObject | None:
        """By the whole key, as of the last refresh."""
        return self._stored.get(key)

    def __iter__(self) -> Iterator[StoredObject]:
        return (self._stored[key] for key in sorted(self._stored))

    def __len__(self) -> int:
        return len(self._stored)

    def _reload(self) -> None:
        self._seen = _NEVER
        page = self._objects.store.range(self._prefix)
        self._stored = {entry.key: self._objects.stored(entry) for entry in page.entries}
        self._watch = self._objects.store.watch(self._prefix, page.revision)
        self._seen = page.revision


# --- Role view ---------------------------------------------------------------
#
# The roles and bindings in the store, as an authorizer that is ready to answer.


RESOURCES: Final = ("roles", "rolebindings", "clusterroles", "clusterrolebindings")


class RoleView:
    """Aggregated roles have the rules that a controller would give them, at once."""

    def __init__(self, objects: ObjectStore) -> None:
        catalog = known_resources()
        self._mirrors = []
        for name in RESOURCES:
            resource = catalog.by_gvr(GroupVersionResource(RBAC_GROUP, "v1", name))
            assert resource is not None, f"no {name}"
            self._mirrors.append(Mirror(objects, collection_prefix(resource)))
        self._authorizer = self._made()

    @on_loop
    def current(self) -> RbacAuthorizer:
        """By what is stored now."""
        changed = [mirror.refresh() for mirror in self._mirrors]
        if any(changed):
            self._authorizer = self._made()
        return self._authorizer

    @on_loop
    def authorize(self, attributes: Attributes) -> Answer:
        """As `RbacAuthorizer.authorize`."""
        return self.current().authorize(attributes)

    def _made(self) -> RbacAuthorizer:
        stored = (one.object for mirror in self._mirrors for one in mirror)
        return RbacAuthorizer(RoleIndex(stored, aggregating=True))
