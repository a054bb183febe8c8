"""From OpenAPI v3 to v2."""

from __future__ import annotations

import json
from typing import Any

import pytest

from celadon.apiserver.discovery.openapi_answers import OpenApi, Part, swagger, swagger_schema
from celadon.apiserver.discovery.openapi_documents import Document
from tests.apiserver.discovery.catalogues import definition, published

REF = "#/components/schemas/a.B"


@pytest.mark.parametrize(
    ("given", "want"),
    [
        ({"$ref": REF}, {"$ref": "#/definitions/a.B"}),
        ({"default": {}, "allOf": [{"$ref": REF}]}, {"$ref": "#/definitions/a.B"}),
        (
            {"type": "array", "items": {"$ref": REF}},
            {"type": "array", "items": {"$ref": "#/definitions/a.B"}},
        ),
        (
            {"format": "int-or-string", "oneOf": [{"type": "integer"}, {"type": "string"}]},
            {"format": "int-or-string", "type": "string"},
        ),
        (
            {"type": "object", "properties": {"p": {"type": "string", "nullable": True}}},
            {"type": "object", "properties": {"p": {"type": "string"}}},
        ),
    ],
)
def test_schemas(given: dict[str, Any], want: dict[str, Any]) -> None:
    assert swagger_schema(given) == want


def test_operations() -> None:
    versions = [one for one in published().versions if one.group_version.group == "apps"]
    document = swagger((Part(*Document(one, {}, "1.36").version_2()) for one in versions), {})
    patch = document["paths"]["/apis/apps/v1/namespaces/{namespace}/deployments/{name}"]["patch"]
    assert patch["parameters"][0] == {"$ref": "#/parameters/body-78PwaGsr"}
    assert document["parameters"]["body-78PwaGsr"]["schema"]["$ref"].startswith("#/definitions/")
    named = [one["name"] for one in patch["parameters"] if "name" in one]
    assert named == ["dryRun", "fieldValidation"]  # old clients look for these where they are
    assert patch["consumes"][-1] == "application/apply-patch+yaml"
    assert patch["produces"] == [
        *("application/json", "application/yaml", "application/vnd.kubernetes.protobuf"),
    ]
    assert (
        patch["responses"]["200"]["schema"]["$ref"] == "#/definitions/io.k8s.api.apps.v1.Deployment"
    )
    assert patch["x-kubernetes-action"] == "patch"


def custom(schema: dict[str, Any]) -> dict[str, Any]:
    given = definition("example.io", "widgets", "v1", schema={"openAPIV3Schema": schema})
    openapi = OpenApi(published(given), {"widgets.example.io": given}, "1.36")
    definitions = json.loads(openapi.swagger)["definitions"]
    found: dict[str, Any] = definitions["io.example.v1.Widget"]
    found.pop("x-kubernetes-group-version-kind")
    return found


def field(schema: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = custom({"type": "object", "properties": {"f": schema}})["properties"][
        "f"
    ]
    return found


OPEN = "x-kubernetes-preserve-unknown-fields"


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("given", "want"),
    [
        ({"type": "string", "nullable": True, "pattern": "a"}, {"pattern": "a"}),
        ({"type": "object", OPEN: True, "properties": {"a": {"type": "string"}}}, {OPEN: True}),
        ({"type": "array", OPEN: True, "items": {"type": "string"}}, {OPEN: True}),
        (
            {"type": "string", "anyOf": [{"pattern": "a"}], "not": {"maxLength": 1}},
            {"type": "string"},
        ),
        ({"x-kubernetes-int-or-string": True}, {"x-kubernetes-int-or-string": True}),
        ({"type": "string", "default": "a"}, {"type": "string"}),
        (
            {
                "type": "object",
                "properties": {"a": {"type": "string", "nullable": True}, "b": {"type": "string"}},
                "required": ["a", "b"],
            },
            {
                "type": "object",
                "properties": {"a": {}, "b": {"type": "string"}},
                "required": ["b"],
            },
        ),
        (
            {
                "type": "object",
                "additionalProperties": {"type": "string", "nullable": True},
                "required": ["a"],
            },
            {"type": "object", "additionalProperties": {}},
        ),
    ],
)
def test_fields_of_custom_resources(given: dict[str, Any], want: dict[str, Any]) -> None:
    """As k8s.io/apiextensions-apiserver `pkg/controller/openapi/v2/conversion_test.go`."""
    assert field(given) == want


def test_embedded_resources_have_the_members_of_one() -> None:
    found = field({"type": "object", "x-kubernetes-embedded-resource": True, "properties": {}})
    assert sorted(found["properties"]) == ["apiVersion", "kind", "metadata"]
    assert found["required"] == ["kind", "apiVersion"]
    opened = field({"type": "object", "x-kubernetes-embedded-resource": True, OPEN: True})
    assert opened == {"x-kubernetes-embedded-resource": True, OPEN: True}


def test_an_open_custom_resource_says_nothing_of_fields() -> None:
    assert custom({"type": "object", OPEN: True, "properties": {}}) == {"type": "object"}
