"""The part of a server that stands before other servers.

What speaks HTTP is loaded when there is somebody to ask: most servers have nobody behind them.
"""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Final, Generic, Protocol, TypeVar

from celadon.admission import World
from celadon.apiserver import http_messages
from celadon.apiserver.aggregation.api_services import (
    AGGREGATOR,
    ApiServiceView,
    AvailabilityChecks,
    ProxySettings,
    RemoteApiService,
)
from celadon.apiserver.discovery.discovery_documents import DISCOVERY, RemoteVersion
from celadon.apiserver.forks import require_server
from celadon.apiserver.loop_offloading import LARGE_BYTES
from celadon.apiserver.object_store import ObjectStore
from celadon.apiserver.operation import metric_table
from celadon.apiserver.operation.request_limits import in_task
from celadon.apiserver.webhook_routes import ServiceRoutes
from celadon.apiserver.workers import TooMuchWork
from celadon.kube import StatusError, User
from celadon.kube.json_types import JsonObject
from celadon.records import dataclass, replace

if TYPE_CHECKING:
    from celadon.apiserver.aggregation.front_proxy import ExtensionServers


# --- What is offered ---------------------------------------------------------
#
# What extension servers offer, asked of them from time to time: their part of the discovery.
#
# As k8s.io/kube-aggregator `pkg/apiserver/handler_discovery.go`: the aggregated document if the
# other server has one, else the list of resources of each version; what cannot be had is stale.

REFRESH_SECONDS: Final = 60.0
SECONDS: Final = 5.0
"""For an answer."""
MOST_BYTES: Final = 4 << 20
"""Of a document. Ours: upstream reads without end."""
ACCEPTED: Final = ",".join(
    f"application/json;g={DISCOVERY};v={version};as=APIGroupDiscoveryList"
    for version in ("v2", "v2beta1")
)
OPENAPI: Final = "/openapi/v3"
SWAGGER: Final = "/openapi/v2"
_OPENAPI_READER: Final = User("system:aggregator")
_NOBODY_IN_PARTICULAR: Final = User("system:kube-aggregator")

T = TypeVar("T")


class Offload(Protocol):
    """Does in a worker what may take long. Raises StatusError when that is too long, and what the
    function raises."""

    def __call__(self, function: Callable[..., T], *args: object) -> Awaitable[T]: ...


class DiscoveryFailed(Exception):
    """Says that an extension server could not be asked, or gave no answer that can be read."""


@dataclass(frozen=True, slots=True)
class _Document(Generic[T]):
    """Holds what was read of a document, and the digest of its bytes. To compare what was read
    would take the event loop as long as an extension server wants."""

    content: T
    digest: bytes = b""


@dataclass(frozen=True, slots=True)
class _LastAnswer:
    """Holds what an extension server said last."""

    document: _Document[JsonObject]
    is_fresh: bool
    openapi: str = ""
    swagger: _Document[JsonObject | None] = _Document(None)

    def is_same(self, other: _LastAnswer | None) -> bool:
        """Tell whether another answer says the same."""
        return (
            other is not None
            and self.document.digest == other.document.digest
            and self.is_fresh == other.is_fresh
            and self.openapi == other.openapi
            and self.swagger.digest == other.swagger.digest
        )


class RemoteDiscovery:
    """Keeps what the extension servers of one server offer. `servers` makes what asks them."""

    def __init__(
        self,
        view: ApiServiceView,
        servers: Callable[[], Awaitable[ExtensionServers]],
        aside: Offload,
    ) -> None:
        """Ask nobody yet; `aside` reads what is long."""
        self._view = view
        self._servers = servers
        self._aside = aside
        self._last_answers: dict[str, _LastAnswer] = {}
        self._offered: tuple[object, tuple[RemoteVersion, ...]] = (None, ())
        self._lookouts = AvailabilityChecks(self._looked, REFRESH_SECONDS)

    def refresh(self, name: str) -> None:
        """Ask again what the server of an APIService offers."""
        self._lookouts.wake(name)

    def forget(self, name: str) -> None:
        """Forget an APIService that is not there any more."""
        self._lookouts.forget(name)
        if self._last_answers.pop(name, None) is not None:
            self._offered = (None, ())

    async def aclose(self) -> None:
        """Stop asking servers."""
        await self._lookouts.aclose()

    def offered(self) -> tuple[RemoteVersion, ...]:
        """Return the versions of other servers: the same value until something changes."""
        services = self._view.current()
        if self._offered[0] is not services:
            versions = tuple(self._version(service) for service in services.by_version.values())
            self._offered = services, versions
        return self._offered[1]

    def _version(self, service: RemoteApiService) -> RemoteVersion:
        last_answer = self._last_answers.get(service.name)
        document = None
        if last_answer is not None:
            freshness = "Current" if last_answer.is_fresh else "Stale"
            document = {**last_answer.document.content, "freshness": freshness}
        return RemoteVersion(
            service.group_version,
            service.group_priority,
            service.version_priority,
            document,
            "" if last_answer is None else last_answer.openapi,
            None if last_answer is None else last_answer.swagger.content,
        )

    def describes(self, name: str) -> bool:
        """Tell whether the server of an APIService has a document of it in OpenAPI v3."""
        last_answer = self._last_answers.get(name)
        return last_answer is not None and bool(last_answer.openapi)

    async def _looked(self, name: str) -> bool:
        service = self._view.current().named(name)
        if service is None:
            return True
        try:
            document = await self._found(service)
            openapi, swagger = await self._described(service), await self._swagger(service)
            answer = _LastAnswer(document, is_fresh=True, openapi=openapi, swagger=swagger)
        except DiscoveryFailed:
            document = _Document({"version": service.group_version.version})
            answer = _LastAnswer(document, is_fresh=False)
        if not answer.is_same(self._last_answers.get(name)):
            self._last_answers[name] = answer
            self._offered = (None, ())
        return answer.is_fresh

    async def _found(self, service: RemoteApiService) -> _Document[JsonObject]:
        """Ask an extension server for what it offers of a version. Raises DiscoveryFailed."""
        # late: see there
        from celadon.apiserver.aggregation.remote_documents import read_aggregated, read_list

        version = service.group_version
        code, kind, body = await self._asked(service, "/apis", AGGREGATOR, ACCEPTED)
        if code == 200 and _is_aggregated(kind):
            versions = await self._read(read_aggregated, body)
            document = versions.content.get(version, {"version": version.version})
            return _Document(document, versions.digest)
        if code == 503:
            raise DiscoveryFailed("it is not available")
        path = service.path if version.group else f"/api/{version.version}"
        user = _NOBODY_IN_PARTICULAR
        code, _, body = await self._asked(service, path, user, "application/json")
        if code != 200:
            raise DiscoveryFailed(f"{path}: {code}")
        return await self._read(lambda text: read_list(text, version.version), body)

    async def _described(self, service: RemoteApiService) -> str:
        """Return the path of the version's document in OpenAPI v3; empty if it is not known."""
        # late: see there
        from celadon.apiserver.aggregation.remote_documents import read_index

        try:
            code, _, body = await self._asked(service, OPENAPI, _OPENAPI_READER, "application/json")
            if code != 200:
                return ""
            index = await self._read(read_index, body)
        except DiscoveryFailed:
            return ""
        return index.content.get(f"apis/{service.group_version}", "")

    async def _swagger(self, service: RemoteApiService) -> _Document[JsonObject | None]:
        """Return what the document in OpenAPI v2 says of the version; None if it is not known."""
        # late: see there
        from celadon.apiserver.aggregation.remote_documents import read_swagger

        try:
            code, _, body = await self._asked(service, SWAGGER, _OPENAPI_READER, "application/json")
            if code != 200:
                return _Document(None)
            return await self._read(lambda text: read_swagger(text, f"{service.path}/"), body)
        except DiscoveryFailed:
            return _Document(None)

    async def _read(self, read: Callable[[bytes], T], body: bytes) -> _Document[T]:
        """Read a document, aside if it is large. Raises DiscoveryFailed."""

        def document() -> _Document[T]:
            return _Document(read(body), hashlib.blake2b(body).digest())

        try:
            return document() if len(body) <= LARGE_BYTES else await self._aside(document)
        except (ValueError, StatusError, TooMuchWork) as error:
            raise DiscoveryFailed(str(error)) from None

    async def _asked(
        self, service: RemoteApiService, path: str, user: User, accept: str
    ) -> tuple[int, str, bytes]:
        """Return the code, the media type and the body. Raises DiscoveryFailed."""
        servers = await self._servers()
        # late: most servers have nobody behind them
        from celadon.apiserver.aggregation.front_proxy import asking_headers, read_answer
        from celadon.apiserver.go_network import UnusableRoots

        held_bytes = http_messages.HeldBytes(servers.room)
        try:
            headers: tuple[http_messages.Header, ...] = (
                *(("Host", servers.host(service)), ("Accept", accept)),
                *asking_headers(user),
            )
            async with asyncio.timeout(SECONDS):
                response = await servers.ask(service, "GET", path, headers)
                return await read_answer(response, MOST_BYTES, held_bytes)
        except (http_messages.NetworkFailure, UnusableRoots, TimeoutError) as error:
            raise DiscoveryFailed(str(error)) from None
        finally:
            held_bytes.give_back()


def _is_aggregated(media_type: str) -> bool:
    parameters = {text.strip() for text in media_type.split(";")}
    return {f"g={DISCOVERY}", "as=APIGroupDiscoveryList"} <= parameters


# --- Aggregator --------------------------------------------------------------

_DESCRIPTIONS: Final = f"{OPENAPI}/apis/"


class Aggregator:
    """Stands before the extension servers of one server. `given` are Services whose places the
    command line says, `settings` what is shown to extension servers; `aside` reads their
    documents."""

    def __init__(
        self,
        objects: ObjectStore,
        world: World,
        routes: ServiceRoutes,
        addresses: Mapping[tuple[str, str, int], tuple[str, int]],
        settings: ProxySettings,
        aside: Offload,
    ) -> None:
        self.world = world
        self.services = ApiServiceView(objects)
        self.discovery = RemoteDiscovery(self.services, self.servers, aside)
        self._routes = routes
        self._addresses = addresses
        self._settings = settings
        self._servers: asyncio.Task[ExtensionServers] | None = None
        self._lookouts: list[AvailabilityChecks] = []
        self.failures = metric_table.Counter(metric_table.UNAVAILABLE_TOTAL)
        """Of APIServices that were available, by name and reason."""

    async def servers(self) -> ExtensionServers:
        """Return the connections to extension servers."""
        require_server("extension servers")
        if self._servers is None:
            # In a thread: to import what speaks HTTP takes 60 ms.
            self._servers = asyncio.create_task(asyncio.to_thread(self._new_servers))
        return await asyncio.shield(self._servers)

    def _new_servers(self) -> ExtensionServers:
        # late: see above
        from celadon.apiserver.aggregation.front_proxy import ExtensionServers

        return ExtensionServers(self._routes, self._settings)

    def families(self) -> Sequence[metric_table.Family]:
        """Return the metrics: which APIServices are not available, and how often one ceased to
        be."""
        return metric_table.Gauge(
            metric_table.UNAVAILABLE, self.services.unavailable
        ), self.failures

    def lookouts(
        self, look: Callable[[str], Awaitable[bool]], seconds: float
    ) -> AvailabilityChecks:
        """Return more lookouts, which end with this aggregator."""
        checks = AvailabilityChecks(look, seconds)
        self._lookouts.append(checks)
        return checks

    def is_given(self, namespace: str, name: str, port: int) -> bool:
        """Tell whether the command line says where a Service's port is."""
        return (namespace, name, port) in self._addresses or (namespace, name, 0) in self._addresses

    def serving(self, path: str) -> RemoteApiService | None:
        """Return the APIService that a path leads to, or None if this server answers itself."""
        services = self.services.current()
        if not services.by_version or not path.startswith(_DESCRIPTIONS):
            return services.serving(path)
        service = services.serving(path.removeprefix(OPENAPI))
        return service if service is not None and self.discovery.describes(service.name) else None

    def offered(self) -> tuple[RemoteVersion, ...]:
        """Return the versions that extension servers offer."""
        return self.discovery.offered()

    async def answer(
        self,
        service: RemoteApiService,
        request: http_messages.HttpRequest,
        user: User,
        audit_id: str,
        seconds: float | None,
    ) -> http_messages.HttpAnswer:
        """Pass a request on, as `FrontProxy.answer` does. What comes back is not read here."""
        await in_task()
        servers = await self.servers()
        # late: see above
        from celadon.apiserver.aggregation.front_proxy import FrontProxy

        answer = await FrontProxy(servers).answer(service, request, user, audit_id, seconds)
        return replace(answer, is_passed_on=True)

    async def aclose(self) -> None:
        """End the connections and the lookouts."""
        for lookout in self._lookouts:
            await lookout.aclose()
        await self.discovery.aclose()
        if self._servers is not None:
            await (await self._servers).aclose()
