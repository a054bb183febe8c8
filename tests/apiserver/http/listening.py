"""An HTTP server on the loopback for tests of the transport, and a client without manners."""

from __future__ import annotations

import asyncio
import socket
import ssl
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import uvloop

from celadon.apiserver.http.http_connection import ConnectionLimits
from celadon.apiserver.http.http_server import HttpServer
from celadon.apiserver.http_messages import (
    Handler,
    HttpAnswer,
    HttpRequest,
    PromptHandler,
    plain_text,
)

PATIENCE = 60.0
"""Seconds after which a test fails rather than waits."""


@dataclass(frozen=True, slots=True)
class Listening:
    """Where a server listens, and how to end it."""

    port: int
    server: HttpServer
    loop: asyncio.AbstractEventLoop

    def connected(self) -> socket.socket:
        return socket.create_connection(("127.0.0.1", self.port), timeout=PATIENCE)

    def wait(self, condition: Callable[[], bool]) -> None:
        """Until it holds."""
        deadline = time.monotonic() + PATIENCE
        while not condition():
            assert time.monotonic() < deadline
            time.sleep(0.001)

    def said(self, data: bytes) -> bytes:
        """All that is answered until the server closes."""
        with self.connected() as client:
            client.sendall(data)
            return until_closed(client)


async def echo(request: HttpRequest) -> HttpAnswer:
    """Tells how much came."""
    return plain_text(200, f"{request.method} {request.target} {len(request.body)}\n")


@contextmanager
def listening(
    handler: Handler = echo,
    limits: ConnectionLimits | None = None,
    tls: ssl.SSLContext | None = None,
    prompt: PromptHandler | None = None,
) -> Iterator[Listening]:
    listener = socket.create_server(("127.0.0.1", 0))
    port = listener.getsockname()[1]
    listener.setblocking(False)
    ready = threading.Event()
    limits = ConnectionLimits() if limits is None else limits
    server = HttpServer(handler, ready.set, tls, limits, prompt)

    loop = uvloop.new_event_loop()

    def run() -> None:
        with asyncio.Runner(loop_factory=lambda: loop) as runner:
            runner.run(server.serve(sockets=[listener]))

    thread = threading.Thread(target=run)
    thread.start()
    try:
        assert ready.wait(PATIENCE)
        yield Listening(port, server, loop)
    finally:
        server.end()
        thread.join(PATIENCE)
        assert not thread.is_alive()


def until(client: socket.socket, mark: bytes) -> bytes:
    """All that comes, up to a mark."""
    found = b""
    while mark not in found:
        chunk = client.recv(1 << 16)
        assert chunk, found
        found += chunk
    return found


def until_closed(client: socket.socket) -> bytes:
    """A connection that is cut off ends, too."""
    found = bytearray()
    try:
        while chunk := client.recv(1 << 16):
            found += chunk
    except ConnectionError:
        pass
    return bytes(found)


def code(answer: bytes) -> int:
    return int(answer.split(b" ", 2)[1])
