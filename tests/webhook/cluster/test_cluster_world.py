"""What one review may look up: in caches that are fresh, and else by asking, once."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest

from celadon.kube import GroupVersionResource
from celadon.kube.json_types import JsonObject
from celadon.webhook.cluster.cluster_client import ClusterRefusal, ClusterUnreachable
from celadon.webhook.cluster.cluster_world import ClusterView, ClusterWorld
from celadon.webhook.review_decisions import Unanswerable, Unanswered

PLACES = GroupVersionResource("", "v1", "namespaces")
MAPS = GroupVersionResource("", "v1", "configmaps")


def named(name: str) -> JsonObject:
    return {"metadata": {"name": name}}


class Cache:
    """A collection as a review sees it."""

    def __init__(self, *objects: str, age: float = 0.0, synced: bool = True) -> None:
        self.watched = SimpleNamespace(name="things")
        self.failure = ""
        self.is_synced = synced
        self._objects = objects
        self._age = age

    def age(self) -> float:
        return self._age

    def get(self, namespace: str, name: str) -> JsonObject | None:
        return named(f"{namespace}/{name}") if name in self._objects else None

    def list(self, namespace: str) -> list[JsonObject]:
        return [named(f"{namespace}/{name}") for name in self._objects]

    async def synced(self) -> None:
        self.is_synced = True


class Cluster:
    """Says the same to everybody who asks for a namespace."""

    def __init__(self, said: JsonObject | Exception) -> None:
        self._said = said
        self.asked: list[str] = []

    async def get(self, path: str) -> JsonObject:
        self.asked.append(path)
        if isinstance(self._said, Exception):
            raise self._said
        return self._said


def world(
    places: Cache, cluster: Cluster | None = None, config_maps: Cache | None = None
) -> ClusterWorld:
    params = {} if config_maps is None else {MAPS: config_maps}
    given: Any = SimpleNamespace(namespaces=places, params=params)
    nothing: Any = None
    client: Any = cluster
    return ClusterWorld(ClusterView(client, given, nothing, nothing, 30.0))


def found(question: Unanswered) -> None:
    async def find() -> None:
        await question.find()

    asyncio.run(find())


def test_a_namespace_in_the_cache() -> None:
    asked = world(Cache("a", "b"))
    assert asked.namespace("a") == asked.get(PLACES, "", "a") == named("/a")
    assert asked.list(PLACES, "") == [named("/a"), named("/b")]


@pytest.mark.parametrize(
    ("said", "answer"), [(named("new"), named("new")), (ClusterRefusal(404, {}), None)]
)
def test_a_namespace_in_no_cache_is_asked_for_once(
    said: JsonObject | Exception, answer: JsonObject | None
) -> None:
    cluster = Cluster(said)
    asked = world(Cache(), cluster)
    with pytest.raises(Unanswered) as question:
        asked.namespace("new")
    found(question.value)
    assert asked.namespace("new") == answer
    assert asked.get(PLACES, "", "new") == answer
    assert cluster.asked == ["/api/v1/namespaces/new"]


@pytest.mark.parametrize(
    ("said", "why"),
    [
        (ClusterRefusal(403, {"message": "not for you"}), "not for you"),
        (ClusterRefusal(500, {}), "the server answered with code 500"),
        (ClusterUnreachable("gone"), "gone"),
    ],
)
def test_a_namespace_that_nobody_tells(said: Exception, why: str) -> None:
    with pytest.raises(Unanswered) as question:
        world(Cache(), Cluster(said)).namespace("new")
    with pytest.raises(Unanswerable, match=f"^namespace `new`: {why}$"):
        found(question.value)


def test_params_that_are_followed() -> None:
    asked = world(Cache(), config_maps=Cache("p", "q"))
    assert asked.get(MAPS, "ns", "p") == named("ns/p")
    assert asked.get(MAPS, "ns", "x") is None
    assert asked.list(MAPS, "ns") == [named("ns/p"), named("ns/q")]


def test_params_that_are_not_followed_yet() -> None:
    lookups: tuple[Callable[[ClusterWorld], object], ...] = (
        lambda one: one.get(MAPS, "ns", "p"),
        lambda one: one.list(MAPS, "ns"),
    )
    for look_up in lookups:
        with pytest.raises(Unanswerable, match=r"^configmaps are not followed yet$"):
            look_up(world(Cache()))
        filling = Cache("p", synced=False)
        asked = world(Cache(), config_maps=filling)
        with pytest.raises(Unanswered) as question:
            look_up(asked)
        found(question.value)
        assert look_up(asked)
        broken = Cache("p", synced=False)
        broken.failure = "forbidden"
        with pytest.raises(Unanswerable, match=r"^configmaps: forbidden$"):
            look_up(world(Cache(), config_maps=broken))


def test_what_was_not_heard_of_for_too_long_is_not_used() -> None:
    assert world(Cache("a", age=30.0)).namespace("a")
    old = Cache("a", age=31.0)
    asked = world(old, config_maps=old)
    lookups: tuple[Callable[[], object], ...] = (
        lambda: asked.namespace("a"),
        lambda: asked.list(PLACES, ""),
        lambda: asked.get(MAPS, "ns", "a"),
        lambda: asked.list(MAPS, "ns"),
    )
    for failure in ("", "connection refused"):
        old.failure = failure
        why = failure or "the cluster does not answer"
        for look_up in lookups:
            with pytest.raises(Unanswerable, match=f"^things: not known for 31s: {why}$"):
                look_up()
