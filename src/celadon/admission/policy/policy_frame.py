"""What compiled policies have in common, whether they validate or mutate."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Protocol

from celadon.admission import decision_source
from celadon.admission.expressions.compiled_expressions import (
    BOOL_RESULT,
    Expression,
    ExpressionMemory,
    PolicyScope,
)
from celadon.admission.expressions.match_conditions import Condition
from celadon.admission.policy.plain_sizes import Phase
from celadon.admission.registration.registration_types import MatchCondition, ParamKind, Variable
from celadon.records import dataclass


class FrameSpec(Protocol):
    """The part of a policy's spec that is the same for both."""

    @property
    def param_kind(self) -> ParamKind | None: ...

    @property
    def variables(self) -> tuple[Variable, ...]: ...

    @property
    def match_conditions(self) -> tuple[MatchCondition, ...]: ...


@dataclass(frozen=True, slots=True)
class PolicyFrame:
    """Of requests whose size is at most `plain_size` nothing needs to be counted."""

    name: str
    param_kind: ParamKind | None
    ignores_failures: bool
    conditions: tuple[Condition, ...]
    variables: Mapping[str, Expression]
    uses_authorizer: bool
    plain_size: int

    @property
    def frame_expressions(self) -> tuple[Expression, ...]:
        """The conditions and variables."""
        return (*(one.expression for one in self.conditions), *self.variables.values())

    @property
    def expressions(self) -> tuple[Expression, ...]:
        """All of the policy, those that cannot run included."""
        return self.frame_expressions

    def prepare(self) -> None:
        """Generate now what programs would generate at their first error or counted evaluation."""
        for expression in self.expressions:
            expression.prepare()


def compile_frame(
    name: str, spec: FrameSpec, version: str, memory: ExpressionMemory | None = None
) -> tuple[PolicyScope, Mapping[str, Expression], tuple[Condition, ...]]:
    """The variables and match conditions of a stored policy, and the scope for all else."""
    scope = PolicyScope(
        version,
        has_params=spec.param_kind is not None,
        has_variables=bool(spec.variables),
        owner=name,
        memory=memory,
    )
    variables: dict[str, Expression] = {}
    for i, variable in enumerate(spec.variables):
        variables[variable.name] = scope.declare(
            variable.name, variable.expression, stored=True, source=decision_source.variable(i)
        )
    conditions = tuple(_condition(i, c, scope) for i, c in enumerate(spec.match_conditions))
    return scope, variables, conditions


def _condition(index: int, condition: MatchCondition, scope: PolicyScope) -> Condition:
    source = decision_source.condition(index)
    compiled = scope.compile(condition.expression, BOOL_RESULT, stored=True, source=source)
    return Condition(condition.name, compiled)


def uses_authorizer(variables: Mapping[str, Expression], phases: Iterable[Phase]) -> bool:
    """Whether any expression may ask for access."""
    expressions = (*variables.values(), *(one for phase in phases for one in phase.expressions))
    return any("authorizer" in expression.text for expression in expressions)
