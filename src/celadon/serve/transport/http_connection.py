"""One HTTP/1.1 connection: requests as httptools reads them, answers in their order.

Requests that come before the answers to earlier ones wait for their turn. Whatever a client can do
to a connection ends here: a head or a body that is too large or too slow, too many requests at
once, an answer that nobody reads, a client that goes away and takes its stream with it.
"""

from __future__ import annotations

import asyncio
import fcntl
import ssl
import sys
import termios
from collections import deque
from collections.abc import AsyncGenerator
from dataclasses import field
from typing import Final, Protocol

import httptools

from celadon.patterns import late_pattern
from celadon.records import dataclass
from celadon.serve.http_messages import (
    Header,
    HttpAnswer,
    HttpRequest,
    PromptHandler,
    plain_text,
)
from celadon.serve.operation.prompt_tasks import started
from celadon.serve.operation.request_limits import TIMED_OUT, TOO_MANY
from celadon.serve.transport import answer_bytes
from celadon.serve.transport.connection_limits import ConnectionLimits
from celadon.serve.transport.guarded_handler import GuardedHandler, log_broken_stream

MALFORMED: Final = plain_text(400, "400 Bad Request")
HEAD_TOO_LARGE: Final = plain_text(431, "431 Request Header Fields Too Large")
"""What Go's net/http says."""

_METHOD: Final = late_pattern(rb"([!#$%&'*+.^_`|~0-9A-Za-z-]{1,32}) ")
_JOINED_BYTES: Final = 1 << 16
"""Up to here a body is copied behind its head, so that both go with one call."""


class Surroundings(Protocol):
    """What all connections of a server share. `waiting_bytes` have come of bodies that are not
    complete."""

    handler: GuardedHandler
    prompt: PromptHandler | None
    limits: ConnectionLimits
    connections: set[Connection]
    is_ending: bool
    waiting_bytes: int


@dataclass(slots=True)
class _Arriving:
    """A request whose body may still be on its way. `answer` is what it gets in place of the
    handler's, `whole` says whether all of it is here, or all that is going to be."""

    method: str
    target: str
    headers: list[Header]
    keep_alive: bool
    is_old: bool
    """Of HTTP/1.0: no chunks."""
    body: bytearray = field(default_factory=bytearray)
    size: int = 0
    whole: bool = False
    answer: HttpAnswer | None = None


class Connection(asyncio.Protocol):
    """`is_busy` while a request is being answered, or is on its way."""

    def __init__(self, server: Surroundings) -> None:
        self._server = server
        self._limits = server.limits
        self._loop = asyncio.get_running_loop()
        self._invented = ""
        """The method of the request that arrives, if the parser does not know it."""
        self._url = bytearray()
        self._headers: list[Header] = []
        self._head_bytes: int | None = 0
        """How much has come of a request's head; None between requests and during a body."""
        self._arriving: _Arriving | None = None
        self._waiting: deque[_Arriving] = deque()
        self._answering: asyncio.Task[None] | None = None
        self._offered: _Arriving | None = None
        """What the prompt handler has taken."""
        self._streaming = False
        self._is_first = False
        """Whether no request has been answered of what came last: more than one in a packet wait
        for the next turn of the loop."""
        self._closes = False
        self._timer: asyncio.TimerHandle | None = None
        """For a head or a body to come."""
        self._stall_timer: asyncio.TimerHandle | None = None
        self._idle_timer: asyncio.TimerHandle | None = None
        self._last_used = 0.0
        self._writable: asyncio.Future[None] | None = None

    # --- the connection ---

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as uvloop
        self.transport = transport
        self._parser = httptools.HttpRequestParser(self)
        self._server.connections.add(self)
        tls: ssl.SSLObject | None = transport.get_extra_info("ssl_object")
        self._certificate = None if tls is None else tls.getpeercert(binary_form=True)
        peer = transport.get_extra_info("peername")
        self._address = peer[0] if isinstance(peer, tuple) else ""
        self._wait_for_head()
        self._last_used = self._loop.time()
        self._idle_timer = self._loop.call_later(self._limits.idle_seconds, self._look_if_idle)

    def connection_lost(self, exc: Exception | None) -> None:
        self._server.connections.discard(self)
        del self._parser  # it has us: a ring, which would keep the 60 KB of TLS until a collection
        self._waiting.clear()
        self._offered = None
        self._forget_body()
        self._stop_timer()
        self._watch_reader(stop=True)
        if self._idle_timer is not None:
            self._idle_timer.cancel()
        if self._writable is not None and not self._writable.done():
            self._writable.set_result(None)
        if self._streaming and self._answering is not None:
            self._answering.cancel()

    def eof_received(self) -> bool:
        """A client that will send no more may still want its answers."""
        self._closes = True
        return self.is_busy and not self._streaming and self._arriving is None

    @property
    def is_busy(self) -> bool:
        return self._is_answering or self._arriving is not None

    @property
    def _is_answering(self) -> bool:
        return self._answering is not None or self._offered is not None

    def end(self) -> None:
        """The server ends: a stream ends, a request is answered, an idle connection is closed."""
        self._closes = True
        if self._streaming and self._answering is not None:
            self._answering.cancel()
        elif not self.is_busy:
            self.transport.close()

    def _look_if_idle(self) -> None:
        """Set once and looked at again, since a timer for each request costs more than all else
        here."""
        rest = self._limits.idle_seconds - (self._loop.time() - self._last_used)
        if self._is_answering or rest > 0:
            pause = max(rest, 1.0)
            self._idle_timer = self._loop.call_later(pause, self._look_if_idle)
        elif self._arriving is None and not self.transport.is_closing():
            self.transport.close()
            self._watch_reader()  # what is still unread would keep the connection for ever

    # --- what comes ---

    def data_received(self, data: bytes) -> None:
        if self._closes and not self.is_busy:
            return
        self._is_first = True
        is_new = not self._head_bytes and self._is_quiet
        if self._head_bytes is not None:
            self._head_bytes += len(data)
        try:
            self._parser.feed_data(data)
        except httptools.HttpParserInvalidMethodError:
            if not (is_new and self._is_quiet and self._feed_invented(data)):
                self._refuse(MALFORMED)
                return
        except httptools.HttpParserUpgrade:  # nobody is upgraded: the request is answered as any
            self._closes = True
        except httptools.HttpParserError:
            self._refuse(MALFORMED)
            return
        finally:
            self._is_first = False
        if self._head_bytes is not None and self._head_bytes > self._limits.head_bytes:
            self._refuse(HEAD_TOO_LARGE)
        elif self._timer is None and self._arriving is not None:
            self._timer = self._loop.call_later(self._limits.body_seconds, self._body_is_late)
        elif self._timer is None and self._head_bytes:
            self._wait_for_head()

    @property
    def _is_quiet(self) -> bool:
        """Whether no request is on its way."""
        return not self.is_busy and not self._waiting

    def _feed_invented(self, data: bytes) -> bool:
        """A request whose method is none that the parser knows: it is read as if it were another,
        and answered as what it is. False if it is not even that."""
        found = _METHOD.match(data)
        if found is None:
            return False
        self._invented = found[1].decode("latin-1")
        self._parser = httptools.HttpRequestParser(self)
        try:
            self._parser.feed_data(b"PATCH" + data[found.end(1) :])
        except httptools.HttpParserError:
            return False
        return True

    def on_message_begin(self) -> None:
        self._url = bytearray()
        self._headers = []
        if self._head_bytes is None:
            self._head_bytes = 1

    def on_url(self, url: bytes) -> None:
        self._url += url

    def on_header(self, name: bytes, value: bytes) -> None:
        self._headers.append((name.decode("latin-1").lower(), header_text(value)))

    def on_headers_complete(self) -> None:
        self._stop_timer()
        self._head_bytes = None
        parser = self._parser
        arriving = _Arriving(
            self._invented or parser.get_method().decode("latin-1"),
            _target(bytes(self._url)),
            self._headers,
            parser.should_keep_alive() and not parser.should_upgrade(),
            parser.get_http_version() == "1.0",
        )
        self._arriving, self._invented = arriving, ""
        if arriving.method == "CONNECT" or not arriving.target:  # this is no proxy
            arriving.answer, arriving.keep_alive = MALFORMED, False
        if len(self._waiting) >= self._limits.pipelined:
            self.transport.abort()
        if ("expect", "100-continue") in self._headers and not self._is_answering:
            self.transport.write(answer_bytes.CONTINUE)

    def on_body(self, data: bytes) -> None:
        arriving = self._arriving
        if arriving is None:  # it has been answered already
            return
        arriving.size += len(data)
        kept = data[: self._limits.body_bytes + 1 - len(arriving.body)]
        if self._server.waiting_bytes + len(kept) > self._limits.waiting_bytes:
            arriving.answer = TOO_MANY
            self._cut_off()
            return
        self._server.waiting_bytes += len(kept)
        arriving.body += kept
        if arriving.size > self._limits.drained_bytes:
            self._cut_off()

    def on_message_complete(self) -> None:
        self._stop_timer()
        arriving = self._arriving
        if arriving is not None:
            arriving.whole = True
            self._arrived()

    def _body_is_late(self) -> None:
        self._timer = None
        if self._arriving is not None:
            self._arriving.answer = TIMED_OUT
            self._cut_off()

    def _cut_off(self) -> None:
        """No more of this body is waited for: the request is answered, the connection closed."""
        assert self._arriving is not None
        self._arriving.keep_alive = False
        self._arrived()

    def _arrived(self) -> None:
        arriving = self._arriving
        assert arriving is not None
        self._forget_body()
        self._waiting.append(arriving)
        if not self._is_answering:
            self._begin_to_answer()

    def _forget_body(self) -> None:
        """It does not wait any more."""
        if self._arriving is not None:
            self._server.waiting_bytes -= len(self._arriving.body)
            self._arriving = None

    def _refuse(self, answer: HttpAnswer) -> None:
        """What is no request: said, unless the answers to others would come before it."""
        if not self._is_answering and not self.transport.is_closing():
            self._write(answer, close=True)
        self._forget_body()
        self._closes = True
        if self._offered is None:
            self.transport.close()

    def _wait_for_head(self) -> None:
        self._timer = self._loop.call_later(self._limits.head_seconds, self.transport.abort)

    def _stop_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    # --- what goes ---

    def _begin_to_answer(self) -> None:
        """The first of the requests that wait: promptly, or in a task."""
        prompt = self._server.prompt
        if prompt is not None and self._writable is None and self._waiting[0].answer is None:
            self._offered = self._waiting.popleft()
            if prompt.offer(self._request(self._offered), self._reply):
                return
            self._waiting.appendleft(self._offered)
            self._offered = None
        if not self._is_first:
            self._answering = self._loop.create_task(self._answer_all())
            return
        self._is_first = False
        task = started(self._loop, self._answer_all())
        if task is not None:
            self._answering = task

    def _reply(self, answer: HttpAnswer) -> None:
        """From the prompt handler; nobody may be there any more."""
        arrived, self._offered = self._offered, None
        if arrived is None or self.transport.is_closing():
            return
        if not arrived.keep_alive or self._server.is_ending:
            self._closes = True
        self._write(answer, close=self._closes, body=arrived.method != "HEAD")
        self._last_used = self._loop.time()
        if self._closes:
            self._waiting.clear()
            if self._arriving is None:
                self.transport.close()
        elif self._waiting:
            self._begin_to_answer()

    def _request(self, arrived: _Arriving) -> HttpRequest:
        return HttpRequest(
            arrived.method,
            arrived.target,
            arrived.headers,
            bytes(arrived.body),
            self._certificate,
            self._address,
        )

    async def _answer_all(self) -> None:
        try:
            while self._waiting and not self.transport.is_closing():
                await self._answer(self._waiting.popleft())
                if self._server.prompt is not None:
                    break
        finally:
            self._answering = None
            self._last_used = self._loop.time()
            if self._closes and self._arriving is None:
                self.transport.close()
        if self._waiting and not self.transport.is_closing():
            self._begin_to_answer()

    async def _answer(self, arrived: _Arriving) -> None:
        answer = arrived.answer
        if answer is None:
            answer = await self._server.handler.answer(self._request(arrived))
        if not arrived.keep_alive or self._server.is_ending:
            self._closes = True
        if answer.stream is not None:
            await self._stream(answer, answer.stream, arrived)
        elif not self.transport.is_closing():
            self._write(answer, close=self._closes, body=arrived.method != "HEAD")
            if self._writable is not None:
                await self._writable
        if self._closes:
            self._waiting.clear()

    def _write(self, answer: HttpAnswer, *, close: bool, body: bool = True) -> None:
        written = answer_bytes.head(answer, chunked=False, close=close)
        if not body:
            self.transport.write(written)
        elif len(answer.body) < _JOINED_BYTES:
            self.transport.write(written + answer.body)
        else:
            self.transport.writelines((written, answer.body))

    async def _stream(
        self, answer: HttpAnswer, stream: AsyncGenerator[bytes, None], arrived: _Arriving
    ) -> None:
        """Until the stream ends, the client goes, or the server ends."""
        chunked = not arrived.is_old
        self._closes = self._closes or not chunked
        self._streaming = True
        try:
            if not self.transport.is_closing() and not self._server.is_ending:
                self.transport.write(answer_bytes.head(answer, chunked=chunked, close=self._closes))
                if arrived.method != "HEAD":
                    await self._pump(stream, chunked=chunked)
        except asyncio.CancelledError:
            task = asyncio.current_task()
            if task is None or task.uncancel() or not (self._closes or self.transport.is_closing()):
                raise
        except Exception as error:  # noqa: BLE001  the outer edge: one request must not end the server
            log_broken_stream(error)
        finally:
            self._streaming = False
            await stream.aclose()
        if chunked and arrived.method != "HEAD" and not self.transport.is_closing():
            self.transport.write(answer_bytes.LAST_CHUNK)

    async def _pump(self, stream: AsyncGenerator[bytes, None], *, chunked: bool) -> None:
        async for data in stream:
            if data:
                self.transport.write(answer_bytes.chunk(data) if chunked else data)
            if self._writable is not None:
                await self._writable

    # --- a client that does not read what it has asked for ---

    def pause_writing(self) -> None:
        self._writable = self._loop.create_future()
        self._watch_reader()

    def resume_writing(self) -> None:
        if self._writable is not None and not self._writable.done():
            self._writable.set_result(None)
        self._writable = None
        self._watch_reader(stop=True)

    def _watch_reader(self, *, stop: bool = False) -> None:
        if self._stall_timer is not None:
            self._stall_timer.cancel()
            self._stall_timer = None
        if not stop:
            self._stall_timer = self._loop.call_later(
                self._limits.stalled_seconds, self._look_at_reader, self._unread()
            )

    def _look_at_reader(self, unread: int) -> None:
        if self._unread() < unread:
            self._watch_reader()
        else:
            self.transport.abort()

    def _unread(self) -> int:
        """Bytes that the client has not taken; the kernel holds some of them."""
        connection = self.transport.get_extra_info("socket")
        try:
            held = fcntl.ioctl(connection.fileno(), termios.TIOCOUTQ, bytes(4))
        except OSError:  # the kernel does not tell
            held = bytes(4)
        return self.transport.get_write_buffer_size() + int.from_bytes(held, sys.byteorder)


def _target(url: bytes) -> str:
    """The path and the query, also of a whole URL; empty if there is no way to read it."""
    if not url.startswith((b"/", b"*")):
        try:
            parsed = httptools.parse_url(url)
        except httptools.HttpParserInvalidURLError:
            return ""
        query = b"?" + parsed.query if parsed.query else b""
        url = (parsed.path or b"/") + query
    return url.decode("latin-1")


def header_text(value: bytes) -> str:
    """A header's value is UTF-8 to Go's clients; what is not is taken byte by byte."""
    try:
        return value.decode()
    except UnicodeDecodeError:
        return value.decode("latin-1")
