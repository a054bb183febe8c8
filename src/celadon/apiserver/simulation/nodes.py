"""Nodes that say that they are there: made at the start, kept ready, tainted as upstream's are.

Every node of the cluster is one of these, also those that users create. As k8s.io/kubernetes
`pkg/kubelet/nodestatus` and `pkg/controller/nodelifecycle`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from celadon.apiserver.controllers.controller_loops import Change, find_condition
from celadon.apiserver.simulation.kubelet import kubelet_of
from celadon.apiserver.simulation.planning.placement.filters import UNSCHEDULABLE_TAINT
from celadon.apiserver.simulation.planning.pod_facts import precise_time_text
from celadon.apiserver.simulation.planning.pod_lifecycle import DOMAIN
from celadon.apiserver.simulation.surroundings import Surroundings
from celadon.kube import GroupVersionResource, JsonObject, metadata
from celadon.kube.json_types import JsonDict
from celadon.kube.well_known_values import NAMESPACES, NODE_LEASES, NODES, NOT_READY, UNREACHABLE

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
READY: Final = f"{DOMAIN}/ready"
"""The annotation by which a node is not ready: `false`."""
_ACCOUNT: Final = "node-controller"
_LIFECYCLE: Final = frozenset({NOT_READY, UNREACHABLE, UNSCHEDULABLE_TAINT})
"""Keys of taints that are here given and taken away."""


def fake_node(number: int) -> JsonDict:
    """One of those that are there at the start; the first has the number 1."""
    name = f"node-{number}"
    system = {"kubernetes.io/arch": "amd64", "kubernetes.io/os": "linux"}
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


def node_status(node: JsonObject, version: str, now: str) -> JsonDict:
    """What its kubelet says. The heartbeat stays as it was, unless something else has changed."""
    former = node.get("status") or {}
    capacity = former.get("capacity") or CAPACITY
    name = metadata.name(node)
    made: JsonDict = {
        **former,
        "capacity": capacity,
        "allocatable": former.get("allocatable") or capacity,
        "addresses": former.get("addresses")
        or [
            {"type": "InternalIP", "address": _host_address(node)},
            {"type": "Hostname", "address": name},
        ],
        "daemonEndpoints": {"kubeletEndpoint": {"Port": 10250}},
        "nodeInfo": _node_info(name, version),
    }
    conditions = former.get("conditions") or ()
    made["conditions"] = [
        *(one for one in conditions if one.get("type") not in _CONDITIONS),
        *(_condition(type_, node, conditions, now) for type_ in _CONDITIONS),
    ]
    return made


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
    found = find_condition(former, type_) or {}
    same = found.get("status") == status
    return {
        "type": type_,
        "status": status,
        "lastHeartbeatTime": (found.get("lastHeartbeatTime") if same else None) or now,
        "lastTransitionTime": (found.get("lastTransitionTime") if same else None) or now,
        "reason": reason,
        "message": message,
    }


def _host_address(node: JsonObject) -> str:
    """Of nodes of ours by their number, of others by the letters of their names."""
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
    """Those of a node as the node controller wants them: one that is cordoned or not ready says
    so."""
    spec = node.get("spec") or {}
    former: Sequence[JsonObject] = spec.get("taints") or ()
    wanted = []
    if spec.get("unschedulable"):
        wanted.append((UNSCHEDULABLE_TAINT, "NoSchedule"))
    ready = find_condition((node.get("status") or {}).get("conditions"), "Ready")
    if ready is None or ready.get("status") == "False":
        wanted.append((NOT_READY, "NoSchedule"))
    if ready is not None and ready.get("status") != "True":
        key = NOT_READY if ready.get("status") == "False" else UNREACHABLE
        wanted += [(key, effect) for effect in ("NoSchedule", "NoExecute")]
    made = []
    for one in former:
        said = one.get("key"), one.get("effect")
        if one.get("key") not in _LIFECYCLE:
            made.append(one)
        elif said in wanted:
            wanted.remove(said)
            made.append(one)
    return [*made, *({"key": key, "effect": effect, "timeAdded": now} for key, effect in wanted)]


class Nodes:
    """Items are names of nodes. Those that are made at the start are made once: who deletes one
    does without it."""

    urgent = False

    def __init__(self, around: Surroundings) -> None:
        self._around = around
        self._nodes = around.view(NODES)
        self._namespaces = around.view(NAMESPACES)
        self._requests = around.requests(_ACCOUNT)
        self._missing: dict[str, int] | None = None
        is_virtual = around.settings.clock is not None
        self._pause = VIRTUAL_RENEWAL_SECONDS if is_virtual else RENEWAL_SECONDS

    @property
    def prefixes(self) -> Sequence[str]:
        """Of nodes, and of something that is there before the first of them."""
        return (self._nodes.prefix, self._namespaces.prefix)

    def concerned(self, change: Change) -> Iterable[str]:
        """A node that has changed; once, those that are to be made."""
        if self._missing is None:
            wanted = range(1, self._around.settings.nodes + 1)
            self._missing = {f"node-{number}": number for number in wanted}
            yield from self._missing
        if change.key.startswith(self._nodes.prefix) and change.new is not None:
            yield metadata.name(change.new)

    async def reconcile(self, item: str) -> float | None:
        """Raises Stale."""
        found = self._nodes.get("", item)
        number = None if self._missing is None else self._missing.pop(item, None)
        if found is None:
            if number is not None:
                kubelet = kubelet_of(self._around, item)
                await kubelet.requests.create(self._nodes.resource, fake_node(number))
            return None
        now = self._around.timestamp()
        status = node_status(found, self._around.version, now)
        if status != found.get("status"):
            kubelet = kubelet_of(self._around, item)
            await kubelet.requests.update_status(self._nodes.resource, found, status)
            return None
        taints = lifecycle_taints(found, now)
        if taints != list((found.get("spec") or {}).get("taints") or ()):
            spec = {**(found.get("spec") or {}), "taints": taints}
            await self._requests.update(self._nodes.resource, {**found, "spec": spec})
            return None
        if metadata.annotations(found).get(READY) == "false":
            return None
        return await self._renew(found)

    async def _renew(self, node: JsonObject) -> float:
        name = metadata.name(node)
        leases = self._around.view(LEASES)
        kubelet = kubelet_of(self._around, name)
        now = self._around.now()
        spec = {
            "holderIdentity": name,
            "leaseDurationSeconds": LEASE_SECONDS,
            "renewTime": precise_time_text(now),
        }
        found = leases.get(NODE_LEASES, name)
        if found is None:
            owner = {"apiVersion": "v1", "kind": "Node", "name": name, "uid": metadata.uid(node)}
            meta = {"name": name, "namespace": NODE_LEASES, "ownerReferences": [owner]}
            kind = {"apiVersion": "coordination.k8s.io/v1", "kind": "Lease"}
            await kubelet.requests.create(leases.resource, {**kind, "metadata": meta, "spec": spec})
        else:
            await kubelet.requests.update(leases.resource, {**found, "spec": spec})
        return self._pause
