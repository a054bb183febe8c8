"""Changes that defaulting may have something to say about, and those that it has not."""

from __future__ import annotations

from typing import Any

import pytest

from celadon.kube import GroupVersionKind
from celadon.kube.defaulting.defaulting_context import DefaultingContext, Run
from celadon.kube.defaulting.defaulting_rules import NO_TRIGGERS, Triggers, enabled_gates, triggers

POD = GroupVersionKind("", "v1", "Pod")
GATES = enabled_gates({})
RUN = Run({"spec": {"hostNetwork": True}}, DefaultingContext(), GATES)
CONTAINER = {
    "name": "a",
    "imagePullPolicy": "Always",
    "terminationMessagePath": "p",
    "terminationMessagePolicy": "File",
}

GRACE = {"terminationGracePeriodSeconds": 3}


def of(component: str) -> Triggers:
    return triggers(POD, GATES).get(f"io.k8s.api.core.v1.{component}", NO_TRIGGERS)


@pytest.mark.parametrize(
    ("component", "struct", "wanted"),
    [
        ("EnvVar", {"name": "a", "value": "b"}, False),
        ("EnvVar", {"name": "a", "valueFrom": {}}, True),
        ("VolumeMount", {"name": "a"}, False),
        ("Volume", {"name": "a"}, True),
        ("Volume", {"name": "a", "emptyDir": {}}, False),
        ("Volume", {"name": "a", "secret": {}}, True),
        ("SecretVolumeSource", {}, True),
        ("SecretVolumeSource", {"defaultMode": 0}, False),
        ("Container", {"name": "a"}, True),
        ("Container", CONTAINER, False),
        ("Container", {**CONTAINER, "imagePullPolicy": ""}, True),
        ("Container", {**CONTAINER, "resources": {}}, True),
        ("ContainerPort", {"protocol": "TCP", "hostPort": 1}, False),
        ("ContainerPort", {"protocol": "TCP"}, True),
        ("ContainerPort", {"hostPort": 1}, True),
        ("PodSpec", {}, True),
        ("PodStatus", {}, True),
    ],
)
def test_new_structs(component: str, struct: Any, wanted: bool) -> None:
    assert of(component).of_new(struct, RUN) is wanted


def test_a_condition_that_does_not_hold_fills_nothing() -> None:
    run = Run({"spec": {}}, DefaultingContext(), GATES)
    assert not of("ContainerPort").of_new({"protocol": "TCP"}, run)


@pytest.mark.parametrize(
    ("component", "struct", "name", "wanted"),
    [
        ("PodSpec", {}, "dnsPolicy", False),
        ("PodSpec", {}, "containers", False),
        ("PodSpec", GRACE, "terminationGracePeriodSeconds", False),
        ("PodSpec", {**GRACE, "nodeName": "n"}, "nodeName", False),
        ("PodSpec", {"terminationGracePeriodSeconds": -1}, "terminationGracePeriodSeconds", True),
        ("PodSpec", {}, "serviceAccountName", True),
        ("PodSpec", {"resources": {}}, "containers", True),
        ("Container", {}, "image", False),
        ("ResourceRequirements", {"requests": {}}, "claims", False),
        ("ResourceRequirements", {"limits": {}}, "claims", True),
        ("ResourceRequirements", {"requests": {}}, "requests", True),
        ("PodStatus", {}, "phase", True),
    ],
)
def test_fields_that_are_set(component: str, struct: Any, name: str, wanted: bool) -> None:
    assert of(component).of_set(struct, {name}) is wanted


@pytest.mark.parametrize(
    ("component", "struct", "name", "wanted"),
    [
        ("PodSpec", {}, "dnsPolicy", True),
        ("PodSpec", {"enableServiceLinks": False}, "enableServiceLinks", False),
        ("PodSpec", {}, "nodeName", False),
        ("Container", {"imagePullPolicy": ""}, "imagePullPolicy", True),
        ("Container", {}, "image", False),
    ],
)
def test_fields_that_are_emptied(component: str, struct: Any, name: str, wanted: bool) -> None:
    assert of(component).of_emptied(struct, name) is wanted


@pytest.mark.parametrize(
    ("field", "keys", "wanted"),
    [
        ("annotations", ["a"], False),
        ("annotations", ["a", "pod.beta.kubernetes.io/init-containers"], True),
        ("labels", ["pod.beta.kubernetes.io/init-containers"], False),
    ],
)
def test_keys_that_a_rule_drops(field: str, keys: list[str], wanted: bool) -> None:
    meta = triggers(POD, GATES)["io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta"]
    struct = {field: dict.fromkeys(keys, "")}
    assert meta.of_set(struct, {field}) is wanted
    assert meta.of_new(struct, RUN) is wanted


def test_what_is_no_struct_is_watched_where_it_is() -> None:
    assert of("PodSpec").of_set({}, {"overhead"})
