"""Which controllers a simulated cluster has."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from celadon.apiserver.api_settings import SimulationSettings
from celadon.apiserver.controllers.controller_loops import Controller
from celadon.apiserver.controllers.server_controllers import ControllerSurroundings
from celadon.apiserver.simulation import planned_controllers
from celadon.apiserver.simulation.deployments import (
    DeploymentController,
    ReplicaSetController,
    ReplicationControllers,
)
from celadon.apiserver.simulation.nodes import Kubelets, Nodes, PodEvictions
from celadon.apiserver.simulation.scheduler import Scheduler
from celadon.apiserver.simulation.workload_controller import Surroundings

_MAKERS: Final[Sequence[Callable[[Surroundings], Controller]]] = (
    DeploymentController,
    ReplicaSetController,
    ReplicationControllers,
    planned_controllers.StatefulSets,
    planned_controllers.DaemonSets,
    planned_controllers.Jobs,
    planned_controllers.CronJobs,
    planned_controllers.EndpointSlices,
    planned_controllers.MirroredSlices,
    planned_controllers.Endpoints,
    planned_controllers.DisruptionBudgets,
    planned_controllers.Autoscalers,
    planned_controllers.DefaultClass,
    planned_controllers.VolumeClaims,
    planned_controllers.Volumes,
    Nodes,
    Scheduler,
    Kubelets,
    PodEvictions,
)


def simulated_controllers(
    given: ControllerSurroundings, settings: SimulationSettings
) -> Sequence[Controller]:
    """Return all controllers of a simulated cluster, ready to be run."""
    around = Surroundings(given, settings)
    return [make(around) for make in _MAKERS]
