"""What the registry does with a registration object around its validation.

`created` and `updated` give the object as it will be stored: metadata that the server owns,
generation, the status that a client cannot write. `create_errors`, `update_errors` and
`status_errors` say why it cannot be, `write_warnings` what the client is told besides. All take
decoded documents in a version that the server serves.

As k8s.io/kubernetes `pkg/registry/admissionregistration/*/strategy.go` and k8s.io/apiserver
`pkg/registry/rest`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from celadon.admission.registration.api_validation.kind_validation import (
    validate_create,
    validate_update,
)
from celadon.admission.registration.api_validation.policy_status import validate_status
from celadon.admission.registration.api_validation.registration_metadata import validate_meta_update
from celadon.admission.registration.registration_kinds import BY_KIND, RegistrationKind
from celadon.admission.registration.registration_types import RegistrationObject
from celadon.kube import FieldError, metadata
from celadon.kube.defaulting import DefaultingContext, admit_form, updated_form
from celadon.kube.library import DEFAULT_VERSION
from celadon.kube.writes import warning_texts

STATIC_SUFFIX: Final = ".static.k8s.io"
STATUS: Final = "status"

JsonObject = Mapping[str, Any]


def typed(document: JsonObject) -> RegistrationObject:
    """The typed form of a document that has been decoded."""
    return BY_KIND[document["kind"]].typed(document)


def created(document: JsonObject, context: DefaultingContext) -> dict[str, Any]:
    """The kinds are cluster-scoped: a namespace that was sent is cleared without a word."""
    return admit_form(document, metadata.gvk(document), context, namespace="")


def updated(
    document: JsonObject,
    old: JsonObject,
    sent: JsonObject,
    context: DefaultingContext,
    *,
    subresource: str = "",
) -> dict[str, Any]:
    """`sent` is the document before decoding: where a kind's generation is strict, an empty list
    in it is a change, since stored objects have none."""
    made = updated_form(document, old, metadata.gvk(document), context, subresource=subresource)
    made["metadata"].pop("namespace", None)
    before = metadata.generation(old)
    unchanged = not subresource and metadata.generation(made) == before
    if unchanged and _has_strict_change(sent, BY_KIND[document["kind"]]):
        made["metadata"]["generation"] = before + 1
    return made


def _has_strict_change(sent: JsonObject, entry: RegistrationKind) -> bool:
    fields = entry.generation_fields if entry.strict_generation else ()
    return any(_holds_empty(sent.get(field)) for field in fields)


def _holds_empty(value: Any, field: str = "") -> bool:
    if isinstance(value, list):
        return not value or any(map(_holds_empty, value))
    if isinstance(value, dict):
        if field == "matchLabels" and not value:
            return True
        return any(_holds_empty(item, key) for key, item in value.items())
    return False


def create_errors(document: JsonObject, version: str = DEFAULT_VERSION) -> list[FieldError]:
    """`document` as `created` gave it; `version` is the server's."""
    return validate_create(typed(document), version)


def update_errors(
    document: JsonObject, old: JsonObject, version: str = DEFAULT_VERSION
) -> list[FieldError]:
    """`document` as `updated` gave it."""
    errors = validate_meta_update(document["metadata"], old["metadata"])
    return errors + validate_update(typed(document), typed(old), version)


def status_errors(document: JsonObject, old: JsonObject) -> list[FieldError]:
    """Of a write to the status of a validating policy: its spec is not looked at."""
    errors = validate_meta_update(document["metadata"], old["metadata"])
    return errors + validate_status(document.get("status") or {})


def write_warnings(document: JsonObject) -> list[str]:
    """`document` as it was decoded, before owners were made unique."""
    found = []
    repeated = _repeated_owners(document)
    if repeated:
        found.append(warning_texts.duplicate_owners(repeated))
    if metadata.name(document).endswith(STATIC_SUFFIX):
        found.append(
            f'metadata.name: names ending with "{STATIC_SUFFIX}" are reserved for static '
            "manifest-based configurations and cannot be managed via the API"
        )
    return found


def _repeated_owners(document: JsonObject) -> list[str]:
    owners = document["metadata"].get("ownerReferences", ())
    repeated = [owner["uid"] for i, owner in enumerate(owners) if owner in owners[:i]]
    return list(dict.fromkeys(repeated))
