"""Whole documents against those that a real server publishes, and those of custom resources."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from celadon.apiserver.discovery.health_and_version import CONFIGURATION, KEYS, ServerVersion
from celadon.apiserver.discovery.openapi_answers import OpenApi
from celadon.apiserver.discovery.openapi_documents import Document
from celadon.kube.releases import answering_as
from tests.apiserver.discovery.catalogues import definition, published, without_texts
from tests.paths import shared

RELEASES = (
    "1.30",
    *(
        pytest.param(release, marks=pytest.mark.thorough)
        for release in ("1.31", "1.32", "1.33", "1.34", "1.35")
    ),
    "1.36",
)
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


def recorded(release: str) -> Path:
    """The folder of the documents that a real server of the release publishes."""
    if release == "1.36":
        return shared("openapi", "v3")
    return shared("releases", release, "openapi", "v3")


@pytest.mark.parametrize("release", RELEASES)
def test_as_a_real_server(release: str) -> None:
    """But for texts, and for documents of versions that only a feature gate brings."""
    with answering_as(release):
        version = ServerVersion(release, patch=14).of_documents
        openapi = OpenApi(published(all_versions=True), {}, version, (CONFIGURATION, KEYS))
        known = set(openapi.hashes)
        for file in sorted(recorded(release).glob("*.json")):
            path = file.stem.replace("__", "/")
            if path == "index":
                continue
            got = without_texts(json.loads(openapi.document(path)))
            assert got == without_texts(json.loads(file.read_text())), path
            known.remove(path)
        gated = (
            *("apis/certificates.k8s.io/", "apis/storagemigration.k8s.io"),
            "apis/scheduling.k8s.io/v1alpha",
        )
        others = {path for path in known if not path.startswith(gated)}
        # of 1.36 only documents of group versions were recorded
        assert release == "1.36" or not others


@pytest.mark.parametrize("release", RELEASES)
def test_all_documents_can_be_made(release: str) -> None:
    with answering_as(release):
        openapi = OpenApi(published(all_versions=True), {}, f"v{release}.0", (CONFIGURATION, KEYS))
        assert {"api", "apis", "apis/apps", "version", "openid/v1/jwks"} <= openapi.hashes.keys()
        assert ("logs" in openapi.hashes) == (release == "1.30")
        for path in openapi.hashes:
            assert json.loads(openapi.document(path))["paths"]


def test_documents_of_groups_that_only_definitions_have() -> None:
    openapi = OpenApi(published(WIDGETS), {"widgets.example.io": WIDGETS}, "1.36")
    assert "apis/example.io/v1" in openapi.hashes
    assert "apis/example.io" not in openapi.hashes


def custom_document() -> dict[str, Any]:
    group = published(WIDGETS).group("example.io")
    assert group is not None
    return Document(group.versions[0], {"widgets.example.io": WIDGETS}, "1.36").content()


def test_types_of_custom_resources() -> None:
    schemas = custom_document()["components"]["schemas"]
    widget = schemas["io.example.v1.Widget"]
    assert widget["required"] == ["spec"]
    assert list(widget["properties"]) == ["apiVersion", "kind", "metadata", "spec"]
    assert widget["properties"]["apiVersion"]["description"].startswith("APIVersion defines the")
    assert widget["x-kubernetes-group-version-kind"] == [
        {"group": "example.io", "kind": "Widget", "version": "v1"}
    ]
    items = schemas["io.example.v1.WidgetList"]["properties"]["items"]
    assert items["items"] == {"$ref": "#/components/schemas/io.example.v1.Widget"}
    assert items["description"].startswith("List of widgets. More info: https://")
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


def test_members_of_embedded_resources_have_texts_of_their_own() -> None:
    embedded = {"type": "object", "x-kubernetes-embedded-resource": True}
    schema = {"openAPIV3Schema": {"type": "object", "properties": {"e": embedded}}}
    given = definition("example.io", "widgets", "v1", schema=schema)
    group = published(given).group("example.io")
    assert group is not None
    made = Document(group.versions[0], {"widgets.example.io": given}, "1.36").content()
    members = made["components"]["schemas"]["io.example.v1.Widget"]["properties"]["e"]["properties"]
    assert members["kind"]["description"].startswith("kind is a string value representing the type")
    assert members["metadata"]["description"].startswith("Standard object's metadata.")


def test_schemas_stand_as_go_writes_them() -> None:
    spec = {
        "x-kubernetes-map-type": "atomic",
        "properties": {"b": {"default": {"d": 1.0, "c": [2.5]}, "type": "object"}, "a": {}},
        "type": "object",
        "description": "what it is",
    }
    schema = {"openAPIV3Schema": {"properties": {"spec": spec}, "type": "object"}}
    given = definition("example.io", "widgets", "v1", schema=schema)
    openapi = OpenApi(published(given), {"widgets.example.io": given}, "1.36")
    written = (
        b'"spec":{"description":"what it is","type":"object","properties":{"a":{},"b":{"type":'
        b'"object","default":{"c":[2.5],"d":1}}},"x-kubernetes-map-type":"atomic"}'
    )
    assert written in openapi.document("apis/example.io/v1")


def test_what_documents_of_custom_resources_say_of_themselves() -> None:
    made = custom_document()
    assert made["info"] == {"title": "Kubernetes CRD Swagger", "version": "v0.1.0"}
    assert "securitySchemes" not in made["components"]


def test_operations_of_custom_resources() -> None:
    made = custom_document()["paths"]
    plural = made["/apis/example.io/v1/namespaces/{namespace}/widgets"]
    assert list(plural["post"]["requestBody"]["content"]) == [
        "application/json",
        "application/yaml",
    ]
    assert "requestBody" not in plural["delete"]
    assert "limit" in {one["name"] for one in plural["parameters"] + plural["delete"]["parameters"]}
    named = made["/apis/example.io/v1/namespaces/{namespace}/widgets/{name}"]
    assert "resourceVersion" in {one["name"] for one in named["get"]["parameters"]}
    scale = made["/apis/example.io/v1/namespaces/{namespace}/widgets/{name}/scale"]
    assert scale["put"]["x-kubernetes-group-version-kind"]["kind"] == "Widget"
    assert scale["put"]["requestBody"]["content"]["application/json"]["schema"]["$ref"].endswith(
        "io.k8s.api.autoscaling.v1.Scale"
    )


def test_a_definition_without_a_schema_says_nothing_of_fields() -> None:
    """Else clients would refuse all that is no metadata."""
    given = definition("example.io", "widgets", "v1")
    group = published(given).group("example.io")
    assert group is not None
    made = Document(group.versions[0], {"widgets.example.io": given}, "1.36").content()
    widget = made["components"]["schemas"]["io.example.v1.Widget"]
    assert widget.keys() == {"type", "x-kubernetes-group-version-kind"}
