"""Schemas that are structural, and others."""

from __future__ import annotations

from typing import Any

import pytest

from celadon.kube.crd.structural_schemas import structural_errors
from celadon.kube.fieldpath import FieldPath
from celadon.kube.releases import answering_as

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
        # one may say both, and the two types in any case; what branches further down name is not
        # looked for.
        EITHER | {"type": "string"},
        {"type": "string", "anyOf": EITHER["anyOf"]},
        {"type": "object", "oneOf": [{"properties": {"z": {"minLength": 1}}}]},
    ],
)
def test_structural(node: Json) -> None:
    assert of(node) == []


ROWS: list[tuple[Json, list[str]]] = [
    ({"type": "array"}, ["items: Required value: must be specified"]),
    ({}, ["type: Required value: must not be empty for specified object fields"]),
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
        {"type": "object", "not": {"properties": {"metadata": {"required": ["name"]}}}},
        ["not.properties[metadata]: Forbidden: must not be specified in a nested context"],
    ),
    *(
        (
            TEXT | {branch: [{"x-kubernetes-validations": [{"rule": "true"}]}]},
            [
                f"{branch}[0].x-kubernetes-validations: Forbidden: must be empty to be structural",
            ],
        )
        for branch in ("allOf", "anyOf", "oneOf")
    ),
    (
        TEXT | {"not": {"items": {"x-kubernetes-validations": [{"rule": "true"}]}}},
        ["not.items.x-kubernetes-validations: Forbidden: must be empty to be structural"],
    ),
    (
        {"type": "object", "allOf": [{"additionalProperties": {}, "default": ""}]},
        [
            "allOf[0].additionalProperties: Forbidden: must be undefined to be structural",
            "allOf[0].default: Forbidden: must be undefined to be structural",
        ],
    ),
    (
        TEXT | {"allOf": [{"anyOf": EITHER["anyOf"], "title": "x"}]},
        ["allOf[0].title: Forbidden: must be empty to be structural"],
    ),
    (
        {"type": "object", "x-kubernetes-embedded-resource": True},
        [
            "properties: Required value: must not be empty if x-kubernetes-embedded-resource is "
            "true without x-kubernetes-preserve-unknown-fields"
        ],
    ),
]


def test_branches_of_1_30_do_not_say_that_there_are_no_more_properties() -> None:
    node = {"type": "object", "not": {"additionalProperties": False}}
    assert of(node) == []
    with answering_as("1.30"):
        error = "not.additionalProperties: Forbidden: must be undefined to be structural"
        assert of(node) == [f"s.properties[a].{error}"]


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
            {"type": "object", "properties": {"metadata": {"type": "object", "title": "x"}}},
            "properties[metadata]: Forbidden: must not specify anything other than name and "
            "generateName, but metadata is implicitly specified",
        ),
        (
            {"type": "object", "oneOf": [{"properties": {"z": {"minLength": 1}}}]},
            "properties[z]: Required value: because it is defined in s.oneOf[0].properties[z]",
        ),
        (
            {"type": "object", "allOf": [{"not": {"items": {"pattern": "x"}}}]},
            "items: Required value: because it is defined in s.allOf[0].not.items",
        ),
        (
            {"type": "object", "properties": {"kind": {"type": "object"}}},
            'properties[kind].type: Invalid value: "object": must be string',
        ),
    ],
)
def test_roots(root: Json, error: str) -> None:
    assert [str(one) for one in structural_errors(root, FieldPath("s"))] == [f"s.{error}"]


@pytest.mark.parametrize(
    ("keyword", "value", "is_said"),
    [
        ("additionalProperties", False, True),
        ("additionalProperties", {"type": "string"}, True),
        ("not", {}, True),
        ("required", [], True),
        ("x-kubernetes-list-map-keys", [], True),
        ("x-kubernetes-list-type", "", True),
        ("maxProperties", 0, True),
        ("minimum", 0, True),
        ("example", "", True),
        ("externalDocs", {}, True),
        ("items", [], False),
        ("enum", [], False),
        ("allOf", [], False),
        ("exclusiveMinimum", False, False),
        ("title", "", False),
        ("definitions", {}, False),
        ("default", {}, False),
        ("example", None, False),
    ],
)
def test_what_the_metadata_of_a_root_may_not_say(keyword: str, value: Json, is_said: bool) -> None:
    root = {"type": "object", "properties": {"metadata": {"type": "object", keyword: value}}}
    errors = [str(one) for one in structural_errors(root, FieldPath("s"))]
    assert bool(errors) is is_said
    if keyword in ("example", "externalDocs"):
        with answering_as("1.35"):
            assert structural_errors(root, FieldPath("s")) == []
