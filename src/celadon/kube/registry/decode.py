"""Bodies to drafts: what an endpoint reads, complains about and refuses with 400.

The order of complaints is a server's: unreadable text, unknown kind, values of wrong types, strict
decoding, another kind; then, as a step of its own since the client keeps the warnings, another
version. As the handlers of k8s.io/apiserver; for custom resources as k8s.io/apiextensions-apiserver
`pkg/apiserver/customresource_handler.go`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from celadon.kube import fieldpath, status
from celadon.kube.defaulting.defaulting_context import DefaultingContext
from celadon.kube.registry.draft import Draft, drafted
from celadon.kube.fieldpath import FieldPath
from celadon.kube.go.json_reader import Document
from celadon.kube.go.untyped_numbers import as_read
from celadon.kube.names import GroupKind, GroupVersionKind
from celadon.kube.registry.intake import request_bodies
from celadon.kube.registry.request_options import IGNORE, STRICT, WARN
from celadon.kube.registry.target import Target
from celadon.kube.schemas import schema_model
from celadon.kube.schemas.strict_fields import (
    StrayField,
    repeated_fields,
    strict_field_errors,
    struct_field_errors,
)
from celadon.kube.schemas.typed_objects import codec_for, round_trip
from celadon.kube.schemas.typed_values import DecodeError
from celadon.records import dataclass

FORMER_VERSIONS: Final[Mapping[GroupKind, tuple[str, ...]]] = {
    GroupKind("policy", "Eviction"): ("v1beta1",),
    **{
        GroupKind("admissionregistration.k8s.io", kind): versions
        for kind, versions in {
            "ValidatingAdmissionPolicy": ("v1beta1", "v1alpha1"),
            "ValidatingAdmissionPolicyBinding": ("v1beta1", "v1alpha1"),
            "ValidatingWebhookConfiguration": ("v1beta1",),
            "MutatingWebhookConfiguration": ("v1beta1",),
        }.items()
    },
}
"""Versions that a server can still read, but no longer serves: their fields are those of v1."""


@dataclass(frozen=True, slots=True)
class Incoming:
    """An object that has been read. `found` is what it says it is, perhaps in another version than
    the endpoint's; `sent` is the document before anything was dropped or defaulted."""

    found: GroupVersionKind
    draft: Draft
    sent: dict[str, Any]
    warnings: tuple[str, ...] = ()


def read_object(
    body: bytes,
    target: Target,
    context: DefaultingContext,
    field_validation: str = WARN,
    noticed: Sequence[str] = (),
    sent: bytes | None = None,
) -> Incoming:
    """A JSON body. StatusError (400) when it is not an object of the endpoint's kind; its version
    is for `require_version`. Of a body in another format, `sent` is what came, and `noticed` what
    its reader had to complain about."""
    found, document = request_bodies.interpret(body, target.kind, sent)
    if target.schema is not None:
        _require_custom_kind(document, found, target, body if sent is None else sent)
    elif not _is_registered(found):
        raise request_bodies.not_registered(found, target.kind.kind)
    elif found.group_kind != target.group_kind:
        raise _other_kind(document, found, target.kind)
    return read_document(document, found, target, context, field_validation, noticed)


def require_version(incoming: Incoming, target: Target) -> None:
    """StatusError (400) for an object of another version than the endpoint's."""
    if incoming.found != target.kind:
        raise request_bodies.other_version(incoming.found, target.kind)


def read_document(
    document: Document,
    found: GroupVersionKind,
    target: Target,
    context: DefaultingContext,
    field_validation: str = WARN,
    warnings: Sequence[str] = (),
) -> Incoming:
    """The same for a document that is known to be of the kind, such as a patched one. `warnings`
    are what has been noticed about it before."""
    try:
        draft = draft_of(document.value, target, context, found)
    except DecodeError as error:
        raise request_bodies.undecodable(found, target.kind.kind, str(error)) from error
    complaints: list[str] = []
    if field_validation != IGNORE:
        complaints += warnings
        if document.repeated or not draft.is_exact:
            complaints += [one.text for one in stray_fields(document, found, target)]
    if complaints and field_validation == STRICT:
        why = request_bodies.strict_decoding_error(complaints)
        raise request_bodies.undecodable(found, found.kind, why)
    return Incoming(found, draft, document.value, tuple(complaints))


def draft_of(
    value: Mapping[str, Any],
    target: Target,
    context: DefaultingContext,
    found: GroupVersionKind | None = None,
    *,
    keeps_nulls: bool = False,
) -> Draft:
    """A JSON object decoded, with defaults, and for custom resources without what their schema
    does not know, nor nulls that it does not allow (unless with `keeps_nulls`). DecodeError when a
    value does not fit the kind."""
    custom = target.schema
    if custom is None:
        return drafted(value, structure_of(found or target.kind), context)
    prepared = custom.prepare(as_read(dict(value)), keeps_nulls=keeps_nulls)
    draft = drafted(prepared.value, found or target.kind, context)
    custom.require_readable(prepared.value)
    return draft


def structure_of(kind: GroupVersionKind) -> GroupVersionKind:
    """The kind by whose structure it is read: that of v1 for versions no longer served."""
    former = kind.version in FORMER_VERSIONS.get(kind.group_kind, ())
    return kind._replace(version="v1") if former else kind


def stray_fields(document: Document, found: GroupVersionKind, target: Target) -> list[StrayField]:
    """Unknown and repeated fields, in the order of strict decoding."""
    custom = target.schema
    if custom is None:
        return strict_field_errors(document, structure_of(found))
    dropped = custom.prepare(document.value).dropped
    return [
        *repeated_fields(document),
        *struct_field_errors(document, ("metadata",), schema_model.OBJECT_META),
        *dropped,
    ]


def _is_registered(kind: GroupVersionKind) -> bool:
    return codec_for(structure_of(kind)) is not None


def _other_kind(
    document: Document, found: GroupVersionKind, expected: GroupVersionKind
) -> status.StatusError:
    """Values that do not fit the other kind are found before it is known to be another."""
    try:
        round_trip(document.value, structure_of(found))
    except DecodeError as error:
        return request_bodies.undecodable(found, expected.kind, str(error))
    return request_bodies.other_kind(found, expected)


def _require_custom_kind(
    document: Document, found: GroupVersionKind, target: Target, body: bytes
) -> None:
    """The kind has to be said; another one is a 422."""
    value = document.value
    if not value.get("kind"):
        why = f"Object 'Kind' is missing in '{body.decode('utf-8', 'replace')}'"
        raise request_bodies.unrecognized(target.kind.kind, why, body)
    said = GroupVersionKind(*_said_version(value, found), found.kind)
    if said.group_version != target.kind.group_version:
        raise request_bodies.other_version(said, target.kind)
    if found.kind != target.kind.kind:
        error = fieldpath.invalid(FieldPath("kind"), found.kind, f"must be {target.kind.kind}")
        name = (value.get("metadata") or {}).get("name") or ""
        raise status.invalid(found.group_kind, name, [error])


def _said_version(value: Mapping[str, Any], found: GroupVersionKind) -> tuple[str, str]:
    """A version that is not said is none here."""
    return (found.group, found.version) if value.get("apiVersion") else ("", "")
