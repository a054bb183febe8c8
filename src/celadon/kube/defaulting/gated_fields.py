"""Fields that are dropped while their feature gate is off.

Upstream's strategies (k8s.io/kubernetes `pkg/api/pod/util.go`, `DropDisabledPodFields`, and
`pkg/registry/*/*/strategy.go`, `dropDisabledFields`) take them from new objects, and from
changed ones unless the object has had one of the same gate before. The data pack says so of
gates that are off by default; here are those that are on.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from celadon.kube.defaulting.field_functions import DROP_NOTHING, PARTLY_DROPPED, Rule
from celadon.kube.releases import is_since
from celadon.kube.well_known_values import POD_TEMPLATES


def _of_containers(*fields: str) -> tuple[str, ...]:
    lists = ("initContainers", "containers", "ephemeralContainers")
    return tuple(f"spec.{name}[*].{field}" for name in lists for field in fields)


_AFFINITIES: Final = tuple(
    f"spec.affinity.{item}.{terms}"
    for item in ("podAffinity", "podAntiAffinity")
    for terms in (
        "requiredDuringSchedulingIgnoredDuringExecution[*]",
        "preferredDuringSchedulingIgnoredDuringExecution[*].podAffinityTerm",
    )
)

_POD: Final[Mapping[str, tuple[str, ...]]] = {
    "DynamicResourceAllocation": ("spec.resourceClaims", *_of_containers("resources.claims")),
    "ImageVolume": ("spec.volumes",),
    "InPlacePodVerticalScaling": _of_containers("resizePolicy"),
    "MatchLabelKeysInPodAffinity": tuple(
        f"{terms}.{field}"
        for terms in _AFFINITIES
        for field in ("matchLabelKeys", "mismatchLabelKeys")
    ),
    "RecursiveReadOnlyMounts": _of_containers("volumeMounts[*].recursiveReadOnly"),
    "SupplementalGroupsPolicy": ("spec.securityContext.supplementalGroupsPolicy",),
    "ContainerRestartRules": (
        *("spec.containers[*].restartPolicy", "spec.ephemeralContainers[*].restartPolicy"),
        *("spec.initContainers", *_of_containers("restartPolicyRules")),
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


def _of_statuses(*fields: str) -> tuple[str, ...]:
    lists = ("containerStatuses", "initContainerStatuses", "ephemeralContainerStatuses")
    return tuple(f"status.{name}[*].{field}" for name in lists for field in fields)


_POD_STATUS: Final = {
    "DRAExtendedResource": ("status.extendedResourceClaimStatus",),
    "InPlacePodLevelResourcesVerticalScaling": ("status.resources", "status.allocatedResources"),
    "PodObservedGenerationTracking": (
        *("status.observedGeneration", "status.conditions[*].observedGeneration"),
    ),
    "ResourceHealthStatus": _of_statuses("allocatedResourcesStatus"),
}
"""Of pods alone, beside what their spec has a gate for."""
_BOTH_OF_PODS: Final = {
    "DynamicResourceAllocation": ("status.resourceClaimStatuses",),
    "InPlacePodVerticalScaling": _of_statuses("resources", "allocatedResources"),
    "RecursiveReadOnlyMounts": _of_statuses("volumeMounts"),
    "SupplementalGroupsPolicy": _of_statuses("user"),
}
"""What is in the status of a pod with the same gate as in its spec."""
_TERMINATING: Final = {"DeploymentReplicaSetTerminatingReplicas": ("status.terminatingReplicas",)}

_JOB: Final = {"JobManagedBy": ("spec.managedBy",), "JobSuccessPolicy": ("spec.successPolicy",)}

_POD_PREFIXES: Final[Mapping[str, str]] = {
    "v1/Pod": "",
    **{
        f"{kind.group}/v1/{kind.kind}".lstrip("/"): ".".join((*path, ""))
        for kind, path in POD_TEMPLATES.items()
    },
}
"""What the path of a pod begins with, by kind."""


def _below(prefix: str, fields: Mapping[str, Iterable[str]]) -> dict[str, tuple[str, ...]]:
    return {gate: tuple(f"{prefix}{path}" for path in paths) for gate, paths in fields.items()}


def _claims(kind: str, exactly: str) -> Iterator[tuple[str, Mapping[str, tuple[str, ...]]]]:
    requests, results = "spec.devices.requests[*].", "status.allocation.devices.results[*]."
    fields = {
        "DRAAdminAccess": (f"{requests}{exactly}adminAccess",),
        "DRAConsumableCapacity": (
            "spec.devices.constraints[*].distinctAttribute",
            f"{requests}{exactly}capacity",
            f"{requests}firstAvailable[*].capacity",
        ),
        "DRADeviceTaints": (
            f"{requests}{exactly}tolerations",
            f"{requests}firstAvailable[*].tolerations",
        ),
        "DRAPrioritizedList": (f"{requests}firstAvailable",),
    }
    of_status = {
        "DRAAdminAccess": (f"{results}adminAccess",),
        "DRAConsumableCapacity": (
            f"{results}shareID",
            f"{results}consumedCapacity",
            "status.devices[*].shareID",
        ),
        "DRADeviceBindingConditions": (
            f"{results}bindingConditions",
            f"{results}bindingFailureConditions",
            "status.allocation.allocationTimestamp",
        ),
        "DRAResourceClaimDeviceStatus": ("status.devices",),
    }
    yield f"{kind}Template", _below("spec.", fields)
    gates = {**fields, **of_status}
    yield kind, {gate: (*fields.get(gate, ()), *of_status.get(gate, ())) for gate in gates}


def _slices(basic: str, *policies: str) -> Mapping[str, tuple[str, ...]]:
    """Return the ways into ResourceSlices; `basic` leads to the properties of a device, and there
    are `policies` unless a capacity is no more than an amount."""
    device = f"spec.devices[*].{basic}"
    binding = tuple(
        device + field for field in ("bindingConditions", "bindingFailureConditions", "bindsToNode")
    )
    return {
        "DRAConsumableCapacity": (
            f"{device}allowMultipleAllocations",
            *(f"{device}{policy}" for policy in policies),
        ),
        "DRADeviceBindingConditions": binding,
        "DRAResourceClaimDeviceStatus": binding,
        "DRADeviceTaints": (f"{device}taints",),
        "DRAPartitionableDevices": (
            "spec.sharedCounters",
            "spec.perDeviceNodeSelection",
            *(
                device + field
                for field in ("consumesCounters", "nodeName", "nodeSelector", "allNodes")
            ),
        ),
    }


_POLICY: Final = "capacity{*}.requestPolicy"
_EXTENDED_RESOURCES: Final = {"DRAExtendedResource": ("spec.extendedResourceName",)}

_FIELDS: Final[Mapping[str, Mapping[str, tuple[str, ...]]]] = {
    **{kind: _below(prefix, _POD) for kind, prefix in _POD_PREFIXES.items()},
    "v1/Pod": {
        **_POD,
        **_POD_STATUS,
        **{gate: (*_POD[gate], *paths) for gate, paths in _BOTH_OF_PODS.items()},
    },
    "apps/v1/Deployment": {**_below("spec.template.", _POD), **_TERMINATING},
    "apps/v1/ReplicaSet": {**_below("spec.template.", _POD), **_TERMINATING},
    "batch/v1/CronJob": _below("spec.jobTemplate.spec.template.", _POD),
    "batch/v1/Job": {**_below("spec.template.", _POD), **_JOB},
    "apiextensions.k8s.io/v1/CustomResourceDefinition": {
        "CustomResourceFieldSelectors": ("spec.versions[*].selectableFields",)
    },
    "v1/Node": {
        "NodeDeclaredFeatures": ("status.declaredFeatures",),
        "RecursiveReadOnlyMounts": ("status.runtimeHandlers",),
        "SupplementalGroupsPolicy": ("status.features",),
    },
    "v1/Service": {"ServiceTrafficDistribution": ("spec.trafficDistribution",)},
    "v1/PersistentVolume": {"VolumeAttributesClass": ("spec.volumeAttributesClassName",)},
    "v1/PersistentVolumeClaim": {
        "RecoverVolumeExpansionFailure": (
            *("status.allocatedResources", "status.allocatedResourceStatuses"),
        ),
        "VolumeAttributesClass": (
            "spec.volumeAttributesClassName",
            *("status.currentVolumeAttributesClassName", "status.modifyVolumeStatus"),
        ),
    },
    "autoscaling/v2/HorizontalPodAutoscaler": {
        "HPAConfigurableTolerance": (
            "spec.behavior.scaleUp.tolerance",
            "spec.behavior.scaleDown.tolerance",
        )
    },
    **dict(_claims("resource.k8s.io/v1/ResourceClaim", "exactly.")),
    **dict(_claims("resource.k8s.io/v1alpha3/ResourceClaim", "")),
    **dict(_claims("resource.k8s.io/v1beta1/ResourceClaim", "")),
    **dict(_claims("resource.k8s.io/v1beta2/ResourceClaim", "exactly.")),
    "resource.k8s.io/v1/DeviceClass": _EXTENDED_RESOURCES,
    "resource.k8s.io/v1beta1/DeviceClass": _EXTENDED_RESOURCES,
    "resource.k8s.io/v1beta2/DeviceClass": _EXTENDED_RESOURCES,
    "resource.k8s.io/v1/ResourceSlice": _slices("", _POLICY),
    "resource.k8s.io/v1alpha3/ResourceSlice": _slices("basic."),
    "resource.k8s.io/v1beta1/ResourceSlice": _slices("basic.", _POLICY),
    "resource.k8s.io/v1beta2/ResourceSlice": _slices("", _POLICY),
    "storage.k8s.io/v1/CSIDriver": {
        "CSIServiceAccountTokenSecrets": ("spec.serviceAccountTokenInSecrets",),
        "MutableCSINodeAllocatableCount": ("spec.nodeAllocatableUpdatePeriodSeconds",),
        "SELinuxMountReadWriteOncePod": ("spec.seLinuxMount",),
    },
    "storage.k8s.io/v1/VolumeAttachment": {
        "MutableCSINodeAllocatableCount": (
            "status.attachError.errorCode",
            "status.detachError.errorCode",
        )
    },
    "discovery.k8s.io/v1/EndpointSlice": {
        "PreferSameTrafficDistribution": ("endpoints[*].hints.forNodes",)
    },
}
"""By kind and gate."""

_DROPPED_SINCE: Final = {
    "ContainerRestartRules": "1.34",
    "DRAAdminAccess": "1.32",
    "tolerations": "1.35",
    "v1/PersistentVolume": "1.31",
}
"""Gates of fields that are older than the gate; fields of claims that were kept while their gate
was off; kinds of which nothing was dropped."""

_DROPPED_UNTIL: Final = {"allocationTimestamp": "1.35"}
"""Fields that later releases leave, whatever their gate says."""

_GONE: Final = {"delete": True}


def _is_only_of_new(kind: str, path: str) -> bool:
    """Return whether changed objects are not looked at."""
    if kind == "batch/v1/Job" and path == "spec.managedBy":
        return True
    has_free_status = kind == "v1/Node" or (kind == "v1/Pod" and not is_since("1.33"))
    return has_free_status and path.startswith("status.")


_LOST: Final = frozenset({("v1/Node", "status.runtimeHandlers")})
"""Fields that each update takes which leaves the status alone, whatever the object has had."""


def _action(field: str) -> Rule:
    """Return what a rule does to a field: before 1.35, a copy lost its distinct attribute."""
    if field == "distinctAttribute" and not is_since("1.35"):
        return {"fn": DROP_NOTHING}
    return PARTLY_DROPPED.get(field, _GONE)


def _is_dropped(name: str) -> bool:
    is_left = name in _DROPPED_UNTIL and is_since(_DROPPED_UNTIL[name])
    return is_since(_DROPPED_SINCE.get(name, "1.30")) and not is_left


ON_BY_DEFAULT: Final = frozenset(gate for fields in _FIELDS.values() for gate in fields)
"""Gates that are on by default in the newest release, or gone because they are."""


def gated_rules(kind: str) -> tuple[Rule, ...]:
    """Rules for new objects of a kind (`apps/v1/Deployment`), as the data pack has them."""
    return tuple(
        {
            "path": path,
            **_action(path.rpartition(".")[2]),
            "gate": f"!{gate}",
            **({"new": True} if _is_only_of_new(kind, path) else {}),
            **({"lost": True} if (kind, path) in _LOST else {}),
        }
        for gate, paths in _FIELDS.get(kind, {}).items()
        for path in paths
        if all(map(_is_dropped, (kind, gate, path.rpartition(".")[2])))
    )
