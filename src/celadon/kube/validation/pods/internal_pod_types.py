"""Objects as the API server has them inside, where it shows: in differences and values.

Inside, fields have their Go names and an order of their own, nothing is left out, and a few stand
elsewhere than in `v1`. The types stand in the columns `internal` of `data/schemas`, of which the
pack `internals` is made: by the name of a type (`core.v1.PodSpec`), each field as its name, its
name in JSON, and its type: `s` (text), `n` (number), `b` (boolean), `q` (quantity), `x` (anything,
as it is), `l` (label selector) or the name of another type; `*T` may be null, `[]T` and `{}T` are
null when empty.
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

from celadon.kube.json_types import JsonDict, JsonObject
from celadon.kube.releases import per_release
from celadon.kube.schemas import schema_packs
from celadon.kube.validation.text_rules import printed_selector

OF_POD: Final = ("hostNetwork", "hostPID", "hostIPC", "shareProcessNamespace", "hostUsers")
"""Fields that a pod has in `v1` and its security context inside."""

CLAIM_SPEC: Final = "core.v1.PersistentVolumeClaimSpec"
_TEMPLATE: Final = "volumeClaimTemplate"
_ZEROS: Final[JsonObject] = {"s": "", "n": 0, "b": False, "q": "0", "x": 0}


class Field(NamedTuple):
    """A member of a type: what it is called inside and in `v1`, and its type."""

    name: str
    key: str
    type: str


@per_release()
def fields_of(type_: str) -> tuple[Field, ...]:
    """The members of a type, in order."""
    return tuple(
        Field(*text.split()) for text in schema_packs.of_type("internals", type_).split(";")
    )


def internal_pod_spec(spec: JsonObject) -> JsonDict:
    """A spec of `v1` as it is inside."""
    return internal_value(with_host_fields_inside(spec), "core.v1.PodSpec")


def with_host_fields_inside(spec: JsonObject) -> JsonObject:
    """A spec of `v1` whose security context holds what it holds inside."""
    host = {field: spec[field] for field in OF_POD if field in spec}
    context = {**(spec.get("securityContext") or {}), **host}
    return {**spec, "securityContext": context}


def internal_template(template: JsonObject) -> JsonDict:
    """A template of pods: its metadata is the same outside, and lies open."""
    spec = internal_pod_spec(template.get("spec") or {})
    return {**(template.get("metadata") or {}), "Spec": spec}


def internal_value(obj: JsonObject, type_: str) -> JsonDict:
    """A part of an object as it is inside; `type_` is a key of the pack."""
    return {
        field.name: _claim_template(obj.get(field.key))
        if field.key == _TEMPLATE
        else _value(obj.get(field.key), field.type)
        for field in fields_of(type_)
    }


def _claim_template(template: JsonObject | None) -> JsonDict | None:
    """A template of claims, whose metadata lies open as that of pods does."""
    if template is None:
        return None
    spec = internal_value(template.get("spec") or {}, CLAIM_SPEC)
    return {**(template.get("metadata") or {}), "Spec": spec}


def _value(value: Any, kind: str) -> Any:
    if kind.startswith("*"):
        return None if value is None else _value(value, kind[1:])
    inner = kind[2:]
    if kind.startswith("[]"):
        return None if value is None else [_value(one, inner) for one in value]
    if kind.startswith("{}"):
        return None if value is None else {key: _value(value[key], inner) for key in sorted(value)}
    if kind == "l":
        return printed_selector(value)
    if kind in _ZEROS:
        return _ZEROS[kind] if value is None else value
    return internal_value(value or {}, kind)
