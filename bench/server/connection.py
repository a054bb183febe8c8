"""A client for load: keep-alive connections, one request after the other on each.

It knows as much of HTTP as our servers' answers need: a status line, `content-length`, and for
watches `transfer-encoding: chunked`, of which only lines are counted. What it costs is subtracted
from nothing; it runs on the other core. An answer of kube-apiserver may be chunked, too.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable, Iterator
from typing import Final

_END: Final = b"\r\n\r\n"
_LENGTH: Final = b"content-length: "
_CHUNKED: Final = b"\r\ntransfer-encoding: chunked"
_LAST_CHUNK: Final = b"\r\n0\r\n\r\n"
"""Nothing else in an answer ends so: there are no line ends in JSON."""
_EVENT: Final = b'{"type":"'
"""What an event of a watch begins with. It may come in two parts."""
_UNTIL_LAST_CHUNK: Final = sys.maxsize


def request(
    method: str, target: str, token: str, body: bytes = b"", content: str = "application/json"
) -> bytes:
    """The bytes of a request with a body of a type of content."""
    head = (
        f"{method} {target} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {token}\r\n"
        "Accept: application/json\r\nUser-Agent: bench/1.0\r\n"
    )
    if body:
        head += f"Content-Type: {content}\r\nContent-Length: {len(body)}\r\n"
    return head.encode() + b"\r\n" + body


class BadAnswer(Exception):
    """An answer that is not a success; load with such answers measures nothing."""


class Connection(asyncio.Protocol):
    """Takes requests from an iterator shared by all connections until there are none."""

    def __init__(self, requests: Iterator[bytes], finished: Callable[[], None]) -> None:
        self._requests = requests
        self._finished = finished
        self._received = bytearray()
        self._needed = 0
        self.error: BadAnswer | None = None
        self.answers = 0
        self.last = b""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as uvloop
        self._transport = transport

    def connection_lost(self, exc: Exception | None) -> None:
        if self._needed >= 0:
            self._end(BadAnswer("the connection was closed"))

    def send(self) -> None:
        """The next request, or the end."""
        following = next(self._requests, None)
        if following is None:
            self._end(None)
        else:
            self._transport.write(following)

    def _end(self, error: BadAnswer | None) -> None:
        self._needed = -1
        self.error = error
        self._transport.close()
        self._finished()

    def data_received(self, data: bytes) -> None:
        received = self._received
        received += data
        if not self._needed:
            end = received.find(_END)
            if end < 0:
                return
            if received[9:10] != b"2":
                self._end(BadAnswer(received.decode(errors="replace")))
                return
            self._needed = _end_of_answer(received[: end + 2].lower(), end)
        if len(received) >= self._needed or (
            self._needed == _UNTIL_LAST_CHUNK and received.endswith(_LAST_CHUNK)
        ):
            self.last = bytes(received)
            received.clear()
            self._needed = 0
            self.answers += 1
            self.send()


def _end_of_answer(head: bytearray, end: int) -> int:
    """How many bytes an answer has, by its head of `end` bytes."""
    if _CHUNKED in head:
        return _UNTIL_LAST_CHUNK
    at = head.find(_LENGTH) + len(_LENGTH)
    return end + len(_END) + int(head[at : head.find(b"\r", at)])


class WatchConnection(asyncio.Protocol):
    """Counts the events of a watch; `told` is called with each, and `failed` when there are going
    to be no more, unless it was closed here."""

    def __init__(
        self,
        request: bytes,
        told: Callable[[], None],
        opened: Callable[[], None],
        failed: Callable[[BadAnswer], None],
    ) -> None:
        self._request = request
        self._told = told
        self._opened = opened
        self._failed = failed
        self._is_open = self._is_closed = False
        self._tail = self._end = b""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as uvloop
        self.transport = transport
        transport.write(self._request)

    def close(self) -> None:
        """Be told no more."""
        self._is_closed = True
        self.transport.abort()

    def connection_lost(self, exc: Exception | None) -> None:
        if not self._is_closed:
            self._failed(BadAnswer("the connection of a watch was closed"))

    def data_received(self, data: bytes) -> None:
        if not self._is_open:
            self._is_open = True
            self._opened()
        self._end = (self._end + data)[-len(_LAST_CHUNK) :]
        if self._end == _LAST_CHUNK:
            self._failed(BadAnswer(f"a watch has ended: {data.decode(errors='replace')}"))
        seen = self._tail + data
        self._tail = seen[1 - len(_EVENT) :]
        for _ in range(seen.count(_EVENT)):
            self._told()
