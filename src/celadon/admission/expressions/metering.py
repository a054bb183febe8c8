"""Running expressions: plainly where no budget can be reached, else against a budget.

Both ways give the same values. `run_plain` is used where the compiled bound of all expressions of
a policy, for the size of the request at hand, stays within every limit; a `Meter` counts, charging
in upstream's order: first the variables that an expression read for the first time, then the
expression itself. Going over the budget is `OutOfBudget`; going over the limit of a single
expression is an ordinary `EvaluationError` of that expression.

As `ForInput` in k8s.io/apiserver `pkg/admission/plugin/cel/condition.go`.
"""

from __future__ import annotations

from typing import Any, NoReturn

from celadon.admission import policy_limits
from celadon.admission.decision_source import Source
from celadon.admission.expressions.compiled_expressions import Expression
from celadon.admission.expressions.lazy_variables import Activation, Run, blamed
from celadon.cel import EvaluationError
from celadon.kube.library import OUT_OF_BUDGET
from celadon.records import dataclass


@dataclass(frozen=True, slots=True)
class Failure:
    """Why an expression gave no answer, as a decision says it, and the field to blame."""

    text: str
    source: Source


class OutOfBudget(BaseException):
    """The budget of a phase is used up; `failure` names the expression that was too much. Generated
    code, which catches exceptions of other kinds, lets it pass."""

    def __init__(self, source: Source) -> None:
        super().__init__(OUT_OF_BUDGET)
        self.failure = Failure(OUT_OF_BUDGET, source)


def run_plain(expression: Expression, activation: Activation) -> Any:  # noqa: ANN401 - a value of CEL
    """Without counting. EvaluationError as the expression's own text, unwrapped."""
    if expression.program is None:
        raise EvaluationError(expression.detail)
    return expression.program.evaluate(activation)


class Meter:
    """One budget. `cost` is what the latest expression cost, its variables included."""

    __slots__ = ("_running", "_variables", "cost", "remaining")

    def __init__(self, budget: int) -> None:
        self.remaining = budget
        self.cost = 0
        self._variables = 0
        self._running: Expression | None = None

    def run(self, expression: Expression, activation: Activation) -> Any:  # noqa: ANN401 - a value of CEL
        """An expression of the phase itself: charged at once, failed or not."""
        self._variables = 0
        self._running = expression
        try:
            value, cost = self.evaluated(expression, activation)
        except EvaluationError as error:
            self._charge(error.cost or 0, expression)
            raise
        self._charge(cost, expression)
        return value

    def run_variable(self, expression: Expression, activation: Activation) -> Any:  # noqa: ANN401 - a value of CEL
        """A variable: charged together with the expression that reads it. What the variables
        together cost is known to be too much as soon as it is."""
        try:
            value, cost = self.evaluated(expression, activation)
        except EvaluationError as error:
            self._charge_variable(error.cost or 0, expression)
            raise
        self._charge_variable(cost, expression)
        return value

    def evaluated(self, expression: Expression, activation: Activation) -> tuple[Any, int]:
        """The value, and the cost of the expression itself. EvaluationError."""
        if expression.program is None:
            raise EvaluationError(expression.detail)
        return expression.program.evaluate_metered(activation, policy_limits.PER_CALL_COST)

    def _charge_variable(self, cost: int, variable: Expression) -> None:
        self._variables += cost
        if self._variables > self.remaining:
            self._exhausted(self._running or variable)

    def _charge(self, cost: int, expression: Expression) -> None:
        self.cost = self._variables + cost
        for part in (self._variables, cost):
            if part > self.remaining:
                self._exhausted(expression)
            self.remaining -= part

    def _exhausted(self, expression: Expression) -> NoReturn:
        self.remaining = -1
        raise OutOfBudget(expression.source)


def attempt(run: Run, expression: Expression, activation: Activation) -> tuple[Any, Failure | None]:
    """The value, or None and what a decision says about the failure."""
    if expression.program is None:
        return None, Failure(f"compilation error: {expression.detail}", expression.source)
    try:
        return run(expression, activation), None
    except EvaluationError as error:
        text = f"expression '{expression.text}' resulted in error: {error}"
        return None, Failure(text, blamed(error, expression))
