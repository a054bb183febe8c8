"""From protobuf to CEL: what the content of a field, or a message, is as a value.

Well-known messages are CEL's own values (a `Struct` is a map, an `Int64Value` an int, an `Any` what
it holds); every other message is a `Message`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, Final

from google.protobuf.descriptor import FieldDescriptor

from celadon.cel.protobuf.message_fields import Convert
from celadon.cel.protobuf.messages import MessageTypes
from celadon.cel.values.message_values import unpacking_error
from celadon.cel.values.numbers import Uint
from celadon.cel.values.times.timestamps import Duration, timestamp_at

Reader = Callable[[MessageTypes, Any], Any]

_NANOS = 1_000_000_000
_UNSIGNED = frozenset({FieldDescriptor.CPPTYPE_UINT32, FieldDescriptor.CPPTYPE_UINT64})
_UNSIGNED_WRAPPERS = ("google.protobuf.UInt32Value", "google.protobuf.UInt64Value")
_WRAPPERS = (
    *("google.protobuf.BoolValue", "google.protobuf.BytesValue", "google.protobuf.DoubleValue"),
    *("google.protobuf.FloatValue", "google.protobuf.Int32Value", "google.protobuf.Int64Value"),
    "google.protobuf.StringValue",
)

#: Messages whose absence is null.
NULLABLE: Final = frozenset({*_WRAPPERS, *_UNSIGNED_WRAPPERS, "google.protobuf.Value"})


def converter(types: MessageTypes, field: FieldDescriptor) -> Convert:
    """What makes the CEL value of one value of the field."""
    if field.message_type is not None:
        return types.value
    if field.enum_type is not None:
        return types.enum_class(field.enum_type) or _itself
    return Uint if field.cpp_type in _UNSIGNED else _itself


def _itself(value: object) -> Any:
    return value


def _any(types: MessageTypes, message: Any) -> Any:
    held = types.unpack(message.type_url, message.value)
    if held is None:
        raise unpacking_error(message.type_url)
    return types.value(held)


def _duration(types: MessageTypes, message: Any) -> Duration:
    return Duration(message.seconds * _NANOS + message.nanos)


def _timestamp(types: MessageTypes, message: Any) -> Any:
    return timestamp_at(message.seconds * _NANOS + message.nanos)


def _struct(types: MessageTypes, message: Any) -> dict[str, Any]:
    return {name: _value(types, value) for name, value in message.fields.items()}


def _list(types: MessageTypes, message: Any) -> list[Any]:
    return [_value(types, value) for value in message.values]


def _value(types: MessageTypes, message: Any) -> Any:
    match message.WhichOneof("kind"):
        case "struct_value":
            return _struct(types, message.struct_value)
        case "list_value":
            return _list(types, message.list_value)
        case "number_value" | "string_value" | "bool_value" as kind:
            return getattr(message, kind)
        case _:
            return None


def _wrapped(types: MessageTypes, message: Any) -> Any:
    return message.value


def _wrapped_unsigned(types: MessageTypes, message: Any) -> Uint:
    return Uint(message.value)


WELL_KNOWN: Final[Mapping[str, Reader]] = MappingProxyType(
    {
        "google.protobuf.Any": _any,
        "google.protobuf.Duration": _duration,
        "google.protobuf.ListValue": _list,
        "google.protobuf.Struct": _struct,
        "google.protobuf.Timestamp": _timestamp,
        "google.protobuf.Value": _value,
        **dict.fromkeys(_WRAPPERS, _wrapped),
        **dict.fromkeys(_UNSIGNED_WRAPPERS, _wrapped_unsigned),
    }
)
