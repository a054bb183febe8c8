"""Fields of new objects whose feature gate is switched off."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from celadon.kube import GroupVersionKind, parse_api_version
from celadon.kube.defaulting import DefaultingContext
from celadon.kube.defaulting.defaulting_context import lookup
from celadon.kube.defaulting.gated_fields import ON_BY_DEFAULT, gated_rules
from celadon.kube.registry import create
from celadon.kube.registry.decoded_object import drafted
from celadon.kube.registry.update import prepare_for_update
from celadon.kube.releases import answering_as, previous_minor
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


def resource_slice(version: str, device: dict[str, Any], **spec: Any) -> dict[str, Any]:
    device = {"name": "d", **({"basic": device} if version == "v1beta1" else device)}
    return {
        "apiVersion": f"resource.k8s.io/{version}",
        "kind": "ResourceSlice",
        "metadata": {"name": "a"},
        "spec": {"devices": [device], **spec},
    }


TAINTS = [{"key": "k", "effect": "NoSchedule"}]
TOLERATION = {"key": "k", "operator": "Exists"}
NODE = {
    "apiVersion": "v1",
    "kind": "Node",
    "metadata": {"name": "a"},
    "status": {"declaredFeatures": ["A"]},
}
POLICY = {"memory": {"value": "1", "requestPolicy": {"default": "1"}}}
DEFINITION = {
    "apiVersion": "apiextensions.k8s.io/v1",
    "kind": "CustomResourceDefinition",
    "metadata": {"name": "a.b.c"},
    "spec": {"versions": [{"name": "v1", "selectableFields": [{"jsonPath": ".spec.a"}]}]},
}
CLASS = {
    "apiVersion": "resource.k8s.io/v1",
    "kind": "DeviceClass",
    "metadata": {"name": "a"},
    "spec": {"extendedResourceName": "a.b/c"},
}
SLICE = {
    "apiVersion": "discovery.k8s.io/v1",
    "kind": "EndpointSlice",
    "metadata": {"name": "a"},
    "addressType": "IPv4",
    "endpoints": [{"addresses": ["1.2.3.4"], "hints": {"forNodes": [{"name": "n"}]}}],
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
VOLUME = {
    "apiVersion": "v1",
    "kind": "PersistentVolume",
    "metadata": {"name": "a"},
    "spec": {"volumeAttributesClassName": "gold"},
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
    ("ProcMountType", pod({"securityContext": {"procMount": "Unmasked"}}), "*.securityContext"),
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
    ("VolumeAttributesClass", VOLUME, "spec.volumeAttributesClassName"),
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
    (
        "DRAConsumableCapacity",
        claim("v1", exactly={"deviceClassName": "c", "capacity": {"requests": {"a": "1"}}}),
        "spec.devices.requests",
    ),
    ("DRAConsumableCapacity", resource_slice("v1", {"capacity": POLICY}), "spec.devices"),
    ("DRADeviceBindingConditions", resource_slice("v1", {"bindsToNode": True}), "spec.devices"),
    ("DRAResourceClaimDeviceStatus", resource_slice("v1", {"bindsToNode": True}), "spec.devices"),
    ("DRADeviceTaints", resource_slice("v1", {"taints": TAINTS}), "spec.devices"),
    ("DRADeviceTaints", resource_slice("v1beta1", {"taints": TAINTS}), "spec.devices"),
    (
        "DRADeviceTaints",
        claim("v1", exactly={"deviceClassName": "c", "tolerations": [TOLERATION]}),
        "spec.devices.requests",
    ),
    (
        "DRADeviceTaints",
        claim("v1beta1", deviceClassName="c", tolerations=[TOLERATION]),
        "spec.devices.requests",
    ),
    (
        "DRADeviceTaints",
        claim(
            "v1beta2",
            firstAvailable=[{"name": "s", "deviceClassName": "c", "tolerations": [TOLERATION]}],
        ),
        "spec.devices.requests",
    ),
    ("NodeDeclaredFeatures", NODE, "status.declaredFeatures"),
    ("DRAExtendedResource", CLASS, "spec.extendedResourceName"),
    ("DRAPartitionableDevices", resource_slice("v1", {"nodeName": "n"}), "spec.devices"),
    (
        "DRAPartitionableDevices",
        resource_slice("v1", {}, perDeviceNodeSelection=True),
        "spec.perDeviceNodeSelection",
    ),
    ("CustomResourceFieldSelectors", DEFINITION, "spec.versions"),
    ("PreferSameTrafficDistribution", SLICE, "endpoints"),
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
        changed = prepare_for_update(
            drafted(obj, GroupVersionKind("batch", "v1", "Job")), {**obj, "spec": {}}
        )
    assert seen(changed, "spec.managedBy") == "example.com/x"
    assert seen(admitted(obj), "spec.managedBy") == "example.com/x"


@pytest.mark.parametrize(
    ("before", "controller"),
    [
        ({}, None),
        ({"status": {"allocation": {}}}, "a.dev"),
        ({"status": {"allocation": {"controller": "b.dev"}}}, "a.dev"),
        ({"spec": {"controller": "b.dev"}}, "a.dev"),
    ],
)
def test_a_claim_that_is_allocated_or_controlled_keeps_its_controller(
    before: dict[str, Any], controller: str | None
) -> None:
    kind = GroupVersionKind("resource.k8s.io", "v1alpha3", "ResourceClaim")
    claim = {"apiVersion": kind.api_version, "kind": kind.kind, "metadata": {"name": "c"}}
    allocated = {**claim, "status": {"allocation": {"controller": "a.dev"}}}
    old = {**claim, "spec": {}, "status": {}, **before}
    with answering_as("1.31"):
        changed = prepare_for_update(drafted(allocated, kind), old, subresource="status")
    assert seen(changed, "status.allocation.controller") == controller


CAPACITY = {"requests": {"memory": "1Gi"}}


@pytest.mark.parametrize(
    ("request_", "capacity"),
    [
        ({"capacity": CAPACITY}, {}),
        ({"capacity": CAPACITY, "firstAvailable": [{"name": "s", "deviceClassName": "c"}]}, {}),
        ({"capacity": CAPACITY, "deviceClassName": "c"}, None),
        ({"capacity": CAPACITY, "adminAccess": False}, None),
        ({"deviceClassName": "c"}, None),
    ],
)
def test_a_request_for_nothing_but_capacity_still_asks(
    request_: dict[str, Any], capacity: object
) -> None:
    obj = claim("v1beta1", **request_)
    with answering_as("1.34"):
        (made,) = admitted(obj, DRAConsumableCapacity=False)["spec"]["devices"]["requests"]
    assert made.get("capacity") == capacity


@pytest.mark.parametrize("release", ["1.34", "1.35"])
def test_claims_lose_tolerations_and_distinct_attributes_since_1_35(release: str) -> None:
    obj = claim("v1beta1", deviceClassName="c", tolerations=[TOLERATION])
    obj["spec"]["devices"]["constraints"] = [{"distinctAttribute": "a/b"}]
    off = {"DRADeviceTaints": False, "DRAConsumableCapacity": False}
    with answering_as(release):
        devices = admitted(obj, **off)["spec"]["devices"]
    parts = (devices["requests"][0], devices["constraints"][0])
    kept = "tolerations" in parts[0], "distinctAttribute" in parts[1]
    assert kept == (release == "1.34", release == "1.34")


@pytest.mark.parametrize("release", ["1.34", "1.35"])
def test_distinct_attributes_that_stay_use_their_gate(release: str) -> None:
    capacity = {"requests": {"a": "1"}}
    new = claim("v1beta1", deviceClassName="c", capacity=capacity)
    old = claim("v1beta1", deviceClassName="c")
    for obj in (new, old):
        obj["spec"]["devices"]["constraints"] = [{"distinctAttribute": "a/b"}]
    gvk = GroupVersionKind("resource.k8s.io", "v1beta1", "ResourceClaim")
    with answering_as(release):
        stored = admitted(old, DRAConsumableCapacity=False)
        draft = drafted(new, gvk, DefaultingContext(gates={"DRAConsumableCapacity": False}))
        changed = prepare_for_update(draft, stored)["spec"]["devices"]["requests"][0]
    assert changed.get("capacity") == (capacity if release == "1.34" else None)


def test_templates_of_jobs_keep_what_jobs_lose() -> None:
    """The strategy of CronJobs drops only what belongs to pods."""
    kept = {"managedBy": "example.com/x", "successPolicy": {"rules": [{"succeededCount": 1}]}}
    template = {"spec": {"restartPolicy": "Never", "containers": [CONTAINER]}}
    obj = {
        "apiVersion": "batch/v1",
        "kind": "CronJob",
        "metadata": {"name": "j"},
        "spec": {"schedule": "* * * * *", "jobTemplate": {"spec": {**kept, "template": template}}},
    }
    with answering_as("1.31"):
        made = admitted(obj, JobSuccessPolicy=False)["spec"]["jobTemplate"]["spec"]
    assert {name: made.get(name) for name in kept} == kept


def test_volumes_that_are_images_go_with_their_mounts() -> None:
    mounts = [{"name": "v", "mountPath": "/v"}, {"name": "w", "mountPath": "/w"}]
    volumes = [{"name": "v", "image": {"reference": "i"}}, {"name": "w", "emptyDir": {}}]
    obj = pod({"volumeMounts": mounts}, volumes=volumes, automountServiceAccountToken=False)
    with answering_as("1.34"):
        made = admitted(obj)
        kept = admitted(obj, ImageVolume=True)
    assert [one["name"] for one in made["spec"]["volumes"]] == ["w"]
    assert seen(made, "*.volumeMounts") == mounts[1:]
    assert [one["name"] for one in kept["spec"]["volumes"]] == ["v", "w"]
    only = pod(
        {"volumeMounts": mounts[:1]}, volumes=volumes[:1], automountServiceAccountToken=False
    )
    made = admitted(only, ImageVolume=False)
    assert "volumes" not in made["spec"]
    assert seen(made, "*.volumeMounts") is None


@pytest.mark.parametrize(
    ("gate", "policy"), [(False, None), (True, "Always")], ids=["without", "with"]
)
def test_volumes_that_are_images_have_a_default_by_their_gate(
    gate: bool, policy: str | None
) -> None:
    """It shows in who owns what: managers are noted before the volumes are dropped."""
    sent = pod({}, volumes=[{"name": "v", "image": {"reference": "i"}}])
    context = DefaultingContext(gates={"ImageVolume": gate})
    with answering_as("1.34"):
        draft = drafted(sent, GroupVersionKind("", "v1", "Pod"), context)
    (volume,) = draft.decoded["spec"]["volumes"]
    assert volume["image"].get("pullPolicy") == policy


def test_volumes_are_made_anew_where_they_may_not_be_images() -> None:
    """Lists that came empty are none then, which shows in what an update may not change."""
    old = admitted(pod({}, volumes=[{"name": "v", "emptyDir": {}}]))
    for release, gone in (("1.30", False), ("1.31", True), ("1.34", True), ("1.35", False)):
        with answering_as(release):
            draft = drafted(
                {**old, "spec": {**old["spec"], "volumes": []}}, GroupVersionKind("", "v1", "Pod")
            )
            prepare_for_update(draft, old)
        assert (not draft.run.empties) is gone, release


def test_init_containers_are_sidecars_or_say_nothing() -> None:
    """Before 1.34 validation refuses what is no sidecar."""
    init = [{**CONTAINER, "name": one, "restartPolicy": one} for one in ("Always", "Never")]
    obj = pod({}, initContainers=init)
    for release, kept in (("1.33", "Never"), ("1.34", None), ("1.35", "Never")):
        with answering_as(release):
            made = admitted(obj)["spec"]["initContainers"]
        assert [one.get("restartPolicy") for one in made] == ["Always", kept]


def test_restart_policies_are_older_than_their_gate() -> None:
    obj = pod({"restartPolicy": "Always"})
    for release, kept in (("1.33", "Always"), ("1.34", None), ("1.35", "Always")):
        with answering_as(release):
            assert seen(admitted(obj), "*.restartPolicy") == kept


def test_selectable_fields_of_definitions() -> None:
    version = {"name": "v1", "selectableFields": [{"jsonPath": ".spec.a"}]}
    obj = {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": "as.b.c"},
        "spec": {"versions": [version]},
    }
    for release, kept in (("1.30", False), ("1.31", True)):
        with answering_as(release):
            assert ("selectableFields" in admitted(obj)["spec"]["versions"][0]) is kept


def test_masks_that_may_not_be_chosen_are_the_default() -> None:
    for release, kept in (("1.32", "Default"), ("1.33", "Unmasked")):
        for sent in ("Unmasked", "Default"):
            with answering_as(release):
                made = admitted(pod({"securityContext": {"procMount": sent}}, hostUsers=False))
            shown = made["spec"]["containers"][0]["securityContext"]["procMount"]
            assert shown == (kept if sent == "Unmasked" else "Default")


def test_profiles_had_annotations_for_older_nodes() -> None:
    profile = {"type": "Localhost", "localhostProfile": "p"}
    obj = pod(
        {"securityContext": {"appArmorProfile": profile}},
        securityContext={"appArmorProfile": {"type": "RuntimeDefault"}},
        initContainers=[{**CONTAINER, "name": "i"}],
    )
    prefix = "container.apparmor.security.beta.kubernetes.io/"
    annotations = {f"{prefix}c": "localhost/p", f"{prefix}i": "runtime/default"}
    for release, made in (("1.33", annotations), ("1.34", None)):
        with answering_as(release):
            assert admitted(obj)["metadata"].get("annotations") == made


def test_pods_have_generations_since_1_33() -> None:
    for release, generation in (("1.32", None), ("1.33", 1)):
        with answering_as(release):
            assert admitted(pod())["metadata"].get("generation") == generation


def test_a_status_does_not_take_what_no_gate_lets_in() -> None:
    status = {"phase": "Running", "nodeAllocatableResourceClaimStatuses": [{"name": "a"}]}
    draft = drafted(
        {"metadata": {"name": "a"}, "status": status}, GroupVersionKind("", "v1", "Pod")
    )
    made = prepare_for_update(draft, {"metadata": {"name": "a"}}, subresource="status")
    assert "nodeAllocatableResourceClaimStatuses" not in made["status"]


@pytest.mark.parametrize("is_on", [False, True])
def test_what_is_told_of_mounted_images_goes_with_its_gate(is_on: bool) -> None:
    mounts = [{"name": "v", "mountPath": "/v", "volumeStatus": {"image": {"imageRef": "i"}}}]
    lists = ("containerStatuses", "initContainerStatuses", "ephemeralContainerStatuses")
    status = {one: [{"name": "c", "volumeMounts": mounts}] for one in lists}
    context = DefaultingContext(gates={"ImageVolumeWithDigest": is_on})
    kind = GroupVersionKind("", "v1", "Pod")
    draft = drafted({"metadata": {"name": "a"}, "status": status}, kind, context)
    made = prepare_for_update(draft, {"metadata": {"name": "a"}}, subresource="status")
    told = ["volumeStatus" in made["status"][one][0]["volumeMounts"][0] for one in lists]
    assert told == [is_on] * 3


@pytest.mark.parametrize(
    ("field", "value", "since"),
    [
        ("declaredFeatures", ["A"], "1.36"),
        ("features", {"supplementalGroupsPolicy": True}, "1.33"),
        ("runtimeHandlers", [{"name": "a"}], "1.31"),
    ],
)
def test_only_new_nodes_lose_parts_of_their_status(field: str, value: Any, since: str) -> None:
    node = {**NODE, "status": {field: value}}
    for release, is_kept in ((previous_minor(since), False), (since, True)):
        with answering_as(release):
            assert (field in (admitted(node).get("status") or {})) is is_kept
            draft = drafted(node, GroupVersionKind("", "v1", "Node"))
            reported = prepare_for_update(draft, {"metadata": {"name": "a"}}, subresource="status")
            assert reported["status"][field] == value


@pytest.mark.parametrize(("release", "is_kept"), [("1.30", False), ("1.31", True)])
def test_updates_of_nodes_lose_runtime_handlers(release: str, is_kept: bool) -> None:
    """What the status had is taken over, and goes with the gate all the same."""
    old = {**NODE, "status": {"runtimeHandlers": [{"name": "a"}], "phase": "Running"}}
    with answering_as(release):
        made = prepare_for_update(drafted(NODE, GroupVersionKind("", "v1", "Node")), old)
    assert made["status"]["phase"] == "Running"
    assert ("runtimeHandlers" in made["status"]) is is_kept


STATUSES: list[tuple[str, str, dict[str, Any]]] = [
    ("v1/Pod", "1.34", {"observedGeneration": 1}),
    ("v1/PersistentVolumeClaim", "1.32", {"allocatedResources": {"storage": "1"}}),
    ("v1/PersistentVolumeClaim", "1.34", {"currentVolumeAttributesClassName": "a"}),
]


@pytest.mark.parametrize(("kind", "since", "status"), STATUSES)
def test_parts_of_statuses_go_with_their_gates(
    kind: str, since: str, status: dict[str, Any]
) -> None:
    gvk = GroupVersionKind("", *kind.split("/"))
    found = {}
    for release in (previous_minor(since), since):
        with answering_as(release):
            draft = drafted({"metadata": {"name": "a"}, "status": status}, gvk)
            made = prepare_for_update(draft, {"metadata": {"name": "a"}}, subresource="status")
        found[release] = json.dumps(made.get("status"))
    (last,) = (name for name in _leaves(status) if name not in {"name", "storage"})
    assert [f'"{last}"' in text for text in found.values()] == [False, True]


def _leaves(value: Any) -> set[str]:
    """The innermost names that are told apart here."""
    names = set(re.findall(r'"([A-Za-z]+)":', json.dumps(value)))
    return names - {"containerStatuses"}


def test_kinds_without_such_fields_have_no_rules() -> None:
    assert gated_rules("v1/ConfigMap") == ()
