"""The values that expressions see: messages, and enum values where enums are types of their own.

INVARIANT (one class, one type): each message type and each enum has a subclass of its own, because
the class of an abstract value decides its type. `registry` makes them.
"""

from __future__ import annotations

from typing import Any, ClassVar, Protocol

from google.protobuf import text_format
from google.protobuf.descriptor import Descriptor, EnumDescriptor
from google.protobuf.message import Message as ProtoMessage

from celadon.cel.protobuf.message_equality import messages_equal
from celadon.cel.protobuf.message_fields import Field
from celadon.cel.values.maps import MISSING
from celadon.cel.values.opaque import Opaque, Record, no_such_field


class MessageTypes(Protocol):
    """What messages, their readers and their writers need of the `registry` that makes classes."""

    def unpack(self, type_url: str, data: bytes) -> ProtoMessage | None:
        """What an `Any` holds; None if its type is not known or the bytes are none of it."""

    def value(self, message: ProtoMessage) -> Any:
        """A message as a CEL value. Raises EvaluationError for an `Any` that cannot be unpacked."""

    def message_class(self, descriptor: Descriptor) -> type[ProtoMessage]:
        """Protobuf's own class of the message type."""

    def enum_class(self, descriptor: EnumDescriptor) -> type[EnumValue] | None:
        """The class of the values of a strong enum; None for enums that are ints."""


class Message(Record):
    """A message. `message` is protobuf's own; whoever holds it must not change it any more.

    Fields are converted when they are first read, and kept.
    """

    __slots__ = ("_read", "message")
    go_name = "*types.protoObj"
    fields: ClassVar[dict[str, Field]]
    registry: ClassVar[MessageTypes]

    def __init__(self, message: ProtoMessage) -> None:
        self.message = message
        self._read: dict[str, Any] = {}

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
        """As protobuf compares messages of one type: field by field, NaN unequal, `Any` by its
        content."""
        if not isinstance(other, Message):
            return False
        return messages_equal(self.message, other.message, self.registry.unpack)

    @property
    def is_zero(self) -> bool:
        """Has no field set?"""
        return not self.message.ByteSize()

    def display(self) -> str:
        """The type's name and protobuf's text form in one line."""
        content = text_format.MessageToString(self.message, as_one_line=True)
        return f"{self.cel_type.name}{{{content}}}"


class EnumValue(Opaque):
    """A value of an enum that is a type of its own; any 32-bit number is one."""

    __slots__ = ("number",)
    names: ClassVar[dict[str, int]]

    def __init__(self, number: int) -> None:
        self.number = number

    def __eq__(self, other: object) -> bool:
        return other.__class__ is self.__class__ and self.equals(other)

    __hash__ = None

    def equals(self, other: object) -> bool:
        """The same number; only values of one enum are compared."""
        return isinstance(other, EnumValue) and self.number == other.number

    @property
    def is_zero(self) -> bool:
        """Is it the value with number 0?"""
        return self.number == 0

    def display(self) -> str:
        """The number."""
        return str(self.number)
