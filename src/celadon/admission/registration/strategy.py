"""What is special about writes of registration objects: the strategies of the six kinds.

The write path of `celadon.kube.registry` treats them like any other kind, with the rules of
`api_validation` and, once those found nothing, the question whether the writer may read the params.
As k8s.io/kubernetes `pkg/registry/admissionregistration/*/strategy.go`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from celadon.admission.registration import registration_types as registration
from celadon.admission.registration.api_validation.kind_validation import (
    validate_create,
    validate_update,
)
from celadon.admission.registration.api_validation.param_access import check_binding, check_policy
from celadon.admission.registration.api_validation.policy_status import validate_status
from celadon.admission.registration.api_validation.registration_metadata import validate_meta_update
from celadon.admission.registration.registration_kinds import BY_KIND, KINDS, RegistrationKind
from celadon.admission.registration.reserved_names import GATE, RESERVED, STATIC_SUFFIX
from celadon.kube import (
    FieldError,
    FieldPath,
    GroupKind,
    GroupVersionResource,
    JsonObject,
    fieldpath,
    metadata,
)
from celadon.kube.registry import Strategy, Surroundings
from celadon.kube.well_known_values import ADMISSION_REGISTRATION

_NAME: Final = FieldPath("metadata", "name")


def typed(document: JsonObject) -> registration.RegistrationObject:
    """The typed form of a document that has been decoded."""
    return BY_KIND[document["kind"]].typed(document)


def create_errors(document: JsonObject, surroundings: Surroundings) -> list[FieldError]:
    """Of a new object as validating admission sees it."""
    errors = validate_create(typed(document), surroundings.version)
    name = metadata.name(document)
    if surroundings.gates.get(GATE) and name.endswith(STATIC_SUFFIX):
        errors.append(fieldpath.invalid(_NAME, name, RESERVED))
    return errors or _access_errors(document, None, surroundings)


def update_errors(
    document: JsonObject, old: JsonObject, surroundings: Surroundings
) -> list[FieldError]:
    """Of a changed object, metadata first; `old` is the stored one."""
    errors = validate_meta_update(document["metadata"], old["metadata"])
    errors += validate_update(typed(document), typed(old), surroundings.version)
    return errors or _access_errors(document, old, surroundings)


def status_errors(document: JsonObject, old: JsonObject, _: Surroundings) -> list[FieldError]:
    """Of a write to the status of a validating policy: its spec is not looked at."""
    errors = validate_meta_update(document["metadata"], old["metadata"])
    return errors + validate_status(document.get("status") or {})


def _access_errors(
    document: JsonObject, old: JsonObject | None, surroundings: Surroundings
) -> list[FieldError]:
    """Whether the writer may read the params that the object refers to."""
    authorize = surroundings.authorize
    if authorize is None:
        return []
    value, before = typed(document), None if old is None else typed(old)
    user, catalog = surroundings.user, surroundings.resources
    if isinstance(value, registration.WebhookConfiguration):
        return []
    if isinstance(value, registration.Policy):
        assert before is None or isinstance(before, registration.Policy)
        return check_policy(value, before, user, catalog, authorize)
    kind = BY_KIND[document["kind"].removesuffix("Binding")]
    resource = GroupVersionResource(ADMISSION_REGISTRATION, "v1", kind.resource)
    stored = surroundings.lookups.get(resource, "", value.spec.policy_name)
    policy = None if stored is None else kind.typed(stored)
    assert policy is None or isinstance(policy, registration.Policy)
    return check_binding(value, policy, user, catalog, authorize)


def _warnings(document: JsonObject) -> list[str]:
    if not metadata.name(document).endswith(STATIC_SUFFIX):
        return []
    return [f"{_NAME}: {RESERVED}"]


def _strategy(entry: RegistrationKind) -> Strategy:
    fields = entry.generation_fields if entry.strict_generation else ()

    def sent_change(sent: JsonObject) -> bool:
        """An empty list is a change, since stored objects have none."""
        return any(_holds_empty(sent.get(field)) for field in fields)

    return Strategy(
        create_errors,
        update_errors,
        status_errors,
        warnings=_warnings,
        needs_version=True,
        sent_change=sent_change,
    )


def _holds_empty(value: object, field: str = "") -> bool:
    if isinstance(value, list):
        return not value or any(map(_holds_empty, value))
    if isinstance(value, dict):
        if field == "matchLabels" and not value:
            return True
        return any(_holds_empty(item, key) for key, item in value.items())
    return False


STRATEGIES: Final[Mapping[GroupKind, Strategy]] = {
    GroupKind(ADMISSION_REGISTRATION, entry.kind): _strategy(entry) for entry in KINDS
}
"""For the write path, by kind."""
