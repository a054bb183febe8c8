"""`ProtobufTypes`: what an environment asks for types, and users for values."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from typing import Any

from google.protobuf import descriptor_pool
from google.protobuf.descriptor import EnumDescriptor
from google.protobuf.message import Message as ProtoMessage

from celadon.cel.checking import well_known
from celadon.cel.declarations import Constant, Function, Library, ObjectType, Overload
from celadon.cel.errors import EvaluationError
from celadon.cel.protobuf.message_writing import int32
from celadon.cel.protobuf.messages import EnumValue
from celadon.cel.protobuf.refusal import Refused
from celadon.cel.protobuf.registry import Registry
from celadon.cel.types import INT, STRING, opaque


class ProtobufTypes:
    """The message types and enums of a descriptor pool, for `Environment(types=...)`.

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
                self._object(name, dict(well_known.OBJECTS[name].fields))
                for name in ("google.protobuf.Any", "google.protobuf.Empty")
            ),
        )

    def find_object(self, name: str) -> ObjectType | None:
        """The message type of that full name, with its fields; None if the pool has none."""
        known = self._objects.get(name)
        if known is None:
            descriptor = self._registry.descriptor(name)
            if descriptor is None:
                return None
            fields = self._registry.describe(descriptor).fields
            known = self._object(name, {key: field.type for key, field in fields.items()})
            self._objects[name] = known
        return known

    def _object(self, name: str, fields: dict[str, Any]) -> ObjectType:
        descriptor = self._registry.descriptor(name)
        assert descriptor is not None, "callers know that there is one"
        return ObjectType(name, fields, partial(self._registry.construct, descriptor))

    def find_constant(self, name: str) -> Constant | None:
        """An enum's value by the name of the enum and its own: `my.Color.RED`."""
        enum_name, _, value_name = name.rpartition(".")
        enum = self._registry.enum(enum_name)
        value = None if enum is None else enum.values_by_name.get(value_name)
        if enum is None or value is None:
            return None
        strong = self._registry.enum_class(enum)
        number = value.number
        return Constant(strong(number) if strong else number, self._registry.enum_type(enum_name))

    def value(self, message: ProtoMessage) -> Any:
        """A protobuf message as a CEL value, to bind to a variable. It must not be changed as long
        as the value is in use. Raises EvaluationError for an `Any` that cannot be unpacked."""
        return self._registry.value(message)

    def enum_value(self, name: str, number: int) -> EnumValue:
        """A value of a strong enum."""
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
