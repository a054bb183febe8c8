"""A webhook process from its settings to its end: the queue of reviews, how the policies are, what
it says of its health.

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
from collections.abc import Callable, Coroutine, Iterable, Iterator
from contextlib import nullcontext
from datetime import UTC, datetime
from pathlib import Path
from typing import Final, Protocol

import uvloop
from cryptography import x509

from celadon import private_files
from celadon.admission import Request, Verdict
from celadon.apiserver import HttpAnswer, HttpRequest, Workers, plain_text
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
from celadon.apiserver.operation import CONTENT_TYPE, LIFE, Family, exposition, say
from celadon.records import dataclass
from celadon.webhook.review_decisions import PolicySource, described
from celadon.webhook.service import review_handler
from celadon.webhook.service.decision_log import DecisionLog, DecisionLogSettings
from celadon.webhook.service.webhook_metrics import WebhookMetrics

# --- Settings ----------------------------------------------------------------

MOST_BYTES: Final = 7 << 20
"""Of a body: two objects of 3 MiB and what is around them (as controller-runtime)."""


class Certificate(Protocol):
    """Holds what TLS needs, from files or made by ourselves."""

    @property
    def context(self) -> ssl.SSLContext:
        """The listener serves with this for as long as it listens."""
        ...

    def reload(self) -> bool:
        """Look whether there is a newer one. Called every few seconds."""
        ...

    def expires(self) -> float:
        """Return when the certificate in use ends, in Unix time."""
        ...


@dataclass(frozen=True, slots=True)
class WebhookSettings:
    """Holds the settings of a webhook process. `certificate` None is plain HTTP. `in_flight` is how
    many reviews may wait or be decided at once (0: any number), `seconds` how long one may take
    whose caller does not say. For `shutdown_delay` seconds after it was told to end, the webhook is
    not ready and goes on; then it stops listening, waits `linger_seconds` for requests that are on
    their way, and what was begun may take `drain_seconds`."""

    listen: Address
    certificate: Certificate | None
    audit_only: bool = False
    decision_log: DecisionLogSettings | None = None
    in_flight: int = 400
    body_bytes: int = MOST_BYTES
    seconds: float = 10.0
    shutdown_delay: float = 5.0
    linger_seconds: float = 1.0
    drain_seconds: int = 30
    known_callers: bool = False
    """Whether reviews are taken only from callers with a certificate."""
    denied: Callable[[Request, Verdict], None] | None = None
    """Is told of each request that was denied, or would have been without `audit_only`."""
    beside: tuple[Callable[[], Coroutine[None, None, None]], ...] = ()
    """What else runs as long as the webhook does; the webhook ends if any of it fails."""
    waits_for: tuple[Callable[[], str], ...] = ()
    """Each says what the webhook cannot be ready without; empty when it is there."""
    remarks: tuple[Callable[[], Iterable[str]], ...] = ()
    """What an operator should look at, although the webhook is ready."""
    families: tuple[Family, ...] = ()
    """What `/metrics` shows besides."""

    @property
    def expires(self) -> Callable[[], float] | None:
        """Return when the certificate ends, if there is one."""
        return None if self.certificate is None else self.certificate.expires


# --- Reviews that policies answer --------------------------------------------
#
# Reviews that policies answer: the queue, the handler behind it, and how they are.

# --- Readiness ---------------------------------------------------------------
#
# What any webhook says about itself at `/healthz`, `/livez`, `/readyz` and `/metrics`.

PAGES: Final = ("/healthz", "/livez", "/readyz", "/metrics")
_READING: Final = ("GET", "HEAD")


class OwnPages:
    """The handler of all requests that are not answered promptly. `is_ending` says whether the end
    was asked for."""

    def __init__(
        self,
        answering: review_handler.Answering,
        settings: WebhookSettings,
        is_ending: Callable[[], bool],
    ) -> None:
        self._answering = answering
        self._settings = settings
        self._is_ending = is_ending
        written = (_well, _well, self._readyz, self._metrics_page)
        self._pages = dict(zip(PAGES, written, strict=True))

    async def handle(self, request: HttpRequest) -> HttpAnswer:
        """Answer with one of the pages, or with what the webhook answers."""
        page = self._pages.get(request.path)
        if page is None:
            return await self._answering.handle(request)
        if request.method not in _READING:
            return _text(405, "method not allowed", ("Allow", "GET"))
        return page(request)

    def _readyz(self, request: HttpRequest) -> HttpAnswer:
        failing = [text for is_good, text in self._checks() if not is_good]
        if not failing and "verbose" not in request.query:
            return _text(200, "ok")
        marks = "\n".join(f"[{'+' if good else '-'}]{text}" for good, text in self._checks())
        verdict = "readyz check failed" if failing else "readyz check passed"
        return _text(503 if failing else 200, f"{marks}\n{verdict}")

    def _checks(self) -> Iterator[tuple[bool, str]]:
        yield from self._answering.checks()
        for missing in filter(None, (item() for item in self._settings.waits_for)):
            yield False, f"waiting for {missing}"
        for remark in (remark for item in self._settings.remarks for remark in item()):
            yield True, f"ready, but {remark}"
        if self._is_ending():
            yield False, "shutdown in progress"
        else:
            yield True, "shutdown ok"

    def _metrics_page(self, _: HttpRequest) -> HttpAnswer:
        families = (*self._answering.families(), *self._settings.families)
        return HttpAnswer(200, CONTENT_TYPE, exposition(families).encode())


def _well(_: HttpRequest) -> HttpAnswer:
    return _text(200, "ok")


def _text(code: int, text: str, *headers: tuple[str, str]) -> HttpAnswer:
    return plain_text(code, f"{text}\n", *headers)


ONE_CALLER: Final = 1.0
"""Of a processor: an API server asks for all of its users."""


class PolicyAnswers:
    """An `Answering`. With `forks`, reviews that take long have processes of their own."""

    def __init__(
        self,
        settings: WebhookSettings,
        source: PolicySource,
        log: DecisionLog | None = None,
        *,
        forks: bool = False,
    ) -> None:
        self._source = source
        self._log = log
        self._metrics = WebhookMetrics(source, lambda: self.prompt.in_flight, settings.expires)
        handler = review_handler.ReviewHandler(
            source.rulebook,
            self._metrics,
            log,
            most_bytes=settings.body_bytes,
            audit_only=settings.audit_only,
            known_callers=settings.known_callers,
            denied=settings.denied,
            missing=lambda: source.state().missing,
        )
        workers = Workers(share=ONE_CALLER)
        if forks:
            workers.allow_forks(nullcontext)
        self._heavy = review_handler.HeavyReviews(handler, workers, source.stamp)
        self.prompt = review_handler.ReviewQueue(
            handler, settings.in_flight, settings.seconds, self._heavy
        )

    async def handle(self, request: HttpRequest) -> HttpAnswer:
        """Answer a request, never a review: those are offered to the queue first."""
        if request.path in review_handler.REVIEW_PATHS:
            text = "method not allowed: POST an AdmissionReview\n"
            return plain_text(405, text, ("Allow", "POST"))
        listed = ", ".join((*review_handler.REVIEW_PATHS, *PAGES))
        return plain_text(404, f"not found; there are {listed}\n")

    def checks(self) -> Iterator[tuple[bool, str]]:
        """Yield whether there are policies, and whether they are the newest."""
        state = self._source.state()
        rules = self._source.rulebook()
        for remark in state.remarks:
            yield True, f"policies: {remark}"
        if rules is None or state.missing:
            yield False, f"policies waiting for {described(state.missing)}"
        elif state.problems:
            yield True, f"policies ok, of an earlier version: {described(state.problems)}"
        else:
            yield True, f"policies ok ({rules.policies})"

    def families(self) -> Iterable[Family]:
        """Return the metrics of policies among them."""
        return self._metrics.families()

    async def run(self) -> None:
        """Keep the policies current."""
        try:
            await self._source.run()
        finally:
            self._heavy.stop()

    def look(self) -> None:
        """Open the decision log anew if somebody has moved it, and have heavy reviews decided by
        the newest policies."""
        self._heavy.look()
        if self._log is not None:
            self._log.reopen_if_moved()


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
    answering: review_handler.Answering,
    listener: socket.socket,
    ready: Callable[[str], None],
) -> None:
    """Serve until SIGTERM or SIGINT; `ready` is as for `run_webhook`."""
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
    """Runs a webhook in the running loop."""

    def __init__(self, settings: WebhookSettings, answering: review_handler.Answering) -> None:
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
        """Serve until `end`."""
        self._ready = ready
        beside = (item() for item in self._settings.beside)
        running = (self._answering.run(), self._look(), *beside)
        tasks = [self._loop.create_task(coroutine) for coroutine in running]
        for task in tasks:
            task.add_done_callback(self._noticed)
        try:
            await self._server.serve([listener])
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    def _noticed(self, task: asyncio.Task[None]) -> None:
        """End the webhook if a task has failed that should run as long as it does: a bug, and no
        state to go on in."""
        if not task.cancelled() and task.exception() is not None:
            _LOG.error("the webhook ends: this is a bug in celadon", exc_info=task.exception())
            self.end()

    def end(self) -> None:
        """End: the first call asks, the second insists."""
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
    """Serves a `Certificate`; `pem` gives the one in use."""

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
        """Return when the certificate ends, in Unix time."""
        return self._expires


def certificate_of(settings: TlsSettings, listen: Address) -> ServedCertificate | None:
    """Return the certificate of a server; None for plain HTTP. Raises StartError."""
    folder = CredentialsFolder(None)
    now = datetime.now(UTC)
    try:
        tls = server_tls(settings, listen, folder, now)
        if tls is None:
            return None
        path = settings.certificate
        if path is not None:
            return ServedCertificate(tls, lambda: private_files.content(path))
        names = () if listen.is_wildcard else (listen.host,)
        pair = folder.server(names, now)
        return ServedCertificate(tls, lambda: pair.certificate)
    except OSError as error:
        raise StartError(f"`{error.filename}`: {error.strerror}") from error


def _end_of(pem: bytes) -> float:
    return x509.load_pem_x509_certificate(pem).not_valid_after_utc.timestamp()


def write_trusted(certificate: ServedCertificate, path: Path) -> None:
    """Write the authority for clients that are to trust a made certificate. Raises StartError."""
    try:
        path.write_bytes(certificate.trusted)
    except OSError as error:
        raise StartError(f"`{path}`: {error.strerror}") from error
