"""The well-known protobuf messages as literals build them.

There are no protobuf messages here: a literal of a well-known type *is* one of CEL's own values
(cel-go `common/types/pb`). `CONSTRUCTORS` maps a full message name to the function that turns the
given fields into that value; a field that is not given has its protobuf default.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, Final

from celadon.cel.errors import EvaluationError
from celadon.cel.values.text import Uint
from celadon.cel.values.timestamps import Duration, timestamp_at

Fields = Mapping[str, Any]
Constructor = Callable[[Fields], Any]

MIN_INT32: Final = -(1 << 31)
MAX_INT32: Final = (1 << 31) - 1
MAX_UINT32: Final = (1 << 32) - 1

INTEGER_OVERFLOW: Final = "integer overflow"
UNSIGNED_OVERFLOW: Final = "unsigned integer overflow"

_NANOS = 1_000_000_000


def conversion_failed(field: str, reason: str) -> EvaluationError:
    """A value that a field, given with the name of its message, cannot take."""
    return EvaluationError(f"field type conversion error for {field} value type: {reason}")


def _duration(fields: Fields) -> Duration:
    return Duration(fields.get("seconds", 0) * _NANOS + fields.get("nanos", 0))


def _timestamp(fields: Fields) -> object:
    return timestamp_at(fields.get("seconds", 0) * _NANOS + fields.get("nanos", 0))


def _value(fields: Fields) -> Any:
    """At most one field is set; none, or `null_value`, is null."""
    given = {name: value for name, value in fields.items() if name != "null_value"}
    return next(iter(given.values())) if given else None


def _any(fields: Fields) -> object:
    """There is no message that it could hold."""
    raise unpacking_error(fields.get("type_url", ""))


def unpacking_error(type_url: str) -> EvaluationError:
    """An `Any` of a type that is not known."""
    reason = "not found" if type_url else "invalid empty type URL"
    return EvaluationError(f'anypb.UnmarshalNew() failed for type "{type_url}": proto: {reason}')


def single(value: float) -> float:
    """The value as a 32-bit float holds it; too large ones are infinite."""
    try:
        return float(struct.unpack("<f", struct.pack("<f", value))[0])
    except OverflowError:
        return math.copysign(math.inf, value)


def _wrapper(default: object) -> Constructor:
    return lambda fields: fields.get("value", default)


def _ranged(name: str, minimum: int, maximum: int, default: int, overflow: str) -> Constructor:
    def construct(fields: Fields) -> Any:
        value = fields.get("value", default)
        if not minimum <= value <= maximum:
            raise conversion_failed(f"{name}.value", overflow)
        return value

    return construct


CONSTRUCTORS: Final[Mapping[str, Constructor]] = MappingProxyType(
    {
        "google.protobuf.Any": _any,
        "google.protobuf.BoolValue": _wrapper(False),
        "google.protobuf.BytesValue": _wrapper(b""),
        "google.protobuf.DoubleValue": _wrapper(0.0),
        "google.protobuf.Duration": _duration,
        "google.protobuf.Empty": dict,
        "google.protobuf.FloatValue": lambda fields: single(fields.get("value", 0.0)),
        "google.protobuf.Int32Value": _ranged(
            "google.protobuf.Int32Value", MIN_INT32, MAX_INT32, 0, INTEGER_OVERFLOW
        ),
        "google.protobuf.Int64Value": _wrapper(0),
        "google.protobuf.ListValue": lambda fields: fields.get("values", []),
        "google.protobuf.StringValue": _wrapper(""),
        "google.protobuf.Struct": lambda fields: fields.get("fields", {}),
        "google.protobuf.Timestamp": _timestamp,
        "google.protobuf.UInt32Value": _ranged(
            "google.protobuf.UInt32Value", 0, MAX_UINT32, Uint(0), UNSIGNED_OVERFLOW
        ),
        "google.protobuf.UInt64Value": _wrapper(Uint(0)),
        "google.protobuf.Value": _value,
    }
)
