"""What the parts of a server share: objects, the views of them that many parts ask, the clock."""

from __future__ import annotations

from dataclasses import field
from typing import Final

from celadon.kube import User
from celadon.kube.defaulting import DefaultingContext
from celadon.records import dataclass
from celadon.serve.access.access_decisions import AuthorizerChain
from celadon.serve.api_settings import Settings
from celadon.serve.charging.open_charges import OpenCharges
from celadon.serve.objects.object_store import ObjectStore
from celadon.serve.operation.request_limits import InFlight
from celadon.serve.operation.server_metrics import ServerMetrics
from celadon.serve.static_admission.static_files import StaticFiles
from celadon.serve.time_and_chance import Sources
from celadon.serve.views.role_view import RoleView
from celadon.serve.views.served_resources import ServedResources
from celadon.serve.views.store_world import StoreWorld
from celadon.serve.workers.worker_threads import Workers
from celadon.store import Store

NOBODY: Final = User("")


@dataclass(frozen=True, slots=True)
class ServerCore:
    """Of one server. `charges` are what quotas are being charged with at the moment,
    `static` the policies and webhooks from files, `workers` take what takes long."""

    settings: Settings
    sources: Sources
    objects: ObjectStore
    served: ServedResources
    roles: RoleView
    authorizer: AuthorizerChain
    world: StoreWorld
    in_flight: InFlight
    metrics: ServerMetrics
    charges: OpenCharges
    static: StaticFiles
    workers: Workers = field(default_factory=Workers)

    def new_context(self, user: User = NOBODY) -> DefaultingContext:
        """For one write: with a time, a uid and a random suffix of its own."""
        return DefaultingContext(
            now=self.sources.timestamp(),
            uid=self.sources.uid(),
            suffix=self.sources.suffix(),
            user=user,
            cluster=self.world,
            extra_token_sources=self.settings.extra_token_sources,
            gates=self.settings.gates,
        )


def core_on(store: Store, settings: Settings, sources: Sources) -> ServerCore:
    """The core of a server whose objects are in that store."""
    objects = ObjectStore(store, settings.event_seconds)
    served = ServedResources(objects, settings.catalog(), settings.version)
    roles = RoleView(objects)
    authorizer = AuthorizerChain((roles,))
    in_flight = InFlight(settings.limits)
    metrics = ServerMetrics(
        in_flight, lambda: objects.counts(served.current().catalog), sources.seconds
    )
    return ServerCore(
        settings,
        sources,
        objects,
        served,
        roles,
        authorizer,
        StoreWorld(objects, served, authorizer),
        in_flight,
        metrics,
        OpenCharges(),
        StaticFiles(settings, metrics.static_reloads),
    )
