"""Watch streams: frames with an event each (`application/vnd.kubernetes.protobuf;stream=watch`).

A frame is four bytes of length, most significant first, and a bare `WatchEvent` of meta.v1; only
the object in it is in an envelope. As k8s.io/apimachinery `pkg/util/framer` and the raw serializer
of `pkg/runtime/serializer/protobuf`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from celadon.kube.protobuf.envelope import MEDIA_TYPE, encode
from celadon.kube.protobuf.wire.wire_format import LENGTH, sized, tag
from celadon.kube.protobuf.wire.wire_texts import text_bytes

STREAM_MEDIA_TYPE: Final = MEDIA_TYPE + ";stream=watch"
"""What a watch is sent as, one frame after the other."""

_HEADER: Final = 4
_FIRST, _SECOND = tag(1, LENGTH), tag(2, LENGTH)


def encode_event(type_: str, obj: Mapping[str, Any]) -> bytes:
    """One frame. `type_` is ADDED, MODIFIED, DELETED, BOOKMARK or ERROR. Raises ProtobufError."""
    extension = _FIRST + sized(encode(obj))
    event = _FIRST + sized(text_bytes(type_, "type")) + _SECOND + sized(extension)
    return len(event).to_bytes(_HEADER, "big") + event
