"""What a new object gives its writer to own, written as FieldsV1 at once.

`new_fields` says what `comparisons` calls added and modified when nothing but the zero value of a
kind was there before, in the order in which servers write it. A create needs no sets of fields:
nobody else owns anything, so there is nothing to add to, to take from, or to compare with.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from celadon.kube.apply.field_elements import FIELD, ordered
from celadon.kube.apply.field_sets import SELF, FieldsV1
from celadon.kube.apply.typed.comparisons import both_are, same
from celadon.kube.apply.typed.merge_types import DEDUCED, ListRule, MapRule, MergeType
from celadon.kube.apply.typed.typed_sets import grouped


def new_fields(type_: MergeType, zero: Mapping[str, Any], new: Mapping[str, Any]) -> FieldsV1:
    """Of an object of a kind whose zero value is `zero`, in which no list has items. ItemError for
    an item without a key."""
    assert type_.map is not None, "objects are maps"
    return _set_members(type_.map, zero, new)


def _set_members(rule: MapRule, zero: Mapping[str, Any], new: Mapping[str, Any]) -> FieldsV1:
    made: FieldsV1 = {}
    for name in sorted(new):
        now = new[name]
        if name not in zero:
            made[FIELD + name] = _member(_below(rule.child(name) or DEDUCED, now))
            continue
        was = zero[name]
        if was is now:
            continue
        is_set, below = _set_below(rule.child(name) or DEDUCED, was, now)
        if is_set:
            made[FIELD + name] = _member(below)
        elif below:
            made[FIELD + name] = below
    return made


def _set_below(type_: MergeType, zero: Any, new: Any) -> tuple[bool, FieldsV1]:
    """Whether the value itself is owned, and what is owned below it."""
    map_rule, list_rule = type_.map, type_.list
    if map_rule is not None and both_are(dict, zero, new):
        if map_rule.atomic or not (zero or new):
            return not same(zero, new), {}
        return False, _set_members(map_rule, zero or {}, new or {})
    if list_rule is not None and both_are(list, zero, new):
        if list_rule.atomic or not new:
            return not same(zero, new), {}
        return False, _items(list_rule, new)
    below = {} if zero.__class__ is new.__class__ else _below(type_, new)
    return not same(zero, new), below


def _member(below: FieldsV1) -> FieldsV1:
    """Of an element that is owned itself, besides what is below it."""
    return {SELF: {}, **below} if below else below


def _below(type_: MergeType, value: Any) -> FieldsV1:
    """Everything in a value that has come as a whole; see `typed_sets.subtree`."""
    if not value:
        return {}
    if value.__class__ is dict:
        rule = type_.map
        if rule is None or rule.atomic:
            return {}
        return {
            FIELD + name: _member(_below(rule.child(name) or DEDUCED, one))
            if (one := value[name]).__class__ is dict or one.__class__ is list
            else {}
            for name in sorted(value)
        }
    if value.__class__ is list and type_.list is not None and not type_.list.atomic:
        return _items(type_.list, value)
    return {}


def _items(rule: ListRule, value: Sequence[Any]) -> FieldsV1:
    """Items that are there several times are owned as one."""
    found = grouped(rule, value)
    return {
        element: _member(_below(rule.item, found[element][0])) if len(found[element]) == 1 else {}
        for element in ordered(found)
    }
