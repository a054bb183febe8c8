"""Calls as libcurl carries them, against the least of a member: what it takes, and how it fails."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass
from typing import cast

import pytest
from h2.config import H2Configuration
from h2.connection import H2Connection
from h2.errors import ErrorCodes
from h2.events import DataReceived, RequestReceived, StreamEnded

from celadon.storage.contract import ServiceError, ServiceUnavailable, TooLarge
from celadon.storage.etcd import etcd_client
from celadon.storage.etcd.etcd_client import (
    SILENT,
    Connection,
    Endpoint,
    EtcdClient,
    EtcdConnections,
    EtcdSettings,
)
from celadon.storage.etcd.etcd_messages import EtcdTransaction, Malformed, NotBegun
from tests.etcd.etcd_members import free_ports
from tests.servers import stop_listening

METHOD = "/etcdserverpb.KV/Txn"
GREETING = [(":status", "200"), ("content-type", "application/grpc")]
Answer = Callable[["Member", int], None]


class Member(asyncio.Protocol):
    """Counts the requests that it has taken; `answers` say what it does with each in turn."""

    def __init__(
        self, answers: list[Answer], taken: list[bytes], opened: list[asyncio.Transport]
    ) -> None:
        self.answers, self.taken, self.opened = answers, taken, opened
        self.bodies: dict[int, bytes] = {}
        self.h2 = H2Connection(H2Configuration(client_side=False))

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport
        self.opened.append(transport)
        self.h2.initiate_connection()
        self.flush()

    def flush(self) -> None:
        self.transport.write(self.h2.data_to_send())

    def data_received(self, data: bytes) -> None:
        for event in self.h2.receive_data(data):
            if isinstance(event, RequestReceived):
                self.bodies[event.stream_id] = b""
            elif isinstance(event, DataReceived):
                self.bodies[event.stream_id] += event.data
                self.h2.acknowledge_received_data(event.flow_controlled_length, event.stream_id)
            elif isinstance(event, StreamEnded):
                self.taken.append(self.bodies[event.stream_id])
                self.answers.pop(0)(self, event.stream_id)
        self.flush()

    def send(self, stream: int, message: bytes) -> None:
        """A message of gRPC."""
        self.h2.send_data(stream, bytes(1) + len(message).to_bytes(4, "big") + message)

    def end(self, stream: int, status: int, text: str = "") -> None:
        """The headers behind the messages."""
        trailers = [("grpc-status", str(status)), ("grpc-message", text)]
        self.h2.send_headers(stream, trailers, end_stream=True)


def well(member: Member, stream: int) -> None:
    member.h2.send_headers(stream, GREETING)
    member.send(stream, b"answer")
    member.end(stream, 0)


def refused(status: int | str, text: str) -> Answer:
    def answer(member: Member, stream: int) -> None:
        trailers = [("grpc-status", str(status)), ("grpc-message", text)]
        member.h2.send_headers(stream, GREETING + trailers, end_stream=True)

    return answer


def no_etcd(member: Member, stream: int) -> None:
    member.h2.send_headers(stream, [(":status", "404")], end_stream=True)


def killed(member: Member, stream: int) -> None:
    member.transport.abort()


def hung_up(member: Member, stream: int) -> None:
    member.transport.close()


def gone(member: Member, stream: int) -> None:
    member.h2.close_connection(last_stream_id=0)
    member.flush()
    member.transport.close()


def refusing(member: Member, stream: int) -> None:
    member.h2.reset_stream(stream, ErrorCodes.REFUSED_STREAM)


def silent(member: Member, stream: int) -> None:
    pass


@contextlib.asynccontextmanager
async def connected(answers: list[Answer], taken: list[bytes]) -> AsyncIterator[Connection]:
    """To a member that does that."""
    loop = asyncio.get_running_loop()
    opened: list[asyncio.Transport] = []
    server = await loop.create_server(lambda: Member(answers, taken, opened), "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    connection = Connection(Endpoint(f"127.0.0.1:{port}", is_secure=False), EtcdSettings(()))
    try:
        yield connection
    finally:
        await connection.leave()
        await stop_listening(server)
        for transport in opened:
            transport.abort()
        await asyncio.sleep(0)  # which closes their sockets


def run(work: Awaitable[object]) -> None:
    async def bounded() -> None:
        await asyncio.wait_for(work, 120)

    asyncio.run(bounded())


def frames(sent: bytes) -> Answer:
    """An answer that ends well, whatever is sent in it."""

    def answer(member: Member, stream: int) -> None:
        member.h2.send_headers(stream, GREETING)
        member.h2.send_data(stream, sent)
        member.end(stream, 0)

    return answer


@pytest.mark.parametrize(
    ("answer", "kind", "text"),
    [
        (frames(b""), Malformed, "not one whole message"),
        (frames(b"\0\0\0\0\2a"), Malformed, "not one whole message"),
        (frames(b"\0\xff\xff\xff\xffa"), Malformed, "not one whole message"),
        (frames(b"\0\0\0\0\1a\0\0\0\0\1b"), Malformed, "not one whole message"),
        (frames(b"\1\0\0\0\1a"), Malformed, "a compressed message"),
        (refused(14, "etcdserver: no leader"), NotBegun, "etcdserver: no leader"),
        (refused(3, "etcdserver: request is too large"), TooLarge, "request is too large"),
        (refused(7, "a %25 and %C3%A9"), ServiceError, "a % and é"),
        (refused(2, ""), ServiceUnavailable, "UNKNOWN"),
        (refused("x", ""), ServiceUnavailable, "UNKNOWN"),
        (refused("9" * 5000, ""), ServiceUnavailable, "UNKNOWN"),
        (no_etcd, ServiceUnavailable, "answers with 404, and not as etcd"),
    ],
)
def test_refusals_are_told_apart(answer: Answer, kind: type[ServiceError], text: str) -> None:
    async def work() -> None:
        async with connected([answer], []) as connection:
            with pytest.raises(ServiceError, match=text) as caught:
                await connection.call(METHOD, b"request", 60)
            assert type(caught.value) is kind

    run(work())


def test_a_member_that_is_silent() -> None:
    """However busy the machine is, at some time the member has taken the request."""

    async def work() -> None:
        seconds = 0.1
        while True:
            async with connected([silent], []) as connection:
                with pytest.raises(ServiceUnavailable, match=SILENT) as caught:
                    await connection.call(METHOD, b"request", seconds)
            if type(caught.value) is ServiceUnavailable:
                return
            assert type(caught.value) is NotBegun
            seconds *= 2

    run(work())


@pytest.mark.parametrize("seconds", [0.0, -0.25, 0.0004])
def test_a_deadline_that_has_passed(seconds: float) -> None:
    async def work() -> None:
        async with connected([silent], []) as connection:
            with pytest.raises(ServiceUnavailable, match=SILENT):
                await connection.call(METHOD, b"request", seconds)

    run(work())


def test_a_pause_that_takes_all_the_time_that_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    """The next member is not asked any more, so it is not taken for a silent one either."""
    asked: list[float] = []

    async def call(_: Connection, _method: str, _request: bytes, seconds: float) -> bytes:
        asked.append(seconds)
        raise NotBegun("etcdserver: no leader")

    async def overslept(seconds: float) -> None:
        time.sleep(0.2)

    monkeypatch.setattr(Connection, "call", call)
    monkeypatch.setattr(etcd_client, "CALL_SECONDS", 0.15)
    monkeypatch.setattr("celadon.storage.etcd.etcd_client.asyncio.sleep", overslept)

    async def work() -> None:
        connections = EtcdConnections(EtcdSettings((Endpoint("127.0.0.1:1", is_secure=False),)))
        with pytest.raises(ServiceUnavailable, match="no leader"):
            await connections.call(METHOD, b"request", repeatable=True)
        await connections.close()

    run(work())
    assert len(asked) == 1


@pytest.mark.parametrize("death", [killed, hung_up, gone, refusing])
def test_a_call_whose_connection_dies_is_sent_once(death: Answer) -> None:
    """libcurl would send it again: the connection had been used before, and nothing came back."""
    taken: list[bytes] = []

    async def work() -> None:
        async with connected([well, death, well], taken) as connection:
            assert await connection.call(METHOD, b"first", 60) == b"answer"
            with pytest.raises(ServiceUnavailable) as caught:
                await connection.call(METHOD, b"second", 60)
            assert type(caught.value) is ServiceUnavailable  # it may have happened

    run(work())
    assert [one[5:] for one in taken] == [b"first", b"second"]


def test_what_nobody_has_taken_has_not_begun() -> None:
    async def work() -> None:
        (port,) = free_ports(1)
        endpoint = Endpoint(f"127.0.0.1:{port}", is_secure=False)
        connection = Connection(endpoint, EtcdSettings(()))
        with pytest.raises(NotBegun):
            await connection.call(METHOD, b"request", 60)
        await connection.leave()
        with pytest.raises(NotBegun):
            await connection.call(METHOD, b"request", 60)

    run(work())


def test_calls_share_one_connection_and_large_requests_are_whole() -> None:
    taken: list[bytes] = []

    async def work() -> None:
        async with connected([well] * 200, taken) as connection:
            requests = [bytes([number]) * 10_000 for number in range(200)]
            answers = await asyncio.gather(*(connection.call(METHOD, r, 60) for r in requests))
            assert set(answers) == {b"answer"}
            assert sorted(one[5:] for one in taken) == requests

    run(work())


def test_messages_of_a_stream_come_whole_whatever_they_are_cut_into() -> None:
    def in_pieces(member: Member, stream: int) -> None:
        member.h2.send_headers(stream, GREETING)
        for byte in b"\0\0\0\0\x03one\0\0\0\0\x00\0\0\0\0\x03two":
            member.h2.send_data(stream, bytes([byte]))
        member.end(stream, 14, "etcdserver: no leader")

    async def work() -> None:
        async with connected([in_pieces], []) as connection:
            stream = connection.stream(METHOD, b"watch")
            assert [await anext(stream) for _ in range(3)] == [b"one", b"", b"two"]
            with pytest.raises(NotBegun, match="no leader"):
                await anext(stream)

    run(work())


def test_a_stream_ends_when_its_connection_is_left() -> None:
    async def work() -> None:
        async with connected([silent], []) as connection:

            async def follow() -> None:
                async for _ in connection.stream(METHOD, b"watch"):
                    pass

            following = asyncio.create_task(follow())
            await asyncio.sleep(0)
            await connection.leave()
            with pytest.raises(ServiceUnavailable):
                await following

    run(work())


class Members(EtcdConnections):
    """Members that fail as told, in turn; `asked` says which of them were."""

    def __init__(self, names: str, failures: list[Exception]) -> None:
        self.names, self.failures = names, failures
        self.asked: list[str] = []
        super().__init__(EtcdSettings([Endpoint(name, is_secure=False) for name in names]))

    def _open(self) -> Connection:
        name = self._settings.endpoints[self._turn % len(self.names)].address
        return cast("Connection", Failing(name, self))


@dataclass
class Failing:
    name: str
    members: Members

    async def call(self, method: str, request: bytes, seconds: float) -> bytes:
        self.members.asked.append(self.name)
        if self.members.failures:
            raise self.members.failures.pop(0)
        return b"answered"

    async def leave(self) -> None:
        """Nothing is under way."""


@pytest.mark.parametrize(
    ("repeatable", "failures", "asked"),
    [
        (True, [], "a"),
        (True, [ServiceUnavailable("x")] * 4, "abcab"),
        (True, [NotBegun("x"), ServiceUnavailable("x")], "abc"),
        (False, [NotBegun("x")] * 2, "abc"),
        (False, [NotBegun("x"), ServiceUnavailable("taken")], "ab"),
        (False, [ServiceUnavailable("taken")], "a"),
        (True, [ServiceError("no")], "a"),
    ],
)
def test_the_next_member_is_asked_what_may_be_asked_again(
    repeatable: bool, failures: list[Exception], asked: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(etcd_client, "PAUSE_SECONDS", 0.0)
    ends_well = len(asked) > len(failures)

    async def run() -> None:
        members = Members("abc", [*failures])
        if ends_well:
            assert await members.call(METHOD, b"", repeatable=repeatable) == b"answered"
        else:
            with pytest.raises(ServiceError, match=str(failures[-1])):
                await members.call(METHOD, b"", repeatable=repeatable)
        assert members.asked == [*asked]
        await members.close()

    asyncio.run(run())


class Broken(EtcdConnections):
    """A member that answers with the same bytes whatever it is asked, and counts who leaves it."""

    def __init__(self, answer: bytes) -> None:
        self.answer, self.left = answer, 0
        self.current = cast("Connection", None)

    async def call(self, method: str, request: bytes, *, repeatable: bool) -> bytes:
        return self.answer

    def leave(self, connection: Connection) -> None:
        self.left += 1


MORE = b"\x18\1"
"""`more: true` of a `RangeResponse`."""


@pytest.mark.parametrize(
    ("answer", "ask"),
    [
        pytest.param(b"\xff", EtcdClient.revision, id="a revision"),
        pytest.param(b"\xff", lambda client: client.lease(1), id="a lease"),
        pytest.param(
            b"", lambda client: client.transact(EtcdTransaction((), (), (b"a",))), id="too few"
        ),
        pytest.param(
            b"\x10\1",
            lambda client: client.transact(EtcdTransaction((), ((b"a", b""),), ())),
            id="nothing for an operation",
        ),
        pytest.param(MORE, lambda client: pages(client), id="a page of nothing"),
        pytest.param(
            b"\x12\3\x0a\1a" + MORE, lambda client: pages(client), id="the same page again"
        ),
    ],
)
def test_a_member_whose_answers_nobody_can_read_is_left(
    answer: bytes, ask: Callable[[EtcdClient], Awaitable[object]]
) -> None:
    member = Broken(answer)
    with pytest.raises(Malformed):
        run(ask(EtcdClient(member)))
    assert member.left == 1


async def pages(client: EtcdClient) -> list[object]:
    return [page async for page in client.entries(b"", 1)]
