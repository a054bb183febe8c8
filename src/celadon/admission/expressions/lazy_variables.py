"""`variables` in expressions: computed when first read, as often as there are phases.

As k8s.io/apiserver `pkg/admission/plugin/cel/composition.go`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from celadon.admission.decision_source import Source
from celadon.admission.expressions.compiled_expressions import Expression
from celadon.cel import EvaluationError

Run = Callable[[Expression, Mapping[str, Any]], Any]


class LazyVariables(dict[str, Any]):
    """Variables computed when first read, and kept; errors too, with the field of the variable that
    is to blame as their origin.

    INVARIANT (one phase): match conditions, validations, message expressions and audit annotations
    each start with a new one, so a variable is computed at most once in each.
    """

    __slots__ = ("_activation", "_errors", "_expressions", "_run")

    def __init__(
        self, expressions: Mapping[str, Expression], activation: Mapping[str, Any], run: Run
    ) -> None:
        super().__init__()
        self._expressions = expressions
        self._activation = activation
        self._run = run
        self._errors: dict[str, tuple[str, Source]] = {}

    def __missing__(self, name: str) -> Any:  # noqa: ANN401 - a value of CEL
        expression = self._expressions.get(name)
        if expression is None:
            raise KeyError(name)
        failed = self._errors.get(name)
        if failed is None:
            try:
                value = self._run(expression, self._activation)
            except EvaluationError as error:
                what = "compile" if expression.error is not None else "evaluate"
                text = f'composited variable "{name}" fails to {what}: {error}'
                failed = self._errors[name] = text, blamed(error, expression)
            else:
                self[name] = value
                return value
        raise EvaluationError(*failed)

    def __contains__(self, name: object) -> bool:
        """`has(variables.x)` evaluates x."""
        if name not in self._expressions:
            return False
        self[str(name)]
        return True

    def get(self, name: str, default: object = None) -> Any:  # noqa: ANN401 - a value of CEL
        return self[name] if name in self._expressions else default


def blamed(error: EvaluationError, expression: Expression) -> Source:
    """The field that the error of an expression comes from: its own, or that of a variable."""
    return error.origin if isinstance(error.origin, Source) else expression.source
