"""One object judged: a request for it, what the chain of admission makes of it and says to it, and
a result that tells of it all.

Validation comes between the halves of the chain, as in a server; what it refuses reaches no policy.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import field, replace
from typing import TYPE_CHECKING, Final, NamedTuple

from celadon import admission
from celadon.admission import Outcome as Noted
from celadon.admission.registration import STRATEGIES
from celadon.cli.check import check_report
from celadon.cli.check.cluster import Circumstances, Cluster
from celadon.cli.check.document_requests import (
    DocumentRequest,
    Question,
    Refusal,
    ask,
    refusal,
    refusal_of,
)
from celadon.cli.check.manifests import PolicySet, WebhookOutcome
from celadon.cli.check.notices import Findings, Sightings
from celadon.cli.check.object_chain import ChainSetup, ObjectChain, refused_by
from celadon.cli.check.object_preparation import PLACEHOLDER_UID
from celadon.cli.check.webhook_answers import AnswerSettings
from celadon.cli.reading.documents import Document, Problem, crash
from celadon.kube import JsonObject, Status, StatusError, metadata, registry
from celadon.kube.resources import deprecation_of, known_resources
from celadon.kube.workload_controllers import CLAIM, CreatedObject, created_objects
from celadon.records import dataclass

if TYPE_CHECKING:
    from celadon.admission.policies.mutating import Change, MutationFailure
    from celadon.cli.check.object_mutation import ObjectMutation
    from celadon.cli.check.plugins import PluginChoice


# --- Controller requests -----------------------------------------------------
#
# What the controller of a workload would send, as a document beside that of the workload.
#
# Its fields stand where the template stands that they were copied from, so that what is wrong
# with a pod is shown at its line of the workload.

_WRITES: Final = frozenset({admission.Operation.CREATE, admission.Operation.UPDATE})
_BETWEEN: Final = "ReplicaSet"
"""As valid as the Deployment that it is made of."""


@dataclass(frozen=True, slots=True)
class SentByController:
    """An object that a controller creates; `count` is how many of them are wanted. `request` is
    about the object as it is sent."""

    document: Document
    creator: check_report.Creator
    request: admission.Request
    count: int

    @property
    def is_between(self) -> bool:
        """Return whether it is only on the way to a Pod, and cannot be invalid."""
        return self.request.kind.kind == _BETWEEN

    @property
    def is_claim(self) -> bool:
        """Return whether it is only created if there is none of its name."""
        return self.request.kind.kind == CLAIM

    def next(self) -> Sequence[SentByController]:
        """Return what is created of it, if it is admitted as it is."""
        owner = self.document
        objects = created_objects(as_stored(owner.value))
        return [_sent(created, owner, self.creator, self.count) for created in objects]


def as_stored(value: JsonObject) -> JsonObject:
    """Return an object that is passed over, with what those that it owns need of it."""
    return {**value, "metadata": {**value["metadata"], "uid": PLACEHOLDER_UID}}


def sent_by_controller(
    document_request: DocumentRequest,
    result: check_report.ObjectResult,
    sender: SentByController | None,
) -> Sequence[SentByController]:
    """Return what a controller would send for a workload that was admitted, as it was stored;
    nothing for what no controller looks at. `sender` is what has created the workload itself. The
    last is only sent if all before it are admitted."""
    request = document_request.request
    if request.operation not in _WRITES or request.subresource or request.object is None:
        return ()
    objects = created_objects(request.object)
    if sender is None:
        creator, count = check_report.Creator(document_request.title, result.place, "", 1), 1
    else:
        creator = replace(sender.creator, depth=sender.creator.depth + 1)
        count = sender.count
    return [_sent(each, document_request.document, creator, count) for each in objects]


def _sent(
    created: CreatedObject, owner: Document, creator: check_report.Creator, count: int
) -> SentByController:
    value = created.value
    document = Document(owner.chunk, (*owner.path, *created.template), value)
    return SentByController(
        document,
        replace(creator, user=created.user.name),
        _request(created, value),
        count * created.count,
    )


def _request(created: CreatedObject, value: JsonObject) -> admission.Request:
    kind = metadata.gvk(value)
    resource = known_resources().by_gvk(kind)
    assert resource is not None, "controllers create what every server knows"
    return admission.Request(
        admission.Operation.CREATE,
        kind,
        resource.gvr,
        "",
        metadata.name(value),
        metadata.namespace(value),
        value,
        user=created.user,
    )


# --- Mutation results --------------------------------------------------------
#
# What mutating policies did to an object, and had against it, as parts of its result.


def mutated(happened: ObjectMutation | None, policies: PolicySet) -> check_report.Mutated | None:
    """Return what the object has become; None for an object that is as it was."""
    if happened is None or not happened.effects:
        return None
    return check_report.Mutated(
        happened.before,
        happened.after,
        tuple(registry.patch_between(happened.before, happened.after)),
        tuple(_step(effect, policies) for effect in happened.effects),
    )


def _step(change: Change, policies: PolicySet) -> check_report.MutationStep:
    return check_report.MutationStep(
        change.policy,
        change.binding,
        change.param,
        change.source.path.text,
        policies.place(change.source, change.policy, change.binding),
        change.round,
        change.before,
        change.after,
        tuple(registry.patch_between(change.before, change.after)),
    )


def violations(happened: ObjectMutation, policies: PolicySet) -> list[check_report.Violation]:
    """Failures that refuse the object."""
    return [
        check_report.Violation(
            policy=failure.policy,
            binding=failure.binding,
            param=failure.param,
            field=failure.source.path.text,
            rule=policies.place(failure.source, failure.policy, failure.binding),
            message=failure.text,
            actions=(),
            is_error=True,
            denies=True,
            expression=policies.expression(failure.source, failure.policy),
        )
        for failure in happened.failures
        if not failure.ignored
    ]


def ignored_failure(
    failure: MutationFailure, title: str, policies: PolicySet
) -> check_report.Notice:
    """Return the notice of an error that `failurePolicy: Ignore` let pass."""
    rule = policies.place(failure.source, failure.policy, failure.binding)
    text = f"mutating policy `{failure.policy}` ignored an error on {title}: {failure.text}"
    return check_report.Notice(check_report.NoticeReason.ERROR_IGNORED, rule, text)


# --- Server remarks ----------------------------------------------------------
#
# What the API server itself remarks about an object, whatever the policies say.
#
# The warnings of `celadon.kube.registry`, in the order in which a client gets them: those about
# the version, about fields that get lost, about the object as it was sent, what mutating
# webhooks have to say, about the object as it will be. They come before the warnings of
# policies and of validating webhooks, and all share one budget.


def remarks(document_request: DocumentRequest, between: Sequence[str] = ()) -> list[str]:
    """About what is created or updated, and is taken; `between` is what webhooks have said."""
    request, target = document_request.request, document_request.target
    if (
        request.operation not in {admission.Operation.CREATE, admission.Operation.UPDATE}
        or request.object is None
    ):
        return list(between)
    creates = request.operation is admission.Operation.CREATE
    old = None if creates else request.old_object
    sent = document_request.document.value
    return [
        *version_remarks(document_request),
        *lost_fields(document_request),
        *registry.repeated_owner_warnings(sent),
        *registry.write_warnings(sent, target, STRATEGIES),
        *between,
        *(registry.create.conversion_warnings(sent, target) if creates else ()),
        *document_request.forgiven,
        *registry.valid_warnings(request.object, old, target),
    ]


def version_remarks(document_request: DocumentRequest) -> list[str]:
    """Return what it says of the version that the object is written in, even if it refuses it."""
    gvk = document_request.target.resource.gvk
    deprecation = deprecation_of(gvk)
    warning = "" if deprecation is None else deprecation.warning(gvk)
    return [warning] if warning else []


def lost_fields(document_request: DocumentRequest) -> list[str]:
    """Return what it says, if asked to, of fields that the object does not have, even if it refuses
    it."""
    stray = document_request.stray
    return [] if stray is None or stray.is_refused else stray.warnings()


def all_warnings(
    texts: Sequence[str], verdict: admission.Verdict, after: Sequence[str] = ()
) -> tuple[admission.RecordedWarning, ...]:
    """Return what is said before policies, by them, and after them, as a client gets it."""
    if not texts and not after:
        return verdict.recorded
    value: dict[str, admission.RecordedWarning] = {}
    for warning in (
        *map(admission.RecordedWarning, texts),
        *verdict.recorded,
        *map(admission.RecordedWarning, after),
    ):
        value.setdefault(warning.text, warning)
    return tuple(admission.recorded_warnings(value.values()))


@dataclass(frozen=True, slots=True)
class Settings:
    """Holds what the command line says about the whole check; `now` is the time of creation, `jobs`
    how many processes are to judge; 0: as many as there are processors. `plugins` are those that
    are asked, none where it is only about policies; with `creates`, what controllers would create
    of workloads is judged too."""

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
        """Return the plugins; None where they are not to be asked, or could not be: of objects as
        they are in files nobody knows what plugins would see."""
        return self.plugins if self.defaulting and self.validation else None

    @property
    def circumstances(self) -> Circumstances:
        """Return what of it the cluster depends on."""
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


class JudgedObject(NamedTuple):
    """An object that was judged: its request as it came to validating policies, its way through the
    chain, what it came to, and by whom."""

    document_request: DocumentRequest
    chain: ObjectChain
    result: check_report.ObjectResult
    engine: admission.Engine
    world: admission.World

    @property
    def before(self) -> WebhookOutcome:
        """Return what mutating policies and webhooks have said."""
        return self.chain.before


@dataclass(frozen=True, slots=True)
class Judge:
    """Judges one object after the other, and puts down what it finds. `olds` are the objects as
    they are now, by identity. `observer` is told of each. `controllers` are those who judge what
    controllers send, by the name of their user."""

    cluster: Cluster
    asking: ChainSetup
    settings: Settings
    olds: Mapping[tuple[str, str, str, str], Document]
    findings: Findings
    observer: Callable[[JudgedObject], None] | None = None
    controllers: dict[str, Judge] = field(default_factory=dict)

    @staticmethod
    def of(
        cluster: Cluster,
        settings: Settings,
        olds: Mapping[tuple[str, str, str, str], Document],
        findings: Findings,
        look: Callable[[JudgedObject], None] | None = None,
    ) -> Judge:
        """Return the judge of a cluster."""
        return Judge(cluster, cluster.asking(), settings, olds, findings, look)

    @property
    def engine(self) -> admission.Engine:
        """Return the validating policies."""
        return self.cluster.engines.validating

    @property
    def world(self) -> admission.World:
        """Return what they look up."""
        return self.cluster.world

    def judged(self, documents: Sequence[Document], tick: Callable[[], None]) -> Findings:
        """Return what comes of some documents alone; `tick` is called after each."""
        findings = Findings(Sightings(self.findings.sightings.wants_namespaces), len(documents))
        judge = replace(self, findings=findings, controllers={})
        for document in documents:
            judge.take(document)
            tick()
        findings.coverage.known.clear()  # identities are of this process; other blocks begin anew
        return findings

    def take(self, document: Document, sent: SentByController | None = None) -> None:
        """Take an object's way through everything; errors of our own are not the others' trouble.
        What controllers would create of it goes behind it."""
        findings = self.findings
        try:
            document_request = ask(
                document,
                self.settings.question,
                self.world.catalog,
                self.olds,
                self.cluster.prepare,
            )
        except Exception as error:  # noqa: BLE001 - one object's trouble is not the others'
            document_request = crash(document.file, document.line(), "preparing it", error)
        if isinstance(document_request, Problem):
            findings.unsendable.append(document_request)
            return
        if document_request.unchanged:
            findings.results.append(
                check_report.ObjectResult(
                    **_about(document_request), state=check_report.State.UNCHANGED
                )
            )
            return
        chain = self.asking.chain(document_request)
        try:
            mutated = chain.mutated()
        except Exception as error:  # noqa: BLE001 - one object's trouble is not the others'
            findings.early_crashes.append(document_request.crash(error))
            return
        findings.sightings.take(mutated)
        findings.mutations.take_mutation(chain.before.mutation, mutated)
        try:
            result = self._result(mutated, chain, sent)
            findings.results.append(result)
            if self.observer is not None:
                self.observer(JudgedObject(mutated, chain, result, self.engine, self.world))
            self._charge(mutated, result, None if sent is None else sent.count)
            if self.settings.creates and not result.is_refused:
                self._judge_created(mutated, result, sent)
        except Exception as error:  # noqa: BLE001 - one object's trouble is not the others'
            findings.crashes.append(mutated.crash(error))

    def _charge(
        self,
        document_request: DocumentRequest,
        result: check_report.ObjectResult,
        count: int | None,
    ) -> None:
        """Remembers what an admitted object takes from quotas."""
        quotas = self.cluster.quotas
        if result.is_refused or quotas is None or not quotas.concerns(document_request.request):
            return
        # late: few have quotas
        from celadon.cli.check.plugins import Charge

        self.findings.charges.append(
            Charge(len(self.findings.results) - 1, document_request.request, count)
        )

    def _judge_created(
        self,
        document_request: DocumentRequest,
        result: check_report.ObjectResult,
        sender: SentByController | None,
    ) -> None:
        """Judge what the controller of a workload would create of it, and what would become of
        that."""
        sent = sent_by_controller(document_request, result, sender)
        if not sent:
            return
        results = self.findings.results
        first = len(results)
        for each in sent[:-1]:
            self._take_created(each)
        if not any(result.is_refused for result in results[first:]):
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

    def _is_there(self, request: admission.Request) -> bool:
        return self.world.get(request.resource, request.namespace, request.name) is not None

    def _for_controller(self, sent: SentByController) -> Judge:
        user = sent.request.user
        question = replace(
            self.settings.question,
            operation=admission.Operation.CREATE,
            applies=False,
            user=user,
            field_validation=registry.request_bodies.IGNORE,
        )
        settings = replace(self.settings, question=question)
        prepare = self.cluster.prepare.of_controller(user)
        cluster = replace(self.cluster, prepare=prepare)
        asking = replace(self.asking, prepare=prepare)
        return replace(self, cluster=cluster, asking=asking, settings=settings, olds={})

    def _concerns(self, request: admission.Request) -> bool:
        """Return whether somebody would look at a request beside the server itself."""
        if self.engine.may_concern(request, self.world) or self.asking.concerns(request):
            return True
        quotas = self.cluster.quotas
        return quotas is not None and quotas.concerns(request)

    def _result(
        self, document_request: DocumentRequest, chain: ObjectChain, sent: SentByController | None
    ) -> check_report.ObjectResult:
        """Return what comes of an object behind the first half of the chain."""
        before, coverage = chain.before, self.findings.coverage
        warnings, sets = before.warnings, self.cluster.sets
        self._note_failures(before, document_request)
        judged: tuple[admission.Verdict, int] | None = None

        def review(_: admission.Request) -> admission.Verdict:
            nonlocal judged
            judged = coverage.judge(self.engine, self.world, document_request)
            return judged[0]

        refused = self._refused_unasked(document_request, chain)
        if refused is None:
            chain.judge(document_request, review)
            refused = refused_by(chain.plugins_after)
            texts = remarks(document_request, warnings) if self.settings.defaulting else warnings
            texts = [*texts, *self._remarks_of_plugins(chain)]
        else:
            of_version = version_remarks(document_request) if self.settings.defaulting else ()
            texts = [*of_version, *lost_fields(document_request), *warnings]
        # What is refused reaches no policy of a server. Here they are asked all the same, behind
        # the refusal, and what they say is dropped: the notices on policies that match no object
        # are about the objects that were given, and a mistake in one of them is no reason to say
        # that a policy has none.
        verdict, matched = judged or coverage.judge(self.engine, self.world, document_request)
        if before.mutation is not None:
            matched += before.mutation.matched
        if sent is not None:
            texts = warnings  # a controller, which gets the others, tells nobody
        if refused is None:
            _ignore(self.findings.ignored, verdict, document_request, sets.validating)
        else:
            verdict = _refusal(refused.status) or verdict
        self._note_failed_open((*before.calls, *chain.after.calls), document_request)
        result = _result(
            document_request, verdict, sets.validating, matched, texts, before, chain.after, sent
        )
        if before.mutation is not None:
            result = _with_mutation(result, before.mutation, sets.mutating)
        if refused is None:
            return result
        result = replace(result, plugin=refused.plugin)
        return (
            replace(result, state=check_report.State.INVALID, faults=refused.faults)
            if refused.faults
            else result
        )

    def _remarks_of_plugins(self, chain: ObjectChain) -> Sequence[str]:
        """Return what the second half of them remarks; what both halves could not say is put
        down."""
        answer, first = chain.plugins_after, chain.plugins_before
        if answer is None:
            return ()
        unasked = () if first is None else first.unasked
        self.findings.unasked.update({*unasked, *answer.unasked})
        chain.before.annotations.update(answer.audit_annotations)
        return answer.warnings

    def _refused_unasked(
        self, document_request: DocumentRequest, chain: ObjectChain
    ) -> Refusal | None:
        """Return what becomes of it without asking a policy."""
        early_refusal = chain.early_refusal
        if early_refusal is None and chain.before.refusal is not None:
            early_refusal = refusal_of(chain.before.refusal, document_request)
        if early_refusal is None and self.settings.validation and self.settings.defaulting:
            early_refusal = refusal(document_request, self.cluster.prepare)
        return early_refusal

    def _note_failures(self, before: WebhookOutcome, document_request: DocumentRequest) -> None:
        for failure in () if before.mutation is None else before.mutation.failures:
            if failure.ignored:
                notice = ignored_failure(
                    failure, document_request.title, self.cluster.sets.mutating
                )
                self.findings.ignored.setdefault((failure.policy, failure.source), notice)

    def _note_failed_open(
        self, calls: Sequence[check_report.WebhookCall], document_request: DocumentRequest
    ) -> None:
        for call in calls:
            if call.outcome is check_report.Outcome.IGNORED:
                text = f"{call.message}, ignored for {document_request.title}"
                notice = check_report.Notice(
                    check_report.NoticeReason.ERROR_IGNORED, call.place, text
                )
                self.findings.ignored.setdefault(call.place, notice)


def _with_mutation(
    result: check_report.ObjectResult, happened: ObjectMutation, policies: PolicySet
) -> check_report.ObjectResult:
    """Return the result of an object that mutating policies have changed, or refused."""
    against = tuple(violations(happened, policies))
    if against:
        return replace(result, violations=against, denial=against[0])
    return replace(result, mutated=mutated(happened, policies))


def _refusal(failure: StatusError | Status | None) -> admission.Verdict | None:
    """Return what an object is refused with before any policy sees it."""
    if failure is None:
        return None
    status = failure.status if isinstance(failure, StatusError) else failure
    return admission.Verdict(allowed=False, code=status.code, status=status.to_json())


def _ignore(
    ignored: dict[Hashable, check_report.Notice],
    verdict: admission.Verdict,
    document_request: DocumentRequest,
    policies: PolicySet,
) -> None:
    """Errors that `failurePolicy: Ignore` let pass: said once per expression."""
    for decision in verdict.decisions:
        if (
            decision.action is not admission.Action.ADMIT
            or decision.cause is admission.Cause.VALIDATION
        ):
            continue
        rule = policies.place(decision.source, decision.policy, decision.binding)
        subject = f"policy `{decision.policy}` ignored an error on {document_request.title}"
        text = f"{subject}: {decision.message}"
        key = (decision.policy, decision.source)
        ignored.setdefault(
            key, check_report.Notice(check_report.NoticeReason.ERROR_IGNORED, rule, text)
        )


def _about(
    document_request: DocumentRequest, place: check_report.Place | None = None
) -> JsonObject:
    """Return the part of a result that says what it is about; `place` is where that stands, if it
    is known. To find the line of part of a document, all of it has to be read once more."""
    request, document = document_request.request, document_request.document
    return {
        "place": place or check_report.Place(document.file, document.line()),
        "api_version": request.kind.api_version,
        "kind": request.kind.kind,
        "title": document_request.title,
        "namespace": request.namespace if document_request.endpoint.namespaced else "",
        "name": request.name,
        "operation": "" if document_request.unchanged else request.operation.value,
    }


def _result(
    document_request: DocumentRequest,
    verdict: admission.Verdict,
    policies: PolicySet,
    matched: int,
    remark_texts: Sequence[str],
    before: WebhookOutcome,
    after: WebhookOutcome,
    sent: SentByController | None,
) -> check_report.ObjectResult:
    """`remark_texts` is what the server and mutating webhooks remark."""
    warnings = all_warnings(remark_texts, verdict, after.warnings)
    result = {
        decision: _violation(decision, policies)
        for decision in verdict.decisions
        if decision.action is admission.Action.DENY
    }
    refused = _refusal(after.refusal) or verdict
    calls = (*before.calls, *after.calls)
    place = None if sent is None or not refused.allowed else sent.creator.place
    return check_report.ObjectResult(
        **_about(document_request, place),
        created_by=None if sent is None else sent.creator,
        state=_state(matched, calls, verdict, warned=bool(warnings))
        if refused.allowed
        else check_report.State.DENIED,
        code=refused.code,
        sentence=refused.message,
        status=refused.status,
        warnings=tuple(
            check_report.ClientWarning(
                warning.text, tuple(result[decision] for decision in warning.decisions)
            )
            for warning in warnings
        ),
        audit_annotations={
            **before.annotations,
            **verdict.audit_annotations,
            **after.annotations,
        },
        violations=tuple(result.values()),
        denial=None if verdict.denial is None else result[verdict.denial],
        policies=matched,
        webhooks=calls,
    )


def _state(
    matched: int,
    calls: Sequence[check_report.WebhookCall],
    verdict: admission.Verdict,
    *,
    warned: bool,
) -> check_report.State:
    """Return the state of an object that nobody refuses."""
    if any(note.outcome is Noted.UNDECIDED for note in verdict.notes):
        return check_report.State.UNASKED
    if any(call.outcome is check_report.Outcome.UNASKED for call in calls):
        return check_report.State.UNASKED
    if warned:
        return check_report.State.WARNED
    return check_report.State.ADMITTED if matched or calls else check_report.State.UNTOUCHED


def _violation(decision: admission.Decision, policies: PolicySet) -> check_report.Violation:
    return check_report.Violation(
        policy=decision.policy,
        binding=decision.binding,
        param=decision.param,
        field=decision.source.path.text,
        rule=policies.place(decision.source, decision.policy, decision.binding),
        message=decision.message,
        actions=decision.actions,
        is_error=decision.cause is not admission.Cause.VALIDATION,
        denies=decision.denies,
        expression=policies.expression(decision.source, decision.policy),
    )
