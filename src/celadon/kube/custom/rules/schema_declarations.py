"""Structural schemas as the types that rules are checked against, with the sizes data can have.

As k8s.io/apiserver `pkg/cel/common/schemas.go`. A node that no expression can use (no type, a list
without items) has no type, and is not there. Sizes are worst cases for what fits into one request:
elements of lists and maps, bytes of strings.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from celadon.cel.extend import ObjectType, Range, types
from celadon.kube.custom.structural import ABSENT, Structural
from celadon.kube.schemas.escaping import escape

MAX_REQUEST_BYTES: Final = 3 * 1024 * 1024
"""Of one request body: nothing can be larger."""
_UNBOUNDED: Final = MAX_REQUEST_BYTES - 2
"""A string, or the text of a list, without its two delimiters."""
_BYTES_PER_CHARACTER: Final = 4
_TEXT: Final = Structural(type="string")
_OBJECT_META: Final = Structural(type="object", properties={"name": _TEXT, "generateName": _TEXT})

_SCALARS: Final = {
    "boolean": (types.BOOL, 0, 4),
    "number": (types.DOUBLE, 0, 1),
    "integer": (types.INT, 0, 1),
}
_FORMATS: Final = {
    "duration": (types.DURATION, 32, 3),
    "date": (types.TIMESTAMP, 12, 12),
    "date-time": (types.TIMESTAMP, 32, 21),
}
_MIN_DYN: Final = 1
_MIN_STRING: Final = 2
_MIN_CONTAINER: Final = 2
_MEMBER_PUNCTUATION: Final = 4
"""Two quotes, a colon, a comma."""
_MAP_PUNCTUATION: Final = 6
"""And the quotes of an empty string."""


@dataclass(frozen=True, slots=True)
class Declared:
    """A type with its bounds; `element` is that of items or values, `objects` are the types with
    fields at and below it."""

    type: types.Type
    max_elements: int = 0
    min_size: int = 0
    fields: Mapping[str, Declared] = field(default_factory=dict)
    element: Declared | None = None
    objects: tuple[ObjectType, ...] = ()

    @property
    def max_cardinality(self) -> int:
        """How often such a value fits into a request, each with a comma."""
        return MAX_REQUEST_BYTES // (self.min_size + 1)


_KEY: Final = Declared(types.STRING, _UNBOUNDED, _MIN_STRING)


def with_type_and_meta(schema: Structural) -> Structural:
    """A resource as rules see it: `apiVersion`, `kind`, name and generateName are there always."""
    known = dict(schema.properties)
    meta = known.get("metadata")
    has_meta = meta is not None and all(
        meta.properties.get(name, Structural()).type == "string"
        for name in ("name", "generateName")
    )
    if has_meta and known.get("kind") == known.get("apiVersion") == _TEXT:
        return schema
    known |= {"kind": _TEXT, "apiVersion": _TEXT, "metadata": _OBJECT_META}
    return _with_properties(schema, known)


def _with_properties(schema: Structural, properties: Mapping[str, Structural]) -> Structural:
    return Structural(
        type=schema.type,
        nullable=schema.nullable,
        properties=properties,
        required=schema.required,
        preserve_unknown=schema.preserve_unknown,
        map_type=schema.map_type,
        rules=schema.rules,
    )


def declared(schema: Structural, name: str, *, is_root: bool = False) -> Declared | None:
    """The type of a schema; None if expressions cannot use it. `name` is that of the object type,
    those below it are made of the path."""
    if schema.int_or_string:
        limit = schema.limits.max_length
        most = _UNBOUNDED if limit is None else limit * _BYTES_PER_CHARACTER
        return Declared(types.DYN, most, _MIN_DYN)
    if schema.type == "array":
        return _list(schema, name)
    if schema.type == "object":
        if schema.additional is not None:
            return _map(schema, name)
        if is_root or schema.embedded_resource:
            schema = with_type_and_meta(schema)
        return _object(schema, name)
    if schema.type == "string":
        return _string(schema)
    if schema.type in _SCALARS:
        return Declared(*_SCALARS[schema.type])
    return None


def _list(schema: Structural, name: str) -> Declared | None:
    item = None if schema.items is None else declared(schema.items, f"{name}.@idx")
    if item is None:
        return None
    most = _bounded(schema.limits.max_items, _UNBOUNDED // (item.min_size + 1))
    return Declared(
        types.list_of(item.type), most, _MIN_CONTAINER, element=item, objects=item.objects
    )


def _map(schema: Structural, name: str) -> Declared | None:
    assert schema.additional is not None, "the caller has looked"
    value = declared(schema.additional, f"{name}.@elem")
    if value is None:
        return None
    most = _bounded(schema.limits.max_properties, _UNBOUNDED // (value.min_size + _MAP_PUNCTUATION))
    kind = types.map_of(types.STRING, value.type)
    return Declared(kind, most, _MIN_CONTAINER, element=value, objects=value.objects)


def _bounded(limit: int | None, otherwise: int) -> int:
    return otherwise if limit is None else max(limit, 0)


def _object(schema: Structural, name: str) -> Declared:
    fields: dict[str, Declared] = {}
    size = _MIN_CONTAINER
    for key, member in schema.properties.items():
        escaped = escape(key)
        known = None if escaped is None else declared(member, f"{name}.{escaped}")
        if known is None or escaped is None:
            continue
        fields[escaped] = known
        if key in schema.required and member.default is ABSENT:
            size += len(key) + known.min_size + _MEMBER_PUNCTUATION
    own = ObjectType(name, {key: known.type for key, known in fields.items()})
    below = (one for known in fields.values() for one in known.objects)
    return Declared(types.object_type(name), 0, size, fields, objects=(own, *below))


def _string(schema: Structural) -> Declared:
    if schema.format in _FORMATS:
        return Declared(*_FORMATS[schema.format])
    limit = schema.limits.max_length
    if schema.format == "byte":
        return Declared(types.BYTES, _bounded(limit, _UNBOUNDED), _MIN_STRING)
    if limit is not None:
        return Declared(types.STRING, limit * _BYTES_PER_CHARACTER, _MIN_STRING)
    choices = [len(one.encode()) for one in schema.limits.enum if isinstance(one, str)]
    return Declared(types.STRING, max(choices) if choices else _UNBOUNDED, _MIN_STRING)


@dataclass(frozen=True, slots=True)
class SchemaSizes:
    """What the estimator may know of the sizes of `self` and `oldSelf`."""

    root: Declared

    def size(self, path: tuple[str, ...], type_: types.Type) -> Range | None:
        """The size of what a path leads to, the name of the variable first."""
        found: Declared | None = self.root if path else None
        for step in path[1:]:
            if found is None:
                return None
            if step in ("@items", "@values"):
                found = found.element
            elif step == "@keys":
                found = _KEY if found.type.kind is types.Kind.MAP else None
            else:
                found = found.fields.get(step) or found.fields.get(f"__{step}__")
        return None if found is None else Range(0, found.max_elements)
