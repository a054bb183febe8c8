"""Schemas of CustomResourceDefinitions."""

from __future__ import annotations

from typing import Any

from celadon.kube.names import GroupVersionKind
from celadon.kube.schemas.schema_model import OBJECT_META
from celadon.kube.schemas.structural_schema import custom_schemas, structural

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
    assert properties is not None
    assert set(properties) == {"apiVersion", "kind", "metadata", "x"}
    assert properties["metadata"].ref == OBJECT_META


def test_without_a_schema() -> None:
    properties = custom_schemas(definition())[GIZMO].properties
    assert properties is not None
    assert set(properties) == {"apiVersion", "kind", "metadata"}


def test_nodes() -> None:
    assert structural({"x-kubernetes-int-or-string": True}).is_int_or_string
    assert structural({"type": "object", "additionalProperties": True}).preserve_unknown
    items = structural({"type": "array", "items": {"type": "integer"}, "nullable": True})
    assert items.items is not None
    assert (items.items.type, items.nullable) == ("integer", True)
    values = structural({"type": "object", "additionalProperties": {"type": "string"}})
    assert values.additional_properties is not None
    assert values.additional_properties.type == "string"
    embedded = structural({"type": "object", "x-kubernetes-embedded-resource": True})
    assert embedded.properties is not None
    assert set(embedded.properties) == {"apiVersion", "kind", "metadata"}
