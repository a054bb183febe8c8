"""Objects shown in another version."""

from __future__ import annotations

import json
from typing import Any

import pytest

from celadon.admission.conversion import convert
from celadon.kube import GroupVersionKind

HPA = GroupVersionKind("autoscaling", "v2", "HorizontalPodAutoscaler")
V1 = HPA._replace(version="v1")
MEMORY = {
    "type": "Resource",
    "resource": {"name": "memory", "target": {"type": "Utilization", "averageUtilization": 60}},
}
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
        '{"scaleDown":{"stabilizationWindowSeconds":1}}'
    )
    for text in annotations.values():
        assert json.dumps(json.loads(text), separators=(",", ":")) == text


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
    assert convert(given, HPA)["spec"] == {}


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
    assert convert(shown, GroupVersionKind("", "v1", "Event")) == core


def test_v1_always_tells_how_many_there_are() -> None:
    """Upstream's status has them without `omitempty`."""
    assert convert(hpa(CPU), V1)["status"] == {"currentReplicas": 0, "desiredReplicas": 0}
    given = {**hpa(CPU), "status": {"currentReplicas": 2, "desiredReplicas": 3}}
    assert convert(given, V1)["status"] == {"currentReplicas": 2, "desiredReplicas": 3}
