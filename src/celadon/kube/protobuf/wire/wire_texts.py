"""Strings, bytes and raw JSON on the wire.

Go neither checks nor changes the bytes of a string; only its JSON shows the replacement character
for each byte that is no UTF-8. Reading here does both at once, so a string that a client could read
back is what everyone sees.
"""

from __future__ import annotations

import base64
from typing import Any, Final

from celadon.kube.go.go_base64 import Base64Error, canonical_base64
from celadon.kube.go.go_json_scanner import JsonSyntaxError
from celadon.kube.go.go_text import json_text
from celadon.kube.go.json_reader import read_json
from celadon.kube.protobuf.wire.wire_errors import ProtobufError, misfit
from celadon.patterns import late_pattern

_REPLACEMENT: Final = "\ufffd"
_LONE: Final = late_pattern("[\ud800-\udfff]")


def text_bytes(value: object, field: str) -> bytes:
    if value.__class__ is not str and not isinstance(value, str):
        raise misfit(field, "string")
    try:
        made: bytes = value.encode()
    except UnicodeEncodeError:
        made = _LONE.sub(_REPLACEMENT, value).encode()
    return made


def read_text(data: bytes, start: int, stop: int) -> str:
    payload = data[start:stop]
    try:
        return payload.decode()
    except UnicodeDecodeError:
        return _LONE.sub(_REPLACEMENT, payload.decode("utf-8", "surrogateescape"))


def base64_bytes(value: object, field: str) -> bytes:
    """The bytes of a base64 text."""
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
        text = json_text(value)
    except (TypeError, ValueError, RecursionError):
        raise misfit(field, "JSON value") from None
    return text_bytes(text, field)


def read_raw_json(data: bytes, start: int, stop: int) -> Any:
    """None when there are no bytes."""
    if start == stop:
        return None
    try:
        return read_json(read_text(data, start, stop)).value
    except JsonSyntaxError as error:
        raise ProtobufError(str(error)) from None
