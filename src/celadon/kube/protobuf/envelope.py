"""Bodies of type `application/vnd.kubernetes.protobuf`: an object in the envelope that names it.

A body is four magic bytes and the message `Unknown` of k8s.io/apimachinery `pkg/runtime`: the
apiVersion and kind of the object, and the bytes of its message. Custom resources have no message,
nor have tables; a server offers other media types for them.
"""

from __future__ import annotations

from typing import Any, Final

from celadon.kube.go.go_json import TOO_DEEP
from celadon.kube.json_types import JsonObject
from celadon.kube.names import ApiVersionError, GroupVersionKind, parse_api_version
from celadon.kube.protobuf.message_table import message_of
from celadon.kube.protobuf.messages import message_reader, message_writer
from celadon.kube.protobuf.wire import (
    EMPTY_BODY,
    EMPTY_DATA,
    LENGTH,
    NO_PREFIX,
    NoMessageError,
    ProtobufError,
    missing_type,
    read_payloads,
    read_text,
    sized,
    tag,
    text_bytes,
)
from celadon.records import dataclass

MEDIA_TYPE: Final = "application/vnd.kubernetes.protobuf"
"""What a client sends and accepts for one object."""

MAGIC: Final = b"k8s\0"
"""How every body begins; what does not is no protobuf of Kubernetes."""

_UNKNOWN: Final = {1: "TypeMeta", 2: "Raw", 3: "ContentEncoding", 4: "ContentType"}
_TYPE_META: Final = {1: "APIVersion", 2: "Kind"}
_NOWHERE: Final = (0, 0)
_FIRST, _SECOND = tag(1, LENGTH), tag(2, LENGTH)
_NO_CONTENT_TYPE: Final = tag(3, LENGTH) + b"\0" + tag(4, LENGTH) + b"\0"
"""The empty contentEncoding and contentType that end every envelope."""


@dataclass(frozen=True, slots=True)
class Envelope:
    """Holds what a body says it holds, and the message itself, not yet read."""

    gvk: GroupVersionKind
    raw: bytes


def has_message(gvk: GroupVersionKind) -> bool:
    """Return whether objects of this kind can be written and read."""
    return message_of(gvk) is not None


def open_envelope(body: bytes, default: GroupVersionKind | None = None) -> Envelope:
    """`default` fills in for what the envelope does not say. Raises ProtobufError."""
    if not body:
        raise ProtobufError(EMPTY_DATA)
    if not body.startswith(MAGIC):
        raise ProtobufError(NO_PREFIX)
    if len(body) == len(MAGIC):
        raise ProtobufError(EMPTY_BODY)
    parts = read_payloads(body, len(MAGIC), len(body), "Unknown", _UNKNOWN)
    meta = read_payloads(body, *parts.get(1, _NOWHERE), "TypeMeta", _TYPE_META)
    api_version, kind = (read_text(body, *meta.get(number, _NOWHERE)) for number in (1, 2))
    gvk = _with_defaults(_kind_of(api_version, kind), default)
    if not gvk.kind:
        raise missing_type("Kind", api_version, kind)
    if not gvk.version:
        raise missing_type("apiVersion", api_version, kind)
    start, stop = parts.get(2, _NOWHERE)
    return Envelope(gvk, body[start:stop])


def _kind_of(api_version: str, kind: str) -> GroupVersionKind:
    """Return the kind; a version that cannot be read counts as none, as upstream."""
    try:
        return GroupVersionKind(*parse_api_version(api_version), kind)
    except ApiVersionError:
        return GroupVersionKind("", "", kind)


def _with_defaults(found: GroupVersionKind, default: GroupVersionKind | None) -> GroupVersionKind:
    if default is None:
        return found
    version = found.group_version if found.version else default.group_version
    return GroupVersionKind(*version, found.kind or default.kind)


def read_message(envelope: Envelope) -> dict[str, object]:
    """The object with its apiVersion and kind. Raises ProtobufError."""
    name = message_of(envelope.gvk)
    if name is None:
        raise NoMessageError(envelope.gvk)
    made = {"apiVersion": envelope.gvk.api_version, "kind": envelope.gvk.kind}
    try:
        return message_reader(name).read(envelope.raw, 0, len(envelope.raw), made)
    except RecursionError:
        raise ProtobufError(TOO_DEEP) from None


def decode(body: bytes, default: GroupVersionKind | None = None) -> dict[str, Any]:
    """The object in a body, in the shape it has in JSON.

    `default` is the kind that an endpoint expects, for what the envelope does not say. Without its
    zeros: see `message_reader`. Raises ProtobufError, for a kind without message NoMessageError.
    """
    return read_message(open_envelope(body, default))


def encode(obj: JsonObject) -> bytes:
    """The body with an object that says its apiVersion and kind. Raises as `decode` does."""
    api_version, kind = obj.get("apiVersion"), obj.get("kind")
    gvk = _kind_of(str(api_version or ""), str(kind or ""))
    name = message_of(gvk)
    if name is None:
        raise NoMessageError(gvk)
    try:
        raw = message_writer(name).write(obj)
    except RecursionError:
        raise ProtobufError(TOO_DEEP) from None
    meta = _FIRST + sized(text_bytes(api_version, "apiVersion"))
    meta += _SECOND + sized(text_bytes(kind, "kind"))
    return b"".join((MAGIC, _FIRST, sized(meta), _SECOND, sized(raw), _NO_CONTENT_TYPE))


# --- Watch frames ------------------------------------------------------------
#
# Watch streams: frames with an event each (`application/vnd.kubernetes.protobuf;stream=watch`).
#
# A frame is four bytes of length, most significant first, and a bare `WatchEvent` of meta.v1;
# only the object in it is in an envelope. As k8s.io/apimachinery `pkg/util/framer` and the raw
# serializer of `pkg/runtime/serializer/protobuf`.


STREAM_MEDIA_TYPE: Final = MEDIA_TYPE + ";stream=watch"
"""What a watch is sent as, one frame after the other."""

_HEADER: Final = 4
_WATCH_FRAMES_FIRST, _WATCH_FRAMES_SECOND = tag(1, LENGTH), tag(2, LENGTH)


def encode_event(type_: str, obj: JsonObject) -> bytes:
    """One frame. `type_` is ADDED, MODIFIED, DELETED, BOOKMARK or ERROR. Raises ProtobufError."""
    extension = _WATCH_FRAMES_FIRST + sized(encode(obj))
    event = (
        _WATCH_FRAMES_FIRST
        + sized(text_bytes(type_, "type"))
        + _WATCH_FRAMES_SECOND
        + sized(extension)
    )
    return len(event).to_bytes(_HEADER, "big") + event
