"""Protobuf bodies: objects as kubectl, client-go and kube-apiserver send them between themselves.

`decode` and `encode` go between a body of type `application/vnd.kubernetes.protobuf` and an object
in its JSON shape, `encode_event` makes the frames of a watch stream. Every way to fail is a
`ProtobufError`, whose text is upstream's. Custom resources and tables have no protobuf form:
`has_message` tells before, `NoMessageError` after.

Read `message_table` first (the fields of every kind, out of `data/schemas`), then `messages` (the
envelope, readers and writers, which are compiled from the table); `wire` is below them.
`in_message_order` is for whoever writes objects as JSON.
"""

from celadon.kube.protobuf.message_table import (
    MessageField,
    in_message_order,
    kinds,
    message_fields,
    message_of,
    ordered_message,
)
from celadon.kube.protobuf.messages import (
    MAGIC,
    MEDIA_TYPE,
    STREAM_MEDIA_TYPE,
    Envelope,
    decode,
    encode,
    encode_event,
    has_message,
    open_envelope,
    read_message,
)
from celadon.kube.protobuf.wire import NoMessageError, ProtobufError, sized, tag, varint

__all__ = [
    "MAGIC",
    "MEDIA_TYPE",
    "STREAM_MEDIA_TYPE",
    "Envelope",
    "MessageField",
    "NoMessageError",
    "ProtobufError",
    "decode",
    "encode",
    "encode_event",
    "has_message",
    "in_message_order",
    "kinds",
    "message_fields",
    "message_of",
    "open_envelope",
    "ordered_message",
    "read_message",
    "sized",
    "tag",
    "varint",
]
