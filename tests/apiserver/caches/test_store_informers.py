"""Entries kept current by a watch."""

from __future__ import annotations

import asyncio

import pytest

from celadon.apiserver.caches.store_informers import ChangeCount, Mirror
from celadon.apiserver.object_store import Undecodable, collection_prefix
from celadon.kube import metadata
from celadon.storage import delete, put
from tests.apiserver.serving import Shelf, resource


def names(mirror: Mirror) -> list[str]:
    return [metadata.name(one.object) for one in mirror]


def test_a_mirror_follows() -> None:
    async def scenario() -> None:
        shelf = Shelf()
        await shelf.create("b")
        mirror = Mirror(shelf.objects, collection_prefix(resource()))
        assert (names(mirror), mirror.refresh()) == (["b"], False)
        await shelf.create("a")
        await shelf.delete("b")
        assert (mirror.refresh(), names(mirror)) == (True, ["a"])

    asyncio.run(scenario())


def test_a_mirror_that_was_left_behind_begins_again() -> None:
    async def scenario() -> None:
        shelf = Shelf()
        mirror = Mirror(shelf.objects, collection_prefix(resource()))
        for number in range(10_001):
            await shelf.create(f"n{number:05}")
        assert mirror.refresh()
        assert len(mirror) == 10_001

    asyncio.run(scenario())


def test_a_mirror_is_never_read_without_what_cannot_be_decoded() -> None:
    async def scenario() -> None:
        shelf = Shelf()
        prefix = collection_prefix(resource())
        mirror = Mirror(shelf.objects, prefix)
        shelf.store.submit(put(f"{prefix}a/strange", b"{")).result()
        await shelf.create("b")
        for _ in range(2):
            with pytest.raises(Undecodable):
                mirror.refresh()
        with pytest.raises(Undecodable):
            Mirror(shelf.objects, prefix)
        shelf.store.submit(delete(f"{prefix}a/strange")).result()
        assert (mirror.refresh(), names(mirror)) == (True, ["b"])

    asyncio.run(scenario())


def test_changes_are_counted_where_somebody_looks() -> None:
    async def scenario() -> None:
        shelf = Shelf()
        prefix = collection_prefix(resource())
        await shelf.create("before")
        changes = ChangeCount(shelf.objects, prefix)
        first = changes.number()
        shelf.store.submit(put("/registry/elsewhere/a", b"{}")).result()
        assert changes.number() == first
        await shelf.create("a")
        await shelf.delete("a")
        second = changes.number()
        assert second != first
        assert changes.number() == second
        for number in range(10_001):  # more than a watch keeps
            await shelf.create(f"n{number:05}")
        third = changes.number()
        assert third != second
        assert changes.number() == third
        await shelf.create("last")
        assert changes.number() != third

    asyncio.run(scenario())
