"""The rules of built-in kinds, as one table; those of rarer groups stand in its second part.

Kinds of other rooms (the registration objects, definitions) are not here. A row says what upstream
says in `strategy.go` of the kind: which rules, in which writes, and how often its metadata.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from celadon.kube.fieldpath import FieldPath
from celadon.kube.names import GroupKind
from celadon.kube.releases import is_since
from celadon.kube.validation import (
    apps,
    autoscaling,
    cluster_rules,
    core_kinds,
    jobs,
    networking,
    services,
    small_groups,
    statuses,
    storage,
)
from celadon.kube.validation import services as service_ranges
from celadon.kube.validation.field_rules import by_rules
from celadon.kube.validation.object_meta import Naming
from celadon.kube.validation.pods import pod_specs, pod_updates
from celadon.kube.validation.pods import pod_updates as pod_statuses
from celadon.kube.validation.pods import pod_updates as pod_subresources
from celadon.kube.validation.validation_rows import (
    ANY_SEGMENT,
    CLUSTER,
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

ADDRESS: Final = Naming(service_ranges.address_name, namespaced=False)
_CHANGED: Final = Revisit.AS_CHANGED
_ROLES_REPEATED: Final = "1.35"

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
        repeated_until="1.35",
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
        repeated_until="1.35",
    ),
    "ResourceQuota": Validation(
        cluster_rules.resource_quota,
        update=cluster_rules.resource_quota_update,
        status=statuses.quota_status,
        revisit=_CHANGED,
    ),
    "Secret": Validation(core_kinds.secret, update=core_kinds.secret_update),
    "Service": Validation(
        services.service,
        SERVICE,
        services.service_update,
        statuses.service_status,
        named_once_since="1.34",
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
        repeated_until="1.34",
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
        repeated_until="1.34",
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
        networking.network_policy,
        update=networking.network_policy_update,
        revisit=_CHANGED,
        repeated_until="1.36",
    ),
    "ServiceCIDR": Validation(
        service_ranges.service_cidr,
        CLUSTER,
        service_ranges.service_cidr_update,
        revisit=_CHANGED,
        repeated_until="1.33",
    ),
}
RBAC: Final[Mapping[str, Validation]] = {
    "ClusterRole": Validation(
        small_groups.cluster_role, CLUSTER_SEGMENT, repeated_until=_ROLES_REPEATED
    ),
    "ClusterRoleBinding": Validation(
        small_groups.cluster_role_binding,
        CLUSTER_SEGMENT,
        small_groups.cluster_role_binding_update,
        repeated_until=_ROLES_REPEATED,
    ),
    "Role": Validation(small_groups.role, ANY_SEGMENT, repeated_until=_ROLES_REPEATED),
    "RoleBinding": Validation(
        small_groups.role_binding,
        ANY_SEGMENT,
        small_groups.role_binding_update,
        repeated_until=_ROLES_REPEATED,
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
    if kind.group == "resource.k8s.io" and not is_since("1.32"):
        from celadon.kube.validation import classic_devices  # late: few manifests have such kinds

        older = classic_devices.validation_of(kind.kind)
        if older is not None:
            return older
    from celadon.kube.validation.further_validations import (  # late: few manifests have such kinds
        FURTHER_VALIDATIONS,
    )

    return FURTHER_VALIDATIONS.get(kind)


def subresource_rule(kind: GroupKind, subresource: str) -> Update | None:
    """What is asked of an update through a subresource."""
    found = OF_SUBRESOURCES.get((kind, subresource))
    if found is not None or not _may_be_further(kind):
        return found
    from celadon.kube.validation.further_validations import (  # late: few manifests have such kinds
        FURTHER_SUBRESOURCES,
    )

    return FURTHER_SUBRESOURCES.get((kind, subresource))


def _may_be_further(kind: GroupKind) -> bool:
    """All groups of the rarer kinds are Kubernetes' own."""
    return kind.group.endswith(".k8s.io")
