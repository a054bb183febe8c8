"""The entries under a prefix, kept current by a watch that is read when somebody asks.

Asking costs one look at the store's revision when nothing has changed. A view that computes
something from a mirror does so again when `refresh` says that there is something new.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from celadon.apiserver.object_store import ObjectStore, StoredObject, Undecodable, collection_prefix
from celadon.apiserver.workers import Lagging, on_loop
from celadon.kube import Answer, Attributes, GroupVersionResource, JsonObject
from celadon.kube.rbac import RbacAuthorizer, RoleIndex
from celadon.kube.resources import known_resources
from celadon.kube.well_known_values import RBAC_GROUP
from celadon.storage import Compacted, Watch, WatchLost, WatchOverflow

News = Sequence[tuple[StoredObject | None, StoredObject | None]]
"""What there was, and what there is, of each that has changed."""

_NEVER: Final = -1
"""Seen, until all has been taken in."""


class Mirror:
    """Stored objects by key, in the order of their keys when listed."""

    _revision: int
    """The revision of the last look."""
    _watch: Watch

    def __init__(self, objects: ObjectStore, prefix: str) -> None:
        self._objects = objects
        self._prefix = prefix
        self._stored: dict[str, StoredObject] = {}
        self.news: News | None = None
        """What the last change was that `refresh` has told of; None if all has been read anew."""
        self._revision: int
        self._watch: Watch
        self._reload()

    def refresh(self) -> bool:
        """Take in what has happened; whether anything has. Raises Undecodable as long as there is
        such an entry: what is computed without it might allow more."""
        revision = self._objects.store.revision()
        if revision == self._revision:
            return False
        if self._revision == _NEVER:
            self._reload()
            return True
        self._revision = revision
        if not self._watch.is_waiting():
            return False
        try:
            events = {event.key: event.entry for event in self._watch.take().events}
            news = []
            for key, entry in events.items():  # the last of each; those before are not decoded
                before = self._stored.pop(key, None)
                after = None if entry is None else self._objects.stored(entry)
                if after is not None:
                    self._stored[key] = after
                news.append((before, after))
            self.news = news
        except (Compacted, WatchLost, WatchOverflow, Undecodable):
            self._reload()
            return True
        return bool(events)

    def get(self, key: str) -> StoredObject | None:
        """Return the object under the whole key, as of the last refresh."""
        return self._stored.get(key)

    def __iter__(self) -> Iterator[StoredObject]:
        return (self._stored[key] for key in sorted(self._stored))

    def __len__(self) -> int:
        return len(self._stored)

    def _reload(self) -> None:
        self._revision, self.news = _NEVER, None
        page = self._objects.store.range(self._prefix)
        self._stored = {entry.key: self._objects.stored(entry) for entry in page.entries}
        self._watch = self._objects.store.watch(self._prefix, page.revision)
        self._revision = page.revision


class ChangeCount:
    """Counts how often somebody has found that something under a prefix had changed: views of many
    parts need not look at each as long as the number is the same."""

    def __init__(self, objects: ObjectStore, prefix: str) -> None:
        self._objects = objects
        self._prefix = prefix
        self._number = 0
        self._revision = objects.store.revision()
        self._watch = objects.store.watch(prefix, self._revision)

    def number(self) -> int:
        """Return another number than before if anything has changed since then."""
        store = self._objects.store
        revision = store.revision()
        if revision == self._revision:
            return self._number
        self._revision = revision
        if self._watch.is_waiting():
            self._number += 1
            try:
                self._watch.take()
            except (Compacted, WatchLost, WatchOverflow):
                self._watch = store.watch(self._prefix, revision)
        return self._number


# --- Role view ---------------------------------------------------------------
#
# The roles and bindings in the store, as an authorizer that is ready to answer.

RESOURCES: Final = ("roles", "rolebindings", "clusterroles", "clusterrolebindings")

_MANY: Final = 500
"""Rules and subjects that are looked at on the event loop."""


class RoleView:
    """With `aggregating`, aggregated roles have the rules that their controller gives them, at
    once; else those that are stored. What changes thousands of rules or subjects is seen a moment
    later."""

    def __init__(self, objects: ObjectStore, *, aggregating: bool = True) -> None:
        self._aggregating = aggregating
        catalog = known_resources()
        self._mirrors = []
        for name in RESOURCES:
            resource = catalog.by_gvr(GroupVersionResource(RBAC_GROUP, "v1", name))
            assert resource is not None, f"no {name}"
            self._mirrors.append(Mirror(objects, collection_prefix(resource)))
        self._lagging = Lagging(self._with_all(self._objects()))
        self._has_missed = False
        """Whether something has changed that could not be taken in."""

    @on_loop
    def current(self) -> RbacAuthorizer:
        """Return the authorizer that knows what is stored now."""
        try:
            changed = [mirror for mirror in self._mirrors if mirror.refresh()]
        except Undecodable:
            self._has_missed = True
            raise
        if changed:
            self._change([mirror.news for mirror in changed])
        return self._lagging.value

    def _change(self, news: Sequence[News | None]) -> None:
        batches = [item for item in news if item is not None]
        if self._has_missed or len(batches) < len(news):
            self._has_missed, objects = False, self._objects()
            self._lagging.change(lambda _: self._with_all(objects), is_long=_are_many(objects))
            return
        put, removed = _put_and_removed([item for batch in batches for item in batch])
        self._lagging.change(
            lambda former: RbacAuthorizer(former.index.changed(put, removed)),
            is_long=_are_many((*put, *removed)),
        )

    @on_loop
    def authorize(self, attributes: Attributes) -> Answer:
        """Decide as `RbacAuthorizer.authorize` does, by what is stored now."""
        return self.current().authorize(attributes)

    @property
    def is_settled(self) -> bool:
        """Return whether all that `current` has seen is in force."""
        return self._lagging.is_settled

    async def settled(self) -> None:
        """Wait until all that `current` has seen is in force."""
        await self._lagging.settled()

    def _objects(self) -> list[JsonObject]:
        return [item.object for mirror in self._mirrors for item in mirror]

    def _with_all(self, objects: Iterable[JsonObject]) -> RbacAuthorizer:
        return RbacAuthorizer(RoleIndex(objects, aggregating=self._aggregating))


def _put_and_removed(news: News) -> tuple[list[JsonObject], list[JsonObject]]:
    put, removed = [], []
    for before, after in news:
        if after is not None:
            put.append(after.object)
        elif before is not None:
            removed.append(before.object)
    return put, removed


def _are_many(objects: Iterable[JsonObject]) -> bool:
    """Return whether so much is in roles and bindings that looking at it takes long."""
    members = ((item.get("rules") or (), item.get("subjects") or ()) for item in objects)
    return sum(len(rules) + len(subjects) for rules, subjects in members) > _MANY
