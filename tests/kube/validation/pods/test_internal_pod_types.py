"""The inner form of a pod's spec."""

from __future__ import annotations

from typing import Final

from celadon.kube.schemas import schema_packs
from celadon.kube.schemas.struct_decoding import struct_codec
from celadon.kube.validation.pods.internal_types import (
    OF_POD,
    fields_of,
    internal_pod_spec,
    internal_template,
)

ROOTS: Final = {
    "core.v1.PodSpec",
    "core.v1.PersistentVolumeClaimSpec",
    "core.v1.PersistentVolumeSpec",
    "core.v1.VolumeNodeAffinity",
    "core.v1.Taint",
    "core.v1.ScopeSelector",
    "certificates.v1.CertificateSigningRequestCondition",
    "storage.v1.CSINodeDriver",
    "storage.v1.VolumeAttachmentSpec",
    "certificates.v1beta1.PodCertificateRequestSpec",
    "flowcontrol.v1.FlowSchemaSpec",
    "batch.v1.PodFailurePolicy",
    "batch.v1.SuccessPolicy",
    "resource.v1.AllocationResult",
    "resource.v1.ResourceClaimSpec",
    "resource.v1.DeviceAttribute",
    "flowcontrol.v1.PriorityLevelConfigurationSpec",
}
"""The types that are looked at themselves."""
ELSEWHERE: Final = {
    "core.v1.PodSpec": {*OF_POD, "serviceAccount"},
}
"""Fields of `v1` that are another one inside."""


def reached() -> set[str]:
    """All types that the roots hold."""
    waiting, seen = list(ROOTS), set[str]()
    while waiting:
        name = waiting.pop()
        if name in seen:
            continue
        seen.add(name)
        for field in fields_of(name):
            inner = field.type.lstrip("*").removeprefix("[]").removeprefix("{}")
            if len(inner) > 1:
                waiting.append(inner)
    return seen


def test_every_field_of_v1_has_its_place() -> None:
    wrong = {}
    for name in reached():
        here = {field.key for field in fields_of(name)}
        there = set(struct_codec(f"io.k8s.api.{name}").field_nodes) - ELSEWHERE.get(name, set())
        if name == "core.v1.PodSecurityContext":
            here -= {*OF_POD}
        if here != there:
            wrong[name] = here ^ there
    assert not wrong
    assert reached() == set(schema_packs.load("internals"))


def test_types_follow_from_those_of_v1() -> None:
    """All but those that the data name: a pointer of `v1` that is none inside, and the like."""
    assert {field.name: field for field in fields_of("core.v1.Container")}["Ports"].type == (
        "[]core.v1.ContainerPort"
    )
    token = {field.key: field.type for field in fields_of("core.v1.ServiceAccountTokenProjection")}
    assert token == {"audience": "s", "expirationSeconds": "n", "path": "s"}
    volume = {field.key: field for field in fields_of("core.v1.RBDVolumeSource")}
    assert volume["monitors"] == ("CephMonitors", "monitors", "[]s")
    assert volume["fsType"] == ("FSType", "fsType", "s")
    assert volume["secretRef"].type == "*core.v1.LocalObjectReference"


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
