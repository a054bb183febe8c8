"""Configurations that are known before a request comes, and what is prepared for them.

Most policies that set a label or a field or add a sidecar do it without looking at the object. Most
of the others set something in each item of a list:

    Object{spec: Object.spec{containers: object.spec.containers.map(c,
        Object.spec.containers{name: c.name, imagePullPolicy: 'Always'})}}

Of these only the names are not known. Such a configuration is constructed once, with one item that
stands for all; each kind has a plan for merging it (`MergePlanner`). Where an object does not let
itself be merged by the plan, the expression is evaluated.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from celadon.admission import policy_limits
from celadon.admission.expressions.compiled_expressions import Expression
from celadon.cel import EvaluationError, Program, mapped_element
from celadon.cel.syntax import Comprehension, Expr, Ident, Select, Struct, walk
from celadon.kube import GroupVersionKind, JsonObject
from celadon.kube.apply import EveryItem, MergePlanner, MutatedKinds, Plan
from celadon.kube.library import PatchObject

_Path = tuple[str, ...]
_OBJECT: Final = "object"
_ANY_KEY: Final = "any"
"""The key of the item that stands for all."""


class KnownConfiguration:
    """The value of one expression, and of which lists it has `every` item. What it is as a
    configuration, and the plans for it, are remembered for built-in kinds: those of definitions may
    change."""

    __slots__ = ("_every", "_known", "_plans", "_value")

    def __init__(self, value: PatchObject, every: Mapping[_Path, EveryItem]) -> None:
        self._value = value
        self._every = every
        self._known: dict[GroupVersionKind, JsonObject | None] = {}
        self._plans: dict[MergePlanner, Plan | None] = {}

    def plan(self, planner: MergePlanner) -> Plan | None:
        """How it is merged (see `MergePlanner`); None if that has to be found out each time."""
        try:
            return self._plans[planner]
        except KeyError:
            plan = self._plans[planner] = planner.plan(self._value, self._every)
            return plan

    def fitting(self, kinds: MutatedKinds, kind: GroupVersionKind) -> JsonObject | None:
        """As `MutatedKinds.fitting`. None if it is not the same for all objects."""
        if self._every:
            return None
        if kinds.custom(kind) is not None:
            return kinds.fitting(self._value, kind)
        if kind not in self._known:
            self._known[kind] = kinds.fitting(self._value, kind)
        return self._known[kind]


def constant_configuration(expression: Expression) -> KnownConfiguration | None:
    """Of an expression that names no variable. None for any other, and for one that fails."""
    program = expression.program
    if program is None or not program.is_constant:
        return None
    value = _value(program, {})
    return None if value is None else KnownConfiguration(value, {})


def itemwise_configuration(expression: Expression) -> KnownConfiguration | None:
    """Of an expression that names nothing but the items of lists, at the places of these lists.
    None for any other, and for one that fails."""
    program = expression.program
    copied = None if program is None else _copied(program.checked.root, ())
    if program is None or not copied:
        return None
    value = _value(program, _with_items(copied, 1))
    if value is None:
        return None
    most = _most(program, copied)
    return KnownConfiguration(value, {path: EveryItem(one, most) for path, one in copied.items()})


def _value(program: Program, activation: Mapping[str, Any]) -> PatchObject | None:
    try:
        value = program.evaluate(activation)
    except EvaluationError:
        return None
    return value if isinstance(value, PatchObject) else None


def _copied(node: Expr, path: _Path) -> dict[_Path, frozenset[str]] | None:
    """By the paths of lists with every item the fields that are copied from it. None for anything
    that is not known."""
    if not any(isinstance(one, Ident) for one in walk(node)):
        return {}
    match node:
        case Struct():
            made: dict[_Path, frozenset[str]] = {}
            for field in node.fields:
                found = _copied(field.value, (*path, field.name))
                if found is None or field.optional:
                    return None
                made |= found
            return made
        case Comprehension():
            fields = _copied_fields(node, path)
            return None if fields is None else {path: fields}
    return None


def _copied_fields(node: Comprehension, path: _Path) -> frozenset[str] | None:
    """Of `object.<path>.map(c, Object.<path>{name: c.name, ...})` the fields like `name`, if all
    others are known."""
    item = mapped_element(node)
    if not isinstance(item, Struct) or _selected(node.iter_range) != (_OBJECT, *path):
        return None
    copied = set()
    for field in item.fields:
        if _selected(field.value) == (node.iter_var, field.name):
            copied.add(field.name)
        elif any(isinstance(one, Ident) for one in walk(field.value)):
            return None
        if field.optional:
            return None
    return frozenset(copied)


def _selected(node: Expr) -> _Path:
    """`a.b.c` as its names; empty for anything else."""
    names: list[str] = []
    while isinstance(node, Select) and not node.test_only:
        names.append(node.field)
        node = node.operand
    return (node.name, *reversed(names)) if isinstance(node, Ident) else ()


def _with_items(copied: Mapping[_Path, frozenset[str]], times: int) -> dict[str, Any]:
    """An object with so many items in each of the lists."""
    made: dict[str, Any] = {}
    for path, fields in copied.items():
        at = made
        for name in path[:-1]:
            at = at.setdefault(name, {})
        at[path[-1]] = [dict.fromkeys(fields, _ANY_KEY)] * times
    return {_OBJECT: made}


def _most(program: Program, copied: Mapping[_Path, frozenset[str]]) -> int:
    """How many items each list may have, so that no limit on costs is reached. An item costs the
    same as another."""
    one, two = (program.evaluate_metered(_with_items(copied, times))[1] for times in (1, 2))
    limit = min(policy_limits.PER_CALL_COST, policy_limits.RUNTIME_COST_BUDGET)
    return max(0, (limit - one) // max(1, two - one))
