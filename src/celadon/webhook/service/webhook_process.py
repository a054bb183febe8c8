"""A webhook process from its settings to its end.

The end has two parts. First, for `shutdown_delay` seconds, the webhook says that it is not ready
and goes on; each answer is the last of its connection, so that API servers, which keep theirs open,
go to another replica. Then it stops listening, and what was begun, or was on its way, is finished.
So no request fails for the end of a replica.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import random
import signal
import socket
import ssl
import time
from collections.abc import Callable, Coroutine
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

import uvloop
from cryptography import x509

from celadon.apiserver.http import (
    Address,
    ConnectionLimits,
    CredentialsFolder,
    HttpServer,
    ServerTls,
    StartError,
    TlsSettings,
    allow_many_connections,
    open_listener,
    server_tls,
    settle_memory,
)
from celadon.apiserver.operation import LIFE, say
from celadon.webhook.deciding import PolicySource
from celadon.webhook.service.decision_log import DecisionLog
from celadon.webhook.service.policy_answers import PolicyAnswers
from celadon.webhook.service.readiness import OwnPages
from celadon.webhook.service.review_handler import Answering
from celadon.webhook.service.webhook_settings import WebhookSettings

_LOG: Final = logging.getLogger("celadon.webhook")
LOOK_SECONDS: Final = 2.0
"""Between two looks at files."""


def run_webhook(
    settings: WebhookSettings, source: PolicySource, ready: Callable[[str], None]
) -> None:
    """Serve until SIGTERM or SIGINT; `ready` is called with the URL once connections are accepted.
    Raises StartError."""
    with contextlib.ExitStack() as stack:
        listener = stack.enter_context(open_listener(settings.listen))
        log = _log(settings, stack)

        async def serve() -> None:
            answers = PolicyAnswers(settings, source, log, forks=True)
            await serve_webhook(settings, answers, listener, ready)

        run_loop(serve())


def run_loop(serving: Coroutine[None, None, None]) -> None:
    """All that the process does from now on."""
    allow_many_connections()
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(serving)


def _log(settings: WebhookSettings, stack: contextlib.ExitStack) -> DecisionLog | None:
    if settings.decision_log is None:
        return None
    try:
        log = DecisionLog(settings.decision_log, time.time, random.random)
    except OSError as error:
        raise StartError(f"`{settings.decision_log.path}`: {error.strerror}") from error
    stack.callback(log.close)
    return log


async def serve_webhook(
    settings: WebhookSettings,
    answering: Answering,
    listener: socket.socket,
    ready: Callable[[str], None],
) -> None:
    """Until SIGTERM or SIGINT; `ready` is as for `run_webhook`."""
    loop = asyncio.get_running_loop()
    webhook = Webhook(settings, answering)
    address = settings.listen
    scheme = "http" if settings.certificate is None else "https"
    url = type(address)(address.host, listener.getsockname()[1]).url(scheme)
    settle_memory()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, webhook.end)
    await webhook.serve(listener, lambda: ready(url))


class Webhook:
    """A webhook in the running loop."""

    def __init__(self, settings: WebhookSettings, answering: Answering) -> None:
        self._settings = settings
        self._answering = answering
        self._loop = asyncio.get_running_loop()
        self.is_ending = False
        pages = OwnPages(answering, settings, lambda: self.is_ending)
        self._server = HttpServer(
            pages.handle,
            lambda: self._ready(),
            None if settings.certificate is None else settings.certificate.context,
            ConnectionLimits(
                body_bytes=settings.body_bytes,
                linger_seconds=settings.linger_seconds,
                drain_seconds=settings.drain_seconds,
            ),
            answering.prompt,
        )
        self._ready: Callable[[], None] = lambda: None

    async def serve(self, listener: socket.socket, ready: Callable[[], None]) -> None:
        """Until `end`."""
        self._ready = ready
        beside = (one() for one in self._settings.beside)
        running = (self._answering.run(), self._look(), *beside)
        tasks = [self._loop.create_task(one) for one in running]
        for task in tasks:
            task.add_done_callback(self._noticed)
        try:
            await self._server.serve([listener])
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    def _noticed(self, task: asyncio.Task[None]) -> None:
        """What should run as long as we do has ended: a bug, and no state to go on in."""
        if not task.cancelled() and task.exception() is not None:
            _LOG.error("the webhook ends: this is a bug in celadon", exc_info=task.exception())
            self.end()

    def end(self) -> None:
        """The first call asks, the second insists."""
        delay = 0.0 if self.is_ending else self._settings.shutdown_delay
        say(LIFE, "the webhook ends", {"delaySeconds": delay})
        self.is_ending = True
        self._server.retire()
        self._loop.call_later(delay, self._server.end)

    async def _look(self) -> None:
        while True:
            await asyncio.sleep(LOOK_SECONDS)
            if self._settings.certificate is not None:
                self._settings.certificate.reload()
            self._answering.look()


# --- File certificate --------------------------------------------------------
#
# TLS with a certificate from files, read again when they change, or with one made for the day.


class ServedCertificate:
    """A `Certificate`; `pem` gives the one in use."""

    def __init__(self, tls: ServerTls, pem: Callable[[], bytes]) -> None:
        self._tls = tls
        self._pem = pem
        self._expires = _end_of(pem())

    @property
    def context(self) -> ssl.SSLContext:
        """Chooses the newest certificate for each handshake."""
        return self._tls.context

    @property
    def trusted(self) -> bytes:
        """Return what clients should trust: the `caBundle`, PEM."""
        return self._tls.trusted

    def reload(self) -> bool:
        """Return whether files have changed, and are in use now."""
        changed = self._tls.reload()
        if changed:
            self._expires = _end_of(self._pem())
        return changed

    def expires(self) -> float:
        """In Unix time."""
        return self._expires


def certificate_of(settings: TlsSettings, listen: Address) -> ServedCertificate | None:
    """Return the certificate of a server; None for plain HTTP. Raises StartError."""
    kept = CredentialsFolder(None)
    now = datetime.now(UTC)
    try:
        tls = server_tls(settings, listen, kept, now)
        if tls is None:
            return None
        given = settings.certificate
        if given is not None:
            return ServedCertificate(tls, given.read_bytes)
        names = () if listen.is_wildcard else (listen.host,)
        pair = kept.server(names, now)
        return ServedCertificate(tls, lambda: pair.certificate)
    except OSError as error:
        raise StartError(f"`{error.filename}`: {error.strerror}") from error


def _end_of(pem: bytes) -> float:
    return x509.load_pem_x509_certificate(pem).not_valid_after_utc.timestamp()


def write_trusted(certificate: ServedCertificate, path: Path) -> None:
    """The authority for clients that are to trust a made certificate. Raises StartError."""
    try:
        path.write_bytes(certificate.trusted)
    except OSError as error:
        raise StartError(f"`{path}`: {error.strerror}") from error
