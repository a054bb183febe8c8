"""What is left to do of a merge when the configuration has been known for long.

A plan is a function from what there is to what becomes of it, put together for one configuration of
one kind (`plan_making`). All that depends on the configuration alone was done then: its values are
read, its new parts are defaulted. Where a plan meets something that it was not made for, it gives
up (`Unplanned`), and the long way decides.

What a plan puts into an object belongs to the plan, and to all objects that it was put into.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, NamedTuple

from celadon.kube.errors import KubeError
from celadon.kube.schemas.typed_values import DROPPED

Plan = Callable[[Any], Any]
"""What is there, to what becomes of it. Unplanned."""

_KEYS: Final = (str, int)


class Unplanned(KubeError):
    """An object, or a configuration, that has to be merged the long way."""


UNKNOWN: Final = object()
"""In place of a value: what comes where nothing was depends on what is not there."""


class Member(NamedTuple):
    """A field that a configuration has. `enter` is for what was there before, None if that does not
    matter; `value` is what comes in its place or where nothing was, DROPPED for nothing."""

    name: str
    enter: Plan | None
    value: Any


class Guard(NamedTuple):
    """What may not be in a struct that was made: fields that have consequences elsewhere, and
    values of fields that rules change."""

    needed: frozenset[str]
    judged: Sequence[tuple[str, Callable[[Any], bool]]]

    def check(self, made: Mapping[str, Any]) -> None:
        """Unplanned."""
        if not self.needed.isdisjoint(made):
            raise Unplanned
        for name, applies in self.judged:
            if applies(made.get(name)):
                raise Unplanned


def unchanged(live: Any) -> Any:
    """The plan for a struct of which nothing is set."""
    if live.__class__ is not dict:
        raise Unplanned
    return live


def set_members(values: dict[str, Any]) -> Plan:
    """Of a struct or a map of which all that is set is set to the same, whatever there was."""

    def plan(live: Any) -> Any:
        if live.__class__ is not dict:
            raise Unplanned
        return live | values

    return plan


def entered_members(members: Sequence[Member]) -> Plan:
    """Of a struct."""

    def plan(live: Any) -> Any:
        if live.__class__ is not dict:
            raise Unplanned
        made = live.copy()
        for name, enter, value in members:
            if enter is not None and (below := live.get(name)) is not None:
                made[name] = enter(below)
            elif value is DROPPED:
                made.pop(name, None)
            elif value is UNKNOWN:
                raise Unplanned
            else:
                made[name] = value
        return made

    return plan


def entered_member(name: str, enter: Plan, value: Any) -> Plan:
    """The same of which one field is set, by what was there before."""

    def plan(live: Any) -> Any:
        if live.__class__ is not dict:
            raise Unplanned
        below = live.get(name)
        made = live.copy()
        if below is not None:
            made[name] = enter(below)
        elif value is UNKNOWN:
            raise Unplanned
        else:
            made[name] = value
        return made

    return plan


def guarded(plan: Plan, guard: Guard) -> Plan:
    """The same, looked at when it is done."""

    def check(live: Any) -> Any:
        made = plan(live)
        guard.check(made)
        return made

    return check


def one_item(key: str, wanted: str, enter: Plan, item: Any) -> Plan:
    """Of a list with one key, of which a configuration has one item: merged into the one with the
    same key, else `item` behind the others."""

    def plan(live: Any) -> Any:
        if live.__class__ is not list:
            raise Unplanned
        at = -1
        for i, one in enumerate(live):
            found = one.get(key)
            if found == wanted:
                if at >= 0:
                    raise Unplanned
                at = i
            elif found.__class__ is not str:
                raise Unplanned
        if at < 0:
            return [*live, item]
        made = live.copy()
        made[at] = enter(live[at])
        return made

    return plan


def keyed_items(
    keys: Sequence[str], wanted: Mapping[tuple[Any, ...], Plan], items: Sequence[Any]
) -> Plan:
    """Of any list with keys: a configuration has items with the keys `wanted`, in this order. They
    are all there, in this order too, or none is, and `items` follow the others."""
    order = list(wanted)

    def plan(live: Any) -> Any:
        if live.__class__ is not list:
            raise Unplanned
        made, common = [], []
        for one in live:
            element = _element(keys, one)
            enter = wanted.get(element)
            if enter is None:
                made.append(one)
            else:
                made.append(enter(one))
                common.append(element)
        if common == order:
            return made
        if common:
            raise Unplanned
        return [*live, *items]

    return plan


def every_item(keys: Sequence[str], enter: Plan, most: int) -> Plan:
    """Of any list with keys: a configuration has an item for each that is there, in the same order.
    `most` is how many there may be."""

    def plan(live: Any) -> Any:
        if live.__class__ is not list or not 0 < len(live) <= most:
            raise Unplanned
        if len({_element(keys, one) for one in live}) < len(live):
            raise Unplanned
        return [enter(one) for one in live]

    return plan


def every_named(key: str, enter: Plan, most: int) -> Plan:
    """The same of a list with one key, for items with texts."""

    def plan(live: Any) -> Any:
        if live.__class__ is not list or not 0 < len(live) <= most:
            raise Unplanned
        made, seen = [], set()
        for one in live:
            name = one.get(key)
            if name.__class__ is not str or not name or name in seen:
                raise Unplanned
            seen.add(name)
            made.append(enter(one))
        return made

    return plan


def _element(keys: Sequence[str], item: Any) -> tuple[Any, ...]:
    """What identifies an item that has all its keys. Texts and integers are equal if, and only if,
    what FieldsV1 writes for them is. Unplanned."""
    if item.__class__ is not dict:
        raise Unplanned
    found = tuple([item.get(key) for key in keys])
    for one in found:
        if one.__class__ not in _KEYS or not one:
            raise Unplanned
    return found


def rootless(plan: Plan, paths: Sequence[Sequence[str]]) -> Plan:
    """The same, for objects that have nothing at these paths."""

    def check(live: Any) -> Any:
        for path in paths:
            value = live
            for name in path:
                value = value.get(name) if value.__class__ is dict else None
            if value is not None:
                raise Unplanned
        return plan(live)

    return check
