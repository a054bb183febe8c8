"""Requests that other servers answer, passed on with who asks and with our own certificate.

The other server knows by the certificate that it may believe the headers. What comes back is sent
on as it comes: nothing of it is kept but what the client has not read yet. As
k8s.io/kube-aggregator `pkg/apiserver/handler_proxy.go`, k8s.io/apimachinery `pkg/util/proxy` and
Go's `httputil.ReverseProxy`. Links in pages of HTML are not looked at.
"""

from __future__ import annotations

import asyncio
import contextlib
import ssl
import urllib.parse
from collections import OrderedDict
from collections.abc import AsyncGenerator, Callable, Iterable, Iterator, Sequence
from typing import Final

import httpcore

from celadon.apiserver import go_network
from celadon.apiserver.aggregation.api_services import ProxySettings, RemoteApiService
from celadon.apiserver.http_messages import (
    AnswerRoom,
    BrokenStream,
    Header,
    HeldBytes,
    Hold,
    HttpAnswer,
    HttpRequest,
    NetworkFailure,
    plain_text,
)
from celadon.apiserver.negotiation import NO_SNIFF, NOT_KEPT
from celadon.apiserver.webhook_routes import ServiceRoutes
from celadon.kube import User
from celadon.records import dataclass

# Without it, one server that hangs would stop every `kubectl`, which asks for all group versions
# before it does anything else.
DISCOVERY_SECONDS: Final = 5.0
"""For `/apis/GROUP/VERSION`, which clients ask for all group versions."""
LAST_SECONDS: Final = 10.0
"""For the body of an answer that refuses one, and for what a client has sent that has gone."""
UPGRADE_SECONDS: Final = 60.0
"""For the head of an answer to a request for another protocol."""
JOINED_BYTES: Final = 64 << 10
"""Up to so many bytes of an answer are sent as one, if the other server says how many there are."""
# Bounds of ours: an APIService can be rewritten again and again, and each version of it would leave
# a pool of connections behind.
POOLS: Final = 200
IDLE_CONNECTIONS: Final = 25
REDIRECTED: Final = "the backend attempted to redirect this request, which is not permitted"
UNAVAILABLE: Final = "service unavailable"
GO_AGENT: Final = "Go-http-client/1.1"
"""Who asks, where nobody says."""
HEAD_BYTES: Final = 1 << 20
"""Of an answer to a request that asks for another protocol."""
WAITING_BYTES: Final = 64 << 10
"""Of a client, that an extension server has not taken: then no more is read."""
_TOKEN_PROTOCOL: Final = "base64url.bearer.authorization.k8s.io."
"""How a browser shows its token, which is nobody else's."""

# RFC 9110, section 7.6.1, with the names that Go's `httputil.ReverseProxy` removes.
_HOP_BY_HOP: Final = frozenset(
    {
        *("connection", "keep-alive", "proxy-authenticate", "proxy-authorization"),
        *("proxy-connection", "te", "trailer", "transfer-encoding", "upgrade"),
    }
)
# Nothing that the client says of who it is may reach the other server: it believes these headers,
# because our certificate comes with them (k8s.io/client-go `transport.SetAuthProxyHeaders`).
_NOT_SENT: Final = _HOP_BY_HOP | {
    *("authorization", "content-length", "host", "expect", "audit-id"),
    *("impersonate-user", "impersonate-group", "impersonate-uid"),
    *("x-remote-user", "x-remote-uid", "x-remote-group"),
    *("x-forwarded-for", "x-forwarded-uri", "x-forwarded-host", "x-forwarded-proto"),
}
_NOT_SENT_PREFIXES: Final = ("impersonate-extra-", "x-remote-extra-")
_NOT_RETURNED: Final = _HOP_BY_HOP | {
    *("content-length", "content-type", "date"),
    *("access-control-allow-credentials", "access-control-allow-headers"),
    *("access-control-allow-methods", "access-control-allow-origin"),
}
# Go's transport sends such requests again when a kept connection turns out to be closed (`net/http`
# `transport.go`, `shouldRetryRequest`).
_REPEATABLE: Final = frozenset({"GET", "HEAD", "OPTIONS"})
_LETTERS: Final = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
# The characters of a token in RFC 9110, without `%`, which escapes all others.
_IN_HEADER_NAMES: Final = frozenset(f"!#$&'*+-.^_`|~0123456789{_LETTERS}")
_IN_PATHS: Final = "$&+,/:;=@~"


# --- What is sent ------------------------------------------------------------


def asking_headers(user: User) -> Iterator[Header]:
    """Yield the headers that tell an extension server who asks."""
    yield "X-Remote-User", user.name
    if user.uid:
        yield "X-Remote-Uid", user.uid
    yield from (("X-Remote-Group", group) for group in user.groups)
    for key, values in user.extra.items():
        name = _canonical(f"X-Remote-Extra-{_header_key(key)}")
        yield from ((name, value) for value in values)


def _header_key(key: str) -> str:
    """Encode a key with `%` before the number of each byte that no header's name may have."""
    return "".join(
        chr(number) if chr(number) in _IN_HEADER_NAMES else f"%{number:02X}"
        for number in key.encode()
    )


def _canonical(name: str) -> str:
    return "-".join(part[:1].upper() + part[1:].lower() for part in name.split("-"))


def forwarded_headers(
    request: HttpRequest, host: str, path: str, audit_id: str
) -> Iterator[Header]:
    """Yield the headers of a request that go on, and those that are added. `host` is the other
    server's, `path` is percent-encoded."""
    # What `Connection` names is for this hop only, so it ends here.
    header = request.header("connection").split(",")
    dropped = {text.strip().lower() for text in header}
    for name, value in request.headers:
        if (
            name not in _NOT_SENT
            and name not in dropped
            and not name.startswith(_NOT_SENT_PREFIXES)
        ):
            yield name, value
    before = request.header_values("x-forwarded-for")
    yield "X-Forwarded-For", ", ".join((*before, request.remote_address))
    yield "X-Forwarded-Uri", path
    yield "X-Forwarded-Host", host
    yield "X-Forwarded-Proto", "https"
    if audit_id:
        yield "Audit-Id", audit_id


def upgrade_headers(request: HttpRequest, audit_id: str) -> Iterator[Header]:
    """Yield the headers that go on with a request for another protocol, and those that are
    added."""
    for name, value in request.headers:
        if name in ("connection", "upgrade"):
            yield _canonical(name), value
        elif name == "sec-websocket-protocol":
            offered = [text.strip() for text in value.split(",")]
            # The token is in the list of protocols, since browsers cannot set a header for a
            # WebSocket (k8s.io/apiserver `pkg/authentication/request/websocket`).
            result = [text for text in offered if not text.startswith(_TOKEN_PROTOCOL)]
            if result:
                yield name, ", ".join(result)
        elif name not in _NOT_SENT and not name.startswith(_NOT_SENT_PREFIXES):
            yield name, value
    if not request.header_values("user-agent"):
        yield "User-Agent", GO_AGENT
    before = request.header_values("x-forwarded-for")
    yield "X-Forwarded-For", ", ".join((*before, request.remote_address))
    if request.body:
        yield "Content-Length", str(len(request.body))
    if audit_id:
        yield "Audit-Id", audit_id


def encoded_path(path: str) -> str:
    """Encode a path as Go encodes one that has no percent-encoding."""
    return urllib.parse.quote(path, safe=_IN_PATHS)


def encoded_query(request: HttpRequest) -> str:
    """Return the query with its parameters in the order of their names."""
    if not request.query:
        return ""
    return "?" + urllib.parse.urlencode(sorted(request.query.items()), doseq=True)


# --- Extension servers -------------------------------------------------------


class ExtensionServers:
    """The connections to them. `settings` say what we show. Belongs to one event loop."""

    def __init__(self, routes: ServiceRoutes, settings: ProxySettings) -> None:
        self._routes = routes
        self._network = go_network.GoNetwork(routes.address)
        self._settings = settings
        self._pools: OrderedDict[tuple[object, ...], httpcore.AsyncConnectionPool] = OrderedDict()
        self._closing: set[asyncio.Task[None]] = set()
        self.room = AnswerRoom()
        """For documents that are read here."""

    def host(self, service: RemoteApiService) -> str:
        """Return the host and port of an extension server as one text. Raises NetworkFailure."""
        host, port = self._routes.address(service.host, service.port)
        return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"

    async def ask(
        self,
        service: RemoteApiService,
        method: str,
        target: str,
        headers: Iterable[Header],
        body: bytes = b"",
    ) -> httpcore.Response:
        """Return an answer of which the head has come; who asked must close it. Raises
        NetworkFailure, UnusableRoots."""
        sent = [(name.encode(), value.encode("utf-8", "replace")) for name, value in headers]
        # Go sends a length with each method that may have a body, zero if there is none.
        if body or method not in _REPEATABLE:
            sent.append((b"Content-Length", str(len(body)).encode()))
        trace = _Trace()
        try:
            return await self._asked(service, method, target, sent, body, trace)
        # A new connection that fails is a failure; one that was kept may have ended while nobody
        # looked.
        except NetworkFailure:
            if trace.has_connected or method not in _REPEATABLE:
                raise
        return await self._asked(service, method, target, sent, body, trace)

    async def _asked(
        self,
        service: RemoteApiService,
        method: str,
        target: str,
        headers: Sequence[tuple[bytes, bytes]],
        body: bytes,
        trace: _Trace,
    ) -> httpcore.Response:
        # Certificates are checked for the Service's name, whatever address it has.
        url = httpcore.URL(
            scheme=b"https",
            host=service.host.encode(),
            port=service.port,
            target=target.encode("utf-8", "replace"),
        )
        request = httpcore.Request(
            method, url, headers=headers, content=body, extensions={"trace": trace}
        )
        try:
            return await (await self._pool(service)).handle_async_request(request)
        except go_network.ProtocolsSwitched:
            raise NetworkFailure("unexpected switching of protocols") from None
        except httpcore.ProtocolError as error:
            text = f"net/http: HTTP/1.x transport connection broken: {error}"
            raise NetworkFailure(text) from None

    async def upgrade(self, service: RemoteApiService, request: bytes) -> UpgradedConnection:
        """Return the connection that answers a request for another protocol, at the end of the head
        of its answer. Raises NetworkFailure, UnusableRoots."""
        stream = await self._network.connect_tcp(service.host, service.port)
        assert isinstance(stream, go_network.GoStream)
        try:
            await stream.start_tls(await self._context(service), service.host)
            await stream.send(request)
            head, behind = await _read_up_to_body(stream)
        except BaseException:
            await stream.aclose()
            raise
        return UpgradedConnection(stream, head, behind)

    async def _pool(self, service: RemoteApiService) -> httpcore.AsyncConnectionPool:
        """Return the connections to an extension server. Raises NetworkFailure for a certificate of
        ours that cannot be read, UnusableRoots."""
        try:
            # Certificates in files are replaced before they end, so that their times are a part of
            # the key.
            times = self._settings.times()
            key = service.host, service.port, service.ca_bundle, service.is_insecure, times
            pool = self._pools.get(key)
            if pool is None:
                new_pool = await self._made(service)
                pool = self._pools.setdefault(key, new_pool)  # another call may have been faster
        except (OSError, ssl.SSLError) as error:
            raise NetworkFailure(f"the certificate of the front proxy: {error}") from None
        self._pools.move_to_end(key)
        if len(self._pools) > POOLS:
            _, oldest = self._pools.popitem(last=False)
            task = asyncio.ensure_future(oldest.aclose())
            self._closing.add(task)
            task.add_done_callback(self._closing.discard)
        return pool

    async def _context(self, service: RemoteApiService) -> ssl.SSLContext:
        """Return the context of a connection to an extension server. Raises NetworkFailure for a
        certificate of ours that cannot be read, UnusableRoots."""
        try:
            return await self._new_context(service)
        except (OSError, ssl.SSLError) as error:
            raise NetworkFailure(f"the certificate of the front proxy: {error}") from None

    async def _new_context(self, service: RemoteApiService) -> ssl.SSLContext:
        context = await go_network.tls_context(service.ca_bundle, ["http/1.1"])
        # The host's name is not checked either; a CA bundle beside this is refused by validation.
        if service.is_insecure:
            context.check_hostname = False
            context.verify_mode = ssl.CERT_NONE
        if self._settings.certificate is not None:
            context.load_cert_chain(self._settings.certificate, self._settings.key)
        return context

    async def _made(self, service: RemoteApiService) -> httpcore.AsyncConnectionPool:
        context = await self._new_context(service)
        return httpcore.AsyncConnectionPool(
            ssl_context=context,
            max_connections=None,
            max_keepalive_connections=IDLE_CONNECTIONS,
            network_backend=self._network,
        )

    async def aclose(self) -> None:
        """Close the connections that are kept."""
        while self._pools:
            _, pool = self._pools.popitem()
            with contextlib.suppress(RuntimeError):  # requests that are given up
                await pool.aclose()


async def _read_up_to_body(stream: go_network.GoStream) -> tuple[bytes, bytes]:
    """Return the head of an answer with its empty line, and what has come with it. Raises
    NetworkFailure."""
    data = bytearray()
    looked = 0
    while (end := data.find(go_network.HEAD_END, looked)) < 0:
        looked = max(len(data) - len(go_network.HEAD_END) + 1, 0)
        more = await stream.read(go_network.READ_BYTES)
        # An end before the head is complete is `unexpected EOF` in Go, and `EOF` before anything
        # has come.
        if not more or len(data) > HEAD_BYTES:
            raise NetworkFailure("unexpected EOF" if data else "EOF")
        data += more
    end += len(go_network.HEAD_END)
    return bytes(data[:end]), bytes(data[end:])


class UpgradedConnection:
    """Connects the client with an extension server in a protocol that is no HTTP any more (a
    `Tunnel`): each end has the other's bytes, and both end together. `head` is what the extension
    server has sent up to the end of its head, `behind` what came with it."""

    def __init__(self, stream: go_network.GoStream, head: bytes, behind: bytes) -> None:
        self.head = head
        self._stream = stream
        self._behind = behind
        self._waiting = bytearray()
        self._is_over = False
        self._hold: Hold = lambda **_: None
        self._wake = asyncio.Event()
        self._sending: asyncio.Future[None] | None = None

    def connect(self, hold: Hold) -> None:
        """Remember how to hold the client up, as a `Tunnel` does."""
        self._hold = hold

    def take(self, data: bytes) -> None:
        """Take bytes of the client, as a `Tunnel` does; the client is held up when too many of them
        wait."""
        self._waiting += data
        self._wake.set()
        # Both ends may be slower than the other, and none may make this server keep what the other
        # sends.
        if len(self._waiting) > WAITING_BYTES:
            self._hold(is_held=True)

    def end(self) -> None:
        """End the client's side, as a `Tunnel` does. What is still to be sent has a little time."""
        self._is_over = True
        self._wake.set()
        if self._sending is not None:
            asyncio.get_running_loop().call_later(LAST_SECONDS, self._sending.cancel)

    async def body(self, length: int) -> bytes:
        """Return the body of an answer that is no upgrade, cut where it is too long; without a
        known length it is read up to the end."""
        most = JOINED_BYTES if length < 0 else min(length, JOINED_BYTES)
        body = bytearray(self._behind)
        with contextlib.suppress(NetworkFailure, TimeoutError):
            async with asyncio.timeout(LAST_SECONDS):
                while len(body) < most:
                    more = await self._stream.read(go_network.READ_BYTES)
                    if not more:
                        break
                    body += more
        return bytes(body[:most])

    async def aclose(self) -> None:
        """Close a connection that became nothing else."""
        await self._stream.aclose()

    async def received(self) -> AsyncGenerator[bytes, None]:
        """Yield what the extension server sends, until one of both ends."""
        sending = self._sending = asyncio.ensure_future(self._send())
        try:
            if self._behind:
                yield self._behind
            while True:
                reading = asyncio.ensure_future(self._stream.read(go_network.READ_BYTES))
                try:
                    await asyncio.wait((reading, sending), return_when=asyncio.FIRST_COMPLETED)
                    if not reading.done():
                        return
                    data = reading.result()
                finally:
                    reading.cancel()
                if not data:
                    return
                yield data
        except NetworkFailure:
            return
        finally:
            sending.cancel()
            await self._stream.aclose()

    async def _send(self) -> None:
        """Send what the client sends, until there is no more, or nobody to take it."""
        with contextlib.suppress(NetworkFailure):
            while True:
                await self._wake.wait()
                self._wake.clear()
                while self._waiting:
                    data, self._waiting = bytes(self._waiting), bytearray()
                    await self._stream.send(data)
                    self._hold(is_held=False)
                if self._is_over:
                    return


class _Trace:
    """Notes whether a connection was opened for a request; else it was sent on one that had been
    kept."""

    def __init__(self) -> None:
        self.has_connected = False

    async def __call__(self, event: str, info: object) -> None:
        self.has_connected |= event == "connection.connect_tcp.started"


# --- Answers -----------------------------------------------------------------


def refusal(code: int, text: str) -> HttpAnswer:
    """Return a refusal as Go's `http.Error` writes it."""
    return plain_text(code, f"{text}\n", NO_SNIFF)


def is_upgrade(request: HttpRequest) -> bool:
    """Tell whether the client wants to go on with another protocol."""
    return any("upgrade" in value.lower() for value in request.header_values("connection"))


@dataclass(frozen=True, slots=True)
class FrontProxy:
    """Passes on what clients ask."""

    servers: ExtensionServers

    async def answer(
        self,
        service: RemoteApiService,
        request: HttpRequest,
        user: User,
        audit_id: str = "",
        seconds: float | None = None,
    ) -> HttpAnswer:
        """Return what an extension server answers, or our own refusal where it cannot be reached.
        `seconds` are what the whole answer may take, None for one that lasts."""
        if not service.is_available:
            return refusal(503, UNAVAILABLE)
        try:
            host = self.servers.host(service)
        except NetworkFailure:
            return refusal(503, UNAVAILABLE)
        if is_upgrade(request):
            return await self._upgraded(service, request, user, host, audit_id)
        # `/apis/GROUP/VERSION` and nothing below it.
        is_discovery = len(request.path.strip("/").split("/")) == 3
        try:
            async with asyncio.timeout(DISCOVERY_SECONDS if is_discovery else None):
                return await self._passed_on(service, request, user, host, audit_id, seconds)
        except go_network.UnusableRoots as error:
            return refusal(500, str(error))
        except NetworkFailure as error:
            return refusal(503, f"error trying to reach service: {error}")
        except TimeoutError:
            return refusal(503, "error trying to reach service: context deadline exceeded")

    async def _upgraded(
        self, service: RemoteApiService, request: HttpRequest, user: User, host: str, audit_id: str
    ) -> HttpAnswer:
        """Return the answer to a client that wants to go on with another protocol."""
        target = encoded_path(urllib.parse.unquote(request.path)) + encoded_query(request)
        headers = (("Host", host), *upgrade_headers(request, audit_id), *asking_headers(user))
        lines = [
            f"{request.method} {target} HTTP/1.1",
            *(f"{header}: {text}" for header, text in headers),
        ]
        sent = "\r\n".join((*lines, "", "")).encode("utf-8", "replace") + request.body
        try:
            async with asyncio.timeout(UPGRADE_SECONDS):
                connection = await self.servers.upgrade(service, sent)
        except go_network.UnusableRoots as error:
            return refusal(500, str(error))
        except NetworkFailure as error:
            return refusal(503, str(error))
        except TimeoutError:
            return refusal(503, "context deadline exceeded")
        try:
            code, kind, length = _read_head(connection.head)
            if code == 101:
                return HttpAnswer(code, stream=connection.received(), tunnel=connection)
            # As `tryUpgrade` of k8s.io/apimachinery `pkg/util/proxy/upgradeaware.go`, with its
            # texts.
            if code < 400:
                answer = refusal(503, f"invalid upgrade response: status code {code}")
            else:
                answer = HttpAnswer(code, kind, await connection.body(length), (NOT_KEPT,))
        except NetworkFailure as error:
            answer = refusal(503, str(error))
        await connection.aclose()
        return answer

    async def _passed_on(
        self,
        service: RemoteApiService,
        request: HttpRequest,
        user: User,
        host: str,
        audit_id: str,
        seconds: float | None,
    ) -> HttpAnswer:
        """Send a request on, and return the answer as it comes. Raises NetworkFailure,
        UnusableRoots."""
        path = encoded_path(urllib.parse.unquote(request.path))
        headers = (
            ("Host", host),
            *forwarded_headers(request, host, path, audit_id),
            *asking_headers(user),
        )
        target = path + encoded_query(request)
        loop = asyncio.get_running_loop()
        end = None if seconds is None else loop.time() + seconds
        response = await self.servers.ask(service, request.method, target, headers, request.body)
        passed = False
        try:
            answer = _head_of(response)
            # A redirect would be followed by the client with its own credentials, wherever an
            # extension server sends it (CVE-2022-3172).
            if _is_redirect(response):
                return HttpAnswer(502, "text/plain; charset=utf-8", REDIRECTED.encode())
            if request.method == "HEAD" or _length(response) == 0:
                return answer
            # A short answer costs one write instead of one for the head and one for each part.
            if 0 < _length(response) <= JOINED_BYTES:
                answer.body = await _whole(response)
                return answer
            answer.stream = _sent_on(response, None if end is None else lambda: end - loop.time())
            passed = True
            return answer
        finally:
            if not passed:
                await response.aclose()


def _read_head(head: bytes) -> tuple[int, str, int]:
    """Return the code, the media type, and the length of what follows (-1 for up to the end) of an
    answer. Raises NetworkFailure."""
    first, *lines = head.decode("latin-1").split("\r\n")
    complaint = go_network.head_complaint(head)
    if complaint is not None:
        raise NetworkFailure(complaint)
    headers = {
        name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)
    }
    length = headers.get("content-length", "")
    return (
        int(first.split()[1]),
        headers.get("content-type", ""),
        int(length) if length.isdigit() and len(length) < 19 else -1,
    )


def _is_redirect(response: httpcore.Response) -> bool:
    leads = any(name.lower() == b"location" and value for name, value in response.headers)
    return 300 <= response.status <= 399 and leads


def _head_of(response: httpcore.Response) -> HttpAnswer:
    texts = [(name.decode("latin-1"), value.decode("latin-1")) for name, value in response.headers]
    dropped = {
        token.strip().lower()
        for name, value in texts
        if name.lower() == "connection"
        for token in value.split(",")
    }
    result = tuple(
        (name, value)
        for name, value in texts
        if name.lower() not in _NOT_RETURNED and name.lower() not in dropped
    )
    return HttpAnswer(response.status, _media_type(response), headers=(NOT_KEPT, *result))


def _length(response: httpcore.Response) -> int:
    """Return the length of the body, -1 if the other server does not say."""
    for name, value in response.headers:
        if name.lower() == b"content-length" and value.isdigit() and len(value) < 19:
            return int(value)
    # Neither has a body, whatever its headers say.
    return 0 if response.status in (204, 304) else -1


async def read_answer(
    response: httpcore.Response, most: int, held: HeldBytes
) -> tuple[int, str, bytes]:
    """Return the code, the media type and the whole body. Raises NetworkFailure, also for one of
    more than `most` bytes, and where there is no room."""
    parts, size = [], 0
    try:
        async for part in response.aiter_stream():
            size += len(part)
            if size > most or not held.take(len(part)):
                raise NetworkFailure("it is too long")
            parts.append(part)
    except httpcore.ProtocolError:
        raise NetworkFailure("unexpected EOF") from None
    finally:
        await response.aclose()
    return response.status, _media_type(response), b"".join(parts)


def _media_type(response: httpcore.Response) -> str:
    for name, value in response.headers:
        if name.lower() == b"content-type":
            return value.decode("latin-1")
    return ""


async def _whole(response: httpcore.Response) -> bytes:
    """Read the whole body. Raises NetworkFailure."""
    try:
        return b"".join([part async for part in response.aiter_stream()])
    except httpcore.ProtocolError:
        raise NetworkFailure("unexpected EOF") from None


async def _sent_on(
    response: httpcore.Response, remaining: Callable[[], float] | None
) -> AsyncGenerator[bytes, None]:
    """Yield the parts of the answer as they come, until it ends. Raises BrokenStream when it ends
    too early, or is too late."""
    parts = response.aiter_stream()
    try:
        while True:
            left = None if remaining is None else max(remaining(), 0.0)
            try:
                async with asyncio.timeout(left):
                    part = await anext(parts)
            except StopAsyncIteration:
                return
            except (NetworkFailure, httpcore.ProtocolError, TimeoutError) as error:
                raise BrokenStream(str(error)) from None
            yield part
    finally:
        await response.aclose()
