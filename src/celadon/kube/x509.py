"""Certificates (X.509) and what they are made of: DER, names, PEM blocks, points of curves; and
whether one is that of an authority.

As Go's `crypto/x509` reads them, as far as its basic constraints.
"""

from __future__ import annotations

import binascii
import enum
import hashlib
import re
from collections.abc import Iterator
from typing import Final, NamedTuple, TypeAlias

from celadon.kube.errors import MalformedText
from celadon.late_patterns import late_pattern
from celadon.records import dataclass

# --- Der values --------------------------------------------------------------
#
# Values in DER, read one after the other.
#
# As much of ASN.1 as certificates and keys need. As golang.org/x/crypto/cryptobyte.

INTEGER: Final = 0x02
BIT_STRING: Final = 0x03
OCTET_STRING: Final = 0x04
OBJECT_ID: Final = 0x06
SEQUENCE: Final = 0x30
CONTEXT_0: Final = 0xA0
"""The tag of what is marked `[0]`."""


class DerError(MalformedText):
    """Something stands there that was not expected."""


class DerReader:
    """Holds what is left of some bytes. All reads raise DerError."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._position = 0

    @property
    def is_empty(self) -> bool:
        return self._position >= len(self._data)

    def next_is(self, tag: int) -> bool:
        """Return whether a value of this tag follows."""
        return not self.is_empty and self._data[self._position] == tag

    def content(self, tag: int) -> bytes:
        """Return the content of the next value, which has this tag."""
        if not self.next_is(tag):
            raise DerError(f"no value with tag {tag:#x}")
        start = self._position + 1
        length, start = self._length(start)
        end = start + length
        if end > len(self._data):
            raise DerError("cut off")
        self._position = end
        return self._data[start:end]

    def inner(self, tag: int = SEQUENCE) -> DerReader:
        """Return the next value as something to read from."""
        return DerReader(self.content(tag))

    def skip(self) -> None:
        """Skip whatever follows."""
        self.any()

    def any(self) -> tuple[int, bytes]:
        """Return the tag of the next value, whatever it is, and its content."""
        if self.is_empty:
            raise DerError("nothing left")
        tag = self._data[self._position]
        return tag, self.content(tag)

    def integer(self) -> int:
        content = self.content(INTEGER)
        if not content:
            raise DerError("an integer without digits")
        return int.from_bytes(content, "big", signed=True)

    def bits(self) -> bytes:
        """Return a bit string of whole bytes."""
        content = self.content(BIT_STRING)
        if not content or content[0]:
            raise DerError("not whole bytes")
        return content[1:]

    def _length(self, index: int) -> tuple[int, int]:
        """Return the length that stands at a position, and where it ends."""
        if index >= len(self._data):
            raise DerError("cut off")
        first = self._data[index]
        if first < 0x80:
            return first, index + 1
        size = first & 0x7F
        digits = self._data[index + 1 : index + 1 + size]
        if not 0 < size <= 4 or len(digits) < size:
            raise DerError("a length that is none")
        return int.from_bytes(digits, "big"), index + 1 + size


BOOLEAN: Final = 0x01
EXTENSIONS: Final = 0xA3
"""The tag of what is marked `[3]`."""
BASIC_CONSTRAINTS: Final = bytes((0x55, 0x1D, 0x13))
_UNIQUE_IDS: Final = (0x81, 0x82)


class Authority(enum.Enum):
    """Holds what a certificate says of its owner's right to sign others."""

    NO_CERTIFICATE = enum.auto()
    NONE = enum.auto()
    GIVEN = enum.auto()


def authority_of(der: bytes) -> Authority:
    """Return the authority in the bytes of a PEM block."""
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


# --- Names -------------------------------------------------------------------
#
# Who a certificate is for: texts by kind of attribute, as Go's `parseName` reads them.

SET: Final = 0x31
NUMERIC, PRINTABLE, TELETEX, IA5, UTF8, BMP = 0x12, 0x13, 0x14, 0x16, 0x0C, 0x1E
"""Tags of texts."""
_CHARACTERS: Final = {
    NUMERIC: ("NumericString", late_pattern(b"[0-9 ]*")),
    PRINTABLE: ("PrintableString", late_pattern(rb"[A-Za-z0-9'()+,\-./ :=?*&]*")),
    IA5: ("IA5String", late_pattern(b"[\x00-\x7f]*")),
}
_NO_CHARACTERS: Final = late_pattern("[\ufdd0-\ufdef\ufffe\uffff\ud800-\udfff]")


def subject_texts(certificate: bytes) -> list[tuple[bytes, str | None]]:
    """Return the attributes of a certificate's subject: object identifiers, and texts, None for
    what is no text. Raises DerError."""
    fields = DerReader(certificate).inner().inner()
    if fields.next_is(CONTEXT_0):
        fields.skip()
    if fields.integer() < 0:
        raise DerError("negative serial number")
    for _ in ("algorithm", "issuer", "validity"):
        fields.content(SEQUENCE)
    return _attribute_texts(fields.inner())


def name_texts(name: bytes) -> list[tuple[bytes, str | None]]:
    """Return the attributes of a name that stands for itself. Raises DerError in Go's words."""
    try:
        sets = DerReader(name).inner()
    except DerError:
        raise DerError("invalid RDNSequence") from None
    return _attribute_texts(sets)


def _attribute_texts(sets: DerReader) -> list[tuple[bytes, str | None]]:
    result = []
    while not sets.is_empty:
        try:
            attributes = sets.inner(SET)
        except DerError:
            raise DerError("invalid RDNSequence") from None
        while not attributes.is_empty:
            result.append(_attribute(attributes))
    return result


def _attribute(attributes: DerReader) -> tuple[bytes, str | None]:
    wrong = "invalid attribute"
    try:
        attribute = attributes.inner()
        wrong = "invalid attribute type"
        kind = attribute.content(OBJECT_ID)
        wrong = "invalid attribute value: invalid ASN.1 element"
        value = attribute.any()
        wrong = "invalid attribute value: {}"
        return kind, _text(*value)
    except DerError as error:
        raise DerError(f"invalid RDNSequence: {wrong.format(error)}") from None


def _text(tag: int, content: bytes) -> str | None:
    """Return the text of some content. Raises DerError."""
    if tag in _CHARACTERS:
        name, allowed = _CHARACTERS[tag]
        if allowed.fullmatch(content) is None:
            raise DerError(f"invalid {name}")
        return content.decode("ascii")
    if tag == TELETEX:
        return content.decode("latin-1")
    try:
        if tag == UTF8:
            return content.decode("utf-8")
        if tag != BMP:
            return None
        text = content.decode("utf-16-be")
    except UnicodeDecodeError:
        raise DerError("invalid UTF-8 string" if tag == UTF8 else "invalid BMPString") from None
    if len(text) * 2 != len(content) or _NO_CHARACTERS.search(text):
        raise DerError("invalid BMPString")  # what has two units of UTF-16 is in no UCS-2
    return text.removesuffix("\0")


# --- Curve points ------------------------------------------------------------
#
# Public keys of private ones on elliptic curves.
#
# The curves are those that Go's `crypto/x509` knows: NIST's, and Ed25519 (RFC 8032). Nothing
# here needs to be fast or to hide how long it takes: it only finds out whether a key fits a
# certificate.

Point: TypeAlias = tuple[int, int] | None
"""None is the neutral element."""
_Projective: TypeAlias = tuple[int, int, int]
"""`x / z²` and `y / z³`; the neutral element if `z` is 0."""


@dataclass(frozen=True, slots=True)
class Curve:
    """Holds the curve `y² = x³ - 3x + b` over the field of `prime`, given by a base point, which
    has an order."""

    prime: int
    base: tuple[int, int]
    order: int

    @property
    def name(self) -> str:
        """Return the name that Go has for the curve."""
        return f"P{self.prime.bit_length()}"

    @property
    def size(self) -> int:
        """Return how many bytes a coordinate has."""
        return (self.prime.bit_length() + 7) // 8

    def has(self, x: int, y: int) -> bool:
        """Return whether a point is on the curve."""
        (base_x, base_y), p = self.base, self.prime
        return (y * y - x * x * x + 3 * x - base_y**2 + base_x**3 - 3 * base_x) % p == 0

    def sum_of_multiples(self, first: int, second: int, point: tuple[int, int]) -> Point:
        """Return `first` times the base and `second` times the point, added."""
        p = self.prime
        base, other = (*self.base, 1), (*point, 1)
        both = self._projective_sum(base, other)
        total = (1, 1, 0)
        for place in range(max(first.bit_length(), second.bit_length()) - 1, -1, -1):
            total = self._projective_sum(total, total)
            chosen = (first >> place & 1) | (second >> place & 1) << 1
            if chosen:
                total = self._projective_sum(total, (base, other, both)[chosen - 1])
        x, y, z = total
        if not z:
            return None
        inverse = pow(z, -1, p)
        return x * inverse**2 % p, y * inverse**3 % p

    def _projective_sum(self, left: _Projective, right: _Projective) -> _Projective:
        """Return the sum of two points in Jacobian coordinates, where nothing is divided."""
        (x1, y1, z1), (x2, y2, z2), p = left, right, self.prime
        if not z1 or not z2:
            return right if not z1 else left
        square1, square2 = z1 * z1 % p, z2 * z2 % p
        u1, u2 = x1 * square2 % p, x2 * square1 % p
        s1, s2 = y1 * square2 * z2 % p, y2 * square1 * z1 % p
        if u1 == u2:
            return self._doubled(left) if s1 == s2 else (1, 1, 0)
        h, r = u2 - u1, s2 - s1
        h2 = h * h % p
        h3, v = h * h2 % p, u1 * h2 % p
        x = (r * r - h3 - 2 * v) % p
        return x, (r * (v - x) - s1 * h3) % p, h * z1 * z2 % p

    def _doubled(self, point: _Projective) -> _Projective:
        (x1, y1, z1), p = point, self.prime
        if not y1:
            return (1, 1, 0)
        square, y2 = z1 * z1 % p, y1 * y1 % p
        slope, s = 3 * (x1 - square) * (x1 + square) % p, 4 * x1 * y2 % p
        x = (slope * slope - 2 * s) % p
        return x, (slope * (s - x) - 8 * y2 * y2) % p, 2 * y1 * z1 % p

    def public_key(self, secret: int) -> bytes:
        """Return the uncompressed point of a private key."""
        product: Point = None
        addend: Point = self.base
        while secret:
            if secret & 1:
                product = self._sum(product, addend)
            addend = self._sum(addend, addend)
            secret >>= 1
        if product is None:
            return b"\0"
        return b"\4" + b"".join(part.to_bytes(self.size, "big") for part in product)

    def _sum(self, left: Point, right: Point) -> Point:
        if left is None or right is None:
            return left or right
        (x1, y1), (x2, y2), p = left, right, self.prime
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
    0xFFFFFFFFFFFFFFFFFFFFFFFFFFFF16A2E0B8F03E13DD29455C5C2A3D,
)
P256: Final = Curve(
    2**256 - 2**224 + 2**192 + 2**96 - 1,
    (
        0x6B17D1F2E12C4247F8BCE6E563A440F277037D812DEB33A0F4A13945D898C296,
        0x4FE342E2FE1A7F9B8EE7EB4A7C0F9E162BCE33576B315ECECBB6406837BF51F5,
    ),
    0xFFFFFFFF00000000FFFFFFFFFFFFFFFFBCE6FAADA7179E84F3B9CAC2FC632551,
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
    int(
        "FFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFC7634D81F4372DDF"
        "581A0DB248B0A77AECEC196ACCC52973",
        16,
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
    int(
        "01FFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFF"
        "FA51868783BF2F966B7FCC0148F709A5D03BB5C9B8899C47AEBB6FB71E91386409",
        16,
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
_EDWARDS_ORDER: Final = 2**252 + 27742317777372353535851937790883648493
_D: Final = -121665 * pow(121666, -1, _PRIME) % _PRIME
_BASE: Final = (
    15112221349535400772501151409588531511454012693041857206046113283949847762202,
    46316835694926478169428394003475163141307993866256225615783033603165251855960,
)


def ed25519_public_key(seed: bytes) -> bytes:
    """Return the public key of a private one of 32 bytes."""
    digest = bytearray(hashlib.sha512(seed).digest()[:32])
    digest[0] &= 248
    digest[31] = digest[31] & 127 | 64
    secret = int.from_bytes(digest, "little")
    total, addend = (0, 1), _BASE
    while secret:
        if secret & 1:
            total = _edwards_sum(total, addend)
        addend = _edwards_sum(addend, addend)
        secret >>= 1
    x, y = total
    return (y | (x & 1) << 255).to_bytes(32, "little")


def ed25519_verifies(key: bytes, message: bytes, signature: bytes) -> bool:
    """Return whether the owner of a public key has signed a message (RFC 8032, 5.1.7)."""
    point = _edwards_point(key)
    scalar = int.from_bytes(signature[32:], "little")
    if point is None or len(signature) != 64 or scalar >= _EDWARDS_ORDER:
        return False
    digest = hashlib.sha512(signature[:32] + key + message).digest()
    x, y = point
    times = int.from_bytes(digest, "little") % _EDWARDS_ORDER
    extended_sum = _extended_sum(
        _extended_multiple(scalar, _BASE), _extended_multiple(times, (_PRIME - x, y))
    )
    inverse = pow(extended_sum[2], -1, _PRIME)
    x, y = extended_sum[0] * inverse % _PRIME, extended_sum[1] * inverse % _PRIME
    return (y | (x & 1) << 255).to_bytes(32, "little") == signature[:32]


def _edwards_point(encoded: bytes) -> tuple[int, int] | None:
    """Decode a point, as RFC 8032, 5.1.3."""
    number = int.from_bytes(encoded, "little")
    y, odd = number & ((1 << 255) - 1), number >> 255
    u, v = (y * y - 1) % _PRIME, (_D * y * y + 1) % _PRIME
    x = u * v**3 * pow(u * v**7, (_PRIME - 5) // 8, _PRIME) % _PRIME
    if v * x * x % _PRIME == -u % _PRIME:
        x = x * pow(2, (_PRIME - 1) // 4, _PRIME) % _PRIME
    if v * x * x % _PRIME != u:
        return None
    return (x if x & 1 == odd else -x % _PRIME), y % _PRIME


def _extended_multiple(times: int, point: tuple[int, int]) -> tuple[int, int, int, int]:
    x, y = point
    total, addend = (0, 1, 1, 0), (x, y, 1, x * y % _PRIME)
    while times:
        if times & 1:
            total = _extended_sum(total, addend)
        addend = _extended_sum(addend, addend)
        times >>= 1
    return total


def _extended_sum(
    left: tuple[int, int, int, int], right: tuple[int, int, int, int]
) -> tuple[int, int, int, int]:
    """Coordinates `X:Y:Z:T`, where nothing is divided (RFC 8032, 5.1.4)."""
    (x1, y1, z1, t1), (x2, y2, z2, t2) = left, right
    a, b = (y1 - x1) * (y2 - x2) % _PRIME, (y1 + x1) * (y2 + x2) % _PRIME
    c, d = 2 * t1 * t2 * _D % _PRIME, 2 * z1 * z2 % _PRIME
    e, f, g, h = b - a, d - c, d + c, b + a
    return e * f % _PRIME, g * h % _PRIME, f * g % _PRIME, e * h % _PRIME


def _edwards_sum(left: tuple[int, int], right: tuple[int, int]) -> tuple[int, int]:
    (x1, y1), (x2, y2) = left, right
    product = _D * x1 * x2 * y1 * y2
    x = (x1 * y2 + x2 * y1) * pow(1 + product, -1, _PRIME)
    y = (y1 * y2 + x1 * x2) * pow(1 - product, -1, _PRIME)
    return x % _PRIME, y % _PRIME


# --- Pem blocks --------------------------------------------------------------
#
# Blocks of PEM in a text, as Go's `encoding/pem` finds them: what is no block is skipped.

_BLOCK: Final = late_pattern(
    rb"^-----BEGIN (?P<kind>[^\n]*?)-----[ \t\r]*\n"
    rb"(?P<headers>(?:(?!-----)[^\n:]+:[^\n]*\n)*+)"  # which no body is tried on again
    rb"(?P<body>(?:(?!-----)[^\n]*\n)*+)"
    rb"-----END (?P=kind)-----[ \t\r]*$",
    re.MULTILINE,
)


class PemBlock(NamedTuple):
    """Holds a block of PEM. `kind` is what stands behind BEGIN."""

    kind: str
    content: bytes
    has_headers: bool = False


def pem_blocks(text: bytes) -> Iterator[PemBlock]:
    """Return all PEM blocks, in order."""
    return (block for block, _ in _blocks(text))


def _blocks(text: bytes) -> Iterator[tuple[PemBlock, int]]:
    """Yield all PEM blocks, each with where it ends."""
    for item in _BLOCK.finditer(text):
        body = b"".join(item["body"].split())
        try:
            content = binascii.a2b_base64(body, strict_mode=True)
        except binascii.Error:
            continue
        kind = item["kind"].decode("utf-8", "replace")
        yield PemBlock(kind, content, bool(item["headers"])), item.end()


CERTIFICATE: Final = "CERTIFICATE"
_NO_BLOCK: Final = "unable to parse bytes as PEM block"


def bundle_fault(text: bytes) -> str:
    """Return why there is nobody to be trusted in a bundle of certificates, in the words of
    client-go's `transport`; empty if there is."""
    result = [*_blocks(text)]
    fault = ""
    for block, _ in result:
        if block.kind != CERTIFICATE or block.has_headers:
            continue
        if authority_of(block.content) is not Authority.NO_CERTIFICATE:
            return ""
        fault = fault or "failed to parse certificate: x509: malformed certificate"
    if not fault:
        rest = text[result[-1][1] :] if result else text
        is_read = rest in (b"", b"\n", b"\r\n") and bool(result)
        fault = "no valid certificate authority data seen" if is_read else _NO_BLOCK
    return f"unable to load root certificates: {fault}"


# --- Key pairs ---------------------------------------------------------------
#
# Whether a certificate and a private key belong together, in the words of Go.
#
# As `X509KeyPair` of Go's `crypto/tls`. Of a certificate only what leads to its public key is
# looked at: what is wrong elsewhere in it goes unnoticed.

RSA: Final = bytes.fromhex("2a864886f70d010101")
ELLIPTIC: Final = bytes.fromhex("2a8648ce3d0201")
ED25519: Final = bytes.fromhex("2b6570")
"""Object identifiers of kinds of keys, encoded."""

_SWITCHED: Final = (
    "tls: failed to find certificate PEM data in certificate input, but did find a private key; "
    "PEM inputs may have been switched"
)


class PublicKey(NamedTuple):
    """Holds a public key. `value` is the modulus of an RSA key, else the point."""

    kind: bytes
    value: bytes


class KeyFault(MalformedText):
    """Says what is wrong, in Go's words."""


def key_pair_fault(certificate: bytes, key: bytes) -> str:
    """Return what is wrong with the pair, both as PEM; empty if nothing is."""
    try:
        leaf, secret = _leaf(certificate), _secret(key)
        of_certificate, of_key = _certificate_key(leaf), _private_key(secret)
    except KeyFault as fault:
        return str(fault)
    if of_certificate.kind not in (RSA, ELLIPTIC, ED25519):
        return "tls: unknown public key algorithm"
    if of_certificate.kind != of_key.kind:
        return "tls: private key type does not match public key type"
    if of_certificate.value != of_key.value:
        return "tls: private key does not match public key"
    return ""


def _leaf(text: bytes) -> bytes:
    skipped = []
    for block in pem_blocks(text):
        if block.kind == "CERTIFICATE":
            return block.content
        skipped.append(block.kind)
    if not skipped:
        raise KeyFault("tls: failed to find any PEM data in certificate input")
    if len(skipped) == 1 and skipped[0].endswith("PRIVATE KEY"):
        raise KeyFault(_SWITCHED)
    raise KeyFault(
        'tls: failed to find "CERTIFICATE" PEM block in certificate input after skipping PEM '
        f"blocks of the following types: [{' '.join(skipped)}]"
    )


def _secret(text: bytes) -> bytes:
    skipped = []
    for block in pem_blocks(text):
        if block.kind == "PRIVATE KEY" or block.kind.endswith(" PRIVATE KEY"):
            return block.content
        skipped.append(block.kind)
    if not skipped:
        raise KeyFault("tls: failed to find any PEM data in key input")
    if skipped == ["CERTIFICATE"]:
        raise KeyFault("tls: found a certificate rather than a key in the PEM for the private key")
    raise KeyFault(
        'tls: failed to find PEM block with type ending in "PRIVATE KEY" in key input after '
        f"skipping PEM blocks of the following types: [{' '.join(skipped)}]"
    )


class _Fields:
    """The fields of a certificate in their order, each with what is said if it is not there."""

    def __init__(self, reader: DerReader) -> None:
        self._reader = reader

    def read(self, subject: str) -> DerReader:
        try:
            return self._reader.inner()
        except DerError:
            raise KeyFault(f"x509: malformed {subject}") from None

    def version(self) -> None:
        try:
            if self._reader.next_is(CONTEXT_0):
                self._reader.content(CONTEXT_0)
        except DerError:
            raise KeyFault("x509: malformed version") from None

    def serial(self) -> None:
        try:
            self._reader.integer()
        except DerError:
            raise KeyFault("x509: malformed serial number") from None


def _certificate_key(der: bytes) -> PublicKey:
    whole = DerReader(der)
    outer = _Fields(whole).read("certificate")
    fields = _Fields(_Fields(outer).read("tbs certificate"))
    fields.version()
    fields.serial()
    fields.read("signature algorithm identifier")
    _Fields(outer).read("algorithm identifier")
    for item in ("issuer", "validity", "issuer"):
        fields.read(item)
    public_key = _public_key(fields.read("spki"))
    if not whole.is_empty:
        raise KeyFault("x509: trailing data")
    return public_key


def _public_key(reader: DerReader) -> PublicKey:
    try:
        kind = reader.inner().content(OBJECT_ID)
        value = reader.bits()
        if kind == RSA:
            value = _unsigned(DerReader(value).inner().integer())
    except DerError:
        raise KeyFault("x509: malformed public key algorithm identifier") from None
    return PublicKey(kind, value)


def _unsigned(number: int) -> bytes:
    return number.to_bytes((number.bit_length() + 8) // 8, "big", signed=True)


def _private_key(der: bytes) -> PublicKey:
    """Return the public key of a private one in any of the three forms."""
    for read in (_plain_rsa, _wrapped, _plain_elliptic):
        try:
            return read(der)
        except DerError:
            continue
    raise KeyFault("tls: failed to parse private key")


def _plain_rsa(der: bytes) -> PublicKey:
    fields = DerReader(der).inner()
    fields.integer()
    modulus = fields.integer()
    if modulus <= 0:
        raise DerError("no modulus")
    for _ in range(4):
        fields.integer()
    return PublicKey(RSA, _unsigned(modulus))


def _wrapped(der: bytes) -> PublicKey:
    fields = DerReader(der).inner()
    fields.integer()
    algorithm = fields.inner()
    kind, content = algorithm.content(OBJECT_ID), fields.content(OCTET_STRING)
    if kind == RSA:
        return _plain_rsa(content)
    if kind == ELLIPTIC:
        return _plain_elliptic(content, algorithm.content(OBJECT_ID))
    if kind == ED25519:
        seed = DerReader(content).content(OCTET_STRING)
        if len(seed) != 32:
            raise DerError("no seed")
        return PublicKey(ED25519, ed25519_public_key(seed))
    raise KeyFault("tls: found unknown private key type in PKCS#8 wrapping")


def _plain_elliptic(der: bytes, curve: bytes = b"") -> PublicKey:
    fields = DerReader(der).inner(SEQUENCE)
    fields.integer()
    secret = int.from_bytes(fields.content(OCTET_STRING), "big")
    if not curve and fields.next_is(CONTEXT_0):
        curve = fields.inner(CONTEXT_0).content(OBJECT_ID)
    if curve not in CURVES:
        raise DerError("unknown curve")
    return PublicKey(ELLIPTIC, CURVES[curve].public_key(secret))
