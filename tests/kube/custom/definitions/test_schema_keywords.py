"""Keywords that a schema may have, and which go together."""

from __future__ import annotations

from typing import Any

import pytest

from celadon.kube.custom.definitions.schema_keywords import is_readable, keyword_errors
from celadon.kube.fieldpath import FieldPath

Json = dict[str, Any]
LIST, KEYS, MAP = "x-kubernetes-list-type", "x-kubernetes-list-map-keys", "x-kubernetes-map-type"
TEXT: Json = {"type": "string"}
ITEM: Json = {"type": "object", "properties": {"k": TEXT}, "required": ["k"]}
KEYED: Json = {"type": "array", LIST: "map", KEYS: ["k"], "items": ITEM}


def texts(given: Json) -> list[str]:
    return [str(one) for one in keyword_errors(given, FieldPath("s"))]


@pytest.mark.parametrize(
    "given",
    [
        KEYED,
        {"type": "array", LIST: "set", "items": TEXT},
        {"type": "array", LIST: "set", "items": {"type": "object", MAP: "atomic"}},
        {"type": "object", MAP: "granular", "additionalProperties": TEXT},
        {"type": "object", "properties": {"a": TEXT}, "additionalProperties": True},
        KEYED | {"items": ITEM | {"required": [], "properties": {"k": TEXT | {"default": "x"}}}},
    ],
)
def test_fine(given: Json) -> None:
    assert texts(given) == []
    assert is_readable(given)


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
    (
        {"type": "null"},
        "type: Forbidden: type cannot be set to null, use nullable as an alternative",
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
        {"type": "array", LIST: "set", "items": {"type": "object"}},
        f"items.{MAP}: Invalid value: null: must be atomic as item of a list with {LIST}=set",
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
    assert not is_readable(given)
