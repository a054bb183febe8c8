from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import Any

import pytest

from celadon.kube import GroupVersionKind, GroupVersionResource
from celadon.kube.json_types import Shape
from celadon.kube.resources import Resource, Subresource, known_resources
from celadon.testing import KubeApi
from celadon.webhook import certificates
from celadon.webhook.cluster import cluster_client, cluster_world, informers
from celadon.webhook.cluster.cluster_client import (
    ClusterClient,
    ClusterError,
    ClusterUnreachable,
    aggregated_resources,
    cluster_catalog,
    discover,
    listed_resources,
    listed_versions,
    require,
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


KIND = {"group": "g", "version": "v", "kind": "K"}
OBJECTS: list[tuple[Shape, Any]] = [
    (
        cluster_client._AGGREGATED,
        {
            "items": [
                {
                    "metadata": {"name": "g"},
                    "versions": [
                        {
                            "version": "v1",
                            "resources": [
                                {
                                    "resource": "r",
                                    "responseKind": KIND,
                                    "scope": "Cluster",
                                    "singularResource": "s",
                                    "verbs": ["get"],
                                    "subresources": [
                                        {
                                            "subresource": "status",
                                            "responseKind": KIND,
                                            "verbs": ["get"],
                                        }
                                    ],
                                }
                            ],
                        }
                    ],
                }
            ]
        },
    ),
    (
        cluster_client._LISTED_VERSIONS,
        {"versions": ["v1"], "groups": [{"versions": [{"groupVersion": "g/v1"}]}]},
    ),
    (
        cluster_client._LISTED_RESOURCES,
        {
            "groupVersion": "g/v1",
            "resources": [
                {**KIND, "name": "r", "singularName": "s", "namespaced": True, "verbs": ["get"]}
            ],
        },
    ),
    (
        cluster_client.LIST,
        {
            "apiVersion": "v1",
            "kind": "L",
            "metadata": {"continue": "c", "resourceVersion": "1", "remainingItemCount": 1},
            "items": [{}],
        },
    ),
    (cluster_client.EVENT, {"type": "ADDED", "object": {}}),
    (
        cluster_client.STATUS,
        {
            "code": 1,
            "message": "m",
            "metadata": {"continue": "c"},
            "details": {"causes": [{"reason": "r"}]},
        },
    ),
    (
        cluster_world._REVIEW,
        {"status": {"allowed": True, "denied": True, "reason": "r", "evaluationError": "e"}},
    ),
    (informers._CONFIG_MAP, {"data": {"a": "b"}}),
    (
        certificates._LEASE,
        {
            "metadata": {"name": "n", "namespace": "ns", "resourceVersion": "1"},
            "spec": {
                "holderIdentity": "h",
                "leaseDurationSeconds": 1,
                "leaseTransitions": 1,
                "acquireTime": "t",
                "renewTime": "t",
            },
        },
    ),
]


def _spoiled(value: Any) -> Iterator[Any]:
    """The value with one part of it of another type."""
    yield "x" if isinstance(value, int) else 5
    if isinstance(value, dict):
        for key, member in value.items():
            yield from ({**value, key: spoiled} for spoiled in _spoiled(member))
    if isinstance(value, list):
        yield from ([spoiled] for spoiled in _spoiled(value[0]))


@pytest.mark.parametrize(("shape", "document"), OBJECTS)
def test_documents_of_other_shapes_are_refused(shape: Shape, document: Any) -> None:
    require(document, shape, "GET /x")
    require({}, shape, "GET /x")
    _, *spoiled = _spoiled(document)
    for wrong in spoiled:
        with pytest.raises(ClusterUnreachable, match=r"^GET /x: "):
            require(wrong, shape, "GET /x")


READ: list[tuple[dict[str, Any], tuple[str, ...], tuple[Subresource, ...], str, bool]] = [
    ({}, (), (), "", False),
    (
        {
            "scope": "Namespaced",
            "singularResource": "box",
            "verbs": ["get", "list"],
            "subresources": [
                {"subresource": "status", "verbs": ["get"]},
                {"subresource": "scale", "responseKind": {**KIND, "kind": "Scale"}},
                {},
            ],
        },
        ("get", "list"),
        (
            Subresource("status", GroupVersionKind("x.io", "v1", ""), ("get",)),
            Subresource("scale", GroupVersionKind("g", "v", "Scale"), ()),
            Subresource("", GroupVersionKind("x.io", "v1", ""), ()),
        ),
        "box",
        True,
    ),
]


@pytest.mark.parametrize(("more", "verbs", "below", "singular", "namespaced"), READ)
def test_what_discovery_says_of_a_resource(
    more: dict[str, Any],
    verbs: tuple[str, ...],
    below: tuple[Subresource, ...],
    singular: str,
    namespaced: bool,
) -> None:
    """In either form; groups and versions of kinds are only said where they differ."""
    boxes = {"resource": "boxes", "responseKind": {"kind": "Box"}, **more}
    versions = [{"version": "v1", "resources": [boxes]}]
    aggregated = {"items": [{"metadata": {"name": "x.io"}, "versions": versions}]}
    wanted = Resource(
        gvr=GroupVersionResource("x.io", "v1", "boxes"),
        gvk=GroupVersionKind("x.io", "v1", "Box"),
        namespaced=namespaced,
        verbs=verbs,
        singular=singular,
        custom=True,
        storage_version="v1",
        subresources=below,
    )
    assert list(aggregated_resources(aggregated)) == [wanted]
    entry = {"name": "boxes", "kind": "Box", "namespaced": namespaced, "verbs": [*verbs]}
    subresources = [
        {**one.get("responseKind", {}), "name": f"boxes/{one.get('subresource', '')}",
         "verbs": one.get("verbs")}
        for one in more.get("subresources", ())
    ]  # fmt: skip
    listed = {
        "groupVersion": "x.io/v1",
        "resources": [*subresources, {**entry, "singularName": singular}, {"name": "boxes2"}],
    }
    assert next(iter(listed_resources(listed))) == wanted


def test_which_versions_are_listed() -> None:
    groups = [{"versions": [{"groupVersion": "a/v1"}, {}]}, {}]
    assert list(listed_versions({"versions": ["v1"], "groups": groups})) == ["v1", "a/v1", ""]
    assert list(listed_versions({})) == []
    assert list(aggregated_resources({"items": [{}, {"versions": [{}]}]})) == []
