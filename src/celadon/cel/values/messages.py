"""The well-known protobuf messages as literals build them.

There are no protobuf messages here: a literal of a well-known type *is* one of CEL's own values
(cel-go `common/types/pb`). `CONSTRUCTORS` maps a full message name to the function that turns the
given fields into that value; a field that is not given has its protobuf default.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, Final

from celadon.cel.errors import EvaluationError
from celadon.cel.values.numbers import Uint
from celadon.cel.values.timestamps import Duration, timestamp_at

Fields = Mapping[str, Any]
Constructor = Callable[[Fields], Any]

_NANOS = 1_000_000_000


def _duration(fields: Fields) -> Duration:
    return Duration(fields.get("seconds", 0) * _NANOS + fields.get("nanos", 0))


def _timestamp(fields: Fields) -> Any:
    return timestamp_at(fields.get("seconds", 0) * _NANOS + fields.get("nanos", 0))


def _value(fields: Fields) -> Any:
    """At most one field is set; none, or `null_value`, is null."""
    given = {name: value for name, value in fields.items() if name != "null_value"}
    return next(iter(given.values())) if given else None


def _wrapper(default: Any) -> Constructor:
    return lambda fields: fields.get("value", default)


def _ranged(minimum: int, maximum: int, default: int) -> Constructor:
    def construct(fields: Fields) -> Any:
        value = fields.get("value", default)
        if not minimum <= value <= maximum:
            raise EvaluationError("range error")
        return value

    return construct


CONSTRUCTORS: Final[Mapping[str, Constructor]] = MappingProxyType(
    {
        "google.protobuf.BoolValue": _wrapper(False),
        "google.protobuf.BytesValue": _wrapper(b""),
        "google.protobuf.DoubleValue": _wrapper(0.0),
        "google.protobuf.Duration": _duration,
        "google.protobuf.Empty": dict,
        "google.protobuf.FloatValue": _wrapper(0.0),
        "google.protobuf.Int32Value": _ranged(-(1 << 31), (1 << 31) - 1, 0),
        "google.protobuf.Int64Value": _wrapper(0),
        "google.protobuf.ListValue": lambda fields: fields.get("values", []),
        "google.protobuf.StringValue": _wrapper(""),
        "google.protobuf.Struct": lambda fields: fields.get("fields", {}),
        "google.protobuf.Timestamp": _timestamp,
        "google.protobuf.UInt32Value": _ranged(0, (1 << 32) - 1, Uint(0)),
        "google.protobuf.UInt64Value": _wrapper(Uint(0)),
        "google.protobuf.Value": _value,
    }
)
