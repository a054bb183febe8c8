"""Objects shown in another version."""

from __future__ import annotations

import json
from typing import Any

import pytest

from celadon.admission.conversion import ConversionError, convert
from celadon.kube import GroupVersionKind
from celadon.kube.releases import answering_as
from celadon.kube.well_known_values import AUTOSCALING_PREFIX

HPA = GroupVersionKind("autoscaling", "v2", "HorizontalPodAutoscaler")
V1 = HPA._replace(version="v1")
MEMORY = {
    "type": "Resource",
    "resource": {"name": "memory", "target": {"type": "Utilization", "averageUtilization": 60}},
}
METRICS = "autoscaling.alpha.kubernetes.io/metrics"
CPU = {
    "type": "Resource",
    "resource": {"name": "cpu", "target": {"type": "Utilization", "averageUtilization": 70}},
}


def hpa(*metrics: dict[str, Any], **spec: Any) -> dict[str, Any]:
    return {
        "apiVersion": "autoscaling/v2",
        "kind": "HorizontalPodAutoscaler",
        "metadata": {"name": "h"},
        "spec": {"maxReplicas": 3, "metrics": list(metrics), **spec},
    }


def test_the_same_version_is_the_same_object() -> None:
    given = hpa(CPU)
    assert convert(given, HPA) is given


def test_a_custom_resource_changes_its_version_only() -> None:
    given = {"apiVersion": "x.io/v2", "kind": "Box", "spec": {"only": "v2"}}
    assert convert(given, GroupVersionKind("x.io", "v1", "Box")) == {
        **given,
        "apiVersion": "x.io/v1",
    }


def test_v1_knows_one_metric() -> None:
    shown = convert(hpa(CPU), V1)
    assert shown["apiVersion"] == "autoscaling/v1"
    assert shown["spec"] == {"maxReplicas": 3, "targetCPUUtilizationPercentage": 70}
    assert shown["metadata"] == {"name": "h"}


def test_annotations_are_written_without_spaces() -> None:
    """As Go writes JSON."""
    given = hpa(MEMORY, behavior={"scaleDown": {"stabilizationWindowSeconds": 1}})
    annotations = convert(given, V1)["metadata"]["annotations"]
    assert annotations["autoscaling.alpha.kubernetes.io/behavior"] == (
        '{"ScaleUp":null,"ScaleDown":{"StabilizationWindowSeconds":1,"SelectPolicy":null,'
        '"Policies":null,"Tolerance":null}}'
    )
    for text in annotations.values():
        assert json.dumps(json.loads(text), separators=(",", ":")) == text


@pytest.mark.parametrize(("release", "more"), [("1.32", ""), ("1.33", ',"Tolerance":null')])
def test_tolerances_of_releases(release: str, more: str) -> None:
    given = hpa(MEMORY, behavior={"scaleDown": {}})
    with answering_as(release):
        annotations = convert(given, V1)["metadata"]["annotations"]
    assert annotations["autoscaling.alpha.kubernetes.io/behavior"] == (
        '{"ScaleUp":null,"ScaleDown":{"StabilizationWindowSeconds":null,"SelectPolicy":null,'
        f'"Policies":null{more}}}}}'
    )


@pytest.mark.parametrize("metrics", [[CPU], [MEMORY], [MEMORY, CPU]])
def test_there_and_back(metrics: list[dict[str, Any]]) -> None:
    behavior = {"scaleDown": {"stabilizationWindowSeconds": 1}}
    given = hpa(*metrics, behavior=behavior)
    back = convert(convert(given, V1), HPA)
    assert back["spec"] == given["spec"]
    assert back["metadata"] == given["metadata"]


def test_hostile_annotations_do_no_harm() -> None:
    given = {
        "apiVersion": "autoscaling/v1",
        "kind": "HorizontalPodAutoscaler",
        "metadata": {
            "annotations": {
                "autoscaling.alpha.kubernetes.io/metrics": "{nonsense",
                "autoscaling.alpha.kubernetes.io/behavior": "[]",
                "autoscaling.alpha.kubernetes.io/conditions": "[1]",
            }
        },
    }
    target = {"type": "Utilization", "averageUtilization": 80}
    cpu = {"type": "Resource", "resource": {"name": "cpu", "target": target}}
    assert convert(given, HPA)["spec"] == {"metrics": [cpu]}


def test_an_autoscaler_of_v1_is_written_in_order() -> None:
    pods = {"type": "Pods", "pods": {"metric": {"name": "m"}, "target": {"type": "AverageValue"}}}
    given = {
        "apiVersion": "autoscaling/v2",
        "kind": "HorizontalPodAutoscaler",
        "metadata": {"name": "h", "managedFields": []},
        "spec": {"metrics": [pods], "behavior": {}, "maxReplicas": 1},
        "status": {"desiredReplicas": 2},
    }
    made = convert(given, HPA._replace(version="v1"))
    meta = made["metadata"]
    assert [*meta] == ["name", "annotations", "managedFields"]
    assert [name.rpartition("/")[2] for name in meta["annotations"]] == ["behavior", "metrics"]
    assert [*made["status"]] == ["currentReplicas", "desiredReplicas"]


def from_v1(**texts: str) -> Any:
    """What v2 shows of an autoscaler of v1 with these annotations."""
    notes = {AUTOSCALING_PREFIX + name.replace("_", "-"): text for name, text in texts.items()}
    given = {"apiVersion": "autoscaling/v1", "kind": "HorizontalPodAutoscaler"}
    return convert({**given, "metadata": {"annotations": notes}, "spec": {}}, HPA)


@pytest.mark.parametrize(
    "text",
    [
        *('[{"type": 1}]', '[{"resource": 1}]', "{}", "null", "[]", "[1]", "["),
        '[{"type":"Pods","pods":{"metricName":"m","targetAverageValue":"abc"}}]',
        '[{"type":"Resource","resource":{"name":"memory","targetAverageUtilization":50.0}}]',
        '[{"type":"Resource","resource":{"name":"memory","targetAverageUtilization":5000000000}}]',
    ],
)
def test_metrics_that_go_does_not_read_are_not_there(text: str) -> None:
    assert from_v1(metrics=text)["spec"] == from_v1()["spec"]


@pytest.mark.parametrize(
    ("text", "metric"),
    [
        ('[{"type":"Foo","foo":{"a":1}}]', {"type": "Foo"}),
        ("[null]", {"type": ""}),
        (
            '[{"TYPE":"Pods","Pods":{"METRICNAME":"m","targetaveragevalue":"1000m"}}]',
            {
                "type": "Pods",
                "pods": {
                    "metric": {"name": "m"},
                    "target": {"type": "AverageValue", "averageValue": "1"},
                },
            },
        ),
    ],
)
def test_metrics_are_read_as_go_reads_them(text: str, metric: dict[str, Any]) -> None:
    assert from_v1(metrics=text)["spec"]["metrics"] == [metric]


def test_metrics_from_annotations_have_the_order_of_v2() -> None:
    text = '[{"type":"Object","object":{"target":{"kind":"Service"},"targetValue":"3"}}]'
    (metric,) = from_v1(metrics=text)["spec"]["metrics"]
    assert list(metric["object"]) == ["describedObject", "target", "metric"]


def test_other_annotations_are_read_as_go_reads_them() -> None:
    bad = from_v1(behavior='{"ScaleUp":{"StabilizationWindowSeconds":"3"}}', conditions="[1]")
    assert (bad["spec"], bad["status"]) == (from_v1()["spec"], from_v1()["status"])
    behavior = from_v1(behavior='{"scaleup":{"Policies":[{}],"Tolerance":"0.10"}}')
    policy = {"type": "", "value": 0, "periodSeconds": 0}
    rules = {"policies": [policy], "tolerance": "100m"}
    assert behavior["spec"]["behavior"] == {"scaleUp": rules}
    told = from_v1(conditions='[{"Type":"A","zz":1}]', current_metrics='[{"type":"Foo","b":1}]')
    assert told["status"]["conditions"][0]["type"] == "A"
    assert "zz" not in told["status"]["conditions"][0]
    assert told["status"]["currentMetrics"] == [{"type": "Foo"}]


def test_events_rename_their_members() -> None:
    core = {
        "apiVersion": "v1",
        "kind": "Event",
        "involvedObject": {"name": "x"},
        "message": "m",
        "count": 2,
        "type": "Normal",
    }
    shown = convert(core, GroupVersionKind("events.k8s.io", "v1", "Event"))
    assert shown == {
        "apiVersion": "events.k8s.io/v1",
        "kind": "Event",
        "regarding": {"name": "x"},
        "note": "m",
        "deprecatedCount": 2,
        "type": "Normal",
    }
    said = {"reportingComponent": "", "reportingInstance": ""}
    back = convert(shown, GroupVersionKind("", "v1", "Event"))
    assert back == {**core, **said}
    assert convert(back, GroupVersionKind("events.k8s.io", "v1", "Event")) == shown


def test_v1_always_tells_how_many_there_are() -> None:
    """Upstream's status has them without `omitempty`."""
    assert convert(hpa(CPU), V1)["status"] == {"currentReplicas": 0, "desiredReplicas": 0}
    given = {**hpa(CPU), "status": {"currentReplicas": 2, "desiredReplicas": 3}}
    assert convert(given, V1)["status"] == {"currentReplicas": 2, "desiredReplicas": 3}


SELECTOR = {"matchLabels": {"a": "b"}}
PODS = {
    "type": "Pods",
    "pods": {"metric": {"name": "m"}, "target": {"type": "AverageValue", "averageValue": "5"}},
}
PODS_IN_V1 = {"type": "Pods", "pods": {"metricName": "m", "targetAverageValue": "5"}}
AMOUNT = {
    "type": "Resource",
    "resource": {"name": "memory", "target": {"type": "AverageValue", "averageValue": "1Gi"}},
}


@pytest.mark.parametrize(
    ("metrics", "target", "others"),
    [
        ([], None, None),
        ([CPU], 70, None),
        (
            [MEMORY],
            None,
            [
                {
                    "type": "Resource",
                    "resource": {"name": "memory", "targetAverageUtilization": 60},
                }
            ],
        ),
        (
            [AMOUNT, CPU],
            70,
            [{"type": "Resource", "resource": {"name": "memory", "targetAverageValue": "1Gi"}}],
        ),
        ([CPU, CPU], 70, None),
        ([PODS], None, [PODS_IN_V1]),
        (
            [{**CPU, "type": "Pods"}],
            None,
            [{"type": "Pods", "resource": {"name": "cpu", "targetAverageUtilization": 70}}],
        ),
    ],
)
def test_metrics_that_v1_does_not_know(
    metrics: list[dict[str, Any]], target: int | None, others: Any
) -> None:
    shown = convert(hpa(*metrics), V1)
    assert shown["spec"].get("targetCPUUtilizationPercentage") == target
    annotations = shown["metadata"].get("annotations")
    assert (annotations and json.loads(annotations[METRICS])) == others
    assert "metrics" not in shown["spec"]


@pytest.mark.parametrize("metrics", [[AMOUNT], [PODS, AMOUNT, CPU], [PODS, PODS]])
def test_other_metrics_there_and_back(metrics: list[dict[str, Any]]) -> None:
    given = hpa(*metrics)
    assert convert(convert(given, V1), HPA)["spec"] == given["spec"]


def test_the_status_of_v2_in_v1() -> None:
    conditions = [{"type": "AbleToScale", "status": "True"}]
    memory = {
        "type": "Resource",
        "resource": {"name": "memory", "current": {"averageUtilization": 9}},
    }
    usage = {
        "type": "Resource",
        "resource": {"name": "cpu", "current": {"averageUtilization": 5}},
    }
    pods = {"type": "Pods", "pods": {"metric": {"name": "m"}, "current": {"averageValue": "5"}}}
    status: dict[str, Any] = {
        "currentMetrics": [memory, usage, pods],
        "conditions": conditions,
        "desiredReplicas": 2,
    }
    shown = convert({**hpa(CPU), "status": status}, V1)
    assert shown["status"] == {
        "currentCPUUtilizationPercentage": 5,
        "currentReplicas": 0,
        "desiredReplicas": 2,
    }
    prefix = "autoscaling.alpha.kubernetes.io/"
    assert shown["metadata"]["annotations"] == {
        f"{prefix}conditions": '[{"type":"AbleToScale","status":"True","lastTransitionTime":null}]',
        f"{prefix}current-metrics": (
            '[{"type":"Resource","resource":{"name":"memory","currentAverageUtilization":9,'
            '"currentAverageValue":"0"}},{"type":"Resource","resource":{"name":"cpu",'
            '"currentAverageUtilization":5,"currentAverageValue":"0"}},{"type":"Pods","pods":'
            '{"metricName":"m","currentAverageValue":"5"}}]'
        ),
    }
    back = convert(shown, HPA)
    for one in status["currentMetrics"][:2]:
        one["resource"]["current"]["averageValue"] = "0"  # which v1 cannot leave out
    assert back["status"] == {
        "currentMetrics": status["currentMetrics"],
        "conditions": [{**conditions[0], "lastTransitionTime": None}],
        "desiredReplicas": 2,
    }
    assert back["metadata"] == {"name": "h"}


METRICS_OF_BOTH: list[tuple[dict[str, Any], dict[str, Any]]] = [
    (
        {"object": {
            "describedObject": {"kind": "Ingress", "name": "i"},
            "target": {"type": "Value", "value": "10"},
            "metric": {"name": "m", "selector": SELECTOR}}},
        {"object": {"target": {"kind": "Ingress", "name": "i"}, "metricName": "m",
            "targetValue": "10", "selector": SELECTOR}},
    ),
    (
        {"object": {
            "describedObject": {"kind": "Ingress", "name": "i"},
            "target": {"type": "AverageValue", "averageValue": "3"},
            "metric": {"name": "m"}}},
        {"object": {"target": {"kind": "Ingress", "name": "i"}, "metricName": "m",
            "targetValue": "0", "averageValue": "3"}},
    ),
    (
        {"containerResource": {"name": "cpu", "container": "c",
            "target": {"type": "Utilization", "averageUtilization": 50}}},
        {"containerResource": {"name": "cpu", "targetAverageUtilization": 50, "container": "c"}},
    ),
    (
        {"external": {"metric": {"name": "q", "selector": SELECTOR},
            "target": {"type": "AverageValue", "averageValue": "7"}}},
        {"external": {"metricName": "q", "metricSelector": SELECTOR, "targetAverageValue": "7"}},
    ),
    (
        {"external": {"metric": {"name": "q"}, "target": {"type": "Value", "value": "7"}}},
        {"external": {"metricName": "q", "targetValue": "7"}},
    ),
]  # fmt: skip


@pytest.mark.parametrize(("newer", "older"), METRICS_OF_BOTH)
def test_each_source_of_metrics(newer: dict[str, Any], older: dict[str, Any]) -> None:
    given = hpa({"type": "T", **newer}, CPU)
    shown = convert(given, V1)
    (other,) = json.loads(shown["metadata"]["annotations"][METRICS])
    assert other == {"type": "T", **older}
    assert convert(shown, HPA)["spec"] == given["spec"]


def test_annotations_that_travel_are_not_the_users() -> None:
    notes = {METRICS: "[1]", "autoscaling.alpha.kubernetes.io/scale-up-tolerance": "1", "a": "b"}
    given = {**hpa(CPU), "metadata": {"annotations": notes}}
    assert convert(given, V1)["metadata"] == {"annotations": {"a": "b"}}


def test_the_status_of_v1_in_v2() -> None:
    given = {"apiVersion": "autoscaling/v1", "kind": "HorizontalPodAutoscaler", "metadata": {}}
    notes = {"autoscaling.alpha.kubernetes.io/current-metrics": "[]", "mine": "kept"}
    shown = convert({**given, "metadata": {"annotations": notes}}, HPA)
    assert shown["status"] == {"currentMetrics": None, "desiredReplicas": 0}
    assert shown["metadata"] == {"annotations": {"mine": "kept"}}


def test_what_has_another_kind_is_only_renamed() -> None:
    given = {"apiVersion": "autoscaling/v1", "kind": "Scale", "spec": {"metrics": []}}
    kind = GroupVersionKind("autoscaling", "v2", "Scale")
    assert convert(given, kind) == {**given, "apiVersion": "autoscaling/v2"}
    beta = convert(hpa(CPU), HPA._replace(version="v2beta2"))
    assert beta == {**hpa(CPU), "apiVersion": "autoscaling/v2beta2"}


def test_metrics_without_the_shape_of_metrics() -> None:
    with pytest.raises(ConversionError, match="does not have the fields of its kind"):
        convert({**hpa(), "spec": {"metrics": [1]}}, V1)


@pytest.mark.parametrize("version", ["v1", "v2"])
@pytest.mark.parametrize(
    "damaged",
    [
        {"spec": [{"minReplicas": 2, "maxReplicas": 10}]},
        {"spec": "x"},
        {"status": 3},
        {"status": ["x"]},
    ],
)
def test_what_has_not_the_shape_of_its_kind_cannot_be_converted(
    version: str, damaged: dict[str, Any]
) -> None:
    given = {**hpa(), "apiVersion": f"autoscaling/{version}", **damaged}
    other = HPA._replace(version={"v1": "v2", "v2": "v1"}[version])
    with pytest.raises(ConversionError, match="does not have the fields of its kind"):
        convert(given, other)
