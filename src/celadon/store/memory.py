"""A store that lives as long as the process: for tests, and for servers that begin empty.

It may begin with what another store has, which costs nothing for each entry but its place: entries
are shared, as nobody changes them.
"""

from __future__ import annotations

from collections.abc import Sequence

from celadon.store.contract import Event, Page
from celadon.store.keyspace import Keyspace
from celadon.store.local_store import Carrier, Clocks, LocalStore, at_once
from celadon.store.retention import Retention
from celadon.store.writers import DirectWriter


class _Nowhere:
    """A `local_store.Journal` that keeps nothing."""

    def append(
        self, events: Sequence[Event], compacted: int, obsolete: Sequence[tuple[int, str]]
    ) -> None:
        pass

    def trouble(self) -> str:
        return ""

    @property
    def is_short_of_room(self) -> bool:
        return False

    def close(self) -> None:
        pass


def open_memory(
    retention: Retention | None = None,
    clocks: Clocks | None = None,
    carry: Carrier = at_once,
    beginning: Page | None = None,
) -> LocalStore:
    """An empty store, or one with the entries of a page, at its revision, which is the oldest that
    can be read. Writes are carried out by the caller: unless `carry` delays them (see
    `LocalStore`), futures are done on return, and watches have been notified by then. `retention`
    as `Retention()` unless given; `clocks` the system's."""
    space = Keyspace() if beginning is None else _keyspace(beginning)
    return LocalStore(
        space, _Nowhere(), DirectWriter, retention or Retention(), clocks or Clocks(), carry
    )


def _keyspace(page: Page) -> Keyspace:
    changes = ((entry.mod_revision, entry.key, entry) for entry in page.entries)
    return Keyspace.restored(changes, page.revision)
