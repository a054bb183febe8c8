"""API validation of registration objects: which function answers for which kind, and when.

`validate_create` and `validate_update` give every complaint about an object but its metadata as a
server checks it for all kinds (`object_meta.validate_meta_update`). Read `validating_policy` first,
`policy_parts` and `rules` with it; then `mutating_policy`, `bindings`, `webhooks`. As
k8s.io/kubernetes `pkg/apis/admissionregistration/validation`.
"""

from __future__ import annotations

from celadon.admission.registration.api_validation.binding_validation import validate_binding
from celadon.admission.registration.api_validation.mutating_policy import validate_mutating_policy
from celadon.admission.registration.api_validation.validating_policy import validate_policy
from celadon.admission.registration.api_validation.webhook_configurations import validate_webhooks
from celadon.admission.registration.registration_types import (
    MutatingAdmissionPolicy,
    RegistrationObject,
    ValidatingAdmissionPolicy,
    WebhookConfiguration,
)
from celadon.kube import FieldError
from celadon.kube.library import DEFAULT_VERSION


def validate_create(obj: RegistrationObject, version: str = DEFAULT_VERSION) -> list[FieldError]:
    """A defaulted object; `version` is the server's."""
    return _validate(obj, None, version)


def validate_update(
    obj: RegistrationObject, old: RegistrationObject, version: str = DEFAULT_VERSION
) -> list[FieldError]:
    """`old` is the stored object, of the same kind."""
    return _validate(obj, old, version)


def _validate(
    obj: RegistrationObject, old: RegistrationObject | None, version: str
) -> list[FieldError]:
    if isinstance(obj, ValidatingAdmissionPolicy):
        assert old is None or isinstance(old, ValidatingAdmissionPolicy)
        return validate_policy(obj, old, version)
    if isinstance(obj, MutatingAdmissionPolicy):
        assert old is None or isinstance(old, MutatingAdmissionPolicy)
        return validate_mutating_policy(obj, old, version)
    if isinstance(obj, WebhookConfiguration):
        assert old is None or isinstance(old, WebhookConfiguration)
        return validate_webhooks(obj, old, version)
    return validate_binding(obj)
