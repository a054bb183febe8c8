"""Match conditions: whether a policy or webhook cares about a request it matches.

All conditions are evaluated, whatever the first says, and charged to one budget. A false one wins
over errors. As k8s.io/apiserver `pkg/admission/plugin/webhook/matchconditions/matcher.go`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, NoReturn

from celadon.admission import policy_limits
from celadon.admission.decision_source import Source
from celadon.admission.expressions.compiled_expressions import Expression
from celadon.cel import EvaluationError
from celadon.kube.library import OUT_OF_BUDGET
from celadon.records import dataclass

# --- Lazy variables ----------------------------------------------------------
#
# `variables` in expressions: computed when first read, as often as there are phases.
#
# A variable that reads a variable that reads a variable, and so on, would need as many frames
# of Python as there are links, and a policy may have ten thousand. So from a certain depth on
# nothing is computed: the computation is given up (`_TooDeep` passes through generated code,
# which catches nothing of the kind), the variable in question is computed first, from the
# bottom, and then what was given up again, which now finds it. Each is given up once for so
# many links, and what was computed stays, so the work is about twice that of a short chain;
# what is given up is not charged.
#
# As k8s.io/apiserver `pkg/admission/plugin/cel/composition.go`.


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

    def __missing__(self, name: str) -> object:
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


# --- Metering ----------------------------------------------------------------
#
# Running expressions: plainly where no budget can be reached, else against a budget.
#
# Both ways give the same values. `run_plain` is used where the compiled bound of all
# expressions of a policy, for the size of the request at hand, stays within every limit; a
# `Meter` counts, charging in upstream's order: first the variables that an expression read for
# the first time, then the expression itself. Going over the budget is `OutOfBudget`; going over
# the limit of a single expression is an ordinary `EvaluationError` of that expression.
#
# As `ForInput` in k8s.io/apiserver `pkg/admission/plugin/cel/condition.go`.


@dataclass(frozen=True, slots=True)
class Failure:
    """This is why an expression gave no answer, as a decision says it, and the field to blame."""

    text: str
    source: Source


class OutOfBudget(BaseException):
    """The budget of a phase is used up; `failure` names the expression that was too much. Generated
    code, which catches exceptions of other kinds, lets it pass."""

    def __init__(self, source: Source) -> None:
        super().__init__(OUT_OF_BUDGET)
        self.failure = Failure(OUT_OF_BUDGET, source)


def run_plain(expression: Expression, activation: Activation) -> object:
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

    def run_variable(self, expression: Expression, activation: Activation) -> object:
        """A variable: charged together with the expression that reads it. What the variables
        together cost is known to be too much as soon as it is."""
        try:
            value, cost = self.evaluated(expression, activation)
        except EvaluationError as error:
            self._charge_variable(error.cost or 0, expression)
            raise
        self._charge_variable(cost, expression)
        return value

    def evaluated(self, expression: Expression, activation: Activation) -> tuple[object, int]:
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


@dataclass(frozen=True, slots=True)
class Condition:
    """A compiled match condition; the name is what notes say when it is false."""

    name: str
    expression: Expression


@dataclass(frozen=True, slots=True)
class ConditionResult:
    """Matched, or not: because of `false_condition`, or of a failure (never both)."""

    false_condition: str = ""
    failure: Failure | None = None


MATCHED: Final = ConditionResult()


def evaluate(conditions: Sequence[Condition], run: Run, activation: Activation) -> ConditionResult:
    """The failure policy is the caller's business: an error here is only reported."""
    false: list[str] = []
    failures: list[Failure] = []
    try:
        for condition in conditions:
            value, failure = attempt(run, condition.expression, activation)
            if failure is not None:
                failures.append(failure)
            elif value is False:  # what is neither of the two does not keep from matching
                false.append(condition.name)
    except OutOfBudget as error:
        return ConditionResult(failure=error.failure)
    if false:
        return ConditionResult(false[0])
    return ConditionResult(failure=_aggregate(failures)) if failures else MATCHED


def _aggregate(failures: Sequence[Failure]) -> Failure:
    """All texts, at the place of the first."""
    texts = list(dict.fromkeys(failure.text for failure in failures))
    text = texts[0] if len(texts) == 1 else f"[{', '.join(texts)}]"
    return Failure(text, failures[0].source)
