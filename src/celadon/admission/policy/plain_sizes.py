"""How large a request may be so that a policy need not be metered.

Up to that many characters of JSON in all inputs, no limit and no budget of the policy can be
reached, so that nothing needs to be counted.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Final

from celadon.admission import policy_limits
from celadon.admission.expressions.compiled_expressions import Expression
from celadon.admission.expressions.match_conditions import Condition
from celadon.records import dataclass


@dataclass(frozen=True, slots=True)
class Phase:
    """Expressions that are paid from one budget; meanwhile variables may be computed so many
    times."""

    expressions: Sequence[Expression]
    budget: int = policy_limits.RUNTIME_COST_BUDGET
    computed: int = 1


def condition_phase(conditions: Sequence[Condition]) -> Phase:
    """That of match conditions."""
    expressions = tuple(condition.expression for condition in conditions)
    return Phase(expressions, policy_limits.MATCH_CONDITIONS_COST_BUDGET)


_PRECISION: Final = 64
"""So many parts of the size make no difference: fewer looks at every expression, when thousands of
policies are loaded."""


def plain_size(variables: Mapping[str, Expression], phases: Sequence[Phase]) -> int:
    """A size known to be within limits, the largest or one slightly below it; -1 when there is
    none."""
    if _within_limits(variables, phases, policy_limits.UNBOUNDED_SIZE):
        return policy_limits.UNBOUNDED_SIZE
    low, high = -1, policy_limits.UNBOUNDED_SIZE
    while high - low > max(1, low // _PRECISION):
        middle = _between(low, high)
        if _within_limits(variables, phases, middle):
            low = middle
        else:
            high = middle
    return low


def _between(low: int, high: int) -> int:
    """Half way, or half the digits as long as nobody knows how many there are."""
    if high <= 4 * (low + 1):
        return (low + high) // 2
    return min(math.isqrt((low + 2) * high), high - 1)


def _within_limits(variables: Mapping[str, Expression], phases: Sequence[Phase], size: int) -> bool:
    """Whether inputs of this size keep every expression and every phase within its limit."""
    total = size
    spent = 0.0
    for variable in variables.values():
        cost = _bound(variable, total)
        if cost > policy_limits.PER_CALL_COST:
            return False
        spent += cost
        result = _result_size(variable, total)
        if result >= policy_limits.UNBOUNDED_SIZE:
            return False
        total += math.ceil(result)
    for phase in phases:
        costs = [_bound(expression, total) for expression in phase.expressions]
        if any(cost > policy_limits.PER_CALL_COST for cost in costs):
            return False
        if sum(costs) + phase.computed * spent > phase.budget:
            return False
    return True


def _bound(expression: Expression, size: int) -> float:
    return 0.0 if expression.program is None else expression.program.cost_bound(size)


def _result_size(expression: Expression, size: int) -> float:
    return 0.0 if expression.program is None else expression.program.size_bound(size)
