"""Whole documents against those that a real server publishes, and those of custom resources."""

from __future__ import annotations

import json
from typing import Any

import pytest

from celadon.apiserver.discovery.discovery_documents import PublishedVersion
from celadon.apiserver.discovery.openapi import paths
from celadon.apiserver.discovery.swagger import Document
from celadon.kube import GroupVersionKind
from celadon.kube.schemas import component_name
from tests.apiserver.discovery.catalogues import definition, published
from tests.paths import shared

VERSIONS = published(all_versions=True).versions
SCHEMA = {
    "type": "object",
    "properties": {"spec": {"type": "object", "properties": {"size": {"type": "integer"}}}},
    "required": ["spec"],
}
WIDGETS = definition(
    "example.io",
    "widgets",
    "v1",
    schema={"openAPIV3Schema": SCHEMA},
    subresources={"status": {}, "scale": {}},
)


def type_name(kind: GroupVersionKind) -> str:
    found = component_name(kind)
    assert found is not None
    return found


@pytest.mark.parametrize("version", VERSIONS, ids=[one.path for one in VERSIONS])
def test_as_a_real_server(version: PublishedVersion) -> None:
    file = shared("openapi", "v3", f"{version.path.replace('/', '__')}.json")
    want = json.loads(file.read_text())
    assert paths(version, type_name) == want["paths"]
    got = Document(version, {}, "1.36").content()
    assert got["info"] == want["info"]
    kinds = "x-kubernetes-group-version-kind"
    assert {name: one.get(kinds) for name, one in got["components"]["schemas"].items()} == {
        name: one.get(kinds) for name, one in want["components"]["schemas"].items()
    }


def custom_document() -> dict[str, Any]:
    group = published(WIDGETS).group("example.io")
    assert group is not None
    return Document(group.versions[0], {"widgets.example.io": WIDGETS}, "v1.36.0").content()


def test_types_of_custom_resources() -> None:
    schemas = custom_document()["components"]["schemas"]
    widget = schemas["io.example.v1.Widget"]
    assert widget["required"] == ["spec"]
    assert list(widget["properties"]) == ["spec", "apiVersion", "kind", "metadata"]
    assert widget["x-kubernetes-group-version-kind"] == [
        {"group": "example.io", "kind": "Widget", "version": "v1"}
    ]
    items = schemas["io.example.v1.WidgetList"]["properties"]["items"]
    assert items["items"] == {"$ref": "#/components/schemas/io.example.v1.Widget"}
    assert "io.k8s.apimachinery.pkg.apis.meta.v1.ManagedFieldsEntry" in schemas


def test_paths_of_custom_resources() -> None:
    made = custom_document()["paths"]
    named = "/apis/example.io/v1/namespaces/{namespace}/widgets/{name}"
    assert sorted(made) == [
        "/apis/example.io/v1/namespaces/{namespace}/widgets",
        named,
        f"{named}/scale",
        f"{named}/status",
        "/apis/example.io/v1/widgets",
    ]
    patch = made[named]["patch"]
    assert "fieldValidation" in {one["name"] for one in patch["parameters"]}
    assert patch["x-kubernetes-group-version-kind"]["kind"] == "Widget"
    assert "application/strategic-merge-patch+json" not in patch["requestBody"]["content"]
    assert sorted(patch["responses"]["200"]["content"]) == ["application/json", "application/yaml"]


def test_a_definition_without_a_schema_is_open() -> None:
    given = definition("example.io", "widgets", "v1")
    group = published(given).group("example.io")
    assert group is not None
    made = Document(group.versions[0], {"widgets.example.io": given}, "v1.36.0").content()
    widget = made["components"]["schemas"]["io.example.v1.Widget"]
    assert widget["x-kubernetes-preserve-unknown-fields"] is True
