"""The part of a server that stands before other servers.

What speaks HTTP is loaded when there is somebody to ask: most servers have nobody behind them.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Final

from celadon.admission import World
from celadon.apiserver.aggregation.api_services import (
    ApiServiceView,
    Lookouts,
    ProxySettings,
    RemoteApiService,
)
from celadon.apiserver.aggregation.remote_discovery import OPENAPI, Aside, RemoteDiscovery
from celadon.apiserver.discovery.discovery_documents import RemoteVersion
from celadon.apiserver.forks import require_server
from celadon.apiserver.http_messages import HttpAnswer, HttpRequest
from celadon.apiserver.object_store import ObjectStore
from celadon.apiserver.operation.metric_table import (
    UNAVAILABLE,
    UNAVAILABLE_TOTAL,
    Counter,
    Family,
    Gauge,
)
from celadon.apiserver.operation.request_limits import in_task
from celadon.apiserver.webhook_routes import ServiceRoutes
from celadon.kube import User

if TYPE_CHECKING:
    from celadon.apiserver.aggregation.front_proxy import ExtensionServers


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
        given: Mapping[tuple[str, str, int], tuple[str, int]],
        settings: ProxySettings,
        aside: Aside,
    ) -> None:
        self.world = world
        self.services = ApiServiceView(objects)
        self.discovery = RemoteDiscovery(self.services, self.servers, aside)
        self._routes = routes
        self._given = given
        self._settings = settings
        self._servers: ExtensionServers | None = None
        self._lookouts: list[Lookouts] = []
        self.failures = Counter(UNAVAILABLE_TOTAL)
        """Of APIServices that were available, by name and reason."""

    def servers(self) -> ExtensionServers:
        """The connections to extension servers."""
        require_server("extension servers")
        if self._servers is None:
            # late: see above
            from celadon.apiserver.aggregation.front_proxy import ExtensionServers

            self._servers = ExtensionServers(self._routes, self._settings)
        return self._servers

    def families(self) -> Sequence[Family]:
        """Return the metrics: which APIServices are not available, and how often one ceased to
        be."""
        return Gauge(UNAVAILABLE, self.services.unavailable), self.failures

    def lookouts(self, look: Callable[[str], Awaitable[bool]], seconds: float) -> Lookouts:
        """Return more lookouts, which end with this aggregator."""
        made = Lookouts(look, seconds)
        self._lookouts.append(made)
        return made

    def is_given(self, namespace: str, name: str, port: int) -> bool:
        """Tell whether the command line says where a Service's port is."""
        return (namespace, name, port) in self._given or (namespace, name, 0) in self._given

    def serving(self, path: str) -> RemoteApiService | None:
        """Return the APIService that a path leads to, or None if this server answers itself."""
        services = self.services.current()
        if not services.by_version or not path.startswith(_DESCRIPTIONS):
            return services.serving(path)
        found = services.serving(path.removeprefix(OPENAPI))
        return found if found is not None and self.discovery.describes(found.name) else None

    def offered(self) -> tuple[RemoteVersion, ...]:
        """Return the versions that extension servers offer."""
        return self.discovery.offered()

    async def answer(
        self,
        service: RemoteApiService,
        request: HttpRequest,
        user: User,
        audit_id: str,
        seconds: float | None,
    ) -> HttpAnswer:
        """Pass a request on, as `FrontProxy.answer` does."""
        servers = self.servers()
        # late: see above
        from celadon.apiserver.aggregation.front_proxy import FrontProxy

        await in_task()
        return await FrontProxy(servers).answer(service, request, user, audit_id, seconds)

    async def aclose(self) -> None:
        """End what is going on."""
        for one in self._lookouts:
            await one.aclose()
        await self.discovery.aclose()
        if self._servers is not None:
            await self._servers.aclose()
