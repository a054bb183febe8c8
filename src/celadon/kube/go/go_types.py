"""How Go's JSON decoder names the types of fields, which shows in its complaints.

The schemas do not know that `failurePolicy` is of type `v1.FailurePolicyType`, nor that the field
`scope` of a rule comes from a struct embedded in another: both are listed here, as in
k8s.io/api `*/v*/types.go`. The list of named types is not complete: it has the admission kinds and
the fields of common kinds.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

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

NAMED: Final[Mapping[str, Mapping[str, str]]] = {
    "ValidatingAdmissionPolicySpec": {"failurePolicy": "FailurePolicyType"},
    "MutatingAdmissionPolicySpec": {
        "failurePolicy": "FailurePolicyType",
        "reinvocationPolicy": "ReinvocationPolicyType",
    },
    "ValidatingWebhook": {
        "failurePolicy": "FailurePolicyType",
        "matchPolicy": "MatchPolicyType",
        "sideEffects": "SideEffectClass",
    },
    "MutatingWebhook": {
        "failurePolicy": "FailurePolicyType",
        "matchPolicy": "MatchPolicyType",
        "sideEffects": "SideEffectClass",
        "reinvocationPolicy": "ReinvocationPolicyType",
    },
    "MatchResources": {"matchPolicy": "MatchPolicyType"},
    "ParamRef": {"parameterNotFoundAction": "ParameterNotFoundActionType"},
    "ValidatingAdmissionPolicyBindingSpec": {"validationActions": "ValidationAction"},
    "Validation": {"reason": "StatusReason"},
    "Mutation": {"patchType": "PatchType"},
    "NamedRuleWithOperations": {"operations": "OperationType", "scope": "ScopeType"},
    "RuleWithOperations": {"operations": "OperationType", "scope": "ScopeType"},
    "LabelSelectorRequirement": {"operator": "LabelSelectorOperator"},
    "ObjectMeta": {"uid": "UID"},
    "OwnerReference": {"uid": "UID"},
    "Condition": {"status": "ConditionStatus"},
    "Container": {
        "imagePullPolicy": "PullPolicy",
        "terminationMessagePolicy": "TerminationMessagePolicy",
    },
    "ContainerPort": {"protocol": "Protocol"},
    "PodSpec": {"dnsPolicy": "DNSPolicy", "restartPolicy": "RestartPolicy"},
    "ServicePort": {"protocol": "Protocol"},
    "ServiceSpec": {
        "type": "ServiceType",
        "sessionAffinity": "ServiceAffinity",
        "externalTrafficPolicy": "ServiceExternalTrafficPolicy",
        "internalTrafficPolicy": "ServiceInternalTrafficPolicy",
        "ipFamilies": "IPFamily",
        "ipFamilyPolicy": "IPFamilyPolicy",
    },
    "Secret": {"type": "SecretType"},
    "PersistentVolumeClaimSpec": {
        "accessModes": "PersistentVolumeAccessMode",
        "volumeMode": "PersistentVolumeMode",
    },
    "ResourceRequirements": {"limits": "ResourceList", "requests": "ResourceList"},
    "Toleration": {"effect": "TaintEffect", "operator": "TolerationOperator"},
    "DeploymentStrategy": {"type": "DeploymentStrategyType"},
    "AdmissionRequest": {"uid": "UID", "operation": "Operation"},
    "AdmissionResponse": {"uid": "UID", "patchType": "PatchType"},
}
"""Struct, field: the name of the field's type, or of its items' type, where it has one."""

_PACKAGES: Final = {
    "StatusReason": "v1",
    "UID": "types",
    **dict.fromkeys(("OperationType", "ReinvocationPolicyType", "ScopeType"), "v1"),
}
"""Types of another package than the struct's; of later versions of the API, some are aliases."""


def _package(component: str) -> str:
    """`io.k8s.api.core.v1.Pod` is `v1.Pod` in Go's words."""
    return component.split(".")[-2]


def _reference(component: str) -> str:
    return ".".join(component.split(".")[-2:])


def owner_path(owner: str, field: str) -> str:
    """The field with the embedded structs that the decoder names before it."""
    struct = owner.rpartition(".")[2]
    embedded, own_fields = MOSTLY_EMBEDDED.get(struct, ("", frozenset()))
    if embedded and field not in own_fields:
        return embedded + field
    return EMBEDDED.get(struct, {}).get(field, "") + field


def go_type(node: object, owner: str, field: str) -> str:
    """The type of a node of the schema pack that sits in `field` of the component `owner`."""
    named = NAMED.get(owner.rpartition(".")[2], {}).get(field)
    if named is not None:
        named = f"{_PACKAGES.get(named, _package(owner))}.{named}"
    return _spelled(node, named)


def _spelled(node: Any, named: str | None) -> str:  # noqa: ANN401 - any JSON
    if isinstance(node, str):
        return named if named is not None and node == "s" else _SCALARS[node]
    if "items" in node:
        return "[]" + _spelled(node["items"], named)
    if "values" in node:
        if named is not None and named.endswith("List"):
            return named
        return "map[string]" + _spelled(node["values"], named)
    if "ref" in node:
        return _reference(node["ref"])
    return _spelled(node["type"], named)
