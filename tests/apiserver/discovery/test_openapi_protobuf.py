"""OpenAPI documents in protobuf, read by another library."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from google.protobuf.descriptor_pb2 import FieldDescriptorProto, FileDescriptorProto
from google.protobuf.descriptor_pool import DescriptorPool
from google.protobuf.message_factory import GetMessageClass

from celadon.apiserver.discovery.openapi_protobuf import document_bytes, swagger_bytes

MESSAGES = {
    "Document": "1 swagger string, 2 info Info, 8 paths Paths, 9 definitions Definitions, "
    "10 parameters ParameterDefinitions, 12 security SecurityRequirement*, "
    "13 security_definitions SecurityDefinitions",
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
    "NonBody": "1 header Path, 2 form Query, 3 query Query, 4 path Path",
    "Query": "2 in string, 4 name string, 5 allow_empty_value bool, 6 type string, "
    "8 items Primitive, 20 unique_items bool, 21 enum Any*, 23 vendor_extension NamedAny*",
    "Path": "1 required bool, 2 in string, 4 name string, 5 type string, 6 format string, "
    "10 maximum double, 19 unique_items bool",
    "Primitive": "1 type string, 11 min_length int64, 15 unique_items bool",
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


def document_class(messages: Mapping[str, str] = MESSAGES) -> Any:
    file = FileDescriptorProto(name="openapi.proto", package="openapi", syntax="proto3")
    for name, fields in messages.items():
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
                "a": {"type": "string", "default": "x", "enum": ["x", "z"], "maxLength": 300},
                "b": {"type": "array", "items": {"$ref": "#/definitions/C"}},
                "c": {"type": "number", "format": "double", "minimum": -0.5, "maximum": 3},
                "d": {"type": "object", "additionalProperties": {"type": "integer"}},
                "e": {"type": "object", "additionalProperties": False},
            },
            "x-kubernetes-group-version-kind": [{"group": "", "version": "v1", "kind": "B"}],
        }
    )
    assert (found.description, list(found.required)) == ("what é is", ["a", "b"])
    assert list(found.type.value) == ["object"]
    a, b, c, d, e = [one.value for one in found.properties.additional_properties]
    assert (a.default.yaml, a.max_length) == ("x\n", 300)
    assert [one.yaml for one in a.enum] == ["x\n", "z\n"]
    assert b.items.schema[0]._ref == "#/definitions/C"
    assert (c.format, c.minimum, c.maximum) == ("double", -0.5, 3.0)
    assert list(d.additional_properties.schema.type.value) == ["integer"]
    assert e.HasField("additional_properties")
    assert not e.additional_properties.HasField("schema")
    (extension,) = found.vendor_extension
    assert extension.name == "x-kubernetes-group-version-kind"
    assert extension.value.yaml == '- group: ""\n  version: v1\n  kind: B\n'


def test_parameters_of_other_servers() -> None:
    header = {"name": "a", "in": "header", "type": "integer", "format": "int32", "maximum": 7}
    items = {"type": "string", "uniqueItems": True, "minLength": 2}
    form = {"name": "b", "in": "formData", "type": "array", "items": items, "enum": ["c"]}
    marked = {**form, "allowEmptyValue": True, "uniqueItems": True, "x-d": 1}
    parameters = {"a": {**header, "uniqueItems": True}, "b": marked}
    found = read({"parameters": parameters}).parameters.additional_properties
    a, b = (one.value.non_body_parameter for one in found)
    assert (a.header.name, a.header.format, a.header.maximum) == ("a", "int32", 7)
    assert a.header.unique_items
    assert b.form.allow_empty_value
    assert b.form.unique_items
    assert (b.form.items.type, b.form.items.min_length) == ("string", 2)
    assert b.form.items.unique_items
    assert [one.yaml for one in b.form.enum] == ["c\n"]
    assert [one.name for one in b.form.vendor_extension] == ["x-d"]


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


VERSION_3 = {
    "Document": "1 openapi string, 2 info Info, 4 paths Paths, 5 components Components",
    "Info": "1 title string, 6 version string",
    "Paths": "1 path NamedPathItem*",
    "NamedPathItem": "1 name string, 2 value PathItem",
    "PathItem": "4 get Operation, 5 put Operation, 13 parameters ParameterOrReference*",
    "Operation": "1 tags string*, 5 operation_id string, 6 parameters ParameterOrReference*, "
    "7 request_body BodyOrReference, 8 responses Responses, 13 specification_extension NamedAny*",
    "ParameterOrReference": "1 parameter Parameter",
    "Parameter": "1 name string, 2 in string, 4 required bool, 10 schema SchemaOrReference",
    "BodyOrReference": "1 request_body Body",
    "Body": "2 content MediaTypes, 3 required bool",
    "Responses": "2 response_or_reference NamedResponse*",
    "NamedResponse": "1 name string, 2 value ResponseOrReference",
    "ResponseOrReference": "1 response Response",
    "Response": "1 description string, 3 content MediaTypes",
    "MediaTypes": "1 additional_properties NamedMediaType*",
    "NamedMediaType": "1 name string, 2 value MediaType",
    "MediaType": "1 schema SchemaOrReference",
    "Components": "1 schemas Properties, 7 security_schemes Schemes",
    "Schemes": "1 additional_properties NamedScheme*",
    "NamedScheme": "1 name string, 2 value SchemeOrReference",
    "SchemeOrReference": "1 security_scheme Scheme",
    "Scheme": "1 type string, 3 name string, 4 in string",
    "Properties": "1 additional_properties NamedSchema*",
    "NamedSchema": "1 name string, 2 value SchemaOrReference",
    "SchemaOrReference": "1 schema Schema, 2 reference Reference",
    "Reference": "1 _ref string",
    "Schema": "1 nullable bool, 11 maximum double, 17 pattern string, 23 required string*, "
    "24 enum Any*, 25 type string, 26 all_of SchemaOrReference*, 28 any_of SchemaOrReference*, "
    "29 not Schema, 30 items Items, 31 properties Properties, 32 additional_properties Values, "
    "33 default Default, 34 description string, 35 format string, "
    "36 specification_extension NamedAny*",
    "Items": "1 schema_or_reference SchemaOrReference*",
    "Values": "1 schema_or_reference SchemaOrReference, 2 boolean bool",
    "Default": "1 number double, 2 boolean bool, 3 string string",
    "NamedAny": "1 name string, 2 value Any",
    "Any": "2 yaml string",
}
"""Messages of version 3."""


def read_3(document: dict[str, Any]) -> Any:
    return document_class(VERSION_3).FromString(document_bytes(document))


def test_schemas_of_version_3() -> None:
    schema = {
        "type": "object",
        "description": "what é is",
        "properties": {
            "a": {"type": "string", "nullable": True, "default": "x", "enum": ["x"]},
            "b": {"default": {}, "allOf": [{"$ref": "#/components/schemas/C"}]},
            "c": {"type": "array", "items": {"$ref": "#/components/schemas/C"}},
            "d": {"type": "object", "additionalProperties": True, "default": 2},
            "e": {"not": {"pattern": "a"}, "default": False},
        },
        "x-kubernetes-map-type": "atomic",
    }
    found = read_3({"components": {"schemas": {"a.B": schema}}}).components.schemas
    (named,) = found.additional_properties
    schema_found = named.value.schema
    assert (named.name, schema_found.description) == ("a.B", "what é is")
    assert schema_found.specification_extension[0].value.yaml == "atomic\n"
    a, b, c, d, e = [one.value.schema for one in schema_found.properties.additional_properties]
    assert (a.type, a.nullable, a.default.string, a.enum[0].yaml) == ("string", True, "x", "x\n")
    assert b.all_of[0].reference._ref == "#/components/schemas/C"
    assert b.HasField("default")
    assert c.items.schema_or_reference[0].reference._ref == "#/components/schemas/C"
    assert (d.additional_properties.boolean, d.default.number) == (True, 2.0)
    assert getattr(e, "not").pattern == "a"
    assert e.HasField("default")


def test_paths_of_version_3() -> None:
    media = {"application/json": {"schema": {"$ref": "#/components/schemas/C"}}}
    parameter = {"name": "name", "in": "path", "required": True, "schema": {"type": "string"}}
    operation = {
        "tags": ["apps_v1"],
        "operationId": "replace",
        "parameters": [parameter],
        "requestBody": {"content": media, "required": True},
        "responses": {"200": {"description": "OK", "content": media}},
        "x-kubernetes-action": "put",
    }
    document = {
        "openapi": "3.0.0",
        "info": {"title": "Kubernetes", "version": "1.36"},
        "paths": {"/a": {"put": operation, "parameters": [parameter]}},
        "components": {"securitySchemes": {"B": {"type": "apiKey", "name": "n", "in": "header"}}},
    }
    found = read_3(document)
    assert (found.openapi, found.info.version) == ("3.0.0", "1.36")
    (path,) = found.paths.path
    put = path.value.put
    assert put.parameters[0].parameter.schema.schema.type == "string"
    assert path.value.parameters[0].parameter.required
    assert put.request_body.request_body.content.additional_properties[0].name == "application/json"
    (response,) = put.responses.response_or_reference
    assert (response.name, response.value.response.description) == ("200", "OK")
    assert put.specification_extension[0].name == "x-kubernetes-action"
    (scheme,) = found.components.security_schemes.additional_properties
    assert scheme.value.security_scheme.name == "n"
