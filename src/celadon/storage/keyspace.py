"""The keyspace: all entries and the recent events, in memory, from which every local store reads,
and the watches that are told of events.

Theory of operation: there are no lists of versions. Kept are the entries of now, their keys in
order, and the events since the last compaction, each with the entry it replaced. What was at an
older revision is what is now, with the later events undone: for every key that has changed since,
the `previous` of its first later event. That makes reads of now as cheap as a dictionary, and reads
of the past as dear as what has happened since, which is little while somebody turns pages. Exact
counts come for free: keys in order give the number of those in a range, and the undone events
correct it.

Not safe for threads; whoever owns a keyspace guards it.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right, insort
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager
from operator import attrgetter
from queue import Empty, SimpleQueue
from threading import Lock, Thread
from typing import Any, Final, Protocol, TypeAlias

from celadon.records import dataclass
from celadon.storage import contract

# --- The keyspace ------------------------------------------------------------

_revision_of = attrgetter("revision")


class Keyspace:
    """Holds keys, values and their history. `revision` is that of the last change, `compacted` the
    oldest that can be read."""

    def __init__(self) -> None:
        self.revision = contract.FIRST_REVISION
        self.compacted = 0
        self._entries: dict[str, contract.Entry] = {}
        self._keys: list[str] = []
        self._events: list[contract.Event] = []
        self._superseded = 0

    @classmethod
    def restored(
        cls, changes: Iterable[tuple[int, str, contract.Entry | None]], compacted: int
    ) -> Keyspace:
        """Return a keyspace made from changes (revision, key, new entry) in order: all after
        `compacted`, and of the earlier ones at least those that were still in force then."""
        space = cls()
        entries, events = space._entries, space._events
        for revision, key, entry in changes:
            if revision > compacted:
                events.append(contract.Event(revision, key, entry, entries.get(key)))
            if entry is not None:
                entries[key] = entry
            else:
                entries.pop(key, None)
        space.compacted = compacted
        last = events[-1].revision if events else compacted
        space.revision = max(space.revision, last)
        space._keys = sorted(entries)
        space._superseded = sum(map(_superseded_bytes, events))
        return space

    def __len__(self) -> int:
        return len(self._entries)

    def current(self, key: str) -> contract.Entry | None:
        return self._entries.get(key)

    def get(self, key: str, revision: int | None) -> contract.Entry | None:
        entry = self._entries.get(key)
        if revision is None:
            return entry
        self._must_have(revision)
        if entry is not None and entry.mod_revision <= revision:
            return entry
        return next((event.previous for event in self._since(revision) if event.key == key), None)

    def range(
        self, prefix: str, start: str, limit: int | None, revision: int | None
    ) -> contract.Page:
        if revision is None:
            revision = self.revision
        self._must_have(revision)
        begin, end = self._span(prefix, start)
        changed = self._undone(prefix, start, revision)
        if changed:
            keys = [key for key in self._keys[begin:end] if key not in changed]
            keys += [key for key, entry in changed.items() if entry is not None]
            keys.sort()
            begin, end = 0, len(keys)
        else:
            keys = self._keys
        stop = end if limit is None else min(end, begin + limit)
        entries, chosen = self._entries, keys[begin:stop]
        if changed:
            result = tuple([changed.get(key) or entries[key] for key in chosen])
        else:
            result = tuple(map(entries.__getitem__, chosen))
        return contract.Page(result, revision, end - stop)

    def _span(self, prefix: str, start: str) -> tuple[int, int]:
        """Return where in the keys those of a prefix are."""
        begin = bisect_left(self._keys, max(prefix, start))
        if begin == len(self._keys) or not self._keys[begin].startswith(prefix):
            return begin, begin  # mostly: who asks wants to know whether there are any
        # Cutting keys at one length keeps their order. From `begin` on none is before the prefix.
        length = len(prefix)
        end = bisect_right(self._keys, prefix, begin, key=lambda key: key[:length])
        return begin, end

    def _undone(self, prefix: str, start: str, revision: int) -> dict[str, contract.Entry | None]:
        """Return what was at a revision under those keys that have changed since."""
        undone: dict[str, contract.Entry | None] = {}
        for event in self._since(revision):
            if event.key.startswith(prefix) and event.key >= start:
                undone.setdefault(event.key, event.previous)
        return undone

    def _since(self, revision: int) -> Sequence[contract.Event]:
        if revision >= self.revision:
            return ()
        return self._events[bisect_right(self._events, revision, key=_revision_of) :]

    def _must_have(self, revision: int) -> None:
        if revision < self.compacted:
            raise contract.Compacted(revision, self.compacted)
        if revision > self.revision:
            raise contract.FutureRevision(revision, self.revision)

    def events_after(self, revision: int, prefix: str) -> list[contract.Event]:
        """Return the events of a prefix after a revision; in the future there are none yet. Raises
        Compacted."""
        if revision < self.compacted:
            raise contract.Compacted(revision, self.compacted)
        return [event for event in self._since(revision) if event.key.startswith(prefix)]

    def apply(self, events: Iterable[contract.Event]) -> None:
        """Let events happen, in order, each newer than all before or of the same transaction."""
        for event in events:
            key, entry = event.key, event.entry
            if entry is None:
                del self._entries[key]
                del self._keys[bisect_left(self._keys, key)]
            else:
                if event.previous is None:
                    insort(self._keys, key)
                self._entries[key] = entry
            self._events.append(event)
            self._superseded += _superseded_bytes(event)
            self.revision = event.revision

    def advance(self, revision: int) -> None:
        """Note that nothing has happened up to a revision that is not older than the current
        one."""
        self.revision = revision

    def history_length(self) -> int:
        """Return how many events are kept."""
        return len(self._events)

    def revision_before(self, events: int) -> int:
        """Return what to compact to so that about so many of the newest events stay."""
        surplus = len(self._events) - events
        return self._events[surplus - 1].revision if surplus > 0 else self.compacted

    def history_bytes(self) -> int:
        """Return the bytes of the values that only the history has: those that others have
        replaced."""
        return self._superseded

    def revision_before_bytes(self, most: int) -> int:
        """Return what to compact to so that the history has at most so many bytes."""
        revision, rest = self.compacted, self._superseded
        for event in self._events:
            if rest <= most:
                break
            rest -= _superseded_bytes(event)
            revision = event.revision
        return revision

    def obsolete_at(self, revision: int) -> list[tuple[int, str]]:
        """Return which changes (revision, key) a compaction makes useless: those that were undone
        by another no later than it, and the deletions among them."""
        useless = []
        for event in self._events[: self._number_up_to(revision)]:
            if event.previous is not None:
                useless.append((event.previous.mod_revision, event.key))
            if event.entry is None:
                useless.append((event.revision, event.key))
        return useless

    def compact(self, revision: int) -> None:
        """Forget the events up to and including a revision, which stays readable."""
        number = self._number_up_to(revision)
        self._superseded -= sum(map(_superseded_bytes, self._events[:number]))
        del self._events[:number]
        self.compacted = revision

    def _number_up_to(self, revision: int) -> int:
        return bisect_right(self._events, revision, key=_revision_of)


def _superseded_bytes(event: contract.Event) -> int:
    return 0 if event.previous is None else len(event.previous.value)


# --- Retention ---------------------------------------------------------------
#
# How much history is kept without being asked: by number of events, by age, and by bytes.
#
# All bounds hold: an event goes when there are too many newer ones, when these have replaced
# too much, or when it is too old. Nothing runs in the background; each batch of writes forgets
# what has become due, so the age bound acts at the next write. Number and bytes are allowed to
# run over by a tenth, so that forgetting, which costs about as much as writing, comes in
# pieces.

SLACK: Final = 10
"""The number of events, and that of bytes, may be exceeded by its tenth part."""

MARKS: Final = 100
"""Ages are known to the hundredth part of the longest."""


@dataclass(frozen=True, slots=True)
class Retention:
    """Holds how much history is kept: `events` and `seconds` to keep, and `bytes` of values that
    have been replaced; None: no bound.

    The defaults are generous for a client that turns pages or comes back after a restart
    (kube-apiserver keeps 5 to 10 minutes of history) and bound memory and the time to open a file.
    """

    events: int | None = 20_000
    seconds: float | None = 600.0
    bytes: int | None = 64 << 20


class Schedule:
    """Remembers when revisions came, and says what is due. History that is there at the beginning
    counts as new."""

    def __init__(self, retention: Retention, clock: Callable[[], float]) -> None:
        self._retention = retention
        self._clock = clock
        self._marks: deque[tuple[float, int]] = deque()

    def note(self, revision: int) -> None:
        """Note that the state is at `revision` now."""
        seconds = self._retention.seconds
        if seconds is None:
            return
        now = self._clock()
        if not self._marks or now >= self._marks[-1][0] + seconds / MARKS:
            self._marks.append((now, revision))

    def due(self, space: Keyspace) -> int:
        """Return the revision to compact to; `space.compacted` when nothing is due."""
        by_number, by_bytes = self._due_by_number(space), self._due_by_bytes(space)
        return max(space.compacted, self._due_by_age(), by_number, by_bytes)

    def _due_by_age(self) -> int:
        """Return the newest revision that is known to be too old; 0: none."""
        if self._retention.seconds is None:
            return 0
        oldest, marks = self._clock() - self._retention.seconds, self._marks
        while len(marks) > 1 and marks[1][0] < oldest:
            marks.popleft()
        return marks[0][1] if marks[0][0] < oldest else 0

    def _due_by_number(self, space: Keyspace) -> int:
        events = self._retention.events
        if events is None or space.history_length() <= events + events // SLACK:
            return 0
        return space.revision_before(events)

    def _due_by_bytes(self, space: Keyspace) -> int:
        most = self._retention.bytes
        if most is None or space.history_bytes() <= most + most // SLACK:
            return 0
        return space.revision_before_bytes(most)


# --- Watches -----------------------------------------------------------------
#
# Watches: who gets which event, and how much may wait unread.
#
# Every watch has a queue of its own, which holds references to events that all share, and that
# the history has as well: a watch that has not read what the history forgets ends. So all watches
# together hold no more than the history does. A watch is found by its prefix: most are folders, and
# which of them are above a key is remembered by its folder; the others have few different lengths,
# so an event is looked up once for each length. All of this happens under the one lock that also
# guards the keyspace; only `notify` is called after it is released.


class Watcher:
    """The `contract.Watch` of local stores. `after`: no event up to there is wanted."""

    def __init__(
        self,
        watchers: Watchers,
        prefix: str,
        after: int,
        notify: Callable[[], object] | None,
        replay: Sequence[contract.Event],
        buffer: int,
    ) -> None:
        self.prefix = prefix
        self._watchers = watchers
        self._start_revision = after
        self._notify = notify
        self._waiting = deque(replay)
        self._buffer = buffer
        self._replayed = len(replay)  # how many of those waiting do not count
        self._is_notified = bool(replay)
        self._end: contract.StoreError | None = None

    def take(self, limit: int | None = None) -> contract.Delivery:
        with self._watchers.lock:
            self._is_notified = False
            waiting = self._waiting
            if len(waiting) == 1:  # as a rule
                self._replayed, events = 0, (waiting.popleft(),)
                return contract.Delivery(events, self._watchers.space.revision, self._end is None)
            if not waiting:
                if self._end is not None:
                    raise self._end
                return contract.Delivery(
                    (), max(self._watchers.space.revision, self._start_revision)
                )
            count = len(waiting) if limit is None else min(max(limit, 1), len(waiting))
            several = [waiting.popleft() for _ in range(count)]
            while waiting and waiting[0].revision == several[-1].revision:
                several.append(waiting.popleft())
            self._replayed = max(0, self._replayed - len(several))
            complete = waiting[0].revision - 1 if waiting else self._watchers.space.revision
            is_all = not waiting and self._end is None
            return contract.Delivery(tuple(several), max(complete, self._start_revision), is_all)

    def take_only(self) -> contract.Event | None:
        with self._watchers.lock:
            waiting = self._waiting
            if len(waiting) != 1 or self._end is not None:
                return None
            self._is_notified = False
            self._replayed = 0
            return waiting.popleft()

    def is_waiting(self) -> bool:
        # Without the lock, for a dozen ask after each write: an event waits before its revision can
        # be read.
        return bool(self._waiting) or self._end is not None

    def close(self) -> None:
        with self._watchers.lock:
            self._waiting.clear()
            self._notify = None
            self._watchers.end(self, contract.WatchEnded("the watch is closed"))

    def offer(self, event: contract.Event) -> bool:
        """Take an event, under the lock, if it is new; return whether to tell the reader."""
        if event.revision <= self._start_revision:
            return False
        waiting = self._waiting
        if waiting and len(waiting) - self._replayed >= self._buffer:
            return self.drop(f"more than {self._buffer} events")
        waiting.append(event)
        # As `_tell`, without its call for each watch.
        if self._is_notified:
            return False
        self._is_notified = True
        return self._notify is not None

    def is_behind(self, revision: int) -> bool:
        """Tell, under the lock, whether an event up to a revision has not been read."""
        return bool(self._waiting) and self._waiting[0].revision <= revision

    def drop(self, unread: str) -> bool:
        """End the watch, under the lock, since it was not read in time; return whether to tell the
        reader."""
        ended = self._watchers.end(self, contract.WatchOverflow(unread))
        self._waiting.clear()  # only now: whoever asks without the lock sees one or the other
        return ended

    def finish(self, end: contract.StoreError) -> bool:
        """End the watch, under the lock; return whether to tell the reader. The first end
        counts."""
        if self._end is not None:
            return False
        self._end = end
        return self._tell()

    def _tell(self) -> bool:
        """Return whether the reader still has to be told that there is something."""
        was_told, self._is_notified = self._is_notified, True
        return not was_told and self._notify is not None

    def notify(self) -> None:
        """Notify the reader. Call it without the lock."""
        notify = self._notify
        if notify is not None:
            notify()


_SLASH: Final = "/"
_MOST_FOLDERS: Final = 1_000


class Watchers:
    """Holds all watches of a store. `lock` guards them and `space`."""

    def __init__(self, space: Keyspace, lock: Lock) -> None:
        self.space = space
        self.lock = lock
        self._by_prefix: dict[str, dict[Watcher, None]] = {}
        self._lengths: tuple[int, ...] = ()
        """Of the prefixes that are no folders."""
        self._above: dict[str, Sequence[dict[Watcher, None]]] = {}
        """The watches of a folder and of those above it, until there is another prefix."""

    def open(
        self, prefix: str, after: int | None, notify: Callable[[], object] | None, buffer: int
    ) -> Watcher:
        """Open a watch, under the lock. Raises Compacted."""
        if after is None:
            after = self.space.revision
        replay = self.space.events_after(after, prefix)
        watcher = Watcher(self, prefix, after, notify, replay, buffer)
        if prefix not in self._by_prefix:
            self._by_prefix[prefix] = {}
            self._measure()
        self._by_prefix[prefix][watcher] = None
        return watcher

    def publish(self, events: Iterable[contract.Event]) -> dict[Watcher, None]:
        """Offer events to the watches, under the lock; return which to tell when it is released."""
        watchers: dict[Watcher, None] = {}
        for event in events:
            for same in self._about(event.key):
                for watcher in tuple(same):
                    if watcher.offer(event):
                        watchers[watcher] = None
        return watchers

    # To look once for each length took 3 % of the create of a policy: most prefixes are folders.
    def _about(self, key: str) -> Sequence[dict[Watcher, None]]:
        """Return the watches whose prefix the key has."""
        folder = key[: key.rfind(_SLASH) + 1]
        above = self._above.get(folder)
        if above is None:
            ends = (end for end, letter in enumerate(folder, 1) if letter == _SLASH)
            folders = map(self._by_prefix.get, (folder[:end] for end in ends))
            above = [same for same in folders if same is not None]
            if len(self._above) >= _MOST_FOLDERS:
                self._above.clear()
            self._above[folder] = above
        if not self._lengths:
            return above
        # What is a folder is among those above already, however long the others are.
        prefixes = (key[:length] for length in self._lengths if length <= len(key))
        others = (prefix for prefix in prefixes if not prefix.endswith(_SLASH))
        return [*above, *(self._by_prefix.get(prefix, {}) for prefix in others)]

    def forget(self, revision: int) -> dict[Watcher, None]:
        """End watches, under the lock, that have not read what the history forgets up to a
        revision; return which to tell."""
        behind = [
            watcher
            for same in self._by_prefix.values()
            for watcher in same
            if watcher.is_behind(revision)
        ]
        return {watcher: None for watcher in behind if watcher.drop("events that are forgotten")}

    def end(self, watcher: Watcher, error: contract.StoreError) -> bool:
        """End a watch, under the lock; return whether to tell its reader."""
        same = self._by_prefix.get(watcher.prefix, {})
        same.pop(watcher, None)
        if not same:
            self._by_prefix.pop(watcher.prefix, None)
            self._measure()
        return watcher.finish(error)

    def end_all(self, error: contract.StoreError) -> dict[Watcher, None]:
        """End all watches, under the lock; return which to tell when it is released."""
        watchers = [watcher for same in self._by_prefix.values() for watcher in same]
        return {watcher: None for watcher in watchers if self.end(watcher, error)}

    def tell(self, watchers: Iterable[Watcher]) -> None:
        """Notify the readers, without the lock. One that cannot be told (its event loop is closed)
        has gone."""
        for watcher in watchers:
            try:
                watcher.notify()
            except Exception as error:  # noqa: BLE001  # House rule 17: foreign code, at our edge
                ended = contract.WatchEnded(
                    f"the watch was cancelled: it could not be notified: {error}"
                )
                with self.lock:
                    self.end(watcher, ended)

    def _measure(self) -> None:
        others = {len(prefix) for prefix in self._by_prefix if not prefix.endswith(_SLASH)}
        self._lengths = tuple(sorted(others))
        self._above = {}


# --- Reads -------------------------------------------------------------------


class KeyspaceReads:
    """The half of a `contract.Store` that reads: a keyspace and the watches of it, behind a lock
    which guards both."""

    def __init__(self, keyspace: Keyspace) -> None:
        self._keyspace = keyspace
        self._lock = Lock()
        self._watchers = Watchers(keyspace, self._lock)
        self._closed = False

    def revision(self) -> int:
        return self._keyspace.revision  # one number, asked twenty times a request: without the lock

    def get(self, key: str, revision: int | None = None) -> contract.Entry | None:
        with self._lock:
            return self._keyspace.get(key, revision)

    def range(
        self, prefix: str, start: str = "", limit: int | None = None, revision: int | None = None
    ) -> contract.Page:
        with self._lock:
            return self._keyspace.range(prefix, start, limit, revision)

    def watch(
        self,
        prefix: str,
        after: int | None = None,
        notify: Callable[[], object] | None = None,
        buffer: int = contract.WATCH_BUFFER,
    ) -> Watcher:
        with self._lock:
            self._must_be_open()
            return self._watchers.open(prefix, after, notify, buffer)

    def held(self) -> AbstractContextManager[object]:
        return self._lock

    def _must_be_open(self) -> None:
        """Raise StoreClosed once the store is closed."""
        if self._closed:
            raise contract.StoreClosed("the store is closed")


# --- Writers -----------------------------------------------------------------
#
# Who carries out a batch of writes: the caller, or a thread that gathers many callers' writes.
#
# A writer is given a function that carries out a batch. Only one batch is under way at a time.

MAX_BATCH: Final = 512
"""Jobs in one batch; the first of them waits for the last."""


@dataclass(frozen=True, slots=True)
class Compaction:
    """The wish to forget what is older than a revision."""

    revision: int


@dataclass(frozen=True, slots=True)
class Job:
    """Holds what a writer is to carry out. `promise` takes an outcome for a transaction, a revision
    for a compaction."""

    request: contract.Transaction | Compaction
    promise: contract.Promise[Any]


def settle(jobs: Sequence[Job], results: Sequence[Any]) -> None:
    """Give each job's promise its result, or let it fail if that is an exception."""
    for job, result in zip(jobs, results, strict=True):
        if isinstance(result, BaseException):
            job.promise.set_exception(result)
        else:
            job.promise.set_result(result)


class Writer(Protocol):
    """Carries out writes, one batch at a time."""

    def put(self, job: Job) -> None:
        """See to it that the job is carried out. Raises StoreClosed."""

    def close(self) -> None:
        """Take no more jobs; return when all are carried out. May be repeated."""


class DirectWriter:
    """Carries out every job at once, in a batch of its own, by whoever hands it in."""

    def __init__(self, write: Callable[[Sequence[Job]], None]) -> None:
        self._write = write
        self._closed = False

    def put(self, job: Job) -> None:
        if self._closed:
            raise contract.StoreClosed("the store is closed")
        self._write((job,))

    def close(self) -> None:
        self._closed = True


Carrier: TypeAlias = Callable[[Callable[[], object]], object]
"""Gets a function, and has it called where and when its effects are wanted."""


def at_once(function: Callable[[], object]) -> None:
    """Carry an effect out here and now: the carrier that needs no carrying."""
    function()


class ThreadedWriter:
    """A thread carries out what has gathered since it last looked.

    `soon` has the thread told of new jobs. With `loop.call_soon`, which the loop's thread alone may
    call, that happens once for all that one turn of the loop has written. To wake the thread for
    each would interrupt the loop, which shares Python's lock with it, and leave the thread a single
    job to write: 25 waits for a lock and 0.9 flushes a create from 16 clients, instead of 1.2 and
    0.1.

    The queue has no bound of its own: each writer waits for its future, so there are never more
    jobs than writers. Should the thread die of a defect, all jobs fail with StoreClosed.
    """

    def __init__(self, write: Callable[[Sequence[Job]], None], soon: Carrier = at_once) -> None:
        self._write = write
        self._soon = soon
        self._untold: list[Job] = []
        """Jobs that the thread is going to be told of."""
        self._jobs: SimpleQueue[Job | None] = SimpleQueue()
        self._lock = Lock()  # INVARIANT (None is last): no job is queued behind the final None
        self._closed = False
        self._thread = Thread(target=self._run, name="celadon-store-writer", daemon=True)
        self._thread.start()

    def put(self, job: Job) -> None:
        with self._lock:
            if self._closed:
                raise contract.StoreClosed("the store is closed")
            self._untold.append(job)
            is_first = len(self._untold) == 1
        if is_first:
            try:
                self._soon(self._tell)
            except RuntimeError:  # the loop is closed
                self._tell()

    def _tell(self) -> None:
        """Tell the thread of all jobs that it does not know of."""
        with self._lock:
            self._tell_all()

    def _tell_all(self) -> None:
        for job in self._untold:
            self._jobs.put(job)
        self._untold.clear()

    def close(self) -> None:
        with self._lock:
            if not self._closed:
                self._closed = True
                self._tell_all()
                self._jobs.put(None)
        self._thread.join()

    def _run(self) -> None:
        try:
            while batch := self._gather():
                self._write(batch)
        finally:
            self._refuse()

    def _gather(self) -> list[Job]:
        """Return what has gathered: at least one job, unless the store is being closed."""
        batch: list[Job] = []
        job = self._jobs.get()
        while job is not None:
            batch.append(job)
            if len(batch) == MAX_BATCH:
                return batch
            try:
                job = self._jobs.get_nowait()
            except Empty:
                return batch
        if batch:
            self._jobs.put(None)  # once more, for the next time
        return batch

    def _refuse(self) -> None:
        """Fail what nobody will carry out: nothing, unless the thread dies of a defect."""
        with self._lock:
            self._closed = True
            self._tell_all()
        while True:
            try:
                job = self._jobs.get_nowait()
            except Empty:
                return
            if job is not None and job.promise.set_running_or_notify_cancel():
                job.promise.set_exception(contract.StoreClosed("the store's writer has failed"))
