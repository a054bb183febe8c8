"""What a path can be asked for, of built-in and of custom resources."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from celadon.apiserver.api_settings import Settings
from celadon.apiserver.handlers.resource_endpoints import Endpoint, find_endpoint
from celadon.apiserver.http_messages import HttpRequest
from celadon.apiserver.request_info import request_info
from celadon.kube.protobuf import has_message
from celadon.kube.resources import known_resources
from tests.apiserver.asking import ask, make, read, said
from tests.apiserver.in_process import Running

GROUP = "ends.example.com"
ROOT = f"/apis/{GROUP}/v1"
HERE = f"{ROOT}/namespaces/default/widgets"
DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
ACCEPTED = "application/json, application/yaml, application/vnd.kubernetes.protobuf"


def definition(group: str = GROUP) -> dict[str, Any]:
    schema = {
        "type": "object",
        "properties": {
            "spec": {"type": "object", "properties": {"size": {"type": "integer"}}},
            "status": {"type": "object"},
        },
    }
    scale = {"specReplicasPath": ".spec.size", "statusReplicasPath": ".status.size"}
    version = {
        "name": "v1",
        "served": True,
        "storage": True,
        "schema": {"openAPIV3Schema": schema},
        "subresources": {"scale": scale},
    }
    names = {"plural": "widgets", "singular": "widget", "kind": "Widget", "listKind": "WidgetList"}
    spec = {"group": group, "names": names, "scope": "Namespaced", "versions": [version]}
    return {"metadata": {"name": f"widgets.{group}"}, "spec": spec}


def widget(name: str, group: str = GROUP) -> dict[str, Any]:
    return {
        "apiVersion": f"{group}/v1",
        "kind": "Widget",
        "metadata": {"name": name},
        "spec": {"size": 1},
    }


@pytest.fixture(scope="module")
def widgets(running: Running) -> Iterator[Running]:
    make(running, DEFINITIONS, definition())
    running.settle()
    make(running, HERE, widget("w"))
    yield running
    ask(running, "DELETE", f"{DEFINITIONS}/widgets.{GROUP}")


def test_every_kind_of_a_default_server_speaks_protobuf() -> None:
    silent = {str(one.gvk) for one in known_resources() if not has_message(one.gvk)}
    assert not silent


NO_CREATE = f'create is not supported on resources of kind "widgets.{GROUP}"'
NO_DELETE = f'delete is not supported on resources of kind "widgets.{GROUP}"'
NO_METHOD = f' is not supported on resources of kind "widgets.{GROUP}"'
MISSING = f'widgets.{GROUP} "w" not found'
UNRECOGNIZED = (
    "the object provided is unrecognized (must be of type Widget): Object 'Kind' is missing in "
    "'{}' ({})"
)

CUSTOM = [
    ("GET", f"{HERE}/w/status", 404, MISSING),
    ("DELETE", f"{HERE}/w/nonsense", 404, MISSING),
    ("GET", f"{HERE}/w/scale", 200, ""),
    ("GET", f"{HERE}/w/scale/and/more", 200, ""),
    ("POST", f"{HERE}/w/scale", 405, NO_CREATE),
    ("DELETE", f"{HERE}/w/scale", 405, NO_DELETE),
    ("PUT", HERE, 400, "name must be provided"),
    ("PATCH", HERE, 400, "name must be provided"),
    ("POST", f"{HERE}/w", 400, UNRECOGNIZED),
    ("OPTIONS", f"{HERE}/w", 405, NO_METHOD),
    ("GET", f"{ROOT}/widgets", 200, ""),
]


@pytest.mark.parametrize(("method", "path", "code", "message"), CUSTOM)
def test_custom_resources_have_no_routes(
    widgets: Running, method: str, path: str, code: int, message: str
) -> None:
    body: Any = {} if method in ("POST", "PUT", "PATCH") else None
    assert said(ask(widgets, method, path, body)) == (code, message)


@pytest.mark.parametrize("method", ["POST", "DELETE", "PUT"])
def test_a_namespaced_resource_is_only_read_across_namespaces(
    widgets: Running, method: str
) -> None:
    answer = ask(widgets, method, f"{ROOT}/widgets", {})
    assert (answer.code, answer.body) == (404, b"404 page not found\n")


def test_heads_of_custom_resources_are_read(widgets: Running) -> None:
    answer = ask(widgets, "HEAD", f"{HERE}/w")
    assert (answer.code, answer.body) == (200, b"")


@pytest.mark.parametrize(
    ("method", "path", "code"),
    [
        ("GET", "/api/v1/nodes//status", 400),
        ("DELETE", "/api/v1/nodes//status", 405),
        ("DELETE", "/api/v1/nodes//proxy", 400),
        ("PUT", "/api/v1/namespaces//finalize", 400),
        ("POST", "/api/v1/namespaces/default/pods//eviction", 400),
        ("GET", "/api/v1/namespaces/default/pods//eviction", 405),
        ("PATCH", "/apis/apps/v1/namespaces/default/deployments//scale", 400),
        ("GET", "/api/v1/namespaces//pods//log", 400),
        ("GET", "/api/v1/nodes//nonsense", 404),
        ("GET", "/api/v1//nodes//status", 404),
        # what can only be created has no path with a name, what cannot be watched none below /watch
        ("GET", "/apis/authentication.k8s.io/v1/tokenreviews", 405),
        ("GET", "/apis/authentication.k8s.io/v1/tokenreviews/x", 404),
        ("POST", "/api/v1/namespaces/default/bindings/x", 404),
        ("GET", "/apis/authentication.k8s.io/v1/watch/tokenreviews", 404),
        ("GET", "/api/v1/watch/componentstatuses", 404),
        ("POST", "/api/v1/componentstatuses/x", 405),
    ],
)
def test_paths_that_lead_to_nothing(widgets: Running, method: str, path: str, code: int) -> None:
    answer = ask(widgets, method, path, {} if method in ("POST", "PUT", "PATCH") else None)
    messages = {
        400: "name must be provided",
        404: "the server could not find the requested resource",
        405: "the server does not allow this method on the requested resource",
    }
    assert said(answer) == (code, messages[code])


TOKEN_OF_NONE = "/api/v1/namespaces//serviceaccounts/default/token"
EVICTION_OF_NONE = "/api/v1/namespaces//pods/a/eviction"


@pytest.mark.parametrize(
    ("path", "body", "message"),
    [
        (TOKEN_OF_NONE, {}, "Namespace parameter required."),
        (TOKEN_OF_NONE, {"metadata": {"namespace": "q"}}, "Namespace parameter required."),
        (TOKEN_OF_NONE, [], "the object provided is unrecognized (must be of type TokenRequest)"),
        (EVICTION_OF_NONE, {"metadata": {"name": "a"}}, "Namespace parameter required."),
        (EVICTION_OF_NONE, {"kind": "Foo"}, 'Foo in version "v1" cannot be handled as a Eviction'),
    ],
)
def test_bodies_are_read_before_a_namespace_is_missed(
    running: Running, path: str, body: Any, message: str
) -> None:
    code, text = said(ask(running, "POST", path, body))
    assert (code, text[: len(message)]) == (400, message)


@pytest.mark.parametrize("path", ["/apis//apps/v1", "/apis//v1/pods", "/apis//v1/namespaces/a"])
def test_there_is_no_group_without_a_name(running: Running, path: str) -> None:
    answer = ask(running, "GET", path)
    assert (answer.code, answer.body) == (404, b"404 page not found\n")


def endpoint_of(path: str) -> Endpoint:
    info = request_info(HttpRequest("GET", path))
    return find_endpoint(info, known_resources(), {"", "apiextensions.k8s.io", "apps"})


@pytest.mark.parametrize(
    ("path", "tables"),
    [
        ("/api/v1/namespaces/a/pods/p", True),
        ("/api/v1/namespaces/a/pods/p/status", True),
        ("/api/v1/namespaces/a/pods/p/ephemeralcontainers", False),
        ("/api/v1/namespaces/a/pods/p/resize", False),
        ("/apis/apps/v1/namespaces/a/deployments/d/scale", True),
        ("/apis/apiextensions.k8s.io/v1/customresourcedefinitions/c/status", False),
    ],
)
def test_what_can_be_shown_as_a_table(path: str, tables: bool) -> None:
    assert endpoint_of(path).has_tables is tables


def test_any_method_goes_through_a_proxy(running: Running) -> None:
    answer = ask(running, "OPTIONS", "/api/v1/nodes/nowhere/proxy/x")
    assert said(answer) == (404, 'nodes "nowhere" not found')


BUILT_IN = [
    ("GET", "/api/v1/namespaces/default/configmaps/a/status", 404),
    ("GET", "/api/v1/namespaces/default/pods/a/scale", 404),
    ("PATCH", "/api/v1/namespaces/default/configmaps", 405),
    ("PUT", "/api/v1/namespaces/default/configmaps", 405),
    ("POST", "/api/v1/namespaces/default/configmaps/a", 405),
    ("POST", "/api/v1/configmaps", 405),
    ("DELETE", "/api/v1/namespaces", 405),
    ("HEAD", "/api/v1/namespaces/default", 405),
    ("OPTIONS", "/api/v1/namespaces/default", 405),
    ("GET", "/api/v1/proxy/namespaces/default/services/a", 404),
    ("GET", "/api/v1/namespaces/default/configmaps/a/b/c", 404),
    ("GET", "/api/v1/configmaps/a", 404),
    ("POST", "/api/v1/pods/a/eviction", 404),
    ("GET", "/api/v1/watch/configmaps/a", 404),
    ("GET", "/api/v1/namespaces//configmaps", 200),
    ("GET", "/apis/apps/v1/namespaces//deployments", 200),
    ("GET", "/api/v1/namespaces//configmaps//x", 404),
    ("GET", "/api/v1/bindings", 404),
    ("POST", "/apis/authorization.k8s.io/v1/localsubjectaccessreviews", 404),
    ("GET", "/api/v1/namespaces/default/bindings", 405),
    ("GET", "/api/v1//nodes", 404),
]


@pytest.mark.parametrize(("method", "path", "code"), BUILT_IN)
def test_built_in_resources_have_routes(
    running: Running, method: str, path: str, code: int
) -> None:
    messages = {
        404: "the server could not find the requested resource",
        405: "the server does not allow this method on the requested resource",
    }
    answer = ask(running, method, path)
    body = b"" if method == "HEAD" else answer.body
    assert answer.code == code
    if body and code != 200:
        assert said(answer) == (code, messages[code])
        assert read(answer)["details"] == {}


NO_NAMES = [
    ("GET", "..", "\"..\": may not be '..'"),
    ("DELETE", ".", "\".\": may not be '.'"),
    ("GET", "a%25b", "\"a%b\": may not contain '%'"),
]


@pytest.mark.parametrize(("method", "name", "why"), NO_NAMES)
def test_what_is_no_name(running: Running, method: str, name: str, why: str) -> None:
    answer = ask(running, method, f"/api/v1/namespaces/default/configmaps/{name}")
    assert said(answer) == (400, f"Name parameter invalid: {why}")


NAMED = '{"metadata":{"name":".."}}'
WRONG_FIRST = [
    ("PUT", "text/plain", "{}", 415),
    ("PUT", "application/json", "{}", "the name of the object (.. based on URL) was"),
    ("PUT", "application/json", NAMED, "Name parameter invalid"),
    ("PATCH", "application/apply-patch+yaml", "{}", 422),
    ("PATCH", "application/merge-patch+json", "{}", "Name parameter invalid"),
    ("DELETE", "text/plain", "{}", 415),
]


@pytest.mark.parametrize(("method", "content_type", "body", "expected"), WRONG_FIRST)
def test_a_body_and_options_are_read_before_the_name(
    running: Running, method: str, content_type: str, body: str, expected: int | str
) -> None:
    path = "/api/v1/namespaces/default/configmaps/.."
    code, message = said(ask(running, method, path, body.encode(), content_type=content_type))
    assert code == expected or (code == 400 and message.startswith(str(expected)))


FORMS = [
    ("text/html", 406, f"only the following media types are accepted: {ACCEPTED}"),
    ("application/*", 200, ""),
    ("application/json;as=Table;g=meta.k8s.io;v=v1", 200, ""),
]


@pytest.mark.parametrize(("accept", "code", "message"), FORMS)
def test_no_router_looks_at_what_is_accepted(
    widgets: Running, accept: str, code: int, message: str
) -> None:
    assert said(ask(widgets, "GET", f"{HERE}/w", accept=accept)) == (code, message)


PROTOBUF = "application/vnd.kubernetes.protobuf"


def test_custom_resources_have_no_form_in_protobuf(widgets: Running) -> None:
    for path in (f"{HERE}/w", HERE, f"{HERE}/w/scale", f"{HERE}?watch=true&timeoutSeconds=1"):
        answer = ask(widgets, "GET", path, accept=f"{PROTOBUF}, application/json")
        assert (answer.code, answer.content_type) == (200, "application/json")
        answer = ask(widgets, "GET", path, accept=PROTOBUF)
        assert (answer.code, answer.content_type) == (406, PROTOBUF)
        assert b"only the following media types are accepted" in answer.body
    as_metadata = f"{PROTOBUF};as=PartialObjectMetadata;g=meta.k8s.io;v=v1"
    answer = ask(widgets, "GET", f"{HERE}/w", accept=as_metadata)
    assert (answer.code, answer.content_type) == (200, PROTOBUF)


TABLE = "application/json;as=Table;g=meta.k8s.io;v=v1"


def test_forms_of_custom_resources_have_the_order_of_their_structs(widgets: Running) -> None:
    table = ask(widgets, "GET", f"{HERE}/w?includeObject=Object", accept=TABLE).body
    assert table.startswith(b'{"kind":"Table","apiVersion":"meta.k8s.io/v1","metadata":')
    assert b'"object":{"apiVersion":' in table
    part = ask(widgets, "GET", f"{HERE}/w", accept=TABLE.replace("Table", "PartialObjectMetadata"))
    assert part.body.startswith(
        b'{"kind":"PartialObjectMetadata","apiVersion":"meta.k8s.io/v1","metadata":{"name":"w",'
    )


def test_tables_of_scales_of_custom_resources_have_columns_of_their_own(widgets: Running) -> None:
    columns = ask(widgets, "GET", f"{HERE}/w/scale", accept=TABLE).body
    assert b'"name":"Desired","type":"integer","format":"","description":"Number of' in columns
    answer = ask(widgets, "GET", f"{HERE}/w/scale", accept=TABLE.replace("Table", METADATA_LIST))
    assert b"the requested object is not a list (*v1.Scale)" in answer.body


METADATA_LIST = "PartialObjectMetadataList"


@pytest.mark.parametrize(
    ("accept", "is_raw"),
    [
        (TABLE, True),
        (f"{TABLE}, application/json", False),
        ("text/html", True),
        ("application/json;sv=v1", True),
        ("application/yaml;stream=watch", True),
        ("*", False),
        ("", False),
    ],
)
def test_refusals_are_indented_where_nothing_else_is_accepted(
    widgets: Running, accept: str, is_raw: bool
) -> None:
    for path in (f"{HERE}/absent", "/api/v1/namespaces/default/configmaps/absent"):
        answer = ask(widgets, "GET", path, accept=accept)
        assert answer.content_type == "application/json"
        assert answer.body.startswith(b'{\n  "kind": "Status"') is is_raw
        assert answer.body.endswith(b"\n") is not is_raw


GOING = "create not allowed while custom resource definition is terminating"


@pytest.mark.parametrize(("release", "applied"), [("1.33", 201), ("1.34", 403), ("1.36", 403)])
def test_what_is_created_while_its_definition_goes(release: str, applied: int) -> None:
    running, group = Running(Settings(version=release)), "leaving.example.com"
    path = f"/apis/{group}/v1/namespaces/default/widgets"
    try:
        make(running, DEFINITIONS, definition(group))
        running.settle()
        held = widget("held", group)
        held["metadata"]["finalizers"] = ["example.com/hold"]
        make(running, path, held)
        ask(running, "DELETE", f"{DEFINITIONS}/widgets.{group}")
        late = f'widgets.{group} "late" is forbidden: {GOING}'
        posted = said(ask(running, "POST", path, widget("late", group)))
        assert posted == ((405, GOING) if release == "1.33" else (403, late))
        apply = "application/apply-patch+yaml"
        body = json.dumps(widget("late", group)).encode()
        answer = ask(running, "PATCH", f"{path}/late?fieldManager=m", body, content_type=apply)
        assert answer.code == applied
    finally:
        running.close()


def test_nothing_is_created_while_its_definition_goes(running: Running) -> None:
    group = "going.example.com"
    path = f"/apis/{group}/v1/namespaces/default/widgets"
    make(running, DEFINITIONS, definition(group))
    running.settle()
    held = widget("held", group)
    held["metadata"]["finalizers"] = ["example.com/hold"]
    make(running, path, held)
    ask(running, "DELETE", f"{DEFINITIONS}/widgets.{group}")
    answer = ask(running, "POST", path, widget("late", group))
    assert said(answer) == (403, f'widgets.{group} "late" is forbidden: {GOING}')
    assert read(answer)["details"] == {"name": "late", "group": group, "kind": "widgets"}
    assert ask(running, "GET", f"{path}/held").code == 200
    ask(running, "PUT", f"{path}/held", {**read(ask(running, "GET", f"{path}/held")), "spec": {}})
    patch = b'[{"op":"remove","path":"/metadata/finalizers"}]'
    assert (
        ask(
            running, "PATCH", f"{path}/held", patch, content_type="application/json-patch+json"
        ).code
        == 200
    )


@pytest.mark.parametrize(
    ("own", "asked", "code"),
    [("", "default", 201), ("default", "default", 201), ("", "x", 422), ("x", "x", 400)],
)
def test_a_review_is_in_the_namespace_of_its_path(
    running: Running, own: str, asked: str, code: int
) -> None:
    review = {
        "apiVersion": "authorization.k8s.io/v1",
        "kind": "LocalSubjectAccessReview",
        "metadata": {"namespace": own} if own else {},
        "spec": {
            "user": "u",
            "resourceAttributes": {"namespace": asked, "verb": "get", "resource": "r"},
        },
    }
    path = "/apis/authorization.k8s.io/v1/namespaces/default/localsubjectaccessreviews"
    answer = ask(running, "POST", path, review)
    assert answer.code == code
    if code == 201:
        assert read(answer)["metadata"]["namespace"] == "default"
