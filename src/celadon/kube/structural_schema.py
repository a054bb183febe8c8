"""The schemas of CustomResourceDefinitions, in the form the built-in kinds have.

What a CRD may leave out, the published schema adds: `apiVersion`, `kind` and full metadata at the
root and in embedded resources. As k8s.io/apiextensions-apiserver
`pkg/controller/openapi/builder/builder.go`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from celadon.kube.names import GroupVersionKind
from celadon.kube.schema import OBJECT_META, Schema

_TEXT: Final = Schema(type="string")
_RESOURCE_FIELDS: Final = {
    "apiVersion": _TEXT,
    "kind": _TEXT,
    "metadata": Schema(ref=OBJECT_META),
}

Json = Any


def custom_schemas(definition: Mapping[str, Json]) -> dict[GroupVersionKind, Schema]:
    """One schema per served version of a CustomResourceDefinition object."""
    spec = definition["spec"]
    found = {}
    for version in spec.get("versions") or ():
        if version.get("served"):
            kind = GroupVersionKind(spec["group"], version["name"], spec["names"]["kind"])
            given = (version.get("schema") or {}).get("openAPIV3Schema") or {"type": "object"}
            found[kind] = _resource(given, kind)
    return found


def _resource(given: Mapping[str, Json], kind: GroupVersionKind) -> Schema:
    read = structural(given)
    return Schema(
        type="object",
        properties={**(read.properties or {}), **_RESOURCE_FIELDS},
        required=read.required,
        preserve_unknown=read.preserve_unknown,
        gvk=kind,
    )


def structural(given: Mapping[str, Json]) -> Schema:
    """A node of a structural schema. What only validates (`pattern`, `oneOf`, ...) is left out."""
    if given.get("x-kubernetes-int-or-string"):
        return Schema(format="int-or-string", nullable=bool(given.get("nullable")))
    additional = given.get("additionalProperties")
    items = given.get("items")
    properties = {key: structural(member) for key, member in _members(given)}
    if given.get("x-kubernetes-embedded-resource"):
        properties.update(_RESOURCE_FIELDS)
    return Schema(
        type=given.get("type") or "",
        format=given.get("format") or "",
        properties=properties,
        required=tuple(given.get("required") or ()),
        items=structural(items) if isinstance(items, dict) else None,
        additional_properties=structural(additional) if isinstance(additional, dict) else None,
        enum=tuple(one for one in given.get("enum") or () if isinstance(one, str)),
        default=given.get("default"),
        list_type=given.get("x-kubernetes-list-type") or "",
        list_map_keys=tuple(given.get("x-kubernetes-list-map-keys") or ()),
        map_type=given.get("x-kubernetes-map-type") or "",
        preserve_unknown=bool(given.get("x-kubernetes-preserve-unknown-fields"))
        or additional is True,
        nullable=bool(given.get("nullable")),
    )


def _members(given: Mapping[str, Json]) -> list[tuple[str, Mapping[str, Json]]]:
    properties = given.get("properties") or {}
    return [(key, member) for key, member in properties.items() if isinstance(member, dict)]
