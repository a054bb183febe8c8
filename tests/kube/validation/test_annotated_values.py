"""Tolerations, taints and avoided pods in annotations, which nodes and pods may still have."""

from __future__ import annotations

from typing import Any

import pytest

from celadon.kube.names import GroupVersionKind
from celadon.kube.validation.built_in_validations import validate_create, validate_update
from celadon.kube.validation.format_checks import AVOIDED_PODS, TAINTS, TOLERATIONS

NODE = GroupVersionKind("", "v1", "Node")
POD = GroupVersionKind("", "v1", "Pod")
DEPLOYMENT = GroupVersionKind("apps", "v1", "Deployment")
NO_GATES: frozenset[str] = frozenset()


def node(key: str, text: str) -> dict[str, Any]:
    return {"metadata": {"name": "n", "annotations": {key: text}}}


def faults(key: str, text: str) -> list[str]:
    return [str(error) for error in validate_create(node(key, text), NODE, NO_GATES)]


def value(key: str, why: str, place: str = "metadata.annotations") -> str:
    return f'{place}: Invalid value: "{key}": {why}'


INTO = "json: cannot unmarshal"
TAKEN = [
    (TAINTS, '[{"KEY":"a","effect":"NoSchedule","TimeAdded":"2020-01-01T00:00:00Z","x":1}]'),
    (TAINTS, "null"),
    (TAINTS, ""),
    (AVOIDED_PODS, '{"PreferAvoidPods":[{"podSignature":{"podController":{"controller":true}}}]}'),
    (AVOIDED_PODS, "{}"),
]
REFUSED = [
    (TAINTS, "x", "invalid character 'x' looking for beginning of value"),
    (TAINTS, "{}", f"{INTO} object into Go value of type []core.Taint"),
    (TAINTS, "[5]", f"{INTO} number into Go value of type core.Taint"),
    (TAINTS, '[{"key":5}]', f"{INTO} number into Go struct field Taint.Key of type string"),
    (
        TAINTS,
        '[{"effect":true}]',
        f"{INTO} bool into Go struct field Taint.Effect of type core.TaintEffect",
    ),
    (
        TAINTS,
        '[{"timeAdded":5}]',
        f"{INTO} number into Go struct field Taint.TimeAdded of type string",
    ),
]
AVOIDED = [
    ("[]", f"{INTO} array into Go value of type v1.AvoidPods"),
    (
        '{"preferAvoidPods":{}}',
        f"{INTO} object into Go struct field AvoidPods.preferAvoidPods of type "
        "[]v1.PreferAvoidPodsEntry",
    ),
    (
        '{"preferAvoidPods":[{"podSignature":{"podController":{"uid":5}}}]}',
        f"{INTO} number into Go struct field "
        "OwnerReference.preferAvoidPods.podSignature.podController.uid of type types.UID",
    ),
    (
        '{"preferAvoidPods":[{"evictionTime":"x"}]}',
        'parsing time "x" as "2006-01-02T15:04:05Z07:00": cannot parse "x" as "2006"',
    ),
]


@pytest.mark.parametrize(("key", "text"), TAKEN)
def test_taken(key: str, text: str) -> None:
    assert faults(key, text) == []


@pytest.mark.parametrize(("key", "text", "why"), REFUSED)
def test_texts_that_go_does_not_read(key: str, text: str, why: str) -> None:
    assert faults(key, text) == [value(key, why)]


@pytest.mark.parametrize(("text", "why"), AVOIDED)
def test_avoided_pods_that_go_does_not_read(text: str, why: str) -> None:
    assert faults(AVOIDED_PODS, text) == [
        value(AVOIDED_PODS, why, "metadata.annotations.AvoidPods")
    ]


def test_entries_name_a_controller() -> None:
    entry = f"metadata.annotations.{AVOIDED_PODS}[0].PodSignature"
    assert faults(AVOIDED_PODS, '{"preferAvoidPods":[{}]}') == [f"{entry}: Required value"]
    text = '{"preferAvoidPods":[{"podSignature":{"podController":{"controller":false}}}]}'
    wanted = f"{entry}.PodController.Controller: Invalid value: false: must point to a controller"
    assert faults(AVOIDED_PODS, text) == [wanted]


def test_taints_are_those_of_nodes() -> None:
    (found,) = faults(TAINTS, '[{"key":"a","effect":"x"}]')
    assert found.startswith(f'metadata.annotations.{TAINTS}[0].effect: Unsupported value: "x"')
    update = validate_update(node(TAINTS, "x"), node(TAINTS, ""), NODE, NO_GATES)
    assert [error.path.text for error in update] == ["metadata.annotations"] * 2


def pod(text: str) -> dict[str, Any]:
    container = {
        "name": "c",
        "image": "i",
        "imagePullPolicy": "Always",
        "terminationMessagePolicy": "File",
    }
    spec: dict[str, Any] = {
        "containers": [container],
        "restartPolicy": "Always",
        "dnsPolicy": "Default",
    }
    spec |= {"terminationGracePeriodSeconds": 30, "securityContext": {}, "schedulerName": "s"}
    meta = {"name": "p", "namespace": "n", "annotations": {TOLERATIONS: text}}
    return {"metadata": meta, "spec": spec}


TOLERATED = [
    ("{}", value(TOLERATIONS, f"{INTO} object into Go value of type []core.Toleration")),
    (
        '[{"tolerationSeconds":1.5}]',
        value(
            TOLERATIONS,
            f"{INTO} number 1.5 into Go struct field Toleration.TolerationSeconds of type int64",
        ),
    ),
    (
        '[{"key":"a","operator":"Exists","value":"b"}]',
        f'metadata.annotations.{TOLERATIONS}[0].operator: Invalid value: "b": value must be empty '
        "when `operator` is 'Exists'",
    ),
]


@pytest.mark.parametrize(("text", "wanted"), TOLERATED)
def test_tolerations_of_pods(text: str, wanted: str) -> None:
    assert [str(one) for one in validate_create(pod(text), POD, NO_GATES)] == [wanted]
    assert validate_create(pod("[]"), POD, NO_GATES) == []


def test_tolerations_of_templates() -> None:
    meta = {"labels": {"a": "b"}, "annotations": {TOLERATIONS: "x"}}
    spec = {
        "selector": {"matchLabels": {"a": "b"}},
        "template": {"metadata": meta, "spec": pod("")["spec"]},
    }
    made = {"metadata": {"name": "d", "namespace": "n"}, "spec": spec}
    found = [str(one) for one in validate_create(made, DEPLOYMENT, NO_GATES)]
    why = "invalid character 'x' looking for beginning of value"
    assert value(TOLERATIONS, why, "spec.template.annotations") in found
