"""From OpenAPI v3 to v2."""

from __future__ import annotations

from typing import Any

import pytest

from celadon.apiserver.discovery.swagger import Document, swagger, swagger_schema
from tests.apiserver.discovery.catalogues import published

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
    document = swagger(Document(one, {}, "v1.36.0").content() for one in versions)
    patch = document["paths"]["/apis/apps/v1/namespaces/{namespace}/deployments/{name}"]["patch"]
    assert patch["parameters"][0]["name"] == "body"
    assert patch["parameters"][0]["schema"]["$ref"].startswith("#/definitions/")
    assert "application/strategic-merge-patch+json" in patch["consumes"]
    assert (
        patch["responses"]["200"]["schema"]["$ref"] == "#/definitions/io.k8s.api.apps.v1.Deployment"
    )
    assert patch["x-kubernetes-action"] == "patch"
