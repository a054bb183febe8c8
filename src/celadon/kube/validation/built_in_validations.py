"""The rules of every built-in kind, as one table.

Kinds of other rooms (the registration objects, definitions) are not here. A row says what upstream
says in `strategy.go` of the kind: which rules, in which writes, and how often its metadata.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from celadon.kube.fieldpath import FieldPath
from celadon.kube.names import GroupKind
from celadon.kube.validation import pod_subresources, text_rules
from celadon.kube.validation.cluster import (
    api_services,
    cluster_rules,
    config_data,
    events,
    flow_control,
    leases,
    nodes,
    role_rules,
    runtime_classes,
    signing_requests,
    stored_versions,
    trust_bundles,
)
from celadon.kube.validation.devices import claim_statuses, resource_claims, resource_slices
from celadon.kube.validation.networking import (
    endpoint_slices,
    endpoints_objects,
    ingresses,
    service_ranges,
    services,
)
from celadon.kube.validation.object_meta import Naming
from celadon.kube.validation.pods import pod_specs, pod_updates
from celadon.kube.validation.statuses import (
    job_statuses,
    object_statuses,
    pod_statuses,
    workload_statuses,
)
from celadon.kube.validation.storage import (
    persistent_volumes,
    storage_claims,
    storage_classes,
    storage_drivers,
)
from celadon.kube.validation.validation_rows import (
    ANY_SEGMENT,
    CLUSTER,
    CLUSTER_ANY,
    CLUSTER_LABEL,
    CLUSTER_SEGMENT,
    LABEL,
    SERVICE,
    Revisit,
    Update,
    Validation,
)
from celadon.kube.validation.workloads import autoscaling, controllers, jobs
from celadon.kube.well_known_values import RBAC_GROUP

CANDIDATE: Final = Naming(text_rules.config_key, prefix_rule=text_rules.config_key)
ADDRESS: Final = Naming(service_ranges.address_name, namespaced=False)
STORAGE_VERSION: Final = Naming(stored_versions.storage_version_name, namespaced=False)
_CHANGED: Final = Revisit.AS_CHANGED

CORE: Final[Mapping[str, Validation]] = {
    "ConfigMap": Validation(config_data.config_map, update=config_data.config_map_update),
    "Endpoints": Validation(endpoints_objects.endpoints),
    "Event": Validation(events.core_event, None),
    "LimitRange": Validation(cluster_rules.limit_range),
    "Namespace": Validation(
        cluster_rules.namespace,
        CLUSTER_LABEL,
        lambda _, __: iter(()),
        object_statuses.namespace_status,
        _CHANGED,
    ),
    "Node": Validation(nodes.node, CLUSTER, nodes.node_update, nodes.node_changes),
    "PersistentVolume": Validation(
        persistent_volumes.persistent_volume, CLUSTER, persistent_volumes.persistent_volume_update
    ),
    "PersistentVolumeClaim": Validation(
        storage_claims.claim,
        update=storage_claims.claim_update,
        status=object_statuses.claim_status,
    ),
    "Pod": Validation(pod_specs.pod, update=pod_updates.pod_update, status=pod_statuses.pod_status),
    "PodTemplate": Validation(
        lambda obj: pod_specs.pod_template(FieldPath("template"), obj.get("template") or {})
    ),
    "ReplicationController": Validation(
        controllers.replication_controller,
        status=workload_statuses.replication_controller_status,
        revisit=_CHANGED,
    ),
    "ResourceQuota": Validation(
        cluster_rules.resource_quota,
        update=cluster_rules.resource_quota_update,
        status=object_statuses.quota_status,
        revisit=_CHANGED,
    ),
    "Secret": Validation(config_data.secret, update=config_data.secret_update),
    "Service": Validation(
        services.service, SERVICE, services.service_update, object_statuses.service_status
    ),
    "ServiceAccount": Validation(),
}
APPS: Final[Mapping[str, Validation]] = {
    "ControllerRevision": Validation(
        stored_versions.controller_revision,
        update=stored_versions.controller_revision_update,
        revisit=_CHANGED,
    ),
    "DaemonSet": Validation(
        controllers.daemon_set,
        update=controllers.daemon_set_update,
        status=workload_statuses.daemon_set_status,
        revisit=_CHANGED,
    ),
    "Deployment": Validation(
        controllers.deployment,
        update=controllers.deployment_update,
        status=workload_statuses.deployment_status,
        revisit=_CHANGED,
    ),
    "ReplicaSet": Validation(
        controllers.replica_set,
        update=controllers.replica_set_update,
        status=workload_statuses.replica_set_status,
        revisit=_CHANGED,
    ),
    "StatefulSet": Validation(
        controllers.stateful_set,
        LABEL,
        controllers.stateful_set_update,
        workload_statuses.stateful_set_status,
        _CHANGED,
    ),
}
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
NETWORKING: Final[Mapping[str, Validation]] = {
    "IPAddress": Validation(
        service_ranges.ip_address, ADDRESS, service_ranges.ip_address_update, revisit=_CHANGED
    ),
    "Ingress": Validation(
        ingresses.ingress,
        update=lambda obj, _: ingresses.ingress_in_general(obj),
        status=object_statuses.ingress_status,
    ),
    "IngressClass": Validation(ingresses.ingress_class, CLUSTER, ingresses.ingress_class_update),
    "NetworkPolicy": Validation(ingresses.network_policy, revisit=_CHANGED),
    "ServiceCIDR": Validation(
        service_ranges.service_cidr, CLUSTER, service_ranges.service_cidr_update, revisit=_CHANGED
    ),
}
RBAC: Final[Mapping[str, Validation]] = {
    "ClusterRole": Validation(role_rules.cluster_role, CLUSTER_SEGMENT),
    "ClusterRoleBinding": Validation(
        role_rules.cluster_role_binding, CLUSTER_SEGMENT, role_rules.cluster_role_binding_update
    ),
    "Role": Validation(role_rules.role, ANY_SEGMENT),
    "RoleBinding": Validation(role_rules.role_binding, ANY_SEGMENT, role_rules.role_binding_update),
}
DEVICES: Final[Mapping[str, Validation]] = {
    "DeviceClass": Validation(resource_claims.device_class, CLUSTER),
    "DeviceTaintRule": Validation(
        resource_slices.taint_rule,
        CLUSTER,
        resource_slices.taint_rule_update,
        resource_slices.taint_rule_status,
        _CHANGED,
    ),
    "ResourceClaim": Validation(
        resource_claims.claim,
        update=resource_claims.fixed_spec,
        status=claim_statuses.claim_status,
    ),
    "ResourceClaimTemplate": Validation(
        resource_claims.claim_template, update=resource_claims.fixed_spec, revisit=_CHANGED
    ),
    "ResourcePoolStatusRequest": Validation(
        resource_slices.pool_status_request, CLUSTER, resource_claims.fixed_spec, revisit=_CHANGED
    ),
    "ResourceSlice": Validation(
        resource_slices.resource_slice,
        CLUSTER,
        resource_slices.resource_slice_update,
        revisit=_CHANGED,
    ),
}
STORAGE: Final[Mapping[str, Validation]] = {
    "CSIDriver": Validation(storage_drivers.driver, None, storage_drivers.driver_update),
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
    GroupKind("autoscaling", "HorizontalPodAutoscaler"): Validation(
        autoscaling.autoscaler,
        update=autoscaling.autoscaler_update,
        status=workload_statuses.autoscaler_status,
        revisit=_CHANGED,
    ),
    GroupKind("autoscaling", "Scale"): Validation(autoscaling.scale),
    GroupKind("batch", "CronJob"): Validation(
        jobs.cron_job, update=jobs.cron_job_update, revisit=_CHANGED
    ),
    GroupKind("batch", "Job"): Validation(
        jobs.job, update=jobs.job_update, status=job_statuses.job_status, revisit=_CHANGED
    ),
    GroupKind("coordination.k8s.io", "Lease"): Validation(leases.lease, revisit=_CHANGED),
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
        CLUSTER,
        runtime_classes.runtime_class_update,
        revisit=_CHANGED,
    ),
    GroupKind("policy", "PodDisruptionBudget"): Validation(
        cluster_rules.disruption_budget,
        None,
        status=workload_statuses.budget_status,
        revisit=Revisit.NEVER,
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

VALIDATIONS: Final[Mapping[GroupKind, Validation]] = {
    **OTHERS,
    **{
        GroupKind(group, kind): validation
        for group, kinds in {
            "": CORE,
            "apps": APPS,
            "certificates.k8s.io": CERTIFICATES,
            "flowcontrol.apiserver.k8s.io": FLOW_CONTROL,
            "networking.k8s.io": NETWORKING,
            RBAC_GROUP: RBAC,
            "resource.k8s.io": DEVICES,
            "storage.k8s.io": STORAGE,
        }.items()
        for kind, validation in kinds.items()
    },
}

OF_SUBRESOURCES: Final[Mapping[tuple[GroupKind, str], Update]] = {
    (GroupKind("", "Namespace"), "finalize"): cluster_rules.namespace_finalize,
    (GroupKind("certificates.k8s.io", "CertificateSigningRequest"), "approval"): (
        signing_requests.request_approval
    ),
    (GroupKind("", "Pod"), "ephemeralcontainers"): pod_subresources.ephemeral_containers,
    (GroupKind("", "Pod"), "resize"): pod_subresources.resize,
}
"""What is looked at in an update through a subresource, besides the metadata."""
