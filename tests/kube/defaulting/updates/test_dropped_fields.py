"""Changed objects, and fields whose feature gate is off."""

from __future__ import annotations

from typing import Any

import pytest

from celadon.kube import GroupVersionKind
from celadon.kube.defaulting import DefaultingContext, drafted, finish_update
from celadon.kube.defaulting.rule_paths import lookup

POD = GroupVersionKind("", "v1", "Pod")
DEPLOYMENT = GroupVersionKind("apps", "v1", "Deployment")


def pod(container: dict[str, Any] | None = None, **spec: Any) -> dict[str, Any]:
    containers = [{"name": "c", "image": "i", **(container or {})}]
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "a"},
        "spec": {"containers": containers, **spec},
    }


def deployment(**spec: Any) -> dict[str, Any]:
    template = {"metadata": {"labels": {"a": "b"}}, "spec": pod(**spec)["spec"]}
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "a"},
        "spec": {"selector": {"matchLabels": {"a": "b"}}, "template": template},
    }


def updated(
    gvk: GroupVersionKind,
    new: dict[str, Any],
    old: dict[str, Any],
    subresource: str = "",
    **gates: bool,
) -> dict[str, Any]:
    draft = drafted(new, gvk, DefaultingContext(gates=gates))
    return finish_update(draft, old, subresource=subresource)


GROUP = {"podGroupName": "g"}
STOP = {"lifecycle": {"stopSignal": "SIGTERM"}}
SCHEDULING = "spec.template.spec.schedulingGroup"


def test_what_is_new_is_dropped() -> None:
    """Of a gate that is off by default."""
    made = updated(DEPLOYMENT, deployment(schedulingGroup=GROUP), deployment())
    assert lookup(SCHEDULING, made, made) is None
    made = updated(
        DEPLOYMENT, deployment(schedulingGroup=GROUP), deployment(), GenericWorkload=True
    )
    assert lookup(SCHEDULING, made, made) == GROUP


def test_what_is_in_use_stays() -> None:
    old = deployment(schedulingGroup={"podGroupName": "older"})
    made = updated(DEPLOYMENT, deployment(schedulingGroup=GROUP), old)
    assert lookup(SCHEDULING, made, made) == GROUP


@pytest.mark.parametrize("used", [False, True])
def test_use_anywhere_in_the_object_counts(used: bool) -> None:
    init = [{"name": "i", "image": "i", **(STOP if used else {})}]
    made = updated(POD, pod(STOP, initContainers=init), pod(initContainers=init))
    assert made["spec"]["containers"][0].get("lifecycle") == (STOP["lifecycle"] if used else None)


def test_a_gate_that_was_switched_off_drops() -> None:
    new, old = pod(hostnameOverride="x"), pod()
    assert updated(POD, new, old)["spec"]["hostnameOverride"] == "x"
    made = updated(POD, new, old, HostnameOverride=False)
    assert "hostnameOverride" not in made["spec"]
    assert updated(POD, new, new, HostnameOverride=False)["spec"]["hostnameOverride"] == "x"


def test_fields_of_the_status_are_dropped_from_the_status() -> None:
    gate = {"DeploymentReplicaSetTerminatingReplicas": False}
    new = {**deployment(hostnameOverride="x"), "status": {"terminatingReplicas": 1, "replicas": 1}}
    made = updated(DEPLOYMENT, new, deployment(), "status", **gate)
    assert made["status"] == {"replicas": 1}
    made = updated(DEPLOYMENT, new, {**deployment(), "status": new["status"]}, "status", **gate)
    assert made["status"] == new["status"]
    assert updated(DEPLOYMENT, new, deployment(), "status")["status"] == new["status"]
