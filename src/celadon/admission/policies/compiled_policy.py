"""One validating policy: compiled to a `CompiledPolicy`, then evaluated with one param on one
request.

Compiling never fails: an expression that does not compile stays in the policy with its error, which
becomes a decision when the policy is evaluated.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Final, Protocol

from celadon.admission import compiled_expressions, decision_source, policy_limits
from celadon.admission.activation import Hit, RequestContext
from celadon.admission.decision_source import Source
from celadon.admission.registration import registration_types
from celadon.admission.verdict import Action, Cause
from celadon.cel import Program
from celadon.cel.value_functions import UNPAID_WORK, UnpaidWork
from celadon.kube import JsonObject
from celadon.kube.go import trim_space
from celadon.kube.json_types import JsonDict
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

    expressions: Sequence[compiled_expressions.Expression]
    budget: int = policy_limits.RUNTIME_COST_BUDGET
    computed: int = 1


def condition_phase(conditions: Sequence[compiled_expressions.Condition]) -> Phase:
    """Return the phase of match conditions, which has a budget of its own."""
    expressions = tuple(condition.expression for condition in conditions)
    return Phase(expressions, policy_limits.MATCH_CONDITIONS_COST_BUDGET)


class PlainSizes:
    """The sizes of requests for which a policy need not count. It is asked about the sizes of
    requests as they come: thousands of policies are loaded that are never asked.

    Where a size is within limits, all smaller ones are.
    """

    __slots__ = ("_largest", "_phases", "_too_large", "_variables")

    def __init__(
        self, variables: Mapping[str, compiled_expressions.Expression], phases: Sequence[Phase]
    ) -> None:
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


def _within_limits(
    variables: Mapping[str, compiled_expressions.Expression], phases: Sequence[Phase], size: int
) -> bool:
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


def _bound(expression: compiled_expressions.Expression, size: int) -> float:
    return 0.0 if expression.program is None else expression.program.cost_bound(size)


def _result_size(expression: compiled_expressions.Expression, size: int) -> float:
    return 0.0 if expression.program is None else expression.program.size_bound(size)


# --- Policy frame ------------------------------------------------------------
#
# What compiled policies have in common, whether they validate or mutate.


class FrameSpec(Protocol):
    """The part of a policy's spec that is the same for both."""

    @property
    def param_kind(self) -> registration_types.ParamKind | None: ...

    @property
    def variables(self) -> tuple[registration_types.Variable, ...]: ...

    @property
    def match_conditions(self) -> tuple[registration_types.MatchCondition, ...]: ...


@dataclass(frozen=True, slots=True)
class PolicyFrame:
    """Holds what a policy is compiled to at one endpoint. For requests of the `plain_sizes` nothing
    needs to be counted."""

    name: str
    param_kind: registration_types.ParamKind | None
    ignores_failures: bool
    conditions: tuple[compiled_expressions.Condition, ...]
    variables: Mapping[str, compiled_expressions.Expression]
    uses_authorizer: bool
    plain_sizes: PlainSizes

    @property
    def frame_expressions(self) -> tuple[compiled_expressions.Expression, ...]:
        """Return the conditions and variables."""
        return (*(condition.expression for condition in self.conditions), *self.variables.values())

    @property
    def expressions(self) -> tuple[compiled_expressions.Expression, ...]:
        """Return all expressions of the policy, those that cannot run included."""
        return self.frame_expressions

    def prepare(self) -> None:
        """Generate now what programs would generate at their first error or counted evaluation."""
        for expression in self.expressions:
            expression.prepare()


def compile_frame(
    name: str,
    spec: FrameSpec,
    version: str,
    memory: compiled_expressions.ExpressionMemory | None = None,
) -> tuple[
    compiled_expressions.PolicyScope,
    Mapping[str, compiled_expressions.Expression],
    tuple[compiled_expressions.Condition, ...],
]:
    """Return the variables and match conditions of a stored policy, and the scope for all else."""
    scope = compiled_expressions.PolicyScope(
        version,
        has_params=spec.param_kind is not None,
        has_variables=bool(spec.variables),
        owner=name,
        memory=memory,
    )
    variables: dict[str, compiled_expressions.Expression] = {}
    for i, variable in enumerate(spec.variables):
        variables[variable.name] = scope.declare(
            variable.name, variable.expression, stored=True, source=decision_source.variable(i)
        )
    conditions = tuple(_condition(i, c, scope) for i, c in enumerate(spec.match_conditions))
    return scope, variables, conditions


def _condition(
    index: int,
    condition: registration_types.MatchCondition,
    scope: compiled_expressions.PolicyScope,
) -> compiled_expressions.Condition:
    source = decision_source.condition(index)
    compiled = scope.compile(
        condition.expression, compiled_expressions.BOOL_RESULT, stored=True, source=source
    )
    return compiled_expressions.Condition(condition.name, compiled)


def uses_authorizer(
    variables: Mapping[str, compiled_expressions.Expression], phases: Iterable[Phase]
) -> bool:
    """Return whether any expression may ask for access."""
    expressions = (
        *variables.values(),
        *(expression for phase in phases for expression in phase.expressions),
    )
    return any("authorizer" in expression.text for expression in expressions)


_OF_REQUESTS: Final = ("request", "namespaceObject")
"""What a request brings besides objects, as expressions name it."""


@dataclass(frozen=True, slots=True)
class CompiledValidation:
    """Holds one validation, ready to be evaluated. `default_message` is the text when no message
    expression gives one."""

    expression: compiled_expressions.Expression
    message_expression: compiled_expressions.Expression | None
    default_message: str
    reason: str


@dataclass(frozen=True, slots=True)
class CompiledAnnotation:
    """An audit annotation: a string to publish, or null for none."""

    key: str
    expression: compiled_expressions.Expression


@dataclass(frozen=True, slots=True)
class CompiledPolicy(PolicyFrame):
    """Holds a validating policy, ready to be evaluated. `quick` are the programs of the
    validations, where these alone decide as long as they are true; empty for policies that ask for
    more than the request, or have a broken expression."""

    validations: tuple[CompiledValidation, ...]
    annotations: tuple[CompiledAnnotation, ...]
    has_messages: bool
    quick: tuple[Program, ...] = field(init=False)

    def __post_init__(self) -> None:
        all_programs = [validation.expression.program for validation in self.validations]
        asks_for_more = (
            self.conditions
            or self.variables
            or self.annotations
            or self.uses_authorizer
            or self.param_kind
        )
        alone = () if asks_for_more or None in all_programs else all_programs
        quick = tuple(program for program in alone if program is not None)
        object.__setattr__(self, "quick", quick)

    @property
    def expressions(self) -> tuple[compiled_expressions.Expression, ...]:
        """Return the expressions that all policies have, and those of validations and
        annotations."""
        messages = (validation.message_expression for validation in self.validations)
        return (
            *self.frame_expressions,
            *(validation.expression for validation in self.validations),
            *(message for message in messages if message is not None),
            *(annotation.expression for annotation in self.annotations),
        )

    @property
    def reads_objects_only(self) -> bool:
        """Return whether no validation may read the request or its namespace."""
        texts = [validation.expression.text for validation in self.validations]
        return not any(name in text for text in texts for name in _OF_REQUESTS)


def compile_policy(
    policy: registration_types.ValidatingAdmissionPolicy,
    version: str | None = None,
    memory: compiled_expressions.ExpressionMemory | None = None,
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
        ignores_failures=spec.failure_policy == registration_types.IGNORE,
        conditions=conditions,
        variables=variables,
        uses_authorizer=uses_authorizer(variables, phases),
        plain_sizes=PlainSizes(variables, phases),
        validations=validations,
        annotations=annotations,
        has_messages=bool(messages),
    )


def _annotation(
    index: int,
    annotation: registration_types.AuditAnnotation,
    scope: compiled_expressions.PolicyScope,
) -> CompiledAnnotation:
    source, text = decision_source.annotation(index), annotation.value_expression
    compiled = scope.compile(
        text, compiled_expressions.ANNOTATION_RESULT, stored=True, source=source
    )
    return CompiledAnnotation(annotation.key, compiled)


def _validation(
    index: int, validation: registration_types.Validation, scope: compiled_expressions.PolicyScope
) -> CompiledValidation:
    message = None
    if validation.message_expression:
        message = scope.compile(
            validation.message_expression,
            compiled_expressions.MESSAGE_RESULT,
            authorizer=False,
            stored=True,
            source=decision_source.message(index),
        )
    default = trim_space(validation.message)
    source = decision_source.validation(index)
    return CompiledValidation(
        scope.compile(
            validation.expression, compiled_expressions.BOOL_RESULT, stored=True, source=source
        ),
        message,
        default or f"failed expression: {trim_space(validation.expression)}",
        validation.reason or "",
    )


# --- Evaluation --------------------------------------------------------------
#
# One policy with one param on one request: decisions and audit annotations.
#
# The phases run in upstream's order: match conditions, validations, message expressions, audit
# annotations; each with `variables` of its own. Two budgets replace what came before when they
# run out: that of validations and messages, and that of the annotations. Failures meet the
# failure policy here and nowhere else.
#
# As k8s.io/apiserver `pkg/admission/plugin/policy/validating/validator.go`.

# --- Evaluation phases -------------------------------------------------------
#
# The phases of one policy with one param on one request: what its expressions see, how they
# run.
#
# A phase has `variables` of its own. Nothing is counted where the request is small enough for
# the policy (`PolicyFrame.plain_sizes`).


class Phases:
    """Evaluates the parts of a policy for one request and param. `base` are the variables that
    depend on the request alone; `plain` is whether nothing needs to be counted."""

    __slots__ = ("_base", "_context", "_hit", "_param", "_policy", "plain")

    def __init__(
        self,
        policy: PolicyFrame,
        hit: Hit,
        param: JsonObject | None,
        context: RequestContext,
        base: JsonObject,
        *,
        plain: bool,
    ) -> None:
        self._policy = policy
        self._hit = hit
        self._param = param
        self._context = context
        self._base = base
        self.plain = plain

    def condition_result(self) -> compiled_expressions.ConditionResult:
        """Return what the match conditions say. They know no namespace."""
        activation = self.activation(authorizer=True)
        activation["namespaceObject"] = None
        activation["request"] = self._context.conditions_request(self._hit)
        run = self.begin(
            activation, self._context.meter(policy_limits.MATCH_CONDITIONS_COST_BUDGET)
        )
        return compiled_expressions.evaluate(self._policy.conditions, run, activation)

    def activation(self, *, authorizer: bool) -> JsonDict:
        """Return the variables of a phase, but for `variables`."""
        activation = dict(self._base)
        activation["params"] = self._param
        if authorizer and self._policy.uses_authorizer:
            activation.update(self._context.authorizer())
        return activation

    def begin(
        self, activation: dict[str, object], meter: compiled_expressions.Meter
    ) -> compiled_expressions.Run:
        """Put a phase's `variables` into its activation; return how to run its expressions."""
        plain = self.plain
        if self._policy.variables:
            activation[UNPAID_WORK] = UnpaidWork()
            run = compiled_expressions.run_plain if plain else meter.run_variable
            activation["variables"] = compiled_expressions.LazyVariables(
                self._policy.variables, activation, run
            )
        return compiled_expressions.run_plain if plain else meter.run


@dataclass(frozen=True, slots=True)
class Finding:
    """A decision before anyone asked which binding it is for."""

    index: int
    source: Source
    action: Action
    message: str = ""
    reason: str = ""
    cause: Cause = Cause.VALIDATION
    cost: int | None = None


@dataclass(slots=True)
class Evaluation:
    """Holds what came out. `skipped` says why nothing did: a false condition's name, or an error
    that the failure policy ignores."""

    findings: list[Finding] = field(default_factory=list)
    annotations: list[tuple[str, str]] = field(default_factory=list)
    annotation_errors: list[Finding] = field(default_factory=list)
    false_condition: str = ""
    ignored_failure: compiled_expressions.Failure | None = None


class Evaluator:
    """Evaluates policies on one request; `trace` keeps admissions and costs."""

    __slots__ = ("_context", "_trace")

    def __init__(self, context: RequestContext, *, trace: bool = False) -> None:
        self._context = context
        self._trace = trace

    def evaluate(self, policy: CompiledPolicy, hit: Hit, param: JsonObject | None) -> Evaluation:
        """Return what a policy that matched says, with one param or none."""
        return _Case(policy, hit, param, self._context, trace=self._trace).evaluate()


class _Case:
    __slots__ = ("_context", "_meter", "_phases", "_plain", "_policy", "_trace")

    def __init__(
        self,
        policy: CompiledPolicy,
        hit: Hit,
        param: JsonObject | None,
        context: RequestContext,
        *,
        trace: bool,
    ) -> None:
        self._policy = policy
        self._context = context
        self._trace = trace
        base = context.activation(hit)
        extra = 0 if param is None else compiled_expressions.size_bound(param)
        self._plain = not trace and policy.plain_sizes.include(context.size() + extra)
        self._phases = Phases(policy, hit, param, context, base, plain=self._plain)
        self._meter = context.meter(policy_limits.RUNTIME_COST_BUDGET)

    def evaluate(self) -> Evaluation:
        policy = self._policy
        if policy.conditions:
            skipped = self._skipped_by_conditions()
            if skipped is not None:
                return skipped
        try:
            findings, pending = self._validate()
        except compiled_expressions.OutOfBudget as error:
            return self._only(error.failure)
        self._add_messages(findings, pending)
        evaluation = Evaluation(sorted(findings, key=lambda finding: finding.index))
        if policy.annotations:
            try:
                self._annotate(evaluation)
            except compiled_expressions.OutOfBudget as error:
                return self._only(error.failure)
        return evaluation

    # --- phases ---

    def _skipped_by_conditions(self) -> Evaluation | None:
        result = self._phases.condition_result()
        if result.false_condition:
            return Evaluation(false_condition=result.false_condition)
        if result.failure is None:
            return None
        if self._policy.ignores_failures:
            return Evaluation(ignored_failure=result.failure)
        return self._only(result.failure, Cause.CONDITION)

    def _validate(self) -> tuple[list[Finding], list[tuple[int, int | None]]]:
        """Return findings that are final, and (index, cost) of the false ones, whose text is to
        come. With `trace` also those of the passed ones, as admissions."""
        activation = self._phases.activation(authorizer=True)
        run = self._phases.begin(activation, self._meter)
        findings: list[Finding] = []
        false: list[tuple[int, int | None]] = []
        for i, validation in enumerate(self._policy.validations):
            value, failure = compiled_expressions.attempt(run, validation.expression, activation)
            cost = self._meter.cost if self._trace else None
            if failure is not None:
                findings.append(self._error(i, failure, cost))
            elif value is not True:
                false.append((i, cost))
            elif self._trace or not self._plain:
                source = validation.expression.source
                findings.append(Finding(i, source, Action.ADMIT, cost=cost))
        return findings, false

    def _add_messages(self, findings: list[Finding], false: list[tuple[int, int | None]]) -> None:
        """Add the texts of the false validations. Counting, every message expression is evaluated:
        also those of validations that passed, and all fail together when the budget does."""
        policy = self._policy
        if not false and (self._plain or not policy.has_messages):
            return
        activation = self._phases.activation(authorizer=False)
        run = self._phases.begin(activation, self._meter)
        expected = {i for i, _ in false} if self._plain else range(len(policy.validations))
        messages: dict[int, str] = {}
        try:
            for i in expected:
                messages[i] = _message(policy.validations[i], run, activation)
        except compiled_expressions.OutOfBudget as error:
            text = f"failed messageExpression: {error}"
            failed = [f.index for f in findings if f.action is Action.ADMIT and not f.message]
            findings[:] = [f for f in findings if f.index not in failed]
            for i in [*failed, *(i for i, _ in false)]:
                validation = policy.validations[i]
                expression = validation.message_expression or validation.expression
                findings.append(
                    self._error(i, compiled_expressions.Failure(text, expression.source))
                )
            return
        for i, cost in false:
            validation = policy.validations[i]
            text = messages[i] or validation.default_message
            source, reason = validation.expression.source, validation.reason
            findings.append(Finding(i, source, Action.DENY, text, reason, cost=cost))

    def _annotate(self, evaluation: Evaluation) -> None:
        activation = self._phases.activation(authorizer=False)
        activation["namespaceObject"] = self._context.whole_namespace_object()
        run = self._phases.begin(activation, self._context.meter(policy_limits.RUNTIME_COST_BUDGET))
        for i, annotation in enumerate(self._policy.annotations):
            value, failure = compiled_expressions.attempt(run, annotation.expression, activation)
            if failure is not None:
                if not self._policy.ignores_failures:
                    text, source = failure.text, failure.source
                    finding = Finding(i, source, Action.DENY, text, cause=Cause.ANNOTATION)
                    evaluation.annotation_errors.append(finding)
            elif value is not None:
                text = trim_space(value)
                if text:
                    evaluation.annotations.append((annotation.key, _cut(text)))

    def _only(
        self, failure: compiled_expressions.Failure, cause: Cause = Cause.ERROR
    ) -> Evaluation:
        """Return one error that stands for all that the policy could have said."""
        return Evaluation([self._error(0, failure, cause=cause)])

    def _error(
        self,
        index: int,
        failure: compiled_expressions.Failure,
        cost: int | None = None,
        cause: Cause = Cause.ERROR,
    ) -> Finding:
        action = Action.ADMIT if self._policy.ignores_failures else Action.DENY
        return Finding(index, failure.source, action, failure.text, cause=cause, cost=cost)


def _message(
    validation: CompiledValidation, run: compiled_expressions.Run, activation: JsonObject
) -> str:
    """Return the text of a message expression; empty where it cannot serve."""
    expression = validation.message_expression
    if expression is None:
        return ""
    value, failure = compiled_expressions.attempt(run, expression, activation)
    if failure is not None or value.__class__ is not str:
        return ""
    text = trim_space(value)
    too_long = len(text.encode("utf-8", "surrogatepass")) > policy_limits.MESSAGE_EXPRESSION_BYTES
    return "" if too_long or "\n" in text else text


def _cut(text: str) -> str:
    """Return the first bytes of a published value; what is left of a split character reads as one
    replacement character per byte."""
    data = text.encode("utf-8", "surrogatepass")
    if len(data) <= policy_limits.AUDIT_ANNOTATION_BYTES:
        return text
    cut = data[: policy_limits.AUDIT_ANNOTATION_BYTES].decode("utf-8", "surrogateescape")
    return "".join("\ufffd" if "\ud800" <= c <= "\udfff" else c for c in cut)
