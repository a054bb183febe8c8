"""Certificates as users, and those that are none."""

from __future__ import annotations

import datetime
import hashlib

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from celadon.apiserver.authn.client_certificates import CertificateRefused, certificate_user
from celadon.kube import User

NOW = datetime.datetime(2026, 1, 2, tzinfo=datetime.UTC)
DAY = datetime.timedelta(days=1)
KEY = ec.generate_private_key(ec.SECP256R1())


def certificate(
    name: str = "alice",
    groups: tuple[str, ...] = (),
    usages: tuple[x509.ObjectIdentifier, ...] = (ExtendedKeyUsageOID.CLIENT_AUTH,),
    other: x509.ExtensionType | None = None,
) -> bytes:
    parts = [x509.NameAttribute(NameOID.ORGANIZATION_NAME, group) for group in groups]
    parts += [x509.NameAttribute(NameOID.COMMON_NAME, name)] if name else []
    builder = (
        x509.CertificateBuilder()
        .subject_name(x509.Name(parts))
        .issuer_name(x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "ca")]))
        .public_key(KEY.public_key())
        .serial_number(1)
        .not_valid_before(NOW - DAY)
        .not_valid_after(NOW + DAY)
    )
    if usages:
        builder = builder.add_extension(x509.ExtendedKeyUsage(usages), critical=False)
    if other is not None:
        builder = builder.add_extension(other, critical=False)
    return builder.sign(KEY, hashes.SHA256()).public_bytes(serialization.Encoding.DER)


def of_version(number: int) -> bytes:
    """Which no certificate has."""
    return certificate().replace(b"\xa0\x03\x02\x01\x02", bytes((0xA0, 3, 2, 1, number)), 1)


def with_usages_twice() -> bytes:
    """Two extensions, of which one becomes a second one of the other's kind."""
    found = certificate(other=x509.UnrecognizedExtension(x509.ObjectIdentifier("2.5.29.99"), b"x"))
    return found.replace(b"\x06\x03\x55\x1d\x63", b"\x06\x03\x55\x1d\x25", 1)


def test_the_name_the_groups_and_the_fingerprint() -> None:
    der = certificate("alice", ("devs", "ops"))
    extra = {
        "authentication.kubernetes.io/credential-id": (
            f"X509SHA256={hashlib.sha256(der).hexdigest()}",
        )
    }
    assert certificate_user(der, NOW) == User("alice", ("devs", "ops"), extra=extra)


@pytest.mark.parametrize(
    "usages", [(), (ExtendedKeyUsageOID.SERVER_AUTH, ExtendedKeyUsageOID.ANY_EXTENDED_KEY_USAGE)]
)
def test_usages_that_include_clients(usages: tuple[x509.ObjectIdentifier, ...]) -> None:
    user = certificate_user(certificate(usages=usages), NOW)
    assert user is not None
    assert user.name == "alice"


def test_nobody_without_a_name() -> None:
    assert certificate_user(certificate(""), NOW) is None


@pytest.mark.parametrize(
    ("der", "now", "text"),
    [
        (certificate(usages=(ExtendedKeyUsageOID.SERVER_AUTH,)), NOW, "incompatible key usage"),
        (certificate(), NOW + 2 * DAY, "expired or is not yet valid"),
        (certificate(), NOW - 2 * DAY, "expired or is not yet valid"),
        (b"nonsense", NOW, "malformed certificate"),
        (of_version(9), NOW, "malformed certificate"),
        (with_usages_twice(), NOW, "malformed extension"),
    ],
)
def test_refused(der: bytes, now: datetime.datetime, text: str) -> None:
    with pytest.raises(CertificateRefused, match=text):
        certificate_user(der, now)
