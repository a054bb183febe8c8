"""Watch streams: frames with an event each (`application/vnd.kubernetes.protobuf;stream=watch`).

A frame is four bytes of length, most significant first, and a bare `WatchEvent` of meta.v1; only
the object in it is in an envelope. As k8s.io/apimachinery `pkg/util/framer` and the raw serializer
of `pkg/runtime/serializer/protobuf`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from celadon.kube.protobuf.envelope import MEDIA_TYPE, decode, encode
from celadon.kube.protobuf.wire.wire_errors import EMPTY_DATA, ProtobufError
from celadon.kube.protobuf.wire.wire_format import LENGTH, read_payloads, sized, tag
from celadon.kube.protobuf.wire.wire_texts import read_text, text_bytes

STREAM_MEDIA_TYPE: Final = MEDIA_TYPE + ";stream=watch"
"""What a watch is sent as, one frame after the other."""

_HEADER: Final = 4
_NOWHERE: Final = (0, 0)
_FIRST, _SECOND = tag(1, LENGTH), tag(2, LENGTH)


def encode_event(type_: str, obj: Mapping[str, Any]) -> bytes:
    """One frame. `type_` is ADDED, MODIFIED, DELETED, BOOKMARK or ERROR. Raises ProtobufError."""
    extension = _FIRST + sized(encode(obj))
    event = _FIRST + sized(text_bytes(type_, "type")) + _SECOND + sized(extension)
    return len(event).to_bytes(_HEADER, "big") + event


def split_frames(received: bytes) -> tuple[list[bytes], bytes]:
    """The events that have arrived in full, without their lengths, and the bytes left over."""
    found = []
    position = 0
    while len(received) - position >= _HEADER:
        start = position + _HEADER
        stop = start + int.from_bytes(received[position:start], "big")
        if stop > len(received):
            break
        found.append(received[start:stop])
        position = stop
    return found, received[position:]


def decode_event(frame: bytes) -> tuple[str, dict[str, Any]]:
    """Type and object of an event. Raises ProtobufError."""
    if not frame:
        raise ProtobufError(EMPTY_DATA)
    event = read_payloads(frame, 0, len(frame), "WatchEvent", {1: "Type", 2: "Object"})
    extension = read_payloads(frame, *event.get(2, _NOWHERE), "RawExtension", {1: "Raw"})
    start, stop = extension.get(1, _NOWHERE)
    return read_text(frame, *event.get(1, _NOWHERE)), decode(frame[start:stop])
