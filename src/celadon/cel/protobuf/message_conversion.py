"""Converts values of CEL to protobuf, for the fields of a message literal.

A null unsets a field that holds a message, and is left out of lists and maps of such; in `Any` and
`Value` it is a value like others. As cel-go `common/types/provider.go`, `msgSetField`.
"""

from __future__ import annotations

import base64
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, Final

from google.protobuf import duration_pb2, json_format, struct_pb2, timestamp_pb2, wrappers_pb2
from google.protobuf.descriptor import Descriptor, FieldDescriptor
from google.protobuf.message import EncodeError
from google.protobuf.message import Message as ProtoMessage
from google.protobuf.message_factory import GetMessageClass

from celadon.cel.errors import EvaluationError
from celadon.cel.protobuf.messages import (
    Convert,
    EnumValue,
    Field,
    Message,
    MessageTypes,
    Refused,
    is_map,
    is_repeated,
    map_entry,
    refuse,
)
from celadon.cel.values import Value, conversions, maps
from celadon.cel.values.runtime_types import is_list, type_of
from celadon.cel.values.text import Uint
from celadon.cel.values.timestamps import Duration, Timestamp, format_timestamp, timestamp_at

# --- Message reading ---------------------------------------------------------
#
# From protobuf to CEL: what the content of a field, or a message, is as a value.
#
# Well-known messages are CEL's own values (a `Struct` is a map, an `Int64Value` an int, an
# `Any` what it holds); every other message is a `Message`.

Reader = Callable[[MessageTypes, Any], Any]

_UNSIGNED = frozenset({FieldDescriptor.CPPTYPE_UINT32, FieldDescriptor.CPPTYPE_UINT64})
_UNSIGNED_WRAPPERS = ("google.protobuf.UInt32Value", "google.protobuf.UInt64Value")
_MESSAGE_READING_WRAPPERS = (
    *("google.protobuf.BoolValue", "google.protobuf.BytesValue", "google.protobuf.DoubleValue"),
    *("google.protobuf.FloatValue", "google.protobuf.Int32Value", "google.protobuf.Int64Value"),
    "google.protobuf.StringValue",
)

#: Messages whose absence is null.
NULLABLE: Final = frozenset(
    {*_MESSAGE_READING_WRAPPERS, *_UNSIGNED_WRAPPERS, "google.protobuf.Value"}
)


def converter(types: MessageTypes, field: FieldDescriptor) -> Convert:
    """Return what makes the CEL value of one value of the field."""
    if field.message_type is not None:
        return types.value
    if field.enum_type is not None:
        return types.enum_class(field.enum_type) or _itself
    return Uint if field.cpp_type in _UNSIGNED else _itself


def _itself(value: object) -> Value:
    return value


def _any(types: MessageTypes, message: Any) -> object:
    unpack = types.unpack(message.type_url, message.value)
    if unpack is None:
        raise conversions.unpacking_error(message.type_url)
    return types.value(unpack)


def _message_reading_duration(types: MessageTypes, message: Any) -> Duration:
    return Duration(message.seconds * _NANOS + message.nanos)


def _timestamp(types: MessageTypes, message: Any) -> Any:
    return timestamp_at(message.seconds * _NANOS + message.nanos)


def _struct(types: MessageTypes, message: Any) -> dict[str, Any]:
    return {name: _value(types, value) for name, value in message.fields.items()}


def _list(types: MessageTypes, message: Any) -> list[object]:
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


def _message_reading_wrapped(types: MessageTypes, message: Any) -> Any:
    return message.value


def _wrapped_unsigned(types: MessageTypes, message: Any) -> Uint:
    return Uint(message.value)


WELL_KNOWN: Final[Mapping[str, Reader]] = MappingProxyType(
    {
        "google.protobuf.Any": _any,
        "google.protobuf.Duration": _message_reading_duration,
        "google.protobuf.ListValue": _list,
        "google.protobuf.Struct": _struct,
        "google.protobuf.Timestamp": _timestamp,
        "google.protobuf.Value": _value,
        **dict.fromkeys(_MESSAGE_READING_WRAPPERS, _message_reading_wrapped),
        **dict.fromkeys(_UNSIGNED_WRAPPERS, _wrapped_unsigned),
    }
)

TYPE_URL_PREFIX: Final = "type.googleapis.com/"

_NANOS = 1_000_000_000
_F = FieldDescriptor
_WRAPPER_CLASSES: Final[Mapping[type, Any]] = MappingProxyType(
    {
        bool: wrappers_pb2.BoolValue,
        bytes: wrappers_pb2.BytesValue,
        float: wrappers_pb2.DoubleValue,
        int: wrappers_pb2.Int64Value,
        str: wrappers_pb2.StringValue,
        Uint: wrappers_pb2.UInt64Value,
    }
)
_WRAPPERS: Final = NULLABLE - {"google.protobuf.Value"}


def build(
    types: MessageTypes,
    descriptor: Descriptor,
    fields: Mapping[str, Field],
    data: Mapping[str, Value],
) -> ProtoMessage:
    """Return the message of that type with these fields set. Raises EvaluationError."""
    arguments: dict[str, Value] = {}
    extensions: list[tuple[Field, Value]] = []
    for name, value in data.items():
        field = fields.get(name)
        if field is None:
            raise EvaluationError(f"no such field: {name}")
        written = _written(types, field, value)
        if written is None:
            continue
        if field.descriptor.is_extension:
            extensions.append((field, written))
        else:
            arguments[name] = written
    try:
        message = types.message_class(descriptor)(**arguments)
        for field, written in extensions:
            _set_extension(message, field, written)
    except (TypeError, ValueError) as error:  # a number that is no value of a closed enum
        raise EvaluationError(f"{descriptor.full_name}: {error}") from None
    return message


def _set_extension(message: Any, field: Field, written: Any) -> None:
    if is_repeated(field.descriptor):
        message.Extensions[field.descriptor].extend(written)
    elif field.descriptor.message_type is not None:
        message.Extensions[field.descriptor].CopyFrom(written)
        message.Extensions[field.descriptor].SetInParent()
    else:
        message.Extensions[field.descriptor] = written


def _written(types: MessageTypes, field: Field, value: object) -> Value:
    """Return what the constructor of the message takes for the field; None to leave it unset."""
    descriptor = field.descriptor
    try:
        if is_map(descriptor):
            return _map(types, field, value)
        if not is_repeated(descriptor):
            return single_value(types, descriptor, value)
        if not is_list(value):
            raise _unsupported(descriptor, value)
        elements = [single_value(types, descriptor, element) for element in value]
        return [element for element in elements if element is not None]
    except Refused as error:
        raise conversions.conversion_failed(_place(descriptor), str(error)) from None


def _map(types: MessageTypes, field: Field, value: Any) -> dict[Value, Value]:
    if not maps.is_map(value):
        raise _unsupported(field.descriptor, value)
    key_field, value_field = map_entry(field.descriptor)
    entries = {}
    for key, content in value.items():
        written = single_value(types, value_field, content)
        if written is not None:
            entries[single_value(types, key_field, key)] = written
    return entries


def _place(field: FieldDescriptor) -> str:
    owner = field.containing_type.full_name if field.containing_type else ""
    return f"{owner}.{field.name}"


def _unsupported(field: FieldDescriptor, value: object) -> EvaluationError:
    return EvaluationError(f"unsupported field type for {_place(field)}: {type_of(value).name}")


def single_value(types: MessageTypes, field: FieldDescriptor, value: object) -> Any:
    """Convert one value of the field, None if a null unsets it. Raises Refused."""
    if field.message_type is not None:
        return _message(types, field.message_type, value)
    if field.enum_type is not None:
        return _enum(field.enum_type.full_name, value)
    return _SCALARS[field.type](value)


def _enum(name: str, value: object) -> int:
    if isinstance(value, EnumValue):
        if value.cel_type.name != name:
            refuse(value, name)
        return value.number
    if value is None and name == "google.protobuf.NullValue":
        return 0
    return int32(value)


def int32(value: object) -> int:
    """Return the value as a 32-bit integer. Raises `Refused` for other classes and for overflow."""
    if value.__class__ is not int:
        refuse(value, "int32")
    if not conversions.MIN_INT32 <= value <= conversions.MAX_INT32:
        raise Refused(conversions.INTEGER_OVERFLOW)
    return int(value)


def _uint32(value: object) -> int:
    if value.__class__ is not Uint:
        refuse(value, "uint32")
    if value > conversions.MAX_UINT32:
        raise Refused(conversions.UNSIGNED_OVERFLOW)
    return int(value)


def _float(value: object) -> float:
    if value.__class__ is not float:
        refuse(value, "float")
    return conversions.single(value)


def _of_class(expected: type, name: str) -> Callable[[Value], Value]:
    def check(value: object) -> Value:
        if value.__class__ is not expected:
            refuse(value, name)
        return int(value) if value.__class__ is Uint else value

    return check


_INT64 = _of_class(int, "int64")
_UINT64 = _of_class(Uint, "uint64")
_SCALARS: Final[Mapping[int, Callable[[Value], Value]]] = MappingProxyType(
    {
        _F.TYPE_BOOL: _of_class(bool, "bool"),
        _F.TYPE_BYTES: _of_class(bytes, "bytes"),
        _F.TYPE_DOUBLE: _of_class(float, "double"),
        _F.TYPE_FIXED32: _uint32,
        _F.TYPE_FIXED64: _UINT64,
        _F.TYPE_FLOAT: _float,
        _F.TYPE_INT32: int32,
        _F.TYPE_INT64: _INT64,
        _F.TYPE_SFIXED32: int32,
        _F.TYPE_SFIXED64: _INT64,
        _F.TYPE_SINT32: int32,
        _F.TYPE_SINT64: _INT64,
        _F.TYPE_STRING: _of_class(str, "string"),
        _F.TYPE_UINT32: _uint32,
        _F.TYPE_UINT64: _UINT64,
    }
)


def _message(types: MessageTypes, descriptor: Descriptor, value: object) -> Any:
    """Return the message that stands for the value; None if a null unsets the field."""
    name = descriptor.full_name
    cls: Any = types.message_class(descriptor)
    match name:
        case "google.protobuf.Any":
            return _pack(cls, value)
        case "google.protobuf.Value":
            return value_message(cls, value)
        case "google.protobuf.Struct":
            return struct_message(cls, _value_class(types, descriptor), value)
        case "google.protobuf.ListValue":
            return list_message(cls, _value_class(types, descriptor), value)
    if value is None:
        return None
    if value.__class__ is Duration and name == "google.protobuf.Duration":
        return _duration(cls, value)
    if value.__class__ is Timestamp and name == "google.protobuf.Timestamp":
        return cls(seconds=value.seconds, nanos=value.nanos)
    if isinstance(value, Message) and value.message.DESCRIPTOR.full_name == name:
        return _same_message(cls, value.message)
    if name in _WRAPPERS:
        return cls(value=single_value(types, descriptor.fields_by_name["value"], value))
    return refuse(value, name)


def _value_class(types: MessageTypes, descriptor: Descriptor) -> Value:
    """Return the class of the `Value`s in a `Struct` or `ListValue` of that pool."""
    fields = descriptor.fields_by_name
    values = fields["values"] if "values" in fields else map_entry(fields["fields"])[1]
    assert values.message_type is not None, "both hold messages"
    return types.message_class(values.message_type)


def _duration(cls: Any, value: Duration) -> ProtoMessage:
    """Seconds and nanoseconds have the same sign."""
    sign = -1 if value.nanoseconds < 0 else 1
    seconds, nanos = divmod(abs(value.nanoseconds), _NANOS)
    message: ProtoMessage = cls(seconds=sign * seconds, nanos=sign * nanos)
    return message


def _same_message(cls: Any, message: ProtoMessage) -> ProtoMessage:
    """Return the message itself, or, if it comes from another pool, the same in this one."""
    if message.__class__ is cls:
        return message
    copy: ProtoMessage = cls.FromString(message.SerializePartialToString())
    return copy


def _pack(cls: Any, value: Any) -> ProtoMessage:
    """Return an `Any` with the message, or with the message that wraps the value."""
    message = _wrapped(value)
    try:
        data = message.SerializeToString(deterministic=True)
    except EncodeError as error:  # a required field is missing
        raise Refused(str(error)) from None
    packed: ProtoMessage = cls(type_url=TYPE_URL_PREFIX + message.DESCRIPTOR.full_name, value=data)
    return packed


def _wrapped(value: Any) -> ProtoMessage:
    kind = value.__class__
    if isinstance(value, Message):
        return value.message
    if isinstance(value, EnumValue):
        return wrappers_pb2.Int64Value(value=value.number)
    if kind is Duration:
        return _duration(duration_pb2.Duration, value)
    if kind is Timestamp:
        return timestamp_pb2.Timestamp(seconds=value.seconds, nanos=value.nanos)
    wrapper = _WRAPPER_CLASSES.get(kind)
    if wrapper is not None:
        wrapped: ProtoMessage = wrapper(value=int(value) if kind is Uint else value)
        return wrapped
    message: Any = value_message(struct_pb2.Value, value)
    if is_list(value):
        message = message.list_value
    elif value is not None:
        message = message.struct_value
    return message  # type: ignore[no-any-return]  # one of three messages


# --- JSON --------------------------------------------------------------------
#
# Values as JSON in the clothes of protobuf: `Value`, `Struct` and `ListValue` messages.
#
# What JSON has no form for becomes text, as in the JSON of protobuf itself: integers that a
# double cannot hold, bytes (base64), timestamps, durations. Messages take the form they have in
# JSON.

#: Integers up to this size survive as JSON numbers.
MAX_SAFE: Final = (1 << 53) - 1
#: Deeper values could not be read back: protobuf's parsers stop at 100 messages in each other.
MAX_DEPTH: Final = 45


def value_message(cls: Any, value: Any, depth: int = 0) -> Any:
    """Return a message of the class, which is that of `google.protobuf.Value`."""
    kind = value.__class__
    if value is None:
        return cls(null_value=0)
    if kind is bool:
        return cls(bool_value=value)
    if kind is float:
        return cls(number_value=value)
    if kind is int or kind is Uint:
        return _number(cls, value)
    if is_list(value) or maps.is_map(value):
        if depth > MAX_DEPTH:
            raise Refused("nested too deeply")
        return _container(cls, value, depth)
    if isinstance(value, EnumValue):
        return cls(number_value=value.number)
    if isinstance(value, Message):
        return json_format.ParseDict(json_format.MessageToDict(value.message), cls())
    return cls(string_value=_text(value))


def _number(cls: Any, value: int) -> Any:
    if abs(value) <= MAX_SAFE:
        return cls(number_value=value)
    return cls(string_value=str(int(value)))


def _container(cls: Any, value: Any, depth: int) -> Any:
    if is_list(value):
        elements = [value_message(cls, element, depth + 1) for element in value]
        return cls(list_value=_class_of(cls, "list_value")(values=elements))
    return cls(struct_value=_class_of(cls, "struct_value")(fields=_entries(cls, value, depth)))


def _class_of(cls: Any, field: str) -> Any:
    """Return the class of the messages in a field. (Protobuf's Python has short forms for `Struct`
    and `ListValue` which cannot tell `{}` from `{"fields": {}}`.)"""
    return GetMessageClass(cls.DESCRIPTOR.fields_by_name[field].message_type)


def _entries(value_class: object, value: Any, depth: int) -> dict[str, Any]:
    entries = {}
    for key, content in value.items():
        if key.__class__ is not str:
            raise Refused("bad key type")
        entries[key] = value_message(value_class, content, depth + 1)
    return entries


def _text(value: Any) -> str:
    kind = value.__class__
    if kind is str:
        return str(value)
    if kind is bytes:
        return base64.b64encode(value).decode()
    if kind is Timestamp:
        return format_timestamp(Timestamp(value.seconds, value.nanos))
    if kind is Duration:
        return conversions.duration_to_string(value)
    return refuse(value, "google.protobuf.Value")


def struct_message(cls: Any, value_class: Any, value: Any) -> Any:
    """Return a map as a `google.protobuf.Struct`. Raises `Refused` for other values and for keys
    that are no strings."""
    if not maps.is_map(value):
        refuse(value, "google.protobuf.Struct")
    return cls(fields=_entries(value_class, value, 0))


def list_message(cls: Any, value_class: Any, value: Any) -> Any:
    """Return a list as a `google.protobuf.ListValue`. Raises `Refused` for other values."""
    if not is_list(value):
        refuse(value, "google.protobuf.ListValue")
    return cls(values=[value_message(value_class, element) for element in value])
