"""Which controllers a server runs, and what they are given."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import datetime

from celadon.kube import GroupVersionResource, User
from celadon.kube.catalogue import known_resources
from celadon.serve.controllers.controller_loops import Controller
from celadon.serve.controllers.definition_controller import DefinitionController
from celadon.serve.controllers.policy_type_checks import PolicyTypeChecks
from celadon.serve.controllers.status_writes import StatusWrites
from celadon.serve.http_messages import HttpAnswer, HttpRequest
from celadon.serve.objects.object_store import ObjectStore
from celadon.serve.views.policy_view import POLICIES
from celadon.serve.views.served_resources import DEFINITIONS, ServedResources


@dataclass(frozen=True, slots=True)
class ControllerSurroundings:
    """What controllers see of their server. `version` is the release whose behaviour is served;
    `perform` answers a request as if this user had made it and were allowed to."""

    objects: ObjectStore
    served: ServedResources
    version: str
    now: Callable[[], datetime]
    perform: Callable[[HttpRequest, User], Awaitable[HttpAnswer]]

    def timestamp(self) -> str:
        """The time as objects have it."""
        return self.now().strftime("%Y-%m-%dT%H:%M:%SZ")

    def number(self) -> int:
        """The clock's digits below the second."""
        return self.now().microsecond * 1000

    def writes(self, gvr: GroupVersionResource) -> StatusWrites:
        """Of a built-in cluster-scoped resource."""
        resource = known_resources(all_versions=True).by_gvr(gvr)
        assert resource is not None, f"no {gvr}"
        return StatusWrites(self.objects, resource)


def server_controllers(given: ControllerSurroundings) -> list[Controller]:
    """All of them, ready to be run."""
    policies = given.writes(POLICIES)
    return [
        DefinitionController(given.writes(DEFINITIONS), given.timestamp),
        PolicyTypeChecks(policies, given.served.current, given.version, given.number),
    ]
