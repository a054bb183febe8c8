"""Controllers that carry out plans, and those of StatefulSets, DaemonSets, Jobs and CronJobs.

What there is to do is decided in `planning`; here it is seen, asked for, and told.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import ClassVar, Final, TypeVar

from celadon.apiserver.controllers.controller_loops import Change, Stale
from celadon.apiserver.simulation.event_recorder import EventRecorder
from celadon.apiserver.simulation.planning.cron_jobs import cron_job_plan
from celadon.apiserver.simulation.planning.daemon_sets import DaemonWorld, daemon_set_plan
from celadon.apiserver.simulation.planning.jobs import job_plan, released_pods
from celadon.apiserver.simulation.planning.plans import CREATED_NAME, Plan, Step, Told, Verb
from celadon.apiserver.simulation.planning.pod_facts import controller_of
from celadon.apiserver.simulation.planning.stateful_sets import StatefulWorld, stateful_set_plan
from celadon.apiserver.simulation.pod_control import Dependents, is_namespace_ending
from celadon.apiserver.simulation.requests import CONFLICT, Requests
from celadon.apiserver.simulation.surroundings import CONTROLLER_MANAGER, Surroundings
from celadon.apiserver.simulation.workload_controller import WorkloadController, item_of
from celadon.kube import GroupVersionResource, JsonObject, metadata
from celadon.kube.resources import Resource
from celadon.kube.well_known_values import NODES, PODS, VOLUME_CLAIMS
from celadon.kube.workload_controllers import JOB_TRACKING

REVISIONS: Final = GroupVersionResource("apps", "v1", "controllerrevisions")
STATEFUL_SETS: Final = GroupVersionResource("apps", "v1", "statefulsets")
DAEMON_SETS: Final = GroupVersionResource("apps", "v1", "daemonsets")
CRON_JOBS: Final = GroupVersionResource("batch", "v1", "cronjobs")
JOBS: Final = GroupVersionResource("batch", "v1", "jobs")


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
        self._resources = {one.gvk.kind: one for one in resources}

    async def run(self, plan: Plan, about: JsonObject) -> None:
        """Events are about an object. Raises Stale when something was refused."""
        was_refused = False
        for step in plan.steps:
            if was_refused and step.verb is not Verb.STATUS:
                continue
            was_refused = not await self._take(step, about, was_refused=was_refused) or was_refused
        if was_refused:
            raise Stale

    async def _take(self, step: Step, about: JsonObject, *, was_refused: bool) -> bool:
        """Whether it succeeded. Raises Stale."""
        if step.verb is Verb.TELL:
            await self._tell(step.done, step.object)
            return True
        obj = step.otherwise if was_refused and step.otherwise is not None else step.object
        resource = self._resources[obj["kind"]]
        if step.verb is Verb.CREATE:
            return await self._create(resource, step, about)
        if step.verb is Verb.DELETE:
            return await self._delete(resource, step, about)
        if step.verb is Verb.SCALE:
            change = {"spec": {"replicas": obj["spec"]["replicas"]}}
            reply = await self._requests.patch(resource, obj, change, "scale")
        else:
            subresource = "status" if step.verb is Verb.STATUS else ""
            reply = await self._requests.update(resource, obj, subresource)
        await self._tell(step.failed if reply.failed else step.done, about, reply.message)
        return not reply.failed

    async def _create(self, resource: Resource, step: Step, about: JsonObject) -> bool:
        reply = await self._requests.create(resource, step.object)
        if reply.code == CONFLICT:
            if step.may_exist:
                return True
            raise Stale
        if reply.failed or reply.code >= 400:
            if not is_namespace_ending(reply):
                await self._tell(step.failed, about, reply.message)
            return False
        await self._tell(step.done, about, name=metadata.name(reply.body))
        if step.follow is not None:
            return await self._take(step.follow(reply.body), about, was_refused=False)
        return True

    async def _delete(self, resource: Resource, step: Step, about: JsonObject) -> bool:
        policy = "Foreground" if step.is_foreground else "Background"
        try:
            reply = await self._requests.delete(resource, step.object, policy=policy)
        except Stale:  # it is gone already
            return True
        await self._tell(step.failed if reply.failed else step.done, about, reply.message)
        return not reply.failed

    async def _tell(
        self, told: Told | None, about: JsonObject, error: str = "", name: str = ""
    ) -> None:
        if told is not None:
            text = told.message.replace(CREATED_NAME, name) if name else told.message
            if told.message.endswith(": "):
                text += error
            await self._events.record(about, told.type, told.reason, text)


class PlannedController(WorkloadController):
    """One whose decisions are plans. `component` is how its events call it; `touched` are the
    resources of which it writes objects, besides its dependents."""

    component: ClassVar[str] = CONTROLLER_MANAGER
    touched: ClassVar[tuple[GroupVersionResource, ...]] = ()

    def __init__(self, around: Surroundings) -> None:
        super().__init__(around)
        self.events = around.recorder(self.requests, self.component)
        kinds = (self.workloads, *self.dependents, *self.touched)
        resources = [around.view(one).resource for one in kinds]
        self.runner = PlanRunner(self.requests, self.events, resources)
        self._aside = around.aside(self.account)

    async def sync(self, workload: JsonObject) -> float | None:
        """Carry out what is planned. Raises Stale."""
        plan = await self.plan(workload)
        await self.runner.run(plan, workload)
        return plan.again

    async def plan(self, workload: JsonObject) -> Plan:
        """What there is to do. Raises Stale."""
        raise NotImplementedError

    async def decided(self, count: int, plan: Callable[..., T], *args: object) -> T:
        """The plan that a function makes, which is made in a worker if so many objects are looked
        at that others would wait for it."""
        return plan(*args) if count <= FEW else await self._aside(plan, *args)

    async def claimed(self, gvr: GroupVersionResource, workload: JsonObject) -> list[JsonObject]:
        """The objects of a dependent resource that are the workload's. Raises Stale."""
        return await Dependents(self.around.view(gvr), self.requests).claimed(workload)


class StatefulSets(PlannedController):
    """As upstream's `statefulset-controller`."""

    account = component = "statefulset-controller"
    workloads = STATEFUL_SETS
    dependents: ClassVar[tuple[GroupVersionResource, ...]] = (PODS, REVISIONS)
    touched: ClassVar[tuple[GroupVersionResource, ...]] = (VOLUME_CLAIMS,)

    async def plan(self, workload: JsonObject) -> Plan:
        """Raises Stale."""
        namespace = metadata.namespace(workload)
        claims = self.around.view(VOLUME_CLAIMS).in_namespace(namespace)
        pods = await self.claimed(PODS, workload)
        revisions = self.around.view(REVISIONS).in_namespace(namespace)
        world = StatefulWorld(pods, {metadata.name(one): one for one in claims}, revisions)
        count = max(len(pods), (workload.get("spec") or {}).get("replicas") or 0)
        return await self.decided(count, stateful_set_plan, workload, world, self.around.now())


class DaemonSets(PlannedController):
    """As upstream's `daemonset-controller`. A change of a node concerns all."""

    account = "daemon-set-controller"
    component = "daemonset-controller"
    workloads = DAEMON_SETS
    dependents: ClassVar[tuple[GroupVersionResource, ...]] = (PODS, REVISIONS)

    @property
    def prefixes(self) -> Sequence[str]:
        """Nodes are looked at, too."""
        return (*super().prefixes, self.around.view(NODES).prefix)

    def concerned(self, change: Change) -> Iterable[str]:
        """The items to look at after a change."""
        if change.key.startswith(self.around.view(NODES).prefix):
            return map(item_of, self.view.every())
        return super().concerned(change)

    async def plan(self, workload: JsonObject) -> Plan:
        """Raises Stale."""
        nodes, pods = self.around.view(NODES).every(), await self.claimed(PODS, workload)
        revisions = self.around.view(REVISIONS).in_namespace(metadata.namespace(workload))
        world, count = DaemonWorld(nodes, pods, revisions), len(nodes) + len(pods)
        return await self.decided(count, daemon_set_plan, workload, world, self.around.now())


class Jobs(PlannedController):
    """As upstream's `job-controller`. Pods that have no Job any longer are let go: they are items
    of their own."""

    account = component = "job-controller"
    workloads = JOBS
    dependents: ClassVar[tuple[GroupVersionResource, ...]] = (PODS,)

    def concerned(self, change: Change) -> Iterable[str]:
        """The items to look at after a change."""
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
        """Whether a pod still waits for a Job that is gone, also where there is another one of its
        name."""
        if JOB_TRACKING not in metadata.finalizers(pod):
            return False
        owner = controller_of(pod)
        job = self.view.get(metadata.namespace(pod), str(owner.get("name") or ""))
        return job is None or metadata.uid(job) != owner.get("uid")

    async def reconcile(self, item: str) -> float | None:
        """In how many seconds to look again, if at all. Raises Stale."""
        namespace, _, name = item.partition("/")
        if not name.startswith(_ORPHAN):
            return await super().reconcile(item)
        orphan = self.around.view(PODS).get(namespace, name.removeprefix(_ORPHAN))
        if orphan is not None and self._is_left(orphan):
            await self.runner.run(released_pods([orphan]), orphan)
        return None

    async def plan(self, workload: JsonObject) -> Plan:
        """Raises Stale."""
        pods = await self.claimed(PODS, workload)
        count = max(len(pods), (workload.get("spec") or {}).get("parallelism") or 0)
        return await self.decided(count, job_plan, workload, pods, self.around.now())


class CronJobs(PlannedController):
    """As upstream's `cronjob-controller`."""

    account = component = "cronjob-controller"
    workloads = CRON_JOBS
    dependents: ClassVar[tuple[GroupVersionResource, ...]] = (JOBS,)

    async def plan(self, workload: JsonObject) -> Plan:
        """What there is to do."""
        jobs = self.around.view(JOBS).managed_by(metadata.uid(workload))
        return await self.decided(len(jobs), cron_job_plan, workload, jobs, self.around.now())
