"""Requests for discovery: recorded answers, forms by Accept, tags, paths that are not there."""

from __future__ import annotations

import hashlib
import json
from typing import Any

import pytest

from celadon.apiserver.discovery.discovery_documents import PublishedApis, discovery_answer
from celadon.apiserver.http_messages import HttpAnswer, HttpRequest
from celadon.apiserver.negotiation import PROTOBUF, Accepted, status_answer
from celadon.kube import StatusError
from celadon.kube.protobuf import decode
from celadon.kube.releases import answering_as
from tests.apiserver.discovery.catalogues import definition, published
from tests.paths import shared

AGGREGATED_TYPE = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"
RECORDED = [
    "api/discovery-aggregated-headers",
    "api/versions-all-enabled-discovery",
    "api/versions-default-discovery",
    "clients/discovery-aggregated-core",
    "clients/discovery-of-builtin-groups",
    "clients/discovery-of-custom-kinds",
]


def get(apis: PublishedApis, path: str, **headers: str) -> HttpAnswer:
    given = [(name.replace("_", "-"), value) for name, value in headers.items()]
    answer = discovery_answer(HttpRequest("GET", path, given), apis, "localhost:6443")
    assert answer is not None
    return answer


def without_zeros(value: Any) -> Any:
    if isinstance(value, list):
        return [without_zeros(one) for one in value]
    if not isinstance(value, dict):
        return value
    zeros = ("", False, None)
    return {name: without_zeros(one) for name, one in value.items() if one not in zeros}


def answered(request: HttpRequest, apis: PublishedApis) -> HttpAnswer | None:
    """What a server makes of it."""
    try:
        return discovery_answer(request, apis, "localhost:6443")
    except StatusError as error:
        return status_answer(error, Accepted())


@pytest.mark.parametrize("name", RECORDED)
def test_recorded(name: str) -> None:
    scenario = json.loads(shared("conformance", f"{name}.json").read_text())
    every = scenario.get("needs") != ["api/default"]
    apis = published(*scenario.get("setup", ()), all_versions=every)
    compared = 0
    for step in scenario["steps"]:
        headers = [("accept", step["accept"])] if "accept" in step else []
        request = HttpRequest(step["method"], step["path"], headers)
        answer = answered(request, apis)
        if answer is None:
            continue
        wanted = step["want"]
        assert answer.code == wanted["code"]
        if "body" in wanted:
            assert json.loads(answer.body) == wanted["body"]
        for header, value in wanted.get("headers", {}).items():
            assert {"Content-Type": answer.content_type, **dict(answer.headers)}[header] == value
        compared += 1
    assert compared


def test_groups() -> None:
    apis = published()
    assert json.loads(get(apis, "/api/").body) == {
        "kind": "APIVersions",
        "versions": ["v1"],
        "serverAddressByClientCIDRs": [
            {"clientCIDR": "0.0.0.0/0", "serverAddress": "localhost:6443"}
        ],
    }
    groups = json.loads(get(apis, "/apis").body)["groups"]
    autoscaling = next(group for group in groups if group["name"] == "autoscaling")
    assert [one["version"] for one in autoscaling["versions"]] == ["v2", "v1"]
    assert autoscaling["preferredVersion"] == autoscaling["versions"][0]


@pytest.mark.parametrize(
    ("path", "code", "content_type"),
    [
        ("/apis/nosuch", 404, "text/plain; charset=utf-8"),
        ("/apis/nosuch/v1", 404, "text/plain; charset=utf-8"),
        ("/apis/a.io/v9", 404, "text/plain; charset=utf-8"),
        ("/apis//", 404, "text/plain; charset=utf-8"),
        ("/apis//apps", 404, "text/plain; charset=utf-8"),
        ("/apis/apps//", 200, "application/json"),
        ("/apis/a.io/v1", 200, "application/json"),
        ("/api/v1/", 200, "application/json"),
    ],
)
def test_paths(path: str, code: int, content_type: str) -> None:
    answer = get(published(definition("a.io", "as", "v1")), path)
    assert (answer.code, answer.content_type) == (code, content_type)


@pytest.mark.parametrize(
    ("method", "path", "accept", "code"),
    [
        ("GET", "/apis/apps/v9", "*/*", 404),
        ("GET", "/api/v2", "*/*", 404),
        ("POST", "/apis/apps/v1", "*/*", 405),
        ("POST", "/api", "*/*", 405),
        ("HEAD", "/api/", "*/*", 405),
        ("POST", "/apis/apps//", "*/*", 405),
        ("PUT", "/apis/apiregistration.k8s.io", "*/*", 405),
        ("GET", "/api/v1/", "application/*", 406),
        ("GET", "/apis/apps/v1", "text/html", 406),
        ("GET", "/api", "application/*", 406),
    ],
)
def test_what_the_router_refuses(method: str, path: str, accept: str, code: int) -> None:
    request = HttpRequest(method, path, (("accept", accept),))
    with pytest.raises(StatusError) as refused:
        discovery_answer(request, published(), "")
    assert refused.value.code == code


@pytest.mark.parametrize("path", ["/apis", "/apis/apps", "/apis/a.io/v1"])
def test_what_stands_before_the_router(path: str) -> None:
    apis = published(definition("a.io", "as", "v1"))
    assert get(apis, path, accept="application/*").code == 200


def test_only_without_a_slash_is_there_an_aggregated_document() -> None:
    apis = published()
    assert get(apis, "/apis/", accept=AGGREGATED_TYPE).code == 406
    either = f"{AGGREGATED_TYPE}, application/json"
    assert json.loads(get(apis, "/apis/", accept=either).body)["kind"] == "APIGroupList"
    assert get(apis, "/api/", accept=AGGREGATED_TYPE).content_type == AGGREGATED_TYPE


@pytest.mark.parametrize(("release", "code"), [("1.32", 200), ("1.33", 406)])
def test_the_beta_of_aggregated_documents(release: str, code: int) -> None:
    beta = AGGREGATED_TYPE.replace("v2", "v2beta1")
    with answering_as(release):
        answer = get(published(), "/apis", accept=beta)
    assert answer.code == code
    if code == 200:
        assert answer.content_type == beta
        assert json.loads(answer.body)["apiVersion"] == "apidiscovery.k8s.io/v2beta1"


@pytest.mark.parametrize(("release", "more"), [("1.33", {"creationTimestamp": None}), ("1.34", {})])
def test_times_in_aggregated_documents(release: str, more: dict[str, None]) -> None:
    with answering_as(release):
        core, others = (
            json.loads(get(published(), path, accept=AGGREGATED_TYPE).body)["items"][0]
            for path in ("/api", "/apis")
        )
    assert core["metadata"] == more
    assert others["metadata"] == {"name": "apiregistration.k8s.io", **more}


def test_paths_of_others() -> None:
    for path in ("/", "/version", "/apis/apps/v1/deployments"):
        assert discovery_answer(HttpRequest("GET", path), published(), "") is None


def test_methods() -> None:
    apis = published()

    def code(method: str, path: str) -> int:
        answer = discovery_answer(HttpRequest(method, path), apis, "")
        assert answer is not None
        return answer.code

    assert code("FROB", "/apis") == 200
    assert code("POST", "/apis/apps/") == 200


def test_aggregated_documents_in_yaml() -> None:
    apis, yaml = published(), AGGREGATED_TYPE.replace("json", "yaml")
    as_json, as_yaml = (get(apis, "/api", accept=one) for one in (AGGREGATED_TYPE, yaml))
    assert as_yaml.content_type == yaml
    assert as_yaml.body.startswith(b"apiVersion: apidiscovery.k8s.io/v2\nitems:\n- metadata: {}\n")
    document = json.loads(as_json.body)
    told = [document.pop("kind"), document.pop("apiVersion")]
    assert told == ["APIGroupDiscoveryList", "apidiscovery.k8s.io/v2"]
    text = json.dumps(document, separators=(",", ":")).encode()
    tag = hashlib.sha512(text).hexdigest().upper()
    assert [dict(one.headers)["ETag"] for one in (as_json, as_yaml)] == [f'"{tag}"'] * 2


@pytest.mark.parametrize("version", ["v2", "v2beta1"])
def test_aggregated_documents_in_protobuf(version: str) -> None:
    apis = published(definition("a.io", "as", "v1"))
    as_json = AGGREGATED_TYPE.replace("v2", version)
    as_protobuf = as_json.replace("application/json", PROTOBUF)
    with answering_as("1.32"):
        answer = get(apis, "/apis", accept=as_protobuf)
        document = json.loads(get(apis, "/apis", accept=as_json).body)
        found = decode(answer.body)
    assert answer.content_type == as_protobuf
    assert found["items"] == without_zeros(document["items"])
    told = [found["kind"], found["apiVersion"]]
    assert told == ["APIGroupDiscoveryList", f"apidiscovery.k8s.io/{version}"]


def test_aggregated_documents_have_tags() -> None:
    apis = published()
    answer = get(apis, "/apis", accept=f"{AGGREGATED_TYPE};profile=nopeer,application/json")
    tag = dict(answer.headers)["ETag"]
    assert answer.content_type == AGGREGATED_TYPE
    assert len(tag) == 130
    again = get(apis, "/apis", accept=AGGREGATED_TYPE, if_none_match=tag)
    assert (again.code, again.body, dict(again.headers)["ETag"]) == (304, b"", tag)
    more = published(definition("a.io", "as", "v1"))
    changed = get(more, "/apis", accept=AGGREGATED_TYPE, if_none_match=tag)
    assert changed.code == 200
    item: Any = json.loads(changed.body)["items"][-1]
    assert item["versions"][0]["resources"][0]["responseKind"] == {
        "group": "a.io",
        "version": "v1",
        "kind": "A",
    }


def test_other_media_types() -> None:
    apis = published()
    assert get(apis, "/apis/apps", accept="application/yaml").body.startswith(b"apiVersion: v1\n")
    protobuf = get(apis, "/api/v1", accept="application/vnd.kubernetes.protobuf")
    assert protobuf.body.startswith(b"k8s\0\n\x13\n\0\x12\x0fAPIResourceList"), "no version"
    assert get(apis, "/apis/apps", accept="text/html").code == 406
