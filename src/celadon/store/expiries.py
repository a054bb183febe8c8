"""Which entries go by themselves, and when."""

from __future__ import annotations

from collections.abc import Iterable
from heapq import heappop, heappush

from celadon.store.contract import Entry
from celadon.store.keyspace import Keyspace


class Expiries:
    """Not for several threads at once."""

    def __init__(self) -> None:
        self._waiting: list[tuple[int, str, int]] = []
        """Heap of the second, the key and the `mod_revision` of entries; some are gone."""

    def note(self, entries: Iterable[Entry | None]) -> None:
        """Entries that have come to be."""
        for one in entries:
            if one is not None and one.expires is not None:
                heappush(self._waiting, (one.expires, one.key, one.mod_revision))

    def due(self, space: Keyspace, now: float) -> list[Entry]:
        """What is still there and should not be; the same again until it is gone."""
        entries = []
        while self._waiting and self._waiting[0][0] <= now:
            _, key, revision = heappop(self._waiting)
            entry = space.current(key)
            if entry is not None and entry.mod_revision == revision:
                entries.append(entry)
        self.note(entries)
        return entries
