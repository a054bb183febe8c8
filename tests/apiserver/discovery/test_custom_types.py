"""What of the schema of a custom resource is published."""

from __future__ import annotations

from typing import Any

import pytest

from celadon.apiserver.discovery.openapi_documents import version_2_types, version_3_types
from celadon.kube.releases import answering_as
from tests.apiserver.discovery.catalogues import definition, published

Json = dict[str, Any]
SIZE: Json = {"type": "integer", "example": 3, "externalDocs": {"url": "https://example.com"}}
SPEC: Json = {
    "type": "object",
    "properties": {"example": SIZE, "sizes": {"type": "array", "items": SIZE}},
    "allOf": [{"required": ["example"], "example": {"example": 1}}],
}
SCHEMA: Json = {"type": "object", "properties": {"spec": SPEC}}


def widget(release: str, **version: Any) -> tuple[Json, Json]:
    """The type as versions 2 and 3 of OpenAPI have it."""
    made = definition("a.io", "widgets", "v1", schema={"openAPIV3Schema": SCHEMA}, **version)
    with answering_as(release):
        (resource,) = [one for one in published(made).catalog if one.custom]
        both = [types(resource, made) for types in (version_2_types, version_3_types)]
    second, third = (found["io.a.v1.Widget"] for found in both)
    return dict(second), dict(third)


def test_lists_have_items() -> None:
    made = definition("a.io", "widgets", "v1", schema={"openAPIV3Schema": SCHEMA})
    (resource,) = [one for one in published(made).catalog if one.custom]
    for types in (version_2_types, version_3_types):
        listed = types(resource, made)["io.a.v1.WidgetList"]
        assert listed["required"] == ["items"]
        assert set(listed["properties"]) == {"apiVersion", "items", "kind", "metadata"}
        assert listed["description"] == "WidgetList is a list of Widget"


def test_examples_are_shown() -> None:
    for shown in widget("1.36"):
        properties = shown["properties"]["spec"]["properties"]
        assert properties["example"] == SIZE
        assert properties["sizes"]["items"] == SIZE


def test_examples_were_not_shown_before_1_36() -> None:
    second, third = widget("1.35")
    plain = {"type": "integer"}
    properties = {"example": plain, "sizes": {"type": "array", "items": plain}}
    assert second["properties"]["spec"] == {"type": "object", "properties": properties}
    assert third["properties"]["spec"] == {
        "type": "object",
        "properties": properties,
        "allOf": [{"required": ["example"]}],
    }


@pytest.mark.parametrize(("release", "shown"), [("1.31", None), ("1.32", []), ("1.33", None)])
def test_no_selectable_fields(release: str, shown: list[Json] | None) -> None:
    for found in widget(release):
        assert found.get("x-kubernetes-selectable-fields") == shown


def test_selectable_fields() -> None:
    for found in widget("1.32", selectableFields=[{"jsonPath": ".spec.example"}]):
        assert found["x-kubernetes-selectable-fields"] == [{"fieldPath": "spec.example"}]
