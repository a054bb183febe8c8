"""Request bodies to registration objects: decoded strictly or not, with warnings or refusals.

The order of complaints is a server's: unreadable text, unknown kind, values of wrong types, strict
decoding, another kind, another version. As the handlers of k8s.io/apiserver.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from celadon.admission.registration import registration_types as registration
from celadon.admission.registration.decoding import (
    Decoded,
    RegistrationError,
    decode_object,
    struct_of,
)
from celadon.admission.registration.registration_kinds import BY_KIND
from celadon.kube import GroupVersionKind, StatusError, status
from celadon.kube.go import Document
from celadon.kube.schemas import DecodeError, codec_for, round_trip, strict_field_errors
from celadon.kube.writes import request_bodies

IGNORE: Final = "Ignore"
WARN: Final = "Warn"
STRICT: Final = "Strict"


@dataclass(frozen=True, slots=True)
class Body:
    """`found` is what the document says it is, perhaps in another version than the endpoint's;
    `sent` is the document as it was written, before anything was dropped or defaulted."""

    found: GroupVersionKind
    decoded: Decoded[registration.RegistrationObject]
    sent: dict[str, Any]
    warnings: tuple[str, ...] = ()


def read_body(body: bytes, expected: GroupVersionKind, field_validation: str = WARN) -> Body:
    """StatusError (400) when it is not an object of the kind. Its version is for
    `require_version`: that complaint does not keep the warnings from the client."""
    found, document = request_bodies.interpret(body, expected)
    if not _is_registered(found):
        raise request_bodies.not_registered(found, expected.kind)
    if found.group_kind != expected.group_kind:
        raise _other_kind(document, found, expected)
    return read_document(document, found, field_validation)


def require_version(body: Body, expected: GroupVersionKind) -> None:
    if body.found != expected:
        raise request_bodies.other_version(body.found, expected)


def _other_kind(
    document: Document, found: GroupVersionKind, expected: GroupVersionKind
) -> StatusError:
    """Values that do not fit the other kind are found before it is known to be another."""
    entry = BY_KIND.get(found.kind) if found.group == registration.GROUP else None
    try:
        round_trip(document.value, struct_of(found.kind, found.version) if entry else found)
    except DecodeError as error:
        return request_bodies.undecodable(found, expected.kind, str(error))
    return request_bodies.other_kind(found, expected)


def read_document(
    document: Document, found: GroupVersionKind, field_validation: str = WARN
) -> Body:
    """The same for a document that is known to be of the kind, such as the result of a patch."""
    try:
        decoded = decode_object(document.value, found.kind, found.version)
    except RegistrationError as error:
        raise status.bad_request(str(error)) from error
    complaints: list[str] = []
    if field_validation != IGNORE:
        complaints = strict_field_errors(document, struct_of(found.kind, found.version))
    if complaints and field_validation == STRICT:
        why = request_bodies.strict_decoding_error(complaints)
        raise request_bodies.undecodable(found, found.kind, why)
    return Body(found, decoded, document.value, tuple(complaints))


def _is_registered(gvk: GroupVersionKind) -> bool:
    if gvk.group == registration.GROUP and gvk.kind in BY_KIND:
        return gvk.version in BY_KIND[gvk.kind].versions
    return codec_for(gvk) is not None
