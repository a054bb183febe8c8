"""The chain of admission: a request and its draft on their way to a verdict.

    chain = Chain(request, draft, admitters, notes)
    for step in chain.steps():
        if isinstance(step, WebhookCalls):
            for call in step.calls:
                step.answer(call, ...)           what came of the call
        elif step is Stage.VALIDATION:
            chain.request = ...                  the object as the registry has finished it
    chain.verdict

Upstream's order: the first half of the plugins, mutating policies, mutating webhooks, these three
once more if a policy or webhook has changed the object in the first round; validation, which is
the registry's and so the caller's; the second half of the plugins, validating policies, validating
webhooks. As k8s.io/apiserver `pkg/admission/{chain,reinvocation}.go` and
`pkg/endpoints/handlers/create.go`.

Theory of operation. The chain does no input or output and knows no threads: `steps` stops before
each stage and says which it is, so whoever drives it decides where and when the stage runs; and it
stops with the calls that webhooks are to get, so whoever drives it makes them. Whom to ask is known
to the `Admitters`, who are asked for it before the first step of either half: a driver that runs a
stage in another thread runs nothing there but that stage. A `NoteTaker` is told what they say
beside yes and no, at the time at which they say it.

Whoever needs to do something in between (a server stores and charges quotas) drives the two halves
on their own: `mutation`, then `validation`.
"""

from __future__ import annotations

import enum
from collections.abc import Callable, Generator, Sequence
from typing import TYPE_CHECKING, Protocol

from celadon.admission.request import Request
from celadon.admission.verdict import ALLOWED, Verdict
from celadon.kube import JsonObject, StatusError
from celadon.records import dataclass, replace

if TYPE_CHECKING:  # most requests meet no webhook: who has none does not load what calls them
    from celadon.admission.plugins import Opinion
    from celadon.admission.webhooks import (
        Call,
        MutatingPhase,
        NoReply,
        Reply,
        ValidatingPhase,
        WebhookNotes,
    )
    from celadon.kube.registry import Draft


class Stage(enum.Enum):
    """Names what the chain does when it is resumed. `VALIDATION` is done by the caller."""

    MUTATING_PLUGINS = enum.auto()
    MUTATING_POLICIES = enum.auto()
    MUTATING_WEBHOOKS = enum.auto()
    VALIDATION = enum.auto()
    VALIDATING_PLUGINS = enum.auto()
    VALIDATING_POLICIES = enum.auto()
    VALIDATING_WEBHOOKS = enum.auto()


@dataclass(frozen=True, slots=True)
class WebhookCalls:
    """Calls that are to be made side by side. `answer` is told what came of each, in the order in
    which they end: of several refusals the first counts. None is for a webhook that nobody asks."""

    calls: Sequence[Call]
    answer: Callable[[Call, Reply | NoReply | None], None]


Step = Stage | WebhookCalls
Steps = Generator[Step, None, None]


class Rounds(Protocol):
    """The mutating policies of one request."""

    @property
    def wants_another(self) -> bool:
        """Return whether all who change the object have to be asked once more."""
        ...

    def run(self, request: Request, number: int) -> JsonObject | None:
        """Return the object as round 0 or 1 leaves it. Raises StatusError for a refusal."""
        ...


class Admitters:
    """Holds whom the chain asks; these ask nobody. None stands for those who have no say about a
    request like this one."""

    __slots__ = ()

    def mutate(self, draft: Draft | None, request: Request) -> StatusError | None:
        """Return the first half of the plugins: change the draft, or refuse the request."""
        return None

    def mutating_policies(self, request: Request, draft: Draft | None) -> Rounds | None:
        """Run the mutating policies."""
        return None

    def mutating_webhooks(self, request: Request, draft: Draft | None) -> MutatingPhase | None:
        """Run the mutating webhooks."""
        return None

    def validate(self, request: Request) -> Opinion | None:
        """Validate the second half of the plugins."""
        return None

    def validating_policies(self, request: Request) -> Callable[[Request], Verdict] | None:
        """Return what asks the validating policies."""
        return None

    def validating_webhooks(self, request: Request) -> Callable[[Request], ValidatingPhase] | None:
        """Return what begins to ask the validating webhooks. It raises StatusError where it cannot
        be told whom to ask."""
        return None


class NoteTaker:
    """Takes notes of what the chain hears; this one forgets it."""

    __slots__ = ()

    def take_opinion(self, opinion: Opinion) -> None:
        """Take the answer of the second half of the plugins, with its refusal if there is one."""

    def take_verdict(self, verdict: Verdict) -> None:
        """Run the validating policies."""

    def take_answers(self, notes: WebhookNotes, number: int, *, mutating: bool) -> None:
        """Take the notes of the webhooks, in which more may stand than when this was called last,
        in the same round or in an earlier one."""

    def take_webhooks(self, notes: WebhookNotes) -> None:
        """Take the notes when all mutating or all validating webhooks have been asked, or one has
        refused."""


SILENT = NoteTaker()


class Chain:
    """One request on its way. `request` and `draft` are what they have become so far; the draft is
    None for what has no object of its own to change, whose request is changed instead. `rounds`
    says how often mutating policies and webhooks were asked."""

    __slots__ = ("_admitters", "_notes", "draft", "request", "rounds", "verdict")

    def __init__(
        self, request: Request, draft: Draft | None, admitters: Admitters, notes: NoteTaker = SILENT
    ) -> None:
        """Take a request and who is asked about it; with a draft, `request.object` is what it is
        making."""
        self.request = request
        self.draft = draft
        self.rounds = 0
        self.verdict = ALLOWED
        self._admitters = admitters
        self._notes = notes

    def steps(self) -> Steps:
        """Yield the steps of the whole way. Raises StatusError where others than the validating
        policies refuse the request; what these say is the `verdict`."""
        yield from self.mutation()
        yield Stage.VALIDATION
        yield from self.validation()

    def mutation(self) -> Steps:
        """Yield the steps up to the validation of the object. Raises StatusError."""
        admitters = self._admitters
        policies = admitters.mutating_policies(self.request, self.draft)
        phase = admitters.mutating_webhooks(self.request, self.draft)
        yield Stage.MUTATING_PLUGINS
        _raise(admitters.mutate(self.draft, self.request))
        if policies is None and phase is None:
            return
        try:
            yield from self._round(policies, phase, 0)
            if (policies and policies.wants_another) or (phase and phase.wants_another):
                yield Stage.MUTATING_PLUGINS
                _raise(admitters.mutate(self.draft, self.request))
                yield from self._round(policies, phase, 1)
        finally:
            if phase is not None:
                self._notes.take_webhooks(phase.notes)

    def mutate_without_rules(self) -> None:
        """Do what `mutation` does, in one step, where there are no policies and no webhooks. Raises
        StatusError."""
        _raise(self._admitters.mutate(self.draft, self.request))

    def _round(self, policies: Rounds | None, phase: MutatingPhase | None, number: int) -> Steps:
        self.rounds = number + 1
        request, draft = self.request, self.draft
        if draft is not None:
            request = replace(request, object=draft.form(), size=None)
        original = result = request.object
        if policies is not None:
            yield Stage.MUTATING_POLICIES
            result = policies.run(request, number)
        if phase is not None:
            if result is not original:
                request = replace(request, object=result, size=None)
            yield Stage.MUTATING_WEBHOOKS
            result = yield from self._called(phase, request, number)
        if result is original:
            return
        if draft is None:
            self.request = replace(self.request, object=result, size=None)
        elif result is not None:
            self.draft = draft.replaced(result)
            self.request = replace(self.request, object=self.draft.decoded, size=None)

    def _called(
        self, phase: MutatingPhase, request: Request, number: int
    ) -> Generator[WebhookCalls, None, JsonObject | None]:
        """Call one webhook after the other: each sees what those before have made of the object."""
        replies: list[Reply | NoReply | None] = []
        asking = phase.round(request, number)
        try:
            call = next(asking)
            while True:
                self._notes.take_answers(phase.notes, number, mutating=True)
                yield WebhookCalls((call,), lambda _, reply: replies.append(reply))
                call = asking.send(replies.pop())
        except StopIteration as end:
            value: JsonObject | None = end.value
            return value
        finally:
            self._notes.take_answers(phase.notes, number, mutating=True)

    def validation(self) -> Steps:
        """Yield the steps from the validated object on. Raises StatusError."""
        admitters, notes, request = self._admitters, self._notes, self.request
        review = admitters.validating_policies(request)
        begin = admitters.validating_webhooks(request)
        yield Stage.VALIDATING_PLUGINS
        opinion = admitters.validate(request)
        if opinion is not None:
            notes.take_opinion(opinion)
            _raise(opinion.refusal)
        if review is not None:
            yield Stage.VALIDATING_POLICIES
            self.verdict = review(request)
            notes.take_verdict(self.verdict)
            if not self.verdict.allowed:
                return
        if begin is None:
            return
        yield Stage.VALIDATING_WEBHOOKS
        phase = begin(request)
        yield from self._called_side_by_side(phase)
        notes.take_webhooks(phase.notes)
        _raise(phase.refusal)

    def validate_without_rules(self) -> None:
        """Do what `validation` does, in one step, where there are no webhooks. Raises
        StatusError."""
        admitters, notes, request = self._admitters, self._notes, self.request
        opinion = admitters.validate(request)
        if opinion is not None:
            notes.take_opinion(opinion)
            _raise(opinion.refusal)
        review = admitters.validating_policies(request)
        if review is not None:  # it takes the time of all of them, of none as well
            self.verdict = review(request)
            notes.take_verdict(self.verdict)

    def _called_side_by_side(self, phase: ValidatingPhase) -> Generator[WebhookCalls, None, None]:
        notes = self._notes

        def answer(call: Call, reply: Reply | NoReply | None) -> None:
            if reply is None:
                phase.notes.unasked.append(call.hook)
            else:
                phase.answer(call, reply)
            notes.take_answers(phase.notes, 0, mutating=False)

        notes.take_answers(phase.notes, 0, mutating=False)
        if phase.calls:
            yield WebhookCalls(phase.calls, answer)


def _raise(refusal: StatusError | None) -> None:
    """Raise a refusal that was given as a value. It is raised anew: an error that is raised keeps
    its callers' frames, and these would keep it."""
    if refusal is not None:
        raise StatusError(refusal.status)
