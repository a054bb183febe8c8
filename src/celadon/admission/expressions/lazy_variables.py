"""`variables` in expressions: computed when first read, as often as there are phases.

A variable that reads a variable that reads a variable, and so on, would need as many frames of
Python as there are links, and a policy may have ten thousand. So from a certain depth on nothing is
computed: the computation is given up (`_TooDeep` passes through generated code, which catches
nothing of the kind), the variable in question is computed first, from the bottom, and then what was
given up again, which now finds it. Each is given up once for so many links, and what was computed
stays, so the work is about twice that of a short chain; what is given up is not charged.

As k8s.io/apiserver `pkg/admission/plugin/cel/composition.go`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from celadon.admission.decision_source import Source
from celadon.admission.expressions.compiled_expressions import Expression
from celadon.cel import EvaluationError

Activation = Mapping[str, Any]
Run = Callable[[Expression, Activation], Any]

_MOST_LINKS: Final = 25
"""Variables computed one within another."""

_LONGEST_ERROR: Final = 16 * 1024
"""Characters of one error within another."""


class _TooDeep(BaseException):
    """A variable has to be computed before those that wait for it."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.name = name


class LazyVariables(dict[str, Any]):
    """Variables computed when first read, and kept; errors too, with the field of the variable that
    is to blame as their origin.

    INVARIANT (one phase): match conditions, validations, message expressions and audit annotations
    each start with a new one, so a variable is computed at most once in each.
    """

    __slots__ = ("_activation", "_depth", "_errors", "_expressions", "_run")

    def __init__(
        self, expressions: Mapping[str, Expression], activation: Mapping[str, Any], run: Run
    ) -> None:
        super().__init__()
        self._expressions = expressions
        self._activation = activation
        self._run = run
        self._errors: dict[str, tuple[str, Source]] = {}
        self._depth = 0

    def __missing__(self, name: str) -> Any:  # noqa: ANN401 - a value of CEL
        if name not in self._expressions:
            raise KeyError(name)
        if name not in self._errors:
            if self._depth == 0:
                self._compute_from_the_bottom(name)
            elif self._depth < _MOST_LINKS:
                self._compute(name)
            else:
                raise _TooDeep(name)
        failed = self._errors.get(name)
        if failed is not None:
            raise EvaluationError(*failed)
        return self[name]

    def _compute_from_the_bottom(self, name: str) -> None:
        """The variable, after those at the end of chains too long."""
        waiting = [name]
        while waiting:
            try:
                self._compute(waiting[-1])
            except _TooDeep as deeper:
                waiting.append(deeper.name)
            else:
                waiting.pop()

    def _compute(self, name: str) -> None:
        """Puts the value among the others, or the error among the errors."""
        expression = self._expressions[name]
        self._depth += 1
        try:
            self[name] = self._run(expression, self._activation)
        except EvaluationError as error:
            what = "compile" if expression.error is not None else "evaluate"
            text = f'composited variable "{name}" fails to {what}: {_shortened(str(error))}'
            self._errors[name] = text, blamed(error, expression)
        except RecursionError:
            if self._depth == 1:
                raise
            raise _TooDeep(name) from None
        finally:
            self._depth -= 1

    def __contains__(self, name: object) -> bool:
        """`has(variables.x)` evaluates x."""
        if name not in self._expressions:
            return False
        self[str(name)]
        return True

    def get(self, name: str, default: object = None) -> Any:  # noqa: ANN401 - a value of CEL
        return self[name] if name in self._expressions else default


def _shortened(text: str) -> str:
    """An error text, of which only the end is kept, the cause, where it is too long: along a chain
    of variables it grows with each."""
    return text if len(text) <= _LONGEST_ERROR else f"...{text[-_LONGEST_ERROR:]}"


def blamed(error: EvaluationError, expression: Expression) -> Source:
    """The field that the error of an expression comes from: its own, or that of a variable."""
    return error.origin if isinstance(error.origin, Source) else expression.source
