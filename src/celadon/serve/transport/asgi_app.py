"""The handler as an ASGI application: bodies with a limit, answers, streams, an orderly end.

Whatever the network can do to a request ends here: a body that is too large is cut off (the handler
then says 413), one that does not come is not waited for, and a client that goes away takes its
stream with it.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator
from typing import Final

from celadon.serve.http_messages import Handler, HttpAnswer, HttpRequest, plain_text
from celadon.serve.operation import log_lines
from celadon.serve.operation.request_limits import TIMED_OUT, TOO_MANY
from celadon.serve.transport.arriving_bodies import (
    BodyReader,
    ClientGone,
    Message,
    Receive,
    Scope,
    Send,
    TooMuchWaiting,
)
from celadon.serve.transport.connection_limits import ConnectionLimits

CERTIFICATE: Final = "celadon.client_certificate"
"""Where the scope has the client's certificate, in DER form, if it showed one."""

BROKEN: Final = plain_text(500, "Internal Server Error\n")

_LOG: Final = log_lines.LOGGER


class AsgiApp:
    """One handler for all requests. `end_streams` makes all streams end, now and later."""

    def __init__(self, handler: Handler, limits: ConnectionLimits | None = None) -> None:
        self._handler = handler
        self._bodies = BodyReader(ConnectionLimits() if limits is None else limits)
        self._ending = asyncio.Event()

    def end_streams(self) -> None:
        self._ending.set()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        assert scope["type"] == "http", "lifespan and web sockets are switched off"
        try:
            body, whole = await self._bodies.read(scope, receive)
        except ClientGone:
            return
        except TimeoutError:
            await _send_answer(TIMED_OUT, send, keep_alive=False)
            return
        except TooMuchWaiting:
            await _send_answer(TOO_MANY, send, keep_alive=False)
            return
        request, began = _request(scope, body), time.perf_counter()
        answer = await self._answer(request)
        if log_lines.is_said(log_lines.REQUESTS):
            _log(request, answer, time.perf_counter() - began)
        if answer.stream is None:
            await _send_answer(answer, send, keep_alive=whole)
        else:
            await self._send_stream(answer, answer.stream, receive, send)

    async def _answer(self, request: HttpRequest) -> HttpAnswer:
        try:
            return await self._handler(request)
        except Exception:  # noqa: BLE001  the outer edge: one request must not end the server
            _LOG.exception("%s %s: this is a bug in celadon", request.method, request.path)
            return BROKEN

    async def _send_stream(
        self,
        answer: HttpAnswer,
        stream: AsyncGenerator[bytes, None],
        receive: Receive,
        send: Send,
    ) -> None:
        """Until the stream ends, the client goes, or the server ends."""
        pump = asyncio.ensure_future(_pump(answer, stream, send))
        gone = asyncio.ensure_future(_disconnected(receive))
        ending = asyncio.ensure_future(self._ending.wait())
        try:
            await asyncio.wait((pump, gone, ending), return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in (pump, gone, ending):
                task.cancel()
            results = await asyncio.gather(pump, gone, ending, return_exceptions=True)
            await stream.aclose()
        if isinstance(results[0], Exception):
            _LOG.error("a stream failed: this is a bug in celadon", exc_info=results[0])
        await send({"type": "http.response.body", "body": b"", "more_body": False})


async def _pump(answer: HttpAnswer, stream: AsyncGenerator[bytes, None], send: Send) -> None:
    await send(_start(answer, ()))
    async for chunk in stream:
        await send({"type": "http.response.body", "body": chunk, "more_body": True})


async def _disconnected(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


def _log(request: HttpRequest, answer: HttpAnswer, seconds: float) -> None:
    """As k8s.io/apiserver `pkg/server/httplog`, and who it was."""
    fields = {
        "verb": request.method,
        "URI": request.target,
        "latency": f"{1000 * seconds:.3f}ms",
        "userAgent": request.header("user-agent"),
        "audit-ID": dict(answer.headers).get("Audit-Id", ""),
        "srcIP": request.remote_address,
        "user": "" if answer.user is None else answer.user.name,
        "resp": answer.code,
    }
    log_lines.say(log_lines.REQUESTS, "HTTP", fields)


def _request(scope: Scope, body: bytes) -> HttpRequest:
    query = scope["query_string"]
    target = scope["raw_path"] + (b"?" + query if query else b"")
    headers = [(name.decode("latin-1"), header_text(value)) for name, value in scope["headers"]]
    client = scope.get("client")
    return HttpRequest(
        scope["method"],
        target.decode("latin-1"),
        headers,
        body,
        scope.get(CERTIFICATE),
        "" if client is None else client[0],
    )


def header_text(value: bytes) -> str:
    """A header's value is UTF-8 to Go's clients; what is not is taken byte by byte."""
    try:
        return value.decode()
    except UnicodeDecodeError:
        return value.decode("latin-1")


def _start(answer: HttpAnswer, more: tuple[tuple[bytes, bytes], ...]) -> Message:
    headers = [(name.encode("latin-1"), _line(value)) for name, value in answer.headers]
    if answer.content_type:
        headers.append((b"content-type", answer.content_type.encode("latin-1")))
    return {"type": "http.response.start", "status": answer.code, "headers": [*headers, *more]}


def _line(value: str) -> bytes:
    """A header's value, which cannot have line breaks."""
    return value.replace("\r", " ").replace("\n", " ").encode("utf-8", "replace")


async def _send_answer(answer: HttpAnswer, send: Send, *, keep_alive: bool) -> None:
    length = ((b"content-length", str(len(answer.body)).encode()),)
    close = () if keep_alive else ((b"connection", b"close"),)
    await send(_start(answer, length + close))
    await send({"type": "http.response.body", "body": answer.body, "more_body": False})
