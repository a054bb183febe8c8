"""OpenAPI documents in protobuf, for clients that take nothing else: kubectl up to 1.28.

The messages are those of google/gnostic. A table for each says which member of the JSON document
has which number, in the order of the numbers; members that no table has do not exist in that
version. Maps are lists of pairs of a name (1) and a value (2). Values of any type are texts in
YAML.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, TypeAlias

from celadon.goyaml import yaml_text
from celadon.kube import JsonObject
from celadon.kube.go import json_text
from celadon.kube.protobuf import sized, tag, varint
from celadon.memoization import remembering

Table: TypeAlias = Mapping[str, tuple[int, Callable[[int, Any], bytes]]]

_MEDIA_TYPE: Final = "application/com.github.proto-openapi.spec.{}.v1.0+protobuf"
VERSION_2: Final = (_MEDIA_TYPE.format("v2"), _MEDIA_TYPE.format("v2").replace("v2.", "v2@"))
"""What a document of version 2 is called, and what clients call it, too."""
VERSION_3: Final = (_MEDIA_TYPE.format("v3"), _MEDIA_TYPE.format("v3").replace("v3.", "v3@"))
"""The same for version 3."""

_VARINT, _FIXED64, _LENGTH = 0, 1, 2


def swagger_bytes(document: JsonObject) -> bytes:
    """Return a document of version 2. Raises ValueError for what another server has written that
    has no such form."""
    try:
        return _written(document, _DOCUMENT)
    except (ArithmeticError, AttributeError, LookupError, TypeError, struct.error) as error:
        raise ValueError(f"no document of OpenAPI version 2: {error}") from None


def _written(obj: JsonObject, table: Table, extensions: int = 0) -> bytes:
    """Return a message; `extensions` is the number of the field for members that begin with
    `x-`. Null is the same as nothing, as in Go."""
    given = {key: value for key, value in obj.items() if value is not None}
    result = [write(number, given[key]) for key, (number, write) in table.items() if key in given]
    if extensions:
        added = {key: value for key, value in obj.items() if key.startswith("x-")}
        result.append(_pairs(extensions, added, _any_value))
    return b"".join(result)


# --- fields by the type of their value ---


def _message(number: int, content: bytes) -> bytes:
    return tag(number, _LENGTH) + sized(content)


def _text(number: int, value: str) -> bytes:
    return _message(number, value.encode("utf-8", "replace")) if value else b""


def _texts(number: int, values: Sequence[str]) -> bytes:
    return b"".join([_message(number, value.encode("utf-8", "replace")) for value in values])


def _flag(number: int, value: bool) -> bytes:
    return tag(number, _VARINT) + varint(1) if value else b""


def _whole(number: int, value: int) -> bytes:
    return tag(number, _VARINT) + varint(value) if value else b""


def _real(number: int, value: float) -> bytes:
    return tag(number, _FIXED64) + struct.pack("<d", value) if value else b""


def _any_value(value: Any) -> bytes:
    return _yaml_message(json_text(value))


# a document has thousands of extensions, of which few differ
@remembering(1024)
def _yaml_message(text: str) -> bytes:
    return _text(2, yaml_text(json.loads(text), is_sorted=False))


def _any(number: int, value: Any) -> bytes:
    return _message(number, _any_value(value))


def _anys(number: int, values: Sequence[Any]) -> bytes:
    return b"".join([_any(number, value) for value in values])


def _pairs(number: int, values: JsonObject, write: Callable[[Any], bytes]) -> bytes:
    return b"".join(
        [
            _message(number, _text(1, name) + _message(2, write(value)))
            for name, value in values.items()
        ]
    )


# --- Version 2 ---------------------------------------------------------------
#
# google/gnostic `openapiv2/OpenAPIv2.proto`.

# --- schemas ---


def _schema(schema: JsonObject) -> bytes:
    return _written(schema, _SCHEMA, 31)


def _schemas(number: int, schemas: Sequence[JsonObject]) -> bytes:
    return b"".join([_message(number, _schema(schema)) for schema in schemas])


def _items(value: Any) -> bytes:
    return _schemas(1, value if isinstance(value, list) else [value])


def _additional(number: int, value: Any) -> bytes:
    if isinstance(value, bool):
        return _message(number, tag(2, _VARINT) + varint(value))
    return _message(number, _message(1, _schema(value)))


def _types(number: int, text: Any) -> bytes:
    return _message(number, _texts(1, [text] if isinstance(text, str) else text))


_SCHEMA: Final[Table] = {
    "$ref": (1, _text),
    "format": (2, _text),
    "title": (3, _text),
    "description": (4, _text),
    "default": (5, _any),
    "multipleOf": (6, _real),
    "maximum": (7, _real),
    "exclusiveMaximum": (8, _flag),
    "minimum": (9, _real),
    "exclusiveMinimum": (10, _flag),
    "maxLength": (11, _whole),
    "minLength": (12, _whole),
    "pattern": (13, _text),
    "maxItems": (14, _whole),
    "minItems": (15, _whole),
    "uniqueItems": (16, _flag),
    "maxProperties": (17, _whole),
    "minProperties": (18, _whole),
    "required": (19, _texts),
    "enum": (20, _anys),
    "additionalProperties": (21, _additional),
    "type": (22, _types),
    "items": (23, lambda number, value: _message(number, _items(value))),
    "allOf": (24, _schemas),
    "properties": (25, lambda number, schemas: _message(number, _pairs(1, schemas, _schema))),
    "externalDocs": (29, lambda number, value: _message(number, _written(value, _EXTERNAL_DOCS))),
    "example": (30, _any),
}
_EXTERNAL_DOCS: Final[Table] = {"description": (1, _text), "url": (2, _text)}

# --- operations ---

_BODY: Final[Table] = {
    "description": (1, _text),
    "name": (2, _text),
    "in": (3, _text),
    "required": (4, _flag),
    "schema": (5, lambda number, value: _message(number, _schema(value))),
}


def _primitive(number: int, value: JsonObject) -> bytes:
    return _message(number, _written(value, _PRIMITIVE, 18))


_OF_VALUES: Final[Mapping[str, Callable[[int, Any], bytes]]] = {
    "type": _text,
    "format": _text,
    "items": _primitive,
    "collectionFormat": _text,
    "default": _any,
    "maximum": _real,
    "exclusiveMaximum": _flag,
    "minimum": _real,
    "exclusiveMinimum": _flag,
    "maxLength": _whole,
    "minLength": _whole,
    "pattern": _text,
    "maxItems": _whole,
    "minItems": _whole,
    "uniqueItems": _flag,
    "enum": _anys,
    "multipleOf": _real,
}
"""What is said of a value that is no object, in the order in which each message has it."""


def _of_values(first: int) -> Table:
    return {name: (first + n, write) for n, (name, write) in enumerate(_OF_VALUES.items())}


_PRIMITIVE: Final[Table] = _of_values(1)
_NAMED: Final[Table] = {
    "required": (1, _flag),
    "in": (2, _text),
    "description": (3, _text),
    "name": (4, _text),
}
_PATH: Final[Table] = {**_NAMED, **_of_values(5)}
_QUERY: Final[Table] = {**_NAMED, "allowEmptyValue": (5, _flag), **_of_values(6)}
_NOT_BODY: Final[Mapping[str, tuple[int, Table, int]]] = {
    "header": (1, _PATH, 22),
    "formData": (2, _QUERY, 23),
    "query": (3, _QUERY, 23),
    "path": (4, _PATH, 22),
}
"""By place: the number of the message, its table, and the number of its extensions."""


def _v2_parameter(parameter: JsonObject) -> bytes:
    if parameter["in"] == "body":
        return _message(1, _written(parameter, _BODY))
    number, table, extensions = _NOT_BODY[parameter["in"]]
    return _message(2, _message(number, _written(parameter, table, extensions)))


def _v2_parameters(number: int, parameters: Sequence[JsonObject]) -> bytes:
    return b"".join([_message(number, _given_or_mentioned(parameter)) for parameter in parameters])


def _given_or_mentioned(parameter: JsonObject) -> bytes:
    if "$ref" in parameter:
        return _message(2, _text(1, parameter["$ref"]))
    return _message(1, _v2_parameter(parameter))


def _shared_parameters(number: int, shared: JsonObject) -> bytes:
    return _message(number, _pairs(1, shared, _v2_parameter)) if shared else b""


_RESPONSE: Final[Table] = {
    "description": (1, _text),
    "schema": (2, lambda number, value: _message(number, _message(1, _schema(value)))),
}


def _responses(number: int, responses: JsonObject) -> bytes:
    codes = _pairs(1, responses, lambda value: _message(1, _written(value, _RESPONSE)))
    return _message(number, codes)


_OPERATION: Final[Table] = {
    "tags": (1, _texts),
    "description": (3, _text),
    "operationId": (5, _text),
    "produces": (6, _texts),
    "consumes": (7, _texts),
    "parameters": (8, _v2_parameters),
    "responses": (9, _responses),
    "schemes": (10, _texts),
}


def _v2_operation(number: int, operation: JsonObject) -> bytes:
    return _message(number, _written(operation, _OPERATION, 13))


_PATH_ITEM: Final[Table] = {
    "get": (2, _v2_operation),
    "put": (3, _v2_operation),
    "post": (4, _v2_operation),
    "delete": (5, _v2_operation),
    "options": (6, _v2_operation),
    "head": (7, _v2_operation),
    "patch": (8, _v2_operation),
    "parameters": (9, _v2_parameters),
}

# --- the document ---

_INFO: Final[Table] = {"title": (1, _text), "version": (2, _text)}
_API_KEY: Final[Table] = {
    "type": (1, _text),
    "name": (2, _text),
    "in": (3, _text),
    "description": (4, _text),
}


def _paths(number: int, paths: JsonObject) -> bytes:
    return _message(number, _pairs(2, paths, lambda value: _written(value, _PATH_ITEM)))


def _security(number: int, required: Sequence[JsonObject]) -> bytes:
    return b"".join(
        [_message(number, _pairs(1, item, lambda scopes: _texts(1, scopes))) for item in required]
    )


def _security_definitions(number: int, obj: JsonObject) -> bytes:
    return _message(number, _pairs(1, obj, lambda value: _message(2, _written(value, _API_KEY))))


_DOCUMENT: Final[Table] = {
    "swagger": (1, _text),
    "info": (2, lambda number, value: _message(number, _written(value, _INFO))),
    "paths": (8, _paths),
    "definitions": (9, lambda number, schemas: _message(number, _pairs(1, schemas, _schema))),
    "parameters": (10, _shared_parameters),
    "security": (12, _security),
    "securityDefinitions": (13, _security_definitions),
}


# --- Version 3 ---------------------------------------------------------------
#
# google/gnostic `openapiv3/OpenAPIv3.proto`. Nearly everything is either itself (1) or a mention
# of what stands elsewhere (2).


def document_bytes(document: JsonObject) -> bytes:
    """Return a document of version 3."""
    return _written(document, _V3_DOCUMENT)


def _either(obj: JsonObject, table: Table, extensions: int) -> bytes:
    if "$ref" in obj:
        return _message(2, _text(1, obj["$ref"]))
    return _message(1, _written(obj, table, extensions))


def _v3_schema(schema: JsonObject) -> bytes:
    return _either(schema, _V3_SCHEMA, 36)


def _v3_schemas(number: int, schemas: Sequence[JsonObject]) -> bytes:
    return b"".join([_message(number, _v3_schema(schema)) for schema in schemas])


def _v3_schema_map(number: int, schemas: JsonObject) -> bytes:
    return _message(number, _pairs(1, schemas, _v3_schema))


def _v3_additional(number: int, value: Any) -> bytes:
    if isinstance(value, bool):
        return _message(number, tag(2, _VARINT) + varint(value))
    return _message(number, _message(1, _v3_schema(value)))


def _v3_default(number: int, value: Any) -> bytes:
    """Encode a default value. Lists and maps have no form here."""
    if isinstance(value, bool):
        return _message(number, tag(2, _VARINT) + varint(value))
    if isinstance(value, str):
        return _message(number, _message(3, value.encode("utf-8", "replace")))
    if isinstance(value, int | float):
        return _message(number, tag(1, _FIXED64) + struct.pack("<d", value))
    return _message(number, b"")


_V3_SCHEMA: Final[Table] = {
    "nullable": (1, _flag),
    "externalDocs": (6, lambda number, value: _message(number, _written(value, _EXTERNAL_DOCS))),
    "example": (7, _any),
    "title": (9, _text),
    "multipleOf": (10, _real),
    "maximum": (11, _real),
    "exclusiveMaximum": (12, _flag),
    "minimum": (13, _real),
    "exclusiveMinimum": (14, _flag),
    "maxLength": (15, _whole),
    "minLength": (16, _whole),
    "pattern": (17, _text),
    "maxItems": (18, _whole),
    "minItems": (19, _whole),
    "uniqueItems": (20, _flag),
    "maxProperties": (21, _whole),
    "minProperties": (22, _whole),
    "required": (23, _texts),
    "enum": (24, _anys),
    "type": (25, _text),
    "allOf": (26, _v3_schemas),
    "oneOf": (27, _v3_schemas),
    "anyOf": (28, _v3_schemas),
    "not": (29, lambda number, value: _message(number, _written(value, _V3_SCHEMA, 36))),
    "items": (30, lambda number, value: _message(number, _message(1, _v3_schema(value)))),
    "properties": (31, _v3_schema_map),
    "additionalProperties": (32, _v3_additional),
    "default": (33, _v3_default),
    "description": (34, _text),
    "format": (35, _text),
}
_V3_MEDIA: Final[Table] = {"schema": (1, lambda number, value: _message(number, _v3_schema(value)))}


def _v3_content(number: int, content: JsonObject) -> bytes:
    return _message(number, _pairs(1, content, lambda value: _written(value, _V3_MEDIA)))


_V3_PARAMETER: Final[Table] = {
    "name": (1, _text),
    "in": (2, _text),
    "description": (3, _text),
    "required": (4, _flag),
    "schema": (10, lambda number, value: _message(number, _v3_schema(value))),
}
_V3_BODY: Final[Table] = {
    "description": (1, _text),
    "content": (2, _v3_content),
    "required": (3, _flag),
}
_V3_RESPONSE: Final[Table] = {"description": (1, _text), "content": (3, _v3_content)}


def _v3_parameters(number: int, parameters: Sequence[JsonObject]) -> bytes:
    return b"".join(
        [_message(number, _either(parameter, _V3_PARAMETER, 14)) for parameter in parameters]
    )


def _v3_responses(number: int, responses: JsonObject) -> bytes:
    return _message(number, _pairs(2, responses, lambda value: _either(value, _V3_RESPONSE, 5)))


_V3_OPERATION: Final[Table] = {
    "tags": (1, _texts),
    "description": (3, _text),
    "operationId": (5, _text),
    "parameters": (6, _v3_parameters),
    "requestBody": (7, lambda number, value: _message(number, _either(value, _V3_BODY, 4))),
    "responses": (8, _v3_responses),
}


def _v3_operation(number: int, operation: JsonObject) -> bytes:
    return _message(number, _written(operation, _V3_OPERATION, 13))


_V3_PATH_ITEM: Final[Table] = {
    "get": (4, _v3_operation),
    "put": (5, _v3_operation),
    "post": (6, _v3_operation),
    "delete": (7, _v3_operation),
    "options": (8, _v3_operation),
    "head": (9, _v3_operation),
    "patch": (10, _v3_operation),
    "parameters": (13, _v3_parameters),
}
_V3_SCHEME: Final[Table] = {
    "type": (1, _text),
    "description": (2, _text),
    "name": (3, _text),
    "in": (4, _text),
}


def _v3_schemes(number: int, schemes: JsonObject) -> bytes:
    return _message(number, _pairs(1, schemes, lambda value: _either(value, _V3_SCHEME, 9)))


_V3_COMPONENTS: Final[Table] = {"schemas": (1, _v3_schema_map), "securitySchemes": (7, _v3_schemes)}


def _v3_paths(number: int, paths: JsonObject) -> bytes:
    return _message(number, _pairs(1, paths, lambda value: _written(value, _V3_PATH_ITEM)))


_V3_INFO: Final[Table] = {"title": (1, _text), "version": (6, _text)}
_V3_DOCUMENT: Final[Table] = {
    "openapi": (1, _text),
    "info": (2, lambda number, value: _message(number, _written(value, _V3_INFO))),
    "paths": (4, _v3_paths),
    "components": (5, lambda number, value: _message(number, _written(value, _V3_COMPONENTS))),
}
