"""The names that Go's JSON decoder has for the types of fields, as its complaints show them.

The schemas do not know that `failurePolicy` is of type `v1.FailurePolicyType`, nor that the field
`scope` of a rule comes from a struct embedded in another: both are listed here, as in
k8s.io/api `*/v*/types.go`.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import Any, Final

from celadon.kube.releases import is_since
from celadon.kube.well_known_values import PROBE_HANDLERS

_SCALARS: Final = {
    "s": "string",
    "y": "[]uint8",
    "byte": "uint8",
    "i": "int32",
    "l": "int64",
    "d": "float64",
    "b": "bool",
}

_RULE: Final = "RuleWithOperations.Rule."
_RULE_FIELDS: Final = ("apiGroups", "apiVersions", "resources", "scope")
_BY_LOCAL_REFERENCE: Final = (
    "SecretKeySelector",
    "SecretEnvSource",
    "SecretProjection",
    "ConfigMapKeySelector",
    "ConfigMapEnvSource",
    "ConfigMapProjection",
    "ConfigMapVolumeSource",
)
EMBEDDED: Final[Mapping[str, Mapping[str, str]]] = {
    "NamedRuleWithOperations": {
        "operations": "RuleWithOperations.",
        **dict.fromkeys(_RULE_FIELDS, _RULE),
    },
    "RuleWithOperations": dict.fromkeys(_RULE_FIELDS, "Rule."),
    "Probe": dict.fromkeys(PROBE_HANDLERS, "ProbeHandler."),
    "IngressRule": {"http": "IngressRuleValue."},
    **{struct: {"name": "LocalObjectReference."} for struct in _BY_LOCAL_REFERENCE},
    **{
        f"Device{item}Configuration": {"opaque": "DeviceConfiguration."}
        for item in ("Allocation", "Claim", "Class")
    },
}
"""Struct, field: the embedded structs on the way to it."""

MOSTLY_EMBEDDED: Final[Mapping[str, tuple[str, frozenset[str]]]] = {
    "Volume": ("VolumeSource.", frozenset({"name"})),
    "EphemeralContainer": ("EphemeralContainerCommon.", frozenset({"targetContainerName"})),
    "PersistentVolumeSpec": (
        "PersistentVolumeSource.",
        frozenset(
            {
                "accessModes",
                "capacity",
                "claimRef",
                "mountOptions",
                "nodeAffinity",
                "persistentVolumeReclaimPolicy",
                "storageClassName",
                "volumeAttributesClassName",
                "volumeMode",
            }
        ),
    ),
}
"""Struct: the embedded struct that holds all fields but these."""

NAMED: Final[Mapping[str, str]] = {
    "APIResource": "verbs []Verbs",
    "APIServiceCondition": "status ConditionStatus; type APIServiceConditionType",
    "AdmissionRequest": "operation Operation; uid types.UID",
    "AdmissionResponse": "patchType PatchType; uid types.UID",
    "AppArmorProfile": "type AppArmorProfileType",
    "AttachedVolume": "name UniqueVolumeName",
    "AzureDiskVolumeSource": "cachingMode AzureDataDiskCachingMode; kind AzureDataDiskKind",
    "BoundObjectReference": "uid types.UID",
    "CSIDriverSpec": "fsGroupPolicy FSGroupPolicy; volumeLifecycleModes VolumeLifecycleMode",
    "Capabilities": "add Capability; drop Capability",
    "CertificateSigningRequestCondition": "status v1.ConditionStatus; type RequestConditionType",
    "CertificateSigningRequestSpec": "extra []ExtraValue; usages KeyUsage",
    "ComponentCondition": "status ConditionStatus; type ComponentConditionType",
    "Condition": "status ConditionStatus",
    "ConfigMapNodeConfigSource": "uid types.UID",
    "Container": """imagePullPolicy PullPolicy; restartPolicy ContainerRestartPolicy;
        terminationMessagePolicy TerminationMessagePolicy""",
    "ContainerPort": "protocol Protocol",
    "ContainerResizePolicy": "resourceName ResourceName; restartPolicy ResourceResizeRestartPolicy",
    "ContainerResourceMetricSource": "name v1.ResourceName",
    "ContainerResourceMetricStatus": "name v1.ResourceName",
    "ContainerRestartRule": "action ContainerRestartRuleAction",
    "ContainerRestartRuleOnExitCodes": "operator ContainerRestartRuleOnExitCodesOperator",
    "ContainerStatus": "allocatedResources {}ResourceList; stopSignal Signal",
    "ConversionRequest": "uid types.UID",
    "ConversionResponse": "uid types.UID",
    "CronJobSpec": "concurrencyPolicy ConcurrencyPolicy",
    "CustomResourceConversion": "strategy ConversionStrategyType",
    "CustomResourceDefinitionCondition": """status ConditionStatus;
        type CustomResourceDefinitionConditionType""",
    "CustomResourceDefinitionSpec": "scope ResourceScope",
    "DaemonSetCondition": "status v1.ConditionStatus; type DaemonSetConditionType",
    "DaemonSetUpdateStrategy": "type DaemonSetUpdateStrategyType",
    "DeleteOptions": "propagationPolicy DeletionPropagation",
    "DeploymentCondition": "status v1.ConditionStatus; type DeploymentConditionType",
    "DeploymentStrategy": "type DeploymentStrategyType",
    "DeviceAllocationConfiguration": "source AllocationConfigSource",
    "DeviceConstraint": "distinctAttribute FullyQualifiedName; matchAttribute FullyQualifiedName",
    "DeviceRequest": "allocationMode DeviceAllocationMode",
    "DeviceRequestAllocationResult": "shareID types.UID",
    "DeviceSubRequest": "allocationMode DeviceAllocationMode",
    "DeviceTaint": "effect DeviceTaintEffect",
    "DeviceToleration": "effect DeviceTaintEffect; operator DeviceTolerationOperator",
    "EmptyDirVolumeSource": "medium StorageMedium",
    "EndpointPort": "protocol v1.Protocol",
    "EndpointSlice": "addressType AddressType",
    "EphemeralContainer": """imagePullPolicy PullPolicy; restartPolicy ContainerRestartPolicy;
        terminationMessagePolicy TerminationMessagePolicy""",
    "ExactDeviceRequest": "allocationMode DeviceAllocationMode",
    "FieldSelectorRequirement": "operator FieldSelectorOperator",
    "FlowDistinguisherMethod": "type FlowDistinguisherMethodType",
    "FlowSchemaCondition": "status ConditionStatus; type FlowSchemaConditionType",
    "HPAScalingPolicy": "type HPAScalingPolicyType",
    "HPAScalingRules": "selectPolicy ScalingPolicySelect",
    "HTTPGetAction": "scheme URIScheme",
    "HTTPIngressPath": "pathType PathType",
    "HorizontalPodAutoscalerCondition": """status v1.ConditionStatus;
        type HorizontalPodAutoscalerConditionType""",
    "HostPathVolumeSource": "type HostPathType",
    "ImageVolumeSource": "pullPolicy PullPolicy",
    "IngressPortStatus": "protocol v1.Protocol",
    "JSONSchemaProps": """$schema JSONSchemaURL; definitions {}JSONSchemaDefinitions;
        dependencies {}JSONSchemaDependencies; x-kubernetes-validations []ValidationRules""",
    "JobCondition": "status v1.ConditionStatus; type JobConditionType",
    "JobSpec": "completionMode CompletionMode; podReplacementPolicy PodReplacementPolicy",
    "LabelSelectorRequirement": "operator LabelSelectorOperator",
    "LeaseCandidateSpec": "strategy v1.CoordinatedLeaseStrategy",
    "LeaseSpec": "strategy v1.CoordinatedLeaseStrategy",
    "Lifecycle": "stopSignal Signal",
    "LimitRangeItem": """default {}ResourceList; defaultRequest {}ResourceList; max {}ResourceList;
        maxLimitRequestRatio {}ResourceList; min {}ResourceList; type LimitType""",
    "LimitResponse": "type LimitResponseType",
    "LoadBalancerIngress": "ipMode LoadBalancerIPMode",
    "ManagedFieldsEntry": "operation ManagedFieldsOperationType",
    "MatchResources": "matchPolicy MatchPolicyType",
    "MetricSpec": "type MetricSourceType",
    "MetricStatus": "type MetricSourceType",
    "MetricTarget": "type MetricTargetType",
    "MigrationCondition": "status v1.ConditionStatus; type MigrationConditionType",
    "ModifyVolumeStatus": "status PersistentVolumeClaimModifyVolumeStatus",
    "MutatingAdmissionPolicySpec": """failurePolicy FailurePolicyType;
        reinvocationPolicy ReinvocationPolicyType""",
    "MutatingWebhook": """failurePolicy FailurePolicyType; matchPolicy MatchPolicyType;
        reinvocationPolicy ReinvocationPolicyType; sideEffects SideEffectClass""",
    "Mutation": "patchType PatchType",
    "NamedRuleWithOperations": "operations OperationType; scope ScopeType",
    "NamespaceCondition": "status ConditionStatus; type NamespaceConditionType",
    "NamespaceSpec": "finalizers FinalizerName",
    "NamespaceStatus": "phase NamespacePhase",
    "NetworkPolicyPort": "protocol v1.Protocol",
    "NetworkPolicySpec": "policyTypes PolicyType",
    "NodeAddress": "type NodeAddressType",
    "NodeAllocatableResourceMapping": "capacityKey QualifiedName",
    "NodeCondition": "status ConditionStatus; type NodeConditionType",
    "NodeSelectorRequirement": "operator NodeSelectorOperator",
    "NodeStatus": """allocatable {}ResourceList; capacity {}ResourceList; phase NodePhase;
        volumesInUse UniqueVolumeName""",
    "ObjectMeta": "uid types.UID",
    "ObjectReference": "uid types.UID",
    "Overhead": "podFixed {}v1.ResourceList",
    "OwnerReference": "uid types.UID",
    "ParamRef": "parameterNotFoundAction ParameterNotFoundActionType",
    "PersistentVolumeClaimCondition": """status ConditionStatus;
        type PersistentVolumeClaimConditionType""",
    "PersistentVolumeClaimSpec": """accessModes PersistentVolumeAccessMode;
        volumeMode PersistentVolumeMode""",
    "PersistentVolumeClaimStatus": """accessModes PersistentVolumeAccessMode;
        allocatedResourceStatuses ClaimResourceStatus; allocatedResources {}ResourceList;
        capacity {}ResourceList; phase PersistentVolumeClaimPhase""",
    "PersistentVolumeSpec": """accessModes PersistentVolumeAccessMode; capacity {}ResourceList;
        persistentVolumeReclaimPolicy PersistentVolumeReclaimPolicy;
        volumeMode PersistentVolumeMode""",
    "PersistentVolumeStatus": "phase PersistentVolumePhase",
    "PodCertificateRequestSpec": """nodeName types.NodeName; nodeUID types.UID; podUID types.UID;
        serviceAccountUID types.UID""",
    "PodCondition": "status ConditionStatus; type PodConditionType",
    "PodDisruptionBudgetSpec": "unhealthyPodEvictionPolicy UnhealthyPodEvictionPolicyType",
    "PodFailurePolicyOnExitCodesRequirement": "operator PodFailurePolicyOnExitCodesOperator",
    "PodFailurePolicyOnPodConditionsPattern": "status v1.ConditionStatus; type v1.PodConditionType",
    "PodFailurePolicyRule": "action PodFailurePolicyAction",
    "PodOS": "name OSName",
    "PodReadinessGate": "conditionType PodConditionType",
    "PodSecurityContext": """fsGroupChangePolicy PodFSGroupChangePolicy; seLinuxChangePolicy
        PodSELinuxChangePolicy; supplementalGroupsPolicy SupplementalGroupsPolicy""",
    "PodSpec": """dnsPolicy DNSPolicy; overhead {}ResourceList; preemptionPolicy PreemptionPolicy;
        restartPolicy RestartPolicy""",
    "PodStatus": """allocatedResources {}ResourceList; phase PodPhase; qosClass PodQOSClass; resize
        PodResizeStatus""",
    "PortStatus": "protocol Protocol",
    "Preconditions": "uid types.UID",
    "PriorityClass": "preemptionPolicy v1.PreemptionPolicy",
    "PriorityLevelConfigurationCondition": """status ConditionStatus;
        type PriorityLevelConfigurationConditionType""",
    "PriorityLevelConfigurationSpec": "type PriorityLevelEnablement",
    "ReplicaSetCondition": "status v1.ConditionStatus; type ReplicaSetConditionType",
    "ReplicationControllerCondition": """status ConditionStatus;
        type ReplicationControllerConditionType""",
    "ResourceClaimConsumerReference": "uid types.UID",
    "ResourceHealth": "health ResourceHealthStatus; resourceID ResourceID",
    "ResourceMetricSource": "name v1.ResourceName",
    "ResourceMetricStatus": "name v1.ResourceName",
    "ResourceQuotaSpec": "hard {}ResourceList; scopes ResourceQuotaScope",
    "ResourceQuotaStatus": "hard {}ResourceList; used {}ResourceList",
    "ResourceRequirements": "limits {}ResourceList; requests {}ResourceList",
    "ResourceStatus": "name ResourceName",
    "RuleWithOperations": "operations OperationType; scope ScopeType",
    "ScopedResourceSelectorRequirement": """operator ScopeSelectorOperator;
        scopeName ResourceQuotaScope""",
    "SeccompProfile": "type SeccompProfileType",
    "Secret": "type SecretType",
    "SecurityContext": "procMount ProcMountType",
    "ServicePort": "protocol Protocol",
    "ServiceSpec": """externalTrafficPolicy ServiceExternalTrafficPolicy; internalTrafficPolicy
        ServiceInternalTrafficPolicy; ipFamilies IPFamily; ipFamilyPolicy IPFamilyPolicy;
        sessionAffinity ServiceAffinity; type ServiceType""",
    "StatefulSetCondition": "status v1.ConditionStatus; type StatefulSetConditionType",
    "StatefulSetPersistentVolumeClaimRetentionPolicy": """
        whenDeleted PersistentVolumeClaimRetentionPolicyType;
        whenScaled PersistentVolumeClaimRetentionPolicyType""",
    "StatefulSetSpec": "podManagementPolicy PodManagementPolicyType",
    "StatefulSetUpdateStrategy": "type StatefulSetUpdateStrategyType",
    "Status": "reason StatusReason",
    "StatusCause": "reason CauseType",
    "StatusDetails": "uid types.UID",
    "StorageClass": """reclaimPolicy v1.PersistentVolumeReclaimPolicy;
        volumeBindingMode VolumeBindingMode""",
    "StorageVersionCondition": "status ConditionStatus; type StorageVersionConditionType",
    "SubjectAccessReviewSpec": "extra []ExtraValue",
    "Taint": "effect TaintEffect",
    "Toleration": "effect TaintEffect; operator TolerationOperator",
    "TopologySpreadConstraint": """nodeAffinityPolicy NodeInclusionPolicy;
        nodeTaintsPolicy NodeInclusionPolicy; whenUnsatisfiable UnsatisfiableConstraintAction""",
    "UncountedTerminatedPods": "failed types.UID; succeeded types.UID",
    "UserInfo": "extra []ExtraValue",
    "ValidatingAdmissionPolicyBindingSpec": "validationActions ValidationAction",
    "ValidatingAdmissionPolicySpec": "failurePolicy FailurePolicyType",
    "ValidatingWebhook": """failurePolicy FailurePolicyType; matchPolicy MatchPolicyType;
        sideEffects SideEffectClass""",
    "Validation": "reason v1.StatusReason",
    "ValidationRule": "reason FieldValueErrorReason",
    "VolumeMount": "mountPropagation MountPropagationMode; recursiveReadOnly RecursiveReadOnlyMode",
    "VolumeMountStatus": "recursiveReadOnly RecursiveReadOnlyMode",
    "VolumeResourceRequirements": "limits {}ResourceList; requests {}ResourceList",
}
"""Struct: its fields of types that have a name, and the names: that of the field's own type or of
its items' or values', of the map with `{}` before it, of the list with `[]`; those of another
package say so."""

KEYS: Final[Mapping[str, str]] = {
    "BasicDevice": """attributes QualifiedName; capacity QualifiedName;
        nodeAllocatableResourceMappings v1.ResourceName""",
    "CapacityRequirements": "requests QualifiedName",
    "Device": """attributes QualifiedName; capacity QualifiedName;
        nodeAllocatableResourceMappings v1.ResourceName""",
    "DeviceRequestAllocationResult": "consumedCapacity QualifiedName",
    "NodeAllocatableResourceClaimStatus": "resources ResourceName",
    "PersistentVolumeClaimStatus": "allocatedResourceStatuses ResourceName",
}
"""Struct: its maps whose keys are of a type with a name."""

_MARKS: Final = ("{}", "[]")
_FLOW_SUBJECT: Final = "io.k8s.api.flowcontrol."
"""Of the structs called Subject, only this has a kind of a type with a name."""
_PACKAGES: Final = dict.fromkeys(("OperationType", "ReinvocationPolicyType", "ScopeType"), "v1")
"""Types that are aliases of those of v1 in other versions of the API."""


@functools.cache
def _fields(text: str) -> Mapping[str, str]:
    return dict(text.split() for text in text.split(";")) if text else {}


def _package(component: str) -> str:
    """`io.k8s.api.core.v1.Pod` is `v1.Pod` in Go's words."""
    return component.split(".")[-2]


def _reference(component: str) -> str:
    return ".".join(component.split(".")[-2:])


def owner_path(owner: str, field: str) -> str:
    """Return the field with the embedded structs that the decoder names before it since 1.35
    (sigs.k8s.io/json of Go 1.24)."""
    if not is_since("1.35"):
        return field
    outer = embedded_struct(owner.rpartition(".")[2], field)
    return f"{outer}.{field}" if outer else field


def embedded_struct(struct: str, field: str) -> str:
    """Return the embedded struct in which a struct has a field; empty for one that it has by
    itself."""
    embedded, own_fields = MOSTLY_EMBEDDED.get(struct, ("", frozenset()))
    if embedded and field not in own_fields:
        return embedded.removesuffix(".")
    return EMBEDDED.get(struct, {}).get(field, "").removesuffix(".")


def type_name(struct: str, field: str) -> str:
    """Return the name in `NAMED`; empty for a type without one."""
    return _fields(NAMED.get(struct, "")).get(field, "")


def go_type(node: object, owner: str, field: str) -> str:
    """Return the type of a node of the schema pack that sits in `field` of the component
    `owner`."""
    struct = owner.rpartition(".")[2]
    named, key = (_fields(table.get(struct, "")).get(field, "") for table in (NAMED, KEYS))
    if owner.startswith(_FLOW_SUBJECT) and field == "kind":
        named = "SubjectKind"
    return _spelled(node, _placed(named, owner), _placed(key, owner) or "string")


def _placed(named: str, owner: str) -> str:
    """Return the name of a type with its package, and what was before it."""
    mark = named[:2] if named[:2] in _MARKS else ""
    name = named.removeprefix(mark)
    if not name or "." in name:
        return named
    return f"{mark}{_PACKAGES.get(name, _package(owner))}.{name}"


def _spelled(node: Any, named: str, key: str) -> str:  # noqa: ANN401 - any JSON
    is_marked = named[:2] in _MARKS
    if isinstance(node, str):
        return named if named and not is_marked and node == "s" else _SCALARS[node]
    if "items" in node:
        if named.startswith("[]"):
            return named[2:]
        return "[]" + _spelled(node["items"], named, key)
    if "values" in node:
        if named.startswith("{}"):
            return named[2:]
        return f"map[{key}]" + _spelled(node["values"], named, "string")
    if "ref" in node:
        return _reference(node["ref"])
    return _spelled(node["type"], named, key)
