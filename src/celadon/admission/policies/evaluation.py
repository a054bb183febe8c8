"""One policy with one param on one request: decisions and audit annotations.

The phases run in upstream's order: match conditions, validations, message expressions, audit
annotations; each with `variables` of its own. Two budgets replace what came before when they run
out: that of validations and messages, and that of the annotations. Failures meet the failure
policy here and nowhere else.

As k8s.io/apiserver `pkg/admission/plugin/policy/validating/validator.go`.
"""

from __future__ import annotations

from celadon.admission import policy_limits
from celadon.admission.decision_source import Source
from celadon.admission.expressions import compiled_expressions
from celadon.admission.expressions.activation import Hit, RequestContext
from celadon.admission.policies.compiled_policy import (
    CompiledPolicy,
    CompiledValidation,
    PolicyFrame,
)
from celadon.admission.verdict import Action, Cause
from celadon.kube import JsonObject
from celadon.kube.go import trim_space
from celadon.kube.json_types import JsonDict
from celadon.records import dataclass, field

# --- Evaluation phases -------------------------------------------------------
#
# The phases of one policy with one param on one request: what its expressions see, how they
# run.
#
# A phase has `variables` of its own. Nothing is counted where the request is small enough for
# the policy (`PolicyFrame.plain_sizes`).


class Phases:
    """`base` are the variables that depend on the request alone; `plain` is whether nothing needs
    to be counted."""

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
        """The variables of a phase, but for `variables`."""
        activation = dict(self._base)
        activation["params"] = self._param
        if authorizer and self._policy.uses_authorizer:
            activation.update(self._context.authorizer())
        return activation

    def begin(
        self, activation: dict[str, object], meter: compiled_expressions.Meter
    ) -> compiled_expressions.Run:
        """Puts a phase's `variables` into its activation; how to run its expressions."""
        plain = self.plain
        if self._policy.variables:
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
    """This is what came out. `skipped` says why nothing did: a false condition's name, or an error
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
        """Findings that are final, and (index, cost) of the false ones, whose text is to come.
        With `trace` also those of the passed ones, as admissions."""
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
        """Texts for the false validations. Counting, every message expression is evaluated: also
        those of validations that passed, and all fail together when the budget does."""
        policy = self._policy
        if not false and (self._plain or not policy.has_messages):
            return
        activation = self._phases.activation(authorizer=False)
        run = self._phases.begin(activation, self._meter)
        wanted = {i for i, _ in false} if self._plain else range(len(policy.validations))
        messages: dict[int, str] = {}
        try:
            for i in wanted:
                messages[i] = _message(policy.validations[i], run, activation)
        except compiled_expressions.OutOfBudget as error:
            text = f"failed messageExpression: {error}"
            failed = [f.index for f in findings if f.action is Action.ADMIT and not f.message]
            findings[:] = [f for f in findings if f.index not in failed]
            for i in [*failed, *(i for i, _ in false)]:
                validation = policy.validations[i]
                asked = validation.message_expression or validation.expression
                findings.append(self._error(i, compiled_expressions.Failure(text, asked.source)))
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
        """One error that stands for all that the policy could have said."""
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
    """The text of a message expression; empty where it cannot serve."""
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
    """The first bytes of a published value; what is left of a split character reads as one
    replacement character per byte."""
    data = text.encode("utf-8", "surrogatepass")
    if len(data) <= policy_limits.AUDIT_ANNOTATION_BYTES:
        return text
    cut = data[: policy_limits.AUDIT_ANNOTATION_BYTES].decode("utf-8", "surrogateescape")
    return "".join("\ufffd" if "\ud800" <= c <= "\udfff" else c for c in cut)
