"""`x-kubernetes-list-type`: items of sets, and keys of maps, occur once.

As k8s.io/apiextensions-apiserver `pkg/apiserver/schema/listtype/validation.go`: of an item that
occurs more than once only the second occurrence is reported.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import Any

from celadon.kube.fieldpath import ROOT, FieldError, FieldPath, duplicate, invalid
from celadon.kube.go.go_text import json_text
from celadon.kube.schemas.schema_model import Schema


def repeated_items(value: object, schema: Schema, path: FieldPath = ROOT) -> list[FieldError]:
    """Every repetition at or below a path."""
    if isinstance(value, dict):
        return _in_object(value, schema, path)
    if isinstance(value, list):
        return _in_list(value, schema, path)
    return []


def _in_object(value: dict[str, Any], schema: Schema, path: FieldPath) -> list[FieldError]:
    found = []
    if schema.additional_properties is not None:
        for key, one in value.items():
            found += repeated_items(one, schema.additional_properties, path.key(key))
    for key, one in value.items():
        if key in schema.properties:
            found += repeated_items(one, schema.properties[key], path.child(key))
    return found


def _in_list(value: list[Any], schema: Schema, path: FieldPath) -> list[FieldError]:
    found = []
    if schema.list_type == "set":
        found += [duplicate(path.index(i), value[i]) for i in _second_occurrences(value)]
    elif schema.list_type == "map":
        found += _in_map_list(value, schema.list_map_keys, path)
    if schema.items is not None:
        for i, one in enumerate(value):
            found += repeated_items(one, schema.items, path.index(i))
    return found


def _in_map_list(value: list[Any], keys: tuple[str, ...], path: FieldPath) -> list[FieldError]:
    for i, one in enumerate(value):
        if one is not None and not isinstance(one, dict):
            detail = "must be an object for an array of list-type map"
            return [invalid(path.index(i), one, detail)]
    named = [
        {key: one[key] for key in sorted(keys) if key in one} for one in (x or {} for x in value)
    ]
    return [duplicate(path.index(i), named[i]) for i in _second_occurrences(named)]


def _second_occurrences(values: Iterable[Any]) -> list[int]:
    counts: dict[Hashable, int] = {}
    found = []
    for i, one in enumerate(values):
        identity = _identity(one)
        counts[identity] = counts.get(identity, 0) + 1
        if counts[identity] == 2:
            found.append(i)
    return found


def _identity(value: object) -> Hashable:
    if isinstance(value, dict | list):
        return json_text(_sorted(value))
    return value.__class__, value


def _sorted(value: object) -> Any:
    if isinstance(value, dict):
        return {key: _sorted(value[key]) for key in sorted(value)}
    return [_sorted(one) for one in value] if isinstance(value, list) else value
