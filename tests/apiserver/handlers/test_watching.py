"""Watches as streams of events."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Coroutine
from dataclasses import replace
from itertools import pairwise

import pytest

from celadon.apiserver import object_store, workers
from celadon.apiserver.authz import authorizer_chain
from celadon.apiserver.authz.authorizer_chain import Standing
from celadon.apiserver.handlers import watch
from celadon.apiserver.handlers.watch import (
    INITIAL_EVENTS_END,
    WatchEvent,
    Watching,
    WatchRequest,
    bookmark,
)
from celadon.apiserver.http_messages import HttpRequest, Outlet
from celadon.apiserver.object_store import encoded
from celadon.apiserver.operation.request_limits import Wake
from celadon.apiserver.request_info import list_options
from celadon.kube import (
    GroupVersionKind,
    GroupVersionResource,
    JsonObject,
    User,
    metadata,
    releases,
)
from celadon.storage import Entry, put
from tests.apiserver.serving import Shelf, config_map, endpoint, resource

Seen = tuple[str, str]


def opened(
    shelf: Shelf,
    query: str = "",
    seconds: float = 60.0,
    definition: str = "",
    standing: Standing | None = None,
    outlet: Outlet | None = None,
) -> AsyncGenerator[WatchEvent, None]:
    options = list_options(HttpRequest("GET", f"/?{query}&watch=1"), resource())
    request = WatchRequest(
        endpoint("a", verb="watch"),
        options,
        seconds,
        definition,
        standing,
        outlet=outlet,
        line=lambda event: " ".join(seen(event)).encode(),
    )
    return Watching(shelf.objects, shelf.reader, shelf.served).open(request)


async def taken(stream: AsyncGenerator[WatchEvent, None], count: int) -> list[Seen]:
    async with asyncio.timeout(60):
        return [seen(await anext(stream)) for _ in range(count)]


def seen(event: WatchEvent) -> Seen:
    return event.type, metadata.name(event.object)


def run(scenario: Callable[[Shelf], Coroutine[None, None, None]]) -> None:
    asyncio.run(scenario(Shelf()))


def test_first_what_is_there_then_what_comes() -> None:
    async def scenario(shelf: Shelf) -> None:
        await shelf.create("b")
        await shelf.create("a")
        await shelf.create("other", "b")
        stream = opened(shelf)
        assert await taken(stream, 2) == [("ADDED", "a"), ("ADDED", "b")]
        await shelf.update("a", k="v")
        await shelf.delete("b")
        assert await taken(stream, 2) == [("MODIFIED", "a"), ("DELETED", "b")]
        await stream.aclose()

    run(scenario)


def test_others_have_their_turn_while_nothing_is_selected(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workers, "TURN_SECONDS", 0.0)
    turns: list[int] = []

    async def scenario(shelf: Shelf) -> None:
        for number in range(4 * watch._LOOKED_AT):
            await shelf.create(f"a{number}")
        await shelf.create("z", k="v")
        stream = opened(shelf, "labelSelector=k%3Dv")
        first = asyncio.ensure_future(anext(stream))
        while not first.done():
            turns.append(1)
            await asyncio.sleep(0)
        assert seen(await first) == ("ADDED", "z")
        await stream.aclose()

    run(scenario)
    assert len(turns) >= 4


@pytest.fixture
def decoded(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, bool]]:
    """The names of objects that have been decoded, each with whether a worker has done it."""
    found: list[tuple[str, bool]] = []
    real = object_store.decoded

    def noted(entry: Entry, revision: int) -> JsonObject:
        found.append((entry.key[-1], workers.is_worker()))
        return real(entry, revision)

    monkeypatch.setattr(object_store, "decoded", noted)
    return found


def put_all(shelf: Shelf, names: str) -> int:
    """Store objects as somebody else would, who has not decoded them here; return the revision."""
    for name in names:
        key, value = f"/registry/core/configmaps/a/{name}", encoded(config_map(name))
        shelf.store.submit(put(key, value)).result()
    return shelf.store.revision()


@pytest.mark.parametrize(
    ("bounds", "pieces"),
    [
        pytest.param({}, ["abcde"], id="few"),
        pytest.param({"MANY_OBJECTS": 2}, ["ab", "cd", "e"], id="many"),
        pytest.param({"MANY_BYTES": 1}, ["a", "b", "c", "d", "e"], id="large"),
    ],
)
def test_no_more_is_decoded_than_is_sent_next(
    monkeypatch: pytest.MonkeyPatch,
    decoded: list[tuple[str, bool]],
    bounds: dict[str, int],
    pieces: list[str],
) -> None:
    for name, bound in bounds.items():
        monkeypatch.setattr(watch, name, bound)

    async def scenario(shelf: Shelf) -> None:
        put_all(shelf, "abcde")
        stream = opened(shelf)
        for number, piece in enumerate(pieces, 1):
            for name in piece:
                assert await taken(stream, 1) == [("ADDED", name)]
                assert "".join(name for name, _ in decoded) == "".join(pieces[:number])
        await stream.aclose()

    run(scenario)


@pytest.mark.parametrize(("large", "aside"), [(1, True), (1 << 10, False)])
def test_a_worker_decodes_what_is_large(
    monkeypatch: pytest.MonkeyPatch, decoded: list[tuple[str, bool]], large: int, *, aside: bool
) -> None:
    monkeypatch.setattr(object_store, "LARGE_JSON", large)

    async def scenario(shelf: Shelf) -> None:
        put_all(shelf, "ab")
        for _ in range(2):  # what is known already is decoded by nobody
            stream = opened(shelf)
            assert await taken(stream, 2) == [("ADDED", "a"), ("ADDED", "b")]
            await stream.aclose()

    run(scenario)
    assert decoded == [("a", aside), ("b", aside)]


def test_what_changes_while_it_is_sent_is_neither_lost_nor_doubled(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(watch, "MANY_OBJECTS", 1)

    async def scenario(shelf: Shelf) -> None:
        before = put_all(shelf, "abc")
        stream = opened(shelf, "allowWatchBookmarks=1")
        assert await taken(stream, 1) == [("ADDED", "a")]
        await shelf.update("a", k="v")
        await shelf.update("b", k="v")
        await shelf.delete("c")
        await shelf.create("d")
        b, c, end = [await anext(stream) for _ in range(3)]
        assert [seen(b), seen(c)] == [("ADDED", "b"), ("ADDED", "c")]
        assert not metadata.labels(b.object)
        assert metadata.annotations(end.object) == {INITIAL_EVENTS_END: "true"}
        assert metadata.resource_version(end.object) == str(before)
        assert await taken(stream, 4) == [
            ("MODIFIED", "a"),
            ("MODIFIED", "b"),
            ("DELETED", "c"),
            ("ADDED", "d"),
        ]
        await stream.aclose()

    run(scenario)


def test_what_changes_while_it_is_gathered_comes_afterwards(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(watch, "_GATHERED", 1)
    monkeypatch.setattr(workers, "TURN_SECONDS", 0.0)

    async def scenario(shelf: Shelf) -> None:
        put_all(shelf, "bcd")
        stream = opened(shelf)
        first = asyncio.ensure_future(anext(stream))
        await asyncio.sleep(0)
        assert not first.done()
        put_all(shelf, "ae")
        await shelf.delete("d")
        assert seen(await first) == ("ADDED", "b")
        assert await taken(stream, 2) == [("ADDED", "c"), ("ADDED", "d")]
        assert await taken(stream, 3) == [("ADDED", "a"), ("ADDED", "e"), ("DELETED", "d")]
        await stream.aclose()

    run(scenario)


def test_what_cannot_be_decoded_ends_a_long_watch_where_it_is(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(watch, "MANY_OBJECTS", 1)

    async def scenario(shelf: Shelf) -> None:
        put_all(shelf, "a")
        shelf.store.submit(put("/registry/core/configmaps/a/b", b"{")).result()
        put_all(shelf, "c")
        events = [event async for event in opened(shelf)]
        assert [event.type for event in events] == ["ADDED", "ERROR"]
        assert events[-1].object["code"] == 500

    run(scenario)


def test_the_history_after_a_revision() -> None:
    async def scenario(shelf: Shelf) -> None:
        first = await shelf.create("a")
        await shelf.create("b")
        stream = opened(shelf, f"resourceVersion={first.revision}")
        assert await taken(stream, 1) == [("ADDED", "b")]
        await stream.aclose()

    run(scenario)


def test_objects_enter_and_leave_a_selection() -> None:
    async def scenario(shelf: Shelf) -> None:
        stream = opened(shelf, "labelSelector=k")
        waiting = asyncio.ensure_future(anext(stream))
        await asyncio.sleep(0)
        await shelf.create("a")
        await shelf.update("a", k="1")
        assert seen(await waiting) == ("ADDED", "a")
        await shelf.update("a", k="2")
        left = await shelf.update("a")
        assert await taken(stream, 1) == [("MODIFIED", "a")]
        event = await anext(stream)
        assert (event.type, metadata.labels(event.object)) == ("DELETED", {"k": "2"})
        assert metadata.resource_version(event.object) == str(left.revision)
        await stream.aclose()

    run(scenario)


def test_what_left_a_selection_is_shown_as_it_was_whoever_has_read_the_history() -> None:
    async def scenario(shelf: Shelf) -> None:
        made = await shelf.create("a", k="1")
        await shelf.update("a", k="2")
        await shelf.update("a", k="3")
        since = f"resourceVersion={made.revision}"

        async def history(selector: str) -> list[tuple[str, dict[str, str]]]:
            stream = opened(shelf, since + selector)
            events = [await anext(stream) for _ in range(1 if selector else 2)]
            await stream.aclose()
            return [(event.type, dict(metadata.labels(event.object))) for event in events]

        changes = [("MODIFIED", {"k": "2"}), ("MODIFIED", {"k": "3"})]
        for _ in range(2):
            assert await history("") == changes
            assert await history("&labelSelector=k=1") == [("DELETED", {"k": "1"})]

    run(scenario)


def test_bookmarks_end_the_initial_events_and_the_watch() -> None:
    async def scenario(shelf: Shelf) -> None:
        made = await shelf.create("a")
        stream = opened(shelf, "allowWatchBookmarks=1", seconds=0.05)
        async with asyncio.timeout(60):
            events = [event async for event in stream]
        assert [event.type for event in events] == ["ADDED", "BOOKMARK", "BOOKMARK"]
        ends = [metadata.annotations(event.object).get(INITIAL_EVENTS_END) for event in events]
        assert ends == [None, "true", None]
        assert metadata.resource_version(events[-1].object) == str(made.revision)

    run(scenario)


def test_a_revision_that_is_too_old_is_an_event() -> None:
    async def scenario(shelf: Shelf) -> None:
        for name in "abc":
            await shelf.create(name)
        shelf.store.compact(4).result()
        (event,) = [event async for event in opened(shelf, "resourceVersion=2")]
        assert (event.type, event.object["code"], event.object["message"]) == (
            "ERROR",
            410,
            "too old resource version: 2 (3)",
        )

    run(scenario)


@pytest.mark.parametrize("query", ["", "sendInitialEvents=true&resourceVersionMatch=NotOlderThan"])
def test_what_cannot_be_decoded_is_an_event(query: str) -> None:
    async def scenario(shelf: Shelf) -> None:
        await shelf.create("x")
        stream = opened(shelf, query)
        assert await taken(stream, 1) == [("ADDED", "x")]
        shelf.store.submit(put("/registry/core/configmaps/a/y", b"{")).result()
        for one in (stream, opened(shelf, query)):
            (event,) = [event async for event in one]
            assert (event.type, event.object["code"], event.object["message"]) == (
                "ERROR",
                500,
                "Internal error occurred: "
                "couldn't get version/kind; json parse error: unexpected end of JSON input",
            )

    run(scenario)


def test_a_watch_ends_with_its_definition() -> None:
    async def scenario(shelf: Shelf) -> None:
        await shelf.create("definition", "elsewhere")
        key = "/registry/core/configmaps/elsewhere/definition"
        stream = opened(shelf, definition=key)
        waiting = asyncio.ensure_future(anext(stream, None))
        await asyncio.sleep(0.01)
        await shelf.delete("definition", "elsewhere")
        async with asyncio.timeout(60):
            assert await waiting is None

    run(scenario)


def test_a_watch_ends_when_what_became_of_its_definition_is_forgotten() -> None:
    async def scenario(shelf: Shelf) -> None:
        await shelf.create("definition", "elsewhere")
        await shelf.create("a")
        stream = opened(shelf, definition="/registry/core/configmaps/elsewhere/definition")
        assert await taken(stream, 1) == [("ADDED", "a")]
        await shelf.update("definition", "elsewhere", k="v")
        await shelf.update("definition", "elsewhere", k="w")
        shelf.store.compact(shelf.store.revision()).result()
        assert [event async for event in stream] == []

    run(scenario)


def test_nothing_is_known_from_before_the_definition() -> None:
    async def scenario(shelf: Shelf) -> None:
        before = await shelf.create("a")
        definition = await shelf.create("definition", "elsewhere")
        key = "/registry/core/configmaps/elsewhere/definition"
        query = f"resourceVersion={before.revision}"
        (event,) = [event async for event in opened(shelf, query, definition=key)]
        assert event.object["message"] == (
            f"too old resource version: {before.revision} ({definition.revision})"
        )

    run(scenario)


def test_zero_in_disguise_means_any_state_without_a_bookmark() -> None:
    async def scenario(shelf: Shelf) -> None:
        await shelf.create("a")
        stream = opened(shelf, "resourceVersion=00")
        assert await taken(stream, 1) == [("ADDED", "a")]
        await shelf.update("a", k="v")
        assert await taken(stream, 1) == [("MODIFIED", "a")]
        await stream.aclose()

    run(scenario)


def test_bookmarks_of_kinds_that_count_replicas() -> None:
    deployments = resource(GroupVersionResource("apps", "v1", "deployments"))
    assert bookmark(deployments, 7).object["spec"]["replicas"] == 0
    daemon_sets = resource(GroupVersionResource("apps", "v1", "daemonsets"))
    assert "replicas" not in bookmark(daemon_sets, 7).object["spec"]


def test_bookmarks_of_custom_resources_are_maps() -> None:
    typed = resource(GroupVersionResource("apps", "v1", "deployments"))
    untyped = replace(typed, gvk=GroupVersionKind("x.io", "v1", "Box"), custom=True)
    orders = []
    for one in (typed, untyped):
        event = bookmark(one, 7, initial_end=True).object
        orders.append([*[*event][:2], *event["metadata"]])
    assert orders == [
        ["kind", "apiVersion", "resourceVersion", "annotations"],
        ["apiVersion", "kind", "annotations", "resourceVersion"],
    ]


def test_a_malformed_version_is_refused_before_the_stream() -> None:
    async def scenario(shelf: Shelf) -> None:
        with pytest.raises(Exception, match="resourceVersion: Invalid value") as refused:
            opened(shelf, "resourceVersion=abc")
        assert getattr(refused.value, "code", 0) == 500

    run(scenario)


def test_a_reader_who_is_not_anymore_who_they_were(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where nothing happens: the watch wakes by itself."""
    for module in (authorizer_chain, watch):
        monkeypatch.setattr(module, "STANDING_SECONDS", 0.0)

    async def scenario(shelf: Shelf) -> None:
        users = [User("alice")]
        stream = opened(
            shelf, standing=Standing(lambda: users[-1], asyncio.get_running_loop().time)
        )
        await shelf.create("a")
        assert await taken(stream, 1) == [("ADDED", "a")]
        users.append(User("eve"))
        async with asyncio.timeout(60):
            with pytest.raises(StopAsyncIteration):
                await anext(stream)

    run(scenario)


def test_nothing_is_shown_behind_the_look_that_finds_somebody_else(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(authorizer_chain, "STANDING_SECONDS", 0.0)

    async def scenario(shelf: Shelf) -> None:
        users = [User("alice")]
        stream = opened(
            shelf, standing=Standing(lambda: users[-1], asyncio.get_running_loop().time)
        )
        await shelf.create("a")
        assert await taken(stream, 1) == [("ADDED", "a")]
        users.append(User("eve"))
        await shelf.create("secret")
        assert [seen(event) async for event in stream] == []

    run(scenario)


def test_others_have_their_turn_while_thousands_of_watches_are_woken() -> None:
    async def scenario() -> None:
        wakes, count = watch.Wakes(), 10 * watch.WOKEN_AT_ONCE
        events = [Wake() for _ in range(count)]
        for one in events:
            wakes.wake(one.set)
        woken = [sum(one.is_set() for one in events)]
        while woken[-1] < count:
            await asyncio.sleep(0)
            woken.append(sum(one.is_set() for one in events))
        steps = [after - before for before, after in pairwise(woken)]
        assert max(woken[0], *steps) <= watch.WOKEN_AT_ONCE
        await asyncio.sleep(0)
        late = Wake()
        wakes.wake(late.set)
        assert late.is_set(), "nobody waits for a turn when there are few"

    asyncio.run(scenario())


def test_a_large_event_is_sent_to_few_in_one_turn() -> None:
    async def scenario() -> None:
        wakes, sent = watch.Wakes(), list[int]()

        def send() -> None:
            sent.append(1 << 20)
            wakes.sent(1 << 20)

        for _ in range(20):
            wakes.wake(send)
        assert len(sent) == 2
        for turn in range(2, 11):
            await asyncio.sleep(0)
            assert len(sent) == 2 * turn

    asyncio.run(scenario())


class Reader:
    """A client at an outlet, who takes a part as long as `patience` lasts."""

    def __init__(self, patience: int = 100) -> None:
        self.patience = patience
        self.got: list[str] = []
        self.outlet = Outlet()
        self.outlet.connect(self)

    def is_ready(self) -> bool:
        return self.patience > 0

    def send(self, data: bytes) -> None:
        self.patience -= 1
        self.got.append(data.decode())


async def parked(stream: AsyncGenerator[WatchEvent, None]) -> asyncio.Task[WatchEvent | None]:
    """Who waits for the next event, where there is none yet."""
    waiting = asyncio.ensure_future(anext(stream, None))
    while not _waits(waiting):
        await asyncio.sleep(0)
    return waiting


def _waits(task: asyncio.Task[WatchEvent | None]) -> bool:
    return task.done() or getattr(task, "_fut_waiter", None) is not None


def test_changes_go_past_the_stream_to_a_client_who_waits() -> None:
    async def scenario(shelf: Shelf) -> None:
        await shelf.create("first")
        reader = Reader()
        stream = opened(shelf, "resourceVersion=0", outlet=reader.outlet)
        assert await taken(stream, 1) == [("ADDED", "first")]
        assert reader.got == [], "what is there at first comes with the stream"
        waiting = await parked(stream)
        await shelf.create("a")
        await shelf.update("a", k="v")
        await shelf.delete("a")
        assert reader.got == ["ADDED a", "MODIFIED a", "DELETED a"]
        assert not waiting.done()
        waiting.cancel()

    run(scenario)


def test_a_client_who_does_not_read_has_the_rest_with_the_stream() -> None:
    async def scenario(shelf: Shelf) -> None:
        reader = Reader(patience=1)
        stream = opened(shelf, outlet=reader.outlet)
        waiting = await parked(stream)
        for name in ("a", "b", "c"):
            await shelf.create(name)
        async with asyncio.timeout(60):
            event = await waiting
        assert event is not None
        assert (reader.got, seen(event)) == (["ADDED a"], ("ADDED", "b"))
        assert await taken(stream, 1) == [("ADDED", "c")]
        await stream.aclose()

    run(scenario)


def test_only_what_is_selected_goes_past_the_stream() -> None:
    async def scenario(shelf: Shelf) -> None:
        reader = Reader()
        stream = opened(shelf, "fieldSelector=metadata.name%3Db", outlet=reader.outlet)
        waiting = await parked(stream)
        await shelf.create("a")
        await shelf.create("b")
        assert reader.got == ["ADDED b"]
        waiting.cancel()

    run(scenario)


def test_what_cannot_go_past_the_stream_is_an_event_of_it() -> None:
    async def scenario(shelf: Shelf) -> None:
        reader = Reader()
        waiting = await parked(opened(shelf, outlet=reader.outlet))
        shelf.store.submit(put("/registry/core/configmaps/a/y", b"{")).result()
        async with asyncio.timeout(60):
            event = await waiting
        assert event is not None
        assert (event.type, event.object["code"], reader.got) == ("ERROR", 500, [])

    run(scenario)


def test_nobody_else_is_sent_anything_past_the_stream(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(authorizer_chain, "STANDING_SECONDS", 0.0)

    async def scenario(shelf: Shelf) -> None:
        users, reader = [User("alice")], Reader()
        standing = Standing(lambda: users[-1], asyncio.get_running_loop().time)
        waiting = await parked(opened(shelf, standing=standing, outlet=reader.outlet))
        users.append(User("eve"))
        await shelf.create("secret")
        async with asyncio.timeout(60):
            assert await waiting is None
        assert reader.got == []

    run(scenario)


def test_what_goes_past_the_stream_is_of_its_release(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(authorizer_chain, "STANDING_SECONDS", 0.0)

    async def scenario(shelf: Shelf) -> None:
        reader, looked = Reader(), list[str]()

        def alice() -> User:
            looked.append(releases.current_release())
            return User("alice")

        standing = Standing(alice, asyncio.get_running_loop().time)
        before = releases.enter_release("1.30")
        waiting = await parked(opened(shelf, standing=standing, outlet=reader.outlet))
        releases.leave_release(before)
        looked.clear()
        await shelf.create("a")
        assert reader.got == ["ADDED a"]
        assert [release.rpartition("v")[2][:4] for release in looked] == ["1.30"]
        waiting.cancel()

    run(scenario)
