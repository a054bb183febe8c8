"""Whether some bytes are a certificate, and one of an authority.

As Go's `crypto/x509` reads them, as far as its basic constraints.
"""

from __future__ import annotations

import enum
from typing import Final

from celadon.kube.keys.der_values import (
    CONTEXT_0,
    OBJECT_ID,
    OCTET_STRING,
    SEQUENCE,
    DerError,
    DerReader,
)

BOOLEAN: Final = 0x01
EXTENSIONS: Final = 0xA3
"""The tag of what is marked `[3]`."""
BASIC_CONSTRAINTS: Final = bytes((0x55, 0x1D, 0x13))
_UNIQUE_IDS: Final = (0x81, 0x82)


class Authority(enum.Enum):
    """What a certificate says of its owner's right to sign others."""

    NO_CERTIFICATE = enum.auto()
    NONE = enum.auto()
    GIVEN = enum.auto()


def authority_of(der: bytes) -> Authority:
    """Of the bytes of a PEM block."""
    whole = DerReader(der)
    try:
        outer = whole.inner()
        signs = _signs(outer.inner())
        outer.inner()
        outer.bits()
    except DerError:
        return Authority.NO_CERTIFICATE
    if not whole.is_empty:
        return Authority.NO_CERTIFICATE
    return Authority.GIVEN if signs else Authority.NONE


def _signs(fields: DerReader) -> bool:
    if fields.next_is(CONTEXT_0):
        fields.skip()
    fields.integer()
    for _ in ("algorithm", "issuer", "validity", "subject", "key"):
        fields.content(SEQUENCE)
    for tag in _UNIQUE_IDS:
        if fields.next_is(tag):
            fields.skip()
    if not fields.next_is(EXTENSIONS):
        return False
    extensions = fields.inner(EXTENSIONS).inner()
    while not extensions.is_empty:
        extension = extensions.inner()
        kind = extension.content(OBJECT_ID)
        if extension.next_is(BOOLEAN):
            extension.skip()
        value = extension.content(OCTET_STRING)
        if kind == BASIC_CONSTRAINTS:
            constraints = DerReader(value).inner()
            return constraints.next_is(BOOLEAN) and constraints.content(BOOLEAN) != b"\x00"
    return False
