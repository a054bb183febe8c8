"""From OpenAPI v3 to v2."""

from __future__ import annotations

import json
from typing import Any

import pytest

from celadon.apiserver.discovery.openapi_answers import OpenApi, Part, swagger, swagger_schema
from celadon.apiserver.discovery.openapi_documents import Document
from celadon.kube.releases import answering_as
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


OPERATIONS = [
    ("/api/v1/componentstatuses", "get", "list objects of kind ComponentStatus"),
    ("/api/v1/namespaces", "post", "create a Namespace"),
    ("/api/v1/namespaces/{namespace}/endpoints", "post", "create Endpoints"),
    ("/api/v1/namespaces/{namespace}/endpoints/{name}", "delete", "delete Endpoints"),
    ("/api/v1/namespaces/{namespace}/events", "delete", "delete collection of Event"),
    ("/api/v1/namespaces/{namespace}/events/{name}", "delete", "delete an Event"),
    ("/api/v1/namespaces/{namespace}/pods", "get", "list or watch objects of kind Pod"),
    ("/api/v1/namespaces/{namespace}/pods/{name}", "put", "replace the specified Pod"),
    ("/api/v1/namespaces/{namespace}/pods/{name}/eviction", "post", "create eviction of a Pod"),
    (
        "/api/v1/namespaces/{namespace}/pods/{name}/exec",
        "post",
        "connect POST requests to exec of Pod",
    ),
    (
        "/api/v1/namespaces/{namespace}/pods/{name}/resize",
        "patch",
        "partially update resize of the specified Pod",
    ),
    ("/apis/apps/", "get", "get information of a group"),
    ("/apis/apps/v1/", "get", "get available resources"),
    (
        "/apis/apps/v1/namespaces/{namespace}/deployments/{name}/scale",
        "get",
        "read scale of the specified Deployment",
    ),
    (
        "/apis/apps/v1/watch/deployments",
        "get",
        "watch individual changes to a list of Deployment. deprecated: use the 'watch' parameter "
        "with a list operation instead.",
    ),
]


def test_what_operations_do_in_words() -> None:
    paths = json.loads(OpenApi(published(), {}, "1.36").swagger)["paths"]
    for path, method, about in OPERATIONS:
        assert paths[path][method]["description"] == about


SHARED = ["allowWatchBookmarks-HC2hJt-J", "body-2Y1dVQaQ", "container-1GeXxFDC"]
"""Of those that have such names in the documents of real servers: they follow from the texts."""


@pytest.mark.parametrize(
    ("release", "names"),
    [
        ("1.30", [*SHARED, "logpath-Noq7euwC", "tailLines-2fRTNzbP"]),
        ("1.36", [*SHARED, "path-QCf0eosM", "shardSelector-Kgyki_3_", "tailLines-9xQLWHMV"]),
    ],
)
def test_names_of_shared_parameters(release: str, names: list[str]) -> None:
    with answering_as(release):
        document = json.loads(OpenApi(published(all_versions=True), {}, release).swagger)
    assert set(names) <= document["parameters"].keys()
    count = {"1.30": 45, "1.36": 47}[release]
    assert len(document["parameters"]) == count
    about = document["paths"]["/version/"]["get"]["description"]
    assert about.startswith("get the code version" if release == "1.30" else "get the version info")


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
