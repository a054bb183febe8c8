"""What the store asks of etcd (revision, entries, transactions, leases, compactions, changes), and
the keyspace that a watch keeps current.
"""

from __future__ import annotations

import asyncio
import errno
import os
import ssl
from collections.abc import (
    AsyncGenerator,
    AsyncIterator,
    Awaitable,
    Callable,
    Iterable,
    Iterator,
    Sequence,
)
from contextlib import aclosing, suppress
from functools import partial
from pathlib import Path
from typing import Any, Final, Protocol, TypeVar
from urllib.parse import unquote, urlsplit

import pycurl

from celadon.records import dataclass
from celadon.storage import contract
from celadon.storage.etcd import etcd_messages as messages
from celadon.storage.keyspace import Keyspace

# --- Etcd settings -----------------------------------------------------------
#
# How to reach a cluster of etcd: the settings of kube-apiserver's flags of the same names.

DEFAULT_PORT: Final = 2379


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Says where a member of etcd is; `address` is a host and a port."""

    address: str
    is_secure: bool

    def __str__(self) -> str:
        return f"http{'s' * self.is_secure}://{self.address}"


def parse_endpoints(text: str) -> tuple[Endpoint, ...]:
    """Return the URLs of a text, where commas separate them. Raises ValueError."""
    return tuple(_endpoint(text.strip()) for text in text.split(",") if text.strip())


def _endpoint(url: str) -> Endpoint:
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ValueError(f"`{url}` is not http://HOST:PORT or https://HOST:PORT")
    host = f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname
    return Endpoint(f"{host}:{parts.port or DEFAULT_PORT}", parts.scheme == "https")


@dataclass(frozen=True, slots=True)
class EtcdSettings:
    """Says where etcd is. Members are asked in the order given: the next one only when one fails.
    Files are in PEM form and read for each new connection. In etcd, keys have `prefix` where ours
    have `root` (a key begins with it)."""

    endpoints: Sequence[Endpoint]
    authorities: Path | None = None
    certificate: Path | None = None
    private_key: Path | None = None
    root: str = ""
    prefix: str = ""


# --- Grpc exchanges ----------------------------------------------------------
#
# Calls of gRPC on libcurl's handles: a message out, messages and a status back.
#
# A message is preceded by a byte that says whether it is compressed, and its length in four
# bytes; the status comes in headers behind the last one (https://grpc.io, "gRPC over HTTP2").
#
# INVARIANT (sent once): libcurl sends a request again by itself when a connection that it had
# used before turns out to be dead. It cannot do that with a message that it reads piece by
# piece from us and has no way to read once more.

SILENT: Final = "the member of etcd did not answer in time"

_MOST_GIVEN: Final = 8_000_000
"""Bytes of an option (curl's `CURL_MAX_INPUT_LENGTH`)."""

_UNKNOWN: Final = messages.CODES.index("UNKNOWN")
"""What gRPC makes of a status that is no number."""
_PREFIX: Final = 5
"""Bytes before a message."""

_HEADERS: Final = (
    "content-type: application/grpc",
    "te: trailers",
    "hasleader: true",  # who has lost its leader refuses, and ends streams
    "Expect:",
)

Options = Iterable[tuple[int, Any]]


class Exchange:
    """One call after the other of a method; `options` are those of the connection."""

    def __init__(self, url: str, options: Options) -> None:
        self.handle = handle = pycurl.Curl()
        for option, value in options:
            handle.setopt(option, value)
        handle.setopt(pycurl.URL, url)
        handle.setopt(pycurl.HTTPHEADER, list(_HEADERS))
        handle.setopt(pycurl.POST, 1)
        handle.setopt(pycurl.READFUNCTION, self._read)
        handle.setopt(pycurl.WRITEFUNCTION, self._write)
        handle.setopt(pycurl.HEADERFUNCTION, self._header)
        self._unread = b""
        self._is_taken = False
        self._received = bytearray()
        self._status = -1
        self._text = ""
        self._heard: Callable[[], object] | None = None

    def prepare(
        self,
        request: bytes,
        seconds: float | None = None,
        heard: Callable[[], object] | None = None,
    ) -> None:
        """Set up the next call, which may last so long (None: for ever; none at all: it times out
        before it is sent). `heard` is called when something came."""
        self._unread = bytes(1) + len(request).to_bytes(4, "big") + request
        self._is_taken = False
        self._received = bytearray()
        self._status, self._text = -1, ""
        self._heard = heard
        self.handle.setopt(pycurl.POSTFIELDSIZE_LARGE, len(self._unread))
        # To libcurl, 0 is for ever.
        milliseconds = 0 if seconds is None else max(1, int(seconds * 1000))
        self.handle.setopt(pycurl.TIMEOUT_MS, milliseconds)

    def _read(self, most: int) -> bytes:
        self._is_taken = True
        part, self._unread = self._unread[:most], self._unread[most:]
        return part

    def _write(self, part: bytes) -> None:
        self._received += part
        if self._heard is not None:
            self._heard()

    def _header(self, line: bytes) -> None:
        name, _, value = line.partition(b":")
        if name == b"grpc-status":
            digits = value.strip()
            self._status = int(digits) if digits.isdigit() and len(digits) < 4 else _UNKNOWN
        elif name == b"grpc-message":
            self._text = unquote(value.strip().decode("latin-1"))

    def messages(self) -> Iterator[bytes]:
        """Yield what has come completely since the last time. Raises Malformed."""
        came, start = self._received, 0
        while len(came) - start >= _PREFIX:
            if came[start]:
                raise messages.Malformed("a compressed message, which nobody has asked for")
            end = start + _PREFIX + int.from_bytes(came[start + 1 : start + _PREFIX], "big")
            if end > len(came):
                break
            yield bytes(came[start + _PREFIX : end])
            start = end
        del came[:start]

    def answer(self) -> bytes:
        """Return the only message of a call that has ended. Raises ServiceError."""
        self.must_be_well()
        answers = [*self.messages()]
        if len(answers) != 1 or self._received:
            raise messages.Malformed("not one whole message")
        return answers[0]

    def must_be_well(self) -> None:
        """Raise ServiceError for a call that has ended badly."""
        if self._status < 0:
            code = self.handle.getinfo(pycurl.RESPONSE_CODE)
            raise contract.ServiceUnavailable(
                f"the member of etcd answers with {code}, and not as etcd"
            )
        if self._status:
            raise messages.refusal(self._status, self._text)

    def failure(self, error: pycurl.error) -> contract.ServiceError:
        """Turn an error of libcurl into ours: whether the member can have taken the request is
        known."""
        code, text = error.args
        if code == pycurl.E_OPERATION_TIMEDOUT:
            text = SILENT
        return contract.ServiceUnavailable(text) if self._is_taken else messages.NotBegun(text)


# --- Etcd connections --------------------------------------------------------
#
# Connections to the members of a cluster: to one at a time, and to the next when that one
# fails.
#
# All that a process asks of etcd goes to one member, so that what it is told on a watch and
# what it is answered come from the same state. Whoever finds that the member does not do its
# work leaves the connection, and everybody goes on with the next one. Calls that are under way
# on a connection that was left may still finish; streams end.

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
    """Makes all calls to one member on one connection of HTTP/2."""

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
        """Make a call, and return its answer. Raises ServiceError."""
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
        """Yield the answers to one request, until the connection is left. Raises ServiceError."""
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
            raise messages.NotBegun(SILENT)
        return self._multi.add_handle(exchange.handle)  # type: ignore[no-any-return]

    def _say_if_left(self) -> None:
        """Raise ServiceUnavailable where what is under way is cancelled since the connection is
        left, and not because the task is."""
        task = asyncio.current_task()
        if self.is_left and task is not None and not task.cancelling():
            raise contract.ServiceUnavailable(SILENT) from None

    async def leave(self) -> None:
        """Wait until nothing is under way any more."""
        self.is_left = True
        for stream in tuple(self._streams):
            stream.cancel()
        under_way = self._multi.futures()
        if under_way:
            await asyncio.wait(under_way, timeout=GRACE_SECONDS)
        await self._multi.aclose()


def _content(path: Path) -> bytes:
    """Return the content of a file that curl is given. Raises OSError, also for more than curl
    takes."""
    with path.open("rb") as stream:
        content = stream.read(_MOST_GIVEN + 1)
    if len(content) > _MOST_GIVEN:
        raise OSError(errno.EFBIG, os.strerror(errno.EFBIG), str(path))
    return content


def _options(endpoint: Endpoint, settings: EtcdSettings) -> list[tuple[int, Any]]:
    """Return libcurl's options for a connection. Raises OSError."""
    result: list[tuple[int, Any]] = [
        (pycurl.HTTP_VERSION, pycurl.CURL_HTTP_VERSION_2_PRIOR_KNOWLEDGE),
        (pycurl.PIPEWAIT, 1),  # for the one connection
        (pycurl.NOPROXY, "*"),
        (pycurl.NOSIGNAL, 1),
        (pycurl.CONNECTTIMEOUT_MS, int(ATTEMPT_SECONDS * 1000)),
    ]
    if not endpoint.is_secure:
        return result
    if settings.authorities is not None:
        result.append((pycurl.CAINFO_BLOB, _content(settings.authorities)))
    elif (authorities := ssl.get_default_verify_paths().cafile) is not None:
        result.append((pycurl.CAINFO, authorities))
    for option, path in (
        (pycurl.SSLCERT_BLOB, settings.certificate),
        (pycurl.SSLKEY_BLOB, settings.private_key),
    ):
        if path is not None:
            result.append((option, _content(path)))
    return result


class EtcdConnections:
    """Holds the connections of one process, in one event loop. Raises OSError for files that cannot
    be read."""

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
        """Return the answer of whichever member gives one. What is not repeatable is sent again
        only if nobody has taken it. Raises ServiceError."""
        loop = asyncio.get_running_loop()
        end = loop.time() + CALL_SECONDS
        failed = SILENT
        while True:
            connection, left = self.current, end - loop.time()
            if left <= 0:  # a busy machine may have taken what was left, and the member none of it
                raise contract.ServiceUnavailable(failed)
            seconds = min(left, ATTEMPT_SECONDS) if repeatable else left
            try:
                return await connection.call(method, request, seconds)
            except contract.ServiceUnavailable as error:
                self.leave(connection)
                if not (repeatable or isinstance(error, messages.NotBegun)):
                    raise
                failed = str(error)
            await asyncio.sleep(PAUSE_SECONDS)

    async def close(self) -> None:
        """Wait until nothing is under way any more."""
        tasks = [*self._leaving, asyncio.create_task(self.current.leave())]
        results = await asyncio.gather(*tasks, return_exceptions=True)
        failed = [result for result in results if isinstance(result, BaseException)]
        if failed:
            raise contract.ServiceError(str(failed[0]))


_T = TypeVar("_T")

PAGE: Final = 500
"""Entries that are read at once."""

_RANGE: Final = "/etcdserverpb.KV/Range"
_TXN: Final = "/etcdserverpb.KV/Txn"
_GRANT: Final = "/etcdserverpb.Lease/LeaseGrant"
_COMPACT: Final = "/etcdserverpb.KV/Compact"
_WATCH: Final = "/etcdserverpb.Watch/Watch"


class EtcdClient:
    """Asks etcd on connections that others may use as well. All methods raise ServiceError."""

    def __init__(self, connections: EtcdConnections) -> None:
        self._connections = connections

    async def revision(self) -> int:
        """Return a revision that is not older than any write acknowledged so far, to anyone: a
        majority has confirmed it."""
        request = messages.range_request(messages.EVERYTHING, count_only=True)
        return (await self._call(_RANGE, request, messages.range_answer)).revision

    async def entries(
        self, first: bytes, revision: int
    ) -> AsyncIterator[tuple[messages.KeyValue, ...]]:
        """Yield all entries whose key begins with `first`, at a revision, in pages."""
        first, end = first or messages.EVERYTHING, _after_all_with(first)
        while True:
            request = messages.range_request(first, end, limit=PAGE, revision=revision)
            page = await self._call(_RANGE, request, messages.range_answer)
            yield page.key_values
            if not page.has_more:
                return
            if not page.key_values or page.key_values[-1].key < first:
                self.leave()
                raise messages.Malformed("a page that leads to no other")
            first = page.key_values[-1].key + b"\0"

    async def transact(self, transaction: messages.EtcdTransaction) -> messages.TransactionAnswer:
        """Carry out a transaction. After a ServiceUnavailable that is not NotBegun, nobody knows
        what has become of it."""
        request = messages.transaction_request(transaction)
        read = partial(messages.transaction_answer, transaction=transaction)
        return await self._call(_TXN, request, read, repeatable=False)

    async def lease(self, seconds: int) -> int:
        """Return a new one, that lasts so long (etcd makes very short ones longer)."""
        request = messages.lease_request(seconds)
        # One whose number is never heard of ends by itself.
        return await self._call(_GRANT, request, messages.lease_answer)

    async def compact(self, revision: int) -> None:
        """Compact the history up to a revision. Raises RevisionRefused for what is compacted
        already, or in the future."""
        request = messages.compaction_request(revision)
        await self._connections.call(_COMPACT, request, repeatable=False)

    async def _call(
        self, method: str, request: bytes, read: Callable[[bytes], _T], *, repeatable: bool = True
    ) -> _T:
        """Make a call, and read its answer. A member whose answer cannot be read is left."""
        answer = await self._connections.call(method, request, repeatable=repeatable)
        try:
            return read(answer)
        except messages.Malformed:
            self.leave()
            raise

    async def changes(self, start: int) -> AsyncGenerator[messages.WatchAnswer, None]:
        """Yield the changes of all keys, from a revision on, until the member fails, which is left
        then."""
        connection = self._connections.current
        request = messages.watch_request(start)
        try:
            async with aclosing(connection.stream(_WATCH, request)) as answers:
                async for answer in answers:
                    read = messages.watch_answer(answer)
                    if read.refusal is not None and not read.compacted:
                        raise contract.ServiceUnavailable(read.refusal)
                    yield read
            raise contract.ServiceUnavailable("the member of etcd has ended the watch")
        except contract.ServiceError:
            self._connections.leave(connection)
            raise

    def leave(self) -> None:
        """Go on with the next member: this one does not send what it should."""
        self._connections.leave(self._connections.current)

    async def close(self) -> None:
        """Wait until nothing is under way any more."""
        await self._connections.close()


def _after_all_with(prefix: bytes) -> bytes:
    """Return the first key behind all that begin with the prefix."""
    stem = prefix.rstrip(b"\xff")
    return stem[:-1] + bytes([stem[-1] + 1]) if stem else messages.EVERYTHING


# --- The mirror --------------------------------------------------------------
#
# The keyspace of a process, kept current by a watch on everything in etcd.
#
# Theory of operation. etcd numbers its changes without a gap, and a watch on all keys shows every
# one of them: so the mirror knows by itself how far it is, whether it has missed something, and
# when it has reached a revision that somebody else speaks of. No progress notifications are
# needed, which in etcd before 3.4.25 and 3.5.8 may overtake the changes they speak of
# (etcd-io/etcd#15220). Keys that are not ours only move the revision.
#
# A mirror begins in the past: with the entries at the oldest revision that etcd still has (or as
# far back as history is wanted), brought to the present by the same watch that goes on from
# there. So all mirrors of one etcd have the same history, and a page begun at one can be
# continued at another.
#
# What this process writes need not be shown to it: the answer to a transaction tells the
# revision, and a mirror that has everything before it takes it from there. So a writer waits for
# one answer, not for two. What the watch shows of it later is passed over, but counted.
#
# When a member fails, the watch is resumed at another one behind the last change that was seen.
# Only if that has been compacted meanwhile does the mirror begin anew.

HISTORY: Final = 20_000
"""Changes that a mirror begins with at most."""


class Missed(Exception):
    """Says that what the mirror needs to go on is not there any more."""


class KeySpelling:
    """Knows how keys are written in etcd: `prefix` in place of `root`."""

    def __init__(self, root: str, prefix: str) -> None:
        self._root = root
        self._prefix = prefix
        self.first = prefix.encode()

    def written(self, key: str) -> bytes:
        """Return etcd's name of a key. Raises ValueError for a key without the root."""
        if not key.startswith(self._root):
            raise ValueError(f"the key does not begin with {self._root}")
        return (self._prefix + key[len(self._root) :]).encode()

    def read(self, key: bytes) -> str | None:
        """Return our name of a key; None for what is not ours."""
        if not key.startswith(self.first):
            return None
        try:
            return self._root + key[len(self.first) :].decode()
        except UnicodeDecodeError:
            return None


class Audience(Protocol):
    """Has the keyspace, and tells its readers."""

    def begin_with(self, space: Keyspace) -> None:
        """Take this keyspace from here on; changes between it and the former are not known."""

    def apply(self, events: Sequence[contract.Event], revision: int) -> None:
        """Apply events: these happen, and nothing else up to the revision."""


Coming = Callable[[Sequence[bytes]], Awaitable[None]]


async def _nothing(_: Sequence[bytes]) -> None:
    pass


class EtcdMirror:
    """Feeds an audience. `kept_value` may give bytes that are equal to those of a change: the ones
    that this process has written itself. `coming` is told the values that others have written,
    before anybody sees them."""

    def __init__(
        self,
        client: EtcdClient,
        spelling: KeySpelling,
        audience: Audience,
        kept_value: Callable[[str, bytes], bytes],
    ) -> None:
        self._client = client
        self._spelling = spelling
        self._audience = audience
        self._kept_value = kept_value
        self.coming: Coming = _nothing
        self._space = Keyspace()
        self._shown_revision = contract.FIRST_REVISION
        """The last revision that the watch has shown."""
        self._operations: dict[int, Sequence[contract.Operation]] = {}
        """What this process has done at revisions that the mirror has not come to yet."""

    async def begin(self) -> None:
        """Load what there was, for `follow` to go on from. Raises ServiceError."""
        current = await self._client.revision()
        start = max(contract.FIRST_REVISION, current - HISTORY)
        space: Keyspace | None = None
        while space is None:
            try:
                space = await self._loaded(start)
            except messages.RevisionRefused as error:
                if error.is_future:  # of a member that has forgotten what it has just said
                    raise contract.ServiceUnavailable(str(error)) from None
                start = await self._oldest(start)
        self._space = space
        self._operations.clear()
        self._audience.begin_with(space)

    def learn(self, revision: int, operations: Sequence[contract.Operation]) -> None:
        """Note that this process has done that, and nothing else happened, at a new revision."""
        if revision > self._space.revision:
            self._operations[revision] = operations
            self._catch_up()

    async def _loaded(self, start: int) -> Keyspace:
        """Return what there was at a revision, none before it."""
        entries = [
            entry
            async for page in self._client.entries(self._spelling.first, start)
            for entry in self._entries(page)
        ]
        if start == contract.FIRST_REVISION:
            return Keyspace()  # with nothing in it, and nothing before it
        changes = ((entry.mod_revision, entry.key, entry) for entry in entries)
        return Keyspace.restored(changes, start)

    async def _oldest(self, start: int) -> int:
        """Return the oldest revision that etcd still has; `start` is older. Raises ServiceError."""
        with suppress(TimeoutError):
            async with (
                asyncio.timeout(CALL_SECONDS),
                aclosing(self._client.changes(start)) as answers,
            ):
                async for answer in answers:
                    if answer.compacted > start:
                        return answer.compacted
        self._client.leave()
        raise contract.ServiceUnavailable("the member of etcd does not say what is compacted")

    def _entries(self, page: Iterable[messages.KeyValue]) -> Iterable[contract.Entry]:
        for key_value in page:
            key = self._spelling.read(key_value.key)
            entry = None if key is None else key_value.entry(key)
            if entry is not None:
                yield entry

    async def follow(self) -> None:
        """Take in changes until the member fails. Raises ServiceError; Missed, when the mirror has
        to begin again."""
        parts: list[messages.KeyValue] = []
        self._shown_revision = self._space.revision
        async with aclosing(self._client.changes(self._shown_revision + 1)) as answers:
            async for answer in answers:
                if answer.compacted:
                    raise Missed
                parts += answer.changes
                if parts and not answer.is_part:
                    revision = self._space.revision
                    key_values = [part for part in parts if part.mod_revision > revision]
                    await self.coming(
                        [key_value.value for key_value in key_values if key_value.value is not None]
                    )
                    self._take(parts)
                    parts = []

    def _take(self, changes: Sequence[messages.KeyValue]) -> None:
        """Apply changes of whole revisions, each the next one. Raises Missed for a gap, and leaves
        the member that has shown it."""
        events: list[contract.Event] = []
        former: dict[str, contract.Entry | None] = {}
        revision = self._space.revision
        published = before = self._shown_revision
        for change in changes:
            if change.mod_revision == published + 1:
                published += 1
                self._operations.pop(published, None)
            elif change.mod_revision != published or published == before:
                self._client.leave()
                raise Missed
            event = self._event(change, former) if published > revision else None
            if event is not None:
                former[event.key] = event.entry
                events.append(event)
        self._shown_revision = published
        if published > revision:
            self._audience.apply(events, published)
            self._catch_up()

    def _event(
        self, change: messages.KeyValue, former: dict[str, contract.Entry | None]
    ) -> contract.Event | None:
        key = self._spelling.read(change.key)
        if key is None:
            return None
        previous = former[key] if key in former else self._space.current(key)
        if change.value is None:
            return contract.Event(change.mod_revision, key, None, previous)
        value = self._kept_value(key, change.value)
        entry = contract.Entry(key, value, change.create_revision, change.mod_revision)
        return contract.Event(change.mod_revision, key, entry, previous)

    def _catch_up(self) -> None:
        """Apply what is known without being shown, as far as there is no gap."""
        while self._operations:
            revision = self._space.revision + 1
            operations = self._operations.pop(revision, None)
            if operations is None:
                return
            events = [self._own_event(operation, revision) for operation in operations]
            self._audience.apply(events, revision)

    def _own_event(self, operation: contract.Operation, revision: int) -> contract.Event:
        key = operation.key
        previous = self._space.current(key)
        if not isinstance(operation, contract.Put):
            return contract.Event(revision, key, None, previous)
        created = revision if previous is None else previous.create_revision
        return contract.Event(
            revision, key, contract.Entry(key, operation.value, created, revision), previous
        )
