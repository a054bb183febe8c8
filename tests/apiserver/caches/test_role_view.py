"""Roles in the store, as an authorizer."""

from __future__ import annotations

import asyncio
import threading
from typing import Any

import pytest

from celadon.apiserver.caches.store_informers import RoleView
from celadon.apiserver.object_store import ObjectStore, Undecodable
from celadon.kube import Attributes, GroupVersionResource, User
from celadon.kube.rbac import RoleIndex
from celadon.kube.well_known_values import RBAC_GROUP
from celadon.storage import delete, put
from tests.apiserver.serving import Shelf, resource
from tests.kube.rbac.role_objects import bound, role

READ = {"apiGroups": [""], "resources": ["pods"], "verbs": ["get"]}
TO_ALICE = {"kind": "User", "name": "alice"}
ASKED = Attributes(User("alice"), "get", resource="pods", resource_request=True)


async def create(objects: ObjectStore, obj: dict[str, Any]) -> None:
    plural = f"{obj['kind'].lower()}s"
    found = resource(GroupVersionResource(RBAC_GROUP, "v1", plural))
    assert await objects.create(found, "", obj["metadata"]["name"], obj) is not None


def may(view: RoleView) -> bool:
    return view.authorize(ASKED)[0].value == "allow"


def test_what_is_large_is_in_force_a_moment_later(monkeypatch: pytest.MonkeyPatch) -> None:
    threads: list[bool] = []
    real = RoleIndex.changed

    def changed(index: RoleIndex, *args: Any) -> RoleIndex:
        threads.append(threading.current_thread() is threading.main_thread())
        return real(index, *args)

    monkeypatch.setattr(RoleIndex, "changed", changed)

    async def scenario() -> None:
        objects = Shelf().objects
        view = RoleView(objects)
        await create(objects, bound("b", "ClusterRole", "r", TO_ALICE))
        assert not may(view)
        await create(objects, role("r", *[READ] * 1_000))
        assert not may(view)
        await view.settled()
        assert may(view)

    asyncio.run(scenario())
    assert threads == [True, False]


def test_nothing_is_missed_while_something_cannot_be_decoded() -> None:
    async def scenario() -> None:
        shelf = Shelf()
        view, strange = RoleView(shelf.objects), f"/registry/{RBAC_GROUP}/clusterrolebindings/x"
        assert not may(view)
        shelf.store.submit(put(strange, b"{")).result()
        await create(shelf.objects, role("r", READ))
        await create(shelf.objects, bound("b", "ClusterRole", "r", TO_ALICE))
        for _ in range(2):
            with pytest.raises(Undecodable):
                may(view)
        shelf.store.submit(delete(strange)).result()
        assert may(view)

    asyncio.run(scenario())


def test_what_is_taken_away_is_in_force() -> None:
    async def scenario() -> None:
        shelf = Shelf()
        view = RoleView(shelf.objects)
        assert not may(view)
        await create(shelf.objects, role("r", READ))
        await create(shelf.objects, bound("b", "ClusterRole", "r", TO_ALICE))
        assert may(view)
        shelf.store.submit(delete(f"/registry/{RBAC_GROUP}/clusterrolebindings/b")).result()
        assert not may(view)

    asyncio.run(scenario())


def test_without_its_controller_an_aggregated_role_has_its_stored_rules() -> None:
    rule = {"clusterRoleSelectors": [{"matchLabels": {"to": "all"}}]}

    async def scenario() -> None:
        shelf = Shelf()
        views = [RoleView(shelf.objects, aggregating=aggregating) for aggregating in (True, False)]
        await create(shelf.objects, role("r", aggregationRule=rule))
        await create(shelf.objects, role("part", READ, metadata={"labels": {"to": "all"}}))
        await create(shelf.objects, bound("b", "ClusterRole", "r", TO_ALICE))
        assert [may(view) for view in views] == [True, False]

    asyncio.run(scenario())
