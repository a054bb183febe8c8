"""Public keys of private ones on elliptic curves.

The curves are those that Go's `crypto/x509` knows: NIST's, and Ed25519 (RFC 8032). Nothing here
needs to be fast or to hide how long it takes: it only finds out whether a key fits a certificate.
"""

from __future__ import annotations

import hashlib
from typing import Final, TypeAlias

from celadon.records import dataclass

Point: TypeAlias = tuple[int, int] | None
"""None is the neutral element."""


@dataclass(frozen=True, slots=True)
class Curve:
    """`y² = x³ - 3x + b` over the field of `prime`, given by a base point."""

    prime: int
    base: tuple[int, int]

    @property
    def size(self) -> int:
        """Bytes of a coordinate."""
        return (self.prime.bit_length() + 7) // 8

    def public_key(self, secret: int) -> bytes:
        """The uncompressed point of a private key."""
        found: Point = None
        addend: Point = self.base
        while secret:
            if secret & 1:
                found = self._sum(found, addend)
            addend = self._sum(addend, addend)
            secret >>= 1
        if found is None:
            return b"\0"
        return b"\4" + b"".join(part.to_bytes(self.size, "big") for part in found)

    def _sum(self, one: Point, other: Point) -> Point:
        if one is None or other is None:
            return one or other
        (x1, y1), (x2, y2), p = one, other, self.prime
        if x1 == x2:
            if (y1 + y2) % p == 0:
                return None
            slope = (3 * x1 * x1 - 3) * pow(2 * y1, -1, p)
        else:
            slope = (y2 - y1) * pow(x2 - x1, -1, p)
        x = (slope * slope - x1 - x2) % p
        return x, (slope * (x1 - x) - y1) % p


P224: Final = Curve(
    2**224 - 2**96 + 1,
    (
        0xB70E0CBD6BB4BF7F321390B94A03C1D356C21122343280D6115C1D21,
        0xBD376388B5F723FB4C22DFE6CD4375A05A07476444D5819985007E34,
    ),
)
P256: Final = Curve(
    2**256 - 2**224 + 2**192 + 2**96 - 1,
    (
        0x6B17D1F2E12C4247F8BCE6E563A440F277037D812DEB33A0F4A13945D898C296,
        0x4FE342E2FE1A7F9B8EE7EB4A7C0F9E162BCE33576B315ECECBB6406837BF51F5,
    ),
)
P384: Final = Curve(
    2**384 - 2**128 - 2**96 + 2**32 - 1,
    (
        int(
            "AA87CA22BE8B05378EB1C71EF320AD746E1D3B628BA79B9859F741E082542A38"
            "5502F25DBF55296C3A545E3872760AB7",
            16,
        ),
        int(
            "3617DE4A96262C6F5D9E98BF9292DC29F8F41DBD289A147CE9DA3113B5F0B8C0"
            "0A60B1CE1D7E819D7A431D7C90EA0E5F",
            16,
        ),
    ),
)
P521: Final = Curve(
    2**521 - 1,
    (
        int(
            "00C6858E06B70404E9CD9E3ECB662395B4429C648139053FB521F828AF606B4D"
            "3DBAA14B5E77EFE75928FE1DC127A2FFA8DE3348B3C1856A429BF97E7E31C2E5"
            "BD66",
            16,
        ),
        int(
            "011839296A789A3BC0045C8A5FB42C7D1BD998F54449579B446817AFBD17273E"
            "662C97EE72995EF42640C550B9013FAD0761353C7086A272C24088BE94769FD1"
            "6650",
            16,
        ),
    ),
)

CURVES: Final = {
    bytes.fromhex("2b81040021"): P224,
    bytes.fromhex("2a8648ce3d030107"): P256,
    bytes.fromhex("2b81040022"): P384,
    bytes.fromhex("2b81040023"): P521,
}
"""By their object identifiers, encoded."""

_PRIME: Final = 2**255 - 19
_D: Final = -121665 * pow(121666, -1, _PRIME) % _PRIME
_BASE: Final = (
    15112221349535400772501151409588531511454012693041857206046113283949847762202,
    46316835694926478169428394003475163141307993866256225615783033603165251855960,
)


def ed25519_public_key(seed: bytes) -> bytes:
    """The public key of a private one of 32 bytes."""
    digest = bytearray(hashlib.sha512(seed).digest()[:32])
    digest[0] &= 248
    digest[31] = digest[31] & 127 | 64
    secret = int.from_bytes(digest, "little")
    found, addend = (0, 1), _BASE
    while secret:
        if secret & 1:
            found = _edwards_sum(found, addend)
        addend = _edwards_sum(addend, addend)
        secret >>= 1
    x, y = found
    return (y | (x & 1) << 255).to_bytes(32, "little")


def _edwards_sum(one: tuple[int, int], other: tuple[int, int]) -> tuple[int, int]:
    (x1, y1), (x2, y2) = one, other
    product = _D * x1 * x2 * y1 * y2
    x = (x1 * y2 + x2 * y1) * pow(1 + product, -1, _PRIME)
    y = (y1 * y2 + x1 * x2) * pow(1 - product, -1, _PRIME)
    return x % _PRIME, y % _PRIME
