"""Admission policies, their bindings and webhook configurations as frozen data.

The field names are those of the `admissionregistration.k8s.io` API in snake case, the same for
all its versions. Closed sets (`failure_policy`, `match_policy`, ...) stay text: the API decodes
any text and refuses it later, with its value in the message, so a decoded object may hold
anything until `validation` has seen it. None is "absent"; an empty text is a given empty text.

Label selectors and metadata stay the JSON they are; `celadon.kube` reads them.
"""

from __future__ import annotations

from typing import Final

from celadon.kube import JsonObject
from celadon.records import dataclass, field

VERSIONS: Final = ("v1", "v1beta1", "v1alpha1")
POLICY_KIND: Final = "ValidatingAdmissionPolicy"
"""Policies that allow or deny."""
BINDING_KIND: Final = "ValidatingAdmissionPolicyBinding"
"""Where policies that allow or deny hold."""
MUTATING_POLICY_KIND: Final = "MutatingAdmissionPolicy"
"""Policies that change objects."""
MUTATING_BINDING_KIND: Final = "MutatingAdmissionPolicyBinding"
"""Where policies that change objects hold."""
VALIDATING_WEBHOOKS_KIND: Final = "ValidatingWebhookConfiguration"
MUTATING_WEBHOOKS_KIND: Final = "MutatingWebhookConfiguration"
POLICY_RESOURCE: Final = "validatingadmissionpolicies"
BINDING_RESOURCE: Final = "validatingadmissionpolicybindings"

FAIL: Final = "Fail"
IGNORE: Final = "Ignore"
EXACT: Final = "Exact"
EQUIVALENT: Final = "Equivalent"
DENY: Final = "Deny"
WARN: Final = "Warn"
"""The action of a binding that tells the client of what fails."""
AUDIT: Final = "Audit"
ALLOW: Final = "Allow"
APPLY_CONFIGURATION: Final = "ApplyConfiguration"
JSON_PATCH: Final = "JSONPatch"


@dataclass(frozen=True, slots=True)
class ParamKind:
    """Names the kind of params. `apiVersion` and `kind` of the params of a policy; not yet looked
    up."""

    api_version: str = ""
    kind: str = ""


@dataclass(frozen=True, slots=True)
class ParamRef:
    """Says which params a binding uses. `name` and `namespace` are empty when absent: the API makes
    no difference."""

    name: str = ""
    namespace: str = ""
    selector: JsonObject | None = None
    parameter_not_found_action: str | None = None


@dataclass(frozen=True, slots=True)
class Rule:
    """Matches resources and operations; `resource_names` are only in policies and bindings."""

    operations: tuple[str, ...] = ()
    api_groups: tuple[str, ...] = ()
    api_versions: tuple[str, ...] = ()
    resources: tuple[str, ...] = ()
    scope: str | None = None
    resource_names: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class MatchResources:
    """Says which requests: all of the rules and selectors must agree. None of a selector matches
    everything only after defaulting, which makes it `{}`."""

    namespace_selector: JsonObject | None = None
    object_selector: JsonObject | None = None
    resource_rules: tuple[Rule, ...] = ()
    exclude_resource_rules: tuple[Rule, ...] = ()
    match_policy: str | None = None


@dataclass(frozen=True, slots=True)
class MatchCondition:
    """A condition on requests that the rules match."""

    name: str = ""
    expression: str = ""


@dataclass(frozen=True, slots=True)
class Variable:
    """An expression that later ones read as `variables.<name>`."""

    name: str = ""
    expression: str = ""


@dataclass(frozen=True, slots=True)
class Validation:
    """Holds what must be true. `reason` is one of upstream's four, None for Invalid."""

    expression: str = ""
    message: str = ""
    reason: str | None = None
    message_expression: str = ""


@dataclass(frozen=True, slots=True)
class AuditAnnotation:
    """A value to publish under `<policy>/<key>`; null publishes nothing."""

    key: str = ""
    value_expression: str = ""


@dataclass(frozen=True, slots=True)
class PolicySpec:
    """Holds what a validating policy says. `failure_policy` is None only before defaulting."""

    param_kind: ParamKind | None = None
    match_constraints: MatchResources | None = None
    validations: tuple[Validation, ...] = ()
    failure_policy: str | None = None
    audit_annotations: tuple[AuditAnnotation, ...] = ()
    match_conditions: tuple[MatchCondition, ...] = ()
    variables: tuple[Variable, ...] = ()


@dataclass(frozen=True, slots=True)
class Registered:
    """Holds what all kinds of the group have."""

    metadata: JsonObject

    @property
    def name(self) -> str:
        """The name, empty if there is none."""
        return str(self.metadata.get("name") or "")


@dataclass(frozen=True, slots=True)
class ValidatingAdmissionPolicy(Registered):
    """Refuses, warns or records; `status` is as it was sent."""

    spec: PolicySpec = PolicySpec()
    status: JsonObject = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class BindingSpec:
    """Says where a policy applies, with which params, and what follows from a violation."""

    policy_name: str = ""
    param_ref: ParamRef | None = None
    match_resources: MatchResources | None = None
    validation_actions: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ValidatingAdmissionPolicyBinding(Registered):
    """Puts a validating policy to work."""

    spec: BindingSpec = BindingSpec()


@dataclass(frozen=True, slots=True)
class Mutation:
    """The expressions are None when their member is absent."""

    patch_type: str = ""
    apply_configuration: str | None = None
    json_patch: str | None = None


@dataclass(frozen=True, slots=True)
class MutatingPolicySpec:
    """Holds what a mutating policy says. `reinvocation_policy` is empty when absent: it has no
    default."""

    param_kind: ParamKind | None = None
    match_constraints: MatchResources | None = None
    variables: tuple[Variable, ...] = ()
    mutations: tuple[Mutation, ...] = ()
    failure_policy: str | None = None
    match_conditions: tuple[MatchCondition, ...] = ()
    reinvocation_policy: str = ""


@dataclass(frozen=True, slots=True)
class MutatingAdmissionPolicy(Registered):
    """Changes objects; decoded and validated here, not applied."""

    spec: MutatingPolicySpec = MutatingPolicySpec()


@dataclass(frozen=True, slots=True)
class MutatingAdmissionPolicyBinding(Registered):
    """Binds a mutating policy; its spec has no validation actions."""

    spec: BindingSpec = BindingSpec()


@dataclass(frozen=True, slots=True)
class ServiceReference:
    """The service that serves a webhook; `port` is 443 if absent."""

    namespace: str = ""
    name: str = ""
    path: str | None = None
    port: int | None = None


@dataclass(frozen=True, slots=True)
class WebhookClientConfig:
    """Says how a webhook is reached. `ca_bundle` is base64 text; what it holds is not looked at
    before a call."""

    url: str | None = None
    service: ServiceReference | None = None
    ca_bundle: str = ""


@dataclass(frozen=True, slots=True)
class Webhook:
    """A validating or a mutating one; only the latter has a `reinvocation_policy`."""

    name: str = ""
    client_config: WebhookClientConfig = WebhookClientConfig()
    rules: tuple[Rule, ...] = ()
    failure_policy: str | None = None
    match_policy: str | None = None
    namespace_selector: JsonObject | None = None
    object_selector: JsonObject | None = None
    side_effects: str | None = None
    timeout_seconds: int | None = None
    admission_review_versions: tuple[str, ...] = ()
    match_conditions: tuple[MatchCondition, ...] = ()
    reinvocation_policy: str | None = None


@dataclass(frozen=True, slots=True)
class WebhookConfiguration(Registered):
    """Holds a ValidatingWebhookConfiguration or a MutatingWebhookConfiguration."""

    webhooks: tuple[Webhook, ...] = ()
    mutating: bool = False


Policy = ValidatingAdmissionPolicy | MutatingAdmissionPolicy
"""A policy of either type."""
Binding = ValidatingAdmissionPolicyBinding | MutatingAdmissionPolicyBinding
"""A binding of either type."""
RegistrationObject = Policy | Binding | WebhookConfiguration
"""What documents of the group are decoded to."""
