"""Fields of new objects whose feature gate is switched off."""

from __future__ import annotations

from typing import Any

import pytest

from celadon.kube import GroupVersionKind, parse_api_version
from celadon.kube.defaulting import DefaultingContext
from celadon.kube.defaulting.defaulting_rules import ON_BY_DEFAULT, gated_rules
from celadon.kube.defaulting.rule_paths import lookup
from celadon.kube.registry import create
from celadon.kube.releases import answering_as
from celadon.kube.resources.feature_gates import is_gate_on

CONTAINER = {"name": "c", "image": "i"}
RULE = {"action": "Restart", "exitCodes": {"operator": "In", "values": [1]}}
KEY = {"volumeName": "v", "path": "p", "key": "k"}


def pod(container: dict[str, Any] | None = None, **spec: Any) -> dict[str, Any]:
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "a"},
        "spec": {"containers": [{**CONTAINER, **(container or {})}], **spec},
    }


def claim(version: str, **request: Any) -> dict[str, Any]:
    return {
        "apiVersion": f"resource.k8s.io/{version}",
        "kind": "ResourceClaim",
        "metadata": {"name": "a"},
        "spec": {"devices": {"requests": [{"name": "r", **request}]}},
    }


HPA = {
    "apiVersion": "autoscaling/v2",
    "kind": "HorizontalPodAutoscaler",
    "metadata": {"name": "a"},
    "spec": {"maxReplicas": 2, "behavior": {"scaleUp": {"tolerance": "0.5"}}},
}
DRIVER = {
    "apiVersion": "storage.k8s.io/v1",
    "kind": "CSIDriver",
    "metadata": {"name": "a"},
    "spec": {"nodeAllocatableUpdatePeriodSeconds": 60, "seLinuxMount": True},
}
DEFINITION = {
    "apiVersion": "apiextensions.k8s.io/v1",
    "kind": "CustomResourceDefinition",
    "metadata": {"name": "a.b"},
    "spec": {"versions": [{"name": "v1", "selectableFields": [{"jsonPath": ".spec.a"}]}]},
}
SPREAD = {"maxSkew": 1, "topologyKey": "k", "whenUnsatisfiable": "DoNotSchedule"}
CASES: list[tuple[str, dict[str, Any], str]] = [
    ("HostnameOverride", pod(hostnameOverride="x"), "spec.hostnameOverride"),
    ("UserNamespacesSupport", pod(hostUsers=False), "spec.hostUsers"),
    ("PodLevelResources", pod(resources={"limits": {"cpu": "1"}}), "spec.resources"),
    (
        "SELinuxChangePolicy",
        pod(securityContext={"seLinuxChangePolicy": "Recursive"}),
        "spec.securityContext.seLinuxChangePolicy",
    ),
    ("ContainerRestartRules", pod({"restartPolicyRules": [RULE]}), "*.restartPolicyRules"),
    ("ContainerRestartRules", pod({"restartPolicy": "Never"}), "*.restartPolicy"),
    ("ProcMountType", pod({"securityContext": {"procMount": "Default"}}), "*.securityContext"),
    (
        "EnvFiles",
        pod({"env": [{"name": "E", "valueFrom": {"fileKeyRef": KEY}}]}),
        "*.env",
    ),
    (
        "MatchLabelKeysInPodTopologySpread",
        pod(topologySpreadConstraints=[{**SPREAD, "matchLabelKeys": ["k"]}]),
        "spec.topologySpreadConstraints",
    ),
    ("CustomResourceFieldSelectors", DEFINITION, "spec.versions"),
    ("HPAConfigurableTolerance", HPA, "spec.behavior.scaleUp.tolerance"),
    ("MutableCSINodeAllocatableCount", DRIVER, "spec.nodeAllocatableUpdatePeriodSeconds"),
    ("SELinuxMountReadWriteOncePod", DRIVER, "spec.seLinuxMount"),
    (
        "DRAAdminAccess",
        claim("v1", exactly={"deviceClassName": "c", "adminAccess": True}),
        "spec.devices.requests",
    ),
    (
        "DRAAdminAccess",
        claim("v1beta1", deviceClassName="c", adminAccess=True),
        "spec.devices.requests",
    ),
    (
        "DRAPrioritizedList",
        claim("v1", firstAvailable=[{"name": "s", "deviceClassName": "c"}]),
        "spec.devices.requests",
    ),
]


def admitted(obj: dict[str, Any], **gates: bool) -> dict[str, Any]:
    version = parse_api_version(obj["apiVersion"])
    gvk = GroupVersionKind(version.group, version.version, obj["kind"])
    return create.admit_form(obj, gvk, DefaultingContext(gates=gates))


def seen(obj: dict[str, Any], path: str) -> Any:
    if path.startswith("*."):
        return lookup(path[2:], obj["spec"]["containers"][0], obj)
    return lookup(path, obj, obj)


@pytest.mark.parametrize(("gate", "obj", "path"), CASES, ids=[f"{c[0]} {c[2]}" for c in CASES])
def test_a_field_goes_with_its_gate(gate: str, obj: dict[str, Any], path: str) -> None:
    kept = seen(admitted(obj), path)
    assert kept is not None
    assert seen(admitted(obj, **{gate: False}), path) != kept
    assert seen(admitted(obj, **{gate: True}), path) == kept


def test_templates_lose_theirs_too() -> None:
    template = {"metadata": {"labels": {"a": "b"}}, "spec": pod(hostnameOverride="x")["spec"]}
    obj = {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "a"},
        "spec": {"selector": {"matchLabels": {"a": "b"}}, "template": template},
    }
    path = "spec.template.spec.hostnameOverride"
    assert seen(admitted(obj), path) == "x"
    assert seen(admitted(obj, HostnameOverride=False), path) is None


def test_every_gate_is_known_and_on() -> None:
    assert all(is_gate_on(gate, "1.36") for gate in ON_BY_DEFAULT)


def test_gates_that_were_off_in_an_older_release() -> None:
    job = {
        "metadata": {"name": "j"},
        "spec": {
            "managedBy": "example.com/x",
            "template": {"spec": {"restartPolicy": "Never", "containers": [CONTAINER]}},
        },
    }
    obj = {"apiVersion": "batch/v1", "kind": "Job", **job}
    with answering_as("1.31"):
        assert seen(admitted(obj), "spec.managedBy") is None
    assert seen(admitted(obj), "spec.managedBy") == "example.com/x"


def test_kinds_without_such_fields_have_no_rules() -> None:
    assert gated_rules("v1/ConfigMap") == ()
