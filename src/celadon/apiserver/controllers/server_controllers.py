"""The table of the controllers that a server runs, and of what each of them is given."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator, Mapping
from datetime import datetime
from typing import Final

from celadon.apiserver.aggregation.aggregator import Aggregator
from celadon.apiserver.aggregation.api_services import API_SERVICES
from celadon.apiserver.bootstrap_objects import FIRST_ADDRESS, FLOW_CONSUMER, kubernetes_service
from celadon.apiserver.caches.policy_cache import VALIDATING
from celadon.apiserver.caches.served_resources import DEFINITIONS, ServedResources
from celadon.apiserver.controllers import (
    controller_loops,
    namespaces,
    policy_and_quota_status,
    storage_migrations,
    system_objects,
)
from celadon.apiserver.controllers.api_service_availability import (
    ApiServiceAvailability,
    RemoteDiscoveryUpkeep,
)
from celadon.apiserver.controllers.custom_resource_definitions import (
    DefinitionApiServices,
    DefinitionCleanup,
    DefinitionController,
)
from celadon.apiserver.controllers.garbage_collection import LAG_SECONDS, GarbageCollection
from celadon.apiserver.http_messages import HttpAnswer, HttpRequest
from celadon.apiserver.loop_offloading import RequestWork
from celadon.apiserver.object_store import ObjectStore
from celadon.apiserver.quota_charging import QUOTAS, OpenCharges
from celadon.apiserver.workers import Workers
from celadon.kube import GroupVersionResource, User
from celadon.kube.defaulting import DefaultingContext
from celadon.kube.fieldmanager import FieldWriter
from celadon.kube.releases import is_since
from celadon.kube.resources import Resource, known_resources
from celadon.kube.well_known_values import API_SERVER, NAMESPACES, SERVICE_ACCOUNTS
from celadon.records import dataclass

CONFIG_MAPS: Final = GroupVersionResource("", "v1", "configmaps")
SERVICES: Final = GroupVersionResource("", "v1", "services")
ADDRESSES: Final = GroupVersionResource("networking.k8s.io", "v1", "ipaddresses")
FLOW_SCHEMAS: Final = GroupVersionResource("flowcontrol.apiserver.k8s.io", "v1", "flowschemas")
PRIORITY_LEVELS: Final = GroupVersionResource(
    "flowcontrol.apiserver.k8s.io", "v1", "prioritylevelconfigurations"
)
CLUSTER_ROLES: Final = GroupVersionResource("rbac.authorization.k8s.io", "v1", "clusterroles")


@dataclass(frozen=True, slots=True)
class ControllerSurroundings:
    """Holds what controllers see of their server. `version` is the release whose behaviour is
    served; `perform` answers a request as if this user had made it and were allowed to; `has_gate`
    tells of a feature gate whether it is on; `names` are the controllers that run."""

    objects: ObjectStore
    served: ServedResources
    version: str
    now: Callable[[], datetime]
    perform: Callable[[HttpRequest, User], Awaitable[HttpAnswer]]
    new_context: Callable[[], DefaultingContext]
    has_gate: Callable[[str], bool]
    names: frozenset[str]
    charges: OpenCharges
    workers: Workers
    root_certificates: str = ""
    namespace_grace: float = namespaces.GRACE_SECONDS
    collection_lag: float = LAG_SECONDS
    service_address: str = FIRST_ADDRESS
    aggregator: Aggregator | None = None

    def timestamp(self) -> str:
        """Return the time as objects have it."""
        return self.now().strftime("%Y-%m-%dT%H:%M:%SZ")

    def number(self) -> int:
        """Return the clock's digits below the second."""
        return self.now().microsecond * 1000

    def writes(
        self, gvr: GroupVersionResource, manager: str = "", *, applies: bool = False
    ) -> controller_loops.StatusWrites:
        """Return what writes the statuses of a built-in cluster-scoped resource; `manager` is who
        is noted to write, or to apply, if anybody."""
        writer = (lambda: FieldWriter(manager, self.timestamp())) if manager else None
        return controller_loops.StatusWrites(
            self.objects, built_in(gvr), writer, self.workers, applies=applies
        )

    def aside(self, account: str) -> controller_loops.Offload:
        """Return what does long work of a controller, which has as much time as a user."""
        return RequestWork(self.workers, f"system:serviceaccount:kube-system:{account}").aside

    def requests(self, account: str) -> controller_loops.ServerRequests:
        """Return the requests of a service account in `kube-system`."""
        return controller_loops.ServerRequests(self.perform, account)


def built_in(gvr: GroupVersionResource) -> Resource:
    """Return a resource that every server has."""
    resource = known_resources(all_versions=True).by_gvr(gvr)
    assert resource is not None, f"no {gvr}"
    return resource


# A kube-apiserver runs these itself (`pkg/controlplane` and kube-aggregator), whatever flags its
# controller manager has, so they run in each of several servers on one store.
def server_controllers(surroundings: ControllerSurroundings) -> list[controller_loops.Controller]:
    """Return the controllers that run, ready to be run. Definitions and their APIServices,
    extension servers, addresses of Services, the server's own Service and flow control are looked
    after in any case."""
    return [
        _definitions(surroundings),
        _definition_cleanup(surroundings),
        _definition_api_services(surroundings),
        *_remote_api_services(surroundings),
        *_addresses(surroundings),
        _own_service(surroundings),
        _flow_control(surroundings),
        *_named(surroundings, urgent=True),
    ]


# In a real cluster, these are controllers of kube-controller-manager, which elects a leader.
def led_controllers(surroundings: ControllerSurroundings) -> list[controller_loops.Controller]:
    """Return the controllers of which one for all servers of a store is enough, and nobody waits
    for them."""
    return _named(surroundings, urgent=False)


def _named(
    surroundings: ControllerSurroundings, *, urgent: bool
) -> list[controller_loops.Controller]:
    makers = (make(surroundings) for name, make in _MAKERS.items() if name in surroundings.names)
    return [
        controller
        for controller in makers
        if controller is not None and controller.urgent == urgent
    ]


def _definitions(surroundings: ControllerSurroundings) -> controller_loops.Controller:
    definitions = surroundings.writes(DEFINITIONS, API_SERVER)
    return DefinitionController(surroundings.objects, definitions, surroundings.timestamp)


# Deletions of custom objects go through admission like those of a user, under the name that
# upstream's finalizer has there.
def _definition_cleanup(surroundings: ControllerSurroundings) -> controller_loops.Controller:
    return DefinitionCleanup(
        surroundings.objects,
        surroundings.writes(DEFINITIONS, API_SERVER),
        surroundings.served.current,
        surroundings.requests("custom-resource-finalizer"),
        surroundings.timestamp,
    )


def _definition_api_services(surroundings: ControllerSurroundings) -> controller_loops.Controller:
    definitions, services = surroundings.writes(DEFINITIONS), built_in(API_SERVICES)
    return DefinitionApiServices(
        surroundings.objects, definitions, services, surroundings.new_context
    )


def _remote_api_services(
    surroundings: ControllerSurroundings,
) -> Iterator[controller_loops.Controller]:
    if surroundings.aggregator is not None:
        services = surroundings.writes(API_SERVICES, API_SERVER)
        yield ApiServiceAvailability(services, surroundings.aggregator, surroundings.timestamp)
        yield RemoteDiscoveryUpkeep(services, surroundings.aggregator.discovery)


def _addresses(surroundings: ControllerSurroundings) -> Iterator[controller_loops.Controller]:
    """Yield the controller of IPAddresses. Since 1.33, which brought version 1 of the kind, each
    address of a Service is an object."""
    records = known_resources(all_versions=True).by_gvr(ADDRESSES)
    if records is not None:
        yield system_objects.AddressRecords(
            surroundings.objects, built_in(SERVICES), records, surroundings.new_context
        )


def _own_service(surroundings: ControllerSurroundings) -> controller_loops.Controller:
    service = kubernetes_service(surroundings.service_address)
    return system_objects.OwnService(
        surroundings.objects, built_in(SERVICES), service, surroundings.new_context
    )


def _flow_control(surroundings: ControllerSurroundings) -> controller_loops.Controller:
    return system_objects.FlowControlUpkeep(
        surroundings.writes(FLOW_SCHEMAS, FLOW_CONSUMER, applies=True),
        surroundings.writes(PRIORITY_LEVELS),
        surroundings.requests("flow-control"),
        surroundings.timestamp,
    )


def _default_accounts(surroundings: ControllerSurroundings) -> controller_loops.Controller:
    return namespaces.DefaultAccounts(
        surroundings.objects,
        surroundings.writes(NAMESPACES),
        built_in(SERVICE_ACCOUNTS),
        surroundings.new_context,
    )


def _namespaces(surroundings: ControllerSurroundings) -> controller_loops.Controller:
    return namespaces.NamespaceDeletion(
        surroundings.objects,
        surroundings.writes(NAMESPACES),
        surroundings.served.current,
        surroundings.requests("namespace-controller"),
        surroundings.now,
        surroundings.namespace_grace,
        tuple if surroundings.aggregator is None else surroundings.aggregator.offered,
        pods_first=surroundings.has_gate("OrderedNamespaceDeletion"),
    )


def _type_checks(surroundings: ControllerSurroundings) -> controller_loops.Controller:
    policies = surroundings.writes(VALIDATING.policies)
    aside = surroundings.aside("validatingadmissionpolicy-status-controller")
    return policy_and_quota_status.PolicyTypeChecks(
        policies, surroundings.served.current, surroundings.version, surroundings.number, aside
    )


def _aggregation(surroundings: ControllerSurroundings) -> controller_loops.Controller:
    aside = surroundings.aside("clusterrole-aggregation-controller")
    return system_objects.RoleAggregation(surroundings.writes(CLUSTER_ROLES), aside)


def _root_certificates(surroundings: ControllerSurroundings) -> controller_loops.Controller:
    return namespaces.RootCertificates(
        surroundings.objects,
        surroundings.writes(NAMESPACES),
        built_in(CONFIG_MAPS),
        surroundings.requests("root-ca-cert-publisher"),
        surroundings.root_certificates,
    )


# Its requests are those of a user, since policies may forbid the deletion of dependents, too.
def _garbage(surroundings: ControllerSurroundings) -> controller_loops.Controller:
    requests = surroundings.requests("generic-garbage-collector")
    return GarbageCollection(
        surroundings.objects, surroundings.served.current, requests, surroundings.collection_lag
    )


def _quotas(surroundings: ControllerSurroundings) -> controller_loops.Controller:
    return policy_and_quota_status.QuotaCounts(
        surroundings.objects,
        built_in(QUOTAS),
        surroundings.served.current,
        surroundings.charges,
        surroundings.timestamp,
        surroundings.aside("resourcequota-controller"),
    )


def _migrations(surroundings: ControllerSurroundings) -> controller_loops.Controller | None:
    """Return the controller of storage migrations, or None where its gate is off. Since 1.36
    upstream's does what is done here; before, it went by other conditions."""
    is_there = known_resources(all_versions=True).by_gvr(storage_migrations.MIGRATIONS) is not None
    if not (is_since("1.36") and is_there and surroundings.has_gate(storage_migrations.GATE)):
        return None
    return storage_migrations.StorageMigrations(
        surroundings.objects,
        surroundings.writes(storage_migrations.MIGRATIONS, "kube-controller-manager"),
        surroundings.served.current,
        surroundings.requests(storage_migrations.ACCOUNT),
        surroundings.now,
    )


_MAKERS: Final[
    Mapping[str, Callable[[ControllerSurroundings], controller_loops.Controller | None]]
] = {
    "serviceaccount-controller": _default_accounts,
    "namespace-controller": _namespaces,
    "validatingadmissionpolicy-status-controller": _type_checks,
    "clusterrole-aggregation-controller": _aggregation,
    controller_loops.ROOT_CERTIFICATES: _root_certificates,
    "garbage-collector-controller": _garbage,
    "resourcequota-controller": _quotas,
    storage_migrations.ACCOUNT: _migrations,
}
