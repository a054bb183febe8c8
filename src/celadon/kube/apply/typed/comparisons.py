"""What differs between two states of an object, as sets of fields.

A leaf that has another value is modified. What has come is added, and what has gone removed, with
everything below it. Lists with keys and sets have no order. An empty or null container is a leaf
where the other state has nothing either. As structured-merge-diff `typed/compare.go`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from celadon.kube.apply.field_elements import FIELD
from celadon.kube.apply.field_sets import FieldSet
from celadon.kube.apply.typed.merge_types import DEDUCED, ListRule, MapRule, MergeType
from celadon.kube.apply.typed.typed_sets import grouped, subtree


class Comparison:
    """Three sets; a comparison grows only while it is being made."""

    __slots__ = ("added", "modified", "removed")

    def __init__(self) -> None:
        self.added = FieldSet()
        self.modified = FieldSet()
        self.removed = FieldSet()

    def __bool__(self) -> bool:
        """Whether anything differs."""
        return bool(self.added) or bool(self.modified) or bool(self.removed)

    def put(self, element: str, below: Comparison) -> None:
        """Hangs the comparison of a member below this one."""
        self.added.put(element, below.added)
        self.modified.put(element, below.modified)
        self.removed.put(element, below.removed)


def compared(type_: MergeType, old: object, new: object) -> Comparison:
    """From one state to another. ItemError for an item without a key."""
    found = Comparison()
    _compare(type_, old, new, found)
    return found


def _compare(type_: MergeType, old: Any, new: Any, found: Comparison) -> bool:
    """Whether it is a leaf that was modified; if not, the rest is put into `found`."""
    old_class, new_class = old.__class__, new.__class__
    map_rule, list_rule = type_.map, type_.list
    if map_rule is not None and both_are(dict, old, new):
        if map_rule.atomic or not (old or new):
            return not same(old, new)
        # of Go's types equal values are equal in their JSON types too
        if not (type_.codec and old == new):
            _compare_maps(map_rule, old or {}, new or {}, found)
        return False
    if list_rule is not None and both_are(list, old, new):
        if list_rule.atomic or not (old or new):
            return not same(old, new)
        _compare_lists(list_rule, old or [], new or [], found)
        return False
    if old_class is not new_class:  # what was below the one is gone, with what is below the other
        _merge_into(found.removed, subtree(type_, old))
        _merge_into(found.added, subtree(type_, new))
    return not same(old, new)


def both_are(wanted: type, old: object, new: object) -> bool:
    """Whether both are containers of that class, one at least; null is as good as an empty one."""
    if old.__class__ is wanted:
        return new.__class__ is wanted or new is None
    return old is None and new.__class__ is wanted


def _merge_into(target: FieldSet, more: FieldSet) -> None:
    target.members |= more.members
    target.children.update(more.children)


def same(old: Any, new: Any) -> bool:
    """Whether two JSON values are equal; `true` is no number, but 1 is 1.0."""
    if old.__class__ is not new.__class__:
        return _is_number(old) and _is_number(new) and bool(old == new)
    if old.__class__ is dict:
        return old.keys() == new.keys() and all(same(old[key], new[key]) for key in old)
    if old.__class__ is list:
        return len(old) == len(new) and all(map(same, old, new))
    return bool(old == new)


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float)) and value.__class__ is not bool


def _compare_maps(
    rule: MapRule, old: Mapping[str, Any], new: Mapping[str, Any], found: Comparison
) -> None:
    for name, was in old.items():
        element = FIELD + name
        if name not in new:
            found.removed.members.add(element)
            found.removed.put(element, subtree(rule.child(name) or DEDUCED, was))
            continue
        now = new[name]
        if was is now or (was.__class__ is str and was == now):
            continue
        below = Comparison()
        if _compare(rule.child(name) or DEDUCED, was, now, below):
            found.modified.members.add(element)
        found.put(element, below)
    for name, now in new.items():
        if name not in old:
            element = FIELD + name
            found.added.members.add(element)
            if now.__class__ is dict or now.__class__ is list:
                found.added.put(element, subtree(rule.child(name) or DEDUCED, now))


def _compare_lists(
    rule: ListRule, old: Sequence[Any], new: Sequence[Any], found: Comparison
) -> None:
    before, after = grouped(rule, old), grouped(rule, new)
    for element in before | after:
        _compare_items(rule, element, before.get(element, []), after.get(element, []), found)


def _compare_items(
    rule: ListRule, element: str, old: list[Any], new: list[Any], found: Comparison
) -> None:
    """What is there several times is one leaf."""
    if len(old) > 1 and len(new) > 1:
        if not same(old, new):
            found.modified.members.add(element)
    elif len(old) > 1 or len(new) > 1:
        if old:
            _add_item(rule, element, old, found.removed)
        if new:
            _add_item(rule, element, new, found.added)
    elif not old:
        _add_item(rule, element, new, found.added)
    elif not new:
        _add_item(rule, element, old, found.removed)
    elif old[0] is not new[0]:
        below = Comparison()
        if _compare(rule.item, old[0], new[0], below):
            found.modified.members.add(element)
        found.put(element, below)


def _add_item(rule: ListRule, element: str, items: list[Any], found: FieldSet) -> None:
    found.members.add(element)
    if len(items) == 1:
        found.put(element, subtree(rule.item, items[0]))
