"""Fields that are dropped while their feature gate is off.

Upstream's strategies (k8s.io/kubernetes `pkg/api/pod/util.go`, `DropDisabledPodFields`, and
`pkg/registry/*/*/strategy.go`, `dropDisabledFields`) take them from new objects, and from changed
ones unless the object has had one of the same gate before. The data pack says so of gates that are
off by default; here are those that are on.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from celadon.kube.defaulting.field_functions import Rule


def _of_containers(*fields: str) -> tuple[str, ...]:
    lists = ("initContainers", "containers", "ephemeralContainers")
    return tuple(f"spec.{one}[*].{field}" for one in lists for field in fields)


_POD: Final[Mapping[str, tuple[str, ...]]] = {
    "ContainerRestartRules": (
        "spec.containers[*].restartPolicy",
        *_of_containers("restartPolicyRules"),
    ),
    "EnvFiles": _of_containers("env[*].valueFrom.fileKeyRef"),
    "HostnameOverride": ("spec.hostnameOverride",),
    "MatchLabelKeysInPodTopologySpread": ("spec.topologySpreadConstraints[*].matchLabelKeys",),
    "PodLevelResources": ("spec.resources",),
    "ProcMountType": _of_containers("securityContext.procMount"),
    "SELinuxChangePolicy": ("spec.securityContext.seLinuxChangePolicy",),
    "UserNamespacesSupport": ("spec.hostUsers",),
}
"""Of pods and templates, by gate."""

_POD_STATUS: Final = {
    "ResourceHealthStatus": tuple(
        f"status.{one}[*].allocatedResourcesStatus"
        for one in ("containerStatuses", "initContainerStatuses", "ephemeralContainerStatuses")
    )
}
_TERMINATING: Final = {"DeploymentReplicaSetTerminatingReplicas": ("status.terminatingReplicas",)}

_TEMPLATES: Final[Mapping[str, str]] = {
    "v1/Pod": "",
    "v1/PodTemplate": "template.",
    "v1/ReplicationController": "spec.template.",
    "apps/v1/DaemonSet": "spec.template.",
    "apps/v1/Deployment": "spec.template.",
    "apps/v1/ReplicaSet": "spec.template.",
    "apps/v1/StatefulSet": "spec.template.",
    "batch/v1/CronJob": "spec.jobTemplate.spec.template.",
    "batch/v1/Job": "spec.template.",
}
"""Where kinds have a pod."""


def _below(prefix: str, fields: Mapping[str, Iterable[str]]) -> dict[str, tuple[str, ...]]:
    return {gate: tuple(f"{prefix}{path}" for path in paths) for gate, paths in fields.items()}


def _claims(kind: str, exactly: str) -> Iterator[tuple[str, Mapping[str, tuple[str, ...]]]]:
    fields = {
        "DRAAdminAccess": (f"spec.devices.requests[*].{exactly}adminAccess",),
        "DRAPrioritizedList": ("spec.devices.requests[*].firstAvailable",),
    }
    yield f"{kind}Template", _below("spec.", fields)
    yield kind, {**fields, "DRAResourceClaimDeviceStatus": ("status.devices",)}


_FIELDS: Final[Mapping[str, Mapping[str, tuple[str, ...]]]] = {
    **{kind: _below(prefix, _POD) for kind, prefix in _TEMPLATES.items()},
    "v1/Pod": {**_POD, **_POD_STATUS},
    "apps/v1/Deployment": {**_below("spec.template.", _POD), **_TERMINATING},
    "apps/v1/ReplicaSet": {**_below("spec.template.", _POD), **_TERMINATING},
    "autoscaling/v2/HorizontalPodAutoscaler": {
        "HPAConfigurableTolerance": (
            "spec.behavior.scaleUp.tolerance",
            "spec.behavior.scaleDown.tolerance",
        )
    },
    **dict(_claims("resource.k8s.io/v1/ResourceClaim", "exactly.")),
    **dict(_claims("resource.k8s.io/v1beta1/ResourceClaim", "")),
    **dict(_claims("resource.k8s.io/v1beta2/ResourceClaim", "exactly.")),
    "storage.k8s.io/v1/CSIDriver": {
        "MutableCSINodeAllocatableCount": ("spec.nodeAllocatableUpdatePeriodSeconds",),
        "SELinuxMountReadWriteOncePod": ("spec.seLinuxMount",),
    },
}
"""By kind and gate."""

ON_BY_DEFAULT: Final = frozenset(gate for fields in _FIELDS.values() for gate in fields)


def gated_rules(kind: str) -> tuple[Rule, ...]:
    """Rules for new objects of a kind (`apps/v1/Deployment`), as the data pack has them."""
    return tuple(
        {"path": path, "delete": True, "gate": f"!{gate}"}
        for gate, paths in _FIELDS.get(kind, {}).items()
        for path in paths
    )
