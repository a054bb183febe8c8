"""What is counted of a review that somebody else answers: little is read of its bytes."""

from __future__ import annotations

from typing import Final

import msgspec

from celadon.admission import Operation

UNKNOWN: Final = "unknown"
_OPERATIONS: Final = frozenset(one.value for one in Operation)


class _Request(msgspec.Struct):
    operation: str = ""


class _Asked(msgspec.Struct):
    request: _Request


class _Response(msgspec.Struct):
    allowed: bool


class _Answered(msgspec.Struct):
    response: _Response


_ASKED: Final = msgspec.json.Decoder(_Asked)
_ANSWERED: Final = msgspec.json.Decoder(_Answered)


def operation_of(body: bytes) -> str:
    """Of a review's request; `unknown` if it names none that there is."""
    try:
        found = _ASKED.decode(body).request.operation
    except (msgspec.DecodeError, UnicodeDecodeError):
        return UNKNOWN
    return found if found in _OPERATIONS else UNKNOWN


def is_allowed(body: bytes) -> bool | None:
    """What an answer says; None if it is no review."""
    try:
        return _ANSWERED.decode(body).response.allowed
    except (msgspec.DecodeError, UnicodeDecodeError):
        return None
