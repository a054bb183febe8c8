"""Bodies of writes in YAML and JSON, what is wrong with them, and what is noticed in them."""

from __future__ import annotations

import json
from typing import Any

import pytest

from celadon.apiserver.handlers.request_context import (
    LIMIT,
    MAX_DEPTH,
    _content,
    _from_yaml,
    _json_value,
)
from celadon.deep_recursion import deep_calls
from celadon.kube.go import Document, JsonSyntaxError, read_json
from tests.apiserver.asking import ask, make, read, said, warnings
from tests.apiserver.handlers.test_resource_endpoints import DEFINITIONS, definition
from tests.apiserver.in_process import Running

MAPS = "/api/v1/namespaces/default/configmaps"
JSON = "application/json"
YAML = "application/yaml"
APPLY = "application/apply-patch+yaml"


def test_a_body_in_yaml_means_what_it_means_to_kubernetes(running: Running) -> None:
    body = b"metadata: {name: yam}\ndata:\n  a: 'yes'\n  b: |\n    x\n---\nnothing: [\n"
    answer = ask(running, "POST", f"{MAPS}?dryRun=All", body, content_type=f"{YAML}; charset=utf-8")
    assert answer.code == 201
    assert read(answer)["data"] == {"a": "yes", "b": "x\n"}


TYPES = [
    (b"data: {a: yes}", "json: cannot unmarshal bool into Go struct field ConfigMap.data of type"),
    (b"data: {a: 1.5}", "json: cannot unmarshal number into Go struct field ConfigMap.data of"),
    (b"data: [", "yaml: line 1: did not find expected node content (646174613a205b)"),
    (b"a: .nan", "json: unsupported value: NaN (613a202e6e616e)"),
    (b"- 1", "json: cannot unmarshal array into Go value of type struct"),
    (b"{bad", "did not find expected ',' or '}' ({bad)"),
    (b"kind: 5", "cannot unmarshal number into Go struct field .kind of type string"),
]


@pytest.mark.parametrize(("body", "why"), TYPES)
def test_bodies_in_yaml_that_are_refused(running: Running, body: bytes, why: str) -> None:
    code, message = said(ask(running, "POST", MAPS, body, content_type=YAML))
    assert code == 400
    assert why in message


def text(**members: Any) -> bytes:
    return json.dumps(members).encode()


KINDS = [
    (text(Kind=5), JSON, ".kind of type string"),
    (text(kind="ConfigMap", KIND=[1]), JSON, "cannot unmarshal array into Go struct field .kind"),
    (text(kind=5, apiVersion=5), JSON, "field .kind of"),
    (text(apiversion={}), JSON, "cannot unmarshal object into Go struct field .apiVersion of"),
    (text(Kind="Pod"), JSON, 'Pod in version "v1" cannot be handled as a ConfigMap'),
    (text(kind="ConfigMap", Kind="Pod"), JSON, 'Pod in version "v1" cannot'),
    (text(Kind="Pod", kind="ConfigMap"), JSON, "name or generateName is required"),
    (text(Kind="Pod", kInd=None), JSON, 'Pod in version "v1" cannot'),
    (text(kind="Status", status={}), JSON, "Go struct field Status.status of type string"),
    (text(kind="Status", status=""), JSON, "converting (v1.Status) to (core.ConfigMap)"),
    (b"Kind: 5", YAML, "(4b696e643a2035)"),
    (b"kind: ConfigMap\nKind: Pod", YAML, "name or generateName is required"),
]


@pytest.mark.parametrize(("body", "media_type", "why"), KINDS)
def test_the_kind_is_said_in_any_case(
    running: Running, body: bytes, media_type: str, why: str
) -> None:
    _, message = said(ask(running, "POST", MAPS, body, content_type=media_type))
    assert why in message


TWICE = b"metadata:\n  name: t\ndata:\n  a: x\n  a: z\nzip: 1\n"
NOTICED = ['line 5: key "a" already set in map', 'unknown field "zip"']


def test_keys_given_twice_are_warned_of(running: Running) -> None:
    answer = ask(running, "POST", f"{MAPS}?dryRun=All", TWICE, content_type=YAML)
    assert (answer.code, warnings(answer)) == (201, NOTICED)
    assert read(answer)["data"] == {"a": "z"}
    quiet = ask(
        running, "POST", f"{MAPS}?dryRun=All&fieldValidation=Ignore", TWICE, content_type=YAML
    )
    assert (quiet.code, warnings(quiet)) == (201, [])


def test_keys_given_twice_are_refused_strictly(running: Running) -> None:
    strict = f"{MAPS}?fieldValidation=Strict"
    assert said(ask(running, "POST", strict, TWICE, content_type=YAML)) == (
        400,
        'ConfigMap in version "v1" cannot be handled as a ConfigMap: strict decoding error: yaml: '
        'unmarshal errors:\n  line 5: key "a" already set in map, unknown field "zip"',
    )


APPLIED: list[tuple[bytes, int, str]] = [
    (
        b"a: [",
        400,
        "error decoding YAML: error converting YAML to JSON: yaml: line 1: did not find expected "
        "node content",
    ),
    (
        b"hello",
        400,
        "error decoding YAML: error unmarshaling JSON: while decoding JSON: json: cannot unmarshal "
        "string into Go value of type map[string]interface {}",
    ),
    (b"", 400, "invalid object type: /, Kind="),
    (b"~", 400, "invalid object type: /, Kind="),
    (b"x" * (LIMIT + 1), 413, f"Request entity too large: limit is {LIMIT}"),
]


@pytest.mark.parametrize(("body", "code", "message"), APPLIED)
def test_configurations_that_are_refused(
    running: Running, body: bytes, code: int, message: str
) -> None:
    path = f"{MAPS}/applied?fieldManager=m"
    assert said(ask(running, "PATCH", path, body, content_type=APPLY)) == (code, message)


def test_keys_given_twice_in_a_configuration(running: Running) -> None:
    body = b"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: ap}\ndata:\n  k: a\n  k: b\n"
    path = f"{MAPS}/ap?fieldManager=m&dryRun=All"
    answer = ask(running, "PATCH", path, body, content_type=APPLY)
    assert (answer.code, warnings(answer)) == (201, ['line 6: key "k" already set in map'])
    strict = ask(running, "PATCH", f"{path}&fieldValidation=Strict", body, content_type=APPLY)
    assert said(strict) == (
        400,
        "error strict decoding YAML: error converting YAML to JSON: yaml: unmarshal errors:\n"
        '  line 6: key "k" already set in map',
    )


def test_types_that_are_no_bodies(running: Running) -> None:
    accepted = "application/json, application/yaml, application/vnd.kubernetes.protobuf"
    message = (
        "the body of the request was in an unknown format - accepted media types include: "
        f"{accepted}"
    )
    for content_type in ("text/plain", "application/cbor", "application/json,application/yaml"):
        answer = ask(running, "POST", MAPS, {}, content_type=content_type)
        assert said(answer) == (415, message)


DELETIONS: list[tuple[Any, str, int, str]] = [
    (b"{", "application/json", 400, "unexpected end of JSON input"),
    (b"gracePeriodSeconds: x", YAML, 400, "cannot unmarshal string into Go struct field"),
    (b"a: [", YAML, 400, "yaml: line 1: did not find expected node content"),
    (b"propagationPolicy: Bogus", YAML, 422, "propagationPolicy: Unsupported value"),
    (b"{}", "text/plain", 415, "unknown format"),
    (b"{}", YAML, 404, 'configmaps "none" not found'),
]


@pytest.mark.parametrize(("body", "content_type", "code", "why"), DELETIONS)
def test_bodies_of_deletions(
    running: Running, body: bytes, content_type: str, code: int, why: str
) -> None:
    found = said(ask(running, "DELETE", f"{MAPS}/none", body, content_type=content_type))
    assert found[0] == code
    assert why in found[1]
    assert "the object provided is unrecognized" not in found[1]


PROTOBUF = "application/vnd.kubernetes.protobuf"


MESSAGES = [
    (b"k8s\0\n\0", 422, "metadata.name: Required value"),
    (b"k8s\0\n\x04\n\x02v1", 422, "metadata.name: Required value"),
    (b"k8s\0\n\x08\n\x02v1\x12\x02Fo", 400, 'Fo in version "v1" cannot be handled as a ConfigMap'),
    (
        b"k8s\0\n\x0b\x12\x09ConfigMap\x12\x02\x0e\x0e",
        400,
        "cannot be handled as a ConfigMap: proto",
    ),
    (b"k8s\0\n\xff", 400, "the object provided is unrecognized (must be of type ConfigMap)"),
]


@pytest.mark.parametrize(("body", "code", "why"), MESSAGES)
def test_messages_that_are_refused(running: Running, body: bytes, code: int, why: str) -> None:
    found = said(ask(running, "POST", MAPS, body, content_type=PROTOBUF))
    assert found[0] == code
    assert why in found[1]


NO_KIND = 'is registered for version "v1" in scheme'
OTHER_KINDS = [
    (MAPS, "foo/v1", "Status", "converting (v1.Status) to (core.ConfigMap): unknown conversion"),
    (MAPS, "v1", "List", "converting (v1.List) to (core.ConfigMap): unknown conversion"),
    (MAPS, "apps/v1", "GetOptions", "converting (v1.GetOptions) to (core.ConfigMap)"),
    (MAPS, "foo/v1", "GetOptions", 'no kind "GetOptions" is registered for version "foo/v1"'),
    (MAPS, "v1/", "ConfigMap", "Object 'apiVersion' is missing in '{\"apiVersion\":"),
    (DEFINITIONS, "v1", "Pod", f'no kind "Pod" {NO_KIND} "k8s.io/apiextensions-apiserver/pkg/'),
    (DEFINITIONS, "v1", "Status", "converting (v1.Status) to (apiextensions.CustomResource"),
    (
        "/apis/apiregistration.k8s.io/v1/apiservices",
        *("v1", "Foo", f'{NO_KIND} "k8s.io/kube-aggregator/pkg/apiserver/scheme/scheme.go:28"'),
    ),
]


@pytest.mark.parametrize(("path", "version", "kind", "why"), OTHER_KINDS)
def test_bodies_of_other_kinds(
    running: Running, path: str, version: str, kind: str, why: str
) -> None:
    body = {"apiVersion": version, "kind": kind, "metadata": {"name": "x"}}
    code, message = said(ask(running, "POST", path, body))
    assert code == 400
    assert why in message


def test_options_of_deletions_come_in_any_type(running: Running) -> None:
    make(running, DEFINITIONS, definition("gone.example.com"))
    running.settle()
    for path in (f"{MAPS}/none", "/apis/gone.example.com/v1/namespaces/default/widgets/none"):
        found = said(ask(running, "DELETE", path, b"{}", content_type=PROTOBUF))
        assert found[0] == 400
        assert found[1].startswith("provided data does not appear to be a protobuf message")


METADATA = [
    ([], "json: cannot unmarshal array into Go value of type v1.ObjectMeta"),
    ("x", "json: cannot unmarshal string into Go value of type v1.ObjectMeta"),
    (
        {"name": 5},
        "json: cannot unmarshal number into Go struct field ObjectMeta.name of type string",
    ),
]


@pytest.mark.parametrize(("given", "why"), METADATA)
def test_metadata_of_custom_resources_has_a_type(running: Running, given: Any, why: str) -> None:
    group = "meta.example.com"
    definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
    ask(running, "POST", definitions, definition(group))
    running.settle()
    body = {"apiVersion": f"{group}/v1", "kind": "Widget", "metadata": given}
    answer = ask(running, "POST", f"/apis/{group}/v1/namespaces/default/widgets", body)
    assert said(answer) == (400, f'Widget in version "v1" cannot be handled as a Widget: {why}')


def test_answers_to_reviews_are_written_like_objects(running: Running) -> None:
    path = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"
    spec = {"nonResourceAttributes": {"path": "/x", "verb": "get"}}
    found = read(ask(running, "POST", path, {"spec": spec}))
    assert list(found) == ["kind", "apiVersion", "metadata", "spec", "status"]


MEANT: list[tuple[str, Any]] = [
    ("1.0", 1),
    ("1.50", 1.5),
    ("12345678901234567890123", 1.2345678901234568e22),
    ('"\\u00e9"', "é"),
    ("{b: 1, a: {d: 1, c: [2]}}", {"a": {"c": [2], "d": 1}, "b": 1}),
    ("[&x {a: 1}, *x]", [{"a": 1}, {"a": 1}]),
]


@pytest.mark.parametrize(("text", "value"), MEANT)
def test_a_value_in_yaml_is_what_its_json_would_be_read_as(text: str, value: Any) -> None:
    read_value = _from_yaml(f"v: {text}".encode(), "Warn").content
    assert isinstance(read_value, Document)
    found = read_value.value["v"]
    assert (json.dumps(found), repr(found)) == (json.dumps(value), repr(value))


def test_what_aliases_share_is_not_shared_any_more() -> None:
    content = _from_yaml(b"a: &x {b: 1}\nc: *x\n", "Warn").content
    assert isinstance(content, Document)
    assert content.value["a"] is not content.value["c"]


def test_texts_of_a_value_are_sound_and_numbers_plain() -> None:
    odd = {"\ud800": ["a\udc00", read_json("1.50").value]}
    assert _json_value(odd, is_sorted=False) == {"\ufffd" * 3: ["a" + "\ufffd" * 3, 1.5]}
    assert _json_value(odd["\ud800"][1], is_sorted=True).__class__ is float


def test_what_nests_deeper_than_json_may_is_refused_as_json_would_be() -> None:
    value: Any = {}
    for _ in range(MAX_DEPTH - 1):
        value = [value]
    with deep_calls():
        deepest, deeper = (_content(one, is_sorted=True) for one in (value, [value]))
    assert isinstance(deepest, Document)
    assert isinstance(deeper, bytes)
    with pytest.raises(JsonSyntaxError, match="exceeded max depth"):
        read_json(deeper.decode())
