"""Webhooks called over HTTPS, on connections that are kept.

As the REST client of k8s.io/client-go: answers 429 and 5xx that say when to come again are asked
again within the time there is, redirects are followed, an answer may be compressed. Proxies are not
used (docs/decisions/0016).
"""

from __future__ import annotations

import asyncio
import math
import zlib
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final
from urllib.parse import urljoin, urlsplit

import httpcore

from celadon.admission.webhooks import Call, NoReply, Reply, call_url
from celadon.apiserver.clientconfig.certificate_failures import UnusableRoots, tls_context
from celadon.apiserver.clientconfig.client_credentials import (
    ClientCredentials,
    CredentialsError,
    Headers,
)
from celadon.apiserver.clientconfig.go_network import GoNetwork, ProtocolsSwitched, Route
from celadon.apiserver.clientconfig.kubeconfig_file import Kubeconfig, KubeconfigError
from celadon.apiserver.http_messages import NetworkFailure
from celadon.kube.go import URLError, parse_url, quote
from celadon.kube.well_known_values import HTTPS_PORT
from celadon.records import dataclass

# --- Webhook credentials -----------------------------------------------------
#
# Which user of a kubeconfig a webhook is called as.
#
# Users are found by their names, which are hosts: `host:port`, then `*.SUFFIX` for each suffix
# of it, then both without the port if that is 443, then `*`, then the user of the current
# context; nobody if there is none of these. As k8s.io/apiserver
# `pkg/util/webhook/authentication.go`.


class WebhookCredentials:
    """`clock` is Unix time."""

    def __init__(self, config: Kubeconfig, clock: Callable[[], float]) -> None:
        self._config = config
        self._clock = clock
        self._made: dict[str, ClientCredentials] = {}

    def user_of(self, host: str, port: int) -> str:
        """The name of the user for calls of a server; empty for nobody."""
        for name in _names(host, str(port)):
            if name in self._config.users:
                return name
        context = self._config.contexts.get(self._config.current_context)
        name = "" if context is None else context.user
        return name if name in self._config.users else ""

    def of(self, user: str) -> ClientCredentials:
        """Those of a user that `user_of` gave."""
        found = self._made.get(user)
        if found is None:
            found = ClientCredentials(self._config.users[user], self._clock)
            self._made[user] = found
        return found


def _names(host: str, port: str) -> Iterator[str]:
    yield from _with_stars(f"{host}:{port}")
    if port == str(HTTPS_PORT):
        yield from _with_stars(host)
    yield "*"


def _with_stars(host: str) -> Iterator[str]:
    yield host
    labels = host.split(".")
    for at in range(1, len(labels)):
        yield ".".join(("*", *labels[at:]))


POOLS: Final = 200
"""Connections are kept for so many combinations of host and authorities."""
IDLE_CONNECTIONS: Final = 25
RETRIES: Final = 10
REDIRECTS: Final = 10
MAX_ANSWER_BYTES: Final = 64 * 1024 * 1024
"""Ours: kube-apiserver reads without end."""
_SAME_METHOD: Final = frozenset({307, 308})
_REDIRECTIONS: Final = frozenset({301, 302, 303}) | _SAME_METHOD
_BAD_CHUNK: Final = "illegal chunk header"
"""How h11 begins to say that the length of a chunk cannot be read."""
_LOOPBACK: Final = frozenset({"localhost", "127.0.0.1", "::1"})
_HEADERS: Final = (
    (b"Accept-Encoding", b"gzip"),
    (b"Accept", b"application/json, */*"),
    (b"Content-Type", b"application/json"),
    (b"User-Agent", b"kube-apiserver-admission"),
)


@dataclass(frozen=True, slots=True)
class _Answer:
    code: int
    headers: dict[bytes, bytes]
    body: bytes


class WebhookClient:
    """Makes the calls of one server. Belongs to the event loop in which it is first used."""

    def __init__(
        self, route: Route, credentials: Callable[[], WebhookCredentials] | None = None
    ) -> None:
        """`credentials` reads those for webhooks; it may raise KubeconfigError."""
        self._network = GoNetwork(route)
        self._read = credentials
        self._credentials: WebhookCredentials | None = None
        self._pools: OrderedDict[tuple[str, str, str], httpcore.AsyncConnectionPool] = OrderedDict()
        self._closing: asyncio.Future[None] | None = None

    async def call(self, call: Call, seconds: float) -> Reply | NoReply:
        """`seconds` are what is left of the request's own time."""
        seconds = min(seconds, call.timeout_seconds)
        url = call_url(call.hook, max(1, math.ceil(seconds)))
        try:
            async with asyncio.timeout(seconds):
                asked = await self._exchange(url, call)
                return await self._replied(asked)
        except (UnusableRoots, KubeconfigError, CredentialsError) as error:
            return NoReply(str(error), 500, "could not get REST client")
        except TimeoutError:
            return NoReply(f"Post {quote(url)}: context deadline exceeded")

    async def _exchange(self, url: str, call: Call) -> Exchange:
        """Raises UnusableRoots, KubeconfigError, CredentialsError."""
        user = self._user(url)
        pool = await self._pool(url, call.hook.webhook.client_config.ca_bundle, user)
        own = () if user is None else await user[1].headers()
        return Exchange(pool, url, call.body, own)

    async def _replied(self, asked: Exchange) -> Reply | NoReply:
        try:
            return await asked.reply()
        except NetworkFailure as error:
            return NoReply(f"Post {quote(asked.url)}: {error}")
        except BrokenBody as error:
            return NoReply(
                "unexpected error when reading response body. Please retry. Original error: "
                f"{error}"
            )

    async def aclose(self) -> None:
        """Close what is kept."""
        while self._pools:
            _, pool = self._pools.popitem()
            await pool.aclose()

    def _user(self, url: str) -> tuple[str, ClientCredentials] | None:
        """As whom to call; None for nobody. Raises KubeconfigError."""
        if self._read is None:
            return None
        if self._credentials is None:
            self._credentials = self._read()
        parts = urlsplit(url)
        name = self._credentials.user_of(parts.hostname or "", parts.port or HTTPS_PORT)
        return (name, self._credentials.of(name)) if name else None

    async def _pool(
        self, url: str, ca_bundle: str, user: tuple[str, ClientCredentials] | None
    ) -> httpcore.AsyncConnectionPool:
        parts = urlsplit(url)
        key = (parts.netloc, ca_bundle, "" if user is None else user[0])
        pool = self._pools.get(key)
        if pool is None:
            http2 = parts.hostname in _LOOPBACK
            protocols = ["h2", "http/1.1"] if http2 else ["http/1.1"]
            context = tls_context(ca_bundle, protocols)
            if user is not None:
                await user[1].load(context)
            pool = httpcore.AsyncConnectionPool(
                ssl_context=context,
                max_connections=None,
                max_keepalive_connections=IDLE_CONNECTIONS,
                http1=True,
                http2=http2,
                network_backend=self._network,
            )
            self._pools[key] = pool
            if len(self._pools) > POOLS:
                _, oldest = self._pools.popitem(last=False)
                self._closing = asyncio.ensure_future(oldest.aclose())
        self._pools.move_to_end(key)
        return pool


class BrokenBody(Exception):
    """An answer that ends too early, or is more than anyone wants to read."""


class Exchange:
    """One call: the requests that it takes. `url` is that of the latest."""

    def __init__(
        self, pool: httpcore.AsyncConnectionPool, url: str, body: bytes, own: Headers = ()
    ) -> None:
        self._pool = pool
        self._own = own
        self._body = body
        self.url = url

    async def reply(self) -> Reply:
        """Raises NetworkFailure, BrokenBody."""
        for _ in range(RETRIES):
            answer = await self._followed()
            wait = _retry_after(answer)
            if wait is None:
                break
            await asyncio.sleep(wait)
        else:
            answer = await self._followed()
        content_type = answer.headers.get(b"content-type")
        return Reply(
            answer.code,
            answer.body,
            None if content_type is None else content_type.decode("latin-1"),
        )

    async def _followed(self) -> _Answer:
        start = self.url
        method, body, location = "POST", self._body, ""
        for _ in range(REDIRECTS):
            answer = await self._sent(method, body)
            location = answer.headers.get(b"location", b"").decode("latin-1")
            if answer.code not in _REDIRECTIONS or not location:
                self.url = start
                return answer
            _require_readable(location)
            self.url = urljoin(self.url, location)
            if answer.code not in _SAME_METHOD:
                method, body = "GET", b""
        self.url = location
        raise NetworkFailure(f"stopped after {REDIRECTS} redirects")

    async def _sent(self, method: str, body: bytes) -> _Answer:
        """On a kept connection, or on a new one if that turns out to be done for."""
        trace = _Trace()
        try:
            return await self._tried(method, body, trace)
        except NetworkFailure:
            if trace.connected:
                raise
        return await self._tried(method, body, trace)

    async def _tried(self, method: str, body: bytes, trace: _Trace) -> _Answer:
        parts = urlsplit(self.url)
        headers = [(b"Host", parts.netloc.encode()), *_HEADERS, *self._own]
        if method == "POST":
            headers.append((b"Content-Length", str(len(body)).encode()))
        sending = self._pool.stream(
            method, self.url, headers=headers, content=body, extensions={"trace": trace}
        )
        try:
            async with sending as got:
                found = {name.lower(): value for name, value in got.headers}
                return _Answer(got.status, found, await _read(got, found))
        except ProtocolsSwitched:
            return _Answer(101, {}, b"")
        except httpcore.RemoteProtocolError as error:
            text = f"net/http: HTTP/1.x transport connection broken: {error}"
            raise NetworkFailure(text) from None


class _Trace:
    """Whether a request has opened a connection, or was sent on one that had been kept."""

    def __init__(self) -> None:
        self.connected = False

    async def __call__(self, event: str, info: Mapping[str, Any]) -> None:
        self.connected |= event == "connection.connect_tcp.started"


def _require_readable(location: str) -> None:
    """Raises NetworkFailure."""
    try:
        parse_url(location)
    except URLError as error:
        text = f"failed to parse Location header {quote(location)}: {error}"
        raise NetworkFailure(text) from None


async def _read(got: httpcore.Response, headers: dict[bytes, bytes]) -> bytes:
    parts: list[bytes] = []
    size = 0
    try:
        async for part in got.aiter_stream():
            size += len(part)
            if size > MAX_ANSWER_BYTES:
                raise BrokenBody(f"more than {MAX_ANSWER_BYTES} bytes")
            parts.append(part)
    except httpcore.RemoteProtocolError as error:
        in_chunk = str(error).startswith(_BAD_CHUNK)
        text = "invalid byte in chunk length" if in_chunk else "unexpected EOF"
        raise BrokenBody(text) from None
    except NetworkFailure as error:
        raise BrokenBody(str(error)) from None
    body = b"".join(parts)
    return _expanded(body) if headers.get(b"content-encoding") == b"gzip" else body


def _expanded(body: bytes) -> bytes:
    """A gzip body, up to the limit."""
    inflater = zlib.decompressobj(wbits=31)
    try:
        text = inflater.decompress(body, MAX_ANSWER_BYTES)
    except zlib.error:
        raise BrokenBody("gzip: invalid header") from None
    if inflater.unconsumed_tail:
        raise BrokenBody(f"more than {MAX_ANSWER_BYTES} bytes")
    return text


def _retry_after(answer: _Answer) -> int | None:
    """The seconds after which to ask again; None if the answer stands."""
    if answer.code != 429 and answer.code < 500:
        return None
    text = answer.headers.get(b"retry-after", b"").decode("latin-1").strip()
    return int(text) if text.isdecimal() and len(text) < 10 else None
