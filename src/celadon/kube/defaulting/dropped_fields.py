"""Fields that objects lose on their way in, above all those that feature gates do not allow.

Changed objects keep a field that the object has had before, or another one of the same gate: what
is in use stays (k8s.io/kubernetes `pkg/api/pod/util.go`, `dropDisabledFields`). Lists and maps that
came empty are no longer in the object; a `Run` remembers them, and loses them here.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from celadon.kube.defaulting.defaulting_context import Run
from celadon.kube.defaulting.defaulting_rules import compile_rules, listed_rules, placed_rules
from celadon.kube.defaulting.field_functions import DROP_STOP_SIGNAL, Rule
from celadon.kube.defaulting.rule_paths import Apply, Each, Step, parse_path
from celadon.kube.names import GroupVersionKind
from celadon.kube.schemas.typed_objects import EmptyValue

_STATUS: Final = "status"


class Drop(NamedTuple):
    """What a gate that is off takes from objects: `steps` lead to its fields."""

    steps: tuple[tuple[Step, ...], ...]
    rules: tuple[Apply, ...]


@functools.lru_cache(maxsize=512)
def drops_of(gvk: GroupVersionKind, gates: frozenset[str], *, status: bool) -> tuple[Drop, ...]:
    """By gate; `status` are those of fields that are changed through the status subresource."""
    by_gate: dict[str, list[tuple[str, Rule]]] = {}
    for path, rule in placed_rules(listed_rules(gvk, "create"), gates):
        if _is_drop(rule) and path.startswith(_STATUS) is status:
            by_gate.setdefault(rule["gate"], []).append((path, rule))
    return tuple(
        Drop(
            tuple(_steps(path, rule) for path, rule in same),
            compile_rules([{**rule, "path": path} for path, rule in same], gates),
        )
        for same in by_gate.values()
    )


def _is_drop(rule: Rule) -> bool:
    drops = "delete" in rule or rule.get("fn") == DROP_STOP_SIGNAL
    return drops and rule.get("gate", "").startswith("!")


def _steps(path: str, rule: Rule) -> tuple[Step, ...]:
    return parse_path(f"{path}.stopSignal" if rule.get("fn") == DROP_STOP_SIGNAL else path)


def drop_unused(
    made: dict[str, Any], old: Mapping[str, Any], gvk: GroupVersionKind, run: Run, *, status: bool
) -> None:
    """From a changed object, in place."""
    for drop in drops_of(gvk, run.gates, status=status):
        came_empty = any(_leads_to(drop.steps, one) for one in run.empties)
        if (came_empty or _uses(made, drop)) and not _uses(old, drop):
            for rule in drop.rules:
                rule(made, run)
            _forget(run, drop.steps)


def drop_empties(gvk: GroupVersionKind, run: Run) -> None:
    """Of a new object, in the run: what came empty where the rules of its kind delete fields."""
    if run.empties:
        _forget(run, _deleted(gvk, run.gates))


@functools.lru_cache(maxsize=512)
def _deleted(gvk: GroupVersionKind, gates: frozenset[str]) -> tuple[tuple[Step, ...], ...]:
    return tuple(
        parse_path(path)
        for path, rule in placed_rules(listed_rules(gvk, "create"), gates)
        if "delete" in rule and not rule.get("when")
    )


def _forget(run: Run, steps: tuple[tuple[Step, ...], ...]) -> None:
    run.empties = [one for one in run.empties if not _leads_to(steps, one)]


def _leads_to(steps: tuple[tuple[Step, ...], ...], empty: EmptyValue) -> bool:
    return any(_is_path(way, empty.path) for way in steps)


def _is_path(steps: tuple[Step, ...], path: tuple[str | int, ...]) -> bool:
    """Whether the steps lead to a path; what they say of all items holds of each."""
    at = 0
    for step in steps:
        if at >= len(path) or path[at] != step.name:
            return False
        at += 1 if step.each is Each.FIELD else 2
    return at == len(path)


def _uses(obj: Mapping[str, Any], drop: Drop) -> bool:
    return any(_has(obj, steps) for steps in drop.steps)


def _has(value: Any, steps: tuple[Step, ...]) -> bool:
    for number, step in enumerate(steps):
        if not isinstance(value, Mapping):
            return False
        value = value.get(step.name)
        if value is None:
            return False
        if step.each is not Each.FIELD:
            inner = value.values() if step.each is Each.VALUES else value
            return any(_has(one, steps[number + 1 :]) for one in inner)
    return True
