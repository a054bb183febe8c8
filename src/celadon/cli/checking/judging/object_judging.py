"""What becomes of one object: a request, what mutating policies and webhooks make of it, a verdict,
what validating webhooks say; and a result that tells of it all.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import field, replace
from typing import TYPE_CHECKING, Any, NamedTuple

from celadon.admission import Action, Cause, Decision, Engine, Verdict, World
from celadon.cli.checking.asking.answer_sources import AnswerSettings
from celadon.cli.checking.asking.said import Asks, Said
from celadon.cli.checking.check_report import (
    ClientWarning,
    Notice,
    ObjectResult,
    Outcome,
    Place,
    Silence,
    State,
    Violation,
    WebhookCall,
)
from celadon.cli.checking.judging.check_findings import Findings
from celadon.cli.checking.mutation.mutation_results import (
    ignored_failure,
    mutated,
    violations,
)
from celadon.cli.checking.notices import Sightings
from celadon.cli.checking.object_preparation import Prepare
from celadon.cli.checking.policy_set import PolicySet, PolicySets
from celadon.cli.checking.questions import Asked, Question, ask
from celadon.cli.checking.refusals import Refusal, refusal, strictly_refused
from celadon.cli.checking.server_remarks import all_warnings, lost_fields, remarks
from celadon.cli.crashes import crash
from celadon.cli.reading.documents import Document
from celadon.cli.reading.problems import Problem
from celadon.kube import Status, StatusError
from celadon.records import dataclass

if TYPE_CHECKING:
    from celadon.cli.checking.mutation.object_mutation import ObjectMutation


@dataclass(frozen=True, slots=True)
class Settings:
    """What the command line says about the whole check; `now` is the time of creation,
    `jobs` how many processes are to judge; 0: as many as there are processors."""

    question: Question
    version: str
    now: str
    defaulting: bool = True
    validation: bool = True
    strict: bool = False
    fail_on_warning: bool = False
    jobs: int = 0
    webhooks: AnswerSettings = field(default_factory=AnswerSettings)


class Judged(NamedTuple):
    """An object that was judged: its request as it came to validating policies, what came before,
    what it came to, and by whom."""

    asked: Asked
    before: Said
    result: ObjectResult
    engine: Engine
    world: World


@dataclass(frozen=True, slots=True)
class Judge:
    """Judges one object after the other, and puts down what it finds. `olds` are the objects as
    they are now, by identity. `look` is told of each."""

    engine: Engine
    world: World
    prepare: Prepare
    asking: Asks
    sets: PolicySets
    settings: Settings
    olds: Mapping[tuple[str, str, str, str], Document]
    found: Findings
    look: Callable[[Judged], None] | None = None

    def judged(self, documents: Sequence[Document], tick: Callable[[], None]) -> Findings:
        """What comes of some documents alone; `tick` is called after each."""
        found = Findings(Sightings(self.found.sightings.wants_namespaces), len(documents))
        judge = replace(self, found=found)
        for document in documents:
            judge.take(document)
            tick()
        return found

    def take(self, document: Document) -> None:
        """An object's way through everything; errors of our own are not the others' trouble."""
        found = self.found
        try:
            asked = ask(
                document, self.settings.question, self.world.catalog, self.olds, self.prepare
            )
        except Exception as error:  # noqa: BLE001 - one object's trouble is not the others'
            asked = crash(document.file, document.line(), "preparing it", error)
        if isinstance(asked, Problem):
            found.unsendable.append(asked)
            return
        if asked.unchanged:
            found.results.append(ObjectResult(**_about(asked), state=State.UNCHANGED))
            return
        try:
            refused = strictly_refused(asked)
            one, said = self.asking.mutated(asked) if refused is None else (asked, Said())
        except Exception as error:  # noqa: BLE001 - one object's trouble is not the others'
            found.early_crashes.append(asked.crash(error))
            return
        found.sightings.take(one)
        found.mutations.take_mutation(said.mutation, one)
        try:
            found.results.append(self._result(one, said))
            if self.look is not None:
                self.look(Judged(one, said, found.results[-1], self.engine, self.world))
        except Exception as error:  # noqa: BLE001 - one object's trouble is not the others'
            found.crashes.append(one.crash(error))

    def _result(self, one: Asked, before: Said) -> ObjectResult:
        """`before` is what mutating policies and webhooks have said."""
        after = Said()
        policies, mutating = self.sets.validating, self.sets.mutating
        self._note_failures(before, one)
        judged, matched = self.found.coverage.judge(self.engine, self.world, one)
        if before.mutation is not None:
            matched += before.mutation.matched
        refused = self._refused_unasked(one, before)
        verdict, said = None, before.warnings
        if refused is not None:
            verdict = _refusal(refused.status)
            said = [*lost_fields(one), *said]
        if verdict is None:
            said = remarks(one, before.warnings) if self.settings.defaulting else before.warnings
            verdict = judged
            _ignore(self.found.ignored, verdict, one, policies)
            if verdict.allowed:
                after = self.asking.validated(one)
        calls = (*before.calls, *after.calls)
        self._note_failed_open(calls, one)
        found = _result(one, verdict, policies, matched, said, before, after)
        if before.mutation is not None:
            found = _with_mutation(found, before.mutation, mutating)
        faults = () if refused is None else refused.faults
        return replace(found, state=State.INVALID, faults=faults) if faults else found

    def _refused_unasked(self, one: Asked, before: Said) -> Refusal | None:
        """What becomes of it without asking a policy."""
        found = strictly_refused(one)
        if found is None and before.refusal is not None:
            found = Refusal(before.refusal.status)
        if found is None and self.settings.validation and self.settings.defaulting:
            found = refusal(one, self.prepare)
        return found

    def _note_failures(self, before: Said, asked: Asked) -> None:
        for one in () if before.mutation is None else before.mutation.failures:
            if one.ignored:
                notice = ignored_failure(one, asked.title, self.sets.mutating)
                self.found.ignored.setdefault((one.policy, one.source), notice)

    def _note_failed_open(self, calls: Sequence[WebhookCall], asked: Asked) -> None:
        for call in calls:
            if call.outcome is Outcome.IGNORED:
                text = f"{call.message}, ignored for {asked.title}"
                notice = Notice(Silence.ERROR_IGNORED, call.place, text)
                self.found.ignored.setdefault(call.place, notice)


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


def _about(asked: Asked) -> dict[str, Any]:
    """The part of a result that says what it is about."""
    request, document = asked.request, asked.document
    return {
        "place": Place(document.file, document.line()),
        "api_version": request.kind.api_version,
        "kind": request.kind.kind,
        "title": asked.title,
        "namespace": request.namespace if asked.endpoint.namespaced else "",
        "name": request.name,
        "operation": "" if asked.unchanged else request.operation.value,
    }


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
    warnings = all_warnings(said, verdict, after.warnings)
    found = {
        one: _violation(one, policies) for one in verdict.decisions if one.action is Action.DENY
    }
    refused = _refusal(after.refusal) or verdict
    calls = (*before.calls, *after.calls)
    return ObjectResult(
        **_about(asked),
        state=_state(matched, calls, warned=bool(warnings)) if refused.allowed else State.DENIED,
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
        webhooks=calls,
    )


def _state(matched: int, calls: Sequence[WebhookCall], *, warned: bool) -> State:
    """Of what nobody refuses."""
    if any(call.outcome is Outcome.UNASKED for call in calls):
        return State.UNASKED
    if warned:
        return State.WARNED
    return State.ADMITTED if matched or calls else State.UNTOUCHED


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
        expression=policies.expression(decision.source, decision.policy),
    )
