"""The `admissionregistration.k8s.io` resources: types, decoding, defaults, validation, strategies.

Policies, bindings and webhook configurations come in as JSON: `decode_policy` gives the frozen form
with defaults, `validate_policy` every complaint the API server would have. For the six kinds
together: `decode_object`, `validate_create`, `validate_update`. `STRATEGIES` are for the write path
of `celadon.kube.registry`, which treats them like all other kinds.

Read `registration_types`, then `decoding` (with defaults); `policy_validation` says what is wrong
with an object, `registration_strategies` (with webhooks) has the table of the six.
"""

from celadon.admission.registration.decoding import (
    Decoded,
    RegistrationError,
    RememberedDecoding,
    converted,
    decode_binding,
    decode_client_config,
    decode_object,
    decode_policy,
    decode_webhooks,
    missing_kind,
)
from celadon.admission.registration.policy_validation import validate_object_meta, validate_policy
from celadon.admission.registration.registration_strategies import (
    STRATEGIES,
    validate_create,
    validate_update,
)
from celadon.admission.registration.registration_types import (
    BINDING_KIND,
    MUTATING_BINDING_KIND,
    MUTATING_POLICY_KIND,
    POLICY_KIND,
    WARN,
    Binding,
    MatchResources,
    MutatingAdmissionPolicy,
    MutatingAdmissionPolicyBinding,
    Policy,
    RegistrationObject,
    Rule,
    ValidatingAdmissionPolicy,
    ValidatingAdmissionPolicyBinding,
    WebhookConfiguration,
)

__all__ = [
    "BINDING_KIND",
    "MUTATING_BINDING_KIND",
    "MUTATING_POLICY_KIND",
    "POLICY_KIND",
    "STRATEGIES",
    "WARN",
    "Binding",
    "Decoded",
    "MatchResources",
    "MutatingAdmissionPolicy",
    "MutatingAdmissionPolicyBinding",
    "Policy",
    "RegistrationError",
    "RegistrationObject",
    "RememberedDecoding",
    "Rule",
    "ValidatingAdmissionPolicy",
    "ValidatingAdmissionPolicyBinding",
    "WebhookConfiguration",
    "converted",
    "decode_binding",
    "decode_client_config",
    "decode_object",
    "decode_policy",
    "decode_webhooks",
    "missing_kind",
    "validate_create",
    "validate_object_meta",
    "validate_policy",
    "validate_update",
]
