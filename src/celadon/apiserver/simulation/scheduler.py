"""The scheduler: pods get their nodes, the most important first.

As k8s.io/kubernetes `pkg/scheduler`. Which node that is, `scheduling` says.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from celadon.apiserver.controllers import controller_loops as loops
from celadon.apiserver.handlers.bindings_and_evictions import BUDGETS
from celadon.apiserver.simulation.nodes import disrupted_status
from celadon.apiserver.simulation.planning import node_filters, node_scores
from celadon.apiserver.simulation.planning.pod_lifecycle import OBSERVED_SINCE
from celadon.apiserver.simulation.planning.pod_predicates import node_of
from celadon.apiserver.simulation.planning.volume_claims import SELECTED_NODE
from celadon.apiserver.simulation.workload_controller import Surroundings
from celadon.apiserver.workers import Turns
from celadon.kube import GroupVersionResource, JsonObject, User, metadata
from celadon.kube.defaulting import STORAGE_CLASSES
from celadon.kube.json_types import JsonDict
from celadon.kube.releases import is_since
from celadon.kube.well_known_values import AUTHENTICATED, NAMESPACES, PODS, VOLUME_CLAIMS

NODES: Final = GroupVersionResource("", "v1", "nodes")
SCHEDULER: Final = "default-scheduler"
USER: Final = User("system:kube-scheduler", (AUTHENTICATED,))
_ALL: Final = "pods"
_PREEMPTED: Final = "PreemptionByScheduler"


class PlacedPods:
    """Keeps the nodes with the pods on them, from one look to the next: a pod that comes or goes
    costs the same among ten and among ten thousand. `neighbours` is as new as the store."""

    def __init__(self, around: Surroundings) -> None:
        self._pods = around.view(PODS)
        self._nodes = around.view(NODES)
        self._spaces = around.view(NAMESPACES)
        self._neighbours: node_filters.Neighbours | None = None
        self._states: dict[str, node_filters.NodeState] = {}
        self._labels: dict[str, Mapping[str, str]] = {}
        """Of namespaces."""
        self._promises: list[tuple[str, JsonObject]] = []
        """Names of nodes, and pods for which others make room there."""
        self.node_changes = 0
        """How often nodes have changed in what pods are placed by."""
        self._pods.follow(self._pod_changed)
        self._nodes.follow(self._node_changed)
        self._spaces.follow(self._space_changed)

    def neighbours(self) -> node_filters.Neighbours:
        """Return the nodes with the pods that are there, or that others make room for."""
        for view in (self._pods, self._nodes, self._spaces):
            view.refresh()
        if self._neighbours is None:
            self._neighbours = self._counted()
        return self._neighbours

    def promise(self, pod: JsonObject, node: str) -> None:
        """Count a pod as if it were on a node, until promises are forgotten."""
        self._promises.append((node, pod))
        self._take(node, pod)

    def forget_promises(self) -> None:
        """Count no longer what was promised."""
        for node, pod in self._promises:
            self._leave(node, pod)
        self._promises.clear()

    # What pods are placed by changes seldom where it is about nodes and namespaces; then all is
    # counted anew.
    def _counted(self) -> node_filters.Neighbours:
        self._states = {
            metadata.name(item): node_filters.NodeState(item) for item in self._nodes.every()
        }
        for name, state in self._states.items():
            promised = (pod for node, pod in self._promises if node == name)
            for pod in (*filter(node_filters.takes_room, self._pods.on_node(name)), *promised):
                state.take(pod, node_filters.needs(pod))
        return node_filters.Neighbours(list(self._states.values()), self._labels)

    def _pod_changed(self, old: JsonObject | None, new: JsonObject | None) -> None:
        if old is not None and node_filters.takes_room(old):
            self._leave(node_of(old), old)
        if new is not None and node_filters.takes_room(new):
            self._take(node_of(new), new)

    def _node_changed(self, old: JsonObject | None, new: JsonObject | None) -> None:
        state = None if new is None else self._states.get(metadata.name(new))
        if old is None or new is None or state is None or _node_facts(old) != _node_facts(new):
            self._neighbours = None
            self.node_changes += 1
        else:
            state.node = new

    def _space_changed(self, old: JsonObject | None, new: JsonObject | None) -> None:
        if new is None:
            self._labels.pop("" if old is None else metadata.name(old), None)
            return
        if old is not None and metadata.labels(old) != metadata.labels(new):
            self._neighbours = None
        self._labels[metadata.name(new)] = metadata.labels(new)

    def _take(self, node: str, pod: JsonObject) -> None:
        if self._neighbours is not None and node in self._states:
            self._neighbours.take(self._states[node], pod, node_filters.needs(pod))

    def _leave(self, node: str, pod: JsonObject) -> None:
        if self._neighbours is not None and node in self._states:
            self._neighbours.leave(self._states[node], pod)


# As k8s.io/kubernetes `pkg/scheduler/schedule_one.go`, without its queues: all pods that wait are
# tried again whenever anything changes that could help one of them, which is cheap among simulated
# nodes, and leaves nothing to be forgotten in a queue.
class Scheduler:
    """Finds nodes for pods. There is one item: all pods that wait for a node."""

    urgent = False

    def __init__(self, around: Surroundings) -> None:
        self._around = around
        self._pods = around.view(PODS)
        self._nodes = around.view(NODES)
        self._claims = around.view(VOLUME_CLAIMS)
        self._requests = around.requests_of(USER, "kube-scheduler")
        self._events = around.recorder(self._requests, SCHEDULER, f"{SCHEDULER}-celadon")
        self._placed = PlacedPods(around)
        self._turns = Turns()

    @property
    def prefixes(self) -> Sequence[str]:
        """Return the prefixes of all that says where pods may go."""
        views = (self._pods, self._nodes, self._claims)
        return tuple(view.prefix for view in views)

    def concerned(self, change: loops.Change) -> Iterable[str]:
        """Return a pod that waits, room that is free, a node that has changed, a claim."""
        old, new = change.old, change.new
        if change.key.startswith(self._pods.prefix):
            has_left = new is None or not node_filters.takes_room(new)
            if new is not None and waits(new) and not _is_only_told(old, new):
                return (_ALL,)
            return (_ALL,) if old is not None and node_filters.takes_room(old) and has_left else ()
        if change.key.startswith(self._nodes.prefix) and old is not None and new is not None:
            return (_ALL,) if _node_facts(old) != _node_facts(new) else ()
        return (_ALL,)

    async def reconcile(self, _: str) -> None:
        """Try all pods that wait, the most important first. Raises Stale."""
        waiting = [pod for pod in self._pods.on_node("") if waits(pod)]
        if not waiting:
            return
        self._placed.forget_promises()
        # As the plugin PrioritySort, with names last: two runs of the same cluster give the same
        # nodes.
        waiting.sort(key=_turn)
        # One pod that somebody else has changed must not hold up all others; it is tried again
        # afterwards.
        has_lost = False
        self._placed.neighbours()
        node_changes = self._placed.node_changes
        for pod in waiting:
            self._placed.neighbours()
            if self._placed.node_changes != node_changes:
                # All are tried again, and pods that were refused have the first say in what is new.
                return
            try:
                await self._schedule(pod)
            except loops.Stale:
                has_lost = True
            await self._turns.take()
        if has_lost:
            raise loops.Stale

    async def _schedule(self, pod: JsonObject) -> None:
        neighbours = self._placed.neighbours()
        reason = self._claims_missing(pod)
        if reason:
            await self._refuse(pod, node_filters.before_filters(len(neighbours.states), reason))
            return
        fit = node_filters.fit_of(pod, neighbours)
        if fit.fitting:
            best = node_scores.best_node(pod, fit.fitting, neighbours)
            if not await self._select(pod, best.name):
                await self._bind(pod, best.name)
            return
        # Upstream's PostFilter plugins, of which DefaultPreemption is the only one.
        budgets = self._around.view(BUDGETS).every()
        preemption = node_scores.preemption_for(pod, neighbours, fit.refusals, budgets)
        node = node_scores.nominated_node(pod)
        if preemption.state is not None:
            node = preemption.state.name
            await self._evict(pod, preemption)
        detail = None if preemption.state is not None else preemption.message
        await self._refuse(pod, node_filters.unschedulable(fit.refusals, detail), node)
        if node:  # less important pods do not get what is made free
            self._placed.promise(pod, node)

    async def _evict(self, pod: JsonObject, preemption: node_scores.Preemption) -> None:
        for victim in preemption.victims:
            # It goes already, for this pod or for another one.
            if metadata.deletion_timestamp(victim):
                continue
            message = f"{SCHEDULER}: preempting to accommodate a higher priority pod"
            status = disrupted_status(victim, _PREEMPTED, message, self._around.timestamp())
            await self._requests.update(self._pods.resource, {**victim, "status": status}, "status")
            await self._requests.delete(self._pods.resource, victim)
            where = "" if preemption.state is None else preemption.state.name
            text = f"Preempted by pod {metadata.uid(pod)} on node {where}"
            await self._events.record_action(victim, "Normal", "Preempted", text, "Preempting")

    async def _bind(self, pod: JsonObject, node: str) -> None:
        meta = {"name": metadata.name(pod), "uid": metadata.uid(pod)}
        binding = {
            "apiVersion": "v1",
            "kind": "Binding",
            "metadata": meta,
            "target": {"kind": "Node", "name": node},
        }
        namespace, name = metadata.namespace(pod), metadata.name(pod)
        path = loops.resource_path(self._pods.resource, namespace, name)
        reply = await self._requests.post(f"{path}/binding", binding)
        if reply.code >= 400:
            raise loops.Stale
        message = f"Successfully assigned {namespace}/{name} to {node}"
        await self._events.record_action(pod, "Normal", "Scheduled", message, "Binding")

    async def _refuse(self, pod: JsonObject, message: str, node: str = "") -> None:
        """Write and tell why the pod has no node, with the node where others make room for it, if
        they do."""
        status = pod.get("status") or {}
        conditions = list(status.get("conditions") or ())
        former = loops.find_condition(conditions, "PodScheduled")
        is_known = former is not None and former.get("message") == message
        # The condition is only written when it says something new, or each attempt would wake all
        # watchers.
        if is_known and node_scores.nominated_node(pod) == node:
            return
        await self._events.record_action(pod, "Warning", "FailedScheduling", message, "Scheduling")
        since = None if former is None else former.get("lastTransitionTime")
        if former is None or former.get("status") != "False":
            since = self._around.timestamp()
        scheduled: JsonDict = {"type": "PodScheduled", "status": "False"}
        if is_since(OBSERVED_SINCE):
            scheduled["observedGeneration"] = metadata.generation(pod)
        scheduled |= {"lastProbeTime": None, "lastTransitionTime": since}
        scheduled |= {"reason": "Unschedulable", "message": message}
        others = [condition for condition in conditions if condition is not former]
        result = {**status, "conditions": [*others, scheduled]}
        if node:
            result["nominatedNodeName"] = node
        changed = {**pod, "status": result}
        await self._requests.update(self._pods.resource, changed, "status")

    # --- claims ---

    def _wanted_claims(self, pod: JsonObject) -> Iterable[str]:
        for volume in (pod.get("spec") or {}).get("volumes") or ():
            if "persistentVolumeClaim" in volume:
                yield volume["persistentVolumeClaim"]["claimName"]
            elif "ephemeral" in volume:
                yield f"{metadata.name(pod)}-{volume['name']}"

    # As the PreFilter of the plugin VolumeBinding (`binder.go`).
    def _claims_missing(self, pod: JsonObject) -> str:
        for name in self._wanted_claims(pod):
            claim = self._claims.get(metadata.namespace(pod), name)
            if claim is None or metadata.deletion_timestamp(claim):
                state = "not found" if claim is None else "is being deleted"
                return f'persistentvolumeclaim "{name}" {state}'
            if not _is_bound(claim) and not self._waits_for_node(claim):
                return "pod has unbound immediate PersistentVolumeClaims"
        return ""

    # A class that binds at once needs no node; without such a class, a claim that is not bound
    # never will be by anything that happens here.
    def _waits_for_node(self, claim: JsonObject) -> bool:
        name = (claim.get("spec") or {}).get("storageClassName") or ""
        view = self._around.view(STORAGE_CLASSES).get("", name) if name else None
        return view is not None and view.get("volumeBindingMode") == "WaitForFirstConsumer"

    # As `BindPodVolumes`: the pod gets its node only when its volumes are there.
    async def _select(self, pod: JsonObject, node: str) -> bool:
        """Tell unbound claims of the pod to get their volumes for that node; return whether there
        are any, which are waited for."""
        unbound = False
        for name in self._wanted_claims(pod):
            claim = self._claims.get(metadata.namespace(pod), name)
            if claim is None or _is_bound(claim):
                continue
            unbound = True
            if metadata.annotations(claim).get(SELECTED_NODE) != node:
                change = {"metadata": {"annotations": {SELECTED_NODE: node}}}
                await self._requests.patch(self._claims.resource, claim, change)
        return unbound


def waits(pod: JsonObject) -> bool:
    """Tell whether the pod is this scheduler's to find a node for."""
    spec = pod.get("spec") or {}
    return (
        not node_of(pod)
        and not metadata.deletion_timestamp(pod)
        and not spec.get("schedulingGates")
        and spec.get("schedulerName", SCHEDULER) == SCHEDULER
    )


def _turn(pod: JsonObject) -> tuple[int, str, str]:
    return -node_scores.priority_of(pod), metadata.creation_timestamp(pod), metadata.name(pod)


def _is_only_told(old: JsonObject | None, new: JsonObject) -> bool:
    """Tell whether nothing of the pod has changed but its status."""
    if old is None:
        return False
    same = metadata.labels(old) == metadata.labels(new)
    return same and old.get("spec") == new.get("spec")


def _is_bound(claim: JsonObject) -> bool:
    return bool((claim.get("spec") or {}).get("volumeName")) and (
        (claim.get("status") or {}).get("phase") == "Bound"
    )


# Heartbeats change the status of each node every few seconds and help nobody.
def _node_facts(node: JsonObject) -> tuple[object, ...]:
    """Return what pods are placed by."""
    spec, status = node.get("spec") or {}, node.get("status") or {}
    facts = spec.get("unschedulable"), spec.get("taints"), status.get("allocatable")
    return metadata.labels(node), *facts
