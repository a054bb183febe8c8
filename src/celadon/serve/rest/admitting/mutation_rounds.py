"""The mutating half of admission: plugins, mutating policies, mutating webhooks, up to twice.

Whoever of the latter has changed an object asks for another round, in which the plugins see it
again, and those policies and webhooks that want to know. As k8s.io/apiserver
`pkg/admission/reinvocation.go`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from celadon.admission import Request, World
from celadon.admission.mutating import PolicyRounds
from celadon.admission.plugins import PluginChain
from celadon.admission.webhooks import MutatingPhase, Readmit, WebhookNotes
from celadon.kube import GroupVersionKind, JsonObject
from celadon.kube.apply import entries_problem, renews
from celadon.kube.custom import CustomKind
from celadon.kube.defaulting import DefaultingContext
from celadon.kube.registry import Draft, read_mutated
from celadon.serve.calling.webhook_phases import Webhooks
from celadon.serve.rest.admitting.mutating_policies import MutatingPolicies
from celadon.serve.rest.admitting.namespace_provision import NamespaceProvision
from celadon.serve.rest.calls import Call, raise_refusal
from celadon.serve.views.served_resources import ServedResources

INVALID_MANAGED_FIELDS: Final = (
    ".metadata.managedFields was in an invalid state after admission; this could be caused by an "
    "outdated mutating admission controller; please fix your requests: "
)


class Mutation:
    """Changes objects on their way in; what is said beside is noted in the call."""

    def __init__(
        self,
        plugins: PluginChain,
        provision: NamespaceProvision,
        policies: MutatingPolicies,
        webhooks: Webhooks,
        served: ServedResources,
        world: World,
    ) -> None:
        self._provision = provision
        self._plugins = plugins
        self._policies = policies
        self._webhooks = webhooks
        self._served = served
        self._world = world

    async def mutated(self, call: Call, request: Request, draft: Draft) -> Draft:
        """The draft, changed in place by plugins; another one if policies or webhooks have changed
        it. Raises StatusError."""
        await self._provision.provide(request)
        await call.work.step(self._ask_plugins, request, draft)
        policies = self._policies.rounds(request, draft.run.context)
        phase = None
        if self._webhooks.mutates(request):
            fine_times = _has_fine_times(draft, request.old_object)
            phase = self._webhooks.mutation(self._readmit(draft), coarse_times=fine_times)
        if policies is None and phase is None:
            return draft
        rounds = _Rounds(call, self._policies, policies, self._webhooks, phase)
        entries = (draft.meta or {}).get("managedFields")
        try:
            draft = await rounds.draft(request, draft, 0)
            if rounds.want_another:
                await call.work.step(self._ask_plugins, request, draft)
                draft = await rounds.draft(request, draft, 1)
        finally:
            rounds.note()
        _keep_managed_fields(call, draft, entries)
        return draft

    async def looked_at(self, call: Call, request: Request) -> Request:
        """The request of a deletion, which has no object, or of a connection, with the options that
        have become of its own. Raises StatusError."""
        self._ask_plugins(request, None)
        policies = self._policies.rounds(request, DefaultingContext())
        phase = None
        if self._webhooks.mutates(request):
            phase = self._webhooks.mutation(lambda made, _: (made, made), coarse_times=False)
        if policies is None and phase is None:
            return request
        rounds = _Rounds(call, self._policies, policies, self._webhooks, phase)
        try:
            made = await rounds.run(request, 0)
            if rounds.want_another:
                again = replace(request, object=made)
                self._ask_plugins(again, None)
                made = await rounds.run(again, 1)
        finally:
            rounds.note()
        return replace(request, object=made)

    def _ask_plugins(self, request: Request, draft: Draft | None) -> None:
        asked = request
        if draft is not None and request.object is not draft.made:
            asked = replace(request, object=draft.made)
        raise_refusal(self._plugins.mutate(draft, asked, self._world))

    def _readmit(self, draft: Draft) -> Readmit:
        custom: Mapping[GroupVersionKind, CustomKind] = self._served.current().custom

        def readmit(document: object, kind: GroupVersionKind) -> tuple[JsonObject, JsonObject]:
            schema = custom.get(kind)
            decoded, made = read_mutated(document, kind, schema, draft.run.context)
            return decoded, made.form()

        return readmit


class _Rounds:
    """Policies and webhooks of one request; at least one of the two has a say."""

    def __init__(
        self,
        call: Call,
        owner: MutatingPolicies,
        policies: PolicyRounds | None,
        webhooks: Webhooks,
        phase: MutatingPhase | None,
    ) -> None:
        self._call = call
        self._owner = owner
        self._policies = policies
        self._webhooks = webhooks
        self._phase = phase

    @property
    def want_another(self) -> bool:
        """Whether all have to be asked again."""
        return bool(
            (self._policies is not None and self._policies.wants_another)
            or (self._phase is not None and self._phase.wants_another)
        )

    async def draft(self, request: Request, draft: Draft, number: int) -> Draft:
        """The draft as a round leaves it. Raises StatusError."""
        shown = draft.form()
        made = await self.run(replace(request, object=shown), number)
        return draft if made is None or made is shown else draft.replaced(made)

    async def run(self, request: Request, number: int) -> JsonObject | None:
        """The object as a round leaves it. Raises StatusError."""
        made = request.object
        if self._policies is not None:
            kind = request.resource, request.subresource, request.operation, number
            work, owner = self._call.work, self._owner
            made = await owner.pace.step(
                work, kind, owner.rules, owner.run, self._policies, request, number
            )
        if self._phase is not None:
            asked = replace(request, object=made, size=None)
            remaining = self._call.remaining
            made = await self._webhooks.run_round(self._phase, asked, number, remaining)
        return made

    def note(self) -> None:
        """Keep what was said."""
        if self._phase is not None:
            note(self._call, self._phase.notes)


def _keep_managed_fields(call: Call, draft: Draft, before: object) -> None:
    """Those that nobody can read are what they were. As k8s.io/apiserver
    `pkg/endpoints/handlers/fieldmanager/admission.go`."""
    meta = draft.made.get("metadata") or {}
    problem = entries_problem(meta.get("managedFields"))
    if not problem:
        return
    if before is None:
        del meta["managedFields"]
    else:
        meta["managedFields"] = before
    call.notes.warnings.append(INVALID_MANAGED_FIELDS + problem)


def _has_fine_times(draft: Draft, old: JsonObject | None) -> bool:
    """Whether the request has made or renewed an entry of `managedFields`: its time is that of the
    server's clock until the object is written."""
    entries = (draft.meta or {}).get("managedFields")
    if draft.is_custom or not entries:
        return False
    return old is None or renews(draft.form(), old)


def note(call: Call, said: WebhookNotes) -> None:
    """Keep what webhooks have said beside yes and no."""
    call.notes.warnings += said.warnings
    call.notes.annotate(said.annotations)
    call.notes.request_audit.update(said.request_annotations)
