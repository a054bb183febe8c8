"""What is forgotten without being asked."""

from __future__ import annotations

from pathlib import Path

import pytest

from celadon.storage import (
    Compacted,
    Retention,
    WatchOverflow,
    delete,
    open_memory,
    open_sqlite,
    put,
)
from celadon.storage.contract import Entry, Event
from celadon.storage.keyspace import Keyspace
from celadon.storage.local_store import Clocks, LocalStore


class Clock:
    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


def oldest(store: LocalStore) -> int:
    try:
        store.get("/a", -1)
    except Compacted as error:
        return error.oldest
    raise AssertionError("revision -1 can be read")


def write(store: LocalStore, times: int) -> None:
    for _ in range(times):
        store.submit(put("/a", b"")).result()


def history(*changes: tuple[int, str, bytes | None]) -> Keyspace:
    """Of changes: revision, key, value."""
    space, now = Keyspace(), dict[str, Entry]()
    for revision, key, value in changes:
        before = now.pop(key, None)
        if value is not None:
            created = revision if before is None else before.create_revision
            now[key] = Entry(key, value, created, revision)
        space.apply([Event(revision, key, now.get(key), before)])
    return space


CHANGES = [(2, "/a", b"1"), (3, "/b", b"22"), (3, "/a", b"333"), (4, "/b", None), (5, "/b", b"4")]


@pytest.mark.parametrize(
    ("events", "revision"), [(0, 5), (1, 4), (2, 3), (3, 3), (4, 2), (5, 0), (6, 0)]
)
def test_what_to_compact_to_by_number(events: int, revision: int) -> None:
    """The changes of one transaction stay together."""
    space = history(*CHANGES)
    assert space.revision_before(events) == revision
    if revision:
        space.compact(revision)
        assert space.history_length() <= events
        assert space.revision_before(space.history_length()) == revision


@pytest.mark.parametrize(("most", "revision"), [(0, 4), (1, 4), (2, 3), (3, 0), (4, 0)])
def test_what_to_compact_to_by_bytes(most: int, revision: int) -> None:
    """Of `/a` one byte is replaced, of `/b` two are deleted."""
    space = history(*CHANGES)
    assert space.history_bytes() == 3
    assert space.revision_before_bytes(most) == revision
    if revision:
        space.compact(revision)
        assert space.history_bytes() <= most


@pytest.mark.parametrize(
    ("revision", "useless"),
    [
        (1, []),
        (2, []),
        (3, [(2, "/a")]),
        (4, [(2, "/a"), (3, "/b"), (4, "/b")]),
        (5, [(2, "/a"), (3, "/b"), (4, "/b")]),
    ],
)
def test_which_changes_a_compaction_makes_useless(
    revision: int, useless: list[tuple[int, str]]
) -> None:
    assert history(*CHANGES).obsolete_at(revision) == useless


@pytest.mark.parametrize("opener", ["memory", "sqlite"])
def test_by_number(opener: str, tmp_path: Path) -> None:
    retention = Retention(events=20, seconds=None)
    path = str(tmp_path / "store.db")
    with open_memory(retention) if opener == "memory" else open_sqlite(path, retention) as store:
        write(store, 22)
        assert oldest(store) == 0
        write(store, 2)  # the second finds 23 events: three more than wanted go
        assert store.revision() == 25
        assert oldest(store) == 4
        write(store, 100)
        kept = store.revision() - oldest(store)
        assert 20 <= kept <= 23


def test_by_age() -> None:
    clock = Clock()
    store = open_memory(Retention(events=None, seconds=60), Clocks(clock))
    write(store, 5)
    clock.now += 30
    write(store, 5)
    clock.now += 29
    write(store, 1)
    assert oldest(store) == 0
    clock.now += 2  # the first five are 61 seconds old, the next 31
    write(store, 1)
    assert 1 <= oldest(store) <= 6
    clock.now += 30
    write(store, 1)
    assert 6 <= oldest(store) <= 11
    clock.now += 1000
    write(store, 1)
    assert oldest(store) >= 13
    assert store.revision() == 15


def test_the_age_of_what_a_file_held_counts_from_its_opening(tmp_path: Path) -> None:
    clock, path = Clock(), str(tmp_path / "store.db")
    retention = Retention(events=None, seconds=60)
    with open_sqlite(path, retention, Clocks(clock)) as store:
        write(store, 5)
    clock.now += 1000
    with open_sqlite(path, retention, Clocks(clock)) as store:
        write(store, 1)
        assert oldest(store) == 0
        clock.now += 61
        write(store, 1)
        assert oldest(store) == 6


def test_no_history_at_all() -> None:
    store = open_memory(Retention(events=0))
    write(store, 5)
    assert store.revision() == 6
    assert oldest(store) == 5  # what the last write knew of
    assert store.range("").revision == 6


@pytest.mark.parametrize("opener", ["memory", "sqlite"])
def test_by_bytes_of_what_has_been_replaced(opener: str, tmp_path: Path) -> None:
    retention = Retention(events=None, seconds=None, bytes=10_000)
    path = str(tmp_path / "store.db")
    with open_memory(retention) if opener == "memory" else open_sqlite(path, retention) as store:
        for number in range(20):  # what is in force is no history
            store.submit(put(f"/b{number}", bytes(1000))).result()
        assert oldest(store) == 0
        for _ in range(13):
            store.submit(put("/b0", bytes(1000))).result()
        assert oldest(store) == 23  # of the 12,000 bytes before the last write, 2,000 went
        store.submit(delete("/b1")).result()
        assert oldest(store) == 23
        store.submit(put("/b0", b"")).result()
        assert oldest(store) == 25
    if opener == "sqlite":
        with open_sqlite(path, retention) as store:
            assert oldest(store) == 25
            store.submit(put("/b0", b"")).result()
            assert oldest(store) == 25  # within the tenth part


def test_a_watch_that_has_not_read_what_is_forgotten_ends() -> None:
    store = open_memory(Retention(events=None, seconds=None, bytes=10_000))
    told: list[None] = []
    late, idle = store.watch("/a", notify=lambda: told.append(None)), store.watch("/b")
    early = store.watch("/a", 1)
    for _ in range(11):
        store.submit(put("/a", bytes(1000))).result()
    assert len(early.take().events) == 11
    for _ in range(3):
        store.submit(put("/a", bytes(1000))).result()
    with pytest.raises(WatchOverflow, match="events that are forgotten were not read in time"):
        late.take()
    assert told == [None]
    assert len(early.take().events) == 3
    assert idle.take().events == ()
    with pytest.raises(Compacted):
        store.watch("/a", 1)
