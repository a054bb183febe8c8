"""Which controllers a simulated cluster has."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from celadon.apiserver.api_settings import SimulationSettings
from celadon.apiserver.controllers.controller_loops import Controller
from celadon.apiserver.controllers.server_controllers import ControllerSurroundings
from celadon.apiserver.simulation.autoscalers import Autoscalers
from celadon.apiserver.simulation.deployments import DeploymentController
from celadon.apiserver.simulation.disruption import DisruptionBudgets
from celadon.apiserver.simulation.kubelet import Kubelets
from celadon.apiserver.simulation.nodes import Nodes
from celadon.apiserver.simulation.planned_controllers import (
    CronJobs,
    DaemonSets,
    Jobs,
    StatefulSets,
)
from celadon.apiserver.simulation.pod_evictions import PodEvictions
from celadon.apiserver.simulation.replica_sets import ReplicaSetController, ReplicationControllers
from celadon.apiserver.simulation.scheduler import Scheduler
from celadon.apiserver.simulation.service_endpoints import Endpoints, EndpointSlices
from celadon.apiserver.simulation.surroundings import Surroundings
from celadon.apiserver.simulation.volumes import DefaultClass, VolumeClaims, Volumes

_MAKERS: Final[Sequence[Callable[[Surroundings], Controller]]] = (
    DeploymentController,
    ReplicaSetController,
    ReplicationControllers,
    StatefulSets,
    DaemonSets,
    Jobs,
    CronJobs,
    EndpointSlices,
    Endpoints,
    DisruptionBudgets,
    Autoscalers,
    DefaultClass,
    VolumeClaims,
    Volumes,
    Nodes,
    Scheduler,
    Kubelets,
    PodEvictions,
)


def simulated_controllers(
    given: ControllerSurroundings, settings: SimulationSettings
) -> Sequence[Controller]:
    """All of them, ready to be run."""
    around = Surroundings(given, settings)
    return [make(around) for make in _MAKERS]
