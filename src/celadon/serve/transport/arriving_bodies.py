"""Reading the bodies of requests, from many clients at once, without trusting any of them.

A body has a time to arrive in and a length at which it is cut off; all that has come of bodies that
are not complete has a bound, too.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any, Final, TypeAlias

from celadon.serve.transport.connection_limits import ConnectionLimits

Scope: TypeAlias = MutableMapping[str, Any]
Message: TypeAlias = MutableMapping[str, Any]
Receive: TypeAlias = Callable[[], Awaitable[Message]]
Send: TypeAlias = Callable[[Message], Awaitable[None]]

BODY_HEADERS: Final = frozenset({b"content-length", b"transfer-encoding"})
"""Without either, a request has no body (RFC 9112, section 6.3)."""


class ClientGone(Exception):
    """Nobody waits for the answer any more."""


class TooMuchWaiting(Exception):
    """There are too many unfinished bodies already."""


class BodyReader:
    """Of one server."""

    def __init__(self, limits: ConnectionLimits) -> None:
        self._limits = limits
        self._waiting = 0

    async def read(self, scope: Scope, receive: Receive) -> tuple[bytes, bool]:
        """The body up to one byte more than allowed, and whether the client has sent all that it
        wanted to. Raises ClientGone, TimeoutError, TooMuchWaiting."""
        if not any(name in BODY_HEADERS for name, _ in scope["headers"]):
            return b"", True
        async with asyncio.timeout(self._limits.body_seconds):
            message = await receive()
            if message["type"] == "http.request" and not message.get("more_body"):
                return message.get("body", b"")[: self._limits.body_bytes + 1], True
            return await self._rest(message, receive)

    async def _rest(self, message: Message, receive: Receive) -> tuple[bytes, bool]:
        kept, size, bound = bytearray(), 0, self._limits.body_bytes + 1
        counted = 0
        try:
            while True:
                if message["type"] == "http.disconnect":
                    raise ClientGone
                chunk = message.get("body", b"")
                size += len(chunk)
                kept += chunk[: bound - len(kept)]
                if not message.get("more_body"):
                    return bytes(kept), True
                if size > self._limits.drained_bytes:
                    return bytes(kept), False
                counted += self._count(len(kept) - counted)
                message = await receive()
        finally:
            self._waiting -= counted

    def _count(self, more: int) -> int:
        if self._waiting + more > self._limits.waiting_bytes:
            raise TooMuchWaiting
        self._waiting += more
        return more
