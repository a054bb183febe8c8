"""Plans for a Deployment: the sizes and revisions of its ReplicaSets, and its own status.

As k8s.io/kubernetes `pkg/controller/deployment/{sync,rolling,progress}.go` and `util`. Nothing is
read or written here.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Final

from celadon.apiserver.controllers.controller_loops import find_condition
from celadon.apiserver.simulation.planning.pod_predicates import read_time, scaled, time_text
from celadon.apiserver.simulation.planning.replica_pods import (
    REPLICA_FAILURE,
    TERMINATING_SINCE,
    counted,
    replicas,
    without_zeros,
)
from celadon.kube import JsonObject, metadata, workload_controllers
from celadon.kube.go import int_or
from celadon.kube.json_types import JsonDict
from celadon.kube.releases import is_since
from celadon.records import dataclass

NO_DEADLINE: Final = 2**31 - 1
"""Of `progressDeadlineSeconds` and `revisionHistoryLimit`: none."""
LONGEST_HISTORY: Final = 2_000
"""Characters of the annotation with the revisions that a ReplicaSet has had."""

NEW_CREATED: Final = "NewReplicaSetCreated"
FOUND_NEW: Final = "FoundNewReplicaSet"
NEW_AVAILABLE: Final = "NewReplicaSetAvailable"
UPDATED: Final = "ReplicaSetUpdated"
CREATE_ERROR: Final = "ReplicaSetCreateError"
TIMED_OUT: Final = "ProgressDeadlineExceeded"
PAUSED: Final = "DeploymentPaused"
RESUMED: Final = "DeploymentResumed"
PROGRESSING: Final = "Progressing"
"""The type of the condition with these reasons."""


# --- Replica sets ------------------------------------------------------------


def template_without_hash(workload: JsonObject) -> JsonObject:
    """Return the pod template without the hash: by it a Deployment knows its ReplicaSets."""
    template: JsonObject = (workload.get("spec") or {}).get("template") or {}
    meta = metadata.metadata(template)
    labels = {
        key: value
        for key, value in metadata.labels(template).items()
        if key != workload_controllers.TEMPLATE_HASH
    }
    return {**template, "metadata": {**meta, "labels": labels}}


def by_age(sets: Iterable[JsonObject]) -> list[JsonObject]:
    """Return ReplicaSets, the oldest first."""
    return sorted(
        sets, key=lambda value: (metadata.creation_timestamp(value), metadata.name(value))
    )


# As `FindNewReplicaSet`. Of several ReplicaSets with the template, which only a lost race makes,
# the oldest counts as the new one, so that all who look choose the same.
def new_and_old(
    deployment: JsonObject, sets: Iterable[JsonObject]
) -> tuple[JsonObject | None, list[JsonObject]]:
    """Return the ReplicaSet with the template of the Deployment, and all others, the oldest
    first."""
    template = template_without_hash(deployment)
    ordered = by_age(sets)
    new = next((item for item in ordered if template_without_hash(item) == template), None)
    return new, [item for item in ordered if item is not new]


def active_sets(sets: Iterable[JsonObject]) -> list[JsonObject]:
    """Return the ReplicaSets that are to have pods."""
    return [replica_set for replica_set in sets if replicas(replica_set) > 0]


def revision_of(replica_set: JsonObject) -> int:
    """0 where the annotation is missing or broken."""
    return int_or(metadata.annotations(replica_set).get(workload_controllers.REVISION, ""), 0)


# As `SetNewReplicaSetAnnotations`: revisions count up even when a template comes back, so that
# `kubectl rollout history` has each template once, under its last number.
def new_annotations(
    deployment: JsonObject, replica_set: JsonObject, revision: int, *, exists: bool
) -> dict[str, str]:
    """Return the annotations of the new ReplicaSet: the Deployment's, and a revision that is
    greater than those of all others. One that is rolled back to remembers the revisions that it
    had."""
    result = metadata.annotations(replica_set)
    for key, value in metadata.annotations(deployment).items():
        if key not in workload_controllers.NOT_COPIED:
            result[key] = value
    former = result.get(workload_controllers.REVISION)
    before = 0 if former is None else int_or(former, -1)
    if before < 0:
        return result
    if before < revision:
        result[workload_controllers.REVISION] = str(revision)
        if former is not None:
            result[workload_controllers.REVISION_HISTORY] = _history(
                result.get(workload_controllers.REVISION_HISTORY, ""), former
            )
    return result if exists else {**result, **size_annotations(deployment)}


def _history(text: str, revision: str) -> str:
    revisions = [text for text in text.split(",") if text]
    while revisions and len(",".join((*revisions, revision))) > LONGEST_HISTORY:
        del revisions[0]
    return ",".join((*revisions, revision))


# Without them nobody could tell a ReplicaSet that is on its way to its size from one whose
# Deployment was scaled meanwhile.
def size_annotations(deployment: JsonObject) -> dict[str, str]:
    """Return the annotations by which ReplicaSets know how large their Deployment was when they
    were scaled last."""
    size = replicas(deployment)
    return {
        workload_controllers.DESIRED_REPLICAS: str(size),
        workload_controllers.MAX_REPLICAS: str(size + max_surge(deployment)),
    }


# As `cleanupDeployment`. A ReplicaSet whose controller has not yet seen its last spec may still
# have pods, whatever its status says.
def cleanable(deployment: JsonObject, old: Iterable[JsonObject]) -> list[JsonObject]:
    """Old ReplicaSets beyond `revisionHistoryLimit`, which have no pods."""
    limit = (deployment.get("spec") or {}).get("revisionHistoryLimit")
    if limit is None or limit == NO_DEADLINE:
        return []
    living = [item for item in old if not metadata.deletion_timestamp(item)]
    living = sorted(by_age(living), key=revision_of)
    return [
        item
        for item in living[: max(0, len(living) - limit)]
        if not counted(item, "replicas")
        and not replicas(item)
        and metadata.generation(item) <= counted(item, "observedGeneration")
    ]


# --- Sizes -------------------------------------------------------------------


def is_rolling(deployment: JsonObject) -> bool:
    """Tell whether old pods go while new ones come."""
    strategy = (deployment.get("spec") or {}).get("strategy") or {}
    return bool(strategy.get("type") == "RollingUpdate")


# As `ResolveFenceposts`: percentages of `maxSurge` round up and those of `maxUnavailable` down.
def _fenceposts(deployment: JsonObject) -> tuple[int, int]:
    """Return how many pods there may be too many, and too few. One of them is not zero, or a
    rollout would not move."""
    strategy = (deployment.get("spec") or {}).get("strategy") or {}
    rolling_update, total = strategy.get("rollingUpdate") or {}, replicas(deployment)
    surge = scaled(rolling_update.get("maxSurge"), total, round_up=True)
    unavailable = scaled(rolling_update.get("maxUnavailable"), total, round_up=False)
    return surge, unavailable if surge or unavailable else 1


def max_surge(deployment: JsonObject) -> int:
    """Return how many pods there may be too many."""
    return _fenceposts(deployment)[0] if is_rolling(deployment) else 0


def max_unavailable(deployment: JsonObject) -> int:
    """Return how many pods may not be available."""
    if not is_rolling(deployment):
        return 0
    return min(_fenceposts(deployment)[1], replicas(deployment))


def total(sets: Iterable[JsonObject]) -> int:
    """Return how many pods these ReplicaSets are to have."""
    return sum(map(replicas, sets))


# As `NewRSNewReplicas`.
def new_size(deployment: JsonObject, sets: Sequence[JsonObject], new: JsonObject | None) -> int:
    """Return the size that the new ReplicaSet may have now. `new` is None as long as there is none,
    and is one of `sets` otherwise."""
    desired, size = replicas(deployment), 0 if new is None else replicas(new)
    if not is_rolling(deployment):
        return desired
    room = desired + max_surge(deployment) - total(sets)
    return size if room <= 0 else size + min(room, desired - size)


@dataclass(frozen=True, slots=True)
class Scale:
    """Says what size a ReplicaSet should have. `always`: its annotations are written even when the
    size stays."""

    replica_set: JsonObject
    size: int
    always: bool = False


def rolling_step(
    deployment: JsonObject, new: JsonObject, old: Sequence[JsonObject]
) -> Sequence[Scale]:
    """Return what comes next in a rolling update: the new ReplicaSet grows as far as it may; if it
    may not, old ones shrink as far as they may, those that are broken first."""
    desired = replicas(deployment)
    if replicas(new) > desired:
        return (Scale(new, desired),)
    size = new_size(deployment, (*old, new), new)
    if size != replicas(new):
        return (Scale(new, size),)
    return _shrunk(deployment, new, by_age(active_sets(old)))


# As `reconcileOldReplicaSets`, in its two steps: pods that are not available go first and cost
# nothing (`cleanupUnhealthyReplicas`), then available ones, as long as enough of them stay
# (`scaleDownOldReplicaSetsForRollingUpdate`).
def _shrunk(deployment: JsonObject, new: JsonObject, old: Sequence[JsonObject]) -> Sequence[Scale]:
    # Pods of the new ReplicaSet that are not available yet may not be made up for by old ones that
    # go.
    least = replicas(deployment) - max_unavailable(deployment)
    missing = replicas(new) - counted(new, "availableReplicas")
    room = total((*old, new)) - least - missing
    if not old or room <= 0:
        return ()
    sizes = [replicas(replica_set) for replica_set in old]
    for number, item in enumerate(old):
        broken = min(room, sizes[number] - counted(item, "availableReplicas"))
        if broken > 0:
            sizes[number] -= broken
            room -= broken
    room = sum(counted(replica_set, "availableReplicas") for replica_set in (*old, new)) - least
    for number, size in enumerate(sizes):
        healthy = max(0, min(size, room))
        sizes[number] -= healthy
        room -= healthy
    scales = (Scale(replica_set, size) for replica_set, size in zip(old, sizes, strict=True))
    return tuple(scale for scale in scales if scale.size != replicas(scale.replica_set))


# As `isScalingEvent`: a size that the user has changed is put into force before a rollout goes on.
def is_scaled(deployment: JsonObject, sets: Iterable[JsonObject]) -> bool:
    """Tell whether the Deployment has got another size since its ReplicaSets were scaled."""
    size = str(replicas(deployment))
    texts = (
        metadata.annotations(replica_set).get(workload_controllers.DESIRED_REPLICAS)
        for replica_set in active_sets(sets)
    )
    return any(text is not None and text.isdigit() and text != size for text in texts)


# As `scale` of `sync.go`.
def scaling_step(
    deployment: JsonObject, new: JsonObject | None, old: Sequence[JsonObject]
) -> Sequence[Scale]:
    """Return the sizes of all ReplicaSets, which grow or shrink alike when the size has changed or
    the Deployment is paused."""
    size = replicas(deployment)
    active = active_sets((*old, *(() if new is None else (new,))))
    if len(active) <= 1:
        latest = new if new is not None else next(reversed(by_age(old)), None)
        only = active[0] if active else latest
        return () if only is None or replicas(only) == size else (Scale(only, size),)
    # Old ReplicaSets that appear when the rollout is over were adopted, and are of no use.
    if new is not None and _is_saturated(deployment, new):
        return tuple(Scale(item, 0) for item in active if item is not new)
    return _proportional(deployment, active) if is_rolling(deployment) else ()


def _is_saturated(deployment: JsonObject, new: JsonObject) -> bool:
    size = replicas(deployment)
    annotation = metadata.annotations(new).get(workload_controllers.DESIRED_REPLICAS)
    return replicas(new) == size == counted(new, "availableReplicas") and annotation == str(size)


# Each ReplicaSet gets its share of what is added or taken away, so that a rollout in the middle
# stays in the middle. What rounding leaves over goes to the largest one.
def _proportional(deployment: JsonObject, active: Sequence[JsonObject]) -> Sequence[Scale]:
    desired = replicas(deployment)
    allowed = desired + max_surge(deployment) if desired else 0
    added, to_add = 0, allowed - total(active)
    ordered = _largest_first(active, newest_first=to_add > 0)
    sizes = []
    for item in ordered:
        share = 0
        if to_add not in (0, added):
            share = _fraction(deployment, item)
            share = min(share, to_add - added) if to_add > 0 else max(share, to_add - added)
        sizes.append(replicas(item) + share)
        added += share
    sizes[0] = max(0, sizes[0] + to_add - added)
    return tuple(
        Scale(replica_set, size, always=True)
        for replica_set, size in zip(ordered, sizes, strict=True)
    )


def _largest_first(sets: Sequence[JsonObject], *, newest_first: bool) -> list[JsonObject]:
    """Sort sets, the largest first; of those that are as large, the newest or the oldest."""
    aged = by_age(sets)
    if newest_first:
        aged.reverse()
    return sorted(aged, key=lambda value: -replicas(value))


# As `getReplicaSetFraction`, which rounds to the nearest number, a half away from zero. The size
# before is that of the annotation; ReplicaSets of old controllers have none, and then the status
# has to do.
def _fraction(deployment: JsonObject, replica_set: JsonObject) -> int:
    size, desired = replicas(replica_set), replicas(deployment)
    if desired == 0:
        return -size
    before = max(
        int_or(metadata.annotations(replica_set).get(workload_controllers.MAX_REPLICAS, ""), 0), 0
    )
    before = before or counted(deployment, "replicas")
    if not before:
        return 0
    exact = size * (desired + max_surge(deployment)) / before
    return int(math.copysign(math.floor(abs(exact) + 0.5), exact)) - size


# --- Status ------------------------------------------------------------------


def deployment_condition(type_: str, status: str, reason: str, message: str, now: str) -> JsonDict:
    """Return a condition that has become so now."""
    return {
        "type": type_,
        "status": status,
        "lastUpdateTime": now,
        "lastTransitionTime": now,
        "reason": reason,
        "message": message,
    }


def put_condition(
    conditions: Sequence[JsonObject], new_condition: JsonObject, *, anew: bool = False
) -> list[JsonObject]:
    """Return the conditions with this one as the last; as they are, if there is one with that
    status and reason, unless it is to be told `anew`."""
    former = find_condition(conditions, new_condition["type"])
    others = [condition for condition in conditions if condition is not former]
    if former is None or former.get("status") != new_condition["status"]:
        return [*others, new_condition]
    if former.get("reason") == new_condition["reason"] and not anew:
        return list(conditions)
    since = former.get("lastTransitionTime") or new_condition["lastTransitionTime"]
    return [*others, {**new_condition, "lastTransitionTime": since}]


def without_condition(conditions: Sequence[JsonObject], type_: str) -> list[JsonObject]:
    """Return the conditions of all other types."""
    return [condition for condition in conditions if condition.get("type") != type_]


def has_deadline(deployment: JsonObject) -> bool:
    """Tell whether the Deployment says how long progress may take."""
    progress_deadline_seconds = (deployment.get("spec") or {}).get("progressDeadlineSeconds")
    return progress_deadline_seconds is not None and progress_deadline_seconds != NO_DEADLINE


def progressing(deployment: JsonObject) -> JsonObject | None:
    """Return the condition that says how its rollout goes."""
    return find_condition((deployment.get("status") or {}).get("conditions"), PROGRESSING)


def paused_condition(deployment: JsonObject, now: str) -> JsonObject | None:
    """Return the condition that tells of a pause or its end, or None where there is nothing to
    tell. A rollout that has timed out stays so."""
    result = progressing(deployment)
    reason = "" if result is None else result.get("reason")
    if not has_deadline(deployment) or reason == TIMED_OUT:
        return None
    is_paused = bool((deployment.get("spec") or {}).get("paused"))
    if is_paused == (reason == PAUSED):
        return None
    details = (PAUSED, "Deployment is paused") if is_paused else (RESUMED, "Deployment is resumed")
    return deployment_condition(PROGRESSING, "Unknown", *details, now)


def deployment_status(
    deployment: JsonObject, new: JsonObject | None, old: Sequence[JsonObject], now: datetime
) -> JsonDict:
    """Return the counts of its ReplicaSets, and whether enough pods are available."""
    sets = (*old, *(() if new is None else (new,)))
    former = deployment.get("status") or {}

    def summed(field: str) -> int:
        return sum(counted(replica_set, field) for replica_set in sets)

    available = summed("availableReplicas")
    result = without_zeros(
        {
            "observedGeneration": metadata.generation(deployment),
            "replicas": summed("replicas"),
            "updatedReplicas": 0 if new is None else counted(new, "replicas"),
            "readyReplicas": summed("readyReplicas"),
            "availableReplicas": available,
            "unavailableReplicas": max(0, total(sets) - available),
        }
    )
    if former.get("collisionCount") is not None:
        result["collisionCount"] = former["collisionCount"]
    if is_since(TERMINATING_SINCE) and not any(_is_uncounted(replica_set) for replica_set in sets):
        result["terminatingReplicas"] = summed("terminatingReplicas")
    if available >= replicas(deployment) - max_unavailable(deployment):
        details = ("True", "MinimumReplicasAvailable", "Deployment has minimum availability.")
    else:
        lacking = "Deployment does not have minimum availability."
        details = ("False", "MinimumReplicasUnavailable", lacking)
    enough = deployment_condition("Available", *details, time_text(now))
    return {**result, "conditions": put_condition(former.get("conditions") or (), enough)}


def _is_uncounted(replica_set: JsonObject) -> bool:
    """Tell whether the status was written by a controller that does not count pods that are being
    deleted."""
    status = replica_set.get("status") or {}
    return bool(status.get("observedGeneration")) and status.get("terminatingReplicas") is None


# As `DeploymentComplete`.
def is_complete(deployment: JsonObject, status: JsonObject) -> bool:
    """Tell whether all pods are new and available, and there are no others."""
    size = replicas(deployment)
    counts = (
        status.get(item) or 0 for item in ("updatedReplicas", "replicas", "availableReplicas")
    )
    seen = status.get("observedGeneration") or 0
    return all(count == size for count in counts) and seen >= metadata.generation(deployment)


# As `syncRolloutStatus` of `progress.go`.
def rollout_status(
    deployment: JsonObject, new: JsonObject | None, old: Sequence[JsonObject], now: datetime
) -> JsonDict:
    """Return what `deployment_status` says, with the conditions that tell how the rollout goes."""
    status = deployment_status(deployment, new, old, now)
    conditions = status["conditions"]
    if not has_deadline(deployment):
        conditions = without_condition(conditions, PROGRESSING)
    else:
        conditions = _progress(deployment, status, new, now)
    failures = (
        find_condition((item.get("status") or {}).get("conditions"), REPLICA_FAILURE)
        for item in (*(() if new is None else (new,)), *old)
    )
    failure = next((failure for failure in failures if failure is not None), None)
    if failure is None:
        conditions = without_condition(conditions, REPLICA_FAILURE)
    else:
        since = failure.get("lastTransitionTime")
        conditions = put_condition(conditions, {**failure, "lastUpdateTime": since})
    return {**status, "conditions": conditions}


def _progress(
    deployment: JsonObject, status: JsonObject, new: JsonObject | None, now: datetime
) -> list[JsonObject]:
    conditions: list[JsonObject] = status["conditions"]
    current = progressing(deployment)
    # A Deployment that is done keeps saying so: pods that fail later are no rollout that fails.
    is_of_one = (status.get("replicas") or 0) == (status.get("updatedReplicas") or 0)
    if is_of_one and current is not None and current.get("reason") == NEW_AVAILABLE:
        return conditions
    subject = f'Deployment "{metadata.name(deployment)}"'
    if new is not None:
        subject = f'ReplicaSet "{metadata.name(new)}"'

    def condition(state: str, reason: str, message: str) -> JsonDict:
        text = f"{subject} {message}"
        return deployment_condition(PROGRESSING, state, reason, text, time_text(now))

    if is_complete(deployment, status):
        done = condition("True", NEW_AVAILABLE, "has successfully progressed.")
        return put_condition(conditions, done)
    if _has_progressed(deployment.get("status") or {}, status):
        return put_condition(conditions, condition("True", UPDATED, "is progressing."), anew=True)
    if _has_timed_out(deployment, current, now):
        return put_condition(
            conditions, condition("False", TIMED_OUT, "has timed out progressing.")
        )
    return conditions


# As `DeploymentProgressing`.
def _has_progressed(former: JsonObject, status: JsonObject) -> bool:
    def old(counts: JsonObject) -> int:
        return int((counts.get("replicas") or 0) - (counts.get("updatedReplicas") or 0))

    grown = ("updatedReplicas", "readyReplicas", "availableReplicas")
    more = any((status.get(text) or 0) > (former.get(text) or 0) for text in grown)
    return more or old(status) < old(former)


# As `DeploymentTimedOut`. The deadline runs from the last progress, not from the beginning, and a
# rollout that has once timed out stays so until there is progress.
def _has_timed_out(deployment: JsonObject, current: JsonObject | None, now: datetime) -> bool:
    if current is None or current.get("reason") == NEW_AVAILABLE:
        return False
    return current.get("reason") == TIMED_OUT or _seconds_left(deployment, current, now) < 0


def _seconds_left(deployment: JsonObject, current: JsonObject, now: datetime) -> float:
    since = read_time(str(current.get("lastUpdateTime") or time_text(now)))
    limit = (deployment.get("spec") or {}).get("progressDeadlineSeconds") or 0
    return float(limit - (now - since).total_seconds())


# As `requeueStuckDeployment`: nothing happens to a rollout that is stuck, so somebody has to come
# back and say so; a second later, since conditions have whole seconds.
def seconds_to_deadline(deployment: JsonObject, status: JsonObject, now: datetime) -> float | None:
    """Return when to look again whether there was progress; None where nobody waits for that."""
    current = find_condition(status.get("conditions"), PROGRESSING)
    if not has_deadline(deployment) or current is None:
        return None
    if is_complete(deployment, status) or current.get("reason") in (TIMED_OUT, PAUSED):
        return None
    return max(0.0, _seconds_left(deployment, current, now)) + 1.0
