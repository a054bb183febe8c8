"""The paths of defaulting rules: dotted names, `name[*]` for each item, `name{*}` for each value.

A path starts at the object a rule applies to; one that starts with `$.` starts at the root.
"""

from __future__ import annotations

import enum
from collections.abc import Callable
from typing import Any, NamedTuple

from celadon.kube.defaulting.defaulting_context import Run

Apply = Callable[[Any, Run], None]


class Each(enum.Enum):
    """What a step of a path goes on to."""

    FIELD = ""
    ITEMS = "[*]"
    VALUES = "{*}"


class Step(NamedTuple):
    """A field, and whether all its items or values are meant."""

    name: str
    each: Each


def parse_path(path: str) -> tuple[Step, ...]:
    steps = []
    for part in path.split(".") if path else ():
        each = next((one for one in (Each.ITEMS, Each.VALUES) if part.endswith(one.value)), None)
        if each is None:
            steps.append(Step(part, Each.FIELD))
        else:
            steps.append(Step(part.removesuffix(each.value), each))
    return tuple(steps)


def lookup(path: str, parent: object, root: object) -> Any:
    """The value at a path without wildcards; None when something on the way is missing."""
    found = root if path.startswith("$.") else parent
    for name in path.removeprefix("$.").split("."):
        if not isinstance(found, dict):
            return None
        found = found.get(name)
    return found


def descend(steps: tuple[Step, ...], apply: Apply) -> Apply:
    """Applies to everything the steps lead to; missing objects on the way end the walk."""
    for step in reversed(steps):
        apply = _through(step, apply)
    return apply


def _through(step: Step, apply: Apply) -> Apply:
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
