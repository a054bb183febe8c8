"""JSON objects to the bytes of their messages, as the code generated for Go writes them.

Fields stand in the order of their numbers, map entries in that of their keys. What Go holds by
value is written even when nobody set it; what it holds by pointer, lists and maps only when there
is something. JSON null is the same as nothing. Members that the message does not have are not
written.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from celadon.kube.protobuf.message_table import JSON_SHAPES, MessageField, message_fields
from celadon.kube.protobuf.wire import LENGTH, PAYLOADS, SCALARS, misfit, sized, tag, text_bytes
from celadon.kube.releases import per_release

Write = Callable[[Any], bytes]
"""A JSON value that is not null to the bytes of a field, its tag included."""

_KEY: Final = tag(1, LENGTH)
_VALUE_NUMBER: Final = 2


class MessageWriter:
    """Writes one kind of message. Compiled when first used."""

    __slots__ = ("_fields", "_name")

    def __init__(self, name: str) -> None:
        self._name = name
        self._fields: tuple[tuple[str, bytes, Write], ...] | None = None

    def write(self, obj: object) -> bytes:
        """Raises ProtobufError for a value that does not fit."""
        if obj.__class__ is not dict and not isinstance(obj, dict):
            raise misfit(self._name, "object")
        fields = self._fields
        if fields is None:
            by_number = sorted(message_fields(self._name), key=lambda field: field.number)
            fields = self._fields = tuple(map(self._compiled, by_number))
        parts = []
        for key, unset, write in fields:
            value = obj.get(key) if key else obj
            parts.append(unset if value is None else write(value))
        return b"".join(parts)

    def _compiled(self, field: MessageField) -> tuple[str, bytes, Write]:
        """The key in JSON (none for inline fields), the bytes without a value, and those of one."""
        where = f"{self._name}.{field.name}"
        if field.mapped:
            return field.name, b"", _map_writer(field, where)
        write = _single(field.type, field.number, where)
        if field.repeated:
            return field.name, b"", _list_writer(write, field, where)
        unset = b"" if field.optional or field.inline else _unset(field.type, field.number, where)
        return "" if field.inline else field.name, unset, write


@per_release()
def message_writer(name: str) -> MessageWriter:
    return MessageWriter(name)


def _single(type_: str, number: int, where: str) -> Write:
    scalar = SCALARS.get(type_)
    if scalar is not None:
        write_scalar, head = scalar.write, tag(number, scalar.wire_type)
        return lambda value: head + write_scalar(value, where)
    head = tag(number, LENGTH)
    payload = PAYLOADS.get(type_)
    if payload is not None:
        write_payload = payload.write
        return lambda value: head + sized(write_payload(value, where))
    write, shape = message_writer(type_).write, JSON_SHAPES.get(type_)
    if shape is not None:
        fields_of = shape.fields_of
        return lambda value: head + sized(write(fields_of(value, where)))
    return lambda value: head + sized(write(value))


def _unset(type_: str, number: int, where: str) -> bytes:
    """What Go writes for a value that nobody set."""
    scalar = SCALARS.get(type_)
    if scalar is not None:
        return tag(number, scalar.wire_type) + scalar.write(scalar.zero, where)
    payload = PAYLOADS.get(type_)
    unset = message_writer(type_).write({}) if payload is None else payload.unset
    return tag(number, LENGTH) + sized(unset)


def _list_writer(write: Write, field: MessageField, where: str) -> Write:
    def write_list(values: object) -> bytes:
        if not isinstance(values, list):
            raise misfit(where, "list")
        if None in values:
            unset = _unset(field.type, field.number, where)
            return b"".join(unset if value is None else write(value) for value in values)
        return b"".join(map(write, values))

    return write_list


def _map_writer(field: MessageField, where: str) -> Write:
    head, write = tag(field.number, LENGTH), _single(field.type, _VALUE_NUMBER, where)

    def write_entry(key: object, value: object) -> bytes:
        written = _unset(field.type, _VALUE_NUMBER, where) if value is None else write(value)
        return head + sized(_KEY + sized(text_bytes(key, where)) + written)

    def write_map(values: object) -> bytes:
        if not isinstance(values, dict):
            raise misfit(where, "object")
        return b"".join(write_entry(key, values[key]) for key in sorted(values))

    return write_map
