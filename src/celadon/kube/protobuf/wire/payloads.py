"""Length-delimited values that are no messages of the table: strings, bytes, times, raw JSON.

A `Payload` knows both directions between a JSON value and the bytes after the length. Quantities,
`IntOrString` and everything that carries raw JSON are small messages on the wire, and single values
in JSON.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from celadon.kube.protobuf.wire.wire_errors import ProtobufError, wrong_wire_type
from celadon.kube.protobuf.wire.wire_format import (
    LENGTH,
    VARINT,
    pass_over,
    read_length,
    read_payloads,
    read_varint,
    signed,
    sized,
    tag,
    varint,
)
from celadon.kube.protobuf.wire.wire_scalars import SCALARS
from celadon.kube.protobuf.wire.wire_texts import (
    base64_bytes,
    json_bytes,
    read_base64,
    read_raw_json,
    read_text,
    text_bytes,
)
from celadon.kube.protobuf.wire.wire_times import (
    read_micro_time,
    read_time,
    write_micro_time,
    write_time,
)
from celadon.kube.schemas.typed_values import DecodeError, quantity
from celadon.records import dataclass


@dataclass(frozen=True, slots=True)
class Payload:
    """`read` gives None for what JSON leaves out. `unset` is the bytes of a value that nobody set,
    `zero` what is read from them."""

    write: Callable[[Any, str], bytes]
    read: Callable[[bytes, int, int], Any]
    unset: bytes = b""
    zero: Any = None


def _write_quantity(value: object, field: str) -> bytes:
    return _FIRST + sized(text_bytes(value, field))


def _read_quantity(data: bytes, start: int, stop: int) -> str:
    found = read_payloads(data, start, stop, "Quantity", {1: "String_"})
    if 1 not in found:
        return _ZERO_QUANTITY
    try:
        canonical: str = quantity(read_text(data, *found[1]))
    except DecodeError as error:
        raise ProtobufError(str(error)) from None
    return canonical


def _write_int_or_string(value: object, field: str) -> bytes:
    if isinstance(value, str):
        return b"\x08\x01\x10\x00\x1a" + sized(text_bytes(value, field))
    return b"\x08\x00\x10" + SCALARS["int32"].write(value, field) + b"\x1a\x00"


def _read_int_or_string(data: bytes, position: int, stop: int) -> int | str:
    form, number, text = _INT_FORM, 0, ""
    while position < stop:
        head, after = read_varint(data, position, stop)
        field = head >> 3
        if field not in _INT_OR_STRING_FIELDS:
            position = pass_over(head, data, position, stop, "IntOrString")
            continue
        name, wire_type = _INT_OR_STRING_FIELDS[field]
        if head & 7 != wire_type:
            raise wrong_wire_type(head & 7, name)
        if wire_type == LENGTH:
            start, position = read_length(data, after, stop)
            text = read_text(data, start, position)
            continue
        value, position = read_varint(data, after, stop)
        if field == 1:
            form = signed(value, 64)
        else:
            number = signed(value, 32)
    if form not in (_INT_FORM, _STRING_FORM):
        raise ProtobufError("impossible IntOrString.Type")
    return text if form == _STRING_FORM else number


def _write_raw(value: object, field: str) -> bytes:
    return _FIRST + sized(json_bytes(value, field))


def _raw(message: str) -> Payload:
    def read(data: bytes, start: int, stop: int) -> Any:
        found = read_payloads(data, start, stop, message, {1: "Raw"})
        return read_raw_json(data, *found.get(1, (stop, stop)))

    return Payload(_write_raw, read)


_FIRST: Final = tag(1, LENGTH)
_ZERO_QUANTITY: Final = "0"
_INT_FORM: Final = 0
_STRING_FORM: Final = 1
_INT_OR_STRING_FIELDS: Final = {
    1: ("Type", VARINT),
    2: ("IntVal", VARINT),
    3: ("StrVal", LENGTH),
}

PAYLOADS: Final[Mapping[str, Payload]] = {
    "string": Payload(text_bytes, read_text, zero=""),
    "bytes": Payload(base64_bytes, read_base64, zero=""),
    "apiextensions.v1.JSON": _raw("JSON"),
    "intstr.IntOrString": Payload(
        _write_int_or_string, _read_int_or_string, b"\x08\x00\x10\x00\x1a\x00", 0
    ),
    "meta.v1.FieldsV1": _raw("FieldsV1"),
    "meta.v1.MicroTime": Payload(write_micro_time, read_micro_time),
    "meta.v1.Time": Payload(write_time, read_time),
    "resource.Quantity": Payload(
        _write_quantity,
        _read_quantity,
        _FIRST + varint(len(_ZERO_QUANTITY)) + _ZERO_QUANTITY.encode(),
        _ZERO_QUANTITY,
    ),
    "runtime.RawExtension": _raw("RawExtension"),
}
"""Under the type names of the table."""
