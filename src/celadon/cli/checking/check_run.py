"""The main job: documents to a `Report`.

In order: the policies (`policies`), the world they look at, a request per document (`requests`),
what mutating policies and webhooks make of it, a verdict per request (the engine), what validating
webhooks say (`celadon.cli.checking.asking`), and what all that means to a reader (here). At the end
`silences` looks for everything that went by without a word.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field, replace

from celadon.admission import (
    Action,
    Cause,
    Decision,
    Engine,
    ObjectWorld,
    Verdict,
)
from celadon.cli.checking.asking.answer_sources import AnswerSettings, answer_source
from celadon.cli.checking.asking.webhook_documents import webhook_documents
from celadon.cli.checking.asking.webhook_rounds import Asking, Said
from celadon.cli.checking.check_report import (
    ClientWarning,
    Notice,
    ObjectResult,
    Outcome,
    Place,
    Report,
    Silence,
    State,
    Violation,
    WebhookCall,
)
from celadon.cli.checking.coverage import survey, survey_mutations
from celadon.cli.checking.given_world import given_world
from celadon.cli.checking.manifests import Manifests
from celadon.cli.checking.mutation.mutation_results import (
    ignored_failure,
    mutated,
    violations,
)
from celadon.cli.checking.mutation.object_mutation import Mutators, ObjectMutation
from celadon.cli.checking.notices import notices, unasked
from celadon.cli.checking.object_preparation import Prepare
from celadon.cli.checking.policy_set import (
    PolicySet,
    PolicySets,
    mutating_engine,
    validating_engine,
)
from celadon.cli.checking.questions import Asked, Question, ask, identity
from celadon.cli.checking.refusals import refusal
from celadon.cli.checking.server_remarks import all_warnings, remarks
from celadon.cli.crashes import crash
from celadon.cli.reading.problems import Problem
from celadon.kube import Status, StatusError


@dataclass(frozen=True, slots=True)
class Settings:
    """What the command line says about the whole check; `now` is the time of creation."""

    question: Question
    version: str
    now: str
    defaulting: bool = True
    validation: bool = True
    strict: bool = False
    fail_on_warning: bool = False
    webhooks: AnswerSettings = field(default_factory=AnswerSettings)


def check(
    manifests: Manifests, sets: PolicySets, settings: Settings, step: Callable[[int], None]
) -> Report:
    """Judges every document that is to be admitted. `step` is told how many are done."""
    documents = (*manifests.looked_up, *manifests.admitted)
    prepare = Prepare(
        documents,
        settings.question.user,
        settings.now,
        settings.version,
        namespace=settings.question.namespace,
        defaulting=settings.defaulting,
    )
    world, problems = given_world(manifests, sets, prepare)
    webhooks = webhook_documents(documents, settings.version)
    mutators = None
    if settings.defaulting:
        engine = mutating_engine(sets.mutating, settings.version)
        mutators = Mutators(engine, world, prepare.custom_kind)
    with answer_source(settings.webhooks, world, webhooks.names) as source:
        asking = Asking(
            webhooks, settings.version, source.answers, source.as_json, world, prepare, mutators
        )
        report = _judged(manifests, sets, settings, step, prepare, world, asking)
    return replace(
        report,
        webhooks=webhooks.count,
        policy_errors=(*report.policy_errors, *webhooks.errors),
        notices=(*report.notices, *unasked(report.objects), *source.notices),
        problems=tuple(
            dict.fromkeys((*manifests.problems, *problems, *source.problems, *report.problems))
        ),
        needs_answers=settings.webhooks.asks,
    )


def _judged(
    manifests: Manifests,
    sets: PolicySets,
    settings: Settings,
    step: Callable[[int], None],
    prepare: Prepare,
    world: ObjectWorld,
    asking: Asking,
) -> Report:
    """What becomes of the objects, and what is said about policies."""
    engine = validating_engine(sets.validating, settings.version)
    sent, unsent = _requests(manifests, settings, world, prepare)
    changed = []
    for one in sent:
        try:
            changed.append(asking.mutated(one))
        except Exception as error:  # noqa: BLE001 - one object's trouble is not the others'
            unsent.append(one.crash(error))
    asked = [one for one, _ in changed]
    mutations = None
    if settings.defaulting:
        happened = [(one, said.mutation) for one, said in changed]
        mutations = survey_mutations(happened, sets.mutating)
    coverage = survey(engine, world, asked, sets.validating)
    judge = _Judge(engine, world, prepare, asking, sets, settings)
    results = []
    crashes = coverage.crashes
    pairs: Sequence[int] = coverage.matched
    if mutations is not None:
        pairs = list(map(sum, zip(mutations.matched, coverage.matched, strict=True)))
    for done, ((one, said), matched) in enumerate(zip(changed, pairs, strict=True), 1):
        try:
            results.append(judge.result(one, said, matched))
        except Exception as error:  # noqa: BLE001 - one object's trouble is not the others'
            crashes.append(one.crash(error))
        step(done)
    return Report(
        objects=tuple(results),
        policies=sum(len(one.policies) for one in sets.all),
        bindings=sum(len(one.bindings) for one in sets.all),
        policy_errors=tuple(error for one in sets.all for error in one.errors),
        notices=(
            *notices(manifests, sets, asked, mutations, coverage),
            *judge.ignored.values(),
        ),
        problems=(*unsent, *crashes),
        strict=settings.strict,
        fail_on_warning=settings.fail_on_warning,
    )


@dataclass(frozen=True, slots=True)
class _Judge:
    """Judges one request after the other; keeps the errors that were ignored, once per
    expression or webhook."""

    engine: Engine
    world: ObjectWorld
    prepare: Prepare
    asking: Asking
    sets: PolicySets
    settings: Settings
    ignored: dict[Hashable, Notice] = field(default_factory=dict)

    def result(self, one: Asked, before: Said, matched: int) -> ObjectResult:
        """`before` is what mutating policies and webhooks have said, `matched` how many pairs of
        policy and binding match."""
        after = Said()
        policies, mutating = self.sets.validating, self.sets.mutating
        self._note_failures(before, one)
        refused = None
        verdict, said = _refusal(before.refusal), before.warnings
        if verdict is None:
            checked = self.settings.validation and self.settings.defaulting
            refused = refusal(one, self.prepare) if checked else None
            verdict = None if refused is None else _refusal(refused.status)
        if verdict is None:
            said = remarks(one, before.warnings) if self.settings.defaulting else before.warnings
            verdict = self.engine.review(one.request, self.world)
            _ignore(self.ignored, verdict, one, policies)
            if verdict.allowed:
                after = self.asking.validated(one)
        calls = (*before.calls, *after.calls)
        self._note_failed_open(calls, one)
        found = _result(one, verdict, policies, matched, said, before, after)
        if before.mutation is not None:
            found = _with_mutation(found, before.mutation, mutating)
        faults = () if refused is None else refused.faults
        return replace(found, state=State.INVALID, faults=faults) if faults else found

    def _note_failures(self, before: Said, asked: Asked) -> None:
        for one in () if before.mutation is None else before.mutation.failures:
            if one.ignored:
                notice = ignored_failure(one, asked.title, self.sets.mutating)
                self.ignored.setdefault((one.policy, one.source), notice)

    def _note_failed_open(self, calls: Sequence[WebhookCall], asked: Asked) -> None:
        for call in calls:
            if call.outcome is Outcome.IGNORED:
                text = f"{call.message}, ignored for {asked.title}"
                notice = Notice(Silence.ERROR_IGNORED, call.place, text)
                self.ignored.setdefault(call.place, notice)


def _with_mutation(
    result: ObjectResult, happened: ObjectMutation, policies: PolicySet
) -> ObjectResult:
    """The result of an object that mutating policies have changed, or refused."""
    against = tuple(violations(happened, policies))
    if against:
        return replace(result, violations=against, denial=against[0])
    return replace(result, mutated=mutated(happened, policies))


def _refusal(found: StatusError | Status | None) -> Verdict | None:
    """What an object is refused with before any policy sees it."""
    if found is None:
        return None
    status = found.status if isinstance(found, StatusError) else found
    return Verdict(allowed=False, code=status.code, status=status.to_json())


def _ignore(
    ignored: dict[Hashable, Notice], verdict: Verdict, asked: Asked, policies: PolicySet
) -> None:
    """Errors that `failurePolicy: Ignore` let pass: said once per expression."""
    for decision in verdict.decisions:
        if decision.action is not Action.ADMIT or decision.cause is Cause.VALIDATION:
            continue
        rule = policies.place(decision.source, decision.policy, decision.binding)
        text = f"policy `{decision.policy}` ignored an error on {asked.title}: {decision.message}"
        key = (decision.policy, decision.source)
        ignored.setdefault(key, Notice(Silence.ERROR_IGNORED, rule, text))


def _requests(
    manifests: Manifests, settings: Settings, world: ObjectWorld, prepare: Prepare
) -> tuple[list[Asked], list[Problem]]:
    default = settings.question.namespace
    olds = {identity(one, default): one for one in manifests.old}
    asked: list[Asked] = []
    problems: list[Problem] = []
    for document in manifests.admitted:
        found: Asked | Problem
        try:
            found = ask(document, settings.question, world.catalog, olds, prepare)
        except Exception as error:  # noqa: BLE001 - one object's trouble is not the others'
            found = crash(document.file, document.line(), "preparing it", error)
        if isinstance(found, Problem):
            problems.append(found)
        else:
            asked.append(found)
    return asked, problems


def _result(
    asked: Asked,
    verdict: Verdict,
    policies: PolicySet,
    matched: int,
    said: Sequence[str],
    before: Said,
    after: Said,
) -> ObjectResult:
    """`said` is what the server and mutating webhooks remark."""
    request, document = asked.request, asked.document
    warnings = all_warnings(said, verdict, after.warnings)
    found = {
        one: _violation(one, policies) for one in verdict.decisions if one.action is Action.DENY
    }
    refused = _refusal(after.refusal) or verdict
    result = ObjectResult(
        place=Place(document.file, document.line()),
        api_version=request.kind.api_version,
        kind=request.kind.kind,
        title=asked.title,
        namespace=request.namespace if asked.endpoint.namespaced else "",
        name=request.name,
        operation=request.operation.value,
        state=State.DENIED,
        code=refused.code,
        sentence=refused.message,
        status=refused.status,
        warnings=tuple(
            ClientWarning(warning.text, tuple(found[one] for one in warning.decisions))
            for warning in warnings
        ),
        audit_annotations={
            **before.annotations,
            **verdict.audit_annotations,
            **after.annotations,
        },
        violations=tuple(found.values()),
        denial=None if verdict.denial is None else found[verdict.denial],
        policies=matched,
        webhooks=(*before.calls, *after.calls),
    )
    return replace(result, state=_state(result)) if refused.allowed else result


def _state(result: ObjectResult) -> State:
    """Of what nobody refuses."""
    if result.unasked:
        return State.UNASKED
    if result.warnings:
        return State.WARNED
    return State.ADMITTED if result.policies or result.webhooks else State.UNTOUCHED


def _violation(decision: Decision, policies: PolicySet) -> Violation:
    return Violation(
        policy=decision.policy,
        binding=decision.binding,
        param=decision.param,
        field=decision.source.path.text,
        rule=policies.place(decision.source, decision.policy, decision.binding),
        message=decision.message,
        actions=decision.actions,
        is_error=decision.cause is not Cause.VALIDATION,
        denies=decision.denies,
    )
