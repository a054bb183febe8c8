"""A policy to a `CompiledPolicy`: its programs, and what evaluation wants to know beforehand.

Compiling never fails: an expression that does not compile stays in the policy with its error, which
becomes a decision when the policy is evaluated.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Final, Protocol

from celadon.admission import decision_source, policy_limits
from celadon.admission.expressions.compiled_expressions import (
    ANNOTATION_RESULT,
    BOOL_RESULT,
    MESSAGE_RESULT,
    Condition,
    Expression,
    ExpressionMemory,
    PolicyScope,
)
from celadon.admission.registration.registration_types import (
    IGNORE,
    AuditAnnotation,
    MatchCondition,
    ParamKind,
    ValidatingAdmissionPolicy,
    Validation,
    Variable,
)
from celadon.cel import Program
from celadon.kube.go import trim_space
from celadon.kube.releases import current_release
from celadon.records import dataclass, field

# --- Plain sizes -------------------------------------------------------------
#
# How large a request may be so that a policy need not be metered.
#
# Up to that many characters of JSON in all inputs, no limit and no budget of the policy can be
# reached, so that nothing needs to be counted.


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


class PlainSizes:
    """The sizes of requests for which a policy need not count. It is asked about the sizes of
    requests as they come: thousands of policies are loaded that are never asked.

    Where a size is within limits, all smaller ones are.
    """

    __slots__ = ("_largest", "_phases", "_too_large", "_variables")

    def __init__(self, variables: Mapping[str, Expression], phases: Sequence[Phase]) -> None:
        self._variables = variables
        self._phases = phases
        self._largest = -1
        self._too_large = policy_limits.UNBOUNDED_SIZE + 1

    def include(self, size: int) -> bool:
        """Return whether nothing needs to be counted for a request of that size."""
        if size <= self._largest:
            return True
        for tried in _tried(size):
            if tried < self._too_large:
                if _within_limits(self._variables, self._phases, tried):
                    self._largest = max(tried, self._largest)
                    return True
                self._too_large = tried
        return False

    @property
    def are_all(self) -> bool:
        """Return whether no request is too large."""
        return self.include(policy_limits.UNBOUNDED_SIZE)


def _tried(size: int) -> tuple[int, ...]:
    """Sizes whose being within limits shows that this one is, the last being itself: a policy is
    not looked through for each size that comes."""
    return policy_limits.UNBOUNDED_SIZE, 2 * size, size + size // 64, size


def _within_limits(variables: Mapping[str, Expression], phases: Sequence[Phase], size: int) -> bool:
    """Return whether inputs of this size keep every expression and every phase within its limit."""
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


# --- Policy frame ------------------------------------------------------------
#
# What compiled policies have in common, whether they validate or mutate.


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
    """A policy at one endpoint. For requests of the `plain_sizes` nothing needs to be counted."""

    name: str
    param_kind: ParamKind | None
    ignores_failures: bool
    conditions: tuple[Condition, ...]
    variables: Mapping[str, Expression]
    uses_authorizer: bool
    plain_sizes: PlainSizes

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
    """Return whether any expression may ask for access."""
    expressions = (*variables.values(), *(one for phase in phases for one in phase.expressions))
    return any("authorizer" in expression.text for expression in expressions)


_OF_REQUESTS: Final = ("request", "namespaceObject")
"""What a request brings besides objects, as expressions name it."""


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
class CompiledPolicy(PolicyFrame):
    """`quick` are the programs of the validations, where these alone decide as long as they are
    true; empty for policies that ask for more than the request, or have a broken expression."""

    validations: tuple[CompiledValidation, ...]
    annotations: tuple[CompiledAnnotation, ...]
    has_messages: bool
    quick: tuple[Program, ...] = field(init=False)

    def __post_init__(self) -> None:
        programs = [validation.expression.program for validation in self.validations]
        asks_for_more = (
            self.conditions
            or self.variables
            or self.annotations
            or self.uses_authorizer
            or self.param_kind
        )
        alone = () if asks_for_more or None in programs else programs
        known = tuple(program for program in alone if program is not None)
        object.__setattr__(self, "quick", known)

    @property
    def expressions(self) -> tuple[Expression, ...]:
        """And those of its own."""
        messages = (one.message_expression for one in self.validations)
        return (
            *self.frame_expressions,
            *(one.expression for one in self.validations),
            *(one for one in messages if one is not None),
            *(one.expression for one in self.annotations),
        )

    @property
    def reads_objects_only(self) -> bool:
        """Return whether no validation may read the request or its namespace."""
        texts = [one.expression.text for one in self.validations]
        return not any(name in text for text in texts for name in _OF_REQUESTS)


def compile_policy(
    policy: ValidatingAdmissionPolicy,
    version: str | None = None,
    memory: ExpressionMemory | None = None,
) -> CompiledPolicy:
    """Compile it as a stored policy: everything this version of Kubernetes knows may be used.
    Expressions in the `memory` are not compiled again."""
    spec = policy.spec
    scope, variables, conditions = compile_frame(
        policy.name, spec, version or current_release(), memory
    )
    validations = tuple(_validation(i, v, scope) for i, v in enumerate(spec.validations))
    annotations = tuple(_annotation(i, a, scope) for i, a in enumerate(spec.audit_annotations))
    messages = [v.message_expression for v in validations if v.message_expression is not None]
    phases = (
        condition_phase(conditions),
        Phase((*(v.expression for v in validations), *messages), computed=2),
        Phase(tuple(a.expression for a in annotations)),
    )
    return CompiledPolicy(
        name=policy.name,
        param_kind=spec.param_kind,
        ignores_failures=spec.failure_policy == IGNORE,
        conditions=conditions,
        variables=variables,
        uses_authorizer=uses_authorizer(variables, phases),
        plain_sizes=PlainSizes(variables, phases),
        validations=validations,
        annotations=annotations,
        has_messages=bool(messages),
    )


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
