"""The rules of built-in kinds that few manifests have, as one table: loaded with the first of them.

Its rows are like those of `built_in_validations`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from celadon.kube.names import GroupKind
from celadon.kube.validation import text_rules
from celadon.kube.validation.cluster import (
    api_services,
    cluster_rules,
    events,
    flow_control,
    leases,
    runtime_classes,
    signing_requests,
    stored_versions,
    trust_bundles,
)
from celadon.kube.validation.devices import claim_statuses, resource_claims, resource_slices
from celadon.kube.validation.field_rules import by_rules
from celadon.kube.validation.networking import endpoint_slices
from celadon.kube.validation.object_meta import Naming
from celadon.kube.validation.storage import storage_classes, storage_drivers
from celadon.kube.validation.validation_rows import (
    ANY_FINALIZERS,
    CLUSTER,
    CLUSTER_ANY,
    CLUSTER_AS_MADE,
    Revisit,
    Update,
    Validation,
)

CANDIDATE: Final = Naming(
    text_rules.config_key, prefix_rule=text_rules.config_key, any_finalizers=True
)
STORAGE_VERSION: Final = Naming(stored_versions.storage_version_name, namespaced=False)
_CHANGED: Final = Revisit.AS_CHANGED

CERTIFICATES: Final[Mapping[str, Validation]] = {
    "CertificateSigningRequest": Validation(
        signing_requests.certificate_signing_request,
        CLUSTER_ANY,
        signing_requests.certificate_signing_request_update,
        signing_requests.request_status,
    ),
    "ClusterTrustBundle": Validation(
        trust_bundles.trust_bundle, trust_bundles.bundle_naming, trust_bundles.trust_bundle_update
    ),
    "PodCertificateRequest": Validation(
        trust_bundles.certificate_request,
        update=trust_bundles.certificate_request_update,
        revisit=_CHANGED,
    ),
}
FLOW_CONTROL: Final[Mapping[str, Validation]] = {
    "FlowSchema": Validation(
        flow_control.flow_schema,
        CLUSTER,
        status=flow_control.typed_conditions,
        revisit=Revisit.AS_NEW,
    ),
    "PriorityLevelConfiguration": Validation(
        flow_control.priority_level,
        CLUSTER,
        status=flow_control.typed_conditions,
        revisit=Revisit.AS_NEW,
    ),
}
DEVICES: Final[Mapping[str, Validation]] = {
    "DeviceClass": Validation(
        resource_claims.device_class, CLUSTER_AS_MADE, resource_claims.device_class_update
    ),
    "DeviceTaintRule": Validation(
        resource_slices.taint_rule,
        CLUSTER,
        resource_slices.taint_rule_update,
        resource_slices.taint_rule_status,
        _CHANGED,
    ),
    "ResourceClaim": Validation(
        resource_claims.claim,
        update=resource_claims.claim_update,
        status=claim_statuses.claim_status,
    ),
    "ResourceClaimTemplate": Validation(
        resource_claims.claim_template,
        update=resource_claims.claim_template_update,
    ),
    "ResourcePoolStatusRequest": Validation(
        resource_slices.pool_status_request,
        CLUSTER,
        resource_slices.pool_status_request_update,
        revisit=_CHANGED,
    ),
    "ResourceSlice": Validation(
        resource_slices.resource_slice,
        CLUSTER,
        resource_slices.resource_slice_update,
        revisit=_CHANGED,
    ),
}
STORAGE: Final[Mapping[str, Validation]] = {
    "CSIDriver": Validation(
        storage_drivers.driver, CLUSTER, storage_drivers.driver_update, revisit=_CHANGED
    ),
    "CSINode": Validation(
        storage_drivers.node, CLUSTER, storage_drivers.node_update, revisit=Revisit.AS_NEW
    ),
    "CSIStorageCapacity": Validation(
        storage_drivers.capacity, update=storage_drivers.capacity_update
    ),
    "StorageClass": Validation(
        storage_classes.storage_class, CLUSTER, storage_classes.storage_class_update
    ),
    "VolumeAttachment": Validation(
        storage_drivers.attachment,
        CLUSTER,
        storage_drivers.attachment_update,
        storage_drivers.attachment_update,
        Revisit.AS_NEW,
    ),
    "VolumeAttributesClass": Validation(
        storage_classes.attributes_class, CLUSTER, storage_classes.attributes_class_update
    ),
}
OTHERS: Final[Mapping[GroupKind, Validation]] = {
    GroupKind("apiregistration.k8s.io", "APIService"): Validation(
        api_services.api_service,
        api_services.api_service_naming,
        status=api_services.api_service_status,
    ),
    GroupKind("coordination.k8s.io", "Lease"): Validation(
        by_rules("coordination.v1.Lease"), ANY_FINALIZERS, revisit=_CHANGED
    ),
    GroupKind("coordination.k8s.io", "LeaseCandidate"): Validation(
        leases.lease_candidate, CANDIDATE, leases.lease_candidate_update, revisit=_CHANGED
    ),
    GroupKind("discovery.k8s.io", "EndpointSlice"): Validation(
        endpoint_slices.endpoint_slice,
        update=endpoint_slices.endpoint_slice_update,
        revisit=Revisit.AS_NEW,
    ),
    GroupKind("events.k8s.io", "Event"): Validation(events.event, None, events.event_update),
    GroupKind("internal.apiserver.k8s.io", "StorageVersion"): Validation(
        naming=STORAGE_VERSION, revisit=Revisit.NEVER
    ),
    GroupKind("node.k8s.io", "RuntimeClass"): Validation(
        runtime_classes.runtime_class,
        replace(CLUSTER, any_finalizers=True),
        runtime_classes.runtime_class_update,
    ),
    GroupKind("scheduling.k8s.io", "PriorityClass"): Validation(
        cluster_rules.priority_class,
        CLUSTER,
        cluster_rules.priority_class_update,
        revisit=_CHANGED,
    ),
    GroupKind("storagemigration.k8s.io", "StorageVersionMigration"): Validation(
        stored_versions.migration,
        CLUSTER,
        stored_versions.migration_update,
        stored_versions.migration_status,
    ),
}

FURTHER_VALIDATIONS: Final[Mapping[GroupKind, Validation]] = {
    **OTHERS,
    **{
        GroupKind(group, kind): validation
        for group, kinds in {
            "certificates.k8s.io": CERTIFICATES,
            "flowcontrol.apiserver.k8s.io": FLOW_CONTROL,
            "resource.k8s.io": DEVICES,
            "storage.k8s.io": STORAGE,
        }.items()
        for kind, validation in kinds.items()
    },
}

FURTHER_SUBRESOURCES: Final[Mapping[tuple[GroupKind, str], Update]] = {
    (GroupKind("certificates.k8s.io", "CertificateSigningRequest"), "approval"): (
        signing_requests.request_approval
    ),
}
