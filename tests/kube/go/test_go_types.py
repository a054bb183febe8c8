"""What Go's decoder calls the types of fields."""

from __future__ import annotations

from typing import Any

import pytest

from celadon.kube.go.go_types import NAMED, go_type, owner_path
from celadon.kube.releases import answering_as
from celadon.kube.schemas import schema_packs
from celadon.kube.schemas.struct_decoding import struct_codec

CORE = "io.k8s.api.core.v1."
RESOURCE = "io.k8s.api.resource.v1."


@pytest.mark.parametrize(
    ("owner", "field", "want"),
    [
        (CORE + "NamespaceSpec", "finalizers", "[]v1.FinalizerName"),
        (CORE + "ResourceRequirements", "limits", "v1.ResourceList"),
        (CORE + "NodeSelectorRequirement", "operator", "v1.NodeSelectorOperator"),
        (CORE + "ObjectReference", "uid", "types.UID"),
        (CORE + "PodSpec", "containers", "[]v1.Container"),
        (CORE + "PodSpec", "nodeSelector", "map[string]string"),
        (CORE + "PodSpec", "hostname", "string"),
        ("io.k8s.api.apps.v1.DeploymentCondition", "status", "v1.ConditionStatus"),
        ("io.k8s.api.autoscaling.v2.HPAScalingPolicy", "type", "v2.HPAScalingPolicyType"),
        ("io.k8s.api.autoscaling.v2.ResourceMetricSource", "name", "v1.ResourceName"),
        ("io.k8s.api.certificates.v1.CertificateSigningRequestSpec", "extra",
         "map[string]v1.ExtraValue"),
        (RESOURCE + "Device", "attributes", "map[v1.QualifiedName]v1.DeviceAttribute"),
        ("io.k8s.api.rbac.v1.Subject", "kind", "string"),
        ("io.k8s.api.flowcontrol.v1.Subject", "kind", "v1.SubjectKind"),
        ("io.k8s.api.admissionregistration.v1beta1.NamedRuleWithOperations", "scope",
         "v1.ScopeType"),
    ],
)  # fmt: skip
def test_fields(owner: str, field: str, want: str) -> None:
    assert go_type(struct_codec(owner).field_nodes[field], owner, field) == want


def test_a_kind_that_is_gone_names_the_types_of_its_conditions() -> None:
    owner = "io.k8s.api.storagemigration.v1alpha1.MigrationCondition"
    with answering_as("1.34"):
        node = struct_codec(owner).field_nodes["type"]
        assert go_type(node, owner, "type") == "v1alpha1.MigrationConditionType"


def test_items_and_values_of_named_containers_have_types_of_their_own() -> None:
    owner = "io.k8s.api.certificates.v1.CertificateSigningRequestSpec"
    assert go_type("s", owner, "extra") == "string"
    assert go_type("s", CORE + "NamespaceSpec", "finalizers") == "v1.FinalizerName"


@pytest.mark.parametrize(
    ("owner", "field", "want"),
    [
        (RESOURCE + "DeviceClaimConfiguration", "opaque", "DeviceConfiguration.opaque"),
        (RESOURCE + "DeviceClaimConfiguration", "requests", "requests"),
        (CORE + "Volume", "secret", "VolumeSource.secret"),
        (CORE + "Volume", "name", "name"),
    ],
)
def test_embedded_structs(owner: str, field: str, want: str) -> None:
    assert owner_path(owner, field) == want
    with answering_as("1.34"):
        assert owner_path(owner, field) == field


def test_what_has_a_name_is_a_field_of_some_version() -> None:
    fields: dict[str, set[str]] = {}
    for name, entry in schema_packs.load("schemas").items():
        fields.setdefault(name.rpartition(".")[2], set()).update(entry.get("fields", {}))
    unknown: dict[str, Any] = {
        struct: wrong
        for struct, text in NAMED.items()
        if struct in fields
        and (wrong := {one.split()[0] for one in text.split(";")} - fields[struct])
    }
    assert unknown == {}


def test_embedded_structs_are_named_since_1_35() -> None:
    for release, path in (("1.34", "emptyDir"), ("1.35", "VolumeSource.emptyDir")):
        with answering_as(release):
            assert owner_path(CORE + "Volume", "emptyDir") == path
