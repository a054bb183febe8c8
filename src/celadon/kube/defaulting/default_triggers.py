"""Which changes of a defaulted object defaulting has something to say about.

Most have no consequences: who writes a field that has a default needs none. So the rules of a kind
are sorted here by the components (Go's types) on whose fields they depend. When a struct is
changed, or a new one comes into the object, its component tells whether any rule could do anything;
if none can, none needs to be asked. No is only said of certain things, yes of anything.

A rule that fills an absent field has nothing to do where the field was there before, or is there
now. Any other depends on the fields that it names, and a function that is not known here on
everything. What rules look at from the root of the object is not looked at here: see
`SharingRules.roots`.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import field
from typing import Any, Final, NamedTuple

from celadon.kube.defaulting.defaulting_context import Run
from celadon.kube.defaulting.defaulting_rules import (
    ON_OBJECTS,
    Condition,
    conditions,
    listed_rules,
    placed_rules,
)
from celadon.kube.defaulting.field_functions import Rule
from celadon.kube.defaulting.rule_paths import AT_ROOT, Each, Step, parse_path
from celadon.kube.names import GroupVersionKind
from celadon.kube.schemas import schema_model
from celadon.kube.schemas.pack_schemas import component_name
from celadon.kube.schemas.typed_objects import struct_codec
from celadon.records import dataclass

_FILLING: Final[Mapping[str, bool]] = {
    "emptyObjectIfOnlyKeys": False,
    "pullPolicy": True,
    "targetPort": True,
}
"""Functions that fill an absent field, which is there whenever they are done; whether one that is
zero too."""
_JUDGING: Final[Mapping[str, Callable[[Any, Rule], bool]]] = {
    "dropKeys": lambda value, rule: bool(value) and not value.keys().isdisjoint(rule["keys"]),
    "negativeToOne": lambda value, _: value is not None and value < 0,
}
"""Functions that look at nothing but their field, and whether they do something to its value."""
_NEEDED: Final[Mapping[str, str]] = {
    "podLevelResources": "resources",
    "requestsFromLimits": "limits",
}
"""Functions of objects that do nothing without a field."""


class Fill(NamedTuple):
    """A field that is filled when it is absent, or also when it is `zero`, if conditions hold."""

    name: str
    conditions: tuple[Condition, ...]
    zero: bool

    def is_due(self, struct: Mapping[str, Any], run: Run) -> bool:
        """Whether the rule does it."""
        return self.is_open(struct) and all(holds(struct, run) for holds in self.conditions)

    def is_open(self, struct: Mapping[str, Any]) -> bool:
        """Whether the rule does it if its conditions hold."""
        value = struct.get(self.name)
        return not value if self.zero else value is None


Judgement = Callable[[Any], bool]


@dataclass(slots=True)
class Triggers:
    """Of the structs of one component. Nobody changes it once `triggers` has made it.

    `judged` are fields of which a rule changes some values, `entered` those with rules for what is
    in them, `watched` those that rules look at, `needed` those with which any change may have
    consequences. `forces`: a rule sets something in every new struct; `is_restless`: any change
    may have consequences.
    """

    fills: list[Fill] = field(default_factory=list)
    judged: list[tuple[str, Judgement]] = field(default_factory=list)
    entered: set[str] = field(default_factory=set)
    watched: set[str] = field(default_factory=set)
    needed: set[str] = field(default_factory=set)
    forces: bool = False
    is_restless: bool = False

    def of_new(self, struct: Mapping[str, Any], run: Run) -> bool:
        """Whether rules may do something to a struct that was not there, or to what is in it."""
        return (
            self.forces
            or self.is_restless
            or not self.entered.isdisjoint(struct)
            or any(applies(struct.get(name)) for name, applies in self.judged)
            or any(fill.is_due(struct, run) for fill in self.fills)
        )

    def of_set(self, struct: Mapping[str, Any], names: Collection[str]) -> bool:
        """Whether rules may do something to a struct that is now like this, after something was put
        into these fields."""
        return (
            self.is_restless
            or not self.watched.isdisjoint(names)
            or not self.needed.isdisjoint(struct)
            or (bool(self.judged) and self._has_judged(struct, names))
        )

    def _has_judged(self, struct: Mapping[str, Any], names: Collection[str]) -> bool:
        return any(name in names and applies(struct.get(name)) for name, applies in self.judged)

    def of_emptied(self, struct: Mapping[str, Any], name: str) -> bool:
        """The same after a field was taken away, or became zero."""
        return any(fill.name == name and fill.is_open(struct) for fill in self.fills)


NO_TRIGGERS: Final = Triggers()
"""Of components that no rule knows."""


@functools.lru_cache(maxsize=256)
def triggers(gvk: GroupVersionKind, gates: frozenset[str]) -> Mapping[str, Triggers]:
    """By component, for a built-in kind, of the phases `default` and `convert`."""
    root = component_name(gvk)
    assert root is not None, f"{gvk} is built in"
    found: dict[str, Triggers] = {}
    for phase in ("default", "convert"):
        for path, rule in placed_rules(listed_rules(gvk, phase), gates):
            _add(found, root, parse_path(path), rule)
    return found


def _add(found: dict[str, Triggers], root: str, steps: Sequence[Step], rule: Rule) -> None:
    way = _components(root, steps)
    for owner, step in zip(way, steps[:-1], strict=False):
        found.setdefault(owner, Triggers()).entered.add(step.name)
    if rule.get("fn") in ON_OBJECTS:
        _add_object_rule(found, way, steps, rule["fn"])
    elif steps[-1].each is Each.FIELD and way[-2]:
        _add_field_rule(found.setdefault(way[-2], Triggers()), steps[-1].name, rule)
    else:
        _watch_above(found, way, steps)


def _components(root: str, steps: Sequence[Step]) -> list[str]:
    """Of the structs on the way, the target's last; empty for what is none."""
    way = [root]
    for step in steps:
        node: Any = struct_codec(way[-1]).field_nodes.get(step.name) if way[-1] else None
        if step.each is not Each.FIELD and isinstance(node, dict):
            node = node.get("items") or node.get("values")
        name = node.get("ref", "") if isinstance(node, dict) else ""
        way.append("" if name in schema_model.SPECIAL_COMPONENTS else name)
    return way


def _add_object_rule(
    found: dict[str, Triggers], way: Sequence[str], steps: Sequence[Step], function: str
) -> None:
    if not way[-1]:
        _watch_above(found, way, steps)
        return
    if steps:
        found.setdefault(way[-2], Triggers()).entered.add(steps[-1].name)
    below = found.setdefault(way[-1], Triggers())
    if function in _NEEDED:
        below.needed.add(_NEEDED[function])
        below.entered.add(_NEEDED[function])
    else:
        below.is_restless = True


def _watch_above(found: dict[str, Triggers], way: Sequence[str], steps: Sequence[Step]) -> None:
    """The innermost struct answers for what is no struct."""
    at = max(i for i, owner in enumerate(way[:-1]) if owner)
    owner = found.setdefault(way[at], Triggers())
    owner.watched.add(steps[at].name)
    owner.entered.add(steps[at].name)


def _add_field_rule(owner: Triggers, name: str, rule: Rule) -> None:
    function = rule.get("fn", "")
    looked_at = {path.partition(".")[0] for path in _relative_paths(rule)}
    if function in _JUDGING:
        owner.judged.append((name, _judgement(function, rule)))
    elif function in _FILLING or (not function and _only_fills(rule)):
        fill = Fill(name, conditions(rule), _FILLING.get(function, False))
        if fill not in owner.fills:
            owner.fills.append(fill)
        if function not in _FILLING:
            owner.watched |= looked_at
    elif function:
        owner.is_restless = True
    else:
        owner.watched |= {name, *looked_at}
        owner.forces = True


def _judgement(function: str, rule: Rule) -> Judgement:
    judge = _JUDGING[function]
    return lambda value: judge(value, rule)


def _only_fills(rule: Rule) -> bool:
    return not rule.get("force") and "delete" not in rule


def _relative_paths(rule: Rule) -> list[str]:
    paths = (*rule.get("when", {}), rule.get("copyFrom", ""), rule.get("from", ""))
    return [path for path in paths if path and not path.startswith(AT_ROOT)]
