"""The schemas of CustomResourceDefinitions, and schemas as types that expressions are checked
against.

`definition_schemas` are the schemas as they are given, by which objects are pruned, defaulted and
validated. A server publishes more than that: `published_schema` adds `apiVersion`, `kind` and full
metadata to the root and to embedded resources, as k8s.io/apiextensions-apiserver
`pkg/controller/openapi/builder/builder.go`. Validation rules see something between the two:
`with_type_and_meta`, as k8s.io/apiserver `pkg/cel/common/schemas.go` (`WithTypeAndObjectMeta`).
"""

from __future__ import annotations

import enum
import functools
from collections.abc import Mapping
from dataclasses import field, replace
from typing import Any, Final

from celadon.cel import types
from celadon.cel.extend import ObjectType, Range
from celadon.kube.json_types import Json, text_member
from celadon.kube.names import GroupVersionKind
from celadon.kube.schemas import schema_packs
from celadon.kube.schemas.schema_packs import resolved
from celadon.records import dataclass

_TEXT: Final = schema_packs.Schema(type="string")
_RESOURCE_FIELDS: Final = {
    "apiVersion": _TEXT,
    "kind": _TEXT,
    "metadata": schema_packs.Schema(ref=schema_packs.OBJECT_META),
}
_NAMED: Final = schema_packs.Schema(
    type="object", properties={"name": _TEXT, "generateName": _TEXT}
)
_LEAF: Final = frozenset({"description", "example", "format", "title", "type"})
_LIMITS: Final = frozenset(
    {
        "exclusiveMaximum",
        "exclusiveMinimum",
        "maxItems",
        "maxLength",
        "maxProperties",
        "maximum",
        "minItems",
        "minLength",
        "minProperties",
        "minimum",
        "multipleOf",
        "pattern",
    }
)


def definition_schemas(
    definition: Mapping[str, Json],
) -> dict[GroupVersionKind, schema_packs.Schema]:
    """Return the schema of each version of a CustomResourceDefinition object, served or not; open
    for a version without one."""
    return {gvk: _version_schema(definition, version) for gvk, version in _versions(definition)}


def defined_kinds(definition: Mapping[str, Json]) -> list[GroupVersionKind]:
    """Return the kinds of which it gives the schemas."""
    return [gvk for gvk, _ in _versions(definition)]


def custom_schemas(definition: Mapping[str, Json]) -> dict[GroupVersionKind, schema_packs.Schema]:
    """Return the published schema of each served version."""
    return {
        gvk: published_schema(_version_schema(definition, version), gvk)
        for gvk, version in _versions(definition)
        if version.get("served")
    }


def _versions(definition: Mapping[str, Json]) -> list[tuple[GroupVersionKind, Mapping[str, Json]]]:
    spec = _map(definition, "spec")
    group, kind = text_member(spec, "group"), text_member(_map(spec, "names"), "kind")
    return [
        (GroupVersionKind(group, text_member(version, "name"), kind), version)
        for version in _list(spec, "versions")
        if isinstance(version, dict)
    ]


def _version_schema(
    definition: Mapping[str, Json], version: Mapping[str, Json]
) -> schema_packs.Schema:
    openapi_schema = _map(version, "schema").get("openAPIV3Schema")
    if openapi_schema is None or _map(definition, "spec").get("preserveUnknownFields"):
        return schema_packs.OPEN
    return decode_schema(openapi_schema)


def published_schema(schema: schema_packs.Schema, gvk: GroupVersionKind) -> schema_packs.Schema:
    """Return the schema of a resource as a server publishes it."""
    published = _with_embedded_resources(schema)
    properties = {**published.properties, **_RESOURCE_FIELDS}
    return replace(published, gvk=gvk, type="object", properties=properties)


def _with_embedded_resources(schema: schema_packs.Schema) -> schema_packs.Schema:
    """Return the same schema, or a copy in which embedded resources have the fields of one."""
    if schema.type not in ("array", "object"):
        return schema
    properties = {
        key: _with_embedded_resources(schema) for key, schema in schema.properties.items()
    }
    if schema.embedded_resource:
        properties |= _RESOURCE_FIELDS
    items, values = schema.items, schema.additional_properties
    new_items = None if items is None else _with_embedded_resources(items)
    new_values = None if values is None else _with_embedded_resources(values)
    unchanged = properties.keys() == schema.properties.keys() and all(
        value is schema.properties[key] for key, value in properties.items()
    )
    if unchanged and new_items is items and new_values is values:
        return schema
    return replace(schema, properties=properties, items=new_items, additional_properties=new_values)


def with_type_and_meta(schema: schema_packs.Schema) -> schema_packs.Schema:
    """Return a resource as rules see it: `apiVersion`, `kind`, name and generateName are there
    always."""
    properties = dict(schema.properties)
    meta = resolved(properties["metadata"]).properties if "metadata" in properties else {}
    has_meta = all(name in meta and meta[name].type == "string" for name in _NAMED.properties)
    if has_meta and properties.get("kind") == properties.get("apiVersion") == _TEXT:
        return schema
    properties |= {"kind": _TEXT, "apiVersion": _TEXT, "metadata": _NAMED}
    return schema_packs.Schema(
        type=schema.type,
        nullable=schema.nullable,
        properties=properties,
        required=schema.required,
        preserve_unknown=schema.preserve_unknown,
        map_type=schema.map_type,
        rules=schema.rules,
    )


def decode_schema(value: object) -> schema_packs.Schema:
    """Return a node, and those below it, from the JSON of an OpenAPI schema.

    It never fails: what is not of the type it should be counts as absent, since a CRD that an API
    server would refuse may still be all that a user has.
    """
    if not isinstance(value, dict):
        return schema_packs.Schema()
    if _LEAF.issuperset(value):
        return _leaf(text_member(value, "type"), text_member(value, "format"))
    values, properties = value.get("additionalProperties"), _map(value, "properties")
    return schema_packs.Schema(
        type=text_member(value, "type"),
        format=text_member(value, "format"),
        nullable=value.get("nullable") is True,
        default=schema_packs.ABSENT if value.get("default") is None else value["default"],
        properties={key: decode_schema(member) for key, member in properties.items()},
        additional_properties=_member(values),
        open_values=values is True,
        items=_member(value.get("items")),
        required=_texts(value, "required"),
        enum=schema_packs.Choices(_list(value, "enum")),
        limits=_limits(value),
        all_of=_branches(value, "allOf"),
        any_of=_branches(value, "anyOf"),
        one_of=_branches(value, "oneOf"),
        not_=_member(value.get("not")),
        embedded_resource=value.get("x-kubernetes-embedded-resource") is True,
        int_or_string=value.get("x-kubernetes-int-or-string") is True,
        preserve_unknown=value.get("x-kubernetes-preserve-unknown-fields") is True,
        list_type=text_member(value, "x-kubernetes-list-type"),
        list_map_keys=_texts(value, "x-kubernetes-list-map-keys"),
        map_type=text_member(value, "x-kubernetes-map-type"),
        rules=tuple(_rule(rule) for rule in _list(value, "x-kubernetes-validations")),
    )


@functools.lru_cache(maxsize=64)
def _leaf(type_: str, format_: str) -> schema_packs.Schema:
    """Return a node that says its type and nothing else, as most do; they share one."""
    return schema_packs.Schema(type=type_, format=format_)


def _rule(value: Json) -> schema_packs.ValidationRule:
    if not isinstance(value, dict):
        return schema_packs.ValidationRule()
    return schema_packs.ValidationRule(
        rule=text_member(value, "rule"),
        message=text_member(value, "message"),
        message_expression=text_member(value, "messageExpression"),
        reason=text_member(value, "reason"),
        field_path=text_member(value, "fieldPath"),
        optional_old_self=value.get("optionalOldSelf") is True,
    )


def _limits(value: Mapping[str, Json]) -> schema_packs.ValueLimits:
    if _LIMITS.isdisjoint(value):
        return schema_packs.NO_LIMITS
    return schema_packs.ValueLimits(
        minimum=_number(value, "minimum"),
        maximum=_number(value, "maximum"),
        exclusive_minimum=value.get("exclusiveMinimum") is True,
        exclusive_maximum=value.get("exclusiveMaximum") is True,
        multiple_of=_number(value, "multipleOf"),
        min_length=_integer(value, "minLength"),
        max_length=_integer(value, "maxLength"),
        pattern=text_member(value, "pattern"),
        min_items=_integer(value, "minItems"),
        max_items=_integer(value, "maxItems"),
        min_properties=_integer(value, "minProperties"),
        max_properties=_integer(value, "maxProperties"),
    )


def _member(value: Json) -> schema_packs.Schema | None:
    return decode_schema(value) if isinstance(value, dict) else None


def _branches(value: Mapping[str, Json], key: str) -> tuple[schema_packs.Schema, ...]:
    branches = (branch for branch in _list(value, key) if isinstance(branch, dict))
    return tuple(decode_schema(branch) for branch in branches)


def _texts(value: Mapping[str, Json], key: str) -> tuple[str, ...]:
    return tuple(item for item in _list(value, key) if isinstance(item, str))


def _list(data: Mapping[str, Json], key: str) -> list[Json]:
    value = data.get(key)
    return value if isinstance(value, list) else []


def _map(data: Mapping[str, Json], key: str) -> dict[str, Json]:
    value = data.get(key)
    return value if isinstance(value, dict) else {}


def _number(data: Mapping[str, Json], key: str) -> float | None:
    """Return a double, as upstream has all limits of numbers."""
    value: Any = data.get(key)
    return float(value) if value.__class__ in (int, float) else None


def _integer(data: Mapping[str, Json], key: str) -> int | None:
    value = data.get(key)
    return value if value.__class__ is int else None


# --- Types of expressions ----------------------------------------------------
#
# Schemas as types that expressions are checked against, with the sizes that data can have.
#
# There are two ways to see a schema. `PUBLISHED` is what the API server's type checker sees, and
# what the rules of custom resources are compiled against: dates are timestamps, `format: byte` is
# bytes, names are escaped, and what has no type (quantities, preserved fields) is not there at
# all. As `SchemaDeclType` in k8s.io/apiserver `pkg/cel/common/schemas.go`. `ACTUAL` is what the
# data looks like when a policy runs: plain JSON, so dates and bytes are text, a number may be
# integral, names are raw, and nothing is hidden.
#
# Objects get names made of their path, for they have none of their own:
# `Deployment7.spec.template`, `.@idx` for the items of a list, `.@elem` for the values of a map.
# A circular reference is an object whose fields nobody knows.
#
# Sizes are worst cases for what fits into one request: elements of lists and maps, bytes of
# strings.

MAX_DEPTH: Final = 200
"""Levels of nesting that are looked at; below them nothing is known. No real schema is as deep."""
MAX_REQUEST_BYTES: Final = 3 * 1024 * 1024
"""Of one request body: nothing can be larger."""
_UNBOUNDED: Final = MAX_REQUEST_BYTES - 2
"""A string, or the text of a list, without its two delimiters."""
_BYTES_PER_CHARACTER: Final = 4
_MIN_DYN: Final = 1
_MIN_STRING: Final = 2
_MIN_CONTAINER: Final = 2
_MEMBER_PUNCTUATION: Final = 4
"""Two quotes, a colon, a comma."""
_MAP_PUNCTUATION: Final = 6
"""And the quotes of an empty string."""


class View(enum.Enum):
    """Says whose eyes a schema is seen with: see the head of this module."""

    PUBLISHED = "published"
    ACTUAL = "actual"


@dataclass(frozen=True, slots=True)
class SchemaType:
    """Holds the type of a schema, and the sizes of its values in requests.

    `max_elements` counts elements, or the bytes of a text; `min_size` is in bytes of JSON. `fields`
    are those of an object under their CEL names, `element` is that of items or values. The root
    has the types of all `objects` at and below it.
    """

    type: types.Type
    max_elements: int = 0
    min_size: int = 0
    fields: Mapping[str, SchemaType] = field(default_factory=dict)
    element: SchemaType | None = None
    objects: tuple[ObjectType, ...] = ()

    @property
    def max_cardinality(self) -> int:
        """Return how often such a value fits into a request, each with a comma."""
        return MAX_REQUEST_BYTES // (self.min_size + 1)


_TEXT_TYPE: Final = SchemaType(types.STRING, _UNBOUNDED, _MIN_STRING)
_KEY: Final = SchemaType(types.STRING, 0, _MIN_STRING)
"""The key of a map. Upstream gives it the shared `StringType`, which has no `MaxElements`: keys
count as empty texts, however long they may be."""
_ANYTHING: Final = SchemaType(types.DYN, _UNBOUNDED, _MIN_DYN)
_ANY_LIST: Final = SchemaType(types.LIST, _UNBOUNDED // (_MIN_DYN + 1), _MIN_CONTAINER)
_SCALARS: Final = {
    "boolean": SchemaType(types.BOOL, 0, 4),
    "number": SchemaType(types.DOUBLE, 0, 1),
    "integer": SchemaType(types.INT, 0, 1),
}
_FORMATS: Final = {
    "duration": SchemaType(types.DURATION, 32, 3),
    "date": SchemaType(types.TIMESTAMP, 12, 12),
    "date-time": SchemaType(types.TIMESTAMP, 32, 21),
}


def schema_type(schema: schema_packs.Schema, name: str, view: View = View.PUBLISHED) -> SchemaType:
    """Return the type of a schema, dyn for one that has none. `name` is that of its object type."""
    return declared_type(schema, name, view) or _ANYTHING


def declared_type(
    schema: schema_packs.Schema, name: str, view: View = View.PUBLISHED, *, is_root: bool = False
) -> SchemaType | None:
    """Return the type as `schema_type` does; None for what expressions cannot use. With `is_root` a
    resource has the fields that its rules can see, whatever the schema says."""
    if is_root and schema.type == "object" and schema.additional_properties is None:
        schema = with_type_and_meta(schema)
    reader = _Reader(view)
    read = reader.read(schema, name, frozenset(), 0)
    return None if read is None else replace(read, objects=tuple(reader.objects))


class _Reader:
    """One reading of a schema, which collects the object types. `refs` are the components that a
    node is part of."""

    def __init__(self, view: View) -> None:
        self.actual = view is View.ACTUAL
        self.objects: list[ObjectType] = []

    def read(
        self, schema: schema_packs.Schema, name: str, refs: frozenset[str], depth: int
    ) -> SchemaType | None:
        if schema.ref:
            if schema.ref in refs:
                return _ANYTHING if self.actual else self._declare(name, {}, _MIN_CONTAINER)
            refs |= {schema.ref}
            schema = resolved(schema)
        elif schema.name:
            refs |= {schema.name}
        if schema.int_or_string:
            return _sized(_ANYTHING, schema)
        if depth > MAX_DEPTH or (self.actual and _may_be_anything(schema)):
            return _ANYTHING
        if schema.type == "array":
            return self._list(schema, name, refs, depth)
        if schema.type == "object":
            if schema.additional_properties is not None:
                return self._map(schema.additional_properties, schema, name, refs, depth)
            return self._object(schema, name, refs, depth)
        return self._scalar(schema)

    def _scalar(self, schema: schema_packs.Schema) -> SchemaType | None:
        if self.actual:
            if schema.type == "string":
                return _sized(_TEXT_TYPE, schema)
            scalar = _SCALARS.get(schema.type)
            return _ANYTHING if scalar is None or scalar.type is types.DOUBLE else scalar
        # The published schema of a quantity is a choice of two types, which counts as none.
        if schema.type == "string" and schema.name != schema_packs.QUANTITY:
            return _string(schema)
        return _SCALARS.get(schema.type)

    def _list(
        self, schema: schema_packs.Schema, name: str, refs: frozenset[str], depth: int
    ) -> SchemaType | None:
        if schema.items is None:
            return _ANY_LIST if self.actual else None
        item = self.read(schema.items, f"{name}.@idx", refs, depth + 1)
        if item is None:
            return None
        most = _bounded(schema.limits.max_items, _UNBOUNDED // (item.min_size + 1))
        kind = types.list_of(item.type)
        return SchemaType(kind, most, _MIN_CONTAINER, element=item)

    def _map(
        self,
        values: schema_packs.Schema,
        schema: schema_packs.Schema,
        name: str,
        refs: frozenset[str],
        depth: int,
    ) -> SchemaType | None:
        value = self.read(values, f"{name}.@elem", refs, depth + 1)
        if value is None:
            return None
        otherwise = _UNBOUNDED // (value.min_size + _MAP_PUNCTUATION)
        most = _bounded(schema.limits.max_properties, otherwise)
        kind = types.map_of(types.STRING, value.type)
        return SchemaType(kind, most, _MIN_CONTAINER, element=value)

    def _object(
        self, schema: schema_packs.Schema, name: str, refs: frozenset[str], depth: int
    ) -> SchemaType:
        if schema.embedded_resource and not self.actual:
            schema = with_type_and_meta(schema)
        fields: dict[str, SchemaType] = {}
        size = _MIN_CONTAINER
        for key, member in schema.properties.items():
            field = key if self.actual else schema_packs.escape(key)
            field_type = (
                None if field is None else self.read(member, f"{name}.{field}", refs, depth + 1)
            )
            if field_type is None or field is None:
                continue
            fields[field] = field_type
            if key in schema.required and member.default is schema_packs.ABSENT:
                size += len(key) + field_type.min_size + _MEMBER_PUNCTUATION
        return self._declare(name, fields, size)

    def _declare(self, name: str, fields: Mapping[str, SchemaType], size: int) -> SchemaType:
        self.objects.append(ObjectType(name, {key: value.type for key, value in fields.items()}))
        return SchemaType(types.object_type(name), 0, size, fields)


def _may_be_anything(schema: schema_packs.Schema) -> bool:
    return schema.nullable or schema.preserve_unknown or schema.open_values


def _string(schema: schema_packs.Schema) -> SchemaType:
    if schema.format in _FORMATS:
        return _FORMATS[schema.format]
    limit = schema.limits.max_length
    if schema.format == "byte":
        return SchemaType(types.BYTES, _bounded(limit, _UNBOUNDED), _MIN_STRING)
    if limit is None and schema.enum:
        choices = [len(choice.encode()) for choice in schema.enum if isinstance(choice, str)]
        return SchemaType(types.STRING, max(choices, default=0), _MIN_STRING)
    return _sized(_TEXT_TYPE, schema)


def _sized(schema_type: SchemaType, schema: schema_packs.Schema) -> SchemaType:
    limit = schema.limits.max_length
    if limit is None:
        return schema_type
    # Go's product has 64 bits: a limit of 2**62 becomes none at all.
    return replace(schema_type, max_elements=max(limit, 0) * _BYTES_PER_CHARACTER % 2**64)


def _bounded(limit: int | None, otherwise: int) -> int:
    return otherwise if limit is None else max(limit, 0)


@dataclass(frozen=True, slots=True)
class SchemaSizes:
    """Holds what the estimator may know of the sizes of variables that have this type."""

    root: SchemaType

    def size(self, path: tuple[str, ...], type_: types.Type) -> Range | None:
        """Return the size of what a path leads to, the name of the variable first."""
        root: SchemaType | None = self.root if path else None
        for step in path[1:]:
            if root is None:
                return None
            if step in ("@items", "@values"):
                root = root.element
            elif step == "@keys":
                root = _KEY if root.type.kind is types.Kind.MAP else None
            else:
                root = root.fields.get(step)
        return None if root is None else Range(0, root.max_elements)
