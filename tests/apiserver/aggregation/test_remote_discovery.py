"""What extension servers offer, in the documents of discovery."""

from __future__ import annotations

import asyncio
import json

import pytest

from celadon.apiserver.aggregation.aggregator import _Document, _LastAnswer
from celadon.apiserver.aggregation.remote_documents import (
    read_aggregated,
    read_list,
    read_swagger,
)
from celadon.apiserver.discovery.discovery_documents import PublishedApis, RemoteVersion
from celadon.kube import GroupVersion
from celadon.kube.releases import answering_as
from celadon.kube.resources import known_resources
from tests.apiserver.aggregation.before import API_SERVICES, OWN, before
from tests.apiserver.aggregation.extension_server import (
    AGGREGATED,
    GROUP,
    RESOURCES,
    ROOT,
    Certificates,
    ExtensionServer,
    api_service,
)

RELEASES = ("1.30", "1.31", "1.32", "1.33", "1.34", "1.35", "1.36")

ITEM = AGGREGATED["items"][0]["versions"][0]  # type: ignore[index]


def test_an_aggregated_document() -> None:
    (found,) = read_aggregated(json.dumps(AGGREGATED).encode()).items()
    expected = {name: value for name, value in ITEM.items() if name != "freshness"}
    assert found == (GroupVersion(GROUP, "v1beta1"), expected)


def test_a_list_of_resources() -> None:
    scale = {"name": "pods/scale", "namespaced": True, "group": "autoscaling", "version": "v1"}
    orphan = {"name": "things/log", "namespaced": False, "kind": "Log", "verbs": ["get"]}
    below = {**scale, "kind": "Scale", "verbs": ["get"]}
    document = {"kind": "APIResourceList", "resources": [below, *RESOURCES, orphan]}
    pods, nodes, things = read_list(json.dumps(document).encode(), "v1")["resources"]
    assert pods["subresources"] == [
        {
            "subresource": "scale",
            "responseKind": {"group": "autoscaling", "version": "v1", "kind": "Scale"},
            "verbs": ["get"],
        }
    ]
    assert nodes == ITEM["resources"][0]
    assert things["responseKind"] == {"group": "", "version": "", "kind": ""}
    assert (things["resource"], things["verbs"]) == ("things", None)


@pytest.mark.parametrize(
    "body",
    [
        b'{"x": ' + b"[" * 99999,
        b"",
        b"[]",
        b'{"items": 1}',
        b'{"items": [{"versions": [{}]}]}',
        b"\xff",
        b"[" * 99999,
    ],
)
def test_what_is_no_document(body: bytes) -> None:
    with pytest.raises(ValueError, match=r"\S"):
        read_aggregated(body)


@pytest.mark.parametrize(
    "definition",
    [
        {"type": 5},
        {"title": 1},
        {"maximum": "1"},
        {"maximum": 10**400},
        {"maxLength": 1.5},
        {"properties": [1]},
    ],
)
def test_a_document_that_protobuf_cannot_hold(definition: dict[str, object]) -> None:
    """The document of all servers could not be written, either."""
    body = json.dumps({"definitions": {"A": definition}}).encode()
    with pytest.raises(ValueError, match="no document of OpenAPI version 2: "):
        read_swagger(body, "/")


@pytest.mark.parametrize("place", ["body", "header", "formData", "query", "path"])
def test_a_document_that_protobuf_holds(place: str) -> None:
    parameters = [{"in": place, "name": "a"}]
    nothing = {"type": "array", "items": [{"type": "string"}], "properties": None}
    document = {"paths": {"/a": {"get": {"parameters": parameters}}}, "definitions": {"A": nothing}}
    assert read_swagger(json.dumps(document).encode(), "/")["definitions"] == {"A": nothing}


@pytest.mark.parametrize("release", RELEASES)
def test_groups_keep_their_order(release: str) -> None:
    """Another server's group changes nothing about the others."""
    with answering_as(release):
        catalog = known_resources(all_versions=True)
        other = RemoteVersion(GroupVersion("a.example.com", "v1"), 1, 1, None)
        alone, both = PublishedApis(catalog), PublishedApis(catalog, (other,))
        listed = [(one.name, [v.group_version for v in one.versions]) for one in both.listed]
        assert listed[:-1] == [
            (one.name, [v.group_version for v in one.versions]) for one in alone.groups
        ]
        assert both.listed[-1].versions == (other,)


def test_another_server_may_come_first() -> None:
    catalog = known_resources()
    others = (
        RemoteVersion(GroupVersion("z.example.com", "v1"), 18000, 1, None),
        RemoteVersion(GroupVersion("apps", "v2"), 10, 99, None),
    )
    listed = PublishedApis(catalog, others).listed
    assert [one.name for one in listed[:3]] == ["apiregistration.k8s.io", "z.example.com", "apps"]
    assert [str(one.group_version) for one in listed[2].versions] == ["apps/v2", "apps/v1"]


def test_stale_and_current(certificates: Certificates, extension: ExtensionServer) -> None:
    async def seen() -> None:
        async with before(certificates) as front:
            await front.object("POST", API_SERVICES, api_service(extension.port))
            assert await front.freshness("Stale") == {"version": "v1beta1", "freshness": "Stale"}
            listed = await front.object("GET", "/apis")
            assert listed["groups"][-1] == {
                "name": GROUP,
                "versions": [{"groupVersion": f"{GROUP}/v1beta1", "version": "v1beta1"}],
                "preferredVersion": {"groupVersion": f"{GROUP}/v1beta1", "version": "v1beta1"},
            }
            await front.object("DELETE", OWN)
            await front.register(extension, certificates)
            assert await front.freshness("Current") == ITEM
            assert (await front.object("GET", f"/apis/{GROUP}"))["kind"] == "APIGroup"
            paths = (await front.object("GET", "/"))["paths"]
            assert {f"/apis/{GROUP}", ROOT} <= set(paths)
            await front.object("DELETE", OWN)
            listed = await front.object("GET", "/apis")
            assert GROUP not in [one["name"] for one in listed["groups"]]

    asyncio.run(seen())
    (asked, *_) = extension.asked("/apis")
    assert asked[2]["x-remote-user"] == ["system:kube-aggregator"]


def test_documents_in_openapi(certificates: Certificates, extension: ExtensionServer) -> None:
    async def seen() -> None:
        async with before(certificates) as front:
            await front.register(extension, certificates)
            await front.freshness("Current")
            paths = (await front.object("GET", "/openapi/v3"))["paths"]
            url = paths[ROOT.strip("/")]["serverRelativeURL"]
            assert url == f"/openapi/v3{ROOT}?hash=ABC"
            assert "apis/apps/v1" in paths
            assert (await front.object("GET", url))["paths"] == {f"{ROOT}/nodes": {}}

    asyncio.run(seen())
    (asked,) = extension.asked(f"/openapi/v3{ROOT}")
    assert asked[2]["x-remote-user"] == ["admin"]


def test_the_document_of_all_servers_in_openapi_version_2(
    certificates: Certificates, extension: ExtensionServer
) -> None:
    async def seen() -> None:
        async with before(certificates) as front:
            alone = await front.object("GET", "/openapi/v2")
            await front.register(extension, certificates)
            await front.freshness("Current")
            both = await front.object("GET", "/openapi/v2")
            assert both["paths"].keys() - alone["paths"].keys() == {f"{ROOT}/nodes"}
            assert both["definitions"].keys() - alone["definitions"].keys() == {"metrics.Node"}

    asyncio.run(seen())
    (asked, *_) = extension.asked("/openapi/v2")
    assert asked[2]["x-remote-user"] == ["system:aggregator"]


def test_a_server_without_aggregated_discovery(
    certificates: Certificates, extension: ExtensionServer
) -> None:
    extension.aggregates = False

    async def seen() -> None:
        async with before(certificates) as front:
            await front.register(extension, certificates)
            assert await front.freshness("Current") == ITEM

    asyncio.run(seen())


def test_a_document_without_end(certificates: Certificates, extension: ExtensionServer) -> None:
    """It is not read to its end; what it offers is not known then."""
    extension.answers["/apis"] = 200, {}, b"[" * (5 << 20)

    async def seen() -> None:
        async with before(certificates) as front:
            await front.register(extension, certificates)
            assert await front.freshness("Stale") == {"version": "v1beta1", "freshness": "Stale"}

    asyncio.run(seen())


class _Large(dict[str, object]):
    """A document that takes long to compare."""

    __hash__ = None

    def __eq__(self, other: object) -> bool:
        raise AssertionError("compared on the event loop")


def test_what_a_server_says_again_is_not_compared_part_by_part() -> None:
    def answer(digest: bytes, swagger: bytes = b"", *, is_fresh: bool = True) -> _LastAnswer:
        return _LastAnswer(
            _Document(_Large(), digest), is_fresh, swagger=_Document(_Large(), swagger)
        )

    assert answer(b"a").is_same(answer(b"a"))
    others = [None, answer(b"b"), answer(b"a", b"b"), answer(b"a", is_fresh=False)]
    assert not any(answer(b"a").is_same(other) for other in others)
