"""How many pods may be evicted."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from celadon.apiserver.simulation.planning.disruption_budgets import Scale, budget_plan
from celadon.apiserver.simulation.planning.plans import Plan
from celadon.kube import JsonObject
from tests.apiserver.simulation.planning.sample_objects import (
    at,
    going,
    of_condition,
    pod,
    status_of_plan,
    stored,
    text_at,
    told,
)

OWNER = stored("ReplicaSet", "rs", {"replicas": 4})


def budget(status: JsonObject | None = None, **spec: Any) -> dict[str, Any]:
    given = {"selector": {"matchLabels": {"app": "x"}}, **spec}
    return {**stored("PodDisruptionBudget", "b", given, "policy/v1"), "status": dict(status or {})}


SCALES = {"uid-rs": Scale("uid-rs", 4)}


def plan_of(given: JsonObject, pods: Sequence[JsonObject], seconds: float = 0.0) -> Plan:
    return budget_plan(given, pods, SCALES, at(seconds))


def pods(ready: int, others: int = 0) -> list[JsonObject]:
    return [
        *(pod(f"p{n}", OWNER) for n in range(ready)),
        *(pod(f"q{n}", OWNER, ready=False) for n in range(others)),
    ]


@pytest.mark.parametrize(
    ("spec", "ready", "others", "wanted"),
    [
        ({"minAvailable": 2}, 3, 0, (1, 3, 2, 3)),
        ({"minAvailable": 2}, 1, 2, (0, 1, 2, 3)),
        ({"minAvailable": "50%"}, 4, 0, (2, 4, 2, 4)),
        ({"minAvailable": "60%"}, 4, 0, (1, 4, 3, 4)),
        ({"maxUnavailable": 1}, 4, 0, (1, 4, 3, 4)),
        ({"maxUnavailable": 1}, 3, 1, (0, 3, 3, 4)),
        ({"maxUnavailable": "30%"}, 4, 0, (2, 4, 2, 4)),
        ({"maxUnavailable": 9}, 4, 0, (4, 4, 0, 4)),
        ({"minAvailable": 0}, 0, 0, (0, 0, 0, 0)),
        ({}, 2, 0, (0, 2, 0, 0)),
    ],
)
def test_counts(
    spec: dict[str, Any], ready: int, others: int, wanted: tuple[int, int, int, int]
) -> None:
    status = status_of_plan(plan_of(budget(**spec), pods(ready, others)))
    fields = ("disruptionsAllowed", "currentHealthy", "desiredHealthy", "expectedPods")
    assert tuple(status[field] for field in fields) == wanted
    reason = "True SufficientPods: " if wanted[0] else "False InsufficientPods: "
    assert of_condition(status["conditions"], "DisruptionAllowed") == reason


def test_what_is_as_it_should_be_stays() -> None:
    given = budget(minAvailable=1)
    status = status_of_plan(plan_of(given, pods(2)))
    assert plan_of({**given, "status": status}, pods(2), 60).steps == ()
    changed = status_of_plan(plan_of({**given, "status": status}, pods(1), 60))
    assert changed["conditions"][0]["lastTransitionTime"] == text_at(60)


def test_pods_that_are_being_deleted_are_not_healthy() -> None:
    status = status_of_plan(plan_of(budget(minAvailable=1), [*pods(2), going(pod("g", OWNER))]))
    assert (status["currentHealthy"], status["expectedPods"]) == (2, 3)


def test_evicted_pods_are_not_counted_for_a_while() -> None:
    given = budget({"disruptedPods": {"p0": text_at(), "gone": text_at()}}, minAvailable=1)
    plan = plan_of(given, pods(3), 30)
    status = status_of_plan(plan)
    assert (status["disruptedPods"], status["currentHealthy"]) == ({"p0": text_at()}, 2)
    assert plan.requeue_after == 90
    late = plan_of(given, pods(3), 121)
    assert told(late) == ["Pod was expected by PDB default/default to be deleted but it wasn't"]
    assert "disruptedPods" not in status_of_plan(late)
    assert status_of_plan(late)["currentHealthy"] == 3


def test_without_pods_it_is_told() -> None:
    assert told(plan_of(budget(minAvailable=1), [])) == ["No matching pods found"]


def test_pods_without_an_owner() -> None:
    (text,) = told(plan_of(budget(maxUnavailable=1), [pod("a")]))
    assert text.startswith(
        "Pods selected by this PodDisruptionBudget (selector: "
        "&LabelSelector{MatchLabels:map[string]string{app: x,},"
        "MatchExpressions:[]LabelSelectorRequirement{},}) were found to be unmanaged."
    )


def test_an_owner_without_a_scale() -> None:
    given = budget({"disruptionsAllowed": 2, "observedGeneration": 1}, maxUnavailable=1)
    why = "daemonsets.apps does not implement the scale subresource"
    plan = budget_plan(given, pods(1), {"uid-rs": why}, at())
    assert told(plan) == [f"Failed to calculate the number of expected pods: {why}"]
    status = status_of_plan(plan)
    assert status["disruptionsAllowed"] == 0
    assert of_condition(status["conditions"], "DisruptionAllowed") == f"False SyncFailed: {why}"
