"""The wire format of protobuf below messages: variable-length integers, lengths, skipping.

All readers take the bytes, where to read, and where the message around it ends; they look at no
byte from there on. They fail with the texts of the code that gogo/protobuf generates, at the same
places, and do work in proportion to the bytes they pass.
"""

from __future__ import annotations

import base64
import datetime
import struct
from collections.abc import Callable, Mapping
from typing import Any, Final

from celadon.kube.errors import KubeError
from celadon.kube.go.go_json import JsonSyntaxError, RawJson, read_raw
from celadon.kube.go.go_text import Base64Error, canonical_base64, json_text, quote
from celadon.kube.go.go_time import TimeError, canonical_micro_time, canonical_time
from celadon.kube.names import GroupVersionKind
from celadon.kube.schemas.value_decoding import DecodeError, quantity
from celadon.late_patterns import late_pattern
from celadon.memoization import remembering
from celadon.records import dataclass

# --- Wire errors -------------------------------------------------------------
#
# The errors of this sub-room, and the texts that clients see of them.
#
#     ProtobufError            bytes that cannot be read, or a value that fits no field
#       NoMessageError         a kind that has no protobuf form: tables, custom resources
#
# The texts are those of gogo/protobuf's generated code, of Go's `io`, and of
# k8s.io/apimachinery `pkg/runtime/serializer/protobuf` and `pkg/runtime/error.go`. A server
# puts them behind its own `the object provided is unrecognized (...)`.


class ProtobufError(KubeError, ValueError):
    """Says what is wrong where protobuf is read or written; `str()` is upstream's text."""


class NoMessageError(ProtobufError):
    """Says that a kind has no message. A server that was asked to answer with it answers 406."""

    def __init__(self, gvk: GroupVersionKind) -> None:
        self.gvk = gvk
        super().__init__(
            f"object *{gvk.version}.{gvk.kind} does not implement the protobuf marshalling "
            "interface and cannot be encoded to a protobuf message"
        )


UNEXPECTED_END: Final = "unexpected EOF"
NEGATIVE_LENGTH: Final = "proto: negative length found during unmarshaling"
INTEGER_OVERFLOW: Final = "proto: integer overflow"
UNEXPECTED_GROUP_END: Final = "proto: unexpected end of group"
EMPTY_DATA: Final = "empty data"
EMPTY_BODY: Final = "empty body"
NO_PREFIX: Final = (
    "provided data does not appear to be a protobuf message, expected prefix [107 56 115 0]"
)


def group_end_outside_group(message: str) -> ProtobufError:
    return ProtobufError(f"proto: {message}: wiretype end group for non-group")


def illegal_tag(message: str, number: int, wire_type: int) -> ProtobufError:
    return ProtobufError(f"proto: {message}: illegal tag {number} (wire type {wire_type})")


def wrong_wire_type(wire_type: int, field: str) -> ProtobufError:
    return ProtobufError(f"proto: wrong wireType = {wire_type} for field {field}")


def illegal_wire_type(wire_type: int) -> ProtobufError:
    return ProtobufError(f"proto: illegal wireType {wire_type}")


def missing_type(part: str, api_version: str, kind: str) -> ProtobufError:
    """`part` is `Kind` or `apiVersion`."""
    meta = f"runtime.TypeMeta{{APIVersion:{quote(api_version)}, Kind:{quote(kind)}}}"
    return ProtobufError(f"Object '{part}' is missing in '{meta}'")


def misfit(field: str, expected: str) -> ProtobufError:
    """Return the error about a JSON value that its field cannot hold; our own text, since Go has no
    such objects."""
    return ProtobufError(f"`{field}` is no {expected}")


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
    result = bytearray()
    while value > 127:
        result.append(value & 127 | 128)
        value >>= 7
    result.append(value)
    return bytes(result)


def tag(number: int, wire_type: int) -> bytes:
    """Return what stands before the value of a field."""
    return varint(number << 3 | wire_type)


def sized(payload: bytes) -> bytes:
    """Return the data with its length in front."""
    return varint(len(payload)) + payload


def read_varint(data: bytes, position: int, end: int) -> tuple[int, int]:
    """Return the value, of 64 bits without sign, and where it ends."""
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
    """Return where the payload starts and where it stops."""
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
    """Return the low bits of a value as a number with sign."""
    value &= (1 << bits) - 1
    return value - (1 << bits) if value >> (bits - 1) else value


def pass_over(head: int, data: bytes, position: int, end: int, message: str) -> int:
    """Return where a field ends that the message does not have; its tag, `head`, is at
    `position`."""
    number, wire_type = signed(head >> 3, 32), head & 7
    if wire_type == GROUP_END:
        raise group_end_outside_group(message)
    if number <= 0:
        raise illegal_tag(message, number, wire_type)
    return _skip(data, position, end)


def read_payloads(
    data: bytes, position: int, end: int, message: str, names: Mapping[int, str]
) -> dict[int, tuple[int, int]]:
    """Return where the payloads of a message start and stop whose fields all have a length; the
    last one counts. `names` has the numbers and what Go calls the fields."""
    result: dict[int, tuple[int, int]] = {}
    while position < end:
        head, after = read_varint(data, position, end)
        number = head >> 3
        if number not in names:
            position = pass_over(head, data, position, end, message)
            continue
        if head & 7 != LENGTH:
            raise wrong_wire_type(head & 7, names[number])
        result[number] = read_length(data, after, end)
        position = result[number][1]
    return result


def _skip(data: bytes, position: int, end: int) -> int:
    """Return the position behind a field; a group ends after all that is in it."""
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


# --- Wire scalars ------------------------------------------------------------
#
# Numbers and booleans on the wire: the scalars that are no length-delimited bytes.

_DOUBLE: Final = struct.Struct("<d")
_LARGEST_PLAIN: Final = 1e21
"""From here on, Go's JSON writes a double with an exponent."""


@dataclass(frozen=True, slots=True)
class Scalar:
    """Reads and writes a scalar of protobuf. `write` gives the bytes after the tag; `read` the
    value and where it ends."""

    wire_type: int
    zero: Any
    write: Callable[[object, str], bytes]
    read: Callable[[bytes, int, int], tuple[Any, int]]


def _write_bool(value: object, field: str) -> bytes:
    if value.__class__ is not bool:
        raise misfit(field, "boolean")
    return b"\1" if value else b"\0"


def _read_bool(data: bytes, position: int, end: int) -> tuple[bool, int]:
    value, position = read_varint(data, position, end)
    return value != 0, position


def _integer(bits: int) -> Scalar:
    low, high, expected = -(1 << (bits - 1)), (1 << (bits - 1)) - 1, f"integer of {bits} bits"

    def write(value: object, field: str) -> bytes:
        if value.__class__ is not int or not low <= value <= high:
            raise misfit(field, expected)
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
    """Return what JSON writes without a fraction is an integer."""
    if position + _DOUBLE.size > end:
        raise ProtobufError(UNEXPECTED_END)
    value: float = _DOUBLE.unpack_from(data, position)[0]
    if not -_LARGEST_PLAIN < value < _LARGEST_PLAIN:
        if value != value or value in (float("inf"), float("-inf")):
            text = {"nan": "NaN", "inf": "+Inf", "-inf": "-Inf"}[str(value)]
            raise ProtobufError(f"json: unsupported value: {text}")
    elif value.is_integer():
        return int(value), position + _DOUBLE.size
    return value, position + _DOUBLE.size


SCALARS: Final = {
    "bool": Scalar(VARINT, zero=False, write=_write_bool, read=_read_bool),
    "int32": _integer(32),
    "int64": _integer(64),
    "double": Scalar(FIXED64, 0, _write_double, _read_double),
}


# --- Wire texts --------------------------------------------------------------
#
# Strings, bytes and raw JSON on the wire.
#
# Go neither checks nor changes the bytes of a string; only its JSON shows the replacement
# character for each byte that is no UTF-8. Reading here does both at once, so a string that a
# client could read back is what everyone sees.

_REPLACEMENT: Final = "\ufffd"
_LONE: Final = late_pattern("[\ud800-\udfff]")


def text_bytes(value: object, field: str) -> bytes:
    if value.__class__ is not str and not isinstance(value, str):
        raise misfit(field, "string")
    try:
        encoded: bytes = value.encode()
    except UnicodeEncodeError:
        encoded = _LONE.sub(_REPLACEMENT, value).encode()
    return encoded


def read_text(data: bytes, start: int, stop: int) -> str:
    payload = data[start:stop]
    try:
        return payload.decode()
    except UnicodeDecodeError:
        return _LONE.sub(_REPLACEMENT, payload.decode("utf-8", "surrogateescape"))


def base64_bytes(value: object, field: str) -> bytes:
    """Return the bytes of a base64 text."""
    if not isinstance(value, str):
        raise misfit(field, "base64 text")
    try:
        return base64.b64decode(canonical_base64(value))
    except Base64Error as error:
        raise ProtobufError(str(error)) from None


def read_base64(data: bytes, start: int, stop: int) -> str:
    return base64.b64encode(data[start:stop]).decode()


def json_bytes(value: object, field: str) -> bytes:
    try:
        text = value.text if isinstance(value, RawJson) else json_text(value)
    except (TypeError, ValueError, RecursionError):
        raise misfit(field, "JSON value") from None
    return text_bytes(text, field)


def read_raw_json(data: bytes, start: int, stop: int) -> object:
    """Read raw JSON; None when there are no bytes."""
    if start == stop:
        return None
    try:
        return read_raw(read_text(data, start, stop))
    except JsonSyntaxError as error:
        raise ProtobufError(str(error)) from None


# --- Wire times --------------------------------------------------------------
#
# Timestamps on the wire: seconds since 1970 and nanoseconds, of which Go keeps what JSON shows.
#
# As k8s.io/apimachinery `pkg/apis/meta/v1/time_proto.go` and `micro_time_proto.go`: the zero
# time has no bytes, a `Time` has no fraction, a `MicroTime` whole microseconds.

_EPOCH: Final = datetime.datetime(1970, 1, 1)
_ZERO_TIME: Final = int((datetime.datetime(1, 1, 1) - _EPOCH).total_seconds())
_MICRO: Final = 1000
_SECOND: Final = 10**9
_OUT_OF_RANGE: Final = "Time.MarshalJSON: year outside of range [0,9999]"
_FIELDS: Final = {1: "Seconds", 2: "Nanos"}


def write_time(value: object, field: str) -> bytes:
    if not isinstance(value, str):
        raise misfit(field, "timestamp")
    return _time_bytes(value)


def write_micro_time(value: object, field: str) -> bytes:
    if not isinstance(value, str):
        raise misfit(field, "timestamp")
    return _micro_time_bytes(value)


@remembering(1024)
def _time_bytes(text: str) -> bytes:
    try:
        moment = datetime.datetime.fromisoformat(canonical_time(text)[:19])
    except TimeError as error:
        raise ProtobufError(str(error)) from None
    return _timestamp(moment, 0)


@remembering(1024)
def _micro_time_bytes(text: str) -> bytes:
    try:
        canonical = canonical_micro_time(text)
    except TimeError as error:
        raise ProtobufError(str(error)) from None
    moment = datetime.datetime.fromisoformat(canonical[:19])
    return _timestamp(moment, int(canonical[20:26]) * _MICRO)


def _timestamp(moment: datetime.datetime, nanos: int) -> bytes:
    seconds = int((moment - _EPOCH).total_seconds())
    if seconds == _ZERO_TIME and not nanos:
        return b""
    return b"\x08" + varint(seconds) + b"\x10" + varint(nanos)


def read_time(data: bytes, start: int, stop: int) -> str | None:
    """Read a time; None for the zero time."""
    seconds, _ = _read_timestamp(data, start, stop)
    if start == stop or seconds == _ZERO_TIME:
        return None
    return _moment(seconds) + "Z"


def read_micro_time(data: bytes, start: int, stop: int) -> str | None:
    seconds, nanos = _read_timestamp(data, start, stop)
    micros = abs(nanos) // _MICRO * (1 if nanos >= 0 else -1)
    seconds += micros * _MICRO // _SECOND
    micros %= _SECOND // _MICRO
    if start == stop or (seconds == _ZERO_TIME and not micros):
        return None
    return f"{_moment(seconds)}.{micros:06}Z"


def _read_timestamp(data: bytes, position: int, stop: int) -> tuple[int, int]:
    result = {1: 0, 2: 0}
    while position < stop:
        head, after = read_varint(data, position, stop)
        if head >> 3 not in result:
            position = pass_over(head, data, position, stop, "Timestamp")
            continue
        if head & 7 != VARINT:
            raise wrong_wire_type(head & 7, _FIELDS[head >> 3])
        result[head >> 3], position = read_varint(data, after, stop)
    return signed(result[1], 64), signed(result[2], 32)


def _moment(seconds: int) -> str:
    try:
        moment = _EPOCH + datetime.timedelta(seconds=seconds)
    except OverflowError:
        raise ProtobufError(_OUT_OF_RANGE) from None
    return moment.isoformat()


# --- Payloads ----------------------------------------------------------------
#
# Length-delimited values that are no messages of the table: strings, bytes, times, raw JSON.
#
# A `Payload` knows both directions between a JSON value and the bytes after the length.
# Quantities, `IntOrString` and everything that carries raw JSON are small messages on the wire,
# and single values in JSON.


@dataclass(frozen=True, slots=True)
class Payload:
    """Reads and writes what a field of protobuf holds. `read` gives None for what JSON leaves out.
    `unset` is the bytes of a value that nobody set, `zero` what is read from them."""

    write: Callable[[object, str], bytes]
    read: Callable[[bytes, int, int], Any]
    unset: bytes = b""
    zero: Any = None


def _write_quantity(value: object, field: str) -> bytes:
    return _FIRST + sized(text_bytes(value, field))


def _read_quantity(data: bytes, start: int, stop: int) -> str:
    result = read_payloads(data, start, stop, "Quantity", {1: "String_"})
    if 1 not in result:
        return _ZERO_QUANTITY
    try:
        canonical: str = quantity(read_text(data, *result[1]))
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
        result = read_payloads(data, start, stop, message, {1: "Raw"})
        return read_raw_json(data, *result.get(1, (stop, stop)))

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
