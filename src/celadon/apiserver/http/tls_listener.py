"""A socket that accepts connections with TLS, whoever opens them and never says a word.

A handshake costs memory from its beginning and, in one step, a millisecond of the event loop. So it
begins when the first message of the client has come as a whole, a few begin in each turn of the
loop, and of those that do not go on the oldest end when there are many. A client that speaks HTTP
here is told so, in the words of Go's net/http.
"""

from __future__ import annotations

import asyncio
import contextlib
import resource
import socket
import ssl
from collections import deque
from collections.abc import Callable
from typing import Final

from celadon.apiserver.tls import ACCEPTED

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
    message, end, wanted = b"", 0, _MESSAGE_HEAD
    while len(message) < wanted:
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
            wanted = _MESSAGE_HEAD + int.from_bytes(message[1:_MESSAGE_HEAD])
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
        """Accept nobody any more. Handshakes that have begun may finish."""
        self._is_closed = True
        self._loop.remove_reader(self._listener)
        self._listener.close()
        for one in tuple(self._silent):
            self._drop(one)
        while self._starting:
            self._starting.popleft().close()

    def _accept(self) -> None:
        for _ in range(ACCEPTED_AT_ONCE):
            try:
                accepted, _ = self._listener.accept()
            except (BlockingIOError, InterruptedError, ConnectionAbortedError):
                return
            except OSError:  # no descriptors, no memory
                self._pause()
                return
            accepted.settimeout(0)
            self._silent[accepted] = self._loop.call_later(self._seconds, self._drop, accepted)
            self._look(accepted)
            if len(self._silent) > self._most_silent:
                self._drop(next(iter(self._silent)))
        if len(self._starting) >= STARTING:
            self._loop.remove_reader(self._listener)

    def _pause(self) -> None:
        if self._silent:
            self._drop(next(iter(self._silent)))
        self._loop.remove_reader(self._listener)
        self._loop.call_later(_FULL_SECONDS, self._go_on)

    def _go_on(self) -> None:
        if not self._is_closed:
            self._loop.add_reader(self._listener, self._accept)

    def _look(self, one: socket.socket, expected: int = 0) -> None:
        """See what has come. If `expected` bytes have not, no more will."""
        begun = b""
        try:
            begun = one.recv(LONGEST_HELLO, socket.MSG_PEEK)
            is_over = len(begun) < max(1, expected)
        except (BlockingIOError, InterruptedError):
            is_over = False
        except OSError:
            is_over = True
        size = hello_size(begun)
        if is_over or size > LONGEST_HELLO:
            self._drop(one)
        elif begun[:_RECORD_HEAD] in _HTTP_BEGINNINGS:
            with contextlib.suppress(OSError):
                one.recv(LONGEST_HELLO)  # what is unread would reset the connection
                one.send(_HTTP_ANSWER)
            self._drop(one)
        elif size > len(begun):
            one.setsockopt(socket.SOL_SOCKET, socket.SO_RCVLOWAT, size if begun else 1)
            self._loop.add_reader(one, self._look, one, size if begun else 1)
        else:
            self._start_soon(one)

    def _drop(self, one: socket.socket) -> None:
        self._forget(one)
        one.close()

    def _forget(self, one: socket.socket) -> None:
        self._silent.pop(one).cancel()
        self._loop.remove_reader(one)

    def _start_soon(self, one: socket.socket) -> None:
        self._forget(one)
        one.setsockopt(socket.SOL_SOCKET, socket.SO_RCVLOWAT, 1)
        self._starting.append(one)
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

    async def _shake_hands(self, one: socket.socket) -> None:
        ACCEPTED.set(one)
        with contextlib.suppress(OSError):  # of SSL, too: the client's affair
            await self._loop.connect_accepted_socket(
                self._make, one, ssl=self._context, ssl_handshake_timeout=self._seconds
            )
