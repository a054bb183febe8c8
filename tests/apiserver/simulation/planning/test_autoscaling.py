"""How many replicas an autoscaler wants, and what it says."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from celadon.apiserver.simulation.planning.autoscaling import (
    Past,
    Recommendation,
    Resizing,
    Scaling,
    Target,
    autoscaler_plan,
)
from celadon.apiserver.simulation.planning.plans import Verb
from celadon.kube import JsonObject
from tests.apiserver.simulation.planning.sample_objects import (
    at,
    going,
    of_condition,
    status_of_plan,
    stored,
    text_at,
    told,
)
from tests.apiserver.simulation.planning.sample_objects import pod as any_pod

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


WEB = stored("Deployment", "web", {"selector": {"matchLabels": {"app": "web"}}})
REQUESTS = {"requests": {"cpu": "100m", "memory": "100Mi"}}


def pod(name: str, resources: JsonObject = REQUESTS, **meta: Any) -> dict[str, Any]:
    """One of the target, which started long ago unless something else is said."""
    container = {"name": "main", "resources": resources}
    given = {"labels": {"app": "web"}, "spec": {"containers": [container]}, **meta}
    given["status"] = {"startTime": text_at(-9999), **given.get("status", {})}
    return any_pod(name, **given)


def pods(count: int) -> list[dict[str, Any]]:
    return [pod(f"web-{number}") for number in range(count)]


def target(replicas: int, *, has_selector: bool = True) -> Target:
    others = [any_pod("other"), *pods(replicas)]
    return Target(WEB, replicas, has_selector, others)


def scaled(given: JsonObject, replicas: int, *recent: Recommendation) -> Scaling:
    return autoscaler_plan(given, target(replicas), Past(recent), at(1000))


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
    assert scaling.plan.requeue_after == 15


def test_fewer_replicas_only_after_a_while() -> None:
    given = autoscaler("cpu=10%")
    fresh, stale = Recommendation(at(800), 6), Recommendation(at(600), 9)
    scaling = scaled(given, 8, stale, fresh)
    assert (size(scaling), scaling.recommended) == (6, 2)
    now = autoscaler("cpu=10%", behavior=behavior(down=[pods_policy(9)], scaleDown=NO_WINDOW))
    assert size(scaled(now, 8, stale, fresh)) == 2


NO_WINDOW = {"stabilizationWindowSeconds": 0}


def pods_policy(value: int, seconds: int = 60) -> JsonObject:
    return {"type": "Pods", "value": value, "periodSeconds": seconds}


def percent_policy(value: int, seconds: int = 60) -> JsonObject:
    return {"type": "Percent", "value": value, "periodSeconds": seconds}


def behavior(
    up: Sequence[JsonObject] = (percent_policy(100, 15), pods_policy(4, 15)),
    down: Sequence[JsonObject] = (percent_policy(100, 15),),
    **more: JsonObject,
) -> JsonObject:
    """One with the defaults of the server, and more."""
    given: dict[str, dict[str, Any]] = {
        "scaleUp": {"policies": up, "selectPolicy": "Max", **NO_WINDOW},
        "scaleDown": {"policies": down, "selectPolicy": "Max"},
    }
    return {name: {**rules, **more.get(name, {})} for name, rules in given.items()}


CHANGES = (Resizing(at(900), 5), Resizing(at(950), 2), Resizing(at(980), -1))
MIN, DISABLED = {"selectPolicy": "Min"}, {"selectPolicy": "Disabled"}


@pytest.mark.parametrize(
    ("given", "usage", "replicas", "wanted", "limited"),
    [
        (behavior(), 90, 3, 6, "False DesiredWithinRange"),
        (behavior(), 500, 3, 7, "True ScaleUpLimit"),
        (behavior(), 500, 6, 10, "True TooManyReplicas"),
        (behavior([pods_policy(1)]), 90, 4, 4, "True ScaleUpLimit"),  # one was added already
        (behavior([pods_policy(3)]), 90, 4, 6, "True ScaleUpLimit"),
        (behavior([pods_policy(3, 30)]), 90, 4, 8, "False DesiredWithinRange"),
        (behavior([pods_policy(3), percent_policy(200)]), 90, 4, 8, "False DesiredWithinRange"),
        (
            behavior([pods_policy(3), percent_policy(200)], scaleUp=MIN),
            90,
            4,
            6,
            "True ScaleUpLimit",
        ),
        (behavior([percent_policy(10)]), 90, 5, 5, "True ScaleUpLimit"),
        (behavior(scaleUp=DISABLED), 90, 4, 4, "True ScaleUpLimit"),
        (behavior(scaleDown=DISABLED), 10, 8, 8, "True ScaleDownLimit"),
        (behavior(scaleDown=NO_WINDOW), 1, 8, 2, "True TooFewReplicas"),
        (behavior(down=[pods_policy(3)], scaleDown=NO_WINDOW), 10, 8, 4, "True ScaleDownLimit"),
        (behavior(down=[percent_policy(25)], scaleDown=NO_WINDOW), 10, 8, 5, "True ScaleDownLimit"),
        (
            behavior(down=[pods_policy(1), percent_policy(25)], scaleDown=NO_WINDOW | MIN),
            10,
            8,
            6,
            "True ScaleDownLimit",
        ),
        (behavior(scaleUp={"tolerance": "1"}), 100, 3, 3, "False DesiredWithinRange"),
        (behavior(scaleDown=NO_WINDOW | {"tolerance": "0"}), 49, 8, 8, "False DesiredWithinRange"),
        (behavior(scaleDown=NO_WINDOW | {"tolerance": "0"}), 40, 8, 7, "False DesiredWithinRange"),
    ],
)
def test_behavior(given: JsonObject, usage: int, replicas: int, wanted: int, limited: str) -> None:
    one = autoscaler(f"cpu={usage}%", behavior=given)
    scaling = autoscaler_plan(one, target(replicas), Past((), CHANGES), at(1000))
    assert (size(scaling) or replicas) == wanted
    assert scaling.resized == wanted - replicas
    conditions = status_of_plan(scaling.plan)["conditions"]
    assert of_condition(conditions, "ScalingLimited").partition(":")[0] == limited


@pytest.mark.parametrize(
    ("given", "usage", "wanted", "able"),
    [
        (behavior(), 90, 8, "SucceededRescale"),
        (behavior(scaleUp={"stabilizationWindowSeconds": 60}), 90, 5, "SucceededRescale"),
        (behavior(scaleUp={"stabilizationWindowSeconds": 400}), 90, 4, "ScaleUpStabilized"),
        (behavior(), 10, 4, "ScaleDownStabilized"),
        (behavior(scaleDown={"stabilizationWindowSeconds": 10}), 10, 2, "SucceededRescale"),
    ],
)
def test_windows(given: JsonObject, usage: int, wanted: int, able: str) -> None:
    recent = [Recommendation(at(when), count) for when, count in ((700, 2), (950, 5))]
    scaling = scaled(autoscaler(f"cpu={usage}%", behavior=given), 4, *recent)
    assert (size(scaling) or 4) == wanted
    conditions = status_of_plan(scaling.plan)["conditions"]
    assert of_condition(conditions, "AbleToScale").split()[1] == f"{able}:"


def test_what_is_refused_stands_in_the_status() -> None:
    scaling = scaled(autoscaler("cpu=80%"), 3)
    (step,) = (one for one in scaling.plan.steps if one.verb is Verb.STATUS)
    assert step.otherwise is not None
    status = step.otherwise("no more")["status"]
    assert of_condition(status["conditions"], "AbleToScale") == (
        "False FailedUpdateScale: the HPA controller was unable to update the target scale: no more"
    )
    assert (status["currentReplicas"], status["desiredReplicas"]) == (3, 0)
    assert "lastScaleTime" not in status


def test_status() -> None:
    metrics = metric(), metric("memory", AMOUNT)
    status = status_of_plan(scaled(autoscaler("cpu=80%,memory=0.1Gi", *metrics), 3).plan)
    del status["conditions"]

    def current(name: str, **values: object) -> JsonObject:
        return {"type": "Resource", "resource": {"name": name, "current": values}}

    assert status == {
        "currentReplicas": 3,
        "desiredReplicas": 5,
        "lastScaleTime": text_at(1000),
        "currentMetrics": [
            current("cpu", averageUtilization=80, averageValue="80m"),
            current("memory", averageValue="107374182400m"),
        ],
    }


PENDING = pod("web-p", phase="Pending")
STARTING = pod("web-s", ready=False, status={"startTime": text_at(900)})
NEVER_READY = pod("web-n", ready=False, status={"startTime": text_at(-10)})
BROKEN = pod("web-b", ready=False, since=600)
TWICE = {"requests": {"cpu": "200m"}}


@pytest.mark.parametrize(
    ("given", "usage", "wanted"),
    [
        ([*pods(2), PENDING, STARTING], 200, 8),  # half of it, for all four
        ([*pods(2), PENDING, STARTING], 120, 5),
        ([*pods(3), PENDING], 40, 3),
        ([*pods(2), NEVER_READY], 120, 5),
        ([*pods(2), BROKEN], 120, 8),
        ([*pods(2), going(BROKEN), pod("f", phase="Failed")], 150, 6),
        ([pod("web-t", TWICE), pod("web-u", phase="Pending")], 100, 4),
    ],
)
def test_pods_that_count(given: list[JsonObject], usage: int, wanted: int) -> None:
    found = autoscaler_plan(
        autoscaler(f"cpu={usage}%"), Target(WEB, 4, True, given), Past(), at(1000)
    )
    assert found.recommended == wanted


NO_SAMPLES = "unable to get metrics for resource cpu: no metrics returned from resource metrics API"
UNREADY = "did not receive metrics for targeted pods (pods might be unready)"
MISSING = "missing request for cpu in container main of Pod web-x"
OF_POD = {"containers": [{"name": "main"}], "resources": {"requests": {"memory": "1Gi"}}}


@pytest.mark.parametrize(
    ("given", "why"),
    [
        ([], NO_SAMPLES),
        ([any_pod("other"), PENDING], NO_SAMPLES),
        ([STARTING], UNREADY),
        ([*pods(1), pod("web-x", {})], MISSING),
        ([pod("web-x", {"requests": {"cpu": "0"}})], "no metrics returned matched known pods"),
        ([pod("web-x", spec=OF_POD)], "missing pod-level request for cpu in Pod web-x"),
    ],
)
def test_why_a_use_is_not_known(given: list[JsonObject], why: str) -> None:
    scaling = autoscaler_plan(autoscaler("cpu=80%"), Target(WEB, 4, True, given), Past(), at(1000))
    assert told(scaling.plan)[0] == f"failed to get cpu utilization: {why}"


def test_sidecars_and_pods_request_too() -> None:
    sidecar = {"name": "s", "restartPolicy": "Always", "resources": {"requests": {"cpu": "50m"}}}
    containers = [{"name": "main", "resources": REQUESTS}]
    spec = {"containers": containers, "initContainers": [sidecar, {"name": "once"}]}
    whole = {**spec, "resources": {"requests": {"cpu": "1"}}}
    for given, average in ((spec, "120m"), (whole, "800m")):
        found = Target(WEB, 4, True, [pod("web", spec=given)])
        scaling = autoscaler_plan(autoscaler("cpu=80%"), found, Past(), at(1000))
        (told_value,) = status_of_plan(scaling.plan)["currentMetrics"]
        assert told_value["resource"]["current"]["averageValue"] == average


@pytest.mark.parametrize("usage", ["", "cpu=²%", f"cpu={'9' * 5000}%"])
def test_without_a_usage(usage: str) -> None:
    scaling = scaled(autoscaler(usage), 3)
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
    scaling = autoscaler_plan(autoscaler(), why, Past(), at())
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
    scaling = autoscaler_plan(autoscaler("cpu=90%"), target(3, has_selector=False), Past(), at())
    assert told(scaling.plan) == ["selector is required"]


def test_a_metric_that_is_not_known_keeps_its_place() -> None:
    given = autoscaler("memory=150Mi", metric(), metric("memory", AMOUNT))
    nothing, memory = status_of_plan(scaled(given, 4).plan)["currentMetrics"]
    assert nothing == {"type": ""}
    assert memory["resource"]["name"] == "memory"


@pytest.mark.parametrize(
    ("other", "reason", "text"),
    [
        (
            {"type": "ContainerResource", "containerResource": {"name": "cpu", "container": "c"}},
            "FailedGetContainerResourceMetric",
            "failed to get c container metric value",
        ),
        (
            {"type": "External", "external": {"metric": {"name": "queue"}}},
            "FailedGetExternalMetric",
            "failed to get queue external metric value",
        ),
        ({"type": "Pods", "pods": {}}, "FailedGetPodsMetric", "failed to get pods metric value"),
        (
            {"type": "Object", "object": {}},
            "FailedGetObjectMetric",
            "failed to get object metric value",
        ),
    ],
)
def test_metrics_of_other_kinds_are_not_known(other: JsonObject, reason: str, text: str) -> None:
    scaling = scaled(autoscaler("cpu=80%", other), 3)
    *_, last = told(scaling.plan)
    assert last.startswith(f"invalid metrics (1 invalid out of 1), first error is: {text}: ")
    conditions = status_of_plan(scaling.plan)["conditions"]
    assert of_condition(conditions, "ScalingActive").startswith(f"False {reason}: ")
