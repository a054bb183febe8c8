"""Validating admission policies and their bindings as frozen data.

The field names are those of the `admissionregistration.k8s.io` API in snake case, the same for
all its versions. Closed sets (`failure_policy`, `match_policy`, ...) stay text: the API decodes
any text and refuses it later, with its value in the message, so a decoded object may hold
anything until `validation` has seen it. None is "absent"; an empty text is a given empty text.

Label selectors and metadata stay the JSON they are; `celadon.kube` reads them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

GROUP: Final = "admissionregistration.k8s.io"
VERSIONS: Final = ("v1", "v1beta1", "v1alpha1")
POLICY_KIND: Final = "ValidatingAdmissionPolicy"
BINDING_KIND: Final = "ValidatingAdmissionPolicyBinding"
POLICY_RESOURCE: Final = "validatingadmissionpolicies"
BINDING_RESOURCE: Final = "validatingadmissionpolicybindings"

FAIL: Final = "Fail"
IGNORE: Final = "Ignore"
EXACT: Final = "Exact"
EQUIVALENT: Final = "Equivalent"
DENY: Final = "Deny"
WARN: Final = "Warn"
AUDIT: Final = "Audit"
ALLOW: Final = "Allow"

JsonObject = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class ParamKind:
    api_version: str = ""
    kind: str = ""


@dataclass(frozen=True, slots=True)
class ParamRef:
    """`name` and `namespace` are empty when absent: the API makes no difference."""

    name: str = ""
    namespace: str = ""
    selector: JsonObject | None = None
    parameter_not_found_action: str | None = None


@dataclass(frozen=True, slots=True)
class Rule:
    """A rule with operations; `resource_names` only in policies and bindings."""

    operations: tuple[str, ...] = ()
    api_groups: tuple[str, ...] = ()
    api_versions: tuple[str, ...] = ()
    resources: tuple[str, ...] = ()
    scope: str | None = None
    resource_names: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class MatchResources:
    namespace_selector: JsonObject | None = None
    object_selector: JsonObject | None = None
    resource_rules: tuple[Rule, ...] = ()
    exclude_resource_rules: tuple[Rule, ...] = ()
    match_policy: str | None = None


@dataclass(frozen=True, slots=True)
class MatchCondition:
    name: str = ""
    expression: str = ""


@dataclass(frozen=True, slots=True)
class Variable:
    name: str = ""
    expression: str = ""


@dataclass(frozen=True, slots=True)
class Validation:
    expression: str = ""
    message: str = ""
    reason: str | None = None
    message_expression: str = ""


@dataclass(frozen=True, slots=True)
class AuditAnnotation:
    key: str = ""
    value_expression: str = ""


@dataclass(frozen=True, slots=True)
class PolicySpec:
    param_kind: ParamKind | None = None
    match_constraints: MatchResources | None = None
    validations: tuple[Validation, ...] = ()
    failure_policy: str | None = None
    audit_annotations: tuple[AuditAnnotation, ...] = ()
    match_conditions: tuple[MatchCondition, ...] = ()
    variables: tuple[Variable, ...] = ()


@dataclass(frozen=True, slots=True)
class ValidatingAdmissionPolicy:
    metadata: JsonObject
    spec: PolicySpec = PolicySpec()
    status: JsonObject = field(default_factory=dict)

    @property
    def name(self) -> str:
        return str(self.metadata.get("name") or "")


@dataclass(frozen=True, slots=True)
class BindingSpec:
    policy_name: str = ""
    param_ref: ParamRef | None = None
    match_resources: MatchResources | None = None
    validation_actions: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ValidatingAdmissionPolicyBinding:
    metadata: JsonObject
    spec: BindingSpec = BindingSpec()

    @property
    def name(self) -> str:
        return str(self.metadata.get("name") or "")
