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
from typing import Final
from urllib.parse import quote as escaped
from urllib.parse import urljoin, urlsplit

import httpcore

from celadon.admission.webhooks import NoReply, Reply, WebhookCall, call_url
from celadon.apiserver import clientconfig, go_network
from celadon.apiserver.http_messages import FREE_BYTES, MAX_HELD_BYTES, HeldBytes, NetworkFailure
from celadon.kube.go import URLError, parse_url, quote
from celadon.kube.json_types import JsonObject
from celadon.kube.well_known_values import HTTPS_PORT
from celadon.late_patterns import late_pattern
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
    """Chooses and keeps the credentials for webhooks; `clock` is Unix time."""

    def __init__(self, config: clientconfig.Kubeconfig, clock: Callable[[], float]) -> None:
        self._config = config
        self._clock = clock
        self._credentials: dict[str, clientconfig.ClientCredentials] = {}

    def user_of(self, host: str, port: int) -> str:
        """Return the name of the user for calls of a server; empty for nobody."""
        for name in _names(host, str(port)):
            if name in self._config.users:
                return name
        context = self._config.contexts.get(self._config.current_context)
        name = "" if context is None else context.user
        return name if name in self._config.users else ""

    def of(self, user: str) -> clientconfig.ClientCredentials:
        """Return the credentials of a user that `user_of` gave."""
        credentials = self._credentials.get(user)
        if credentials is None:
            credentials = clientconfig.ClientCredentials(self._config.users[user], self._clock)
            self._credentials[user] = credentials
        return credentials


def _names(host: str, port: str) -> Iterator[str]:
    yield from _with_stars(f"{host}:{port}")
    if port == str(HTTPS_PORT):
        yield from _with_stars(host)
    yield "*"


# Upstream's order: the more labels of the host a name has, the earlier it is tried.
def _with_stars(host: str) -> Iterator[str]:
    yield host
    labels = host.split(".")
    for index in range(1, len(labels)):
        yield ".".join(("*", *labels[index:]))


POOLS: Final = 200
"""Connections are kept for so many combinations of host and authorities."""
IDLE_CONNECTIONS: Final = 25
# As `maxRetries` of client-go's `rest.Request`; redirects are Go's own limit (`net/http`).
RETRIES: Final = 10
REDIRECTS: Final = 10
MAX_ANSWER_BYTES: Final = 16 << 20
"""Ours: kube-apiserver reads without end."""
MAX_PIECES: Final = 20_000
"""Of one answer; each of them costs time, however short it is."""
PASSED_OVER_BYTES: Final = 64 << 10
"""Of the body of an answer that leads elsewhere, or asks to come again."""
_PIECES_AT_ONCE: Final = 100
"""Before others get a turn."""
_READ_BYTES: Final = 1 << 12
"""Of a compressed answer at once: where a member ends, what is left of them is copied."""

_INFLATED_BYTES: Final = 1 << 20
"""Of a compressed answer, before others get a turn."""
_SAME_METHOD: Final = frozenset({307, 308})
_REDIRECTIONS: Final = frozenset({301, 302, 303}) | _SAME_METHOD
_BAD_CHUNK: Final = "illegal chunk header"
"""How h11 begins to say that the length of a chunk cannot be read."""
_LONG_HEAD: Final = "Receive buffer too long"
"""What h11 says of a head of more than 100 KiB."""
_HTTP_SCHEMES: Final = frozenset({"http", "https"})
_PRINTABLE: Final = "".join(map(chr, range(0x21, 0x7F)))
_LOOPBACK: Final = frozenset({"localhost", "127.0.0.1", "::1"})
_MISSING_NAMES: Final = "missing-san.invalid-cert.kubernetes.io"
_NAMED_IN_SUBJECT: Final = (
    "relies on a legacy Common Name field instead of the SAN extension for subject validation"
)
# What client-go sends with a POST of JSON, in the order in which it sends that.
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
        self, route: go_network.Route, credentials: Callable[[], WebhookCredentials] | None = None
    ) -> None:
        """`credentials` reads those for webhooks; it may raise KubeconfigError."""
        self._network = go_network.GoNetwork(route)
        self._read = credentials
        self._credentials: WebhookCredentials | None = None
        self._pools: OrderedDict[tuple[str, str, str], httpcore.AsyncConnectionPool] = OrderedDict()
        self._closing: asyncio.Future[None] | None = None

    async def call(
        self,
        call: WebhookCall,
        seconds: float,
        held: HeldBytes | None = None,
        body: bytes | None = None,
    ) -> Reply | NoReply:
        """`seconds` are what is left of the request's own time; `held` counts what is read, `body`
        is the call's where that is known already."""
        seconds = min(seconds, call.timeout_seconds)
        url = call_url(call.client_config, max(1, math.ceil(seconds)))
        body = call.body if body is None else body
        try:
            # The time is that of all attempts and redirects together, as the context of upstream's
            # request is.
            async with asyncio.timeout(seconds):
                exchange = await self._exchange(url, call, body, held)
                return await self._replied(exchange)
        except (
            _UnusableHost,
            go_network.UnusableRoots,
            clientconfig.KubeconfigError,
            clientconfig.CredentialsError,
        ) as error:
            return NoReply(str(error), 500, "could not get REST client")
        except NetworkFailure as error:
            return NoReply(f"Post {quote(without_password(url))}: {error}")
        except TimeoutError:
            return NoReply(f"Post {quote(url)}: context deadline exceeded")

    async def _exchange(
        self, url: str, call: WebhookCall, body: bytes, held: HeldBytes | None
    ) -> Exchange:
        """Return the exchange of a call, with the credentials for its URL. Raises NetworkFailure
        for a URL that leads nowhere, _UnusableHost, UnusableRoots, KubeconfigError,
        CredentialsError."""
        _require_usable_host(url)
        _require_askable(url)
        user = self._user(url)
        pool = await self._pool(url, call.client_config.ca_bundle, user)
        headers = () if user is None else await user[1].headers()
        return Exchange(pool, url, body, headers, held)

    async def _replied(self, exchange: Exchange) -> Reply | NoReply:
        try:
            return await exchange.reply()
        except NetworkFailure as error:
            text = f"Post {quote(without_password(exchange.url))}: {error}"
            return NoReply(text, annotations=(*_of_certificate(exchange.url, str(error)),))
        except BrokenBody as error:
            return NoReply(
                "unexpected error when reading response body. Please retry. Original error: "
                f"{error}"
            )

    async def aclose(self) -> None:
        """Close the connections that are kept."""
        while self._pools:
            _, pool = self._pools.popitem()
            await pool.aclose()

    def _user(self, url: str) -> tuple[str, clientconfig.ClientCredentials] | None:
        """Return as whom to call; None for nobody. Raises KubeconfigError."""
        if self._read is None:
            return None
        if self._credentials is None:
            self._credentials = self._read()
        parts = urlsplit(url)
        name = self._credentials.user_of(parts.hostname or "", parts.port or HTTPS_PORT)
        return (name, self._credentials.of(name)) if name else None

    async def _pool(
        self, url: str, ca_bundle: str, user: tuple[str, clientconfig.ClientCredentials] | None
    ) -> httpcore.AsyncConnectionPool:
        parts = urlsplit(url)
        key = (parts.netloc, ca_bundle, "" if user is None else user[0])
        pool = self._pools.get(key)
        if pool is None:
            # As `HookClient` of k8s.io/apiserver `pkg/util/webhook/client.go`: HTTP/2 would send
            # all calls to one replica of a Service, so that it is only used where there is one
            # anyway.
            http2 = parts.hostname in _LOOPBACK
            protocols = ["h2", "http/1.1"] if http2 else ["http/1.1"]
            context = await go_network.tls_context(ca_bundle, protocols)
            if user is not None:
                await user[1].load(context)
            new_pool = httpcore.AsyncConnectionPool(
                ssl_context=context,
                max_connections=None,
                max_keepalive_connections=IDLE_CONNECTIONS,
                http1=True,
                http2=http2,
                network_backend=self._network,
            )
            pool = self._pools.setdefault(key, new_pool)  # another call may have been faster
            # A client may configure webhooks without end, each with another bundle of authorities.
            if len(self._pools) > POOLS:
                _, oldest = self._pools.popitem(last=False)
                self._closing = asyncio.ensure_future(oldest.aclose())
        self._pools.move_to_end(key)
        return pool


class BrokenBody(Exception):
    """An answer that ends too early, or is more than anyone wants to read."""


class Exchange:
    """One call: the requests that it takes. `url` is that of the latest. `own` are the headers of
    whom it is made as, for the server that is called: where a redirect leads to another one, that
    one is not told them, other than by client-go."""

    def __init__(
        self,
        pool: httpcore.AsyncConnectionPool,
        url: str,
        body: bytes,
        own_headers: clientconfig.Headers = (),
        held: HeldBytes | None = None,
    ) -> None:
        self._pool = pool
        self._own_headers = own_headers
        self._owner = _server(url)
        self._body = body
        self._held_bytes = HeldBytes() if held is None else held
        self.url = url

    async def reply(self) -> Reply:
        """Send the request, again where the server says when to come again, and return the reply.
        Raises NetworkFailure, BrokenBody."""
        for _ in range(RETRIES):
            answer = await self._followed()
            wait = _retry_after(answer.code, answer.headers)
            if wait is None:
                break
            await asyncio.sleep(wait)
        else:
            answer = await self._followed(is_last=True)
        content_type = answer.headers.get(b"content-type")
        return Reply(
            answer.code,
            answer.body,
            None if content_type is None else content_type.decode("latin-1"),
        )

    async def _followed(self, *, is_last: bool = False) -> _Answer:
        start = self.url
        method, body, location = "POST", self._body, ""
        for _ in range(REDIRECTS):
            answer = await self._sent(method, body, is_last=is_last)
            location = _location(answer.code, answer.headers)
            if not location:
                self.url = start
                return answer
            self.url = _redirected(self.url, location)
            _require_askable(self.url)
            # Go turns a POST into a GET after 301, 302 and 303, as browsers do.
            if answer.code not in _SAME_METHOD:
                method, body = "GET", b""
        self.url = location
        raise NetworkFailure(f"stopped after {REDIRECTS} redirects")

    async def _sent(self, method: str, body: bytes, *, is_last: bool) -> _Answer:
        """Send a request on a kept connection, or on a new one if that turns out to be done for."""
        trace = _Trace()
        try:
            return await self._tried(method, body, trace, is_last=is_last)
        # A new connection that fails is a failure; one that was kept may have ended while nobody
        # looked.
        except NetworkFailure:
            if trace.connected:
                raise
        return await self._tried(method, body, trace, is_last=is_last)

    async def _tried(self, method: str, body: bytes, trace: _Trace, *, is_last: bool) -> _Answer:
        target = _target(self.url)
        host = urlsplit(target).netloc.rpartition("@")[2].encode()
        own = self._own_headers if _server(self.url) == self._owner else ()
        headers = [(b"Host", host), *_HEADERS, *own]
        if method == "POST":
            headers.append((b"Content-Length", str(len(body)).encode()))
        # The answer before, which led elsewhere or asked to come again, is not kept.
        self._held_bytes.give_back()
        try:
            sending = self._pool.stream(
                method, target, headers=headers, content=body, extensions={"trace": trace}
            )
            async with sending as got:
                # The first of several headers with one name counts, as with Go's `Header.Get`.
                result = {name.lower(): value for name, value in reversed(got.headers)}
                asked_again = not is_last and _retry_after(got.status, result) is not None
                if asked_again or _location(got.status, result):
                    await _pass_over(got)
                    return _Answer(got.status, result, b"")
                return _Answer(got.status, result, await _Body(got, self._held_bytes).read(result))
        # Nobody has asked for another protocol; what it is called is said where answers are looked
        # at.
        except go_network.ProtocolsSwitched:
            return _Answer(101, {}, b"")
        except httpcore.ProtocolError as error:
            reason = f"net/http: HTTP/1.x transport connection broken: {error}"
            if str(error) == _LONG_HEAD:
                limit = httpcore.AsyncHTTP11Connection.MAX_INCOMPLETE_EVENT_SIZE
                reason = f"net/http: server response headers exceeded {limit} bytes; aborted"
            raise NetworkFailure(reason) from None


def without_password(url: str) -> str:
    """Return a URL as Go shows it in an error."""
    scheme, slashes, rest = url.partition("://")
    authority, slash, path = rest.partition("/")
    user, at_sign, host = authority.rpartition("@")
    name, colon, _ = user.partition(":")
    text = f"{name}:***" if colon else name
    return f"{scheme}{slashes}{text}{at_sign}{host}{slash}{path}"


class _Trace:
    """Notes whether a request has opened a connection, or was sent on one that had been kept."""

    def __init__(self) -> None:
        self.connected = False

    async def __call__(self, event: str, info: JsonObject) -> None:
        self.connected |= event == "connection.connect_tcp.started"


def _location(code: int, headers: Mapping[bytes, bytes]) -> str:
    """Return where a redirect leads to; empty if the answer is none."""
    if code not in _REDIRECTIONS:
        return ""
    return headers.get(b"location", b"").decode("utf-8", "replace")


def _of_certificate(url: str, failure: str) -> Iterator[tuple[str, str]]:
    """Yield what the audit event says of a certificate that is of a deprecated kind, as
    k8s.io/apiserver `pkg/util/x509metrics` does."""
    if failure.endswith(go_network.LEGACY_NAME):
        host = parse_url(url).hostname
        yield f"{_MISSING_NAMES}/{host}", _NAMED_IN_SUBJECT


def _server(url: str) -> tuple[str, str]:
    """Return scheme and authority of a URL."""
    parts = urlsplit(url)
    return parts.scheme, parts.netloc


def _redirected(base: str, location: str) -> str:
    """Return the URL that a redirect leads to. Raises NetworkFailure."""
    try:
        url = parse_url(location)
    except URLError as error:
        text = f"failed to parse Location header {quote(location)}: {error}"
        raise NetworkFailure(text) from None
    text = escaped(str(url), safe=_PRINTABLE)
    return text if url.scheme else urljoin(base, text)


class _UnusableHost(Exception):
    """Says that upstream makes no client for a host."""


_ESCAPE: Final = late_pattern("%(?![0-9A-Fa-f]{2}).{0,2}")


def _require_usable_host(url: str) -> None:
    """Raise _UnusableHost for an address with a zone: upstream reads the host as a URL once more,
    where the sign before the zone is not escaped."""
    base = f"https://{parse_url(url).host}"
    if "%" not in base:
        return
    escape = _ESCAPE.search(base)
    if escape is None:
        raise _UnusableHost(f"host must be a URL or a host:port pair: {quote(base)}")
    text = f"parse {quote(f'https://{base}')}: invalid URL escape {quote(escape[0])}"
    raise _UnusableHost(text)


def _require_askable(url: str) -> None:
    """Refuse what is no address of a server. Raises NetworkFailure."""
    try:
        parts = urlsplit(url)
    except ValueError:  # some characters are read as slashes
        raise go_network.unknown_host(url.split("/")[2]) from None
    if parts.scheme not in _HTTP_SCHEMES:
        raise NetworkFailure(f"unsupported protocol scheme {quote(parts.scheme)}")
    if not parts.netloc:
        raise NetworkFailure("http: no Host in request URL")
    port = parts.netloc.rpartition(":")[2]
    if port.isdecimal() and (len(port) > 5 or int(port) > 65535):
        raise NetworkFailure(f"dial tcp: address {port}: invalid port")
    _target(url)


def _target(url: str) -> str:
    """Return the URL that is asked for, in ASCII, as Go's `net/http` asks for names of all
    alphabets. Raises NetworkFailure if no server can have its name."""
    if url.isascii():
        return url
    parts = urlsplit(url)
    try:
        host = parts.netloc.encode("idna").decode()
    except UnicodeError:
        raise go_network.unknown_host(parts.netloc) from None
    return escaped(parts._replace(netloc=host).geturl(), safe=_PRINTABLE)


async def _pass_over(got: httpcore.Response) -> None:
    """Pass over a body that nobody wants: a short one is read, so that the connection can be
    kept."""
    size = 0
    async for part in got.aiter_stream():
        size += len(part)
        if size > PASSED_OVER_BYTES:
            break


class _Body:
    """Reads the body of an answer, within the room there is."""

    def __init__(self, response: httpcore.Response, held: HeldBytes) -> None:
        self._response = response
        self._held = held
        self._parts: list[bytes] = []
        self._size = 0

    async def read(self, headers: Mapping[bytes, bytes]) -> bytes:
        """Read the body, inflated where it is compressed. Raises BrokenBody."""
        is_compressed = headers.get(b"content-encoding", b"").lower() == b"gzip"
        inflater = _Inflater() if is_compressed else None
        pieces = 0
        try:
            async for part in self._response.aiter_stream():
                pieces += 1
                if pieces > MAX_PIECES:
                    raise BrokenBody(f"more than {MAX_PIECES} pieces")
                if pieces % _PIECES_AT_ONCE == 0:
                    await asyncio.sleep(0)
                if inflater is None:
                    self._take(part)
                else:
                    await self._inflate(inflater, part)
        except httpcore.RemoteProtocolError as error:
            in_chunk = str(error).startswith(_BAD_CHUNK)
            text = "invalid byte in chunk length" if in_chunk else "unexpected EOF"
            raise BrokenBody(text) from None
        except NetworkFailure as error:
            raise BrokenBody(str(error)) from None
        if inflater is not None and pieces and not inflater.is_complete:
            raise BrokenBody("unexpected EOF")
        return b"".join(self._parts)

    async def _inflate(self, inflater: _Inflater, part: bytes) -> None:
        """One piece may become a thousand times as long, or be thousands of members: in steps,
        between which others get a turn."""
        for step, text in enumerate(inflater.texts(part), 1):
            self._take(text)
            if len(text) >= _INFLATED_BYTES or step % _PIECES_AT_ONCE == 0:
                await asyncio.sleep(0)

    def _take(self, part: bytes) -> None:
        self._size += len(part)
        if self._size > MAX_ANSWER_BYTES:
            raise BrokenBody(f"more than {MAX_ANSWER_BYTES} bytes")
        # Short answers are free, so that no large one can keep others from being read.
        if self._size > FREE_BYTES and not self._held.take(len(part)):
            raise BrokenBody(f"more than {MAX_HELD_BYTES} bytes of answers at a time")
        self._parts.append(part)


class _Inflater:
    """A gzip stream of any number of members, as Go reads them."""

    def __init__(self) -> None:
        self._member = zlib.decompressobj(wbits=31)
        self._has_begun = False

    @property
    def is_complete(self) -> bool:
        """Return whether it may end here."""
        return self._member.eof or not self._has_begun

    def texts(self, data: bytes) -> Iterator[bytes]:
        """Yield what becomes of the next bytes, a part at a time. Raises BrokenBody."""
        for start in range(0, len(data), _READ_BYTES):
            yield from self._texts(data[start : start + _READ_BYTES])

    def _texts(self, data: bytes) -> Iterator[bytes]:
        while data:
            if self._member.eof:
                self._member = zlib.decompressobj(wbits=31)
            self._has_begun = True
            try:
                text = self._member.decompress(data, _INFLATED_BYTES)
            except zlib.error as error:
                # zlib has texts in place of codes: `incorrect data check`, `incorrect length
                # check`, and `incorrect header check`, which is no checksum.
                checked = "incorrect" in str(error) and "check" in str(error)
                is_wrong_sum = checked and "header" not in str(error)
                raise BrokenBody(
                    "gzip: invalid checksum" if is_wrong_sum else "gzip: invalid header"
                ) from None
            yield text
            data = self._member.unused_data or self._member.unconsumed_tail


def _retry_after(code: int, headers: Mapping[bytes, bytes]) -> int | None:
    """Return the seconds after which to ask again; None if the answer stands."""
    # As client-go (`rest/with_retry.go`): only an answer that says when to come again is asked for
    # again.
    if code != 429 and code < 500:
        return None
    text = headers.get(b"retry-after", b"").decode("latin-1").strip()
    return int(text) if text.isdecimal() and len(text) < 10 else None
