"""Pods that may not stay where they are: their node has a taint that they do not tolerate, or no
longer exists.

As k8s.io/kubernetes `pkg/controller/{tainteviction,podgc}`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Final

from celadon.apiserver.controllers.controller_loops import Change, find_condition
from celadon.apiserver.simulation.planning.placement.filters import tolerates
from celadon.apiserver.simulation.planning.pod_facts import has_ended, node_of, read_time
from celadon.apiserver.simulation.planning.pod_lifecycle import OBSERVED_SINCE
from celadon.apiserver.simulation.surroundings import Surroundings
from celadon.apiserver.simulation.workload_controller import item_of
from celadon.kube import JsonObject, metadata
from celadon.kube.json_types import JsonDict
from celadon.kube.releases import is_since
from celadon.kube.well_known_values import NODES, PODS

QUARANTINE_SECONDS: Final = 40.0
"""So long a pod may name a node that does not exist."""
_BY_TAINT: Final = ("DeletionByTaintManager", "Taint manager: deleting due to NoExecute taint")
_BY_COLLECTION: Final = ("DeletionByPodGC", "PodGC: node no longer exists")
_DISRUPTED: Final = "DisruptionTarget"


def seconds_to_eviction(
    taints: Iterable[JsonObject], tolerations: Sequence[JsonObject], now: datetime
) -> float | None:
    """Until a pod must go that tolerates this much; None: never. A toleration counts from when
    the taint was added."""
    found = []
    for taint in taints:
        if taint.get("effect") != "NoExecute":
            continue
        limits = [one for one in tolerations if tolerates((one,), taint)]
        if not limits:
            return 0.0
        seconds = [one["tolerationSeconds"] for one in limits if "tolerationSeconds" in one]
        if seconds:
            added = taint.get("timeAdded")
            gone = (now - read_time(added)).total_seconds() if added else 0.0
            found.append(max(0.0, min(seconds) - gone))
    return min(found, default=None)


def disrupted_status(pod: JsonObject, reason: str, message: str, now: str) -> JsonDict:
    """With the condition that says why the pod is made to go."""
    status = pod.get("status") or {}
    conditions = status.get("conditions") or ()
    former = find_condition(conditions, _DISRUPTED)
    others = [one for one in conditions if one is not former]
    condition: JsonDict = {"type": _DISRUPTED, "status": "True"}
    if is_since(OBSERVED_SINCE):
        condition["observedGeneration"] = metadata.generation(pod)
    told = {"lastProbeTime": None, "lastTransitionTime": now, "reason": reason, "message": message}
    return {**status, "conditions": [*others, {**condition, **told}]}


class PodEvictions:
    """Items are `namespace/name` of pods."""

    urgent = False

    def __init__(self, around: Surroundings) -> None:
        self._around = around
        self._pods = around.view(PODS)
        self._nodes = around.view(NODES)
        self._tainting = around.requests("taint-eviction-controller")
        self._collecting = around.requests("pod-garbage-collector")
        self._events = around.recorder(self._tainting, "taint-eviction-controller")
        self._homeless: dict[str, datetime] = {}
        """Since when a pod has been seen without its node."""

    @property
    def prefixes(self) -> Sequence[str]:
        """Of pods and nodes."""
        return (self._pods.prefix, self._nodes.prefix)

    def concerned(self, change: Change) -> Iterable[str]:
        """A pod that gets a node; all pods of a node whose taints change, or that goes."""
        if change.key.startswith(self._pods.prefix):
            new = change.new
            is_placed = (
                new is not None and node_of(new) and not (change.old and node_of(change.old))
            )
            return (item_of(new),) if new is not None and is_placed else ()
        if _taints(change.old) == _taints(change.new) and change.new is not None:
            return ()
        node = change.new or change.old
        return map(item_of, self._pods.on_node(metadata.name(node)))

    async def reconcile(self, item: str) -> float | None:
        """Raises Stale."""
        namespace, _, name = item.partition("/")
        pod = self._pods.get(namespace, name)
        node = None if pod is None else self._nodes.get("", node_of(pod))
        if pod is None or node is not None:
            self._homeless.pop(item, None)
        if pod is None:
            return None
        now = self._around.now()
        if node is None:
            gone = (now - self._homeless.setdefault(item, now)).total_seconds()
            if gone < QUARANTINE_SECONDS:
                return QUARANTINE_SECONDS - gone
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
        told = f"Marking for deletion Pod {item}"
        await self._events.record(pod, "Normal", "TaintManagerEviction", told)
        status = disrupted_status(pod, *_BY_TAINT, self._around.timestamp())
        await self._tainting.require_update(
            self._pods.resource, {**pod, "status": status}, "status"
        )
        await self._tainting.delete(self._pods.resource, pod)

    async def _collect(self, pod: JsonObject) -> None:
        if not has_ended(pod):
            status = disrupted_status(pod, *_BY_COLLECTION, self._around.timestamp())
            changed = {**pod, "status": {**status, "phase": "Failed"}}
            await self._collecting.require_update(self._pods.resource, changed, "status")
        await self._collecting.delete(self._pods.resource, pod, grace=0)


def _taints(node: JsonObject | None) -> Sequence[JsonObject]:
    found: Sequence[JsonObject] = ((node or {}).get("spec") or {}).get("taints") or ()
    return found
