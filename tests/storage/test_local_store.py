"""Batches: nothing is visible before it is durable, and what fails has not happened."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future
from functools import partial
from pathlib import Path

import pytest

from celadon.storage import (
    Committed,
    Compacted,
    Conflict,
    Entry,
    Event,
    Retention,
    StoreClosed,
    StoreError,
    create,
    delete,
    open_sqlite,
    put,
    update,
)
from celadon.storage.contract import DiskFull
from celadon.storage.keyspace import MAX_BATCH, Job, Keyspace, ThreadedWriter, at_once
from celadon.storage.local_store import Clocks, LocalStore

STILL = Clocks(lambda: 0.0)


class SlowJournal:
    """Each batch waits to be let through, and fails if told to."""

    def __init__(self) -> None:
        self.batches: list[tuple[int, int, int]] = []  # events, compacted, obsolete
        self.arrived, self.gate = threading.Semaphore(0), threading.Semaphore(0)
        self.failure: BaseException | None = None
        self.closed = 0

    def append(
        self, events: Sequence[Event], compacted: int, obsolete: Sequence[tuple[int, str]]
    ) -> None:
        self.arrived.release()
        assert self.gate.acquire(timeout=60)
        if self.failure is not None:
            raise self.failure
        self.batches.append((len(events), compacted, len(obsolete)))

    def trouble(self) -> str:
        return "" if self.failure is None else str(self.failure)

    is_short_of_room = False

    def close(self) -> None:
        self.closed += 1


@pytest.fixture
def journal() -> SlowJournal:
    return SlowJournal()


@pytest.fixture
def store(journal: SlowJournal) -> Iterator[LocalStore]:
    opened = LocalStore(Keyspace(), journal, ThreadedWriter, Retention(), STILL, at_once)
    yield opened
    journal.gate.release(100)
    opened.close()
    assert journal.closed == 1


def test_nothing_is_visible_before_it_is_durable(store: LocalStore, journal: SlowJournal) -> None:
    told = threading.Event()
    watch = store.watch("/", notify=told.set)
    future = store.submit(put("/a", b""))
    assert journal.arrived.acquire(timeout=60)
    assert not future.done()
    assert store.revision() == 1
    assert store.get("/a") is None
    assert store.range("/").entries == ()
    assert watch.take().events == ()
    assert not told.is_set()
    journal.gate.release()
    assert future.result(timeout=60).revision == 2
    assert store.get("/a") == Entry("/a", b"", 2, 2)
    assert told.is_set()
    assert [event.key for event in watch.take().events] == ["/a"]


def test_what_gathers_during_a_flush_shares_the_next(
    store: LocalStore, journal: SlowJournal
) -> None:
    first = store.submit(put("/first", b""))
    assert journal.arrived.acquire(timeout=60)
    rest = [store.submit(put(f"/{number}", b"")) for number in range(MAX_BATCH + 3)]
    journal.gate.release(3)
    assert [one.result(timeout=60).revision for one in [first, *rest]] == list(
        range(2, MAX_BATCH + 6)
    )
    assert [events for events, _, _ in journal.batches] == [1, MAX_BATCH, 3]


def test_transactions_of_a_batch_see_each_other(store: LocalStore, journal: SlowJournal) -> None:
    store.submit(put("/first", b""))
    assert journal.arrived.acquire(timeout=60)
    futures = [
        store.submit(one)
        for one in (
            create("/a", b"1"),
            create("/a", b"2"),
            update("/a", b"3", 3),
            delete("/a", 4),
            delete("/a", 4),
        )
    ]
    journal.gate.release(2)
    outcomes = [future.result(timeout=60) for future in futures]
    there = Entry("/a", b"1", 3, 3)
    updated = Entry("/a", b"3", 3, 4)
    assert outcomes == [
        Committed(3, (Event(3, "/a", there, None),)),
        Conflict(3, (there,)),
        Committed(4, (Event(4, "/a", updated, there),)),
        Committed(5, (Event(5, "/a", None, updated),)),
        Conflict(5, (None,)),
    ]


def test_a_batch_that_fails_has_not_happened(store: LocalStore, journal: SlowJournal) -> None:
    watch = store.watch("/")
    journal.failure = StoreError("no room")
    journal.gate.release()
    with pytest.raises(StoreError, match="no room"):
        store.submit(create("/a", b"")).result(timeout=60)
    assert store.revision() == 1
    assert store.get("/a") is None
    assert store.writing_trouble() == "no room"
    journal.failure = None
    assert store.writing_trouble() == ""
    journal.gate.release()
    assert store.submit(create("/a", b"")).result(timeout=60).revision == 2
    assert [event.revision for event in watch.take().events] == [2]


def test_conflicts_with_what_failed_fail_too(store: LocalStore, journal: SlowJournal) -> None:
    store.submit(put("/first", b""))
    assert journal.arrived.acquire(timeout=60)
    futures = [store.submit(create("/a", b"1")), store.submit(create("/a", b"2"))]
    journal.gate.release()
    assert journal.arrived.acquire(timeout=60)
    journal.failure = StoreError("no room")
    journal.gate.release()
    for future in futures:
        with pytest.raises(StoreError, match="no room"):
            future.result(timeout=60)


def test_a_future_cancelled_in_time_is_not_carried_out(
    store: LocalStore, journal: SlowJournal
) -> None:
    first = store.submit(put("/first", b""))
    assert journal.arrived.acquire(timeout=60)
    second, third = store.submit(put("/second", b"")), store.submit(put("/third", b""))
    assert second.cancel()
    assert not first.cancel()  # under way
    journal.gate.release(2)
    assert third.result(timeout=60).revision == 3
    assert store.get("/second") is None


def test_an_event_waits_before_its_revision_can_be_read(
    store: LocalStore, journal: SlowJournal, monkeypatch: pytest.MonkeyPatch
) -> None:
    watch, seen = store.watch("/a"), []
    applied = Keyspace.apply

    def apply(space: Keyspace, events: Iterable[Event]) -> None:
        seen.append((watch.is_waiting(), store.revision()))
        applied(space, events)

    monkeypatch.setattr(Keyspace, "apply", apply)
    journal.gate.release()
    store.submit(put("/a", b"")).result(timeout=60)
    assert seen == [(True, store.revision() - 1)]


def test_a_conflict_alone_needs_no_flush(store: LocalStore, journal: SlowJournal) -> None:
    outcome = store.submit(update("/a", b"", 7)).result(timeout=60)
    assert outcome == Conflict(1, (None,))
    assert journal.batches == []


def test_compactions_share_batches_with_writes(store: LocalStore, journal: SlowJournal) -> None:
    journal.gate.release(100)
    for _ in range(3):
        store.submit(put("/a", b"")).result(timeout=60)
    store.submit(delete("/a")).result(timeout=60)
    for _ in range(100):
        journal.gate.acquire(blocking=False)
        journal.arrived.acquire(blocking=False)
    store.submit(put("/b", b""))
    assert journal.arrived.acquire(timeout=60)
    wanted = [store.compact(revision) for revision in (3, 3, 5)]
    journal.gate.release(2)
    assert wanted[0].result(timeout=60) == 3
    with pytest.raises(Compacted):
        wanted[1].result(timeout=60)
    assert wanted[2].result(timeout=60) == 5
    assert journal.batches[-1] == (0, 5, 4)  # three puts and the deletion that undid the last


def test_callbacks_may_call_the_store(store: LocalStore, journal: SlowJournal) -> None:
    journal.gate.release(100)
    done = threading.Event()
    seen: list[Entry | None] = []

    def again(_: object) -> None:
        seen.append(store.get("/a"))
        store.submit(put("/b", b"")).add_done_callback(lambda _: done.set())

    store.submit(put("/a", b"")).add_done_callback(again)
    assert done.wait(timeout=60)
    assert seen == [Entry("/a", b"", 2, 2)]
    assert store.revision() == 3


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_a_defect_in_the_writer_leaves_nobody_waiting(
    store: LocalStore, journal: SlowJournal
) -> None:
    journal.failure = ZeroDivisionError("a defect")
    first = store.submit(put("/a", b""))
    assert journal.arrived.acquire(timeout=60)
    second = store.submit(put("/b", b""))
    journal.gate.release()
    with pytest.raises(ZeroDivisionError):
        first.result(timeout=60)
    with pytest.raises(StoreClosed, match="the store's writer has failed"):
        second.result(timeout=60)
    store.close()
    with pytest.raises(StoreClosed):
        store.submit(put("/c", b""))


def test_closing_finishes_what_was_submitted(journal: SlowJournal) -> None:
    journal.gate.release(100)
    store = LocalStore(Keyspace(), journal, ThreadedWriter, Retention(), STILL, at_once)
    futures = [store.submit(put(f"/{number}", b"")) for number in range(1000)]
    store.close()
    assert [one.result(timeout=0).revision for one in futures] == list(range(2, 1002))


def test_a_carrier_settles_a_batch_at_once_where_it_wants() -> None:
    carried: list[Callable[[], object]] = []
    journal = SlowJournal()
    store = LocalStore(Keyspace(), journal, ThreadedWriter, Retention(), STILL, carried.append)
    calls: list[int] = []
    watch = store.watch("/", notify=_counted(calls))
    futures = [store.submit(put("/first", b""))]
    assert journal.arrived.acquire(timeout=60)
    futures += [store.submit(put(f"/{number}", b"")) for number in range(5)]
    journal.gate.release(2)
    store.close()  # the end of the watch is told, too
    assert store.revision() == 7
    assert not any(future.done() for future in futures)
    assert len(calls) == 0
    assert len(carried) == 3
    for function in carried[:2]:
        function()
    assert [future.result(timeout=0).revision for future in futures] == list(range(2, 8))
    assert len(calls) == 1
    assert len(watch.take().events) == 6


def test_a_carrier_that_is_gone_is_done_without(journal: SlowJournal) -> None:
    def closed(function: object) -> None:
        raise RuntimeError("Event loop is closed")

    journal.gate.release(100)
    store = LocalStore(Keyspace(), journal, ThreadedWriter, Retention(), STILL, closed)
    assert store.submit(put("/a", b"")).result(timeout=60).revision == 2
    journal.failure = StoreError("no room")
    with pytest.raises(StoreError, match="no room"):
        store.submit(put("/a", b"")).result(timeout=60)
    store.close()


def test_everything_happens_in_the_thread_of_the_loop(tmp_path: Path) -> None:
    threads: set[int] = set()

    async def run() -> None:
        ready = asyncio.Event()

        def notify() -> None:
            threads.add(threading.get_ident())
            ready.set()

        carry = asyncio.get_running_loop().call_soon_threadsafe
        with open_sqlite(str(tmp_path / "store.db"), carry=carry) as store:
            watch = store.watch("/", notify=notify)
            future = store.submit(put("/a", b""))
            future.add_done_callback(lambda _: threads.add(threading.get_ident()))
            assert (await asyncio.wrap_future(future)).revision == 2
            await ready.wait()
            assert len(watch.take().events) == 1

    asyncio.run(run())
    assert threads == {threading.get_ident()}


def test_writes_of_one_turn_are_one_batch(journal: SlowJournal) -> None:
    turn: list[Callable[[], object]] = []
    journal.gate.release(100)
    writer = partial(ThreadedWriter, soon=turn.append)
    store = LocalStore(Keyspace(), journal, writer, Retention(), STILL, at_once)
    first = [store.submit(put(f"/{number}", b"")) for number in range(5)]
    assert not journal.arrived.acquire(blocking=False)
    assert len(turn) == 1
    turn.pop()()
    assert [future.result(timeout=60).revision for future in first] == [2, 3, 4, 5, 6]
    last = store.submit(put("/last", b""))
    assert len(turn) == 1
    store.close()  # before the turn is over
    assert last.result(timeout=0).revision == 7
    turn.pop()()
    assert [events for events, _, _ in journal.batches] == [5, 1]


def test_a_turn_that_never_ends_is_not_waited_for(journal: SlowJournal) -> None:
    def closed(function: object) -> None:
        raise RuntimeError("Event loop is closed")

    journal.gate.release(100)
    writer = partial(ThreadedWriter, soon=closed)
    store = LocalStore(Keyspace(), journal, writer, Retention(), STILL, at_once)
    for revision in (2, 3):
        assert store.submit(put("/a", b"")).result(timeout=60).revision == revision
    store.close()


class LateWriter:
    """Carries out a job only when the store has been closed, as a thread may that was overtaken."""

    def __init__(self, write: Callable[[Sequence[Job]], None]) -> None:
        self.write, self.jobs = write, list[Job]()

    def put(self, job: Job) -> None:
        self.jobs.append(job)

    def close(self) -> None:
        pass


def test_a_write_that_is_overtaken_by_the_end_fails(journal: SlowJournal) -> None:
    writers: list[LateWriter] = []

    def late(write: Callable[[Sequence[Job]], None]) -> LateWriter:
        writers.append(LateWriter(write))
        return writers[0]

    store = LocalStore(Keyspace(), journal, late, Retention(), STILL, at_once)
    future = store.submit(put("/a", b""))
    store.close()
    writers[0].write(writers[0].jobs)
    with pytest.raises(StoreClosed):
        future.result(timeout=0)
    assert store.revision() == 1


def _counted(calls: list[int]) -> Callable[[], None]:
    return lambda: calls.append(1)


def test_a_watch_overflows_within_a_batch(store: LocalStore, journal: SlowJournal) -> None:
    calls: list[int] = []
    watch = store.watch("/", notify=_counted(calls), buffer=5)
    store.submit(put("/first", b""))
    assert journal.arrived.acquire(timeout=60)
    last = [store.submit(put(f"/{number}", b"")) for number in range(20)][-1]
    journal.gate.release(2)
    last.result(timeout=60)
    assert len(calls) == 1
    with pytest.raises(StoreError, match="more than 5 events"):
        watch.take()


class OpenWriter(ThreadedWriter):
    """A test may hand it a whole batch."""

    def carry_out(self, jobs: Sequence[Job]) -> None:
        self._write(jobs)


class FullJournal(SlowJournal):
    """There is room for so many events at a time."""

    room = 0

    def append(
        self, events: Sequence[Event], compacted: int, obsolete: Sequence[tuple[int, str]]
    ) -> None:
        if len(events) > self.room:
            raise DiskFull("data", "full")
        self.batches.append((len(events), compacted, len(obsolete)))


FULL: list[tuple[str, int, list[str], list[int]]] = [
    # What a batch does: d for a deletion, p for a put; what becomes of it, and what is written.
    ("dddd", 1, ["Committed"] * 4, [1, 1, 1, 1]),
    ("dd", 1, ["Committed"] * 2, [1, 1]),
    ("dddd", 2, ["Committed"] * 4, [2, 2]),
    ("ddd", 3, ["Committed"] * 3, [3]),
    ("ddd", 0, ["DiskFull"] * 3, []),
    ("d", 0, ["DiskFull"], []),
    ("pdpd", 2, ["DiskFull", "Committed"] * 2, [2]),
    ("pdpd", 1, ["DiskFull", "Committed"] * 2, [1, 1]),
    ("pp", 1, ["DiskFull"] * 2, []),
]


@pytest.mark.parametrize(("does", "room", "outcomes", "written"), FULL)
def test_what_makes_room_is_written_bit_by_bit_where_there_is_little(
    does: str, room: int, outcomes: list[str], written: list[int]
) -> None:
    keyspace, journal = Keyspace(), FullJournal()
    journal.room = len(does)
    writers: list[OpenWriter] = []

    def writer(write: Callable[[Sequence[Job]], None]) -> OpenWriter:
        writers.append(OpenWriter(write))
        return writers[0]

    store = LocalStore(keyspace, journal, writer, Retention(), STILL, at_once)
    for number in range(len(does)):
        store.submit(put(f"/{number}", b"")).result(timeout=60)
    journal.batches.clear()
    journal.room = room
    requests = [
        delete(f"/{number}", number + 2) if what == "d" else put(f"/new{number}", b"")
        for number, what in enumerate(does)
    ]
    futures: list[Future[Committed | Conflict]] = [Future() for _ in requests]
    writers[0].carry_out(list(map(Job, requests, futures)))
    found = [future.exception(timeout=60) or future.result() for future in futures]
    assert [type(outcome).__name__ for outcome in found] == outcomes
    assert [events for events, _, _ in journal.batches] == written
    store.close()
