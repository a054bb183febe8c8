"""Configurations that are the same for all requests: constructed once, read once for each kind.

Most policies that set a label or a field or add a sidecar do it without looking at the object.
"""

from __future__ import annotations

from celadon.admission.expressions.compiled_expressions import Expression
from celadon.cel import EvaluationError
from celadon.kube import GroupVersionKind, JsonObject
from celadon.kube.apply import MutatedKinds
from celadon.kube.library import PatchObject


class ConstantConfiguration:
    """The value of one expression. What it is as a configuration is remembered for built-in kinds:
    those of definitions may change."""

    __slots__ = ("_known", "_value")

    def __init__(self, value: PatchObject) -> None:
        self._value = value
        self._known: dict[GroupVersionKind, JsonObject | None] = {}

    def fitting(self, kinds: MutatedKinds, kind: GroupVersionKind) -> JsonObject | None:
        """As `MutatedKinds.fitting`."""
        if kinds.custom(kind) is not None:
            return kinds.fitting(self._value, kind)
        if kind not in self._known:
            self._known[kind] = kinds.fitting(self._value, kind)
        return self._known[kind]


def constant_configuration(expression: Expression) -> ConstantConfiguration | None:
    """None for an expression that names a variable, or fails."""
    program = expression.program
    if program is None or not program.is_constant:
        return None
    try:
        value = program.evaluate({})
    except EvaluationError:
        return None
    return ConstantConfiguration(value) if isinstance(value, PatchObject) else None
