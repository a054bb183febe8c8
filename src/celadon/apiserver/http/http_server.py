"""The HTTP server: connections on a socket, and an orderly end.

docs/decisions/0014-http-server.md says why it is ours. It handles no signals: the process belongs
to whoever runs it.
"""

from __future__ import annotations

import asyncio
import resource
import socket
import ssl
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Final

from celadon.apiserver.http.guarded_handler import GuardedHandler
from celadon.apiserver.http.http_connection import Connection, ConnectionLimits, LatestChunk
from celadon.apiserver.http.tls_listener import BACKLOG, TlsListener
from celadon.apiserver.http_messages import Handler, PromptHandler, SignedFor

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
    """`ready` is called when connections are accepted; `prompt` may answer requests before
    `handler` is asked. `signed_for` tells whose authorities have signed a client's certificate,
    where there are others than those of clients."""

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
        self._unlooked = 0
        """So many more times it is not looked who could give up something, since nobody could the
        last time: what is held waits for us."""
        self._resting: deque[Connection] = deque()
        self._ready = ready
        self._tls = tls
        self._loop: asyncio.AbstractEventLoop | None = None
        self._end = asyncio.Event()

    async def serve(self, sockets: Sequence[socket.socket]) -> None:
        """Until `end`, and until what was begun is finished. Cancelled, it only stops listening."""
        self._loop = asyncio.get_running_loop()
        self.limits = within_descriptors(self.limits)
        servers = [await self._listener(one) for one in sockets]
        try:
            self._ready()
            await self._end.wait()
        finally:
            for server in servers:
                server.close()
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
            connection.end()
        deadline = asyncio.get_running_loop().time() + seconds
        while any(one.is_busy for one in self.connections):
            if asyncio.get_running_loop().time() >= deadline:
                break
            await asyncio.sleep(_LOOK_SECONDS)
        await asyncio.sleep(0)  # what was closed has said so
        for connection in tuple(self.connections):
            connection.transport.abort()

    def make_room(self) -> None:
        """Those go whose clients have kept us waiting for longest: honest ones are quick."""
        held, most = self.held_bytes, self.limits.held_bytes
        if held > most and self._unlooked > 0:
            self._unlooked -= 1
        elif held > most:
            waiting = [one for one in self.connections if one.keeps_waiting]
            for one in sorted(waiting, key=lambda one: one.waits_since):
                if self.held_bytes <= most - most // 16:
                    break
                one.give_up()
            if self.held_bytes > most:
                self._unlooked = len(self.connections) // LOOKED_AT
        if len(self.connections) > self.limits.connections:
            idle = [one for one in self.connections if not one.is_busy]
            idle.sort(key=lambda one: one.last_used)
            for one in idle[: 1 + self.limits.connections // 64]:
                one.transport.abort()

    def rest(self, connection: Connection) -> None:
        """What has brought much waits until others have had their turn. However many send large
        bodies, the loop reads those of a few before it looks after the small ones."""
        self._resting.append(connection)
        if len(self._resting) == 1:
            asyncio.get_running_loop().call_soon(self._next_turn)

    def _next_turn(self) -> None:
        for _ in range(min(READING_AT_ONCE, len(self._resting))):
            self._resting.popleft().go_on()
        if self._resting:
            asyncio.get_running_loop().call_soon(self._next_turn)

    def recall_certificates(self) -> None:
        """Whose certificates are trusted has changed: connections that were made with one end,
        their streams too, and no session brings an old one back."""
        self.has_recalled = True
        for one in tuple(self.connections):
            one.recall()

    def retire(self) -> None:
        """Each answer from now on is the last of its connection, so that clients that keep theirs
        open go elsewhere before `end`."""
        self.is_ending = True

    def end(self) -> None:
        """Begin to end: no new connections, streams end, requests may finish. From any thread."""
        if self._loop is not None and not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._end.set)
