"""Schemas of built-in types in the form of OpenAPI v3, as clients read them from `/openapi/v3`.

Clients look for kinds (`x-kubernetes-group-version-kind`), for how patches merge lists and maps,
and for the names and types of fields; texts there are none. A field that is a struct and no pointer
has the default `{}`, one that is always written has its zero value.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import Any, Final

from celadon.kube.schemas import ABSENT, META_PREFIX, REFERENCE_PREFIX, Schema, built_in, component

SECURITY: Final = {"BearerToken": {"type": "apiKey", "name": "authorization", "in": "header"}}
"""How clients say who they are."""
_TIME: Final = {"type": "string", "format": "date-time"}
_SPECIAL: Final[Mapping[str, Mapping[str, Any]]] = {
    "io.k8s.apimachinery.pkg.api.resource.Quantity": {
        "oneOf": [{"type": "string"}, {"type": "number"}]
    },
    "io.k8s.apimachinery.pkg.util.intstr.IntOrString": {
        "format": "int-or-string",
        "oneOf": [{"type": "integer"}, {"type": "string"}],
    },
    f"{META_PREFIX}Time": _TIME,
    f"{META_PREFIX}MicroTime": _TIME,
    f"{META_PREFIX}FieldsV1": {"type": "object"},
    f"{META_PREFIX}Patch": {"type": "object"},
    "io.k8s.apimachinery.pkg.runtime.RawExtension": {"type": "object"},
}
_ANYTHING: Final = frozenset(
    {"JSON", "JSONSchemaPropsOrArray", "JSONSchemaPropsOrBool", "JSONSchemaPropsOrStringArray"}
)
_ZERO: Final = {"string": "", "integer": 0, "number": 0, "boolean": False}


def reference(name: str) -> dict[str, str]:
    """The mention of a type."""
    return {"$ref": REFERENCE_PREFIX + name}


@functools.cache
def built_in_schema(name: str) -> Mapping[str, Any]:
    """A type under its OpenAPI name, without the kinds it stands for."""
    if name in _SPECIAL:
        return _SPECIAL[name]
    if name.rpartition(".")[2] in _ANYTHING:
        return {}
    schema = component(name)
    always = _encodings().get(name, {}).get("always", {})
    properties = {
        key: _property(field, always.get(key, ABSENT))
        for key, field in sorted(schema.properties.items())
    }
    return {
        "type": "object",
        **({"required": list(schema.required)} if schema.required else {}),
        **({"properties": properties} if properties else {}),
        **({"x-kubernetes-map-type": schema.map_type} if schema.map_type else {}),
    }


@functools.cache
def _encodings() -> Mapping[str, Any]:
    return built_in().encodings()


def _property(field: Schema, written: object) -> dict[str, Any]:
    node = _node(field)
    default = field.default
    if default is ABSENT:
        default = _zero(field, written)
    return node if default is ABSENT else {"default": default, **node}


def _zero(field: Schema, written: object) -> Any:  # noqa: ANN401 - any JSON
    """What Go writes of a field that is not set, if it is of use as a default."""
    zero = {} if field.ref else _ZERO.get(field.type, ABSENT)
    return zero if written is not ABSENT and written == zero else ABSENT


def _node(field: Schema) -> dict[str, Any]:
    if field.ref:
        return {"allOf": [reference(field.ref)], **_extensions(field)}
    return {
        **({"type": field.type} if field.type else {}),
        **({"format": field.format} if field.format else {}),
        **({"enum": list(field.enum)} if field.enum else {}),
        **({"items": _inner(field.items)} if field.items else {}),
        **(
            {"additionalProperties": _inner(field.additional_properties)}
            if field.additional_properties
            else {}
        ),
        **_extensions(field),
    }


def _inner(field: Schema) -> dict[str, Any]:
    return dict(reference(field.ref)) if field.ref else _node(field)


def _extensions(field: Schema) -> dict[str, Any]:
    given = {
        "list-map-keys": list(field.list_map_keys),
        "list-type": field.list_type,
        "map-type": field.map_type,
        "patch-merge-key": field.merge_key,
        "patch-strategy": field.patch_strategy,
    }
    return {f"x-kubernetes-{name}": value for name, value in given.items() if value}
