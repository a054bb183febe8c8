"""The OpenAPI v2 document (`/openapi/v2`): all group versions in one, made of their v3 documents.

Clients that know v3 do not ask for it. `swagger_protobuf` has it for those that take no JSON.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

from celadon.kube import JsonObject
from celadon.kube.schemas import REFERENCE_PREFIX
from celadon.serve.publication.openapi_paths import METHODS
from celadon.serve.publication.openapi_schemas import SECURITY

_DEFINITIONS: Final = "#/definitions/"


def swagger(documents: Iterable[JsonObject]) -> dict[str, Any]:
    """The union of v3 documents as one of v2."""
    paths: dict[str, Any] = {}
    definitions: dict[str, Any] = {}
    info: Any = {}
    for document in documents:
        info = document["info"]
        paths.update((path, _item(item)) for path, item in document["paths"].items())
        for name, schema in document["components"]["schemas"].items():
            kinds = _kinds(definitions.get(name, {}), schema)
            definitions[name] = {**swagger_schema(schema), **kinds}
    return {
        "swagger": "2.0",
        "info": info,
        "paths": dict(sorted(paths.items())),
        "definitions": dict(sorted(definitions.items())),
        "securityDefinitions": SECURITY,
        "security": [{"BearerToken": []}],
    }


def _kinds(known: JsonObject, schema: JsonObject) -> JsonObject:
    """The kinds of all documents that have the type."""
    key = "x-kubernetes-group-version-kind"
    found = [*known.get(key, ())]
    found += [one for one in schema.get(key, ()) if one not in found]
    return {key: found} if found else {}


def swagger_schema(schema: JsonObject) -> dict[str, Any]:
    """A schema without what v2 cannot say: mentions stand alone, alternatives become texts."""
    if "$ref" in schema:
        return {"$ref": _DEFINITIONS + schema["$ref"].removeprefix(REFERENCE_PREFIX)}
    mention = schema.get("allOf", ())
    if len(mention) == 1 and "$ref" in mention[0]:
        rest = {key: value for key, value in schema.items() if key not in ("allOf", "default")}
        return {**swagger_schema(mention[0]), **rest}
    made = {
        key: value
        for key, value in schema.items()
        if key not in ("oneOf", "anyOf", "allOf", "not", "nullable")
    }
    if "oneOf" in schema and "type" not in made:
        made["type"] = "string"
    for key in ("items", "additionalProperties"):
        if isinstance(made.get(key), Mapping):
            made[key] = swagger_schema(made[key])
    if "properties" in made:
        made["properties"] = {name: swagger_schema(one) for name, one in made["properties"].items()}
    return made


def _item(item: JsonObject) -> dict[str, Any]:
    made: dict[str, Any] = {one: _operation(item[one]) for one in METHODS if one in item}
    if "parameters" in item:
        made["parameters"] = [_parameter(one) for one in item["parameters"]]
    return made


def _operation(operation: JsonObject) -> dict[str, Any]:
    body = operation.get("requestBody")
    parameters = [_parameter(one) for one in operation.get("parameters", ())]
    produced = operation["responses"].get("200", {}).get("content", {})
    kept = {key: value for key, value in operation.items() if key.startswith("x-")}
    return {
        "tags": operation["tags"],
        "operationId": operation["operationId"],
        "consumes": sorted(body["content"]) if body else ["*/*"],
        "produces": sorted(produced),
        "schemes": ["https"],
        **_parameters([*_body(body), *parameters]),
        "responses": {code: _answer(one) for code, one in operation["responses"].items()},
        **kept,
    }


def _parameters(parameters: list[dict[str, Any]]) -> JsonObject:
    return {"parameters": parameters} if parameters else {}


def _body(body: JsonObject | None) -> Iterable[dict[str, Any]]:
    if body is None:
        return
    schema = swagger_schema(next(iter(body["content"].values()))["schema"])
    required = {"required": True} if body.get("required") else {}
    yield {"name": "body", "in": "body", **required, "schema": schema}


def _parameter(parameter: JsonObject) -> dict[str, Any]:
    given = {key: value for key, value in parameter.items() if key != "schema"}
    return {**given, **parameter["schema"]}


def _answer(answer: JsonObject) -> dict[str, Any]:
    content = answer.get("content")
    if not content:
        return {"description": "Unauthorized"}
    return {"description": "OK", "schema": swagger_schema(next(iter(content.values()))["schema"])}
