"""Every kind that is served has rules."""

from __future__ import annotations

from typing import Any

import pytest

from celadon.kube import metadata
from celadon.kube.names import GroupKind
from celadon.kube.resources.api_resources import known_resources
from celadon.kube.validation.built_in_validations import (
    validate_status_update,
    validate_subresource_update,
    validate_update,
    validation_of,
)
from tests.kube.validation.objects import admitted, job, obj

ELSEWHERE = {
    "admissionregistration.k8s.io": "admission.registration",
    "apiextensions.k8s.io": "kube.custom.definitions",
    "authentication.k8s.io": "serve: reviews are not stored",
    "authorization.k8s.io": "serve: reviews are not stored",
}
"""Groups whose kinds are validated by others."""

WITHOUT_RULES = {GroupKind("", "Binding"), GroupKind("", "ComponentStatus")}
"""What nobody writes as an object."""


@pytest.mark.parametrize(
    "kind",
    sorted({one.gvk.group_kind for one in known_resources(all_versions=True).resources}, key=str),
    ids=str,
)
def test_served_kinds_have_rules(kind: GroupKind) -> None:
    excused = kind in WITHOUT_RULES or kind.group in ELSEWHERE
    assert (validation_of(kind) is not None) != excused


ROLE = {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "r"}
JUDGED_FIRST: list[tuple[dict[str, Any], dict[str, Any], list[str]]] = [
    (
        obj("rbac.authorization.k8s.io/v1", "RoleBinding", roleRef=ROLE),
        {"roleRef": {**ROLE, "kind": "X"}},
        ["roleRef.kind", "metadata.uid", "roleRef"],
    ),
    (
        obj("storage.k8s.io/v1", "StorageClass", provisioner="p", reclaimPolicy="Delete"),
        {"reclaimPolicy": "X"},
        ["reclaimPolicy", "metadata.uid", "reclaimPolicy"],
    ),
    (
        obj("node.k8s.io/v1", "RuntimeClass", handler="h"),
        {"handler": "H"},
        ["handler", "metadata.uid", "handler"],
    ),
    (
        obj("networking.k8s.io/v1", "IPAddress", meta={"name": "10.0.0.1"},
            spec={"parentRef": {"resource": "services", "name": "s"}}),
        {"spec": {"parentRef": {"resource": "services"}}},
        ["spec.parentRef.name", "metadata.uid", "spec.parentRef"],
    ),
    (
        obj("certificates.k8s.io/v1beta1", "ClusterTrustBundle", meta={"name": "a.b:e:d"},
            spec={"signerName": "a.b/c", "trustBundle": ""}),
        {"spec": {"signerName": "a.b/e", "trustBundle": "x"}},
        ["spec.trustBundle", "metadata.uid", "spec.signerName"],
    ),
    (
        obj("storagemigration.k8s.io/v1beta1", "StorageVersionMigration",
            spec={"resource": {"resource": "pods"}}),
        {"spec": {"resource": {"resource": "P"}}},
        ["spec.resource.resource", "metadata.uid", "spec"],
    ),
]  # fmt: skip


@pytest.mark.parametrize(("value", "change", "expected"), JUDGED_FIRST)
def test_kinds_that_are_judged_before_they_are_compared(
    value: dict[str, Any], change: dict[str, Any], expected: list[str]
) -> None:
    old = admitted(value)
    old["metadata"]["uid"] = "a"
    new = {**old, **change, "metadata": {**old["metadata"], "uid": "b"}}
    found = [one.field for one in validate_update(new, old, metadata.gvk(old))]
    assert found == ["metadata.uid", *expected]


FINALIZERS, UID = {"finalizers": ["a"]}, {"uid": "b"}
NAMELESS, LABELLED = {"generateName": "G_"}, {"labels": {"a": "b c"}}
IN_N = {"name": "x", "namespace": "n"}


@pytest.mark.parametrize(
    ("value", "change", "fixed", "rest"),
    [
        (
            obj("v1", "Secret", meta=IN_N, type="a/b", immutable=True, data={"a": "YQ=="}),
            {"type": "a/c", "data": {"a b": "YQ=="}},
            ["type", "data"],
            ["data[a b]"],
        ),
        (
            obj("v1", "ConfigMap", meta=IN_N, immutable=True, data={"a": "b"}),
            {"immutable": False, "data": {"a b": "c"}},
            ["immutable", "data"],
            ["data[a b]"],
        ),
        (
            obj("networking.k8s.io/v1", "IngressClass", spec={"controller": "a/b"}),
            {"spec": {"controller": "a"}},
            ["spec.controller"],
            ["spec.controller"],
        ),
        (
            obj("storage.k8s.io/v1", "VolumeAttributesClass", driverName="d", parameters={"a": ""}),
            {"parameters": {}},
            ["parameters"],
            ["parameters"],
        ),
    ],
)
def test_what_is_fixed_comes_between_both_looks_at_metadata(
    value: dict[str, Any], change: dict[str, Any], fixed: list[str], rest: list[str]
) -> None:
    new = {**value, **change, "metadata": {**value["metadata"], **FINALIZERS}}
    found = [error.field for error in validate_update(new, value, metadata.gvk(value))]
    finalizer = "metadata.finalizers[0]"
    assert found == [finalizer, *fixed, finalizer, *rest]


@pytest.mark.parametrize(
    ("kind", "subresource", "change", "times"),
    [
        ("v1 Pod", "status", FINALIZERS, 1),
        ("v1 Pod", "status", NAMELESS, 0),
        ("v1 Pod", "ephemeralcontainers", UID, 2),
        ("v1 Pod", "resize", NAMELESS, 1),
        ("v1 Namespace", "finalize", UID, 2),
        ("v1 PersistentVolume", "status", FINALIZERS, 1),
        ("v1 PersistentVolume", "status", LABELLED, 3),
        ("networking.k8s.io/v1 ServiceCIDR", "status", UID, 2),
        ("certificates.k8s.io/v1 CertificateSigningRequest", "status", FINALIZERS, 2),
        ("certificates.k8s.io/v1 CertificateSigningRequest", "status", LABELLED, 4),
        ("certificates.k8s.io/v1 CertificateSigningRequest", "approval", FINALIZERS, 2),
        ("policy/v1 PodDisruptionBudget", "status", FINALIZERS, 0),
    ],
)
def test_how_often_subresources_look_at_metadata(
    kind: str, subresource: str, change: dict[str, Any], times: int
) -> None:
    api_version, _, name = kind.partition(" ")
    old = obj(api_version, name, spec={}, status={})
    old["metadata"] = {**old["metadata"], "uid": "a", "namespace": "n"}
    new = {**old, "metadata": {**old["metadata"], **change}}
    gvk = metadata.gvk(old)
    if subresource == "status":
        errors = validate_status_update(new, old, gvk)
    else:
        errors = validate_subresource_update(new, old, gvk, subresource)
    (field,) = change
    assert sum(error.field.startswith(f"metadata.{field}") for error in errors) == times


def test_the_status_of_a_stateful_set_is_judged_before_its_metadata() -> None:
    old = obj("apps/v1", "StatefulSet", meta=IN_N, spec={}, status={"collisionCount": 2})
    status = {"replicas": -1, "collisionCount": 1}
    new = {**old, "status": status, "metadata": {**old["metadata"], **FINALIZERS}}
    found = [error.field for error in validate_status_update(new, old, metadata.gvk(old))]
    metas = [number for number, field in enumerate(found) if field == "metadata.finalizers[0]"]
    assert found[0] == "status.replicas"
    assert metas == [len(found) - 2]
    assert found[-1] == "status.collisionCount"


def test_a_job_is_judged_as_a_new_one_before_it_is_compared() -> None:
    old = admitted(job())
    old["metadata"]["uid"] = "a"
    spec = {**old["spec"], "parallelism": -1, "completions": 2}
    new = {**old, "metadata": {**old["metadata"], "uid": "b"}, "spec": spec}
    found = [error.field for error in validate_update(new, old, metadata.gvk(old))]
    metas = [i for i, field in enumerate(found) if field == "metadata.uid"]
    assert len(metas) == 2
    assert metas[0] < found.index("spec.parallelism") < metas[1] < found.index("spec.completions")


@pytest.mark.parametrize(
    ("kind", "again"),
    [
        ("v1 Pod", ["labels", "uid", "labels", "labels"]),
        ("certificates.k8s.io/v1 CertificateSigningRequest", ["labels", "labels", "uid", "labels"]),
        ("resource.k8s.io/v1 DeviceClass", ["labels", "labels", "uid", "labels"]),
        ("resource.k8s.io/v1 ResourceClaim", ["labels", "labels", "uid", "labels"]),
        ("resource.k8s.io/v1 ResourceClaimTemplate", ["labels", "labels", "uid", "labels"]),
    ],
)
def test_whether_metadata_are_looked_at_as_new_first(kind: str, again: list[str]) -> None:
    api_version, _, name = kind.partition(" ")
    old = obj(api_version, name, spec={})
    old["metadata"] = {**old["metadata"], "uid": "a", "namespace": "n"}
    new = {**old, "metadata": {**old["metadata"], **UID, **LABELLED}}
    found = [error.field for error in validate_update(new, old, metadata.gvk(old))]
    metas = [field.removeprefix("metadata.") for field in found if field.startswith("metadata.")]
    assert metas == ["labels", "uid", *again]
