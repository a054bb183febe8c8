"""Pruning: the fields that a structural schema does not know are dropped.

As k8s.io/apiextensions-apiserver `pkg/apiserver/schema/pruning/algorithm.go`. Beneath
`additionalProperties: true` every object is emptied. Under `x-kubernetes-preserve-unknown-fields`
only what the schema does describe is looked into.
"""

from __future__ import annotations

import copy
from dataclasses import replace
from typing import Any, NamedTuple

from celadon.kube.json_types import Json
from celadon.kube.schemas.schema_model import Absent, Schema
from celadon.kube.schemas.strict_fields import Steps, StrayField
from celadon.kube.well_known_values import OBJECT_FIELDS


class Pruned(NamedTuple):
    """The value that is left, and what is not, sorted by its path."""

    value: Any
    dropped: tuple[StrayField, ...]


def pruned(value: Json, schema: Schema) -> Pruned:
    """For the root of a resource, whose metadata stays. What was given is not changed."""
    dropped: list[StrayField] = []
    left = _prune(value, replace(schema, embedded_resource=True), (), dropped)
    return Pruned(left, tuple(sorted(dropped, key=lambda one: one.path)))


def pruned_part(value: Json, schema: Schema) -> Json:
    """What is left of a value that is a resource only if its schema says so."""
    return _prune(value, schema, (), [])


def _prune(value: Json, schema: Schema | None, at: Steps, dropped: list[StrayField]) -> Json:
    if isinstance(value, dict):
        return _members(value, schema, at, dropped)
    if not isinstance(value, list):
        return value
    items = None if schema is None else schema.items
    if schema is not None and schema.preserve_unknown:
        if items is None:
            return value
        items = replace(items, preserve_unknown=True)
    return [_prune(one, items, (*at, i), dropped) for i, one in enumerate(value)]


def _members(
    value: dict[str, Json], schema: Schema | None, at: Steps, dropped: list[StrayField]
) -> dict[str, Json]:
    made: dict[str, Json] = {}
    values = None if schema is None else schema.additional_properties
    for key, one in value.items():
        below = (*at, key)
        if schema is not None and schema.embedded_resource and key in OBJECT_FIELDS:
            made[key] = one
        elif schema is not None and key in schema.properties:
            made[key] = _prune(one, schema.properties[key], below, dropped)
        elif schema is not None and (values is not None or schema.open_values):
            made[key] = _prune(one, values, below, dropped)
        elif schema is not None and schema.preserve_unknown:
            made[key] = one
        else:
            dropped.append(StrayField(below, known=() if schema is None else schema.properties))
    return made


# --- Custom defaults ---------------------------------------------------------
#
# Defaults of custom resources, and the nulls that are taken away before.
#
# As k8s.io/apiextensions-apiserver `pkg/apiserver/schema/defaulting`: a null where the schema
# does not allow null counts as absent if it is a member of an object; the items of a list stay
# where they are. A default goes to members that are absent, and its own members get defaults in
# turn.


def defaulted(value: object, schema: Schema | None, *, keeps_nulls: bool = False) -> Any:
    """The value with defaults; what was given is not changed. With `keeps_nulls` those stay that no
    default takes the place of: an object that was applied is not read again, which would take them
    away."""
    if schema is None:
        return value
    if isinstance(value, dict):
        return _custom_defaults_members(value, schema, keeps_nulls=keeps_nulls)
    if isinstance(value, list):
        items = schema.items
        return [
            _default_of(items)
            if _is_refused(one, items)
            else defaulted(one, items, keeps_nulls=keeps_nulls)
            for one in value
        ]
    return value


def _custom_defaults_members(
    value: dict[str, Json], schema: Schema, *, keeps_nulls: bool
) -> dict[str, Json]:
    made: dict[str, Json] = {}
    for key, one in value.items():
        known = schema.properties.get(key, schema.additional_properties)
        if not _is_refused(one, known):
            made[key] = defaulted(one, known, keeps_nulls=keeps_nulls)
        elif known is not None and not isinstance(known.default, Absent):
            made[key] = _default_of(known)
        elif keeps_nulls:
            made[key] = None
    for key, known in schema.properties.items():
        if key not in made and not isinstance(known.default, Absent):
            made[key] = _default_of(known)
    return made


def without_refused_nulls(value: object, schema: Schema | None) -> Any:
    """The value without the nulls that `defaulted` takes away and puts nothing in the place of."""
    if schema is None:
        return value
    if isinstance(value, list):
        return [without_refused_nulls(one, schema.items) for one in value]
    if not isinstance(value, dict):
        return value
    made: dict[str, Json] = {}
    for key, one in value.items():
        known = schema.properties.get(key, schema.additional_properties)
        if not _is_refused(one, known) or _default_of(known) is not None:
            made[key] = without_refused_nulls(one, known)
    return made


def _is_refused(value: Json, schema: Schema | None) -> bool:
    return value is None and schema is not None and not schema.nullable


def _default_of(schema: Schema | None) -> Any:
    if schema is None or isinstance(schema.default, Absent):
        return None
    return defaulted(copy.deepcopy(schema.default), schema)
