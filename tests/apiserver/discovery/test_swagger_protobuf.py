"""The OpenAPI v2 document in protobuf, read by another library."""

from __future__ import annotations

import json
from typing import Any

from google.protobuf.descriptor_pb2 import FieldDescriptorProto, FileDescriptorProto
from google.protobuf.descriptor_pool import DescriptorPool
from google.protobuf.message_factory import GetMessageClass

from celadon.apiserver.discovery.swagger import swagger_bytes

MESSAGES = {
    "Document": "1 swagger string, 2 info Info, 8 paths Paths, 9 definitions Definitions, "
    "10 parameters ParameterDefinitions, 12 security SecurityRequirement*, 13 security_definitions SecurityDefinitions",
    "Info": "1 title string, 2 version string",
    "Paths": "2 path NamedPathItem*",
    "NamedPathItem": "1 name string, 2 value PathItem",
    "PathItem": "2 get Operation, 8 patch Operation, 9 parameters ParametersItem*",
    "Operation": "1 tags string*, 5 operation_id string, 6 produces string*, 7 consumes string*, "
    "8 parameters ParametersItem*, 9 responses Responses, 10 schemes string*, "
    "13 vendor_extension NamedAny*",
    "ParametersItem": "1 parameter Parameter, 2 json_reference JsonReference",
    "JsonReference": "1 _ref string",
    "ParameterDefinitions": "1 additional_properties NamedParameter*",
    "NamedParameter": "1 name string, 2 value Parameter",
    "Parameter": "1 body_parameter Body, 2 non_body_parameter NonBody",
    "Body": "2 name string, 3 in string, 4 required bool, 5 schema Schema",
    "NonBody": "3 query Query, 4 path Path",
    "Query": "2 in string, 4 name string, 6 type string, 20 unique_items bool",
    "Path": "1 required bool, 2 in string, 4 name string, 5 type string, 19 unique_items bool",
    "Responses": "1 response_code NamedResponseValue*",
    "NamedResponseValue": "1 name string, 2 value ResponseValue",
    "ResponseValue": "1 response Response",
    "Response": "1 description string, 2 schema SchemaItem",
    "SchemaItem": "1 schema Schema",
    "Definitions": "1 additional_properties NamedSchema*",
    "NamedSchema": "1 name string, 2 value Schema",
    "Schema": "1 _ref string, 2 format string, 4 description string, 5 default Any, "
    "7 maximum double, 9 minimum double, 11 max_length int64, 19 required string*, 20 enum Any*, "
    "21 additional_properties AdditionalPropertiesItem, 22 type TypeItem, 23 items ItemsItem, "
    "25 properties Definitions, 31 vendor_extension NamedAny*",
    "AdditionalPropertiesItem": "1 schema Schema, 2 boolean bool",
    "TypeItem": "1 value string*",
    "ItemsItem": "1 schema Schema*",
    "NamedAny": "1 name string, 2 value Any",
    "Any": "2 yaml string",
    "SecurityRequirement": "1 additional_properties NamedStringArray*",
    "NamedStringArray": "1 name string, 2 value StringArray",
    "StringArray": "1 value string*",
    "SecurityDefinitions": "1 additional_properties NamedSecurity*",
    "NamedSecurity": "1 name string, 2 value Security",
    "Security": "2 api_key_security ApiKey",
    "ApiKey": "1 type string, 2 name string, 3 in string",
}
"""Those that a small document needs; a star is a list."""

SCALARS = {
    "string": FieldDescriptorProto.TYPE_STRING,
    "bool": FieldDescriptorProto.TYPE_BOOL,
    "double": FieldDescriptorProto.TYPE_DOUBLE,
    "int64": FieldDescriptorProto.TYPE_INT64,
}


def document_class() -> Any:
    file = FileDescriptorProto(name="openapi.proto", package="openapi", syntax="proto3")
    for name, fields in MESSAGES.items():
        message = file.message_type.add(name=name)
        for given in fields.split(", "):
            number, field, kind = given.split()
            made = message.field.add(name=field, number=int(number))
            many = FieldDescriptorProto.LABEL_REPEATED
            made.label = many if kind.endswith("*") else FieldDescriptorProto.LABEL_OPTIONAL
            kind = kind.removesuffix("*")
            made.type = SCALARS.get(kind, FieldDescriptorProto.TYPE_MESSAGE)
            if kind not in SCALARS:
                made.type_name = f".openapi.{kind}"
    pool = DescriptorPool()
    pool.Add(file)
    return GetMessageClass(pool.FindMessageTypeByName("openapi.Document"))


def read(document: dict[str, Any]) -> Any:
    return document_class().FromString(swagger_bytes(document))


def the_schema(schema: dict[str, Any]) -> Any:
    (named,) = read({"definitions": {"a.B": schema}}).definitions.additional_properties
    assert named.name == "a.B"
    return named.value


def test_schemas() -> None:
    found = the_schema(
        {
            "description": "what é is",
            "type": "object",
            "required": ["a", "b"],
            "properties": {
                "a": {"type": "string", "default": "x", "enum": ["x", "y"], "maxLength": 300},
                "b": {"type": "array", "items": {"$ref": "#/definitions/C"}},
                "c": {"type": "number", "format": "double", "minimum": -0.5, "maximum": 3},
                "d": {"type": "object", "additionalProperties": {"type": "integer"}},
                "e": {"type": "object", "additionalProperties": False},
            },
            "x-kubernetes-group-version-kind": [{"group": "", "kind": "B", "version": "v1"}],
        }
    )
    assert (found.description, list(found.required)) == ("what é is", ["a", "b"])
    assert list(found.type.value) == ["object"]
    a, b, c, d, e = [one.value for one in found.properties.additional_properties]
    assert (json.loads(a.default.yaml), a.max_length) == ("x", 300)
    assert [json.loads(one.yaml) for one in a.enum] == ["x", "y"]
    assert b.items.schema[0]._ref == "#/definitions/C"
    assert (c.format, c.minimum, c.maximum) == ("double", -0.5, 3.0)
    assert list(d.additional_properties.schema.type.value) == ["integer"]
    assert e.HasField("additional_properties")
    assert not e.additional_properties.HasField("schema")
    (extension,) = found.vendor_extension
    assert extension.name == "x-kubernetes-group-version-kind"
    assert json.loads(extension.value.yaml) == [{"group": "", "kind": "B", "version": "v1"}]


def test_operations() -> None:
    name = {"name": "name", "in": "path", "required": True, "type": "string", "uniqueItems": True}
    query = {"name": "dryRun", "in": "query", "type": "string", "uniqueItems": True}
    body = {"name": "body", "in": "body", "required": True, "schema": {"$ref": "#/definitions/P"}}
    patch = {
        "tags": ["core_v1"],
        "operationId": "patchPod",
        "consumes": ["a/b"],
        "produces": ["c/d", "e/f"],
        "schemes": ["https"],
        "parameters": [body, query],
        "responses": {"200": {"description": "OK", "schema": {"$ref": "#/definitions/Pod"}}},
        "x-kubernetes-action": "patch",
    }
    found = read(
        {
            "swagger": "2.0",
            "info": {"title": "Kubernetes", "version": "v1.36.0"},
            "paths": {"/api/v1/pods/{name}": {"patch": patch, "parameters": [name]}},
            "security": [{"BearerToken": []}],
            "securityDefinitions": {
                "BearerToken": {"type": "apiKey", "name": "authorization", "in": "header"}
            },
        }
    )
    assert (found.swagger, found.info.version) == ("2.0", "v1.36.0")
    (item,) = found.paths.path
    assert item.name == "/api/v1/pods/{name}"
    path = item.value.parameters[0].parameter.non_body_parameter.path
    assert (path.name, getattr(path, "in"), path.type) == ("name", "path", "string")
    assert path.required
    assert path.unique_items
    made = item.value.patch
    assert (made.operation_id, list(made.produces)) == ("patchPod", ["c/d", "e/f"])
    first, second = [one.parameter for one in made.parameters]
    assert first.body_parameter.schema._ref == "#/definitions/P"
    assert (second.non_body_parameter.query.name, second.non_body_parameter.query.type) == (
        "dryRun",
        "string",
    )
    (answer,) = made.responses.response_code
    assert (answer.name, answer.value.response.schema.schema._ref) == ("200", "#/definitions/Pod")
    assert made.vendor_extension[0].name == "x-kubernetes-action"
    assert found.security[0].additional_properties[0].name == "BearerToken"
    known = found.security_definitions.additional_properties[0].value.api_key_security
    assert (known.type, known.name) == ("apiKey", "authorization")


def test_shared_parameters() -> None:
    limit = {"name": "limit", "in": "query", "type": "integer", "uniqueItems": True}
    mention = {"$ref": "#/parameters/limit-a"}
    operation = {"tags": ["a"], "parameters": [mention, limit], "responses": {}}
    found = read({"paths": {"/a": {"get": operation}}, "parameters": {"limit-a": limit}})
    (shared,) = found.parameters.additional_properties
    assert (shared.name, shared.value.non_body_parameter.query.name) == ("limit-a", "limit")
    (path,) = found.paths.path
    first, second = path.value.get.parameters
    assert first.json_reference._ref == "#/parameters/limit-a"
    assert second.parameter.non_body_parameter.query.type == "integer"
