"""One HTTP/1.1 connection: a request is read, then answered, then the next one is read.

As Go's servers do: what comes behind a request waits, and little of it here. Whatever a client can
do to a connection ends here: a head or a body that is too large or too slow, an answer that nobody
reads, a client that goes away and takes its stream with it. What a connection holds in memory is
told to its server, which lets those go that keep it waiting when all of it is too much.
"""

from __future__ import annotations

import asyncio
import fcntl
import functools
import ssl
import sys
import termios
import time
from collections.abc import AsyncGenerator, Callable
from email.utils import formatdate
from http import HTTPStatus
from typing import Final, Protocol

from celadon.apiserver import http_messages
from celadon.apiserver.http import request_bytes
from celadon.apiserver.http.panic_recovery import GuardedHandler, log_broken_stream
from celadon.apiserver.operation.request_limits import TIMED_OUT, TOO_MANY, started
from celadon.apiserver.workers import Turns
from celadon.late_patterns import late_pattern
from celadon.records import dataclass, field

# --- Answer bytes ------------------------------------------------------------
#
# Answers as HTTP/1.1 writes them: the head, and the chunks of a stream.

CONTINUE: Final = b"HTTP/1.1 100 Continue\r\n\r\n"
LAST_CHUNK: Final = b"0\r\n\r\n"
WITHOUT_BODY: Final = frozenset({204, 304})
_CONTROLS: Final = late_pattern(r"[\x00-\x08\x0a-\x1f\x7f]")
"""What cannot stand in the value of a header."""

_PHRASES: Final = {status.value: status.phrase for status in HTTPStatus}


def head(answer: http_messages.HttpAnswer, *, chunked: bool, close: bool) -> bytes:
    """Return the status line and the headers, with the empty line after them."""
    code = answer.code
    lines = [f"HTTP/1.1 {code} {_PHRASES.get(code, '')}", f"Date: {_date(int(time.time()))}"]
    headers = [f"{name}: {value}" for name, value in answer.headers]
    if not "".join(headers).isprintable():  # one look at all of them: 1 % of a get
        headers = [f"{name}: {_CONTROLS.sub(' ', value)}" for name, value in answer.headers]
    lines += headers
    if answer.content_type:
        lines.append(f"Content-Type: {answer.content_type}")
    if chunked:
        lines.append("Transfer-Encoding: chunked")
    elif answer.stream is None and code not in WITHOUT_BODY:
        lines.append(f"Content-Length: {len(answer.body)}")
    if close:
        lines.append("Connection: close")
    return "\r\n".join((*lines, "", "")).encode("utf-8", "replace")


class LatestChunk:
    """Makes chunks. Of a thousand watchers of one event each sends the same bytes."""

    __slots__ = ("_data", "_framed")

    def __init__(self) -> None:
        self._data = self._framed = b""

    def of(self, data: bytes) -> bytes:
        """Work as `chunk`; the same object for the same object, if that came last."""
        if data is not self._data:
            self._data, self._framed = data, chunk(data)
        return self._framed


def chunk(data: bytes) -> bytes:
    """Encode one chunk of a stream. It is not empty: an empty one would be the last."""
    return b"%x\r\n%b\r\n" % (len(data), data)


@functools.lru_cache(maxsize=2)
def _date(second: int) -> str:
    return formatdate(second, usegmt=True)


# --- Connection limits -------------------------------------------------------
#
# What connections may cost: bytes and seconds, by phase, and bytes of all of them together.
#
# A client that is slow on purpose holds a connection no longer than these say; one that does
# not read what it asked for loses it, and with it its watch.


@dataclass(frozen=True, slots=True)
class ConnectionLimits:
    """Holds the limits of one connection. The defaults are upstream's where it has any."""

    head_bytes: int = (1 << 20) + 4096
    """Request line and headers together (Go's net/http, `DefaultMaxHeaderBytes` and what it reads
    ahead)."""

    head_seconds: float = 32.0
    """For sending them (k8s.io/apiserver `pkg/server/secure_serving.go`)."""

    body_bytes: int = 3 << 20
    """Of a body (`MaxRequestBodyBytes`). One byte more is kept, so that the handler sees that there
    was too much."""

    drained_bytes: int = 32 << 20
    """Of a body that is too large: so much is read and dropped, so that the client sees the
    answer."""

    ahead_bytes: int = 64 << 10
    """What may come behind a request that is being answered. Then no more is read, and behind a
    stream the connection ends."""

    held_bytes: int = 256 << 20
    """What all connections together may hold: heads and bodies that have come or are coming, until
    the request has been answered, and answers that nobody reads."""

    connections: int = 16_384
    """Open at once; TLS takes some 60 KB of each."""

    body_seconds: float = 34.0
    """For sending a body (k8s.io/apiserver `pkg/endpoints/handlers/rest.go`)."""

    idle_seconds: int = 90
    """A connection without requests is kept so long (secure_serving.go)."""

    stalled_seconds: float = 30.0
    """A client that has read nothing for so long, while there is much to read, is cut off."""

    farewell_seconds: float = 0.5
    """A client that was refused while it was sending may read why for so long (Go's net/http,
    `rstAvoidanceDelay`)."""

    linger_seconds: float = 0.0
    """So long after the server has stopped listening, connections without a request are kept: one
    may be on its way."""

    greeting_seconds: float = 5.0
    """A server that ends waits so long for the first request of a client that has just connected
    (Go's net/http, `closeIdleConns`)."""

    drain_seconds: int = 10
    """Requests may go on for so long when the server ends."""


EXPECTATION_FAILED: Final = http_messages.HttpAnswer(HTTPStatus.EXPECTATION_FAILED)
OPTIONS_OF_THE_SERVER: Final = http_messages.HttpAnswer(HTTPStatus.OK)
"""To `OPTIONS *`, whoever asks and whatever the handler (Go's `net/http`, globalOptionsHandler)."""
_LAST_CODE: Final = 999
"""A webhook may refuse with any number; Go's net/http panics at those that HTTP cannot write."""

_LINE_ENDS: Final = 4
"""Characters of line ends that may come behind the body of a POST: old clients send them."""

_BEGUN: Final = 4
"""Bytes behind a request that are the beginning of another one."""

LARGE_READ: Final = 1 << 16
"""Bytes that came at once: more is on its way, as a rule."""

_TURN_BYTES: Final = 32 << 10
"""Of a stream: to make so much takes about a millisecond."""

_PART_BYTES: Final = 1 << 10
"""As which each part of a stream counts, beside its own."""

_JOINED_BYTES: Final = 1 << 16
"""Up to here a body is copied behind its head, so that both go with one call."""


class Surroundings(Protocol):
    """Holds what all connections of a server share. `held_bytes` is what they hold together."""

    handler: GuardedHandler
    prompt: http_messages.PromptHandler | None
    limits: ConnectionLimits
    connections: dict[Connection, None]
    """In the order they were made: the loop's clock may say the same for several."""
    is_ending: bool
    held_bytes: int
    chunks: LatestChunk
    has_recalled: bool
    """Whether certificates have been recalled."""
    signed_for: Callable[[ssl.SSLObject], http_messages.SignedFor] | None
    """Tells whose authorities have signed a certificate, where not only those of clients can."""

    def make_room(self) -> None:
        """Close connections: there are too many, or they hold too much."""
        ...

    def rest(self, connection: Connection) -> None:
        """Note that a connection reads no more until it is told to `go_on`."""
        ...


@dataclass(slots=True)
class _Arriving:
    """A request whose body may still be on its way. `answer` is what it gets in place of the
    handler's."""

    head: request_bytes.RequestHead
    reader: request_bytes.BodyReader
    keep_alive: bool
    body: bytearray = field(default_factory=bytearray)
    size: int = 0
    answer: http_messages.HttpAnswer | None = None


class Connection(asyncio.Protocol):
    """Reads requests from one connection, and writes their answers. `is_busy` while a request is
    being answered, or is on its way; `last_used` is when the last one was answered."""

    def __init__(self, server: Surroundings) -> None:
        self._server = server
        self._limits = server.limits
        self._loop = asyncio.get_running_loop()
        self._departure = http_messages.Departure()
        self._unread = bytearray()
        self._scanned = 0
        """How much of it has no end of a head."""
        self._is_line_read = False
        """Whether the first line of the head that is coming is one."""
        self._forgives_line_ends = False
        self._arriving: _Arriving | None = None
        self._answering: asyncio.Task[None] | None = None
        self._offered: _Arriving | None = None
        """What the prompt handler has taken."""
        self._answered_bytes = 0
        """Of the body of the request that is being answered."""
        self._held_bytes = 0
        """What the server has counted of ours."""
        self._streaming = False
        self._tunnel: http_messages.Tunnel | None = None
        self._is_held = False
        """Whether the tunnel takes nothing for now."""
        self._is_reading = False
        self._is_first = False
        """Whether no request has been answered of what came last: more than one in a packet wait
        for the next turn of the loop."""
        self._is_paused = False
        """Whether too much has come behind a request."""
        self._rests = False
        """Whether others read before more is read here."""
        self._is_over = False
        """Whether the client sends no more."""
        self._has_asked = False
        self._closes = False
        self._timer: asyncio.TimerHandle | None = None
        """For a head or a body to come, or for a refused client to go."""
        self._stall_timer: asyncio.TimerHandle | None = None
        self._idle_timer: asyncio.TimerHandle | None = None
        self.last_used = self.waits_since = self._loop.time()
        self._writable: asyncio.Future[None] | None = None
        self._signed_for = http_messages.SignedFor.CLIENTS
        self._is_secret = False

    # --- the connection ---

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as uvloop
        self.transport = transport
        tls: ssl.SSLObject | None = transport.get_extra_info("ssl_object")
        self._is_secret = tls is not None
        self._certificate = None if tls is None else tls.getpeercert(binary_form=True)
        if tls is not None and self._certificate is not None and self._server.signed_for:
            self._signed_for = self._server.signed_for(tls)
        is_resumed = tls is not None and tls.session_reused
        if is_resumed and self._certificate is not None and self._server.has_recalled:
            transport.abort()  # nobody knows when the certificate was looked at
        peer = transport.get_extra_info("peername")
        self._address = peer[0] if isinstance(peer, tuple) else ""
        self._wait_for_head()
        self._idle_timer = self._loop.call_later(self._limits.idle_seconds, self._look_if_idle)
        self._server.connections[self] = None
        if len(self._server.connections) > self._limits.connections:
            self._server.make_room()

    def connection_lost(self, exc: Exception | None) -> None:
        self._server.connections.pop(self, None)
        self._forget_request()
        self._offered = None
        self._answered_bytes = 0
        self._stop_timer()
        self._watch_reader(stop=True)
        if self._idle_timer is not None:
            self._idle_timer.cancel()
        if self._writable is not None and not self._writable.done():
            self._writable.set_result(None)
        if self._tunnel is not None:
            self._tunnel.end()
        elif self._streaming and self._answering is not None:
            self._answering.cancel()
        self._departure.tell()
        self._closes = True
        self._server.held_bytes -= self._held_bytes
        self._held_bytes = 0

    def eof_received(self) -> bool:
        """Keep the connection: a client that will send no more may still want its answers. Over TLS
        it cannot have them, and asyncio would complain to whoever reads the log."""
        self._is_over = True
        if self._tunnel is not None:
            self._tunnel.end()
            return not self._is_secret
        if self._streaming:
            return False
        if not self._is_answering:
            self._read_on()
        return self._is_answering and not self._is_secret

    @property
    def is_busy(self) -> bool:
        return self._is_answering or self._arriving is not None

    @property
    def is_new(self) -> bool:
        """Tell whether the client has just connected and may be about to send its first request."""
        age = self._loop.time() - self.last_used
        return not self._has_asked and age < self._limits.greeting_seconds

    @property
    def _is_answering(self) -> bool:
        return self._answering is not None or self._offered is not None

    def end(self) -> None:
        """End as the server ends: a stream ends, a request is answered, an idle connection is
        closed."""
        self._closes = True
        if self._streaming and self._answering is not None:
            self._answering.cancel()
        elif not self.is_busy:
            self.transport.close()

    def recall(self) -> None:
        """Note that the certificate, if there is one, shows nobody any more."""
        if self._certificate is not None:
            self._certificate = None
            self.end()

    def _look_if_idle(self) -> None:
        """Set once and looked at again, since a timer for each request costs more than all else
        here."""
        rest = self._limits.idle_seconds - (self._loop.time() - self.last_used)
        if self._is_answering or rest > 0:
            pause = max(rest, 1.0)
            self._idle_timer = self._loop.call_later(pause, self._look_if_idle)
        elif self._arriving is None and not self.transport.is_closing():
            self.transport.close()
            self._watch_reader()  # what is still unread would keep the connection for ever

    # --- what is held ---

    @property
    def keeps_waiting(self) -> bool:
        """Tell whether it is the client that what is held here waits for, since `waits_since`."""
        waits = self._arriving is not None or self._writable is not None or self._streaming
        return self._held_bytes > 0 and waits

    def give_up(self) -> None:
        """Give up the request that is arriving, or the connection."""
        if self._arriving is None:
            self.transport.abort()
            self._answered_bytes = 0
        else:
            self._arriving.answer = TOO_MANY
            self._cut_off()
        self._server.held_bytes -= self._held_bytes
        self._held_bytes = 0

    def _count(self) -> None:
        """Tell the server what is held now."""
        size = len(self._unread) + self._answered_bytes
        if self._arriving is not None:
            size += len(self._arriving.body)
        if self._writable is not None:
            size += self.transport.get_write_buffer_size()
        self._server.held_bytes += size - self._held_bytes
        self._held_bytes = size
        if self._server.held_bytes > self._limits.held_bytes:
            self._server.make_room()

    # --- what comes ---

    def data_received(self, data: bytes) -> None:
        if self._tunnel is not None:
            self._tunnel.take(data)
            return
        if self._closes and not self.is_busy:
            return
        self._unread += data
        if len(data) >= LARGE_READ:
            self._rest()
        if self._is_answering:
            self._hold_back()
        else:
            self._is_first = True
            self._read_on()
            self._is_first = False
        if self._unread or self._arriving is not None or self._answered_bytes or self._held_bytes:
            self._count()

    def _hold_back(self) -> None:
        """Hold bytes back behind a request that is being answered."""
        if len(self._unread) <= self._limits.ahead_bytes:
            return
        if self._streaming:  # nobody would see that the client has gone
            self.transport.abort()
        else:
            self._is_paused = True
            self.transport.pause_reading()

    def _rest(self) -> None:
        """Let others read. The loop would read megabytes here before it turned to them."""
        if not self._rests:
            self._rests = True
            self.transport.pause_reading()
            self._server.rest(self)

    def go_on(self) -> None:
        """Go on: it is this connection's turn again to read."""
        self._rests = False
        arriving = self._arriving
        if arriving is not None and arriving.reader.is_behind and not self.transport.is_closing():
            self._read_on()
            self._count()
        self._read_more()

    def _hold(self, *, is_held: bool) -> None:
        """Stop reading while the other end of a tunnel does not take what has come."""
        self._is_held = is_held
        if is_held and not self.transport.is_closing():
            self.transport.pause_reading()
        else:
            self._read_more()

    def _read_more(self) -> None:
        waits = self._is_paused or self._rests or self._is_held
        if not (waits or self.transport.is_closing()):
            self.transport.resume_reading()

    def _read_on(self) -> None:
        """Read up to the next request that is not answered at once, or as far as there is
        something."""
        self._is_reading = True
        try:
            while not self._is_answering and not self._closes and self._read_request():
                pass
        except request_bytes.RequestRefused as refused:
            self._refuse(refused.answer)
        finally:
            self._is_reading = False
        if not self._is_answering and not self._closes:
            self._wait_for_rest()

    def _read_request(self) -> bool:
        """Return whether a request has come, which is being answered now, or has been."""
        arriving = self._arriving
        if arriving is None:
            head = self._read_head() if self._unread else None
            if head is None:
                return False
            arriving = self._arriving = self._begun(head)
        if arriving.answer is None and not arriving.reader.is_whole:
            self._keep(arriving, arriving.reader.take(self._unread))
            if not arriving.reader.is_whole:
                if arriving.reader.is_behind:
                    self._rest()
                return False
        if self._arriving is not None:
            self._arrived(arriving)
        return True

    def _read_head(self) -> request_bytes.RequestHead | None:
        unread = self._unread
        if self._has_asked and len(unread) < _BEGUN:
            return None
        if self._forgives_line_ends:
            some = unread[:_LINE_ENDS]
            del unread[: len(some) - len(some.lstrip(b"\r\n"))]
        end = request_bytes.head_end(unread, self._scanned)
        if end < 0:
            if not self._is_line_read and b"\n" in unread[self._scanned :]:
                request_bytes.check_first_line(unread)
                self._is_line_read = True
            self._scanned = len(unread)
        if max(end, len(unread) if end < 0 else 0) > self._limits.head_bytes:
            raise request_bytes.RequestRefused(HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE)
        if end < 0:
            return None
        head = request_bytes.read_head(bytes(unread[:end]))
        del unread[:end]
        self._scanned, self._is_line_read, self._has_asked = 0, False, True
        self._forgives_line_ends = head.method == "POST"
        return head

    def _begun(self, head: request_bytes.RequestHead) -> _Arriving:
        """Return the request whose head has come."""
        self._stop_timer()
        reader = (
            request_bytes.ChunkedBody() if head.chunked else request_bytes.SizedBody(head.length)
        )
        arriving = _Arriving(head, reader, head.keep_alive)
        if not head.is_expected:
            arriving.answer, arriving.keep_alive = EXPECTATION_FAILED, False
        elif head.method == "OPTIONS" and head.target == "*":
            arriving.answer = OPTIONS_OF_THE_SERVER
            arriving.keep_alive = head.keep_alive and reader.is_whole
        elif head.continues:
            self.transport.write(CONTINUE)
        return arriving

    def _keep(self, arriving: _Arriving, data: bytearray) -> None:
        arriving.size += len(data)
        arriving.body += data[: self._limits.body_bytes + 1 - len(arriving.body)]
        if arriving.size > self._limits.drained_bytes:
            self._cut_off()

    def _wait_for_rest(self) -> None:
        """Wait for the rest of a request that has come in part, or refuse it if there is no
        rest."""
        if self._is_over:
            begun = len(self._unread) >= (_BEGUN if self._has_asked else 1)
            if begun and self._arriving is None:
                self._refuse(request_bytes.RequestRefused(HTTPStatus.BAD_REQUEST).answer)
            self._closes = True
            self.transport.close()
        elif self._timer is not None:
            return
        elif self._arriving is not None:
            self.waits_since = self._loop.time()
            self._timer = self._loop.call_later(self._limits.body_seconds, self._body_is_late)
        elif self._unread:
            self._wait_for_head()

    def _body_is_late(self) -> None:
        self._timer = None
        if self._arriving is not None:
            self._arriving.answer = TIMED_OUT
            self._cut_off()

    def _cut_off(self) -> None:
        """Answer without waiting for the rest of the body, and close the connection."""
        arriving = self._arriving
        assert arriving is not None
        arriving.keep_alive = False
        self._unread.clear()
        if arriving.answer is not None:
            arriving.body.clear()
        self._arrived(arriving)

    def _arrived(self, arriving: _Arriving) -> None:
        self._stop_timer()
        self._arriving = None
        self._answered_bytes = len(arriving.body)
        self._begin_to_answer(arriving)

    def _forget_request(self) -> None:
        self._unread.clear()
        self._arriving = None

    def _refuse(self, answer: bytes) -> None:
        """Answer what is no request, or none that is served, and close."""
        if not self.transport.is_closing():
            self.transport.write(answer)
        self._closes = True
        self._stop_timer()
        self._part(is_sending=True)

    def _part(self, *, is_sending: bool) -> None:
        """Part from the client when the last answer has been written. One that is still sending
        would lose it, were the connection closed at once."""
        self._forget_request()
        if is_sending and not self._is_over and self.transport.can_write_eof():
            if not self.transport.is_closing():
                self.transport.write_eof()
            seconds = self._limits.farewell_seconds
            self._timer = self._loop.call_later(seconds, self.transport.abort)
        else:
            self.transport.close()

    def _wait_for_head(self) -> None:
        self._timer = self._loop.call_later(self._limits.head_seconds, self.transport.abort)

    def _stop_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    # --- what goes ---

    def _begin_to_answer(self, arrived: _Arriving) -> None:
        """Begin to answer, promptly or in a task."""
        prompt = self._server.prompt
        if prompt is not None and self._writable is None and arrived.answer is None:
            self._offered = arrived
            if prompt.offer(self._request(arrived), self._reply):
                return
            self._offered = None
        if not self._is_first:
            self._answering = self._loop.create_task(self._answer(arrived))
            return
        self._is_first = False
        task = started(self._loop, self._answer(arrived))
        if task is not None:
            self._answering = task

    def _reply(self, answer: http_messages.HttpAnswer) -> None:
        """Write an answer of the prompt handler; the client may be gone."""
        arrived, self._offered = self._offered, None
        if arrived is None or self.transport.is_closing():
            return
        if not arrived.keep_alive or self._server.is_ending:
            self._closes = True
        self._write(answer, close=self._closes, body=arrived.head.method != "HEAD")
        self._answered(arrived)

    def _request(self, arrived: _Arriving) -> http_messages.HttpRequest:
        head = arrived.head
        body = bytes(arrived.body)
        arrived.body = bytearray()
        return http_messages.HttpRequest(
            head.method,
            head.target,
            head.headers,
            body,
            self._certificate,
            self._address,
            self._departure,
            self._signed_for,
        )

    async def _answer(self, arrived: _Arriving) -> None:
        try:
            answer = arrived.answer
            if answer is None:
                answer = await self._server.handler.answer(self._request(arrived))
            if not arrived.keep_alive or self._server.is_ending:
                self._closes = True
            if answer.stream is not None:
                await self._stream(answer, answer.stream, arrived)
            elif not self.transport.is_closing():
                self._write(answer, close=self._closes, body=arrived.head.method != "HEAD")
                if self._writable is not None:
                    await self._writable
        finally:
            self._answering = None
            self._answered(arrived)

    def _answered(self, arrived: _Arriving) -> None:
        """Go on with what came behind a request that was answered."""
        self.last_used = self._loop.time()
        self._answered_bytes = 0
        if self._is_paused:
            self._is_paused = False
            self._read_more()
        if self._closes:
            self._part(is_sending=not arrived.reader.is_whole)
        elif not self._is_reading and not self.transport.is_closing():
            self._read_on()
        if self._held_bytes:
            self._count()

    def _write(self, answer: http_messages.HttpAnswer, *, close: bool, body: bool = True) -> None:
        if answer.code > _LAST_CODE:
            self.transport.abort()
            return
        written = head(answer, chunked=False, close=close)
        if not body:
            self.transport.write(written)
        elif len(answer.body) < _JOINED_BYTES:
            self.transport.write(written + answer.body)
        else:
            self.transport.writelines((written, answer.body))

    async def _stream(
        self,
        answer: http_messages.HttpAnswer,
        stream: AsyncGenerator[bytes, None],
        arrived: _Arriving,
    ) -> None:
        """Write a stream until it ends, the client goes or the server ends."""
        chunked = not arrived.head.is_old and answer.tunnel is None
        self._closes = self._closes or not chunked
        self._streaming = True
        self.waits_since = self._loop.time()
        try:
            if not self.transport.is_closing() and not self._server.is_ending:
                if answer.tunnel is None:
                    self._hold_back()
                    self.transport.write(head(answer, chunked=chunked, close=self._closes))
                else:
                    self._switch(answer.tunnel)
                if arrived.head.method != "HEAD":
                    if answer.outlet is not None and chunked:
                        answer.outlet.connect(self)
                    await self._pump(stream, chunked=chunked)
        except asyncio.CancelledError:
            task = asyncio.current_task()
            if task is None or task.uncancel() or not (self._closes or self.transport.is_closing()):
                raise
        except http_messages.BrokenStream:
            self.transport.abort()
        except Exception as error:  # noqa: BLE001  the outer edge: one request must not end the server
            log_broken_stream(error)
        finally:
            self._streaming = False
            self._tunnel = None
            await stream.aclose()
        if chunked and arrived.head.method != "HEAD" and not self.transport.is_closing():
            self.transport.write(LAST_CHUNK)

    def _switch(self, tunnel: http_messages.Tunnel) -> None:
        """No HTTP from here on. What has come behind the request belongs to what follows."""
        self._tunnel = tunnel
        self.transport.write(tunnel.head)
        tunnel.connect(self._hold)
        behind, self._unread = bytes(self._unread), bytearray()
        if behind:
            tunnel.take(behind)
        if self._is_over:
            tunnel.end()
        if self._is_paused:
            self._is_paused = False
            self._read_more()

    async def _pump(self, stream: AsyncGenerator[bytes, None], *, chunked: bool) -> None:
        turns, written, chunks = Turns(), 0, self._server.chunks
        async for data in stream:
            if self.transport.is_closing():  # asyncio would warn of each part in the log
                return
            if data:
                self.transport.write(chunks.of(data) if chunked else data)
            if self._writable is not None:
                await self._writable
            written += len(data) + _PART_BYTES
            if written > _TURN_BYTES:
                written = 0
                await turns.take()

    def is_ready(self) -> bool:
        """Return whether a part of a stream can go out at once."""
        return self._writable is None and not self.transport.is_closing()

    def send(self, data: bytes) -> None:
        """Send a part of a stream, past the stream."""
        self.transport.write(self._server.chunks.of(data))

    # --- a client that does not read what it has asked for ---

    def pause_writing(self) -> None:
        self._writable = self._loop.create_future()
        self.waits_since = self._loop.time()
        self._watch_reader()
        self._count()

    def resume_writing(self) -> None:
        if self._writable is not None and not self._writable.done():
            self._writable.set_result(None)
        self._writable = None
        self._watch_reader(stop=True)
        self._count()

    def _watch_reader(self, *, stop: bool = False) -> None:
        if self._stall_timer is not None:
            self._stall_timer.cancel()
            self._stall_timer = None
        if not stop:
            self._stall_timer = self._loop.call_later(
                self._limits.stalled_seconds, self._look_at_reader, self._unsent()
            )

    def _look_at_reader(self, unsent: int) -> None:
        if self._unsent() < unsent:
            self._watch_reader()
            self._count()
        else:
            self.transport.abort()

    def _unsent(self) -> int:
        """Bytes that the client has not taken; the kernel holds some of them."""
        connection = self.transport.get_extra_info("socket")
        try:
            unsent = fcntl.ioctl(connection.fileno(), termios.TIOCOUTQ, bytes(4))
        except OSError:  # the kernel does not tell
            unsent = bytes(4)
        return self.transport.get_write_buffer_size() + int.from_bytes(unsent, sys.byteorder)
