"""Bodies to drafts: what an endpoint reads, complains about and refuses with 400.

The order of complaints is a server's: unreadable text, unknown kind, values of wrong types, strict
decoding, another kind; then, as a step of its own since the client keeps the warnings, another
version. As the handlers of k8s.io/apiserver; for custom resources as k8s.io/apiextensions-apiserver
`pkg/apiserver/customresource_handler.go`.

`read_mutated` reads again what somebody else's mutation has made, as the decoding in
k8s.io/apiserver `pkg/admission/plugin/webhook/mutating/dispatcher.go`: unknown fields go, what does
not fit is the mutator's fault and so a 500.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from celadon.kube import fieldpath, metadata, status
from celadon.kube.defaulting.defaulting_context import DefaultingContext
from celadon.kube.fieldpath import FieldPath
from celadon.kube.go.go_json import Document, as_read
from celadon.kube.go.go_text import json_text
from celadon.kube.json_types import Json, JsonDict, JsonObject
from celadon.kube.names import GroupKind, GroupVersionKind
from celadon.kube.registry import request_bodies
from celadon.kube.registry.draft import Draft, drafted
from celadon.kube.registry.request_bodies import IGNORE, STRICT, WARN
from celadon.kube.registry.target import Target
from celadon.kube.schemas import typed_objects
from celadon.kube.schemas.schema_model import OBJECT_META
from celadon.kube.schemas.typed_values import DecodeError, json_kind
from celadon.kube.status import StatusError
from celadon.records import dataclass

if TYPE_CHECKING:
    from celadon.kube.crd.custom_kinds import CustomKind

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
    sent: JsonDict
    warnings: tuple[str, ...] = ()


def read_object(
    body: bytes | Document,
    target: Target,
    context: DefaultingContext,
    field_validation: str = WARN,
    noticed: Sequence[str] = (),
    sent: bytes = b"",
) -> Incoming:
    """The object in a body: JSON text, or what was read from another format, of which `sent` are
    the bytes that came and `noticed` what its reader had to complain about. StatusError (400) when
    it is not an object of the endpoint's kind; its version is for `require_version`."""
    sent = sent if sent or isinstance(body, Document) else body
    found, document = request_bodies.interpret(body, target.kind, sent)
    if target.schema is not None:
        _require_custom_kind(document, found, target, sent)
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
    value: JsonObject,
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


def stray_fields(
    document: Document, found: GroupVersionKind, target: Target
) -> list[typed_objects.StrayField]:
    """Unknown and repeated fields, in the order of strict decoding."""
    custom = target.schema
    if custom is None:
        return typed_objects.strict_field_errors(document, structure_of(found))
    dropped = custom.prepare(document.value).dropped
    return [
        *typed_objects.repeated_fields(document),
        *typed_objects.struct_field_errors(document, ("metadata",), OBJECT_META),
        *dropped,
    ]


def _is_registered(kind: GroupVersionKind) -> bool:
    return typed_objects.codec_for(structure_of(kind)) is not None


def _other_kind(
    document: Document, found: GroupVersionKind, expected: GroupVersionKind
) -> StatusError:
    """Values that do not fit the other kind are found before it is known to be another."""
    try:
        typed_objects.round_trip(document.value, structure_of(found))
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


def _said_version(value: JsonObject, found: GroupVersionKind) -> tuple[str, str]:
    """A version that is not said is none here."""
    return (found.group, found.version) if value.get("apiVersion") else ("", "")


# --- objects that mutating webhooks and policies have made ---


class OtherKind(StatusError):
    """The object has become one of another kind, which nothing is wrong with in itself."""

    def __init__(self, found: GroupVersionKind, kind: GroupVersionKind) -> None:
        super().__init__(status.plain_error(unknown_conversion(found, kind)).status)


def unknown_conversion(found: GroupVersionKind, kind: GroupVersionKind) -> str:
    """That one kind does not become another's internal form."""
    package = kind.group.partition(".")[0] or "core"
    text = f"converting ({found.version}.{found.kind}) to ({package}.{kind.kind})"
    return f"{text}: unknown conversion"


def read_mutated(
    document: Any, kind: GroupVersionKind, custom: CustomKind | None, context: DefaultingContext
) -> tuple[JsonObject, Draft]:
    """The object as it was decoded, and with its defaults. StatusError (500) for what is no such
    object. Options of connections, which have no struct here, stay what they are."""
    require_object(document, kind)
    try:
        if custom is not None:
            require_kind(document)
            return document, drafted(custom.prepare(document).value, kind, context)
        _require_same(document, kind)
        decoded = typed_objects.round_trip(document, kind)
        return document if decoded is None else decoded, drafted(document, kind, context)
    except DecodeError as error:
        raise status.internal_error(str(error)) from None


def require_object(document: object, kind: GroupVersionKind) -> None:
    """StatusError (500) for what is no JSON object."""
    if not isinstance(document, dict):
        raise status.internal_error(
            f"json: cannot unmarshal {json_kind(document)} into Go value of type "
            f"{kind.version}.{kind.kind}"
        )


def require_kind(document: JsonObject) -> None:
    """StatusError (500) for a custom resource that does not say its kind."""
    if not document.get("kind"):
        text = json_text(_sorted(document))
        raise status.internal_error(f"Object 'Kind' is missing in '{text}'")


def _sorted(value: object) -> Any:
    """With the members of all objects in the order of their names."""
    if isinstance(value, dict):
        return {key: _sorted(value[key]) for key in sorted(value)}
    return [_sorted(item) for item in value] if isinstance(value, list) else value


def with_sound_metadata(document: dict[str, Json]) -> JsonObject:
    """A custom resource without the members of its metadata that cannot be read."""
    meta = document.get("metadata")
    if meta is not None and not isinstance(meta, dict):
        return {**document, "metadata": {}}
    sound = {key: value for key, value in (meta or {}).items() if _is_sound(key, value)}
    return document if sound == meta else {**document, "metadata": sound}


def _is_sound(key: str, value: object) -> bool:
    try:
        typed_objects.decode(typed_objects.struct_codec(OBJECT_META), {key: value})
    except DecodeError:
        return False
    return True


def built_in_kind(document: JsonObject, kind: GroupVersionKind) -> GroupVersionKind:
    """Return what the document says it is, and `kind` where it says nothing. StatusError (500) for
    a kind that there is not."""
    said = metadata.gvk(document)
    group, version = said[:2] if document.get("apiVersion") else kind[:2]
    found = GroupVersionKind(group, version, said.kind or kind.kind)
    if found != kind and typed_objects.codec_for(found) is None:
        raise status.internal_error(
            f'no kind "{found.kind}" is registered for version "{found.api_version}" in scheme '
            f'"{request_bodies.SCHEME}"'
        )
    return found


def _require_same(document: JsonObject, kind: GroupVersionKind) -> None:
    """A built-in object may leave out what it is, but not be something else."""
    found = built_in_kind(document, kind)
    if found != kind:
        typed_objects.round_trip(document, found)
        raise OtherKind(found, kind)
