"""The table of the controllers of a simulated cluster, and the controllers that carry out plans: of
StatefulSets, DaemonSets, Jobs and CronJobs, of disruption budgets, endpoints, volumes and
autoscalers.

What there is to do is decided in `planning`, a module for each; here it is seen, asked for, and
told. Deployments, nodes and the scheduler have chapters of their own.
"""

from __future__ import annotations

import itertools
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from typing import ClassVar, Final, TypeVar

from celadon.admission.plugins import attributes_classes
from celadon.apiserver.api_settings import SimulationSettings
from celadon.apiserver.controllers.controller_loops import Change, Controller, Stale
from celadon.apiserver.controllers.server_controllers import ControllerSurroundings
from celadon.apiserver.handlers.bindings_and_evictions import BUDGETS
from celadon.apiserver.simulation import deployments, workload_controller
from celadon.apiserver.simulation.cluster_client import CONFLICT, EventRecorder, Requests
from celadon.apiserver.simulation.nodes import Kubelets, Nodes, PodEvictions
from celadon.apiserver.simulation.planning import autoscaling, endpoint_slices, plans, volume_claims
from celadon.apiserver.simulation.planning.cron_jobs import cron_job_plan
from celadon.apiserver.simulation.planning.daemon_sets import DaemonWorld, daemon_set_plan
from celadon.apiserver.simulation.planning.disruption_budgets import Scale, budget_plan
from celadon.apiserver.simulation.planning.jobs import job_plan, released_pods
from celadon.apiserver.simulation.planning.pod_predicates import controller_of
from celadon.apiserver.simulation.planning.stateful_sets import (
    Members,
    StatefulWorld,
    stateful_set_plan,
)
from celadon.apiserver.simulation.scheduler import Scheduler
from celadon.kube import GroupVersionResource, JsonObject, metadata
from celadon.kube.defaulting import STORAGE_CLASSES
from celadon.kube.resources import Resource, known_resources
from celadon.kube.selectors import KeyConditions, conditions_of
from celadon.kube.well_known_values import (
    DEFAULT_STORAGE_CLASS,
    ENDPOINT_SLICES,
    NAMESPACES,
    NODES,
    PODS,
    SERVICE_LABEL,
    SERVICES,
    VOLUME_CLAIMS,
    VOLUMES,
)
from celadon.kube.workload_controllers import JOB_TRACKING

REVISIONS: Final = GroupVersionResource("apps", "v1", "controllerrevisions")
STATEFUL_SETS: Final = GroupVersionResource("apps", "v1", "statefulsets")
DAEMON_SETS: Final = GroupVersionResource("apps", "v1", "daemonsets")
CRON_JOBS: Final = GroupVersionResource("batch", "v1", "cronjobs")
JOBS: Final = GroupVersionResource("batch", "v1", "jobs")
VOLUME_ATTRIBUTES_CLASSES: Final = GroupVersionResource(
    "storage.k8s.io", "v1", "volumeattributesclasses"
)

_ORPHAN: Final = "pod:"
"""How the items begin that are pods without a Job; names have no colon."""
FEW: Final = 100
"""Objects that are looked at in ten milliseconds."""

T = TypeVar("T")


class PlanRunner:
    """Carries plans out, whose objects are of these resources."""

    def __init__(
        self, requests: Requests, events: EventRecorder, resources: Iterable[Resource]
    ) -> None:
        self._requests = requests
        self._events = events
        self._resources = {resource.gvk.kind: resource for resource in resources}

    async def run(self, plan: plans.Plan, about: JsonObject) -> None:
        """Carry out a plan, whose events are about an object. Raises Stale when something was
        refused."""
        refusal: str | None = None
        status_refused = False
        for step in plan.steps:
            is_status = step.verb is plans.Verb.STATUS
            can_follow = step.follows_status and not status_refused
            if refusal is not None and not is_status and not can_follow:
                continue
            error = await self._take(step, about, refusal)
            if error is not None:
                refusal = error
                status_refused |= is_status
        if refusal is not None:
            raise Stale

    async def _take(self, step: plans.Step, about: JsonObject, refusal: str | None) -> str | None:
        """Carry out one step, after what was refused, if anything was. Return None if it succeeded,
        or the error. Raises Stale."""
        if step.verb is plans.Verb.TELL:
            await self._tell(step.done, step.object)
            return None
        obj = step.object
        if refusal is not None and step.otherwise is not None:
            obj = step.otherwise(refusal)
        resource = self._resources[obj["kind"]]
        if step.verb is plans.Verb.CREATE:
            return await self._create(resource, step, about)
        if step.verb is plans.Verb.DELETE:
            return await self._delete(resource, step, about)
        if step.verb is plans.Verb.SCALE:
            change = {"spec": {"replicas": obj["spec"]["replicas"]}}
            reply = await self._requests.patch(resource, obj, change, "scale")
        else:
            subresource = "status" if step.verb is plans.Verb.STATUS else ""
            reply = await self._requests.update(resource, obj, subresource)
        await self._tell(step.failed if reply.failed else step.done, about, reply.message)
        return reply.message if reply.failed else None

    async def _create(self, resource: Resource, step: plans.Step, about: JsonObject) -> str | None:
        reply = await self._requests.create(resource, step.object)
        if reply.code == CONFLICT:  # somebody else's, about which upstream writes no event
            return None if step.may_exist else reply.message
        if reply.failed or reply.code >= 400:
            if not workload_controller.is_namespace_ending(reply):
                await self._tell(step.failed, about, reply.message)
            return reply.message
        await self._tell(step.done, about, name=metadata.name(reply.body))
        if step.follow is not None:
            return await self._take(step.follow(reply.body), about, None)
        return None

    async def _delete(self, resource: Resource, step: plans.Step, about: JsonObject) -> str | None:
        policy = "Foreground" if step.is_foreground else "Background"
        try:
            reply = await self._requests.delete(resource, step.object, policy=policy)
        except Stale:  # it is gone already
            return None
        await self._tell(step.failed if reply.failed else step.done, about, reply.message)
        return reply.message if reply.failed else None

    async def _tell(
        self, event: plans.ObjectEvent | None, about: JsonObject, error: str = "", name: str = ""
    ) -> None:
        if event is not None:
            text = event.message.replace(plans.CREATED_NAME, name) if name else event.message
            if event.message.endswith(": "):
                text += error
            await self._events.record(about, event.type, event.reason, text)


class PlannedController(workload_controller.WorkloadController):
    """One whose decisions are plans. `component` is how its events call it; `touched` are the
    resources of which it writes objects, besides its dependents."""

    component: ClassVar[str] = workload_controller.CONTROLLER_MANAGER
    touched: ClassVar[tuple[GroupVersionResource, ...]] = ()

    def __init__(self, around: workload_controller.Surroundings) -> None:
        super().__init__(around)
        self.events = around.recorder(self.requests, self.component)
        kinds = (self.workloads, *self.dependents, *self.touched)
        resources = [around.view(kind).resource for kind in kinds]
        self.runner = PlanRunner(self.requests, self.events, resources)

    async def sync(self, workload: JsonObject) -> float | None:
        """Carry out what is planned. Raises Stale."""
        plan = await self.plan(workload)
        await self.runner.run(plan, workload)
        return plan.requeue_after

    async def plan(self, workload: JsonObject) -> plans.Plan:
        """Return what there is to do for a workload. Raises Stale."""
        raise NotImplementedError

    async def decided(
        self, count: int, plan: Callable[..., T], workload: JsonObject, *args: object
    ) -> T:
        """Return the plan that a function makes, which is made in a worker if so many objects are
        looked at, or one so large, that others would wait for it."""
        if count <= FEW:
            return await self.worked_out(plan, workload, *args)
        return await self.aside(plan, workload, *args)

    async def claimed(self, gvr: GroupVersionResource, workload: JsonObject) -> list[JsonObject]:
        """Return the objects of a dependent resource that are the workload's. Raises Stale."""
        return await workload_controller.Dependents(self.around.view(gvr), self.requests).claimed(
            workload
        )


class StatefulSets(PlannedController):
    """Does the work of upstream's `statefulset-controller`."""

    account = component = "statefulset-controller"
    workloads = STATEFUL_SETS
    dependents: ClassVar[tuple[GroupVersionResource, ...]] = (PODS, REVISIONS)
    touched: ClassVar[tuple[GroupVersionResource, ...]] = (VOLUME_CLAIMS,)

    def __init__(self, around: workload_controller.Surroundings) -> None:
        super().__init__(around)
        self._members: dict[str, Members] = {}
        """By the uids of sets."""

    def concerned(self, change: Change) -> Iterable[str]:
        """Return the items to look at after a change. What is known of a set that is gone is
        forgotten."""
        if change.new is None and change.key.startswith(self.view.prefix):
            self._members.pop(metadata.uid(change.old), None)
        return super().concerned(change)

    async def plan(self, workload: JsonObject) -> plans.Plan:
        """Plan the next steps from the pods, claims and revisions of a set. Raises Stale."""
        namespace = metadata.namespace(workload)
        claims = self.around.view(VOLUME_CLAIMS).in_namespace(namespace)
        pods = await self.claimed(PODS, workload)
        revisions = self.around.view(REVISIONS).in_namespace(namespace)
        members = self._members.setdefault(metadata.uid(workload), Members())
        by_name = {metadata.name(claim): claim for claim in claims}
        world = StatefulWorld(pods, by_name, revisions, members)
        count = max(len(pods), (workload.get("spec") or {}).get("replicas") or 0)
        return await self.decided(count, stateful_set_plan, workload, world, self.around.now())


class DaemonSets(PlannedController):
    """Does the work of upstream's `daemonset-controller`. A change of a node concerns all sets."""

    account = "daemon-set-controller"
    component = "daemonset-controller"
    workloads = DAEMON_SETS
    dependents: ClassVar[tuple[GroupVersionResource, ...]] = (PODS, REVISIONS)

    @property
    def prefixes(self) -> Sequence[str]:
        """Nodes are looked at, too."""
        return (*super().prefixes, self.around.view(NODES).prefix)

    def concerned(self, change: Change) -> Iterable[str]:
        if change.key.startswith(self.around.view(NODES).prefix):
            return map(workload_controller.item_of, self.view.every())
        return super().concerned(change)

    async def plan(self, workload: JsonObject) -> plans.Plan:
        """Plan the next steps from all nodes, and the pods and revisions of a set. Raises Stale."""
        nodes, pods = self.around.view(NODES).every(), await self.claimed(PODS, workload)
        revisions = self.around.view(REVISIONS).in_namespace(metadata.namespace(workload))
        world, count = DaemonWorld(nodes, pods, revisions), len(nodes) + len(pods)
        return await self.decided(count, daemon_set_plan, workload, world, self.around.now())


class Jobs(PlannedController):
    """Does the work of upstream's `job-controller`. Pods that have no Job any longer are let go:
    they are items of their own."""

    account = component = "job-controller"
    workloads = JOBS
    dependents: ClassVar[tuple[GroupVersionResource, ...]] = (PODS,)

    def concerned(self, change: Change) -> Iterable[str]:
        yield from super().concerned(change)
        pods = self.around.view(PODS)
        changed: Iterable[JsonObject | None] = ()
        if change.key.startswith(pods.prefix):
            changed = (change.new,)
        elif change.new is None and change.old is not None:
            changed = pods.managed_by(metadata.uid(change.old))
        for pod in changed:
            if pod is not None and self._is_left(pod):
                yield f"{metadata.namespace(pod)}/{_ORPHAN}{metadata.name(pod)}"

    def _is_left(self, pod: JsonObject) -> bool:
        """Tell whether a pod still waits for a Job that is gone, also where there is another Job of
        its name."""
        if JOB_TRACKING not in metadata.finalizers(pod):
            return False
        owner = controller_of(pod)
        job = self.view.get(metadata.namespace(pod), str(owner.get("name") or ""))
        return job is None or metadata.uid(job) != owner.get("uid")

    async def reconcile(self, item: str) -> float | None:
        """Bring a Job, or a pod that has lost its Job, to where it should be; return in how many
        seconds to look again, if at all. Raises Stale."""
        namespace, _, name = item.partition("/")
        if not name.startswith(_ORPHAN):
            return await super().reconcile(item)
        orphan = self.around.view(PODS).get(namespace, name.removeprefix(_ORPHAN))
        if orphan is not None and self._is_left(orphan):
            await self.runner.run(released_pods([orphan]), orphan)
        return None

    async def plan(self, workload: JsonObject) -> plans.Plan:
        """Plan the next steps from the pods of a Job. Raises Stale."""
        pods = await self.claimed(PODS, workload)
        count = max(len(pods), (workload.get("spec") or {}).get("parallelism") or 0)
        return await self.decided(count, job_plan, workload, pods, self.around.now())


class CronJobs(PlannedController):
    """Does the work of upstream's `cronjob-controller`."""

    account = component = "cronjob-controller"
    workloads = CRON_JOBS
    dependents: ClassVar[tuple[GroupVersionResource, ...]] = (JOBS,)

    async def plan(self, workload: JsonObject) -> plans.Plan:
        """Plan the next Job of a schedule, and what becomes of former ones."""
        jobs = self.around.view(JOBS).managed_by(metadata.uid(workload))
        return await self.decided(len(jobs), cron_job_plan, workload, jobs, self.around.now())


# --- Disruption budgets ------------------------------------------------------
#
# The controller of PodDisruptionBudgets.
#
# As k8s.io/kubernetes `pkg/controller/disruption`. A change of a pod concerns the budgets that
# select it, or selected it before.

SCALED: Final = {
    "ReplicaSet": deployments.REPLICA_SETS,
    "Deployment": deployments.DEPLOYMENTS,
    "StatefulSet": STATEFUL_SETS,
    "ReplicationController": deployments.REPLICATION_CONTROLLERS,
}
"""The kinds that have a scale."""


class DisruptionBudgets(PlannedController):
    """Owners with a scale of their own kind, those of custom resources, are not found."""

    account = "disruption-controller"
    component = "controllermanager"
    workloads = BUDGETS
    dependents: ClassVar[tuple[GroupVersionResource, ...]] = (PODS,)

    def concerned(self, change: Change) -> Iterable[str]:
        if not change.key.startswith(self.around.view(PODS).prefix):
            return super().concerned(change)
        return self._selecting([item for item in (change.old, change.new) if item is not None])

    def _selecting(self, pods: Sequence[JsonObject]) -> Iterable[str]:
        for budget in self.view.in_namespace(metadata.namespace(pods[0])):
            selector = self.view.selector(budget, _selector)
            if any(selector.matches(metadata.labels(pod)) for pod in pods):
                yield workload_controller.item_of(budget)

    async def plan(self, workload: JsonObject) -> plans.Plan:
        """Plan the status of a budget from the pods that it selects and the scales of their
        owners."""
        pods = self.around.view(PODS).in_namespace(metadata.namespace(workload))
        selector = self.view.selector(workload, _selector)
        selected = [pod for pod in pods if selector.matches(metadata.labels(pod))]
        owned = {controller_of(item).get("uid"): item for item in selected if controller_of(item)}
        scales = {uid: self._scale(member) for uid, member in owned.items()}
        now = self.around.now()
        return await self.decided(len(selected), budget_plan, workload, selected, scales, now)

    def _scale(self, pod: JsonObject) -> Scale | str:
        """Return the scale of a pod's owner, or why it is not known."""
        reference, namespace = controller_of(pod), metadata.namespace(pod)
        kind = reference.get("kind") or ""
        if kind in {"DaemonSet", "Job"}:
            group = "apps" if kind == "DaemonSet" else "batch"
            return f"{kind.lower()}s.{group} does not implement the scale subresource"
        owner = self._owner(reference, namespace)
        above = {} if owner is None else controller_of(owner)
        if above.get("kind") == "Deployment":
            owner = self._owner(above, namespace)
        if owner is None:
            return f'found no controllers for pod "{metadata.name(pod)}"'
        replicas = (owner.get("spec") or {}).get("replicas")
        return Scale(metadata.uid(owner), 1 if replicas is None else replicas)

    def _owner(self, reference: JsonObject, namespace: str) -> JsonObject | None:
        gvr = SCALED.get(reference.get("kind") or "")
        if gvr is None:
            return None
        view = self.around.view(gvr).get(namespace, reference.get("name") or "")
        return view if metadata.uid(view) == reference.get("uid") else None


def _selector(budget: JsonObject) -> KeyConditions:
    return conditions_of((budget.get("spec") or {}).get("selector"))


# --- Endpoints of Services ---------------------------------------------------
#
# The controllers that tell where the pods of Services can be reached.
#
# As k8s.io/kubernetes `pkg/controller/endpointslice` and `pkg/controller/endpoint`. Items are
# Services; a change of a pod concerns those that select it, or selected it before.

ENDPOINTS: Final = GroupVersionResource("", "v1", "endpoints")


class _ServiceController(PlannedController):
    workloads = SERVICES

    def __init__(self, around: workload_controller.Surroundings) -> None:
        super().__init__(around)
        self._times = endpoint_slices.TriggerTimes()

    def concerned(self, change: Change) -> Iterable[str]:
        if change.key.startswith(self.around.view(PODS).prefix):
            return self._selecting(change.old, change.new)
        return super().concerned(change)

    def _selecting(self, *pods: JsonObject | None) -> Iterable[str]:
        present = [pod for pod in pods if pod is not None]
        for service in self.view.in_namespace(metadata.namespace(present[0])):
            if endpoint_slices.has_endpoints(service) and any(
                endpoint_slices.selects(service, item) for item in present
            ):
                yield workload_controller.item_of(service)

    async def reconcile(self, item: str) -> float | None:
        """Bring what belongs to a Service to where it should be; return in how many seconds to look
        again, if at all. Raises Stale."""
        namespace, _, name = item.partition("/")
        if self.view.get(namespace, name) is None:
            self._times.forget(item)
        return await super().reconcile(item)

    def selected(self, service: JsonObject) -> list[JsonObject]:
        """Return the pods that a Service selects."""
        pods = self.around.view(PODS).in_namespace(metadata.namespace(service))
        return [pod for pod in pods if endpoint_slices.selects(service, pod)]


class EndpointSlices(_ServiceController):
    """Keeps the EndpointSlices of Services."""

    account = component = "endpointslice-controller"
    dependents: ClassVar[tuple[GroupVersionResource, ...]] = (PODS, ENDPOINT_SLICES)

    def concerned(self, change: Change) -> Iterable[str]:
        if not change.key.startswith(self.around.view(ENDPOINT_SLICES).prefix):
            return super().concerned(change)
        changed = change.new or change.old
        name = metadata.labels(changed).get(SERVICE_LABEL)
        return (f"{metadata.namespace(changed)}/{name}",) if name else ()

    async def plan(self, workload: JsonObject) -> plans.Plan:
        """Plan the slices of a Service from its pods and the nodes that they are on."""
        nodes = {
            metadata.name(item): metadata.labels(item) for item in self.around.view(NODES).every()
        }
        slices = self.around.view(ENDPOINT_SLICES).in_namespace(metadata.namespace(workload))
        pods = self.selected(workload)
        reachable = endpoint_slices.Reachable(
            pods,
            nodes,
            self._times.changed_at(workload_controller.item_of(workload), workload, pods),
        )
        return await self.decided(
            len(reachable.pods), endpoint_slices.slices_plan, workload, reachable, slices
        )


class MirroredSlices(PlannedController):
    """Mirrors Endpoints that somebody else writes in EndpointSlices. A Service says whether that is
    done for the Endpoints of its name. With Endpoints that are gone, their slices go as whatever
    they own."""

    account = component = "endpointslicemirroring-controller"
    workloads = ENDPOINTS
    dependents: ClassVar[tuple[GroupVersionResource, ...]] = (SERVICES, ENDPOINT_SLICES)

    def concerned(self, change: Change) -> Iterable[str]:
        changed = change.new or change.old
        if change.key.startswith(self.around.view(ENDPOINT_SLICES).prefix):
            name = metadata.labels(changed).get(SERVICE_LABEL)
            is_own = endpoint_slices.is_mirror(changed or {})
            return (f"{metadata.namespace(changed)}/{name}",) if is_own else ()
        return () if changed is None else (workload_controller.item_of(changed),)

    async def plan(self, workload: JsonObject) -> plans.Plan:
        """Plan the slices of Endpoints from what the Service of their name says."""
        namespace, name = metadata.namespace(workload), metadata.name(workload)
        service = self.around.view(SERVICES).get(namespace, name)
        slices = self.around.view(ENDPOINT_SLICES).in_namespace(namespace)
        plan = endpoint_slices.mirror_plan
        return await self.decided(len(slices), plan, workload, service, slices)


class Endpoints(_ServiceController):
    """The Endpoints of Services: they have the same names, and go with them."""

    account = component = "endpoint-controller"
    dependents: ClassVar[tuple[GroupVersionResource, ...]] = (PODS, ENDPOINTS)

    def concerned(self, change: Change) -> Iterable[str]:
        if change.key.startswith(self.around.view(ENDPOINTS).prefix):
            changed = change.new or change.old
            return () if changed is None else (workload_controller.item_of(changed),)
        return super().concerned(change)

    async def reconcile(self, item: str) -> float | None:
        """Do the same for Endpoints, which are deleted with their Service. Raises Stale."""
        namespace, _, name = item.partition("/")
        again = await super().reconcile(item)
        if self.view.get(namespace, name) is not None:
            return again
        view = self.around.view(ENDPOINTS)
        left = view.get(namespace, name)
        if left is not None and endpoint_slices.ENDPOINTS_MANAGED_BY in metadata.labels(left):
            await self.requests.delete(view.resource, left)
        return None

    async def plan(self, workload: JsonObject) -> plans.Plan:
        """Plan the Endpoints of a Service from its pods."""
        namespace, name = metadata.namespace(workload), metadata.name(workload)
        present = self.around.view(ENDPOINTS).get(namespace, name)
        pods = self.selected(workload)
        changed_at = self._times.changed_at(workload_controller.item_of(workload), workload, pods)
        return await self.decided(
            len(pods), endpoint_slices.endpoints_plan, workload, pods, present, changed_at
        )


# --- Volumes -----------------------------------------------------------------
#
# The controllers of PersistentVolumeClaims and PersistentVolumes, and a class for claims.
#
# As k8s.io/kubernetes `pkg/controller/volume/persistentvolume`, with a provisioner for all
# classes.

_SYSTEM: Final = "kube-system"


class VolumeClaims(PlannedController):
    """A change of a volume concerns the claim that it names; if it names none, and for a change of
    a class, all that are not bound; that of a pod those that it names."""

    account = "persistent-volume-binder"
    component = "persistentvolume-controller"
    workloads = VOLUME_CLAIMS
    dependents: ClassVar[tuple[GroupVersionResource, ...]] = (VOLUMES, STORAGE_CLASSES, PODS)

    def concerned(self, change: Change) -> Iterable[str]:
        if change.key.startswith(self.view.prefix):
            return super().concerned(change)
        changed = change.new or change.old
        if change.key.startswith(self.around.view(PODS).prefix):
            return _claims_of(changed)
        reference = ((changed or {}).get("spec") or {}).get("claimRef")
        if reference is not None:
            return (f"{reference.get('namespace')}/{reference.get('name')}",)
        return (
            workload_controller.item_of(item)
            for item in self.view.every()
            if volume_claims.BIND_COMPLETED not in metadata.annotations(item)
        )

    async def plan(self, workload: JsonObject) -> plans.Plan:
        """Plan what a claim gets. The pods of its namespace are only looked at while it is not
        bound."""
        is_bound = volume_claims.BIND_COMPLETED in metadata.annotations(workload)
        is_settled = is_bound and not metadata.deletion_timestamp(workload)
        pods = self.around.view(PODS)
        world = volume_claims.VolumeWorld(
            self._volumes(workload),
            self.around.view(STORAGE_CLASSES).every(),
            () if is_settled else pods.in_namespace(metadata.namespace(workload)),
        )
        count = len(world.volumes) + len(world.pods)
        return await self.decided(count, volume_claims.claim_plan, workload, world)

    def _volumes(self, claim: JsonObject) -> Sequence[JsonObject]:
        """Return the volume that a claim names, or that was made for it; else all."""
        view = self.around.view(VOLUMES)
        named = (claim.get("spec") or {}).get("volumeName")
        result = view.get("", named or volume_claims.provisioned_name(claim))
        if result is not None:
            return (result,)
        return () if named else view.every()


def _claims_of(pod: JsonObject | None) -> Iterable[str]:
    for volume in ((pod or {}).get("spec") or {}).get("volumes") or ():
        name = (volume.get("persistentVolumeClaim") or {}).get("claimName")
        if name:
            yield f"{metadata.namespace(pod)}/{name}"


class Volumes(PlannedController):
    """A change of a claim concerns the volume that names it."""

    account = "persistent-volume-binder"
    component = "persistentvolume-controller"
    workloads = VOLUMES
    dependents: ClassVar[tuple[GroupVersionResource, ...]] = (VOLUME_CLAIMS,)

    def concerned(self, change: Change) -> Iterable[str]:
        if change.key.startswith(self.view.prefix):
            return super().concerned(change)
        changed = change.new or change.old
        name = ((changed or {}).get("spec") or {}).get("volumeName")
        return (f"/{name}",) if name else ()

    async def plan(self, workload: JsonObject) -> plans.Plan:
        """Plan the phase of a volume from the claim that it names."""
        reference = (workload.get("spec") or {}).get("claimRef") or {}
        namespace, name = reference.get("namespace") or "", reference.get("name") or ""
        return volume_claims.volume_plan(
            workload, self.around.view(VOLUME_CLAIMS).get(namespace, name)
        )


class AttributesClasses(PlannedController):
    """A change of a claim or a volume concerns the classes that it had before."""

    account = "volumeattributesclass-protection-controller"
    workloads = VOLUME_ATTRIBUTES_CLASSES
    dependents: ClassVar[tuple[GroupVersionResource, ...]] = (VOLUME_CLAIMS, VOLUMES)

    def concerned(self, change: Change) -> Iterable[str]:
        if change.key.startswith(self.view.prefix):
            return super().concerned(change)
        return [f"/{name}" for name in attributes_classes(change.old or {})]

    async def plan(self, workload: JsonObject) -> plans.Plan:
        """Plan the end of a class that nothing has any more."""
        users = (self.around.view(gvr).every() for gvr in self.dependents)
        return volume_claims.attributes_class_plan(workload, itertools.chain(*users))


class DefaultClass(PlannedController):
    """A cluster without a class gets one when it begins, so that claims are bound that name none.
    There is one item: the namespace that every cluster has."""

    account = "persistent-volume-binder"
    workloads = NAMESPACES
    touched: ClassVar[tuple[GroupVersionResource, ...]] = (STORAGE_CLASSES,)
    _is_done = False

    def concerned(self, change: Change) -> Iterable[str]:
        is_first = metadata.name(change.new) == _SYSTEM and not self._is_done
        return (f"/{_SYSTEM}",) if is_first else ()

    async def plan(self, workload: JsonObject) -> plans.Plan:
        """Plan the standard StorageClass, once, if there is no class at all."""
        if self._is_done or self.around.view(STORAGE_CLASSES).every():
            return plans.NOTHING_TO_DO
        self._is_done = True
        return plans.Plan((plans.Step(plans.Verb.CREATE, STANDARD_CLASS, may_exist=True),))


STANDARD_CLASS: Final = {
    "apiVersion": "storage.k8s.io/v1",
    "kind": "StorageClass",
    "metadata": {"name": "standard", "annotations": {DEFAULT_STORAGE_CLASS[0]: "true"}},
    "provisioner": "volumes.simulation.celadon.dev",
    "reclaimPolicy": "Delete",
    "volumeBindingMode": "Immediate",
}
"""Its volumes are there at once."""


# --- Autoscalers -------------------------------------------------------------
#
# The controller of HorizontalPodAutoscalers.
#
# As k8s.io/kubernetes `pkg/controller/podautoscaler`, which looks at all of them every 15
# seconds.

AUTOSCALERS: Final = GroupVersionResource("autoscaling", "v2", "horizontalpodautoscalers")
_REMEMBERED: Final = 256
"""Recommendations of one autoscaler, and changes that it made: of more than an hour."""


class _Memory:
    """Holds what is known of one autoscaler since it was seen first."""

    def __init__(self) -> None:
        self.recommendations: deque[autoscaling.Recommendation] = deque(maxlen=_REMEMBERED)
        self.resizings: deque[autoscaling.Resizing] = deque(maxlen=_REMEMBERED)

    def past(self) -> autoscaling.Past:
        """Return all that is past, as it is now."""
        return autoscaling.Past(tuple(self.recommendations), tuple(self.resizings))


class Autoscalers(PlannedController):
    """Scales what is built in; other kinds have no scale here. It looks every 15 seconds, and when
    something else is asked for."""

    account = component = "horizontal-pod-autoscaler"
    workloads = AUTOSCALERS
    touched = tuple(SCALED.values())

    def __init__(self, around: workload_controller.Surroundings) -> None:
        super().__init__(around)
        self._memories: dict[str, _Memory] = {}

    def concerned(self, change: Change) -> Iterable[str]:
        """Return the items to look at after a change. A status is written by nobody else."""
        if change.new is None and change.old is not None:
            self._memories.pop(metadata.uid(change.old), None)
        if _asked(change.old) == _asked(change.new):
            return ()
        return super().concerned(change)

    async def sync(self, workload: JsonObject) -> float | None:
        """Scale a workload, if need be. What metrics recommend is remembered for the next time, and
        a change if it could be made. Raises Stale."""
        target, now = self._target(workload), self.around.now()
        memory = self._memories.setdefault(metadata.uid(workload), _Memory())
        if isinstance(target, autoscaling.Target) and not memory.recommendations:
            memory.recommendations.append(autoscaling.Recommendation(now, target.replicas))
        count = len(target.pods) if isinstance(target, autoscaling.Target) else 0
        scaling = await self.decided(
            count, autoscaling.autoscaler_plan, workload, target, memory.past(), now
        )
        if scaling.recommended is not None:
            memory.recommendations.append(autoscaling.Recommendation(now, scaling.recommended))
        await self.runner.run(scaling.plan, workload)
        if scaling.resized:
            memory.resizings.append(autoscaling.Resizing(now, scaling.resized))
        return scaling.plan.requeue_after

    def _target(self, autoscaler: JsonObject) -> autoscaling.Target | str:
        reference = (autoscaler.get("spec") or {}).get("scaleTargetRef") or {}
        kind, name = reference.get("kind") or "", reference.get("name") or ""
        gvr = SCALED.get(kind)
        if gvr is None:
            version = reference.get("apiVersion") or "v1"
            return f'no matches for kind "{kind}" in group "{version.rpartition("/")[0]}"'
        namespace = metadata.namespace(autoscaler)
        view = self.around.view(gvr).get(namespace, name)
        if view is None:
            group = f".{gvr.group}" if gvr.group else ""
            return f'{gvr.resource}{group} "{name}" not found'
        spec = view.get("spec") or {}
        replicas = spec.get("replicas")
        pods = self.around.view(PODS).in_namespace(namespace)
        return autoscaling.Target(
            view, 1 if replicas is None else replicas, bool(spec.get("selector")), pods
        )


def _asked(autoscaler: JsonObject | None) -> object:
    """Return what an autoscaler asks for; None if it is not there."""
    if autoscaler is None:
        return None
    return autoscaler.get("spec"), metadata.annotations(autoscaler)


# --- The controllers of a simulated cluster ------------------------------------

_MAKERS: Final[Sequence[Callable[[workload_controller.Surroundings], Controller]]] = (
    deployments.DeploymentController,
    deployments.ReplicaSetController,
    deployments.ReplicationControllers,
    StatefulSets,
    DaemonSets,
    Jobs,
    CronJobs,
    EndpointSlices,
    MirroredSlices,
    Endpoints,
    DisruptionBudgets,
    Autoscalers,
    DefaultClass,
    VolumeClaims,
    Volumes,
    AttributesClasses,
    Nodes,
    Scheduler,
    Kubelets,
    PodEvictions,
)


def simulated_controllers(
    surroundings: ControllerSurroundings, settings: SimulationSettings
) -> Sequence[Controller]:
    """Return all controllers of a simulated cluster, ready to be run."""
    around = workload_controller.Surroundings(surroundings, settings)
    resources = known_resources(all_versions=True)
    return [
        make(around)
        for make in _MAKERS
        if make is not AttributesClasses or resources.by_gvr(VOLUME_ATTRIBUTES_CLASSES) is not None
    ]
