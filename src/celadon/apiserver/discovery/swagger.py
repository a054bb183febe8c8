"""The document of OpenAPI version 2, as JSON and in protobuf.

It is made of what the documents of version 3 are made of. As k8s.io/kube-openapi `pkg/builder`
and `pkg/handler`.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final, TypeAlias

from celadon.apiserver.discovery.openapi import METHODS, SECURITY
from celadon.apiserver.http_messages import JSON
from celadon.apiserver.negotiation import PROTOBUF, YAML
from celadon.kube import JsonObject
from celadon.kube.go import json_text
from celadon.kube.protobuf import sized, tag, varint
from celadon.kube.releases import is_since
from celadon.kube.schemas import REFERENCE_PREFIX
from celadon.records import dataclass

# --- Swagger document --------------------------------------------------------
#
# All group versions in one document, made of the same paths and types as those of version 3.
#
# Clients that know version 3 do not ask for it. Parameters that many operations share stand
# once; upstream names them by a hash of all that it says of them, its texts included.


_DEFINITIONS: Final = "#/definitions/"
_PARAMETERS: Final = "#/parameters/"
_NOT_IN_VERSION_2: Final = frozenset({"default", "oneOf", "anyOf", "allOf", "not", "nullable"})

SHARED: Final[Mapping[str, str]] = {
    "allowWatchBookmarks": "HC2hJt-J",
    "command": "Py3eQybp",
    "container": "1GeXxFDC",
    "continue": "QfD61s0i",
    "fieldManager": "Qy4HdaTW",
    "fieldSelector": "xIcQKXFG",
    "follow": "9OIXh_2R",
    "force": "tOGGb0Yi",
    "gracePeriodSeconds": "-K5HaBOS",
    "ignoreStoreReadErrorWithClusterBreakingPotential": "QbNkfIqj",
    "insecureSkipTLSVerifyBackend": "gM00jVbe",
    "labelSelector": "5Zw57w4C",
    "limit": "1NfNmdNH",
    "limitBytes": "zwd1RXuc",
    "logpath": "Noq7euwC",
    "namespace": "vgWSWtn3",
    "orphanDependents": "uRB25kX5",
    "ports": "91KROJmm",
    "pretty": "tJGM1-ng",
    "previous": "1jxDPu3y",
    "propagationPolicy": "6jk3prlO",
    "resourceVersion": "5WAnf1kx",
    "resourceVersionMatch": "t8XhRHeC",
    "sendInitialEvents": "rLXlEK_k",
    "shardSelector": "Kgyki_3_",
    "sinceSeconds": "vE2NLdnP",
    "stream": "l-48cgXv",
    "tailLines": "9xQLWHMV",
    "timeoutSeconds": "yvYezaOC",
    "timestamps": "c17fW1w_",
    "watch": "XNNPZGbK",
}
"""The endings of the names of shared parameters."""
SHARED_BY: Final[Mapping[str, Mapping[str, str]]] = {
    "patch": {"body": "78PwaGsr", "fieldManager": "7c6nTn1T"},
    "delete": {"body": "2Y1dVQaQ"},
    "deletecollection": {"body": "2Y1dVQaQ"},
    "NodeProxyOptions": {"path": "rFDtV0x9"},
    "PodAttachOptions": {
        "container": "_Q-EJ3nR",
        "stderr": "26jJhFUR",
        "stdin": "sEFnN3IS",
        "stdout": "005YMKE6",
        "tty": "g7MlET_l",
    },
    "PodExecOptions": {
        "container": "i5dOmRiM",
        "stderr": "W_1TNlWc",
        "stdin": "PSzNhyUC",
        "stdout": "-EZLRwV1",
        "tty": "s0flW37O",
    },
    "PodProxyOptions": {"path": "oPbzgLUj"},
    "ServiceProxyOptions": {"path": "QCf0eosM"},
}
"""The same of those that have other texts in an action, or in the options of a connection."""
_OLD_TAIL_LINES: Final = "2fRTNzbP"
_PATH_BELOW: Final = "z6Ciiujn"
"""The ending for the path after `proxy/`."""

_CUSTOM_CONSUMED: Final = (JSON, YAML)
_PRODUCED: Final = ("text/plain", JSON, YAML, PROTOBUF)
_PATCHES: Final = (
    "application/json-patch+json",
    "application/merge-patch+json",
    "application/strategic-merge-patch+json",
    "application/apply-patch+yaml",
)


@dataclass(frozen=True, slots=True)
class Part:
    """Paths of version 3 with the types that they lead to. Those of custom resources take JSON and
    YAML, whatever the operation."""

    paths: JsonObject
    schemas: JsonObject
    custom: bool = False


def swagger(parts: Iterable[Part], info: JsonObject) -> dict[str, Any]:
    """Returns one document of version 2."""
    paths: dict[str, Any] = {}
    definitions: dict[str, Any] = {}
    shared: dict[str, Any] = {}
    for part in parts:
        writer = _ItemWriter(part.custom, shared)
        paths.update((path, writer.item(item)) for path, item in part.paths.items())
        for name, schema in part.schemas.items():
            if name not in definitions:
                definitions[name] = swagger_schema(schema)
    return {
        "swagger": "2.0",
        "info": info,
        "paths": dict(sorted(paths.items())),
        "definitions": dict(sorted(definitions.items())),
        "parameters": dict(sorted(shared.items())),
        "securityDefinitions": SECURITY,
        "security": [{"BearerToken": []}],
    }


def swagger_schema(schema: JsonObject) -> dict[str, Any]:
    """A schema without what version 2 cannot say: mentions stand alone, alternatives become texts.
    Defaults are left out, too."""
    if "$ref" in schema:
        return {"$ref": _DEFINITIONS + schema["$ref"].removeprefix(REFERENCE_PREFIX)}
    mention = schema.get("allOf", ())
    if len(mention) == 1 and "$ref" in mention[0]:
        rest = {key: value for key, value in schema.items() if key not in _NOT_IN_VERSION_2}
        return {**swagger_schema(mention[0]), **rest}
    made = {key: value for key, value in schema.items() if key not in _NOT_IN_VERSION_2}
    if "oneOf" in schema and "type" not in made:
        made["type"] = "string"
    for key in ("items", "additionalProperties"):
        if isinstance(made.get(key), Mapping):
            made[key] = swagger_schema(made[key])
    if "properties" in made:
        made["properties"] = {name: swagger_schema(one) for name, one in made["properties"].items()}
    return made


@dataclass(frozen=True, slots=True)
class _ItemWriter:
    """Writes paths; parameters that operations share are added to `shared`."""

    custom: bool
    shared: dict[str, Any]

    def item(self, item: JsonObject) -> dict[str, Any]:
        made: dict[str, Any] = {one: self._operation(item[one]) for one in METHODS if one in item}
        if "parameters" in item:
            # what all operations of a path share, they share whatever the action
            any_of_them = next(item[one] for one in METHODS if one in item)
            made["parameters"] = [self._parameter(one, any_of_them) for one in item["parameters"]]
        return made

    def _operation(self, operation: JsonObject) -> dict[str, Any]:
        given = [*_body(operation.get("requestBody"))]
        given += map(_plain_parameter, operation.get("parameters", ()))
        produced = operation["responses"].get("200", {}).get("content", {})
        return {
            "tags": operation["tags"],
            "operationId": operation["operationId"],
            **_listed("consumes", self._consumed(operation, produced)),
            **_listed("produces", _in_order(produced)),
            "schemes": ["https"],
            **_listed("parameters", [self._mention(one, operation) for one in given]),
            "responses": {code: _answer(one) for code, one in operation["responses"].items()},
            **{key: value for key, value in operation.items() if key.startswith("x-")},
        }

    def _consumed(self, operation: JsonObject, produced: JsonObject) -> list[str]:
        action = operation.get("x-kubernetes-action")
        if action == "patch":
            return [one for one in _PATCHES if one in operation["requestBody"]["content"]]
        if self.custom:
            return list(_CUSTOM_CONSUMED)
        if action is not None:
            return ["*/*"]
        is_object = any("$ref" in one["schema"] for one in produced.values())
        return _in_order(produced) if is_object else []

    def _parameter(self, parameter: JsonObject, operation: JsonObject) -> dict[str, Any]:
        return self._mention(_plain_parameter(parameter), operation)

    def _mention(self, parameter: dict[str, Any], operation: JsonObject) -> dict[str, Any]:
        ending = _ending(parameter, operation)
        if ending is None:
            return parameter
        name = f"{parameter['name']}-{ending}"
        self.shared[name] = parameter
        return {"$ref": _PARAMETERS + name}


def _ending(parameter: JsonObject, operation: JsonObject) -> str | None:
    """The ending of the shared name; None for a parameter that stands where it is used."""
    name, action = parameter["name"], operation.get("x-kubernetes-action", "")
    if name == "path" and parameter["in"] == "path":
        return _PATH_BELOW
    if name == "tailLines" and not is_since("1.32"):
        return _OLD_TAIL_LINES
    if action == "connect":
        action = operation["x-kubernetes-group-version-kind"]["kind"]
    return SHARED_BY.get(action, {}).get(name) or SHARED.get(name)


def _listed(key: str, values: list[Any]) -> JsonObject:
    return {key: values} if values else {}


def _in_order(types: Iterable[str]) -> list[str]:
    known = [one for one in _PRODUCED if one in types]
    return [*known, *sorted(set(types).difference(known))]


def _body(body: JsonObject | None) -> Iterable[dict[str, Any]]:
    if body is None:
        return
    schema = swagger_schema(next(iter(body["content"].values()))["schema"])
    required = {"required": True} if body.get("required") else {}
    yield {"name": "body", "in": "body", **required, "schema": schema}


def _plain_parameter(parameter: JsonObject) -> dict[str, Any]:
    given = {key: value for key, value in parameter.items() if key != "schema"}
    return {**given, **parameter["schema"]}


def _answer(answer: JsonObject) -> dict[str, Any]:
    told = {"description": answer["description"]}
    content = answer.get("content")
    if not content:
        return told
    return {**told, "schema": swagger_schema(next(iter(content.values()))["schema"])}


# --- Swagger protobuf --------------------------------------------------------
#
# The OpenAPI v2 document in protobuf, for clients that take nothing else: kubectl up to 1.28.
#
# The messages are those of google/gnostic `openapiv2/OpenAPIv2.proto`. A table for each says
# which member of the JSON document has which number, in the order of the numbers; members that
# no table has do not exist in v2. Maps are lists of pairs of a name (1) and a value (2). Values
# of any type are texts in YAML, for which their JSON does.


Table: TypeAlias = Mapping[str, tuple[int, Callable[[int, Any], bytes]]]

MEDIA_TYPE: Final = "application/com.github.proto-openapi.spec.v2.v1.0+protobuf"
SWAGGER_TYPES: Final = (MEDIA_TYPE, MEDIA_TYPE.replace("v2.v1", "v2@v1"))
"""What the document is called, and what clients call it, too."""

_VARINT, _FIXED64, _LENGTH = 0, 1, 2


def swagger_bytes(document: JsonObject) -> bytes:
    """The whole document, as the first section makes it."""
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


def _swagger_protobuf_parameter(parameter: JsonObject) -> bytes:
    if parameter["in"] == "body":
        return _message(1, _written(parameter, _BODY))
    number, table = _NOT_BODY[parameter["in"]]
    return _message(2, _message(number, _written(parameter, table)))


def _swagger_protobuf_parameters(number: int, parameters: Sequence[JsonObject]) -> bytes:
    return b"".join([_message(number, _given_or_mentioned(one)) for one in parameters])


def _given_or_mentioned(parameter: JsonObject) -> bytes:
    if "$ref" in parameter:
        return _message(2, _text(1, parameter["$ref"]))
    return _message(1, _swagger_protobuf_parameter(parameter))


def _shared_parameters(number: int, shared: JsonObject) -> bytes:
    return _message(number, _pairs(1, shared, _swagger_protobuf_parameter)) if shared else b""


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
    "parameters": (8, _swagger_protobuf_parameters),
    "responses": (9, _responses),
    "schemes": (10, _texts),
}


def _swagger_protobuf_operation(number: int, operation: JsonObject) -> bytes:
    return _message(number, _written(operation, _OPERATION, 13))


_PATH_ITEM: Final[Table] = {
    "get": (2, _swagger_protobuf_operation),
    "put": (3, _swagger_protobuf_operation),
    "post": (4, _swagger_protobuf_operation),
    "delete": (5, _swagger_protobuf_operation),
    "options": (6, _swagger_protobuf_operation),
    "head": (7, _swagger_protobuf_operation),
    "patch": (8, _swagger_protobuf_operation),
    "parameters": (9, _swagger_protobuf_parameters),
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
    "parameters": (10, _shared_parameters),
    "security": (12, _security),
    "securityDefinitions": (13, _security_definitions),
}
