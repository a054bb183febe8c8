"""Schemas of built-in types against those that a real server publishes."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from celadon.apiserver.discovery.openapi import built_in_schema
from tests.paths import shared

NOT_KEPT = {
    "x-kubernetes-unions": "says which fields exclude each other; nobody reads it",
    "default": "a zero value that Go does not write: it changes nothing",
    "$ref": "the same mention in `allOf`",
}
"""What a published schema may have that ours has not."""

AS_IT_STANDS = {"x-kubernetes-unions": 6, "default": 13, "$ref": 7}


def published() -> Iterator[tuple[str, Any]]:
    for path in sorted(shared("openapi", "v3").glob("api*.json")):
        yield from json.loads(path.read_text())["components"]["schemas"].items()


def missing(want: Any, got: Any, at: str) -> Iterator[tuple[str, str]]:
    if not isinstance(want, dict) or not isinstance(got, dict):
        if want != got:
            yield at, "value"
        return
    for key in want.keys() | got.keys():
        if key not in got:
            yield f"{at}.{key}", key
        elif key in want:
            yield from missing(want[key], got[key], f"{at}.{key}")
        elif key != "allOf":
            yield f"{at}.{key}", "unexpected"


def test_all_types() -> None:
    counted: dict[str, set[str]] = {}
    kinds = "x-kubernetes-group-version-kind"
    for name, schema in published():
        want = {key: value for key, value in schema.items() if key != kinds}
        for at, what in missing(want, built_in_schema(name), name):
            counted.setdefault(what, set()).add(at)
    assert {what: len(where) for what, where in counted.items()} == AS_IT_STANDS
    assert counted.keys() == NOT_KEPT.keys()


def test_a_type() -> None:
    assert built_in_schema("io.k8s.api.core.v1.ContainerPort") == {
        "type": "object",
        "required": ["containerPort"],
        "properties": {
            "containerPort": {"default": 0, "type": "integer", "format": "int32"},
            "hostIP": {"type": "string"},
            "hostPort": {"type": "integer", "format": "int32"},
            "name": {"type": "string"},
            "protocol": {"default": "TCP", "type": "string", "enum": ["SCTP", "TCP", "UDP"]},
        },
    }
