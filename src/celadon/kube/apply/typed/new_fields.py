"""What a new object gives its writer to own, written as FieldsV1 at once.

`new_fields` says what `comparisons` calls added and modified when nothing but the zero value of a
kind was there before, in the order in which servers write it. A create needs no sets of fields:
nobody else owns anything, so there is nothing to add to, to take from, or to compare with.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from celadon.kube.apply.field_elements import ordered
from celadon.kube.apply.field_sets import SELF, FieldsV1
from celadon.kube.apply.typed.comparisons import both_are, same
from celadon.kube.apply.typed.merge_types import ListRule, MapRule, MergeType
from celadon.kube.apply.typed.typed_sets import grouped


def new_fields(type_: MergeType, zero: Mapping[str, Any], new: Mapping[str, Any]) -> FieldsV1:
    """Of an object of a kind whose zero value is `zero`, in which no list has items. ItemError for
    an item without a key."""
    assert type_.map is not None, "objects are maps"
    return _set_members(type_.map, zero, new)


def _set_members(rule: MapRule, zero: Mapping[str, Any], new: Mapping[str, Any]) -> FieldsV1:
    made: FieldsV1 = {}
    for name, element, type_ in rule.in_order(new):
        now = new[name]
        if name not in zero:
            made[element] = _whole(type_, now)
            continue
        was = zero[name]
        if was is now:
            continue
        is_set, below = _set_below(type_, was, now)
        if is_set:
            made[element] = {SELF: {}, **below} if below else {}
        elif below:
            made[element] = below
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
        return False, _put_items({}, list_rule, new)
    below: FieldsV1 = {}
    if zero.__class__ is not new.__class__:
        below = _whole(type_, new)
        below.pop(SELF, None)
    return not same(zero, new), below


# --- what has come as a whole; see `typed_sets.subtree` ---


def _whole(type_: MergeType, value: Any) -> FieldsV1:
    """Of a value that is owned itself, besides what is below it."""
    if not value:
        return {}
    if value.__class__ is dict:
        rule = type_.map
        if rule is None or rule.atomic:
            return {}
        made: FieldsV1 = {SELF: {}}
        for name, element, child in rule.in_order(value):
            one = value[name]
            is_plain = one.__class__ is not dict and one.__class__ is not list
            made[element] = {} if is_plain else _whole(child, one)
        return made
    if value.__class__ is list and type_.list is not None and not type_.list.atomic:
        return _put_items({SELF: {}}, type_.list, value)
    return {}


def _put_items(made: FieldsV1, rule: ListRule, value: Sequence[Any]) -> FieldsV1:
    """Items that are there several times are owned as one."""
    if len(value) == 1:
        made[rule.element(value[0])] = _whole(rule.item, value[0])
        return made
    found = grouped(rule, value)
    for element in ordered(found):
        items = found[element]
        made[element] = _whole(rule.item, items[0]) if len(items) == 1 else {}
    return made
