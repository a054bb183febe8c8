"""Built-in kinds that are deprecated in a release from 1.30 on or soon after, and since when; and
those that releases do not know any more.

As the `prerelease-lifecycle-gen` marks in k8s.io/api `types.go`: without marks of its own a beta or
alpha version is deprecated three releases after it came, and gone after three more. What a server
does not serve any more it can still read where it is stored, until the version is not registered
any more (k8s.io/api `register.go`).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from celadon.kube.names import GroupVersionKind
from celadon.kube.releases import DEFAULT, is_since
from celadon.kube.well_known_values import (
    ADMISSION_REGISTRATION,
    DYNAMIC_RESOURCES,
    FLOW_CONTROL_GROUP,
)
from celadon.records import dataclass


@dataclass(frozen=True, slots=True)
class Deprecation:
    """`since` is the first release in which it is deprecated, `until` the first without it; empty
    where it stays, or nobody was warned. `forgotten` is the first release that cannot read it where
    it is stored."""

    since: str = ""
    until: str = ""
    replacement: GroupVersionKind | None = None
    forgotten: str = ""

    @property
    def is_forgotten(self) -> bool:
        """Return whether the current release cannot read what is stored in this version."""
        return bool(self.forgotten) and is_since(self.forgotten)

    @property
    def is_noted(self) -> bool:
        """Return whether the audit log notes it. The recorded server of 1.36 already notes what
        1.37 deprecates."""
        return bool(self.since) and (is_since(self.since) or is_since(DEFAULT))

    def warning(self, gvk: GroupVersionKind) -> str:
        """The text of a Warning header (k8s.io/apiserver `pkg/endpoints/deprecation`); empty for
        what a later release deprecates, which the audit log of the recorded server notes alone."""
        if not self.since or not is_since(self.since):
            return ""
        text = f"{gvk.api_version} {gvk.kind} is deprecated in v{self.since}+"
        if self.until:
            text += f", unavailable in v{self.until}+"
        if self.replacement is not None:
            text += f"; use {self.replacement.api_version} {self.replacement.kind}"
        return text


_POLICY: Final = "MutatingAdmissionPolicy"
_BINDING: Final = "MutatingAdmissionPolicyBinding"
_BUNDLE: Final = GroupVersionKind("certificates.k8s.io", "v1alpha1", "ClusterTrustBundle")
_OLDER_ATTRIBUTES: Final = GroupVersionKind("storage.k8s.io", "v1alpha1", "VolumeAttributesClass")
_ATTRIBUTES: Final = "VolumeAttributesClass"
_REVIEW: Final = "SelfSubjectReview"
_RESOURCE_KINDS: Final = ("DeviceClass", "ResourceClaim", "ResourceClaimTemplate", "ResourceSlice")
_SCALER: Final = "HorizontalPodAutoscaler"

DEPRECATED: Final[Mapping[GroupVersionKind, Deprecation]] = {
    GroupVersionKind("", "v1", "ComponentStatus"): Deprecation("1.19"),
    GroupVersionKind("", "v1", "Endpoints"): Deprecation(
        "1.33", replacement=GroupVersionKind("discovery.k8s.io", "v1", "EndpointSlice")
    ),
    GroupVersionKind(ADMISSION_REGISTRATION, "v1alpha1", _POLICY): Deprecation("1.35", "1.38"),
    GroupVersionKind(ADMISSION_REGISTRATION, "v1alpha1", _BINDING): Deprecation("1.35", "1.38"),
    GroupVersionKind(ADMISSION_REGISTRATION, "v1beta1", _BINDING): Deprecation(
        "1.37", "1.40", GroupVersionKind(ADMISSION_REGISTRATION, "v1", _BINDING)
    ),
    **{
        GroupVersionKind(ADMISSION_REGISTRATION, "v1beta1", kind): Deprecation("1.31", "1.34")
        for kind in ("ValidatingAdmissionPolicy", "ValidatingAdmissionPolicyBinding")
    },
    GroupVersionKind("authentication.k8s.io", "v1alpha1", _REVIEW): Deprecation("1.29", "1.32"),
    GroupVersionKind("authentication.k8s.io", "v1beta1", _REVIEW): Deprecation("1.30", "1.33"),
    _BUNDLE: Deprecation("1.34", "1.37"),
    **{
        GroupVersionKind(FLOW_CONTROL_GROUP, "v1beta3", kind): Deprecation(
            "1.29", "1.32", GroupVersionKind(FLOW_CONTROL_GROUP, "v1", kind)
        )
        for kind in ("FlowSchema", "PriorityLevelConfiguration")
    },
    **{
        GroupVersionKind("networking.k8s.io", "v1alpha1", kind): Deprecation(
            "1.30", "1.33", forgotten="1.34"
        )
        for kind in ("IPAddress", "ServiceCIDR")
    },
    _OLDER_ATTRIBUTES: Deprecation(
        "1.32", "1.35", GroupVersionKind("storage.k8s.io", "v1", _ATTRIBUTES)
    ),
    GroupVersionKind("storagemigration.k8s.io", "v1alpha1", "StorageVersionMigration"): (
        Deprecation("1.33", "1.36", forgotten="1.35")
    ),
    GroupVersionKind("coordination.k8s.io", "v1alpha2", "LeaseCandidate"): Deprecation(
        "1.35", "1.38"
    ),
    GroupVersionKind("coordination.k8s.io", "v1beta1", "LeaseCandidate"): Deprecation(
        "1.36", "1.39"
    ),
    GroupVersionKind("networking.k8s.io", "v1beta1", "IPAddress"): Deprecation("1.34", "1.37"),
    GroupVersionKind("networking.k8s.io", "v1beta1", "ServiceCIDR"): Deprecation("1.34", "1.37"),
    GroupVersionKind(DYNAMIC_RESOURCES, "v1alpha3", "DeviceTaintRule"): Deprecation("1.36", "1.39"),
    GroupVersionKind("storage.k8s.io", "v1beta1", _ATTRIBUTES): Deprecation(
        "1.34", "1.37", GroupVersionKind("storage.k8s.io", "v1", _ATTRIBUTES)
    ),
    **{
        GroupVersionKind(DYNAMIC_RESOURCES, version, kind): Deprecation(since, until)
        for version, since, until in (("v1beta1", "1.35", "1.38"), ("v1beta2", "1.36", "1.39"))
        for kind in _RESOURCE_KINDS
    },
    GroupVersionKind("coordination.k8s.io", "v1alpha1", "LeaseCandidate"): Deprecation(
        forgotten="1.32"
    ),
    **{
        GroupVersionKind(DYNAMIC_RESOURCES, "v1alpha2", kind): Deprecation(forgotten="1.31")
        for kind in (
            *("PodSchedulingContext", "ResourceClaim", "ResourceClaimParameters"),
            *("ResourceClaimTemplate", "ResourceClass", "ResourceClassParameters"),
            "ResourceSlice",
        )
    },
    GroupVersionKind(DYNAMIC_RESOURCES, "v1alpha3", "PodSchedulingContext"): Deprecation(
        forgotten="1.32"
    ),
    **{
        GroupVersionKind(DYNAMIC_RESOURCES, "v1alpha3", kind): Deprecation(forgotten="1.34")
        for kind in _RESOURCE_KINDS
    },
    GroupVersionKind("certificates.k8s.io", "v1alpha1", "PodCertificateRequest"): Deprecation(
        forgotten="1.35"
    ),
    **{
        GroupVersionKind("autoscaling", version, _SCALER): Deprecation(
            replacement=GroupVersionKind("autoscaling", "v2", _SCALER), forgotten="1.36"
        )
        for version in ("v2beta1", "v2beta2")
    },
    **{
        GroupVersionKind("scheduling.k8s.io", "v1alpha1", kind): Deprecation(forgotten="1.36")
        for kind in ("PriorityClass", "Workload")
    },
}
"""Kinds that a server warns about: since which release, what replaces them."""

_EARLIER: Final[Mapping[GroupVersionKind, tuple[str, Deprecation]]] = {
    _BUNDLE: ("1.32", Deprecation("1.29", "1.32")),
    _OLDER_ATTRIBUTES: ("1.34", Deprecation("1.32", "1.35")),
}
"""What releases before that one say of a kind."""


def deprecation_of(gvk: GroupVersionKind) -> Deprecation | None:
    """Return what the current release says of a kind; None for one that is not deprecated."""
    changed, earlier = _EARLIER.get(gvk, ("", None))
    return DEPRECATED.get(gvk) if earlier is None or is_since(changed) else earlier
