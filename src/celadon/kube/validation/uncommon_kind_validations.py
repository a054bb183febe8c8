"""The rules of built-in kinds that few manifests have, as one table: loaded with the first of them.

Its rows are like those of `built_in_validations`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from celadon.kube.names import GroupKind
from celadon.kube.validation import (
    api_services_and_storage_versions,
    certificates,
    coordination,
    events,
    flowcontrol,
    format_checks,
    networking,
    nodes_and_runtime_classes,
    resource_claim_statuses,
    resource_claims,
    resource_slices,
    scheduling,
    storage,
)
from celadon.kube.validation.object_meta import (
    ANY_FINALIZERS,
    CLUSTER,
    CLUSTER_ANY,
    CLUSTER_GENERATED,
    Naming,
    Revisit,
    Update,
    Validation,
)

CANDIDATE: Final = Naming(
    format_checks.config_key, prefix_rule=format_checks.config_key, any_finalizers=True
)
STORAGE_VERSION: Final = Naming(
    api_services_and_storage_versions.storage_version_name, namespaced=False
)
_CHANGED: Final = Revisit.AS_CHANGED

CERTIFICATES: Final[Mapping[str, Validation]] = {
    "CertificateSigningRequest": Validation(
        certificates.certificate_signing_request,
        CLUSTER_ANY,
        certificates.certificate_signing_request_update,
        certificates.request_status,
        Revisit.NEW_FIRST,
        status_revisit=Revisit.NEW_FIRST,
    ),
    "ClusterTrustBundle": Validation(
        certificates.trust_bundle,
        certificates.bundle_naming,
        changes=certificates.trust_bundle_changes,
        as_new=certificates.changed_trust_bundle,
    ),
    "PodCertificateRequest": Validation(
        certificates.certificate_request,
        update=certificates.certificate_request_update,
        status=certificates.certificate_request_status,
        revisit=_CHANGED,
    ),
}
FLOW_CONTROL: Final[Mapping[str, Validation]] = {
    "FlowSchema": Validation(
        flowcontrol.flow_schema,
        CLUSTER,
        status=flowcontrol.typed_conditions,
        revisit=Revisit.AS_NEW,
    ),
    "PriorityLevelConfiguration": Validation(
        flowcontrol.priority_level,
        CLUSTER,
        status=flowcontrol.typed_conditions,
        revisit=Revisit.AS_NEW,
    ),
}
DEVICES: Final[Mapping[str, Validation]] = {
    "DeviceClass": Validation(
        resource_claims.device_class,
        CLUSTER_GENERATED,
        resource_claims.device_class_update,
        revisit=Revisit.NEW_FIRST,
        named_again_since="1.35",
        repeated_until="1.35",
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
        status=resource_claim_statuses.claim_status,
        revisit=Revisit.NEW_FIRST,
    ),
    "ResourceClaimTemplate": Validation(
        resource_claims.claim_template, changes=resource_claims.claim_template_changes
    ),
    "ResourcePoolStatusRequest": Validation(
        resource_slices.pool_status_request,
        CLUSTER,
        resource_slices.pool_status_request_update,
        resource_slices.pool_status,
        _CHANGED,
        says_once=True,
    ),
    "ResourceSlice": Validation(
        resource_slices.resource_slice,
        CLUSTER,
        resource_slices.resource_slice_update,
        revisit=_CHANGED,
    ),
}
STORAGE: Final[Mapping[str, Validation]] = {
    "CSIDriver": Validation(storage.driver, CLUSTER, storage.driver_update, revisit=_CHANGED),
    "CSINode": Validation(
        storage.node, CLUSTER, storage.node_update, revisit=Revisit.AS_NEW, repeated_until="1.36"
    ),
    "CSIStorageCapacity": Validation(storage.capacity, changes=storage.capacity_changes),
    "StorageClass": Validation(
        storage.storage_class, CLUSTER, changes=storage.storage_class_changes
    ),
    "VolumeAttachment": Validation(
        storage.attachment,
        CLUSTER,
        storage.attachment_update,
        storage.attachment_update,
        Revisit.AS_NEW,
    ),
    "VolumeAttributesClass": Validation(
        storage.attributes_class,
        CLUSTER,
        fixed=storage.attributes_class_fixed,
        repeated_until="1.35",
    ),
}
OTHERS: Final[Mapping[GroupKind, Validation]] = {
    GroupKind("apiregistration.k8s.io", "APIService"): Validation(
        api_services_and_storage_versions.api_service,
        api_services_and_storage_versions.api_service_naming,
        status=api_services_and_storage_versions.api_service_status,
    ),
    GroupKind("coordination.k8s.io", "Lease"): Validation(
        coordination.lease, ANY_FINALIZERS, revisit=_CHANGED
    ),
    GroupKind("coordination.k8s.io", "LeaseCandidate"): Validation(
        coordination.lease_candidate,
        CANDIDATE,
        coordination.lease_candidate_update,
        revisit=_CHANGED,
    ),
    GroupKind("discovery.k8s.io", "EndpointSlice"): Validation(
        networking.endpoint_slice, update=networking.endpoint_slice_update, revisit=Revisit.AS_NEW
    ),
    GroupKind("events.k8s.io", "Event"): Validation(events.event, None, events.event_update),
    GroupKind("internal.apiserver.k8s.io", "StorageVersion"): Validation(
        naming=STORAGE_VERSION,
        status=api_services_and_storage_versions.storage_version_status,
        revisit=Revisit.NEVER,
    ),
    GroupKind("node.k8s.io", "RuntimeClass"): Validation(
        nodes_and_runtime_classes.runtime_class,
        replace(CLUSTER, any_finalizers=True),
        changes=nodes_and_runtime_classes.runtime_class_changes,
    ),
    GroupKind("scheduling.k8s.io", "PriorityClass"): Validation(
        scheduling.priority_class, CLUSTER, scheduling.priority_class_update, revisit=_CHANGED
    ),
    GroupKind("scheduling.k8s.io", "PodGroup"): Validation(
        scheduling.pod_group,
        update=scheduling.pod_group_update,
        status=scheduling.pod_group_status,
        revisit=_CHANGED,
    ),
    GroupKind("scheduling.k8s.io", "Workload"): Validation(
        scheduling.workload, update=scheduling.workload_update, revisit=_CHANGED
    ),
    GroupKind("storagemigration.k8s.io", "StorageVersionMigration"): Validation(
        api_services_and_storage_versions.migration,
        CLUSTER,
        status=api_services_and_storage_versions.migration_status,
        changes=api_services_and_storage_versions.migration_changes,
    ),
}

RARE_VALIDATIONS: Final[Mapping[GroupKind, Validation]] = {
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

RARE_SUBRESOURCES: Final[Mapping[tuple[GroupKind, str], tuple[Revisit, Update]]] = {
    (GroupKind("certificates.k8s.io", "CertificateSigningRequest"), "approval"): (
        Revisit.NEW_FIRST,
        certificates.request_approval,
    ),
}
