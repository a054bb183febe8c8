"""Requests for OpenAPI, answered: `/openapi/v3`, its documents, and `/openapi/v2`, which is made
here.

A document is named by a hash, which the index tells, so that clients can keep it for ever. The hash
is taken of what the document is made of, and so is known before the document has been made. As
k8s.io/kube-openapi `pkg/handler3` and `pkg/handler`.
"""

from __future__ import annotations

import base64
import datetime
import hashlib
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any, Final

from celadon import __version__
from celadon.apiserver import http_messages
from celadon.apiserver.discovery import openapi_protobuf
from celadon.apiserver.discovery.discovery_documents import PublishedApis, PublishedVersion
from celadon.apiserver.discovery.merged_openapi import DEFINITIONS, PARAMETERS, merged
from celadon.apiserver.discovery.openapi_descriptions import Descriptions
from celadon.apiserver.discovery.openapi_documents import Document, info, root_documents
from celadon.apiserver.discovery.openapi_paths import METHODS, SECURITY, in_go_order
from celadon.apiserver.negotiation import NOT_KEPT, PROTOBUF, YAML, accept_header, media_clauses
from celadon.kube import JsonObject
from celadon.kube.go import json_text, sorted_members
from celadon.kube.json_types import JsonDict
from celadon.kube.schemas import REFERENCE_PREFIX
from celadon.late_patterns import late_pattern
from celadon.records import dataclass, field, replace

# --- The document of version 2 -----------------------------------------------
#
# The document of OpenAPI version 2.
#
# It is made of what the documents of version 3 are made of. As k8s.io/kube-openapi `pkg/builder`
# and `pkg/handler`.

# --- Swagger document --------------------------------------------------------
#
# All group versions in one document, made of the same paths and types as those of version 3.
#
# Clients that know version 3 do not ask for it. Parameters that many operations share stand
# once; upstream names them by a hash of all that it says of them, its texts included.

_NOT_IN_VERSION_2: Final = frozenset({"default", "oneOf", "anyOf", "allOf", "not", "nullable"})

_PARAMETER_MEMBERS: Final = (
    *("uniqueItems", "type", "description", "name", "in", "required", "schema"),
)
"""In the order in which Go writes them, of which the names of shared parameters are made."""
_NEVER_SHARED: Final = frozenset({"name", "dryRun", "fieldValidation"})
"""Old clients look for two of them where they are; the name is of one kind."""
_OF_ALL_KINDS: Final = f"{DEFINITIONS}io.k8s.apimachinery"

_CUSTOM_CONSUMED: Final = (http_messages.JSON, YAML)
_PRODUCED: Final = ("text/plain", http_messages.JSON, YAML, PROTOBUF)
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


def swagger(parts: Iterable[Part], info: JsonObject) -> JsonDict:
    """Return one document of version 2."""
    paths: JsonDict = {}
    definitions: JsonDict = {}
    shared: JsonDict = {}
    names: dict[tuple[str, ...], str] = {}
    for part in parts:
        writer = _ItemWriter(part.custom, shared, names)
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
        "securityDefinitions": {
            name: {"description": way["description"], **way} for name, way in SECURITY.items()
        },
        "security": [{"BearerToken": []}],
    }


def swagger_schema(schema: JsonObject) -> JsonDict:
    """Return a schema without what version 2 cannot say: mentions stand alone, alternatives become
    texts. Defaults are left out, too."""
    if "$ref" in schema:
        return {"$ref": DEFINITIONS + schema["$ref"].removeprefix(REFERENCE_PREFIX)}
    mention = schema.get("allOf", ())
    if len(mention) == 1 and "$ref" in mention[0]:
        rest = {key: value for key, value in schema.items() if key not in _NOT_IN_VERSION_2}
        return in_go_order({**swagger_schema(mention[0]), **rest})
    result = {key: value for key, value in schema.items() if key not in _NOT_IN_VERSION_2}
    if "oneOf" in schema and "type" not in result:
        result = in_go_order({**result, "type": "string"})
    for key in ("items", "additionalProperties"):
        if isinstance(result.get(key), Mapping):
            result[key] = swagger_schema(result[key])
    if "properties" in result:
        result["properties"] = {
            name: swagger_schema(member) for name, member in result["properties"].items()
        }
    return result


@dataclass(frozen=True, slots=True)
class _ItemWriter:
    """Writes paths; parameters that operations share are added to `shared`, and their names to
    `names`, by what they say."""

    custom: bool
    shared: JsonDict
    names: dict[tuple[str, ...], str]

    def item(self, item: JsonObject) -> JsonDict:
        result: JsonDict = {
            method: self._operation(item[method]) for method in METHODS if method in item
        }
        if "parameters" in item:
            result["parameters"] = [
                self._mention(_plain_parameter(parameter)) for parameter in item["parameters"]
            ]
        return result

    def _operation(self, operation: JsonObject) -> JsonDict:
        parameters = [*_body(operation.get("requestBody"))]
        parameters += map(_plain_parameter, operation.get("parameters", ()))
        produced = operation["responses"].get("200", {}).get("content", {})
        about = operation.get("description")
        return {
            **({} if about is None else {"description": about}),
            **_listed("consumes", self._consumed(operation, produced)),
            **_listed("produces", _in_order(produced)),
            "schemes": ["https"],
            "tags": operation["tags"],
            "operationId": operation["operationId"],
            **_listed("parameters", list(map(self._mention, parameters))),
            "responses": {
                code: _answer(response) for code, response in operation["responses"].items()
            },
            **{
                key: sorted_members(value)
                for key, value in operation.items()
                if key.startswith("x-")
            },
        }

    def _consumed(self, operation: JsonObject, produced: JsonObject) -> list[str]:
        action = operation.get("x-kubernetes-action")
        if action == "patch":
            return [patch for patch in _PATCHES if patch in operation["requestBody"]["content"]]
        if self.custom:
            return list(_CUSTOM_CONSUMED)
        if action is not None:
            return ["*/*"]
        is_object = any("$ref" in member["schema"] for member in produced.values())
        return _in_order(produced) if is_object else []

    def _mention(self, parameter: JsonDict) -> JsonDict:
        """Return the parameter, or where it stands among those that operations share. As
        k8s.io/kube-openapi `pkg/builder/parameters.go`."""
        taken = parameter.get("schema", {}).get("$ref", "")
        is_of_a_kind = taken and not taken.startswith(_OF_ALL_KINDS)
        if is_of_a_kind or parameter["name"] in _NEVER_SHARED:
            return parameter
        meaning = (parameter["name"], parameter["in"], taken, parameter.get("description", ""))
        name = self.names.get(meaning)
        if name is None:
            name = f"{parameter['name']}-{_fowler_noll_vo(json_text(parameter))}"
            self.names[meaning] = name
            self.shared[name] = parameter
        return {"$ref": PARAMETERS + name}


def _fowler_noll_vo(text: str) -> str:
    """Return the first 48 bits of the hash FNV-1 of a text, in base64."""
    digest = 0xCBF29CE484222325
    for byte in text.encode():
        digest = digest * 0x100000001B3 % 2**64 ^ byte
    return base64.urlsafe_b64encode(digest.to_bytes(8)[:6]).decode()


def _listed(key: str, values: list[Any]) -> JsonObject:
    return {key: values} if values else {}


def _in_order(types: Iterable[str]) -> list[str]:
    produced = [item for item in _PRODUCED if item in types]
    return [*produced, *sorted(set(types).difference(produced))]


def _body(body: JsonObject | None) -> Iterable[JsonDict]:
    if body is None:
        return
    schema = swagger_schema(next(iter(body["content"].values()))["schema"])
    required = {"required": True} if body.get("required") else {}
    yield {"name": "body", "in": "body", **required, "schema": schema}


def _plain_parameter(parameter: JsonObject) -> JsonDict:
    members = {**parameter, **parameter["schema"]}
    del members["schema"]
    return {key: members[key] for key in _PARAMETER_MEMBERS if key in members}


def _answer(answer: JsonObject) -> JsonDict:
    response = {"description": answer["description"]}
    content = answer.get("content")
    if not content:
        return response
    return {**response, "schema": swagger_schema(next(iter(content.values()))["schema"])}


INDEX: Final = "/openapi/v3"
SWAGGER: Final = "/openapi/v2"
_EXPIRES: Final = "%a, %d %b %Y %H:%M:%S UTC"


@dataclass(frozen=True, slots=True, eq=False)
class DocumentCache:
    """Holds what stays when definitions change: documents by their hashes, and the hashes of
    definitions by their names, each with the object that it is of."""

    documents: dict[str, bytes] = field(default_factory=dict, repr=False)
    """Compressed: what they say of parameters, they say again for each operation."""
    definitions: dict[str, tuple[JsonObject, str]] = field(default_factory=dict, repr=False)


# House rule 9: without slots, because `cached_property` needs the instance dictionary.
@dataclass(frozen=True, eq=False)
class OpenApi:
    """Makes the documents of OpenAPI when they are first asked for. `definitions` are the
    CustomResourceDefinitions by the name of their resource with its group, `open_id` the paths of
    the OpenID documents that there are."""

    apis: PublishedApis
    definitions: Mapping[str, JsonObject]
    release: str
    open_id: Sequence[str] = ()
    descriptions: Descriptions | None = None
    document_cache: DocumentCache = field(default_factory=DocumentCache, repr=False)

    def renewed(self, apis: PublishedApis, definitions: Mapping[str, JsonObject]) -> OpenApi:
        """Return the same for other APIs. Documents that they do not change stay as they are."""
        return replace(self, apis=apis, definitions=definitions)

    @cached_property
    def hashes(self) -> Mapping[str, str]:
        """Return the hash of every document by its path (`apis/apps/v1`), and forget documents of
        former hashes."""
        of_versions = {version.path: self._hash(version) for version in self.apis.versions}
        of_others = {
            path: self._hash_of(json_text(member)) for path, member in self._others.items()
        }
        hashes = {**of_versions, **of_others}
        documents = self.document_cache.documents
        for digest in documents.keys() - set(hashes.values()):
            documents.pop(digest, None)
        return hashes

    @cached_property
    def _others(self) -> Mapping[str, JsonObject]:
        return root_documents(self.apis, self.open_id, self.release, self.descriptions)

    def _hash(self, version: PublishedVersion) -> str:
        names = {
            str(resource.gvr.group_resource) for resource in version.resources if resource.custom
        }
        specs = [self._spec_hashes[name] for name in sorted(names & self.definitions.keys())]
        return self._hash_of(f"{version} {specs}")

    @cached_property
    def _spec_hashes(self) -> Mapping[str, str]:
        definitions = self.document_cache.definitions
        for name in definitions.keys() - self.definitions.keys():
            definitions.pop(name, None)
        for name, definition in self.definitions.items():
            if definitions.get(name, (None, ""))[0] is not definition:
                definitions[name] = definition, _digest(json_text(definition["spec"]))
        return {name: digest for name, (_, digest) in definitions.items()}

    def _hash_of(self, content: str) -> str:
        texts = "" if self.descriptions is None else self.descriptions.fingerprint
        return _digest(f"{__version__} {self.release} {texts} {content}")

    def document(self, path: str) -> bytes:
        """Return a document by its path. Raises KeyError where there is none."""
        digest = self.hashes[path]
        compressed = self.document_cache.documents.get(digest)
        if compressed is not None:
            return zlib.decompress(compressed)
        document = _written(self._content(path), levels=3)
        self.document_cache.documents[digest] = zlib.compress(document, zlib.Z_BEST_SPEED)
        return document

    def document_protobuf(self, path: str) -> bytes:
        """Return the document in protobuf, which hardly anybody asks for: it is not kept. Raises
        KeyError."""
        return openapi_protobuf.document_bytes(self._content(path))

    def _content(self, path: str) -> JsonObject:
        if path in self._others:
            return self._others[path]
        version = next(version for version in self.apis.versions if version.path == path)
        return Document(version, self.definitions, self.release, self.descriptions).content()

    @cached_property
    def index(self) -> bytes:
        """The documents there are, with their hashes; those of other servers have their own."""
        urls = {
            path: {"serverRelativeURL": f"{INDEX}/{path}?hash={digest}"}
            for path, digest in self.hashes.items()
        }
        for version in self.apis.remote:
            if version.openapi:
                urls[f"apis/{version.group_version}"] = {"serverRelativeURL": version.openapi}
        return json_text({"paths": dict(sorted(urls.items()))}).encode("utf-8", "replace")

    @cached_property
    def swagger(self) -> bytes:
        """Return the document of version 2."""
        return _written(self._swagger(), levels=2)

    @cached_property
    def swagger_protobuf(self) -> bytes:
        """Return the same in protobuf."""
        return openapi_protobuf.swagger_bytes(self._swagger())

    def _swagger(self) -> JsonDict:
        document = swagger(self._parts(), info(self.release))
        return merged(document, self._swaggers) if self._swaggers else document

    @cached_property
    def _swaggers(self) -> Sequence[JsonObject]:
        """Return what other servers say of their versions, those first that come first in the
        discovery."""
        ranked = sorted(
            self.apis.remote,
            key=lambda version: (
                -version.group_priority,
                version.group_version.group,
                -version.version_priority,
            ),
        )
        return [version.swagger for version in ranked if version.swagger is not None]

    def _parts(self) -> Iterator[Part]:
        for member in self._others.values():
            yield Part(member["paths"], member["components"].get("schemas", {}))
        for version in self.apis.versions:
            document = Document(version, self.definitions, self.release, self.descriptions)
            yield Part(*document.version_2(), custom=version.custom)

    @cached_property
    def swagger_hash(self) -> str:
        """Changes when that of any group version does, or what another server says."""
        return _digest("".join([*self.hashes.values(), *map(json_text, self._swaggers)]))


def _written(value: Any, levels: int) -> bytes:  # noqa: ANN401 - JSON
    """Write JSON, each member of so many levels by itself: no other thread runs while one call
    writes, and definitions make documents of tens of megabytes."""
    if not levels or not isinstance(value, dict):
        return json_text(value).encode("utf-8", "replace")
    members = [
        _written(key, 0) + b":" + _written(member, levels - 1) for key, member in value.items()
    ]
    return b"{" + b",".join(members) + b"}"


def _digest(text: str) -> str:
    return hashlib.sha512(text.encode("utf-8", "replace")).hexdigest().upper()


def openapi_answer(
    request: http_messages.HttpRequest, openapi: OpenApi, now: float
) -> http_messages.HttpAnswer | None:
    """Answer a request for OpenAPI; return None for paths that are not of OpenAPI."""
    path = request.path
    if path == INDEX:
        return http_messages.HttpAnswer(200, http_messages.TEXT, openapi.index, (NOT_KEPT,))
    if path == SWAGGER:
        return _swagger_answer(request, openapi)
    if path.startswith(f"{INDEX}/"):
        return _document_answer(request, openapi, path.removeprefix(f"{INDEX}/"), now)
    return None


def _document_answer(
    request: http_messages.HttpRequest, openapi: OpenApi, path: str, now: float
) -> http_messages.HttpAnswer:
    digest = openapi.hashes.get(path)
    if digest is None:
        return http_messages.HttpAnswer(404, headers=(NOT_KEPT,))
    accepted = _taken(request, (http_messages.JSON, *openapi_protobuf.VERSION_3))
    if accepted is None:
        return http_messages.HttpAnswer(406, headers=(("Vary", "Accept"), NOT_KEPT))
    first = request.first("hash")
    is_json = accepted == http_messages.JSON
    media_type = http_messages.JSON if is_json else openapi_protobuf.VERSION_3[0]
    if not is_json:
        digest = _digest(f"{media_type} {digest}")
    headers: tuple[http_messages.Header, ...] = (("Vary", "Accept"), ("ETag", f'"{digest}"'))
    if first and first != digest:
        location = ("Location", f"{INDEX}/{path}?hash={digest}")
        return http_messages.HttpAnswer(301, media_type, headers=(*headers, location, NOT_KEPT))
    if first:
        year = datetime.timedelta(days=365)
        expires = datetime.datetime.fromtimestamp(now, datetime.UTC) + year
        caching = ("Cache-Control", "public, immutable")
        headers = (*headers, caching, ("Expires", expires.strftime(_EXPIRES)))
    else:
        headers = (*headers, NOT_KEPT)
    if _names(request.header("if-none-match"), f'"{digest}"'):
        return http_messages.HttpAnswer(304, headers=headers)
    body = openapi.document(path) if is_json else openapi.document_protobuf(path)
    return http_messages.HttpAnswer(200, media_type, body, headers)


def _swagger_answer(
    request: http_messages.HttpRequest, openapi: OpenApi
) -> http_messages.HttpAnswer:
    """Return the answer, which is compressed for those who can read that, unlike documents of
    version 3."""
    media_type = _taken(request, (http_messages.JSON, *openapi_protobuf.VERSION_2))
    if media_type is None:
        return http_messages.HttpAnswer(
            406, headers=(http_messages.VARY_ENCODING, ("Vary", "Accept"), NOT_KEPT)
        )
    tag = f'"{openapi.swagger_hash}"'
    headers = (http_messages.VARY_ENCODING, ("Vary", "Accept"), ("ETag", tag), NOT_KEPT)
    if _names(request.header("if-none-match"), tag):
        return http_messages.HttpAnswer(304, headers=headers)
    if media_type == http_messages.JSON:
        answer = http_messages.HttpAnswer(200, http_messages.JSON, openapi.swagger, headers)
    else:
        answer = http_messages.HttpAnswer(
            200, openapi_protobuf.VERSION_2[0], openapi.swagger_protobuf, headers
        )
    return http_messages.compressed(answer, request)


_ANY_TAG: Final = late_pattern(r'[ \t\r\n,]*+(?:\*|(?:W/)?("[\x21\x23-\x7e\x80-\U0010ffff]*+"))')


def _names(header: str | None, tag: str) -> bool:
    """Return whether one of the tags of a header `If-None-Match` is this one, weak or not, or `*`;
    what is no tag ends them. As `http.ServeContent` of Go."""
    start = 0
    while found := _ANY_TAG.match(header or "", start):
        if found[1] in (tag, None):
            return True
        start = found.end()
    return False


def _taken(request: http_messages.HttpRequest, types: Sequence[str]) -> str | None:
    """Return which of the types the client wants most; a client that takes none has to do
    without."""
    clauses = media_clauses(accept_header(request))
    return next((type_ for clause in clauses for type_ in types if clause.fits(type_)), None)
