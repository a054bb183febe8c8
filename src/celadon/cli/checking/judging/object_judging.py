"""What becomes of one object: a request, what the chain of admission makes of it and says to it;
and a result that tells of it all.

Validation comes between the halves of the chain, as in a server; what it refuses reaches no policy.
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
from celadon.cli.checking.asking.object_chain import Asking, ObjectChain, refused_by
from celadon.cli.checking.asking.said import Said
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
from celadon.cli.checking.given_cluster import Circumstances, Cluster
from celadon.cli.checking.judging.check_findings import Findings
from celadon.cli.checking.judging.controller_requests import SentByController, sent_by_controller
from celadon.cli.checking.mutation.mutation_results import (
    ignored_failure,
    mutated,
    violations,
)
from celadon.cli.checking.notices import Sightings
from celadon.cli.checking.policy_set import PolicySet
from celadon.cli.checking.questions import Asked, Question, ask
from celadon.cli.checking.refusals import Refusal, refusal, refusal_of
from celadon.cli.checking.server_remarks import all_warnings, lost_fields, remarks
from celadon.cli.crashes import crash
from celadon.cli.reading.documents import Document
from celadon.cli.reading.problems import Problem
from celadon.kube import Status, StatusError
from celadon.kube.registry import request_options
from celadon.records import dataclass

if TYPE_CHECKING:
    from celadon.cli.checking.mutation.object_mutation import ObjectMutation
    from celadon.cli.checking.server_plugins.plugin_choice import PluginChoice


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

    @property
    def circumstances(self) -> Circumstances:
        """What of it the cluster depends on."""
        question = self.question
        return Circumstances(
            self.version,
            self.now,
            question.user,
            question.namespace,
            self.defaulting,
            question.field_validation,
            self.plugins,
        )


class Judged(NamedTuple):
    """An object that was judged: its request as it came to validating policies, its way through the
    chain, what it came to, and by whom."""

    asked: Asked
    chain: ObjectChain
    result: ObjectResult
    engine: Engine
    world: World

    @property
    def before(self) -> Said:
        """What mutating policies and webhooks have said."""
        return self.chain.before


@dataclass(frozen=True, slots=True)
class Judge:
    """Judges one object after the other, and puts down what it finds. `olds` are the objects as
    they are now, by identity. `look` is told of each. `controllers` are those who judge what
    controllers send, by the name of their user."""

    cluster: Cluster
    asking: Asking
    settings: Settings
    olds: Mapping[tuple[str, str, str, str], Document]
    found: Findings
    look: Callable[[Judged], None] | None = None
    controllers: dict[str, Judge] = field(default_factory=dict)

    @staticmethod
    def of(
        cluster: Cluster,
        settings: Settings,
        olds: Mapping[tuple[str, str, str, str], Document],
        found: Findings,
        look: Callable[[Judged], None] | None = None,
    ) -> Judge:
        """The judge of a cluster."""
        return Judge(cluster, cluster.asking(), settings, olds, found, look)

    @property
    def engine(self) -> Engine:
        """The validating policies."""
        return self.cluster.engines.validating

    @property
    def world(self) -> World:
        """What they look up."""
        return self.cluster.world

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
                document,
                self.settings.question,
                self.world.catalog,
                self.olds,
                self.cluster.prepare,
            )
        except Exception as error:  # noqa: BLE001 - one object's trouble is not the others'
            asked = crash(document.file, document.line(), "preparing it", error)
        if isinstance(asked, Problem):
            found.unsendable.append(asked)
            return
        if asked.unchanged:
            found.results.append(ObjectResult(**_about(asked), state=State.UNCHANGED))
            return
        chain = self.asking.chain(asked)
        try:
            one = chain.mutated()
        except Exception as error:  # noqa: BLE001 - one object's trouble is not the others'
            found.early_crashes.append(asked.crash(error))
            return
        found.sightings.take(one)
        found.mutations.take_mutation(chain.before.mutation, one)
        try:
            result = self._result(one, chain, sent)
            found.results.append(result)
            if self.look is not None:
                self.look(Judged(one, chain, result, self.engine, self.world))
            self._charge(one, result, None if sent is None else sent.count)
            if self.settings.creates and not result.is_refused:
                self._judge_created(one, result, sent)
        except Exception as error:  # noqa: BLE001 - one object's trouble is not the others'
            found.crashes.append(one.crash(error))

    def _charge(self, one: Asked, result: ObjectResult, count: int | None) -> None:
        """Remembers what an admitted object takes from quotas."""
        quotas = self.cluster.quotas
        if result.is_refused or quotas is None or not quotas.concerns(one.request):
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
        prepare = self.cluster.prepare.of_controller(user)
        cluster = replace(self.cluster, prepare=prepare)
        asking = replace(self.asking, prepare=prepare)
        return replace(self, cluster=cluster, asking=asking, settings=settings, olds={})

    def _concerns(self, request: Request) -> bool:
        """Whether somebody would look at a request beside the server itself."""
        if self.engine.may_concern(request, self.world) or self.asking.concerns(request):
            return True
        quotas = self.cluster.quotas
        return quotas is not None and quotas.concerns(request)

    def _result(
        self, one: Asked, chain: ObjectChain, sent: SentByController | None
    ) -> ObjectResult:
        """What comes of an object behind the first half of the chain."""
        before, coverage = chain.before, self.found.coverage
        sets = self.cluster.sets
        self._note_failures(before, one)
        judged: tuple[Verdict, int] | None = None

        def review(_: Request) -> Verdict:
            nonlocal judged
            judged = coverage.judge(self.engine, self.world, one)
            return judged[0]

        refused = self._refused_unasked(one, chain)
        if refused is None:
            chain.judge(one, review)
            refused = refused_by(chain.plugins_after)
            said = remarks(one, before.warnings) if self.settings.defaulting else before.warnings
            said = [*said, *self._remarks_of_plugins(chain)]
        else:
            said = [*lost_fields(one), *before.warnings]
        # What is refused reaches no policy of a server. Here they are asked all the same, behind
        # the refusal, and what they say is dropped: the notices on policies that match no object
        # are about the objects that were given, and a mistake in one of them is no reason to say
        # that a policy has none.
        verdict, matched = judged or coverage.judge(self.engine, self.world, one)
        if before.mutation is not None:
            matched += before.mutation.matched
        if sent is not None:
            said = before.warnings  # a controller, which gets the others, tells nobody
        if refused is None:
            _ignore(self.found.ignored, verdict, one, sets.validating)
        else:
            verdict = _refusal(refused.status) or verdict
        self._note_failed_open((*before.calls, *chain.after.calls), one)
        found = _result(one, verdict, sets.validating, matched, said, before, chain.after, sent)
        if before.mutation is not None:
            found = _with_mutation(found, before.mutation, sets.mutating)
        if refused is None:
            return found
        found = replace(found, plugin=refused.plugin)
        return (
            replace(found, state=State.INVALID, faults=refused.faults) if refused.faults else found
        )

    def _remarks_of_plugins(self, chain: ObjectChain) -> Sequence[str]:
        """What the second half of them remarks; what both halves could not say is put down."""
        answer, first = chain.plugins_after, chain.plugins_before
        if answer is None:
            return ()
        unasked = () if first is None else first.unasked
        self.found.unasked.update({*unasked, *answer.unasked})
        chain.before.annotations.update(answer.audit_annotations)
        return answer.warnings

    def _refused_unasked(self, one: Asked, chain: ObjectChain) -> Refusal | None:
        """What becomes of it without asking a policy."""
        found = chain.early_refusal
        if found is None and chain.before.refusal is not None:
            found = refusal_of(chain.before.refusal, one)
        if found is None and self.settings.validation and self.settings.defaulting:
            found = refusal(one, self.cluster.prepare)
        return found

    def _note_failures(self, before: Said, asked: Asked) -> None:
        for one in () if before.mutation is None else before.mutation.failures:
            if one.ignored:
                notice = ignored_failure(one, asked.title, self.cluster.sets.mutating)
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
