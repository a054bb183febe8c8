"""The webhooks of a request, asked: what `celadon.admission.webhooks` wants to know is found out.

Nothing here has a socket: a `Caller` makes the calls.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from time import perf_counter
from typing import Protocol

from celadon.admission import Request, World
from celadon.admission.webhooks import (
    Call,
    MutatingPhase,
    NoReply,
    Readmit,
    Reply,
    ValidatingPhase,
)
from celadon.kube import JsonObject, status
from celadon.serve.calling.reply_bodies import as_json
from celadon.serve.operation.prompt_tasks import in_task
from celadon.serve.operation.webhook_counts import CountedCalls, WebhookCounts
from celadon.serve.views.webhook_view import WebhookView


class Caller(Protocol):
    """Makes a call, within so many seconds."""

    def __call__(
        self, call: Call, seconds: float, *, mutating: bool
    ) -> Awaitable[Reply | NoReply]: ...


Remaining = Callable[[], float]
"""The seconds that are left of a request's time."""


class Webhooks:
    """Both types of webhooks of a server; a view is None where its plugin is switched off."""

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
        self._mutating = mutating
        self._validating = validating
        self._world = world
        self._caller = caller
        self._new_uid = new_uid

    def mutates(self, request: Request) -> bool:
        """Whether any mutating webhook could have a say in requests like this one."""
        return self._mutating is not None and self._mutating.hooks().concerns(request, self._world)

    def mutation(self, readmit: Readmit, *, coarse_times: bool) -> MutatingPhase:
        """For one request."""
        assert self._mutating is not None, "asked only after `mutates`"
        hooks = self._mutating.hooks()
        return MutatingPhase(
            hooks, self._world, readmit, self._new_uid, as_json, coarse_times=coarse_times
        )

    async def run_round(
        self, phase: MutatingPhase, request: Request, number: int, remaining: Remaining
    ) -> JsonObject | None:
        """The object as a round of mutating webhooks has left it. Raises StatusError."""
        await in_task()
        asking = phase.round(request, number)
        counted = self._counts.mutating_round(phase.notes, request.operation.value)
        try:
            call = next(asking)
            while True:
                reply = await self._called(call, remaining, counted)
                _require_time(remaining)
                call = asking.send(reply)
        except StopIteration as end:
            made: JsonObject | None = end.value
            return made
        finally:
            counted.end()

    async def validate(self, request: Request, remaining: Remaining) -> ValidatingPhase | None:
        """The phase when all have answered; None if nobody was asked. Raises StatusError where it
        cannot be told whom to ask."""
        if self._validating is None:
            return None
        hooks = self._validating.hooks()
        if not hooks.concerns(request, self._world):
            return None
        phase = ValidatingPhase(hooks, request, self._world, self._new_uid, as_json)

        counted = self._counts.validating_round(phase.notes, request.operation.value)

        async def ask(call: Call) -> None:
            phase.answer(call, await self._called(call, remaining, counted))

        await in_task()
        try:
            async with asyncio.TaskGroup() as group:
                for call in phase.calls:
                    group.create_task(ask(call))
        finally:
            counted.end()
        _require_time(remaining)
        return phase

    async def _called(
        self, call: Call, remaining: Remaining, counted: CountedCalls
    ) -> Reply | NoReply:
        began = perf_counter()
        reply = await self._caller(call, remaining(), mutating=counted.mutating)
        counted.took(call.hook.uid, perf_counter() - began)
        return reply


def _require_time(remaining: Remaining) -> None:
    """Raises StatusError 504 when the time of the request is over, whatever came of its calls."""
    if remaining() <= 0:
        raise status.timeout(
            "request did not complete within requested timeout - context deadline exceeded"
        )
