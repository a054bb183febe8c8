"""Connections to the members of a cluster: to one at a time, and to the next when that one fails.

All that a process asks of etcd goes to one member, so that what it is told on a watch and what it
is answered come from the same state. Whoever finds that the member does not do its work leaves the
connection, and everybody goes on with the next one. Calls that are under way on a connection that
was left may still finish; streams end.
"""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import AsyncGenerator
from typing import Any, Final

import pycurl

from celadon.store.errors import ServiceError, ServiceUnavailable
from celadon.store.etcd.etcd_refusals import NotBegun
from celadon.store.etcd.etcd_settings import Endpoint, EtcdSettings
from celadon.store.etcd.grpc_exchanges import SILENT, Exchange

CALL_SECONDS: Final = 10.0
"""For an answer: more than etcd itself waits for a majority (7 s with its default timeouts)."""

ATTEMPT_SECONDS: Final = 3.0
"""For the answer of one member to what can be asked of another as well: two elections of a leader
with etcd's default timeouts."""

GRACE_SECONDS: Final = 3.0
"""For calls under way on a connection that is left."""

PAUSE_SECONDS: Final = 0.1
"""Before the next member is asked, so that a cluster without a majority is not flooded."""

_CALLS: Final = 1 << 20
"""At once on one connection: etcd has no limit unless it is told one, and says it then."""


class Connection:
    """To one member: all calls share one connection of HTTP/2."""

    def __init__(self, endpoint: Endpoint, settings: EtcdSettings) -> None:
        self._endpoint = endpoint
        self._options = _options(endpoint, settings)
        self._multi = pycurl.AsyncCurlMulti()
        self._multi.setopt(pycurl.M_PIPELINING, pycurl.PIPE_MULTIPLEX)
        self._multi.setopt(pycurl.M_MAX_HOST_CONNECTIONS, 1)
        self._multi.setopt(pycurl.M_MAX_CONCURRENT_STREAMS, _CALLS)
        self._idle: dict[str, list[Exchange]] = {}
        self._streams: set[asyncio.Future[Any]] = set()
        self.is_left = False

    async def call(self, method: str, request: bytes, seconds: float) -> bytes:
        """Raises ServiceError."""
        idle = self._idle.setdefault(method, [])
        exchange = idle.pop() if idle else self._exchange(method)
        exchange.prepare(request, seconds)
        try:
            await self._begun(exchange)
        except pycurl.error as error:
            raise exchange.failure(error) from None
        except asyncio.CancelledError:
            self._say_if_left()
            raise
        try:
            return exchange.answer()
        finally:
            idle.append(exchange)

    async def stream(self, method: str, request: bytes) -> AsyncGenerator[bytes, None]:
        """Answers to one request, until the connection is left. Raises ServiceError."""
        exchange, heard = self._exchange(method), asyncio.Event()
        exchange.prepare(request, heard=heard.set)
        done = self._begun(exchange)
        done.add_done_callback(lambda _: heard.set())
        self._streams.add(done)
        try:
            while True:
                for answer in exchange.messages():
                    yield answer
                if done.done():
                    break
                await heard.wait()
                heard.clear()
            await done
            exchange.must_be_well()
        except pycurl.error as error:
            raise exchange.failure(error) from None
        except asyncio.CancelledError:
            self._say_if_left()
            raise
        finally:
            self._streams.discard(done)
            done.cancel()

    def _exchange(self, method: str) -> Exchange:
        return Exchange(f"{self._endpoint}{method}", self._options)

    def _begun(self, exchange: Exchange) -> asyncio.Future[Any]:
        if self.is_left:
            raise NotBegun(SILENT)
        return self._multi.add_handle(exchange.handle)  # type: ignore[no-any-return]

    def _say_if_left(self) -> None:
        """What is under way on a connection that is left is cancelled, as if it were the task."""
        task = asyncio.current_task()
        if self.is_left and task is not None and not task.cancelling():
            raise ServiceUnavailable(SILENT) from None

    async def leave(self) -> None:
        """Returns when nothing is under way any more."""
        self.is_left = True
        for stream in tuple(self._streams):
            stream.cancel()
        under_way = self._multi.futures()
        if under_way:
            await asyncio.wait(under_way, timeout=GRACE_SECONDS)
        await self._multi.aclose()


def _options(endpoint: Endpoint, settings: EtcdSettings) -> list[tuple[int, Any]]:
    """Raises OSError."""
    found: list[tuple[int, Any]] = [
        (pycurl.HTTP_VERSION, pycurl.CURL_HTTP_VERSION_2_PRIOR_KNOWLEDGE),
        (pycurl.PIPEWAIT, 1),  # for the one connection
        (pycurl.NOPROXY, "*"),
        (pycurl.NOSIGNAL, 1),
        (pycurl.CONNECTTIMEOUT_MS, int(ATTEMPT_SECONDS * 1000)),
    ]
    if not endpoint.is_secure:
        return found
    if settings.authorities is not None:
        found.append((pycurl.CAINFO_BLOB, settings.authorities.read_bytes()))
    elif (known := ssl.get_default_verify_paths().cafile) is not None:
        found.append((pycurl.CAINFO, known))
    for option, path in (
        (pycurl.SSLCERT_BLOB, settings.certificate),
        (pycurl.SSLKEY_BLOB, settings.private_key),
    ):
        if path is not None:
            found.append((option, path.read_bytes()))
    return found


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
        failed = SILENT
        while True:
            connection, left = self.current, end - loop.time()
            if left <= 0:  # a busy machine may have taken what was left, and the member none of it
                raise ServiceUnavailable(failed)
            seconds = min(left, ATTEMPT_SECONDS) if repeatable else left
            try:
                return await connection.call(method, request, seconds)
            except ServiceUnavailable as error:
                self.leave(connection)
                if not (repeatable or isinstance(error, NotBegun)):
                    raise
                failed = str(error)
                if loop.time() + PAUSE_SECONDS >= end:
                    raise ServiceUnavailable(failed) from None
            await asyncio.sleep(PAUSE_SECONDS)

    async def close(self) -> None:
        """Returns when nothing is under way any more."""
        tasks = [*self._leaving, asyncio.create_task(self.current.leave())]
        results = await asyncio.gather(*tasks, return_exceptions=True)
        failed = [one for one in results if isinstance(one, BaseException)]
        if failed:
            raise ServiceError(str(failed[0]))
