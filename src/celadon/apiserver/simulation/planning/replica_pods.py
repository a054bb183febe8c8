"""Plans for a ReplicaSet: how many pods it has, what its status says of them, and which of them are
deleted first.

As k8s.io/kubernetes `pkg/controller/replicaset` and `pkg/controller/controller_utils.go`.
"""

from __future__ import annotations

import functools
import math
from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Final, TypeAlias

from celadon.apiserver.controllers.controller_loops import find_condition
from celadon.apiserver.simulation.planning import pod_predicates as facts
from celadon.kube import JsonObject, metadata
from celadon.kube.json_types import JsonDict
from celadon.kube.releases import is_since
from celadon.kube.well_known_values import DELETION_COST

REPLICA_FAILURE: Final = "ReplicaFailure"
TERMINATING_SINCE: Final = "1.35"
"""The release whose controllers count the pods that are being deleted."""
_PHASES: Final = {"Pending": 0, "Unknown": 1, "Running": 2}
"""Which pods are deleted first; those in no phase are pending."""


def replicas(workload: JsonObject) -> int:
    """Return how many pods the workload wants."""
    result = (workload.get("spec") or {}).get("replicas")
    return result if isinstance(result, int) else 1


def counted(workload: JsonObject, field: str) -> int:
    """Return a number of its status; 0 where there is none."""
    status = (workload.get("status") or {}).get(field)
    return status if isinstance(status, int) else 0


def without_zeros(counts: JsonObject) -> JsonDict:
    """Drop what is zero or empty, as Go does for fields with `omitempty`."""
    return {key: value for key, value in counts.items() if value}


# --- Status ------------------------------------------------------------------


def replica_set_status(
    owner: JsonObject, pods: Sequence[JsonObject], failure: str, now: datetime
) -> JsonDict:
    """Return the status of a ReplicaSet or ReplicationController that has these pods. `failure`
    says why it could not make or delete some; empty if it could."""
    active = [pod for pod in pods if facts.is_active(pod)]
    least = (owner.get("spec") or {}).get("minReadySeconds") or 0
    labels = metadata.labels((owner.get("spec") or {}).get("template")).items()
    result: JsonDict = {"replicas": len(active)}
    result |= without_zeros(
        {
            "fullyLabeledReplicas": sum(labels <= _labels(pod).items() for pod in active),
            "readyReplicas": sum(map(facts.is_ready, active)),
            "availableReplicas": sum(facts.is_available(pod, least, now) for pod in active),
            "observedGeneration": metadata.generation(owner),
        }
    )
    if is_since(TERMINATING_SINCE) and owner.get("kind") != "ReplicationController":
        result["terminatingReplicas"] = sum(map(facts.is_terminating, pods))
    conditions = _conditions(owner, len(active), failure, facts.time_text(now))
    return {**result, "conditions": conditions} if conditions else result


def _labels(pod: JsonObject) -> JsonObject:
    """Return the pod's labels, unchecked: they were validated, and this is asked of all pods again
    and again."""
    labels: JsonObject = metadata.metadata(pod).get("labels") or {}
    return labels


def _conditions(owner: JsonObject, active: int, failure: str, now: str) -> list[JsonObject]:
    former = (owner.get("status") or {}).get("conditions") or ()
    result = find_condition(former, REPLICA_FAILURE)
    others = [item for item in former if item is not result]
    if not failure:
        return others
    if result is not None:
        return list(former)
    condition = {"type": REPLICA_FAILURE, "status": "True", "lastTransitionTime": now}
    missing = active - replicas(owner)
    if missing:
        condition["reason"] = "FailedCreate" if missing < 0 else "FailedDelete"
    return [*others, {**condition, "message": failure}]


def next_availability(pods: Iterable[JsonObject], least: float, now: datetime) -> float | None:
    """Return in how many seconds the first of the pods will have been ready for long enough; None
    if nobody waits for that."""
    waits = (facts.seconds_to_availability(pod, least, now) for pod in pods)
    return min((wait for wait in waits if wait), default=None)


# --- Deletion order ----------------------------------------------------------


def pods_to_delete(
    pods: Sequence[JsonObject], related: Iterable[JsonObject], count: int, now: datetime
) -> list[JsonObject]:
    """Return so many of the pods, those that are missed least first. `related` are the pods of the
    same ReplicaSet, and of others with the same owner: where many are together, one goes rather."""
    if count <= 0:
        return []
    together = Counter(facts.node_of(pod) for pod in related if facts.is_active(pod))
    ranked = sorted(
        (_Rank(pod, together[facts.node_of(pod)], now) for pod in pods),
        key=functools.cmp_to_key(_compared),
    )
    return [rank.pod for rank in ranked[:count]]


class _Rank:
    """Holds what a pod is compared by, each read once however many pods it is compared with."""

    __slots__ = ("created", "first", "pod", "ready", "restarts", "uid")

    def __init__(self, pod: JsonObject, together: int, now: datetime) -> None:
        self.pod = pod
        self.first = _first(pod, together)
        self.ready = _age(_ready_since(pod), now)
        self.restarts = _restarts(pod)
        self.created = _age(metadata.creation_timestamp(pod), now)
        self.uid = metadata.uid(pod)


def _compared(rank: _Rank, other: _Rank) -> int:
    if rank.first != other.first:
        return -1 if rank.first < other.first else 1
    return (
        _younger(rank.ready, other.ready, rank, other)
        or (rank.restarts < other.restarts) - (rank.restarts > other.restarts)
        or _younger(rank.created, other.created, rank, other)
    )


def _younger(age: _Age, other_age: _Age, rank: _Rank, other: _Rank) -> int:
    """Compare by two times that both pods have; the name decides where they are nearly the same."""
    if age is None or other_age is None or age[0] == other_age[0]:
        return 0
    return age[1] - other_age[1] or (-1 if rank.uid < other.uid else 1)


def _first(pod: JsonObject, together: int) -> tuple[bool, int, bool, int, int]:
    """Return what pods are compared by: those go first that have no node, do not run, are not
    ready, are cheap, or have company."""
    try:
        cost = int(metadata.annotations(pod).get(DELETION_COST, "0"))
    except ValueError:
        cost = 0
    return (
        bool(facts.node_of(pod)),
        _PHASES.get(facts.phase(pod), 0),
        facts.is_ready(pod),
        cost,
        -together,
    )


def _ready_since(pod: JsonObject) -> str:
    condition = find_condition((pod.get("status") or {}).get("conditions"), "Ready") or {}
    return (
        str(condition.get("lastTransitionTime") or "") if condition.get("status") == "True" else ""
    )


def _restarts(pod: JsonObject) -> tuple[int, int]:
    """Return the highest restart count of the pod's containers, and that of its sidecars."""
    status, spec = pod.get("status") or {}, pod.get("spec") or {}
    sidecars = {
        container.get("name")
        for container in spec.get("initContainers") or ()
        if container.get("restartPolicy") == "Always"
    }
    containers = (
        container_status.get("restartCount") or 0
        for container_status in status.get("containerStatuses") or ()
    )
    init_container_statuses = (
        init_container_status.get("restartCount") or 0
        for init_container_status in status.get("initContainerStatuses") or ()
        if init_container_status.get("name") in sidecars
    )
    return max(containers, default=0), max(init_container_statuses, default=0)


_Age: TypeAlias = tuple[str, int] | None


def _age(since: str, now: datetime) -> _Age:
    """Return a time, and the binary logarithm of what has gone by since, in nanoseconds, as a whole
    number; -1 for none. Upstream compares ages by it, so that pods of about the same age count as
    equal."""
    if not since:
        return None
    nanoseconds = (now - facts.read_time(since)).total_seconds() * 1e9
    return since, int(math.log2(nanoseconds)) if nanoseconds > 0 else -1
