"""Keywords that a schema may have, and which go together."""

from __future__ import annotations

from typing import Any

import pytest

from celadon.kube.crd.definition_parts import Demands
from celadon.kube.crd.definition_rules import schema_findings
from celadon.kube.crd.structural_schemas import GivenSchema, unreadable
from celadon.kube.fieldpath import FieldPath
from celadon.kube.releases import answering_as
from celadon.kube.schemas.definition_schemas import decode_schema

Json = dict[str, Any]
LIST, KEYS, MAP = "x-kubernetes-list-type", "x-kubernetes-list-map-keys", "x-kubernetes-map-type"
TEXT: Json = {"type": "string"}
ITEM: Json = {"type": "object", "properties": {"k": TEXT}, "required": ["k"]}
KEYED: Json = {"type": "array", LIST: "map", KEYS: ["k"], "items": ITEM}


def texts(given: Json) -> list[str]:
    one = GivenSchema(FieldPath("s"), decode_schema(given), given)
    found = schema_findings(one, Demands())
    return [str(error) for error in (*found.keywords, *found.rules)]


@pytest.mark.parametrize(
    "given",
    [
        KEYED,
        {"type": "array", LIST: "set", "items": TEXT},
        {"type": "array", LIST: "set", "items": {"type": "object", MAP: "atomic"}},
        {"type": "array", LIST: "set", "items": {"type": "array", "items": TEXT}},
        {"type": "array", LIST: "set", "items": {"type": "array", LIST: "atomic", "items": TEXT}},
        {"type": "object", MAP: "granular", "additionalProperties": TEXT},
        {"type": "object", "properties": {"a": TEXT}, "additionalProperties": True},
        KEYED | {"items": ITEM | {"required": [], "properties": {"k": TEXT | {"default": "x"}}}},
    ],
)
def test_fine(given: Json) -> None:
    assert texts(given) == []
    assert unreadable(given) is None


ROWS: list[tuple[Json, str]] = [
    (
        {"type": "object", "properties": {"a": TEXT}, "additionalProperties": TEXT},
        "additionalProperties: Forbidden: additionalProperties and properties are mutual exclusive",
    ),
    (
        {"type": "object", "properties": {"a": {"type": "foo"}}},
        'properties[a].type: Unsupported value: "foo": supported values: "array", "boolean", '
        '"integer", "number", "object", "string"',
    ),
    (TEXT | {LIST: "set"}, f'type: Invalid value: "string": must be array if {LIST} is specified'),
    ({MAP: "atomic"}, f"type: Required value: must be object if {MAP} is specified"),
    (
        {"type": "array", LIST: "x", "items": TEXT},
        f'{LIST}: Unsupported value: "x": supported values: "atomic", "set", "map"',
    ),
    (
        {"type": "array", KEYS: ["k"], "items": ITEM},
        f"{LIST}: Required value: must be map if {KEYS} is non-empty",
    ),
    (KEYED | {KEYS: []}, f"{KEYS}: Required value: must not be empty if {LIST} is map"),
    (
        KEYED | {KEYS: ["z"]},
        f'{KEYS}: Invalid value: ["z"]: entries must all be names of item properties',
    ),
    (
        KEYED | {KEYS: ["k", "k"]},
        f'{KEYS}: Invalid value: ["k","k"]: must not contain duplicate entries',
    ),
    (
        KEYED | {"items": TEXT},
        f'items.type: Invalid value: "string": must be object if parent array\'s {LIST} is map',
    ),
    (
        KEYED | {"items": ITEM | {"required": []}},
        f"items.properties[k].default: Required value: this property is in {KEYS}, so it must have "
        "a default or be a required property",
    ),
    (
        KEYED | {"items": ITEM | {"nullable": True}},
        f"items.nullable: Forbidden: cannot be nullable when {LIST} is map",
    ),
    (
        {"type": "array", LIST: "map", KEYS: ["k"]},
        f"items: Required value: must have a schema if {LIST} is map",
    ),
    *(
        (
            KEYED | {"items": ITEM | {"properties": {"k": {"type": type_, "items": TEXT}}}},
            # upstream shows the type of the item
            'items.properties[k].type: Invalid value: "object": must be a scalar type if parent '
            f"array's {LIST} is map",
        )
        for type_ in ("array", "object")
    ),
    (
        KEYED | {"items": ITEM | {"properties": {"k": TEXT | {"nullable": True}}}},
        f"items.properties[k].nullable: Forbidden: this property is in {KEYS}, so it cannot be "
        "nullable",
    ),
    (
        {"type": "array", LIST: "set", "items": {"type": "object"}},
        f"items.{MAP}: Invalid value: null: must be atomic as item of a list with {LIST}=set",
    ),
    (
        {"type": "array", LIST: "set", "items": {"type": "array", LIST: "set", "items": TEXT}},
        f'items.{LIST}: Invalid value: "set": must be atomic as item of a list with {LIST}=set',
    ),
    (
        {"type": "object", "x-kubernetes-preserve-unknown-fields": False},
        "x-kubernetes-preserve-unknown-fields: Invalid value: false: must be true or undefined",
    ),
]


@pytest.mark.parametrize(("given", "error"), ROWS)
def test_what_is_wrong(given: Json, error: str) -> None:
    assert texts(given) == [f"s.{error}"]


@pytest.mark.parametrize(
    ("name", "value", "error"),
    [
        ("$ref", "#/x", "$ref is not supported"),
        ("definitions", {"x": TEXT}, "definitions is not supported"),
        ("items", [TEXT], "items must be a schema object and not an array"),
        (
            "uniqueItems",
            True,
            "uniqueItems cannot be set to true since the runtime complexity becomes quadratic",
        ),
    ],
)
def test_what_no_structural_schema_has(name: str, value: Any, error: str) -> None:
    given = {"type": "object", "properties": {"a": {"type": "array", name: value}}}
    assert texts(given) == [f"s.properties[a].{name}: Forbidden: {error}"]


def test_keyed_items_are_one_schema() -> None:
    arrays, several = texts(KEYED | {"items": [TEXT]})
    assert arrays == "s.items: Forbidden: items must be a schema object and not an array"
    assert several.startswith('s.items: Invalid value: {"Schema":null,"JSONSchemas":[{"ID":"",')
    assert several.endswith(f"}}]}}: must only have a single schema if {LIST} is map")
    with answering_as("1.33"):
        _, several = texts(KEYED | {"items": [TEXT]})
    assert several.startswith(
        "s.items: Invalid value: apiextensions.JSONSchemaPropsOrArray{"
        "Schema:(*apiextensions.JSONSchemaProps)(nil), JSONSchemas:[]apiextensions.JSONSchemaProps{"
        'apiextensions.JSONSchemaProps{ID:"", Schema:"", Ref:(*string)(nil), Description:"", '
    )
    assert "XMapType:(*string)(nil), XValidations:apiextensions.ValidationRules(nil)}}}" in several


def test_null_is_no_type() -> None:
    choices = '"array", "boolean", "integer", "number", "object", "string"'
    assert texts({"type": "null"}) == [
        f's.type: Unsupported value: "null": supported values: {choices}',
        "s.type: Forbidden: type cannot be set to null, use nullable as an alternative",
    ]


@pytest.mark.parametrize(
    ("given", "why"),
    [
        ({"$ref": "#/x"}, "OpenAPIV3Schema '$ref' is not supported"),
        ({"$schema": "x"}, "OpenAPIV3Schema 'schema' is not supported"),
        ({"definitions": {"x": TEXT}}, "OpenAPIV3Schema 'definitions' is not supported"),
        ({"dependencies": {"x": []}}, "OpenAPIV3Schema 'dependencies' is not supported"),
        (
            {"patternProperties": {"x": TEXT}},
            "OpenAPIV3Schema 'patternProperties' is not supported",
        ),
        ({"additionalItems": False}, "OpenAPIV3Schema 'additionalItems' is not supported"),
        ({"items": [TEXT]}, "OpenAPIV3Schema 'items' must be a schema, but is an array"),
        ({"anyOf": [{"id": "x"}], "$ref": ""}, "OpenAPIV3Schema 'id' is not supported"),
        (
            {"x-kubernetes-preserve-unknown-fields": False},
            "internal error: 'x-kubernetes-preserve-unknown-fields' must be true or undefined",
        ),
        ({"uniqueItems": True}, None),
    ],
)
def test_what_cannot_be_read_as_structural(given: Json, why: str | None) -> None:
    assert unreadable(given) == why
    for keyword in ("items", "additionalProperties", "not"):
        assert unreadable({keyword: given}) == why, keyword
    assert unreadable({"properties": {"a": given}}) == why
    for keyword in ("allOf", "anyOf", "oneOf"):
        assert unreadable({keyword: [TEXT, given]}) == why, keyword


@pytest.mark.parametrize(
    ("given", "errors"),
    [
        (
            {"properties": {"metadata": {"default": {}}}},
            ["properties[metadata].default: Forbidden: must not be set in top-level metadata"],
        ),
        (
            {"properties": {"kind": {"default": "x"}, "spec": {"default": {}}}},
            ["properties[kind].default: Forbidden: must not be set in top-level kind"],
        ),
        (
            {
                "properties": {
                    "spec": {
                        "x-kubernetes-embedded-resource": True,
                        "properties": {
                            "metadata": {
                                "x-kubernetes-embedded-resource": True,
                                "additionalProperties": {"default": 1},
                            }
                        },
                    }
                }
            },
            [
                "properties[spec].properties[metadata].x-kubernetes-embedded-resource: Forbidden: "
                "must not be used inside of resource meta",
                "properties[spec].properties[metadata].additionalProperties.default: Forbidden: "
                "must not be set inside additionalProperties applying to object metadata",
            ],
        ),
    ],
)
def test_metadata_has_a_type_of_its_own(given: Json, errors: list[str]) -> None:
    assert texts({"type": "object", **given}) == [f"s.{one}" for one in errors]
