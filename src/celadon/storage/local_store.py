r"""The store of one process: state in memory, changes written to a journal in batches.

Theory of operation. Writers hand in transactions and get futures. One batch at a time, whatever
has gathered is decided against a draft, written to the journal as one unit (for SQLite: one
transaction, one flush to disk), and only then applied to the keyspace, shown to watches and
acknowledged. While the disk works, the next batch gathers: the busier the store, the larger its
batches (group commit). If the journal fails, the draft is dropped, all its writers are told, and
nothing has changed.

    submit -> [writer's queue] -> decide -> journal.append -> apply, publish -> tell, settle
                                  \____ `_writing`: one batch at a time ____/
                                                              \_ `_lock` _/

`_lock` guards the keyspace and the watches, and is never held while the disk works; reads take only
this one. `_writing` is held for a whole batch. Futures are settled and readers told outside both,
so that their callbacks may call the store.

INVARIANT (visible is durable): `_keyspace` changes only in `_apply`, after `journal.append`.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Future
from contextlib import suppress
from heapq import heappop, heappush
from threading import Lock
from typing import Any, Final, Protocol

from celadon.records import dataclass
from celadon.storage import contract
from celadon.storage.keyspace import (
    Carrier,
    Compaction,
    DirectWriter,
    Job,
    Keyspace,
    KeyspaceReads,
    Retention,
    Schedule,
    Watcher,
    Writer,
    at_once,
    settle,
)

# --- Drafts ------------------------------------------------------------------
#
# Deciding a batch of transactions before any of it is real.
#
# A draft lays the outcomes of a batch over a keyspace that it does not touch. Each transaction
# sees those decided before it in the batch, so that two writers of the same key in one batch
# conflict as they would one after the other. Then either the whole draft becomes durable and
# its events are applied to the keyspace, or all of it is thrown away, conflicts included: they
# may speak of entries that never came to be.


class Draft:
    """Holds the changes of a batch that is not written yet. `events` are those of all transactions
    so far, `revision` that of the last. `now` in seconds since 1970."""

    def __init__(self, base: Keyspace, now: float) -> None:
        self._base = base
        self._now = int(now)
        self._changed: dict[str, contract.Entry | None] = {}
        self.events: list[contract.Event] = []
        self.revision = base.revision

    def _current(self, key: str) -> contract.Entry | None:
        if key in self._changed:
            return self._changed[key]
        return self._base.current(key)

    def decide(self, transaction: contract.Transaction) -> contract.Outcome:
        for condition in transaction.conditions:
            entry = self._current(condition.key)
            if (entry.mod_revision if entry else 0) != condition.mod_revision:
                current = tuple(
                    [self._current(condition.key) for condition in transaction.conditions]
                )
                return contract.Conflict(self.revision, current)
        revision = self.revision + 1
        events = tuple([self._event(operation, revision) for operation in transaction.operations])
        for event in events:
            if event is not None:
                self._changed[event.key] = event.entry
                self.events.append(event)
                self.revision = revision
        return contract.Committed(self.revision, events)

    def _event(self, operation: contract.Operation, revision: int) -> contract.Event | None:
        key = operation.key
        previous = self._current(key)
        if isinstance(operation, contract.Put):
            created = previous.create_revision if previous else revision
            expires = None if operation.seconds is None else self._now + operation.seconds
            entry = contract.Entry(key, operation.value, created, revision, expires)
            return contract.Event(revision, key, entry, previous)
        return contract.Event(revision, key, None, previous) if previous else None


# --- Expiries ----------------------------------------------------------------
#
# Which entries go by themselves, and when.


class Expiries:
    """Knows which entries expire when. Several threads must not use it at once."""

    def __init__(self) -> None:
        self._waiting: list[tuple[int, str, int]] = []
        """Heap of the second, the key and the `mod_revision` of entries; some are gone."""

    def note(self, entries: Iterable[contract.Entry | None]) -> None:
        """Note entries that have come to be."""
        for entry in entries:
            if entry is not None and entry.expires is not None:
                heappush(self._waiting, (entry.expires, entry.key, entry.mod_revision))

    def due(self, space: Keyspace, now: float) -> list[contract.Entry]:
        """Return what is still there and should not be; the same again until it is gone."""
        entries = []
        while self._waiting and self._waiting[0][0] <= now:
            _, key, revision = heappop(self._waiting)
            entry = space.current(key)
            if entry is not None and entry.mod_revision == revision:
                entries.append(entry)
        self.note(entries)
        return entries


@dataclass(frozen=True, slots=True)
class Clocks:
    """Gives seconds: of a clock that is never put back, and of the calendar."""

    monotonic: Callable[[], float] = time.monotonic
    since_1970: Callable[[], float] = time.time


TRIAL: Final = contract.Transaction((), ())
"""Changes nothing. A journal that has failed writes it nevertheless, and so learns whether it still
does."""


class Journal(Protocol):
    """Keeps the changes. It is called from one thread at a time, not always the same."""

    def append(
        self, events: Sequence[contract.Event], compacted: int, obsolete: Sequence[tuple[int, str]]
    ) -> None:
        """Make durable, as one unit: that the changes `obsolete` (revision, key) may be forgotten
        and `compacted` is the oldest revision, and the events. Raises StoreError, and then none of
        it has happened."""

    def trouble(self) -> str:
        """Return why the last of it failed; empty if it did not."""

    @property
    def is_short_of_room(self) -> bool:
        """Return whether whatever can be forgotten should be."""

    def close(self) -> None:
        """Close the journal: nothing will be appended any more."""


class LocalStore(KeyspaceReads):
    """A `contract.Store`; `memory` and `sqlite` build it.

    Futures are settled and readers are told by one function for each batch, which `carry` has
    called. With `loop.call_soon_threadsafe` all that happens in the thread of the loop, for one
    wake-up instead of one for each writer; a loop that is closed refuses with RuntimeError, and
    the writing thread calls the function itself.
    """

    def __init__(
        self,
        keyspace: Keyspace,
        journal: Journal,
        writer: Callable[[Callable[[Sequence[Job]], None]], Writer],
        retention: Retention,
        clocks: Clocks,
        carry: Carrier,
    ) -> None:
        super().__init__(keyspace)
        self._journal = journal
        self._writing = Lock()
        self._carry = carry
        self._schedule = Schedule(retention, clocks.monotonic)
        self._schedule.note(keyspace.revision)
        self._now = clocks.since_1970
        self._expiries = Expiries()
        self._expiries.note(keyspace.range("", "", None, None).entries)
        self._synced = (-1, Future[int]())
        """A revision, and what says that it can be read: asked for by every request, and a future
        takes 5 µs to make."""
        self._writer = writer(self._write)

    @property
    def is_shared(self) -> bool:
        return False

    def __enter__(self) -> LocalStore:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def synced(self) -> Future[int]:
        revision = self.revision()
        synced_revision, future = self._synced
        if synced_revision != revision:
            future = Future()
            future.set_result(revision)
            self._synced = revision, future
        return future

    def trouble(self) -> str:
        return ""

    def writing_trouble(self) -> str:
        return self._journal.trouble()

    def submit(self, transaction: contract.Transaction) -> Future[contract.Outcome]:
        future: Future[contract.Outcome] = Future()
        self.carry_out(transaction, future)
        return future

    def carry_out(
        self, transaction: contract.Transaction, promise: contract.Promise[contract.Outcome]
    ) -> None:
        self._writer.put(Job(transaction, promise))

    def compact(self, revision: int) -> Future[int]:
        future: Future[int] = Future()
        self._writer.put(Job(Compaction(revision), future))
        return future

    def sweep(self) -> None:
        with self._lock:
            due = self._expiries.due(self._keyspace, self._now())
        with suppress(contract.StoreClosed):
            for entry in due:
                self.submit(contract.delete(entry.key, entry.mod_revision))
            if self._journal.trouble():
                self.submit(TRIAL)

    def close(self) -> None:
        self._writer.close()
        with self._writing:
            with self._lock:
                first, self._closed = not self._closed, True
                ended = self._watchers.end_all(contract.StoreClosed("the store is closed"))
            if first:
                self._journal.close()
        self._deliver(lambda: self._watchers.tell(ended))

    def _deliver(self, function: Callable[[], object]) -> None:
        try:
            self._carry(function)
        except RuntimeError:
            function()

    def _write(self, jobs: Sequence[Job]) -> None:
        """Write one batch, from its decisions to its acknowledgements."""
        self._write_accepted([job for job in jobs if job.promise.set_running_or_notify_cancel()])

    def _write_accepted(self, jobs: Sequence[Job]) -> None:
        try:
            with self._writing:
                results, watchers = self._commit(jobs)
        except contract.DiskFull as full:
            self._write_what_fits(jobs, full)
            return
        except BaseException as error:
            self._fail(jobs, error)
            if not isinstance(error, contract.StoreError):
                raise
            return

        def announce() -> None:
            self._watchers.tell(watchers)
            settle(jobs, results)

        self._deliver(announce)

    def _write_what_fits(self, jobs: Sequence[Job], full: contract.DiskFull) -> None:
        """Write what fits of a batch for which there was no room: deletions, and less of them at a
        time."""
        fitting = [job for job in jobs if _only_deletes(job)]
        others = [job for job in jobs if not _only_deletes(job)]
        if others:
            self._fail(others, full)
            if fitting:
                self._write_accepted(fitting)
        elif len(fitting) > 1:
            half = len(fitting) // 2
            self._write_accepted(fitting[:half])
            self._write_accepted(fitting[half:])
        else:
            self._fail(fitting, full)

    def _fail(self, jobs: Sequence[Job], error: BaseException) -> None:
        failed = [error] * len(jobs)
        self._deliver(lambda: settle(jobs, failed))

    def _commit(self, jobs: Sequence[Job]) -> tuple[Sequence[Any], Iterable[Watcher]]:
        """Return for each job an outcome, an oldest revision, or a StoreError; and whom to tell."""
        self._must_be_open()
        space = self._keyspace  # changed by nobody else: reading it needs no lock here
        draft = Draft(space, self._now())
        oldest = self._schedule.due(space)
        if self._journal.is_short_of_room:
            oldest = max(oldest, space.revision)
        results: list[Any] = []
        for job in jobs:
            if isinstance(job.request, contract.Transaction):
                results.append(draft.decide(job.request))
                continue
            revision = job.request.revision
            if revision > space.revision:
                results.append(contract.FutureRevision(revision, space.revision))
            elif revision <= oldest:
                results.append(contract.Compacted(revision, oldest))
            else:
                oldest = revision
                results.append(revision)
        if not draft.events and oldest == space.compacted and not self._journal.trouble():
            return results, ()
        self._journal.append(draft.events, oldest, space.obsolete_at(oldest))
        return results, self._apply(draft.events, oldest)

    def _apply(self, events: Sequence[contract.Event], oldest: int) -> Iterable[Watcher]:
        with self._lock:
            # First the watches, then the revision: who sees that sees what waits, without the lock.
            watchers = self._watchers.publish(events)
            self._keyspace.apply(events)
            self._expiries.note(event.entry for event in events)
            if oldest > self._keyspace.compacted:
                self._keyspace.compact(oldest)
                watchers |= self._watchers.forget(oldest)
            self._schedule.note(self._keyspace.revision)
            return watchers


def _only_deletes(job: Job) -> bool:
    """Return whether it makes room, or at least takes none."""
    request = job.request
    return isinstance(request, Compaction) or all(
        isinstance(operation, contract.Delete) for operation in request.operations
    )


# --- Memory ------------------------------------------------------------------
#
# A store that lives as long as the process: for tests, and for servers that begin empty.
#
# It may begin with what another store has, which costs nothing for each entry but its place:
# entries are shared, as nobody changes them.


class _NoJournal:
    """A `local_store.Journal` that keeps nothing."""

    def append(
        self, events: Sequence[contract.Event], compacted: int, obsolete: Sequence[tuple[int, str]]
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
    beginning: contract.Page | None = None,
) -> LocalStore:
    """Return an empty store, or one with the entries of a page, at its revision, which is the
    oldest that can be read. Writes are carried out by the caller: unless `carry` delays them (see
    `LocalStore`), futures are done on return, and watches have been notified by then. `retention`
    as `Retention()` unless given; `clocks` the system's."""
    space = Keyspace() if beginning is None else _keyspace(beginning)
    return LocalStore(
        space, _NoJournal(), DirectWriter, retention or Retention(), clocks or Clocks(), carry
    )


def _keyspace(page: contract.Page) -> Keyspace:
    changes = ((entry.mod_revision, entry.key, entry) for entry in page.entries)
    return Keyspace.restored(changes, page.revision)
