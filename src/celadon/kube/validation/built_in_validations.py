"""The rules of built-in kinds, as one table; those of rarer groups stand in its second part.

Kinds of other rooms (the registration objects, definitions) are not here. A row says what upstream
says in `strategy.go` of the kind: which rules, in which writes, and how often its metadata.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from celadon.kube.fieldpath import FieldPath
from celadon.kube.names import GroupKind
from celadon.kube.validation import (
    apps,
    autoscaling,
    certificates,
    cluster_rules,
    core_kinds,
    flowcontrol,
    jobs,
    networking,
    resource_claims,
    resource_slices,
    services,
    small_groups,
    statuses,
    storage,
    text_rules,
)
from celadon.kube.validation import resource_claims as claim_statuses
from celadon.kube.validation import services as service_ranges
from celadon.kube.validation.field_rules import by_rules
from celadon.kube.validation.object_meta import Naming
from celadon.kube.validation.pods import pod_specs, pod_updates
from celadon.kube.validation.pods import pod_updates as pod_statuses
from celadon.kube.validation.pods import pod_updates as pod_subresources
from celadon.kube.validation.text_rules import canonical_address
from celadon.kube.validation.validation_rows import (
    ANY_FINALIZERS,
    ANY_SEGMENT,
    CLUSTER,
    CLUSTER_ANY,
    CLUSTER_AS_MADE,
    CLUSTER_LABEL,
    CLUSTER_SEGMENT,
    GENERATED,
    LABEL,
    SERVICE,
    Revisit,
    Update,
    Validation,
)
from celadon.kube.well_known_values import RBAC_GROUP

ADDRESS: Final = Naming(canonical_address, namespaced=False)
_CHANGED: Final = Revisit.AS_CHANGED

CORE: Final[Mapping[str, Validation]] = {
    "ConfigMap": Validation(core_kinds.config_map, update=core_kinds.config_map_update),
    "Endpoints": Validation(networking.endpoints, update=networking.endpoints_update),
    "Event": Validation(core_kinds.core_event, None),
    "LimitRange": Validation(cluster_rules.limit_range, revisit=Revisit.AS_NEW),
    "Namespace": Validation(
        cluster_rules.namespace,
        CLUSTER_LABEL,
        status=statuses.namespace_status,
    ),
    "Node": Validation(core_kinds.node, CLUSTER, core_kinds.node_update, core_kinds.node_changes),
    "PersistentVolume": Validation(
        storage.persistent_volume, CLUSTER, storage.persistent_volume_update
    ),
    "PersistentVolumeClaim": Validation(
        storage.claim,
        update=storage.claim_update,
        status=statuses.claim_status,
    ),
    "Pod": Validation(pod_specs.pod, update=pod_updates.pod_update, status=pod_statuses.pod_status),
    "PodTemplate": Validation(
        lambda obj: pod_specs.pod_template(FieldPath("template"), obj.get("template") or {}),
        revisit=_CHANGED,
    ),
    "ReplicationController": Validation(
        apps.replication_controller,
        GENERATED,
        status=statuses.replication_controller_status,
        revisit=_CHANGED,
    ),
    "ResourceQuota": Validation(
        cluster_rules.resource_quota,
        update=cluster_rules.resource_quota_update,
        status=statuses.quota_status,
        revisit=_CHANGED,
    ),
    "Secret": Validation(core_kinds.secret, update=core_kinds.secret_update),
    "Service": Validation(
        services.service, SERVICE, services.service_update, statuses.service_status
    ),
    "ServiceAccount": Validation(),
}
APPS: Final[Mapping[str, Validation]] = {
    "ControllerRevision": Validation(
        small_groups.controller_revision,
        update=small_groups.controller_revision_update,
    ),
    "DaemonSet": Validation(
        apps.daemon_set,
        update=apps.daemon_set_update,
        status=statuses.daemon_set_status,
        revisit=_CHANGED,
    ),
    "Deployment": Validation(
        apps.deployment,
        update=apps.deployment_update,
        status=statuses.deployment_status,
        revisit=_CHANGED,
    ),
    "ReplicaSet": Validation(
        apps.replica_set,
        update=apps.replica_set_update,
        status=statuses.replica_set_status,
        revisit=_CHANGED,
    ),
    "StatefulSet": Validation(
        apps.stateful_set,
        LABEL,
        apps.stateful_set_update,
        statuses.stateful_set_status,
        _CHANGED,
    ),
}
NETWORKING: Final[Mapping[str, Validation]] = {
    "IPAddress": Validation(service_ranges.ip_address, ADDRESS, service_ranges.ip_address_update),
    "Ingress": Validation(
        networking.ingress,
        update=networking.ingress_update,
        status=statuses.ingress_status,
    ),
    "IngressClass": Validation(networking.ingress_class, CLUSTER, networking.ingress_class_update),
    "NetworkPolicy": Validation(
        networking.network_policy, update=networking.network_policy_update, revisit=_CHANGED
    ),
    "ServiceCIDR": Validation(
        service_ranges.service_cidr, CLUSTER, service_ranges.service_cidr_update, revisit=_CHANGED
    ),
}
RBAC: Final[Mapping[str, Validation]] = {
    "ClusterRole": Validation(small_groups.cluster_role, CLUSTER_SEGMENT),
    "ClusterRoleBinding": Validation(
        small_groups.cluster_role_binding, CLUSTER_SEGMENT, small_groups.cluster_role_binding_update
    ),
    "Role": Validation(small_groups.role, ANY_SEGMENT),
    "RoleBinding": Validation(
        small_groups.role_binding, ANY_SEGMENT, small_groups.role_binding_update
    ),
}
OTHERS: Final[Mapping[GroupKind, Validation]] = {
    GroupKind("autoscaling", "HorizontalPodAutoscaler"): Validation(
        autoscaling.autoscaler,
        update=autoscaling.autoscaler_update,
        status=statuses.autoscaler_status,
        revisit=_CHANGED,
    ),
    GroupKind("autoscaling", "Scale"): Validation(by_rules("autoscaling.v1.Scale")),
    GroupKind("batch", "CronJob"): Validation(
        jobs.cron_job, update=jobs.cron_job_update, revisit=_CHANGED
    ),
    GroupKind("batch", "Job"): Validation(
        jobs.job, update=jobs.job_update, status=statuses.job_status
    ),
    GroupKind("policy", "PodDisruptionBudget"): Validation(
        cluster_rules.disruption_budget,
        None,
        status=statuses.budget_status,
        revisit=Revisit.NEVER,
    ),
}

VALIDATIONS: Final[Mapping[GroupKind, Validation]] = {
    **OTHERS,
    **{
        GroupKind(group, kind): validation
        for group, kinds in {
            "": CORE,
            "apps": APPS,
            "networking.k8s.io": NETWORKING,
            RBAC_GROUP: RBAC,
        }.items()
        for kind, validation in kinds.items()
    },
}

OF_SUBRESOURCES: Final[Mapping[tuple[GroupKind, str], Update]] = {
    (GroupKind("", "Namespace"), "finalize"): cluster_rules.namespace_finalize,
    (GroupKind("", "Pod"), "ephemeralcontainers"): pod_subresources.ephemeral_containers,
    (GroupKind("", "Pod"), "resize"): pod_subresources.resize,
}
"""What is looked at in an update through a subresource, besides the metadata."""


def validation_of(kind: GroupKind) -> Validation | None:
    """The rules of a kind; None for one that is not built in, or not validated here."""
    found = VALIDATIONS.get(kind)
    if found is not None or not _may_be_further(kind):
        return found

    return FURTHER_VALIDATIONS.get(kind)


def subresource_rule(kind: GroupKind, subresource: str) -> Update | None:
    """What is asked of an update through a subresource."""
    found = OF_SUBRESOURCES.get((kind, subresource))
    if found is not None or not _may_be_further(kind):
        return found

    return FURTHER_SUBRESOURCES.get((kind, subresource))


def _may_be_further(kind: GroupKind) -> bool:
    """All groups of the rarer kinds are Kubernetes' own."""
    return kind.group.endswith(".k8s.io")


# --- Further validations -----------------------------------------------------
#
# The rules of built-in kinds that few manifests have, as one table: loaded with the first of
# them.
#
# Its rows are like those of `built_in_validations`.


CANDIDATE: Final = Naming(
    text_rules.config_key, prefix_rule=text_rules.config_key, any_finalizers=True
)
STORAGE_VERSION: Final = Naming(small_groups.storage_version_name, namespaced=False)

CERTIFICATES: Final[Mapping[str, Validation]] = {
    "CertificateSigningRequest": Validation(
        certificates.certificate_signing_request,
        CLUSTER_ANY,
        certificates.certificate_signing_request_update,
        certificates.request_status,
    ),
    "ClusterTrustBundle": Validation(
        certificates.trust_bundle, certificates.bundle_naming, certificates.trust_bundle_update
    ),
    "PodCertificateRequest": Validation(
        certificates.certificate_request,
        update=certificates.certificate_request_update,
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
    "CSIDriver": Validation(storage.driver, CLUSTER, storage.driver_update, revisit=_CHANGED),
    "CSINode": Validation(storage.node, CLUSTER, storage.node_update, revisit=Revisit.AS_NEW),
    "CSIStorageCapacity": Validation(storage.capacity, update=storage.capacity_update),
    "StorageClass": Validation(storage.storage_class, CLUSTER, storage.storage_class_update),
    "VolumeAttachment": Validation(
        storage.attachment,
        CLUSTER,
        storage.attachment_update,
        storage.attachment_update,
        Revisit.AS_NEW,
    ),
    "VolumeAttributesClass": Validation(
        storage.attributes_class, CLUSTER, storage.attributes_class_update
    ),
}
FURTHER: Final[Mapping[GroupKind, Validation]] = {
    GroupKind("apiregistration.k8s.io", "APIService"): Validation(
        small_groups.api_service,
        small_groups.api_service_naming,
        status=small_groups.api_service_status,
    ),
    GroupKind("coordination.k8s.io", "Lease"): Validation(
        by_rules("coordination.v1.Lease"), ANY_FINALIZERS, revisit=_CHANGED
    ),
    GroupKind("coordination.k8s.io", "LeaseCandidate"): Validation(
        small_groups.lease_candidate,
        CANDIDATE,
        small_groups.lease_candidate_update,
        revisit=_CHANGED,
    ),
    GroupKind("discovery.k8s.io", "EndpointSlice"): Validation(
        networking.endpoint_slice,
        update=networking.endpoint_slice_update,
        revisit=Revisit.AS_NEW,
    ),
    GroupKind("events.k8s.io", "Event"): Validation(
        core_kinds.event, None, core_kinds.event_update
    ),
    GroupKind("internal.apiserver.k8s.io", "StorageVersion"): Validation(
        naming=STORAGE_VERSION, revisit=Revisit.NEVER
    ),
    GroupKind("node.k8s.io", "RuntimeClass"): Validation(
        small_groups.runtime_class,
        replace(CLUSTER, any_finalizers=True),
        small_groups.runtime_class_update,
    ),
    GroupKind("scheduling.k8s.io", "PriorityClass"): Validation(
        cluster_rules.priority_class,
        CLUSTER,
        cluster_rules.priority_class_update,
        revisit=_CHANGED,
    ),
    GroupKind("storagemigration.k8s.io", "StorageVersionMigration"): Validation(
        small_groups.migration,
        CLUSTER,
        small_groups.migration_update,
        small_groups.migration_status,
    ),
}

FURTHER_VALIDATIONS: Final[Mapping[GroupKind, Validation]] = {
    **FURTHER,
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
        certificates.request_approval
    ),
}
