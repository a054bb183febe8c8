"""Patches of the three plain types: what they make, and how they are refused."""

from __future__ import annotations

import json
from typing import Any

import pytest

from celadon.kube.defaulting.defaulting_context import DefaultingContext
from celadon.kube.status import StatusError
from celadon.kube.well_known_values import JSON_PATCH, MERGE_PATCH
from celadon.kube.writes.patching.patched_objects import (
    STRATEGIC_PATCH,
    patch_type,
    patched,
    read_patched,
)
from tests.kube.writes.targets import target

CONFIG_MAPS = target("v1/configmaps", "a")
PODS = target("v1/pods", "a")
OLD = {"apiVersion": "v1", "data": {"k": "v"}, "kind": "ConfigMap", "metadata": {"name": "a"}}
CONTEXT = DefaultingContext()


def result(patch: Any, media_type: str) -> Any:
    return patched(OLD, json.dumps(patch).encode(), media_type, CONFIG_MAPS)


@pytest.mark.parametrize(
    ("patch", "media_type"),
    [
        ({"data": {"k": None, "l": "w"}}, MERGE_PATCH),
        ({"data": {"k": None, "l": "w"}}, STRATEGIC_PATCH),
        (
            [
                {"op": "remove", "path": "/data/k"},
                {"op": "add", "path": "/data/l", "value": "w"},
            ],
            JSON_PATCH,
        ),
    ],
)
def test_applied(patch: Any, media_type: str) -> None:
    assert result(patch, media_type).document == {**OLD, "data": {"l": "w"}}
    assert OLD["data"] == {"k": "v"}


REFUSED = [
    (b"", MERGE_PATCH, 400, "error decoding patch: unexpected end of JSON input"),
    (b"", STRATEGIC_PATCH, 400, "unexpected end of JSON input"),
    (
        b"[]",
        MERGE_PATCH,
        400,
        "error decoding patch: json: cannot unmarshal array into Go value of type "
        "map[string]interface {}",
    ),
    (
        b"{}",
        JSON_PATCH,
        400,
        "error decoding patch: json: cannot unmarshal object into Go value of type "
        "[]handlers.jsonPatchOp",
    ),
    (
        b'[{"op":"test","path":"/data/k","value":"w"}]',
        JSON_PATCH,
        422,
        "the server rejected our request due to an error in our request",
    ),
    (b'{"$patch":"x"}', STRATEGIC_PATCH, 500, "unknown patch type: x in map: map[$patch:x]"),
    (b'{"$retainKeys":[],"a":1}', STRATEGIC_PATCH, 400, "invalid patch format of retainKeys"),
    (b"null", MERGE_PATCH, 400, "Invalid JSON Patch"),
    (
        b'[{"op":5,"path":"/a"}]',
        JSON_PATCH,
        400,
        "error decoding patch: json: cannot unmarshal number into Go struct field jsonPatchOp.op "
        "of type string",
    ),
    (
        b'[{"op":"replace","path":"","value":[]}]',
        JSON_PATCH,
        422,
        ' "" is invalid: patch: Invalid value: "[]": couldn\'t get version/kind; json parse error: '
        "json: cannot unmarshal array into Go value of type struct { APIVersion string "
        '"json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" }',
    ),
    (
        b'{"apiVersion":null}',
        MERGE_PATCH,
        400,
        "the name of the object (a based on URL) was undeterminable: name must be provided",
    ),
]


@pytest.mark.parametrize(("body", "media_type", "code", "message"), REFUSED)
def test_refused(body: bytes, media_type: str, code: int, message: str) -> None:
    with pytest.raises(StatusError) as caught:
        read_patched(patched(OLD, body, media_type, CONFIG_MAPS), CONFIG_MAPS, CONTEXT)
    assert (caught.value.code, str(caught.value)) == (code, message)


UNCHECKED = [
    (b"{", MERGE_PATCH, 400, "Invalid JSON Patch"),
    (b"5", MERGE_PATCH, 400, "Invalid JSON Patch"),
    (b"{", JSON_PATCH, 400, "unexpected end of JSON input"),
    (
        b"{}",
        JSON_PATCH,
        400,
        "json: cannot unmarshal object into Go value of type jsonpatch.Patch",
    ),
    (
        b"[5]",
        JSON_PATCH,
        400,
        "json: cannot unmarshal number into Go value of type jsonpatch.Operation",
    ),
    (
        b'[{"op":5,"path":"/a"}]',
        JSON_PATCH,
        422,
        "the server rejected our request due to an error in our request",
    ),
]


@pytest.mark.parametrize(("body", "media_type", "code", "message"), UNCHECKED)
def test_without_field_validation_the_library_speaks(
    body: bytes, media_type: str, code: int, message: str
) -> None:
    with pytest.raises(StatusError) as caught:
        patched(OLD, body, media_type, CONFIG_MAPS, "Ignore")
    assert (caught.value.code, str(caught.value)) == (code, message)


ROUTED = "415: Unsupported Media Type"
HANDLED = (
    "the body of the request was in an unknown format - accepted media types include: "
    "application/json-patch+json, application/merge-patch+json, "
    "application/strategic-merge-patch+json, application/apply-patch+yaml"
)


@pytest.mark.parametrize(
    ("content_type", "message"),
    [
        ("", ROUTED),
        ("text/plain", ROUTED),
        ("Application/Merge-Patch+JSON", ROUTED),
        ("application/merge-patch+json, application/json", HANDLED),
        ("application/merge-patch+json ; charset=utf-8", HANDLED),
    ],
)
def test_types_of_patches_are_taken_to_the_letter(content_type: str, message: str) -> None:
    with pytest.raises(StatusError) as caught:
        patch_type(content_type, CONFIG_MAPS)
    assert (caught.value.code, str(caught.value)) == (415, message)


def test_parameters_of_a_type_do_not_matter() -> None:
    assert patch_type("application/merge-patch+json;charset=utf-8", CONFIG_MAPS) == MERGE_PATCH


def test_a_lost_kind_is_that_of_the_endpoint() -> None:
    found = result({"kind": None, "data": {"k": "w"}}, MERGE_PATCH)
    assert read_patched(found, CONFIG_MAPS, CONTEXT).draft.form()["data"] == {"k": "w"}


def test_members_of_operations_that_come_twice() -> None:
    body = b'[{"op":"add","op":"test","path":"/data/k","value":"v","zip":1}]'
    found = patched(OLD, body, JSON_PATCH, CONFIG_MAPS)
    assert found.complaints == (
        'json patch unknown field "[0].zip"',
        'json patch duplicate field "[0].op"',
    )


BAD_RESULTS = [
    (
        {"data": {"k": 5}},
        MERGE_PATCH,
        r'"{\"apiVersion\":\"v1\",\"data\":{\"k\":5},\"kind\":\"ConfigMap\",\"metadata\":'
        r'{\"name\":\"a\"}}": json: cannot unmarshal number into Go struct field ConfigMap.data '
        "of type string",
    ),
    ({"data": {"k": 5}}, STRATEGIC_PATCH, '"map[data:map[k:5]]": cannot convert int64 to string'),
    ({"data": "x"}, STRATEGIC_PATCH, '"map[data:x]": cannot restore map from string'),
    ({"metadata": []}, STRATEGIC_PATCH, '"map[metadata:[]]": cannot restore struct from: slice'),
    (
        {"metadata": {"finalizers": "x"}},
        STRATEGIC_PATCH,
        '"map[metadata:map[finalizers:x]]": cannot restore slice from string',
    ),
    (
        {"kind": "Secret"},
        STRATEGIC_PATCH,
        '"map[kind:Secret]": converting (v1.Secret) to (core.ConfigMap): unknown conversion',
    ),
    (
        {"kind": "Gone"},
        STRATEGIC_PATCH,
        '"map[kind:Gone]": no kind "Gone" is registered for version "v1" in scheme '
        '"k8s.io/kubernetes/pkg/api/legacyscheme/scheme.go:30"',
    ),
]


@pytest.mark.parametrize(("patch", "media_type", "why"), BAD_RESULTS)
def test_results_that_do_not_fit(patch: Any, media_type: str, why: str) -> None:
    with pytest.raises(StatusError) as caught:
        read_patched(result(patch, media_type), CONFIG_MAPS, CONTEXT)
    assert caught.value.code == 422
    assert str(caught.value) == f' "" is invalid: patch: Invalid value: {why}'


def test_field_validation() -> None:
    found = result({"zip": 1, "data": {"k": "w"}}, MERGE_PATCH)
    assert read_patched(found, CONFIG_MAPS, CONTEXT).warnings == ('unknown field "zip"',)
    assert read_patched(found, CONFIG_MAPS, CONTEXT, "Ignore").warnings == ()
    with pytest.raises(StatusError, match='strict decoding error: unknown field "zip"'):
        read_patched(found, CONFIG_MAPS, CONTEXT, "Strict")
    found = result([{"op": "test", "path": "/data/k", "value": "v", "zip": 1}], JSON_PATCH)
    noticed = ('json patch unknown field "[0].zip"',)
    assert read_patched(found, CONFIG_MAPS, CONTEXT).warnings == noticed
    with pytest.raises(StatusError, match="json patch unknown field"):
        read_patched(found, CONFIG_MAPS, CONTEXT, "Strict")


def test_a_removed_default_comes_back() -> None:
    old = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "a"},
        "spec": {"containers": [], "restartPolicy": "Always"},
    }
    found = patched(old, b'{"spec":{"restartPolicy":null}}', MERGE_PATCH, PODS)
    made = read_patched(found, PODS, CONTEXT).draft.made
    assert made["spec"]["restartPolicy"] == "Always"
