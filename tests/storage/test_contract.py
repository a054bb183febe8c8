"""What every store promises. A new store passes this suite before anything else."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from typing import Any

import pytest

from celadon.storage import (
    Committed,
    Compacted,
    Condition,
    Conflict,
    Delete,
    Delivery,
    Entry,
    Event,
    FutureRevision,
    Outcome,
    Page,
    Put,
    RevisionError,
    Store,
    StoreClosed,
    Transaction,
    WatchOverflow,
    create,
    delete,
    put,
    update,
)
from celadon.storage.contract import FIRST_REVISION, MAX_OPERATIONS, MAX_VALUE, TooLarge, WatchEnded


def committed(store: Store, transaction: Transaction) -> Committed:
    outcome = store.submit(transaction).result()
    assert isinstance(outcome, Committed)
    return outcome


def write(store: Store, *keys: str) -> None:
    """One transaction for each key; the value is the key."""
    for key in keys:
        committed(store, put(key, key.encode()))


def keys(page: Page) -> list[str]:
    return [entry.key for entry in page.entries]


# Writes


def test_a_store_begins_empty_at_the_first_revision(store: Store) -> None:
    assert store.revision() == FIRST_REVISION
    assert store.get("/a") is None
    assert store.range("") == Page((), FIRST_REVISION, 0)
    assert store.range("", revision=FIRST_REVISION) == Page((), FIRST_REVISION, 0)


class NotedPromise:
    """Notes what becomes of a transaction."""

    def __init__(self, *, is_wanted: bool = True) -> None:
        self.is_wanted = is_wanted
        self.is_over = threading.Event()
        self.outcome: object = None

    def set_running_or_notify_cancel(self) -> bool:
        return self.is_wanted

    def set_result(self, result: Outcome) -> None:
        self.outcome = result
        self.is_over.set()

    def set_exception(self, exception: BaseException) -> None:
        self.outcome = exception
        self.is_over.set()


def test_a_promise_takes_the_place_of_a_future(store: Store) -> None:
    unwanted, first, late = NotedPromise(is_wanted=False), NotedPromise(), NotedPromise()
    store.carry_out(create("/a", b"1"), unwanted)
    store.carry_out(create("/a", b"2"), first)
    assert first.is_over.wait(60)
    assert first.outcome == Committed(2, (Event(2, "/a", Entry("/a", b"2", 2, 2), None),))
    store.carry_out(create("/a", b"3"), late)
    assert late.is_over.wait(60)
    assert isinstance(late.outcome, Conflict)
    assert unwanted.outcome is None


def test_create_update_delete(store: Store) -> None:
    first = Entry("/a", b"1", create_revision=2, mod_revision=2)
    assert committed(store, create("/a", b"1")) == Committed(2, (Event(2, "/a", first, None),))
    second = Entry("/a", b"2", create_revision=2, mod_revision=3)
    assert committed(store, update("/a", b"2", 2)) == Committed(3, (Event(3, "/a", second, first),))
    assert store.get("/a") == second
    assert committed(store, delete("/a", 3)) == Committed(4, (Event(4, "/a", None, second),))
    assert store.get("/a") is None
    again = Entry("/a", b"3", create_revision=5, mod_revision=5)
    assert committed(store, create("/a", b"3")).events == (Event(5, "/a", again, None),)
    assert store.revision() == 5


@pytest.mark.parametrize(
    ("transaction", "there"),
    [
        (create("/a", b"x"), Entry("/a", b"/a", 2, 2)),
        (update("/a", b"x", 3), Entry("/a", b"/a", 2, 2)),
        (update("/none", b"x", 2), None),
        (delete("/a", 1), Entry("/a", b"/a", 2, 2)),
        (delete("/none", 2), None),
    ],
)
def test_a_conflict_tells_what_is_there_and_changes_nothing(
    store: Store, transaction: Transaction, there: Entry | None
) -> None:
    write(store, "/a")
    assert store.submit(transaction).result() == Conflict(2, (there,))
    assert store.range("") == Page((Entry("/a", b"/a", 2, 2),), 2, 0)


def test_put_and_delete_without_condition(store: Store) -> None:
    assert committed(store, put("/a", b"1")).revision == 2
    assert committed(store, put("/a", b"1")).revision == 3  # the same value is a change, too
    assert store.get("/a") == Entry("/a", b"1", 2, 3)
    assert committed(store, delete("/a")).revision == 4
    assert committed(store, delete("/a")) == Committed(4, (None,))
    assert store.revision() == 4


def test_a_transaction_is_one_revision(store: Store) -> None:
    write(store, "/a", "/b")
    outcome = committed(
        store,
        Transaction(
            (Condition("/a", 2), Condition("/c", 0)),
            (Put("/c", b"c"), Delete("/a"), Put("/b", b"b"), Delete("/none")),
        ),
    )
    assert outcome.revision == 4
    assert [event and (event.revision, event.key) for event in outcome.events] == [
        (4, "/c"),
        (4, "/a"),
        (4, "/b"),
        None,
    ]
    assert store.range("").entries == (Entry("/b", b"b", 3, 4), Entry("/c", b"c", 4, 4))
    assert store.range("", revision=3).entries == (
        Entry("/a", b"/a", 2, 2),
        Entry("/b", b"/b", 3, 3),
    )


def test_a_transaction_with_one_wrong_condition_does_nothing(store: Store) -> None:
    write(store, "/a", "/b")
    conditions = (Condition("/a", 2), Condition("/b", 2), Condition("/c", 0))
    outcome = store.submit(Transaction(conditions, (Put("/c", b"c"),))).result()
    assert outcome == Conflict(3, (Entry("/a", b"/a", 2, 2), Entry("/b", b"/b", 3, 3), None))
    assert store.revision() == 3


def test_a_transaction_without_operations_only_asks(store: Store) -> None:
    write(store, "/a")
    assert store.submit(Transaction((Condition("/a", 2),), ())).result() == Committed(2, ())
    assert store.submit(Transaction((Condition("/a", 1),), ())).result() == Conflict(
        2, (Entry("/a", b"/a", 2, 2),)
    )


@pytest.mark.parametrize(
    "make",
    [
        lambda: Transaction((), (Put("/a", b""), Delete("/a"))),
        lambda: put("", b""),
        lambda: put("\udc80", b""),
        lambda: Transaction((), tuple(Delete(f"/{n}") for n in range(MAX_OPERATIONS + 1))),
        lambda: Transaction((Condition("/a", 0),) * (MAX_OPERATIONS + 1), ()),
    ],
)
def test_what_no_store_can_do_is_refused(make: Callable[[], Transaction]) -> None:
    with pytest.raises(ValueError, match=r"key|value|more than|surrogates"):
        make()


def test_the_largest_transaction(store: Store) -> None:
    operations = tuple(Put(f"/{number:03}", b"") for number in range(MAX_OPERATIONS))
    assert committed(store, Transaction((), operations)).revision == 2
    assert committed(store, put("/next", b"")).revision == 3
    assert len(store.range("", revision=2).entries) == MAX_OPERATIONS


def test_writes_of_many_threads_are_all_counted(store: Store) -> None:
    """Compare and swap: no update is lost, no revision is used twice."""
    committed(store, create("/count", b"0"))
    revisions: list[int] = []

    def count() -> None:
        for _ in range(20):
            entry = store.get("/count")
            assert entry is not None
            while True:
                following = str(int(entry.value) + 1).encode()
                outcome = store.submit(update("/count", following, entry.mod_revision)).result()
                if isinstance(outcome, Committed):
                    revisions.append(outcome.revision)
                    break
                (current,) = outcome.current
                assert current is not None
                entry = current

    threads = [threading.Thread(target=count) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert store.get("/count") == Entry("/count", b"80", 2, 82)
    assert sorted(revisions) == list(range(3, 83))


def test_from_asyncio(store: Store) -> None:
    async def run() -> None:
        loop, ready = asyncio.get_running_loop(), asyncio.Event()
        watch = store.watch("/", notify=lambda: loop.call_soon_threadsafe(ready.set))
        futures = [asyncio.wrap_future(store.submit(put(f"/{n}", b""))) for n in range(50)]
        outcomes = await asyncio.gather(*futures)
        written = {outcome.revision: f"/{n}" for n, outcome in enumerate(outcomes)}
        assert sorted(written) == list(range(2, 52))
        seen: list[str] = []
        while len(seen) < 50:
            ready.clear()
            delivery = watch.take(limit=7)
            seen += [event.key for event in delivery.events]
            if not delivery.events:
                await ready.wait()
        assert seen == [written[revision] for revision in sorted(written)]

    asyncio.run(run())


def test_writes_of_one_key_keep_their_order(store: Store) -> None:
    futures = [store.submit(put("/a", str(n).encode())) for n in range(50)]
    revisions = [future.result().revision for future in futures]
    assert revisions == list(range(2, 52))
    assert store.get("/a") == Entry("/a", b"49", 2, 51)


# Reads


def test_ranges_are_in_the_order_of_bytes(store: Store) -> None:
    given = ["/b", "/a/", "/a", "/a0", "/aa", "/ä", "/\U00010000", "/\uffff", "/a\x00"]
    write(store, *given)
    assert keys(store.range("")) == sorted(given, key=str.encode)
    assert keys(store.range("/a")) == ["/a", "/a\x00", "/a/", "/a0", "/aa"]
    assert keys(store.range("/a/")) == ["/a/"]
    assert keys(store.range("/c")) == []


def test_pages(store: Store) -> None:
    write(store, "/x/1", "/x/2", "/x/3", "/y/1")
    page = store.range("/x/", limit=2)
    assert (keys(page), page.remaining) == (["/x/1", "/x/2"], 1)
    page = store.range("/x/", start="/x/2\x00", limit=2)
    assert (keys(page), page.remaining) == (["/x/3"], 0)
    assert keys(store.range("/x/", start="/a")) == ["/x/1", "/x/2", "/x/3"]
    assert keys(store.range("/x/", start="/z")) == []
    assert store.range("/x/", limit=0) == Page((), 5, 3)


def test_pages_of_an_older_revision_do_not_see_later_writes(store: Store) -> None:
    write(store, "/x/1", "/x/2", "/x/3", "/x/4")
    page = store.range("/x/", limit=2)
    write(store, "/x/0", "/x/2", "/x/3a", "/x/4")
    committed(store, delete("/x/3"))
    committed(store, delete("/x/1"))
    rest = store.range("/x/", start="/x/2\x00", limit=1, revision=page.revision)
    assert rest == Page((Entry("/x/3", b"/x/3", 4, 4),), page.revision, 1)
    rest = store.range("/x/", start="/x/3\x00", revision=page.revision)
    assert rest == Page((Entry("/x/4", b"/x/4", 5, 5),), page.revision, 0)
    assert keys(store.range("/x/")) == ["/x/0", "/x/2", "/x/3a", "/x/4"]


def test_get_at_a_revision(store: Store) -> None:
    write(store, "/a", "/b", "/a")
    committed(store, delete("/a"))
    write(store, "/a")
    found = [store.get("/a", revision) for revision in range(1, 7)]
    assert [entry and (entry.create_revision, entry.mod_revision) for entry in found] == [
        None,
        (2, 2),
        (2, 2),
        (2, 4),
        None,
        (6, 6),
    ]


def test_the_future_cannot_be_read(store: Store) -> None:
    for read in (lambda: store.get("/a", 2), lambda: store.range("/a", revision=2)):
        with pytest.raises(FutureRevision, match="revision 2 is in the future, now is 1") as caught:
            read()
        assert (caught.value.requested, caught.value.current) == (2, 1)


def test_synced_is_now(store: Store) -> None:
    write(store, "/a")
    assert store.synced().result() == store.revision() == 2
    write(store, "/b")
    assert store.synced().result() == store.revision() == 3


# Compaction


def test_what_is_compacted_cannot_be_read(store: Store) -> None:
    write(store, "/a", "/b", "/a")
    committed(store, delete("/b"))
    assert store.compact(4).result() == 4
    for read in (
        lambda: store.get("/a", 3),
        lambda: store.range("", revision=3),
        lambda: store.watch("", 3),
    ):
        with pytest.raises(Compacted, match="revision 3 is compacted, the oldest is 4") as caught:
            read()
        assert (caught.value.requested, caught.value.oldest) == (3, 4)
    assert keys(store.range("", revision=4)) == ["/a", "/b"]
    assert [event.revision for event in store.watch("", 4).take().events] == [5]


@pytest.mark.parametrize(
    ("revision", "kind"), [(2, Compacted), (3, Compacted), (5, FutureRevision)]
)
def test_compacting_to_nowhere(store: Store, revision: int, kind: type[RevisionError]) -> None:
    write(store, "/a", "/a", "/a")
    store.compact(3).result()
    with pytest.raises(kind):
        store.compact(revision).result()
    assert keys(store.range("", revision=3)) == ["/a"]


# Watches


def test_a_watch_replays_and_goes_on(store: Store) -> None:
    write(store, "/x/1", "/y/1", "/x/1")
    watch = store.watch("/x/", 2)
    committed(store, delete("/x/1"))
    write(store, "/y/1", "/x/2")
    one, two = Entry("/x/1", b"/x/1", 2, 2), Entry("/x/1", b"/x/1", 2, 4)
    assert watch.take() == Delivery(
        (
            Event(4, "/x/1", two, one),
            Event(5, "/x/1", None, two),
            Event(7, "/x/2", Entry("/x/2", b"/x/2", 7, 7), None),
        ),
        7,
    )
    assert watch.take() == Delivery((), 7)


def test_a_watch_says_whether_anything_waits(store: Store) -> None:
    watch = store.watch("/a")
    assert not watch.is_waiting()
    write(store, "/b")
    assert not watch.is_waiting()
    write(store, "/a")
    assert watch.is_waiting()
    watch.take()
    assert not watch.is_waiting()
    watch.close()
    assert watch.is_waiting(), "its end"


def test_a_single_event_may_be_taken_on_its_own(store: Store) -> None:
    watch = store.watch("/a")
    assert watch.take_only() is None
    write(store, "/a", "/b")
    event = watch.take_only()
    assert event is not None
    assert (event.key, event.revision) == ("/a", 2)
    assert watch.take_only() is None
    assert watch.take() == Delivery((), 3)
    write(store, "/a", "/a")
    assert watch.take_only() is None, "there are two"
    assert [event.revision for event in watch.take(1).events] == [4]
    event = watch.take_only()
    assert event is not None
    assert event.revision == 5
    write(store, "/a")
    watch.close()
    assert watch.take_only() is None
    with pytest.raises(WatchEnded):
        watch.take()


def test_who_takes_single_events_is_told_of_the_next(store: Store) -> None:
    told: list[str] = []
    watch = store.watch("/a", notify=lambda: told.append("told"))
    for count in range(1, 4):
        write(store, "/a")
        assert len(told) == count
        assert watch.take_only() is not None


def test_a_watch_begins_now_or_later(store: Store) -> None:
    write(store, "/a")
    now, later = store.watch("/"), store.watch("/", 3)
    assert later.take() == Delivery((), 3)
    write(store, "/b", "/c")
    assert [event.revision for event in now.take().events] == [3, 4]
    assert [event.revision for event in later.take().events] == [4]


def test_prefixes_of_every_length(store: Store) -> None:
    # Some of the same length are folders, and some are none.
    prefixes = ("", "/", "x", "/a", "/a/", "/a-", "/a/b", "/b")
    watches = {prefix: store.watch(prefix) for prefix in prefixes}
    twin = store.watch("/a")
    write(store, "/a", "/a/b", "/b/c", "x")
    seen = {prefix: [e.key for e in watch.take().events] for prefix, watch in watches.items()}
    assert seen == {
        "": ["/a", "/a/b", "/b/c", "x"],
        "/": ["/a", "/a/b", "/b/c"],
        "x": ["x"],
        "/a": ["/a", "/a/b"],
        "/a/": ["/a/b"],
        "/a-": [],
        "/a/b": ["/a/b"],
        "/b": ["/b/c"],
    }
    assert [event.key for event in twin.take().events] == ["/a", "/a/b"]


def test_progress_stops_before_what_is_not_taken(store: Store) -> None:
    watch = store.watch("/x")
    write(store, "/x1", "/y", "/y", "/x2", "/y")
    assert watch.take(limit=1).revision == 4
    assert watch.take(limit=1).revision == 6
    write(store, "/y")
    assert watch.take() == Delivery((), 7)


def test_events_of_one_transaction_stay_together(store: Store) -> None:
    watch = store.watch("/")
    committed(store, Transaction((), (Put("/a", b""), Put("/b", b""), Put("/c", b""))))
    write(store, "/d")
    delivery = watch.take(limit=2)
    assert ([event.key for event in delivery.events], delivery.revision) == (["/a", "/b", "/c"], 2)
    resumed = store.watch("/", delivery.revision)
    assert [event.key for event in resumed.take().events] == ["/d"]


def test_the_reader_is_told_once(store: Store) -> None:
    calls: list[None] = []
    told: Any = lambda: calls.append(None)  # noqa: E731
    watch = store.watch("/x", notify=told)
    write(store, "/y")
    assert len(calls) == 0
    write(store, "/x", "/x")
    assert len(calls) == 1
    watch.take()
    assert len(calls) == 1
    write(store, "/x")
    assert len(calls) == 2


def test_a_watch_tells_how_far_it_has_come(store: Store) -> None:
    calls: list[None] = []
    watch = store.watch("/x", notify=lambda: calls.append(None))
    write(store, "/y")
    assert len(calls) == 0
    assert watch.take() == Delivery((), 2)


def test_a_watch_that_is_not_read_is_cancelled(store: Store) -> None:
    calls: list[None] = []
    write(store, "/0", "/1")
    watch = store.watch("/", 1, notify=lambda: calls.append(None), buffer=3)
    write(store, "/2", "/3", "/4")
    assert len(watch.take(limit=1).events) == 1  # the two replayed ones do not count as unread
    write(store, "/5")  # the fourth beside the one replayed event that is left
    with pytest.raises(WatchOverflow, match="more than 3 events were not read in time"):
        watch.take()
    assert len(calls) == 1
    assert [event.key for event in store.watch("/", 2).take().events] == [
        f"/{n}" for n in range(1, 6)
    ]


@pytest.mark.parametrize(
    ("replayed", "taken"),
    [(0, []), (1, [None]), (2, [1]), (2, [1, 1]), (2, [2]), (3, [2]), (3, [2, 2])],
)
@pytest.mark.parametrize("unread", [3, 4])
def test_how_many_events_may_be_unread(
    store: Store, replayed: int, taken: list[int | None], unread: int
) -> None:
    """Beside those that were there when the watch began."""
    write(store, *(f"/{number}" for number in range(replayed)))
    watch = store.watch("/", 1, buffer=3)
    for limit in taken:
        watch.take(limit=limit)
    write(store, *(f"/new{number}" for number in range(unread)))
    if unread > 3:
        with pytest.raises(WatchOverflow):
            watch.take()
    else:
        assert [event.key for event in watch.take().events][-3:] == ["/new0", "/new1", "/new2"]


def test_a_watch_that_is_read_is_never_cancelled(store: Store) -> None:
    watch = store.watch("/", buffer=2)
    for number in range(10):
        write(store, f"/{number}", f"/{number}")
        assert len(watch.take().events) == 2


def test_a_closed_watch_gets_nothing(store: Store) -> None:
    calls: list[None] = []
    watch = store.watch("/", notify=lambda: calls.append(None))
    write(store, "/a")
    watch.close()
    watch.close()
    write(store, "/b")
    assert len(calls) == 1
    with pytest.raises(WatchEnded, match="the watch is closed"):
        watch.take()


def test_a_reader_that_cannot_be_told_is_given_up(store: Store) -> None:
    def gone() -> None:
        raise RuntimeError("event loop is closed")

    watch, other = store.watch("/", notify=gone), store.watch("/")
    write(store, "/a", "/b")
    assert [event.key for event in other.take().events] == ["/a", "/b"]
    assert [event.key for event in watch.take().events] == ["/a"]
    with pytest.raises(WatchEnded, match="could not be notified: event loop is closed"):
        watch.take()


def test_watches_of_many_threads_see_everything_once(store: Store) -> None:
    seen: list[list[int]] = [[], [], []]

    def follow(into: list[int], after: int) -> None:
        ready = threading.Event()
        watch = store.watch("/", after, ready.set)
        while not into or into[-1] < 101:
            ready.clear()
            delivery = watch.take(limit=3)
            into += [event.revision for event in delivery.events]
            if not delivery.events:
                assert ready.wait(timeout=60)

    followers = [threading.Thread(target=follow, args=(into, 1)) for into in seen]
    writers = [
        threading.Thread(target=write, args=(store, *(f"/{name}/{n}" for n in range(25))))
        for name in "abcd"
    ]
    for thread in [*followers, *writers]:
        thread.start()
    for thread in [*followers, *writers]:
        thread.join(timeout=300)
    assert seen == [list(range(2, 102))] * 3


# The end


def test_closing(store: Store) -> None:
    calls: list[None] = []
    watch = store.watch("/", notify=lambda: calls.append(None))
    future = store.submit(put("/a", b""))
    store.close()
    store.close()
    assert future.result().revision == 2
    assert len(calls) == 1
    assert [event.key for event in watch.take().events] == ["/a"]
    with pytest.raises(StoreClosed, match="the store is closed"):
        watch.take()
    for use in (
        lambda: store.submit(put("/b", b"")),
        lambda: store.compact(2),
        lambda: store.watch("/"),
    ):
        with pytest.raises(StoreClosed, match="the store is closed"):
            use()
    assert keys(store.range("")) == ["/a"]


@pytest.mark.parametrize(
    ("operations", "error", "message"),
    [
        ((Put("/a", b""), Delete("/a")), ValueError, "a key is operated on twice"),
        ((Put("", b""),), ValueError, "a key is empty"),
        ((Delete(""),), ValueError, "a key is empty"),
        ((Put("/\ud800", b""),), UnicodeEncodeError, ".*surrogates not allowed"),
        (
            (Put("/a", "text"),),  # type: ignore[arg-type]  # that is the point
            TypeError,
            "a value is not bytes",
        ),
        ((Put("/a", b"", seconds=0),), ValueError, "a value is to go before it is there"),
        (
            tuple(Delete(f"/{number}") for number in range(MAX_OPERATIONS + 1)),
            ValueError,
            f"more than {MAX_OPERATIONS} conditions or operations",
        ),
    ],
)
def test_what_is_no_transaction(
    operations: tuple[Any, ...], error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=f"^{message}$"):
        Transaction((), operations)


def test_the_largest_transactions() -> None:
    Transaction((), tuple(Delete(f"/{number}") for number in range(MAX_OPERATIONS)))
    Transaction((), (Put("/a", bytes(MAX_VALUE), seconds=1),))
    with pytest.raises(TooLarge, match=r"^etcdserver: request is too large$"):
        Transaction((), (Put("/a", bytes(MAX_VALUE + 1)),))


def test_nothing_is_written_while_a_store_is_held(store: Store) -> None:
    written = threading.Event()

    def work() -> None:
        write(store, "/a")
        written.set()

    with store.held():
        writer = threading.Thread(target=work)
        writer.start()
        assert not written.wait(0.05)
    writer.join()
    assert store.get("/a") is not None
