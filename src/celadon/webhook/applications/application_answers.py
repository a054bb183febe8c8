"""An application on the network: limits before it, an answer in any case, and what is counted.

What the application cannot be asked, or does not answer, is an HTTP error, as for policies: the
failure policy of the webhook's configuration decides then.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Callable, Iterable, Iterator, Mapping
from time import perf_counter
from typing import Any, Final

from celadon.serve import HttpAnswer, HttpRequest, plain_text
from celadon.serve.operation import Family
from celadon.serve.transport import open_listener
from celadon.webhook.applications.asgi_calls import AsgiCall
from celadon.webhook.applications.asgi_lifespan import lived
from celadon.webhook.applications.named_application import Application
from celadon.webhook.applications.review_facts import is_allowed, operation_of
from celadon.webhook.service.review_metrics import ReviewMetrics
from celadon.webhook.service.review_queue import MARGIN_SECONDS, seconds_to_answer
from celadon.webhook.service.webhook_process import run_loop, serve_webhook
from celadon.webhook.service.webhook_settings import WebhookSettings

_LOG: Final = logging.getLogger("celadon.webhook")
_MOST_PATHS: Final = 100
"""That are told apart in metrics; an application may have any number."""
_OTHER_PATHS: Final = "other"
_REASONS: Final = {429: "busy", 503: "not ready", 504: "deadline"}


def run_application(
    settings: WebhookSettings, application: Application, ready: Callable[[str], None]
) -> None:
    """As `run_webhook`, with an application in place of policies. Raises StartError."""
    with contextlib.closing(open_listener(settings.listen)) as listener:

        async def serve() -> None:
            async with lived(application) as state:
                answering = ApplicationAnswers(settings, application, state)
                await serve_webhook(settings, answering, listener, ready)
                await answering.finish()

        run_loop(serve())


class ApplicationAnswers:
    """An `Answering`. `state` is what the application has kept from its beginning."""

    prompt: Final = None

    def __init__(
        self, settings: WebhookSettings, application: Application, state: Mapping[str, Any]
    ) -> None:
        self._settings = settings
        self._application = application
        self._state = state
        self._scheme = "http" if settings.certificate is None else "https"
        self._calls: set[asyncio.Task[None]] = set()
        self._in_flight = 0
        self._paths: set[str] = set()
        self._metrics = ReviewMetrics(lambda: self._in_flight, settings.expires)

    async def handle(self, request: HttpRequest) -> HttpAnswer:
        """Counted, whatever comes of it."""
        arrived = perf_counter()
        answer = self._refused(request)
        if answer is None:
            self._in_flight += 1
            try:
                answer = await self._asked(request)
            finally:
                self._in_flight -= 1
        self._count(request, answer, perf_counter() - arrived)
        return answer

    def _refused(self, request: HttpRequest) -> HttpAnswer | None:
        """The answer to what the application is not asked."""
        settings = self._settings
        if settings.known_callers and request.client_certificate is None:
            return plain_text(401, "a client certificate is required\n")
        if settings.in_flight and self._in_flight >= settings.in_flight:
            return plain_text(429, "too many reviews at once, please try again later\n")
        if len(request.body) > settings.body_bytes:
            text = f"request entity is too large; limit is {settings.body_bytes} bytes\n"
            return plain_text(413, text)
        return None

    async def _asked(self, request: HttpRequest) -> HttpAnswer:
        call = AsgiCall(request, self._scheme, self._state)
        task = asyncio.ensure_future(call.run(self._application))
        self._calls.add(task)
        task.add_done_callback(self._ended)
        seconds = seconds_to_answer(request, self._settings.seconds)
        await asyncio.wait((call.answer,), timeout=seconds - min(MARGIN_SECONDS, seconds / 10))
        if call.answer.cancel():
            task.cancel()
            return plain_text(504, f"the review was not decided within {seconds:g}s\n")
        failure = call.answer.exception()
        if failure is None:
            return call.answer.result()
        _LOG.error("%s: the application failed", request.path, exc_info=failure)
        return plain_text(500, "Internal Server Error\n")

    def _ended(self, task: asyncio.Task[None]) -> None:
        """A call that has gone on after its answer."""
        self._calls.discard(task)
        if not task.cancelled() and task.exception() is not None:
            _LOG.error("the application failed after an answer", exc_info=task.exception())

    async def finish(self) -> None:
        """What goes on after its answer has the time that requests have at the end."""
        if self._calls:
            await asyncio.wait(self._calls, timeout=self._settings.drain_seconds)

    def _count(self, request: HttpRequest, answer: HttpAnswer, seconds: float) -> None:
        path, code = self._label(request.path), answer.code
        allowed = is_allowed(answer.body) if code == 200 and request.method == "POST" else None
        if allowed is not None:
            operation = operation_of(request.body)
            self._metrics.reviewed(path, operation, allowed=allowed, seconds=seconds)
        elif code >= 400:
            reason = _REASONS.get(code, "broken" if code >= 500 else "malformed")
            self._metrics.not_answered(path, reason, code)
        else:
            self._metrics.http_requests.add((path, str(code)))

    def _label(self, path: str) -> str:
        if path not in self._paths:
            if len(self._paths) >= _MOST_PATHS:
                return _OTHER_PATHS
            self._paths.add(path)
        return path

    def checks(self) -> Iterator[tuple[bool, str]]:
        """An application that could not begin is not served."""
        yield True, "application ok"

    def families(self) -> Iterable[Family]:
        """Those of reviews."""
        return self._metrics.families()

    async def run(self) -> None:
        """Nothing beside the requests."""

    def look(self) -> None:
        """No files."""
