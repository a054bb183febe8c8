"""HorizontalPodAutoscalers."""

from __future__ import annotations

from typing import Any

import pytest

from tests.kube.validation.objects import complaints, obj, update_complaints

TARGET = {"apiVersion": "apps/v1", "kind": "Deployment", "name": "x"}


def autoscaler(**spec: Any) -> dict[str, Any]:
    fields = {"maxReplicas": 2, "scaleTargetRef": TARGET, **spec}
    return obj("autoscaling/v2", "HorizontalPodAutoscaler", spec=fields)


def on_object(version: str) -> dict[str, Any]:
    described = {"apiVersion": version, "kind": "Service", "name": "s"}
    target = {"type": "Value", "value": "1"}
    source = {"describedObject": described, "metric": {"name": "m"}, "target": target}
    return {"metrics": [{"type": "Object", "object": source}]}


def target(version: str, kind: str = "Deployment") -> dict[str, Any]:
    return {"scaleTargetRef": {"apiVersion": version, "kind": kind, "name": "x"}}


AT = "spec.scaleTargetRef.apiVersion"
CASES: list[tuple[dict[str, Any], list[str]]] = [
    ({}, []),
    (
        {"maxReplicas": -1, "minReplicas": 1},
        [
            "spec.maxReplicas: Invalid value: -1: must be greater than or equal to 1",
            "spec.maxReplicas: Invalid value: -1: must be greater than or equal to `minReplicas`",
        ],
    ),
    (
        {"behavior": {"scaleUp": {"tolerance": "-100m"}}},
        [
            'spec.behavior.scaleUp.tolerance: Invalid value: "-100m": must be greater than or '
            "equal to 0"
        ],
    ),
    ({"behavior": {"scaleUp": {}}}, []),
    (
        {"behavior": {"scaleDown": {"policies": []}}},
        ["spec.behavior.scaleDown.policies: Required value: must specify at least one Policy"],
    ),
    (target("v1"), [f'{AT}: Invalid value: "v1": apiVersion must specify API group']),
    (target("v2", "ReplicationController"), []),
    (target("a/b/c"), [f'{AT}: Invalid value: "a/b/c": unexpected GroupVersion string: a/b/c']),
    (on_object("v1"), []),
    (
        on_object("a/b/c"),
        [
            'spec.metrics[0].object.describedObject.apiVersion: Invalid value: "a/b/c": unexpected '
            "GroupVersion string: a/b/c"
        ],
    ),
]


@pytest.mark.parametrize(("spec", "messages"), CASES)
def test_specs(spec: dict[str, Any], messages: list[str]) -> None:
    assert complaints(autoscaler(**spec)) == messages


@pytest.mark.parametrize("spec", [target("v1"), on_object("a/b/c")])
def test_what_was_asked_for_later_may_stay(spec: dict[str, Any]) -> None:
    old = autoscaler(**spec)
    assert update_complaints(autoscaler(**spec, minReplicas=2), old) == []
    assert update_complaints(autoscaler(**spec), autoscaler()) != []


PREFIX = "autoscaling.alpha.kubernetes.io/"


@pytest.mark.parametrize(
    ("name", "text", "fields"),
    [
        ("metrics", '[{"type":"Foo"}]', ["spec.metrics[0].type"]),
        ("metrics", "[null]", ["spec.metrics[0].type"]),
        ("metrics", "null", []),
        ("behavior", '{"ScaleUp":{}}', ["spec.behavior.scaleUp.policies"]),
    ],
)
def test_annotations_of_the_older_version_are_checked(
    name: str, text: str, fields: list[str]
) -> None:
    old = {**autoscaler(), "apiVersion": "autoscaling/v1"}
    new = {**old, "metadata": {**old["metadata"], "annotations": {PREFIX + name: text}}}
    for told in (complaints(new), update_complaints(new, old)):
        assert list(dict.fromkeys(one.split(":")[0] for one in told)) == fields
