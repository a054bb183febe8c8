"""What a Deployment wants of its ReplicaSets, as pure functions."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from celadon.apiserver.simulation.planning import rollouts
from celadon.apiserver.simulation.planning.pod_predicates import time_text
from celadon.kube.workload_controllers import DESIRED_REPLICAS, MAX_REPLICAS, REVISION

NOW = datetime(2026, 1, 1, tzinfo=UTC)


def made(replicas: int, surge: object = "25%", unavailable: object = "25%", **spec: Any) -> Any:
    rolling = {"maxSurge": surge, "maxUnavailable": unavailable}
    strategy = {"type": "RollingUpdate", "rollingUpdate": rolling}
    return {
        "metadata": {"name": "web", "generation": 1},
        "spec": {"replicas": replicas, "strategy": strategy, **spec},
    }


def replica_set(name: str, size: int, available: int | None = None, **more: Any) -> Any:
    ready = size if available is None else available
    annotations = {REVISION: name[-1], **more.pop("annotations", {})}
    meta = {"name": name, "annotations": annotations, "creationTimestamp": f"2026-01-0{name[-1]}"}
    status = {"replicas": size, "availableReplicas": ready, **more}
    return {"metadata": meta, "spec": {"replicas": size}, "status": status}


@pytest.mark.parametrize(
    ("replicas", "surge", "unavailable", "expected"),
    [
        (3, "25%", "25%", (1, 0)),
        (4, "25%", "25%", (1, 1)),
        (10, "25%", "25%", (3, 2)),
        (10, 3, 2, (3, 2)),
        (2, 0, "1%", (0, 1)),  # one of them must not be nothing
        (1, "1%", 0, (1, 0)),
        (2, 0, 5, (0, 2)),  # not more than there are
        (0, 1, 1, (1, 0)),
        (3, f"{'9' * 5000}%", 1, (0, 1)),
        (3, "²%", 1, (0, 1)),
    ],
)
def test_how_many_pods_may_be_too_many_or_too_few(
    replicas: int, surge: object, unavailable: object, expected: tuple[int, int]
) -> None:
    found = made(replicas, surge, unavailable)
    assert (rollouts.max_surge(found), rollouts.max_unavailable(found)) == expected


def test_pods_that_are_recreated_are_neither_too_many_nor_too_few() -> None:
    found = made(4, strategy={"type": "Recreate"})
    assert (rollouts.max_surge(found), rollouts.max_unavailable(found)) == (0, 0)


@pytest.mark.parametrize(
    ("replicas", "new", "old", "expected"),
    [
        # there is room: the new one grows
        (3, (0, 0), [(3, 3)], {"new-9": 1}),
        # there is none, and what is new is not available: nothing may shrink
        (3, (1, 0), [(3, 3)], {}),
        # what is new is available: an old pod may go
        (3, (1, 1), [(3, 3)], {"old-1": 2}),
        # the broken ones of the oldest go first
        (10, (5, 0), [(8, 3)], {"old-1": 8 - 0}),
        (10, (3, 0), [(5, 0), (5, 5)], {"old-1": 3}),
        # too large
        (2, (3, 3), [], {"new-9": 2}),
        # finished
        (3, (3, 3), [(0, 0)], {}),
    ],
)
def test_steps_of_a_rolling_update(
    replicas: int,
    new: tuple[int, int],
    old: list[tuple[int, int]],
    expected: dict[str, int],
) -> None:
    sets = [replica_set(f"old-{number}", *one) for number, one in enumerate(old, 1)]
    steps = rollouts.rolling_step(made(replicas), replica_set("new-9", *new), sets)
    found = {one.replica_set["metadata"]["name"]: one.size for one in steps}
    assert found == {name: size for name, size in expected.items() if size != 8}


@pytest.mark.parametrize(
    ("replicas", "before", "sizes", "expected"),
    [
        # upstream's documentation: 10 to 15 with 8 and 5 pods
        (15, 13, (8, 5), (11, 7)),
        # all alike; the leftover goes to the largest, of those as large to the newest
        (6, 5, (2, 2), (4, 5)),
        # down
        (5, 13, (8, 5), (5, 3)),
        (0, 13, (8, 5), (0, 0)),
    ],
)
def test_a_scaled_rollout_keeps_its_proportions(
    replicas: int, before: int, sizes: tuple[int, int], expected: tuple[int, int]
) -> None:
    told = {MAX_REPLICAS: str(before), DESIRED_REPLICAS: "1"}
    old, new = (
        replica_set(f"rs-{number}", size, annotations=told) for number, size in enumerate(sizes, 1)
    )
    steps = rollouts.scaling_step(made(replicas, 3, 2), new, [old])
    found = {one.replica_set["metadata"]["name"]: one.size for one in steps}
    assert (found["rs-1"], found["rs-2"]) == expected
    assert all(one.always for one in steps)


def test_the_only_one_gets_the_whole_size() -> None:
    old, new = replica_set("rs-1", 0), replica_set("rs-2", 3)
    (step,) = rollouts.scaling_step(made(7), new, [old])
    assert (step.replica_set["metadata"]["name"], step.size) == ("rs-2", 7)


@pytest.mark.parametrize("text", ["9" * 5000, "²", "x"])
def test_annotations_that_are_no_numbers(text: str) -> None:
    broken = replica_set("web-1", 1, annotations={REVISION: text, MAX_REPLICAS: text})
    assert rollouts.revision_of(broken) == 0
    assert rollouts.new_annotations(made(1), broken, 3, exists=True)[REVISION] == text
    steps = rollouts.scaling_step(made(4), replica_set("web-2", 1), [broken])
    assert sum(step.size for step in steps) > 0


def test_one_that_is_rolled_back_to_remembers_its_revisions() -> None:
    former = replica_set("rs-1", 0)
    again = rollouts.new_annotations(made(1), former, 3, exists=True)
    assert again[REVISION] == "3"
    assert again["deployment.kubernetes.io/revision-history"] == "1"
    old = {"metadata": {"annotations": again}}
    assert rollouts.new_annotations(made(1), old, 2, exists=True) == again
    third = rollouts.new_annotations(made(1), old, 5, exists=True)
    assert third["deployment.kubernetes.io/revision-history"] == "1,3"


def test_old_ones_beyond_the_limit_go() -> None:
    old = [replica_set(f"rs-{number}", 0, observedGeneration=0) for number in (3, 1, 2)]
    old.append(replica_set("rs-4", 1))
    found = rollouts.cleanable(made(1, revisionHistoryLimit=2), old)
    assert [one["metadata"]["name"] for one in found] == ["rs-1", "rs-2"]
    assert rollouts.cleanable(made(1), old) == []


def test_progress_ends_with_its_deadline() -> None:
    deployment = made(2, progressDeadlineSeconds=600)
    new = replica_set("web-1", 2, 0)
    at = NOW
    deployment["status"] = rollouts.rollout_status(deployment, new, [], at)
    said = rollouts.progressing(deployment)
    assert said is not None
    assert (said["reason"], said["message"]) == (
        "ReplicaSetUpdated",
        'ReplicaSet "web-1" is progressing.',
    )
    assert rollouts.seconds_to_deadline(deployment, deployment["status"], at) == 601
    late = NOW + timedelta(seconds=601)
    deployment["status"] = rollouts.rollout_status(deployment, new, [], late)
    said = rollouts.progressing(deployment)
    assert said is not None
    assert (said["status"], said["reason"], said["message"]) == (
        "False",
        "ProgressDeadlineExceeded",
        'ReplicaSet "web-1" has timed out progressing.',
    )
    assert said["lastTransitionTime"] == time_text(late)
    assert rollouts.seconds_to_deadline(deployment, deployment["status"], late) is None


def test_the_end_of_a_rollout_is_told_once() -> None:
    deployment = made(1, progressDeadlineSeconds=600)
    new = replica_set("web-1", 1)
    deployment["status"] = rollouts.rollout_status(deployment, new, [], NOW)
    said = rollouts.progressing(deployment)
    assert said is not None
    assert said["reason"] == "NewReplicaSetAvailable"
    later = rollouts.rollout_status(deployment, new, [], NOW + timedelta(hours=1))
    assert later == deployment["status"]


def test_what_is_paused_has_no_deadline() -> None:
    deployment = made(1, progressDeadlineSeconds=600, paused=True)
    said = rollouts.paused_condition(deployment, "now")
    assert said is not None
    assert (said["status"], said["reason"]) == ("Unknown", "DeploymentPaused")
    deployment["status"] = {"conditions": [said]}
    assert rollouts.paused_condition(deployment, "now") is None
    deployment["spec"]["paused"] = False
    again = rollouts.paused_condition(deployment, "now")
    assert again is not None
    assert again["reason"] == "DeploymentResumed"
    told = {**said, "reason": rollouts.TIMED_OUT}
    deployment["status"] = {"conditions": [told]}
    assert rollouts.paused_condition(deployment, "now") is None
