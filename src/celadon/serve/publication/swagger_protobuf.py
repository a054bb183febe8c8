"""The OpenAPI v2 document in protobuf, for clients that take nothing else: kubectl up to 1.28.

The messages are those of google/gnostic `openapiv2/OpenAPIv2.proto`. A table for each says which
member of the JSON document has which number, in the order of the numbers; members that no table has
do not exist in v2. Maps are lists of pairs of a name (1) and a value (2). Values of any type are
texts in YAML, for which their JSON does.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, TypeAlias

from celadon.kube import JsonObject
from celadon.kube.go import json_text
from celadon.kube.protobuf import sized, tag, varint

Table: TypeAlias = Mapping[str, tuple[int, Callable[[int, Any], bytes]]]

MEDIA_TYPE: Final = "application/com.github.proto-openapi.spec.v2.v1.0+protobuf"
SWAGGER_TYPES: Final = (MEDIA_TYPE, MEDIA_TYPE.replace("v2.v1", "v2@v1"))
"""What the document is called, and what clients call it, too."""

_VARINT, _FIXED64, _LENGTH = 0, 1, 2


def swagger_bytes(document: JsonObject) -> bytes:
    """The whole document, as `swagger_document` makes it."""
    return _written(document, _DOCUMENT)


def _written(obj: JsonObject, table: Table, extensions: int = 0) -> bytes:
    """A message; `extensions` is the number of the field for members that begin with `x-`."""
    made = [write(number, obj[key]) for key, (number, write) in table.items() if key in obj]
    if extensions:
        added = {key: value for key, value in obj.items() if key.startswith("x-")}
        made.append(_pairs(extensions, added, _any_value))
    return b"".join(made)


# --- fields by the type of their value ---


def _message(number: int, content: bytes) -> bytes:
    return tag(number, _LENGTH) + sized(content)


def _text(number: int, value: str) -> bytes:
    return _message(number, value.encode("utf-8", "replace")) if value else b""


def _texts(number: int, values: Sequence[str]) -> bytes:
    return b"".join([_message(number, one.encode("utf-8", "replace")) for one in values])


def _flag(number: int, value: bool) -> bytes:
    return tag(number, _VARINT) + varint(1) if value else b""


def _whole(number: int, value: int) -> bytes:
    return tag(number, _VARINT) + varint(value) if value else b""


def _real(number: int, value: float) -> bytes:
    return tag(number, _FIXED64) + struct.pack("<d", value) if value else b""


def _any_value(value: Any) -> bytes:
    return _text(2, f"{json_text(value)}\n")


def _any(number: int, value: Any) -> bytes:
    return _message(number, _any_value(value))


def _anys(number: int, values: Sequence[Any]) -> bytes:
    return b"".join([_any(number, one) for one in values])


def _pairs(number: int, values: JsonObject, write: Callable[[Any], bytes]) -> bytes:
    return b"".join(
        [_message(number, _text(1, name) + _message(2, write(one))) for name, one in values.items()]
    )


# --- schemas ---


def _schema(schema: JsonObject) -> bytes:
    return _written(schema, _SCHEMA, 31)


def _schemas(number: int, schemas: Sequence[JsonObject]) -> bytes:
    return b"".join([_message(number, _schema(one)) for one in schemas])


def _additional(number: int, given: Any) -> bytes:
    if isinstance(given, bool):
        return _message(number, tag(2, _VARINT) + varint(given))
    return _message(number, _message(1, _schema(given)))


def _types(number: int, given: Any) -> bytes:
    return _message(number, _texts(1, [given] if isinstance(given, str) else given))


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
    "items": (23, lambda number, one: _message(number, _message(1, _schema(one)))),
    "allOf": (24, _schemas),
    "properties": (25, lambda number, those: _message(number, _pairs(1, those, _schema))),
    "externalDocs": (29, lambda number, one: _message(number, _written(one, _EXTERNAL_DOCS))),
    "example": (30, _any),
}
_EXTERNAL_DOCS: Final[Table] = {"description": (1, _text), "url": (2, _text)}

# --- operations ---

_BODY: Final[Table] = {
    "description": (1, _text),
    "name": (2, _text),
    "in": (3, _text),
    "required": (4, _flag),
    "schema": (5, lambda number, one: _message(number, _schema(one))),
}
_PATH: Final[Table] = {
    "required": (1, _flag),
    "in": (2, _text),
    "description": (3, _text),
    "name": (4, _text),
    "type": (5, _text),
    "uniqueItems": (19, _flag),
}
_QUERY: Final[Table] = {**_PATH, "type": (6, _text), "uniqueItems": (20, _flag)}
_NOT_BODY: Final[Mapping[str, tuple[int, Table]]] = {"query": (3, _QUERY), "path": (4, _PATH)}


def _parameter(parameter: JsonObject) -> bytes:
    if parameter["in"] == "body":
        return _message(1, _written(parameter, _BODY))
    number, table = _NOT_BODY[parameter["in"]]
    return _message(2, _message(number, _written(parameter, table)))


def _parameters(number: int, parameters: Sequence[JsonObject]) -> bytes:
    return b"".join([_message(number, _message(1, _parameter(one))) for one in parameters])


_RESPONSE: Final[Table] = {
    "description": (1, _text),
    "schema": (2, lambda number, one: _message(number, _message(1, _schema(one)))),
}


def _responses(number: int, responses: JsonObject) -> bytes:
    codes = _pairs(1, responses, lambda one: _message(1, _written(one, _RESPONSE)))
    return _message(number, codes)


_OPERATION: Final[Table] = {
    "tags": (1, _texts),
    "description": (3, _text),
    "operationId": (5, _text),
    "produces": (6, _texts),
    "consumes": (7, _texts),
    "parameters": (8, _parameters),
    "responses": (9, _responses),
    "schemes": (10, _texts),
}


def _operation(number: int, operation: JsonObject) -> bytes:
    return _message(number, _written(operation, _OPERATION, 13))


_PATH_ITEM: Final[Table] = {
    "get": (2, _operation),
    "put": (3, _operation),
    "post": (4, _operation),
    "delete": (5, _operation),
    "options": (6, _operation),
    "head": (7, _operation),
    "patch": (8, _operation),
    "parameters": (9, _parameters),
}

# --- the document ---

_INFO: Final[Table] = {"title": (1, _text), "version": (2, _text)}
_API_KEY: Final[Table] = {"type": (1, _text), "name": (2, _text), "in": (3, _text)}


def _paths(number: int, paths: JsonObject) -> bytes:
    return _message(number, _pairs(2, paths, lambda one: _written(one, _PATH_ITEM)))


def _security(number: int, required: Sequence[JsonObject]) -> bytes:
    return b"".join(
        [_message(number, _pairs(1, one, lambda those: _texts(1, those))) for one in required]
    )


def _security_definitions(number: int, known: JsonObject) -> bytes:
    return _message(number, _pairs(1, known, lambda one: _message(2, _written(one, _API_KEY))))


_DOCUMENT: Final[Table] = {
    "swagger": (1, _text),
    "info": (2, lambda number, one: _message(number, _written(one, _INFO))),
    "paths": (8, _paths),
    "definitions": (9, lambda number, those: _message(number, _pairs(1, those, _schema))),
    "security": (12, _security),
    "securityDefinitions": (13, _security_definitions),
}
