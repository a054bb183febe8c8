"""Requests for OpenAPI, answered: `/openapi/v3`, its documents, `/openapi/v2`.

A document is named by a hash, which the index tells, so that clients can keep it for ever. The hash
is taken of what the document is made of, and so is known before the document has been made. As
k8s.io/kube-openapi `pkg/handler3` and `pkg/handler`.
"""

from __future__ import annotations

import datetime
import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field, replace
from functools import cached_property
from typing import Any, Final

from celadon import __version__
from celadon.apiserver.discovery.descriptions import Descriptions
from celadon.apiserver.discovery.discovery_documents import PublishedApis, PublishedVersion
from celadon.apiserver.discovery.openapi_documents import Document, info, root_documents
from celadon.apiserver.discovery.openapi_protobuf import (
    VERSION_2,
    VERSION_3,
    document_bytes,
    swagger_bytes,
)
from celadon.apiserver.discovery.swagger import Part, swagger
from celadon.apiserver.http_messages import (
    JSON,
    TEXT,
    VARY_ENCODING,
    Header,
    HttpAnswer,
    HttpRequest,
    compressed,
)
from celadon.apiserver.negotiation import NOT_KEPT, MediaClause, media_clauses
from celadon.kube import JsonObject
from celadon.kube.go import json_text
from celadon.kube.json_types import JsonDict
from celadon.records import dataclass

INDEX: Final = "/openapi/v3"
SWAGGER: Final = "/openapi/v2"
_EXPIRES: Final = "%a, %d %b %Y %H:%M:%S UTC"


@dataclass(frozen=True, slots=True, eq=False)
class Kept:
    """What stays when definitions change: documents by their hashes, and the hashes of definitions
    by their names, each with the object that it is of."""

    documents: dict[str, bytes] = field(default_factory=dict, repr=False)
    definitions: dict[str, tuple[JsonObject, str]] = field(default_factory=dict, repr=False)


# House rule 9: without slots, because `cached_property` needs the instance dictionary.
@dataclass(frozen=True, eq=False)
class OpenApi:
    """What is said of the APIs in OpenAPI. `definitions` are the CustomResourceDefinitions by the
    name of their resource with its group, `open_id` the paths of the OpenID documents that there
    are. Documents are made when they are first asked for."""

    apis: PublishedApis
    definitions: Mapping[str, JsonObject]
    release: str
    open_id: Sequence[str] = ()
    descriptions: Descriptions | None = None
    kept: Kept = field(default_factory=Kept, repr=False)

    def renewed(self, apis: PublishedApis, definitions: Mapping[str, JsonObject]) -> OpenApi:
        """Returns the same for other APIs. Documents that they do not change stay as they are."""
        return replace(self, apis=apis, definitions=definitions)

    @cached_property
    def hashes(self) -> Mapping[str, str]:
        """Of every document, by its path (`apis/apps/v1`)."""
        of_versions = {one.path: self._hash(one) for one in self.apis.versions}
        of_others = {path: self._hash_of(json_text(one)) for path, one in self._others.items()}
        hashes = {**of_versions, **of_others}
        documents = self.kept.documents
        for digest in documents.keys() - set(hashes.values()):
            documents.pop(digest, None)
        return hashes

    @cached_property
    def _others(self) -> Mapping[str, JsonObject]:
        return root_documents(self.apis, self.open_id, self.release, self.descriptions)

    def _hash(self, version: PublishedVersion) -> str:
        names = {str(one.gvr.group_resource) for one in version.resources if one.custom}
        specs = [self._spec_hashes[name] for name in sorted(names & self.definitions.keys())]
        return self._hash_of(f"{version} {specs}")

    @cached_property
    def _spec_hashes(self) -> Mapping[str, str]:
        known = self.kept.definitions
        for name in known.keys() - self.definitions.keys():
            known.pop(name, None)
        for name, definition in self.definitions.items():
            if known.get(name, (None, ""))[0] is not definition:
                known[name] = definition, _digest(json_text(definition["spec"]))
        return {name: digest for name, (_, digest) in known.items()}

    def _hash_of(self, content: str) -> str:
        texts = "" if self.descriptions is None else self.descriptions.fingerprint
        return _digest(f"{__version__} {self.release} {texts} {content}")

    def document(self, path: str) -> bytes:
        """KeyError where there is none."""
        digest = self.hashes[path]
        made = self.kept.documents.get(digest)
        if made is None:
            made = _written(self._content(path), levels=3)
            self.kept.documents[digest] = made
        return made

    def document_protobuf(self, path: str) -> bytes:
        """The same in protobuf, which hardly anybody asks for: it is not kept. Raises KeyError."""
        return document_bytes(self._content(path))

    def _content(self, path: str) -> JsonObject:
        if path in self._others:
            return self._others[path]
        version = next(one for one in self.apis.versions if one.path == path)
        return Document(version, self.definitions, self.release, self.descriptions).content()

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
        return _written(self._swagger(), levels=2)

    @cached_property
    def swagger_protobuf(self) -> bytes:
        """The same in protobuf."""
        return swagger_bytes(self._swagger())

    def _swagger(self) -> JsonDict:
        return swagger(self._parts(), info(self.release))

    def _parts(self) -> Iterator[Part]:
        for path, one in self._others.items():
            if path != "logs":
                yield Part(one["paths"], one["components"].get("schemas", {}))
        for version in self.apis.versions:
            document = Document(version, self.definitions, self.release, self.descriptions)
            yield Part(*document.version_2(), custom=version.custom)

    @cached_property
    def swagger_hash(self) -> str:
        """Changes when that of any group version does."""
        return _digest("".join(self.hashes.values()))


def _written(value: Any, levels: int) -> bytes:  # noqa: ANN401 - JSON
    """JSON, each member of so many levels by itself: no other thread runs while one call writes,
    and definitions make documents of tens of megabytes."""
    if not levels or not isinstance(value, dict):
        return json_text(value).encode("utf-8", "replace")
    members = [_written(key, 0) + b":" + _written(one, levels - 1) for key, one in value.items()]
    return b"{" + b",".join(members) + b"}"


def _digest(text: str) -> str:
    return hashlib.sha512(text.encode("utf-8", "replace")).hexdigest().upper()


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
    taken = _taken(request, (JSON, *VERSION_3))
    if taken is None:
        return HttpAnswer(406, headers=(("Vary", "Accept"), NOT_KEPT))
    asked = request.first("hash")
    is_json = taken == JSON
    media_type = JSON if is_json else VERSION_3[0]
    if not is_json:
        digest = _digest(f"{media_type} {digest}")
    headers: tuple[Header, ...] = (("Vary", "Accept"), ("ETag", f'"{digest}"'))
    if asked and asked != digest:
        location = ("Location", f"{INDEX}/{path}?hash={digest}")
        return HttpAnswer(301, media_type, headers=(*headers, location, NOT_KEPT))
    if asked:
        year = datetime.timedelta(days=365)
        expires = datetime.datetime.fromtimestamp(now, datetime.UTC) + year
        kept = ("Cache-Control", "public, immutable")
        headers = (*headers, kept, ("Expires", expires.strftime(_EXPIRES)))
    else:
        headers = (*headers, NOT_KEPT)
    if request.header("if-none-match") == f'"{digest}"':
        return HttpAnswer(304, headers=headers)
    body = openapi.document(path) if is_json else openapi.document_protobuf(path)
    return HttpAnswer(200, media_type, body, headers)


def _swagger_answer(request: HttpRequest, openapi: OpenApi) -> HttpAnswer:
    """Unlike documents of version 3, this one is compressed for those who can read that."""
    taken = _taken(request, (JSON, *VERSION_2))
    if taken is None:
        return HttpAnswer(406, headers=(VARY_ENCODING, ("Vary", "Accept"), NOT_KEPT))
    tag = f'"{openapi.swagger_hash}"'
    headers = (VARY_ENCODING, ("Vary", "Accept"), ("ETag", tag), NOT_KEPT)
    if request.header("if-none-match") == tag:
        return HttpAnswer(304, headers=headers)
    if taken == JSON:
        answer = HttpAnswer(200, JSON, openapi.swagger, headers)
    else:
        answer = HttpAnswer(200, VERSION_2[0], openapi.swagger_protobuf, headers)
    return compressed(answer, request)


def _taken(request: HttpRequest, types: Sequence[str]) -> str | None:
    """Return which of the types the client wants most; a client that takes none has to do
    without."""
    given = ", ".join(request.header_values("accept"))
    clauses = media_clauses(given) or [MediaClause("*", "*")]
    return next((one for clause in clauses for one in types if clause.fits(one)), None)
