"""The fields that a value has: those an applied configuration is about, and other views of sets.

As structured-merge-diff `typed/{tofieldset,reconcile_schema}.go` and
`fieldpath.Set.EnsureNamedFieldsAreMembers`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from celadon.kube.apply.field_elements import FIELD
from celadon.kube.apply.field_sets import FieldSet
from celadon.kube.apply.typed.merge_types import DEDUCED, ListRule, MapRule, MergeType


def applied_set(type_: MergeType, value: object) -> FieldSet:
    """What is said by a configuration: leaves, items of lists, keys of maps, empty maps; but not
    the structs and maps on the way. ItemError for an item without a key."""
    found = FieldSet()
    _collect(type_, value, found)
    return found


def _collect(type_: MergeType, value: object, found: FieldSet) -> bool:
    """Whether the value is a leaf; if not, what is below it is put into `found`."""
    if value.__class__ is dict and type_.map is not None:
        if type_.map.atomic:
            return True
        _collect_members(type_.map, value, found)
        return False
    if value.__class__ is list and type_.list is not None:
        if type_.list.atomic:
            return True
        _collect_items(type_.list, value, found)
        return False
    return True


def _collect_members(rule: MapRule, value: Mapping[str, Any], found: FieldSet) -> None:
    for name, one in value.items():
        element = FIELD + name
        below = FieldSet()
        is_leaf = _collect(rule.child(name) or DEDUCED, one, below)
        if is_leaf or one == {} or not rule.declares(name):
            found.members.add(element)
        found.put(element, below)


def _collect_items(rule: ListRule, value: Sequence[Any], found: FieldSet) -> None:
    """Items that are there several times are leaves."""
    for element, items in grouped(rule, value).items():
        found.members.add(element)
        if len(items) == 1:
            below = FieldSet()
            _collect(rule.item, items[0], below)
            found.put(element, below)


def grouped(rule: ListRule, value: Sequence[Any]) -> dict[str, list[Any]]:
    """The items of a list under what identifies them. ItemError for one that nothing does."""
    found: dict[str, list[Any]] = {}
    for element, item in zip(rule.elements(value), value, strict=True):
        found.setdefault(element, []).append(item)
    return found


def subtree(type_: MergeType, value: object) -> FieldSet:
    """Everything below a value that has come or gone as a whole: the containers on the way too."""
    found = FieldSet()
    if not value:
        return found
    if value.__class__ is dict:
        rule = type_.map
        if rule is not None and not rule.atomic:
            found.members.update([FIELD + name for name in value])
            for name, one in value.items():
                if one.__class__ is dict or one.__class__ is list:
                    below = subtree(rule.child(name) or DEDUCED, one)
                    if below.members:
                        found.children[FIELD + name] = below
    elif value.__class__ is list and type_.list is not None and not type_.list.atomic:
        for element, items in grouped(type_.list, value).items():
            found.members.add(element)
            if len(items) == 1:
                found.put(element, subtree(type_.list.item, items[0]))
    return found


def with_structs(fields: FieldSet, type_: MergeType | None) -> FieldSet:
    """The same set with the declared fields on the way to its members, which are otherwise not
    members themselves."""
    rule = None if type_ is None else type_.map
    members, children = set(fields.members), {}
    for element, below in fields.children.items():
        name, inner = element[2:], None
        if element.startswith(FIELD):
            if rule is not None:
                inner = rule.child(name)
                if rule.declares(name):
                    members.add(element)
        elif type_ is not None and type_.list is not None:
            inner = type_.list.item
        children[element] = with_structs(below, inner)
    return FieldSet(members, children)


def reconciled(fields: FieldSet, type_: MergeType | None) -> FieldSet:
    """A set that may have been written when the schema was another: who owned something within
    what is atomic by now owns all of it."""
    if type_ is None or not fields.children:
        return fields
    members, children = set(fields.members), {}
    for element, below in fields.children.items():
        inner = _below(type_, element)
        if inner is not None and _is_atomic(inner):
            members.add(element)
        else:
            children[element] = reconciled(below, inner)
    return FieldSet(members, children)


def _below(type_: MergeType, element: str) -> MergeType | None:
    if element.startswith(FIELD):
        return None if type_.map is None else type_.map.child(element[2:])
    return None if type_.list is None else type_.list.item


def _is_atomic(type_: MergeType) -> bool:
    """Whether a value of the only shape that the type allows is owned as a whole."""
    if type_.scalar:
        return False
    if type_.map is not None:
        return type_.map.atomic
    return type_.list is not None and type_.list.atomic
