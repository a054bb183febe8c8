"""How many replicas an autoscaler wants, and what it says."""

from __future__ import annotations

from typing import Any

import pytest

from celadon.apiserver.simulation.planning.autoscaling import (
    Recommendation,
    Scaling,
    Target,
    autoscaler_plan,
)
from celadon.apiserver.simulation.planning.plans import Verb
from celadon.kube import JsonObject
from tests.apiserver.simulation.planning.sample_objects import (
    at,
    of_condition,
    status_of_plan,
    stored,
    text_at,
    told,
)

USAGE = "simulation.celadon.dev/usage"
SHARE = {"type": "Utilization", "averageUtilization": 50}
AMOUNT = {"type": "AverageValue", "averageValue": "100Mi"}


def metric(name: str = "cpu", target: JsonObject = SHARE) -> dict[str, Any]:
    return {"type": "Resource", "resource": {"name": name, "target": target}}


def autoscaler(usage: str = "", *metrics: JsonObject, **spec: Any) -> dict[str, Any]:
    given = {
        "scaleTargetRef": {"kind": "Deployment", "name": "web", "apiVersion": "apps/v1"},
        "minReplicas": 2,
        "maxReplicas": 10,
        "metrics": [*metrics] or [metric()],
        **spec,
    }
    meta = {"annotations": {USAGE: usage}}
    return stored("HorizontalPodAutoscaler", "h", given, "autoscaling/v2", **meta)


def target(replicas: int, *, has_selector: bool = True) -> Target:
    return Target(stored("Deployment", "web", {"replicas": replicas}), replicas, has_selector)


def scaled(given: JsonObject, replicas: int, *recent: Recommendation) -> Scaling:
    return autoscaler_plan(given, target(replicas), recent, at(1000))


def size(scaling: Scaling) -> int | None:
    """What the target is scaled to; None if it stays."""
    steps = [one for one in scaling.plan.steps if one.verb is Verb.SCALE]
    return steps[0].object["spec"]["replicas"] if steps else None


@pytest.mark.parametrize(
    ("given", "replicas", "wanted", "reason", "limited"),
    [
        (autoscaler("cpu=50%"), 3, None, "", "False DesiredWithinRange"),
        (autoscaler("cpu=54%"), 3, None, "", "False DesiredWithinRange"),
        (
            autoscaler("cpu=80%"),
            3,
            5,
            "cpu resource utilization (percentage of request) above target",
            "False DesiredWithinRange",
        ),
        (
            autoscaler("cpu=200%"),
            3,
            6,
            "cpu resource utilization (percentage of request) above target",
            "True ScaleUpLimit",
        ),
        (
            autoscaler("cpu=200%", maxReplicas=5),
            3,
            5,
            "cpu resource utilization (percentage of request) above target",
            "True TooManyReplicas",
        ),
        (autoscaler("cpu=10%"), 8, 2, "All metrics below target", "False DesiredWithinRange"),
        (autoscaler("cpu=1%"), 8, 2, "All metrics below target", "True TooFewReplicas"),
        (
            autoscaler("cpu=50%,memory=150Mi", metric(), metric("memory", AMOUNT)),
            4,
            6,
            "memory resource above target",
            "False DesiredWithinRange",
        ),
        (autoscaler(), 20, 10, "Current number of replicas above Spec.MaxReplicas", ""),
        (autoscaler(), 1, 2, "Current number of replicas below Spec.MinReplicas", ""),
    ],
)
def test_sizes(
    given: JsonObject, replicas: int, wanted: int | None, reason: str, limited: str
) -> None:
    scaling = scaled(given, replicas)
    assert size(scaling) == wanted
    done = [one.done.message for one in scaling.plan.steps if one.verb is Verb.SCALE and one.done]
    assert done == ([f"New size: {wanted}; reason: {reason}"] if wanted else [])
    conditions = status_of_plan(scaling.plan)["conditions"]
    assert of_condition(conditions, "ScalingLimited").partition(":")[0] == limited
    able = of_condition(conditions, "AbleToScale").partition(":")[0]
    assert able == ("True SucceededRescale" if wanted else "True ReadyForNewScale")
    assert scaling.plan.again == 15


def test_fewer_replicas_only_after_a_while() -> None:
    given = autoscaler("cpu=10%")
    fresh, stale = Recommendation(at(800), 6), Recommendation(at(600), 9)
    scaling = scaled(given, 8, stale, fresh)
    assert (size(scaling), scaling.recommended) == (6, 2)
    now = autoscaler("cpu=10%", behavior={"scaleDown": {"stabilizationWindowSeconds": 0}})
    assert size(scaled(now, 8, stale, fresh)) == 2


def test_status() -> None:
    status = status_of_plan(scaled(autoscaler("cpu=80%"), 3).plan)
    del status["conditions"]
    assert status == {
        "currentReplicas": 3,
        "desiredReplicas": 5,
        "lastScaleTime": text_at(1000),
        "currentMetrics": [
            {"type": "Resource", "resource": {"name": "cpu", "current": {"averageUtilization": 80}}}
        ],
    }


def test_without_a_usage() -> None:
    scaling = scaled(autoscaler(), 3)
    why = (
        "failed to get cpu utilization: unable to get metrics for resource cpu: unable to fetch "
        "metrics from resource metrics API: the server could not find the requested resource (get "
        "pods.metrics.k8s.io)"
    )
    assert told(scaling.plan) == [
        why,
        "invalid metrics (1 invalid out of 1), first error is: failed to get cpu resource metric "
        f"value: {why}",
    ]
    conditions = status_of_plan(scaling.plan)["conditions"]
    wanted = (
        f"False FailedGetResourceMetric: the HPA was unable to compute the replica count: {why}"
    )
    assert of_condition(conditions, "ScalingActive") == wanted


def test_without_a_target() -> None:
    why = 'deployments.apps "web" not found'
    scaling = autoscaler_plan(autoscaler(), why, (), at())
    assert told(scaling.plan) == [why]
    text = f"the HPA controller was unable to get the target's current scale: {why}"
    wanted = f"False FailedGetScale: {text}"
    assert of_condition(status_of_plan(scaling.plan)["conditions"], "AbleToScale") == wanted


def test_nobody_scales_from_zero() -> None:
    scaling = scaled(autoscaler("cpu=90%"), 0)
    text = "scaling is disabled since the replica count of the target is zero"
    conditions = status_of_plan(scaling.plan)["conditions"]
    assert of_condition(conditions, "ScalingActive") == f"False ScalingDisabled: {text}"
    assert size(scaling) is None


def test_a_target_without_a_selector() -> None:
    scaling = autoscaler_plan(autoscaler("cpu=90%"), target(3, has_selector=False), (), at())
    assert told(scaling.plan) == ["selector is required"]


def test_a_metric_that_is_not_known_keeps_its_place() -> None:
    given = autoscaler("memory=150Mi", metric(), metric("memory", AMOUNT))
    nothing, memory = status_of_plan(scaled(given, 4).plan)["currentMetrics"]
    assert nothing == {"type": ""}
    assert memory["resource"]["name"] == "memory"
