"""The rules of built-in kinds, as one table, and the ways to ask it.

Those of rarer groups stand in `further_validations`, which is loaded with the first of them.
Kinds of other rooms (the registration objects, definitions) are not here. A row says what upstream
says in `strategy.go` of the kind: which rules, in which writes, and how often its metadata.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from typing import Final

from celadon.kube.fieldpath import FieldError, FieldPath
from celadon.kube.json_types import JsonObject
from celadon.kube.names import GroupKind, GroupVersionKind
from celadon.kube.releases import is_since
from celadon.kube.validation import (
    apps,
    autoscaling,
    cluster_rules,
    core_kinds,
    jobs,
    networking,
    persistent_volumes,
    services,
    small_groups,
    statuses,
)
from celadon.kube.validation import services as service_ranges
from celadon.kube.validation.field_checks import METADATA, Errors, by_rules, each, holding
from celadon.kube.validation.object_meta import (
    ANY_SEGMENT,
    CLUSTER,
    CLUSTER_LABEL,
    CLUSTER_SEGMENT,
    GENERATED,
    IN_PATHS,
    LABEL,
    SERVICE,
    Naming,
    Revisit,
    Update,
    Validation,
    new_object_meta,
    no_changes,
    standard_finalizers,
    validate_meta_of_update,
    validate_object_meta,
    validate_object_meta_update,
    validate_place,
)
from celadon.kube.validation.pods import pod_specs, pod_statuses, pod_updates
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
        changes=no_changes,
    ),
    "Node": Validation(
        core_kinds.node,
        CLUSTER,
        status=core_kinds.node_changes,
        changes=core_kinds.node_changes,
    ),
    "PersistentVolume": Validation(
        persistent_volumes.persistent_volume,
        CLUSTER,
        persistent_volumes.persistent_volume_update,
        revisit=Revisit.AS_NEW,
    ),
    "PersistentVolumeClaim": Validation(
        persistent_volumes.claim,
        update=persistent_volumes.claim_update,
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
    "IPAddress": Validation(
        service_ranges.ip_address, ADDRESS, changes=service_ranges.ip_address_changes
    ),
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
        small_groups.cluster_role,
        CLUSTER_SEGMENT,
        changes=no_changes,
        repeated_until=_ROLES_REPEATED,
    ),
    "ClusterRoleBinding": Validation(
        small_groups.cluster_role_binding,
        CLUSTER_SEGMENT,
        changes=small_groups.same_role,
        repeated_until=_ROLES_REPEATED,
    ),
    "Role": Validation(
        small_groups.role, ANY_SEGMENT, changes=no_changes, repeated_until=_ROLES_REPEATED
    ),
    "RoleBinding": Validation(
        small_groups.role_binding,
        ANY_SEGMENT,
        changes=small_groups.same_role,
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
    (GroupKind("", "Pod"), "ephemeralcontainers"): pod_updates.ephemeral_containers,
    (GroupKind("", "Pod"), "resize"): pod_updates.resize,
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
    """Return the rule for updates through a subresource; None if there is none."""
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


# --- The ways to ask ---------------------------------------------------------
#
# Which kind is validated by what, and the ways to ask.
#
# All take objects as validating admission sees them, and the feature gates that are on; None is
# those of the current release. A kind that is not in the table has no complaints here: custom
# resources, and kinds that other rooms validate.


def validate_create(
    obj: JsonObject, kind: GroupVersionKind, gates: frozenset[str] | None = None
) -> list[FieldError]:
    """Return what is wrong with a new object."""
    validation = validation_of(kind.group_kind)
    if validation is None:
        return []
    meta = obj.get("metadata") or {}
    naming = validation.naming_of(obj)
    of_meta = iter(()) if naming is None else new_object_meta(meta, naming)
    errors = itertools.chain(of_meta, validation.create(obj))
    return holding(errors, gates) or _for_all_kinds(meta, is_done=naming is not None)


def _for_all_kinds(meta: JsonObject, *, is_done: bool) -> list[FieldError]:
    """Return what a server itself says of metadata, behind all strategies: names must fit into
    paths. Where a strategy has found nothing wrong with the rest, it `is_done`."""
    if not is_done:
        return list(validate_object_meta(meta, IN_PATHS))
    name, prefix = meta.get("name") or "", meta.get("generateName") or ""
    found = [*each(METADATA.child("name"), name, IN_PATHS.rule(name))]
    if prefix:
        found += each(METADATA.child("generateName"), prefix, IN_PATHS.of_prefix(prefix))
    return found


def validate_update(
    obj: JsonObject, old: JsonObject, kind: GroupVersionKind, gates: frozenset[str] | None = None
) -> list[FieldError]:
    """Return what is wrong with a changed object. Subresources are not validated here."""
    validation = validation_of(kind.group_kind)
    return [] if validation is None else holding(_changed(obj, old, validation), gates)


def _changed(obj: JsonObject, old: JsonObject, validation: Validation) -> Errors:
    """The rules of a kind find again what a server finds for all kinds."""
    meta, before = obj.get("metadata") or {}, old.get("metadata") or {}
    is_sound = True
    for error in validate_meta_of_update(meta, before):
        is_sound = False
        yield error
    naming = validation.naming_of(obj)
    if validation.repeated_until and not is_since(validation.repeated_until):
        if naming is not None:
            yield from new_object_meta(meta, naming)
        yield from validation.create(obj)
    if validation.changes is not None and naming is not None:
        yield from (validate_place if is_sound else validate_object_meta)(meta, naming)
        yield from standard_finalizers(meta, naming)
        yield from validation.create(obj)
        if not is_sound:
            yield from validate_object_meta_update(meta, before)
        yield from standard_finalizers(meta, naming)
        yield from validation.changes(obj, old)
        return
    if naming is not None:
        revisit = validation.revisits
        if Revisit.AS_CHANGED in revisit:
            if not is_sound:
                yield from validate_object_meta_update(meta, before)
            yield from standard_finalizers(meta, naming)
        if Revisit.AS_NEW in revisit:
            yield from (validate_place if is_sound else validate_object_meta)(meta, naming)
            yield from standard_finalizers(meta, naming)
    yield from validation.of_update(obj, old)


def validate_status_update(
    obj: JsonObject, old: JsonObject, kind: GroupVersionKind, gates: frozenset[str] | None = None
) -> list[FieldError]:
    """Return what is wrong with an object whose status was changed."""
    validation = validation_of(kind.group_kind)
    if validation is not None and validation.status is validation.update is not None:
        return validate_update(obj, old, kind, gates)
    meta, before = obj.get("metadata") or {}, old.get("metadata") or {}
    errors = list(validate_meta_of_update(meta, before))
    if validation is None or validation.status is None:
        return errors
    if errors and Revisit.AS_CHANGED in validation.revisit:
        errors += validate_object_meta_update(meta, before)
    return holding(itertools.chain(errors, validation.status(obj, old)), gates)


def validate_subresource_update(
    obj: JsonObject,
    old: JsonObject,
    kind: GroupVersionKind,
    subresource: str,
    gates: frozenset[str] | None = None,
) -> list[FieldError]:
    """Return what is wrong with an object changed through a subresource other than its status."""
    errors = list(validate_meta_of_update(obj.get("metadata") or {}, old.get("metadata") or {}))
    check = subresource_rule(kind.group_kind, subresource)
    return errors if check is None else holding(itertools.chain(errors, check(obj, old)), gates)
