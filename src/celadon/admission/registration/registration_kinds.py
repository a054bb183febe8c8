"""The six kinds: how each is defaulted and read, in which versions it exists.

`versions` are those that have the kind at all, newest first: older ones are input only. Which of
them a server of 1.36 serves, and from which one it stores, is in `celadon.kube`'s resources.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from celadon.admission.registration import registration_defaults, typed_documents
from celadon.admission.registration import registration_types as registration
from celadon.records import dataclass


@dataclass(frozen=True, slots=True)
class RegistrationKind:
    """`generation_fields` are the top-level members whose change makes a new generation."""

    kind: str
    resource: str
    versions: tuple[str, ...]
    default: Callable[[dict[str, Any], str], None]
    typed: Callable[[Mapping[str, Any]], registration.RegistrationObject]
    generation_fields: tuple[str, ...] = ("spec",)
    strict_generation: bool = False
    """Whether an empty list is another value than none."""


_WEBHOOK_VERSIONS: Final = ("v1", "v1beta1")

KINDS: Final = (
    RegistrationKind(
        registration.POLICY_KIND,
        registration.POLICY_RESOURCE,
        registration.VERSIONS,
        registration_defaults.default_policy,
        typed_documents.policy_from,
    ),
    RegistrationKind(
        registration.BINDING_KIND,
        registration.BINDING_RESOURCE,
        registration.VERSIONS,
        registration_defaults.default_binding,
        typed_documents.binding_from,
    ),
    RegistrationKind(
        registration.MUTATING_POLICY_KIND,
        "mutatingadmissionpolicies",
        registration.VERSIONS,
        registration_defaults.default_policy,
        typed_documents.mutating_policy_from,
    ),
    RegistrationKind(
        registration.MUTATING_BINDING_KIND,
        "mutatingadmissionpolicybindings",
        registration.VERSIONS,
        registration_defaults.default_binding,
        typed_documents.mutating_binding_from,
    ),
    RegistrationKind(
        registration.VALIDATING_WEBHOOKS_KIND,
        "validatingwebhookconfigurations",
        _WEBHOOK_VERSIONS,
        registration_defaults.default_validating_webhooks,
        typed_documents.validating_webhooks_from,
        generation_fields=("webhooks",),
        strict_generation=True,
    ),
    RegistrationKind(
        registration.MUTATING_WEBHOOKS_KIND,
        "mutatingwebhookconfigurations",
        _WEBHOOK_VERSIONS,
        registration_defaults.default_mutating_webhooks,
        typed_documents.mutating_webhooks_from,
        generation_fields=("webhooks",),
        strict_generation=True,
    ),
)
"""The kinds of the group that are policies, bindings or webhook configurations."""

BY_KIND: Final[Mapping[str, RegistrationKind]] = {entry.kind: entry for entry in KINDS}
