"""Explanations of decisions: the engine judges a request as usual while an observer notes each
step.

    explained = explain(engine, request, world)          what validating policies did
    explain_hooks(hooks, request, world)                 which webhooks it goes to
    explained.verdict                                    the engine's own
    looking = MutationLook(engine, world)                what mutating policies did: made before
    engine.rounds(world, kinds, contexts=looking.context)
    looking.explained(notes, request)

The engine itself runs: the request's context hands out budgets that trace what is paid from them,
and matching says why it does not match. What came of it is put together as values
(`explanation_values`), which others show. Notes, decisions, failures and changes name their policy,
binding and param; so do the cases that were looked at. Expressions are found by the field of the
policy that they stand in. Nothing is decided here.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Final, TypeVar, assert_never

from celadon.admission import explanation_values
from celadon.admission.cluster_lookups import World
from celadon.admission.compiled_expressions import Expression
from celadon.admission.decision_source import Source
from celadon.admission.explanation_values import (
    BindingExplanation,
    Budget,
    CaseExplanation,
    Explanation,
    ExpressionRun,
    MatchReason,
    ParamLookup,
    Part,
    PolicyExplanation,
    RuleReason,
    SelectorReason,
    VariablePart,
)
from celadon.admission.policies import compiled_mutations
from celadon.admission.policies.compiled_policy import CompiledPolicy, PolicyFrame, compile_policy
from celadon.admission.policies.matching import Binding, Hook, is_exempt, target_of
from celadon.admission.policies.mutating import MutatingEngine
from celadon.admission.policies.validating import Engine
from celadon.admission.registration.registration_types import (
    IGNORE,
    MutatingAdmissionPolicy,
    ValidatingAdmissionPolicy,
)
from celadon.admission.request import Request
from celadon.admission.verdict import Cause, Decision, Note, Outcome, Verdict
from celadon.admission.webhooks.hooks import Excluded, HookSet, resources_of
from celadon.admission.webhooks.hooks import Hook as WebhookHook
from celadon.kube import StatusError
from celadon.records import dataclass, replace

Compiled = TypeVar("Compiled", CompiledPolicy, compiled_mutations.CompiledMutatingPolicy)

_OF_CASES: Final = frozenset(
    {Outcome.EVALUATED, Outcome.CONDITION_FALSE, Outcome.CONDITION_ERROR_IGNORED}
)
"""Outcomes with a param, if only the null one."""
_ANNOTATIONS: Final = "auditAnnotations"


def explain(engine: Engine, request: Request, world: World) -> explanation_values.Explanation:
    """Return what validating policies did with a request."""
    context = explanation_values.ObservedContext(request, world)
    verdict = engine.explain(request, world, context)
    record = _ChainRecord(
        verdict.notes, verdict.decisions, cases=[(0, case) for case in context.cases]
    )
    hooks = engine.hooks_for(request.resource)
    exempt = not hooks and is_exempt(request.resource)
    return explanation_values.Explanation(
        request, exempt, _policies(hooks, context, record), verdict
    )


class MutationLook:
    """Looks at the rounds of mutating policies: each has a request, and a context, of its own."""

    def __init__(self, engine: MutatingEngine) -> None:
        self._engine = engine
        self._contexts: list[explanation_values.ObservedContext] = []

    def context(self, request: Request, world: World) -> explanation_values.ObservedContext:
        """Return the context for the next round."""
        context = explanation_values.ObservedContext(request, world)
        self._contexts.append(context)
        return context

    def explained(
        self, notes: compiled_mutations.MutationNotes, refused: StatusError | None
    ) -> explanation_values.Explanation:
        """Return what they did with the request of the first round, and whether they refused it.
        There must have been one."""
        context = self._contexts[0]
        record = _ChainRecord(
            notes.notes,
            failures=notes.failures,
            changes=notes.changes,
            cases=[
                (number, case)
                for number, round_ in enumerate(self._contexts)
                for case in round_.cases
            ],
        )
        hooks = self._engine.hooks_for(context.request)
        exempt = not hooks and is_exempt(context.request.resource)
        verdict = Verdict(notes=tuple(notes.notes))
        if refused is not None:
            code, body = refused.status.code, refused.status.to_json()
            verdict = replace(verdict, allowed=False, code=code, status=body)
        return explanation_values.Explanation(
            context.request, exempt, _policies(hooks, context, record), verdict
        )


@dataclass(frozen=True, slots=True)
class _ChainRecord:
    """Holds all that was said and seen; `cases` with the number of their round."""

    notes: Sequence[Note]
    decisions: Sequence[Decision] = ()
    failures: Sequence[compiled_mutations.MutationFailure] = ()
    changes: Sequence[compiled_mutations.Change] = ()
    cases: Sequence[tuple[int, explanation_values.CaseRecord]] = ()

    def of(self, policy: str, binding: str, *, cases: bool = False) -> _ChainRecord:
        """Return what is about a policy and a binding, empty for none: about its params and what it
        was evaluated to, or about itself."""

        def about(
            event: Note | Decision | compiled_mutations.MutationFailure | compiled_mutations.Change,
        ) -> bool:
            return event.policy == policy and event.binding == binding

        return _ChainRecord(
            [note for note in self.notes if about(note) and (note.outcome in _OF_CASES) is cases],
            [
                decision
                for decision in self.decisions
                if about(decision) and (decision.cause is not Cause.CONFIGURATION) is cases
            ],
            [
                failure
                for failure in self.failures
                if about(failure) and (failure.reason != compiled_mutations.FORBIDDEN) is cases
            ],
            [change for change in self.changes if about(change) and cases],
            [
                (n, record)
                for n, record in self.cases
                if (record.policy, record.binding) == (policy, binding)
            ],
        )


def _policies(
    hooks: Iterable[Hook[Compiled]],
    context: explanation_values.ObservedContext,
    record: _ChainRecord,
) -> tuple[explanation_values.PolicyExplanation, ...]:
    policies = []
    for hook in hooks:
        policy_record = record.of(hook.policy.name, "")
        match = _constraints(hook, context)
        asked = match.hit is not None and not (policy_record.decisions or policy_record.failures)
        policies.append(
            explanation_values.PolicyExplanation(
                hook.policy,
                hook.static,
                hook.policy.spec.failure_policy == IGNORE,
                match,
                tuple(policy_record.notes),
                tuple(policy_record.decisions),
                tuple(policy_record.failures),
                tuple(
                    _binding(hook, binding, context, record, asked=asked)
                    for binding in hook.bindings
                ),
            )
        )
    return tuple(policies)


def _constraints(
    hook: Hook[Compiled], context: explanation_values.ObservedContext
) -> explanation_values.MatchReason:
    """Explain how match constraints match: a policy without any matches nothing."""
    constraints = hook.policy.spec.match_constraints
    if constraints is None:
        return explanation_values.MatchReason(None, "matchConstraints")
    return explanation_values.match_reason(constraints, target_of(context.request), context)


def _binding(
    hook: Hook[Compiled],
    binding: Binding,
    context: explanation_values.ObservedContext,
    record: _ChainRecord,
    *,
    asked: bool,
) -> explanation_values.BindingExplanation:
    policy, spec = hook.policy, binding.spec
    binding_record = record.of(policy.name, binding.name)
    case_record = record.of(policy.name, binding.name, cases=True)
    match = lookup = None
    if asked:
        match = explanation_values.match_reason(
            spec.match_resources, target_of(context.request), context
        )
    if match is not None and match.hit is not None:
        params = dict.fromkeys(case.param for _, case in case_record.cases)
        namespace, catalog = context.request.namespace, context.world.catalog
        kind = policy.spec.param_kind
        lookup = explanation_values.param_lookup(
            kind, spec.param_ref, namespace, catalog, tuple(params)
        )
    return explanation_values.BindingExplanation(
        binding,
        match,
        lookup,
        tuple(binding_record.notes),
        tuple(binding_record.decisions),
        tuple(binding_record.failures),
        tuple(_case(hook.compiled, case, n, case_record) for n, case in case_record.cases),
    )


def _case(
    policy: CompiledPolicy | compiled_mutations.CompiledMutatingPolicy,
    case: explanation_values.CaseRecord,
    number: int,
    record: _ChainRecord,
) -> explanation_values.CaseExplanation:
    """Explain one case; `record` is of its binding."""
    notes = [note for note in record.notes if note.param == case.param]
    decisions = [decision for decision in record.decisions if decision.param == case.param]
    failures = [failure for failure in record.failures if failure.param == case.param]
    changes = [
        change for change in record.changes if (change.param, change.round) == (case.param, number)
    ]
    runs = {run.expression.source: run for meter in case.meters for run in meter.runs}
    validations: tuple[explanation_values.Part, ...] = ()
    annotations: tuple[explanation_values.Part, ...] = ()
    mutations: tuple[explanation_values.Part, ...] = ()
    match policy:
        case CompiledPolicy():
            validations = _validations(policy, runs, decisions)
            annotations = _annotations(policy, runs, decisions)
        case compiled_mutations.CompiledMutatingPolicy():
            mutations = _mutations(policy, runs, failures, changes)
        case _:
            assert_never(policy)
    listed = {id(part.decision) for part in (*validations, *annotations)}
    blamed = {id(mutation.failure) for mutation in mutations}
    return explanation_values.CaseExplanation(
        case.param,
        case.hit,
        number,
        notes[0] if notes else None,
        tuple(decision for decision in decisions if id(decision) not in listed),
        tuple(failure for failure in failures if id(failure) not in blamed),
        tuple(_budget(meter) for meter in case.meters if meter.runs),
        tuple(_part(condition.expression, runs, condition.name) for condition in policy.conditions),
        _variables(policy, case),
        validations,
        annotations,
        mutations,
    )


_Runs = Mapping[Source, explanation_values.ExpressionRun]


def _part(expression: Expression, runs: _Runs, name: str = "") -> explanation_values.Part:
    run = runs.get(expression.source)
    return explanation_values.Part(expression.source, expression.text, run, name, expression.detail)


def _validations(
    policy: CompiledPolicy, runs: _Runs, decisions: Sequence[Decision]
) -> tuple[explanation_values.Part, ...]:
    """Return the validations with their decisions, if there is one of each: else one stands for
    all."""
    own_decisions = [
        decision
        for decision in decisions
        if decision.cause in _OWN and _ANNOTATIONS not in decision.source.path.steps
    ]
    each = (
        {decision.index: decision for decision in own_decisions}
        if len(own_decisions) == len(policy.validations)
        else {}
    )
    result = []
    for index, validation in enumerate(policy.validations):
        expression = validation.message_expression
        message = None if expression is None else _part(expression, runs)
        part = _part(validation.expression, runs)
        result.append(replace(part, decision=each.get(index), message=message))
    return tuple(result)


_OWN: Final = frozenset({Cause.VALIDATION, Cause.ERROR})


def _annotations(
    policy: CompiledPolicy, runs: _Runs, decisions: Sequence[Decision]
) -> tuple[explanation_values.Part, ...]:
    wrong = {
        decision.index: decision for decision in decisions if decision.cause is Cause.ANNOTATION
    }
    return tuple(
        replace(_part(annotation.expression, runs, annotation.key), decision=wrong.get(index))
        for index, annotation in enumerate(policy.annotations)
    )


def _mutations(
    policy: compiled_mutations.CompiledMutatingPolicy,
    runs: _Runs,
    failures: Sequence[compiled_mutations.MutationFailure],
    changes: Sequence[compiled_mutations.Change],
) -> tuple[explanation_values.Part, ...]:
    wrong = {failure.index: failure for failure in failures if failure.index is not None}
    done = {change.index: change for change in changes}
    return tuple(
        replace(_part(mutation.expression, runs), change=done.get(index), failure=wrong.get(index))
        for index, mutation in enumerate(policy.mutations)
    )


def _variables(
    policy: PolicyFrame, case: explanation_values.CaseRecord
) -> tuple[explanation_values.VariablePart, ...]:
    """Return all variables of the policy, with their runs in the phases of the case."""
    runs: dict[Source, list[explanation_values.ExpressionRun]] = {}
    for meter in case.meters:
        for run in meter.runs:
            for read in run.all_variables():
                runs.setdefault(read.expression.source, []).append(read)
    return tuple(
        explanation_values.VariablePart(
            variable.source,
            name,
            variable.text,
            tuple(runs.get(variable.source, ())),
            variable.detail,
        )
        for name, variable in policy.variables.items()
    )


def _budget(meter: explanation_values.TracingMeter) -> explanation_values.Budget:
    field = meter.runs[0].expression.source.path.steps[1]
    return explanation_values.Budget(
        str(field), meter.budget, sum(run.charged for run in meter.runs)
    )


__all__ = [
    "BindingExplanation",
    "Budget",
    "CaseExplanation",
    "Explanation",
    "ExpressionRun",
    "HookExplanation",
    "MatchReason",
    "MutationLook",
    "ParamLookup",
    "Part",
    "PolicyExplanation",
    "RuleReason",
    "SelectorReason",
    "VariablePart",
    "explain",
    "explain_hooks",
    "policy_expressions",
]


# --- Every expression --------------------------------------------------------
#
# All expressions of a policy, compiled, whether anything evaluates them or not.
#
# A run of an expression (`ExpressionRun`) names the same field; the nodes of both have the same
# ids, since the same text is parsed in the same way.


def policy_expressions(
    policy: ValidatingAdmissionPolicy | MutatingAdmissionPolicy, version: str
) -> tuple[Expression, ...]:
    """Match conditions, variables, then validations with their messages and audit annotations, or
    mutations; as this version of Kubernetes compiles what it has stored."""
    if isinstance(policy, MutatingAdmissionPolicy):
        mutating = compiled_mutations.compile_mutating_policy(policy, version)
        conditions, variables = mutating.conditions, mutating.variables
        expressions = [mutation.expression for mutation in mutating.mutations]
    else:
        compiled = compile_policy(policy, version)
        conditions, variables = compiled.conditions, compiled.variables
        expressions = []
        for validation in compiled.validations:
            expressions.append(validation.expression)
            if validation.message_expression is not None:
                expressions.append(validation.message_expression)
        expressions += [annotation.expression for annotation in compiled.annotations]
    return (*(condition.expression for condition in conditions), *variables.values(), *expressions)


# --- Hook explanations -------------------------------------------------------
#
# Why a webhook gets a request, or does not: rules, selectors, match conditions.
#
# Nobody is called. Each hook is asked as if it were alone, since a broken condition of one of
# them keeps a server from asking any.


@dataclass(frozen=True, slots=True)
class HookExplanation:
    """Explains what one webhook has to do with a request. `asked` says whether it gets the request.
    `ignored` is the error of a condition that its failure policy makes nothing of, `refusal` what
    the client is told instead of asking anyone."""

    hook: WebhookHook
    match: explanation_values.MatchReason
    is_asked: bool
    conditions: tuple[explanation_values.Part, ...] = ()
    budgets: tuple[explanation_values.Budget, ...] = ()
    ignored: str = ""
    refusal: StatusError | None = None


def explain_hooks(hooks: HookSet, request: Request, world: World) -> tuple[HookExplanation, ...]:
    """Explain all webhooks, in the order in which they are asked."""
    return tuple(
        _explained(hooks, hook, explanation_values.ObservedContext(request, world))
        for hook in hooks.hooks
    )


def _explained(
    hooks: HookSet, hook: WebhookHook, context: explanation_values.ObservedContext
) -> HookExplanation:
    if not hook.webhook.rules:
        return HookExplanation(hook, explanation_values.MatchReason(None, "rules"), is_asked=False)
    match = explanation_values.match_reason(
        resources_of(hook.webhook), target_of(context.request), context
    )
    if match.hit is None:
        return HookExplanation(hook, match, is_asked=False)
    context.begin("", hook.name, "", match.hit)
    refusal, ignored, selected = None, "", None
    try:
        selected = hooks.select(hook, context)
    except StatusError as error:
        refusal = error
    if isinstance(selected, Excluded) and selected.result.failure is not None:
        ignored = selected.result.failure.text
    asked = selected is not None and not isinstance(selected, Excluded)
    meters = context.cases[0].meters
    runs = {run.expression.source: run for meter in meters for run in meter.runs}
    conditions = tuple(
        explanation_values.Part(
            condition.expression.source,
            condition.expression.text,
            runs.get(condition.expression.source),
            condition.name,
            condition.expression.detail,
        )
        for condition in hook.conditions
    )
    budgets = tuple(
        explanation_values.Budget(
            "matchConditions", meter.budget, sum(run.charged for run in meter.runs)
        )
        for meter in meters
        if meter.runs
    )
    return HookExplanation(hook, match, asked, conditions, budgets, ignored, refusal)
