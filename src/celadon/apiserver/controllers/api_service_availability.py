"""Extension servers looked after: whether they answer, and when to ask them what they offer.

The first is the condition `Available` of their APIServices. As k8s.io/kube-aggregator
`pkg/controllers/status/remote`, with its texts. A Service whose place the command line gives has
nothing behind it in the store, so that is not looked at.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Final, Literal

from celadon.apiserver.aggregation import api_services
from celadon.apiserver.aggregation.aggregator import Aggregator, RemoteDiscovery
from celadon.apiserver.controllers import controller_loops as loops
from celadon.apiserver.http_messages import NetworkFailure
from celadon.apiserver.object_store import collection_prefix
from celadon.kube import GroupVersionResource, JsonObject, metadata
from celadon.kube.go import quote
from celadon.kube.resources import known_resources
from celadon.kube.well_known_values import ENDPOINT_SLICES, SERVICE_LABEL, SERVICES
from celadon.records import dataclass

# As `sync` of `remote_available_controller.go`, which asks five times at once: one server of
# several behind a Service may be ill, and the first that answers decides.
ATTEMPTS: Final = 5
SECONDS: Final = 5.0
"""For each of them."""
RESYNC_SECONDS: Final = 30.0


class ApiServiceAvailability:
    """Keeps the condition `Available` of APIServices that lead to other servers. Items are their
    names."""

    urgent = False

    def __init__(
        self, services: loops.StatusWrites, aggregator: Aggregator, timestamp: Callable[[], str]
    ) -> None:
        self._services = services
        self._aggregator = aggregator
        self._world = aggregator.world
        self._timestamp = timestamp
        self._behind = [_prefix(SERVICES), _prefix(ENDPOINT_SLICES)]
        self._names: dict[tuple[str, str], set[str]] = {}
        """Of the APIServices that a Service is for."""
        self._lookouts = aggregator.lookouts(self._looked, RESYNC_SECONDS)

    @property
    def prefixes(self) -> Sequence[str]:
        return (self._services.prefix, *self._behind)

    # Of an APIService only its spec matters: a change of its status is what this controller writes.
    def concerned(self, change: loops.Change) -> Iterable[str]:
        if change.key.startswith(self._services.prefix):
            old, new = change.old or {}, change.new or {}
            return (change.key.rpartition("/")[2],) if old.get("spec") != new.get("spec") else ()
        result = change.new or change.old or {}
        name = metadata.name(result)
        if not change.key.startswith(self._behind[0]):
            name = metadata.labels(result).get(SERVICE_LABEL, "")
        return tuple(self._names.get((metadata.namespace(result), name), ()))

    async def reconcile(self, item: str) -> None:
        for names in self._names.values():
            names.discard(item)
        stored = self._services.get(item)
        service = None if stored is None else api_services.remote_api_service(stored.object)
        if service is None:
            self._lookouts.forget(item)
            return
        self._names.setdefault((service.namespace, service.service), set()).add(item)
        self._lookouts.wake(item)

    async def _looked(self, name: str) -> bool:
        stored = self._services.get(name)
        service = None if stored is None else api_services.remote_api_service(stored.object)
        if service is None:
            return True
        missing = self._missing(service) or await self._answering(service)
        # Looking takes seconds; what was read before may have been written since.
        stored = self._services.get(name)  # it was some time ago
        if stored is None or api_services.remote_api_service(stored.object) is None:
            return True
        state = stored.object.get("status") or {}
        conditions = loops.with_condition(state.get("conditions"), missing, self._timestamp())
        try:
            await self._services.write(stored, {**state, "conditions": conditions})
        except loops.Stale:
            return False
        was_available = loops.is_true(state.get("conditions"), api_services.AVAILABLE)
        if was_available and missing["status"] != "True":
            self._aggregator.failures.add((name, missing["reason"]))
        # A server that does not answer is asked again soon; what lacks in the store wakes this by
        # itself.
        return bool(missing["reason"] != "FailedDiscoveryCheck")

    def _missing(self, api_service: api_services.RemoteApiService) -> JsonObject | None:
        """Return what there is not in the store; None if everything is there."""
        where = f'service/{api_service.service} in "{api_service.namespace}"'
        service = self._world.get(SERVICES, api_service.namespace, api_service.service)
        is_given = self._aggregator.is_given(
            api_service.namespace, api_service.service, api_service.port
        )
        if service is None:
            text = f"{where} is not present"
            return None if is_given else _condition("False", "ServiceNotFound", text)
        spec: JsonObject = service.get("spec") or {}
        # An ExternalName has no endpoints to look for.
        if spec.get("type", "ClusterIP") != "ClusterIP" or is_given:
            return None
        ports = [port for port in spec.get("ports") or () if port.get("port") == api_service.port]
        if not ports:
            text = f"{where} is not listening on port {api_service.port}"
            return _condition("False", "ServicePortError", text)
        slices = list(self._slices(api_service))
        if not slices:
            text = f"cannot find endpointslices for {where}"
            return _condition("False", "EndpointsNotFound", text)
        name = ports[0].get("name") or ""
        if not any(_has_endpoint(slice_, name) for slice_ in slices):
            text = f"endpointslices for {where} have no addresses with port name {quote(name)}"
            return _condition("False", "MissingEndpoints", text)
        return None

    def _slices(self, service: api_services.RemoteApiService) -> Iterator[JsonObject]:
        for endpoint_slice in self._world.list(ENDPOINT_SLICES, service.namespace):
            if metadata.labels(endpoint_slice).get(SERVICE_LABEL) == service.service:
                yield endpoint_slice

    async def _answering(self, service: api_services.RemoteApiService) -> JsonObject:
        """Return the condition that says whether one of some attempts has succeeded."""
        trouble = ""
        attempts = [asyncio.ensure_future(self._attempt(service)) for _ in range(ATTEMPTS)]
        try:
            for attempt in asyncio.as_completed(attempts):
                trouble = await attempt
                if not trouble:
                    return _condition("True", "Passed", "all checks passed")
        finally:
            for task in attempts:
                task.cancel()
        return _condition("False", "FailedDiscoveryCheck", trouble)

    async def _attempt(self, service: api_services.RemoteApiService) -> str:
        """Return what is wrong; empty if nothing is."""
        servers = await self._aggregator.servers()
        # late: most servers have nobody behind them
        from celadon.apiserver.aggregation.front_proxy import GO_AGENT, asking_headers
        from celadon.apiserver.go_network import UnusableRoots

        try:
            host = servers.host(service)
        except NetworkFailure as error:
            return str(error)
        # The core group, which nobody aggregates but a mistaken manifest, has another prefix.
        path = f"/api/{service.group_version.version}"
        if service.group_version.group:
            path = service.path
        url = f"https://{host}{path}"
        headers = (
            *(("Host", host), ("User-Agent", GO_AGENT), ("Accept-Encoding", "gzip")),
            *asking_headers(api_services.AGGREGATOR),
        )
        missing = f"failing or missing response from {url}"
        try:
            async with asyncio.timeout(SECONDS):
                response = await servers.ask(service, "GET", path, headers)
                await response.aclose()
        except (NetworkFailure, UnusableRoots) as error:
            return f"{missing}: Get {quote(url)}: {error}"
        except TimeoutError:
            reason = "context deadline exceeded (Client.Timeout exceeded while awaiting headers)"
            return f"{missing}: Get {quote(url)}: {reason}"
        if 200 <= response.status < 300:
            return ""
        return f"{missing}: bad status from {url}: {response.status}"


@dataclass(frozen=True, slots=True, eq=False)
class RemoteDiscoveryUpkeep:
    """Has what APIServices offer asked for again when they change. Items are their names."""

    urgent = False

    services: loops.StatusWrites
    discovery: RemoteDiscovery

    @property
    def prefixes(self) -> Sequence[str]:
        return (self.services.prefix,)

    def concerned(self, change: loops.Change) -> Iterable[str]:
        old = None if change.old is None else api_services.remote_api_service(change.old)
        new = None if change.new is None else api_services.remote_api_service(change.new)
        return (change.key.rpartition("/")[2],) if old != new else ()

    async def reconcile(self, item: str) -> None:
        stored = self.services.get(item)
        if stored is None or api_services.remote_api_service(stored.object) is None:
            self.discovery.forget(item)
        else:
            self.discovery.refresh(item)


def _prefix(resource: GroupVersionResource) -> str:
    served = known_resources(all_versions=True).by_gvr(resource)
    assert served is not None, f"no {resource}"
    return collection_prefix(served)


def _condition(state: Literal["True", "False"], reason: str, message: str) -> JsonObject:
    return loops.condition(api_services.AVAILABLE, state, reason, message)


def _has_endpoint(obj: JsonObject, port: str) -> bool:
    """Return whether something is ready there, and the port is among those of the slice."""
    ready = (
        (endpoint.get("conditions") or {}).get("ready") is not False
        for endpoint in obj.get("endpoints") or ()
    )
    ports = (
        (item.get("name") or "") == port and item.get("port") is not None
        for item in obj.get("ports") or ()
    )
    return any(ready) and any(ports)
