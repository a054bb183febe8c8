"""A request on its way through mutating policies and webhooks, in the API server's order.

    asked, said = asking.mutated(asked)      before validation and validating policies
    said = asking.validated(asked)           after them

Whoever has the answers (`Answers`) is given calls and may leave some unanswered. A mutating webhook
that is not asked leaves the object as it is, so what comes behind it holds only if it would have;
its `WebhookCall` says so.
"""

from __future__ import annotations

import json
import uuid
from collections.abc import Callable
from dataclasses import replace
from typing import Any, Final

from celadon.admission import Operation, Request, World
from celadon.admission.webhooks import (
    NO_ERROR,
    AsJson,
    CallRecord,
    Hook,
    MutatingPhase,
    ValidatingPhase,
    WebhookNotes,
    patch_annotation,
)
from celadon.cli.checking.asking.answer_sources import Answers
from celadon.cli.checking.asking.said import Said
from celadon.cli.checking.asking.webhook_documents import WebhookDocuments
from celadon.cli.checking.check_report import Outcome, WebhookCall
from celadon.cli.checking.mutation.object_mutation import (
    Mutators,
    PolicyMutation,
)
from celadon.cli.checking.object_preparation import Prepare
from celadon.cli.checking.questions import Asked
from celadon.kube import JsonObject, StatusError, metadata
from celadon.kube.registry import Draft, create, update
from celadon.records import dataclass

_WRITES: Final = frozenset({Operation.CREATE, Operation.UPDATE})


class Asking:
    """Takes requests through mutating policies, and sends them to the webhooks of a set of
    configurations."""

    def __init__(
        self,
        documents: WebhookDocuments,
        version: str,
        answers: Answers,
        as_json: AsJson,
        world: World,
        prepare: Prepare,
        mutators: Mutators | None = None,
    ) -> None:
        self._mutators = mutators
        self._documents = documents
        self._answers = answers
        self._as_json = as_json
        self._world = world
        self._prepare = prepare
        self._mutating = documents.hooks(version, mutating=True)
        self._validating = documents.hooks(version, mutating=False)

    def mutated(self, asked: Asked) -> tuple[Asked, Said]:
        """The request with its object as the mutating policies and webhooks leave it."""
        said = Said()
        policies = None
        if self._mutators is not None:
            policies = self._mutators.of(asked.request, self._prepare.context)
        phase = None
        if self._mutating.concerns(asked.request, self._world):
            phase = MutatingPhase(
                self._mutating, self._world, self._prepare.readmitted, _new_uid, self._as_json
            )
        if policies is None and phase is None:
            return asked, said
        steps = _Rounds(phase, policies, self._answers, said, self._mutating_call)
        try:
            asked = self._written(asked, steps, said)
        except StatusError as error:
            said.refusal = error
        if phase is not None:
            said.warnings[:0] = phase.notes.warnings
            said.annotations.update(phase.notes.annotations)
        said.mutation = None if policies is None else policies.happened
        return asked, said

    def _written(self, asked: Asked, steps: _Rounds, said: Said) -> Asked:
        request = asked.request
        if request.operation not in _WRITES or not self._prepare.drafts:
            made = steps.run(request, 0)
            if steps.want_another:
                made = steps.run(replace(request, object=made, size=None), 1)
            return replace(asked, request=replace(request, object=made, size=None))
        old = request.old_object
        draft = self._prepare.draft(asked.document, asked.target, old)
        draft = _through(draft, request, steps, 0)
        if steps.want_another:
            again = self._prepare.plugged(draft, asked.target, old)
            if again is not None and again.refusal is not None:
                raise again.refusal
            draft = _through(draft, request, steps, 1)
        said.warnings += (create if old is None else update).resume(draft, asked.target)
        made = self._prepare.finished(draft, asked.document, asked.target, old)
        request = replace(request, object=made, size=None)
        return replace(asked, request=request, empties=draft.run.empties)

    def validated(self, asked: Asked) -> Said:
        """What the validating webhooks say, who are asked side by side."""
        said = Said()
        if not self._validating.concerns(asked.request, self._world):
            return said
        try:
            phase = ValidatingPhase(
                self._validating, asked.request, self._world, _new_uid, self._as_json
            )
        except StatusError as error:
            said.refusal = error
            return said
        taking = _Taking(said, phase.notes, self._validating_call)
        taking.take()
        for call, reply in zip(phase.calls, self._answers.answer(phase.calls), strict=True):
            if reply is None:
                said.calls.append(self._validating_call(call.hook, Outcome.UNASKED))
            else:
                phase.answer(call, reply)
                taking.take()
        said.refusal = phase.refusal
        said.warnings += phase.notes.warnings
        said.annotations.update(phase.notes.annotations)
        return said

    def concerns(self, request: Request) -> bool:
        """Whether any of them would be asked about a request."""
        if self._mutators is not None and self._mutators.engine.concerns(request, self._world):
            return True
        return any(one.concerns(request, self._world) for one in (self._mutating, self._validating))

    def _mutating_call(self, hook: Hook, outcome: Outcome) -> WebhookCall:
        place = self._documents.place(hook, mutating=True)
        return WebhookCall(place, hook.configuration, hook.name, mutating=True, outcome=outcome)

    def _validating_call(self, hook: Hook, outcome: Outcome) -> WebhookCall:
        place = self._documents.place(hook, mutating=False)
        return WebhookCall(place, hook.configuration, hook.name, mutating=False, outcome=outcome)


def _new_uid() -> str:
    return str(uuid.uuid4())


def _through(draft: Draft, request: Request, steps: _Rounds, number: int) -> Draft:
    """A draft through one round; a name that is generated is not there yet."""
    shown = replace(request, object=draft.form(), size=None)
    if request.operation is Operation.CREATE and not request.subresource:
        shown = replace(shown, name=metadata.name(shown.object))
    made = steps.run(shown, number)
    return draft if made is None or made is shown.object else draft.replaced(made)


@dataclass(slots=True)
class _Taking:
    """Makes `WebhookCall`s of what is noted from one answer to the next."""

    said: Said
    notes: WebhookNotes
    about: Callable[[Hook, Outcome], WebhookCall]
    seen: int = 0
    skipped: int = 0
    warned: int = 0

    def take(self, number: int = 0) -> None:
        """Takes in what is new; the warnings are those of the first call among it."""
        for hook in self.notes.unasked[self.skipped :]:
            call = self.about(hook, Outcome.UNASKED)
            self.said.calls.append(replace(call, again=number > 0))
        self.skipped = len(self.notes.unasked)
        for record in self.notes.calls[self.seen :]:
            patch = _patch(self.notes, record.hook, number)
            call = self.about(record.hook, _outcome(record, changed=bool(patch)))
            warnings = tuple(self.notes.warnings[self.warned :])
            self.warned = len(self.notes.warnings)
            self.said.calls.append(
                replace(
                    call, message=record.message, patch=patch, warnings=warnings, again=number > 0
                )
            )
        self.seen = len(self.notes.calls)


class _Rounds:
    """Runs rounds of mutating policies and webhooks; at least one of the two is there."""

    def __init__(
        self,
        phase: MutatingPhase | None,
        policies: PolicyMutation | None,
        answers: Answers,
        said: Said,
        about: Callable[[Hook, Outcome], WebhookCall],
    ) -> None:
        self._phase = phase
        self._policies = policies
        self._answers = answers
        self._taking = None if phase is None else _Taking(said, phase.notes, about)

    @property
    def want_another(self) -> bool:
        """Whether all have to be asked again."""
        policies, phase = self._policies, self._phase
        return bool(
            (policies is not None and policies.wants_another)
            or (phase is not None and phase.wants_another)
        )

    def run(self, request: Request, number: int) -> JsonObject | None:
        """The object at the end of a round. Raises StatusError."""
        if self._policies is not None:
            made = self._policies.run(request, number)
            request = request if made is request.object else replace(request, object=made)
        if self._phase is None or self._taking is None:
            return request.object
        return self._asked(self._phase, self._taking, request, number)

    def _asked(
        self, phase: MutatingPhase, taking: _Taking, request: Request, number: int
    ) -> JsonObject | None:
        asking = phase.round(request, number)
        try:
            call = next(asking)
            while True:
                taking.take(number)
                (reply,) = self._answers.answer([call])
                call = asking.send(reply)
        except StopIteration as end:
            made: JsonObject | None = end.value
            return made
        finally:
            taking.take(number)


def _outcome(record: CallRecord, *, changed: bool) -> Outcome:
    if record.failed_open:
        return Outcome.IGNORED
    if not record.rejected:
        return Outcome.CHANGED if changed else Outcome.ALLOWED
    return Outcome.DENIED if record.error_type == NO_ERROR else Outcome.FAILED


def _patch(notes: WebhookNotes, hook: Hook, number: int) -> tuple[dict[str, Any], ...]:
    """The operations by which a hook has changed the object in a round."""
    text = notes.request_annotations.get(patch_annotation(hook, number))
    return tuple(json.loads(text)["patch"]) if text else ()
