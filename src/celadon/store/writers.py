"""Who carries out a batch of writes: the caller, or a thread that gathers many callers' writes.

A writer is given a function that carries out a batch. Only one batch is under way at a time.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import Future
from queue import Empty, SimpleQueue
from threading import Lock, Thread
from typing import Any, Final, Protocol

from celadon.records import dataclass
from celadon.store.contract import Transaction
from celadon.store.errors import StoreClosed

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
