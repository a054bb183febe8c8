"""What controllers count: pods in several states, none of which is more than all.

As k8s.io/kubernetes `pkg/apis/{apps,core,autoscaling,policy}/validation`.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from celadon.kube import fieldpath
from celadon.kube.fieldpath import FieldPath
from celadon.kube.json_types import JsonObject
from celadon.kube.validation.field_checks import Errors, not_negative
from celadon.kube.validation.status_conditions import conditions
from celadon.kube.validation.validation_rows import Update

_STATUS: Final = FieldPath("status")
_REPLICAS: Final = "replicas"
_READY: Final = "readyReplicas"
_AVAILABLE: Final = "availableReplicas"
_COLLISIONS: Final = "collisionCount"
_OF_ALL: Final = "status.replicas"


class Counts(NamedTuple):
    """`counted`: what is not negative; `parts`: what is not more than all replicas; `ready_name`:
    what complaints call the ready ones."""

    counted: tuple[str, ...]
    parts: tuple[str, ...] = ()
    ready_name: str = _READY


def _counting(counts: Counts) -> Update:
    def status(obj: JsonObject, old: JsonObject) -> Errors:
        found, before = obj.get("status") or {}, old.get("status") or {}
        yield from not_negative(found, _STATUS, *counts.counted)
        for part in counts.parts:
            yield from _not_more(found, part, _REPLICAS, _OF_ALL)
        if counts.parts:
            yield from _not_more(found, _AVAILABLE, _READY, counts.ready_name)
        if _COLLISIONS in counts.counted:
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
    Counts(
        (
            *("observedGeneration", _REPLICAS, "updatedReplicas", _READY, _AVAILABLE),
            *("unavailableReplicas", "terminatingReplicas", _COLLISIONS),
        ),
        ("updatedReplicas", _READY, _AVAILABLE),
    )
)
replica_set_status: Final = _counting(
    Counts(
        (
            *(_REPLICAS, "fullyLabeledReplicas", _READY, _AVAILABLE, "terminatingReplicas"),
            "observedGeneration",
        ),
        ("fullyLabeledReplicas", _READY, _AVAILABLE),
    )
)
replication_controller_status: Final = _counting(
    Counts(
        (_REPLICAS, "fullyLabeledReplicas", _READY, _AVAILABLE, "observedGeneration"),
        ("fullyLabeledReplicas", _READY, _AVAILABLE),
    )
)
stateful_set_status: Final = _counting(
    Counts(
        (
            *(_REPLICAS, _READY, "currentReplicas", "updatedReplicas", _AVAILABLE),
            *("observedGeneration", _COLLISIONS),
        ),
        (_READY, "currentReplicas", "updatedReplicas", _AVAILABLE),
        "status.readyReplicas",
    )
)
daemon_set_status: Final = _counting(
    Counts(
        (
            *("currentNumberScheduled", "numberMisscheduled", "desiredNumberScheduled"),
            *("numberReady", "observedGeneration", "updatedNumberScheduled", "numberAvailable"),
            *("numberUnavailable", _COLLISIONS),
        )
    )
)
autoscaler_status: Final = _counting(Counts(("currentReplicas", "desiredReplicas")))


def budget_status(obj: JsonObject, _: JsonObject) -> Errors:
    """Of a PodDisruptionBudget."""
    status = obj.get("status") or {}
    yield from conditions(_STATUS, status)
    counted = ("disruptionsAllowed", "currentHealthy", "desiredHealthy", "expectedPods")
    yield from not_negative(status, _STATUS, *counted)
