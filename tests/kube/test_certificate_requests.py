"""What Go says of requests for certificates; good ones are made by a library."""

from __future__ import annotations

import base64
import ipaddress

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec, ed448, ed25519, padding, rsa
from cryptography.hazmat.primitives.asymmetric.types import CertificateIssuerPrivateKeyTypes
from cryptography.hazmat.primitives.serialization import Encoding
from cryptography.x509.oid import NameOID
from hypothesis import given
from hypothesis import strategies as st

from celadon.kube.certificate_requests import request_fault

RSA = rsa.generate_private_key(public_exponent=65537, key_size=2048)
CURVE = ec.generate_private_key(ec.SECP256R1())
EDWARDS = ed25519.Ed25519PrivateKey.generate()


def made(
    key: CertificateIssuerPrivateKeyTypes,
    digest: hashes.SHA256 | hashes.SHA384 | hashes.SHA512 | None = None,
    *names: x509.GeneralName,
    salt: int = -1,
) -> bytes:
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "alice")])
    builder = x509.CertificateSigningRequestBuilder().subject_name(subject)
    if names:
        builder = builder.add_extension(x509.SubjectAlternativeName(names), critical=False)
    if salt >= 0 and digest is not None:
        salted = padding.PSS(padding.MGF1(digest), salt)
        return builder.sign(key, digest, rsa_padding=salted).public_bytes(Encoding.DER)
    return builder.sign(key, digest).public_bytes(Encoding.DER)


def pem(der: bytes, kind: str = "CERTIFICATE REQUEST") -> bytes:
    return b"-----BEGIN %b-----\n%b-----END %b-----\n" % (
        kind.encode(),
        base64.encodebytes(der),
        kind.encode(),
    )


GOOD = made(CURVE, hashes.SHA256())
OF_RSA = made(RSA, hashes.SHA256())
FIELD = (
    "{optional:false explicit:false application:false private:false defaultValue:<nil> tag:<nil> "
    "stringType:0 timeType:0 set:false omitEmpty:false}"
)


@pytest.mark.parametrize(
    "der",
    [
        *(
            made(ec.generate_private_key(curve), digest)
            for curve in (ec.SECP224R1(), ec.SECP256R1(), ec.SECP384R1(), ec.SECP521R1())
            for digest in (hashes.SHA256(), hashes.SHA512())
        ),
        *(made(RSA, digest) for digest in (hashes.SHA256(), hashes.SHA384(), hashes.SHA512())),
        *(
            made(RSA, digest, salt=digest.digest_size)
            for digest in (hashes.SHA256(), hashes.SHA384(), hashes.SHA512())
        ),
        made(rsa.generate_private_key(public_exponent=3, key_size=1024), hashes.SHA256()),
        made(EDWARDS),
        made(
            CURVE,
            hashes.SHA256(),
            x509.DNSName("a.b"),
            x509.IPAddress(ipaddress.ip_address("1.2.3.4")),
            x509.UniformResourceIdentifier("spiffe://a/b"),
        ),
    ],
)
def test_good_ones(der: bytes) -> None:
    assert request_fault(b"words\n" + pem(der)) == ""
    changed = bytearray(der)
    changed[-1] ^= 1
    assert request_fault(pem(bytes(changed))) in (
        "crypto/rsa: verification error",
        "x509: ECDSA verification failure",
        "x509: Ed25519 verification failure",
    )


NO_BLOCK = "PEM block type must be CERTIFICATE REQUEST"
UNKNOWN = "x509: cannot verify signature: algorithm unimplemented"
KEY_OF_GOOD = GOOD.index(b"\x03\x42\x00\x04") + 3


def replaced(der: bytes, old: str, new: str) -> bytes:
    assert der.count(bytes.fromhex(old)) >= 1
    return der.replace(bytes.fromhex(old), bytes.fromhex(new))


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        (b"", NO_BLOCK),
        (b"words", NO_BLOCK),
        (pem(GOOD, "NEW CERTIFICATE REQUEST"), NO_BLOCK),
        (pem(b""), "asn1: syntax error: sequence truncated"),
        (
            pem(b"junk junk"),
            "asn1: structure error: tags don't match (16 vs {class:1 tag:10 length:117 "
            f"isCompound:true}}) {FIELD} certificateRequest @2",
        ),
        (
            pem(b"\x02\x01\x05"),
            "asn1: structure error: tags don't match (16 vs {class:0 tag:2 length:1 "
            f"isCompound:false}}) {FIELD} certificateRequest @2",
        ),
        (pem(b"\x30\x00"), "asn1: syntax error: sequence truncated"),
        (pem(b"\x30"), "asn1: syntax error: truncated tag or length"),
        (pem(b"\x30\x80"), "asn1: syntax error: indefinite length found (not DER)"),
        (pem(b"\x30\x81\x01"), "asn1: structure error: non-minimal length"),
        (pem(b"\x30\x82\x00\x01"), "asn1: structure error: superfluous leading zeros in length"),
        (pem(b"\x30\x84\xff\xff\xff\xff"), "asn1: structure error: length too large"),
        (pem(b"\x3f\x80\x01"), "asn1: syntax error: integer is not minimally encoded"),
        (pem(GOOD[:50]), "asn1: syntax error: data truncated"),
        (pem(GOOD + b"x"), "asn1: syntax error: trailing data"),
        (pem(replaced(GOOD, "2a8648ce3d030107", "2a8648ce3d030109")), "x509: unsupported elliptic"),
        (pem(replaced(GOOD, "2a8648ce3d040302", "2a8648ce3d040309")), UNKNOWN),
        (
            pem(replaced(GOOD, "2a8648ce3d040302", "2a8648ce3d040303")),
            "x509: ECDSA verification failure",
        ),
        (
            pem(GOOD[:KEY_OF_GOOD] + b"\x02" + GOOD[KEY_OF_GOOD + 1 :]),
            "ecdsa: invalid uncompressed public key",
        ),
        (
            pem(GOOD[: KEY_OF_GOOD + 1] + b"\xff" * 32 + GOOD[KEY_OF_GOOD + 33 :]),
            "invalid P256 element encoding",
        ),
        (
            pem(GOOD[: KEY_OF_GOOD + 1] + bytes(32) + GOOD[KEY_OF_GOOD + 33 :]),
            "P256 point not on curve",
        ),
        (
            pem(replaced(OF_RSA, "2a864886f70d01010b", "2a864886f70d010104")),
            "x509: cannot verify signature: insecure algorithm MD5-RSA",
        ),
        (
            pem(replaced(OF_RSA, "2a864886f70d0101010500", "2a864886f70d0101010501")),
            "asn1: syntax error: ",
        ),
        (pem(made(RSA, hashes.SHA256(), salt=0)), UNKNOWN),
        (pem(made(ed448.Ed448PrivateKey.generate())), UNKNOWN),
        (pem(made(ec.generate_private_key(ec.SECP256K1()), hashes.SHA256())), "x509: unsupported"),
        (pem(replaced(GOOD, "0c05616c696365", "130561406c6963")), "x509: invalid RDNSequence: "),
        (pem(replaced(GOOD, "0c05616c696365", "0c05ff6c696365")), "x509: invalid RDNSequence: "),
    ],
)
def test_faults(text: bytes, fault: str) -> None:
    assert request_fault(text).startswith(fault)


def test_the_key_and_the_algorithm_are_of_one_kind() -> None:
    assert request_fault(pem(replaced(OF_RSA, "2a864886f70d01010b", "2b06010401819c1e02"))) == (
        UNKNOWN
    )
    ed = made(EDWARDS)
    head = ed.rindex(bytes.fromhex("300506032b6570"))
    other = ed[:head] + bytes.fromhex("300a06082a8648ce3d040302") + ed[head + 7 :]
    other = other[:1] + bytes((other[1] + 5,)) + other[2:] if other[1] < 0x80 else other
    size = int.from_bytes(other[2:3]) + 5
    other = other[:2] + bytes((size,)) + other[3:] if other[1] == 0x81 else other
    assert request_fault(pem(other)) == (
        "x509: signature algorithm specifies an ECDSA public key, but have public key of type "
        "ed25519.PublicKey"
    )


@given(st.binary(max_size=60), st.integers(0, len(OF_RSA) - 1), st.binary(max_size=3))
def test_any_bytes_are_refused_in_words(start: bytes, at: int, middle: bytes) -> None:
    assert request_fault(pem(start)) != ""
    assert isinstance(request_fault(pem(OF_RSA[:at] + middle + OF_RSA[at + 1 :])), str)


def test_a_huge_key_is_not_computed_with() -> None:
    """A modulus of 100,000 bytes: to raise a number to a power of it takes minutes."""
    numbers = b"\x02\x83\x01\x86\xa1\x00" + b"\xff" * 100_000 + b"\x02\x03\x01\x00\x01"
    bits = b"\x00\x30" + b"\x83" + len(numbers).to_bytes(3) + numbers
    key = bytes.fromhex("300d06092a864886f70d0101010500") + long(3, bits)
    signed = long(0x30, b"\x02\x01\x00\x30\x00" + long(0x30, key) + b"\xa0\x00")
    algorithm = bytes.fromhex("300d06092a864886f70d01010b0500")
    der = long(0x30, signed + algorithm + long(3, b"\x00" + b"\x7f" * 100_000))
    assert request_fault(pem(der)) == "crypto/rsa: verification error"


def long(tag: int, content: bytes) -> bytes:
    size = len(content)
    if size < 0x80:
        return bytes((tag, size)) + content
    digits = size.to_bytes((size.bit_length() + 7) // 8)
    return bytes((tag, 0x80 | len(digits))) + digits + content
