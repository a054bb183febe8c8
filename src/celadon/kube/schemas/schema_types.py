"""Schemas as types that expressions are checked against.

There are two ways to see a schema. `PUBLISHED` is what the API server's type checker sees: dates
are timestamps, `format: byte` is bytes, names are escaped, and what has no type (quantities,
preserved fields) is not there at all. As `SchemaDeclType` in k8s.io/apiserver
`pkg/cel/common/schemas.go`. `ACTUAL` is what the data looks like when a policy runs: plain JSON, so
dates and bytes are text, a number may be integral, names are raw, and nothing is hidden.

Objects get names made of their path, for they have none of their own: `Deployment7.spec.template`,
`.@idx` for the items of a list, `.@elem` for the values of a map.
"""

from __future__ import annotations

import enum
from dataclasses import dataclass
from typing import Final

from celadon.cel import types
from celadon.cel.extend import ObjectType
from celadon.kube.schemas.escaping import escape
from celadon.kube.schemas.schema_model import Schema

MAX_DEPTH: Final = 200
"""Levels of nesting that are looked at; below them nothing is known. No real schema is as deep."""

_SCALARS: Final = {
    "string": types.STRING,
    "boolean": types.BOOL,
    "integer": types.INT,
    "number": types.DOUBLE,
}
_FORMATS: Final = {
    "byte": types.BYTES,
    "duration": types.DURATION,
    "date": types.TIMESTAMP,
    "date-time": types.TIMESTAMP,
}


class View(enum.Enum):
    PUBLISHED = "published"
    ACTUAL = "actual"


@dataclass(frozen=True, slots=True)
class SchemaType:
    """The type of a schema and the object types below it, itself included."""

    type: types.Type
    objects: tuple[ObjectType, ...] = ()


def schema_type(schema: Schema, name: str, view: View = View.PUBLISHED) -> SchemaType:
    """`name` is that of the root type. A root without a type is dyn."""
    reader = _Reader(view)
    found = reader.read(schema, name, frozenset(), 0)
    return SchemaType(types.DYN if found is None else found, tuple(reader.objects))


class _Reader:
    """Collects the object types of one schema."""

    def __init__(self, view: View) -> None:
        self.actual = view is View.ACTUAL
        self.objects: list[ObjectType] = []

    def read(
        self, schema: Schema, name: str, open_refs: frozenset[str], depth: int
    ) -> types.Type | None:
        """None for what the view does not show. A circular reference is an object whose fields
        nobody knows."""
        if schema.ref:
            if schema.ref in open_refs:
                return self._unknown_object(name)
            open_refs |= {schema.ref}
            schema = schema.resolved()
        elif schema.name:
            open_refs |= {schema.name}
        if depth > MAX_DEPTH or schema.is_int_or_string:
            return types.DYN
        if self.actual and (schema.nullable or schema.preserve_unknown):
            return types.DYN
        if schema.type == "array":
            return self._list(schema, name, open_refs, depth)
        if schema.type == "object":
            return self._object(schema, name, open_refs, depth)
        return self._scalar(schema)

    def _scalar(self, schema: Schema) -> types.Type | None:
        known = _SCALARS.get(schema.type)
        if self.actual:
            return types.DYN if known is None or known is types.DOUBLE else known
        if known is types.STRING:
            # The published schema of a quantity is a choice of two types, which counts as none.
            return None if schema.format == "quantity" else _FORMATS.get(schema.format, known)
        return known

    def _list(
        self, schema: Schema, name: str, open_refs: frozenset[str], depth: int
    ) -> types.Type | None:
        if schema.items is None:
            return types.LIST if self.actual else None
        item = self.read(schema.items, f"{name}.@idx", open_refs, depth + 1)
        return None if item is None else types.list_of(item)

    def _object(
        self, schema: Schema, name: str, open_refs: frozenset[str], depth: int
    ) -> types.Type | None:
        if schema.additional_properties is not None:
            value = self.read(schema.additional_properties, f"{name}.@elem", open_refs, depth + 1)
            return None if value is None else types.map_of(types.STRING, value)
        fields: dict[str, types.Type] = {}
        for key, member in (schema.properties or {}).items():
            field = key if self.actual else escape(key)
            if field is None:
                continue
            known = self.read(member, f"{name}.{field}", open_refs, depth + 1)
            if known is not None:
                fields[field] = known
        self.objects.append(ObjectType(name, fields))
        return types.object_type(name)

    def _unknown_object(self, name: str) -> types.Type:
        if self.actual:
            return types.DYN
        self.objects.append(ObjectType(name, {}))
        return types.object_type(name)
