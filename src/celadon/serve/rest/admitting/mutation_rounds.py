"""The mutating half of admission: built-in plugins, then mutating webhooks, up to twice.

A webhook that has changed an object asks for another round, in which the plugins see it again, and
those webhooks that want to know. As k8s.io/apiserver `pkg/admission/reinvocation.go`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from celadon.admission import Request, World
from celadon.admission.plugins import PluginChain
from celadon.admission.webhooks import MutatingPhase, Readmit, WebhookNotes
from celadon.kube import GroupVersionKind, JsonObject
from celadon.kube.apply import renews
from celadon.kube.custom import CustomKind
from celadon.kube.defaulting import Draft
from celadon.kube.writes import read_mutated
from celadon.serve.calling.webhook_phases import Webhooks
from celadon.serve.rest.admitting.namespace_provision import NamespaceProvision
from celadon.serve.rest.calls import Call
from celadon.serve.views.served_resources import ServedResources


class Mutation:
    """Changes objects on their way in; what is said beside is noted in the call."""

    def __init__(
        self,
        plugins: PluginChain,
        provision: NamespaceProvision,
        webhooks: Webhooks,
        served: ServedResources,
        world: World,
    ) -> None:
        self._provision = provision
        self._plugins = plugins
        self._webhooks = webhooks
        self._served = served
        self._world = world

    async def mutated(self, call: Call, request: Request, draft: Draft) -> Draft:
        """The draft, changed in place by plugins; another one if webhooks have changed it. Raises
        StatusError."""
        await self._provision.provide(request)
        self._ask_plugins(request, draft)
        if not self._webhooks.mutates(request):
            return draft
        changing = replace(request, object=draft.form())
        fine_times = _has_fine_times(draft, request.old_object)
        phase = self._webhooks.mutation(self._readmit(draft), coarse_times=fine_times)
        try:
            draft = await self._round(call, phase, 0, changing, draft)
            if phase.wants_another:
                self._ask_plugins(request, draft)
                changing = replace(request, object=draft.form())
                draft = await self._round(call, phase, 1, changing, draft)
        finally:
            note(call, phase.notes)
        return draft

    async def looked_at(self, call: Call, request: Request) -> Request:
        """The request of a deletion, which has no object, or of a connection, with the options that
        have become of its own. Raises StatusError."""
        self._ask_plugins(request, None)
        if not self._webhooks.mutates(request):
            return request
        phase = self._webhooks.mutation(lambda made, _: (made, made), coarse_times=False)
        try:
            made = await self._webhooks.run_round(phase, request, 0, call.remaining)
            if phase.wants_another:
                again = replace(request, object=made)
                self._ask_plugins(again, None)
                made = await self._webhooks.run_round(phase, again, 1, call.remaining)
        finally:
            note(call, phase.notes)
        return replace(request, object=made)

    async def _round(
        self, call: Call, phase: MutatingPhase, number: int, request: Request, draft: Draft
    ) -> Draft:
        made = await self._webhooks.run_round(phase, request, number, call.remaining)
        if made is None or made is request.object:
            return draft
        return draft.replaced(made)

    def _ask_plugins(self, request: Request, draft: Draft | None) -> None:
        asked = request if draft is None else replace(request, object=draft.made)
        refusal = self._plugins.mutate(draft, asked, self._world)
        if refusal is not None:
            raise refusal

    def _readmit(self, draft: Draft) -> Readmit:
        custom: Mapping[GroupVersionKind, CustomKind] = self._served.current().custom

        def readmit(document: object, kind: GroupVersionKind) -> tuple[JsonObject, JsonObject]:
            schema = custom.get(kind)
            decoded, made = read_mutated(document, kind, schema, draft.run.context)
            return decoded, made.form()

        return readmit


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
