"""Defaults of custom resources, and the nulls that are taken away before.

As k8s.io/apiextensions-apiserver `pkg/apiserver/schema/defaulting`: a null where the schema does
not allow null counts as absent if it is a member of an object; the items of a list stay where they
are. A default goes to members that are absent, and its own members get defaults in turn.
"""

from __future__ import annotations

import copy
from typing import Any

from celadon.kube.json_types import Json
from celadon.kube.schemas.schema_model import Absent, Schema


def defaulted(value: object, schema: Schema | None, *, keeps_nulls: bool = False) -> Any:
    """The value with defaults; what was given is not changed. With `keeps_nulls` those stay that no
    default takes the place of: an object that was applied is not read again, which would take them
    away."""
    if schema is None:
        return value
    if isinstance(value, dict):
        return _members(value, schema, keeps_nulls=keeps_nulls)
    if isinstance(value, list):
        items = schema.items
        return [
            _default_of(items)
            if _is_refused(one, items)
            else defaulted(one, items, keeps_nulls=keeps_nulls)
            for one in value
        ]
    return value


def _members(value: dict[str, Json], schema: Schema, *, keeps_nulls: bool) -> dict[str, Json]:
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
