"""Conversions: between types (`int('5')`, `string(1.0)`, `timestamp(0)`, …), from Python objects
and the fields of well-known messages to values, and from values to text that would make them again.

One function per overload, named source_to_target; each trusts its argument's class. A text that
does not parse is `type conversion error from 'string' to 'T'` whatever the cause.
"""

from __future__ import annotations

import math
import re
import struct
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, Final, NoReturn

from celadon.cel import types
from celadon.cel.errors import EvaluationError
from celadon.cel.types import Type
from celadon.cel.values import Value
from celadon.cel.values.arithmetic import integer_overflow, unsigned_overflow
from celadon.cel.values.maps import MixedMap, make_map
from celadon.cel.values.runtime_types import NONE, Opaque, Optional, conversion_error, is_list
from celadon.cel.values.text import (
    MAX_INT,
    MAX_UINT,
    MIN_INT,
    Uint,
    go_float,
    go_plain_float,
    utf8,
    written,
)
from celadon.cel.values.timestamps import (
    MAX_SECONDS,
    MIN_SECONDS,
    Duration,
    Timestamp,
    duration_seconds,
    format_timestamp,
    in_int64,
    parse_duration,
    parse_timestamp,
    timestamp_at,
    timestamp_overflow,
)
from celadon.late_patterns import late_pattern

INVALID_UTF8 = "invalid UTF-8 in bytes, cannot convert to string"
_BOOLS = {
    **dict.fromkeys(("1", "t", "T", "TRUE", "true", "True"), True),
    **dict.fromkeys(("0", "f", "F", "FALSE", "false", "False"), False),
}
#: So many digits are an int64.
_SURE_DIGITS = 18
# Zeros stay out of the groups: Python refuses to read integers of thousands of digits.
_SIGNED = late_pattern(r"([+-]?)0*([0-9]{1,19})")
_UNSIGNED = late_pattern(r"0*([0-9]{1,20})")
_DIGITS = r"[0-9]++(?:_[0-9]++)*+"
_DECIMAL = late_pattern(
    rf"[+-]?(?:{_DIGITS}(?:\.(?:{_DIGITS})?)?|\.{_DIGITS})(?:[eE][+-]?{_DIGITS})?"
)
_HEX_DIGITS = r"[0-9a-fA-F]++(?:_[0-9a-fA-F]++)*+"
_HEXADECIMAL = late_pattern(
    rf"[+-]?0[xX]_?(?:{_HEX_DIGITS}(?:\.(?:{_HEX_DIGITS})?)?|\.{_HEX_DIGITS})[pP][+-]?{_DIGITS}"
)
_NAMED_DOUBLES = late_pattern(r"nan|[+-]?inf(?:inity)?", re.IGNORECASE | re.ASCII)


def _fail(target: Type) -> NoReturn:
    raise conversion_error(types.STRING, target)


def identity(value: object) -> Value:
    """Return what a conversion to the value's own type gives."""
    return value


def string_to_bool(s: str) -> bool:
    """Go's spellings (`1`, `t`, `T`, `TRUE`, `true`, `True` and their opposites). Raises
    EvaluationError."""
    value = _BOOLS.get(s)
    if value is None:
        _fail(types.BOOL)
    return value


def string_to_bytes(s: str) -> bytes:
    """Return the text as UTF-8."""
    return utf8(s)


def int_to_double(n: int) -> float:
    """Return the nearest double."""
    return float(n)


def string_to_double(s: str) -> float:
    """Read it as Go's `strconv.ParseFloat` does. Raises EvaluationError."""
    if _DECIMAL.fullmatch(s):
        value = float(s)
    elif _NAMED_DOUBLES.fullmatch(s):
        return float(s)
    elif _HEXADECIMAL.fullmatch(s):
        value = _hexadecimal(s)
    else:
        _fail(types.DOUBLE)
    if math.isinf(value):
        _fail(types.DOUBLE)
    return value


def _hexadecimal(s: str) -> float:
    try:
        return float.fromhex(s.replace("_", ""))
    except (OverflowError, ValueError):
        return math.inf


def int_to_duration(n: int) -> Duration:
    """Type-checks in cel-go, but always fails."""
    raise conversion_error(types.INT, types.DURATION)


def string_to_duration(s: str) -> Duration:
    """Read it as Go's `time.ParseDuration` does: `1h30m`, `-1.5s`. Raises EvaluationError."""
    duration = parse_duration(s)
    if duration is None:
        _fail(types.DURATION)
    return duration


def double_to_int(value: float) -> int:
    """Toward zero. -2^63 itself is refused, as in cel-go."""
    if -(2.0**63) < value < 2.0**63:
        return int(value)
    raise integer_overflow()


def duration_to_int(d: Duration) -> int:
    """Return the nanoseconds of a duration."""
    return d.nanoseconds


def string_to_int(s: str) -> int:
    """Decimal digits with an optional sign. Raises EvaluationError, also beyond int64."""
    if len(s) <= _SURE_DIGITS and s.isascii() and s.isdigit():
        return int(s)
    parts = _SIGNED.fullmatch(s)
    if parts is not None:
        value = int(parts[1] + parts[2])
        if MIN_INT <= value <= MAX_INT:
            return value
    _fail(types.INT)


def timestamp_to_int(t: Timestamp) -> int:
    """Seconds since 1970, rounded down."""
    return t.seconds


def uint_to_int(n: Uint) -> int:
    """Convert a uint. Raises EvaluationError beyond int64."""
    if n > MAX_INT:
        raise integer_overflow()
    return int(n)


def bool_to_string(b: bool) -> str:
    """Return `true` or `false`."""
    return "true" if b else "false"


def bytes_to_string(b: bytes) -> str:
    """Return the bytes as UTF-8. Raises EvaluationError if they are none."""
    try:
        return b.decode()
    except UnicodeDecodeError as error:
        raise EvaluationError(INVALID_UTF8) from error


def double_to_string(value: float) -> str:
    """Return the shortest text that reads back the same, as Go writes it: `1e+21`, `+Inf`."""
    return go_float(value)


def duration_to_string(d: Duration) -> str:
    """Decimal seconds: `5400s`, `0.001s`."""
    return go_plain_float(duration_seconds(d)) + "s"


def int_to_string(n: int) -> str:
    """Decimal digits; of a uint, too."""
    return str(int(n))


def int_to_timestamp(n: int) -> Timestamp:
    """Return the time so many seconds after 1970. Raises EvaluationError beyond the years 1 to
    9999."""
    if MIN_SECONDS <= n <= MAX_SECONDS:
        return Timestamp(n)
    raise timestamp_overflow()


def string_to_timestamp(s: str) -> Timestamp:
    """Read it as RFC 3339 writes it. Raises EvaluationError."""
    timestamp = parse_timestamp(s)
    if timestamp is None:
        _fail(types.TIMESTAMP)
    return timestamp


def double_to_uint(value: float) -> Uint:
    """Convert a double to a uint, rounded towards zero. Raises EvaluationError for what does not
    fit, NaN included."""
    if 0.0 <= value < 2.0**64:
        return Uint(value)
    raise unsigned_overflow()


def int_to_uint(n: int) -> Uint:
    """Convert an int. Raises EvaluationError for negative numbers."""
    if n < 0:
        raise unsigned_overflow()
    return Uint(n)


def string_to_uint(s: str) -> Uint:
    """Decimal digits. Raises EvaluationError, also beyond uint64."""
    parts = _UNSIGNED.fullmatch(s)
    if parts is not None:
        value = int(parts[1])
        if value <= MAX_UINT:
            return Uint(value)
    _fail(types.UINT)


# --- Values as text ----------------------------------------------------------
#
# CEL values as text: the literal, or the call, that would make them again.


def notation(value: object) -> str:
    """Write a value down: `{"a": [1, 2u, 1.5]}`, `duration("90s")`, `optional.none()`, `b"\x00"`.
    Raises EvaluationError for what is too long."""
    return _notation(value, {})


def _quoted(value: bool | str | None) -> str:
    import json  # late: only texts for people need it

    return json.dumps(value, ensure_ascii=False)


def _notation(value: object, memo: dict[int, str]) -> str:
    """`memo` are the lists and maps that are written, by identity."""
    if value is None or isinstance(value, bool | str):
        return _quoted(value)
    if isinstance(value, int | float):
        return _number(value)
    if isinstance(value, bytes):
        return f'b"{_bytes(value)}"'
    if isinstance(value, list | tuple | Mapping):
        text = memo.get(id(value))
        if text is None:
            text = memo[id(value)] = _container(value, memo)
        return text
    return _named(value, memo)


def _container(value: Sequence[Value] | Mapping[Any, Any], memo: dict[int, str]) -> str:
    if isinstance(value, Mapping):
        entries = (f"{_notation(k, memo)}: {_notation(v, memo)}" for k, v in value.items())
        return f"{{{written(entries)}}}"
    return f"[{written(_notation(item, memo) for item in value)}]"


def _number(value: int | float) -> str:
    if isinstance(value, Uint):
        return f"{int(value)}u"
    if isinstance(value, int):
        return str(int(value))
    if value != value:
        return 'double("NaN")'
    if value in (float("inf"), float("-inf")):
        return f'double("{"-" if value < 0 else ""}Infinity")'
    return repr(value)


def _bytes(value: bytes) -> str:
    return "".join(
        chr(byte) if 32 <= byte < 127 and chr(byte) not in '"\\' else f"\\x{byte:02x}"
        for byte in value
    )


def _named(value: object, memo: dict[int, str]) -> str:
    if isinstance(value, Timestamp):
        return f'timestamp("{format_timestamp(value)}")'
    if isinstance(value, Duration):
        return f'duration("{duration_to_string(value)}")'
    if isinstance(value, Optional):
        return (
            "optional.none()" if value is NONE else f"optional.of({_notation(value.value, memo)})"
        )
    if isinstance(value, Type):
        return value.runtime_name
    if isinstance(value, Opaque):
        return f"{value.cel_type.name}({_quoted(value.display())})"
    return str(value)


# --- Python objects ----------------------------------------------------------
#
# Python objects as CEL values: what callers may bind to variables.
#
#     None, bool, str, bytes, list, Uint, Timestamp, Duration, Type, Optional, Opaque   unchanged
#     int            int; beyond int64 a uint if it fits, else an error
#     float          double
#     Decimal        double (int64 if integral and in range)
#     datetime       timestamp; naive ones are taken as UTC
#     timedelta      duration
#     tuple          list
#     Mapping        map; keys are converted like values
#     bytearray, memoryview   bytes
#
# Nothing else is accepted: a `TypeError` names the class and the path. Values that need no change
# are returned as they are, not copied. A request's JSON does not come through here; it is CEL
# already.

_UNCHANGED = frozenset(
    {type(None), bool, str, bytes, float, Uint, Timestamp, Duration, Type, MixedMap}
)


def to_cel(value: Any, path: str = "value") -> Any:
    """Return the CEL value for a Python object. Raises TypeError or ValueError, with the path."""
    kind = value.__class__
    if kind in _UNCHANGED or isinstance(value, Opaque):
        return value
    if kind is int:
        return _integer(value, path)
    if isinstance(value, (list, tuple)):
        return _list(value, path)
    if isinstance(value, Mapping):
        return _map(value, path)
    if kind is Optional:
        return value if value is NONE else Optional(to_cel(value.value, path))
    return _converted(value, path)


def _converted(value: object, path: str) -> Value:
    match value:
        case bytearray() | memoryview():
            return bytes(value)
        case str():
            return str(value)
        case int():
            return _integer(int(value), path)
        case float():
            return float(value)
        case _:
            return _of_library(value, path)


def _of_library(value: object, path: str) -> Value:
    """Return an object of `datetime` or `decimal` as a value. Raises TypeError for other classes,
    ValueError for what is out of range."""
    # late: both are loaded with the first of their objects.
    from datetime import UTC, datetime, timedelta
    from decimal import Decimal

    microsecond = timedelta(microseconds=1)
    match value:
        case datetime():
            aware = value if value.tzinfo else value.replace(tzinfo=UTC)
            microseconds = (aware - datetime(1970, 1, 1, tzinfo=UTC)) // microsecond
            seconds, rest = divmod(microseconds, 1_000_000)
            offset = aware.utcoffset() or timedelta()
            return Timestamp(seconds, rest * 1000, offset // timedelta(minutes=1))
        case timedelta():
            nanoseconds = value // microsecond * 1000
            if not in_int64(nanoseconds):
                raise ValueError(f"{path}: {value} is longer than a duration can be")
            return Duration(nanoseconds)
        case Decimal():
            integral = value.is_finite() and value == value.to_integral_value()
            return int(value) if integral and in_int64(int(value)) else float(value)
        case _:
            raise TypeError(f"{path}: a {type(value).__name__} cannot be a CEL value")


def _integer(n: int, path: str) -> int:
    if MIN_INT <= n <= MAX_INT:
        return n
    if 0 <= n <= MAX_UINT:
        return Uint(n)
    raise ValueError(f"{path}: {n} is beyond the range of int and uint")


def _list(elements: list[Value] | tuple[Value, ...], path: str) -> list[object]:
    converted = [to_cel(element, f"{path}[{i}]") for i, element in enumerate(elements)]
    if is_list(elements) and all(old is new for old, new in zip(elements, converted, strict=True)):
        return elements
    return converted


def _map(entries: Mapping[Value, Value], path: str) -> Value:
    pairs = [
        (to_cel(key, f"{path} key"), to_cel(value, f"{path}.{key}"))
        for key, value in entries.items()
    ]
    if entries.__class__ is dict and all(
        key.__class__ is str and entries[key] is value for key, value in pairs
    ):
        return entries
    return make_map(pairs)


# --- Well-known messages -----------------------------------------------------
#
# The well-known protobuf messages as literals build them.
#
# There are no protobuf messages here: a literal of a well-known type *is* one of CEL's own values
# (cel-go `common/types/pb`). `CONSTRUCTORS` maps a full message name to the function that turns the
# given fields into that value; a field that is not given has its protobuf default.

Fields = Mapping[str, Any]
Constructor = Callable[[Fields], Any]

MIN_INT32: Final = -(1 << 31)
MAX_INT32: Final = (1 << 31) - 1
MAX_UINT32: Final = (1 << 32) - 1

INTEGER_OVERFLOW: Final = "integer overflow"
UNSIGNED_OVERFLOW: Final = "unsigned integer overflow"

_NANOS = 1_000_000_000


def unknown_type(name: str, _: Fields) -> NoReturn:
    """Make no message of a type that only a checker knows. Raises EvaluationError."""
    raise EvaluationError(f"unknown type '{name}'")


def conversion_failed(field: str, reason: str) -> EvaluationError:
    """Return a value that a field, given with the name of its message, cannot take."""
    return EvaluationError(f"field type conversion error for {field} value type: {reason}")


def _duration(fields: Fields) -> Duration:
    return Duration(fields.get("seconds", 0) * _NANOS + fields.get("nanos", 0))


def _timestamp(fields: Fields) -> object:
    return timestamp_at(fields.get("seconds", 0) * _NANOS + fields.get("nanos", 0))


def _value(fields: Fields) -> Any:
    """At most one field is set; none, or `null_value`, is null."""
    data = {name: value for name, value in fields.items() if name != "null_value"}
    return next(iter(data.values())) if data else None


def _any(fields: Fields) -> object:
    """Raise the error for an `Any`: no message type is known that it could hold."""
    raise unpacking_error(fields.get("type_url", ""))


def unpacking_error(type_url: str) -> EvaluationError:
    """Return an `Any` of a type that is not known."""
    reason = "not found" if type_url else "invalid empty type URL"
    return EvaluationError(f'anypb.UnmarshalNew() failed for type "{type_url}": proto: {reason}')


def single(value: float) -> float:
    """Return the value as a 32-bit float holds it; too large ones are infinite."""
    try:
        return float(struct.unpack("<f", struct.pack("<f", value))[0])
    except OverflowError:
        return math.copysign(math.inf, value)


def _wrapper(default: object) -> Constructor:
    return lambda fields: fields.get("value", default)


def _ranged(name: str, minimum: int, maximum: int, default: int, overflow: str) -> Constructor:
    def construct(fields: Fields) -> Any:
        value = fields.get("value", default)
        if not minimum <= value <= maximum:
            raise conversion_failed(f"{name}.value", overflow)
        return value

    return construct


CONSTRUCTORS: Final[Mapping[str, Constructor]] = MappingProxyType(
    {
        "google.protobuf.Any": _any,
        "google.protobuf.BoolValue": _wrapper(False),
        "google.protobuf.BytesValue": _wrapper(b""),
        "google.protobuf.DoubleValue": _wrapper(0.0),
        "google.protobuf.Duration": _duration,
        "google.protobuf.Empty": dict,
        "google.protobuf.FloatValue": lambda fields: single(fields.get("value", 0.0)),
        "google.protobuf.Int32Value": _ranged(
            "google.protobuf.Int32Value", MIN_INT32, MAX_INT32, 0, INTEGER_OVERFLOW
        ),
        "google.protobuf.Int64Value": _wrapper(0),
        "google.protobuf.ListValue": lambda fields: fields.get("values", []),
        "google.protobuf.StringValue": _wrapper(""),
        "google.protobuf.Struct": lambda fields: fields.get("fields", {}),
        "google.protobuf.Timestamp": _timestamp,
        "google.protobuf.UInt32Value": _ranged(
            "google.protobuf.UInt32Value", 0, MAX_UINT32, Uint(0), UNSIGNED_OVERFLOW
        ),
        "google.protobuf.UInt64Value": _wrapper(Uint(0)),
        "google.protobuf.Value": _value,
    }
)
