"""ReplicaSets have as many pods as they want, and Deployments as many ReplicaSets as a rollout
needs.

As k8s.io/kubernetes `pkg/controller/replicaset`, which looks after ReplicationControllers, too, and
`pkg/controller/deployment`. What each step of a rollout is, `rollouts` says.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import ClassVar, Final

from celadon.apiserver.controllers.controller_loops import Change, Stale
from celadon.apiserver.simulation import workload_controller
from celadon.apiserver.simulation.cluster_client import CONFLICT, CREATED
from celadon.apiserver.simulation.planning import replica_pods, rollouts
from celadon.apiserver.simulation.planning.pod_predicates import controller_of, has_ended, is_active
from celadon.apiserver.simulation.planning.rollouts import Scale
from celadon.kube import GroupVersionResource, JsonObject, metadata
from celadon.kube.well_known_values import PODS
from celadon.kube.workload_controllers import REVISION, plain_pod, replica_set_of

# --- ReplicaSets -------------------------------------------------------------
#
# ReplicaSets: as many pods as are wanted, and a status that says how they are.
#
# As k8s.io/kubernetes `pkg/controller/replicaset`, which looks after ReplicationControllers, too.
# What is decided stands in `planning`.

REPLICA_SETS: Final = GroupVersionResource("apps", "v1", "replicasets")
REPLICATION_CONTROLLERS: Final = GroupVersionResource("", "v1", "replicationcontrollers")
BURST: Final = 500
"""Pods that are made or deleted at once, at most."""


class ReplicaSetController(workload_controller.WorkloadController):
    """Makes pods in batches that grow, until one has failed."""

    account = "replicaset-controller"
    workloads = REPLICA_SETS
    dependents: ClassVar[tuple[GroupVersionResource, ...]] = (PODS,)

    def __init__(self, around: workload_controller.Surroundings) -> None:
        super().__init__(around)
        self._pods = around.view(PODS)
        self._claims = workload_controller.Dependents(self._pods, self.requests)
        self._control = workload_controller.PodControl(
            self._pods.resource, self.requests, self.events
        )

    async def sync(self, workload: JsonObject) -> float | None:
        """Adopt, make and delete pods, and write the status. Raises Stale."""
        failure = ""
        if not metadata.deletion_timestamp(workload):
            claimed = await self._claims.claimed(workload)
            failure = await self._manage(workload, [pod for pod in claimed if is_active(pod)])
        pods = self._pods.managed_by(metadata.uid(workload))
        now = self.around.now()
        status = replica_pods.replica_set_status(workload, pods, failure, now)
        await self.requests.update_status(self.view.resource, workload, status)
        if failure:
            raise Stale
        least = (workload.get("spec") or {}).get("minReadySeconds") or 0
        return (
            replica_pods.next_availability(filter(is_active, pods), least, now) if least else None
        )

    async def _manage(self, owner: JsonObject, active: Sequence[JsonObject]) -> str:
        """Make or delete pods until there are as many as wanted; return why not all of that could
        be done."""
        missing = replica_pods.replicas(owner) - len(active)
        if missing > 0:
            return await self._create(owner, min(missing, BURST))
        if missing == 0:
            return ""
        count = min(-missing, BURST)
        failure = ""
        for pod in replica_pods.pods_to_delete(
            active, self._related(owner), count, self.around.now()
        ):
            reply = await self._control.delete(pod, owner)
            if reply is not None and reply.failed:
                failure = failure or reply.message
        return failure

    async def _create(self, owner: JsonObject, count: int) -> str:
        batch, failure = 1, ""
        while count > 0 and not failure:
            for _ in range(min(batch, count)):
                reply = await self._control.create(plain_pod(owner), owner)
                if reply.code != CREATED and not workload_controller.is_namespace_ending(reply):
                    failure = failure or reply.message
            count, batch = count - batch, batch * 2
        return failure

    def _related(self, owner: JsonObject) -> Iterable[JsonObject]:
        above = str(controller_of(owner).get("uid") or "")
        sets = self.view.managed_by(above) if above else [owner]
        for replica_set in sets:
            yield from self._pods.managed_by(metadata.uid(replica_set))


class ReplicationControllers(ReplicaSetController):
    """Does for ReplicationControllers what is done for ReplicaSets."""

    account = "replication-controller"
    workloads = REPLICATION_CONTROLLERS


# --- Deployments -------------------------------------------------------------

DEPLOYMENTS: Final = GroupVersionResource("apps", "v1", "deployments")


class DeploymentController(workload_controller.WorkloadController):
    """One step at a time: what is written is a change, which is looked at in turn."""

    account = "deployment-controller"
    workloads = DEPLOYMENTS
    dependents: ClassVar[tuple[GroupVersionResource, ...]] = (REPLICA_SETS, PODS)

    def __init__(self, around: workload_controller.Surroundings) -> None:
        super().__init__(around)
        self._sets = around.view(REPLICA_SETS)
        self._pods = around.view(PODS)
        self._claims = workload_controller.Dependents(self._sets, self.requests)

    def concerned(self, change: Change) -> Iterable[str]:
        """Return the items that a change concerns. Pods concern a Deployment when they go: one that
        recreates its pods waits for it."""
        if not change.key.startswith(self._pods.prefix):
            yield from super().concerned(change)
        elif change.new is None or has_ended(change.new):
            old = change.old or change.new or {}
            owner = controller_of(old)
            above = self._sets.get(metadata.namespace(old), str(owner.get("name") or ""))
            if owner.get("kind") == "ReplicaSet" and above is not None:
                yield from self._owners(above, None)

    async def sync(self, workload: JsonObject) -> float | None:
        """Take the next step of a rollout, and write the status. Raises Stale."""
        sets = await self._claims.claimed(workload)
        if metadata.deletion_timestamp(workload):
            await self._tell(workload, sets)
            return None
        condition = rollouts.paused_condition(workload, self.around.timestamp())
        if condition is not None:
            await self._say(workload, condition)
            return None
        new, old = rollouts.new_and_old(workload, sets)
        if new is not None and await self._is_marked_anew(workload, new, old):
            return None
        if (workload.get("spec") or {}).get("paused") or rollouts.is_scaled(workload, sets):
            await self._resize(workload, new, old)
            return None
        if rollouts.is_rolling(workload):
            return await self._roll(workload, new, old)
        return await self._recreate(workload, new, old)

    # --- revisions ---

    async def _is_marked_anew(
        self, deployment: JsonObject, new: JsonObject, old: Sequence[JsonObject]
    ) -> bool:
        """Write the revision on the new ReplicaSet or the Deployment where it is not there yet;
        return whether it was not."""
        revision = max(map(rollouts.revision_of, old), default=0) + 1
        annotations = rollouts.new_annotations(deployment, new, revision, exists=True)
        least = (deployment.get("spec") or {}).get("minReadySeconds") or 0
        spec = {**new["spec"], "minReadySeconds": least}
        differs = (new["spec"].get("minReadySeconds") or 0) != least
        if annotations != metadata.annotations(new) or differs:
            meta = {**metadata.metadata(new), "annotations": annotations}
            changed = {**new, "metadata": meta, "spec": spec}
            await self.requests.require_update(self._sets.resource, changed)
            return True
        annotation = metadata.annotations(new).get(REVISION, "")
        condition = None
        if rollouts.has_deadline(deployment) and rollouts.progressing(deployment) is None:
            message = f'Found new replica set "{metadata.name(new)}"'
            condition = self._condition("True", rollouts.FOUND_NEW, message)
        if metadata.annotations(deployment).get(REVISION) == annotation and condition is None:
            return False
        await self._say(deployment, condition, annotation)
        return True

    def _condition(self, state: str, reason: str, message: str) -> JsonObject:
        now = self.around.timestamp()
        return rollouts.deployment_condition(rollouts.PROGRESSING, state, reason, message, now)

    async def _say(
        self, deployment: JsonObject, condition: JsonObject | None, revision: str = ""
    ) -> None:
        await self._write(_with_condition(deployment, condition), revision)

    async def _write(self, deployment: JsonObject, revision: str) -> None:
        """Write the status, and the annotation with the revision."""
        if revision:
            annotations = {**metadata.annotations(deployment), REVISION: revision}
            meta = {**metadata.metadata(deployment), "annotations": annotations}
            deployment = {**deployment, "metadata": meta}
        await self.requests.require_update(self.view.resource, deployment, "status")

    async def _create(self, deployment: JsonObject, old: Sequence[JsonObject]) -> None:
        """Create the ReplicaSet for a template that none has. Raises Stale when it was refused."""
        revision = max(map(rollouts.revision_of, old), default=0) + 1
        size = rollouts.new_size(deployment, old, None)
        annotations = rollouts.new_annotations(deployment, {}, revision, exists=False)
        replica_set = await self.worked_out(replica_set_of, deployment, size, annotations)
        name = metadata.name(replica_set)
        reply = await self.requests.create(self._sets.resource, replica_set)
        if reply.code == CREATED:
            condition = None
            if rollouts.has_deadline(deployment):
                message = f'Created new replica set "{name}"'
                condition = self._condition("True", rollouts.NEW_CREATED, message)
            conditioned = _with_condition(deployment, condition)
            status = rollouts.rollout_status(conditioned, reply.body, old, self.around.now())
            await self._write({**conditioned, "status": status}, str(revision))
            if size:
                message = f"Scaled up replica set {name} from 0 to {size}"
                await self.events.record(deployment, "Normal", "ScalingReplicaSet", message)
        elif reply.code == CONFLICT:  # another template has that hash
            status = deployment.get("status") or {}
            status = {**status, "collisionCount": (status.get("collisionCount") or 0) + 1}
            await self.requests.update_status(self.view.resource, deployment, status)
        elif not workload_controller.is_namespace_ending(reply):
            message = f'Failed to create new replica set "{name}": {reply.message}'
            await self.events.record(deployment, "Warning", rollouts.CREATE_ERROR, message)
            if rollouts.has_deadline(deployment):
                await self._say(
                    deployment, self._condition("False", rollouts.CREATE_ERROR, message)
                )
            raise Stale

    # --- steps ---

    async def _roll(
        self, deployment: JsonObject, new: JsonObject | None, old: Sequence[JsonObject]
    ) -> float | None:
        if new is None:
            await self._create(deployment, old)
            return None
        if not await self._scaled(deployment, rollouts.rolling_step(deployment, new, old)):
            await self._clean_up(deployment, old)
        return await self._tell_rollout(deployment)

    async def _recreate(
        self, deployment: JsonObject, new: JsonObject | None, old: Sequence[JsonObject]
    ) -> float | None:
        shrunk = [Scale(replica_set, 0) for replica_set in rollouts.active_sets(old)]
        if await self._scaled(deployment, shrunk) or self._has_old_pods(old):
            return await self._tell_rollout(deployment)
        if new is None:
            await self._create(deployment, old)
            return None
        replicas = replica_pods.replicas(deployment)
        if replica_pods.replicas(new) == replicas or not await self._scaled(
            deployment, [Scale(new, replicas)]
        ):
            await self._clean_up(deployment, old)
        return await self._tell_rollout(deployment)

    def _has_old_pods(self, old: Sequence[JsonObject]) -> bool:
        if any(replica_pods.counted(item, "replicas") for item in old):
            return True
        pods = (pod for item in old for pod in self._pods.managed_by(metadata.uid(item)))
        return any(not has_ended(pod) for pod in pods)

    async def _resize(
        self, deployment: JsonObject, new: JsonObject | None, old: Sequence[JsonObject]
    ) -> None:
        await self._scaled(deployment, rollouts.scaling_step(deployment, new, old))
        if (deployment.get("spec") or {}).get("paused"):
            await self._clean_up(deployment, old, at_once=True)
        await self._tell(deployment, self._sets.managed_by(metadata.uid(deployment)))

    async def _scaled(self, deployment: JsonObject, steps: Iterable[Scale]) -> bool:
        """Carry out the steps; return whether any ReplicaSet has got another size."""
        size_annotations = rollouts.size_annotations(deployment)
        has_scaled = False
        for step in steps:
            replica_set, former = step.replica_set, replica_pods.replicas(step.replica_set)
            annotations = {**metadata.annotations(replica_set), **size_annotations}
            if former == step.size and annotations == metadata.annotations(replica_set):
                continue
            meta = {**metadata.metadata(replica_set), "annotations": annotations}
            spec = {**replica_set["spec"], "replicas": step.size}
            changed = {**replica_set, "metadata": meta, "spec": spec}
            await self.requests.require_update(self._sets.resource, changed)
            if former != step.size:
                has_scaled = True
                direction, name = "up" if former < step.size else "down", metadata.name(replica_set)
                message = f"Scaled {direction} replica set {name} from {former} to {step.size}"
                await self.events.record(deployment, "Normal", "ScalingReplicaSet", message)
        return has_scaled

    async def _clean_up(
        self, deployment: JsonObject, old: Sequence[JsonObject], *, at_once: bool = False
    ) -> None:
        """Delete old ReplicaSets beyond the limit of the history, when a rollout is complete, or at
        once."""
        if at_once or rollouts.is_complete(deployment, deployment.get("status") or {}):
            for item in rollouts.cleanable(deployment, old):
                await self.requests.delete(self._sets.resource, item)

    # --- status ---

    async def _tell(self, deployment: JsonObject, sets: Sequence[JsonObject]) -> None:
        new, old = rollouts.new_and_old(deployment, sets)
        status = rollouts.deployment_status(deployment, new, old, self.around.now())
        await self.requests.update_status(self.view.resource, deployment, status)

    async def _tell_rollout(self, deployment: JsonObject) -> float | None:
        sets = self._sets.managed_by(metadata.uid(deployment))
        new, old = rollouts.new_and_old(deployment, sets)
        now = self.around.now()
        status = rollouts.rollout_status(deployment, new, old, now)
        await self.requests.update_status(self.view.resource, deployment, status)
        return rollouts.seconds_to_deadline(deployment, status, now)


def _with_condition(deployment: JsonObject, condition: JsonObject | None) -> JsonObject:
    if condition is None:
        return deployment
    status = deployment.get("status") or {}
    conditions = rollouts.put_condition(status.get("conditions") or (), condition)
    return {**deployment, "status": {**status, "conditions": conditions}}
