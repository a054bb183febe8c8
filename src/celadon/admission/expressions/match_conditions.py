"""Match conditions: whether a policy or webhook cares about a request it matches.

All conditions are evaluated, whatever the first says, and charged to one budget. A false one wins
over errors. As k8s.io/apiserver `pkg/admission/plugin/webhook/matchconditions/matcher.go`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from celadon.admission.expressions.compiled_expressions import Expression
from celadon.admission.expressions.lazy_variables import Activation, Run
from celadon.admission.expressions.metering import Failure, OutOfBudget, attempt
from celadon.records import dataclass


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
