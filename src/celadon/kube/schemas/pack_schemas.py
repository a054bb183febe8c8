"""The schemas of built-in kinds, made from the entries of a schema pack when first asked for.

`component(name)` gives a type under its OpenAPI name (`io.k8s.api.core.v1.Pod`), `schema_for(gvk)`
the type of a kind. The facts come from the OpenAPI documents of Kubernetes 1.36, without their
texts; `schema_packing` describes the entries.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import Any, Final

from celadon.kube.names import GroupVersionKind
from celadon.kube.schemas import packs
from celadon.kube.schemas.schema_model import (
    ABSENT,
    ANY_COMPONENTS,
    INT_OR_STRING,
    MICRO_TIME,
    OPEN_COMPONENTS,
    QUANTITY,
    TIME,
    Schema,
)
from celadon.kube.schemas.schema_packing import encodings_of

_NODE_TYPES: Final = {
    "s": ("string", ""),
    "y": ("string", "byte"),
    "i": ("integer", "int32"),
    "l": ("integer", "int64"),
    "d": ("number", "double"),
    "b": ("boolean", ""),
}
_SCALARS: Final = {
    letter: Schema(type=type_, format=format_) for letter, (type_, format_) in _NODE_TYPES.items()
}
_INT_OR_STRING_FORMAT: Final = "int-or-string"
_SCALAR_COMPONENTS: Final = {
    QUANTITY: Schema(name=QUANTITY, type="string", format="quantity"),
    INT_OR_STRING: Schema(name=INT_OR_STRING, int_or_string=True),
    TIME: Schema(name=TIME, type="string", format="date-time"),
    MICRO_TIME: Schema(name=MICRO_TIME, type="string", format="date-time"),
}


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
        format="" if format_ == _INT_OR_STRING_FORMAT else format_,
        int_or_string=format_ == _INT_OR_STRING_FORMAT,
        properties=_fields(node),
        required=tuple(node.get("required", ())),
        items=_field(node["items"]) if "items" in node else None,
        additional_properties=_field(node["values"]) if "values" in node else None,
        enum=tuple(node.get("enum", ())),
        default=node.get("default", ABSENT),
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
        return _SCALAR_COMPONENTS[name]
    if name in ANY_COMPONENTS:
        return Schema(name=name, preserve_unknown=True)
    entry = entries[name]
    gvk = entry.get("gvk")
    return Schema(
        name=name,
        type="object",
        properties=_fields(entry),
        required=tuple(entry.get("required", ())),
        map_type=entry.get("map", ""),
        preserve_unknown=name in OPEN_COMPONENTS,
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


def resolved(schema: Schema) -> Schema:
    """The built-in component that a mention means; anything else is itself."""
    return component(schema.ref) if schema.ref else schema
