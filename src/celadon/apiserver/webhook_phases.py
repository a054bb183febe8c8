"""The webhooks of a server: which a request concerns, and the calls that the chain asks for.

Nothing here has a socket: a `Caller` makes the calls.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from time import perf_counter
from typing import Final, Protocol

import httpcore

from celadon.admission import Request, World
from celadon.admission.chain import WebhookCalls
from celadon.admission.plugins import ImageVerdict
from celadon.admission.webhooks import (
    Call,
    MutatingPhase,
    NoReply,
    Readmit,
    Reply,
    ValidatingPhase,
    WebhookNotes,
    http_failure,
)
from celadon.apiserver.caches.webhook_view import WebhookView
from celadon.apiserver.clientconfig.client_credentials import CredentialsError
from celadon.apiserver.clientconfig.cluster_location import (
    ClusterLocation,
    given_cluster,
    tls_to_cluster,
)
from celadon.apiserver.clientconfig.go_network import GoNetwork
from celadon.apiserver.clientconfig.kubeconfig_file import KubeconfigError
from celadon.apiserver.http_messages import NetworkFailure
from celadon.apiserver.operation.request_limits import in_task
from celadon.apiserver.operation.webhook_counts import CountedCalls, WebhookCounts
from celadon.apiserver.webhook_client import BrokenBody, Exchange, as_json
from celadon.kube import JsonObject, status
from celadon.kube.go import quote
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


# --- Image backend -----------------------------------------------------------
#
# The backend of ImagePolicyWebhook: what its answers are, and how it is asked over HTTPS.
#
# As k8s.io/apiserver `pkg/util/webhook/webhook.go`: the cluster and the user of a kubeconfig; a
# server that fails or is busy is asked up to five times, each time after a longer pause.


TIMEOUT_SECONDS: Final = 30
ATTEMPTS: Final = 5
GROWTH: Final = 1.5
"""Of the pause from one attempt to the next."""
_AGAIN: Final = frozenset({429, 500, 504})


class NoAnswer(Exception):
    """Why there is none, in Go's words."""


class ImageBackend:
    """`backoff` are the seconds before the second attempt; `clock` is Unix time. Belongs to the
    event loop in which it is first used."""

    def __init__(self, kubeconfig: str, backoff: float, clock: Callable[[], float]) -> None:
        self._kubeconfig = kubeconfig
        self._backoff = backoff
        self._clock = clock
        self._location: ClusterLocation | None = None
        self._pool: httpcore.AsyncConnectionPool | None = None

    async def ask(self, review: JsonObject) -> ImageVerdict:
        """Raises NoAnswer."""
        try:
            location, pool = await self._connected()
            own = await location.credentials.headers()
        except (KubeconfigError, CredentialsError) as error:
            raise NoAnswer(str(error)) from None
        url = f"{location.cluster.server.rstrip('/')}?timeout={TIMEOUT_SECONDS}s"
        body = json.dumps(review, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"
        reply = await self._reply(Exchange(pool, url, body, own), url)
        for again in range(ATTEMPTS - 1):
            if reply.code not in _AGAIN:
                break
            await asyncio.sleep(self._backoff * GROWTH**again)
            reply = await self._reply(Exchange(pool, url, body, own), url)
        return _verdict(reply)

    async def aclose(self) -> None:
        """Close what is kept."""
        if self._pool is not None:
            await self._pool.aclose()

    async def _connected(self) -> tuple[ClusterLocation, httpcore.AsyncConnectionPool]:
        if self._location is None or self._pool is None:
            self._location = given_cluster(Path(self._kubeconfig), "", {}, self._clock)
            context = await tls_to_cluster(self._location)
            network = GoNetwork(lambda host, port: (host, port))
            self._pool = httpcore.AsyncConnectionPool(ssl_context=context, network_backend=network)
        return self._location, self._pool

    async def _reply(self, asked: Exchange, url: str) -> Reply:
        try:
            async with asyncio.timeout(TIMEOUT_SECONDS):
                return await asked.reply()
        except TimeoutError:
            raise NoAnswer(f"Post {quote(url)}: context deadline exceeded") from None
        except (NetworkFailure, BrokenBody) as error:
            raise NoAnswer(f"Post {quote(asked.url)}: {error}") from None


def _verdict(reply: Reply) -> ImageVerdict:
    """Raises NoAnswer."""
    failed = http_failure(reply, "application/json", as_json)
    if failed is not None:
        raise NoAnswer(failed[0])
    try:
        answer = json.loads(reply.body)
    except ValueError:
        answer = None
    status = answer.get("status") if isinstance(answer, dict) else None
    if not isinstance(status, dict):
        raise NoAnswer("the backend's answer is no ImageReview with a status")
    told = status.get("auditAnnotations")
    return ImageVerdict(
        status.get("allowed") is True,
        str(status.get("reason") or ""),
        {str(key): str(text) for key, text in told.items()} if isinstance(told, dict) else {},
    )
