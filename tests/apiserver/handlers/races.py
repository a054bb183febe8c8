"""Writes of somebody else that come between the reading and the writing of a request."""

from __future__ import annotations

import copy
from collections.abc import Callable, Collection
from typing import Any

import pytest

from celadon.apiserver.loop_offloading import RequestWork
from celadon.apiserver.object_store import SMALL_WORK, ObjectStore, StoredObject
from celadon.kube import JsonObject
from celadon.kube.resources import Resource
from celadon.storage import Condition

NAME = "raced"
Change = Callable[[dict[str, Any]], None]


class Race:
    """The first `losses` attempts to write the object `raced`, after those that are `spared`, come
    too late; `attempts` counts all."""

    def __init__(self, change: Change, losses: int, spared: int = 0) -> None:
        self.change = change
        self.losses = losses
        self.spared = spared
        self.attempts = 0

    def is_lost(self, name: str) -> bool:
        """Whether this attempt is to be lost."""
        if name != NAME:
            return False
        self.attempts += 1
        return self.spared < self.attempts <= self.spared + self.losses


def race(monkeypatch: pytest.MonkeyPatch, change: Change, losses: int = 1, spared: int = 0) -> Race:
    """Lets somebody else `change` the object just before it is updated or deleted."""
    found = Race(change, losses, spared)
    update, delete = ObjectStore.update, ObjectStore.delete

    async def interfere(store: ObjectStore, resource: Resource, namespace: str) -> None:
        stored = store.get(resource, namespace, NAME)
        assert stored is not None
        changed = copy.deepcopy(dict(stored.object))
        change(changed)
        changed["metadata"]["annotations"] = {"attempt": str(found.attempts)}
        await update(store, resource, namespace, NAME, changed, stored.revision)

    async def late_update(
        store: ObjectStore,
        resource: Resource,
        namespace: str,
        name: str,
        obj: JsonObject,
        revision: int,
        claims: Collection[Condition] = (),
        work: RequestWork = SMALL_WORK,
    ) -> StoredObject | None:
        if found.is_lost(name):
            await interfere(store, resource, namespace)
        return await update(store, resource, namespace, name, obj, revision, claims, work)

    async def late_delete(
        store: ObjectStore, resource: Resource, namespace: str, name: str, revision: int
    ) -> int | None:
        if found.is_lost(name):
            await interfere(store, resource, namespace)
        return await delete(store, resource, namespace, name, revision)

    monkeypatch.setattr(ObjectStore, "update", late_update)
    monkeypatch.setattr(ObjectStore, "delete", late_delete)
    return found


def claim_race(monkeypatch: pytest.MonkeyPatch, losses: int = 1) -> Race:
    """Lets somebody else have what is claimed for the object when it is created."""
    found = Race(lambda _: None, losses)
    create = ObjectStore.create

    async def late_create(
        store: ObjectStore,
        resource: Resource,
        namespace: str,
        name: str,
        obj: JsonObject,
        claims: Collection[Condition] = (),
        work: RequestWork = SMALL_WORK,
    ) -> StoredObject | None:
        if found.is_lost(name):
            assert claims
            return None
        return await create(store, resource, namespace, name, obj, claims, work)

    monkeypatch.setattr(ObjectStore, "create", late_create)
    return found
