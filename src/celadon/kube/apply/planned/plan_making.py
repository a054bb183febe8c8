"""Plans for configurations that are known before there is an object.

Everything that a merge has to find out about the configuration is found out here, once: where it
leads, what its values are read as, what its new parts are defaulted to, and whether anything that
it sets has consequences for other fields (`default_triggers`). No plan is made where the answer to
the last depends on the object in a way that costs more than a look.

INVARIANT (new parts): rules look at the struct that they are about, at what is in it, and at paths
from the root (`SharingRules.roots`). So what defaulting makes of a new part does not depend on the
object around it, as long as there is nothing at those paths; a plan with new parts asks for that.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

from celadon.kube.apply.planned.merge_plans import (
    UNKNOWN,
    Guard,
    Member,
    Plan,
    Unplanned,
    entered_member,
    entered_members,
    every_item,
    every_named,
    guarded,
    keyed_items,
    one_item,
    rootless,
    set_members,
    unchanged,
)
from celadon.kube.apply.typed.merge_types import ItemError, MergeType
from celadon.kube.defaulting.default_triggers import NO_TRIGGERS, Triggers
from celadon.kube.json_types import JsonObject
from celadon.kube.registry.draft import ChangedDefaulting
from celadon.kube.schemas.typed_objects import StructCodec
from celadon.kube.schemas.typed_values import DROPPED, DecodeError, Mismatch

Path = tuple[str | None, ...]
"""Fields from the root; None for the items of a list, of which there is one then."""


class EveryItem(NamedTuple):
    """A configuration has an item for each item of a list, with the same values in the fields
    `copied`. There may be `most` items."""

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
    """For a configuration that fits the type. The list at a path of `every` has one item, which
    stands for one for each item that there is. None if there is no plan for it."""
    try:
        return _Planner(config, defaulting, every).object(type_)
    except (Unplanned, Mismatch, DecodeError, ItemError):
        return None


class _Planner:
    """Of one configuration. Its methods raise Unplanned, Mismatch and DecodeError."""

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
        """For all of it."""
        plan = self._struct(type_, self._config, ())
        if self._every:
            raise Unplanned
        return rootless(plan, self._defaulting.rules.roots) if self.has_new_parts else plan

    def _struct(self, type_: MergeType, config: JsonObject, path: Path) -> Plan:
        """For a struct that is there."""
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
        """A field that holds more than a scalar; `read` is what its value is read as."""
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
        """What becomes of structs that were not there before."""
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


def _reaches(value: Any, path: Sequence[str]) -> bool:
    """Whether a value has something at a path, or in the way."""
    for name in path:
        if value.__class__ is not dict:
            return True
        if name not in value:
            return False
        value = value[name]
    return True


def _scalar(codec: StructCodec, triggers: Triggers, name: str, value: Any) -> Member:
    """A field that is set, whatever it was."""
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
    if all(one.enter is None and one.value is not DROPPED for one in members):
        plan = set_members({one.name: one.value for one in members})
    elif first.enter is not None and not others:
        plan = entered_member(first.name, first.enter, first.value)
    else:
        plan = entered_members(members)
    entered = {one.name for one in members if one.enter is not None}
    judged = [one for one in triggers.judged if one[0] in entered]
    if not triggers.needed and not judged:
        return plan
    return guarded(plan, Guard(frozenset(triggers.needed), judged))
