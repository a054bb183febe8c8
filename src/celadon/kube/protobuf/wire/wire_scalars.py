"""Numbers and booleans on the wire: the scalars that are no length-delimited bytes."""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import Any, Final

from celadon.kube.protobuf.wire.wire_errors import UNEXPECTED_END, ProtobufError, misfit
from celadon.kube.protobuf.wire.wire_format import FIXED64, VARINT, read_varint, signed, varint
from celadon.records import dataclass

_DOUBLE: Final = struct.Struct("<d")
_LARGEST_PLAIN: Final = 1e21
"""From here on, Go's JSON writes a double with an exponent."""


@dataclass(frozen=True, slots=True)
class Scalar:
    """`write` gives the bytes after the tag; `read` the value and where it ends."""

    wire_type: int
    zero: Any
    write: Callable[[Any, str], bytes]
    read: Callable[[bytes, int, int], tuple[Any, int]]


def _write_bool(value: object, field: str) -> bytes:
    if value.__class__ is not bool:
        raise misfit(field, "boolean")
    return b"\1" if value else b"\0"


def _read_bool(data: bytes, position: int, end: int) -> tuple[bool, int]:
    value, position = read_varint(data, position, end)
    return value != 0, position


def _integer(bits: int) -> Scalar:
    low, high, wanted = -(1 << (bits - 1)), (1 << (bits - 1)) - 1, f"integer of {bits} bits"

    def write(value: object, field: str) -> bytes:
        if value.__class__ is not int or not low <= value <= high:
            raise misfit(field, wanted)
        return varint(value)

    def read(data: bytes, position: int, end: int) -> tuple[int, int]:
        if position < end and data[position] < 128:
            return data[position], position + 1
        value, position = read_varint(data, position, end)
        return signed(value, bits), position

    return Scalar(VARINT, 0, write, read)


def _write_double(value: object, field: str) -> bytes:
    if value.__class__ is bool or not isinstance(value, (int, float)):
        raise misfit(field, "number")
    try:
        return _DOUBLE.pack(value)
    except OverflowError:
        raise misfit(field, "number of 64 bits") from None


def _read_double(data: bytes, position: int, end: int) -> tuple[float, int]:
    """What JSON writes without a fraction is an integer."""
    if position + _DOUBLE.size > end:
        raise ProtobufError(UNEXPECTED_END)
    value: float = _DOUBLE.unpack_from(data, position)[0]
    if not -_LARGEST_PLAIN < value < _LARGEST_PLAIN:
        if value != value or value in (float("inf"), float("-inf")):
            shown = {"nan": "NaN", "inf": "+Inf", "-inf": "-Inf"}[str(value)]
            raise ProtobufError(f"json: unsupported value: {shown}")
    elif value.is_integer():
        return int(value), position + _DOUBLE.size
    return value, position + _DOUBLE.size


SCALARS: Final = {
    "bool": Scalar(VARINT, zero=False, write=_write_bool, read=_read_bool),
    "int32": _integer(32),
    "int64": _integer(64),
    "double": Scalar(FIXED64, 0, _write_double, _read_double),
}
