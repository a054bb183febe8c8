"""The structure of every API type: fields, list and map semantics, enums, requirements.

`component(name)` gives a type under its OpenAPI name (`io.k8s.api.core.v1.Pod`), `schema_for(gvk)`
the type of a kind. A `Schema` that is only a mention of a component has `ref` set; `resolved`
follows it. The facts come from the OpenAPI documents of Kubernetes 1.36, without their texts.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from celadon.kube.names import GroupVersionKind
from celadon.kube.schemas import packs
from celadon.kube.schemas.schema_packing import encodings_of

_NODE_TYPES: Final = {
    "s": ("string", ""),
    "y": ("string", "byte"),
    "i": ("integer", "int32"),
    "l": ("integer", "int64"),
    "d": ("number", "double"),
    "b": ("boolean", ""),
}

_META: Final = "io.k8s.apimachinery.pkg.apis.meta.v1."
_EXTENSIONS: Final = "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1."

QUANTITY: Final = "io.k8s.apimachinery.pkg.api.resource.Quantity"
INT_OR_STRING: Final = "io.k8s.apimachinery.pkg.util.intstr.IntOrString"
TIME: Final = _META + "Time"
MICRO_TIME: Final = _META + "MicroTime"
FIELDS_V1: Final = _META + "FieldsV1"
OBJECT_META: Final = _META + "ObjectMeta"
RAW_EXTENSION: Final = "io.k8s.apimachinery.pkg.runtime.RawExtension"
JSON: Final = _EXTENSIONS + "JSON"
SCHEMA_OR_BOOL: Final = _EXTENSIONS + "JSONSchemaPropsOrBool"
SCHEMA_OR_LIST: Final = _EXTENSIONS + "JSONSchemaPropsOrArray"
SCHEMA_OR_STRINGS: Final = _EXTENSIONS + "JSONSchemaPropsOrStringArray"
JSON_SCHEMA: Final = _EXTENSIONS + "JSONSchemaProps"

_SCALAR_COMPONENTS: Final = {
    QUANTITY: ("string", "quantity"),
    INT_OR_STRING: ("", "int-or-string"),
    TIME: ("string", "date-time"),
    MICRO_TIME: ("string", "date-time"),
}
"""Components that are no objects, with type and format. A quantity may also come as a number."""

_OPEN_COMPONENTS: Final = frozenset({FIELDS_V1, RAW_EXTENSION})
"""Objects of any content."""

_ANY_COMPONENTS: Final = frozenset({JSON, SCHEMA_OR_BOOL, SCHEMA_OR_LIST, SCHEMA_OR_STRINGS})

SPECIAL_COMPONENTS: Final = frozenset(_SCALAR_COMPONENTS) | _OPEN_COMPONENTS | _ANY_COMPONENTS
"""Components that are not a struct with the listed fields, on the wire or in JSON."""


@dataclass(frozen=True, slots=True)
class Schema:
    """`type` is empty for what may be of several types. Only objects have `properties`."""

    name: str = ""
    ref: str = ""
    type: str = ""
    format: str = ""
    properties: Mapping[str, Schema] | None = None
    required: tuple[str, ...] = ()
    items: Schema | None = None
    additional_properties: Schema | None = None
    enum: tuple[str, ...] = ()
    default: Any = None
    list_type: str = ""
    list_map_keys: tuple[str, ...] = ()
    map_type: str = ""
    merge_key: str = ""
    patch_strategy: str = ""
    preserve_unknown: bool = False
    nullable: bool = False
    gvk: GroupVersionKind | None = None

    @property
    def is_int_or_string(self) -> bool:
        return self.format == "int-or-string"

    def resolved(self) -> Schema:
        """The component that a mention means; anything else is itself."""
        return component(self.ref) if self.ref else self


def _field(node: Any) -> Schema:
    if isinstance(node, str):
        return _SCALARS[node]
    letter = node.get("type")
    type_, format_ = _NODE_TYPES[letter] if letter else node.get("scalar", ("", ""))
    if "items" in node:
        type_ = "array"
    elif "values" in node or "fields" in node:
        type_ = "object"
    return Schema(
        ref=node.get("ref", ""),
        type=type_,
        format=format_,
        properties=_fields(node) if "fields" in node else None,
        required=tuple(node.get("required", ())),
        items=_field(node["items"]) if "items" in node else None,
        additional_properties=_field(node["values"]) if "values" in node else None,
        enum=tuple(node.get("enum", ())),
        default=node.get("default"),
        list_type=node.get("list", ""),
        list_map_keys=tuple(node.get("keys", ())),
        map_type=node.get("map", ""),
        merge_key=node.get("mergeKey", ""),
        patch_strategy=node.get("patch", ""),
        preserve_unknown=bool(node.get("open")),
        nullable=bool(node.get("nullable")),
    )


def _fields(entry: Any) -> dict[str, Schema]:
    return {key: _field(node) for key, node in entry.get("fields", {}).items()}


_SCALARS: Final = {
    letter: Schema(type=type_, format=format_) for letter, (type_, format_) in _NODE_TYPES.items()
}


class SchemaPack:
    """Types under their OpenAPI names, made from the entries of a pack when first asked for."""

    __slots__ = ("_entries", "_made", "_names")

    def __init__(self, entries: Mapping[str, Any]) -> None:
        self._entries = entries
        self._made: dict[str, Schema] = {}
        self._names = {
            GroupVersionKind(*entry["gvk"]): name
            for name, entry in entries.items()
            if "gvk" in entry
        }

    @property
    def kinds(self) -> Mapping[GroupVersionKind, str]:
        """The kinds, and the names of their types."""
        return self._names

    def encodings(self) -> dict[str, Any]:
        """What it says about how Go writes its types, for a pack made of other documents."""
        return encodings_of(self._entries)

    def component(self, name: str) -> Schema:
        """The type of that OpenAPI name; KeyError when there is none."""
        found = self._made.get(name)
        if found is None:
            found = self._made[name] = _component(name, self._entries)
        return found

    def resolve(self, schema: Schema) -> Schema:
        """The component that a mention means; anything else is itself."""
        return self.component(schema.ref) if schema.ref else schema


def _component(name: str, entries: Mapping[str, Any]) -> Schema:
    if name in _SCALAR_COMPONENTS:
        type_, format_ = _SCALAR_COMPONENTS[name]
        return Schema(name=name, type=type_, format=format_)
    if name in _ANY_COMPONENTS:
        return Schema(name=name, preserve_unknown=True)
    entry = entries[name]
    gvk = entry.get("gvk")
    return Schema(
        name=name,
        type="object",
        properties=_fields(entry),
        required=tuple(entry.get("required", ())),
        map_type=entry.get("map", ""),
        preserve_unknown=name in _OPEN_COMPONENTS,
        gvk=GroupVersionKind(*gvk) if gvk else None,
    )


@functools.cache
def built_in() -> SchemaPack:
    """The types of Kubernetes 1.36."""
    return SchemaPack(packs.load("schemas"))


def component(name: str) -> Schema:
    """The built-in type of that OpenAPI name; KeyError when there is none."""
    return built_in().component(name)


def component_name(gvk: GroupVersionKind) -> str | None:
    """The OpenAPI name of a built-in kind's type."""
    return built_in().kinds.get(gvk)


def schema_for(gvk: GroupVersionKind) -> Schema | None:
    """The type of a built-in kind; None for kinds that only a CRD can define."""
    name = component_name(gvk)
    return None if name is None else component(name)
