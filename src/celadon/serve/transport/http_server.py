"""uvicorn with httptools, kept on a short leash: certificates of clients, limits, an orderly end.

docs/decisions/0014-http-server.md says why uvicorn. Its own signal handling is not used: the
process belongs to whoever runs it.
"""

from __future__ import annotations

import asyncio
import contextlib
import socket
import ssl
from collections.abc import Callable, Generator
from typing import Final

from uvicorn import Config, Server
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from celadon.serve.transport.asgi_app import CERTIFICATE, AsgiApp

MAX_HEAD_BYTES: Final = 1 << 20
"""Request line and headers together (Go's net/http, `DefaultMaxHeaderBytes`)."""

HEAD_SECONDS: Final = 32.0
"""For sending them (k8s.io/apiserver `pkg/server/secure_serving.go`)."""

KEEP_ALIVE_SECONDS: Final = 90
"""A connection without requests is kept so long (the same)."""

DRAIN_SECONDS: Final = 10
"""Requests may go on for so long when the server ends."""

BACKLOG: Final = 2048
HEAD_TOO_LARGE: Final = (
    b"HTTP/1.1 431 Request Header Fields Too Large\r\n"
    b"Content-Type: text/plain; charset=utf-8\r\nConnection: close\r\n\r\n"
    b"431 Request Header Fields Too Large"
)


class Connection(HttpToolsProtocol):
    """One connection. Its client's certificate goes into the scope of all its requests."""

    _certificate: bytes | None = None
    _head_bytes: int | None = 0
    """How much has come of a request's head; None once it is complete."""
    _head_timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as uvicorn
        super().connection_made(transport)
        tls: ssl.SSLObject | None = transport.get_extra_info("ssl_object")
        if tls is not None:
            self._certificate = tls.getpeercert(binary_form=True)
        self._await_head()

    def connection_lost(self, exc: Exception | None) -> None:
        self._head_arrived()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        if self._head_bytes is not None:
            self._head_bytes += len(data)
        super().data_received(data)
        if self._head_bytes is not None and self._head_bytes > MAX_HEAD_BYTES:
            self.transport.write(HEAD_TOO_LARGE)
            self.transport.close()

    def on_message_begin(self) -> None:
        super().on_message_begin()
        self.scope[CERTIFICATE] = self._certificate  # type: ignore[typeddict-unknown-key]  # ours
        if self._head_bytes is None:
            self._head_bytes = 0
            self._await_head()

    def on_headers_complete(self) -> None:
        self._head_arrived()
        super().on_headers_complete()

    def _await_head(self) -> None:
        self._head_timer = self.loop.call_later(HEAD_SECONDS, self.transport.abort)

    def _head_arrived(self) -> None:
        self._head_bytes = None
        if self._head_timer is not None:
            self._head_timer.cancel()
            self._head_timer = None


class HttpServer(Server):
    """`ready` is called when connections are accepted."""

    def __init__(
        self, app: AsgiApp, ready: Callable[[], None], tls: ssl.SSLContext | None = None
    ) -> None:
        config = Config(
            app,
            http=Connection,
            ws="none",
            lifespan="off",
            interface="asgi3",
            log_config=None,
            access_log=False,
            proxy_headers=False,
            server_header=False,
            backlog=BACKLOG,
            timeout_keep_alive=KEEP_ALIVE_SECONDS,
            timeout_graceful_shutdown=DRAIN_SECONDS,
        )
        config.load()
        config.ssl = tls
        super().__init__(config)
        self._app = app
        self._ready = ready

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self._ready()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        self._app.end_streams()
        await super().shutdown(sockets)

    @contextlib.contextmanager
    def capture_signals(self) -> Generator[None, None, None]:
        """Signals are not this class's business; `end` is."""
        yield

    def end(self) -> None:
        """Begin to end: no new connections, streams end, requests may finish."""
        self.should_exit = True
