"""Requests for certificates (PKCS #10): what is wrong with one, and whether its key has signed it.

As Go's `crypto/x509` reads them with `ParseCertificateRequest`, and checks them with
`CheckSignature`; the texts are Go's. Numbers are computed here, in pure Python and only with public
keys: nothing needs to be hidden, and a signature takes some milliseconds. RFC 2986.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from typing import Final, NamedTuple, TypeAlias

from celadon.kube import x509
from celadon.kube.errors import MalformedText
from celadon.records import dataclass

MOST_BITS: Final = 16_384
"""Of a modulus; a power of a longer one takes seconds."""


class RequestFault(MalformedText):
    """A request that cannot be read; the text says why, in Go's words."""


def request_fault(text: bytes) -> str:
    """Return what is wrong with a request in PEM; empty if nothing is."""
    block = next(x509.pem_blocks(text), None)
    if block is None or block.kind != "CERTIFICATE REQUEST":
        return "PEM block type must be CERTIFICATE REQUEST"
    try:
        check_signature(read_request(block.content))
    except RequestFault as fault:
        return str(fault)
    return ""


# --- Values, as encoding/asn1 reads them -------------------------------------


class _Syntax(RequestFault):
    def __init__(self, text: str) -> None:
        super().__init__(f"asn1: syntax error: {text}")


class _Structure(RequestFault):
    def __init__(self, text: str) -> None:
        super().__init__(f"asn1: structure error: {text}")


class _Head(NamedTuple):
    """The tag and the length of a value; `at` is where its content begins."""

    of_class: int
    tag: int
    length: int
    compound: bool
    at: int

    def __str__(self) -> str:
        compound = str(self.compound).lower()
        return (
            f"{{class:{self.of_class} tag:{self.tag} length:{self.length} isCompound:{compound}}}"
        )


class _Value(NamedTuple):
    """A value and all of its bytes."""

    head: _Head
    content: bytes
    whole: bytes


@dataclass(frozen=True, slots=True)
class _Kind:
    """The type that Go expects at a place: a universal tag, or any if it is None. `name` is that of
    the type in Go."""

    name: str
    tag: int | None
    compound: bool = False
    of_class: int = 0
    optional: bool = False


_STRUCT: Final = 16
_INT: Final = _Kind("int", 2)
_BITS: Final = _Kind("BitString", 3)
_OID: Final = _Kind("ObjectIdentifier", 6)
_ANY: Final = _Kind("RawValue", None)
_PARAMETERS: Final = _Kind("RawValue", None, optional=True)
_FIELD: Final = (
    "{{optional:{} explicit:false application:false private:false defaultValue:<nil> tag:<nil> "
    "stringType:0 timeType:0 set:{} omitEmpty:false}}"
)


def _base128(data: bytes, index: int) -> tuple[int, int]:
    value = 0
    for count in range(len(data) - index):
        if count == 5:
            raise _Structure("base 128 integer too large")
        byte = data[index + count]
        if not count and byte == 0x80:
            raise _Syntax("integer is not minimally encoded")
        value = value << 7 | byte & 0x7F
        if not byte & 0x80:
            if value > 0x7FFFFFFF:
                raise _Structure("base 128 integer too large")
            return value, index + count + 1
    raise _Syntax("truncated base 128 integer")


def _head(data: bytes, index: int) -> _Head:
    first = data[index]
    tag, index = first & 0x1F, index + 1
    if tag == 0x1F:
        tag, index = _base128(data, index)
        if tag < 0x1F:
            raise _Syntax("non-minimal tag")
    if index >= len(data):
        raise _Syntax("truncated tag or length")
    length, index = data[index], index + 1
    if length & 0x80:
        length, index = _long_length(data, index, length & 0x7F)
    return _Head(first >> 6, tag, length, bool(first & 0x20), index)


def _long_length(data: bytes, index: int, size: int) -> tuple[int, int]:
    if not size:
        raise _Syntax("indefinite length found (not DER)")
    length = 0
    for place in range(index, index + size):
        if place >= len(data):
            raise _Syntax("truncated tag or length")
        if length >= 1 << 23:
            raise _Structure("length too large")
        length = length << 8 | data[place]
        if not length:
            raise _Structure("superfluous leading zeros in length")
    if length < 0x80:
        raise _Structure("non-minimal length")
    return length, index + size


def _number(content: bytes) -> int:
    if not content:
        raise _Structure("empty integer")
    if len(content) > 1 and (content[0], content[1] >> 7) in ((0, 0), (0xFF, 1)):
        raise _Structure("integer not minimally-encoded")
    return int.from_bytes(content, signed=True)


class _Fields:
    """Values one after the other. All reads raise RequestFault."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.at = 0

    def next(self, kind: _Kind) -> _Value | None:
        """Return the next value; None if an optional one is not there."""
        if self.at == len(self.data):
            if kind.optional:
                return None
            raise _Syntax("sequence truncated")
        head = _head(self.data, self.at)
        fits = kind.tag is None or (head.of_class, head.tag, head.compound) == (
            kind.of_class,
            kind.tag,
            kind.compound,
        )
        if not fits:
            if kind.optional:
                return None
            field = _FIELD.format(str(kind.optional).lower(), str(kind.tag == 17).lower())
            raise _Structure(
                f"tags don't match ({kind.tag} vs {head}) {field} {kind.name} @{head.at}"
            )
        end = head.at + head.length
        if end > len(self.data):
            raise _Syntax("data truncated")
        start, self.at = self.at, end
        return _Value(head, self.data[head.at : end], self.data[start:end])

    def value(self, kind: _Kind) -> _Value:
        value = self.next(kind)
        assert value is not None, "a kind that is not optional"
        return value

    def fields(self, name: str) -> _Fields:
        """Return the fields of a structure."""
        return _Fields(self.value(_Kind(name, _STRUCT, compound=True)).content)

    def integer(self) -> int:
        content = self.value(_INT).content
        number = _number(content)
        if len(content) > 8:
            raise _Structure("integer too large")
        return number

    def object_id(self) -> bytes:
        content = self.value(_OID).content
        if not content:
            raise _Syntax("zero length OBJECT IDENTIFIER")
        index = 0
        while index < len(content):
            _, index = _base128(content, index)
        return content

    def bits(self) -> bytes:
        """Return a bit string, aligned to the right."""
        content = self.value(_BITS).content
        if not content:
            raise _Syntax("zero length BIT STRING")
        unused = content[0]
        if unused > 7 or (unused and (len(content) == 1 or content[-1] & ((1 << unused) - 1))):
            raise _Syntax("invalid padding bits in BIT STRING")
        size = len(content) - 1
        return (int.from_bytes(content[1:]) >> unused).to_bytes(size)

    def items(self) -> list[_Value]:
        """Return all that is left; each value is within its bounds."""
        result = []
        while self.at < len(self.data):
            head = _head(self.data, self.at)
            end = head.at + head.length
            if end > len(self.data):
                raise _Syntax("truncated sequence")
            result.append(_Value(head, self.data[head.at : end], self.data[self.at : end]))
            self.at = end
        return result


# --- Reading a request -------------------------------------------------------


class RsaKey(NamedTuple):
    """A key of RSA."""

    modulus: int
    exponent: int
    algorithm: str = "RSA"
    go_type: str = "*rsa.PublicKey"


class CurveKey(NamedTuple):
    """A point on one of NIST's curves."""

    curve: x509.Curve
    point: tuple[int, int]
    algorithm: str = "ECDSA"
    go_type: str = "*ecdsa.PublicKey"


class EdwardsKey(NamedTuple):
    """A point of Ed25519, encoded."""

    point: bytes
    algorithm: str = "Ed25519"
    go_type: str = "ed25519.PublicKey"


Key: TypeAlias = RsaKey | CurveKey | EdwardsKey | None
"""None is a key of a kind that Go does not verify with."""


@dataclass(frozen=True, slots=True)
class SignedRequest:
    """The key, and what it has signed; `key_info` are all bytes about it."""

    signed: bytes
    signature: bytes
    algorithm: bytes
    parameters: bytes
    key: Key
    key_info: bytes


def _algorithm(fields: _Fields) -> tuple[bytes, bytes]:
    """Return an object identifier, and all bytes of its parameters."""
    inner = fields.fields("AlgorithmIdentifier")
    kind = inner.object_id()
    parameters = inner.next(_PARAMETERS)
    return kind, b"" if parameters is None else parameters.whole


def read_request(der: bytes) -> SignedRequest:
    """Read a request. Raises RequestFault for what is no request."""
    whole = _Fields(der)
    outer = whole.fields("certificateRequest")
    to_be_signed = outer.value(_Kind("tbsCertificateRequest", _STRUCT, compound=True))
    inner = _Fields(to_be_signed.content)
    inner.integer()
    subject = inner.value(_ANY)
    key_fields = inner.fields("publicKeyInfo")
    key_info = key_fields.data
    key_kind, key_parameters = _algorithm(key_fields)
    key_bits = key_fields.bits()
    attributes = _Fields(inner.value(_Kind("", 0, compound=True, of_class=2)).content).items()
    algorithm, parameters = _algorithm(outer)
    signature = outer.bits()
    if whole.at < len(der):
        raise _Syntax("trailing data")
    reader = _KEYS.get(key_kind)
    key = None if reader is None else reader(key_parameters, key_bits)
    try:
        x509.name_texts(subject.whole)
    except x509.DerError as error:
        raise RequestFault(f"x509: {error}") from None
    _check_extensions(attributes)
    return SignedRequest(to_be_signed.whole, signature, algorithm, parameters, key, key_info)


def public_key(der: bytes) -> tuple[Key, bytes]:
    """Return a key that stands alone, and all bytes about it. Raises RequestFault for what is no
    key."""
    # As `ParsePKIXPublicKey` of Go's `crypto/x509`.
    whole = _Fields(der)
    fields = whole.fields("publicKeyInfo")
    info = fields.data
    kind, parameters = _algorithm(fields)
    bits = fields.bits()
    if whole.at < len(der):
        raise RequestFault("x509: trailing data after ASN.1 of public-key")
    if kind not in _KEYS:
        raise RequestFault("x509: unknown public key algorithm")
    return _KEYS[kind](parameters, bits), info


def _rsa_key(parameters: bytes, bits: bytes) -> Key:
    if parameters != b"\x05\x00":
        raise RequestFault("x509: RSA key missing NULL parameters")
    try:
        fields = x509.DerReader(bits).inner()
    except x509.DerError:
        raise RequestFault("x509: invalid RSA public key") from None
    numbers = []
    for item in ("modulus", "public exponent"):
        try:
            numbers.append(_number(fields.content(x509.INTEGER)))
        except (x509.DerError, _Structure):
            raise RequestFault(f"x509: invalid RSA {item}") from None
    for item, number in zip(("modulus", "public exponent"), numbers, strict=True):
        if number <= 0:
            raise RequestFault(f"x509: RSA {item} is not a positive number")
    modulus, exponent = numbers
    return RsaKey(modulus, exponent)


def _curve_key(parameters: bytes, bits: bytes) -> Key:
    try:
        named = x509.DerReader(parameters).content(x509.OBJECT_ID)
    except x509.DerError:
        raise RequestFault("x509: invalid ECDSA parameters") from None
    curve = x509.CURVES.get(named)
    if curve is None:
        raise RequestFault("x509: unsupported elliptic curve")
    if bits[:1] != b"\4":
        raise RequestFault("ecdsa: invalid uncompressed public key")
    if len(bits) != 1 + 2 * curve.size:
        raise RequestFault(f"invalid {curve.name} point encoding")
    x, y = (int.from_bytes(half) for half in (bits[1 : 1 + curve.size], bits[1 + curve.size :]))
    if max(x, y) >= curve.prime:
        raise RequestFault(f"invalid {curve.name} element encoding")
    if not curve.has(x, y):
        raise RequestFault(f"{curve.name} point not on curve")
    return CurveKey(curve, (x, y))


def _edwards_key(parameters: bytes, bits: bytes) -> Key:
    if parameters:
        raise RequestFault("x509: Ed25519 key encoded with illegal parameters")
    if len(bits) != 32:
        raise RequestFault("x509: wrong Ed25519 public key size")
    return EdwardsKey(bits)


_KEYS: Final[Mapping[bytes, Callable[[bytes, bytes], Key]]] = {
    x509.RSA: _rsa_key,
    x509.ELLIPTIC: _curve_key,
    x509.ED25519: _edwards_key,
}
_EXTENSIONS: Final = bytes.fromhex("2a864886f70d01090e")
_SUBJECT_NAMES: Final = bytes.fromhex("551d11")
_CRITICAL: Final = _Kind("bool", 1, optional=True)
_BYTES: Final = _Kind("", 4)


def _check_extensions(attributes: Sequence[_Value]) -> None:
    """Read the extensions that a certificate shall have. Other attributes may be anything."""
    seen: set[bytes] = set()
    for attribute in attributes:
        try:
            fields = _Fields(_Fields(attribute.whole).fields("").data)
            kind = fields.object_id()
            values = _Fields(fields.value(_Kind("", 17, compound=True)).content).items()
        except RequestFault:
            continue
        if kind != _EXTENSIONS or not values:
            continue
        listed = _Fields(values[0].whole).value(_Kind("", _STRUCT, compound=True))
        for field in _Fields(listed.content).items():
            if (field.head.of_class, field.head.tag, field.head.compound) != (0, _STRUCT, True):
                raise _Structure("sequence tag mismatch")
            extension = _Fields(field.content)
            name = extension.object_id()
            extension.next(_CRITICAL)
            content = extension.value(_BYTES).content
            if name in seen:
                raise RequestFault(
                    "x509: certificate request contains duplicate requested extensions"
                )
            seen.add(name)
            if name == _SUBJECT_NAMES:
                _check_names(content)


_NAMES: Final = {0x81: "rfc822Name", 0x82: "dNSName", 0x86: "uniformResourceIdentifier"}
_ADDRESS: Final = 0x87


def _check_names(content: bytes) -> None:
    """Raise RequestFault when a subject's alternative name is malformed."""
    try:
        names = x509.DerReader(content).inner()
        while not names.is_empty:
            tag, text = names.any()
            if tag in _NAMES and not text.isascii():
                raise RequestFault(f"x509: SAN {_NAMES[tag]} is malformed")
            if tag == _ADDRESS and len(text) not in (4, 16):
                raise RequestFault(f"x509: cannot parse IP address of length {len(text)}")
    except x509.DerError:
        raise RequestFault("x509: invalid subject alternative name") from None


# --- Signatures --------------------------------------------------------------

_SIGNATURES: Final = {
    bytes.fromhex(text): value
    for text, value in {
        "2a864886f70d010105": ("RSA", "sha1"),
        "2a864886f70d01010b": ("RSA", "sha256"),
        "2a864886f70d01010c": ("RSA", "sha384"),
        "2a864886f70d01010d": ("RSA", "sha512"),
        "2a8648ce3d0401": ("ECDSA", "sha1"),
        "2a8648ce3d040302": ("ECDSA", "sha256"),
        "2a8648ce3d040303": ("ECDSA", "sha384"),
        "2a8648ce3d040304": ("ECDSA", "sha512"),
        "2b6570": ("Ed25519", "sha512"),
    }.items()
}
"""The kind of key and the digest, by the object identifier of the algorithm."""
_MD5: Final = bytes.fromhex("2a864886f70d010104")
_PSS: Final = bytes.fromhex("2a864886f70d01010a")
_SALTED: Final = {
    bytes.fromhex(
        f"3034a00f300d06096086480165030402{number}0500a11c301a06092a864886f70d010108300d0609"
        f"6086480165030402{number}0500a2030201{size}"
    ): digest
    for digest, number, size in (
        ("sha256", "01", "20"),
        ("sha384", "02", "30"),
        ("sha512", "03", "40"),
    )
}
"""The digest of RSASSA-PSS by its parameters: others are unknown to Go."""
_ALGORITHM_UNKNOWN: Final = "x509: cannot verify signature: algorithm unimplemented"
_NOT_VERIFIED: Final = "crypto/rsa: verification error"
_DIGEST_HEADS: Final = {
    "sha1": bytes.fromhex("3021300906052b0e03021a05000414"),
    "sha256": bytes.fromhex("3031300d060960864801650304020105000420"),
    "sha384": bytes.fromhex("3041300d060960864801650304020205000430"),
    "sha512": bytes.fromhex("3051300d060960864801650304020305000440"),
}
"""What stands before a digest in a signature of PKCS #1 (RFC 8017, 9.2)."""
_SMALLEST_MODULUS: Final = 1024


def check_signature(request: SignedRequest) -> None:
    """Raise RequestFault unless the key has signed the request."""
    if request.algorithm == _MD5:
        raise RequestFault("x509: cannot verify signature: insecure algorithm MD5-RSA")
    kind, digest = _SIGNATURES.get(request.algorithm, ("", ""))
    if request.algorithm == _PSS:
        digest = _SALTED.get(request.parameters, "")
        kind = "RSA" if digest else ""
    key = request.key
    if not kind or key is None or (kind == "Ed25519" and request.parameters):
        raise RequestFault(_ALGORITHM_UNKNOWN)
    if kind != key.algorithm:
        raise RequestFault(
            f"x509: signature algorithm specifies an {kind} public key, but have public key of "
            f"type {key.go_type}"
        )
    hashed = hashlib.new(digest, request.signed).digest()
    fault = ""
    match key:
        case RsaKey():
            salted = request.algorithm == _PSS
            fault = _rsa_fault(key, digest, hashed, request.signature, salted=salted)
        case CurveKey():
            good = _verifies_curve(key.curve, key.point, hashed, request.signature)
            fault = "" if good else "x509: ECDSA verification failure"
        case EdwardsKey():
            good = x509.ed25519_verifies(key.point, request.signed, request.signature)
            fault = "" if good else "x509: Ed25519 verification failure"
    if fault:
        raise RequestFault(fault)


def has_signed(key: Key, message: bytes, signature: bytes) -> bool:
    """Return whether the owner of a key has signed a message as pods do it: RSA with PSS and a salt
    of any length, both that and ECDSA of the message's SHA-256."""
    hashed = hashlib.sha256(message).digest()
    match key:
        case RsaKey():
            return not _rsa_fault(key, "sha256", hashed, signature, salted=True, any_salt=True)
        case CurveKey():
            return _verifies_curve(key.curve, key.point, hashed, signature)
        case EdwardsKey():
            return x509.ed25519_verifies(key.point, message, signature)
    return False


def _rsa_fault(
    key: RsaKey,
    digest: str,
    hashed: bytes,
    signature: bytes,
    *,
    salted: bool,
    any_salt: bool = False,
) -> str:
    """RFC 8017, 8.1.2 and 8.2.2."""
    bits = key.modulus.bit_length()
    if bits < _SMALLEST_MODULUS:
        return (
            f"crypto/rsa: {bits}-bit keys are insecure "
            "(see https://go.dev/pkg/crypto/rsa#hdr-Minimum_key_size)"
        )
    number = int.from_bytes(signature)
    is_usual = bits <= MOST_BITS and key.exponent < 1 << 31 and key.exponent & 1
    if not is_usual or len(signature) != (bits + 7) // 8 or number >= key.modulus:
        return _NOT_VERIFIED
    opened = pow(number, key.exponent, key.modulus)
    if salted:
        is_good = _is_salted(opened, bits - 1, digest, hashed, any_salt=any_salt)
        return "" if is_good else _NOT_VERIFIED
    tail = b"\0" + _DIGEST_HEADS[digest] + hashed
    padded = b"\0\1" + b"\xff" * (len(signature) - 2 - len(tail)) + tail
    return "" if opened.to_bytes(len(signature)) == padded else _NOT_VERIFIED


def _is_salted(opened: int, bits: int, digest: str, hashed: bytes, *, any_salt: bool) -> bool:
    """Return whether this is the encoding of a digest, with a salt as long as it, unless `any_salt`
    will do (RFC 8017, 9.1.2)."""
    size = len(hashed)
    length = (bits + 7) // 8
    if opened >> bits or length < (1 if any_salt else 2) * size + 2:
        return False
    encoded = opened.to_bytes(length)
    masked, inner = encoded[: -size - 1], encoded[-size - 1 : -1]
    mask = b"".join(
        hashlib.new(digest, inner + counter.to_bytes(4)).digest()
        for counter in range(-(-len(masked) // size))
    )
    plain = int.from_bytes(masked) ^ int.from_bytes(mask[: len(masked)])
    block = (plain & ((1 << (bits - 8 * (size + 1))) - 1)).to_bytes(len(masked))
    padding, mark, salt = block.partition(b"\1")
    is_padded = mark and not padding.strip(b"\0") and (any_salt or len(salt) == size)
    again = hashlib.new(digest, bytes(8) + hashed + salt).digest()
    return encoded[-1] == 0xBC and bool(is_padded) and again == inner


def _verifies_curve(
    curve: x509.Curve, point: tuple[int, int], hashed: bytes, signature: bytes
) -> bool:
    """Verify a signature, as FIPS 186-5, 6.4.2."""
    try:
        whole = x509.DerReader(signature)
        fields = whole.inner()
        r, s = fields.integer(), fields.integer()
    except x509.DerError:
        return False
    order = curve.order
    if not (whole.is_empty and fields.is_empty and 0 < r < order and 0 < s < order):
        return False
    number = int.from_bytes(hashed) >> max(0, 8 * len(hashed) - order.bit_length())
    inverse = pow(s, -1, order)
    sum_of_multiples = curve.sum_of_multiples(number * inverse % order, r * inverse % order, point)
    return sum_of_multiples is not None and sum_of_multiples[0] % order == r
