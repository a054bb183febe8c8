"""The two phases of admission webhooks. Mutating ones are asked one after the other: each gets what
those before it have made.

A `MutatingPhase` lasts for one request and up to two rounds; a round is a generator that yields
calls, takes a reply for each, and returns the object as it left it:

    calls = phase.round(request, number)
    call = next(calls)
    while True: call = calls.send(reply)         StopIteration.value is the object

A reply of None is for a call that nobody makes: the object stays as it is, and the hook is noted as
unasked. It raises StatusError where a webhook refuses the request or spoils it.
`phase.wants_another` says after the first round whether all mutating plugins have to be asked once
more.

As k8s.io/apiserver `pkg/admission/plugin/webhook/mutating/{dispatcher,reinvocationcontext}.go`.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Generator, Mapping
from typing import Any, Final, Protocol

from celadon.admission.activation import Hit, RequestContext
from celadon.admission.cluster_lookups import World
from celadon.admission.conversion import ConversionError
from celadon.admission.registration.registration_types import JSON_PATCH
from celadon.admission.request import Reinvocation, Request
from celadon.admission.webhooks import hooks as hook_refusals
from celadon.admission.webhooks.hooks import (
    AsJson,
    CallError,
    Excluded,
    Hook,
    HookSet,
    NoReply,
    Reply,
    Selected,
)
from celadon.admission.webhooks.reviews import Call, HookAnswer, begin_call, read_answer
from celadon.kube import GroupVersionKind, JsonObject, StatusError, metadata, name_rules, status
from celadon.kube.crd import unsuitable
from celadon.kube.go import JsonSyntaxError, json_text
from celadon.kube.registry import JsonPatchError, NotConverted, apply_json_patch, patch, read_patch
from celadon.kube.releases import is_since
from celadon.kube.schemas import json_kind
from celadon.records import dataclass, field, replace

# --- What is noted of calls --------------------------------------------------
#
# What a phase of webhooks leaves behind besides its outcome: warnings, annotations, numbers.
#
# Annotation keys are those of k8s.io/apiserver
# `pkg/admission/plugin/webhook/{mutating,validating}`.

MUTATION: Final = "mutation.webhook.admission.k8s.io/"
"""How annotations of audit events begin that say what a mutating webhook did."""
PATCH: Final = "patch.webhook.admission.k8s.io/"
FAILED_OPEN: Final = "failed-open."
VALIDATING: Final = "validating.webhook.admission.k8s.io/"

CALLING_WEBHOOK_ERROR: Final = "calling_webhook_error"
INTERNAL_ERROR: Final = "apiserver_internal_error"
NO_ERROR: Final = "no_error"
"""The type of error of an answer that does not allow: nothing went wrong."""


@dataclass(frozen=True, slots=True)
class CallRecord:
    """Records a call of one hook as metrics count it. `error_type` is empty for an answer that
    allows; `code` is that of the answer or of the failure, 0 for errors of the server's own.
    `message` says why the request was refused, or what went wrong."""

    hook: Hook
    rejected: bool
    code: int = 200
    error_type: str = ""
    failed_open: bool = False
    message: str = ""

    @staticmethod
    def denial(hook: Hook, denial: StatusError) -> CallRecord:
        """Return an answer that does not allow."""
        return CallRecord(
            hook, rejected=True, code=denial.code, error_type=NO_ERROR, message=str(denial)
        )

    @staticmethod
    def own_error(hook: Hook, error: StatusError) -> CallRecord:
        """Return what went wrong before or after the call, which no failure policy ignores."""
        return CallRecord(
            hook, rejected=True, code=0, error_type=INTERNAL_ERROR, message=str(error)
        )

    @staticmethod
    def failure(hook: Hook, error: CallError) -> CallRecord:
        """Return a call that failed, which the failure policy decides upon."""
        ignored = hook.ignores_failures
        text = error.of(hook.name)
        return CallRecord(hook, not ignored, error.code, CALLING_WEBHOOK_ERROR, ignored, text)


@dataclass(slots=True)
class WebhookNotes:
    """Collects what webhooks say beside their verdicts. `warnings` are texts as they came; of
    `annotations` the first value of a key stays. `request_annotations` are for audit levels from
    Request on only. `unasked` are hooks that were to be asked, but nobody has."""

    warnings: list[str] = field(default_factory=list)
    annotations: dict[str, str] = field(default_factory=dict)
    request_annotations: dict[str, str] = field(default_factory=dict)
    calls: list[CallRecord] = field(default_factory=list)
    excluded: list[Excluded] = field(default_factory=list)
    unasked: list[Hook] = field(default_factory=list)

    def answered(self, hook: Hook, warnings: Any, annotations: Mapping[str, str]) -> None:  # noqa: ANN401 - any JSON
        """Note what a verified answer says beside yes or no. Keys that are no names are dropped."""
        self.warnings += warnings
        for key, value in annotations.items():
            full = f"{hook.name}/{key}"
            if full.count("/") == 1 and not name_rules.qualified_name(full):
                self.annotations.setdefault(full, value)

    def replied(self, reply: Reply | NoReply) -> None:
        """Note what became of a call besides its answer."""
        for key, value in reply.annotations if isinstance(reply, NoReply) else ():
            self.annotations.setdefault(key, value)

    def mutation(self, hook: Hook, round_number: int, *, mutated: bool) -> None:
        """Note that a mutating hook was selected, whatever became of it."""
        value = {"configuration": hook.configuration, "webhook": hook.name, "mutated": mutated}
        self.annotations.setdefault(f"{MUTATION}{_place(round_number, hook)}", json_text(value))

    def patch(self, hook: Hook, round_number: int, operations: Any) -> None:  # noqa: ANN401 - any JSON
        """Note a patch that was applied."""
        value = {
            "configuration": hook.configuration,
            "webhook": hook.name,
            "patch": [dict(sorted(operation.items())) for operation in operations],
            "patchType": "JSONPatch",
        }
        self.request_annotations.setdefault(patch_annotation(hook, round_number), json_text(value))

    def mutating_failed_open(self, hook: Hook, round_number: int) -> None:
        """Note a mutating hook that could not be called, and is ignored."""
        key = f"{FAILED_OPEN}{MUTATION}{_place(round_number, hook)}"
        self.annotations.setdefault(key, hook.name)

    def validating_failed_open(self, hook: Hook, index: int) -> None:
        """Note a validating hook that could not be called, and is ignored; `index` counts those
        that were selected."""
        self.annotations.setdefault(f"{FAILED_OPEN}{VALIDATING}round_0_index_{index}", hook.name)


def patch_annotation(hook: Hook, round_number: int) -> str:
    """Return the key under which `WebhookNotes.patch` notes a patch."""
    return f"{PATCH}{_place(round_number, hook)}"


def _place(round_number: int, hook: Hook) -> str:
    return f"round_{round_number}_index_{hook.index}"


# --- The mutating phase ------------------------------------------------------

IF_NEEDED: Final = "IfNeeded"

Round = Generator[Call, Reply | NoReply | None, JsonObject | None]
"""Gives the object at the end of a round."""
Asking = Generator[Call, Reply | NoReply | None, tuple[JsonObject | None, bool]]
"""Gives what one hook has made of the object (None: it did not touch it), and whether that is
another."""


class Readmit(Protocol):
    """Reads an object that a webhook has made, as its kind."""

    def __call__(self, document: Any, kind: GroupVersionKind) -> tuple[JsonObject, JsonObject]:  # noqa: ANN401 - any JSON
        """Return the object as it was decoded, and the same with defaults. Raises StatusError (500)
        for what is none of that kind."""
        ...


class MutatingPhase:
    """Calls the mutating webhooks of one request, one after the other. `coarse_times` is whether
    the object carries times finer than its JSON has, so that the first patch changes it whatever it
    does."""

    def __init__(
        self,
        hooks: HookSet,
        world: World,
        readmit: Readmit,
        new_uid: Callable[[], str],
        as_json: AsJson,
        *,
        coarse_times: bool = False,
    ) -> None:
        self.notes = WebhookNotes()
        self.wants_another = False
        self._hooks = hooks
        self._world = world
        self._readmit = readmit
        self._new_uid = new_uid
        self._as_json = as_json
        self._coarse_times = coarse_times
        self._reinvocation = Reinvocation()

    def round(self, request: Request, number: int) -> Round:
        """Round 0, or 1 with the object as the other plugins have left it."""
        state, sent = self._reinvocation, request
        if number and request.object != state.last:
            state.changed()
        for hook in self._hooks.hooks:
            if number and hook.uid not in state.reinvoked_keys:
                continue
            context = RequestContext(request, self._world)
            selected = self._hooks.select(hook, context)
            if isinstance(selected, Excluded):
                self.notes.excluded.append(selected)
            elif selected is not None:
                result, mutated = yield from self._asked(selected, context, number)
                if result is not None:
                    request = replace(request, object=result, size=None)
                if mutated:
                    state.changed()
                    self.wants_another = True
                if hook.webhook.reinvocation_policy == IF_NEEDED:
                    state.called_keys |= {hook.uid}
        if request is not sent and request.object is not None:
            request = replace(request, object=self._as_requested(request.object, request.kind))
        state.last = request.object
        return request.object

    def _as_requested(self, obj: JsonObject, kind: GroupVersionKind) -> JsonObject:
        """Return what hooks have left of an object in the version of the request: they may give a
        custom resource another. Raises StatusError (500) for one of another group."""
        gvk = metadata.gvk(obj)
        if gvk.group != kind.group:
            raise status.plain_error(unsuitable(gvk, kind))
        return obj if gvk.version == kind.version else self._world.convert(obj, kind)

    def _asked(self, selected: Selected, context: RequestContext, number: int) -> Asking:
        """Call one hook; its failure may be ignored."""
        hook = selected.hook
        answer, mutated = None, False
        try:
            answer, mutated = yield from self._called(selected, context, number)
        except CallError as error:
            self._failed(hook, error, number)
        except ConversionError as error:
            raise status.internal_error(str(error)) from None
        except NotConverted:
            mutated = True
            raise
        finally:
            if hook not in self.notes.unasked:
                self.notes.mutation(hook, number, mutated=mutated)
        return answer, mutated

    def _called(self, selected: Selected, context: RequestContext, number: int) -> Asking:
        hook = selected.hook
        try:
            call = begin_call(selected, context, self._new_uid())
        except StatusError as error:
            self.notes.calls.append(CallRecord.own_error(hook, error))
            raise
        reply = yield call
        if reply is None:
            self.notes.unasked.append(hook)
            return None, False
        self.notes.replied(reply)
        answer = read_answer(call, reply, self._as_json, mutating=True)
        self.notes.answered(hook, answer.warnings, answer.audit_annotations)
        if not answer.allowed:
            denial = hook_refusals.denied(hook, answer.status)
            self.notes.calls.append(CallRecord.denial(hook, denial))
            raise denial
        try:
            result, mutated = self._patched(selected, context, answer, number)
        except StatusError as error:
            self.notes.calls.append(CallRecord.own_error(hook, error))
            raise
        self.notes.calls.append(CallRecord(hook, rejected=False))
        return result, mutated

    def _patched(
        self, selected: Selected, context: RequestContext, answer: HookAnswer, number: int
    ) -> tuple[JsonObject | None, bool]:
        """Return the object with the patch, None without one, and whether it is another."""
        operations = _operations(answer.patch)
        if not operations:
            return None, False
        hook, hit = selected.hook, selected.hit
        before, _ = context.objects(hit.kind)
        if before is None:
            raise hook_refusals.modified_nothing(hook)
        if answer.patch_type != JSON_PATCH:
            raise CallError(f'unsupported patch type "{answer.patch_type}"', 500)
        try:
            document = apply_json_patch(before, operations)
        except JsonPatchError as error:
            raise status.internal_error(str(error)) from None
        text = answer.patch.decode("utf-8", "replace")
        sourced = functools.partial(patch.sourced_operations, operations, text)
        document = patch.with_raw_patched(before, document, sourced)
        decoded, result = self._readmit(document, hit.kind)
        self.notes.patch(hook, number, operations)
        mutated = self._coarse_times or decoded != before
        self._coarse_times = False
        return self._converted_back(result, hit, context), mutated

    def _converted_back(self, obj: JsonObject, hit: Hit, context: RequestContext) -> JsonObject:
        kind = context.request.kind
        return obj if hit.kind == kind else self._world.convert(obj, kind)

    def _failed(self, hook: Hook, error: CallError, number: int) -> None:
        self.notes.calls.append(CallRecord.failure(hook, error))
        if not hook.ignores_failures:
            raise hook_refusals.failed(hook, error) from None
        self.notes.mutating_failed_open(hook, number)


def _operations(patch: bytes) -> list[Any]:
    """CallError for a text that is no patch at all; before 1.34 such an answer was refused whatever
    the failure policy said (StatusError)."""
    if not patch:
        return []
    try:
        value = read_patch(patch.decode("utf-8", "replace")).value
    except JsonSyntaxError as error:
        raise _undecodable(str(error)) from None
    if value is None:
        return []
    if not isinstance(value, list):
        raise _undecodable(_mismatch(value, "jsonpatch.Patch"))
    for operation in value:
        if operation is not None and not isinstance(operation, dict):
            raise _undecodable(_mismatch(operation, "jsonpatch.Operation"))
    return [operation or {} for operation in value]


def _mismatch(obj: object, expected: str) -> str:
    return f"json: cannot unmarshal {json_kind(obj)} into Go value of type {expected}"


def _undecodable(reason: str) -> Exception:
    if not is_since("1.34"):
        return status.internal_error(reason)
    return CallError(f"received undecodable patch in webhook response: {reason}")


# --- The validating phase ----------------------------------------------------
#
# Validating webhooks: all that concern a request are asked side by side, the first no is told.
#
#     phase = ValidatingPhase(hooks, request, world, new_uid, as_json)
#     for call in phase.calls: ...                 all at once
#         phase.answer(call, reply)                as each arrives
#     phase.refusal                                once all have
#
# As k8s.io/apiserver `pkg/admission/plugin/webhook/validating/dispatcher.go`.


class ValidatingPhase:
    """Brings one request before its validating webhooks. `calls` are to be made, all of them;
    `refusal` is the first to come up. The constructor raises StatusError when it cannot be told
    whom to ask."""

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
        for candidate in hooks.selected(request, world):
            if isinstance(candidate, Excluded):
                self.notes.excluded.append(candidate)
            else:
                self._places[candidate.hook.uid] = len(selected)
                selected.append(candidate)
        context = RequestContext(request, world)
        for candidate in selected:
            self._begin(candidate, context, new_uid)

    def answer(self, call: Call, reply: Reply | NoReply) -> None:
        """Take in what came of a call, in the order in which the answers arrive."""
        hook = call.hook
        self.notes.replied(reply)
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
        self.notes.calls.append(CallRecord.failure(hook, error))
        if not hook.ignores_failures:
            self._refuse(hook_refusals.failed(hook, error))
        else:
            self.notes.validating_failed_open(hook, self._places[hook.uid])

    def _refuse(self, error: StatusError) -> None:
        if self.refusal is None:
            self.refusal = error
