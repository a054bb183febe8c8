"""Which kind is remarked upon by what."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Final, TypeAlias

from celadon.kube.json_types import JsonObject
from celadon.kube.names import GroupKind
from celadon.kube.warnings import (
    cluster_warnings,
    network_warnings,
    secret_warnings,
    storage_warnings,
    workload_warnings,
)
from celadon.kube.warnings.pod_warnings import converted_apparmor, pod_warnings

Warn: TypeAlias = Callable[[JsonObject, JsonObject | None], Iterator[str]]
"""Of an object, and of the one it replaces, or None for a new one."""


def _new_pod(obj: JsonObject, old: JsonObject | None) -> Iterator[str]:
    """Nothing is said of changed pods: people seldom change them, controllers often."""
    return pod_warnings(obj) if old is None else iter(())


_CORE: Final[Mapping[str, Warn]] = {
    "Endpoints": network_warnings.endpoints_warnings,
    "Node": cluster_warnings.node_warnings,
    "PersistentVolume": storage_warnings.volume_warnings,
    "PersistentVolumeClaim": storage_warnings.claim_warnings,
    "Pod": _new_pod,
    "PodTemplate": workload_warnings.pod_template_warnings,
    "ReplicationController": workload_warnings.controller_warnings,
    "Secret": secret_warnings.secret_warnings,
    "Service": network_warnings.service_warnings,
    "ServiceAccount": cluster_warnings.service_account_warnings,
}
WARNINGS: Final[Mapping[GroupKind, Warn]] = {
    **{GroupKind("", kind): warn for kind, warn in _CORE.items()},
    GroupKind("apiextensions.k8s.io", "CustomResourceDefinition"): (
        cluster_warnings.definition_warnings
    ),
    GroupKind("apps", "DaemonSet"): workload_warnings.daemon_set_warnings,
    GroupKind("apps", "Deployment"): workload_warnings.controller_warnings,
    GroupKind("apps", "ReplicaSet"): workload_warnings.controller_warnings,
    GroupKind("apps", "StatefulSet"): workload_warnings.stateful_set_warnings,
    GroupKind("batch", "CronJob"): workload_warnings.cron_job_warnings,
    GroupKind("batch", "Job"): workload_warnings.job_warnings,
    GroupKind("discovery.k8s.io", "EndpointSlice"): network_warnings.endpoint_slice_warnings,
    GroupKind("networking.k8s.io", "Ingress"): network_warnings.ingress_warnings,
    GroupKind("networking.k8s.io", "NetworkPolicy"): network_warnings.network_policy_warnings,
    GroupKind("networking.k8s.io", "ServiceCIDR"): network_warnings.service_cidr_warnings,
    GroupKind("node.k8s.io", "RuntimeClass"): cluster_warnings.runtime_class_warnings,
    GroupKind("resource.k8s.io", "ResourceSlice"): cluster_warnings.resource_slice_warnings,
    GroupKind("storage.k8s.io", "CSIDriver"): storage_warnings.driver_warnings,
    GroupKind("storage.k8s.io", "CSIStorageCapacity"): (storage_warnings.storage_capacity_warnings),
    GroupKind("storage.k8s.io", "StorageClass"): storage_warnings.storage_class_warnings,
}
STATUS_WARNINGS: Final[Mapping[GroupKind, Warn]] = {
    GroupKind("", "Pod"): cluster_warnings.pod_status_warnings,
    GroupKind("", "Service"): network_warnings.service_status_warnings,
    GroupKind("networking.k8s.io", "Ingress"): network_warnings.ingress_status_warnings,
}
"""Of writes to `/status`."""


def kind_warnings(
    kind: GroupKind,
    obj: JsonObject,
    old: JsonObject | None = None,
    *,
    subresource: str = "",
    custom: bool = False,
) -> list[str]:
    """Of an object as validation sees it; `old` is None for a new one. `custom`: a definition says
    what the kind is."""
    if subresource not in ("", "status"):
        return []
    if custom:
        return [] if subresource else list(cluster_warnings.custom_resource_warnings(obj, old))
    warn = (STATUS_WARNINGS if subresource else WARNINGS).get(kind)
    return [] if warn is None else list(warn(obj, old))


def warnings_before(kind: GroupKind, obj: JsonObject) -> list[str]:
    """Of a new object as it was sent, when the server will change what is remarked upon."""
    return list(converted_apparmor(obj)) if kind == GroupKind("", "Pod") else []
