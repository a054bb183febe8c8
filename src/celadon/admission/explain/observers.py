"""Looking on while an engine works: a request's context whose budgets trace what is paid from them.

An engine tells the context of its request which policy, binding and param it evaluates, and asks it
for a budget before each phase. Expressions are then run by the traced variant, which gives the same
values, errors and costs.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import Any

from celadon.admission import policy_limits
from celadon.admission.expressions.activation import RequestContext
from celadon.admission.expressions.compiled_expressions import Expression
from celadon.admission.expressions.match_conditions import Meter, OutOfBudget
from celadon.admission.hits import Hit
from celadon.admission.request import Request
from celadon.admission.world import World
from celadon.cel import EvaluationError
from celadon.cel.tracing import Frame, TraceRecorder
from celadon.records import dataclass


@dataclass(frozen=True, slots=True)
class ExpressionRun:
    """One evaluation of an expression. `value` is an `EvaluationError` where it gave none; `cost`
    is its own, without that of the variables that it was the first to read."""

    expression: Expression
    frame: Frame
    value: Any
    cost: int
    variables: tuple[ExpressionRun, ...]

    @property
    def failed(self) -> bool:
        """Whether it gave no value."""
        return isinstance(self.value, EvaluationError)

    @property
    def charged(self) -> int:
        """What its budget paid: the variables are charged with it."""
        return self.cost + sum(one.charged for one in self.variables)

    def all_variables(self) -> list[ExpressionRun]:
        """Those that it read first, and those that they did, in the order of their ends."""
        return [run for one in self.variables for run in (*one.all_variables(), one)]


class TracingMeter(Meter):
    """One budget, and all that was paid from it, in its order."""

    __slots__ = ("_read", "budget", "runs")

    def __init__(self, budget: int) -> None:
        super().__init__(budget)
        self.budget = budget
        self.runs: list[ExpressionRun] = []
        self._read: list[ExpressionRun] = self.runs

    def evaluated(
        self, expression: Expression, activation: Mapping[str, Any]
    ) -> tuple[object, int]:
        """As ever; variables that are read meanwhile are put down with the expression."""
        if expression.program is None:
            return super().evaluated(expression, activation)
        recorder, outer = TraceRecorder(), self._read
        read: list[ExpressionRun] = []
        found: tuple[Any, int] | None = None
        self._read = read
        try:
            found = expression.program.evaluate_traced(
                activation, recorder, policy_limits.PER_CALL_COST
            )
        except EvaluationError as error:
            found = error, error.cost or 0
            raise
        except OutOfBudget as stopped:
            found = EvaluationError(str(stopped)), 0
            raise
        finally:
            self._read = outer
            if found is None:  # given up for now, and evaluated again: see `match_conditions`
                outer += read
            else:
                outer.append(ExpressionRun(expression, recorder.frame, *found, tuple(read)))
        return found


@dataclass(slots=True)
class CaseRecord:
    """A policy with a binding and a param, empty for none, matched as `hit`; and the budgets of its
    phases."""

    policy: str
    binding: str
    param: str
    hit: Hit
    meters: list[TracingMeter] = field(default_factory=list)


class LookingOn(RequestContext):
    """The context of a request that somebody looks at."""

    __slots__ = ("cases",)

    def __init__(self, request: Request, world: World) -> None:
        super().__init__(request, world)
        self.cases: list[CaseRecord] = []

    @property
    def traces(self) -> bool:
        """Always."""
        return True

    def begin(self, policy: str, binding: str, param: str, hit: Hit) -> None:
        """Puts down what the phases that follow are of."""
        self.cases.append(CaseRecord(policy, binding, param, hit))

    def meter(self, budget: int) -> Meter:
        """One that traces."""
        meter = TracingMeter(budget)
        self.cases[-1].meters.append(meter)
        return meter
