"""Clients that write, read and list the same few keys at the same time, and what they were told."""

from __future__ import annotations

import threading
from random import Random
from time import monotonic

from celadon.storage import (
    Committed,
    Condition,
    Conflict,
    Delete,
    Entry,
    Put,
    Store,
    StoreError,
    Transaction,
)
from tests.linearizability.checker import NEVER, Listing, Operation, State

KEYS = tuple(f"/key/{number}" for number in range(5))


def state_of(entry: Entry | None) -> State:
    """As the checker has it."""
    return None if entry is None else (entry.value, entry.mod_revision)


class History:
    """What all clients asked and were told."""

    def __init__(self) -> None:
        self.operations: list[Operation] = []
        self.listings: list[Listing] = []
        self._number = 0
        self._lock = threading.Lock()

    def unique(self) -> bytes:
        """A value that nobody else writes."""
        with self._lock:
            self._number += 1
            return b"%d" % self._number

    def run(
        self,
        store: Store,
        clients: int,
        count: int,
        seed: int,
    ) -> None:
        """Each client does `count` things."""
        chances = [Random(f"{seed}/{number}") for number in range(clients)]
        threads = [
            threading.Thread(target=self._client, args=(store, chance, count)) for chance in chances
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    def _client(self, store: Store, chance: Random, count: int) -> None:
        known: dict[str, Entry | None] = {}
        for _ in range(count):
            key, what = chance.choice(KEYS), chance.random()
            try:
                if what < 0.3:
                    self._read(store, key)
                elif what < 0.4:
                    self._list(store)
                else:
                    self._write(store, key, chance, known)
            except StoreError:
                continue

    def _read(self, store: Store, key: str) -> None:
        called = monotonic()
        store.synced().result(30)
        found = state_of(store.get(key))
        self.operations.append(Operation(key, "read", called, monotonic(), found=found))

    def _list(self, store: Store) -> None:
        called = monotonic()
        store.synced().result(30)
        page = store.range("/key/")
        entries = {one.key: state_of(one) for one in page.entries}
        self.listings.append(Listing(called, monotonic(), page.revision, entries))

    def _write(
        self, store: Store, key: str, chance: Random, known: dict[str, Entry | None]
    ) -> None:
        """On the condition that the key is as this client has seen it, now or a while ago."""
        if key not in known or chance.random() < 0.7:
            known[key] = store.get(key)
        entry = known[key]
        seen = 0 if entry is None else entry.mod_revision
        expected = None if chance.random() < 0.2 else seen
        value = self.unique()
        is_put = entry is None or chance.random() < 0.8
        kind = "put" if is_put else "delete"
        conditions = () if expected is None else (Condition(key, expected),)
        operation = Put(key, value) if is_put else Delete(key)
        called = monotonic()
        try:
            outcome = store.submit(Transaction(conditions, (operation,))).result(30)
        except StoreError:
            self.operations.append(Operation(key, kind, called, NEVER, value, expected))
            return
        now = monotonic()
        if isinstance(outcome, Conflict):
            found = state_of(outcome.current[0])
            told = Operation(key, kind, called, now, value, expected, done=False, found=found)
        else:
            assert isinstance(outcome, Committed)
            revision = outcome.revision if outcome.events[0] is not None else 0
            told = Operation(key, kind, called, now, value, expected, revision=revision)
        self.operations.append(told)
