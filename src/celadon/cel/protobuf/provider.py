"""`ProtobufTypes`: what an environment asks for types, and users for values."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import partial
from typing import Any

from google.protobuf import any_pb2, descriptor_pool, empty_pb2, field_mask_pb2
from google.protobuf.descriptor import Descriptor, EnumDescriptor
from google.protobuf.descriptor_pool import DescriptorPool
from google.protobuf.message import DecodeError
from google.protobuf.message import Message as ProtoMessage
from google.protobuf.message_factory import GetMessageClass

from celadon.cel import types
from celadon.cel.checking import scope
from celadon.cel.declarations import Constant, Function, Library, ObjectType, Overload
from celadon.cel.errors import EvaluationError
from celadon.cel.protobuf import message_conversion
from celadon.cel.protobuf.message_conversion import int32
from celadon.cel.protobuf.messages import (
    EnumValue,
    Field,
    Message,
    Refused,
    field_type,
    is_map,
    map_entry,
)
from celadon.cel.types import INT, STRING, Type, object_type, opaque

# --- Registry ----------------------------------------------------------------
#
# What is known of the messages and enums of one descriptor pool, filled as types are asked for.
#
# Each message type becomes a subclass of `Message` and each strong enum one of `EnumValue` (see
# `values`). Types that protobuf itself defines are found even if nothing in the pool imports
# them. Of several threads that ask for the same at the same time, all get the class that came
# first.

# Imported for their descriptors, which the default pool then has.

_BUILT_IN = {
    message.DESCRIPTOR.full_name: message.DESCRIPTOR
    for message in (any_pb2.Any, empty_pb2.Empty, field_mask_pb2.FieldMask)
}


class Registry:
    """Looks up types by their names. `strong_enums` are full names of enums whose values are no
    ints."""

    __slots__ = ("_enums", "_messages", "pool", "strong_enums")

    def __init__(self, pool: DescriptorPool, strong_enums: frozenset[str]) -> None:
        self.pool = pool
        self.strong_enums = strong_enums
        self._messages: dict[str, type[Message]] = {}
        self._enums: dict[str, type[EnumValue]] = {}

    def descriptor(self, name: str) -> Descriptor | None:
        try:
            return self.pool.FindMessageTypeByName(name)
        except KeyError:
            return _BUILT_IN.get(name)

    def enum(self, name: str) -> EnumDescriptor | None:
        try:
            return self.pool.FindEnumTypeByName(name)
        except KeyError:
            return None

    def message_class(self, descriptor: Descriptor) -> type[ProtoMessage]:
        """Protobuf's own class of the message type."""
        return GetMessageClass(descriptor)

    def describe(self, descriptor: Descriptor) -> type[Message]:
        """Return the class of our values for that message type."""
        name = descriptor.full_name
        message = self._messages.get(name)
        if message is None:
            content = {
                "__slots__": (),
                "cel_type": object_type(name),
                "fields": self._fields(descriptor),
                "registry": self,
            }
            message = self._messages.setdefault(name, type("Message", (Message,), content))
        return message

    def _fields(self, descriptor: Descriptor) -> dict[str, Field]:
        extensions = self.pool.FindAllExtensions(descriptor) if descriptor.is_extendable else ()
        named = [(field.name, field) for field in descriptor.fields]
        named += [(field.full_name, field) for field in extensions]
        fields = {}
        for name, field in named:
            value, convert_key = field, None
            if is_map(field):
                key, value = map_entry(field)
                convert_key = message_conversion.converter(self, key)
            kind = value.message_type
            fields[name] = Field(
                name,
                field,
                field_type(field, self.enum_type),
                message_conversion.converter(self, value),
                convert_key,
                absent_is_null=kind is not None and kind.full_name in message_conversion.NULLABLE,
            )
        return fields

    def enum_class(self, descriptor: EnumDescriptor) -> type[EnumValue] | None:
        """Return the class of the values of a strong enum; None for enums that are ints."""
        name = descriptor.full_name
        if name not in self.strong_enums:
            return None
        enum = self._enums.get(name)
        if enum is None:
            names = {value.name: value.number for value in descriptor.values}
            content = {"__slots__": (), "cel_type": opaque(name), "names": names}
            enum = self._enums.setdefault(name, type("EnumValue", (EnumValue,), content))
        return enum

    def enum_type(self, name: str) -> Type:
        return opaque(name) if name in self.strong_enums else types.INT

    def value(self, message: ProtoMessage) -> Any:
        """Return the message as a CEL value."""
        descriptor: Any = message.DESCRIPTOR
        read = message_conversion.WELL_KNOWN.get(descriptor.full_name)
        if read is not None:
            return read(self, message)
        return self.describe(descriptor)(message)

    def construct(self, descriptor: Descriptor, value: Mapping[str, object]) -> Any:
        """Return the value of a message literal."""
        fields = self.describe(descriptor).fields
        return self.value(message_conversion.build(self, descriptor, fields, value))

    def unpack(self, type_url: str, data: bytes) -> ProtoMessage | None:
        """Return what an `Any` holds; None if its type is not known or the bytes are none of it."""
        descriptor = self.descriptor(type_url.rpartition("/")[2])
        if descriptor is None:
            return None
        message = self.message_class(descriptor)()
        try:
            message.ParseFromString(data)
        except DecodeError:
            return None
        return message


class ProtobufTypes:
    """Provides the message types and enums of a descriptor pool, for `Environment(types=...)`.

    Without a pool, protobuf's default one, which has what generated modules define. Enums are ints,
    as in cel-go; those named in `strong_enums` are types of their own, with conversions from
    numbers and names (`my.Color(2)`, `my.Color('RED')`) and to int. What is asked for once is
    remembered: a pool should be complete before it is used.

    Raises KeyError for a strong enum that the pool does not have.
    """

    __slots__ = ("_objects", "_registry", "library")

    library: Library

    def __init__(
        self,
        pool: descriptor_pool.DescriptorPool | None = None,
        *,
        strong_enums: Iterable[str] = (),
    ) -> None:
        names = tuple(strong_enums)
        self._registry = Registry(pool or descriptor_pool.Default(), frozenset(names))
        self._objects: dict[str, ObjectType] = {}
        enums = [self._registry.pool.FindEnumTypeByName(name) for name in names]
        self.library = Library(
            "protobuf",
            functions=tuple(f for enum in enums for f in self._conversions(enum)),
            types=tuple(opaque(name) for name in names),
            objects=tuple(
                self._object(name, dict(scope.OBJECTS[name].fields))
                for name in ("google.protobuf.Any", "google.protobuf.Empty")
            ),
        )

    def find_object(self, name: str) -> ObjectType | None:
        """Return the message type of that full name, with its fields; None if the pool has none."""
        object_type = self._objects.get(name)
        if object_type is None:
            descriptor = self._registry.descriptor(name)
            if descriptor is None:
                return None
            fields = self._registry.describe(descriptor).fields
            object_type = self._object(name, {key: field.type for key, field in fields.items()})
            self._objects[name] = object_type
        return object_type

    def _object(self, name: str, fields: dict[str, Any]) -> ObjectType:
        descriptor = self._registry.descriptor(name)
        assert descriptor is not None, "callers know that there is one"
        return ObjectType(name, fields, partial(self._registry.construct, descriptor))

    def find_constant(self, name: str) -> Constant | None:
        """Return an enum's value by the name of the enum and its own: `my.Color.RED`."""
        enum_name, _, value_name = name.rpartition(".")
        enum = self._registry.enum(enum_name)
        value = None if enum is None else enum.values_by_name.get(value_name)
        if enum is None or value is None:
            return None
        strong = self._registry.enum_class(enum)
        number = value.number
        return Constant(strong(number) if strong else number, self._registry.enum_type(enum_name))

    def value(self, message: ProtoMessage) -> Any:
        """Return a protobuf message as a CEL value, to bind to a variable. It must not be changed
        as long as the value is in use. Raises EvaluationError for an `Any` that cannot be
        unpacked."""
        return self._registry.value(message)

    def enum_value(self, name: str, number: int) -> EnumValue:
        """Return a value of a strong enum."""
        enum = self._registry.pool.FindEnumTypeByName(name)
        strong = self._registry.enum_class(enum)
        if strong is None:
            raise KeyError(name)
        return strong(number)

    def _conversions(self, enum: EnumDescriptor) -> tuple[Function, ...]:
        name, strong = enum.full_name, self._registry.enum_class(enum)
        assert strong is not None, "only strong enums have conversions"
        kind = opaque(name)

        def from_number(number: int) -> EnumValue:
            try:
                return strong(int32(number))
            except Refused as error:
                raise EvaluationError(f"range error: {error}") from None

        def from_name(text: str) -> EnumValue:
            if text not in strong.names:
                raise EvaluationError(f"invalid enum value name '{text}' of '{name}'")
            return strong(strong.names[text])

        doc = "The value of an enum with that number or name."
        return (
            Function(
                name,
                (
                    Overload(f"int_to_{name}", (INT,), kind, from_number, doc=doc),
                    Overload(f"string_to_{name}", (STRING,), kind, from_name, doc=doc),
                ),
            ),
            Function(
                "int",
                (Overload(f"{name}_to_int", (kind,), INT, lambda v: v.number, doc="Its number."),),
            ),
        )
