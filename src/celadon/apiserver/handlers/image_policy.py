"""ImagePolicyWebhook: a backend says which images may run. What it said is remembered for a while.

It waits for somebody else, so that it is no function of a request as the other plugins are. As
k8s.io/kubernetes `plugin/pkg/admission/imagepolicy`; the backend as k8s.io/apiserver
`pkg/util/webhook/webhook.go`: the cluster and the user of a kubeconfig, asked over HTTPS; a server
that fails or is busy is asked up to five times, each time after a longer pause.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections import OrderedDict
from collections.abc import Callable
from pathlib import Path
from typing import Final

import httpcore

from celadon.admission import Request, plugins
from celadon.admission.webhooks import Reply, http_failure
from celadon.apiserver import clientconfig
from celadon.apiserver.go_network import GoNetwork
from celadon.apiserver.http_messages import NetworkFailure
from celadon.apiserver.webhook_client import BrokenBody, Exchange, without_password
from celadon.apiserver.webhook_routes import as_json
from celadon.kube import JsonObject
from celadon.kube.go import quote

MOST_REMEMBERED: Final = 1024
FINE: Final = plugins.Opinion()
TIMEOUT_SECONDS: Final = 30
ATTEMPTS: Final = 5
GROWTH: Final = 1.5
"""Of the pause from one attempt to the next."""
_AGAIN: Final = frozenset({429, 500, 504})


class ImagePolicy:
    """Asks the backend of `settings` about pods. `seconds` is a clock that never goes back, `clock`
    is Unix time."""

    def __init__(
        self,
        settings: plugins.ImagePolicySettings,
        seconds: Callable[[], float],
        clock: Callable[[], float],
    ) -> None:
        self._settings = settings
        self._seconds = seconds
        self._backend = ImageBackend(settings.kubeconfig, settings.backoff, clock)
        self._verdicts: OrderedDict[bytes, tuple[float, plugins.ImageVerdict]] = OrderedDict()

    async def opinion(self, request: Request) -> plugins.Opinion:
        """Return the backend's opinion about the images of a pod."""
        review = plugins.image_review(request)
        if review is None:
            return FINE
        try:
            verdict = await self._verdict(review)
        except NoAnswer as error:
            allowed = self._settings.default_allow
            return plugins.unanswered_opinion(request, str(error), allowed=allowed)
        return plugins.image_opinion(request, verdict)

    async def aclose(self) -> None:
        """Close the connections that are kept."""
        await self._backend.aclose()

    async def _verdict(self, review: JsonObject) -> plugins.ImageVerdict:
        key = hashlib.sha256(json.dumps(review["spec"], sort_keys=True).encode()).digest()
        cached = self._verdicts.get(key)
        if cached is not None and self._seconds() < cached[0]:
            self._verdicts.move_to_end(key)
            return cached[1]
        verdict = await self._backend.ask(review)
        settings = self._settings
        lifetime = settings.allow_seconds if verdict.allowed else settings.deny_seconds
        self._verdicts[key] = (self._seconds() + lifetime, verdict)
        self._verdicts.move_to_end(key)
        if len(self._verdicts) > MOST_REMEMBERED:
            self._verdicts.popitem(last=False)
        return verdict


# --- The backend -------------------------------------------------------------


class NoAnswer(Exception):
    """Says, in Go's words, why the backend gave no answer."""


class ImageBackend:
    """Asks the backend of ImagePolicyWebhook. `backoff` are the seconds before the second attempt;
    `clock` is Unix time. Belongs to the event loop in which it is first used."""

    def __init__(self, kubeconfig: str, backoff: float, clock: Callable[[], float]) -> None:
        self._kubeconfig = kubeconfig
        self._backoff = backoff
        self._clock = clock
        self._location: clientconfig.ClusterLocation | None = None
        self._pool: httpcore.AsyncConnectionPool | None = None

    async def ask(self, review: JsonObject) -> plugins.ImageVerdict:
        """Ask the backend about images. Raises NoAnswer."""
        try:
            location, pool = await self._connected()
            headers = await location.credentials.headers()
        except (clientconfig.KubeconfigError, clientconfig.CredentialsError) as error:
            raise NoAnswer(str(error)) from None
        url = f"{location.cluster.server.rstrip('/')}?timeout={TIMEOUT_SECONDS}s"
        body = json.dumps(review, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"
        reply = await self._reply(Exchange(pool, url, body, headers), url)
        for again in range(ATTEMPTS - 1):
            if reply.code not in _AGAIN:
                break
            await asyncio.sleep(self._backoff * GROWTH**again)
            reply = await self._reply(Exchange(pool, url, body, headers), url)
        return _verdict(reply)

    async def aclose(self) -> None:
        """Close the connections that are kept."""
        if self._pool is not None:
            await self._pool.aclose()

    async def _connected(self) -> tuple[clientconfig.ClusterLocation, httpcore.AsyncConnectionPool]:
        if self._location is None or self._pool is None:
            self._location = clientconfig.given_cluster(Path(self._kubeconfig), "", {}, self._clock)
            context = await clientconfig.tls_to_cluster(self._location)
            network = GoNetwork(lambda host, port: (host, port))
            self._pool = httpcore.AsyncConnectionPool(ssl_context=context, network_backend=network)
        return self._location, self._pool

    async def _reply(self, exchange: Exchange, url: str) -> Reply:
        try:
            async with asyncio.timeout(TIMEOUT_SECONDS):
                return await exchange.reply()
        except TimeoutError:
            raise NoAnswer(f"Post {quote(url)}: context deadline exceeded") from None
        except (NetworkFailure, BrokenBody) as error:
            raise NoAnswer(f"Post {quote(without_password(exchange.url))}: {error}") from None


def _verdict(reply: Reply) -> plugins.ImageVerdict:
    """Read the backend's verdict. Raises NoAnswer."""
    failed = http_failure(reply, as_json)
    if failed is not None:
        raise NoAnswer(failed[0])
    try:
        answer = json.loads(reply.body)
    except (ValueError, RecursionError):
        answer = None
    status = answer.get("status") if isinstance(answer, dict) else None
    if not isinstance(status, dict):
        raise NoAnswer("the backend's answer is no ImageReview with a status")
    audit_annotations = status.get("auditAnnotations")
    return plugins.ImageVerdict(
        status.get("allowed") is True,
        str(status.get("reason") or ""),
        {str(key): str(text) for key, text in audit_annotations.items()}
        if isinstance(audit_annotations, dict)
        else {},
    )
