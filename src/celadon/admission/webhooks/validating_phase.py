"""Validating webhooks: all that concern a request are asked side by side, the first no is told.

    phase = ValidatingPhase(hooks, request, world, new_uid, as_json)
    for call in phase.calls: ...                 all at once
        phase.answer(call, reply)                as each arrives
    phase.refusal                                once all have

As k8s.io/apiserver `pkg/admission/plugin/webhook/validating/dispatcher.go`.
"""

from __future__ import annotations

from collections.abc import Callable

from celadon.admission.conversion import ConversionError
from celadon.admission.expressions.activation import RequestContext
from celadon.admission.request import Request
from celadon.admission.webhooks import hooks as hook_refusals
from celadon.admission.webhooks.call_records import CallRecord, WebhookNotes
from celadon.admission.webhooks.call_results import AsJson, CallError, NoReply, Reply
from celadon.admission.webhooks.hooks import Excluded, Hook, HookSet, Selected
from celadon.admission.webhooks.reviews import Call, begin_call, read_answer
from celadon.admission.world import World
from celadon.kube import StatusError, status


class ValidatingPhase:
    """One request before its validating webhooks. `calls` are to be made, all of them; `refusal` is
    the first to come up. The constructor raises StatusError when it cannot be told whom to ask."""

    def __init__(
        self,
        hooks: HookSet,
        request: Request,
        world: World,
        new_uid: Callable[[], str],
        as_json: AsJson,
    ) -> None:
        self.notes = WebhookNotes()
        self.refusal: StatusError | None = None
        self.calls: list[Call] = []
        self._as_json = as_json
        self._places: dict[str, int] = {}
        selected: list[Selected] = []
        for one in hooks.selected(request, world):
            if isinstance(one, Excluded):
                self.notes.excluded.append(one)
            else:
                self._places[one.hook.uid] = len(selected)
                selected.append(one)
        context = RequestContext(request, world)
        for one in selected:
            self._begin(one, context, new_uid)

    def answer(self, call: Call, reply: Reply | NoReply) -> None:
        """Take in what came of a call, in the order in which the answers arrive."""
        hook = call.hook
        try:
            answer = read_answer(call, reply, self._as_json, mutating=False)
        except CallError as error:
            self._failed(hook, error)
            return
        self.notes.answered(hook, answer.warnings, answer.audit_annotations)
        if answer.allowed:
            self.notes.calls.append(CallRecord(hook, rejected=False))
            return
        denial = hook_refusals.denied(hook, answer.status)
        self.notes.calls.append(CallRecord.denial(hook, denial))
        self._refuse(denial)

    def _begin(
        self, selected: Selected, context: RequestContext, new_uid: Callable[[], str]
    ) -> None:
        hook = selected.hook
        try:
            self.calls.append(begin_call(selected, context, new_uid()))
        except CallError as error:
            self._failed(hook, error)
        except ConversionError as error:
            raise status.internal_error(str(error)) from None
        except StatusError as error:
            self.notes.calls.append(CallRecord.own_error(hook, error))
            self._refuse(error)

    def _failed(self, hook: Hook, error: CallError) -> None:
        if not error.canceled:
            self.notes.calls.append(CallRecord.failure(hook, error))
        if not hook.ignores_failures:
            self._refuse(hook_refusals.failed(hook, error))
        elif not error.canceled:
            self.notes.validating_failed_open(hook, self._places[hook.uid])

    def _refuse(self, error: StatusError) -> None:
        if self.refusal is None:
            self.refusal = error
