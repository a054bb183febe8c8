"""The schemas of CustomResourceDefinitions.

`definition_schemas` are the schemas as they are given, by which objects are pruned, defaulted and
validated. A server publishes more than that: `published_schema` adds `apiVersion`, `kind` and full
metadata to the root and to embedded resources, as k8s.io/apiextensions-apiserver
`pkg/controller/openapi/builder/builder.go`. Validation rules see something between the two:
`with_type_and_meta`, as k8s.io/apiserver `pkg/cel/common/schemas.go` (`WithTypeAndObjectMeta`).
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from celadon.kube.json_types import Json
from celadon.kube.names import GroupVersionKind
from celadon.kube.schemas.schema_model import (
    ABSENT,
    NO_LIMITS,
    OBJECT_META,
    OPEN,
    Schema,
    ValidationRule,
    ValueLimits,
)
from celadon.kube.schemas.schema_packs import resolved

_TEXT: Final = Schema(type="string")
_RESOURCE_FIELDS: Final = {
    "apiVersion": _TEXT,
    "kind": _TEXT,
    "metadata": Schema(ref=OBJECT_META),
}
_NAMED: Final = Schema(type="object", properties={"name": _TEXT, "generateName": _TEXT})
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


def definition_schemas(definition: Mapping[str, Json]) -> dict[GroupVersionKind, Schema]:
    """The schema of each version of a CustomResourceDefinition object, served or not; open for a
    version without one."""
    return {gvk: _version_schema(definition, one) for gvk, one in _versions(definition)}


def defined_kinds(definition: Mapping[str, Json]) -> list[GroupVersionKind]:
    """The kinds of which it gives the schemas."""
    return [gvk for gvk, _ in _versions(definition)]


def custom_schemas(definition: Mapping[str, Json]) -> dict[GroupVersionKind, Schema]:
    """The published schema of each served version."""
    return {
        gvk: published_schema(_version_schema(definition, one), gvk)
        for gvk, one in _versions(definition)
        if one.get("served")
    }


def _versions(
    definition: Mapping[str, Json],
) -> list[tuple[GroupVersionKind, Mapping[str, Json]]]:
    spec = _map(definition, "spec")
    group, kind = _text(spec, "group"), _text(_map(spec, "names"), "kind")
    return [
        (GroupVersionKind(group, _text(one, "name"), kind), one)
        for one in _list(spec, "versions")
        if isinstance(one, dict)
    ]


def _version_schema(definition: Mapping[str, Json], version: Mapping[str, Json]) -> Schema:
    given = _map(version, "schema").get("openAPIV3Schema")
    if given is None or _map(definition, "spec").get("preserveUnknownFields"):
        return OPEN
    return decode_schema(given)


def published_schema(schema: Schema, gvk: GroupVersionKind) -> Schema:
    """The schema of a resource as a server publishes it."""
    shown = _with_embedded_resources(schema)
    properties = {**shown.properties, **_RESOURCE_FIELDS}
    return replace(shown, gvk=gvk, type="object", properties=properties)


def _with_embedded_resources(schema: Schema) -> Schema:
    """The same schema, or a copy in which embedded resources have the fields of one."""
    if schema.type not in ("array", "object"):
        return schema
    properties = {key: _with_embedded_resources(one) for key, one in schema.properties.items()}
    if schema.embedded_resource:
        properties |= _RESOURCE_FIELDS
    items, values = schema.items, schema.additional_properties
    new_items = None if items is None else _with_embedded_resources(items)
    new_values = None if values is None else _with_embedded_resources(values)
    unchanged = properties.keys() == schema.properties.keys() and all(
        one is schema.properties[key] for key, one in properties.items()
    )
    if unchanged and new_items is items and new_values is values:
        return schema
    return replace(schema, properties=properties, items=new_items, additional_properties=new_values)


def with_type_and_meta(schema: Schema) -> Schema:
    """A resource as rules see it: `apiVersion`, `kind`, name and generateName are there always."""
    known = dict(schema.properties)
    meta = resolved(known["metadata"]).properties if "metadata" in known else {}
    has_meta = all(name in meta and meta[name].type == "string" for name in _NAMED.properties)
    if has_meta and known.get("kind") == known.get("apiVersion") == _TEXT:
        return schema
    known |= {"kind": _TEXT, "apiVersion": _TEXT, "metadata": _NAMED}
    return Schema(
        type=schema.type,
        nullable=schema.nullable,
        properties=known,
        required=schema.required,
        preserve_unknown=schema.preserve_unknown,
        map_type=schema.map_type,
        rules=schema.rules,
    )


def decode_schema(given: object) -> Schema:
    """A node, and those below it, from the JSON of an OpenAPI schema.

    It never fails: what is not of the type it should be counts as absent, since a CRD that an API
    server would refuse may still be all that a user has.
    """
    if not isinstance(given, dict):
        return Schema()
    if _LEAF.issuperset(given):
        return _leaf(_text(given, "type"), _text(given, "format"))
    values, properties = given.get("additionalProperties"), _map(given, "properties")
    return Schema(
        type=_text(given, "type"),
        format=_text(given, "format"),
        nullable=given.get("nullable") is True,
        default=ABSENT if given.get("default") is None else given["default"],
        properties={key: decode_schema(one) for key, one in properties.items()},
        additional_properties=_member(values),
        open_values=values is True,
        items=_member(given.get("items")),
        required=_texts(given, "required"),
        enum=tuple(_list(given, "enum")),
        limits=_limits(given),
        all_of=_branches(given, "allOf"),
        any_of=_branches(given, "anyOf"),
        one_of=_branches(given, "oneOf"),
        not_=_member(given.get("not")),
        embedded_resource=given.get("x-kubernetes-embedded-resource") is True,
        int_or_string=given.get("x-kubernetes-int-or-string") is True,
        preserve_unknown=given.get("x-kubernetes-preserve-unknown-fields") is True,
        list_type=_text(given, "x-kubernetes-list-type"),
        list_map_keys=_texts(given, "x-kubernetes-list-map-keys"),
        map_type=_text(given, "x-kubernetes-map-type"),
        rules=tuple(_rule(one) for one in _list(given, "x-kubernetes-validations")),
    )


@functools.lru_cache(maxsize=64)
def _leaf(type_: str, format_: str) -> Schema:
    """Most nodes of real schemas say nothing but this; they share one."""
    return Schema(type=type_, format=format_)


def _rule(given: Json) -> ValidationRule:
    if not isinstance(given, dict):
        return ValidationRule()
    return ValidationRule(
        rule=_text(given, "rule"),
        message=_text(given, "message"),
        message_expression=_text(given, "messageExpression"),
        reason=_text(given, "reason"),
        field_path=_text(given, "fieldPath"),
        optional_old_self=given.get("optionalOldSelf") is True,
    )


def _limits(given: Mapping[str, Json]) -> ValueLimits:
    if _LIMITS.isdisjoint(given):
        return NO_LIMITS
    return ValueLimits(
        minimum=_number(given, "minimum"),
        maximum=_number(given, "maximum"),
        exclusive_minimum=given.get("exclusiveMinimum") is True,
        exclusive_maximum=given.get("exclusiveMaximum") is True,
        multiple_of=_number(given, "multipleOf"),
        min_length=_integer(given, "minLength"),
        max_length=_integer(given, "maxLength"),
        pattern=_text(given, "pattern"),
        min_items=_integer(given, "minItems"),
        max_items=_integer(given, "maxItems"),
        min_properties=_integer(given, "minProperties"),
        max_properties=_integer(given, "maxProperties"),
    )


def _member(given: Json) -> Schema | None:
    return decode_schema(given) if isinstance(given, dict) else None


def _branches(given: Mapping[str, Json], key: str) -> tuple[Schema, ...]:
    branches = (one for one in _list(given, key) if isinstance(one, dict))
    return tuple(decode_schema(one) for one in branches)


def _text(given: Mapping[str, Json], key: str) -> str:
    value = given.get(key)
    return value if isinstance(value, str) else ""


def _texts(given: Mapping[str, Json], key: str) -> tuple[str, ...]:
    return tuple(one for one in _list(given, key) if isinstance(one, str))


def _list(given: Mapping[str, Json], key: str) -> list[Json]:
    value = given.get(key)
    return value if isinstance(value, list) else []


def _map(given: Mapping[str, Json], key: str) -> dict[str, Json]:
    value = given.get(key)
    return value if isinstance(value, dict) else {}


def _number(given: Mapping[str, Json], key: str) -> float | None:
    value = given.get(key)
    return value if value.__class__ in (int, float) else None


def _integer(given: Mapping[str, Json], key: str) -> int | None:
    value = given.get(key)
    return value if value.__class__ is int else None
