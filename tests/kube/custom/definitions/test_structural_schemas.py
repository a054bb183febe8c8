"""Schemas that are structural, and others."""

from __future__ import annotations

from typing import Any

import pytest

from celadon.kube.custom.definitions.structural_schemas import structural_errors
from celadon.kube.fieldpath import FieldPath

Json = dict[str, Any]
TEXT: Json = {"type": "string"}
EITHER: Json = {
    "x-kubernetes-int-or-string": True,
    "anyOf": [{"type": "integer"}, {"type": "string"}],
}


def of(node: Json) -> list[str]:
    """What is wrong with a root that has this as its field `a`."""
    root = {"type": "object", "properties": {"a": node}}
    return [str(one) for one in structural_errors(root, FieldPath("s"))]


@pytest.mark.parametrize(
    "node",
    [
        TEXT,
        EITHER,
        {
            "x-kubernetes-int-or-string": True,
            "allOf": [{"anyOf": EITHER["anyOf"]}, {"pattern": "x"}],
        },
        {"x-kubernetes-preserve-unknown-fields": True},
        {"type": "object", "properties": {"b": TEXT}, "oneOf": [{"required": ["b"]}]},
        {
            "type": "object",
            "properties": {"b": TEXT},
            "anyOf": [{"properties": {"b": {"maxLength": 1}}}],
        },
        {"type": "array", "items": TEXT, "not": {"items": {"pattern": "x"}}},
        {"type": "object", "additionalProperties": TEXT},
    ],
)
def test_structural(node: Json) -> None:
    assert of(node) == []


ROWS: list[tuple[Json, list[str]]] = [
    ({"type": "array"}, ["items: Required value: must be specified"]),
    ({}, ["type: Required value: must not be empty for specified object fields"]),
    (
        EITHER | {"type": "string"},
        ['type: Invalid value: "string": must be empty if x-kubernetes-int-or-string is true'],
    ),
    (
        {"type": "string", "pattern": "("},
        [
            'pattern: Invalid value: "(": must be a valid regular expression, but isn\'t: error '
            "parsing regexp: missing closing ): `(`"
        ],
    ),
    (
        TEXT | {"anyOf": [{"type": "string", "default": "x", "nullable": True}]},
        [
            "anyOf[0].default: Forbidden: must be undefined to be structural",
            "anyOf[0].nullable: Forbidden: must be false to be structural",
            "anyOf[0].type: Forbidden: must be empty to be structural",
        ],
    ),
    (
        {"type": "object", "oneOf": [{"properties": {"z": {"minLength": 1}}}]},
        [
            "properties[z]: Required value: because it is defined in "
            "s.properties[a].oneOf[0].properties[z]"
        ],
    ),
    (
        {"type": "object", "allOf": [{"not": {"items": {"pattern": "x"}}}]},
        ["items: Required value: because it is defined in s.properties[a].allOf[0].not.items"],
    ),
    (
        {"type": "object", "not": {"properties": {"metadata": {"required": ["name"]}}}},
        [
            "not.properties[metadata]: Forbidden: must not be specified in a nested context",
            "properties[metadata]: Required value: because it is defined in "
            "s.properties[a].not.properties[metadata]",
        ],
    ),
    (
        {"type": "object", "x-kubernetes-embedded-resource": True},
        [
            "properties: Required value: must not be empty if x-kubernetes-embedded-resource is "
            "true without x-kubernetes-preserve-unknown-fields"
        ],
    ),
]


@pytest.mark.parametrize(("node", "errors"), ROWS)
def test_not_structural(node: Json, errors: list[str]) -> None:
    assert of(node) == [f"s.properties[a].{one}" for one in errors]


@pytest.mark.parametrize(
    ("root", "error"),
    [
        (
            {"type": "object", "additionalProperties": TEXT},
            "additionalProperties: Forbidden: must not be used at the root",
        ),
        (
            {
                "type": "object",
                "properties": {"metadata": {"type": "object", "properties": {"labels": TEXT}}},
            },
            "properties[metadata]: Forbidden: must not specify anything other than name and "
            "generateName, but metadata is implicitly specified",
        ),
        (
            {"type": "object", "properties": {"kind": {"type": "object"}}},
            'properties[kind].type: Invalid value: "object": must be string',
        ),
    ],
)
def test_roots(root: Json, error: str) -> None:
    assert [str(one) for one in structural_errors(root, FieldPath("s"))] == [f"s.{error}"]
