"""Changed objects, and fields whose feature gate is off."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from celadon.kube import GroupVersionKind
from celadon.kube.defaulting import DefaultingContext
from celadon.kube.defaulting.defaulting_context import lookup
from celadon.kube.registry import create, drafted
from celadon.kube.registry.update import prepare_for_update

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
    return prepare_for_update(draft, old, subresource=subresource)


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


@pytest.mark.parametrize(
    ("gate", "idle", "new"),
    [
        ("ContainerRestartRules", {"restartPolicy": "Always"}, {"restartPolicy": "Never"}),
        (
            "ProcMountType",
            {"securityContext": {"procMount": "Default"}},
            {"securityContext": {"procMount": "Unmasked"}},
        ),
    ],
)
def test_values_that_need_no_gate_are_no_use_of_it(
    gate: str, idle: dict[str, Any], new: dict[str, Any]
) -> None:
    def made(old: dict[str, Any]) -> Any:
        sidecars = [[{"name": "s", "image": "i", **more}] for more in (new, old)]
        objects = [pod(initContainers=containers) for containers in sidecars]
        after = updated(POD, *objects, **{gate: False})["spec"]["initContainers"][0]
        return {name: after.get(name) for name in new}

    assert made(new) == new
    assert made(idle) == ({"restartPolicy": None} if "restartPolicy" in new else idle)


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


IN_CONTAINERS = {
    "volumeMounts[0].volumeStatus": "ImageVolumeWithDigest",
    "resources": "InPlacePodVerticalScaling",
    "allocatedResources": "InPlacePodVerticalScaling",
    "volumeMounts": "RecursiveReadOnlyMounts",
    "allocatedResourcesStatus": "ResourceHealthStatus",
    "allocatedResourcesStatus[0].resources[0].message": "ResourceHealthStatusMessage",
    "user": "SupplementalGroupsPolicy",
}
IN_STATUS = {
    "extendedResourceClaimStatus": "DRAExtendedResource",
    "resourceClaimStatuses": "DynamicResourceAllocation",
    "resources": "InPlacePodLevelResourcesVerticalScaling",
    "allocatedResources": "InPlacePodLevelResourcesVerticalScaling",
    "observedGeneration": "PodObservedGenerationTracking",
    "conditions[0].observedGeneration": "PodObservedGenerationTracking",
}
HEALTH = {"resourceID": "r", "health": "Healthy", "message": "m"}
CONTAINER_STATUS = {
    "name": "c",
    "resources": {"limits": {"cpu": "1"}},
    "allocatedResources": {"cpu": "1"},
    "volumeMounts": [{"name": "v", "volumeStatus": {"image": {"imageRef": "i"}}}],
    "allocatedResourcesStatus": [{"name": "claim:a", "resources": [HEALTH]}],
    "user": {"linux": {"uid": 1}},
}
LISTS = ("containerStatuses", "initContainerStatuses", "ephemeralContainerStatuses")
POD_STATUS = {
    "extendedResourceClaimStatus": {"resourceClaimName": "c"},
    "resourceClaimStatuses": [{"name": "c"}],
    "resources": {"limits": {"cpu": "1"}},
    "allocatedResources": {"cpu": "1"},
    "observedGeneration": 2,
    "conditions": [{"type": "Ready", "status": "True", "observedGeneration": 2}],
    **{name: [CONTAINER_STATUS] for name in LISTS},
}


@pytest.mark.parametrize(
    ("path", "gate"),
    [
        *IN_STATUS.items(),
        *((f"{name}[0].{path}", gate) for path, gate in IN_CONTAINERS.items() for name in LISTS),
    ],
)
def test_gates_of_the_status_of_pods(path: str, gate: str) -> None:
    on = dict.fromkeys((*IN_CONTAINERS.values(), *IN_STATUS.values()), True)
    new = {**pod(), "status": POD_STATUS}

    def has_it(old: dict[str, Any], *, is_on: bool) -> bool:
        made = updated(POD, copy.deepcopy(new), old, "status", **{**on, gate: is_on})
        found: Any = made["status"]
        for name in path.split("."):
            found = found.get(name.removesuffix("[0]"))
            found = found[0] if name.endswith("[0]") else found
        return found is not None

    assert has_it(pod(), is_on=True)
    assert has_it(new, is_on=False)
    assert not has_it(pod(), is_on=False)


SLICE = GroupVersionKind("resource.k8s.io", "v1", "ResourceSlice")
ENDPOINTS = GroupVersionKind("discovery.k8s.io", "v1", "EndpointSlice")


def resource_slice(**device: Any) -> dict[str, Any]:
    spec = {"driver": "d", "devices": [{"name": "x", **device}]}
    return {"apiVersion": "resource.k8s.io/v1", "kind": "ResourceSlice", "spec": spec}


def endpoints(**endpoint: Any) -> dict[str, Any]:
    item = {"addresses": ["10.0.0.1"], **endpoint}
    head = {"apiVersion": "discovery.k8s.io/v1", "kind": "EndpointSlice", "addressType": "IPv4"}
    return {**head, "endpoints": [item]}


@pytest.mark.parametrize(
    ("gvk", "obj", "path", "gate"),
    [
        (SLICE, resource_slice(attributes={"a": {"bools": []}}),
         ("spec", "devices", 0, "attributes", "a", "bools"), "DRAListTypeAttributes"),
        (SLICE, resource_slice(nodeAllocatableResourceMappings={}),
         ("spec", "devices", 0, "nodeAllocatableResourceMappings"), "DRANodeAllocatableResources"),
        (ENDPOINTS, endpoints(deprecatedTopology={}), ("endpoints", 0, "deprecatedTopology"), ""),
        (DEPLOYMENT, deployment(container={"restartPolicyRules": []}),
         ("spec", "template", "spec", "containers", 0, "restartPolicyRules"),
         "ContainerRestartRules"),
    ],
)  # fmt: skip
def test_what_comes_empty_is_dropped_with_its_field(
    gvk: GroupVersionKind, obj: dict[str, Any], path: tuple[str | int, ...], gate: str
) -> None:
    for on in (False, True) if gate else (False,):
        draft = drafted(obj, gvk, DefaultingContext(gates={gate: on} if gate else {}))
        seen: Any = draft.validated(create.finish_create(draft))
        for step in path[:-1]:
            seen = seen[step]
        assert (path[-1] in seen) is on, gate


def test_of_a_changed_object_what_comes_empty_stays_where_the_gate_is_in_use() -> None:
    new = resource_slice(attributes={"a": {"bools": []}})
    for before, seen in (({"int": 1}, {}), ({"ints": [1]}, {"bools": []})):
        draft = drafted(new, SLICE)
        made = prepare_for_update(draft, resource_slice(attributes={"a": before}))
        assert draft.validated(made)["spec"]["devices"][0]["attributes"]["a"] == seen


def test_an_update_validates_what_came_empty_and_not_what_it_leaves_alone() -> None:
    """The object before is seen with the same: empty and absent are equal."""
    new, old = deployment(nodeSelector={}), {**deployment(), "status": {"replicas": 1}}
    draft = drafted({**new, "status": {"conditions": []}}, DEPLOYMENT)
    made = draft.validated(prepare_for_update(draft, old))
    assert made["spec"]["template"]["spec"]["nodeSelector"] == {}
    assert "conditions" not in made["status"]
    assert draft.validated(old)["spec"]["template"]["spec"]["nodeSelector"] == {}
    draft = drafted(new, DEPLOYMENT)
    made = draft.validated(prepare_for_update(draft, old, subresource="status"))
    assert "nodeSelector" not in made["spec"]["template"]["spec"]
