"""The values that expressions see: messages, and enum values where enums are types of their own.

INVARIANT (one class, one type): each message type and each enum has a subclass of its own, because
the class of an abstract value decides its type. `registry` makes them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import Any, ClassVar, NoReturn, Protocol

from google.protobuf import text_format
from google.protobuf.descriptor import Descriptor, EnumDescriptor, FieldDescriptor
from google.protobuf.message import Message as ProtoMessage
from google.protobuf.unknown_fields import UnknownFieldSet

from celadon.cel import types
from celadon.cel.checking import scope
from celadon.cel.types import Type, list_of, map_of, object_type
from celadon.cel.values import Value
from celadon.cel.values.maps import MISSING, make_map
from celadon.cel.values.runtime_types import Opaque, Record, no_such_field, type_of
from celadon.records import dataclass

# --- Message equality --------------------------------------------------------
#
# When two messages are equal: field by field, `Any` by what it holds (cel-go `pb/equal.go`).
#
# NaN equals nothing. An `Any` that cannot be unpacked is compared by its bytes; so are fields
# that the descriptor does not know.

Unpack = Callable[[str, bytes], "ProtoMessage | None"]
"""The message that an `Any` with this type URL and these bytes holds; None if it cannot be told."""

_Pairs = list[tuple[Any, Any]]

ANY = "google.protobuf.Any"


def messages_equal(x: ProtoMessage, y: ProtoMessage, unpack: Unpack) -> bool:
    """Return whether two messages are equal: one loop for all levels, since messages may be nested
    deeply."""
    pending: _Pairs = [(x, y)]
    while pending:
        x, y = pending.pop()
        if x.DESCRIPTOR.full_name != y.DESCRIPTOR.full_name:
            return False
        if x.DESCRIPTOR.full_name == ANY:
            if not _anys_equal(x, y, unpack, pending):
                return False
        elif not _fields_equal(x, y, pending):
            return False
    return True


def _anys_equal(x: Any, y: Any, unpack: Unpack, pending: _Pairs) -> bool:
    if x.type_url != y.type_url:
        return False
    if x.value != y.value:
        message, other = unpack(x.type_url, x.value), unpack(y.type_url, y.value)
        if message is None or other is None:
            return False
        pending.append((message, other))
    return True


def _fields_equal(x: ProtoMessage, y: ProtoMessage, pending: _Pairs) -> bool:
    """Messages inside are left in `pending`."""
    ours = {field.number: (field, value) for field, value in x.ListFields()}
    theirs = {field.number: value for field, value in y.ListFields()}
    if ours.keys() != theirs.keys() or _unknown(x) != _unknown(y):
        return False
    return all(
        _values_equal(field, value, theirs[number], pending)
        for number, (field, value) in ours.items()
    )


def _values_equal(field: FieldDescriptor, a: Any, b: Any, pending: _Pairs) -> bool:
    pairs: Iterable[tuple[Any, Any]] = ((a, b),)
    if hasattr(a, "items"):  # the container of a map field
        if len(a) != len(b) or any(key not in b for key in a):
            return False
        pairs = ((a[key], b[key]) for key in a)
    elif hasattr(a, "extend"):  # the container of a repeated field
        if len(a) != len(b):
            return False
        pairs = zip(a, b, strict=True)
    for pair, other in pairs:
        if isinstance(pair, ProtoMessage):
            pending.append((pair, other))
        elif pair != other:
            return False
    return True


def _unknown(message: ProtoMessage) -> dict[int, list[object]]:
    """Return the fields that are not known, by number."""
    result: dict[int, list[object]] = {}
    for field in _fields(UnknownFieldSet(message)):
        result.setdefault(field.field_number, []).append(_comparable(field.data))
    return result


def _fields(unknown: UnknownFieldSet) -> list[Any]:
    return [unknown[position] for position in range(len(unknown))]


def _comparable(data: object) -> object:
    """Return the content of an unknown field; a group has fields again."""
    if isinstance(data, UnknownFieldSet):
        return [(f.field_number, f.wire_type, _comparable(f.data)) for f in _fields(data)]
    return data


# --- Message fields ----------------------------------------------------------
#
# Fields of messages as CEL sees them: their types, whether they are set, how they are read.
#
# What a field's descriptor says is settled once; reading then only runs what was settled.

Convert = Callable[[Any], Any]

_F = FieldDescriptor
_PRIMITIVES = {
    _F.CPPTYPE_BOOL: types.BOOL,
    _F.CPPTYPE_DOUBLE: types.DOUBLE,
    _F.CPPTYPE_ENUM: types.INT,
    _F.CPPTYPE_FLOAT: types.DOUBLE,
    _F.CPPTYPE_INT32: types.INT,
    _F.CPPTYPE_INT64: types.INT,
    _F.CPPTYPE_STRING: types.STRING,
    _F.CPPTYPE_UINT32: types.UINT,
    _F.CPPTYPE_UINT64: types.UINT,
}


@dataclass(frozen=True, slots=True)
class Field:
    """Reads and writes a field of a message. `convert` makes the CEL value of what protobuf gives:
    of the whole for a single value, of an element for a repeated field; for a map, `convert_key`
    makes its keys. With `absent_is_null`, an unset field reads as null instead of as its
    default."""

    name: str
    descriptor: FieldDescriptor
    type: Type
    convert: Convert
    convert_key: Convert | None = None
    absent_is_null: bool = False

    def raw(self, message: Any) -> Any:
        """Return the field's content as protobuf gives it, extensions included."""
        if self.descriptor.is_extension:
            return message.Extensions[self.descriptor]
        return getattr(message, self.name)

    def read(self, message: ProtoMessage) -> Any:
        """Return the field's content as a CEL value; an absent field has its default, absent
        wrappers are null."""
        if self.convert_key is not None:
            entries = self.raw(message).items()
            return make_map([(self.convert_key(k), self.convert(v)) for k, v in entries])
        if is_repeated(self.descriptor):
            return [self.convert(element) for element in self.raw(message)]
        if self.absent_is_null and not self.is_set(message):
            return None
        return self.convert(self.raw(message))

    def is_set(self, message: Any) -> bool:
        """Return what `has()` tells: of fields without presence, whether they differ from their
        default."""
        if is_repeated(self.descriptor):
            return bool(self.raw(message))
        if self.descriptor.is_extension:
            return bool(message.HasExtension(self.descriptor))
        if self.descriptor.has_presence:
            return bool(message.HasField(self.name))
        value = self.raw(message)
        return bool(value) or (value.__class__ is float and math.copysign(1, value) < 0)


def is_repeated(field: Any) -> bool:
    """Return whether the field is a list or a map."""
    if hasattr(field, "is_repeated"):
        return bool(field.is_repeated)
    return bool(field.label == field.LABEL_REPEATED)  # protobuf 5


def is_map(field: FieldDescriptor) -> bool:
    """Is the field declared as `map<K, V>`?"""
    kind = field.message_type
    return kind is not None and kind.GetOptions().map_entry


def map_entry(field: FieldDescriptor) -> tuple[FieldDescriptor, FieldDescriptor]:
    """Return the key and the value of a map field, as fields."""
    assert field.message_type is not None, "a map field has entries"
    return field.message_type.fields_by_name["key"], field.message_type.fields_by_name["value"]


def field_type(field: FieldDescriptor, enum_type: Callable[[str], Type]) -> Type:
    """Return the declared type; `enum_type` tells the type of an enum by its full name."""
    if is_map(field):
        key, value = map_entry(field)
        return map_of(_single(key, enum_type), _single(value, enum_type))
    single = _single(field, enum_type)
    return list_of(single) if is_repeated(field) else single


def _single(field: FieldDescriptor, enum_type: Callable[[str], Type]) -> Type:
    if field.message_type is not None:
        name = field.message_type.full_name
        return scope.TYPES.get(name) or object_type(name)
    if field.enum_type is not None:
        return enum_type(field.enum_type.full_name)
    return types.BYTES if field.type == _F.TYPE_BYTES else _PRIMITIVES[field.cpp_type]


class MessageTypes(Protocol):
    """Holds what messages, their readers and their writers need of the `registry` that makes
    classes."""

    def unpack(self, type_url: str, data: bytes) -> ProtoMessage | None:
        """Return what an `Any` holds; None if its type is not known or the bytes are none of it."""

    def value(self, message: ProtoMessage) -> Any:
        """Return a message as a CEL value. Raises EvaluationError for an `Any` that cannot be
        unpacked."""

    def message_class(self, descriptor: Descriptor) -> type[ProtoMessage]:
        """Protobuf's own class of the message type."""

    def enum_class(self, descriptor: EnumDescriptor) -> type[EnumValue] | None:
        """Return the class of the values of a strong enum; None for enums that are ints."""


class Message(Record):
    """Shows a protobuf message to expressions. `message` is protobuf's own; whoever holds it must
    not change it any more.

    Fields are converted when they are first read, and kept.
    """

    __slots__ = ("_read", "message")
    go_name = "*types.protoObj"
    fields: ClassVar[dict[str, Field]]
    registry: ClassVar[MessageTypes]

    def __init__(self, message: ProtoMessage) -> None:
        self.message = message
        self._read: dict[str, Value] = {}

    def __getitem__(self, field: str) -> Any:
        value = self._read.get(field, MISSING)
        if value is MISSING:
            value = self._read[field] = self._field(field).read(self.message)
        return value

    def has(self, field: str) -> bool:
        """Is the field set? Raises EvaluationError for a field that the type does not have."""
        return self._field(field).is_set(self.message)

    def _field(self, name: str) -> Field:
        field = self.fields.get(name)
        if field is None:
            raise no_such_field(name)
        return field

    def equals(self, other: Opaque) -> bool:
        """Compare as protobuf compares messages of one type: field by field, NaN unequal, `Any` by
        its content."""
        if not isinstance(other, Message):
            return False
        return messages_equal(self.message, other.message, self.registry.unpack)

    @property
    def is_zero(self) -> bool:
        """Return whether no field is set."""
        return not self.message.ByteSize()

    def display(self) -> str:
        """Return the type's name and protobuf's text form in one line."""
        content = text_format.MessageToString(self.message, as_one_line=True)
        return f"{self.cel_type.name}{{{content}}}"


class EnumValue(Opaque):
    """Holds a value of an enum that is a type of its own; any 32-bit number is one."""

    __slots__ = ("number",)
    names: ClassVar[dict[str, int]]

    def __init__(self, number: int) -> None:
        self.number = number

    def __eq__(self, other: object) -> bool:
        return other.__class__ is self.__class__ and self.equals(other)

    __hash__ = None

    def equals(self, other: object) -> bool:
        """Return whether both have the same number; only values of one enum are compared."""
        return isinstance(other, EnumValue) and self.number == other.number

    @property
    def is_zero(self) -> bool:
        """Return whether it is the value with number 0."""
        return self.number == 0

    def display(self) -> str:
        """Return the number."""
        return str(self.number)


# --- Refusal -----------------------------------------------------------------
#
# How writing a value says that a field cannot take it; `writing` adds which field.


class Refused(Exception):
    """The reason, without the field."""


def refuse(value: object, target: str) -> NoReturn:
    """Refuse a value of another type than the field's."""
    raise Refused(f"type conversion error from '{type_of(value)}' to '{target}'")
