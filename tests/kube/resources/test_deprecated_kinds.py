"""Which release warns about which kinds, and in which words."""

from __future__ import annotations

import pytest

from celadon.kube.names import GroupVersionKind
from celadon.kube.releases import answering_as
from celadon.kube.resources.api_resources import deprecation_of

BUNDLE = GroupVersionKind("certificates.k8s.io", "v1alpha1", "ClusterTrustBundle")
LEVEL = GroupVersionKind("flowcontrol.apiserver.k8s.io", "v1beta3", "PriorityLevelConfiguration")
CLASS = GroupVersionKind("storage.k8s.io", "v1alpha1", "VolumeAttributesClass")
POLICY = GroupVersionKind("admissionregistration.k8s.io", "v1beta1", "ValidatingAdmissionPolicy")
CANDIDATE = GroupVersionKind("coordination.k8s.io", "v1beta1", "LeaseCandidate")


@pytest.mark.parametrize(
    ("release", "kind", "text"),
    [
        ("1.31", BUNDLE, "deprecated in v1.29+, unavailable in v1.32+"),
        ("1.33", BUNDLE, ""),
        ("1.34", BUNDLE, "deprecated in v1.34+, unavailable in v1.37+"),
        (
            "1.30",
            LEVEL,
            "deprecated in v1.29+, unavailable in v1.32+; use flowcontrol.apiserver.k8s.io/v1 "
            "PriorityLevelConfiguration",
        ),
        ("1.31", CLASS, ""),
        ("1.33", CLASS, "deprecated in v1.32+, unavailable in v1.35+"),
        (
            "1.34",
            CLASS,
            "deprecated in v1.32+, unavailable in v1.35+; use storage.k8s.io/v1 "
            "VolumeAttributesClass",
        ),
        ("1.30", POLICY, ""),
        ("1.31", POLICY, "deprecated in v1.31+, unavailable in v1.34+"),
        ("1.35", CANDIDATE, ""),
        ("1.36", CANDIDATE, "deprecated in v1.36+, unavailable in v1.39+"),
    ],
)
def test_warnings_by_release(release: str, kind: GroupVersionKind, text: str) -> None:
    with answering_as(release):
        found = deprecation_of(kind)
        assert found is not None
        start = f"{kind.api_version} {kind.kind} is "
        assert found.warning(kind) == (start + text if text else "")


def test_what_stays_is_not_deprecated() -> None:
    assert deprecation_of(GroupVersionKind("apps", "v1", "Deployment")) is None
