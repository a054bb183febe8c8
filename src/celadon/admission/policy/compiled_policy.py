"""A policy to a `CompiledPolicy`: its programs, and what evaluation wants to know beforehand.

Compiling never fails: an expression that does not compile stays in the policy with its error, which
becomes a decision when the policy is evaluated. `plain_size` is worked out here: up to that many
characters of JSON in all inputs, no limit and no budget of the policy can be reached, so that
nothing needs to be counted.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from celadon.admission import decision_source, policy_limits
from celadon.admission.expressions.compiled_expressions import (
    ANNOTATION_RESULT,
    BOOL_RESULT,
    MESSAGE_RESULT,
    Expression,
    PolicyScope,
)
from celadon.admission.expressions.match_conditions import Condition
from celadon.admission.registration.registration_types import (
    IGNORE,
    AuditAnnotation,
    MatchCondition,
    ParamKind,
    ValidatingAdmissionPolicy,
    Validation,
)
from celadon.kube.go import trim_space
from celadon.kube.library import DEFAULT_VERSION


@dataclass(frozen=True, slots=True)
class CompiledValidation:
    """`default_message` is the text when no message expression gives one."""

    expression: Expression
    message_expression: Expression | None
    default_message: str
    reason: str


@dataclass(frozen=True, slots=True)
class CompiledAnnotation:
    """An audit annotation: a string to publish, or null for none."""

    key: str
    expression: Expression


@dataclass(frozen=True, slots=True)
class CompiledPolicy:
    """`quick` are the programs of the validations, where these alone decide as long as they are
    true; empty for policies that ask for more than the request, or have a broken expression."""

    name: str
    param_kind: ParamKind | None
    ignores_failures: bool
    conditions: tuple[Condition, ...]
    variables: Mapping[str, Expression]
    validations: tuple[CompiledValidation, ...]
    annotations: tuple[CompiledAnnotation, ...]
    uses_authorizer: bool
    has_messages: bool
    plain_size: int
    quick: tuple[Callable[[Mapping[str, Any]], Any], ...] = field(init=False)

    def __post_init__(self) -> None:
        programs = [validation.expression.program for validation in self.validations]
        asks_for_more = (
            self.conditions
            or self.variables
            or self.annotations
            or self.uses_authorizer
            or self.param_kind
        )
        if asks_for_more or None in programs:
            object.__setattr__(self, "quick", ())
        else:
            quick = tuple(program.evaluate for program in programs if program is not None)
            object.__setattr__(self, "quick", quick)

    def prepare(self) -> None:
        """Generate now what programs would generate at their first error or counted evaluation."""
        for validation in self.validations:
            _prepare(validation.expression)
            if validation.message_expression is not None:
                _prepare(validation.message_expression)
        for condition in self.conditions:
            _prepare(condition.expression)
        for annotation in self.annotations:
            _prepare(annotation.expression)
        for variable in self.variables.values():
            _prepare(variable)


def _prepare(expression: Expression) -> None:
    if expression.program is not None:
        expression.program.prepare()


def compile_policy(
    policy: ValidatingAdmissionPolicy, version: str = DEFAULT_VERSION
) -> CompiledPolicy:
    """As a stored policy: everything this version of Kubernetes knows may be used."""
    spec = policy.spec
    scope = PolicyScope(
        version,
        has_params=spec.param_kind is not None,
        has_variables=bool(spec.variables),
        owner=policy.name,
    )
    variables: dict[str, Expression] = {}
    for i, variable in enumerate(spec.variables):
        variables[variable.name] = scope.declare(
            variable.name, variable.expression, stored=True, source=decision_source.variable(i)
        )
    conditions = tuple(_condition(i, c, scope) for i, c in enumerate(spec.match_conditions))
    validations = tuple(_validation(i, v, scope) for i, v in enumerate(spec.validations))
    annotations = tuple(_annotation(i, a, scope) for i, a in enumerate(spec.audit_annotations))
    parts = _Parts(
        [c.expression for c in conditions],
        [v.expression for v in validations],
        [v.message_expression for v in validations if v.message_expression is not None],
        [a.expression for a in annotations],
        list(variables.values()),
    )
    return CompiledPolicy(
        name=policy.name,
        param_kind=spec.param_kind,
        ignores_failures=spec.failure_policy == IGNORE,
        conditions=conditions,
        variables=variables,
        validations=validations,
        annotations=annotations,
        uses_authorizer=any("authorizer" in e.text for e in parts.all),
        has_messages=bool(parts.messages),
        plain_size=_plain_size(parts),
    )


def _condition(index: int, condition: MatchCondition, scope: PolicyScope) -> Condition:
    source = decision_source.condition(index)
    compiled = scope.compile(condition.expression, BOOL_RESULT, stored=True, source=source)
    return Condition(condition.name, compiled)


def _annotation(index: int, annotation: AuditAnnotation, scope: PolicyScope) -> CompiledAnnotation:
    source, text = decision_source.annotation(index), annotation.value_expression
    compiled = scope.compile(text, ANNOTATION_RESULT, stored=True, source=source)
    return CompiledAnnotation(annotation.key, compiled)


def _validation(index: int, validation: Validation, scope: PolicyScope) -> CompiledValidation:
    message = None
    if validation.message_expression:
        message = scope.compile(
            validation.message_expression,
            MESSAGE_RESULT,
            authorizer=False,
            stored=True,
            source=decision_source.message(index),
        )
    default = trim_space(validation.message)
    source = decision_source.validation(index)
    return CompiledValidation(
        scope.compile(validation.expression, BOOL_RESULT, stored=True, source=source),
        message,
        default or f"failed expression: {trim_space(validation.expression)}",
        validation.reason or "",
    )


@dataclass(frozen=True, slots=True)
class _Parts:
    """The expressions of a policy by what pays for them."""

    conditions: Sequence[Expression]
    validations: Sequence[Expression]
    messages: Sequence[Expression]
    annotations: Sequence[Expression]
    variables: Sequence[Expression]

    @property
    def all(self) -> Iterable[Expression]:
        return (
            *self.conditions,
            *self.validations,
            *self.messages,
            *self.annotations,
            *self.variables,
        )

    def within_limits(self, size: int) -> bool:
        """Whether inputs of this size keep every expression and every phase within its limit.
        Each phase may compute all variables once more."""
        total = size
        variables = 0.0
        for variable in self.variables:
            cost = _bound(variable, total)
            if cost > policy_limits.PER_CALL_COST:
                return False
            variables += cost
            result = _result_size(variable, total)
            if result >= policy_limits.UNBOUNDED_SIZE:
                return False
            total += math.ceil(result)
        phases = (
            (self.conditions, policy_limits.MATCH_CONDITIONS_COST_BUDGET, 1),
            ((*self.validations, *self.messages), policy_limits.RUNTIME_COST_BUDGET, 2),
            (self.annotations, policy_limits.RUNTIME_COST_BUDGET, 1),
        )
        for expressions, budget, computed in phases:
            costs = [_bound(expression, total) for expression in expressions]
            if any(cost > policy_limits.PER_CALL_COST for cost in costs):
                return False
            if sum(costs) + computed * variables > budget:
                return False
        return True


def _bound(expression: Expression, size: int) -> float:
    return 0.0 if expression.program is None else expression.program.cost_bound(size)


def _result_size(expression: Expression, size: int) -> float:
    return 0.0 if expression.program is None else expression.program.size_bound(size)


_STEPS: Final = 40
"""Halvings between nothing and `UNBOUNDED_SIZE`."""


def _plain_size(parts: _Parts) -> int:
    """The largest size known to be within limits; -1 when there is none."""
    if parts.within_limits(policy_limits.UNBOUNDED_SIZE):
        return policy_limits.UNBOUNDED_SIZE
    low, high = -1, policy_limits.UNBOUNDED_SIZE
    for _ in range(_STEPS):
        middle = (low + high) // 2
        if middle < 0 or low == high - 1:
            break
        if parts.within_limits(middle):
            low = middle
        else:
            high = middle
    return low
