"""The schemas of CustomResourceDefinitions, in the form the built-in kinds have.

What a CRD may leave out, the published schema adds: `apiVersion`, `kind` and full metadata at the
root and in embedded resources. As k8s.io/apiextensions-apiserver
`pkg/controller/openapi/builder/builder.go`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from celadon.kube.names import GroupVersionKind
from celadon.kube.schemas.schema_model import OBJECT_META, Schema

_TEXT: Final = Schema(type="string")
_RESOURCE_FIELDS: Final = {
    "apiVersion": _TEXT,
    "kind": _TEXT,
    "metadata": Schema(ref=OBJECT_META),
}

Json = Any


def custom_schemas(definition: Mapping[str, Json]) -> dict[GroupVersionKind, Schema]:
    """One schema per served version of a CustomResourceDefinition object. What the API server
    would refuse (a version without a name, a schema that is no object) is left out."""
    spec = _object(definition, "spec")
    group, kind = _text(spec, "group"), _text(_object(spec, "names"), "kind")
    versions = spec.get("versions")
    found = {}
    for version in versions if isinstance(versions, list) else ():
        if isinstance(version, dict) and version.get("served"):
            gvk = GroupVersionKind(group, _text(version, "name"), kind)
            given = _object(_object(version, "schema"), "openAPIV3Schema")
            found[gvk] = _resource(given or {"type": "object"}, gvk)
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
        type=_text(given, "type"),
        format=_text(given, "format"),
        properties=properties,
        required=_texts(given, "required"),
        items=structural(items) if isinstance(items, dict) else None,
        additional_properties=structural(additional) if isinstance(additional, dict) else None,
        enum=_texts(given, "enum"),
        default=given.get("default"),
        list_type=_text(given, "x-kubernetes-list-type"),
        list_map_keys=_texts(given, "x-kubernetes-list-map-keys"),
        map_type=_text(given, "x-kubernetes-map-type"),
        preserve_unknown=bool(given.get("x-kubernetes-preserve-unknown-fields"))
        or additional is True,
        nullable=bool(given.get("nullable")),
    )


def _members(given: Mapping[str, Json]) -> list[tuple[str, Mapping[str, Json]]]:
    properties = given.get("properties")
    if not isinstance(properties, dict):
        return []
    return [(key, member) for key, member in properties.items() if isinstance(member, dict)]


def _object(given: Mapping[str, Json], key: str) -> Mapping[str, Json]:
    value = given.get(key)
    return value if isinstance(value, dict) else {}


def _text(given: Mapping[str, Json], key: str) -> str:
    """The text at a key; empty for anything else, which the API server would refuse."""
    value = given.get(key)
    return value if isinstance(value, str) else ""


def _texts(given: Mapping[str, Json], key: str) -> tuple[str, ...]:
    value = given.get(key)
    return tuple(one for one in value if isinstance(one, str)) if isinstance(value, list) else ()
