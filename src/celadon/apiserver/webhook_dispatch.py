"""The webhooks of a server: those in force, which of them a request concerns, and the calls that
the chain asks for.

Nothing here has a socket: a `Caller` makes the calls.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from time import perf_counter
from typing import Protocol

from celadon.admission import Request, World
from celadon.admission.chain import WebhookCalls
from celadon.admission.registration import RegistrationError, WebhookConfiguration, decode_webhooks
from celadon.admission.static_manifests import NOTHING, StaticObjects
from celadon.admission.webhooks import (
    Call,
    HookSet,
    MutatingPhase,
    NoReply,
    Readmit,
    Reply,
    ValidatingPhase,
    WebhookNotes,
)
from celadon.apiserver.caches.policy_cache import no_static
from celadon.apiserver.caches.store_informers import Mirror
from celadon.apiserver.http_messages import AnswerRoom, HeldBytes
from celadon.apiserver.loop_offloading import LARGE_BYTES, YAML_WEIGHT, RequestWork, may_copy
from celadon.apiserver.object_store import ObjectStore, StoredObject, collection_prefix
from celadon.apiserver.operation.request_limits import in_task
from celadon.apiserver.operation.webhook_counts import CountedCalls, WebhookCounts
from celadon.apiserver.webhook_routes import as_json
from celadon.apiserver.workers import TooMuchWork, on_loop
from celadon.kube import GroupVersionResource, StatusError, status
from celadon.kube.resources import known_resources
from celadon.kube.well_known_values import ADMISSION_REGISTRATION
from celadon.records import dataclass, field

# --- The webhooks in force ---------------------------------------------------
#
# The webhook configurations in the store, as sets of hooks that know whom they concern; with them
# static ones, from files of the server.
#
# A configuration is decoded once, when the first request comes after it was written, by a worker
# of that request; its conditions are compiled when a request concerns them. One that cannot be
# decoded (it was stored by another release) takes no part.


@dataclass(frozen=True, slots=True, eq=False)
class StoredWebhooks:
    """Holds what a set of hooks is made of. It is one object for as long as all is the same."""

    objects: tuple[StoredObject, ...]
    static: StaticObjects

    @property
    def is_empty(self) -> bool:
        """Return whether there are no webhooks."""
        return not self.objects and not self.static.objects


class WebhookView:
    """The webhooks of one type; `version` is the release whose CEL their conditions are in,
    `static` gives those of files, the same object for as long as they are the same. Its hooks are
    kept with what they were made of, as the engines of `policy_cache` are."""

    def __init__(
        self,
        objects: ObjectStore,
        version: str,
        *,
        mutating: bool,
        static: Callable[[], StaticObjects] = no_static,
    ) -> None:
        kind = "mutating" if mutating else "validating"
        resource = known_resources().by_gvr(
            GroupVersionResource(ADMISSION_REGISTRATION, "v1", f"{kind}webhookconfigurations")
        )
        assert resource is not None
        self._mutating = mutating
        self._mirror = Mirror(objects, collection_prefix(resource))
        self._static = static
        self._stored = StoredWebhooks(tuple(self._mirror), NOTHING)
        self._decoded: dict[int, WebhookConfiguration | None] = {}
        self._latest_hooks = (
            self._stored,
            self._with_objects(HookSet(version=version), self._stored),
        )

    @on_loop
    def rules(self) -> StoredWebhooks:
        """Return the webhooks in force: another object when they have changed. Nothing is compiled
        for it."""
        changed, static = self._mirror.refresh(), self._static()
        if changed or static is not self._stored.static:
            objects = tuple(self._mirror) if changed else self._stored.objects
            self._stored = StoredWebhooks(objects, static)
        return self._stored

    def hooks(self, rules: StoredWebhooks) -> HookSet:
        """Return all that `rules` has told of, in whatever thread."""
        made_for, hooks = self._latest_hooks
        if made_for is not rules:
            if made_for.objects is not rules.objects:
                hooks = self._with_objects(hooks, rules)
            if made_for.static is not rules.static:
                hooks = hooks.with_static(rules.static.of(WebhookConfiguration))
            self._latest_hooks = rules, hooks
        return hooks

    def _with_objects(self, hooks: HookSet, rules: StoredWebhooks) -> HookSet:
        configurations = self._decoded
        decoded = {obj.revision: self._configuration(obj, configurations) for obj in rules.objects}
        self._decoded = decoded
        return hooks.replaced(
            [configuration for configuration in decoded.values() if configuration is not None]
        )

    def _configuration(
        self, stored: StoredObject, configurations: Mapping[int, WebhookConfiguration | None]
    ) -> WebhookConfiguration | None:
        """Return the configuration, the same object as before for what has not changed, so that it
        is not compiled again."""
        if stored.revision in configurations:
            return configurations[stored.revision]
        try:
            return decode_webhooks(stored.object, mutating=self._mutating).value
        except RegistrationError:
            return None


class Caller(Protocol):
    """Makes a call, within so many seconds. `body` is what is sent, `held` counts what is read."""

    def __call__(
        self, call: Call, seconds: float, *, mutating: bool, held: HeldBytes, body: bytes
    ) -> Awaitable[Reply | NoReply]: ...


Remaining = Callable[[], float]
"""The seconds that are left of a request's time."""


class Webhooks:
    """Holds both types of webhooks of a server; a view is None where its plugin is switched off."""

    def __init__(
        self,
        mutating: WebhookView | None,
        validating: WebhookView | None,
        world: World,
        caller: Caller,
        new_uid: Callable[[], str],
        counts: WebhookCounts,
    ) -> None:
        self._counts = counts
        self._room = AnswerRoom()
        self._mutating = mutating
        self._validating = validating
        self._world = world
        self._caller = caller
        self._new_uid = new_uid

    def mutating_hooks(self, request: Request, rules: StoredWebhooks | None) -> HookSet | None:
        """Return those that there are by the rules; None if none could have a say in requests like
        this one."""
        return self._concerned(self._mutating, request, rules)

    def mutation(self, hooks: HookSet, readmit: Readmit, *, coarse_times: bool) -> MutatingPhase:
        """Return the mutating phase of one request."""
        return MutatingPhase(
            hooks, self._world, readmit, self._new_uid, as_json, coarse_times=coarse_times
        )

    def validating_hooks(self, request: Request, rules: StoredWebhooks | None) -> HookSet | None:
        """Work as `mutating_hooks`."""
        return self._concerned(self._validating, request, rules)

    def _concerned(
        self, view: WebhookView | None, request: Request, rules: StoredWebhooks | None
    ) -> HookSet | None:
        if view is None or rules is None or rules.is_empty:
            return None
        hooks = view.hooks(rules)
        return hooks if hooks.concerns(request, self._world) else None

    def validation(self, hooks: HookSet, request: Request) -> ValidatingPhase:
        """Return the validating phase of one request, in whatever thread. Raises StatusError where
        it cannot be told whom to ask."""
        return ValidatingPhase(hooks, request, self._world, self._new_uid, as_json)

    def rules(self, *, mutating: bool) -> StoredWebhooks | None:
        """Return what is another object when webhooks have changed. Nothing is compiled for it."""
        view = self._mutating if mutating else self._validating
        return None if view is None else view.rules()

    @asynccontextmanager
    async def round(
        self, notes: WebhookNotes, operation: str, work: RequestWork, *, mutating: bool
    ) -> AsyncIterator[Calling]:
        """Make a round of calls, which are counted at its end, whatever came of them. `work` is
        that of the request."""
        begin = self._counts.mutating_round if mutating else self._counts.validating_round
        await in_task()
        counted = begin(notes, operation)
        calling = Calling(self._caller, counted, work, self._room)
        try:
            yield calling
        finally:
            counted.end()
            calling.forget()


@dataclass(frozen=True, slots=True)
class Calling:
    """Makes the calls of a round. What is long of an answer is read aside."""

    caller: Caller
    counted: CountedCalls
    work: RequestWork
    room: AnswerRoom
    held_bytes: list[HeldBytes] = field(default_factory=list)

    async def answer(self, calls: WebhookCalls, remaining: Remaining) -> None:
        """Make calls, side by side if there are several, and say what came of each as it ends.
        Raises StatusError 504 when the time of the request is over, TooMuchWork."""
        if self.counted.mutating:  # one after the other; the reply to a late call is not taken
            for call in calls.calls:
                reply = await self._called(call, remaining)
                _require_time(remaining)
                calls.answer(call, reply)
            return
        one_at_a_time = asyncio.Lock()
        failed: list[StatusError | TooMuchWork] = []

        async def ask(call: Call) -> None:
            try:
                reply = await self._called(call, remaining)
                async with one_at_a_time:
                    await self.work.step(calls.answer, call, reply)
            except (StatusError, TooMuchWork) as error:
                failed.append(error)

        async with asyncio.TaskGroup() as group:
            for call in calls.calls:
                group.create_task(ask(call))
        if failed:
            raise failed[0]
        _require_time(remaining)

    def forget(self) -> None:
        """Give back the room of answers: what was answered has been read."""
        for item in self.held_bytes:
            item.give_back()

    async def _called(self, call: Call, remaining: Remaining) -> Reply | NoReply:
        held_bytes = HeldBytes(self.room)
        self.held_bytes.append(held_bytes)
        body = await self.work.step(_body, call)
        began = perf_counter()
        reply = await self.caller(
            call, remaining(), mutating=self.counted.mutating, held=held_bytes, body=body
        )
        self.counted.took(call.hook.uid, perf_counter() - began)
        if isinstance(reply, Reply):  # reading it may take long, and so may what it makes
            is_large = len(reply.body) * YAML_WEIGHT > LARGE_BYTES
            self.work.is_large |= is_large or may_copy(reply.body)
        return reply


def _body(call: Call) -> bytes:
    return call.body


def _require_time(remaining: Remaining) -> None:
    """Require that the time of the request is not over, whatever came of its calls. Raises
    StatusError 504."""
    if remaining() <= 0:
        raise status.timeout(
            "request did not complete within requested timeout - context deadline exceeded"
        )
