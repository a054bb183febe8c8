"""Deciding a batch of transactions before any of it is real.

A draft lays the outcomes of a batch over a keyspace that it does not touch. Each transaction sees
those decided before it in the batch, so that two writers of the same key in one batch conflict as
they would one after the other. Then either the whole draft becomes durable and its events are
applied to the keyspace, or all of it is thrown away, conflicts included: they may speak of entries
that never came to be.
"""

from __future__ import annotations

from celadon.store.contract import (
    Committed,
    Conflict,
    Entry,
    Event,
    Operation,
    Outcome,
    Put,
    Transaction,
)
from celadon.store.keyspace import Keyspace


class Draft:
    """`events` are those of all transactions so far, `revision` that of the last. `now` in seconds
    since 1970."""

    def __init__(self, base: Keyspace, now: float) -> None:
        self._base = base
        self._now = int(now)
        self._changed: dict[str, Entry | None] = {}
        self.events: list[Event] = []
        self.revision = base.revision

    def _current(self, key: str) -> Entry | None:
        if key in self._changed:
            return self._changed[key]
        return self._base.current(key)

    def decide(self, transaction: Transaction) -> Outcome:
        for condition in transaction.conditions:
            entry = self._current(condition.key)
            if (entry.mod_revision if entry else 0) != condition.mod_revision:
                current = tuple([self._current(one.key) for one in transaction.conditions])
                return Conflict(self.revision, current)
        revision = self.revision + 1
        events = tuple([self._event(one, revision) for one in transaction.operations])
        for event in events:
            if event is not None:
                self._changed[event.key] = event.entry
                self.events.append(event)
                self.revision = revision
        return Committed(self.revision, events)

    def _event(self, operation: Operation, revision: int) -> Event | None:
        key = operation.key
        previous = self._current(key)
        if isinstance(operation, Put):
            created = previous.create_revision if previous else revision
            expires = None if operation.seconds is None else self._now + operation.seconds
            entry = Entry(key, operation.value, created, revision, expires)
            return Event(revision, key, entry, previous)
        return Event(revision, key, None, previous) if previous else None
