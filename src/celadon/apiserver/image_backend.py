"""The backend of ImagePolicyWebhook: what its answers are, and how it is asked over HTTPS.

As k8s.io/apiserver `pkg/util/webhook/webhook.go`: the cluster and the user of a kubeconfig; a
server that fails or is busy is asked up to five times, each time after a longer pause.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from pathlib import Path
from typing import Final

import httpcore

from celadon.admission.plugins import ImageVerdict
from celadon.admission.webhooks import Reply, http_failure
from celadon.apiserver import clientconfig
from celadon.apiserver.go_network import GoNetwork
from celadon.apiserver.http_messages import NetworkFailure
from celadon.apiserver.webhook_client import BrokenBody, Exchange, without_password
from celadon.apiserver.webhook_routes import as_json
from celadon.kube import JsonObject
from celadon.kube.go import quote

TIMEOUT_SECONDS: Final = 30
ATTEMPTS: Final = 5
GROWTH: Final = 1.5
"""Of the pause from one attempt to the next."""
_AGAIN: Final = frozenset({429, 500, 504})


class NoAnswer(Exception):
    """Says, in Go's words, why the backend gave no answer."""


class ImageBackend:
    """`backoff` are the seconds before the second attempt; `clock` is Unix time. Belongs to the
    event loop in which it is first used."""

    def __init__(self, kubeconfig: str, backoff: float, clock: Callable[[], float]) -> None:
        self._kubeconfig = kubeconfig
        self._backoff = backoff
        self._clock = clock
        self._location: clientconfig.ClusterLocation | None = None
        self._pool: httpcore.AsyncConnectionPool | None = None

    async def ask(self, review: JsonObject) -> ImageVerdict:
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


def _verdict(reply: Reply) -> ImageVerdict:
    """Read the backend's verdict. Raises NoAnswer."""
    failed = http_failure(reply, "application/json", as_json)
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
    return ImageVerdict(
        status.get("allowed") is True,
        str(status.get("reason") or ""),
        {str(key): str(text) for key, text in audit_annotations.items()}
        if isinstance(audit_annotations, dict)
        else {},
    )
