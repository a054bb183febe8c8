"""Pruning: the fields that a structural schema does not know are dropped.

As k8s.io/apiextensions-apiserver `pkg/apiserver/schema/pruning/algorithm.go`. Beneath
`additionalProperties: true` every object is emptied. Under `x-kubernetes-preserve-unknown-fields`
only what the schema does describe is looked into.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

from celadon.kube.json_types import Json
from celadon.kube.schemas.schema_model import Schema
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
