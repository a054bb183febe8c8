"""Claims and volumes find each other."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pytest

from celadon.apiserver.simulation.planning import volume_claims
from celadon.apiserver.simulation.planning.plans import Plan, Verb
from celadon.apiserver.simulation.planning.volume_claims import (
    VolumeWorld,
    attributes_class_plan,
    claim_plan,
    volume_plan,
)
from celadon.kube import JsonObject, metadata
from tests.apiserver.simulation.planning.sample_objects import (
    going,
    made,
    pod,
    shown,
    status_of_plan,
    stored,
    told,
)
from tests.growth.counted_steps import LINEAR, growth

BOUND = {"pv.kubernetes.io/bind-completed": "yes"}
PROVISIONER = {
    "volume.beta.kubernetes.io/storage-provisioner": "p.example.com",
    "volume.kubernetes.io/storage-provisioner": "p.example.com",
}


def claim(annotations: JsonObject | None = None, **spec: Any) -> dict[str, Any]:
    given = {
        "accessModes": ["ReadWriteOnce"],
        "resources": {"requests": {"storage": "1Gi"}},
        "storageClassName": "fast",
        **spec,
    }
    meta = {"annotations": dict(annotations or {})}
    made_claim = stored("PersistentVolumeClaim", "c", given, "v1", **meta)
    return {**made_claim, "status": {"phase": "Pending"}}


def volume(name: str = "v", size: str = "1Gi", phase: str = "Available", **spec: Any) -> Any:
    given = {
        "capacity": {"storage": size},
        "accessModes": ["ReadWriteOnce", "ReadOnlyMany"],
        "storageClassName": "fast",
        **spec,
    }
    return {**stored("PersistentVolume", name, given, "v1"), "status": {"phase": phase}}


def kind(mode: str = "Immediate", **more: Any) -> dict[str, Any]:
    meta = {"annotations": more.pop("annotations", {})}
    made_class = stored("StorageClass", "fast", {}, "storage.k8s.io/v1", **meta)
    fields = {"provisioner": "p.example.com", "reclaimPolicy": "Delete"}
    return {**made_class, **fields, "volumeBindingMode": mode, **more}


def plan_of(
    given: JsonObject,
    *volumes: JsonObject,
    classes: Sequence[JsonObject] = (),
    pods: Sequence[JsonObject] = (),
) -> Plan:
    return claim_plan(given, VolumeWorld(volumes, classes, pods))


def user(on: str = "") -> dict[str, Any]:
    volumes = [{"name": "data", "persistentVolumeClaim": {"claimName": "c"}}]
    return pod("user", spec={"nodeName": on, "volumes": volumes})


def reference(uid: str = "uid-c") -> dict[str, str]:
    return {"namespace": "default", "name": "c", "uid": uid}


# --- Binding -----------------------------------------------------------------


def test_the_smallest_volume_that_fits_is_taken() -> None:
    volumes = [volume("big", "5Gi"), volume("fitting", "2Gi"), volume("small", "1Mi")]
    plan = plan_of(claim(), *volumes)
    assert shown(plan) == ["update PersistentVolume fitting", "update PersistentVolumeClaim c"]
    first, second = plan.steps
    assert first.object["spec"]["claimRef"]["uid"] == "uid-c"
    assert metadata.annotations(first.object) == {"pv.kubernetes.io/bound-by-controller": "yes"}
    assert second.object["spec"]["volumeName"] == "fitting"
    assert metadata.annotations(second.object) == {
        "pv.kubernetes.io/bind-completed": "yes",
        "pv.kubernetes.io/bound-by-controller": "yes",
    }


@pytest.mark.parametrize(
    ("spec", "other"),
    [
        ({}, {"storageClassName": "slow"}),
        ({}, {"volumeMode": "Block"}),
        ({"accessModes": ["ReadWriteMany"]}, {}),
        ({"selector": {"matchLabels": {"a": "b"}}}, {}),
        ({}, {"claimRef": reference("somebody")}),
    ],
)
def test_volumes_that_do_not_fit(spec: dict[str, Any], other: dict[str, Any]) -> None:
    plan = plan_of(
        claim(**spec), volume(**other), classes=[kind(provisioner="kubernetes.io/no-provisioner")]
    )
    assert shown(plan) == []


@pytest.mark.parametrize(
    ("volumes", "text"),
    [
        ([], None),
        ([volume(claimRef=reference("x"))], 'volume "v" already bound to a different claim.'),
        (
            [volume(size="1Mi")],
            'Cannot bind to requested volume "v": requested PV is too small',
        ),
        (
            [volume(storageClassName="slow")],
            'Cannot bind to requested volume "v": storageClassName does not match',
        ),
    ],
)
def test_a_volume_that_is_asked_for(volumes: Sequence[JsonObject], text: str | None) -> None:
    plan = plan_of(claim(volumeName="v"), *volumes)
    assert told(plan) == ([text] if text else [])
    assert all(step.verb is Verb.TELL for step in plan.steps)


def test_a_volume_that_waits_for_the_claim_is_taken() -> None:
    plan = plan_of(claim(), volume("other", "2Gi", claimRef=reference("")), volume("v"))
    assert shown(plan)[0] == "update PersistentVolume other"


def test_a_bound_claim_says_what_it_has() -> None:
    plan = plan_of(claim(BOUND, volumeName="v"), volume(claimRef=reference()))
    assert status_of_plan(plan) == {
        "phase": "Bound",
        "accessModes": ["ReadWriteOnce", "ReadOnlyMany"],
        "capacity": {"storage": "1Gi"},
    }


@pytest.mark.parametrize(
    ("volumes", "reason"),
    [([], "ClaimLost"), ([volume(claimRef=reference("other"))], "ClaimMisbound")],
)
def test_a_claim_loses_its_volume(volumes: Sequence[JsonObject], reason: str) -> None:
    (step,) = plan_of(claim(BOUND, volumeName="v"), *volumes).steps
    assert step.object["status"]["phase"] == "Lost"
    assert step.done is not None
    assert step.done.reason == reason


# --- Provisioning ------------------------------------------------------------


def test_a_volume_is_made() -> None:
    first = plan_of(claim(), classes=[kind()])
    assert metadata.annotations(first.steps[0].object) == PROVISIONER
    second = plan_of(claim(PROVISIONER), classes=[kind(mountOptions=["ro"])])
    assert shown(second) == [
        "tell ExternalProvisioning",
        "tell Provisioning",
        "create PersistentVolume pvc-uid-c",
    ]
    (found,) = made(second, "PersistentVolume")
    assert found["spec"]["persistentVolumeReclaimPolicy"] == "Delete"
    assert found["spec"]["claimRef"]["uid"] == "uid-c"
    assert found["spec"]["mountOptions"] == ["ro"]
    assert metadata.annotations(found) == {"pv.kubernetes.io/provisioned-by": "p.example.com"}


@pytest.mark.parametrize(
    ("given", "classes", "texts"),
    [
        (
            claim(storageClassName=None),
            [],
            ["no persistent volumes available for this claim and no storage class is set"],
        ),
        (claim(), [], ['storageclass.storage.k8s.io "fast" not found']),
    ],
)
def test_no_volume_is_made(
    given: JsonObject, classes: Sequence[JsonObject], texts: list[str]
) -> None:
    assert told(plan_of(given, classes=classes)) == texts


def test_a_claim_without_a_class_gets_the_default() -> None:
    given = claim(storageClassName=None)
    default = kind(annotations={"storageclass.kubernetes.io/is-default-class": "true"})
    (step,) = plan_of(given, classes=[default]).steps
    assert step.object["spec"]["storageClassName"] == "fast"


@pytest.mark.parametrize(
    ("pods", "text"),
    [
        ([], "waiting for first consumer to be created before binding"),
        ([user()], "waiting for pod user to be scheduled"),
    ],
)
def test_a_claim_waits_for_a_pod(pods: Sequence[JsonObject], text: str) -> None:
    classes = [kind("WaitForFirstConsumer")]
    assert told(plan_of(claim(), volume(), classes=classes, pods=pods)) == [text]
    selected = claim({"volume.kubernetes.io/selected-node": "n"})
    assert shown(plan_of(selected, volume(), classes=classes, pods=pods))[0].startswith("update")


# --- Letting go --------------------------------------------------------------


def test_a_claim_that_is_used_stays() -> None:
    held = going(claim())
    held["metadata"]["finalizers"] = ["kubernetes.io/pvc-protection"]
    assert shown(plan_of(held, pods=[user("node-1")])) == []
    (step,) = plan_of(held, pods=[user()]).steps
    assert metadata.finalizers(step.object) == ()


@pytest.mark.parametrize(
    ("given", "owner", "wanted"),
    [
        (volume(phase="Pending"), None, "status Available"),
        (volume(phase="Pending", claimRef=reference("")), None, "status Available"),
        (volume(claimRef=reference()), claim(volumeName="v"), "status Bound"),
        (volume(claimRef=reference()), claim(), ""),
        (volume(claimRef=reference(), phase="Bound"), claim(volumeName="v"), ""),
        (volume(claimRef=reference(), phase="Bound"), None, "status Released"),
        (volume(claimRef=reference("old"), phase="Bound"), claim(), "status Released"),
        (volume(claimRef=reference(), phase="Released"), None, ""),
        (
            volume(claimRef=reference(), phase="Released", persistentVolumeReclaimPolicy="Delete"),
            None,
            "delete None",
        ),
    ],
)
def test_phases_of_a_volume(given: JsonObject, owner: JsonObject | None, wanted: str) -> None:
    lines = [
        f"{step.verb.value} {step.object['status']['phase'] if step.verb is Verb.STATUS else None}"
        for step in volume_plan(given, owner).steps
    ]
    assert lines == ([wanted] if wanted else [])


def test_a_volume_that_is_deleted_waits_until_it_is_free() -> None:
    held = going(volume(claimRef=reference(), phase="Bound"))
    held["metadata"]["finalizers"] = ["kubernetes.io/pv-protection"]
    assert volume_plan(held, claim(volumeName="v")).steps == ()
    free = {**held, "status": {"phase": "Released"}}
    (step,) = volume_plan(free, None).steps
    assert metadata.finalizers(step.object) == ()


GOLD: dict[str, Any] = {"volumeAttributesClassName": "gold"}
CHANGES = {"modifyVolumeStatus": {"targetVolumeAttributesClassName": "gold"}}


@pytest.mark.parametrize(
    ("users", "goes"),
    [
        ([], True),
        ([claim(), volume()], True),
        ([claim(**GOLD)], False),
        ([volume(**GOLD)], False),
        ([{**claim(), "status": {"currentVolumeAttributesClassName": "gold"}}], False),
        ([{**claim(), "status": CHANGES}], False),
    ],
    ids=["nobody", "others", "a claim", "a volume", "a claim before", "a claim that becomes so"],
)
def test_a_class_of_attributes_goes_when_nothing_has_it(users: list[Any], goes: bool) -> None:
    finalizers = ["example.com/mine", "kubernetes.io/vac-protection"]
    gold = stored("VolumeAttributesClass", "gold", {}, "storage.k8s.io/v1", finalizers=finalizers)
    assert not attributes_class_plan(gold, users).steps
    steps = attributes_class_plan(going(gold), users).steps
    assert [metadata.finalizers(step.object) for step in steps] == goes * [("example.com/mine",)]
    other = stored("VolumeAttributesClass", "gold", {}, "storage.k8s.io/v1")
    assert not attributes_class_plan(going(other), []).steps


def test_a_selector_is_read_once_for_all_volumes() -> None:
    """It may have a hundred thousand values."""

    def work(size: int) -> Callable[[], object]:
        values = [f"v{number}" for number in range(size)]
        expression = {"key": "a", "operator": "NotIn", "values": values}
        given = claim(selector={"matchExpressions": [expression]})
        volumes = [volume(f"pv{number}", "2Gi") for number in range(size)]
        world = VolumeWorld(volumes, (), ())
        return lambda: volume_claims.claim_plan(given, world)

    assert growth(work, 50) < LINEAR
