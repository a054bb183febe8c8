"""What is known of the messages and enums of one descriptor pool, filled as types are asked for.

Each message type becomes a subclass of `Message` and each strong enum one of `EnumValue` (see
`values`). Types that protobuf itself defines are found even if nothing in the pool imports them.
Of several threads that ask for the same at the same time, all get the class that came first.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

# Imported for their descriptors, which the default pool then has.
from google.protobuf import any_pb2, empty_pb2, field_mask_pb2
from google.protobuf.descriptor import Descriptor, EnumDescriptor
from google.protobuf.descriptor_pool import DescriptorPool
from google.protobuf.message import DecodeError
from google.protobuf.message import Message as ProtoMessage
from google.protobuf.message_factory import GetMessageClass

from celadon.cel import types
from celadon.cel.protobuf import message_reading, message_writing
from celadon.cel.protobuf.message_fields import Field, field_type, is_map, map_entry
from celadon.cel.protobuf.messages import EnumValue, Message
from celadon.cel.types import Type, object_type, opaque

_BUILT_IN = {
    message.DESCRIPTOR.full_name: message.DESCRIPTOR
    for message in (any_pb2.Any, empty_pb2.Empty, field_mask_pb2.FieldMask)
}


class Registry:
    """`strong_enums` are full names of enums whose values are no ints."""

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
        """The class of our values for that message type."""
        name = descriptor.full_name
        found = self._messages.get(name)
        if found is None:
            content = {
                "__slots__": (),
                "cel_type": object_type(name),
                "fields": self._fields(descriptor),
                "registry": self,
            }
            found = self._messages.setdefault(name, type("Message", (Message,), content))
        return found

    def _fields(self, descriptor: Descriptor) -> dict[str, Field]:
        extensions = self.pool.FindAllExtensions(descriptor) if descriptor.is_extendable else ()
        named = [(field.name, field) for field in descriptor.fields]
        named += [(field.full_name, field) for field in extensions]
        fields = {}
        for name, field in named:
            value, convert_key = field, None
            if is_map(field):
                key, value = map_entry(field)
                convert_key = message_reading.converter(self, key)
            kind = value.message_type
            fields[name] = Field(
                name,
                field,
                field_type(field, self.enum_type),
                message_reading.converter(self, value),
                convert_key,
                absent_is_null=kind is not None and kind.full_name in message_reading.NULLABLE,
            )
        return fields

    def enum_class(self, descriptor: EnumDescriptor) -> type[EnumValue] | None:
        """The class of the values of a strong enum; None for enums that are ints."""
        name = descriptor.full_name
        if name not in self.strong_enums:
            return None
        found = self._enums.get(name)
        if found is None:
            names = {value.name: value.number for value in descriptor.values}
            content = {"__slots__": (), "cel_type": opaque(name), "names": names}
            found = self._enums.setdefault(name, type("EnumValue", (EnumValue,), content))
        return found

    def enum_type(self, name: str) -> Type:
        return opaque(name) if name in self.strong_enums else types.INT

    def value(self, message: ProtoMessage) -> Any:
        """The message as a CEL value."""
        descriptor: Any = message.DESCRIPTOR
        read = message_reading.WELL_KNOWN.get(descriptor.full_name)
        if read is not None:
            return read(self, message)
        return self.describe(descriptor)(message)

    def construct(self, descriptor: Descriptor, given: Mapping[str, Any]) -> Any:
        """The value of a message literal."""
        fields = self.describe(descriptor).fields
        return self.value(message_writing.build(self, descriptor, fields, given))

    def unpack(self, type_url: str, data: bytes) -> ProtoMessage | None:
        """What an `Any` holds; None if its type is not known or the bytes are none of it."""
        descriptor = self.descriptor(type_url.rpartition("/")[2])
        if descriptor is None:
            return None
        message = self.message_class(descriptor)()
        try:
            message.ParseFromString(data)
        except DecodeError:
            return None
        return message
