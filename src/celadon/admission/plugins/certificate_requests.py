"""The subject of a certificate request (PKCS #10), as far as a plugin asks for it.

A request is DER: nested elements of a tag, a length and content. Only the way to the organizations
of the subject is read.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Iterator
from typing import Final

from celadon.patterns import late_pattern

_PEM: Final = late_pattern(
    r"-----BEGIN CERTIFICATE REQUEST-----(?P<body>[^-]*)-----END CERTIFICATE REQUEST-----"
)
_SEQUENCE: Final = 0x30
_SET: Final = 0x31
_ORGANIZATION: Final = bytes.fromhex("55040a")
"""The object identifier 2.5.4.10."""
_UTF16: Final = 0x1E
_LONG: Final = 0x80


class UnreadableRequest(ValueError):
    """What is not a request."""


def organizations(request: str) -> list[str]:
    """Those of a `spec.request`: PEM in base64. Raises UnreadableRequest."""
    try:
        pem = base64.b64decode(request, validate=True).decode("ascii", "replace")
        found = _PEM.search(pem)
        if found is None:
            raise UnreadableRequest("PEM block type must be CERTIFICATE REQUEST")
        der = base64.b64decode(found["body"])
    except binascii.Error as error:
        raise UnreadableRequest("PEM block type must be CERTIFICATE REQUEST") from error
    return list(_organizations(der))


def _organizations(der: bytes) -> Iterator[str]:
    """CertificationRequest, its info, of that the second of (version, subject, key, ...)."""
    whole = _only(_elements(der), _SEQUENCE)
    info = _only(_elements(whole), _SEQUENCE)
    parts = list(_elements(info))
    if len(parts) < 2 or parts[1][0] != _SEQUENCE:
        raise UnreadableRequest("asn1: structure error")
    for tag, names in _elements(parts[1][1]):
        for _, pair in _elements(names) if tag == _SET else ():
            fields = list(_elements(pair))
            if len(fields) == 2 and fields[0][1] == _ORGANIZATION:
                yield _text(*fields[1])


def _only(elements: Iterator[tuple[int, bytes]], tag: int) -> bytes:
    """The content of the first element, which is one of these."""
    found = next(elements, (0, b""))
    if found[0] != tag:
        raise UnreadableRequest("asn1: structure error")
    return found[1]


def _elements(data: bytes) -> Iterator[tuple[int, bytes]]:
    at = 0
    while at + 2 <= len(data):
        tag, length = data[at], data[at + 1]
        at += 2
        if length >= _LONG:
            size = length - _LONG
            length = int.from_bytes(data[at : at + size])
            at += size
        if at + length > len(data):
            raise UnreadableRequest("asn1: syntax error: data truncated")
        yield tag, data[at : at + length]
        at += length


def _text(tag: int, content: bytes) -> str:
    return content.decode("utf-16-be" if tag == _UTF16 else "utf-8", "replace")
