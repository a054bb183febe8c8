"""A handler on a port of its own on loopback, and an end without ceremony.

A server for users lets requests finish when it ends; in a test nobody waits for them any more, so
connections are cut, which takes no time.
"""

from __future__ import annotations

import asyncio
import contextlib
import socket
import ssl
from typing import Final

from celadon.serve import Handler
from celadon.serve.transport import HttpServer

PATIENCE: Final = 0.2
"""Seconds in which requests that were being answered may end; streams need less than one
millisecond."""


def loopback_listener(host: str) -> socket.socket:
    """On any port that is free."""
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    listener.bind((host, 0))
    listener.settimeout(0)
    return listener


class LoopbackServer:
    """Works in the loop in which `begin` is called; the listener stays the caller's."""

    def __init__(self, listener: socket.socket, tls: ssl.SSLContext | None) -> None:
        self._listener = listener
        self._tls = tls

    async def begin(self, handler: Handler) -> None:
        """Connections are accepted when this is done."""
        ready = asyncio.Event()
        self._http = HttpServer(handler, ready.set, self._tls)
        self._serving = asyncio.create_task(self._http.serve(sockets=[self._listener]))
        await ready.wait()

    async def end(self) -> None:
        """End all streams, then cut all connections."""
        self._serving.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await self._serving
        await self._http.drain(PATIENCE)
        await asyncio.sleep(0)  # what was aborted is told so
