"""Schemas as types, as the API server publishes them and as the data looks."""

from __future__ import annotations

import pytest

from celadon.cel import types
from celadon.kube.json_types import Json
from celadon.kube.names import GroupVersionKind
from celadon.kube.schemas.definition_schemas import (
    MAX_DEPTH,
    SchemaSizes,
    View,
    declared_type,
    decode_schema,
    schema_type,
)
from celadon.kube.schemas.schema_packs import QUANTITY, Schema, schema_for

S = Schema
TEXT = Schema(type="string")

ROWS = [
    ("int-or-string", S(int_or_string=True), "dyn", "dyn"),
    ("string", TEXT, "string", "string"),
    ("byte", S(type="string", format="byte"), "bytes", "string"),
    ("duration", S(type="string", format="duration"), "google.protobuf.Duration", "string"),
    ("date", S(type="string", format="date"), "google.protobuf.Timestamp", "string"),
    ("date-time", S(type="string", format="date-time"), "google.protobuf.Timestamp", "string"),
    ("other format", S(type="string", format="uuid"), "string", "string"),
    ("boolean", S(type="boolean"), "bool", "bool"),
    ("integer", S(type="integer"), "int", "int"),
    ("number", S(type="number"), "double", "dyn"),
    ("quantity", S(name=QUANTITY, type="string", format="quantity"), None, "string"),
    ("a format of that name", S(type="string", format="quantity"), "string", "string"),
    ("no type", S(), None, "dyn"),
    ("list", S(type="array", items=TEXT), "list(string)", "list(string)"),
    ("list of nothing", S(type="array"), None, "list(dyn)"),
    ("list of unknown", S(type="array", items=S()), None, "list(dyn)"),
    ("map", S(type="object", additional_properties=TEXT), "map(string, string)", None),
    ("map of unknown", S(type="object", additional_properties=S()), None, "map(string, dyn)"),
    ("object", S(type="object", properties={}), "Root.f", "Root.f"),
    ("open object", S(type="object", properties={}, preserve_unknown=True), "Root.f", "dyn"),
    ("nullable", S(type="string", nullable=True), "string", "dyn"),
]


def field(schema: Schema, view: View) -> str | None:
    """The type of a field `f` with this schema."""
    root = schema_type(Schema(type="object", properties={"f": schema}), "Root", view)
    fields = next(one.fields for one in root.objects if one.name == "Root")
    return str(fields["f"]) if "f" in fields else None


@pytest.mark.parametrize(
    ("schema", "published", "actual"), [row[1:] for row in ROWS], ids=[row[0] for row in ROWS]
)
def test_fields(schema: Schema, published: str | None, actual: str | None) -> None:
    assert field(schema, View.PUBLISHED) == published
    assert field(schema, View.ACTUAL) == (actual or published)


def test_names() -> None:
    thing = Schema(type="object", properties={"x-y": TEXT, "@": TEXT, "namespace": TEXT})
    root = Schema(
        type="object",
        properties={
            "items": Schema(type="array", items=thing),
            "by-name": Schema(type="object", additional_properties=thing),
        },
    )
    published = {one.name: set(one.fields) for one in schema_type(root, "Gizmo7").objects}
    assert published == {
        "Gizmo7": {"items", "by__dash__name"},
        "Gizmo7.items.@idx": {"x__dash__y", "__namespace__"},
        "Gizmo7.by__dash__name.@elem": {"x__dash__y", "__namespace__"},
    }
    actual = {one.name: set(one.fields) for one in schema_type(root, "G", View.ACTUAL).objects}
    assert actual["G.items.@idx"] == {"x-y", "@", "namespace"}


def test_a_root_without_type_is_dyn() -> None:
    assert schema_type(Schema(), "X").type == types.DYN


def test_a_circular_reference_is_an_object_without_known_fields() -> None:
    crd = schema_for(GroupVersionKind("apiextensions.k8s.io", "v1", "CustomResourceDefinition"))
    assert crd is not None
    published = {one.name: one.fields for one in schema_type(crd, "C").objects}
    schema = "C.spec.versions.@idx.schema.openAPIV3Schema"
    assert published[schema]["not"].name == f"{schema}.not"
    assert not published[f"{schema}.not"]
    actual = {one.name: one.fields for one in schema_type(crd, "C", View.ACTUAL).objects}
    assert actual[schema]["not"] == types.DYN


def test_depth_is_bounded() -> None:
    schema = TEXT
    for _ in range(MAX_DEPTH + 50):
        schema = Schema(type="array", items=schema)
    t = schema_type(schema, "X").type
    depth = 0
    while t.params:
        t, depth = t.params[0], depth + 1
    assert t == types.DYN
    assert depth == MAX_DEPTH + 1


def test_objects_have_a_least_size() -> None:
    schema = decode_schema(
        {
            "type": "object",
            "required": ["name", "size", "port"],
            "properties": {
                "name": {"type": "string"},
                "size": {"type": "integer", "default": 3},
                "port": {"x-kubernetes-int-or-string": True},
                "more": {"type": "boolean"},
            },
        }
    )
    found = declared_type(schema, "T")
    assert found is not None
    # {} and what "name":"", and "port":1, take; size may be left out.
    assert found.min_size == 2 + (4 + 2 + 4) + (4 + 1 + 4)
    assert found.max_cardinality == 3145728 // (found.min_size + 1)


def test_what_no_expression_can_use() -> None:
    for given in (
        {},
        {"type": "array"},
        {"type": "array", "items": {}},
        {"type": "object", "additionalProperties": {}},
    ):
        assert declared_type(decode_schema(given), "T") is None
    found = declared_type(
        decode_schema({"type": "object", "properties": {"a": {}, "1": {"type": "string"}}}), "T"
    )
    assert found is not None
    assert found.fields == {}


def test_resources_have_names() -> None:
    found = declared_type(decode_schema({"type": "object"}), "T", is_root=True)
    assert found is not None
    assert set(found.fields) == {"apiVersion", "kind", "metadata"}
    assert set(found.fields["metadata"].fields) == {"name", "generateName"}


def test_sizes_by_path() -> None:
    strings = {"type": "array", "items": {"type": "string"}}
    values = {"type": "object", "additionalProperties": strings}
    found = declared_type(decode_schema({"type": "object", "properties": {"a": values}}), "T")
    assert found is not None
    sizes = SchemaSizes(found)
    assert sizes.size(("self", "a", "@values", "@items"), types.STRING) == (0, 3145726)
    assert sizes.size(("self", "a", "@keys"), types.STRING) == (0, 0)
    assert sizes.size(("self", "a", "@values", "@keys"), types.STRING) is None
    assert sizes.size(("self", "b", "c"), types.STRING) is None
    assert sizes.size((), types.STRING) is None


def test_a_word_of_the_language_is_no_known_field() -> None:
    """`self.namespace` type-checks, but sizes are looked up under the escaped name alone."""
    found = declared_type(
        decode_schema({"type": "object", "properties": {"namespace": {"type": "string"}}}), "T"
    )
    assert found is not None
    sizes = SchemaSizes(found)
    assert sizes.size(("self", "namespace"), types.STRING) is None
    assert sizes.size(("self", "__namespace__"), types.STRING) == (0, 3145726)


@pytest.mark.parametrize(
    ("given", "most"),
    [
        ({"type": "string", "maxLength": 5}, 20),
        ({"type": "string", "maxLength": -1}, 0),
        ({"type": "string", "enum": ["a", "\u00e9t\u00e9", 3]}, 5),
        ({"type": "string", "enum": [None]}, 0),
        ({"type": "string", "enum": ["abc"], "maxLength": 1}, 4),
        ({"x-kubernetes-int-or-string": True, "maxLength": -1}, 0),
        ({"type": "array", "items": {"type": "boolean"}, "maxItems": -1}, 0),
        ({"type": "string", "maxLength": 2**62 + 1}, 4),
    ],
)
def test_limits_bound_sizes(given: dict[str, Json], most: int) -> None:
    found = declared_type(decode_schema(given), "T")
    assert found is not None
    assert found.max_elements == most
