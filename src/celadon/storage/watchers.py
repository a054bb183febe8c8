"""Watches: who gets which event, and how much may wait unread.

Every watch has a queue of its own, which holds references to events that all share, and that the
history has as well: a watch that has not read what the history forgets ends. So all watches
together hold no more than the history does. A watch is found by its prefix: the prefixes of all
watches have few different lengths, so an event is looked up once for each length. All of this
happens under the one lock that also guards the keyspace; only `notify` is called after it is
released.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Future
from queue import Empty, SimpleQueue
from threading import Lock, Thread
from typing import Any, Final, Protocol

from celadon.records import dataclass
from celadon.storage.contract import (
    Delivery,
    Event,
    StoreClosed,
    StoreError,
    Transaction,
    WatchEnded,
    WatchOverflow,
)
from celadon.storage.keyspace import Keyspace


class Watcher:
    """The `contract.Watch` of local stores. `after`: no event up to there is wanted."""

    def __init__(
        self,
        watchers: Watchers,
        prefix: str,
        after: int,
        notify: Callable[[], object] | None,
        replay: Sequence[Event],
        buffer: int,
    ) -> None:
        self.prefix = prefix
        self._watchers = watchers
        self._after = after
        self._notify = notify
        self._waiting = deque(replay)
        self._buffer = buffer
        self._replayed = len(replay)  # how many of those waiting do not count
        self._told = bool(replay)
        self._end: StoreError | None = None

    def take(self, limit: int | None = None) -> Delivery:
        with self._watchers.lock:
            self._told = False
            waiting = self._waiting
            if not waiting:
                if self._end is not None:
                    raise self._end
                return Delivery((), max(self._watchers.space.revision, self._after))
            count = len(waiting) if limit is None else min(max(limit, 1), len(waiting))
            taken = [waiting.popleft() for _ in range(count)]
            while waiting and waiting[0].revision == taken[-1].revision:
                taken.append(waiting.popleft())
            self._replayed = max(0, self._replayed - len(taken))
            complete = waiting[0].revision - 1 if waiting else self._watchers.space.revision
            return Delivery(tuple(taken), max(complete, self._after))

    def close(self) -> None:
        with self._watchers.lock:
            self._waiting.clear()
            self._notify = None
            self._watchers.end(self, WatchEnded("the watch is closed"))

    def offer(self, event: Event) -> bool:
        """Under the lock. Whether to tell the reader."""
        if event.revision <= self._after:
            return False
        if len(self._waiting) - self._replayed >= self._buffer:
            return self.drop(f"more than {self._buffer} events")
        self._waiting.append(event)
        return self._tell()

    def is_behind(self, revision: int) -> bool:
        """Under the lock. Whether an event up to a revision has not been read."""
        return bool(self._waiting) and self._waiting[0].revision <= revision

    def drop(self, unread: str) -> bool:
        """Under the lock. Whether to tell the reader that it has read too little."""
        self._waiting.clear()
        return self._watchers.end(self, WatchOverflow(unread))

    def finish(self, end: StoreError) -> bool:
        """Under the lock. Whether to tell the reader. The first end counts."""
        if self._end is not None:
            return False
        self._end = end
        return self._tell()

    def _tell(self) -> bool:
        """Return whether the reader still has to be told that there is something."""
        told, self._told = self._told, True
        return not told and self._notify is not None

    def notify(self) -> None:
        """Not under the lock."""
        notify = self._notify
        if notify is not None:
            notify()


class Watchers:
    """All watches of a store. `lock` guards them and `space`."""

    def __init__(self, space: Keyspace, lock: Lock) -> None:
        self.space = space
        self.lock = lock
        self._by_prefix: dict[str, dict[Watcher, None]] = {}
        self._lengths: tuple[int, ...] = ()

    def open(
        self, prefix: str, after: int | None, notify: Callable[[], object] | None, buffer: int
    ) -> Watcher:
        """Under the lock. Raises Compacted."""
        if after is None:
            after = self.space.revision
        replay = self.space.events_after(after, prefix)
        watcher = Watcher(self, prefix, after, notify, replay, buffer)
        self._by_prefix.setdefault(prefix, {})[watcher] = None
        self._measure()
        return watcher

    def publish(self, events: Iterable[Event]) -> dict[Watcher, None]:
        """Under the lock. Which watches to tell when it is released."""
        told: dict[Watcher, None] = {}
        for event in events:
            key = event.key
            for length in self._lengths:
                if length > len(key):
                    break
                for watcher in tuple(self._by_prefix.get(key[:length], ())):
                    if watcher.offer(event):
                        told[watcher] = None
        return told

    def forget(self, revision: int) -> dict[Watcher, None]:
        """Under the lock, when the history up to a revision goes. Which watches to tell."""
        behind = [
            one for same in self._by_prefix.values() for one in same if one.is_behind(revision)
        ]
        return {one: None for one in behind if one.drop("events that are forgotten")}

    def end(self, watcher: Watcher, error: StoreError) -> bool:
        """Under the lock. Whether to tell the reader."""
        same = self._by_prefix.get(watcher.prefix, {})
        same.pop(watcher, None)
        if not same:
            self._by_prefix.pop(watcher.prefix, None)
            self._measure()
        return watcher.finish(error)

    def end_all(self, error: StoreError) -> dict[Watcher, None]:
        """Under the lock. Which watches to tell when it is released."""
        watchers = [one for same in self._by_prefix.values() for one in same]
        return {one: None for one in watchers if self.end(one, error)}

    def tell(self, watchers: Iterable[Watcher]) -> None:
        """Not under the lock. A reader that cannot be told (its event loop is closed) has gone."""
        for watcher in watchers:
            try:
                watcher.notify()
            except Exception as error:  # noqa: BLE001  # House rule 17: foreign code, at our edge
                ended = WatchEnded(f"the watch was cancelled: it could not be notified: {error}")
                with self.lock:
                    self.end(watcher, ended)

    def _measure(self) -> None:
        self._lengths = tuple(sorted({len(prefix) for prefix in self._by_prefix}))


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
    """`future` will have an outcome for a transaction, a revision for a compaction."""

    request: Transaction | Compaction
    future: Future[Any]


def settle(jobs: Sequence[Job], results: Sequence[Any]) -> None:
    """Each job's future gets its result, or fails if that is an exception."""
    for job, result in zip(jobs, results, strict=True):
        if isinstance(result, BaseException):
            job.future.set_exception(result)
        else:
            job.future.set_result(result)


class Writer(Protocol):
    """Who carries out writes, one batch at a time."""

    def put(self, job: Job) -> None:
        """See to it that the job is carried out. Raises StoreClosed."""

    def close(self) -> None:
        """No more jobs; returns when all are carried out. May be repeated."""


class DirectWriter:
    """Every job is a batch, carried out at once by whoever hands it in."""

    def __init__(self, write: Callable[[Sequence[Job]], None]) -> None:
        self._write = write
        self._closed = False

    def put(self, job: Job) -> None:
        if self._closed:
            raise StoreClosed("the store is closed")
        self._write((job,))

    def close(self) -> None:
        self._closed = True


class ThreadedWriter:
    """A thread carries out what has gathered since it last looked.

    The queue has no bound of its own: each writer waits for its future, so there are never more
    jobs than writers. Should the thread die of a defect, all jobs fail with StoreClosed.
    """

    def __init__(self, write: Callable[[Sequence[Job]], None]) -> None:
        self._write = write
        self._jobs: SimpleQueue[Job | None] = SimpleQueue()
        self._lock = Lock()  # INVARIANT (None is last): no job is queued behind the final None
        self._closed = False
        self._thread = Thread(target=self._run, name="celadon-store-writer", daemon=True)
        self._thread.start()

    def put(self, job: Job) -> None:
        with self._lock:
            if self._closed:
                raise StoreClosed("the store is closed")
            self._jobs.put(job)

    def close(self) -> None:
        with self._lock:
            if not self._closed:
                self._closed = True
                self._jobs.put(None)
        self._thread.join()

    def _run(self) -> None:
        try:
            while batch := self._gather():
                self._write(batch)
        finally:
            self._refuse()

    def _gather(self) -> list[Job]:
        """At least one job, unless the store is being closed."""
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
        while True:
            try:
                job = self._jobs.get_nowait()
            except Empty:
                return
            if job is not None and job.future.set_running_or_notify_cancel():
                job.future.set_exception(StoreClosed("the store's writer has failed"))
