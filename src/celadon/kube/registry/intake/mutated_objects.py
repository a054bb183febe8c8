"""Objects that somebody else's mutation has made: read again as the kind they have to be.

As the decoding in k8s.io/apiserver `pkg/admission/plugin/webhook/mutating/dispatcher.go`: unknown
fields go, what does not fit is the mutator's fault and so a 500.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from celadon.kube import metadata, status
from celadon.kube.defaulting.defaulting_context import DefaultingContext
from celadon.kube.registry.draft import Draft, drafted
from celadon.kube.go.go_text import json_text
from celadon.kube.json_types import JsonObject
from celadon.kube.names import GroupVersionKind
from celadon.kube.registry.intake import request_bodies
from celadon.kube.schemas.schema_model import OBJECT_META
from celadon.kube.schemas.typed_objects import codec_for, decode, round_trip, struct_codec
from celadon.kube.schemas.typed_values import DecodeError, json_kind
from celadon.kube.status import StatusError

if TYPE_CHECKING:
    from celadon.kube.custom.custom_kinds import CustomKind


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
        decoded = round_trip(document, kind)
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


def _sorted(value: Any) -> Any:
    """With the members of all objects in the order of their names."""
    if isinstance(value, dict):
        return {key: _sorted(value[key]) for key in sorted(value)}
    return [_sorted(item) for item in value] if isinstance(value, list) else value


def with_sound_metadata(document: dict[str, Any]) -> dict[str, Any]:
    """A custom resource without the members of its metadata that cannot be read."""
    meta = document.get("metadata")
    if meta is not None and not isinstance(meta, dict):
        return {**document, "metadata": {}}
    sound = {key: value for key, value in (meta or {}).items() if _is_sound(key, value)}
    return document if sound == meta else {**document, "metadata": sound}


def _is_sound(key: str, value: object) -> bool:
    try:
        decode(struct_codec(OBJECT_META), {key: value})
    except DecodeError:
        return False
    return True


def built_in_kind(document: JsonObject, kind: GroupVersionKind) -> GroupVersionKind:
    """What the document says it is, and `kind` where it says nothing. StatusError (500) for a kind
    that there is not."""
    said = metadata.gvk(document)
    group, version = said[:2] if document.get("apiVersion") else kind[:2]
    found = GroupVersionKind(group, version, said.kind or kind.kind)
    if found != kind and codec_for(found) is None:
        raise status.internal_error(
            f'no kind "{found.kind}" is registered for version "{found.api_version}" in scheme '
            f'"{request_bodies.SCHEME}"'
        )
    return found


def _require_same(document: JsonObject, kind: GroupVersionKind) -> None:
    """A built-in object may leave out what it is, but not be something else."""
    found = built_in_kind(document, kind)
    if found != kind:
        round_trip(document, found)
        raise OtherKind(found, kind)
