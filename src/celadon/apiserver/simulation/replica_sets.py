"""ReplicaSets: as many pods as are wanted, and a status that says how they are.

As k8s.io/kubernetes `pkg/controller/replicaset`, which looks after ReplicationControllers, too.
What is decided stands in `planning`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import ClassVar, Final

from celadon.apiserver.controllers.controller_loops import Stale
from celadon.apiserver.simulation.planning.pod_facts import (
    controller_of,
    is_active,
)
from celadon.apiserver.simulation.planning.replica_pods import (
    next_availability,
    pods_to_delete,
    replica_set_status,
    replicas,
)
from celadon.apiserver.simulation.pod_control import Dependents, PodControl, is_namespace_ending
from celadon.apiserver.simulation.requests import CREATED
from celadon.apiserver.simulation.surroundings import Surroundings
from celadon.apiserver.simulation.workload_controller import WorkloadController
from celadon.kube import GroupVersionResource, JsonObject, metadata
from celadon.kube.well_known_values import PODS
from celadon.kube.workload_controllers import plain_pod

REPLICA_SETS: Final = GroupVersionResource("apps", "v1", "replicasets")
REPLICATION_CONTROLLERS: Final = GroupVersionResource("", "v1", "replicationcontrollers")
BURST: Final = 500
"""Pods that are made or deleted at once, at most."""


class ReplicaSetController(WorkloadController):
    """Makes pods in batches that grow, until one has failed."""

    account = "replicaset-controller"
    workloads = REPLICA_SETS
    dependents: ClassVar[tuple[GroupVersionResource, ...]] = (PODS,)

    def __init__(self, around: Surroundings) -> None:
        super().__init__(around)
        self._pods = around.view(PODS)
        self._claims = Dependents(self._pods, self.requests)
        self._control = PodControl(self._pods.resource, self.requests, self.events)

    async def sync(self, workload: JsonObject) -> float | None:
        """Raises Stale."""
        failure = ""
        if not metadata.deletion_timestamp(workload):
            claimed = await self._claims.claimed(workload)
            failure = await self._manage(workload, [pod for pod in claimed if is_active(pod)])
        pods = self._pods.managed_by(metadata.uid(workload))
        now = self.around.now()
        status = replica_set_status(workload, pods, failure, now)
        await self.requests.update_status(self.view.resource, workload, status)
        if failure:
            raise Stale
        least = (workload.get("spec") or {}).get("minReadySeconds") or 0
        return next_availability(filter(is_active, pods), least, now) if least else None

    async def _manage(self, owner: JsonObject, active: Sequence[JsonObject]) -> str:
        """Why not all that was to be done could be done."""
        missing = replicas(owner) - len(active)
        if missing > 0:
            return await self._create(owner, min(missing, BURST))
        if missing == 0:
            return ""
        count = min(-missing, BURST)
        failure = ""
        for pod in pods_to_delete(active, self._related(owner), count, self.around.now()):
            reply = await self._control.delete(pod, owner)
            if reply is not None and reply.failed:
                failure = failure or reply.message
        return failure

    async def _create(self, owner: JsonObject, count: int) -> str:
        batch, failure = 1, ""
        while count > 0 and not failure:
            for _ in range(min(batch, count)):
                reply = await self._control.create(plain_pod(owner), owner)
                if reply.code != CREATED and not is_namespace_ending(reply):
                    failure = failure or reply.message
            count, batch = count - batch, batch * 2
        return failure

    def _related(self, owner: JsonObject) -> Iterable[JsonObject]:
        above = str(controller_of(owner).get("uid") or "")
        sets = self.view.managed_by(above) if above else [owner]
        for one in sets:
            yield from self._pods.managed_by(metadata.uid(one))


class ReplicationControllers(ReplicaSetController):
    """The same, of an older kind."""

    account = "replication-controller"
    workloads = REPLICATION_CONTROLLERS
