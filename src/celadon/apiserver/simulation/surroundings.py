"""What a simulated controller sees and may do: objects, the time, requests, events."""

from __future__ import annotations

import itertools
from typing import Final

from celadon.apiserver.api_settings import SimulationSettings
from celadon.apiserver.controllers.controller_loops import Aside, ServerRequests
from celadon.apiserver.controllers.server_controllers import ControllerSurroundings
from celadon.apiserver.simulation.cluster_view import ClusterView, KindView
from celadon.apiserver.simulation.event_recorder import EventRecorder
from celadon.apiserver.simulation.planning.pod_facts import time_text
from celadon.apiserver.simulation.requests import Requests
from celadon.kube import GroupVersionResource, User

CONTROLLER_MANAGER: Final = "kube-controller-manager"


class Surroundings:
    """What all simulated controllers of a server share."""

    def __init__(self, given: ControllerSurroundings, settings: SimulationSettings) -> None:
        self.settings = settings
        self.version = given.version
        self.now = given.now
        self._given = given
        self._perform = given.perform
        self._cluster = ClusterView(given.objects)
        self._numbers = itertools.count()
        """By which events differ that are told at one time."""

    def view(self, gvr: GroupVersionResource) -> KindView:
        """The objects of a kind."""
        return self._cluster.of(gvr)

    def timestamp(self) -> str:
        """The time as objects have it."""
        return time_text(self.now())

    def requests(self, account: str) -> Requests:
        """As a service account in `kube-system`, from the controller manager."""
        return Requests(ServerRequests(self._perform, account, CONTROLLER_MANAGER))

    def requests_of(self, user: User, agent: str) -> Requests:
        """As somebody else."""
        return Requests(ServerRequests(self._perform, agent, agent, user))

    def aside(self, account: str) -> Aside:
        """Long work of a controller, which has as much time as a user."""
        return self._given.aside(account)

    def recorder(self, requests: Requests, component: str, host: str = "") -> EventRecorder:
        """Of events that come from a component, in its own name."""
        return EventRecorder(requests, self.now, self._numbers, component, host)
