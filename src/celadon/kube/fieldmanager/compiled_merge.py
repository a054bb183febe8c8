"""Compiles a configuration that is known beforehand, so that a merge has little left to do.

A plan is a function from what there is to what becomes of it, put together for one configuration of
one kind (the second part of this module). All that depends on the configuration alone was done
then: its values are read, its new parts are defaulted. Where a plan meets something that it was not
made for, it gives up (`Unplanned`), and the long way decides.

What a plan puts into an object belongs to the plan, and to all objects that it was put into.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, NamedTuple

from celadon.kube.defaulting.defaulting_rules import NO_TRIGGERS, Triggers
from celadon.kube.errors import KubeError
from celadon.kube.fieldmanager.merge_types import ItemError, MergeType
from celadon.kube.json_types import Json, JsonObject
from celadon.kube.registry.decoded_object import ChangedDefaulting
from celadon.kube.schemas.struct_decoding import StructCodec
from celadon.kube.schemas.value_decoding import DROPPED, DecodeError, Mismatch

Plan = Callable[[Any], Any]
"""What is there, to what becomes of it. Unplanned."""

_KEYS: Final = (str, int)


class Unplanned(KubeError):
    """Says that an object, or a configuration, has to be merged the long way."""


UNKNOWN: Final = object()
"""In place of a value: what comes where nothing was depends on what is not there."""


class Member(NamedTuple):
    """A field that a configuration has. `enter` is for what was there before, None if that does not
    matter; `value` is what comes in its place or where nothing was, DROPPED for nothing."""

    name: str
    enter: Plan | None
    value: Any


class Guard(NamedTuple):
    """Holds what may not be in a struct that was made: fields that have consequences elsewhere,
    and values of fields that rules change."""

    needed: frozenset[str]
    judged: Sequence[tuple[str, Callable[[Any], bool]]]

    def check(self, obj: JsonObject) -> None:
        """Check whether the plan holds for an object. Raises Unplanned."""
        if not self.needed.isdisjoint(obj):
            raise Unplanned
        for name, applies in self.judged:
            if applies(obj.get(name)):
                raise Unplanned


def unchanged(live: object) -> object:
    """Return the plan for a struct of which nothing is set."""
    if live.__class__ is not dict:
        raise Unplanned
    return live


def set_members(values: dict[str, object]) -> Plan:
    """Return the plan of a struct or a map of which all that is set is set to the same, whatever
    there was."""

    def plan(live: object) -> Any:
        if live.__class__ is not dict:
            raise Unplanned
        return live | values

    return plan


def entered_members(members: Sequence[Member]) -> Plan:
    """Return the plan of a struct whose members have plans."""

    def plan(live: object) -> Any:
        if live.__class__ is not dict:
            raise Unplanned
        result = live.copy()
        for name, enter, value in members:
            if enter is not None and (below := live.get(name)) is not None:
                result[name] = enter(below)
            elif value is DROPPED:
                result.pop(name, None)
            elif value is UNKNOWN:
                raise Unplanned
            else:
                result[name] = value
        return result

    return plan


def entered_member(name: str, enter: Plan, value: object) -> Plan:
    """Return the same of which one field is set, by what was there before."""

    def plan(live: Json) -> Any:
        if live.__class__ is not dict:
            raise Unplanned
        below = live.get(name)
        result = live.copy()
        if below is not None:
            result[name] = enter(below)
        elif value is UNKNOWN:
            raise Unplanned
        else:
            result[name] = value
        return result

    return plan


def guarded(plan: Plan, guard: Guard) -> Plan:
    """Return the plan with a guard that checks its result."""

    def check(live: Json) -> object:
        result = plan(live)
        guard.check(result)
        return result

    return check


def one_item(key: str, name: str, enter: Plan, item: Json) -> Plan:
    """Return the plan of a list with one key, of which a configuration has one item: merged into
    the one with the same key, else `item` behind the others."""

    def plan(live: object) -> Any:
        if live.__class__ is not list:
            raise Unplanned
        index = -1
        for i, element in enumerate(live):
            value = element.get(key)
            if value == name:
                if index >= 0:
                    raise Unplanned
                index = i
            elif value.__class__ is not str:
                raise Unplanned
        if index < 0:
            return [*live, item]
        merged = live.copy()
        merged[index] = enter(live[index])
        return merged

    return plan


def keyed_items(
    keys: Sequence[str], plans: Mapping[tuple[object, ...], Plan], items: Sequence[object]
) -> Plan:
    """Return the plan of any list with keys: a configuration has items with the keys `plans`, in
    this order. They are all there, in this order too, or none is, and `items` follow the others."""
    order = list(plans)

    def plan(live: object) -> Any:
        if live.__class__ is not list:
            raise Unplanned
        result, common = [], []
        for item in live:
            element = _element(keys, item)
            enter = plans.get(element)
            if enter is None:
                result.append(item)
            else:
                result.append(enter(item))
                common.append(element)
        if common == order:
            return result
        if common:
            raise Unplanned
        return [*live, *items]

    return plan


def every_item(keys: Sequence[str], enter: Plan, most: int) -> Plan:
    """Return the plan of any list with keys: a configuration has an item for each that is there, in
    the same order. `most` is how many there may be."""

    def plan(live: object) -> Any:
        if live.__class__ is not list or not 0 < len(live) <= most:
            raise Unplanned
        if len({_element(keys, item) for item in live}) < len(live):
            raise Unplanned
        return [enter(item) for item in live]

    return plan


def every_named(key: str, enter: Plan, most: int) -> Plan:
    """Return the same of a list with one key, for items with texts."""

    def plan(live: object) -> Any:
        if live.__class__ is not list or not 0 < len(live) <= most:
            raise Unplanned
        result, seen = [], set()
        for item in live:
            name = item.get(key)
            if name.__class__ is not str or not name or name in seen:
                raise Unplanned
            seen.add(name)
            result.append(enter(item))
        return result

    return plan


def _element(keys: Sequence[str], item: Json) -> tuple[object, ...]:
    """Return what identifies an item that has all its keys. Texts and integers are equal if, and
    only if, what FieldsV1 writes for them is. Unplanned."""
    if item.__class__ is not dict:
        raise Unplanned
    result = tuple([item.get(key) for key in keys])
    for element in result:
        if element.__class__ not in _KEYS or not element:
            raise Unplanned
    return result


def rootless(plan: Plan, paths: Sequence[Sequence[str]]) -> Plan:
    """Return the same, for objects that have nothing at these paths."""

    def check(live: object) -> object:
        for path in paths:
            value = live
            for name in path:
                value = value.get(name) if value.__class__ is dict else None
            if value is not None:
                raise Unplanned
        return plan(live)

    return check


# --- Plan making -------------------------------------------------------------
#
# Plans for configurations that are known before there is an object.
#
# Everything that a merge has to find out about the configuration is found out here, once: where
# it leads, what its values are read as, what its new parts are defaulted to, and whether
# anything that it sets has consequences for other fields (triggers, in `defaulting_rules`). No
# plan is made where the answer to the last depends on the object in a way that costs more than a
# look.
#
# INVARIANT (new parts): rules look at the struct that they are about, at what is in it, and at
# paths from the root (`SharingRules.roots`). So what defaulting makes of a new part does not
# depend on the object around it, as long as there is nothing at those paths; a plan with new
# parts asks for that.

Path = tuple[str | None, ...]
"""Fields from the root; None for the items of a list, of which there is one then."""


class EveryItem(NamedTuple):
    """Says that a configuration has an item for each item of a list, with the same values in the
    fields `copied`. There may be `most` items."""

    copied: frozenset[str]
    most: int


_SCALARS: Final = (str, bool, int, float)
_TEXT_MAP: Final[JsonObject] = {"values": "s"}


def merge_plan(
    type_: MergeType,
    config: JsonObject,
    defaulting: ChangedDefaulting,
    every: Mapping[tuple[str, ...], EveryItem],
) -> Plan | None:
    """Return the plan for a configuration that fits the type. The list at a path of `every` has one
    item, which stands for one for each item that there is. None if there is no plan for it."""
    try:
        return _Planner(config, defaulting, every).object(type_)
    except (Unplanned, Mismatch, DecodeError, ItemError):
        return None


class _Planner:
    """The planner of one configuration. Its methods raise Unplanned, Mismatch and DecodeError."""

    def __init__(
        self,
        config: JsonObject,
        defaulting: ChangedDefaulting,
        every: Mapping[tuple[str, ...], EveryItem],
    ) -> None:
        self.has_new_parts = False
        self._config = config
        self._defaulting = defaulting
        self._every: dict[Path, EveryItem] = dict(every.items())
        if any(_reaches(config, path) for path in defaulting.rules.roots):
            raise Unplanned

    def object(self, type_: MergeType) -> Plan:
        """Return the plan for all of it."""
        plan = self._struct(type_, self._config, ())
        if self._every:
            raise Unplanned
        return rootless(plan, self._defaulting.rules.roots) if self.has_new_parts else plan

    def _struct(self, type_: MergeType, config: JsonObject, path: Path) -> Plan:
        """Return the plan for a struct that is there."""
        codec, rule = type_.codec, type_.map
        if codec is None or rule is None:
            raise Unplanned
        if not config:
            return unchanged
        triggers = self._defaulting.triggers.get(codec.name, NO_TRIGGERS)
        if triggers.is_restless or not triggers.watched.isdisjoint(config):
            raise Unplanned
        members = []
        for name, value in config.items():
            child = rule.child(name)
            assert child is not None, "the configuration fits"
            if value.__class__ in _SCALARS:
                members.append(_scalar(codec, triggers, name, value))
            else:
                read = codec.read_field(name, value)
                members.append(
                    self._part(child, codec.field_nodes[name], value, read, (*path, name))
                )
        return _guarded_members(members, triggers)

    def _part(self, type_: MergeType, node: Any, value: Any, read: Any, path: Path) -> Member:
        """Return a field that holds more than a scalar; `read` is what its value is read as."""
        name = path[-1] or ""
        if value.__class__ is list:
            return self._items(type_, value, read, path)
        if type_.codec is not None:
            return Member(name, self._struct(type_, value, path), self._new_part(read, path))
        if node != _TEXT_MAP or not value:
            raise Unplanned
        return Member(name, set_members(value), read)

    def _items(self, type_: MergeType, items: Sequence[Any], read: Any, path: Path) -> Member:
        rule, name = type_.list, path[-1] or ""
        if rule is None or rule.item.codec is None or not rule.keys or not items:
            raise Unplanned
        keys = rule.keys
        plans = [
            self._struct(rule.item, {k: v for k, v in item.items() if k not in keys}, (*path, None))
            for item in items
        ]
        every = self._every.pop(path, None)
        if every is not None:
            if every.copied != frozenset(keys):
                raise Unplanned
            if len(keys) == 1:
                return Member(name, every_named(keys[0], plans[0], every.most), UNKNOWN)
            return Member(name, every_item(keys, plans[0], every.most), UNKNOWN)
        new = self._new_part(read, path)
        if rule.elements(new) != rule.elements(items):
            raise Unplanned
        elements = [tuple([item.get(key) for key in keys]) for item in new]
        if len(items) == 1 and len(keys) == 1 and elements[0][0].__class__ is str:
            return Member(name, one_item(keys[0], elements[0][0], plans[0], new[0]), new)
        return Member(name, keyed_items(keys, dict(zip(elements, plans, strict=True)), new), new)

    def _new_part(self, read: Any, path: Path) -> Any:
        """Return what becomes of structs that were not there before."""
        if read is DROPPED:
            raise Unplanned
        self.has_new_parts = True
        root = read
        for step in reversed(path):
            root = [root] if step is None else {step: root}
        self._defaulting.default(self._defaulting.run(root), ())
        for step in path:
            root = root[0 if step is None else step]
        return root


def _reaches(value: Json, path: Sequence[str]) -> bool:
    """Return whether a value has something at a path, or in the way."""
    for name in path:
        if value.__class__ is not dict:
            return True
        if name not in value:
            return False
        value = value[name]
    return True


def _scalar(codec: StructCodec, triggers: Triggers, name: str, value: Json) -> Member:
    """Return the member that sets a field, whatever its value was."""
    read = codec.read_field(name, value)
    if read is not DROPPED and read.__class__ not in _SCALARS:
        raise Unplanned
    if (not read or read is DROPPED) and triggers.of_emptied(
        {} if read is DROPPED else {name: read}, name
    ):
        raise Unplanned
    if any(field == name and applies(read) for field, applies in triggers.judged):
        raise Unplanned
    return Member(name, None, read)


def _guarded_members(members: Sequence[Member], triggers: Triggers) -> Plan:
    (first, *others) = members
    if all(member.enter is None and member.value is not DROPPED for member in members):
        plan = set_members({member.name: member.value for member in members})
    elif first.enter is not None and not others:
        plan = entered_member(first.name, first.enter, first.value)
    else:
        plan = entered_members(members)
    entered = {member.name for member in members if member.enter is not None}
    judged = [item for item in triggers.judged if item[0] in entered]
    if not triggers.needed and not judged:
        return plan
    return guarded(plan, Guard(frozenset(triggers.needed), judged))
