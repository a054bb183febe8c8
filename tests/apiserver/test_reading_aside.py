"""Large objects are not read on the event loop."""

from __future__ import annotations

import asyncio
import itertools
import threading
from typing import Any

import pytest

from celadon.apiserver import object_store, workers
from celadon.apiserver.controllers import controller_loops
from celadon.apiserver.controllers.controller_loops import Controllers
from celadon.apiserver.http_messages import LARGE_JSON, read_stored
from celadon.apiserver.object_store import encoded
from celadon.apiserver.workers import Workers
from celadon.kube import metadata
from celadon.storage import create, put
from tests.apiserver.controllers.test_controller_loops import Watcher
from tests.apiserver.serving import Shelf, config_map, resource

KEY = "/registry/core/configmaps/a/"


def large(name: str, **labels: str) -> bytes:
    return encoded({**config_map(name, **labels), "data": {f"k{n}": "" for n in range(20_000)}})


@pytest.fixture
def readers(monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """For each large value that was read: whether that was on the event loop."""
    found: list[bool] = []

    def read(value: bytes) -> Any:
        if len(value) > LARGE_JSON:
            found.append(threading.current_thread() is threading.main_thread())
        return read_stored(value)

    monkeypatch.setattr(object_store, "read_stored", read)
    return found


def test_controllers_wait_until_an_object_is_read(readers: list[bool]) -> None:
    watcher = Watcher()

    async def scenario() -> None:
        shelf = Shelf()
        for transaction in (create(KEY + "first", large("first")), create(KEY + "more", b"{}")):
            shelf.store.submit(transaction).result()
        controllers = Controllers(shelf.objects, [watcher])
        controllers.start()
        try:
            await controllers.caught_up()
            assert watcher.done == ["first"]
            for version in "ab":  # both are there before anybody looks
                shelf.store.submit(put(KEY + "first", large("first", v=version))).result()
            await shelf.create("second")
            await controllers.caught_up()
            assert watcher.done == ["first", "first", "second"]
            await shelf.delete("first")
            await controllers.caught_up()
        finally:
            await controllers.stop()

    asyncio.run(scenario())
    assert watcher.changes[-1] == (True, False)
    assert readers
    assert not any(readers)


def test_many_changes_are_not_noted_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Others have their turn meanwhile, and see how far it has come."""
    monkeypatch.setattr(controller_loops, "MOST_NOTED", 2)
    monkeypatch.setattr(workers, "TURN_SECONDS", 0.0)
    watcher, seen = Watcher(), [0]

    async def scenario() -> None:
        shelf = Shelf()
        for number in range(20):
            await shelf.create(f"m-{number:02}")
        controllers = Controllers(shelf.objects, [watcher])
        controllers.start()
        try:
            while seen[-1] < 20:
                await asyncio.sleep(0)
                seen.append(len(watcher.changes))
            await controllers.caught_up()
        finally:
            await controllers.stop()

    asyncio.run(scenario())
    assert max(after - before for before, after in itertools.pairwise(seen)) <= 3
    assert watcher.done == [f"m-{number:02}" for number in range(20)]


def test_what_another_process_has_encoded_is_read_before_it_is_there(readers: list[bool]) -> None:
    async def scenario() -> None:
        shelf = Shelf()
        await shelf.objects.submit(create(KEY + "first", large("first")))
        found = shelf.objects.get(resource(), "a", "first")
        assert found is not None
        assert metadata.metadata(found.object)["resourceVersion"] == str(found.revision)

    asyncio.run(scenario())
    assert readers == [False]


@pytest.mark.thorough
@pytest.mark.parametrize(
    "value", [b"[" * 200_000 + b"]" * 200_000, b'"%b"' % (b"a" * 200_000), b"\xff" * 200_000]
)
def test_what_is_no_object_is_nobody_s_business_yet(value: bytes) -> None:
    async def scenario() -> None:
        shelf = Shelf()
        await shelf.objects.read_before([value])
        await shelf.objects.submit(create(KEY + "first", value))
        with pytest.raises((object_store.Undecodable, RecursionError)):
            shelf.objects.get(resource(), "a", "first")

    asyncio.run(scenario())


def test_a_worker_reads_itself(readers: list[bool]) -> None:
    async def scenario() -> None:
        shelf, threads = Shelf(), Workers()
        for name in ("first", "second"):
            shelf.store.submit(create(KEY + name, large(name))).result()
        one, _ = await threads.run("", lambda: shelf.objects.get(resource(), "a", "first"))
        page, _ = await threads.run("", lambda: shelf.objects.page(resource(), "a"))
        assert page.objects[0] is one
        assert [metadata.name(each.object) for each in page.objects] == ["first", "second"]
        assert shelf.objects.page(resource(), "a").objects == page.objects
        threads.stop()

    asyncio.run(scenario())
    assert readers == [False, False]
