"""A value without the fields of a set. As structured-merge-diff `typed/remove.go`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from celadon.kube.apply.field_elements import FIELD
from celadon.kube.apply.field_sets import FieldSet
from celadon.kube.apply.typed.merge_types import DEDUCED, ListRule, MapRule, MergeType


def without(type_: MergeType, value: object, fields: FieldSet) -> Any:
    """A new value, which shares what did not change; a container that loses all it has is
    empty. What is atomic has no fields of its own: it goes, if somebody thinks it has."""
    if not fields or not value:
        return value
    if value.__class__ is dict and type_.map is not None:
        return None if type_.map.atomic else _without_members(type_.map, value, fields)
    if value.__class__ is list and type_.list is not None:
        return None if type_.list.atomic else _without_items(type_.list, value, fields)
    return value


def _without_members(rule: MapRule, value: Mapping[str, Any], fields: FieldSet) -> dict[str, Any]:
    made = {}
    for name, one in value.items():
        element = FIELD + name
        if element in fields.members:
            continue
        below = fields.children.get(element)
        made[name] = one if below is None else without(rule.child(name) or DEDUCED, one, below)
    return made


def _without_items(rule: ListRule, value: Sequence[Any], fields: FieldSet) -> list[Any]:
    made = []
    for item in value:
        element = rule.element(item)
        if element in fields.members:
            continue
        below = fields.children.get(element)
        made.append(item if below is None else without(rule.item, item, below))
    return made
