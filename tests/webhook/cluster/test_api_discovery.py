from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import Any

import pytest

from celadon.kube import GroupVersionKind, GroupVersionResource
from celadon.kube.resources import Resource, Subresource, known_resources
from celadon.testing import KubeApi
from celadon.webhook.cluster.cluster_client import (
    ClusterClient,
    ClusterError,
    ClusterUnreachable,
    cluster_catalog,
    discover,
    served_release,
)
from tests.webhook.cluster.against_server import client_of


@pytest.fixture(scope="module")
def api() -> Iterator[KubeApi]:
    with KubeApi() as started:
        yield started


def found(api: KubeApi, *, old: bool = False) -> tuple[Resource, ...]:
    async def run() -> tuple[Resource, ...]:
        async with client_of(api.admin) as client:
            return await discover(_Old(client) if old else client)  # type: ignore[arg-type]

    return asyncio.run(run())


class _Old:
    """Asks as if nobody had heard of aggregated discovery."""

    def __init__(self, client: ClusterClient) -> None:
        self._client = client
        self.get = client.get

    async def request(self, method: str, path: str, accept: str) -> Any:
        return await self._client.request(method, path)


def _shape(resources: tuple[Resource, ...]) -> dict[GroupVersionResource, Any]:
    return {
        one.gvr: (one.gvk, one.namespaced, {(sub.name, sub.gvk) for sub in one.subresources})
        for one in resources
    }


def test_both_ways_to_discover_find_what_is_served(api: KubeApi) -> None:
    served = _shape(tuple(known_resources()))
    aggregated = _shape(found(api))
    assert aggregated.keys() == served.keys()
    assert aggregated == _shape(found(api, old=True))
    pods = GroupVersionResource("", "v1", "pods")
    assert aggregated[pods][:2] == (GroupVersionKind("", "v1", "Pod"), True)
    scale = GroupVersionKind("autoscaling", "v1", "Scale")
    deployments = GroupVersionResource("apps", "v1", "deployments")
    assert ("scale", scale) in aggregated[deployments][2]


def test_what_we_know_better() -> None:
    gadgets = GroupVersionResource("aggregated.example", "v1", "gadgets")
    kind = GroupVersionKind("aggregated.example", "v1", "Gadget")
    pods = GroupVersionResource("", "v1", "pods")
    served = [
        Resource(pods, GroupVersionKind("", "v1", "Pod"), True, (), ""),
        Resource(gadgets, kind, False, (), "", subresources=(Subresource("status", kind, ()),)),
    ]
    definition = {
        "spec": {
            "group": "g.example",
            "names": {"plural": "things", "kind": "Thing"},
            "scope": "Namespaced",
            "versions": [{"name": "v1", "served": True}, {"name": "v2", "served": False}],
        }
    }
    catalog = cluster_catalog(served, [definition])
    assert {one.gvr.resource for one in catalog} == {"pods", "gadgets", "things"}
    assert catalog.by_gvr(pods) == known_resources().by_gvr(pods)
    assert catalog.equivalents(GroupVersionResource("g.example", "v1", "things"))
    assert catalog.by_gvk(kind) == served[1]


def test_a_group_that_does_not_answer_is_left_out(api: KubeApi) -> None:
    async def run() -> tuple[Resource, ...]:
        async with client_of(api.admin) as client:
            old = _Old(client)

            async def get(path: str) -> Any:
                if path == "/apis/apps/v1":
                    raise ClusterUnreachable(path)
                return await client.get(path)

            old.get = get  # type: ignore[assignment]  # a double
            return await discover(old)  # type: ignore[arg-type]

    groups = {one.gvr.group for one in asyncio.run(run())}
    assert "batch" in groups
    assert "apps" not in groups


VERSIONS: list[tuple[dict[str, Any], str]] = [
    ({"major": "1", "minor": "33"}, "1.33"),
    ({"major": "1", "minor": "33+"}, "1.33"),
    ({"major": "1", "minor": "3", "emulationMajor": "1", "emulationMinor": "34"}, "1.34"),
    ({"major": "1", "minor": "33", "emulationMajor": "1"}, "1.33"),
    ({"major": "1", "minor": "33", "emulationMinor": "34"}, "1.33"),
    ({"major": "1", "minor": "1"}, "1.30"),
    ({"major": 1, "minor": 35}, "1.35"),
    ({"major": "1"}, ""),
    ({"minor": "33"}, ""),
    ({"major": "x", "minor": "33"}, ""),
    ({}, ""),
]


class _Versioned:
    def __init__(self, document: dict[str, Any]) -> None:
        self.document = document

    async def get(self, path: str) -> dict[str, Any]:
        assert path == "/version"
        return self.document


@pytest.mark.parametrize(("document", "release"), VERSIONS)
def test_the_release_that_a_cluster_answers_as(document: dict[str, Any], release: str) -> None:
    """That which it emulates, if both of its numbers are there."""
    asking = served_release(_Versioned(document))  # type: ignore[arg-type]
    if release:
        assert asyncio.run(asking) == release
    else:
        with pytest.raises(ClusterError, match=r"^the server does not say its version$"):
            asyncio.run(asking)
