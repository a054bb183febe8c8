"""The network that calls use: who sends without end holds up nobody."""

from __future__ import annotations

import asyncio
import socket
import ssl
import threading
from collections.abc import Callable, Coroutine
from typing import Any

import pytest

from celadon.apiserver.aggregation.front_proxy import UpgradedConnection, _read_up_to_body
from celadon.apiserver.go_network import MAX_HEAD_BYTES, READ_BYTES, GoNetwork, GoStream
from celadon.apiserver.http_messages import NetworkFailure
from celadon.apiserver.workers import aside

EARLY = b"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n"
FINAL = b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"


class Writer:
    """Sends nothing anywhere."""

    is_closed = False

    @property
    def transport(self) -> Writer:
        return self

    def abort(self) -> None:
        self.is_closed = True

    def get_extra_info(self, name: str) -> Any:
        return ("127.0.0.1", 1) if name in {"sockname", "peername"} else None

    def write(self, data: bytes) -> None:
        """Forgotten."""

    async def drain(self) -> None:
        """Nothing waits."""


def read(*pieces: bytes) -> tuple[bytes, int]:
    """What is read of an answer that has come as a whole already, and how often others had a turn
    meanwhile."""

    async def run() -> tuple[bytes, int]:
        reader = asyncio.StreamReader()
        for piece in pieces:
            reader.feed_data(piece)
        reader.feed_eof()
        stream = GoStream(reader, Writer())  # type: ignore[arg-type]
        await stream.write(b"GET / HTTP/1.1\r\n\r\n")
        turns = 0

        async def others() -> None:
            nonlocal turns
            while True:
                turns += 1
                await asyncio.sleep(0)

        spinning = asyncio.create_task(others())
        found = []
        while data := await stream.read(1 << 16):
            found.append(data)
        spinning.cancel()
        return b"".join(found), turns

    return asyncio.run(run())


def test_others_have_turns_while_much_is_read() -> None:
    body = b"x" * (40 * READ_BYTES)
    found, turns = read(FINAL, body)
    assert found == FINAL + body
    assert turns >= 40


@pytest.mark.parametrize("count", [1, 2, 1000])
def test_informational_answers_are_read_over(count: int) -> None:
    assert read(EARLY * count, FINAL)[0] == FINAL


@pytest.mark.parametrize("at", range(1, len(EARLY)))
def test_wherever_they_are_cut(at: int) -> None:
    async def run() -> bytes:
        reader = asyncio.StreamReader()
        stream = GoStream(reader, Writer())  # type: ignore[arg-type]
        await stream.write(b"")
        reader.feed_data(EARLY[:at])
        reading = asyncio.create_task(stream.read(1 << 16))
        for _ in range(5):
            await asyncio.sleep(0)
        reader.feed_data(EARLY[at:] + FINAL)
        return await reading

    assert asyncio.run(run()) == FINAL


@pytest.mark.parametrize(
    "flood",
    [EARLY * (MAX_HEAD_BYTES // len(EARLY) + 200), EARLY[:-4] + b"x" * (MAX_HEAD_BYTES * 2)],
)
def test_informational_answers_have_an_end(flood: bytes) -> None:
    with pytest.raises(NetworkFailure, match="server response headers exceeded 1048576 bytes"):
        read(flood)


class Piece(bytes):
    """Notes how much is copied when it is put behind other bytes."""

    copied = 0

    def __radd__(self, before: Any) -> Any:
        if isinstance(before, bytearray):
            return NotImplemented  # it grows in place
        Piece.copied += len(before)
        return bytes.__add__(before, self)


class OneByOne(GoStream):
    """An answer that comes in pieces of a byte, without end."""

    def __init__(self, beginning: bytes, count: int) -> None:
        super().__init__(asyncio.StreamReader(), Writer())  # type: ignore[arg-type]
        self._left = [*(b"x" * count), *reversed(beginning)]

    async def _piece(self, max_bytes: int) -> bytes:
        return Piece([self._left.pop()]) if self._left else b""


async def _first(stream: GoStream) -> object:
    await stream.write(b"")
    return await stream.read(READ_BYTES)


async def _head(stream: GoStream) -> object:
    with pytest.raises(NetworkFailure, match="unexpected EOF"):
        await _read_up_to_body(stream)
    return None


async def _refusal(stream: GoStream) -> object:
    return await UpgradedConnection(stream, b"", b"").body(-1)


@pytest.mark.parametrize("reading", [_first, _head, _refusal])
def test_what_comes_in_pieces_of_a_byte_is_not_copied_for_each(
    reading: Callable[[GoStream], Coroutine[Any, Any, object]],
) -> None:
    async def run() -> None:
        await reading(OneByOne(EARLY[:-4], count))

    Piece.copied, count = 0, 3000
    asyncio.run(run())
    assert Piece.copied < count


@pytest.mark.parametrize("host", ["a" * 64, "a..b", "%C3%A9"])
def test_names_that_nobody_has(host: str) -> None:
    network = GoNetwork(lambda host, port: (host, port))
    with pytest.raises(NetworkFailure, match=f"dial tcp: lookup {host}: no such host"):
        asyncio.run(network.connect_tcp(host, 1))


@pytest.mark.parametrize("name", ["a" * 64 + ".b", "a\0b", "a" * 70_000, ".a", ""])
def test_names_that_no_certificate_can_have(name: str) -> None:
    async def run() -> Writer:
        writer = Writer()
        stream = GoStream(asyncio.StreamReader(), writer)  # type: ignore[arg-type]
        with pytest.raises(NetworkFailure, match="is no name of a server"):
            await stream.start_tls(ssl.create_default_context(), name)
        return writer

    assert asyncio.run(run()).is_closed


def test_names_that_nobody_answers_for_hold_up_no_work_aside(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    answered = threading.Event()

    def unanswered(*_: object, **__: object) -> None:
        answered.wait(60)
        raise OSError

    async def run() -> int:
        network = GoNetwork(lambda host, port: (host, port))
        calls = [
            asyncio.create_task(network.connect_tcp(f"{number}.example", 443))
            for number in range(40)  # more than an event loop has threads
        ]
        await asyncio.sleep(0)
        result = await aside(len, "done")
        answered.set()
        failures = await asyncio.gather(*calls, return_exceptions=True)
        assert [str(one) for one in failures] == [
            f"dial tcp: lookup {number}.example: no such host" for number in range(40)
        ]
        return result

    monkeypatch.setattr(socket, "getaddrinfo", unanswered)
    assert asyncio.run(run()) == 4


@pytest.mark.parametrize("address", ["127.0.0.1", "::1", "::1%25lo"])
def test_addresses_are_not_looked_up(address: str) -> None:
    """The zone of one is written as in a URL."""

    async def run() -> None:
        await GoNetwork(lambda host, port: (host, port)).connect_tcp(address, 1)

    with pytest.raises(NetworkFailure, match="connect: "):
        asyncio.run(run())
