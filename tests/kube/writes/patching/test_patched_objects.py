"""Patches of the three plain types: what they make, and how they are refused."""

from __future__ import annotations

import json
from typing import Any

import pytest

from celadon.kube.defaulting.defaulting_context import DefaultingContext
from celadon.kube.status import StatusError
from celadon.kube.writes.patching.patched_objects import (
    JSON_PATCH,
    MERGE_PATCH,
    STRATEGIC_PATCH,
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
    (b"{}", "text/plain", 415, "415: Unsupported Media Type"),
]


@pytest.mark.parametrize(("body", "media_type", "code", "message"), REFUSED)
def test_refused(body: bytes, media_type: str, code: int, message: str) -> None:
    with pytest.raises(StatusError) as caught:
        patched(OLD, body, media_type, CONFIG_MAPS)
    assert (caught.value.code, str(caught.value)) == (code, message)


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
        '"pkg/api/legacyscheme/scheme.go:30"',
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
