"""Request bodies to registration objects: decoded strictly or not, with warnings or refusals.

The order of complaints is a server's: unreadable text, unknown kind, values of wrong types, strict
decoding, another kind, another version. As the handlers of k8s.io/apiserver.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from celadon.admission.registration import types as registration
from celadon.admission.registration.decode import (
    Decoded,
    RegistrationError,
    decode_object,
    struct_of,
)
from celadon.admission.registration.kinds import BY_KIND
from celadon.kube import Document, GroupVersionKind, bodies, codec_for, status, strict_field_errors

IGNORE: Final = "Ignore"
WARN: Final = "Warn"
STRICT: Final = "Strict"


@dataclass(frozen=True, slots=True)
class Body:
    """`sent` is the document as it was written, before anything was dropped or defaulted."""

    decoded: Decoded[registration.RegistrationObject]
    sent: dict[str, Any]
    warnings: tuple[str, ...] = ()


def read_body(body: bytes, expected: GroupVersionKind, field_validation: str = WARN) -> Body:
    """StatusError (400) when it is not an object of the kind and version."""
    found, document = bodies.interpret(body, expected)
    if not _is_registered(found):
        raise bodies.not_registered(found, expected.kind)
    if found.group_kind != expected.group_kind:
        raise bodies.other_kind(found, expected)
    return read_document(document, found, expected, field_validation)


def read_document(
    document: Document,
    found: GroupVersionKind,
    expected: GroupVersionKind,
    field_validation: str = WARN,
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
        why = bodies.strict_decoding_error(complaints)
        raise bodies.undecodable(found, expected.kind, why)
    if found != expected:
        raise bodies.other_version(found, expected)
    return Body(decoded, document.value, tuple(complaints))


def _is_registered(gvk: GroupVersionKind) -> bool:
    if gvk.group == registration.GROUP and gvk.kind in BY_KIND:
        return gvk.version in BY_KIND[gvk.kind].versions
    return codec_for(gvk) is not None
