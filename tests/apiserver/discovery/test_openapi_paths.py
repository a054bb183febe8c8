"""Requests for OpenAPI: index, hashes, tags, redirects, what is refused."""

from __future__ import annotations

import gzip
import json
from typing import Any

import pytest

from celadon.apiserver.discovery.openapi_answers import OpenApi, openapi_answer
from celadon.apiserver.http_messages import HttpAnswer, HttpRequest
from tests.apiserver.discovery.catalogues import definition, published
from tests.paths import shared

WIDGETS = definition("example.io", "widgets", "v1", schema={"openAPIV3Schema": {"type": "object"}})
PLAIN = OpenApi(published(), {}, "1.36")
LEASES = "/openapi/v3/apis/coordination.k8s.io/v1"


def get(target: str, openapi: OpenApi = PLAIN, **headers: str) -> HttpAnswer:
    given = [(name.replace("_", "-"), value) for name, value in headers.items()]
    answer = openapi_answer(HttpRequest("GET", target, given), openapi, 0.0)
    assert answer is not None
    return answer


def url(path: str, openapi: OpenApi = PLAIN) -> str:
    found: str = json.loads(get("/openapi/v3", openapi).body)["paths"][path]["serverRelativeURL"]
    return found


def test_recorded() -> None:
    """But for who may ask, which is decided before."""
    scenario = json.loads(shared("conformance", "clients", "openapi-index.json").read_text())
    steps = [one for one in scenario["steps"] if one.get("user", "admin") == "admin"]
    assert len(steps) == 8
    for step in steps:
        path = step["path"].replace("${u}", url("apis/coordination.k8s.io/v1"))
        headers = [("accept", step["accept"])] if "accept" in step else []
        answer = openapi_answer(HttpRequest(step["method"], path, headers), PLAIN, 0.0)
        assert answer is not None
        wanted = step["want"]
        assert answer.code == wanted["code"]
        given = {"Content-Type": answer.content_type or None, **dict(answer.headers)}
        for name, value in wanted.get("headers", {}).items():
            got = given.get(name)
            assert got == value or (got is not None and "<masked>" in value), (path, name)


def test_index() -> None:
    answer = get("/openapi/v3", accept="text/html")
    assert (answer.code, answer.content_type) == (200, "text/plain; charset=utf-8")
    assert dict(answer.headers) == {"Cache-Control": "no-cache, private"}
    assert "api/v1" in json.loads(answer.body)["paths"]
    assert len(url("apis/apps/v1")) == len("/openapi/v3/apis/apps/v1?hash=") + 128


def test_a_document_under_its_hash_is_kept_for_a_year() -> None:
    answer = get(url("apis/coordination.k8s.io/v1"))
    headers = dict(answer.headers)
    assert (answer.code, answer.content_type) == (200, "application/json")
    assert headers["Cache-Control"] == "public, immutable"
    assert headers["Expires"] == "Fri, 01 Jan 1971 00:00:00 UTC"
    assert headers["Vary"] == "Accept"
    assert json.loads(answer.body)["info"]["version"] == "1.36"
    assert get(LEASES, if_none_match=headers["ETag"]).code == 304


def test_a_document_without_its_hash() -> None:
    headers = dict(get(LEASES).headers)
    assert headers["Cache-Control"] == "no-cache, private"
    assert "Expires" not in headers
    moved = get(f"{LEASES}?hash=00")
    assert (moved.code, moved.body) == (301, b"")
    assert dict(moved.headers)["Location"] == url("apis/coordination.k8s.io/v1")


@pytest.mark.parametrize(
    ("header", "code"),
    [
        ("*", 304),
        ("TAG", 304),
        ("W/TAG", 304),
        ('"a", TAG', 304),
        ('"a" TAG', 304),
        (",, TAG", 304),
        ("x, TAG", 200),
        ('"a",', 200),
        ("a", 200),
        ("W/", 200),
        ("W/*", 200),
        ('"é"', 200),
        ("", 200),
    ],
)
@pytest.mark.parametrize("path", [LEASES, "/openapi/v2"])
def test_tags_that_a_client_has(path: str, header: str, code: int) -> None:
    tag = dict(get(path).headers)["ETag"]
    assert get(path, if_none_match=header.replace("TAG", tag)).code == code


@pytest.mark.parametrize("path", ["/openapi/v3/", "/openapi/v3/apis/nosuch/v1"])
def test_unknown_documents(path: str) -> None:
    answer = get(path)
    assert (answer.code, answer.content_type, answer.body) == (404, "", b"")


@pytest.mark.parametrize("path", [LEASES, "/openapi/v2"])
def test_what_is_in_no_form_that_is_accepted(path: str) -> None:
    assert get(path, accept="text/html").code == 406
    assert get(path, accept="text/html, application/json").code == 200


@pytest.mark.parametrize("version", ["v3@v1.0", "v3.v1.0"])
def test_version_3_in_protobuf(version: str) -> None:
    accept = f"application/com.github.proto-openapi.spec.{version}+protobuf"
    answer = get(LEASES, accept=accept)
    assert answer.content_type == "application/com.github.proto-openapi.spec.v3.v1.0+protobuf"
    assert answer.body.startswith(b"\x0a\x053.0.0\x12")
    tag = dict(answer.headers)["ETag"]
    assert tag != dict(get(LEASES).headers)["ETag"]
    assert get(LEASES, accept=accept, if_none_match=tag).code == 304


@pytest.mark.parametrize("version", ["v2@v1.0", "v2.v1.0"])
def test_version_2_in_protobuf(version: str) -> None:
    answer = get(
        "/openapi/v2", accept=f"application/com.github.proto-openapi.spec.{version}+protobuf"
    )
    assert answer.content_type == "application/com.github.proto-openapi.spec.v2.v1.0+protobuf"
    assert answer.body.startswith(b"\x0a\x032.0\x12")


def test_version_2_is_compressed_for_those_who_can_read_that() -> None:
    plain = get("/openapi/v2")
    packed = get("/openapi/v2", accept_encoding="gzip")
    assert ("Content-Encoding", "gzip") in packed.headers
    assert gzip.decompress(packed.body) == plain.body
    for answer in (plain, packed):
        varied = [value for name, value in answer.headers if name == "Vary"]
        assert varied == ["Accept-Encoding", "Accept"]
    assert "Content-Encoding" not in dict(get(LEASES, accept_encoding="gzip").headers)


def test_documents_stay_when_definitions_change() -> None:
    definitions = {"widgets.example.io": WIDGETS}
    before = OpenApi(published(WIDGETS), definitions, "1.36")
    leases, widgets = "apis/coordination.k8s.io/v1", "apis/example.io/v1"
    made = [before.document(path) for path in (leases, widgets)]
    kept = dict(before.document_cache.documents)
    same = before.renewed(published(WIDGETS), dict(definitions))
    assert [same.document(path) for path in (leases, widgets)] == made
    assert all(same.document_cache.documents[digest] is kept[digest] for digest in kept)
    without = before.renewed(published(), {})
    assert without.document(leases) == made[0]
    assert len(without.document_cache.documents) == 1
    assert not without.document_cache.definitions or widgets not in without.hashes
    again = without.renewed(published(WIDGETS), definitions)
    assert again.hashes == before.hashes
    assert again.document(widgets) == made[1]
    assert all(again.document_cache.documents[digest] in kept.values() for digest in kept)


def test_other_paths() -> None:
    assert openapi_answer(HttpRequest("GET", "/openapi"), PLAIN, 0.0) is None


def test_hashes_follow_definitions_and_nothing_else() -> None:
    apis = published(WIDGETS)
    before = OpenApi(apis, {"widgets.example.io": WIDGETS}, "1.36")
    spec: dict[str, Any] = json.loads(json.dumps(WIDGETS["spec"]))
    spec["versions"][0]["schema"]["openAPIV3Schema"]["description"] = "another"
    changed = {**WIDGETS, "spec": spec}
    after = OpenApi(published(changed), {"widgets.example.io": changed}, "1.36")
    path = "apis/example.io/v1"
    assert before.hashes[path] != after.hashes[path]
    assert before.hashes["api/v1"] == after.hashes["api/v1"] == PLAIN.hashes["api/v1"]


def test_version_2() -> None:
    openapi = OpenApi(published(WIDGETS), {"widgets.example.io": WIDGETS}, "1.36")
    answer = get("/openapi/v2", openapi)
    document = json.loads(answer.body)
    assert document["swagger"] == "2.0"
    assert {"io.example.v1.Widget", "io.k8s.api.core.v1.Pod"} <= document["definitions"].keys()
    assert b"#/components/" not in answer.body
    assert get("/openapi/v2", openapi, if_none_match=dict(answer.headers)["ETag"]).code == 304
