"""The encoders library (cel-go `ext.Encoders`): base64. Not in Kubernetes."""

from __future__ import annotations

import base64

from celadon.cel import size_growth
from celadon.cel.declarations import Function, Library
from celadon.cel.errors import EvaluationError
from celadon.cel.types import BYTES, STRING
from celadon.cel.values.text import utf8
from celadon.late_patterns import late_pattern

_PADDED = late_pattern(rb"(?:[A-Za-z0-9+/]{4})*+(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?")
_FOREIGN = late_pattern(rb"[^A-Za-z0-9+/\r\n]")


def encode(data: bytes) -> str:
    return base64.b64encode(data).decode()


def decode(text: str) -> bytes:
    """Decode the standard alphabet, padded or not; line breaks are skipped."""
    data = utf8(text)
    digits = data.replace(b"\r", b"").replace(b"\n", b"")
    if _PADDED.fullmatch(digits) is None:
        foreign = _FOREIGN.search(data)
        if foreign is not None or len(digits) % 4 == 1:
            index = foreign.start() if foreign is not None else len(data) - 1
            raise EvaluationError(f"illegal base64 data at input byte {index}")
        digits += b"=" * (-len(digits) % 4)
    return base64.b64decode(digits)


LIBRARY = Library(
    "encoders",
    functions=(
        Function.single(
            "base64.decode",
            "base64_decode_string",
            (STRING,),
            BYTES,
            decode,
            "Reads base64, with or without padding.",
            ("base64.decode('aGVsbG8=')", "b'hello'"),
            growth=size_growth.first,
        ),
        Function.single(
            "base64.encode",
            "base64_encode_bytes",
            (BYTES,),
            STRING,
            encode,
            "Writes base64, with padding.",
            ("base64.encode(b'hello')", "'aGVsbG8='"),
            growth=size_growth.times(1.5),
        ),
    ),
)
