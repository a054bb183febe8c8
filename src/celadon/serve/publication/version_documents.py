"""The OpenAPI v3 document of a group version: its paths, and every type that they lead to.

Types of custom resources are the schemas of their definitions as they were given, with the members
that every object has; as k8s.io/apiextensions-apiserver `pkg/controller/openapi/builder`.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Mapping
from typing import Any, Final

from celadon.kube import GroupVersion, GroupVersionKind, JsonObject
from celadon.kube.catalogue import Resource
from celadon.kube.schemas import META_PREFIX, REFERENCE_PREFIX, component, component_name
from celadon.patterns import late_pattern
from celadon.records import dataclass
from celadon.serve.publication.openapi_paths import paths
from celadon.serve.publication.openapi_schemas import SECURITY, built_in_schema, reference
from celadon.serve.publication.published_apis import PublishedVersion

IN_EVERY_VERSION: Final = frozenset({f"{META_PREFIX}DeleteOptions", f"{META_PREFIX}WatchEvent"})
"""Kinds that belong to every group version that has them."""

OF_EVERY_CUSTOM_TYPE: Final = frozenset({f"{META_PREFIX}ObjectMeta", f"{META_PREFIX}ListMeta"})
"""What custom resources and their lists mention; definitions cannot mention anything."""

_MENTION: Final = late_pattern(f'"{REFERENCE_PREFIX}([^"]+)"')
_OPEN: Final = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
_TEXT: Final = {"type": "string"}


@dataclass(frozen=True, slots=True)
class Document:
    """What a document is made of. `definitions` are the CustomResourceDefinitions by the name of
    their resource with its group; `release` is shown as the version of the API."""

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
        "x-kubernetes-group-version-kind": _kinds(kind),
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
        "x-kubernetes-group-version-kind": _kinds(list_kind),
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


@functools.cache
def _mentioned_by(name: str) -> frozenset[str]:
    return frozenset(_mentioned(built_in_schema(name)))


def _mentioned(value: JsonObject) -> set[str]:
    """Of what holds no texts of users."""
    return set(_MENTION.findall(json.dumps(value)))


def _own_kinds(name: str, group_version: GroupVersion) -> JsonObject:
    kind = _built_in_kind(name)
    if kind is None:
        return {}
    kinds = _kinds(kind)
    if name in IN_EVERY_VERSION and group_version != kind.group_version:
        kinds += _kinds(GroupVersionKind(*group_version, kind.kind))
    return {"x-kubernetes-group-version-kind": kinds}


def _built_in_kind(name: str) -> GroupVersionKind | None:
    if name in IN_EVERY_VERSION:
        return GroupVersionKind("", "v1", name.removeprefix(META_PREFIX))
    try:
        return component(name).gvk
    except KeyError:
        return None


def _kinds(kind: GroupVersionKind) -> list[dict[str, str]]:
    return [{"group": kind.group, "kind": kind.kind, "version": kind.version}]


def _kind_of(schema: JsonObject) -> tuple[str, str, str]:
    kind = schema["x-kubernetes-group-version-kind"][0]
    return kind["group"], kind["version"], kind["kind"]
