"""Match conditions: whether a policy or webhook cares about a request it matches.

All conditions are evaluated, whatever the first says, and charged to one budget. A false one wins
over errors. As k8s.io/apiserver `pkg/admission/plugin/webhook/matchconditions/matcher.go`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from celadon.admission.expressions.compiled_expressions import Expression
from celadon.admission.expressions.metering import Activation, OutOfBudget, Run, attempt


@dataclass(frozen=True, slots=True)
class Condition:
    name: str
    expression: Expression


@dataclass(frozen=True, slots=True)
class ConditionResult:
    """Matched, or not: because of `false_condition`, or of `error` (never both)."""

    matched: bool
    false_condition: str = ""
    error: str = ""


MATCHED: Final = ConditionResult(True)


def evaluate(conditions: Sequence[Condition], run: Run, activation: Activation) -> ConditionResult:
    """The failure policy is the caller's business: an error here is only reported."""
    results = []
    try:
        for condition in conditions:
            results.append(attempt(run, condition.expression, activation))
    except OutOfBudget as error:
        return ConditionResult(False, error=str(error))
    errors: list[str] = []
    for condition, (value, error_text) in zip(conditions, results, strict=True):
        if error_text:
            errors.append(error_text)
        elif value is not True:
            return ConditionResult(False, false_condition=condition.name)
    return ConditionResult(False, error=_aggregate(errors)) if errors else MATCHED


def _aggregate(errors: Sequence[str]) -> str:
    distinct = list(dict.fromkeys(errors))
    return distinct[0] if len(distinct) == 1 else f"[{', '.join(distinct)}]"
