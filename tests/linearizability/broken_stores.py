"""Stores with the bugs that a checker is for."""

from __future__ import annotations

from concurrent.futures import Future
from typing import Any

from celadon.storage import Committed, Entry, Outcome, Transaction, open_memory
from celadon.storage.local_store import LocalStore


class Broken:
    """A store in memory, with a bug."""

    def __init__(self) -> None:
        self.store: LocalStore = open_memory()
        self.count = 0

    def __getattr__(self, name: str) -> Any:
        return getattr(self.store, name)


class StaleReads(Broken):
    """Now and then a read shows what was there a while ago."""

    def get(self, key: str, revision: int | None = None) -> Entry | None:
        self.count += 1
        old = max(self.store.revision() - 8, 1)
        return self.store.get(key, old if self.count % 7 == 0 else revision)


class LostUpdates(Broken):
    """Now and then a condition is not looked at."""

    def submit(self, transaction: Transaction) -> Future[Outcome]:
        self.count += 1
        if self.count % 5 == 0:
            transaction = Transaction((), transaction.operations)
        return self.store.submit(transaction)


class ForgottenWrites(Broken):
    """Now and then a write is acknowledged that does not happen, as by a store that acknowledges
    before it is durable, and dies."""

    def submit(self, transaction: Transaction) -> Future[Outcome]:
        self.count += 1
        future = self.store.submit(transaction)
        outcome = future.result()
        event = outcome.events[0] if isinstance(outcome, Committed) else None
        if self.count % 9 == 0 and event is not None and event.entry is not None:
            self.store._keyspace._entries[event.key] = Entry(event.key, b"0", 1, 1)
        return future


class RevisionsUsedTwice(Broken):
    """Now and then a write is told the revision of the one before."""

    def submit(self, transaction: Transaction) -> Future[Outcome]:
        self.count += 1
        outcome = self.store.submit(transaction).result()
        if self.count % 5 == 0 and isinstance(outcome, Committed) and outcome.revision > 3:
            outcome = Committed(outcome.revision - 1, outcome.events)
        future: Future[Outcome] = Future()
        future.set_result(outcome)
        return future
