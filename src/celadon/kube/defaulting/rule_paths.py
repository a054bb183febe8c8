"""The paths of defaulting rules: dotted names, `name[*]` for each item, `name{*}` for each value.

A path starts at the object a rule applies to; one that starts with `$.` starts at the root.
"""

from __future__ import annotations

import enum
import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

from celadon.kube.defaulting.defaulting_context import Run
from celadon.kube.json_types import JsonObject
from celadon.kube.names import GroupVersionKind
from celadon.kube.schemas import schema_packs

Apply = Callable[[Any, Run], None]


class Each(enum.Enum):
    """This is what a step of a path goes on to."""

    FIELD = ""
    ITEMS = "[*]"
    VALUES = "{*}"


class Step(NamedTuple):
    """A field, and whether all its items or values are meant."""

    name: str
    each: Each


AT_ROOT: Final = "$."
"""How a path begins that starts at the root."""


def parse_path(path: str) -> tuple[Step, ...]:
    steps = []
    for part in path.split(".") if path else ():
        each = next((one for one in (Each.ITEMS, Each.VALUES) if part.endswith(one.value)), None)
        if each is None:
            steps.append(Step(part, Each.FIELD))
        else:
            steps.append(Step(part.removesuffix(each.value), each))
    return tuple(steps)


def lookup(path: str, parent: object, root: object) -> object:
    """The value at a path without wildcards; None when something on the way is missing."""
    found = root if path.startswith(AT_ROOT) else parent
    for name in path.removeprefix(AT_ROOT).split("."):
        if not isinstance(found, dict):
            return None
        found = found.get(name)
    return found


Placed = tuple[tuple[Step, ...], Apply]
"""What is done to everything that the steps lead to; missing objects on the way end the walk."""


def grouped(rules: Sequence[Placed], *, sharing: bool = False) -> tuple[Apply, ...]:
    """The same in the same order, where rules that follow one another go the same way together.
    What is done to the items of a list is done item by item then. If `sharing`, nothing happens in
    the settled parts of an object."""
    made: list[Apply] = []
    way = _sharing_way if sharing else _way
    for first, group in itertools.groupby(rules, key=lambda rule: rule[0][:1]):
        inner = [(steps[1:], apply) for steps, apply in group]
        if first:
            made.append(way(first[0], in_order(grouped(inner, sharing=sharing))))
        else:
            made += [apply for _, apply in inner]
    return tuple(made)


def in_order(rules: tuple[Apply, ...]) -> Apply:
    """One after the other."""
    if len(rules) == 1:
        return rules[0]

    def apply(obj: object, run: Run) -> None:
        for rule in rules:
            rule(obj, run)

    return apply


def _way(step: Step, apply: Apply) -> Apply:
    name = step.name

    def field(obj: Any, run: Run) -> None:
        child = obj.get(name)
        if child is not None:
            apply(child, run)

    def items(obj: Any, run: Run) -> None:
        children = obj.get(name)
        if children:
            for child in children:
                apply(child, run)

    def values(obj: Any, run: Run) -> None:
        children = obj.get(name)
        if children:
            for child in children.values():
                apply(child, run)

    return {Each.FIELD: field, Each.ITEMS: items, Each.VALUES: values}[step.each]


def _sharing_way(step: Step, apply: Apply) -> Apply:
    """Return the way as `_way` does, past what is settled."""
    name = step.name

    def field(obj: Any, run: Run) -> None:
        child = obj.get(name)
        if child is not None and id(child) not in run.settled:
            apply(child, run)

    def each(obj: Any, run: Run) -> None:
        children = obj.get(name)
        if children and id(children) not in run.settled:
            settled = run.settled
            for child in children.values() if children.__class__ is dict else children:
                if id(child) not in settled:
                    apply(child, run)

    return field if step.each is Each.FIELD else each


# --- Certain fields ----------------------------------------------------------


def always_set(gvk: GroupVersionKind) -> frozenset[str]:
    """The fields that each object of a kind has after defaulting, once it has their parents: those
    that a rule without conditions sets. Paths are those of rules:
    `spec.template.spec.containers[*].terminationMessagePath`."""
    pack = schema_packs.load("defaults")
    rules = pack["kinds"].get(f"{gvk.api_version}/{gvk.kind}", {}).get("default", ())
    return frozenset(_always_set(rules, pack["sets"], ""))


def _always_set(
    rules: Iterable[JsonObject], sets: Mapping[str, Sequence[JsonObject]], above: str
) -> Iterator[str]:
    for rule in rules:
        if "when" in rule or "gate" in rule or "plugin" in rule:
            continue
        path = ".".join(part for part in (above, rule["path"]) if part)
        if "use" in rule:
            yield from _always_set(sets[rule["use"]], sets, path)
        elif "value" in rule:
            yield path
