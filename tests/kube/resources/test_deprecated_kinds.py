"""Which kinds a release warns about, and in which words."""

from __future__ import annotations

import pytest

from celadon.kube.names import GroupVersionKind
from celadon.kube.releases import answering_as
from celadon.kube.resources.deprecated_kinds import DEPRECATED

POLICY = "admissionregistration.k8s.io/v1beta1 ValidatingAdmissionPolicy"
CLASS = "storage.k8s.io/v1alpha1 VolumeAttributesClass"
CASES = [
    (POLICY, "1.30", ""),
    (POLICY, "1.31", f"{POLICY} is deprecated in v1.31+, unavailable in v1.34+"),
    (CLASS, "1.31", ""),
    (CLASS, "1.33", f"{CLASS} is deprecated in v1.32+, unavailable in v1.35+"),
    (
        *(CLASS, "1.34"),
        f"{CLASS} is deprecated in v1.32+, unavailable in v1.35+; "
        "use storage.k8s.io/v1 VolumeAttributesClass",
    ),
    (
        *("flowcontrol.apiserver.k8s.io/v1beta3 FlowSchema", "1.30"),
        "flowcontrol.apiserver.k8s.io/v1beta3 FlowSchema is deprecated in v1.29+, unavailable in "
        "v1.32+; use flowcontrol.apiserver.k8s.io/v1 FlowSchema",
    ),
]


@pytest.mark.parametrize(("kind", "release", "text"), CASES)
def test_warnings_of_older_releases(kind: str, release: str, text: str) -> None:
    group, version, name = kind.replace("/", " ").split()
    gvk = GroupVersionKind(group, version, name)
    with answering_as(release):
        assert DEPRECATED[gvk].warning(gvk) == text
