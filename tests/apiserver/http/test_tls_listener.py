"""Handshakes that nobody finishes, and what is no handshake at all."""

from __future__ import annotations

import asyncio
import contextlib
import socket
import ssl
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from celadon.apiserver.http import http_server
from celadon.apiserver.http.http_connection import ConnectionLimits
from celadon.apiserver.http.http_server import STARTED_AT_ONCE, TlsListener, hello_size
from celadon.apiserver.http.server_settings import trust_clients
from celadon.apiserver.http_messages import Handler, HttpAnswer, HttpRequest, plain_text
from celadon.apiserver.tls import server_context
from tests.apiserver.http.certificates import new_authority
from tests.apiserver.http.listening import PATIENCE, Listening, echo, listening, until_closed

HTTP_ANSWER = b"HTTP/1.0 400 Bad Request\r\n\r\nClient sent an HTTP request to an HTTPS server.\n"
FEW = 4


def client_hello() -> bytes:
    """What an ordinary client begins with."""
    outgoing = ssl.MemoryBIO()
    context = ssl._create_unverified_context()
    client = context.wrap_bio(ssl.MemoryBIO(), outgoing, server_hostname="localhost")
    with contextlib.suppress(ssl.SSLWantReadError):
        client.do_handshake()
    return outgoing.read()


HELLO = client_hello()


@contextlib.contextmanager
def serving(
    tmp_path_factory: pytest.TempPathFactory,
    trusts: Path | None = None,
    handler: Handler = echo,
    greeting_seconds: float = 2 * PATIENCE,
) -> Iterator[Listening]:
    folder = tmp_path_factory.mktemp("tls")
    authority = new_authority()
    (folder / "tls.crt").write_bytes(authority.certificate)
    (folder / "tls.key").write_bytes(authority.key)
    context = server_context()
    context.load_cert_chain(folder / "tls.crt", folder / "tls.key")
    if trusts is not None:
        trust_clients(context, trusts)
    # Nobody ends because of time: a test would not see why.
    limits = ConnectionLimits(
        head_seconds=2 * PATIENCE, greeting_seconds=greeting_seconds, drain_seconds=int(PATIENCE)
    )
    with listening(handler, tls=context, limits=limits) as server:
        yield server


@pytest.fixture
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Listening]:
    with serving(tmp_path_factory) as one:
        yield one


def asked(server: Listening, connected: socket.socket | None = None) -> bytes:
    """The answer to a client with manners."""
    context = ssl._create_unverified_context()
    with context.wrap_socket(connected or server.connected()) as client:
        client.sendall(b"GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
        return until_closed(client)


@pytest.mark.parametrize(
    ("begun", "size"),
    [
        (b"", 5),
        (b"\x16", 5),
        (b"\x16\x03\x01\x00\x04", 9),
        (b"\x16\x03\x01\x00\x04\x01\x00\x00\x00", 9),
        (b"\x16\x03\x01\x00\x04\x01\x00\x00\x01", 14),
        (b"\x16\x03\x01\x00\x01\x01", 11),
        (b"\x16\x03\x01\x00\x04\x01\x00\x00\x01\x17\x03\x03\x00\x01", 9),
        (b"\x16\x03\x01\x00\x00" * 3, 5),
        (b"GET / HTTP/1.1", 5),
        (b"\x00" * 100, 5),
        (b"\x80", 5),
        (HELLO, len(HELLO)),
        (HELLO + b"more", len(HELLO)),
    ],
)
def test_the_size_of_a_first_message(begun: bytes, size: int) -> None:
    assert hello_size(begun) == size


@given(st.integers(0, len(HELLO) - 1))
def test_a_part_of_a_message_is_not_all_of_it(count: int) -> None:
    assert count < hello_size(HELLO[:count]) <= len(HELLO)


@given(st.binary(max_size=40))
def test_any_bytes_have_a_size(begun: bytes) -> None:
    assert hello_size(begun) >= 5


@pytest.mark.parametrize(
    "request_line", ["GET / HTTP/1.1", "PUT /x HTTP/1.0", "OPTIONS * HTTP/1.1"]
)
def test_who_speaks_http_is_told_so(server: Listening, request_line: str) -> None:
    assert server.said(f"{request_line}\r\nHost: x\r\n\r\n".encode()) == HTTP_ANSWER
    assert asked(server).startswith(b"HTTP/1.1 200 OK")


@pytest.mark.parametrize(
    "data", [bytes(5), b"SSH-2.0-x\r\n", b"\x16\x03\x01\xff\xff" + bytes(20_000)]
)
def test_what_is_no_handshake_ends(server: Listening, data: bytes) -> None:
    with contextlib.suppress(ConnectionResetError):
        assert b"HTTP" not in server.said(data)
    assert asked(server).startswith(b"HTTP/1.1 200 OK")


def test_a_client_that_goes_before_its_answer_is_nobodys_news(
    tmp_path_factory: pytest.TempPathFactory, caplog: pytest.LogCaptureFixture
) -> None:
    asked_for, answered = threading.Event(), threading.Event()

    async def slow(request: HttpRequest) -> HttpAnswer:
        asked_for.set()
        await asyncio.to_thread(answered.wait, PATIENCE)
        return plain_text(200, "late")

    with serving(tmp_path_factory, handler=slow) as server:
        plain = server.connected()
        context = ssl._create_unverified_context()
        with context.wrap_socket(plain, server_hostname="localhost") as client:
            client.sendall(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
            assert asked_for.wait(PATIENCE)
            with contextlib.suppress(OSError):
                client.unwrap()
        server.wait(lambda: not server.server.connections)
        answered.set()
    assert [one.message for one in caplog.records if one.name == "asyncio"] == []


@pytest.mark.parametrize("pieces", [1, 7, 100])
def test_a_first_message_may_come_in_pieces(server: Listening, pieces: int) -> None:
    with server.connected() as client:
        client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        for start in range(0, len(HELLO), pieces):
            client.sendall(HELLO[start : start + pieces])
        assert client.recv(1) == b"\x16"


@pytest.mark.parametrize("begun", [b"", HELLO[:-1]])
def test_of_those_that_say_nothing_the_oldest_goes(
    tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch, begun: bytes
) -> None:
    monkeypatch.setattr(http_server, "SILENT", FEW)
    with serving(tmp_path_factory) as server, contextlib.ExitStack() as stack:
        clients = [stack.enter_context(server.connected()) for _ in range(FEW + 1)]
        for one in clients:
            one.sendall(begun)
        assert until_closed(clients[0]) == b""
        assert asked(server).startswith(b"HTTP/1.1 200 OK")
        clients[-1].sendall(HELLO[len(begun) :])
        assert clients[-1].recv(1) == b"\x16"


def test_who_has_connected_before_the_end_is_answered(
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    """Nobody can ask another replica instead: the connection has been accepted."""
    with serving(tmp_path_factory) as server:
        silent, begun = server.connected(), server.connected()
        begun.sendall(HELLO)
        assert begun.recv(1) == b"\x16"
        context = ssl._create_unverified_context()
        with begun, context.wrap_socket(server.connected()) as greeted:
            server.server.end()
            with contextlib.suppress(ConnectionError):
                while True:
                    server.connected().close()
            greeted.sendall(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
            assert b"\r\nConnection: close\r\n" in until_closed(greeted)
        assert asked(server, silent).startswith(b"HTTP/1.1 200 OK")


def test_who_says_nothing_does_not_hold_up_the_end(
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    with serving(tmp_path_factory, greeting_seconds=0.0) as server:
        context = ssl._create_unverified_context()
        with server.connected() as silent, context.wrap_socket(server.connected()) as greeted:
            server.server.end()
            assert until_closed(greeted) == b""
            assert until_closed(silent) == b""


def test_of_handshakes_that_nobody_finishes_the_oldest_ends(
    tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(http_server, "UNFINISHED", FEW)
    with serving(tmp_path_factory) as server, contextlib.ExitStack() as stack:
        clients = []
        for _ in range(FEW + 1):
            client = stack.enter_context(server.connected())
            client.sendall(HELLO)
            assert client.recv(1) == b"\x16"
            clients.append(client)
        until_closed(clients[0])
        assert asked(server).startswith(b"HTTP/1.1 200 OK")


def test_few_handshakes_begin_in_one_turn_of_the_loop(monkeypatch: pytest.MonkeyPatch) -> None:
    count = 5 * STARTED_AT_ONCE
    turn = 0
    turns: list[int] = []
    turn = 0

    async def begin(_self: TlsListener, one: socket.socket) -> None:
        turns.append(turn)
        one.close()

    async def burst() -> None:
        nonlocal turn
        listener = socket.create_server(("127.0.0.1", 0))
        accepting = TlsListener(listener, server_context(), asyncio.Protocol, PATIENCE)
        clients = [socket.create_connection(listener.getsockname()) for _ in range(count)]
        for client in clients:
            client.sendall(HELLO)
        while len(turns) < count:
            turn += 1
            await asyncio.sleep(0)
        accepting.close()
        for client in clients:
            client.close()

    monkeypatch.setattr(TlsListener, "_shake_hands", begin)
    asyncio.run(asyncio.wait_for(burst(), PATIENCE))
    assert max(map(turns.count, turns)) <= STARTED_AT_ONCE


def test_a_client_is_told_why_its_certificate_is_refused(
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    folder = tmp_path_factory.mktemp("clients")
    trusted, stranger = new_authority(), new_authority()
    (folder / "ca.crt").write_bytes(trusted.certificate)
    for name, data in (("crt", stranger.certificate), ("key", stranger.key)):
        (folder / f"stranger.{name}").write_bytes(data)
    with serving(tmp_path_factory, trusts=folder / "ca.crt") as server:
        for version in (ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3):
            context = ssl._create_unverified_context()
            context.maximum_version = version
            context.load_cert_chain(folder / "stranger.crt", folder / "stranger.key")
            with pytest.raises(ssl.SSLError, match="ALERT_UNKNOWN_CA"):
                until_told(context, server.connected())


def until_told(context: ssl.SSLContext, connection: socket.socket) -> None:
    """A client of TLS 1.3 learns what is wrong when it reads."""
    with context.wrap_socket(connection) as client:
        assert client.recv(1) == b""
