"""The kubelets of all nodes: what happens to pods that have a node.

What that is, `pod_lifecycle` says; here it is written, told, and done to pods that are deleted.
"""

from __future__ import annotations

import ipaddress
import zlib
from collections.abc import Iterable, Sequence
from typing import Final

from celadon.apiserver.controllers.controller_loops import Change, Stale, is_true
from celadon.apiserver.simulation.event_recorder import EventRecorder
from celadon.apiserver.simulation.planning.pod_facts import has_ended, node_of
from celadon.apiserver.simulation.planning.pod_lifecycle import (
    EVICT,
    Addresses,
    Habits,
    killed_status,
    next_step,
    running_containers,
    seconds_to_end,
)
from celadon.apiserver.simulation.requests import Requests
from celadon.apiserver.simulation.surroundings import Surroundings
from celadon.apiserver.simulation.workload_controller import item_of
from celadon.kube import JsonObject, User, metadata
from celadon.kube.well_known_values import AUTHENTICATED, NODES, PODS
from celadon.records import dataclass

KUBELET: Final = "kubelet"


@dataclass(frozen=True, slots=True)
class Kubelet:
    """That of one node: who asks, and who tells."""

    requests: Requests
    events: EventRecorder


def kubelet_of(around: Surroundings, node: str) -> Kubelet:
    """As whom the kubelet of a node is known."""
    user = User(f"system:node:{node}", ("system:nodes", AUTHENTICATED))
    requests = around.requests_of(user, KUBELET)
    return Kubelet(requests, around.recorder(requests, KUBELET, node))


class Kubelets:
    """Items are `namespace/name` of pods. A node that is not ready does nothing."""

    urgent = False

    def __init__(self, around: Surroundings) -> None:
        self._around = around
        self._pods = around.view(PODS)
        self._nodes = around.view(NODES)
        self._kubelets: dict[str, Kubelet] = {}
        self._habits = Habits(around.settings.ready_seconds, around.settings.run_seconds)

    @property
    def prefixes(self) -> Sequence[str]:
        """Of pods and nodes."""
        return (self._pods.prefix, self._nodes.prefix)

    def concerned(self, change: Change) -> Iterable[str]:
        """A pod on a node; all pods on a node that comes back."""
        if change.key.startswith(self._pods.prefix):
            return (item_of(change.new),) if change.new is not None and node_of(change.new) else ()
        if change.new is None or _is_ready(change.new) == _is_ready(change.old):
            return ()
        return map(item_of, self._pods.on_node(metadata.name(change.new)))

    async def reconcile(self, item: str) -> float | None:
        """Raises Stale."""
        namespace, _, name = item.partition("/")
        pod = self._pods.get(namespace, name)
        node = None if pod is None else self._nodes.get("", node_of(pod))
        if pod is None or node is None or not _is_ready(node):
            return None
        kubelet = self._kubelets.get(node_of(pod))
        if kubelet is None:
            kubelet = self._kubelets[node_of(pod)] = kubelet_of(self._around, node_of(pod))
        if metadata.deletion_timestamp(pod):
            return await self._end(pod, kubelet)
        if has_ended(pod):
            return None
        message = metadata.annotations(pod).get(EVICT)
        if message:
            await kubelet.events.record(pod, "Warning", "Evicted", message)
            now = self._around.timestamp()
            await self._write(pod, killed_status(pod, now, "Evicted", message), kubelet)
            return None
        where = Addresses(_address(node), self._pod_address(pod, node))
        step = next_step(pod, where, self._habits, self._around.now())
        if step.status != pod.get("status"):
            await self._write(pod, step.status, kubelet)
        for told in step.events:
            await kubelet.events.record(pod, told.kind, told.reason, told.message, told.field)
        return step.again

    async def _write(self, pod: JsonObject, status: JsonObject, kubelet: Kubelet) -> None:
        changed = {**pod, "status": status}
        await kubelet.requests.require_update(self._pods.resource, changed, "status")

    async def _end(self, pod: JsonObject, kubelet: Kubelet) -> float | None:
        """A pod that is deleted: its containers are stopped, then it is gone."""
        for at, name in running_containers(pod):
            message = f"Stopping container {name}"
            await kubelet.events.record(pod, "Normal", "Killing", message, f"{at}{{{name}}}")
        left = seconds_to_end(pod, self._around.now())
        if left > 0:
            return left
        if not has_ended(pod):
            await self._write(pod, killed_status(pod, self._around.timestamp()), kubelet)
        elif metadata.metadata(pod).get("deletionGracePeriodSeconds") != 0:
            reply = await kubelet.requests.delete(self._pods.resource, pod, grace=0)
            if reply.failed:
                raise Stale
        return None

    def _pod_address(self, pod: JsonObject, node: JsonObject) -> str:
        """That it has, or the first of its node that no other pod there has."""
        status = pod.get("status") or {}
        if status.get("podIP"):
            return str(status["podIP"])
        if (pod.get("spec") or {}).get("hostNetwork"):
            return _address(node)
        taken = {
            (one.get("status") or {}).get("podIP")
            for one in self._pods.on_node(metadata.name(node))
        }
        network = ipaddress.ip_network(_network(node), strict=False)
        return next(text for text in map(str, network.hosts()) if text not in taken)


def _is_ready(node: JsonObject | None) -> bool:
    status = {} if node is None else node.get("status") or {}
    return is_true(status.get("conditions"), "Ready")


def _address(node: JsonObject) -> str:
    for one in (node.get("status") or {}).get("addresses") or ():
        if one.get("type") == "InternalIP":
            return str(one.get("address"))
    return "127.0.0.1"


def _network(node: JsonObject) -> str:
    """The pods' addresses; of a node that names none, some that are rather its own."""
    named = (node.get("spec") or {}).get("podCIDR")
    if named:
        return str(named)
    number = zlib.crc32(metadata.name(node).encode())
    return f"10.{128 + number % 100}.{number // 100 % 256}.0/24"
