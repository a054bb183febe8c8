"""The nodes of a simulated cluster: they say that they are there, their kubelets run pods, and pods
leave them that may not stay.

Every node of the cluster is one of these, also those that users create. As k8s.io/kubernetes
`pkg/kubelet/nodestatus`, `pkg/controller/nodelifecycle` and `pkg/controller/tainteviction`.
"""

from __future__ import annotations

import ipaddress
import zlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from functools import partial
from typing import Final

from celadon.apiserver.bootstrap_objects import ROOT_CA_CONFIG_MAP, root_ca_config_map
from celadon.apiserver.controllers.controller_loops import Change, Stale, find_condition, is_true
from celadon.apiserver.controllers.server_controllers import CONFIG_MAPS, built_in
from celadon.apiserver.object_store import collection_prefix
from celadon.apiserver.simulation.cluster_client import EventRecorder, Requests
from celadon.apiserver.simulation.planning import node_filters, pod_lifecycle, pod_predicates
from celadon.apiserver.simulation.workload_controller import Surroundings, item_of
from celadon.kube import GroupVersionResource, JsonObject, User, metadata, well_known_values
from celadon.kube.json_types import JsonDict
from celadon.kube.releases import is_since
from celadon.records import dataclass

# --- Kubelets ----------------------------------------------------------------
#
# The kubelets of all nodes: what happens to pods that have a node.
#
# What that is, `pod_lifecycle` says; here it is written, told, and done to pods that are deleted.

KUBELET: Final = "kubelet"


@dataclass(frozen=True, slots=True)
class Kubelet:
    """Holds the kubelet of one node: what asks and what tells in its name."""

    requests: Requests
    events: EventRecorder


def kubelet_of(around: Surroundings, node: str) -> Kubelet:
    """Return the requests and the events of a node's kubelet, in its own name."""
    user = User(f"system:node:{node}", ("system:nodes", well_known_values.AUTHENTICATED))
    requests = around.requests_of(user, KUBELET)
    return Kubelet(requests, around.recorder(requests, KUBELET, node))


class Kubelets:
    """Runs the pods of all nodes. Items are `namespace/name` of pods. A node that is not ready does
    nothing."""

    urgent = False

    def __init__(self, around: Surroundings) -> None:
        self._around = around
        self._pods = around.view(well_known_values.PODS)
        self._nodes = around.view(well_known_values.NODES)
        self._kubelets: dict[str, Kubelet] = {}
        self._habits = pod_lifecycle.Habits(
            around.settings.ready_seconds, around.settings.run_seconds
        )
        self._sources = tuple(
            collection_prefix(built_in(item)) for item in (CONFIG_MAPS, well_known_values.SECRETS)
        )
        self._lacking: dict[str, set[str]] = {}
        """Pods that wait for a ConfigMap or a Secret, by namespace."""
        self._taken: dict[str, node_filters.NodeState] = {}
        """The nodes with the pods that they have taken, by name."""
        self._pods.follow(self._pod_changed)

    @property
    def prefixes(self) -> Sequence[str]:
        """Return the prefixes of pods, of nodes, and of what pods are configured by."""
        return (self._pods.prefix, self._nodes.prefix, *self._sources)

    def concerned(self, change: Change) -> Iterable[str]:
        """Return a pod on a node; all pods on a node that comes back; pods that lack a ConfigMap or
        a Secret when one comes or changes."""
        if change.key.startswith(self._sources):
            namespace = metadata.namespace(change.new) if change.new is not None else ""
            return tuple(self._lacking.get(namespace, ()))
        if change.key.startswith(self._pods.prefix):
            return (
                (item_of(change.new),)
                if change.new is not None and pod_predicates.node_of(change.new)
                else ()
            )
        if change.new is None or _is_ready(change.new) == _is_ready(change.old):
            return ()
        return map(item_of, self._pods.on_node(metadata.name(change.new)))

    async def reconcile(self, item: str) -> float | None:
        """Take the next step of a pod on its node. Raises Stale."""
        namespace, _, name = item.partition("/")
        pod = self._pods.get(namespace, name)
        self._note_lack(namespace, item, lacks=False)
        node = None if pod is None else self._nodes.get("", pod_predicates.node_of(pod))
        if pod is None or node is None or not _is_ready(node):
            return None
        kubelet = self._kubelets.get(pod_predicates.node_of(pod))
        if kubelet is None:
            kubelet = self._kubelets[pod_predicates.node_of(pod)] = kubelet_of(
                self._around, pod_predicates.node_of(pod)
            )
        if metadata.deletion_timestamp(pod):
            return await self._end(pod, kubelet)
        if pod_predicates.has_ended(pod):
            return None
        rejection = self._rejection(pod, node)
        if rejection is not None:
            await self._fail(pod, kubelet, rejection, pod_lifecycle.rejected_status)
            return None
        eviction = metadata.annotations(pod).get(pod_lifecycle.EVICT)
        if eviction:
            cause = node_filters.Rejection("Evicted", eviction)
            await self._fail(pod, kubelet, cause, pod_lifecycle.killed_status)
            return None
        address = self._pod_address(pod, node)
        if address is None:
            message = f"Failed to create pod sandbox: no IP addresses available in {_network(node)}"
            await kubelet.events.record(pod, "Warning", "FailedCreatePodSandBox", message)
            raise Stale
        where = pod_lifecycle.Addresses(_address(node), address)
        sources = pod_predicates.Sources(
            partial(self._config_map, namespace),
            partial(self._around.stored, well_known_values.SECRETS, namespace),
        )
        step = pod_lifecycle.next_step(pod, where, self._habits, self._around.now(), sources)
        self._note_lack(namespace, item, lacks=step.lacks)
        if step.status != pod.get("status"):
            await self._write(pod, step.status, kubelet)
        for event in step.events:
            await kubelet.events.record(pod, event.kind, event.reason, event.message, event.field)
        return step.requeue_after

    def _rejection(self, pod: JsonObject, node: JsonObject) -> node_filters.Rejection | None:
        """Return why the node does not take a pod that is new there; pods that it has taken have a
        time of their start."""
        if pod_predicates.status_of(pod).get("startTime"):
            return None
        self._pods.refresh()
        name = metadata.name(node)
        state = self._taken.get(name)
        if state is None or state.node is not node:
            state = self._taken[name] = node_filters.NodeState(node)
            for other in filter(_is_taken, self._pods.on_node(name)):
                state.take(other, node_filters.needs(other))
        return node_filters.rejection_of(pod, node_filters.needs(pod), state)

    def _pod_changed(self, old: JsonObject | None, new: JsonObject | None) -> None:
        """See who comes to a node and who goes, so that not all that it has are counted for each
        that comes."""
        pod = new or old
        state = None if pod is None else self._taken.get(pod_predicates.node_of(pod))
        if state is None:
            return
        if old is not None and _is_taken(old):
            state.leave(old)
        if new is not None and _is_taken(new):
            state.take(new, node_filters.needs(new))

    async def _fail(
        self,
        pod: JsonObject,
        kubelet: Kubelet,
        cause: node_filters.Rejection,
        failed_status: Callable[[JsonObject, str, str, str], JsonObject],
    ) -> None:
        """Tell why a pod has failed, and write it."""
        reason, message = cause.reason, cause.message
        await kubelet.events.record(pod, "Warning", reason, message)
        status = failed_status(pod, self._around.timestamp(), reason, message)
        await self._write(pod, status, kubelet)

    def _note_lack(self, namespace: str, item: str, *, lacks: bool) -> None:
        items = self._lacking.setdefault(namespace, set())
        (items.add if lacks else items.discard)(item)
        if not items:
            del self._lacking[namespace]

    # The certificates that tokens are mounted with come from a controller that may not run.
    def _config_map(self, namespace: str, name: str) -> JsonObject | None:
        stored = self._around.stored(CONFIG_MAPS, namespace, name)
        if stored is None and name == ROOT_CA_CONFIG_MAP:
            return root_ca_config_map(namespace, "")
        return stored

    async def _write(self, pod: JsonObject, status: JsonObject, kubelet: Kubelet) -> None:
        changed = {**pod, "status": status}
        await kubelet.requests.require_update(self._pods.resource, changed, "status")

    async def _end(self, pod: JsonObject, kubelet: Kubelet) -> float | None:
        """End a pod that is deleted: its containers are stopped, then it is gone."""
        for text, name in pod_lifecycle.running_containers(pod):
            message = f"Stopping container {name}"
            await kubelet.events.record(pod, "Normal", "Killing", message, f"{text}{{{name}}}")
        left = pod_lifecycle.seconds_to_end(pod, self._around.now())
        if left > 0:
            return left
        if not pod_predicates.has_ended(pod):
            await self._write(
                pod, pod_lifecycle.killed_status(pod, self._around.timestamp()), kubelet
            )
        elif metadata.metadata(pod).get("deletionGracePeriodSeconds") != 0:
            reply = await kubelet.requests.delete(self._pods.resource, pod, grace=0)
            if reply.failed:
                raise Stale
        return None

    def _pod_address(self, pod: JsonObject, node: JsonObject) -> str | None:
        """Return the address that the pod has, or the first of its node that no other pod there
        has; None if all are taken. Pods that have ended need theirs no longer."""
        status = pod.get("status") or {}
        if status.get("podIP"):
            return str(status["podIP"])
        if (pod.get("spec") or {}).get("hostNetwork"):
            return _address(node)
        used = {
            (item.get("status") or {}).get("podIP")
            for item in self._pods.on_node(metadata.name(node))
            if not pod_predicates.has_ended(item)
        }
        network = ipaddress.ip_network(_network(node), strict=False)
        return next((text for text in map(str, network.hosts()) if text not in used), None)


def _is_ready(node: JsonObject | None) -> bool:
    status = {} if node is None else node.get("status") or {}
    return is_true(status.get("conditions"), "Ready")


def _is_taken(pod: JsonObject) -> bool:
    """Return whether a pod has been taken by its node, and has not ended."""
    return bool(pod_predicates.status_of(pod).get("startTime")) and not pod_predicates.has_ended(
        pod
    )


def _address(node: JsonObject) -> str:
    for address in (node.get("status") or {}).get("addresses") or ():
        if address.get("type") == "InternalIP":
            return str(address.get("address"))
    return "127.0.0.1"


def _network(node: JsonObject) -> str:
    """Return the pods' addresses; of a node that names none, some that are rather its own."""
    named = (node.get("spec") or {}).get("podCIDR")
    if named:
        return str(named)
    number = zlib.crc32(metadata.name(node).encode())
    return f"10.{128 + number % 100}.{number // 100 % 256}.0/24"


# --- Nodes -------------------------------------------------------------------

LEASES: Final = GroupVersionResource("coordination.k8s.io", "v1", "leases")
LEASE_SECONDS: Final = 40
RENEWAL_SECONDS: Final = 30.0
"""Between two renewals of a lease; a real kubelet renews it every ten seconds."""
VIRTUAL_RENEWAL_SECONDS: Final = 600.0
"""The same by a clock that is moved by hours: nobody there waits for a lease."""
CAPACITY: Final = {
    "cpu": "32",
    "ephemeral-storage": "1Ti",
    "hugepages-1Gi": "0",
    "hugepages-2Mi": "0",
    "memory": "256Gi",
    "pods": "110",
}
"""Of nodes that say nothing else."""
ZONES: Final = 3
"""Nodes are in so many zones, in turn."""
READY: Final = f"{pod_lifecycle.DOMAIN}/ready"
"""The annotation by which a node is not ready: `false`."""
_ACCOUNT: Final = "node-controller"
_LIFECYCLE: Final = frozenset(
    {well_known_values.NOT_READY, well_known_values.UNREACHABLE, node_filters.UNSCHEDULABLE_TAINT}
)
"""Keys of taints that are here given and taken away."""


def fake_node(number: int) -> JsonDict:
    """Return one of the nodes that are there at the start; the first has the number 1."""
    name = f"node-{number}"
    system = {"kubernetes.io/arch": "amd64", well_known_values.OPERATING_SYSTEM: "linux"}
    labels = {
        **{f"beta.{key}": value for key, value in system.items()},
        **system,
        "kubernetes.io/hostname": name,
        "topology.kubernetes.io/region": "region-1",
        "topology.kubernetes.io/zone": f"zone-{(number - 1) % ZONES + 1}",
    }
    network = f"10.{244 + number // 256 % 8}.{number % 256}.0/24"
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "labels": labels},
        "spec": {"podCIDR": network, "podCIDRs": [network]},
    }


def _as_kubelet_tells(node: JsonObject) -> JsonObject:
    """Return a node as the events of its kubelet name it: the uid is its name."""
    meta = {**metadata.metadata(node), "uid": metadata.name(node)}
    return {**node, "metadata": meta}


async def _tell_state(events: EventRecorder, node: JsonObject, state: str) -> None:
    text = f"Node {metadata.name(node)} status is now: {state}"
    await events.record(node, "Normal", state, text)


def node_status(node: JsonObject, version: str, now: str) -> JsonDict:
    """Return the status that a node's kubelet writes. The heartbeat stays as it was, unless
    something else has changed."""
    former = node.get("status") or {}
    capacity = former.get("capacity") or CAPACITY
    name = metadata.name(node)
    # As `MachineInfo` of `pkg/kubelet/nodestatus/setters.go`: who gives a node a resource of their
    # own writes its capacity alone.
    allocatable = former.get("allocatable") or capacity
    extended = {key: value for key, value in capacity.items() if "/" in key}
    result: JsonDict = {
        **former,
        "capacity": capacity,
        "allocatable": {**extended, **allocatable},
        "addresses": former.get("addresses")
        or [
            {"type": "InternalIP", "address": _host_address(node)},
            {"type": "Hostname", "address": name},
        ],
        "daemonEndpoints": {"kubeletEndpoint": {"Port": 10250}},
        "nodeInfo": _node_info(name, version),
    }
    conditions = former.get("conditions") or ()
    result["conditions"] = [
        *(condition for condition in conditions if condition.get("type") not in _CONDITIONS),
        *(_condition(type_, node, conditions, now) for type_ in _CONDITIONS),
    ]
    return result


_CONDITIONS: Final[Mapping[str, tuple[str, str, str]]] = {
    "MemoryPressure": (
        "False",
        "KubeletHasSufficientMemory",
        "kubelet has sufficient memory available",
    ),
    "DiskPressure": ("False", "KubeletHasNoDiskPressure", "kubelet has no disk pressure"),
    "PIDPressure": ("False", "KubeletHasSufficientPID", "kubelet has sufficient PID available"),
    "Ready": ("True", "KubeletReady", "kubelet is posting ready status"),
}
_DEAD: Final = ("Unknown", "NodeStatusUnknown", "Kubelet stopped posting node status.")


def _condition(type_: str, node: JsonObject, former: Sequence[JsonObject], now: str) -> JsonDict:
    status, reason, message = _CONDITIONS[type_]
    if metadata.annotations(node).get(READY) == "false":
        status, reason, message = _DEAD
    condition = find_condition(former, type_) or {}
    same = condition.get("status") == status
    return {
        "type": type_,
        "status": status,
        "lastHeartbeatTime": (condition.get("lastHeartbeatTime") if same else None) or now,
        "lastTransitionTime": (condition.get("lastTransitionTime") if same else None) or now,
        "reason": reason,
        "message": message,
    }


def _host_address(node: JsonObject) -> str:
    """Return the address of a node: by the number of our own nodes, by the letters of the names of
    others."""
    digits = metadata.name(node).removeprefix("node-")
    name = metadata.name(node).encode()
    number = int(digits) if digits.isdigit() and len(digits) < 5 else sum(name) + 0x4000
    return f"172.18.{number // 250 % 256}.{number % 250 + 2}"


def _node_info(name: str, version: str) -> dict[str, str]:
    return {
        "architecture": "amd64",
        "bootID": "",
        "containerRuntimeVersion": "containerd://2.1.0",
        "kernelVersion": "6.12.0",
        "kubeProxyVersion": "",
        "kubeletVersion": f"v{version}.0",
        "machineID": name,
        "operatingSystem": "linux",
        "osImage": "Celadon",
        "systemUUID": name,
    }


def lifecycle_taints(node: JsonObject, now: str) -> list[JsonObject]:
    """Return the taints of a node as the node controller wants them: one that is cordoned or not
    ready says so."""
    spec = node.get("spec") or {}
    former: Sequence[JsonObject] = spec.get("taints") or ()
    taints = []
    if spec.get("unschedulable"):
        taints.append((node_filters.UNSCHEDULABLE_TAINT, "NoSchedule"))
    ready = find_condition((node.get("status") or {}).get("conditions"), "Ready")
    if ready is None or ready.get("status") == "False":
        taints.append((well_known_values.NOT_READY, "NoSchedule"))
    if ready is not None and ready.get("status") != "True":
        key = (
            well_known_values.NOT_READY
            if ready.get("status") == "False"
            else well_known_values.UNREACHABLE
        )
        taints += [(key, effect) for effect in ("NoSchedule", "NoExecute")]
    result = []
    for item in former:
        taint = item.get("key"), item.get("effect")
        if item.get("key") not in _LIFECYCLE:
            result.append(item)
        elif taint in taints:
            taints.remove(taint)
            result.append(item)
    return [
        *result,
        *({"key": key, "effect": effect, "timeAdded": now} for key, effect in taints),
    ]


class Nodes:
    """Keeps nodes ready and tainted. Items are names of nodes. Those that are made at the start are
    made once: who deletes one does without it."""

    urgent = False

    def __init__(self, around: Surroundings) -> None:
        self._around = around
        self._nodes = around.view(well_known_values.NODES)
        self._namespaces = around.view(well_known_values.NAMESPACES)
        self._pods = around.view(well_known_values.PODS)
        self._requests = around.requests(_ACCOUNT)
        self._events = around.recorder(self._requests, _ACCOUNT)
        self._ready: dict[str, bool] = {}
        """By the names of nodes that have been seen, whether they took pods."""
        self._kubelets: dict[str, Kubelet] = {}
        self._missing: dict[str, int] | None = None
        is_virtual = around.settings.clock is not None
        self._pause = VIRTUAL_RENEWAL_SECONDS if is_virtual else RENEWAL_SECONDS

    @property
    def prefixes(self) -> Sequence[str]:
        """Return the prefixes of nodes, and of namespaces, which are there before the first node
        and so give the first occasion to make some."""
        return (self._nodes.prefix, self._namespaces.prefix)

    def concerned(self, change: Change) -> Iterable[str]:
        """Yield a node that has changed; once, those that are to be made."""
        if self._missing is None:
            numbers = range(1, self._around.settings.nodes + 1)
            self._missing = {f"node-{number}": number for number in numbers}
            yield from self._missing
        if change.key.startswith(self._nodes.prefix) and change.new is not None:
            yield metadata.name(change.new)

    async def reconcile(self, item: str) -> float | None:
        """Make a node that is missing, or write its status, its lease and its taints. Raises
        Stale."""
        node = self._nodes.get("", item)
        number = None if self._missing is None else self._missing.pop(item, None)
        if node is None:
            self._ready.pop(item, None)
            self._kubelets.pop(item, None)
            if number is not None:
                kubelet = self._kubelet(item)
                await kubelet.requests.create(self._nodes.resource, fake_node(number))
            return None
        await self._greet(node)
        now = self._around.timestamp()
        status = node_status(node, self._around.version, now)
        if status != node.get("status"):
            kubelet = self._kubelet(item)
            await kubelet.requests.update_status(self._nodes.resource, node, status)
            was_ready, comes_up = _is_ready(node), _is_ready({"status": status})
            if comes_up and not was_ready:
                await _tell_state(kubelet.events, _as_kubelet_tells(node), "NodeReady")
            elif was_ready and not comes_up:
                await _tell_state(self._events, node, "NodeNotReady")
            return None
        taints = lifecycle_taints(node, now)
        if taints != list((node.get("spec") or {}).get("taints") or ()):
            spec = {**(node.get("spec") or {}), "taints": taints}
            await self._requests.update(self._nodes.resource, {**node, "spec": spec})
            return None
        if not _is_ready(node):
            await self._mark_pods(item)
        if metadata.annotations(node).get(READY) == "false":
            return None
        return await self._renew(node)

    def _kubelet(self, node: str) -> Kubelet:
        kubelet = self._kubelets.get(node)
        if kubelet is None:
            kubelet = self._kubelets[node] = kubelet_of(self._around, node)
        return kubelet

    async def _greet(self, node: JsonObject) -> None:
        """Tell of a node that is new, or that takes pods no longer or again."""
        name = metadata.name(node)
        takes_pods = not (node.get("spec") or {}).get("unschedulable")
        if name not in self._ready:
            text = f"Node {name} event: Registered Node {name} in Controller"
            await self._events.record(node, "Normal", "RegisteredNode", text)
        if self._ready.get(name, True) != takes_pods:
            events, reason = self._kubelet(name).events, "NodeSchedulable"
            reason = reason if takes_pods else "NodeNotSchedulable"
            await _tell_state(events, _as_kubelet_tells(node), reason)
        self._ready[name] = takes_pods

    # As `MarkPodsNotReady` of `pkg/controller/util/node`: so that nobody counts on them, though
    # their kubelet says nothing.
    async def _mark_pods(self, node: str) -> None:
        """Mark the pods of a node that is not ready: they are not ready either. Raises Stale."""
        for pod in self._pods.on_node(node):
            if not pod_predicates.is_ready(pod):
                continue
            marked = {"status": "False", "lastTransitionTime": self._around.timestamp()}
            conditions = [
                {**condition, **marked} if condition.get("type") == "Ready" else condition
                for condition in pod["status"]["conditions"]
            ]
            changed = {**pod, "status": {**pod["status"], "conditions": conditions}}
            await self._requests.require_update(self._pods.resource, changed, "status")
            await self._events.record(pod, "Warning", "NodeNotReady", "Node is not ready")

    async def _renew(self, node: JsonObject) -> float:
        name = metadata.name(node)
        leases = self._around.view(LEASES)
        kubelet = self._kubelet(name)
        now = self._around.now()
        spec = {
            "holderIdentity": name,
            "leaseDurationSeconds": LEASE_SECONDS,
            "renewTime": pod_predicates.precise_time_text(now),
        }
        lease = leases.get(well_known_values.NODE_LEASES, name)
        if lease is None:
            owner = {"apiVersion": "v1", "kind": "Node", "name": name, "uid": metadata.uid(node)}
            meta = {
                "name": name,
                "namespace": well_known_values.NODE_LEASES,
                "ownerReferences": [owner],
            }
            kind = {"apiVersion": "coordination.k8s.io/v1", "kind": "Lease"}
            await kubelet.requests.create(leases.resource, {**kind, "metadata": meta, "spec": spec})
        else:
            await kubelet.requests.update(leases.resource, {**lease, "spec": spec})
        return self._pause


# --- Evictions ---------------------------------------------------------------
#
# Pods that may not stay where they are: their node has a taint that they do not tolerate, or no
# longer exists.
#
# As k8s.io/kubernetes `pkg/controller/{tainteviction,podgc}`.

QUARANTINE_SECONDS: Final = 40.0
"""So long a pod may name a node that does not exist."""
_BY_TAINT: Final = ("DeletionByTaintManager", "Taint manager: deleting due to NoExecute taint")
_BY_COLLECTION: Final = ("DeletionByPodGC", "PodGC: node no longer exists")
_DISRUPTED: Final = "DisruptionTarget"


def seconds_to_eviction(
    taints: Iterable[JsonObject], tolerations: Sequence[JsonObject], now: datetime
) -> float | None:
    """Return the seconds until a pod must go that tolerates this much; None for never. A toleration
    counts from when the taint was added."""
    result = []
    for taint in taints:
        if taint.get("effect") != "NoExecute":
            continue
        limits = [
            toleration for toleration in tolerations if node_filters.tolerates((toleration,), taint)
        ]
        if not limits:
            return 0.0
        seconds = [limit["tolerationSeconds"] for limit in limits if "tolerationSeconds" in limit]
        if seconds:
            added = taint.get("timeAdded")
            tainted_seconds = (
                (now - pod_predicates.read_time(added)).total_seconds() if added else 0.0
            )
            result.append(max(0.0, min(seconds) - tainted_seconds))
    return min(result, default=None)


def disrupted_status(pod: JsonObject, reason: str, message: str, now: str) -> JsonDict:
    """Return the pod's status with the condition that says why it is made to go."""
    status = pod.get("status") or {}
    conditions = status.get("conditions") or ()
    former = find_condition(conditions, _DISRUPTED)
    others = [condition for condition in conditions if condition is not former]
    condition: JsonDict = {"type": _DISRUPTED, "status": "True"}
    if is_since(pod_lifecycle.OBSERVED_SINCE):
        condition["observedGeneration"] = metadata.generation(pod)
    more = {"lastProbeTime": None, "lastTransitionTime": now, "reason": reason, "message": message}
    return {**status, "conditions": [*others, {**condition, **more}]}


class PodEvictions:
    """Deletes pods that may not stay on their nodes. Items are `namespace/name` of pods."""

    urgent = False

    def __init__(self, around: Surroundings) -> None:
        self._around = around
        self._pods = around.view(well_known_values.PODS)
        self._nodes = around.view(well_known_values.NODES)
        self._tainting = around.requests("taint-eviction-controller")
        self._collecting = around.requests("pod-garbage-collector")
        self._events = around.recorder(self._tainting, "taint-eviction-controller")
        self._homeless: dict[str, datetime] = {}
        """Since when a pod has been seen without its node."""

    @property
    def prefixes(self) -> Sequence[str]:
        """Return the prefixes of pods and nodes."""
        return (self._pods.prefix, self._nodes.prefix)

    def concerned(self, change: Change) -> Iterable[str]:
        """Return a pod that gets a node; all pods of a node whose taints change, or that goes."""
        if change.key.startswith(self._pods.prefix):
            new = change.new
            is_placed = (
                new is not None
                and pod_predicates.node_of(new)
                and not (change.old and pod_predicates.node_of(change.old))
            )
            return (item_of(new),) if new is not None and is_placed else ()
        if _taints(change.old) == _taints(change.new) and change.new is not None:
            return ()
        node = change.new or change.old
        return map(item_of, self._pods.on_node(metadata.name(node)))

    async def reconcile(self, item: str) -> float | None:
        """Evict a pod whose time has come; return in how many seconds to look again. Raises
        Stale."""
        namespace, _, name = item.partition("/")
        pod = self._pods.get(namespace, name)
        node = None if pod is None else self._nodes.get("", pod_predicates.node_of(pod))
        if pod is None or node is not None:
            self._homeless.pop(item, None)
        if pod is None:
            return None
        now = self._around.now()
        if node is None:
            homeless_seconds = (now - self._homeless.setdefault(item, now)).total_seconds()
            if homeless_seconds < QUARANTINE_SECONDS:
                return QUARANTINE_SECONDS - homeless_seconds
            await self._collect(pod)
            return None
        if metadata.deletion_timestamp(pod):
            return None
        tolerations = (pod.get("spec") or {}).get("tolerations") or ()
        left = seconds_to_eviction(_taints(node), tolerations, now)
        if left == 0.0:
            await self._evict(pod, item)
            return None
        return left

    async def _evict(self, pod: JsonObject, item: str) -> None:
        text = f"Marking for deletion Pod {item}"
        await self._events.record(pod, "Normal", "TaintManagerEviction", text)
        status = disrupted_status(pod, *_BY_TAINT, self._around.timestamp())
        await self._tainting.require_update(
            self._pods.resource, {**pod, "status": status}, "status"
        )
        await self._tainting.delete(self._pods.resource, pod)

    async def _collect(self, pod: JsonObject) -> None:
        if not pod_predicates.has_ended(pod):
            status = disrupted_status(pod, *_BY_COLLECTION, self._around.timestamp())
            changed = {**pod, "status": {**status, "phase": "Failed"}}
            await self._collecting.require_update(self._pods.resource, changed, "status")
        await self._collecting.delete(self._pods.resource, pod, grace=0)


def _taints(node: JsonObject | None) -> Sequence[JsonObject]:
    taints: Sequence[JsonObject] = ((node or {}).get("spec") or {}).get("taints") or ()
    return taints
