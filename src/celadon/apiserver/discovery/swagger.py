"""Requests for OpenAPI, answered: `/openapi/v3`, its documents, `/openapi/v2`.

A document is named by a hash, which the index tells, so that clients can keep it for ever. The hash
is taken of what the document is made of, and so is known before the document has been made. As
k8s.io/kube-openapi `pkg/handler3` and `pkg/handler`.
"""

from __future__ import annotations

import datetime
import hashlib
import json
import struct
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import field
from functools import cached_property
from typing import Any, Final, TypeAlias

from celadon import __version__
from celadon.apiserver.answers import NOT_KEPT
from celadon.apiserver.discovery.discovery_documents import PublishedApis, PublishedVersion
from celadon.apiserver.discovery.openapi import METHODS, SECURITY, built_in_schema, paths, reference
from celadon.apiserver.http_messages import JSON, TEXT, Header, HttpAnswer, HttpRequest
from celadon.apiserver.negotiation import MediaClause, media_clauses
from celadon.kube import GroupVersion, GroupVersionKind, JsonObject
from celadon.kube.go import json_text
from celadon.kube.protobuf import sized, tag, varint
from celadon.kube.releases import per_release
from celadon.kube.resources import Resource
from celadon.kube.schemas import META_PREFIX, REFERENCE_PREFIX, component, component_name
from celadon.patterns import late_pattern
from celadon.records import dataclass

# --- Swagger document --------------------------------------------------------
#
# The OpenAPI v2 document (`/openapi/v2`): all group versions in one, made of their v3
# documents.
#
# Clients that know v3 do not ask for it. `swagger_protobuf` has it for those that take no JSON.


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
    return b"".join(
        [_message(number, _message(1, _swagger_protobuf_parameter(one))) for one in parameters]
    )


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
    "security": (12, _security),
    "securityDefinitions": (13, _security_definitions),
}


# --- Version documents -------------------------------------------------------
#
# The OpenAPI v3 document of a group version: its paths, and every type that they lead to.
#
# Types of custom resources are the schemas of their definitions as they were given, with the
# members that every object has; as k8s.io/apiextensions-apiserver
# `pkg/controller/openapi/builder`.


IN_EVERY_VERSION: Final = frozenset({f"{META_PREFIX}DeleteOptions", f"{META_PREFIX}WatchEvent"})
"""Kinds that belong to every group version that has them."""

OF_EVERY_CUSTOM_TYPE: Final = frozenset({f"{META_PREFIX}ObjectMeta", f"{META_PREFIX}ListMeta"})
"""What custom resources and their lists mention; definitions cannot mention anything."""

_MENTION: Final = late_pattern(f'"{REFERENCE_PREFIX}([^"]+)"')
_OPEN: Final = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
_TEXT: Final = {"type": "string"}


@dataclass(frozen=True, slots=True)
class Document:
    """Holds what a document is made of. `definitions` are the CustomResourceDefinitions by the name
    of their resource with its group; `release` is shown as the version of the API."""

    version: PublishedVersion
    definitions: Mapping[str, JsonObject]
    release: str

    def content(self) -> dict[str, Any]:
        """The document."""
        own = self._custom_schemas()
        kinds = {GroupVersionKind(*_kind_of(one)): name for name, one in own.items()}

        def type_name(kind: GroupVersionKind) -> str:
            found = kinds.get(kind) or component_name(kind)
            assert found is not None, kind
            return found

        made = paths(self.version, type_name)
        group_version = self.version.group_version
        return {
            "openapi": "3.0.0",
            "info": {"title": "Kubernetes", "version": self.release},
            "paths": made,
            "components": {
                "schemas": _reached(made, own, group_version),
                "securitySchemes": SECURITY,
            },
        }

    def _custom_schemas(self) -> dict[str, JsonObject]:
        found: dict[str, JsonObject] = {}
        for resource in self.version.resources:
            definition = self.definitions.get(str(resource.gvr.group_resource))
            if definition is not None and resource.custom:
                found.update(_of_definition(resource, definition))
        return found


def _of_definition(resource: Resource, definition: JsonObject) -> dict[str, JsonObject]:
    """The types of a custom resource and of its lists."""
    kind, list_kind = resource.gvk, resource.gvk._replace(kind=resource.list_kind)
    name = custom_type_name(kind)
    given = _given_schema(resource, definition)
    members = {"apiVersion": _TEXT, "kind": _TEXT}
    obj = {
        **given,
        "type": "object",
        "properties": {
            **given.get("properties", {}),
            **members,
            "metadata": {"allOf": [reference(f"{META_PREFIX}ObjectMeta")]},
        },
        "x-kubernetes-group-version-kind": _version_documents_kinds(kind),
    }
    listed = {
        "description": f"{resource.list_kind} is a list of {kind.kind}",
        "type": "object",
        "required": ["items"],
        "properties": {
            **members,
            "items": {"type": "array", "items": reference(name)},
            "metadata": {"allOf": [reference(f"{META_PREFIX}ListMeta")]},
        },
        "x-kubernetes-group-version-kind": _version_documents_kinds(list_kind),
    }
    return {name: obj, custom_type_name(list_kind): listed}


def _given_schema(resource: Resource, definition: JsonObject) -> JsonObject:
    for version in definition["spec"].get("versions") or ():
        if version["name"] == resource.gvr.version:
            found: JsonObject = (version.get("schema") or {}).get("openAPIV3Schema") or _OPEN
            return found
    return _OPEN


def custom_type_name(kind: GroupVersionKind) -> str:
    """`io.example.v1.Widget` of `Widget` in `example.io/v1`."""
    return ".".join((*reversed(kind.group.split(".")), kind.version, kind.kind))


def _reached(
    made: JsonObject, own: Mapping[str, JsonObject], group_version: GroupVersion
) -> dict[str, Any]:
    """All types that the paths mention, and those that these mention, sorted."""
    found: dict[str, Any] = {}
    waiting = _mentioned(made)
    while waiting:
        name = waiting.pop()
        if name in own:
            found[name] = own[name]
            mentioned = OF_EVERY_CUSTOM_TYPE
        else:
            found[name] = {**built_in_schema(name), **_own_kinds(name, group_version)}
            mentioned = _mentioned_by(name)
        waiting |= mentioned - found.keys()
    return dict(sorted(found.items()))


@per_release()
def _mentioned_by(name: str) -> frozenset[str]:
    return frozenset(_mentioned(built_in_schema(name)))


def _mentioned(value: JsonObject) -> set[str]:
    """Of what holds no texts of users."""
    return set(_MENTION.findall(json.dumps(value)))


def _own_kinds(name: str, group_version: GroupVersion) -> JsonObject:
    kind = _built_in_kind(name)
    if kind is None:
        return {}
    kinds = _version_documents_kinds(kind)
    if name in IN_EVERY_VERSION and group_version != kind.group_version:
        kinds += _version_documents_kinds(GroupVersionKind(*group_version, kind.kind))
    return {"x-kubernetes-group-version-kind": kinds}


def _built_in_kind(name: str) -> GroupVersionKind | None:
    if name in IN_EVERY_VERSION:
        return GroupVersionKind("", "v1", name.removeprefix(META_PREFIX))
    try:
        return component(name).gvk
    except KeyError:
        return None


def _version_documents_kinds(kind: GroupVersionKind) -> list[dict[str, str]]:
    return [{"group": kind.group, "kind": kind.kind, "version": kind.version}]


def _kind_of(schema: JsonObject) -> tuple[str, str, str]:
    kind = schema["x-kubernetes-group-version-kind"][0]
    return kind["group"], kind["version"], kind["kind"]


INDEX: Final = "/openapi/v3"
SWAGGER: Final = "/openapi/v2"
_EXPIRES: Final = "%a, %d %b %Y %H:%M:%S UTC"


# House rule 9: without slots, because `cached_property` needs the instance dictionary.
@dataclass(frozen=True, eq=False)
class OpenApi:
    """What is said of the APIs in OpenAPI. `definitions` are the CustomResourceDefinitions by the
    name of their resource with its group. Documents are made when they are first asked for."""

    apis: PublishedApis
    definitions: Mapping[str, Mapping[str, Any]]
    release: str
    _made: dict[str, bytes] = field(default_factory=dict, repr=False)

    @cached_property
    def hashes(self) -> Mapping[str, str]:
        """Of every document, by its path (`apis/apps/v1`)."""
        return {one.path: self._hash(one) for one in self.apis.versions}

    def _hash(self, version: PublishedVersion) -> str:
        names = {str(one.gvr.group_resource) for one in version.resources if one.custom}
        specs = [self.definitions[name]["spec"] for name in sorted(names & self.definitions.keys())]
        made_of = f"{__version__} {self.release} {version} {json_text(specs)}"
        return hashlib.sha512(made_of.encode("utf-8", "replace")).hexdigest().upper()

    def document(self, path: str) -> bytes:
        """KeyError where there is none."""
        if path not in self._made:
            version = next((one for one in self.apis.versions if one.path == path), None)
            if version is None:
                raise KeyError(path)
            content = Document(version, self.definitions, self.release).content()
            self._made[path] = json_text(content).encode("utf-8", "replace")
        return self._made[path]

    @cached_property
    def index(self) -> bytes:
        """The documents there are, with their hashes; those of other servers have their own."""
        urls = {
            path: {"serverRelativeURL": f"{INDEX}/{path}?hash={digest}"}
            for path, digest in self.hashes.items()
        }
        for one in self.apis.remote:
            if one.openapi:
                urls[f"apis/{one.group_version}"] = {"serverRelativeURL": one.openapi}
        return json_text({"paths": dict(sorted(urls.items()))}).encode("utf-8", "replace")

    @cached_property
    def swagger(self) -> bytes:
        """The document of version 2."""
        return json_text(self._swagger()).encode("utf-8", "replace")

    @cached_property
    def swagger_protobuf(self) -> bytes:
        """The same in protobuf."""
        return swagger_bytes(self._swagger())

    def _swagger(self) -> dict[str, Any]:
        return swagger(
            Document(one, self.definitions, self.release).content() for one in self.apis.versions
        )

    @cached_property
    def swagger_hash(self) -> str:
        """Changes when that of any group version does."""
        return hashlib.sha512("".join(self.hashes.values()).encode()).hexdigest().upper()


def openapi_answer(request: HttpRequest, openapi: OpenApi, now: float) -> HttpAnswer | None:
    """None for paths that are not of OpenAPI."""
    path = request.path
    if path == INDEX:
        return HttpAnswer(200, TEXT, openapi.index, (NOT_KEPT,))
    if path == SWAGGER:
        return _swagger_answer(request, openapi)
    if path.startswith(f"{INDEX}/"):
        return _document_answer(request, openapi, path.removeprefix(f"{INDEX}/"), now)
    return None


def _document_answer(request: HttpRequest, openapi: OpenApi, path: str, now: float) -> HttpAnswer:
    digest = openapi.hashes.get(path)
    if digest is None:
        return HttpAnswer(404, headers=(NOT_KEPT,))
    if _taken(request, (JSON,)) is None:
        return HttpAnswer(406, headers=(("Vary", "Accept"), NOT_KEPT))
    asked = request.first("hash")
    headers: tuple[Header, ...] = (("Vary", "Accept"), ("ETag", f'"{digest}"'))
    if asked and asked != digest:
        location = ("Location", f"{INDEX}/{path}?hash={digest}")
        return HttpAnswer(301, JSON, headers=(*headers, location, NOT_KEPT))
    if asked:
        year = datetime.timedelta(days=365)
        expires = datetime.datetime.fromtimestamp(now, datetime.UTC) + year
        kept = ("Cache-Control", "public, immutable")
        headers = (*headers, kept, ("Expires", expires.strftime(_EXPIRES)))
    else:
        headers = (*headers, NOT_KEPT)
    if request.header("if-none-match") == f'"{digest}"':
        return HttpAnswer(304, headers=headers)
    return HttpAnswer(200, JSON, openapi.document(path), headers)


def _swagger_answer(request: HttpRequest, openapi: OpenApi) -> HttpAnswer:
    taken = _taken(request, (JSON, *SWAGGER_TYPES))
    if taken is None:
        return HttpAnswer(406, headers=(("Vary", "Accept"), NOT_KEPT))
    tag = f'"{openapi.swagger_hash}"'
    headers = (("Vary", "Accept"), ("ETag", tag), NOT_KEPT)
    if request.header("if-none-match") == tag:
        return HttpAnswer(304, headers=headers)
    if taken == JSON:
        return HttpAnswer(200, JSON, openapi.swagger, headers)
    return HttpAnswer(200, MEDIA_TYPE, openapi.swagger_protobuf, headers)


def _taken(request: HttpRequest, types: Sequence[str]) -> str | None:
    """Which of the types the client wants most; a client that takes none has to do without."""
    given = ", ".join(request.header_values("accept"))
    clauses = media_clauses(given) or [MediaClause("*", "*")]
    return next((one for clause in clauses for one in types if clause.fits(one)), None)
