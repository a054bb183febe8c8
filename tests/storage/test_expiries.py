"""What goes by itself."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path

import pytest

from celadon.storage import (
    Committed,
    Entry,
    Put,
    Store,
    Transaction,
    create,
    open_memory,
    open_sqlite,
    put,
)
from celadon.storage.keyspace import Keyspace
from celadon.storage.local_store import Clocks, Expiries, LocalStore

PATIENCE = 30.0


class Calendar:
    now = 1_000_000.0

    def clocks(self) -> Clocks:
        return Clocks(since_1970=lambda: self.now)


@pytest.fixture
def calendar() -> Calendar:
    return Calendar()


@pytest.fixture(params=["memory", "sqlite"])
def local(
    request: pytest.FixtureRequest, tmp_path: Path, calendar: Calendar
) -> Iterator[LocalStore]:
    openers: dict[str, Callable[[], AbstractContextManager[LocalStore]]] = {
        "memory": lambda: open_memory(clocks=calendar.clocks()),
        "sqlite": lambda: open_sqlite(str(tmp_path / "store.db"), clocks=calendar.clocks()),
    }
    with openers[request.param]() as store:
        yield store


def swept(store: LocalStore) -> list[str]:
    """The keys that are there after a sweep."""
    store.sweep()
    store.submit(put("/last", b"")).result()  # behind the deletions
    return [one.key for one in store.range("").entries if one.key != "/last"]


def test_every_store_lets_go(store: Store) -> None:
    watch = store.watch("/short")
    for transaction in (put("/ever", b""), create("/short", b"", 1), create("/long", b"", 3600)):
        assert isinstance(store.submit(transaction).result(), Committed)
    deadline = time.monotonic() + PATIENCE
    while store.get("/short") is not None:
        assert time.monotonic() < deadline
        time.sleep(0.1)
        store.sweep()
    written, gone = watch.take().events
    assert (gone.key, gone.entry, gone.previous) == ("/short", None, written.entry)
    assert gone.revision == store.revision()
    assert [one.key for one in store.range("").entries] == ["/ever", "/long"]


def test_not_before_the_time(local: LocalStore, calendar: Calendar) -> None:
    local.submit(create("/a", b"", 10)).result()
    made = local.get("/a")
    assert made is not None
    assert made.expires == 1_000_010
    calendar.now += 9.5
    assert swept(local) == ["/a"]
    calendar.now += 1
    assert local.get("/a") is not None  # until somebody sweeps
    assert swept(local) == []


@pytest.mark.parametrize(
    ("seconds", "left"),
    [
        pytest.param(10, 5.0, id="later"),
        pytest.param(None, 1e9, id="never"),
        pytest.param(1, 0.0, id="sooner"),
    ],
)
def test_the_last_write_counts(
    local: LocalStore, calendar: Calendar, seconds: int | None, left: float
) -> None:
    local.submit(Transaction((), (Put("/a", b"1", 10),))).result()
    calendar.now += 5
    local.submit(Transaction((), (Put("/a", b"2", seconds),))).result()
    calendar.now += 5
    assert swept(local) == (["/a"] if left else [])
    calendar.now += left + 1
    assert swept(local) == (["/a"] if seconds is None else [])


def test_a_file_remembers(tmp_path: Path, calendar: Calendar) -> None:
    path = str(tmp_path / "store.db")
    with open_sqlite(path, clocks=calendar.clocks()) as store:
        store.submit(create("/a", b"", 10)).result()
        before = store.get("/a")
    calendar.now += 20
    with open_sqlite(path, clocks=calendar.clocks()) as store:
        assert store.get("/a") == before
        assert swept(store) == []


def test_what_is_due_stays_so_until_it_is_gone() -> None:
    entry = Entry("/a", b"", 2, 2, expires=10)
    space, expiries = Keyspace.restored([(2, "/a", entry)], 1), Expiries()
    expiries.note([entry, None, Entry("/b", b"", 3, 3)])
    assert expiries.due(space, 9.9) == []
    assert expiries.due(space, 10) == [entry]
    assert expiries.due(space, 10) == [entry]
    assert expiries.due(Keyspace(), 10) == []
    assert expiries.due(space, 10) == []


def test_a_sweep_after_the_end_does_nothing(local: LocalStore, calendar: Calendar) -> None:
    local.submit(create("/a", b"", 10)).result()
    calendar.now += 20
    local.close()
    local.sweep()
    assert local.get("/a") is not None


def test_no_time_at_all_is_refused() -> None:
    with pytest.raises(ValueError, match="to go before it is there"):
        create("/a", b"", 0)
