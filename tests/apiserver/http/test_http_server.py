"""The HTTP server, and clients that want it no good."""

from __future__ import annotations

import asyncio
import contextlib
import resource
import socket
import ssl
import threading
import time
from collections.abc import AsyncGenerator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from celadon.apiserver.http.http_connection import ConnectionLimits
from celadon.apiserver.http.http_server import within_descriptors
from celadon.apiserver.http.server_settings import (
    Address,
    CredentialsFolder,
    TlsSettings,
    server_tls,
)
from celadon.apiserver.http_messages import Hold, HttpAnswer, HttpRequest, plain_text
from tests.apiserver.http.certificates import client_pair
from tests.apiserver.http.listening import PATIENCE, code, listening, until, until_closed

LAST = b"GET /last HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"
SHORT = ConnectionLimits(
    head_seconds=1, body_seconds=1, idle_seconds=2, stalled_seconds=1, held_bytes=1 << 20
)


@pytest.mark.parametrize(
    "data",
    [
        b"\x00\x01\x02\r\n\r\n",
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
        b"GET\r\n\r\n",
        b"GET / HTTP/9.9\r\n\r\n",
        b"GET / HTTP/1.1\r\nno colon\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: x\r\nContent-Length: ten\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\n\r\n",
        b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n",
        b"POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
        b"GET http://a:bad HTTP/1.1\r\nHost: x\r\n\r\n",
    ],
)
def test_what_is_not_http_gets_400_and_nobody_else_is_harmed(data: bytes) -> None:
    with listening() as server:
        answer = server.said(data + LAST)
        assert not answer or code(answer) in (400, 501, 505), answer
        assert code(server.said(LAST)) == 200


def test_a_head_that_is_too_large_is_refused() -> None:
    limits = ConnectionLimits(head_bytes=1000)
    with listening(limits=limits) as server:
        head = b"GET / HTTP/1.1\r\nHost: x\r\nX-Long: " + b"x" * 2000
        assert code(server.said(head)) == 431
        assert code(server.said(LAST)) == 200


@pytest.mark.thorough
@pytest.mark.parametrize("begun", [b"", b"GET / HTTP/1.1\r\nHost: x\r\nX-Slow: "])
def test_a_head_that_does_not_come_is_not_waited_for(begun: bytes) -> None:
    with listening(limits=SHORT) as server:
        assert server.said(begun) == b""


@pytest.mark.thorough
def test_nor_is_the_head_of_a_second_request() -> None:
    with listening(limits=SHORT) as server, server.connected() as client:
        client.sendall(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
        assert client.recv(1000).startswith(b"HTTP/1.1 200")
        client.sendall(b"GET / HT")
        assert until_closed(client) == b""


@pytest.mark.thorough
@pytest.mark.parametrize("begun", [b"", b"half"])
def test_a_body_that_does_not_come_ends_in_504(begun: bytes) -> None:
    with listening(limits=SHORT) as server:
        answer = server.said(b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 8\r\n\r\n" + begun)
        assert code(answer) == 504
        assert b"request did not complete within the allotted timeout" in answer


def test_of_a_large_body_only_as_much_is_kept_as_shows_that_it_is_too_large() -> None:
    limits = ConnectionLimits(body_bytes=1000, drained_bytes=1 << 20)
    size = 500_000
    head = b"POST / HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: %d\r\n\r\n" % size
    with listening(limits=limits) as server:
        assert server.said(head + b"x" * size).endswith(b"POST / 1001\n")


def test_a_body_without_end_is_cut_off() -> None:
    limits = ConnectionLimits(body_bytes=1000, drained_bytes=100_000)
    head = b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000000\r\n\r\n"
    with listening(limits=limits) as server:
        answer = server.said(head + b"x" * 300_000)
        assert not answer or answer.endswith(b"POST / 1001\n")
        assert code(server.said(LAST)) == 200


def test_whoever_lets_us_wait_for_longest_makes_room_for_others() -> None:
    """Each of the bodies may come; all at once are too many."""
    head = b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 900000\r\n\r\n"
    limits = ConnectionLimits(held_bytes=1 << 20)
    with listening(limits=limits) as server, server.connected() as first:
        first.sendall(head + b"x" * 800_000)
        server.wait(lambda: server.server.held_bytes == 800_000)
        with server.connected() as second:
            second.sendall(head + b"x" * 900_000)
            assert second.recv(1000).startswith(b"HTTP/1.1 200")
        found = until_closed(first)
        assert found.startswith(b"HTTP/1.1 429")
        assert b"Retry-After: 1\r\n" in found
    assert server.server.held_bytes == 0


@pytest.mark.thorough
def test_an_answer_that_is_too_much_for_all_goes_with_its_connection() -> None:
    async def large(_: HttpRequest) -> HttpAnswer:
        return HttpAnswer(200, "text/plain", b"x" * 50_000_000)

    limits = ConnectionLimits(held_bytes=60_000_000)
    with listening(large, limits) as server, server.connected() as slow, server.connected() as next:
        for client in (slow, next):
            client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 16)
            client.sendall(LAST)
            client.recv(1)
        assert len(until_closed(next)) > 50_000_000
        assert len(until_closed(slow)) < 50_000_000


def test_of_connections_of_the_same_instant_the_one_made_first_goes() -> None:
    """The loop's clock counts milliseconds: a client that has just connected is not cut off."""
    limits = ConnectionLimits(connections=8)
    with listening(limits=limits) as server, contextlib.ExitStack() as clients:
        idle = [clients.enter_context(server.connected()) for _ in range(limits.connections)]
        server.wait(lambda: len(server.server.connections) == limits.connections)
        first, *others = server.server.connections
        for connection in others:
            connection.last_used = first.last_used
        assert server.said(LAST).startswith(b"HTTP/1.1 200")
        assert until_closed(idle[0]) == b""


def test_too_many_connections_cost_those_that_ask_for_nothing() -> None:
    with (
        listening(limits=ConnectionLimits(connections=1)) as server,
        server.connected() as idle,
    ):
        server.wait(lambda: len(server.server.connections) == 1)
        assert server.said(LAST).startswith(b"HTTP/1.1 200")
        assert until_closed(idle) == b""


def test_connections_leave_descriptors_for_others(monkeypatch: pytest.MonkeyPatch) -> None:
    """With none left, nobody could connect until an idle connection ends by itself."""
    monkeypatch.setattr(resource, "getrlimit", lambda _: (256, 256))
    assert within_descriptors(ConnectionLimits()).connections == 160
    assert within_descriptors(ConnectionLimits(connections=8)).connections == 8
    monkeypatch.setattr(resource, "getrlimit", lambda _: (resource.RLIM_INFINITY,) * 2)
    assert within_descriptors(ConnectionLimits()) == ConnectionLimits()


@pytest.mark.thorough
def test_a_connection_without_requests_is_closed() -> None:
    with listening(limits=SHORT) as server, server.connected() as client:
        client.sendall(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
        assert client.recv(1000).startswith(b"HTTP/1.1 200")
        assert until_closed(client) == b""


@pytest.mark.thorough
def test_what_comes_behind_a_request_waits_and_little_of_it_here() -> None:
    """Also behind a stream, where the connection ends."""
    waiting = asyncio.Event()

    async def slow(request: HttpRequest) -> HttpAnswer:
        if request.path == "/stream":
            return HttpAnswer(200, "text/plain", stream=Endless().chunks())
        await waiting.wait()
        return plain_text(200, f"{len(request.body)}\n")

    body = b"x" * (1 << 20)
    post = b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n" % len(body) + body
    with listening(slow) as server:
        with server.connected() as client:
            client.settimeout(1)
            with contextlib.suppress(TimeoutError):
                client.sendall(post * 32)
            assert server.server.held_bytes < 2 << 20
            server.loop.call_soon_threadsafe(waiting.set)
            assert until(client, b"\r\n\r\n1048576\n")
        with server.connected() as client:
            client.sendall(b"GET /stream HTTP/1.1\r\nHost: x\r\n\r\n")
            with contextlib.suppress(OSError):
                client.sendall(post * 32)
            until_closed(client)


class Endless:
    """A stream of large chunks; `closed` when the server has let go of it."""

    def __init__(self) -> None:
        self.closed = False

    async def chunks(self) -> AsyncGenerator[bytes, None]:
        try:
            while True:
                yield b"x" * 100_000
                await asyncio.sleep(0)
        finally:
            self.closed = True

    async def handle(self, _: HttpRequest) -> HttpAnswer:
        return HttpAnswer(200, "text/plain", stream=self.chunks())


@pytest.mark.thorough
def test_a_watcher_that_never_reads_loses_its_watch() -> None:
    endless = Endless()
    with listening(endless.handle, SHORT) as server, server.connected() as client:
        client.sendall(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
        deadline = time.monotonic() + PATIENCE
        while not endless.closed and time.monotonic() < deadline:
            time.sleep(0.02)
        assert endless.closed
        server.wait(lambda: not server.server.connections)


def test_a_large_answer_that_nobody_reads_does_not_stay() -> None:
    async def large(_: HttpRequest) -> HttpAnswer:
        return HttpAnswer(200, "text/plain", b"x" * 50_000_000)

    with listening(large, SHORT) as server, server.connected() as client:
        client.sendall(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
        deadline = time.monotonic() + PATIENCE
        time.sleep(0.1)
        while server.server.connections and time.monotonic() < deadline:
            time.sleep(0.02)
        assert not server.server.connections


@pytest.mark.thorough
def test_a_slow_reader_gets_everything() -> None:
    async def large(_: HttpRequest) -> HttpAnswer:
        return HttpAnswer(200, "text/plain", b"x" * 20_000_000)

    with (
        listening(large, ConnectionLimits(stalled_seconds=3)) as server,
        server.connected() as client,
    ):
        client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 16)
        client.sendall(LAST)
        found, pauses = 0, 0
        while chunk := client.recv(1 << 20):
            found += len(chunk)
            if found > 1_000_000 * pauses and pauses < 8:
                pauses += 1
                time.sleep(0.5)
        assert found > 20_000_000


def test_the_end_lets_requests_finish_and_ends_streams() -> None:
    began = asyncio.Event()

    async def slow(request: HttpRequest) -> HttpAnswer:
        if request.path == "/stream":
            return HttpAnswer(200, "text/plain", stream=forever())
        began.set()
        await asyncio.sleep(0.2)
        return plain_text(200, "done\n")

    async def forever() -> AsyncGenerator[bytes, None]:
        yield b"first\n"
        await asyncio.Event().wait()

    with listening(slow) as server, server.connected() as one, server.connected() as two:
        two.sendall(b"GET /stream HTTP/1.1\r\nHost: x\r\n\r\n")
        until(two, b"first")
        one.sendall(b"GET /slow HTTP/1.1\r\nHost: x\r\n\r\n")
        while not began.is_set():
            time.sleep(0.005)
        server.server.end()
        assert until_closed(one).endswith(b"done\n")
        assert until_closed(two).endswith(b"0\r\n\r\n")


@pytest.mark.parametrize("trusted", ["ca.crt", "alice.crt"])
def test_the_certificate_of_a_client_comes_with_its_requests(tmp_path: Path, trusted: str) -> None:
    """That of the client itself may be what is trusted."""
    seen: list[bytes | None] = []

    async def look(request: HttpRequest) -> HttpAnswer:
        seen.append(request.client_certificate)
        return plain_text(200, "")

    now = datetime.now(UTC)
    kept = CredentialsFolder(tmp_path)
    authority = kept.authority(now)
    shown = client_pair(authority, "alice", "devs")
    (tmp_path / "alice.crt").write_bytes(shown.certificate)
    (tmp_path / "alice.key").write_bytes(shown.key)
    settings = TlsSettings(client_authorities=tmp_path / trusted)
    tls = server_tls(settings, Address(), kept, now)
    assert tls is not None
    client = ssl.create_default_context(cadata=authority.certificate.decode())
    with listening(look, tls=tls.context) as server:
        for with_certificate in (False, True):
            if with_certificate:
                client.load_cert_chain(tmp_path / "alice.crt", tmp_path / "alice.key")
            with (
                server.connected() as plain,
                client.wrap_socket(plain, server_hostname="localhost") as wrapped,
            ):
                wrapped.sendall(LAST)
                until_closed(wrapped)
    assert seen[0] is None
    assert seen[1] is not None
    assert ssl.DER_cert_to_PEM_cert(seen[1]).encode() == shown.certificate


@pytest.mark.parametrize("version", [ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3])
def test_certificates_that_are_recalled_end_connections_and_sessions(
    tmp_path: Path, version: ssl.TLSVersion
) -> None:
    """Streams too; connections without a certificate stay."""
    seen: list[bytes | None] = []

    async def look(request: HttpRequest) -> HttpAnswer:
        seen.append(request.client_certificate)
        stream = forever() if request.path == "/stream" else None
        return HttpAnswer(200, "text/plain", b"", stream=stream)

    async def forever() -> AsyncGenerator[bytes, None]:
        yield b"x\n"
        await asyncio.Event().wait()

    now = datetime.now(UTC)
    kept = CredentialsFolder(tmp_path)
    authority = kept.authority(now)
    shown = client_pair(authority, "alice", "devs")
    (tmp_path / "alice.pem").write_bytes(shown.certificate + shown.key)
    tls = server_tls(TlsSettings(client_authorities=tmp_path / "ca.crt"), Address(), kept, now)
    assert tls is not None
    nobody = ssl.create_default_context(cadata=authority.certificate.decode())
    alice = ssl.create_default_context(cadata=authority.certificate.decode())
    alice.load_cert_chain(tmp_path / "alice.pem")
    alice.maximum_version = version
    stream = b"GET /stream HTTP/1.1\r\nHost: x\r\n\r\n"
    with listening(look, tls=tls.context) as server:
        with (
            nobody.wrap_socket(server.connected(), server_hostname="localhost") as plain,
            alice.wrap_socket(server.connected(), server_hostname="localhost") as watching,
        ):
            watching.sendall(stream)
            until(watching, b"x\n")
            session = watching.session
            assert session is not None
            assert not session.has_ticket
            server.loop.call_soon_threadsafe(server.server.recall_certificates)
            until_closed(watching)
            plain.sendall(LAST)
            assert until(plain, b"\r\n\r\n").startswith(b"HTTP/1.1 200")
        if version is ssl.TLSVersion.TLSv1_2:  # which has sessions without tickets
            with (
                server.connected() as again,
                contextlib.suppress(OSError),
                alice.wrap_socket(again, server_hostname="localhost", session=session) as resumed,
            ):
                resumed.sendall(LAST)
                assert until_closed(resumed) == b""
    assert [one is None for one in seen] == [False, True]


class Echo:
    """A `Tunnel` that gives back what it takes, a few bytes at a time."""

    head = b"HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\n"

    def __init__(self) -> None:
        self.came: asyncio.Queue[bytes] = asyncio.Queue()
        self.holds: list[bool] = []
        self.has_ended = threading.Event()

    def connect(self, hold: Hold) -> None:
        self.hold = hold

    def take(self, data: bytes) -> None:
        self.hold(is_held=True)
        self.came.put_nowait(data)

    def end(self) -> None:
        self.came.put_nowait(b"")
        self.has_ended.set()

    async def received(self) -> AsyncGenerator[bytes, None]:
        yield b"hello "
        while data := await self.came.get():
            await asyncio.sleep(0)
            self.hold(is_held=False)
            yield data
            if data.endswith(b"bye"):
                return


def test_a_connection_that_is_no_http_any_more() -> None:
    made: list[Echo] = []

    async def upgrade(_: HttpRequest) -> HttpAnswer:
        made.append(Echo())
        return HttpAnswer(101, stream=made[-1].received(), tunnel=made[-1])

    asked = b"GET / HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\n"
    with listening(upgrade) as server:
        with server.connected() as client:
            client.sendall(asked + b"GET early HTTP/1.1\r\n\r\n ")
            said = until(client, b"\r\n\r\n ")
            client.sendall(b"y" * 100_000)
            said += until(client, b"y")
            while said.count(b"y") < 100_000 + 1:  # there is one in `early`
                said += client.recv(1 << 16)
            client.sendall(b"bye")
            said += until_closed(client)
        assert said.startswith(Echo.head + b"hello GET early HTTP/1.1\r\n\r\n yyy")
        assert said.endswith(b"yyybye")
        with server.connected() as client:
            client.sendall(asked)
            until(client, b"hello ")
        assert made[1].has_ended.wait(60)
