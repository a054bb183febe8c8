"""The HTTP server: a socket that accepts connections, with TLS or without, and an orderly end.

docs/decisions/0014-http-server.md says why it is ours. It handles no signals: the process belongs
to whoever runs it.
"""

from __future__ import annotations

import asyncio
import contextlib
import resource
import socket
import ssl
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Final

from celadon.apiserver.http.http_connection import Connection, ConnectionLimits, LatestChunk
from celadon.apiserver.http.panic_recovery import GuardedHandler
from celadon.apiserver.http_messages import Handler, PromptHandler, SignedFor
from celadon.apiserver.tls import ACCEPTED

# --- Listening ---------------------------------------------------------------
#
# A socket that accepts connections with TLS, whoever opens them and never says a word.
#
# A handshake costs memory from its beginning and, in one step, a millisecond of the event loop. So
# it begins when the first message of the client has come as a whole, a few begin in each turn of
# the loop, and of those that do not go on the oldest end when there are many. A client that speaks
# HTTP here is told so, in the words of net/http of Go.

BACKLOG: Final = 2048
"""Connections that the system keeps until they are accepted."""

ACCEPTED_AT_ONCE: Final = 16
"""Connections that are accepted in one turn of the loop."""

STARTED_AT_ONCE: Final = 4
"""Handshakes that begin in one turn of the loop; each signs once."""

STARTING: Final = 64
"""When so many wait for their turn, nobody else is accepted."""

SILENT: Final = 2048
"""Connections that have not sent their first message; they hold a descriptor each."""

UNFINISHED: Final = 512
"""Handshakes that have begun; each holds some 60 KB."""

LONGEST_HELLO: Final = 16 << 10
"""Bytes of the first message. Ordinary ones have 200 to 2,000."""

_FULL_SECONDS: Final = 0.1
"""When there are no descriptors left, nobody is accepted for so long."""

_HANDSHAKE: Final = 22
"""The type of a record of TLS that is part of a handshake (RFC 8446, 5.1)."""
_RECORD_HEAD: Final = 5
_MESSAGE_HEAD: Final = 4
_HTTP_BEGINNINGS: Final = frozenset({b"GET /", b"HEAD ", b"POST ", b"PUT /", b"OPTIO"})
"""Go's `tlsRecordHeaderLooksLikeHTTP` (net/http, server.go)."""
_HTTP_ANSWER: Final = (
    b"HTTP/1.0 400 Bad Request\r\n\r\nClient sent an HTTP request to an HTTPS server.\n"
)


def hello_size(begun: bytes) -> int:
    """Return how many bytes the first message of a client takes with its records, as far as can be
    told from its beginning. What is no such message ends where that shows."""
    message, end, expected = b"", 0, _MESSAGE_HEAD
    while len(message) < expected:
        head = begun[end : end + _RECORD_HEAD]
        if head and head[0] != _HANDSHAKE:
            return end or _RECORD_HEAD
        if len(head) < _RECORD_HEAD:
            return end + _RECORD_HEAD
        length = int.from_bytes(head[3:])
        if not length:
            return end + _RECORD_HEAD
        message += begun[end + _RECORD_HEAD : end + _RECORD_HEAD + length]
        end += _RECORD_HEAD + length
        if end > len(begun):
            return end
        if len(message) >= _MESSAGE_HEAD:
            expected = _MESSAGE_HEAD + int.from_bytes(message[1:_MESSAGE_HEAD])
    return end


class TlsListener:
    """Accepts connections from now on. `make` gives the protocol of each that has finished its
    handshake, which may take so many `seconds`. Belongs to the running loop."""

    def __init__(
        self,
        listener: socket.socket,
        context: ssl.SSLContext,
        make: Callable[[], asyncio.Protocol],
        seconds: float,
    ) -> None:
        files, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
        self._most_silent = min(SILENT, files // 4)
        self._most_unfinished = min(UNFINISHED, files // 8)
        self._loop = asyncio.get_running_loop()
        self._listener = listener
        self._context = context
        self._make = make
        self._seconds = seconds
        self._silent: dict[socket.socket, asyncio.TimerHandle] = {}
        self._starting: deque[socket.socket] = deque()
        self._unfinished: dict[asyncio.Task[None], None] = {}
        self._is_closed = False
        listener.settimeout(0)
        listener.listen(BACKLOG)
        self._loop.add_reader(listener, self._accept)

    def close(self) -> None:
        """Accept those who have connected already, and nobody any more. Handshakes go on."""
        self._is_closed = True
        rounds = BACKLOG // ACCEPTED_AT_ONCE
        while rounds and self._accept():
            rounds -= 1
        self._loop.remove_reader(self._listener)
        self._listener.close()

    def abandon(self) -> None:
        """End the handshakes that are not finished, and those that have not begun."""
        for connection in tuple(self._silent):
            self._drop(connection)
        while self._starting:
            self._starting.popleft().close()
        for task in tuple(self._unfinished):
            task.cancel()

    def is_greeting(self, seconds: float) -> bool:
        """Tell whether a client is in its handshake, or has connected in the last `seconds`."""
        latest = next(reversed(self._silent.values()), None)
        oldest_time = self._loop.time() - seconds
        is_awaited = latest is not None and latest.when() - self._seconds > oldest_time
        return is_awaited or bool(self._starting or self._unfinished)

    def _accept(self) -> bool:
        """Return whether more may be waiting."""
        for _ in range(ACCEPTED_AT_ONCE):
            try:
                accepted, _ = self._listener.accept()
            except (BlockingIOError, InterruptedError, ConnectionAbortedError):
                return False
            except OSError:  # no descriptors, no memory
                self._pause()
                return False
            accepted.settimeout(0)
            self._silent[accepted] = self._loop.call_later(self._seconds, self._drop, accepted)
            self._look(accepted)
            if len(self._silent) > self._most_silent:
                self._drop(next(iter(self._silent)))
        if len(self._starting) >= STARTING:
            self._loop.remove_reader(self._listener)
        return True

    def _pause(self) -> None:
        if self._silent:
            self._drop(next(iter(self._silent)))
        self._loop.remove_reader(self._listener)
        self._loop.call_later(_FULL_SECONDS, self._go_on)

    def _go_on(self) -> None:
        if not self._is_closed:
            self._loop.add_reader(self._listener, self._accept)

    def _look(self, connection: socket.socket, expected: int = 0) -> None:
        """See what has come. If `expected` bytes have not, no more will."""
        begun = b""
        try:
            begun = connection.recv(LONGEST_HELLO, socket.MSG_PEEK)
            is_over = len(begun) < max(1, expected)
        except (BlockingIOError, InterruptedError):
            is_over = False
        except OSError:
            is_over = True
        size = hello_size(begun)
        if is_over or size > LONGEST_HELLO:
            self._drop(connection)
        elif begun[:_RECORD_HEAD] in _HTTP_BEGINNINGS:
            with contextlib.suppress(OSError):
                connection.recv(LONGEST_HELLO)  # what is unread would reset the connection
                connection.send(_HTTP_ANSWER)
            self._drop(connection)
        elif size > len(begun):
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVLOWAT, size if begun else 1)
            self._loop.add_reader(connection, self._look, connection, size if begun else 1)
        else:
            self._start_soon(connection)

    def _drop(self, connection: socket.socket) -> None:
        self._forget(connection)
        connection.close()

    def _forget(self, connection: socket.socket) -> None:
        self._silent.pop(connection).cancel()
        self._loop.remove_reader(connection)

    def _start_soon(self, connection: socket.socket) -> None:
        self._forget(connection)
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVLOWAT, 1)
        self._starting.append(connection)
        if len(self._starting) == 1:
            self._loop.call_soon(self._next_turn)

    def _next_turn(self) -> None:
        for _ in range(min(STARTED_AT_ONCE, len(self._starting))):
            task = self._loop.create_task(self._shake_hands(self._starting.popleft()))
            self._unfinished[task] = None
            task.add_done_callback(self._finish)
        while len(self._unfinished) > self._most_unfinished:
            oldest = next(iter(self._unfinished))
            self._finish(oldest)
            oldest.cancel()
        if self._starting:
            self._loop.call_soon(self._next_turn)
        elif not self._is_closed:
            self._loop.add_reader(self._listener, self._accept)

    def _finish(self, task: asyncio.Task[None]) -> None:
        self._unfinished.pop(task, None)

    async def _shake_hands(self, connection: socket.socket) -> None:
        ACCEPTED.set(connection)
        with contextlib.suppress(OSError):  # of SSL, too: the client's affair
            await self._loop.connect_accepted_socket(
                self._make, connection, ssl=self._context, ssl_handshake_timeout=self._seconds
            )


# --- Serving -----------------------------------------------------------------

READING_AT_ONCE: Final = 1
"""Connections that read much in one turn of the loop, a quarter of a megabyte each: whoever sends
little waits for no more than that."""

LOOKED_AT: Final = 8
"""Connections that are looked at, on average, when one holds more and all hold too much."""

_LOOK_SECONDS: Final = 0.01
"""Between two looks whether the last request has been answered."""


def within_descriptors(limits: ConnectionLimits) -> ConnectionLimits:
    """Fewer connections where the system has fewer descriptors: idle ones go before nobody can
    connect any more. A part of them is for handshakes, files and forks."""
    files, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    if files == resource.RLIM_INFINITY:
        return limits
    return replace(limits, connections=min(limits.connections, files * 5 // 8))


class HttpServer:
    """Accepts connections and answers their requests. `ready` is called when connections are
    accepted; `prompt` may answer requests before `handler` is asked. `signed_for` tells whose
    authorities have signed a client's certificate, where there are others than those of clients."""

    def __init__(
        self,
        handler: Handler,
        ready: Callable[[], None],
        tls: ssl.SSLContext | None = None,
        limits: ConnectionLimits | None = None,
        prompt: PromptHandler | None = None,
        signed_for: Callable[[ssl.SSLObject], SignedFor] | None = None,
    ) -> None:
        self.handler = GuardedHandler(handler)
        self.prompt = prompt
        self.signed_for = signed_for
        self.limits = ConnectionLimits() if limits is None else limits
        self.connections: dict[Connection, None] = {}
        self.is_ending = False
        self.held_bytes = 0
        self.chunks = LatestChunk()
        self.has_recalled = False
        self._tls_listeners: list[TlsListener] = []
        self._unlooked = 0
        """So many more times it is not looked who could give up something, since nobody could the
        last time: what is held waits for us."""
        self._resting: deque[Connection] = deque()
        self._ready = ready
        self._tls = tls
        self._loop: asyncio.AbstractEventLoop | None = None
        self._end = asyncio.Event()

    async def serve(self, sockets: Sequence[socket.socket]) -> None:
        """Serve until `end`, and until what was begun is finished. Cancelled, it only stops
        listening."""
        self._loop = asyncio.get_running_loop()
        self.limits = within_descriptors(self.limits)
        listeners = [await self._listener(item) for item in sockets]
        self._tls_listeners = [item for item in listeners if isinstance(item, TlsListener)]
        try:
            self._ready()
            await self._end.wait()
        finally:
            for listener in listeners:
                listener.close()
        await self.drain(self.limits.drain_seconds)

    async def _listener(self, on: socket.socket) -> asyncio.Server | TlsListener:
        def connection() -> Connection:
            return Connection(self)

        if self._tls is not None:
            return TlsListener(on, self._tls, connection, self.limits.head_seconds)
        return await asyncio.get_running_loop().create_server(connection, sock=on, backlog=BACKLOG)

    async def drain(self, seconds: float) -> None:
        """End all streams, let requests finish for so long, then cut all connections."""
        self.is_ending = True
        await asyncio.sleep(self.limits.linger_seconds)
        for connection in tuple(self.connections):
            if not connection.is_new:
                connection.end()
        deadline = asyncio.get_running_loop().time() + seconds
        while self._has_begun():
            if asyncio.get_running_loop().time() >= deadline:
                break
            await asyncio.sleep(_LOOK_SECONDS)
        await asyncio.sleep(0)  # what was closed has said so
        for listener in self._tls_listeners:
            listener.abandon()
        for connection in tuple(self.connections):
            connection.transport.abort()

    def _has_begun(self) -> bool:
        """Tell whether a request is being answered, or may be about to come for the first time."""
        seconds = self.limits.greeting_seconds
        return any(item.is_busy or item.is_new for item in self.connections) or any(
            listener.is_greeting(seconds) for listener in self._tls_listeners
        )

    def make_room(self) -> None:
        """End connections when there is too much to hold: first those whose clients have kept us
        waiting for longest, since honest ones are quick."""
        held_bytes, most = self.held_bytes, self.limits.held_bytes
        if held_bytes > most and self._unlooked > 0:
            self._unlooked -= 1
        elif held_bytes > most:
            waiting = [connection for connection in self.connections if connection.keeps_waiting]
            for connection in sorted(waiting, key=lambda connection: connection.waits_since):
                if self.held_bytes <= most - most // 16:
                    break
                connection.give_up()
            if self.held_bytes > most:
                self._unlooked = len(self.connections) // LOOKED_AT
        if len(self.connections) > self.limits.connections:
            idle = [connection for connection in self.connections if not connection.is_busy]
            idle.sort(key=lambda connection: connection.last_used)
            for connection in idle[: 1 + self.limits.connections // 64]:
                connection.transport.abort()

    def rest(self, connection: Connection) -> None:
        """Let a connection that has brought much wait until others have had their turn. However
        many send large bodies, the loop reads those of a few before it looks after the small
        ones."""
        self._resting.append(connection)
        if len(self._resting) == 1:
            asyncio.get_running_loop().call_soon(self._next_turn)

    def _next_turn(self) -> None:
        for _ in range(min(READING_AT_ONCE, len(self._resting))):
            self._resting.popleft().go_on()
        if self._resting:
            asyncio.get_running_loop().call_soon(self._next_turn)

    def recall_certificates(self) -> None:
        """End the connections that were made with a certificate, their streams too, since other
        authorities are trusted now; no session brings an old one back."""
        self.has_recalled = True
        for connection in tuple(self.connections):
            connection.recall()

    def retire(self) -> None:
        """Each answer from now on is the last of its connection, so that clients that keep theirs
        open go elsewhere before `end`."""
        self.is_ending = True

    def end(self) -> None:
        """Begin to end: no new connections, streams end, requests may finish. From any thread."""
        if self._loop is not None and not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._end.set)
