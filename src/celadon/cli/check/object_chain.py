"""Drives the chain of admission for one object from files.

    chain = asking.chain(asked)
    asked = chain.mutated()              as plugins, policies and webhooks leave the object
    chain.judge(asked, review)           what the others say of it, if it is valid

Plugins are those of a `PluginDesk`, or only their rules; whoever has the answers of webhooks
(`Answers`) is given calls and may leave some unanswered. A mutating webhook that is not asked
leaves the object as it is, so what comes behind it holds only if it would have; its `WebhookCall`
says so.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from celadon.admission import Request, Verdict, World
from celadon.admission.chain import Admitters, Chain, NoteTaker, Steps, WebhookCalls
from celadon.cli.check.check_report import Outcome, Place, WebhookCall
from celadon.cli.check.document_requests import DocumentRequest, Refusal, strictly_refused
from celadon.cli.check.manifests import WebhookDocuments, WebhookOutcome
from celadon.cli.check.object_preparation import Prepare
from celadon.cli.check.webhook_answers import Answers
from celadon.kube import Json, StatusError
from celadon.kube.registry import Draft, create, update
from celadon.records import dataclass

if TYPE_CHECKING:  # most inputs have neither webhooks nor mutating policies, and some no plugins
    from celadon.admission.plugins import Opinion
    from celadon.admission.webhooks import (
        AsJson,
        CallRecord,
        Hook,
        HookSet,
        MutatingPhase,
        ValidatingPhase,
        WebhookNotes,
    )
    from celadon.cli.check.object_mutation import Mutators, PolicyMutation
    from celadon.cli.check.plugins import PluginAnswer


@dataclass(frozen=True, slots=True)
class AnsweredWebhooks:
    """The webhooks of a set of configurations, and who answers for them."""

    documents: WebhookDocuments
    mutating: HookSet
    validating: HookSet
    answers: Answers
    as_json: AsJson

    @staticmethod
    def of(
        documents: WebhookDocuments, version: str, answers: Answers, as_json: AsJson = bytes
    ) -> AnsweredWebhooks | None:
        """Return whom to ask; None where there are no webhooks."""
        if not documents.count:
            return None
        mutating = documents.hooks(version, mutating=True)
        validating = documents.hooks(version, mutating=False)
        return AnsweredWebhooks(documents, mutating, validating, answers, as_json)


@dataclass(frozen=True, slots=True)
class ChainSetup:
    """Whom objects are shown to beside the validating policies. `mutators` is None where no policy
    changes anything, `webhooks` where there are none."""

    world: World
    prepare: Prepare
    mutators: Mutators | None = None
    webhooks: AnsweredWebhooks | None = None

    def chain(self, document_request: DocumentRequest) -> ObjectChain:
        """Return the chain that judges one object."""
        return ObjectChain(self, document_request)

    def concerns(self, request: Request) -> bool:
        """Return whether a mutating policy or a webhook would be asked about a request."""
        if self.mutators is not None and self.mutators.engine.concerns(request, self.world):
            return True
        hooks = self.webhooks
        return hooks is not None and any(
            hook_set.concerns(request, self.world)
            for hook_set in (hooks.mutating, hooks.validating)
        )


class ObjectChain(Admitters, NoteTaker):
    """One object on its way, and what was said of it: `before` by mutating policies and webhooks,
    `after` by validating webhooks, `plugins_before` and `plugins_after` by the two halves of the
    plugins, where there are any. `form` refuses a document with fields that its kind lacks."""

    __slots__ = (
        "_asking",
        "_policies",
        "_review",
        "_sent_request",
        "_taking",
        "_unmutated",
        "after",
        "before",
        "form",
        "plugins_after",
        "plugins_before",
    )

    def __init__(self, asking: ChainSetup, document_request: DocumentRequest) -> None:
        self._asking = asking
        self._sent_request = document_request
        self._policies: PolicyMutation | None = None
        self._review: Callable[[Request], Verdict] | None = None
        self._taking: _Taking | None = None
        self._unmutated: DocumentRequest | None = None
        self.before = WebhookOutcome()
        self.after = WebhookOutcome()
        self.form = strictly_refused(document_request)
        self.plugins_before: PluginAnswer | None = None
        self.plugins_after: PluginAnswer | None = None

    @property
    def early_refusal(self) -> Refusal | None:
        """Return what keeps mutating policies and webhooks from being asked."""
        return self.form or refused_by(self.plugins_before)

    def mutated(self) -> DocumentRequest:
        """Return the request with its object as the first half of the chain leaves it; as the
        plugins do where somebody refuses it. It is called once."""
        sent, before = self._sent_request, self.before
        draft = None if sent.begun is None else sent.begun.draft
        chain = Chain(sent.request, draft, self, self)
        try:
            self._drive(chain.mutation())
            if chain.draft is None:
                return sent if chain.request is sent.request else self._changed(chain.request)
            # Nobody has changed anything: then the object is completed once, whether it was shown
            # around or not.
            if chain.draft is draft:
                return self.unmutated()
            # Mutation may have overwritten what a server sets (a uid, a generation): it is set
            # again.
            creates = sent.begun is None or sent.begun.old is None
            before.warnings += (create if creates else update).resume(chain.draft, sent.target)
            return self._finished(chain.draft)
        except StatusError as error:
            if self.early_refusal is None:
                before.refusal = error
            return self.unmutated()
        finally:
            if self._policies is not None and chain.rounds:
                before.mutation = self._policies.happened

    def unmutated(self) -> DocumentRequest:
        """Return the request as it would be without mutating policies and webhooks."""
        sent = self._sent_request
        if sent.begun is None or sent.begun.draft is None:
            return sent
        if self._unmutated is None:
            draft = sent.begun.draft
            try:
                self._unmutated = self._finished(draft)
            except StatusError as error:
                # A server refuses it while it completes it, behind the plugins: a Service with an
                # address that is none.
                if self.early_refusal is None:
                    self.before.refusal = error
                self._unmutated = sent.with_object(draft.form(), draft.run.empties)
        return self._unmutated

    def _changed(self, request: Request) -> DocumentRequest:
        return replace(self._sent_request, request=request)

    def _finished(self, draft: Draft) -> DocumentRequest:
        begun = self._sent_request.begun
        assert begun is not None, "what has a draft was begun"
        finished = self._asking.prepare.finished(begun, draft)
        return self._sent_request.with_object(finished, draft.run.empties)

    def judge(
        self, document_request: DocumentRequest, review: Callable[[Request], Verdict]
    ) -> None:
        """Take the validated object through the second half; `review` asks the validating
        policies."""
        self._review = review
        chain = Chain(document_request.request, None, self, self)
        try:
            self._drive(chain.validation())
        except StatusError as error:
            if refused_by(self.plugins_after) is None:
                self.after.refusal = error

    def _drive(self, steps: Steps) -> None:
        hooks = self._asking.webhooks
        for step in steps:
            if isinstance(step, WebhookCalls) and hooks is not None:
                replies = hooks.answers.answer(step.calls)
                for call, reply in zip(step.calls, replies, strict=True):
                    step.answer(call, reply)

    # --- whom the chain asks ---

    def mutate(self, draft: Draft | None, request: Request) -> StatusError | None:
        """Run both rounds and tell of the first: the second could only repeat it."""
        answer = self._asking.prepare.mutate(draft, request)
        # The chain asks again after webhooks have changed the object. A report has room for one
        # answer, and the first is the one to what was sent.
        if self.plugins_before is None:
            self.plugins_before = answer
        return None if answer is None else answer.refusal

    def mutating_policies(self, request: Request, draft: Draft | None) -> PolicyMutation | None:
        """Return what mutating policies make of a draft. Nobody is asked about what is refused for
        its form."""
        mutators = self._asking.mutators
        if mutators is not None and self.form is None:
            self._policies = mutators.of(request, self._asking.prepare.context)
        return self._policies

    def mutating_webhooks(self, request: Request, draft: Draft | None) -> MutatingPhase | None:
        """Ask mutating webhooks, unless the object is refused for its form."""
        hooks, world = self._asking.webhooks, self._asking.world
        if hooks is None or self.form is not None or not hooks.mutating.concerns(request, world):
            return None
        from celadon.admission.webhooks import MutatingPhase  # late: few inputs have any

        readmit = self._asking.prepare.readmitted
        phase = MutatingPhase(hooks.mutating, world, readmit, _new_uid, hooks.as_json)
        self._taking = self._taking_of(self.before, phase.notes, mutating=True)
        return phase

    def validate(self, request: Request) -> Opinion | None:
        """Return what they remark is in `plugins_after`."""
        desk = self._asking.prepare.plugins
        if desk is None:
            return None
        from celadon.admission.plugins import Opinion  # late: loaded with the desk

        self.plugins_after = desk.validated(request)
        return Opinion(self.plugins_after.refusal)

    def validating_policies(self, request: Request) -> Callable[[Request], Verdict] | None:
        """Return the validating policies that `judge` was given."""
        return self._review

    def validating_webhooks(self, request: Request) -> Callable[[Request], ValidatingPhase] | None:
        """Return what the webhooks say; None where they are not concerned."""
        hooks, world = self._asking.webhooks, self._asking.world
        if hooks is None or not hooks.validating.concerns(request, world):
            return None
        from celadon.admission.webhooks import ValidatingPhase  # late: few inputs have any

        def begin(request: Request) -> ValidatingPhase:
            assert hooks is not None
            phase = ValidatingPhase(hooks.validating, request, world, _new_uid, hooks.as_json)
            self._taking = self._taking_of(self.after, phase.notes, mutating=False)
            return phase

        return begin

    def _taking_of(
        self, outcome: WebhookOutcome, notes: WebhookNotes, *, mutating: bool
    ) -> _Taking:
        hooks = self._asking.webhooks
        assert hooks is not None, "there is a phase"
        documents = hooks.documents
        return _Taking(
            outcome, notes, lambda hook: documents.place(hook, mutating=mutating), mutating
        )

    # --- what the chain hears ---

    def take_answers(self, notes: WebhookNotes, number: int, *, mutating: bool) -> None:
        """Take the answers; each call becomes one of the report."""
        if self._taking is not None:
            self._taking.take(number)

    def take_webhooks(self, notes: WebhookNotes) -> None:
        """Warnings and annotations, at the end of a phase."""
        if self._taking is not None:
            self._taking.outcome.warnings += notes.warnings
            self._taking.outcome.annotations.update(notes.annotations)


def refused_by(answer: PluginAnswer | None) -> Refusal | None:
    """Return what plugins answer, if they refuse."""
    if answer is None or answer.refusal is None:
        return None
    return Refusal(answer.refusal.status, plugin=answer.plugin)


def _new_uid() -> str:
    import uuid

    return str(uuid.uuid4())


@dataclass(slots=True)
class _Taking:
    """Makes `WebhookCall`s of what is noted from one answer to the next."""

    outcome: WebhookOutcome
    notes: WebhookNotes
    place: Callable[[Hook], Place]
    mutating: bool
    seen: int = 0
    skipped: int = 0
    warned: int = 0

    def take(self, number: int = 0) -> None:
        """Take in what is new; the warnings are those of the first call among it."""
        # The notes only grow, so what lies behind the marks is what came since the last call.
        for hook in self.notes.unasked[self.skipped :]:
            call = self._about(hook, Outcome.UNASKED)
            self.outcome.calls.append(replace(call, is_reinvocation=number > 0))
        self.skipped = len(self.notes.unasked)
        for record in self.notes.calls[self.seen :]:
            patch = _patch(self.notes, record.hook, number)
            call = self._about(record.hook, _outcome(record, changed=bool(patch)))
            warnings = tuple(self.notes.warnings[self.warned :])
            self.warned = len(self.notes.warnings)
            self.outcome.calls.append(
                replace(
                    call,
                    message=record.message,
                    patch=patch,
                    warnings=warnings,
                    is_reinvocation=number > 0,
                )
            )
        self.seen = len(self.notes.calls)

    def _about(self, hook: Hook, outcome: Outcome) -> WebhookCall:
        return WebhookCall(
            self.place(hook), hook.configuration, hook.name, mutating=self.mutating, outcome=outcome
        )


def _outcome(record: CallRecord, *, changed: bool) -> Outcome:
    # A call that failed under `failurePolicy: Ignore` is neither an admission nor a denial.
    if record.failed_open:
        return Outcome.IGNORED
    if not record.rejected:
        return Outcome.CHANGED if changed else Outcome.ALLOWED
    from celadon.admission.webhooks import NO_ERROR  # late: as above

    return Outcome.DENIED if record.error_type == NO_ERROR else Outcome.FAILED


def _patch(notes: WebhookNotes, hook: Hook, number: int) -> tuple[dict[str, Json], ...]:
    """Return the operations by which a hook has changed the object in a round."""
    from celadon.admission.webhooks import patch_annotation  # late: as above

    text = notes.request_annotations.get(patch_annotation(hook, number))
    return tuple(json.loads(text)["patch"]) if text else ()
