"""From OpenAPI v3 documents to the compact form of a schema pack, which `schema` reads.

A pack maps the OpenAPI name of a type to what there is to know of it: `fields`, `required`, `gvk`,
`map`. A field is a scalar's letter, or an object with `ref`, `items`, `values`, `fields` (of an
object without a name) or `scalar` (type and format), and with what `KEPT` names. Texts, limits and
patterns are left out. The same documents give the same pack.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

REFERENCE_PREFIX: Final = "#/components/schemas/"
"""What a reference from schema to schema begins with."""
MAX_DEPTH: Final = 100
"""Levels of nesting that are kept of one type; anything may be below them."""

_LETTERS: Final = {
    ("string", ""): "s",
    ("string", "byte"): "y",
    ("integer", "int32"): "i",
    ("integer", "int64"): "l",
    ("number", "double"): "d",
    ("boolean", ""): "b",
}
KEPT: Final = {
    "enum": "enum",
    "nullable": "nullable",
    "x-kubernetes-list-type": "list",
    "x-kubernetes-list-map-keys": "keys",
    "x-kubernetes-map-type": "map",
    "x-kubernetes-patch-merge-key": "mergeKey",
    "x-kubernetes-patch-strategy": "patch",
    "x-kubernetes-preserve-unknown-fields": "open",
}
_ZERO_MARKERS: Final[tuple[Any, ...]] = ({}, "", 0, False)


def pack(documents: Iterable[Any], encodings: Mapping[str, Any]) -> dict[str, Any]:
    """The types of all documents. `encodings` has for some names what more their pack entry says
    (how Go writes the type)."""
    found: dict[str, Any] = {}
    for document in documents:
        components = _member(_member(document, "components"), "schemas")
        for name, schema in components.items():
            if isinstance(schema, dict):
                found[name] = component(schema, encodings.get(name, {}))
    return completed(found)


def encodings_of(packed: Mapping[str, Any]) -> dict[str, Any]:
    """What a pack says about the encoding of its types: the second argument of `pack`."""
    structure = {"fields", "required", "gvk", "map", "complete"}
    return {
        name: {key: value for key, value in entry.items() if key not in structure}
        for name, entry in packed.items()
    }


def component(schema: Mapping[str, Any], encoding: Mapping[str, Any]) -> dict[str, Any]:
    """One type with a name."""
    made: dict[str, Any] = {}
    if "properties" in schema:
        fields = _member(schema, "properties").items()
        made["fields"] = {name: node(field) for name, field in fields}
    if "required" in schema:
        made["required"] = schema["required"]
    kinds = schema.get("x-kubernetes-group-version-kind", ())
    if len(kinds) == 1:
        made["gvk"] = [kinds[0]["group"], kinds[0]["version"], kinds[0]["kind"]]
    if "x-kubernetes-map-type" in schema:
        made["map"] = schema["x-kubernetes-map-type"]
    return {**made, **encoding}


def node(schema: object, depth: int = 0) -> Any:
    """A field: a scalar's letter, or an object with what else there is to know about it."""
    if not isinstance(schema, dict) or depth > MAX_DEPTH:
        return {}
    made = _shape(schema, depth)
    for key, short in KEPT.items():
        if schema.get(key):
            made[short] = schema[key]
    default = schema.get("default")
    if default is not None and default not in _ZERO_MARKERS:
        made["default"] = default
    return made["type"] if list(made) == ["type"] else made


def _shape(schema: Mapping[str, Any], depth: int) -> dict[str, Any]:
    parts = schema.get("allOf")
    first = parts[0] if isinstance(parts, list) and parts and isinstance(parts[0], dict) else {}
    reference = schema.get("$ref") or first.get("$ref")
    if isinstance(reference, str):
        return {"ref": reference.removeprefix(REFERENCE_PREFIX)}
    if schema.get("x-kubernetes-int-or-string"):
        return {"scalar": ["", "int-or-string"]}
    type_, format_ = schema.get("type", ""), schema.get("format", "")
    if type_ == "array":
        return {"items": node(schema.get("items"), depth + 1)}
    if type_ != "object":
        letter = _LETTERS.get((type_, format_))
        return {"type": letter} if letter else {"scalar": [type_, format_]}
    if isinstance(schema.get("additionalProperties"), dict):
        return {"values": node(schema["additionalProperties"], depth + 1)}
    fields = _member(schema, "properties").items()
    made: dict[str, Any] = {"fields": {name: node(field, depth + 1) for name, field in fields}}
    if schema.get("required"):
        made["required"] = schema["required"]
    return made


def _member(value: object, key: str) -> dict[str, Any]:
    found = value.get(key) if isinstance(value, dict) else None
    return found if isinstance(found, dict) else {}


def completed(components: Mapping[str, Any]) -> dict[str, Any]:
    """The types sorted by name, with what follows from them all: `complete` says that encoding
    must look for fields that are always written, in a type or further below."""
    marked = {
        name
        for name, made in components.items()
        if any(zero != {} for zero in made.get("always", {}).values())
    }
    grown = True
    while grown:
        above = {
            name
            for name, made in components.items()
            if name not in marked and any(map(marked.__contains__, _references(made)))
        }
        marked |= above
        grown = bool(above)
    return {
        name: {**made, "complete": True} if name in marked else made
        for name, made in sorted(components.items())
    }


def _references(made: Mapping[str, Any]) -> list[str]:
    """The components that the fields of one hold, directly, in lists or in maps."""
    found = []
    for field in made.get("fields", {}).values():
        while isinstance(field, dict) and ("items" in field or "values" in field):
            field = field.get("items") or field.get("values")
        if isinstance(field, dict) and "ref" in field:
            found.append(field["ref"])
    return found
