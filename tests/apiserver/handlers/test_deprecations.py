"""What is said about requests besides their object: types, deadlines, routes, deprecations."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from celadon.apiserver.api_settings import Settings
from celadon.apiserver.http_messages import HttpAnswer, HttpRequest
from tests.apiserver.in_process import Running

POLICIES = "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies"
MAPS = "/api/v1/namespaces/default/configmaps"


@pytest.fixture(scope="module")
def running() -> Iterator[Running]:
    started = Running(Settings(all_versions=True))
    yield started
    started.close()


def ask(
    running: Running, method: str, path: str, body: Any = None, **headers: str
) -> tuple[HttpAnswer, Any]:
    given = {"authorization": "Bearer admin-token", **headers}
    names = [(name.replace("_", "-"), value) for name, value in given.items()]
    data = b"" if body is None else json.dumps(body).encode()
    answer = running.answer(HttpRequest(method, path, names, data))
    return answer, json.loads(answer.body)


def config_map(**meta: Any) -> dict[str, Any]:
    return {"data": {"b": "1", "a": "2"}, "kind": "ConfigMap", "apiVersion": "v1", "metadata": meta}


@pytest.mark.parametrize(
    ("accept", "code"),
    [("garbage", 406), ("", 200), ("application/json", 200), ("garbage, */*", 200)],
)
def test_accept_headers_without_a_type_are_no_wildcards(
    running: Running, accept: str, code: int
) -> None:
    answer, _ = ask(running, "GET", MAPS, accept=accept)
    assert answer.code == code


@pytest.mark.parametrize(
    ("content_type", "code"),
    [
        ("", 201),
        ("application/json;", 201),
        ("Application/JSON; charset=utf-8", 201),
        ("application/json; =", 415),
        ("application/json; a", 415),
        ("/", 415),
        ("json", 415),
    ],
)
def test_content_types_are_read_as_in_go(running: Running, content_type: str, code: int) -> None:
    body = config_map(name="types")
    answer, _ = ask(running, "POST", f"{MAPS}?dryRun=All", body, content_type=content_type)
    assert answer.code == code


@pytest.mark.parametrize(
    ("timeout", "fault"),
    [
        ("5s", None),
        ("-1s", None),
        ("bogus", 'time: invalid duration "bogus"'),
        ("5", 'time: missing unit in duration "5"'),
        ("1s5", 'time: missing unit in duration "1s5"'),
        ("5x", 'time: unknown unit "x" in duration "5x"'),
    ],
)
def test_timeouts_have_to_be_durations(running: Running, timeout: str, fault: str | None) -> None:
    answer, body = ask(running, "GET", f"{MAPS}?timeout={timeout}")
    assert answer.code == (200 if fault is None else 400)
    if fault is not None:
        assert body["message"] == f"invalid timeout specified in the request URL - {fault}"


@pytest.mark.parametrize(
    ("method", "path", "message"),
    [
        (
            "DELETE",
            "/api/v1/namespaces",
            "the server does not allow this method on the requested resource",
        ),
        (
            "GET",
            "/api/v1/componentstatuses?watch=true",
            'watch is not supported on resources of kind "componentstatuses"',
        ),
        (
            "POST",
            "/api/v1/watch/namespaces/default/configmaps",
            "the server does not allow this method on the requested resource",
        ),
    ],
)
def test_methods_that_a_path_does_not_have(
    running: Running, method: str, path: str, message: str
) -> None:
    answer, body = ask(running, method, path)
    assert (answer.code, body["message"]) == (405, message)


@pytest.mark.parametrize(
    ("path", "warning", "removed"),
    [
        (
            "/api/v1/endpoints",
            "v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice",
            None,
        ),
        (
            "/apis/admissionregistration.k8s.io/v1alpha1/mutatingadmissionpolicies/none",
            "admissionregistration.k8s.io/v1alpha1 MutatingAdmissionPolicy is deprecated in "
            "v1.35+, unavailable in v1.38+",
            "1.38",
        ),
        (
            "/apis/storage.k8s.io/v1beta1/volumeattributesclasses/none",
            "storage.k8s.io/v1beta1 VolumeAttributesClass is deprecated in v1.34+, unavailable in "
            "v1.37+; use storage.k8s.io/v1 VolumeAttributesClass",
            "1.37",
        ),
        (
            "/apis/resource.k8s.io/v1alpha3/devicetaintrules/none",
            "resource.k8s.io/v1alpha3 DeviceTaintRule is deprecated in v1.36+, unavailable in "
            "v1.39+",
            "1.39",
        ),
    ],
)
def test_deprecated_versions_say_so(
    running: Running, path: str, warning: str, removed: str | None
) -> None:
    answer, _ = ask(running, "GET", path)
    assert ("Warning", f'299 - "{warning}"') in answer.headers
    assert answer.audit["k8s.io/deprecated"] == "true"
    assert answer.audit.get("k8s.io/removed-release") == removed


@pytest.mark.parametrize(
    ("method", "path", "code", "is_warned"),
    [
        ("GET", "namespaces/default/olds", 200, True),
        ("GET", "namespaces/default/olds/none", 404, True),
        ("GET", "namespaces/default/olds/none/scale", 404, True),
        ("PUT", "namespaces/default/olds", 400, True),
        ("OPTIONS", "namespaces/default/olds", 405, True),
        ("DELETE", "namespaces/default/news", 404, False),
    ],
)
def test_deprecated_versions_of_custom_resources_say_so_to_all_who_name_one(
    running: Running, method: str, path: str, code: int, is_warned: bool
) -> None:
    version = {
        "name": "v1",
        "served": True,
        "storage": True,
        "deprecated": True,
        "schema": {"openAPIV3Schema": {"type": "object"}},
    }
    names = {"plural": "olds", "singular": "old", "kind": "Old", "listKind": "OldList"}
    spec = {
        "group": "old.example.com",
        "names": names,
        "scope": "Namespaced",
        "versions": [version],
    }
    definition = {"metadata": {"name": "olds.old.example.com"}, "spec": spec}
    ask(running, "POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", definition)
    running.settle()
    given = [("authorization", "Bearer admin-token")]
    answer = running.answer(HttpRequest(method, f"/apis/old.example.com/v1/{path}", given, b""))
    warnings = [value for name, value in answer.headers if name == "Warning"]
    told = '299 - "old.example.com/v1 Old is deprecated"'
    assert (answer.code, warnings) == (code, [told] if is_warned else [])


def test_what_a_later_release_deprecates_is_not_warned_of(running: Running) -> None:
    path = "/apis/admissionregistration.k8s.io/v1beta1/mutatingadmissionpolicybindings/none"
    answer, _ = ask(running, "GET", path)
    assert not [value for name, value in answer.headers if name == "Warning"]
    assert answer.audit["k8s.io/deprecated"] == "true"


def test_members_have_the_order_of_their_structs(running: Running) -> None:
    _, made = ask(running, "POST", MAPS, config_map(labels={"z": "1", "a": "2"}, name="order"))
    assert list(made) == ["kind", "apiVersion", "metadata", "data"]
    assert list(made["metadata"])[:4] == ["name", "namespace", "uid", "resourceVersion"]
    assert list(made["metadata"]["labels"]) == ["a", "z"]
    assert list(made["data"]) == ["a", "b"]


def test_registration_objects_have_their_own_order(running: Running) -> None:
    rules = [{"operations": ["*"], "apiGroups": ["*"], "apiVersions": ["*"], "resources": ["*"]}]
    spec = {
        "validations": [{"message": "m", "expression": "true"}],
        "matchConstraints": {"resourceRules": rules},
        "failurePolicy": "Ignore",
        "paramKind": {"kind": "ConfigMap", "apiVersion": "v1"},
    }
    _, made = ask(
        running,
        "POST",
        f"{POLICIES}?dryRun=All",
        {
            "spec": spec,
            "metadata": {"name": "order"},
            "kind": "ValidatingAdmissionPolicy",
            "apiVersion": "admissionregistration.k8s.io/v1",
        },
    )
    assert list(made)[:4] == ["kind", "apiVersion", "metadata", "spec"]
    assert list(made["spec"]) == ["paramKind", "matchConstraints", "validations", "failurePolicy"]
    assert list(made["spec"]["validations"][0]) == ["expression", "message"]


def test_old_watch_paths_name_one_object(running: Running) -> None:
    path = "/api/v1/watch/namespaces/default/configmaps/a?fieldSelector=metadata.name%3Db"
    answer, body = ask(running, "GET", path)
    assert answer.code == 400
    assert body["message"] == "fieldSelector metadata.name doesn't match requested name"


def test_the_router_says_nothing_of_deprecations(running: Running) -> None:
    path = "/api/v1/namespaces/default/endpoints"
    for accept, count in (("text/html", 0), ("application/json;sv=v9", 1)):
        answer, _ = ask(running, "GET", path, accept=accept)
        assert answer.code == 406
        assert [name for name, _ in answer.headers].count("Warning") == count
        assert ("k8s.io/deprecated" in answer.audit) is bool(count)
