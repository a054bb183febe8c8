"""Which controllers a server runs, and what they are given."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from celadon.kube import GroupVersionResource, User
from celadon.kube.catalogue import Resource, known_resources
from celadon.kube.defaulting import DefaultingContext
from celadon.serve.access.identities import SERVICE_ACCOUNTS
from celadon.serve.charging.open_charges import OpenCharges
from celadon.serve.charging.quota_charging import QUOTAS
from celadon.serve.controllers.controller_loops import Controller
from celadon.serve.controllers.default_accounts import DefaultAccounts
from celadon.serve.controllers.definition_lifecycle.definition_cleanup import DefinitionCleanup
from celadon.serve.controllers.definition_lifecycle.definition_controller import (
    DefinitionController,
)
from celadon.serve.controllers.garbage_collection import GarbageCollection
from celadon.serve.controllers.namespace_deletion import GRACE_SECONDS, NamespaceDeletion
from celadon.serve.controllers.policy_type_checks import PolicyTypeChecks
from celadon.serve.controllers.quota_counts import QuotaCounts
from celadon.serve.controllers.role_aggregation import RoleAggregation
from celadon.serve.controllers.server_requests import ServerRequests
from celadon.serve.controllers.status_writes import StatusWrites
from celadon.serve.http_messages import HttpAnswer, HttpRequest
from celadon.serve.objects.object_store import ObjectStore
from celadon.serve.views.policy_view import POLICIES
from celadon.serve.views.served_resources import DEFINITIONS, ServedResources
from celadon.serve.views.store_world import NAMESPACES

CLUSTER_ROLES: Final = GroupVersionResource("rbac.authorization.k8s.io", "v1", "clusterroles")


@dataclass(frozen=True, slots=True)
class ControllerSurroundings:
    """What controllers see of their server. `version` is the release whose behaviour is served;
    `perform` answers a request as if this user had made it and were allowed to."""

    objects: ObjectStore
    served: ServedResources
    version: str
    now: Callable[[], datetime]
    perform: Callable[[HttpRequest, User], Awaitable[HttpAnswer]]
    new_context: Callable[[], DefaultingContext]
    charges: OpenCharges
    namespace_grace: float = GRACE_SECONDS

    def timestamp(self) -> str:
        """The time as objects have it."""
        return self.now().strftime("%Y-%m-%dT%H:%M:%SZ")

    def number(self) -> int:
        """The clock's digits below the second."""
        return self.now().microsecond * 1000

    def writes(self, gvr: GroupVersionResource) -> StatusWrites:
        """Of a built-in cluster-scoped resource."""
        return StatusWrites(self.objects, built_in(gvr))

    def requests(self, account: str) -> ServerRequests:
        """Of a service account in `kube-system`."""
        return ServerRequests(self.perform, account)


def built_in(gvr: GroupVersionResource) -> Resource:
    """A resource that every server has."""
    resource = known_resources(all_versions=True).by_gvr(gvr)
    assert resource is not None, f"no {gvr}"
    return resource


def server_controllers(given: ControllerSurroundings) -> list[Controller]:
    """All of them, ready to be run."""
    objects, served = given.objects, given.served.current
    definitions, policies = given.writes(DEFINITIONS), given.writes(POLICIES)
    namespaces = given.writes(NAMESPACES)
    return [
        DefinitionController(definitions, given.timestamp),
        DefaultAccounts(objects, namespaces, built_in(SERVICE_ACCOUNTS), given.new_context),
        DefinitionCleanup(
            objects,
            definitions,
            served,
            given.requests("custom-resource-finalizer"),
            given.timestamp,
        ),
        NamespaceDeletion(
            objects,
            namespaces,
            served,
            given.requests("namespace-controller"),
            given.now,
            given.namespace_grace,
        ),
        PolicyTypeChecks(policies, served, given.version, given.number),
        RoleAggregation(given.writes(CLUSTER_ROLES)),
        GarbageCollection(objects, served, given.requests("generic-garbage-collector")),
        QuotaCounts(objects, built_in(QUOTAS), served, given.charges, given.timestamp),
    ]
