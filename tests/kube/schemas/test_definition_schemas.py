"""Schemas of CustomResourceDefinitions."""

from __future__ import annotations

from typing import Any

from celadon.kube.names import GroupVersionKind
from celadon.kube.schemas.definition_schemas import (
    custom_schemas,
    decode_schema,
    definition_schemas,
    published_schema,
)
from celadon.kube.schemas.schema_packs import OBJECT_META, OPEN

GIZMO = GroupVersionKind("example.com", "v1", "Gizmo")


def definition(schema: dict[str, Any] | None = None) -> dict[str, Any]:
    """A CRD with one served and one unserved version."""
    served = {"name": "v1", "served": True, "storage": True}
    if schema is not None:
        served["schema"] = {"openAPIV3Schema": schema}
    return {
        "spec": {
            "group": "example.com",
            "names": {"plural": "gizmos", "kind": "Gizmo"},
            "versions": [served, {"name": "v0", "served": False}],
        }
    }


def test_served_versions_get_the_fields_of_a_resource() -> None:
    found = custom_schemas(definition({"type": "object", "properties": {"x": {"type": "string"}}}))
    assert set(found) == {GIZMO}
    properties = found[GIZMO].properties
    assert set(properties) == {"apiVersion", "kind", "metadata", "x"}
    assert properties["metadata"].ref == OBJECT_META


def test_without_a_schema() -> None:
    properties = custom_schemas(definition())[GIZMO].properties
    assert set(properties) == {"apiVersion", "kind", "metadata"}


def test_nodes() -> None:
    assert decode_schema({"x-kubernetes-int-or-string": True}).int_or_string
    assert decode_schema({"type": "object", "additionalProperties": True}).open_values
    items = decode_schema({"type": "array", "items": {"type": "integer"}, "nullable": True})
    assert items.items is not None
    assert (items.items.type, items.nullable) == ("integer", True)
    values = decode_schema({"type": "object", "additionalProperties": {"type": "string"}})
    assert values.additional_properties is not None
    assert values.additional_properties.type == "string"
    embedded = decode_schema({"type": "object", "x-kubernetes-embedded-resource": True})
    assert (embedded.embedded_resource, embedded.properties) == (True, {})


def test_what_is_published_has_the_fields_of_embedded_resources() -> None:
    embedded = {"type": "object", "x-kubernetes-embedded-resource": True}
    given = decode_schema(
        {
            "type": "object",
            "properties": {
                "one": embedded,
                "many": {"type": "array", "items": embedded},
                "named": {"type": "object", "additionalProperties": embedded},
                "text": {"type": "string"},
            },
        }
    )
    known = published_schema(given, GIZMO).properties
    many, named = known["many"].items, known["named"].additional_properties
    assert many is not None
    assert named is not None
    for one in (known["one"], many, named):
        assert set(one.properties) == {"apiVersion", "kind", "metadata"}
    assert known["text"] is given.properties["text"]


def test_lists_maps_and_limits() -> None:
    found = decode_schema(
        {
            "type": "array",
            "maxItems": 3,
            "enum": [[], [1]],
            "x-kubernetes-list-type": "map",
            "x-kubernetes-list-map-keys": ["a", "b"],
            "items": {"type": "object", "x-kubernetes-map-type": "atomic"},
        }
    )
    assert (found.list_type, found.list_map_keys) == ("map", ("a", "b"))
    assert (found.limits.max_items, found.enum) == (3, ([], [1]))
    assert found.items is not None
    assert found.items.map_type == "atomic"


def test_versions_without_a_schema_are_open() -> None:
    found = definition_schemas(definition())
    assert {gvk.version for gvk in found} == {"v1", "v0"}
    assert list(found.values()) == [OPEN, OPEN]
