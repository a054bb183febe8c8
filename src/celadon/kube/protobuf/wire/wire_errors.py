"""The errors of this sub-room, and the texts that clients see of them.

    ProtobufError            bytes that cannot be read, or a value that fits no field
      NoMessageError         a kind that has no protobuf form: tables, custom resources

The texts are those of gogo/protobuf's generated code, of Go's `io`, and of k8s.io/apimachinery
`pkg/runtime/serializer/protobuf` and `pkg/runtime/error.go`. A server puts them behind its own
`the object provided is unrecognized (...)`.
"""

from __future__ import annotations

from typing import Final

from celadon.kube.errors import KubeError
from celadon.kube.go.go_text import quote
from celadon.kube.names import GroupVersionKind


class ProtobufError(KubeError, ValueError):
    """The one error of reading and writing protobuf; `str()` is upstream's text."""


class NoMessageError(ProtobufError):
    """The kind has no message. A server that was asked to answer with it answers 406."""

    def __init__(self, gvk: GroupVersionKind) -> None:
        self.gvk = gvk
        super().__init__(
            f"object *{gvk.version}.{gvk.kind} does not implement the protobuf marshalling "
            "interface and cannot be encoded to a protobuf message"
        )


UNEXPECTED_END: Final = "unexpected EOF"
NEGATIVE_LENGTH: Final = "proto: negative length found during unmarshaling"
INTEGER_OVERFLOW: Final = "proto: integer overflow"
UNEXPECTED_GROUP_END: Final = "proto: unexpected end of group"
EMPTY_DATA: Final = "empty data"
EMPTY_BODY: Final = "empty body"
NO_PREFIX: Final = (
    "provided data does not appear to be a protobuf message, expected prefix [107 56 115 0]"
)


def group_end_outside_group(message: str) -> ProtobufError:
    return ProtobufError(f"proto: {message}: wiretype end group for non-group")


def illegal_tag(message: str, number: int, wire_type: int) -> ProtobufError:
    return ProtobufError(f"proto: {message}: illegal tag {number} (wire type {wire_type})")


def wrong_wire_type(wire_type: int, field: str) -> ProtobufError:
    return ProtobufError(f"proto: wrong wireType = {wire_type} for field {field}")


def illegal_wire_type(wire_type: int) -> ProtobufError:
    return ProtobufError(f"proto: illegal wireType {wire_type}")


def missing_type(part: str, api_version: str, kind: str) -> ProtobufError:
    """`part` is `Kind` or `apiVersion`."""
    meta = f"runtime.TypeMeta{{APIVersion:{quote(api_version)}, Kind:{quote(kind)}}}"
    return ProtobufError(f"Object '{part}' is missing in '{meta}'")


def misfit(field: str, wanted: str) -> ProtobufError:
    """A JSON value that its field cannot hold; our own text, since Go has no such objects."""
    return ProtobufError(f"`{field}` is no {wanted}")
