"""Timestamps on the wire: seconds since 1970 and nanoseconds, of which Go keeps what JSON shows.

As k8s.io/apimachinery `pkg/apis/meta/v1/time_proto.go` and `micro_time_proto.go`: the zero time has
no bytes, a `Time` has no fraction, a `MicroTime` whole microseconds.
"""

from __future__ import annotations

import datetime
from typing import Final

from celadon.kube.go.go_time import TimeError, canonical_micro_time, canonical_time
from celadon.kube.protobuf.wire.wire_errors import ProtobufError, misfit, wrong_wire_type
from celadon.kube.protobuf.wire.wire_format import VARINT, pass_over, read_varint, signed, varint
from celadon.remembering import remembering

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
    """None for the zero time."""
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
    found = {1: 0, 2: 0}
    while position < stop:
        head, after = read_varint(data, position, stop)
        if head >> 3 not in found:
            position = pass_over(head, data, position, stop, "Timestamp")
            continue
        if head & 7 != VARINT:
            raise wrong_wire_type(head & 7, _FIELDS[head >> 3])
        found[head >> 3], position = read_varint(data, after, stop)
    return signed(found[1], 64), signed(found[2], 32)


def _moment(seconds: int) -> str:
    try:
        moment = _EPOCH + datetime.timedelta(seconds=seconds)
    except OverflowError:
        raise ProtobufError(_OUT_OF_RANGE) from None
    return moment.isoformat()
