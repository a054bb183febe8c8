from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterator, Mapping
from contextlib import asynccontextmanager
from typing import Any

import pytest

from celadon.kube.json_types import OBJECT
from celadon.testing import KubeApi
from celadon.webhook.cluster.cluster_client import (
    ClusterClient,
    ClusterRefusal,
    ClusterUnreachable,
    Page,
)
from celadon.webhook.cluster.informers import ClusterCaches, Watched, WatchedCollection
from tests.webhook.cluster.against_server import client_of, config_map, until

CONFIG_MAPS = "/api/v1/configmaps"
ALL = Watched([CONFIG_MAPS], {}, 100, OBJECT)


class Told:
    """How often something was called."""

    def __init__(self) -> None:
        self.times = 0

    def __call__(self) -> None:
        self.times += 1


@asynccontextmanager
async def followed(
    client: ClusterClient, watched: Watched, changed: Callable[[], None] = lambda: None
) -> AsyncIterator[WatchedCollection]:
    collection = WatchedCollection(client, watched, changed, time.monotonic)
    running = asyncio.create_task(collection.run())
    try:
        async with asyncio.timeout(60):
            await collection.synced()
        yield collection
    finally:
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)


@pytest.fixture
def api() -> Iterator[KubeApi]:
    with KubeApi([config_map("first", a="1")]) as started:
        yield started


def names(collection: WatchedCollection) -> list[str]:
    return [one["metadata"]["name"] for one in collection.list("default")]


def test_it_follows_what_happens(api: KubeApi) -> None:
    async def run() -> None:
        told = Told()
        async with client_of(api.admin) as client, followed(client, ALL, told) as found:
            assert found.get("default", "first") is not None
            assert found.age() < 5
            assert told.times == 1
            api.create(config_map("second"))
            await until(lambda: "second" in names(found))
            path = "/api/v1/namespaces/default/configmaps/first"
            api.request("PATCH", path, {"data": {"a": "2"}})
            await until(lambda: (found.get("default", "first") or {})["data"] == {"a": "2"})
            api.request("DELETE", path)
            await until(lambda: found.get("default", "first") is None)
            assert told.times == 4
            assert {one["metadata"]["name"] for one in found} >= {"second"}
            assert found.lists == 1

    asyncio.run(run())


def test_a_selector_takes_some(api: KubeApi) -> None:
    async def run() -> None:
        one = Watched([CONFIG_MAPS], {"fieldSelector": "metadata.name=second"}, 100, OBJECT)
        async with client_of(api.admin) as client, followed(client, one) as found:
            assert names(found) == []
            api.create(config_map("other"), config_map("second"))
            await until(lambda: names(found) == ["second"])

    asyncio.run(run())


def test_versions_are_tried_in_their_order(api: KubeApi) -> None:
    async def run() -> None:
        paths = ["/apis/none/v2/configmaps", CONFIG_MAPS]
        async with (
            client_of(api.admin) as client,
            followed(client, Watched(paths, {}, 9, OBJECT)) as found,
        ):
            assert "first" in names(found)
            assert not found.is_absent

    asyncio.run(run())


def test_what_the_server_does_not_know_is_empty(api: KubeApi) -> None:
    async def run() -> None:
        nowhere = Watched(["/apis/none/v1/things"], {}, 9, OBJECT)
        async with client_of(api.admin) as client, followed(client, nowhere) as found:
            assert list(found) == []
            assert found.is_absent
            assert found.watched.name == "things"

    asyncio.run(run())


class Scripted:
    """A cluster that does what a test says: answers of lists, and what watches bring."""

    def __init__(self, lists: list[Any], watches: list[list[Any]]) -> None:
        self.lists = lists
        self.watches = watches
        self.asked: list[str] = []
        self.queries: list[tuple[str, dict[str, str], float]] = []

    async def pages(self, path: str, query: Mapping[str, str]) -> AsyncGenerator[Any, None]:
        self.asked.append("list")
        found = self.lists.pop(0)
        if isinstance(found, Exception):
            raise found
        yield found

    async def watch(
        self, path: str, query: Mapping[str, str], seconds: float, opened: Callable[[], None]
    ) -> AsyncGenerator[Any, None]:
        self.asked.append(f"watch {query['resourceVersion']}")
        self.queries.append((path, dict(query), seconds))
        if not self.watches:
            await asyncio.Event().wait()
        opened()
        for event in self.watches.pop(0):
            if isinstance(event, Exception):
                raise event
            yield event


def listed(revision: str, *objects: str) -> Page:
    return Page([{"metadata": {"name": name}} for name in objects], revision=revision)


def event(kind: str, revision: str, name: str = "") -> dict[str, Any]:
    return {
        "type": kind,
        "object": {"metadata": {"name": name, "resourceVersion": revision}},
    }


def test_a_bookmark_changes_nothing() -> None:
    server = Scripted([listed("5", "a")], [[event("BOOKMARK", "9"), event("ADDED", "10", "b")]])

    async def run() -> int:
        told = Told()
        things = Watched(["/apis/a/v1/things"], {}, 100, OBJECT)
        async with followed(server, things, told):  # type: ignore[arg-type]  # a double
            await until(lambda: server.asked[-1] == "watch 10")
        return told.times

    assert asyncio.run(run()) == 2, "the list, and what was added"


def test_config_maps_with_policies_have_a_label() -> None:
    server = Scripted([listed("5")], [])

    async def run() -> None:
        caches = ClusterCaches(server, "ns", 60.0, Told(), time.monotonic)  # type: ignore[arg-type]
        running = asyncio.create_task(caches.config_maps.run())
        await until(lambda: server.queries)
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)

    asyncio.run(run())
    ((path, query, _),) = server.queries
    assert path == "/api/v1/namespaces/ns/configmaps"
    assert query["labelSelector"] == "celadon.dev/policies"


def failed(code: int, *reasons: str) -> dict[str, Any]:
    causes = [{"reason": reason} for reason in reasons]
    return {"type": "ERROR", "object": {"code": code, "details": {"causes": causes}}}


LOST = ClusterUnreachable("gone")
SCRIPTS: dict[str, tuple[list[Any], list[list[Any]], list[str], list[str]]] = {
    "a watch goes on where it ended": (
        [listed("5", "a")],
        [[event("ADDED", "6", "b")], [event("BOOKMARK", "9")], [LOST]],
        ["list", "watch 5", "watch 6", "watch 9", "watch 9"],
        ["a", "b"],
    ),
    "history that is gone is listed anew": (
        [listed("5", "a"), listed("50", "c")],
        [[failed(410)]],
        ["list", "watch 5", "list", "watch 50"],
        ["c"],
    ),
    "a watch that is refused with 410 likewise": (
        [listed("5", "a"), listed("50", "c")],
        [[ClusterRefusal(410, {})]],
        ["list", "watch 5", "list", "watch 50"],
        ["c"],
    ),
    "another server behind the same name": (
        [listed("500", "a"), listed("2", "b")],
        [[failed(504, "ResourceVersionTooLarge")]],
        ["list", "watch 500", "list", "watch 2"],
        ["b"],
    ),
    "an error that says nothing of the history": (
        [listed("5", "a")],
        [[failed(500)]],
        ["list", "watch 5", "watch 5"],
        ["a"],
    ),
    "a list whose rest is no longer known": (
        [ClusterRefusal(410, {}), listed("5", "a")],
        [],
        ["list", "list", "watch 5"],
        ["a"],
    ),
    "a resource that comes later": (
        [ClusterRefusal(404, {}), listed("5", "a")],
        [],
        ["list", "list", "watch 5"],
        ["a"],
    ),
}


@pytest.mark.parametrize("script", SCRIPTS.values(), ids=SCRIPTS)
def test_what_becomes_of_failures(
    script: tuple[list[Any], list[list[Any]], list[str], list[str]],
) -> None:
    lists, watches, asked, objects = script
    server = Scripted(list(lists), list(watches))

    async def run() -> None:
        things = Watched(["/apis/a/v1/things"], {}, 100, OBJECT)
        async with followed(server, things) as found:  # type: ignore[arg-type]  # a double
            await until(lambda: server.asked == asked)
            assert [one["metadata"]["name"] for one in found] == objects

    asyncio.run(run())


@pytest.mark.parametrize(("seconds", "least", "most"), [(100.0, 75, 100), (0.5, 1, 1)])
def test_how_long_a_watch_lasts(seconds: float, least: int, most: int) -> None:
    """Not all of them as long, so that they are not all begun at once; and ten seconds more are
    waited for the end."""
    server = Scripted([listed("5", "a")], [])

    async def run() -> None:
        things = Watched(["/apis/a/v1/things"], {"labelSelector": "a"}, seconds, OBJECT)
        async with followed(server, things):  # type: ignore[arg-type]  # a double
            await until(lambda: server.queries)

    asyncio.run(run())
    ((path, query, patience),) = server.queries
    lasts = int(query.pop("timeoutSeconds"))
    assert (path, query) == (
        "/apis/a/v1/things",
        {"labelSelector": "a", "allowWatchBookmarks": "true", "resourceVersion": "5"},
    )
    assert least <= lasts <= most
    assert 0.75 * seconds <= patience - 10.0 <= seconds


def test_objects_of_another_shape_are_named() -> None:
    server = Scripted([Page([{"metadata": {"name": "a"}, "data": 5}], revision="5")], [])

    async def run() -> str:
        shaped = Watched(["/apis/a/v1/things"], {}, 100, {"data": {str: str}})
        collection = WatchedCollection(server, shaped, Told(), time.monotonic)  # type: ignore[arg-type]
        running = asyncio.create_task(collection.run())
        await until(lambda: collection.failure)
        failure = collection.failure
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)
        return failure

    assert asyncio.run(run()).startswith("things `a`: ")


def test_pauses_grow_while_nobody_answers(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    pauses: list[float] = []
    sleep = asyncio.sleep

    async def paused(seconds: float) -> None:
        if seconds > 0.04:  # not those of `until`
            pauses.append(seconds)
        await sleep(seconds)

    monkeypatch.setattr(asyncio, "sleep", paused)

    async def run() -> None:
        server = Scripted([LOST, LOST, LOST, listed("1")], [])
        things = Watched(["/apis/a/v1/things"], {}, 100, OBJECT)
        collection = WatchedCollection(server, things, Told(), time.monotonic)  # type: ignore[arg-type]
        running = asyncio.create_task(collection.run())
        await until(lambda: collection.failure == "gone")
        assert not collection.is_synced
        assert collection.age() == float("inf")
        await until(lambda: collection.is_synced)
        assert collection.failure == ""
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)

    with caplog.at_level(logging.INFO, "celadon.apiserver"):
        asyncio.run(run())
    expected = zip(pauses, (0.1, 0.2, 0.4), strict=True)
    assert [most / 2 <= seconds <= most for seconds, most in expected] == [True] * 3
    told = [one.message for one in caplog.records]
    assert told == ["a cache is not current", "a cache is current again"]


SILENT: dict[str, tuple[list[Any], list[list[Any]]]] = {
    "a watch that is taken up again": ([listed("5", "a")], [[LOST], [LOST]]),
    "a kind that is not there": ([ClusterRefusal(404, {})] * 3 + [listed("1")], []),
}


@pytest.mark.parametrize("script", SILENT.values(), ids=SILENT)
def test_what_mends_itself_is_not_told(
    script: tuple[list[Any], list[list[Any]]], caplog: pytest.LogCaptureFixture
) -> None:
    server = Scripted(*(list(one) for one in script))

    async def run() -> None:
        things = Watched(["/apis/a/v1/things"], {}, 100, OBJECT)
        async with followed(server, things):  # type: ignore[arg-type]  # a double
            await until(lambda: server.asked[-1].startswith("watch") and not server.watches)

    asyncio.run(run())
    assert not caplog.records
