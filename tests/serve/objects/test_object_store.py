"""Objects on a store of bytes."""

from __future__ import annotations

import asyncio

from celadon.serve.objects.object_store import decoded, encoded
from tests.serve.serving import Shelf, config_map, resource


def test_the_resource_version_is_the_revision_of_the_entry() -> None:
    async def scenario() -> None:
        shelf = Shelf()
        made = await shelf.create("x")
        assert made.object["metadata"]["resourceVersion"] == str(made.revision)
        assert list(made.object["metadata"]) == ["name", "namespace", "uid", "resourceVersion"]
        changed = await shelf.update("x", k="v")
        assert changed.revision == made.revision + 1
        assert shelf.objects.get(resource(), "a", "x") == changed

    asyncio.run(scenario())


def test_what_is_there_already_is_not_written_again() -> None:
    async def scenario() -> None:
        shelf = Shelf()
        made = await shelf.create("x")
        assert await shelf.update("x") == made
        assert shelf.store.revision() == made.revision

    asyncio.run(scenario())


def test_conflicts_are_values() -> None:
    async def scenario() -> None:
        shelf = Shelf()
        made = await shelf.create("x")
        obj = config_map("x", k="v")
        assert await shelf.objects.create(resource(), "a", "x", obj) is None
        assert await shelf.objects.update(resource(), "a", "x", obj, made.revision - 1) is None
        assert await shelf.objects.delete(resource(), "a", "x", made.revision + 1) is None
        assert await shelf.objects.delete(resource(), "a", "x", made.revision) is not None

    asyncio.run(scenario())


def test_the_same_object_is_the_same_bytes() -> None:
    new = {"metadata": {"name": "x", "uid": "u", "labels": {}}}
    kept = {"metadata": {"name": "x", "uid": "u", "resourceVersion": "7", "labels": {}}}
    assert encoded(new) == encoded(kept)
    custom = {"metadata": {"name": "x"}, "status": {}, "spec": {"b": 1, "a": 2}}
    sorted_again = {"spec": {"a": 2, "b": 1}, "status": {}, "metadata": {"name": "x"}}
    assert encoded(custom, custom=True) == encoded(sorted_again, custom=True)


def test_a_place_that_was_kept_for_the_version_is_used() -> None:
    obj = {"metadata": {"name": "x", "resourceVersion": "5", "labels": {}}}
    again = decoded(encoded(obj, custom=False), 7)
    assert again == {"metadata": {"name": "x", "resourceVersion": "7", "labels": {}}}
    assert list(again["metadata"]) == ["name", "resourceVersion", "labels"]


def test_former_objects_do_not_replace_current_ones() -> None:
    async def scenario() -> None:
        shelf = Shelf()
        first = await shelf.create("x")
        watch = shelf.store.watch("/registry/", 1)
        second = await shelf.update("x", k="v")
        _, event = watch.take().events
        assert event.previous is not None
        assert shelf.objects.stored(event.previous) == first
        assert shelf.objects.get(resource(), "a", "x") == second

    asyncio.run(scenario())
