"""Fields of changed objects that feature gates do not allow.

They are dropped unless the object has had one of the same gate before: what is in use stays
(k8s.io/kubernetes `pkg/api/pod/util.go`, `dropDisabledFields`).
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
        if _uses(made, drop) and not _uses(old, drop):
            for rule in drop.rules:
                rule(made, run)


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
