"""The documents that extension servers say in what they offer.

Only what is known of them is read, in the types that it must have. Loaded when there is one to
read: making the types takes longer than the rest of the room.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeVar

import msgspec

from celadon.apiserver.discovery.merged_openapi import of_paths
from celadon.apiserver.discovery.openapi_protobuf import swagger_bytes
from celadon.kube import GroupVersion
from celadon.kube.json_types import JsonDict

T = TypeVar("T")


class _Kind(msgspec.Struct):
    group: str = ""
    version: str = ""
    kind: str = ""


class _Below(msgspec.Struct, omit_defaults=True, rename="camel"):
    subresource: str
    response_kind: _Kind | None = None
    accepted_types: list[_Kind] | None = None
    verbs: list[str] | None = None


class _Resource(msgspec.Struct, omit_defaults=True, rename="camel"):
    resource: str
    response_kind: _Kind | None = None
    scope: str | None = None
    singular_resource: str | None = None
    verbs: list[str] | None = None
    short_names: list[str] | None = None
    categories: list[str] | None = None
    subresources: list[_Below] | None = None


class _Version(msgspec.Struct, omit_defaults=True):
    version: str
    resources: list[_Resource] | None = None


class _Metadata(msgspec.Struct):
    name: str = ""


class _Group(msgspec.Struct):
    metadata: _Metadata = msgspec.field(default_factory=_Metadata)
    versions: list[_Version] = []


class _Groups(msgspec.Struct):
    items: list[_Group] = []


class _Listed(msgspec.Struct, rename="camel"):
    name: str
    singular_name: str = ""
    namespaced: bool = False
    group: str = ""
    version: str = ""
    kind: str = ""
    verbs: list[str] | None = None
    short_names: list[str] | None = None
    categories: list[str] | None = None


class _List(msgspec.Struct):
    resources: list[_Listed] = []


class _Url(msgspec.Struct, rename={"url": "serverRelativeURL"}):
    url: str = ""


class _Index(msgspec.Struct):
    paths: dict[str, _Url] = {}


def read_index(body: bytes) -> Mapping[str, str]:
    """Return where documents in OpenAPI v3 are, by their paths. Raises ValueError."""
    paths = _decoded(body, _Index).paths
    return {path: url.url for path, url in paths.items()}


def read_swagger(body: bytes, prefix: str) -> JsonDict:
    """Return what a document in OpenAPI v2 says of paths below a prefix. Raises ValueError, also
    for what cannot be written in protobuf: the document of all servers could not, either."""
    document = of_paths(_decoded(body, JsonDict), prefix)
    swagger_bytes(document)
    return document


def read_aggregated(body: bytes) -> Mapping[GroupVersion, JsonDict]:
    """Return the versions of an aggregated document. Raises ValueError."""
    groups = _decoded(body, _Groups).items
    return {
        GroupVersion(group.metadata.name, version.version): _shown(version)
        for group in groups
        for version in group.versions
    }


def read_list(body: bytes, version: str) -> JsonDict:
    """Return a list of resources as a version of an aggregated document. Raises ValueError."""
    listed = _decoded(body, _List).resources
    result: dict[str, _Resource] = {}
    for item in listed:
        name, slash, below = item.name.partition("/")
        kind = _Kind(item.group, item.version, item.kind)
        scope = "Namespaced" if item.namespaced else "Cluster"
        if not slash:
            before = result.get(name)
            result[name] = _Resource(
                *(name, kind, scope, item.singular_name, item.verbs),
                *(
                    item.short_names,
                    item.categories,
                    None if before is None else before.subresources,
                ),
            )
            continue
        parent = result.setdefault(name, _Resource(name, _Kind(), scope))
        if parent.subresources is None:
            parent.subresources = []
        parent.subresources.append(_Below(below, kind, verbs=item.verbs))
    return _shown(_Version(version, list(result.values())))


def _shown(version: _Version) -> JsonDict:
    for item in version.resources or ():
        item.response_kind = item.response_kind or _Kind()
        item.scope, item.singular_resource = item.scope or "", item.singular_resource or ""
        for below in item.subresources or ():
            below.response_kind = below.response_kind or _Kind()
    document: JsonDict = msgspec.to_builtins(version)
    for resource in document.get("resources", ()):
        resource.setdefault("verbs", None)
    return document


def _decoded(body: bytes, kind: type[T]) -> T:
    """Decode JSON of a known type. Raises ValueError."""
    try:
        return msgspec.json.decode(body, type=kind)
    except (msgspec.DecodeError, RecursionError) as error:
        raise ValueError(str(error)) from None
