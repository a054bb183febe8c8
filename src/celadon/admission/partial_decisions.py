"""Judging requests of which something is not known, as audit logs tell of them.

A policy decides if it comes to the same whatever the unknown part was; otherwise the answer is that
nobody can tell, and why.
"""

from __future__ import annotations

import enum
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from celadon.admission.activation import Hit, MatchError, RequestContext
from celadon.admission.cluster_lookups import World
from celadon.admission.compiled_expressions import Expression
from celadon.admission.conversion import ConversionError
from celadon.admission.policies import compiled_policy, matching, params
from celadon.admission.policies.validating import Engine, decision_of
from celadon.admission.request import Request
from celadon.admission.verdict import Action, Cause, Decision
from celadon.cel import AttributePattern, EvaluationError, Unknown
from celadon.kube import JsonObject
from celadon.records import dataclass, field

__all__ = ["Missing", "PartialVerdict", "judged_partly"]


# --- Incomplete requests -----------------------------------------------------
#
# What can be said about a request of which something is not known.
#
# Logs do not tell everything: the old object of an update, the groups of a user, or what roles
# there were. A policy that does not look at what is missing is judged as ever; any other is
# evaluated with what is missing unknown, and often it decides nevertheless (`object.x > 3 ||
# oldObject.x > 3`). Where it does not, the policy is undecided, and nothing is guessed. Costs
# are not counted where something is unknown.

_Candidate = matching.Candidate[compiled_policy.CompiledPolicy]


class Missing(enum.Enum):
    """Says what may not be known, and the words that expressions which look at it have in
    them."""

    OLD_OBJECT = ("oldObject",)
    GROUPS = ("userInfo", "authorizer")
    ROLES = ("authorizer",)

    @property
    def patterns(self) -> tuple[AttributePattern, ...]:
        """Return the attributes that are unknown. What somebody may do depends on their groups,
        too."""
        return _UNKNOWN[self]


_AUTHORIZER: Final = AttributePattern("authorizer")
_UNKNOWN: Final = {
    Missing.OLD_OBJECT: (AttributePattern("oldObject"),),
    Missing.GROUPS: (AttributePattern("request", ("userInfo", "groups")), _AUTHORIZER),
    Missing.ROLES: (_AUTHORIZER,),
}


@dataclass(slots=True)
class PartialVerdict:
    """Decisions against the request, or errors that were ignored; the policies that looked at it;
    and those of which it cannot be said what they say."""

    decisions: list[Decision] = field(default_factory=list)
    matched: set[str] = field(default_factory=set)
    undecided: set[str] = field(default_factory=set)


def judged_partly(
    engine: Engine, request: Request, world: World, missing: Iterable[Missing]
) -> PartialVerdict:
    """Return what all policies say. What is missing in the request is null or empty in it."""
    context = RequestContext(request, world)
    verdict = PartialVerdict()
    lacks = tuple(missing)
    for candidate in engine.candidates(request, world):
        _PartialCase(candidate, context, lacks, verdict).judge()
    return verdict


class _PartialCase:
    """One policy and one request."""

    __slots__ = ("_candidate", "_context", "_missing", "_verdict")

    def __init__(
        self,
        candidate: _Candidate,
        context: RequestContext,
        missing: tuple[Missing, ...],
        verdict: PartialVerdict,
    ) -> None:
        self._candidate = candidate
        self._context = context
        self._missing = tuple(missing for missing in missing if _reads(candidate.compiled, missing))
        if Missing.OLD_OBJECT in missing and _selects_objects(candidate):
            self._missing = (*self._missing, Missing.OLD_OBJECT)
        self._verdict = verdict

    def judge(self) -> None:
        """Add what the policy says to the verdict."""
        candidate, verdict = self._candidate, self._verdict
        name = candidate.compiled.name
        hit = matching.policy_hit(candidate, self._context)
        if isinstance(hit, matching.Misconfigured):
            self._misconfigured(hit)
            return
        if hit is None:
            if self._may_match(candidate.plan):
                verdict.undecided.add(name)
            return
        for invocation in matching.invocations(candidate, self._context):
            if isinstance(invocation, matching.Misconfigured):
                self._misconfigured(invocation)
            elif isinstance(invocation, matching.Passed):
                bound = next(b for b in candidate.bindings if b.binding.name == invocation.binding)
                if self._may_match(bound.plan):
                    verdict.undecided.add(name)
            else:
                verdict.matched.add(name)
                try:
                    self._invoke(invocation, hit)
                except ConversionError:
                    verdict.undecided.add(name)

    def _may_match(self, plan: matching.MatchPlan) -> bool:
        """Return whether something that does not match might, with an old object's labels."""
        if Missing.OLD_OBJECT not in self._missing or plan.object_selector is None:
            return False
        request = self._context.request
        try:
            labels = self._context.namespace_labels()
        except MatchError:
            return True
        namespaces = plan.namespace_selector
        selector = None if namespaces is None else namespaces.selector
        if selector is not None and labels is not None and not selector.matches(labels):
            return False
        return any(hit.names is None or request.name in hit.names for hit in plan.hits)

    def _misconfigured(self, misconfigured: matching.Misconfigured) -> None:
        policy = self._candidate.compiled
        self._verdict.matched.add(policy.name)
        if misconfigured.is_open:
            self._verdict.undecided.add(policy.name)
        elif not policy.ignores_failures:
            self._verdict.decisions.append(
                Decision(
                    policy.name,
                    misconfigured.binding,
                    0,
                    misconfigured.source,
                    Action.DENY,
                    misconfigured.text,
                    cause=Cause.CONFIGURATION,
                )
            )

    def _invoke(self, invocation: matching.Invocation, hit: Hit) -> None:
        policy, binding = self._candidate.compiled, invocation.bound.binding
        reads = any(_reads(policy, missing) for missing in self._missing)
        for raw_param in invocation.params:
            param = params.typed(raw_param, self._candidate.source)
            if reads:
                findings = self._partial(hit, param)
            else:
                findings = list(
                    compiled_policy.Evaluator(self._context).evaluate(policy, hit, param).findings
                )
            for finding in findings:
                decision = decision_of(policy.name, binding, params.param_name(raw_param), finding)
                self._verdict.decisions.append(decision)

    def _partial(self, hit: Hit, param: JsonObject | None) -> list[compiled_policy.Finding]:
        """Return the findings that hold whatever is missing; the policy is undecided if others
        may."""
        policy, undecided = self._candidate.compiled, self._verdict.undecided
        base = self._context.activation(hit)
        phases = compiled_policy.Phases(policy, hit, param, self._context, base, plain=True)
        activation = phases.activation(authorizer=True)
        variables = _PhaseVariables(activation, policy.variables, self._missing)
        about = {**activation, "namespaceObject": None}
        about["request"] = self._context.conditions_request(hit)
        conditions = _PhaseVariables(about, policy.variables, self._missing)
        values = [conditions.value(condition.expression) for condition in policy.conditions]
        if any(value is False for value in values):
            return []
        findings = list(self._validations(variables))
        certain = not any(isinstance(value, Unknown | EvaluationError) for value in values)
        denies = any(finding is not None and finding.action is Action.DENY for finding in findings)
        open_ends = any(finding is None for finding in findings)
        if (open_ends and not denies) or (not certain and (open_ends or denies)):
            undecided.add(policy.name)
        return [finding for finding in findings if finding is not None] if certain else []

    def _validations(self, variables: _PhaseVariables) -> Iterator[compiled_policy.Finding | None]:
        """Yield what is against the request; None for what may be."""
        policy = self._candidate.compiled
        for index, validation in enumerate(policy.validations):
            value = variables.value(validation.expression)
            source = validation.expression.source
            if value.__class__ is Unknown:
                yield None
            elif isinstance(value, EvaluationError):
                text = f"expression '{validation.expression.text}' resulted in error: {value}"
                action = Action.ADMIT if policy.ignores_failures else Action.DENY
                yield compiled_policy.Finding(index, source, action, text, cause=Cause.ERROR)
            elif value is not True:
                text = _message(validation, variables)
                yield compiled_policy.Finding(index, source, Action.DENY, text, validation.reason)


class _PhaseVariables:
    """Gives the variables of one phase, with what is unknown among them."""

    __slots__ = ("_activation", "_unknowns")

    def __init__(
        self,
        activation: JsonObject,
        variables: Mapping[str, Expression],
        missing: Iterable[Missing],
    ) -> None:
        """Compute variables in their order: a policy's variables name only those before them."""
        result: dict[str, object] = {}
        self._activation = {**activation, "variables": result}
        self._unknowns = [pattern for missing in missing for pattern in missing.patterns]
        for name, expression in variables.items():
            value = self.value(expression)
            if value.__class__ is Unknown:
                self._unknowns.append(AttributePattern("variables", (name,)))
            elif not isinstance(value, EvaluationError):
                result[name] = value

    def value(self, expression: Expression) -> Any:  # noqa: ANN401 - of CEL
        """Return a value, Unknown, or an EvaluationError."""
        if expression.program is None:
            return EvaluationError(expression.detail)
        try:
            return expression.program.evaluate_partial(self._activation, self._unknowns)[0]
        except EvaluationError as error:
            return error


def _message(validation: compiled_policy.CompiledValidation, variables: _PhaseVariables) -> str:
    if validation.message_expression is None:
        return validation.default_message
    value = variables.value(validation.message_expression)
    text = value.strip() if value.__class__ is str else ""
    return text if text and "\n" not in text else validation.default_message


def _selects_objects(candidate: _Candidate) -> bool:
    plans = (candidate.plan, *(bound.plan for bound in candidate.bindings))
    return any(plan.object_selector is not None for plan in plans)


def _reads(policy: compiled_policy.CompiledPolicy, missing: Missing) -> bool:
    """Return whether an expression may look at what is missing."""
    expressions = (
        *policy.variables.values(),
        *(condition.expression for condition in policy.conditions),
        *(validation.expression for validation in policy.validations),
        *(
            validation.message_expression
            for validation in policy.validations
            if validation.message_expression
        ),
    )
    return any(word in expression.text for expression in expressions for word in missing.value)
