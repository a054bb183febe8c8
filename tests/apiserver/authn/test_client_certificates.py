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


def named(*attributes: bytes) -> bytes:
    """A certificate whose subject has these attributes: kinds and values, encoded."""
    parts = b"".join(der(0x31, der(0x30, one)) for one in attributes)
    old = certificate("x", usages=())
    subject = x509.load_der_x509_certificate(old).subject.public_bytes()
    signed = x509.load_der_x509_certificate(old).tbs_certificate_bytes
    content = signed[4:] if signed[1] == 0x82 else signed[3:] if signed[1] == 0x81 else signed[2:]
    changed = der(0x30, content.replace(subject, der(0x30, parts)))
    rest = old[old.index(signed) + len(signed) :]
    return der(0x30, changed + rest)


def der(tag: int, content: bytes) -> bytes:
    size = len(content)
    if size < 0x80:
        return bytes((tag, size)) + content
    digits = size.to_bytes((size.bit_length() + 7) // 8)
    return bytes((tag, 0x80 | len(digits))) + digits + content


NAME, GROUP, UID = (
    der(6, bytes.fromhex(kind)) for kind in ("550403", "55040a", "2b0601040183c25302")
)
ALICE = NAME + der(0x0C, b"alice")


@pytest.mark.parametrize(
    ("tag", "content", "name"),
    [
        (0x0C, "älice".encode(), "älice"),
        (0x13, b"alice (x)", "alice (x)"),
        (0x14, b"\xe4lice", "älice"),
        (0x16, b"alice@x", "alice@x"),
        (0x12, b"12 3", "12 3"),
        (0x1E, "älice".encode("utf-16-be"), "älice"),
        (0x1E, "alice\0".encode("utf-16-be"), "alice"),
        (0x0C, b"alice\0", "alice\0"),
        (0x1C, "alice".encode("utf-32-be"), None),
        (0x1B, b"alice", None),
        (0x04, b"alice", None),
        (0x02, b"\x05", None),
        (0x0C, b"", None),
    ],
)
def test_texts_are_read_as_go_reads_them(tag: int, content: bytes, name: str | None) -> None:
    user = certificate_user(named(NAME + der(tag, content)), NOW)
    assert (user.name if user else None) == name
    user = certificate_user(named(ALICE, GROUP + der(tag, content)), NOW)
    groups = () if name is None and content else (name or "",)
    assert user is not None
    assert user.groups == groups


@pytest.mark.parametrize(
    ("tag", "content"),
    [
        (0x0C, b"al\xffice"),
        (0x0C, b"\xed\xa0\x80"),
        (0x13, b"alice@x"),
        (0x16, b"\xe4lice"),
        (0x12, b"12a"),
        (0x1E, b"abc"),
        (0x1E, "😀".encode("utf-16-be")),
        (0x1E, b"\xff\xfe"),
    ],
)
def test_texts_that_are_none(tag: int, content: bytes) -> None:
    with pytest.raises(CertificateRefused):
        certificate_user(named(NAME + der(tag, content)), NOW)


def test_the_last_name_counts() -> None:
    user = certificate_user(named(ALICE, NAME + der(0x0C, b"bob")), NOW)
    assert user is not None
    assert user.name == "bob"


def test_a_certificate_may_name_the_uid() -> None:
    one = UID + der(0x0C, b"uid-1")
    for has_uid, uid in ((True, "uid-1"), (False, "")):
        user = certificate_user(named(ALICE, one), NOW, has_uid=has_uid)
        assert user is not None
        assert user.uid == uid
    for more, why in (
        ([one, UID + der(0x13, b"uid-2")], "expected 1 UID, but found multiple: [uid-1 uid-2]"),
        ([UID + der(0x0C, b"")], "UID cannot be an empty string"),
        ([UID + der(2, b"\x05")], "unable to parse UID into a string"),
    ):
        with pytest.raises(CertificateRefused) as refused:
            certificate_user(named(ALICE, *more), NOW)
        assert str(refused.value) == why


def test_a_serial_number_is_not_negative() -> None:
    other = certificate().replace(b"\x02\x01\x01", b"\x02\x01\x81", 1)
    with pytest.raises(CertificateRefused, match="negative serial number"):
        certificate_user(other, NOW)
