"""Which kind is validated by what, and the two ways to ask.

`validate_create` and `validate_update` take objects as validating admission sees them. A kind that
is not in the table has no complaints: custom resources, and built-in ones that are not covered.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Final

from celadon.kube import fieldpath, name_rules
from celadon.kube.fieldpath import FieldError, FieldPath
from celadon.kube.json_types import JsonObject
from celadon.kube.names import GroupKind, GroupVersionKind
from celadon.kube.validation.cluster import (
    cluster_rules,
    config_data,
    role_rules,
    runtime_classes,
    signing_requests,
    storage_claims,
)
from celadon.kube.validation.field_checks import METADATA, Errors
from celadon.kube.validation.networking import ingresses, services
from celadon.kube.validation.object_meta import (
    Naming,
    standard_finalizers,
    validate_meta_of_update,
    validate_object_meta,
    validate_object_meta_update,
)
from celadon.kube.validation.pods import pod_specs, pod_updates
from celadon.kube.validation.workloads import autoscaling, controllers, jobs
from celadon.kube.well_known_values import RBAC_GROUP

Create = Callable[[JsonObject], Errors]
Update = Callable[[JsonObject, JsonObject], Errors]


def _nothing(_: JsonObject) -> Errors:
    return iter(())


SUBDOMAIN: Final = Naming()
LABEL: Final = Naming(name_rules.dns1123_label)
SERVICE: Final = Naming(name_rules.dns1035_label)
ANY_SEGMENT: Final = Naming(name_rules.path_segment_name, prefix_rule=name_rules.path_segment_name)
CLUSTER: Final = Naming(namespaced=False)
CLUSTER_LABEL: Final = Naming(name_rules.dns1123_label, namespaced=False)
CLUSTER_ANY: Final = Naming(lambda _: [], namespaced=False)
CLUSTER_SEGMENT: Final = replace(ANY_SEGMENT, namespaced=False)


@dataclass(frozen=True, slots=True)
class Validation:
    """The rules of a kind, besides those for metadata.

    Without `update`, a changed object must be what a new one must be. `lasting_metadata`: the
    metadata of a changed object is not looked at again as that of a new one.
    """

    create: Create = _nothing
    naming: Naming = SUBDOMAIN
    update: Update | None = None
    lasting_metadata: bool = False

    def of_update(self, obj: JsonObject, old: JsonObject) -> Errors:
        """What is wrong with an update, metadata included."""
        return self.create(obj) if self.update is None else self.update(obj, old)


_BATCH: Final = "batch"
_APPS: Final = "apps"
_NETWORKING: Final = "networking.k8s.io"

VALIDATIONS: Final[Mapping[GroupKind, Validation]] = {
    GroupKind("", "ConfigMap"): Validation(
        config_data.config_map, update=config_data.config_map_update
    ),
    GroupKind("", "Endpoints"): Validation(services.endpoints),
    GroupKind("", "Event"): Validation(cluster_rules.event, Naming(lambda _: [])),
    GroupKind("", "LimitRange"): Validation(cluster_rules.limit_range),
    GroupKind("", "Namespace"): Validation(
        cluster_rules.namespace, CLUSTER_LABEL, lambda _, __: iter(()), lasting_metadata=True
    ),
    GroupKind("", "PersistentVolume"): Validation(
        storage_claims.persistent_volume, CLUSTER, storage_claims.persistent_volume_update
    ),
    GroupKind("", "PersistentVolumeClaim"): Validation(
        storage_claims.claim, update=storage_claims.claim_update
    ),
    GroupKind("", "Pod"): Validation(pod_specs.pod, update=pod_updates.pod_update),
    GroupKind("", "PodTemplate"): Validation(
        lambda obj: pod_specs.pod_template(FieldPath("template"), obj.get("template") or {})
    ),
    GroupKind("", "ReplicationController"): Validation(
        controllers.replication_controller, lasting_metadata=True
    ),
    GroupKind("", "ResourceQuota"): Validation(
        cluster_rules.resource_quota,
        update=cluster_rules.resource_quota_update,
        lasting_metadata=True,
    ),
    GroupKind("", "Secret"): Validation(config_data.secret, update=config_data.secret_update),
    GroupKind("", "Service"): Validation(services.service, SERVICE, services.service_update),
    GroupKind("", "ServiceAccount"): Validation(),
    GroupKind(_APPS, "DaemonSet"): Validation(
        controllers.daemon_set, update=controllers.daemon_set_update, lasting_metadata=True
    ),
    GroupKind(_APPS, "Deployment"): Validation(
        controllers.deployment, update=controllers.deployment_update, lasting_metadata=True
    ),
    GroupKind(_APPS, "ReplicaSet"): Validation(
        controllers.replica_set, update=controllers.replica_set_update, lasting_metadata=True
    ),
    GroupKind(_APPS, "StatefulSet"): Validation(
        controllers.stateful_set, LABEL, controllers.stateful_set_update, lasting_metadata=True
    ),
    GroupKind("autoscaling", "HorizontalPodAutoscaler"): Validation(
        autoscaling.autoscaler, update=autoscaling.autoscaler_update, lasting_metadata=True
    ),
    GroupKind("autoscaling", "Scale"): Validation(autoscaling.scale),
    GroupKind(_BATCH, "CronJob"): Validation(
        jobs.cron_job, update=jobs.cron_job_update, lasting_metadata=True
    ),
    GroupKind(_BATCH, "Job"): Validation(jobs.job, update=jobs.job_update, lasting_metadata=True),
    GroupKind("certificates.k8s.io", "CertificateSigningRequest"): Validation(
        signing_requests.certificate_signing_request,
        CLUSTER_ANY,
        signing_requests.certificate_signing_request_update,
    ),
    GroupKind("coordination.k8s.io", "Lease"): Validation(cluster_rules.lease),
    GroupKind(_NETWORKING, "Ingress"): Validation(
        ingresses.ingress, update=lambda obj, _: ingresses.ingress_in_general(obj)
    ),
    GroupKind(_NETWORKING, "IngressClass"): Validation(
        ingresses.ingress_class, CLUSTER, ingresses.ingress_class_update
    ),
    GroupKind(_NETWORKING, "NetworkPolicy"): Validation(
        ingresses.network_policy, lasting_metadata=True
    ),
    GroupKind("node.k8s.io", "RuntimeClass"): Validation(
        runtime_classes.runtime_class,
        CLUSTER,
        runtime_classes.runtime_class_update,
        lasting_metadata=True,
    ),
    GroupKind("policy", "PodDisruptionBudget"): Validation(cluster_rules.disruption_budget),
    GroupKind(RBAC_GROUP, "ClusterRole"): Validation(role_rules.cluster_role, CLUSTER_SEGMENT),
    GroupKind(RBAC_GROUP, "ClusterRoleBinding"): Validation(
        role_rules.cluster_role_binding, CLUSTER_SEGMENT, role_rules.cluster_role_binding_update
    ),
    GroupKind(RBAC_GROUP, "Role"): Validation(role_rules.role, ANY_SEGMENT),
    GroupKind(RBAC_GROUP, "RoleBinding"): Validation(
        role_rules.role_binding, ANY_SEGMENT, role_rules.role_binding_update
    ),
    GroupKind("scheduling.k8s.io", "PriorityClass"): Validation(
        cluster_rules.priority_class,
        CLUSTER,
        cluster_rules.priority_class_update,
        lasting_metadata=True,
    ),
    GroupKind("storage.k8s.io", "StorageClass"): Validation(
        storage_claims.storage_class,
        CLUSTER,
        storage_claims.storage_class_update,
        lasting_metadata=True,
    ),
}

OF_SUBRESOURCES: Final[Mapping[tuple[GroupKind, str], Create]] = {
    (GroupKind("", "Namespace"), "finalize"): cluster_rules.namespace_finalize,
}
"""What is looked at in an update through a subresource, besides the metadata."""

KIND_FIRST: Final = frozenset({GroupKind("policy", "PodDisruptionBudget"), GroupKind("", "Event")})
"""Kinds whose own rules say nothing about metadata: only the name's use in URLs is checked."""


def validate_create(obj: JsonObject, kind: GroupVersionKind) -> list[FieldError]:
    """What is wrong with a new object."""
    validation = VALIDATIONS.get(kind.group_kind)
    if validation is None:
        return []
    errors: list[FieldError] = []
    if kind.group_kind not in KIND_FIRST:
        errors += _metadata(obj.get("metadata") or {}, validation.naming)
    errors += validation.create(obj)
    return errors or _usable_in_urls(obj)


def _metadata(meta: JsonObject, naming: Naming) -> Errors:
    yield from validate_object_meta(meta, naming)
    yield from standard_finalizers(meta)


def _usable_in_urls(obj: JsonObject) -> list[FieldError]:
    """The check behind all strategies, which counts where a kind has none of its own."""
    name = (obj.get("metadata") or {}).get("name") or ""
    at = METADATA.child("name")
    return [fieldpath.invalid(at, name, one) for one in name_rules.path_segment_name(name)]


def validate_subresource_update(
    obj: JsonObject, old: JsonObject, kind: GroupVersionKind, subresource: str
) -> list[FieldError]:
    """What is wrong with an object changed through a subresource of another shape than its own."""
    errors = list(validate_meta_of_update(obj.get("metadata") or {}, old.get("metadata") or {}))
    check = OF_SUBRESOURCES.get((kind.group_kind, subresource), _nothing)
    return [*errors, *check(obj)]


def validate_update(obj: JsonObject, old: JsonObject, kind: GroupVersionKind) -> list[FieldError]:
    """What is wrong with a changed object. Subresources are not validated here."""
    validation = VALIDATIONS.get(kind.group_kind)
    if validation is None:
        return []
    meta, before = obj.get("metadata") or {}, old.get("metadata") or {}
    errors = list(validate_meta_of_update(meta, before))
    if kind.group_kind not in KIND_FIRST:
        errors += validate_object_meta_update(meta, before)
        errors += standard_finalizers(meta)
        if not validation.lasting_metadata:
            errors += _metadata(meta, validation.naming)
    return [*errors, *validation.of_update(obj, old)]
