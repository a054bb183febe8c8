"""uvicorn with httptools, kept on a short leash: certificates of clients, limits, an orderly end.

docs/decisions/0014-http-server.md says why uvicorn. Its own signal handling is not used: the
process belongs to whoever runs it.
"""

from __future__ import annotations

import asyncio
import contextlib
import fcntl
import functools
import socket
import ssl
import sys
import termios
from collections.abc import Callable, Generator
from typing import Any, Final

from uvicorn import Config, Server
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from celadon.serve.transport.asgi_app import CERTIFICATE, AsgiApp
from celadon.serve.transport.connection_limits import ConnectionLimits

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
    _stall_timer: asyncio.TimerHandle | None = None

    def __init__(self, limits: ConnectionLimits, **given: Any) -> None:
        super().__init__(**given)
        self._limits = limits

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as uvicorn
        super().connection_made(transport)
        tls: ssl.SSLObject | None = transport.get_extra_info("ssl_object")
        if tls is not None:
            self._certificate = tls.getpeercert(binary_form=True)
        self._await_head()

    def connection_lost(self, exc: Exception | None) -> None:
        self._head_arrived()
        self._unset_keepalive_if_required()
        self._watch_reader(stop=True)
        self.pipeline.clear()
        super().connection_lost(exc)

    # --- the head of a request: not too large, not too slow, not too many before their turn ---

    def data_received(self, data: bytes) -> None:
        if self._head_bytes is not None:
            self._head_bytes += len(data)
        super().data_received(data)
        if self._head_bytes is not None and self._head_bytes > self._limits.head_bytes:
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
        if len(self.pipeline) > self._limits.pipelined:
            self.transport.abort()

    def _await_head(self) -> None:
        self._head_timer = self.loop.call_later(self._limits.head_seconds, self.transport.abort)

    def _head_arrived(self) -> None:
        self._head_bytes = None
        if self._head_timer is not None:
            self._head_timer.cancel()
            self._head_timer = None

    # --- a client that does not read what it has asked for ---

    def pause_writing(self) -> None:
        super().pause_writing()
        self._watch_reader()

    def resume_writing(self) -> None:
        super().resume_writing()
        self._watch_reader(stop=True)

    def timeout_keep_alive_handler(self) -> None:
        """Nothing came for long. What is still unread would keep the connection for ever."""
        super().timeout_keep_alive_handler()
        self._watch_reader()

    def _watch_reader(self, *, stop: bool = False) -> None:
        if self._stall_timer is not None:
            self._stall_timer.cancel()
            self._stall_timer = None
        if not stop:
            self._stall_timer = self.loop.call_later(
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


class HttpServer(Server):
    """`ready` is called when connections are accepted."""

    def __init__(
        self,
        app: AsgiApp,
        ready: Callable[[], None],
        tls: ssl.SSLContext | None = None,
        limits: ConnectionLimits | None = None,
    ) -> None:
        limits = ConnectionLimits() if limits is None else limits
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
            timeout_keep_alive=limits.idle_seconds,
            timeout_graceful_shutdown=limits.drain_seconds,
        )
        config.load()
        config.http_protocol_class = functools.partial(Connection, limits)  # type: ignore[assignment]  # as good as a class
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
