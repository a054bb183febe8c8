"""Certificates and keys that belong together, or do not."""

from __future__ import annotations

import base64
from datetime import UTC, datetime, timedelta
from typing import TypeAlias

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import dsa, ec, ed25519, rsa
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

from celadon.kube.x509 import key_pair_fault

Key: TypeAlias = rsa.RSAPrivateKey | ec.EllipticCurvePrivateKey | ed25519.Ed25519PrivateKey
NAME = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "x")])


def validity() -> tuple[datetime, datetime]:
    now = datetime(2026, 1, 1, tzinfo=UTC)
    return now, now + timedelta(1)


def certificate(key: Key) -> bytes:
    builder = x509.CertificateBuilder(NAME, NAME, key.public_key(), 7, *validity())
    algorithm = None if isinstance(key, ed25519.Ed25519PrivateKey) else hashes.SHA256()
    return builder.sign(key, algorithm).public_bytes(Encoding.PEM)


def written(key: Key, form: PrivateFormat = PrivateFormat.PKCS8) -> bytes:
    return key.private_bytes(Encoding.PEM, form, NoEncryption())


def pem(kind: str, content: bytes) -> bytes:
    text = base64.b64encode(content).decode()
    return f"-----BEGIN {kind}-----\n{text}\n-----END {kind}-----\n".encode()


RSA = rsa.generate_private_key(65537, 1024)
OTHER_RSA = rsa.generate_private_key(65537, 1024)
P256 = ec.generate_private_key(ec.SECP256R1())
OTHER_P256 = ec.generate_private_key(ec.SECP256R1())
ED = ed25519.Ed25519PrivateKey.generate()
PLAIN = PrivateFormat.TraditionalOpenSSL


@pytest.mark.parametrize(
    ("key", "form"),
    [
        (RSA, PrivateFormat.PKCS8),
        (RSA, PLAIN),
        (P256, PrivateFormat.PKCS8),
        (P256, PLAIN),
        (ED, PrivateFormat.PKCS8),
    ],
)
def test_pairs(key: Key, form: PrivateFormat) -> None:
    assert key_pair_fault(certificate(key), written(key, form)) == ""


CERTIFICATE = certificate(RSA)
KEY = written(RSA)
TYPES = "after skipping PEM blocks of the following types:"


@pytest.mark.parametrize(
    ("cert", "key", "fault"),
    [
        (b"x", KEY, "tls: failed to find any PEM data in certificate input"),
        (CERTIFICATE, b"x", "tls: failed to find any PEM data in key input"),
        (
            KEY,
            CERTIFICATE,
            "tls: failed to find certificate PEM data in certificate input, but did find a private "
            "key; PEM inputs may have been switched",
        ),
        (
            pem("A", b"") + pem("B", b""),
            KEY,
            f'tls: failed to find "CERTIFICATE" PEM block in certificate input {TYPES} [A B]',
        ),
        (
            CERTIFICATE,
            CERTIFICATE,
            "tls: found a certificate rather than a key in the PEM for the private key",
        ),
        (
            CERTIFICATE,
            pem("A", b""),
            f'tls: failed to find PEM block with type ending in "PRIVATE KEY" in key input {TYPES} '
            "[A]",
        ),
        (CERTIFICATE, written(OTHER_RSA), "tls: private key does not match public key"),
        (certificate(P256), written(OTHER_P256), "tls: private key does not match public key"),
        (CERTIFICATE, written(P256), "tls: private key type does not match public key type"),
        (CERTIFICATE, pem("PRIVATE KEY", b"x"), "tls: failed to parse private key"),
        (pem("CERTIFICATE", b"x"), KEY, "x509: malformed certificate"),
        (pem("CERTIFICATE", b"\x30\x00"), KEY, "x509: malformed tbs certificate"),
        (pem("CERTIFICATE", b"\x30\x02\x30\x00"), KEY, "x509: malformed serial number"),
        (
            pem("CERTIFICATE", b"\x30\x05\x30\x03\x02\x01\x01"),
            KEY,
            "x509: malformed signature algorithm identifier",
        ),
    ],
)
def test_faults(cert: bytes, key: bytes, fault: str) -> None:
    assert key_pair_fault(cert, key) == fault


def test_bytes_behind_a_certificate() -> None:
    der = base64.b64decode(b"".join(CERTIFICATE.splitlines()[1:-1]))
    assert key_pair_fault(pem("CERTIFICATE", der + b"x"), KEY) == "x509: trailing data"


def test_kinds_of_keys_that_nobody_knows() -> None:
    other = dsa.generate_private_key(1024)
    text = other.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    want = "tls: found unknown private key type in PKCS#8 wrapping"
    assert key_pair_fault(CERTIFICATE, text) == want
