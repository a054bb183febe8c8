"""The entries under a prefix, kept current by a watch that is read when somebody asks.

Asking costs one look at the store's revision when nothing has changed. A view that computes
something from a mirror does so again when `refresh` says that there is something new.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from celadon.serve.objects.object_store import ObjectStore, StoredObject
from celadon.serve.objects.strange_values import Undecodable
from celadon.store import Compacted, Watch, WatchLost, WatchOverflow

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
            events = self._watch.take().events
            for event in events:
                if event.entry is None:
                    self._stored.pop(event.key, None)
                else:
                    self._stored[event.key] = self._objects.stored(event.entry)
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
