"""The inner form of a pod's spec."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from celadon.kube.schemas.typed_objects import struct_codec
from celadon.kube.validation.pods.internal_pod_types import (
    OF_POD,
    STRUCTS,
    fields_of,
    internal_pod_spec,
    internal_template,
)

ROOTS: Final = {
    "PodSpec": "core.v1.PodSpec",
    "ClaimSpec": "core.v1.PersistentVolumeClaimSpec",
    "VolumeSource": "core.v1.PersistentVolumeSpec",
    "VolumeAffinity": "core.v1.VolumeNodeAffinity",
    "Taint": "core.v1.Taint",
    "ScopeSelector": "core.v1.ScopeSelector",
    "SigningCondition": "certificates.v1.CertificateSigningRequestCondition",
    "NodeDriver": "storage.v1.CSINodeDriver",
    "Attachment": "storage.v1.VolumeAttachmentSpec",
    "CertificateWish": "certificates.v1beta1.PodCertificateRequestSpec",
    "FlowSchemaSpec": "flowcontrol.v1.FlowSchemaSpec",
    "FailurePolicy": "batch.v1.PodFailurePolicy",
    "SuccessPolicy": "batch.v1.SuccessPolicy",
    "DeviceClaimSpec": "resource.v1.ResourceClaimSpec",
    "DeviceAttribute": "resource.v1.DeviceAttribute",
    "PriorityLevelSpec": "flowcontrol.v1.PriorityLevelConfigurationSpec",
}
"""The structs that are looked at themselves, and their components."""
ELSEWHERE: Final = {
    "PodSpec": {*OF_POD, "serviceAccount"},
    "VolumeSource": {
        "accessModes",
        "capacity",
        "claimRef",
        "mountOptions",
        "nodeAffinity",
        "persistentVolumeReclaimPolicy",
        "storageClassName",
        "volumeAttributesClassName",
        "volumeMode",
    },
}
"""Fields of `v1` that are another one inside."""


def reached() -> Iterator[tuple[str, str]]:
    """All pairs of a struct and its component in `v1`."""
    waiting = [(struct, f"io.k8s.api.{component}") for struct, component in ROOTS.items()]
    seen: set[tuple[str, str]] = set()
    while waiting:
        struct, component = waiting.pop()
        if (struct, component) in seen:
            continue
        seen.add((struct, component))
        yield struct, component
        nodes = struct_codec(component).field_nodes
        for field in fields_of(struct):
            inner = field.type.lstrip("*").removeprefix("[]").removeprefix("{}")
            if inner in STRUCTS and field.key in nodes:
                waiting.append((inner, referred(nodes[field.key])))


def referred(node: Any) -> str:
    """The component that a field, or its items, are."""
    while "ref" not in node:
        node = node.get("items") or node["values"]
    name: str = node["ref"]
    return name


def test_every_field_of_v1_has_its_place() -> None:
    wrong = {}
    pairs = list(reached())
    for struct, component in pairs:
        here = {field.key for field in fields_of(struct)}
        there = set(struct_codec(component).field_nodes) - ELSEWHERE.get(struct, set())
        if struct == "PodSecurity":
            here -= {*OF_POD}
        if here != there:
            wrong[struct] = here ^ there
    assert not wrong
    assert {struct for struct, _ in pairs} == set(STRUCTS)


def test_texts_numbers_and_booleans_are_what_they_are_there() -> None:
    for struct, component in reached():
        nodes = struct_codec(component).field_nodes
        for field in fields_of(struct):
            if field.type in ("x", "*x", "l", "*l") or field.key not in nodes:
                continue
            node, depth = nodes[field.key], field.type.lstrip("*")
            assert ("items" in node) == depth.startswith("[]"), (struct, field)
            assert ("values" in node) == depth.startswith("{}"), (struct, field)


def test_what_is_absent() -> None:
    made = internal_pod_spec({"containers": [{"name": "c", "resources": {}}]})
    (container,) = made["Containers"]
    assert (container["Name"], container["Image"], container["Command"]) == ("c", "", None)
    assert container["Resources"] == {"Limits": None, "Requests": None, "Claims": None}
    assert (made["Hostname"], made["Volumes"], made["Affinity"]) == ("", None, None)
    assert made["SecurityContext"]["HostNetwork"] is False


def test_values() -> None:
    selector = {"matchExpressions": [{"operator": "Exists", "key": "k"}], "matchLabels": {}}
    made = internal_pod_spec(
        {
            "hostNetwork": True,
            "nodeSelector": {"b": "1", "a": "2"},
            "topologySpreadConstraints": [{"maxSkew": 1, "labelSelector": selector}],
            "overhead": {"cpu": "1"},
        }
    )
    assert made["SecurityContext"]["HostNetwork"] is True
    assert list(made["NodeSelector"]) == ["a", "b"]
    (constraint,) = made["TopologySpreadConstraints"]
    assert constraint["LabelSelector"] == {"matchExpressions": [{"key": "k", "operator": "Exists"}]}
    assert made["Overhead"] == {"cpu": "1"}


def test_a_template() -> None:
    made = internal_template({"metadata": {"labels": {"a": "b"}}, "spec": {"hostname": "h"}})
    assert made["labels"] == {"a": "b"}
    assert made["Spec"]["Hostname"] == "h"
