"""The server without a network: requests are handed to its handler.

`HandlerAccess` runs in the caller's event loop. That is the fastest way to ask a server something,
and what `KubeApi` does for its own `request` and `create`.
"""

from __future__ import annotations

import asyncio
import heapq
import itertools
import json
import secrets
import ssl
from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, datetime, timedelta
from functools import cache
from typing import Any, Final, Self

from celadon import apiserver
from celadon.apiserver.http import (
    Address,
    CredentialsFolder,
    TlsSettings,
    collection_path,
    in_creation_order,
    server_tls,
)
from celadon.cli.policy_test_door import VERSIONS
from celadon.kube import JsonObject, User, metadata
from celadon.kube.json_types import JsonDict
from celadon.records import dataclass, replace
from celadon.storage import Page, open_memory
from celadon.testing.policy_cases import Manifest, ManifestError, as_manifests, given_objects

# --- Virtual clock -----------------------------------------------------------
#
# A clock that stands still until somebody moves it: simulated workloads wait for nobody.


class VirtualTimer:
    """Calls something at a time of a virtual clock."""

    def __init__(self, callback: Callable[..., object], args: tuple[object, ...]) -> None:
        self._callback: Callable[..., object] | None = callback
        self._args = args

    @property
    def is_cancelled(self) -> bool:
        """Tell whether the callback has been called, or will never be."""
        return self._callback is None

    def cancel(self) -> None:
        """Drop the callback: it will not be called."""
        self._callback = None

    def run(self) -> None:
        """Call the callback, once."""
        callback, self._callback = self._callback, None
        if callback is not None:
            callback(*self._args)


class VirtualClock:
    """Begins at the time of its making, or at the one it is given. What is due happens only in
    `move_to`, in the order of its times, and of its setting where they are the same."""

    def __init__(self, began: datetime | None = None) -> None:
        self._began = (began or datetime.now(UTC)).replace(microsecond=0)
        self._seconds = 0.0
        self._due: list[tuple[float, int, VirtualTimer]] = []
        self._number = itertools.count()

    @property
    def seconds(self) -> float:
        """Return the seconds since the clock began."""
        return self._seconds

    def now(self) -> datetime:
        """Return the time that the clock shows."""
        return self._began + timedelta(seconds=self._seconds)

    def call_later(
        self, delay: float, callback: Callable[..., object], *args: object
    ) -> VirtualTimer:
        """Call something in so many seconds of this clock."""
        timer = VirtualTimer(callback, args)
        due = self._seconds + max(delay, 0.0)
        heapq.heappush(self._due, (due, next(self._number), timer))
        return timer

    def next_due(self) -> float | None:
        """Return the seconds of the first thing that is to happen, if there is any."""
        while self._due and self._due[0][2].is_cancelled:
            heapq.heappop(self._due)
        return self._due[0][0] if self._due else None

    def move_to(self, seconds: float) -> None:
        """Move the clock forward; what is due by then happens."""
        self._seconds = max(self._seconds, seconds)
        due = self.next_due()
        while due is not None and due <= self._seconds:
            heapq.heappop(self._due)[2].run()
            due = self.next_due()


# --- Fresh server ------------------------------------------------------------
#
# A server with what every new cluster has, and its keys.
#
# The first server of a process makes its namespaces and roles and lets its controllers finish.
# Later ones begin with what the first one then had in its store. The uids and times of those
# objects are the same in all servers of a process, their revisions too. Keys, tokens and
# certificates are made once for all of them.

LOOPBACK: Final = "127.0.0.1"

_BEGINNINGS: Final[dict[tuple[str, bool], Page]] = {}
"""What new servers have, by release and whether all versions are served."""


@dataclass(frozen=True, slots=True)
class ServerOptions:
    """Says how a server for tests differs from any other.

    `version` is the Kubernetes release whose behaviour is served, `all_versions` whether the alpha
    and beta versions of kinds are, too. Without `tls` the server speaks HTTP, to which kubectl
    sends no token. Without `controllers` nothing happens but what requests do: namespaces do not
    end, dependents stay. With them, namespaces end at once. Raises ValueError for a release that
    is not known. With `simulate`, workloads run on so many nodes, by a clock that stands still
    until it is told to advance; a container is ready at once, or after `ready_seconds`, and one
    that is to end does so at once, or after `run_seconds`.
    """

    version: str = "1.36"
    all_versions: bool = False
    tls: bool = True
    controllers: bool = True
    simulate: bool = False
    nodes: int = 1
    ready_seconds: float = 0.0
    run_seconds: float = 0.0

    def __post_init__(self) -> None:
        if self.version not in VERSIONS:
            range_text = f"expected {VERSIONS[0]} to {VERSIONS[-1]}"
            raise ValueError(f"unknown version `{self.version}`, {range_text}")


@dataclass(frozen=True, slots=True)
class LoopbackTls:
    """A server's side, and the certificate (PEM) that its clients should trust."""

    context: ssl.SSLContext | None
    trusted: bytes


@cache
def credentials() -> CredentialsFolder:
    """Return keys and certificates that are in memory only."""
    return CredentialsFolder(None)


@cache
def loopback_tls() -> LoopbackTls:
    """Return the certificate, and who trusts it, that all servers on loopback share."""
    address, now = Address(LOOPBACK, 0), datetime.now(UTC)
    tls = server_tls(TlsSettings(), address, credentials(), now)
    assert tls is not None, "without TLS only when it is asked for"
    return LoopbackTls(tls.context, tls.trusted)


@cache
def signer() -> apiserver.SignerOnDemand:
    """Return what signs service account tokens, the same for all servers."""
    return credentials().signer()


def new_token() -> str:
    """Return a token that nobody has yet."""
    return secrets.token_urlsafe(16)


async def fresh_server(
    options: ServerOptions, users: Mapping[str, User], port: int, clock: VirtualClock | None = None
) -> apiserver.ApiServer:
    """Return a server that has started, in the running loop. `users` by their tokens, for as long
    as the server runs; `port` is where its clients will find it; `clock` makes workloads run."""
    key = (options.version, options.all_versions)
    if key not in _BEGINNINGS:
        first = await _started(options, {}, port, None)
        await first.controllers.settled()
        _BEGINNINGS[key] = first.objects.store.range("")
        await first.stop()
    return await _started(options, users, port, _BEGINNINGS[key], clock)


async def _started(
    options: ServerOptions,
    users: Mapping[str, User],
    port: int,
    beginning: Page | None,
    clock: VirtualClock | None = None,
) -> apiserver.ApiServer:
    loop = asyncio.get_running_loop()
    server = apiserver.ApiServer(
        open_memory(carry=apiserver.soon_on(loop), beginning=beginning),
        apiserver.AccessSettings(signer(), apiserver.TokenFile(users)),
        apiserver.Settings(
            options.version,
            options.all_versions,
            f"{LOOPBACK}:{port}",
            controllers=options.controllers or beginning is None,
            namespace_grace=0,
            collection_lag=0,
            simulation=_simulation(options, clock),
        ),
        None if clock is None else apiserver.Sources(clock.now),
    )
    await server.start()
    return server


def _simulation(
    options: ServerOptions, clock: VirtualClock | None
) -> apiserver.SimulationSettings | None:
    if clock is None:
        return None
    return apiserver.SimulationSettings(
        options.nodes, options.ready_seconds, options.run_seconds, clock
    )


def _clock(options: ServerOptions) -> VirtualClock | None:
    return VirtualClock() if options.simulate else None


FAILED: Final = 400
"""Answers from this code on are refusals."""

CONTENT_TYPES: Final = {
    "POST": "application/json",
    "PUT": "application/json",
    "PATCH": "application/merge-patch+json",
}
"""Of bodies, unless told otherwise."""


class RequestRefused(Exception):
    """Says that the server refused a request. The text is its message; `status` is the Status
    object it sent, `code` the HTTP code, `reason` the word for it (`Invalid`, `Forbidden`,
    `NotFound`, ...)."""

    def __init__(self, code: int, status: JsonObject, place: str = "") -> None:
        message = str(status.get("message") or "")
        super().__init__(f"{place}: {message}" if place else message)
        self.code = code
        self.status = status
        self.reason = str(status.get("reason") or "")
        self.message = message


class HandlerAccess:
    """Runs a server in memory for as long as an `async with` block lasts. `users` are by their
    tokens; more may come while the server runs."""

    def __init__(self, options: ServerOptions | None = None, port: int = 0) -> None:
        self.admin_token = new_token()
        self.users = {self.admin_token: apiserver.ADMINISTRATOR}
        self._options = ServerOptions() if options is None else options
        self._port = port
        self._clock = _clock(self._options)
        self._server: apiserver.ApiServer | None = None

    async def __aenter__(self) -> Self:
        self._server = await fresh_server(self._options, self.users, self._port, self._clock)
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.server.stop()
        self._server = None

    @property
    def server(self) -> apiserver.ApiServer:
        """Return the server itself. Raises RuntimeError before the block and after it."""
        if self._server is None:
            raise RuntimeError("the server does not run: use `with` or `start`")
        return self._server

    async def handle(self, request: apiserver.HttpRequest) -> apiserver.HttpAnswer:
        """Answer any request, with the headers it has; whatever is wrong with it is an answer,
        too."""
        answer = await self.server.handle(request)
        return replace(answer, body=b"") if request.method == "HEAD" else answer

    async def request(
        self,
        method: str,
        path: str,
        body: Any = None,  # noqa: ANN401 - any JSON
        *,
        token: str = "",
        content_type: str = "",
    ) -> Any:  # noqa: ANN401 - any JSON
        """Return the object that the server answers with (a text, where it does not answer with
        JSON). `path` is with the query; `body` is JSON; `token` is the administrator's unless
        given. Raises RequestRefused. Not for watches."""
        headers = [("authorization", f"Bearer {token or self.admin_token}")]
        sent = b""
        if body is not None:
            sent = json.dumps(body).encode()
            headers.append(("content-type", content_type or CONTENT_TYPES.get(method, "")))
        answer = await self.handle(apiserver.HttpRequest(method, path, headers, sent))
        content = _content(answer)
        if answer.code >= FAILED:
            status = content if isinstance(content, dict) else {"message": content}
            raise RequestRefused(answer.code, status)
        return content

    async def create(
        self, manifests: Manifest | Iterable[Manifest], token: str = ""
    ) -> list[JsonDict]:
        """Return the objects as the server has them then. Namespaces and CustomResourceDefinitions
        come first. Raises RequestRefused, with the place of the object, and ManifestError."""
        return [
            await self._created(place, obj, token)
            for place, obj in in_creation_order(given_objects(as_manifests(manifests)))
        ]

    async def _created(self, place: str, obj: JsonObject, token: str) -> JsonDict:
        await self.server.controllers.caught_up()
        resource = self.server.served.current().catalog.by_gvk(metadata.gvk(obj))
        if resource is None:
            raise ManifestError(f"{place}: no kind {obj.get('kind')} in {obj.get('apiVersion')}")
        path = collection_path(resource, metadata.namespace(obj) or "default")
        try:
            request: JsonDict = await self.request("POST", path, obj, token=token)
        except RequestRefused as refused:
            raise RequestRefused(refused.code, refused.status, place) from None
        return request

    async def settle(self) -> None:
        """Wait until the controllers have nothing to do."""
        await self.server.controllers.quiet()

    async def advance(self, seconds: float) -> None:
        """Move the clock of the simulation, stop by stop: all that is due happens, with all that
        follows from it, before anything later does. Raises RuntimeError without a simulation."""
        clock = self._clock
        if clock is None:
            raise RuntimeError("there is no clock to move: use `simulate`")
        end = clock.seconds + seconds
        await self.settle()
        due = clock.next_due()
        while due is not None and due < end:
            clock.move_to(due)
            await self.settle()
            due = clock.next_due()
        clock.move_to(end)
        await self.settle()


def _content(answer: apiserver.HttpAnswer) -> Any:  # noqa: ANN401 - any JSON
    if answer.content_type.startswith("application/json"):
        return json.loads(answer.body)
    return answer.body.decode()
