"""Admission of writes: built-in plugins, webhooks and the policies in the store, at their places.

What changes objects comes before validation (`mutate`, see `mutation_rounds`); after it the second
half of the plugins, then the policies, then validating webhooks (`admit`).
"""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import field, replace
from typing import Final

from celadon.admission import Engine, Operation, Request, Verdict, World, is_exempt, writing
from celadon.admission.plugins import Opinion, PluginChain
from celadon.kube import AuthorizerBackend, FieldError, GroupResource, JsonObject
from celadon.kube.registry import Draft
from celadon.kube.well_known_values import RBAC_GROUP
from celadon.records import dataclass
from celadon.serve.access.access_decisions import check_access, request_attributes
from celadon.serve.access.claim_status_access import claim_status_errors
from celadon.serve.access.role_write_checks import RoleWriteChecks
from celadon.serve.calling.webhook_phases import Webhooks
from celadon.serve.charging.quota_charging import QuotaCharging
from celadon.serve.operation.policy_timer import VALIDATING_POLICIES, PolicyTimer
from celadon.serve.rest.admitting.event_rates import EventRates
from celadon.serve.rest.admitting.image_policy import ImagePolicy
from celadon.serve.rest.admitting.mutation_rounds import Mutation, note
from celadon.serve.rest.calls import Call, raise_refusal
from celadon.serve.views.policy_view import PolicyView
from celadon.serve.views.role_view import RoleView
from celadon.serve.workers.request_work import Pace

_CLAIM_STATUS: Final = (GroupResource("resource.k8s.io", "resourceclaims"), "status")
_UNDRAFTED: Final = frozenset({Operation.DELETE, Operation.CONNECT})
"""Operations without an object that a plugin could change: both halves come one after the other."""


class Denied(Exception):
    """Admission has refused; the verdict's Status is the answer."""

    def __init__(self, verdict: Verdict) -> None:
        super().__init__(verdict.message)
        self.code = verdict.code
        self.body: JsonObject = verdict.status or {}


@dataclass(frozen=True, slots=True, kw_only=True)
class Admission:
    """Asks whether a write may happen; what it says beside is noted in the call."""

    policies: PolicyView[Engine]
    world: World
    authorizer: AuthorizerBackend
    roles: RoleView
    plugins: PluginChain
    mutation: Mutation
    webhooks: Webhooks
    timer: PolicyTimer
    quotas: QuotaCharging
    event_rates: EventRates
    images: ImagePolicy
    pace: Pace = field(default_factory=Pace)

    def check_roles(self, call: Call, new: JsonObject, old: JsonObject | None) -> None:
        """Nobody grants rights they lack. Raises StatusError; what is not of RBAC passes."""
        if call.info.group != RBAC_GROUP:
            return
        asked = request_attributes(call.user, call.info, call.request)
        RoleWriteChecks(self.authorizer, self.roles.current()).check(asked, new, old)

    def claim_status_errors(
        self, call: Call, new: JsonObject, old: JsonObject
    ) -> Sequence[FieldError]:
        """What the writer may not change in the status of a ResourceClaim."""
        if (call.target.resource.gvr.group_resource, call.target.subresource) != _CLAIM_STATUS:
            return ()
        asked = request_attributes(call.user, call.info, call.request)
        return tuple(claim_status_errors(asked, self.authorizer, new, old))

    def check_creation(self, call: Call) -> None:
        """An update that creates has to be allowed as a create, too. Raises StatusError 403."""
        asked = request_attributes(call.user, call.info, call.request)
        check_access(replace(asked, verb="create"), self.authorizer)

    async def mutate(
        self, call: Call, operation: Operation, draft: Draft, old: JsonObject | None = None
    ) -> Draft:
        """Let plugins and webhooks change an object on its way in. Raises StatusError."""
        options = None
        if operation is not Operation.CONNECT:
            options = writing.write_options(operation, call.options)
        dry_run = operation is not Operation.CONNECT and call.dry_run
        request = writing.request_of(
            call.target, operation, draft.made, old, call.user, options, dry_run=dry_run
        )
        return await self.mutation.mutated(call, request, draft)

    async def admit(
        self,
        call: Call,
        operation: Operation,
        new: JsonObject | None,
        old: JsonObject | None,
        *,
        options: JsonObject | None = None,
        dry_run: bool | None = None,
        name: str | None = None,
    ) -> JsonObject | None:
        """The object as it was admitted: the options of a connection may have been changed. Raises
        Denied, StatusError. `options` and `dry_run` are given where they are not those of the
        query: for deletions, whose options may be a body."""
        if options is None and operation is not Operation.CONNECT:
            options = writing.write_options(operation, call.options)
        if dry_run is None:
            dry_run = operation is not Operation.CONNECT and call.dry_run
        request = writing.request_of(
            call.target, operation, new, old, call.user, options, name=name, dry_run=dry_run
        )
        if operation in _UNDRAFTED:
            request = await self.mutation.looked_at(call, request)
        self.event_rates.check(request)
        _heed(call, await self.images.opinion(request))
        _heed(call, await call.work.step(self.plugins.validate, request, self.world))
        seen = not is_exempt(request.resource, static=True)
        if seen and VALIDATING_POLICIES in self.plugins.names:
            await self._review(call, request)
        phase = await self.webhooks.validate(request, call.remaining)
        if phase is not None:
            note(call, phase.notes)
            raise_refusal(phase.refusal)
        return request.object

    def charged(
        self,
        call: Call,
        operation: Operation,
        new: JsonObject,
        old: JsonObject | None = None,
        *,
        for_good: bool,
    ) -> AbstractAsyncContextManager[None]:
        """Around what stores an object: its quotas have a place for it, or StatusError is raised.
        Nothing is taken from them unless it is `for_good`."""
        if not self.quotas.are_in(call.target.namespace):
            return contextlib.nullcontext()
        request = writing.request_of(call.target, operation, new, old, call.user)
        return self.quotas.charged(request, for_good=for_good)

    async def _review(self, call: Call, request: Request) -> None:
        engine = self.policies.engine()
        kind = request.resource, request.subresource, request.operation
        verdict = await self.pace.step(call.work, kind, engine, self._verdict, engine, request)
        call.notes.warnings += verdict.warnings
        call.notes.annotate(verdict.audit_annotations)
        if not verdict.allowed:
            raise Denied(verdict)

    def _verdict(self, engine: Engine, request: Request) -> Verdict:
        began = self.timer.begin()
        verdict = engine.review(request, self.world, self.timer)
        self.timer.ended(began, request.operation.value, verdict)
        return verdict


def _heed(call: Call, opinion: Opinion) -> None:
    """Keep what plugins say of a request. Raises StatusError for a refusal."""
    call.notes.warnings += opinion.warnings
    call.notes.annotate(opinion.audit_annotations)
    raise_refusal(opinion.refusal)
