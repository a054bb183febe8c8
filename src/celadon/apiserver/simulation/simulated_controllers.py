"""Which controllers a simulated cluster has."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from celadon.apiserver.api_settings import SimulationSettings
from celadon.apiserver.controllers.controller_loops import Controller
from celadon.apiserver.controllers.server_controllers import ControllerSurroundings
from celadon.apiserver.simulation.deployments import (
    DeploymentController,
    ReplicaSetController,
    ReplicationControllers,
)
from celadon.apiserver.simulation.nodes import Kubelets, Nodes, PodEvictions
from celadon.apiserver.simulation.planned_controllers import (
    Autoscalers,
    CronJobs,
    DaemonSets,
    DefaultClass,
    DisruptionBudgets,
    Endpoints,
    EndpointSlices,
    Jobs,
    StatefulSets,
    VolumeClaims,
    Volumes,
)
from celadon.apiserver.simulation.scheduler import Scheduler
from celadon.apiserver.simulation.workload_controller import Surroundings

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
