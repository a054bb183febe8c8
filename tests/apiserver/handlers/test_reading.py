"""Objects and lists at a revision."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from celadon.apiserver.handlers.read import ObjectList
from celadon.apiserver.http_messages import HttpRequest
from celadon.apiserver.request_info import ContinueToken, list_options
from celadon.kube import StatusError, metadata
from tests.apiserver.asking import ask, read
from tests.apiserver.in_process import Running
from tests.apiserver.serving import Shelf, endpoint, resource


async def listed(shelf: Shelf, query: str = "", namespace: str = "a") -> ObjectList:
    request = HttpRequest("GET", f"/?{query}")
    return await shelf.reader.collection(endpoint(namespace), list_options(request, resource()))


def names(found: ObjectList) -> list[str]:
    return [metadata.name(obj) for obj in found.objects]


async def filled() -> Shelf:
    shelf = Shelf()
    for name in "cabd":
        await shelf.create(name, k="even" if name in "bd" else "odd")
    await shelf.create("z", "b")
    return shelf


def test_lists_are_in_the_order_of_keys_and_by_namespace() -> None:
    async def scenario() -> None:
        shelf = await filled()
        assert names(await listed(shelf)) == ["a", "b", "c", "d"]
        assert names(await listed(shelf, namespace="")) == ["a", "b", "c", "d", "z"]
        assert names(await listed(shelf, "labelSelector=k%3Deven")) == ["b", "d"]
        assert names(await listed(shelf, "fieldSelector=metadata.name%3Dc")) == ["c"]

    asyncio.run(scenario())


def test_pages_are_of_one_revision() -> None:
    async def scenario() -> None:
        shelf = await filled()
        first = await listed(shelf, "limit=3")
        assert (names(first), first.remaining) == (["a", "b", "c"], 1)
        await shelf.delete("d")
        second = await listed(shelf, f"limit=3&continue={first.continue_token}")
        assert (names(second), second.revision) == (["d"], first.revision)
        assert second.meta() == {"resourceVersion": str(first.revision)}

    asyncio.run(scenario())


def test_a_page_is_filled_with_what_is_selected() -> None:
    async def scenario() -> None:
        shelf = await filled()
        first = await listed(shelf, "limit=1&labelSelector=k%3Deven", "")
        assert (names(first), first.remaining) == (["b"], None)
        query = f"limit=1&labelSelector=k%3Deven&continue={first.continue_token}"
        assert names(await listed(shelf, query, "")) == ["d"]

    asyncio.run(scenario())


@pytest.mark.parametrize(
    ("query", "wanted"),
    [
        ("resourceVersion=3&resourceVersionMatch=Exact", ["a", "c"]),
        ("resourceVersion=3&limit=9", ["a", "c"]),
        ("resourceVersion=3", ["a", "b", "c", "d"]),
        ("resourceVersion=3&limit=9&resourceVersionMatch=NotOlderThan", ["a", "b", "c", "d"]),
        ("resourceVersion=0&limit=1", ["a", "b", "c", "d"]),
    ],
)
def test_what_a_revision_means(query: str, wanted: list[str]) -> None:
    async def scenario() -> None:
        assert names(await listed(await filled(), query)) == wanted

    asyncio.run(scenario())


TO_COME = ContinueToken(10**18, "a").text()
"""A token that no server has written yet."""


def test_a_token_of_any_negative_revision_goes_on_with_what_is_there() -> None:
    async def scenario() -> None:
        shelf = await filled()
        token = ContinueToken(-7, "c").text()
        assert names(await listed(shelf, f"continue={token}")) == ["c", "d"]

    asyncio.run(scenario())


@pytest.mark.parametrize(
    ("query", "code", "message"),
    [
        ("resourceVersion=x", 400, "invalid resource version: resourceVersion: Invalid value"),
        ("continue=x", 400, "invalid continue token: continue key is not valid"),
        (f"continue={TO_COME}", 500, "^etcdserver: mvcc: required revision is a future revision$"),
        (
            f"resourceVersion={'9' * 5000}",
            400,
            'strconv.ParseUint: parsing "9+": value out of range$',
        ),
    ],
)
def test_refused_lists(query: str, code: int, message: str) -> None:
    async def scenario() -> None:
        with pytest.raises(StatusError, match=message) as refused:
            await listed(await filled(), query)
        assert refused.value.code == code

    asyncio.run(scenario())


def test_a_list_that_is_too_old_offers_a_way_to_go_on() -> None:
    async def scenario() -> None:
        shelf = await filled()
        first = await listed(shelf, "limit=2")
        await shelf.create("e")
        shelf.store.compact(shelf.store.revision()).result()
        with pytest.raises(StatusError) as refused:
            await listed(shelf, f"continue={first.continue_token}")
        given: Any = refused.value.status.to_json()
        assert (given["code"], given["reason"]) == (410, "Expired")
        rest = await listed(shelf, f"continue={given['metadata']['continue']}")
        assert names(rest) == ["c", "d", "e"]

    asyncio.run(scenario())


def test_a_missing_object_and_a_version_to_come(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("celadon.apiserver.handlers.read.WAIT_SECONDS", 0.0)

    async def scenario() -> None:
        shelf = await filled()
        with pytest.raises(StatusError, match='configmaps "none" not found'):
            await shelf.reader.get(endpoint("a", "none", "get"), HttpRequest("GET", "/"))
        request = HttpRequest("GET", "/?resourceVersion=999")
        with pytest.raises(StatusError, match="Too large resource version: 999") as refused:
            await shelf.reader.get(endpoint("a", "a", "get"), request)
        assert refused.value.code == 504

    asyncio.run(scenario())


def test_custom_resources_are_read_by_the_schema_that_is_served_now(running: Running) -> None:
    """Objects that were stored by a schema before it are pruned, and get its defaults."""
    definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
    before: dict[str, Any] = {"a": {"type": "string"}, "b": {"type": "string"}}
    after = {"a": {"type": "string"}, "c": {"type": "integer", "default": 7}}

    def definition(properties: dict[str, Any]) -> dict[str, Any]:
        spec = {"type": "object", "properties": properties}
        schema = {"type": "object", "properties": {"spec": spec}}
        version = {"name": "v1", "served": True, "storage": True}
        names = {"plural": "shapes", "singular": "shape", "kind": "Shape"}
        versions = [{**version, "schema": {"openAPIV3Schema": schema}}]
        group = {"group": "read.io", "scope": "Cluster", "names": names}
        return {"metadata": {"name": "shapes.read.io"}, "spec": {**group, "versions": versions}}

    shape = {"apiVersion": "read.io/v1", "kind": "Shape", "metadata": {"name": "s"}}
    ask(running, "POST", definitions, definition(before))
    running.settle()
    path = "/apis/read.io/v1/shapes"
    assert ask(running, "POST", path, {**shape, "spec": {"a": "1", "b": "2"}}).code == 201
    ask(
        running,
        "PATCH",
        f"{definitions}/shapes.read.io",
        definition(after),
        content_type="application/merge-patch+json",
    )
    running.settle()
    assert read(ask(running, "GET", f"{path}/s"))["spec"] == {"a": "1", "c": 7}
    (listed,) = read(ask(running, "GET", path))["items"]
    assert listed["spec"] == {"a": "1", "c": 7}
    ask(running, "DELETE", f"{definitions}/shapes.read.io")


@pytest.mark.parametrize(
    ("token", "remaining", "wanted"),
    [
        ("", None, {}),
        ("", 0, {}),
        ("t", None, {"continue": "t"}),
        ("t", 3, {"continue": "t", "remainingItemCount": 3}),
    ],
)
def test_metadata_of_lists(token: str, remaining: int | None, wanted: dict[str, Any]) -> None:
    made = ObjectList((), 7, token, remaining)
    assert made.meta() == {"resourceVersion": "7", **wanted}
