"""The wire format of protobuf below messages: variable-length integers, lengths, skipping.

All readers take the bytes, where to read, and where the message around it ends; they look at no
byte from there on. They fail with the texts of the code that gogo/protobuf generates, at the same
places, and do work in proportion to the bytes they pass.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from celadon.kube.protobuf.wire.wire_errors import (
    INTEGER_OVERFLOW,
    NEGATIVE_LENGTH,
    UNEXPECTED_END,
    UNEXPECTED_GROUP_END,
    ProtobufError,
    group_end_outside_group,
    illegal_tag,
    illegal_wire_type,
    wrong_wire_type,
)

VARINT: Final = 0
FIXED64: Final = 1
LENGTH: Final = 2
GROUP_START: Final = 3
GROUP_END: Final = 4
FIXED32: Final = 5

_MASK: Final = (1 << 64) - 1
_MAX_SHIFT: Final = 63
_SMALL: Final = tuple(bytes([value]) for value in range(128))


def varint(value: int) -> bytes:
    """Negative numbers are written as 64 bits in two's complement."""
    if 0 <= value < 128:
        return _SMALL[value]
    value &= _MASK
    made = bytearray()
    while value > 127:
        made.append(value & 127 | 128)
        value >>= 7
    made.append(value)
    return bytes(made)


def tag(number: int, wire_type: int) -> bytes:
    """What stands before the value of a field."""
    return varint(number << 3 | wire_type)


def sized(payload: bytes) -> bytes:
    """With its length in front."""
    return varint(len(payload)) + payload


def read_varint(data: bytes, position: int, end: int) -> tuple[int, int]:
    """The value, of 64 bits without sign, and where it ends."""
    shift = value = 0
    while True:
        if shift > _MAX_SHIFT:
            raise ProtobufError(INTEGER_OVERFLOW)
        if position >= end:
            raise ProtobufError(UNEXPECTED_END)
        byte = data[position]
        position += 1
        value |= (byte & 127) << shift
        if byte < 128:
            return value & _MASK, position
        shift += 7


def read_length(data: bytes, position: int, end: int) -> tuple[int, int]:
    """Where the payload starts and where it stops."""
    if position < end and data[position] < 128:
        size = data[position]
        position += 1
    else:
        size, position = read_varint(data, position, end)
    stop = position + size
    if stop > end:
        raise ProtobufError(NEGATIVE_LENGTH if stop > _MASK >> 1 else UNEXPECTED_END)
    return position, stop


def signed(value: int, bits: int) -> int:
    """The low bits of a value as a number with sign."""
    value &= (1 << bits) - 1
    return value - (1 << bits) if value >> (bits - 1) else value


def pass_over(head: int, data: bytes, position: int, end: int, message: str) -> int:
    """Where a field ends that the message does not have; its tag, `head`, is at `position`."""
    number, wire_type = signed(head >> 3, 32), head & 7
    if wire_type == GROUP_END:
        raise group_end_outside_group(message)
    if number <= 0:
        raise illegal_tag(message, number, wire_type)
    return _skip(data, position, end)


def read_payloads(
    data: bytes, position: int, end: int, message: str, names: Mapping[int, str]
) -> dict[int, tuple[int, int]]:
    """Where the payloads of a message start and stop whose fields all have a length; the last one
    counts. `names` has the numbers and what Go calls the fields."""
    found: dict[int, tuple[int, int]] = {}
    while position < end:
        head, after = read_varint(data, position, end)
        number = head >> 3
        if number not in names:
            position = pass_over(head, data, position, end, message)
            continue
        if head & 7 != LENGTH:
            raise wrong_wire_type(head & 7, names[number])
        found[number] = read_length(data, after, end)
        position = found[number][1]
    return found


def _skip(data: bytes, position: int, end: int) -> int:
    """Groups with all that is in them."""
    depth = 0
    while True:
        head, position = read_varint(data, position, end)
        wire_type = head & 7
        if wire_type == VARINT:
            _, position = read_varint(data, position, end)
        elif wire_type == FIXED64:
            position += 8
        elif wire_type == LENGTH:
            _, position = read_length(data, position, end)
        elif wire_type == GROUP_START:
            depth += 1
        elif wire_type == GROUP_END:
            if depth == 0:
                raise ProtobufError(UNEXPECTED_GROUP_END)
            depth -= 1
        elif wire_type == FIXED32:
            position += 4
        else:
            raise illegal_wire_type(wire_type)
        if position > end:
            raise ProtobufError(UNEXPECTED_END)
        if depth == 0:
            return position
