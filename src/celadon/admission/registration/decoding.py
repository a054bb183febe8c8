"""JSON to registration objects: unknown fields, wrong types, what is dropped when empty.

`decode_object` passes the document through the kind's Go struct, as the API server does, defaults
it for its version and gives the typed object, the same object as JSON, and the paths of unknown
fields. The API server only warns about unknown fields unless told otherwise; callers decide. The
versions of a kind have the same fields: `converted` only changes the name of the version.

A value of the wrong type ends the decoding with `RegistrationError`, which knows the place.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Generic, TypeVar, cast

from celadon.admission.registration import registration_types as registration
from celadon.admission.registration.registration_kinds import BY_KIND
from celadon.kube import GroupVersionKind
from celadon.kube.go import Document
from celadon.kube.schemas import (
    DecodeError,
    StrayField,
    codec_for,
    round_trip,
    strict_field_errors,
)
from celadon.kube.well_known_values import ADMISSION_REGISTRATION
from celadon.records import dataclass

T = TypeVar("T", covariant=True)


class RegistrationError(ValueError):
    """The document is not an object of its kind; the text is the API server's. `path` leads to the
    value that does not fit, `why` is the decoder's part of the text."""

    def __init__(self, kind: str, version: str, error: DecodeError) -> None:
        super().__init__(f'{kind} in version "{version}" cannot be handled as a {kind}: {error}')
        self.path = error.path
        self.why = str(error)


@dataclass(frozen=True, slots=True)
class Decoded(Generic[T]):
    """`document` has apiVersion and kind, defaults, and nothing unknown or empty."""

    value: T
    document: dict[str, Any]
    unknown_fields: tuple[StrayField, ...] = ()


def decode_object(
    document: object, kind: str, version: str = "v1"
) -> Decoded[registration.RegistrationObject]:
    """`version` is the API version of the document, without the group."""
    entry = BY_KIND[kind]
    gvk = struct_of(kind, version)
    try:
        clean = round_trip(document, gvk)
    except DecodeError as error:
        raise RegistrationError(kind, version, error) from error
    assert clean is not None, f"{gvk} is built in"
    clean["apiVersion"] = f"{ADMISSION_REGISTRATION}/{version}"
    clean["kind"] = kind
    entry.default(clean, version)
    return Decoded(entry.typed(clean), clean, tuple(strict_field_errors(Document(document), gvk)))


def struct_of(kind: str, version: str) -> GroupVersionKind:
    """The kind whose Go struct reads it: v1 stands for versions that are no longer served."""
    gvk = GroupVersionKind(ADMISSION_REGISTRATION, version, kind)
    return (
        gvk if codec_for(gvk) is not None else GroupVersionKind(ADMISSION_REGISTRATION, "v1", kind)
    )


def decode_policy(
    document: object, version: str = "v1"
) -> Decoded[registration.ValidatingAdmissionPolicy]:
    """A ValidatingAdmissionPolicy, defaulted; RegistrationError if the document is none."""
    decoded = decode_object(document, registration.POLICY_KIND, version)
    return cast("Decoded[registration.ValidatingAdmissionPolicy]", decoded)


def decode_binding(
    document: object, version: str = "v1"
) -> Decoded[registration.ValidatingAdmissionPolicyBinding]:
    """A ValidatingAdmissionPolicyBinding, defaulted; RegistrationError if the document is none."""
    decoded = decode_object(document, registration.BINDING_KIND, version)
    return cast("Decoded[registration.ValidatingAdmissionPolicyBinding]", decoded)


def decode_webhooks(
    document: object, *, mutating: bool, version: str = "v1"
) -> Decoded[registration.WebhookConfiguration]:
    """A Validating- or MutatingWebhookConfiguration, defaulted; RegistrationError if the document
    is none."""
    kind = (
        registration.MUTATING_WEBHOOKS_KIND if mutating else registration.VALIDATING_WEBHOOKS_KIND
    )
    decoded = decode_object(document, kind, version)
    return cast("Decoded[registration.WebhookConfiguration]", decoded)


def converted(document: Mapping[str, Any], version: str) -> dict[str, Any]:
    """A decoded document in another version: no field has another name or is missing there."""
    return {**document, "apiVersion": f"{ADMISSION_REGISTRATION}/{version}"}
