"""What controllers count: pods in several states, none of which is more than all.

As k8s.io/kubernetes `pkg/apis/{apps,core,autoscaling,policy}/validation`.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from celadon.kube import fieldpath
from celadon.kube.fieldpath import FieldPath
from celadon.kube.json_types import JsonObject
from celadon.kube.validation.field_checks import Errors
from celadon.kube.validation.field_rules import broken_rules
from celadon.kube.validation.statuses.status_conditions import conditions
from celadon.kube.validation.validation_rows import Update

_STATUS: Final = FieldPath("status")
_REPLICAS: Final = "replicas"
_READY: Final = "readyReplicas"
_AVAILABLE: Final = "availableReplicas"
_COLLISIONS: Final = "collisionCount"
_OF_ALL: Final = "status.replicas"


class Counts(NamedTuple):
    """`type`: whose numbers are not negative; `parts`: what is not more than all replicas;
    `ready_name`: what complaints call the ready ones; `collides`: whether it counts collisions."""

    type: str
    parts: tuple[str, ...] = ()
    ready_name: str = _READY
    collides: bool = False


def _counting(counts: Counts) -> Update:
    def status(obj: JsonObject, old: JsonObject) -> Errors:
        found, before = obj.get("status") or {}, old.get("status") or {}
        yield from broken_rules(counts.type, found, _STATUS)
        for part in counts.parts:
            yield from _not_more(found, part, _REPLICAS, _OF_ALL)
        if counts.parts:
            yield from _not_more(found, _AVAILABLE, _READY, counts.ready_name)
        if counts.collides:
            yield from _not_fewer_collisions(found, before)

    return status


def _not_more(status: JsonObject, part: str, whole: str, name: str) -> Errors:
    number = status.get(part) or 0
    if number > (status.get(whole) or 0):
        yield fieldpath.invalid(_STATUS.child(part), number, f"cannot be greater than {name}")


def _not_fewer_collisions(status: JsonObject, before: JsonObject) -> Errors:
    number, was = status.get(_COLLISIONS), before.get(_COLLISIONS)
    if was is not None and (number is None or number < was):
        shown = -1 if number is None else number
        yield fieldpath.invalid(_STATUS.child(_COLLISIONS), shown, "cannot be decremented")


deployment_status: Final = _counting(
    Counts("apps.v1.DeploymentStatus", ("updatedReplicas", _READY, _AVAILABLE), collides=True)
)
replica_set_status: Final = _counting(
    Counts("apps.v1.ReplicaSetStatus", ("fullyLabeledReplicas", _READY, _AVAILABLE))
)
replication_controller_status: Final = _counting(
    Counts("core.v1.ReplicationControllerStatus", ("fullyLabeledReplicas", _READY, _AVAILABLE))
)
stateful_set_status: Final = _counting(
    Counts(
        "apps.v1.StatefulSetStatus",
        (_READY, "currentReplicas", "updatedReplicas", _AVAILABLE),
        "status.readyReplicas",
        collides=True,
    )
)
daemon_set_status: Final = _counting(Counts("apps.v1.DaemonSetStatus", collides=True))
autoscaler_status: Final = _counting(Counts("autoscaling.v2.HorizontalPodAutoscalerStatus"))


def budget_status(obj: JsonObject, _: JsonObject) -> Errors:
    """Of a PodDisruptionBudget."""
    status = obj.get("status") or {}
    yield from conditions(_STATUS, status)
    yield from broken_rules("policy.v1.PodDisruptionBudgetStatus", status, _STATUS)
