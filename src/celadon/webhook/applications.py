"""ASGI applications in place of policies: webhooks written in Python, served as policies are.

The first part finds what `--app MODULE:NAME` names, the next ones start it and make one request
over ASGI, and the last one counts, limits and refuses around it.
"""

from __future__ import annotations

import asyncio
import contextlib
import importlib
import logging
import sys
import traceback
import urllib.parse
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Iterator
from contextlib import asynccontextmanager, suppress
from functools import reduce
from pathlib import Path
from time import perf_counter
from typing import Final, TypeAlias

import msgspec

from celadon.admission import Operation
from celadon.apiserver import HttpAnswer, HttpRequest, plain_text
from celadon.apiserver.http import StartError, open_listener
from celadon.apiserver.operation import Family, warn
from celadon.kube.json_types import JsonDict, JsonObject
from celadon.webhook.service.review_handler import MARGIN_SECONDS, seconds_to_answer
from celadon.webhook.service.webhook_metrics import ReviewMetrics
from celadon.webhook.service.webhook_process import WebhookSettings, run_loop, serve_webhook
from celadon.webhook.webhook_app import Message, Receive, Scope, Send

__all__ = ["Application", "named_application", "run_application"]


# --- Named application -------------------------------------------------------
#
# What `MODULE:NAME` names: a module is imported, as from the current folder, and has it.

Application: TypeAlias = Callable[[Scope, Receive, Send], Awaitable[None]]
"""ASGI 3."""


def named_application(text: str) -> Application:
    """Import an application; `NAME` may be dotted. Raises StartError."""
    module, _, name = text.partition(":")
    if not module or not name:
        raise StartError(f"`{text}` is not MODULE:NAME")
    folder = str(Path.cwd())
    if folder not in sys.path:
        sys.path.insert(0, folder)
    try:
        app = reduce(getattr, name.split("."), importlib.import_module(module))
    except Exception as error:  # the module is not ours: whatever it raises keeps us from starting
        raise StartError(f"`{text}` cannot be imported: {_told(error)}") from error
    if not callable(app):
        raise StartError(f"`{text}` is not an application")
    return app


def _told(error: Exception) -> str:
    """Return an error in one line, with the place where it happened."""
    (text,) = traceback.format_exception_only(error)[-1:]
    place = traceback.extract_tb(error.__traceback__)[-1]
    line = " ".join(text.split())
    if place.filename == __file__ or place.filename.startswith("<frozen"):
        return line
    return f"{line} ({place.filename}:{place.lineno})"


# --- Asgi lifespan -----------------------------------------------------------
#
# The life of an application: told when the server begins, and when it has ended.

ASGI: Final = {"version": "3.0", "spec_version": "2.4"}
LIFESPAN: Final = "lifespan"


@asynccontextmanager
async def lived(application: Application) -> AsyncIterator[JsonDict]:
    """Begun when the block begins, ended after it; gives the state that requests are to share.
    An application may know nothing of this. Raises StartError if it cannot begin."""
    life = _Life(application)
    failure = await life.tell("startup")
    if failure:
        raise StartError(f"the application does not start: {failure}")
    try:
        yield life.state
    finally:
        failure = await life.tell("shutdown")
        if failure:
            warn("the application did not end well", {"err": failure})


class _Life:
    """A `_Life` runs the lifespan protocol of one application: messages to it, and those it has
    sent."""

    def __init__(self, application: Application) -> None:
        self.state: JsonDict = {}
        self._to_application: asyncio.Queue[Message] = asyncio.Queue()
        self._from_application: asyncio.Queue[Message] = asyncio.Queue()
        scope = {"type": LIFESPAN, "asgi": ASGI, "state": self.state}
        self._task = asyncio.ensure_future(self._live(application, scope))

    async def _live(self, application: Application, scope: Scope) -> None:
        with suppress(Exception):  # what does not take part may say so by any of them
            await application(scope, self._to_application.get, self._from_application.put)

    async def tell(self, subject: str) -> str:
        """Tell the application of an event, and wait until it says that it has done so, or ends;
        what has failed, if anything has."""
        if self._task.done():
            return ""
        self._to_application.put_nowait({"type": f"{LIFESPAN}.{subject}"})
        saying = asyncio.ensure_future(self._from_application.get())
        await asyncio.wait((self._task, saying), return_when=asyncio.FIRST_COMPLETED)
        if not saying.done():
            saying.cancel()
            return ""
        answer = saying.result()
        if answer["type"] != f"{LIFESPAN}.{subject}.failed":
            return ""
        return " ".join(answer.get("message", "").split()) or "it does not say why"


# --- Asgi calls --------------------------------------------------------------
#
# One request over ASGI: a complete request in, a complete answer out.
#
# Answers to reviews are small, so what an application sends in parts is sent on as one.

_OURS: Final = frozenset({"content-type", "content-length", "transfer-encoding", "connection"})
"""Headers of an answer that the connection writes itself."""


class NoAnswer(Exception):
    """The application has ended without an answer."""


class AsgiCall:
    """Holds one call of an application. `answer` is there as soon as the application has sent all
    of it; it may go on then."""

    def __init__(self, request: HttpRequest, scheme: str, state: JsonObject) -> None:
        self._request = request
        self._scheme = scheme
        self._state = state
        self._is_read = False
        self._start: Message = {}
        self._parts: list[bytes] = []
        self.answer: asyncio.Future[HttpAnswer] = asyncio.get_running_loop().create_future()

    async def run(self, application: Application) -> None:
        """Run the application: whatever the application raises before its answer is that of
        `answer`."""
        try:
            await application(self._scope(), self._receive, self._send)
        except Exception as error:
            if self.answer.done():
                raise
            self.answer.set_exception(error)
        else:
            if not self.answer.done():
                self.answer.set_exception(NoAnswer("there is no answer"))

    def _scope(self) -> JsonDict:
        request = self._request
        path, _, query = request.target.partition("?")
        return {
            "type": "http",
            "asgi": ASGI,
            "http_version": "1.1",
            "method": request.method,
            "scheme": self._scheme,
            "path": urllib.parse.unquote(path),
            "raw_path": path.encode("latin-1"),
            "query_string": query.encode("latin-1"),
            "root_path": "",
            "headers": [
                (name.encode("latin-1"), value.encode()) for name, value in request.headers
            ],
            "client": (request.remote_address, 0),
            "server": None,
            "state": dict(self._state),
        }

    async def _receive(self) -> Message:
        if not self._is_read:
            self._is_read = True
            return {"type": "http.request", "body": self._request.body, "more_body": False}
        await asyncio.wait((self.answer,))
        return {"type": "http.disconnect"}

    async def _send(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self._start = message
            return
        if message["type"] != "http.response.body" or not self._start:
            raise ValueError(f"`{message['type']}` is not expected here")
        self._parts.append(bytes(message.get("body", b"")))
        if not message.get("more_body") and not self.answer.done():
            self.answer.set_result(self._complete())

    def _complete(self) -> HttpAnswer:
        headers = [
            (bytes(name).decode("latin-1"), bytes(value).decode("latin-1"))
            for name, value in self._start.get("headers", ())
        ]
        kinds = [value for name, value in headers if name.lower() == "content-type"]
        result = tuple(header for header in headers if header[0].lower() not in _OURS)
        body = b"".join(self._parts)
        return HttpAnswer(self._start["status"], kinds[0] if kinds else "", body, result)


# --- Review facts ------------------------------------------------------------
#
# What is counted of a review that somebody else answers: little is read of its bytes.

UNKNOWN: Final = "unknown"
_OPERATIONS: Final = frozenset(operation.value for operation in Operation)


class _Request(msgspec.Struct):
    operation: str = ""


class _PendingReview(msgspec.Struct):
    request: _Request


class _Response(msgspec.Struct):
    allowed: bool


class _Answered(msgspec.Struct):
    response: _Response


_ASKED: Final = msgspec.json.Decoder(_PendingReview)
_ANSWERED: Final = msgspec.json.Decoder(_Answered)


def operation_of(body: bytes) -> str:
    """Return the operation of a review's request; `unknown` if it names none that there is."""
    try:
        operation = _ASKED.decode(body).request.operation
    except (msgspec.DecodeError, UnicodeDecodeError):
        return UNKNOWN
    return operation if operation in _OPERATIONS else UNKNOWN


def is_allowed(body: bytes) -> bool | None:
    """Return what an answer says; None if it is no review."""
    try:
        return _ANSWERED.decode(body).response.allowed
    except (msgspec.DecodeError, UnicodeDecodeError):
        return None


# --- Application answers -----------------------------------------------------
#
# An application on the network: limits before it, an answer in any case, and what is counted.
#
# What the application cannot be asked, or does not answer, is an HTTP error, as for policies:
# the failure policy of the webhook's configuration decides then.

_LOG: Final = logging.getLogger("celadon.webhook")
_MOST_PATHS: Final = 100
"""That are told apart in metrics; an application may have any number."""
_OTHER_PATHS: Final = "other"
_REASONS: Final = {429: "busy", 503: "not ready", 504: "deadline"}


def run_application(
    settings: WebhookSettings, application: Application, ready: Callable[[str], None]
) -> None:
    """Run a webhook as `run_webhook` does, with an application in place of policies. Raises
    StartError."""
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
        self, settings: WebhookSettings, application: Application, state: JsonObject
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
        """Handle a request, which is counted, whatever comes of it."""
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
        """Return the answer to what the application is not asked."""
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
        """Note that a call has gone on after its answer, and is over."""
        self._calls.discard(task)
        if not task.cancelled() and task.exception() is not None:
            _LOG.error("the application failed after an answer", exc_info=task.exception())

    async def finish(self) -> None:
        """Wait for calls that go on after their answer, as long as requests have at the end."""
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
        """Yield the checks. An application that could not begin is not served."""
        yield True, "application ok"

    def families(self) -> Iterable[Family]:
        """Return the metrics of reviews."""
        return self._metrics.families()

    async def run(self) -> None:
        """Run nothing beside the requests."""

    def look(self) -> None:
        """Look at no files: there are none."""
