"""Fields of messages as CEL sees them: their types, whether they are set, how they are read.

What a field's descriptor says is settled once; reading then only runs what was settled.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.message import Message as ProtoMessage

from celadon.cel import types
from celadon.cel.checking import well_known
from celadon.cel.types import Type, list_of, map_of, object_type
from celadon.cel.values.maps import make_map
from celadon.records import dataclass

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
    """`convert` makes the CEL value of what protobuf gives: of the whole for a single value, of an
    element for a repeated field; for a map, `convert_key` makes its keys. With `absent_is_null`,
    an unset field reads as null instead of as its default."""

    name: str
    descriptor: FieldDescriptor
    type: Type
    convert: Convert
    convert_key: Convert | None = None
    absent_is_null: bool = False

    def raw(self, message: Any) -> Any:
        """The field's content as protobuf gives it, extensions included."""
        if self.descriptor.is_extension:
            return message.Extensions[self.descriptor]
        return getattr(message, self.name)

    def read(self, message: ProtoMessage) -> Any:
        """The field's content as a CEL value; an absent field has its default, absent wrappers are
        null."""
        if self.convert_key is not None:
            entries = self.raw(message).items()
            return make_map([(self.convert_key(k), self.convert(v)) for k, v in entries])
        if is_repeated(self.descriptor):
            return [self.convert(element) for element in self.raw(message)]
        if self.absent_is_null and not self.is_set(message):
            return None
        return self.convert(self.raw(message))

    def is_set(self, message: Any) -> bool:
        """As `has()` tells: of fields without presence, whether they differ from their default."""
        if is_repeated(self.descriptor):
            return bool(self.raw(message))
        if self.descriptor.is_extension:
            return bool(message.HasExtension(self.descriptor))
        if self.descriptor.has_presence:
            return bool(message.HasField(self.name))
        value = self.raw(message)
        return bool(value) or (value.__class__ is float and math.copysign(1, value) < 0)


def is_repeated(field: Any) -> bool:
    """Lists and maps."""
    if hasattr(field, "is_repeated"):
        return bool(field.is_repeated)
    return bool(field.label == field.LABEL_REPEATED)  # protobuf 5


def is_map(field: FieldDescriptor) -> bool:
    """Is the field declared as `map<K, V>`?"""
    kind = field.message_type
    return kind is not None and kind.GetOptions().map_entry


def map_entry(field: FieldDescriptor) -> tuple[FieldDescriptor, FieldDescriptor]:
    """The key and the value of a map field, as fields."""
    assert field.message_type is not None, "a map field has entries"
    return field.message_type.fields_by_name["key"], field.message_type.fields_by_name["value"]


def field_type(field: FieldDescriptor, enum_type: Callable[[str], Type]) -> Type:
    """The declared type; `enum_type` tells the type of an enum by its full name."""
    if is_map(field):
        key, value = map_entry(field)
        return map_of(_single(key, enum_type), _single(value, enum_type))
    single = _single(field, enum_type)
    return list_of(single) if is_repeated(field) else single


def _single(field: FieldDescriptor, enum_type: Callable[[str], Type]) -> Type:
    if field.message_type is not None:
        name = field.message_type.full_name
        return well_known.TYPES.get(name) or object_type(name)
    if field.enum_type is not None:
        return enum_type(field.enum_type.full_name)
    return types.BYTES if field.type == _F.TYPE_BYTES else _PRIMITIVES[field.cpp_type]
