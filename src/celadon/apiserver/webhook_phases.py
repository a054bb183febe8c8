"""The webhooks of a server: which a request concerns, and the calls that the chain asks for.

Nothing here has a socket: a `Caller` makes the calls.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from time import perf_counter
from typing import Protocol

from celadon.admission import Request, World
from celadon.admission.chain import WebhookCalls
from celadon.admission.webhooks import (
    Call,
    MutatingPhase,
    NoReply,
    Readmit,
    Reply,
    ValidatingPhase,
    WebhookNotes,
)
from celadon.apiserver.caches.webhook_view import WebhookView
from celadon.apiserver.operation.request_limits import in_task
from celadon.apiserver.operation.webhook_counts import CountedCalls, WebhookCounts
from celadon.apiserver.webhook_routes import as_json
from celadon.kube import status
from celadon.records import dataclass


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

    def may_validate(self, request: Request) -> bool:
        """Whether any validating webhook could have a say in requests like this one."""
        view = self._validating
        return view is not None and view.hooks().concerns(request, self._world)

    def validation(self, request: Request) -> ValidatingPhase:
        """For one request. Raises StatusError where it cannot be told whom to ask."""
        assert self._validating is not None, "asked only after `may_validate`"
        hooks = self._validating.hooks()
        return ValidatingPhase(hooks, request, self._world, self._new_uid, as_json)

    @asynccontextmanager
    async def round(
        self, notes: WebhookNotes, operation: str, *, mutating: bool
    ) -> AsyncIterator[Calling]:
        """Around a round of calls, which are counted at its end, whatever came of them."""
        begin = self._counts.mutating_round if mutating else self._counts.validating_round
        await in_task()
        counted = begin(notes, operation)
        try:
            yield Calling(self._caller, counted)
        finally:
            counted.end()


@dataclass(frozen=True, slots=True)
class Calling:
    """Makes the calls of a round."""

    caller: Caller
    counted: CountedCalls

    async def answer(self, calls: WebhookCalls, remaining: Remaining) -> None:
        """Make calls, side by side if there are several, and say what came of each as it ends.
        Raises StatusError 504 when the time of the request is over."""
        if self.counted.mutating:  # one after the other; the reply to a late call is not taken
            for call in calls.calls:
                reply = await self._called(call, remaining)
                _require_time(remaining)
                calls.answer(call, reply)
            return

        async def ask(call: Call) -> None:
            calls.answer(call, await self._called(call, remaining))

        async with asyncio.TaskGroup() as group:
            for call in calls.calls:
                group.create_task(ask(call))
        _require_time(remaining)

    async def _called(self, call: Call, remaining: Remaining) -> Reply | NoReply:
        began = perf_counter()
        reply = await self.caller(call, remaining(), mutating=self.counted.mutating)
        self.counted.took(call.hook.uid, perf_counter() - began)
        return reply


def _require_time(remaining: Remaining) -> None:
    """Raises StatusError 504 when the time of the request is over, whatever came of its calls."""
    if remaining() <= 0:
        raise status.timeout(
            "request did not complete within requested timeout - context deadline exceeded"
        )
