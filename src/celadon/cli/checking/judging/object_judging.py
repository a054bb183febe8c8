"""What becomes of one object: a request, what mutating policies and webhooks make of it, a verdict,
what validating webhooks say; and a result that tells of it all.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import field, replace
from typing import TYPE_CHECKING, Any, NamedTuple

from celadon.admission import (
    Action,
    Cause,
    Decision,
    Engine,
    Operation,
    Request,
    Verdict,
    World,
)
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
from celadon.cli.checking.judging.controller_requests import SentByController, sent_by_controller
from celadon.cli.checking.mutation.mutation_results import (
    ignored_failure,
    mutated,
    violations,
)
from celadon.cli.checking.notices import Sightings
from celadon.cli.checking.object_preparation import Prepare
from celadon.cli.checking.policy_set import PolicySet, PolicySets
from celadon.cli.checking.questions import Asked, Question, ask
from celadon.cli.checking.refusals import Refusal, refusal, refusal_of, strictly_refused
from celadon.cli.checking.server_remarks import all_warnings, lost_fields, remarks
from celadon.cli.crashes import crash
from celadon.cli.reading.documents import Document
from celadon.cli.reading.problems import Problem
from celadon.kube import Status, StatusError
from celadon.kube.writes import request_options
from celadon.records import dataclass

if TYPE_CHECKING:
    from celadon.cli.checking.mutation.object_mutation import ObjectMutation
    from celadon.cli.checking.server_plugins.plugin_choice import PluginChoice
    from celadon.cli.checking.server_plugins.plugin_desk import PluginAnswer
    from celadon.cli.checking.server_plugins.quota_ledger import QuotaLedger


@dataclass(frozen=True, slots=True)
class Settings:
    """What the command line says about the whole check; `now` is the time of creation,
    `jobs` how many processes are to judge; 0: as many as there are processors. `plugins` are those
    that are asked, none where it is only about policies; with `creates`, what controllers would
    create of workloads is judged too."""

    question: Question
    version: str
    now: str
    defaulting: bool = True
    validation: bool = True
    strict: bool = False
    fail_on_warning: bool = False
    jobs: int = 0
    webhooks: AnswerSettings = field(default_factory=AnswerSettings)
    plugins: PluginChoice | None = None
    creates: bool = False

    @property
    def asked_plugins(self) -> PluginChoice | None:
        """None where they are not to be asked, or could not be: of objects as they are in files
        nobody knows what plugins would see."""
        return self.plugins if self.defaulting and self.validation else None


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
    they are now, by identity; `quotas` know what is limited. `look` is told of each. `controllers`
    are those who judge what controllers send, by the name of their user."""

    engine: Engine
    world: World
    prepare: Prepare
    asking: Asks
    sets: PolicySets
    settings: Settings
    olds: Mapping[tuple[str, str, str, str], Document]
    found: Findings
    look: Callable[[Judged], None] | None = None
    quotas: QuotaLedger | None = None
    controllers: dict[str, Judge] = field(default_factory=dict)

    def judged(self, documents: Sequence[Document], tick: Callable[[], None]) -> Findings:
        """What comes of some documents alone; `tick` is called after each."""
        found = Findings(Sightings(self.found.sightings.wants_namespaces), len(documents))
        judge = replace(self, found=found, controllers={})
        for document in documents:
            judge.take(document)
            tick()
        return found

    def take(self, document: Document, sent: SentByController | None = None) -> None:
        """An object's way through everything; errors of our own are not the others' trouble. What
        controllers would create of it goes behind it."""
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
            refused = strictly_refused(asked) or _refused_by(asked.said, asked)
            one, said = self.asking.mutated(asked) if refused is None else (asked, Said())
        except Exception as error:  # noqa: BLE001 - one object's trouble is not the others'
            found.early_crashes.append(asked.crash(error))
            return
        found.sightings.take(one)
        found.mutations.take_mutation(said.mutation, one)
        try:
            result = self._result(one, said, sent)
            found.results.append(result)
            if self.look is not None:
                self.look(Judged(one, said, result, self.engine, self.world))
            self._charge(one, result, None if sent is None else sent.count)
            if self.settings.creates and not result.is_refused:
                self._judge_created(one, result, sent)
        except Exception as error:  # noqa: BLE001 - one object's trouble is not the others'
            found.crashes.append(one.crash(error))

    def _charge(self, one: Asked, result: ObjectResult, count: int | None) -> None:
        """Remembers what an admitted object takes from quotas."""
        if result.is_refused or self.quotas is None or not self.quotas.concerns(one.request):
            return
        from celadon.cli.checking.server_plugins.quota_ledger import Charge  # late: few have quotas

        self.found.charges.append(Charge(len(self.found.results) - 1, one.request, count))

    def _judge_created(
        self, one: Asked, result: ObjectResult, sender: SentByController | None
    ) -> None:
        """What the controller of a workload would create of it, and what would become of that."""
        sent = sent_by_controller(one, result, sender)
        if not sent:
            return
        results = self.found.results
        first = len(results)
        for each in sent[:-1]:
            self._take_created(each)
        if not any(found.is_refused for found in results[first:]):
            self._take_created(sent[-1])

    def _take_created(self, sent: SentByController) -> None:
        """Something that is only on the way to a Pod, and that nobody looks at, is passed over, and
        so are claims that are there."""
        request = sent.request
        if sent.is_between and not self._concerns(request):
            for following in sent.next():
                self._take_created(following)
            return
        if sent.is_claim and self._is_there(request):
            return
        judge = self.controllers.get(request.user.name)
        if judge is None:
            judge = self.controllers[request.user.name] = self._for_controller(sent)
        judge.take(sent.document, sent)

    def _is_there(self, request: Request) -> bool:
        return self.world.get(request.resource, request.namespace, request.name) is not None

    def _for_controller(self, sent: SentByController) -> Judge:
        user = sent.request.user
        question = replace(
            self.settings.question,
            operation=Operation.CREATE,
            applies=False,
            user=user,
            field_validation=request_options.IGNORE,
        )
        settings = replace(self.settings, question=question)
        return replace(self, prepare=self.prepare.of_controller(user), settings=settings, olds={})

    def _concerns(self, request: Request) -> bool:
        """Whether somebody would look at a request beside the server itself."""
        if self.engine.may_concern(request, self.world) or self.asking.concerns(request):
            return True
        return self.quotas is not None and self.quotas.concerns(request)

    def _result(self, one: Asked, before: Said, sent: SentByController | None) -> ObjectResult:
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
            said = [*lost_fields(one), *said]
        else:
            said = remarks(one, before.warnings) if self.settings.defaulting else before.warnings
            plugins = self._ask_plugins(one)
            refused = _refused_by(plugins, one)
            if plugins is not None:
                said = [*said, *plugins.warnings]
                before.annotations.update(plugins.audit_annotations)
        if refused is not None:
            verdict = _refusal(refused.status)
        if sent is not None:
            said = before.warnings  # a controller, which gets the others, tells nobody
        if verdict is None:
            verdict = judged
            _ignore(self.found.ignored, verdict, one, policies)
            if verdict.allowed:
                after = self.asking.validated(one)
        calls = (*before.calls, *after.calls)
        self._note_failed_open(calls, one)
        found = _result(one, verdict, policies, matched, said, before, after, sent)
        if before.mutation is not None:
            found = _with_mutation(found, before.mutation, mutating)
        if refused is None:
            return found
        found = replace(found, plugin=refused.plugin)
        return (
            replace(found, state=State.INVALID, faults=refused.faults) if refused.faults else found
        )

    def _ask_plugins(self, one: Asked) -> PluginAnswer | None:
        """The second half of them; what both halves could not say is put down."""
        desk = self.prepare.plugins
        if desk is None:
            return None
        told = desk.validated(one.request)
        before = () if one.said is None else one.said.unasked
        self.found.unasked.update({*before, *told.unasked})
        return told

    def _refused_unasked(self, one: Asked, before: Said) -> Refusal | None:
        """What becomes of it without asking a policy."""
        found = strictly_refused(one) or _refused_by(one.said, one)
        if found is None and before.refusal is not None:
            found = refusal_of(before.refusal, one)
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


def _refused_by(said: PluginAnswer | None, asked: Asked) -> Refusal | None:
    """What plugins answer, if they refuse, or whatever completes the object behind them."""
    if said is None or said.refusal is None:
        return None
    if not said.plugin:
        return refusal_of(said.refusal, asked)
    return Refusal(said.refusal.status, plugin=said.plugin)


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


def _about(asked: Asked, place: Place | None = None) -> dict[str, Any]:
    """The part of a result that says what it is about; `place` is where that stands, if it is
    known. To find the line of part of a document, all of it has to be read once more."""
    request, document = asked.request, asked.document
    return {
        "place": place or Place(document.file, document.line()),
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
    sent: SentByController | None,
) -> ObjectResult:
    """`said` is what the server and mutating webhooks remark."""
    warnings = all_warnings(said, verdict, after.warnings)
    found = {
        one: _violation(one, policies) for one in verdict.decisions if one.action is Action.DENY
    }
    refused = _refusal(after.refusal) or verdict
    calls = (*before.calls, *after.calls)
    place = None if sent is None or not refused.allowed else sent.creator.place
    return ObjectResult(
        **_about(asked, place),
        created_by=None if sent is None else sent.creator,
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
