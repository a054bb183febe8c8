"""The rules of built-in kinds that usually stand beside workloads, as one table: loaded with the
first of them.

Its rows are like those of `built_in_validations`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from celadon.kube.names import GroupKind
from celadon.kube.validation import (
    apps,
    autoscaling,
    config_maps_and_secrets,
    events,
    job_statuses,
    jobs,
    namespaces_quotas_budgets,
    networking,
    nodes_and_runtime_classes,
    persistent_volumes,
    roles_and_bindings,
    services,
)
from celadon.kube.validation.field_checks import by_rules
from celadon.kube.validation.object_meta import (
    ANY_SEGMENT,
    CLUSTER,
    CLUSTER_LABEL,
    CLUSTER_SEGMENT,
    SERVICE,
    Naming,
    Revisit,
    Validation,
    no_changes,
)
from celadon.kube.well_known_values import RBAC_GROUP

ADDRESS: Final = Naming(services.address_name, namespaced=False)
_CHANGED: Final = Revisit.AS_CHANGED
_ROLES_REPEATED: Final = "1.35"

CORE: Final[Mapping[str, Validation]] = {
    "ConfigMap": Validation(
        config_maps_and_secrets.config_map, fixed=config_maps_and_secrets.config_map_fixed
    ),
    "Endpoints": Validation(networking.endpoints, update=networking.endpoints_update),
    "Event": Validation(events.core_event, None),
    "LimitRange": Validation(namespaces_quotas_budgets.limit_range, revisit=Revisit.AS_NEW),
    "Namespace": Validation(
        namespaces_quotas_budgets.namespace,
        CLUSTER_LABEL,
        status=namespaces_quotas_budgets.namespace_status,
        changes=no_changes,
    ),
    "Node": Validation(
        nodes_and_runtime_classes.node,
        CLUSTER,
        status=nodes_and_runtime_classes.node_changes,
        changes=nodes_and_runtime_classes.node_changes,
    ),
    "PersistentVolume": Validation(
        persistent_volumes.persistent_volume,
        CLUSTER,
        persistent_volumes.persistent_volume_update,
        no_changes,
        Revisit.AS_NEW,
        status_revisit=_CHANGED,
    ),
    "PersistentVolumeClaim": Validation(
        persistent_volumes.claim,
        update=persistent_volumes.claim_update,
        status=persistent_volumes.claim_status,
        as_new=persistent_volumes.claim_as_new,
        repeated_until="1.35",
    ),
    "ResourceQuota": Validation(
        namespaces_quotas_budgets.resource_quota,
        update=namespaces_quotas_budgets.resource_quota_update,
        status=namespaces_quotas_budgets.quota_status,
        revisit=_CHANGED,
    ),
    "Secret": Validation(
        config_maps_and_secrets.secret, fixed=config_maps_and_secrets.secret_fixed
    ),
    "Service": Validation(
        services.service,
        SERVICE,
        services.changed_service,
        services.service_status,
        fixed=services.service_fixed,
        named_once_since="1.34",
    ),
    "ServiceAccount": Validation(),
}
NETWORKING: Final[Mapping[str, Validation]] = {
    "IPAddress": Validation(services.ip_address, ADDRESS, changes=services.ip_address_changes),
    "Ingress": Validation(
        networking.ingress, update=networking.ingress_update, status=networking.ingress_status
    ),
    "IngressClass": Validation(
        networking.ingress_class, CLUSTER, fixed=networking.ingress_class_fixed
    ),
    "NetworkPolicy": Validation(
        networking.network_policy,
        update=networking.network_policy_update,
        revisit=_CHANGED,
        repeated_until="1.36",
    ),
    "ServiceCIDR": Validation(
        services.service_cidr,
        CLUSTER,
        services.service_cidr_update,
        no_changes,
        _CHANGED,
        repeated_until="1.33",
    ),
}
RBAC: Final[Mapping[str, Validation]] = {
    "ClusterRole": Validation(
        roles_and_bindings.cluster_role,
        CLUSTER_SEGMENT,
        changes=no_changes,
        repeated_until=_ROLES_REPEATED,
    ),
    "ClusterRoleBinding": Validation(
        roles_and_bindings.cluster_role_binding,
        CLUSTER_SEGMENT,
        changes=roles_and_bindings.same_role,
        repeated_until=_ROLES_REPEATED,
    ),
    "Role": Validation(
        roles_and_bindings.role, ANY_SEGMENT, changes=no_changes, repeated_until=_ROLES_REPEATED
    ),
    "RoleBinding": Validation(
        roles_and_bindings.role_binding,
        ANY_SEGMENT,
        changes=roles_and_bindings.same_role,
        repeated_until=_ROLES_REPEATED,
    ),
}
OTHERS: Final[Mapping[GroupKind, Validation]] = {
    GroupKind("apps", "ControllerRevision"): Validation(
        apps.controller_revision, update=apps.controller_revision_update
    ),
    GroupKind("autoscaling", "HorizontalPodAutoscaler"): Validation(
        autoscaling.autoscaler,
        update=autoscaling.autoscaler_update,
        status=autoscaling.autoscaler_status,
        revisit=_CHANGED,
    ),
    GroupKind("autoscaling", "Scale"): Validation(by_rules("autoscaling.v1.Scale")),
    GroupKind("batch", "CronJob"): Validation(
        jobs.cron_job, update=jobs.cron_job_update, revisit=_CHANGED
    ),
    GroupKind("batch", "Job"): Validation(
        jobs.job, status=job_statuses.job_status, changes=jobs.job_changes, as_new=jobs.job_as_new
    ),
    GroupKind("policy", "PodDisruptionBudget"): Validation(
        namespaces_quotas_budgets.disruption_budget,
        None,
        status=namespaces_quotas_budgets.budget_status,
        revisit=Revisit.NEVER,
    ),
}

FREQUENT_VALIDATIONS: Final[Mapping[GroupKind, Validation]] = {
    **OTHERS,
    **{
        GroupKind(group, kind): validation
        for group, kinds in {
            "": CORE,
            "networking.k8s.io": NETWORKING,
            RBAC_GROUP: RBAC,
        }.items()
        for kind, validation in kinds.items()
    },
}
