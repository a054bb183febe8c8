"""Requests as they come over the wire, and their answers."""

from __future__ import annotations

import asyncio
import gc
import time
from collections.abc import AsyncGenerator, Callable

import pytest

from celadon.apiserver.http.http_connection import LARGE_READ, Connection, head
from celadon.apiserver.http.http_server import READING_AT_ONCE, HttpServer
from celadon.apiserver.http.request_bytes import CHUNKS_AT_ONCE
from celadon.apiserver.http_messages import HttpAnswer, HttpRequest, Outlet, plain_text
from tests.apiserver.http.listening import code, listening, until, until_closed

HEAD = b"GET / HTTP/1.1\r\nHost: x\r\n"
GET = HEAD + b"\r\n"
END = b"Connection: close\r\n\r\n"


class Recorder:
    """Remembers requests."""

    def __init__(self) -> None:
        self.seen: list[HttpRequest] = []

    async def handle(self, request: HttpRequest) -> HttpAnswer:
        self.seen.append(request)
        return plain_text(200, f"{len(self.seen)}\n")


@pytest.mark.parametrize(
    ("target", "seen"),
    [
        (b"/a%2Fb?c=d", "/a%2Fb?c=d"),
        (b"http://host:1/a?b", "/a?b"),
        (b"http://host", "/"),
        (b"*", "*"),
    ],
)
def test_a_request_comes_as_it_was_sent(target: bytes, seen: str) -> None:
    recorder = Recorder()
    with listening(recorder.handle) as server:
        head = (
            b"PATCH "
            + target
            + b" HTTP/1.1\r\nHost: x\r\nX-Name: Gr\xc3\xbc\xc3\x9fe\r\nX-Bytes: \xff\r\n"
        )
        assert code(server.said(head + END)) == 200
    (request,) = recorder.seen
    assert (request.method, request.target) == ("PATCH", seen)
    assert list(request.headers[1:3]) == [("x-name", "Grüße"), ("x-bytes", "\ufffd")]
    assert request.remote_address == "127.0.0.1"


def test_the_options_of_the_server_itself_are_nobodys_request() -> None:
    recorder = Recorder()
    asked = b"OPTIONS * HTTP/1.1\r\nHost: x\r\n"
    with listening(recorder.handle) as server:
        kept = server.said(asked + b"\r\n" + HEAD + END)
        closed = server.said(asked + b"Content-Length: 38\r\n\r\n" + GET)
    assert recorder.seen[0].target == "/"
    assert len(recorder.seen) == 1
    assert kept.count(b"HTTP/1.1 200 OK\r\n") == 2
    assert b"Content-Length: 0\r\n\r\n" in kept
    assert b"Content-Length: 0\r\nConnection: close\r\n\r\n" in closed


@pytest.mark.parametrize("method", [b"FROB", b"PURGE-ALL", b"get"])
def test_methods_may_be_invented(method: bytes) -> None:
    recorder = Recorder()
    with listening(recorder.handle) as server:
        assert code(server.said(method + b" /x HTTP/1.1\r\nHost: x\r\n" + END)) == 200
    assert (recorder.seen[0].method, recorder.seen[0].target) == (method.decode(), "/x")


def test_a_body_may_come_in_pieces_and_chunks() -> None:
    recorder = Recorder()
    head = (
        b"POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\nExpect: 100-continue\r\n"
        + END
    )
    with listening(recorder.handle) as server, server.connected() as client:
        client.sendall(head)
        until(client, b"HTTP/1.1 100 Continue\r\n\r\n")
        client.sendall(b"3\r\nabc\r\n")
        client.sendall(b"2\r\nde\r\n0\r\n\r\n")
        until_closed(client)
    assert recorder.seen[0].body == b"abcde"


def test_a_body_of_many_chunks_is_read_in_several_turns() -> None:
    recorder = Recorder()
    count = 3 * CHUNKS_AT_ONCE
    body = b"1\r\nx\r\n" * count + b"0\r\n\r\n"
    head = b"POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"
    with listening(recorder.handle) as server:
        found = server.said(head + body + HEAD + END)
    assert [len(request.body) for request in recorder.seen] == [count, 0]
    assert found.count(b"HTTP/1.1 200 OK\r\n") == 2


def test_answers_come_in_the_order_of_the_requests() -> None:
    with listening(Recorder().handle) as server:
        found = server.said(GET * 3 + HEAD + END)
    assert [part.rsplit(b"\r\n")[-1] for part in found.split(b"HTTP/1.1 200 OK")[1:]] == [
        b"1\n",
        b"2\n",
        b"3\n",
        b"4\n",
    ]


def test_who_asks_for_the_head_gets_the_length_only() -> None:
    with listening(Recorder().handle) as server:
        found = server.said(b"HEAD / HTTP/1.1\r\nHost: x\r\n" + END)
    assert b"Content-Length: 2\r\n" in found
    assert found.endswith(b"\r\n\r\n")


def test_who_sends_no_more_still_gets_the_answer() -> None:
    with listening(Recorder().handle) as server, server.connected() as client:
        client.sendall(GET)
        client.shutdown(1)
        assert until_closed(client).endswith(b"1\n")


def test_an_upgrade_is_a_request_like_any_other() -> None:
    head = b"GET / HTTP/1.1\r\nHost: x\r\nUpgrade: SPDY/3.1\r\nConnection: Upgrade\r\n\r\n"
    with listening(Recorder().handle) as server:
        assert server.said(head + HEAD + END).endswith(b"2\n")


class Stream:
    """Two chunks, then nothing; `closed` when nobody listens any more."""

    def __init__(self, *, ends: bool) -> None:
        self.ends = ends
        self.closed = asyncio.Event()

    async def chunks(self) -> AsyncGenerator[bytes, None]:
        try:
            yield b"one"
            yield b"two"
            if not self.ends:
                await asyncio.Event().wait()
        finally:
            self.closed.set()

    async def handle(self, _: HttpRequest) -> HttpAnswer:
        return HttpAnswer(200, "text/plain", stream=self.chunks())


def test_after_a_stream_the_connection_goes_on() -> None:
    with listening(Stream(ends=True).handle) as server:
        found = server.said(b"GET / HTTP/1.1\r\nHost: x\r\n\r\nGET / HTTP/1.1\r\nHost: x\r\n" + END)
    assert found.count(b"\r\n\r\n3\r\none\r\n3\r\ntwo\r\n0\r\n\r\n") == 2


@pytest.mark.parametrize(
    ("version", "answer"),
    [(b"1.1", b"3\r\none\r\n4\r\npast\r\n0\r\n\r\n"), (b"1.0", b"onenot past")],
)
def test_parts_may_go_past_the_stream_where_there_are_chunks(version: bytes, answer: bytes) -> None:
    async def handle(_: HttpRequest) -> HttpAnswer:
        outlet = Outlet()

        async def parts() -> AsyncGenerator[bytes, None]:
            yield b"one"
            if outlet.is_ready():
                outlet.send(b"past")
            else:
                yield b"not past"

        return HttpAnswer(200, "text/plain", stream=parts(), outlet=outlet)

    with listening(handle) as server:
        found = server.said(b"GET / HTTP/%b\r\nHost: x\r\n%b" % (version, END))
    assert found.endswith(b"\r\n\r\n" + answer)


def test_an_old_client_gets_no_chunks() -> None:
    with listening(Stream(ends=True).handle) as server:
        found = server.said(b"GET / HTTP/1.0\r\n\r\n")
    assert found.endswith(b"\r\n\r\nonetwo")
    assert b"chunked" not in found


def test_a_client_that_goes_takes_its_stream_with_it() -> None:
    stream = Stream(ends=False)
    with listening(stream.handle) as server:
        with server.connected() as client:
            client.sendall(GET)
            until(client, b"two")
        for _ in range(1000):
            if stream.closed.is_set() and not server.server.connections:
                break
            assert code(server.said(b"BAD\r\n\r\n")) == 400
        assert stream.closed.is_set()


class Prompt:
    """Takes what is posted: answers at once, or `later` with the next one; never what says so."""

    def __init__(self) -> None:
        self.seen: list[str] = []
        self._owed: list[Callable[[HttpAnswer], None]] = []

    def offer(self, request: HttpRequest, reply: Callable[[HttpAnswer], None]) -> bool:
        if request.method != "POST":
            return False
        self.seen.append(request.target)
        if request.target == "/later":
            self._owed.append(reply)
            return True
        for one in (*self._owed, reply):
            one(plain_text(200, f"{request.target} {len(request.body)}\n"))
        self._owed.clear()
        return True


POST = b"POST %b HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n%b\r\nxx"


def test_a_prompt_handler_answers_what_it_takes() -> None:
    with listening(Recorder().handle, prompt=Prompt()) as server:
        mixed = POST % (b"/a", b"") + GET + POST % (b"/b", b"") * 2
        found = server.said(mixed + HEAD + END)
    bodies = [part.rsplit(b"\r\n")[-1] for part in found.split(b"HTTP/1.1 200 OK")[1:]]
    assert bodies == [b"/a 2\n", b"1\n", b"/b 2\n", b"/b 2\n", b"2\n"]


def test_a_prompt_answer_may_come_later_or_to_nobody() -> None:
    prompt = Prompt()
    with listening(Recorder().handle, prompt=prompt) as server, server.connected() as client:
        with server.connected() as gone:
            gone.sendall(POST % (b"/later", b""))
            while not prompt.seen:
                time.sleep(0.001)
        client.sendall(POST % (b"/later", b"") + GET)
        while len(prompt.seen) < 2:
            time.sleep(0.001)
        assert b"/now 2" in server.said(POST % (b"/now", b"Connection: close\r\n"))
        assert until(client, b"1\n").count(b"HTTP/1.1 200") == 2


def test_a_server_that_retires_gives_each_connection_one_more_answer() -> None:
    with listening(Recorder().handle, prompt=Prompt()) as server:
        for method in (POST % (b"/a", b""), GET):
            with server.connected() as client:
                server.server.retire()
                client.sendall(method * 2)
                found = until_closed(client)
            assert found.count(b"HTTP/1.1 200") == 1
            assert b"Connection: close" in found


async def chatter() -> AsyncGenerator[bytes, None]:
    while True:
        yield b"x" * 1000
        await asyncio.sleep(0.001)


@pytest.mark.parametrize(
    "said",
    [
        b"",
        b"no HTTP\r\n\r\n",
        GET,
        b"GET /chatter HTTP/1.1\r\nHost: x\r\n\r\n",
    ],
)
def test_a_connection_that_has_ended_is_gone_without_a_collection(said: bytes) -> None:
    async def handle(request: HttpRequest) -> HttpAnswer:
        stream = chatter() if request.path == "/chatter" else None
        return HttpAnswer(200, "text/plain", b"yes", stream=stream)

    gc.collect()
    gc.disable()
    try:
        with listening(handle) as server:
            for _ in range(3):
                with server.connected() as client:
                    client.sendall(said)
                    assert not said or client.recv(100)
        left = [one for one in gc.get_objects() if type(one) is Connection]
        assert not left
    finally:
        gc.enable()


class Wire(asyncio.Transport):
    """A transport that knows whether it would read."""

    def __init__(self) -> None:
        super().__init__()
        self.reads = True
        self.closes = False
        self.sent = b""

    def pause_reading(self) -> None:
        self.reads = False

    def resume_reading(self) -> None:
        self.reads = True

    def is_closing(self) -> bool:
        return self.closes

    def write(self, data: bytes | bytearray | memoryview) -> None:
        self.sent += data


def test_who_sends_much_lets_others_read() -> None:
    """However many send large bodies, a turn of the loop reads a few of them."""
    recorder = Recorder()
    head = b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 200000\r\n\r\n"

    async def run() -> list[list[bool]]:
        server = HttpServer(recorder.handle, lambda: None)
        wires = [Wire() for _ in range(READING_AT_ONCE + 2)]
        connections = [Connection(server) for _ in wires]
        for one, wire in zip(connections, wires, strict=True):
            one.connection_made(wire)
            one.data_received(head + b"x" * LARGE_READ)
        found = [[wire.reads for wire in wires]]
        for turns in (1, -(-2 // READING_AT_ONCE)):
            for _ in range(turns):
                await asyncio.sleep(0)
            found.append([wire.reads for wire in wires])
        for one in connections:
            one.data_received(b"x" * (200_000 - LARGE_READ))
            one.connection_lost(None)
        return found

    waiting, some, rest = asyncio.run(run())
    assert waiting == [False] * (READING_AT_ONCE + 2)
    assert some == [True] * READING_AT_ONCE + [False] * 2
    assert rest == [True] * (READING_AT_ONCE + 2)
    assert [len(one.body) for one in recorder.seen] == [200_000] * (READING_AT_ONCE + 2)


@pytest.mark.thorough
def test_what_comes_behind_a_request_is_not_read_because_it_is_its_turn() -> None:
    async def run() -> list[bool]:
        gate = asyncio.Event()

        async def handle(request: HttpRequest) -> HttpAnswer:
            await gate.wait()
            return plain_text(200, request.path)

        connection, wire = Connection(HttpServer(handle, lambda: None)), Wire()
        connection.connection_made(wire)
        connection.data_received(GET)
        connection.data_received(GET * 5000)
        found = []
        for _ in range(3):
            found.append(wire.reads)
            await asyncio.sleep(0)
        gate.set()
        while wire.sent.count(b"200 OK") < 5001:
            await asyncio.sleep(0)
        found.append(wire.reads)
        connection.connection_lost(None)
        return found

    assert asyncio.run(run()) == [False, False, False, True]


def test_a_client_that_goes_is_told_of() -> None:
    gone: list[bool] = []

    async def run() -> None:
        async def handle(request: HttpRequest) -> HttpAnswer:
            assert request.departure is not None
            left = asyncio.Event()
            request.departure.ends(left.set)
            await left.wait()
            gone.append(True)
            return plain_text(200, "")

        connection = Connection(HttpServer(handle, lambda: None))
        connection.connection_made(Wire())
        connection.data_received(GET)
        await asyncio.sleep(0)
        assert not gone
        connection.connection_lost(None)
        for _ in range(3):
            await asyncio.sleep(0)

    asyncio.run(run())
    assert gone == [True]


def test_a_stream_ends_when_its_connection_closes() -> None:
    """Over TLS that may take a while, and each part would be a line of the log."""
    parts: list[int] = []

    async def run() -> bytes:
        wire = Wire()

        async def stream() -> AsyncGenerator[bytes, None]:
            for number in range(100):
                parts.append(number)
                wire.closes = number == 2
                yield b"part"

        async def handle(_: HttpRequest) -> HttpAnswer:
            return HttpAnswer(200, stream=stream())

        connection = Connection(HttpServer(handle, lambda: None))
        connection.connection_made(wire)
        connection.data_received(GET)
        for _ in range(3):
            await asyncio.sleep(0)
        connection.connection_lost(None)
        return wire.sent

    assert asyncio.run(run()).count(b"part") == 2
    assert parts == [0, 1, 2]


@pytest.mark.parametrize(("number", "is_written"), [(999, True), (1000, False)])
def test_a_code_that_http_cannot_write_ends_the_connection(number: int, is_written: bool) -> None:
    """Of a webhook that refuses: kube-apiserver 1.36 closes the connection, too."""

    async def handle(_: HttpRequest) -> HttpAnswer:
        return plain_text(number, "no")

    with listening(handle) as server:
        assert server.said(HEAD + END).startswith(b"HTTP/1.1 999 ") == is_written


def test_what_cannot_stand_in_a_header_is_a_space() -> None:
    answer = HttpAnswer(200, "text/plain", b"x", (("Y", "plain"), ("X", "a\nb\tc\x7f\u2028é")))
    written = head(answer, chunked=False, close=False)
    assert "\r\nY: plain\r\nX: a b\tc \u2028é\r\n".encode() in written
