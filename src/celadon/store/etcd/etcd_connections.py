"""Connections to the members of a cluster: to one at a time, and to the next when that one fails.

All that a process asks of etcd goes to one member, so that what it is told on a watch and what it
is answered come from the same state. Whoever finds that the member does not do its work leaves the
connection, and everybody goes on with the next one. Calls that are under way on a connection that
was left may still finish; streams end.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable
from pathlib import Path
from typing import Any, Final

import grpc
from grpc import aio

from celadon.store.errors import ServiceError, ServiceUnavailable
from celadon.store.etcd.etcd_refusals import NotBegun, refusal
from celadon.store.etcd.etcd_settings import Endpoint, EtcdSettings

CALL_SECONDS: Final = 10.0
"""For an answer: more than etcd itself waits for a majority (7 s with its default timeouts)."""

ATTEMPT_SECONDS: Final = 3.0
"""For the answer of one member to what can be asked of another as well: two elections of a leader
with etcd's default timeouts."""

GRACE_SECONDS: Final = 3.0
"""For calls under way on a connection that is left."""

PAUSE_SECONDS: Final = 0.1
"""Before the next member is asked, so that a cluster without a majority is not flooded."""

_OPTIONS: Final = (
    ("grpc.enable_http_proxy", 0),
    ("grpc.keepalive_time_ms", 30_000),  # as kube-apiserver's client; etcd allows no less than 5 s
    ("grpc.keepalive_timeout_ms", 10_000),
    ("grpc.max_receive_message_length", -1),
    ("grpc.max_send_message_length", -1),
)
_REQUIRE_LEADER: Final = (("hasleader", "true"),)
"""A member that has lost its leader refuses, and ends streams, instead of serving what it has."""

_SILENT: Final = "the member of etcd did not answer in time"

Raw = Callable[..., Any]


def _as_is(message: bytes) -> bytes:
    return message


class Connection:
    """To one member."""

    def __init__(self, endpoint: Endpoint, settings: EtcdSettings) -> None:
        self._channel = _channel(endpoint, settings)
        self._methods: dict[str, Raw] = {}
        self._streams: set[Any] = set()
        self.is_left = False

    async def call(self, method: str, request: bytes, seconds: float) -> bytes:
        """Raises ServiceError."""
        made = self._methods.get(method)
        if made is None:
            made = self._methods[method] = self._channel.unary_unary(method, _as_is, _as_is)
        call = None
        try:
            call = made(request, timeout=seconds, metadata=_REQUIRE_LEADER)
            answer: bytes = await call
        except aio.AioRpcError as error:
            raise refusal(error) from None
        except aio.UsageError:  # the connection was left before this began
            raise NotBegun(_SILENT) from None
        except asyncio.CancelledError:
            if call is not None:
                await _ended(call)
            self._say_if_left()
            raise
        return answer

    async def stream(self, method: str, request: bytes) -> AsyncGenerator[bytes, None]:
        """Answers to one request, until the connection is left. Raises ServiceError."""
        call = self._channel.stream_stream(method, _as_is, _as_is)(metadata=_REQUIRE_LEADER)
        self._streams.add(call)
        try:
            async with asyncio.timeout(ATTEMPT_SECONDS):  # it would wait for a connection for ever
                await call.write(request)
            while isinstance(answer := await call.read(), bytes):  # else it is aio.EOF
                yield answer
        except aio.AioRpcError as error:
            raise refusal(error) from None
        except TimeoutError:
            raise NotBegun(_SILENT) from None
        except asyncio.CancelledError:
            self._say_if_left()
            raise
        finally:
            self._streams.discard(call)
            await _ended(call)

    def _say_if_left(self) -> None:
        """gRPC cancels what is under way on a channel that is closed, as if it were the task."""
        task = asyncio.current_task()
        if self.is_left and task is not None and not task.cancelling():
            raise ServiceUnavailable(_SILENT) from None

    async def leave(self) -> None:
        """Returns when nothing is under way any more."""
        self.is_left = True
        for stream in tuple(self._streams):
            stream.cancel()
        await self._channel.close(GRACE_SECONDS)


async def _ended(call: Any) -> None:  # noqa: ANN401  of either kind
    """Nothing of it may come after the loop has been closed."""
    call.cancel()
    await call.code()


def _channel(endpoint: Endpoint, settings: EtcdSettings) -> aio.Channel:
    if not endpoint.is_secure:
        return aio.insecure_channel(endpoint.address, options=_OPTIONS)
    credentials = grpc.ssl_channel_credentials(
        _content(settings.authorities),
        _content(settings.private_key),
        _content(settings.certificate),
    )
    return aio.secure_channel(endpoint.address, credentials, options=_OPTIONS)


def _content(path: Path | None) -> bytes | None:
    return None if path is None else path.read_bytes()


class EtcdConnections:
    """Of one process, in one event loop. Raises OSError for files that cannot be read."""

    def __init__(self, settings: EtcdSettings) -> None:
        self._settings = settings
        self._turn = 0
        self._leaving: set[asyncio.Task[None]] = set()
        self.current = self._open()

    def _open(self) -> Connection:
        endpoints = self._settings.endpoints
        return Connection(endpoints[self._turn % len(endpoints)], self._settings)

    def leave(self, connection: Connection) -> None:
        """Go on with the next member, if that has not happened yet."""
        if connection is not self.current:
            return
        self._turn += 1
        self.current = self._open()
        task = asyncio.create_task(connection.leave())
        self._leaving.add(task)
        task.add_done_callback(self._leaving.discard)

    async def call(self, method: str, request: bytes, *, repeatable: bool) -> bytes:
        """The answer of whichever member gives one. What is not repeatable is sent again only if
        nobody has taken it. Raises ServiceError."""
        loop = asyncio.get_running_loop()
        end = loop.time() + CALL_SECONDS
        while True:
            connection, left = self.current, end - loop.time()
            seconds = min(left, ATTEMPT_SECONDS) if repeatable else left
            try:
                return await connection.call(method, request, seconds)
            except ServiceUnavailable as error:
                self.leave(connection)
                if not (repeatable or isinstance(error, NotBegun)):
                    raise
                if loop.time() + PAUSE_SECONDS >= end:
                    raise ServiceUnavailable(str(error)) from None
            await asyncio.sleep(PAUSE_SECONDS)

    async def close(self) -> None:
        """Returns when nothing is under way any more."""
        tasks = [*self._leaving, asyncio.create_task(self.current.leave())]
        results = await asyncio.gather(*tasks, return_exceptions=True)
        failed = [one for one in results if isinstance(one, BaseException)]
        if failed:
            raise ServiceError(str(failed[0]))
