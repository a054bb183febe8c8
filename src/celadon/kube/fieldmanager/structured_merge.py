"""An applied configuration on top of what there is.

Leaves are those of the configuration where it has them. Lists with keys and sets take the order of
the configuration for the items that both have; items that only the live object has keep their
place. As structured-merge-diff `typed/merge.go`.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any, Final, Protocol, TypeAlias

from celadon.kube.fieldmanager.field_sets import FIELD, INDEX, FieldSet, step_text
from celadon.kube.fieldmanager.merge_types import (
    BOOLEAN,
    DEDUCED,
    NIL_LIST,
    NUMERIC,
    STRING,
    UNTYPED,
    ForeignValue,
    ItemError,
    ListRule,
    MapRule,
    MergeType,
)
from celadon.kube.go.go_text import plain_text, quote
from celadon.kube.json_types import Json, JsonObject, have_same_bytes
from celadon.records import dataclass

_CONTAINERS: Final = (dict, list)


class Joiner(Protocol):
    """Whoever has something to do with what a merge puts into an object."""

    def joined(
        self, type_: MergeType, live: JsonObject, merged: dict[str, Json], config: JsonObject
    ) -> None:
        """Note that a struct or a map was merged; `merged` may be changed. Its members that are
        identical objects with those of `config` were taken over."""

    def added(self, type_: MergeType, item: Json) -> Json:
        """Return what becomes of an item that the live list does not have."""

    def passed(self, live: Sequence[object]) -> None:
        """Note that a list was merged; `live` is the list before."""


def merged(type_: MergeType, live: Any, config: Any, joiner: Joiner | None = None) -> Any:
    """Return a new value, which shares what did not change. ItemError for an item without a key."""
    live_class, config_class = live.__class__, config.__class__
    rule = type_.map
    if rule is not None and live_class is dict and (config_class is dict or config is None):
        if rule.atomic or not (live or config):
            return config
        return _merged_maps(type_, rule, live, config or {}, joiner)
    list_rule = type_.list
    if list_rule is not None and live_class is list and (config_class is list or config is None):
        if list_rule.atomic or not (live or config):
            return config
        return _merged_lists(list_rule, live, config or [], joiner)
    return config


def _merged_maps(
    type_: MergeType, rule: MapRule, live: JsonObject, config: JsonObject, joiner: Joiner | None
) -> dict[str, object]:
    result = dict(live)
    for name, value in config.items():
        if name in live and (value is None or value.__class__ in _CONTAINERS):
            value = merged(rule.child(name) or DEDUCED, live[name], value, joiner)
        result[name] = value
    if joiner is not None:
        joiner.joined(type_, live, result, config)
    return result


def _merged_lists(
    rule: ListRule, live: Sequence[Any], config: Sequence[Json], joiner: Joiner | None
) -> list[object]:
    """Items that the live list has several times are replaced where the configuration has them.
    Mostly that has only such as are there already, in this order, or only new ones."""
    theirs = rule.elements(live)
    config_items = dict(zip(rule.elements(config), config, strict=True))
    mine, type_ = list(config_items), rule.item
    common = [element for element in theirs if element in config_items]
    if joiner is not None:
        joiner.passed(live)
    if common == mine:
        return [
            merged(type_, item, config_items[element], joiner) if element in config_items else item
            for element, item in zip(theirs, live, strict=True)
        ]
    if not common:
        return [*live, *(_added(type_, item, joiner) for item in config_items.values())]
    present: dict[str, object] = {}
    for element, item in zip(theirs, live, strict=True):
        present[element] = None if element in present else item
    result = []
    for number, element in _mixed_order(theirs, mine):
        if number is not None:
            result.append(live[number])
        elif present.get(element) is None:
            result.append(_added(type_, config_items[element], joiner))
        else:
            result.append(merged(type_, present[element], config_items[element], joiner))
    return result


def _added(type_: MergeType, item: Json, joiner: Joiner | None) -> Any:
    return item if joiner is None else joiner.added(type_, item)


def _mixed_order(theirs: Sequence[str], mine: Sequence[str]) -> Iterator[tuple[int | None, str]]:
    """Yield the order of two lists put together: elements of the live list (`theirs`) that the
    other does not have, with their index, and all elements of the other."""
    my_set, their_set, merged_already = set(mine), set(theirs), set[str]()
    shared = [element for element in mine if element in their_set]
    index, next_mine, next_shared = 0, 0, 0
    while index < len(theirs) or next_mine < len(mine):
        if index < len(theirs):
            other = theirs[index]
            if other not in my_set:
                yield index, other
                index += 1
                continue
            if next_mine < len(mine) and other != mine[next_mine]:
                next_element = shared[next_shared] if next_shared < len(shared) else other
                if other != next_element:  # shared, but its turn comes with the other list's order
                    index += 1
                    continue
            if other in merged_already or (next_mine < len(mine) and other == mine[next_mine]):
                index += 1
        if next_mine < len(mine):
            element = mine[next_mine]
            yield None, element
            merged_already.add(element)
            next_mine += 1
            if next_shared < len(shared) and shared[next_shared] == element:
                next_shared += 1


# --- Typed sets --------------------------------------------------------------
#
# The fields that a value has: those an applied configuration is about, and other views of sets.
#
# As structured-merge-diff `typed/{tofieldset,reconcile_schema}.go` and
# `fieldpath.Set.EnsureNamedFieldsAreMembers`.


def applied_set(type_: MergeType, value: object) -> FieldSet:
    """Return what is said by a configuration: leaves, items of lists, keys of maps, empty maps; but
    not the structs and maps on the way. ItemError for an item without a key."""
    field_set = FieldSet()
    _collect(type_, value, field_set)
    return field_set


def _collect(type_: MergeType, value: object, field_set: FieldSet) -> bool:
    """Return whether the value is a leaf; if not, what is below it is put into `field_set`."""
    if value.__class__ is dict and type_.map is not None:
        if type_.map.atomic:
            return True
        _collect_members(type_.map, value, field_set)
        return False
    if value.__class__ is list and type_.list is not None:
        if type_.list.atomic:
            return True
        _collect_items(type_.list, value, field_set)
        return False
    return True


def _collect_members(rule: MapRule, value: JsonObject, field_set: FieldSet) -> None:
    for name, member in value.items():
        element = FIELD + name
        if member.__class__ not in _CONTAINERS:
            field_set.members.add(element)
            continue
        below = FieldSet()
        is_leaf = _collect(rule.child(name) or DEDUCED, member, below)
        if is_leaf or member == {} or not rule.declares(name):
            field_set.members.add(element)
        field_set.put(element, below)


def _collect_items(rule: ListRule, value: Sequence[Json], field_set: FieldSet) -> None:
    """Items that are there several times are leaves."""
    for element, items in grouped(rule, value).items():
        field_set.members.add(element)
        if len(items) == 1:
            below = FieldSet()
            _collect(rule.item, items[0], below)
            field_set.put(element, below)


def grouped(rule: ListRule, value: Sequence[object]) -> dict[str, list[Any]]:
    """Return the items of a list under what identifies them. ItemError for one that nothing
    does."""
    result: dict[str, list[object]] = {}
    for element, item in zip(rule.elements(value), value, strict=True):
        result.setdefault(element, []).append(item)
    return result


def subtree(type_: MergeType, value: object) -> FieldSet:
    """Return everything below a value that has come or gone as a whole: the containers on the way
    too."""
    field_set = FieldSet()
    if not value:
        return field_set
    if value.__class__ is dict:
        rule = type_.map
        if rule is not None and not rule.atomic:
            field_set.members.update([FIELD + name for name in value])
            for name, member in value.items():
                if member.__class__ is dict or member.__class__ is list:
                    below = subtree(rule.child(name) or DEDUCED, member)
                    if below.members:
                        field_set.children[FIELD + name] = below
    elif value.__class__ is list and type_.list is not None and not type_.list.atomic:
        for element, items in grouped(type_.list, value).items():
            field_set.members.add(element)
            if len(items) == 1:
                field_set.put(element, subtree(type_.list.item, items[0]))
    return field_set


def with_structs(fields: FieldSet, type_: MergeType | None) -> FieldSet:
    """Return the same set with the declared fields on the way to its members, which are otherwise
    not members themselves."""
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
    """Return a set that may have been written when the schema was another: who owned something
    within what is atomic by now owns all of it."""
    if type_ is None:
        return fields
    atomic, children = set[str](), dict[str, FieldSet]()
    for element, below in fields.children.items():
        inner = _below(type_, element)
        if inner is not None and _is_atomic(inner):
            atomic.add(element)
        elif inner is not None and below.children:
            children[element] = reconciled(below, inner)
    if not atomic and all(child is fields.children[element] for element, child in children.items()):
        return fields
    result = {element: fields.children[element] for element in fields.children.keys() - atomic}
    return FieldSet(fields.members | atomic, result | children)


def _below(type_: MergeType, element: str) -> MergeType | None:
    if element.startswith(FIELD):
        return None if type_.map is None else type_.map.child(element[2:])
    return None if type_.list is None else type_.list.item


def _is_atomic(type_: MergeType) -> bool:
    """Return whether a value of the only shape that the type allows is owned as a whole."""
    if type_.scalar:
        return False
    if type_.map is not None:
        return type_.map.atomic
    return type_.list is not None and type_.list.atomic


# --- Comparisons -------------------------------------------------------------
#
# What differs between two states of an object, as sets of fields.
#
# A leaf that has another value is modified. What has come is added, and what has gone removed,
# with everything below it. Lists with keys and sets have no order. An empty or null container
# is a leaf where the other state has nothing either. As structured-merge-diff
# `typed/compare.go`.


class Comparison:
    """Three sets; a comparison grows only while it is being made."""

    __slots__ = ("added", "modified", "removed")

    def __init__(self) -> None:
        self.added = FieldSet()
        self.modified = FieldSet()
        self.removed = FieldSet()

    def __bool__(self) -> bool:
        """Return whether anything differs."""
        return bool(self.added) or bool(self.modified) or bool(self.removed)

    def put(self, element: str, below: Comparison) -> None:
        """Hangs the comparison of a member below this one."""
        self.added.put(element, below.added)
        self.modified.put(element, below.modified)
        self.removed.put(element, below.removed)


def compared(type_: MergeType, old: object, new: object) -> Comparison:
    """Compare one state with another. ItemError for an item without a key."""
    comparison = Comparison()
    if not _are_equal(type_, old, new):
        _compare(type_, old, new, comparison)
    return comparison


def _compare(type_: MergeType, old: Any, new: Any, comparison: Comparison) -> bool:
    """Return whether it is a leaf that was modified; if not, the rest is put into `comparison`."""
    old_class, new_class = old.__class__, new.__class__
    map_rule, list_rule = type_.map, type_.list
    if map_rule is not None and both_are(dict, old, new):
        if map_rule.atomic or not (old or new):
            return not same(old, new)
        _compare_maps(map_rule, old or {}, new or {}, comparison)
        return False
    if list_rule is not None and both_are(list, old, new):
        if list_rule.atomic or not (old or new):
            return not same(old, new)
        _compare_lists(list_rule, old or [], new or [], comparison)
        return False
    if old_class is not new_class:  # what was below the one is gone, with what is below the other
        _merge_into(comparison.removed, subtree(type_, old))
        _merge_into(comparison.added, subtree(type_, new))
    return not same(old, new)


def _are_equal(type_: MergeType, old: object, new: object) -> bool:
    """Return whether nothing differs, as far as that can be seen at once: of Go's types equal
    values are equal in their JSON types, too; what is owned as a whole may hold any JSON."""
    rule = type_.map
    return type_.codec is not None and rule is not None and not rule.atomic and bool(old == new)


def both_are(expected: type, old: object, new: object) -> bool:
    """Return whether both are containers of that class, one at least; null is as good as an empty
    one."""
    if old.__class__ is expected:
        return new.__class__ is expected or new is None
    return old is None and new.__class__ is expected


def _merge_into(target: FieldSet, more: FieldSet) -> None:
    target.members |= more.members
    target.children.update(more.children)


def same(old: Any, new: Any) -> bool:
    """Return whether two JSON values are equal; `true` is no number, but 1 is 1.0."""
    if old.__class__ is not new.__class__:
        return _is_number(old) and _is_number(new) and bool(old == new)
    if old.__class__ not in _CONTAINERS:
        return bool(old == new)
    return bool(old == new) and (have_same_bytes(old, new) or _are_alike(old, new))


def _are_alike(old: Any, new: Any) -> bool:
    """Return whether values that are equal for Python, to which `true` is 1, are the same."""
    if old.__class__ is not new.__class__:
        return _is_number(old) and _is_number(new)
    if old.__class__ is dict:
        return all(_are_alike(old[key], new[key]) for key in old)
    return old.__class__ is not list or all(map(_are_alike, old, new))


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float)) and value.__class__ is not bool


def _compare_maps(rule: MapRule, old: JsonObject, new: JsonObject, comparison: Comparison) -> None:
    for name, was in old.items():
        if name not in new:
            element = FIELD + name
            comparison.removed.members.add(element)
            comparison.removed.put(element, subtree(rule.child(name) or DEDUCED, was))
            continue
        now = new[name]
        if was is now:
            continue
        if was.__class__ is str and now.__class__ is str:  # as most values that change
            if was != now:
                comparison.modified.members.add(FIELD + name)
            continue
        if was.__class__ not in _CONTAINERS and now.__class__ not in _CONTAINERS:
            if not same(was, now):
                comparison.modified.members.add(FIELD + name)
            continue
        child = rule.child(name) or DEDUCED
        if _are_equal(child, was, now):  # before three sets are made for it
            continue
        element, below = FIELD + name, Comparison()
        if _compare(child, was, now, below):
            comparison.modified.members.add(element)
        comparison.put(element, below)
    if new.keys() <= old.keys():
        return
    for name, now in new.items():
        if name not in old:
            element = FIELD + name
            comparison.added.members.add(element)
            if now.__class__ is dict or now.__class__ is list:
                comparison.added.put(element, subtree(rule.child(name) or DEDUCED, now))


def _compare_lists(
    rule: ListRule, old: Sequence[Any], new: Sequence[Any], comparison: Comparison
) -> None:
    before = grouped(rule, old)  # also of equal ones, in which there may be an ItemError
    if _are_equal(rule.item, old, new):
        return
    after = grouped(rule, new)
    for element in before | after:
        _compare_items(rule, element, before.get(element, []), after.get(element, []), comparison)


def _compare_items(
    rule: ListRule, element: str, old: list[Json], new: list[Json], comparison: Comparison
) -> None:
    """Compare two lists item by item; what is there several times is one leaf."""
    if len(old) > 1 and len(new) > 1:
        if not same(old, new):
            comparison.modified.members.add(element)
    elif len(old) > 1 or len(new) > 1:
        if old:
            _add_item(rule, element, old, comparison.removed)
        if new:
            _add_item(rule, element, new, comparison.added)
    elif not old:
        _add_item(rule, element, new, comparison.added)
    elif not new:
        _add_item(rule, element, old, comparison.removed)
    elif old[0] is not new[0] and not _are_equal(rule.item, old[0], new[0]):
        below = Comparison()
        if _compare(rule.item, old[0], new[0], below):
            comparison.modified.members.add(element)
        comparison.put(element, below)


def _add_item(rule: ListRule, element: str, items: Sequence[Json], field_set: FieldSet) -> None:
    field_set.members.add(element)
    if len(items) == 1:
        field_set.put(element, subtree(rule.item, items[0]))


# --- Conformity --------------------------------------------------------------
#
# Where a configuration does not fit its type, in the words of structured-merge-diff.
#
# Values are printed as Go prints its own wrapping of them. As structured-merge-diff
# `typed/{validate,helpers}.go`.

_GO_TYPES: Final[Mapping[type, str]] = {
    str: "string",
    bool: "bool",
    int: "int64",
    float: "float64",
    dict: "map[string]interface {}",
    list: "[]interface {}",
}

_UNLIKE_SCALARS: Final = (dict, list, ForeignValue)


def misfits(type_: MergeType, value: object, *, duplicates: bool = False) -> list[str]:
    """Return one text per error, with its path; none for a value that fits. Values may be foreign;
    `duplicates` allows items that occur twice."""
    result: list[str] = []
    _Misfits(result, duplicates).look(type_, value, None)
    return result


def fitting_set(type_: MergeType, value: object) -> FieldSet | None:
    """Do in one walk what `applied_set` does of a value in which `misfits` finds nothing; None for
    any other."""
    fields = FieldSet()
    return None if _collect_fitting(type_, value, fields) is None else fields


def _collect_fitting(type_: MergeType, value: object, fields: FieldSet) -> bool | None:
    """Work as `_collect`; None for a value that does not fit."""
    if value.__class__ is dict and type_.map is not None and not type_.map.atomic:
        return False if _collect_fitting_members(type_.map, value, fields) else None
    if value.__class__ is list and type_.list is not None and not type_.list.atomic:
        return False if _collect_fitting_items(type_.list, value, fields) else None
    return None if misfits(type_, value) else True


def _collect_fitting_members(rule: MapRule, value: JsonObject, fields: FieldSet) -> bool:
    """Return whether they fit."""
    for name, member in value.items():
        child, element = rule.child(name), FIELD + name
        if child is None:
            return False
        if member.__class__ in _FITTING[child.scalar]:
            fields.members.add(element)
            continue
        below = FieldSet()
        is_leaf = _collect_fitting(child, member, below)
        if is_leaf is None:
            return False
        if is_leaf or member == {} or not rule.declares(name):
            fields.members.add(element)
        fields.put(element, below)
    return True


def _collect_fitting_items(rule: ListRule, value: Sequence[Json], fields: FieldSet) -> bool:
    """Return whether they fit."""
    try:
        elements = rule.elements(value)
    except ItemError:
        return False
    fields.members.update(elements)
    for element, item in zip(elements, value, strict=True):
        below = FieldSet()
        if _collect_fitting(rule.item, item, below) is None:
            return False
        fields.put(element, below)
    return len(fields.members) == len(elements)  # none is there twice


def joined(errors: Sequence[str]) -> str:
    """Return several errors in one text."""
    return errors[0] if len(errors) == 1 else "\n  ".join(["errors:", *errors])


_Place: TypeAlias = "tuple[_Place, str] | None"
"""A path, from its end: what is above, and the last element. Only errors have use for its text."""


@dataclass(frozen=True, slots=True)
class _Misfits:
    """Looks at values, and notes what is wrong with them in `misfits`."""

    misfits: list[str]
    duplicates: bool

    def look(self, type_: MergeType, value: Any, place: _Place) -> None:
        """Look at a value. One of a shape that the type does not have is judged by the first one it
        has."""
        if value is None:
            return
        shape = value.__class__
        if shape is dict and type_.map is not None:
            self._look_at_members(type_.map, value, place)
        elif shape is list and type_.list is not None:
            self._look_at_items(type_.list, value, place)
        elif type_.scalar and (shape not in _UNLIKE_SCALARS or type_.map is None):
            if shape not in _FITTING[type_.scalar]:
                self._note(place, _scalar_error(type_.scalar, value))
        elif type_.map is not None:
            self._note(place, f"expected map, got {_shown(value)}")
        else:
            self._note(place, f"expected list, got {_shown(value)}")

    def _look_at_members(self, rule: MapRule, value: JsonObject, place: _Place) -> None:
        """After a member that is not allowed nothing more is looked at."""
        for name, member in value.items():
            child = rule.child(name)
            if child is None:
                self._note((place, FIELD + name), "field not declared in schema")
                return
            if member.__class__ not in _FITTING[child.scalar]:
                self.look(child, member, (place, FIELD + name))

    def _look_at_items(self, rule: ListRule, value: Sequence[Any], place: _Place) -> None:
        type_ = rule.item
        if rule.atomic:
            for i, item in enumerate(value):
                self.look(type_, item, (place, f"{INDEX}{i}"))
            return
        seen: set[str] = set()
        for i, item in enumerate(value):
            try:
                element = rule.element(item)
            except ItemError as error:
                self._note(place, f"element {i}: {error}")
                return
            if element in seen and not self.duplicates:
                self._note(place, f"duplicate entries for key {step_text(element)}")
            seen.add(element)
            self.look(type_, item, (place, element))

    def _note(self, place: _Place, text: str) -> None:
        if not text:
            return
        path = ""
        while place is not None:
            place, element = place
            path = step_text(element) + path
        self.misfits.append(f"{path}: {text}" if path else text)


_FITTING: Final[Mapping[str, Collection[type]]] = {
    NUMERIC: (int, float),
    STRING: (str,),
    BOOLEAN: (bool,),
    UNTYPED: (str, bool, int, float),
    "": (),
}
"""The classes of JSON that fit a scalar; none where there is to be none."""


def _scalar_error(expected: str, value: object) -> str:
    """Return what is wrong with a scalar's type; empty when the value fits."""
    shape = float if isinstance(value, float) else value.__class__
    match expected:
        case _ if expected == NUMERIC and shape is not float:
            go_type = value.go_type if isinstance(value, ForeignValue) else _GO_TYPES[shape]
            return f"expected numeric (int or float), got {go_type}"
        case _ if expected == STRING:
            return f"expected string, got &value.valueUnstructured{{Value:{_go(value)}}}"
        case _ if expected == BOOLEAN:
            return f"expected boolean, got {_shown(value)}"
        case _ if expected == UNTYPED and shape in _UNLIKE_SCALARS:
            return f"expected any scalar, got {_shown(value)}"
    return ""


def _shown(value: object) -> str:
    """`%v` of the wrapping."""
    return f"&{{{plain_text(value)}}}"


def _go(value: object) -> str:
    """`%#v`: `map[string]interface {}{"a":1}`."""
    if isinstance(value, ForeignValue):
        return value.text
    if value.__class__ is dict:
        members = ", ".join(f"{quote(key)}:{_go(value[key])}" for key in sorted(value))
        return f"map[string]interface {{}}{{{members}}}"
    if value is NIL_LIST:
        return "[]interface {}(nil)"
    if value.__class__ is list:
        return f"[]interface {{}}{{{', '.join(map(_go, value))}}}"
    if value is None:
        return "interface {}(nil)"
    return quote(value) if value.__class__ is str else plain_text(value)
