"""Whether a certificate and a private key belong together, in the words of Go.

As `X509KeyPair` of Go's `crypto/tls`. Of a certificate only what leads to its public key is looked
at: what is wrong elsewhere in it goes unnoticed.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from celadon.kube.errors import MalformedText
from celadon.kube.keys.curve_points import CURVES, ed25519_public_key
from celadon.kube.keys.der_values import (
    CONTEXT_0,
    OBJECT_ID,
    OCTET_STRING,
    SEQUENCE,
    DerError,
    DerReader,
)
from celadon.kube.keys.pem_blocks import pem_blocks

RSA: Final = bytes.fromhex("2a864886f70d010101")
ELLIPTIC: Final = bytes.fromhex("2a8648ce3d0201")
ED25519: Final = bytes.fromhex("2b6570")
"""Object identifiers of kinds of keys, encoded."""

_SWITCHED: Final = (
    "tls: failed to find certificate PEM data in certificate input, but did find a private key; "
    "PEM inputs may have been switched"
)


class PublicKey(NamedTuple):
    """`value` is the modulus of an RSA key, else the point."""

    kind: bytes
    value: bytes


class KeyFault(MalformedText):
    """What is wrong, in Go's words."""


def key_pair_fault(certificate: bytes, key: bytes) -> str:
    """What is wrong with the pair, both as PEM; empty if nothing is."""
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

    def read(self, what: str) -> DerReader:
        try:
            return self._reader.inner()
        except DerError:
            raise KeyFault(f"x509: malformed {what}") from None

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
    for what in ("issuer", "validity", "issuer"):
        fields.read(what)
    found = _public_key(fields.read("spki"))
    if not whole.is_empty:
        raise KeyFault("x509: trailing data")
    return found


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
    """The public key of a private one in any of the three forms."""
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
