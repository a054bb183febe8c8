"""Certificates looked at for what is wrong with them."""

from __future__ import annotations

from typing import Any

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ed25519, rsa

from celadon.apiserver.go_network import certificate_failure
from tests.apiserver.webhook_routes.loopback import AUTHORITY_KEY, DAY, NOW, certificate

UNKNOWN = "certificate signed by unknown authority"


@pytest.mark.parametrize(
    ("names", "wanted", "why"),
    [
        (("a.example.com",), "a.example.com", UNKNOWN),
        (("*.example.com",), "a.example.com", UNKNOWN),
        (
            ("*.example.com",),
            "a.b.example.com",
            "certificate is valid for *.example.com, not a.b.example.com",
        ),
        (
            ("a.example.com", "b.example.com"),
            "c",
            "certificate is valid for a.example.com, b.example.com, not c",
        ),
        (("127.0.0.2",), "127.0.0.1", "certificate is valid for 127.0.0.2, not 127.0.0.1"),
        (("127.0.0.1",), "127.0.0.1", UNKNOWN),
        (
            ("127.0.0.1",),
            "a",
            "certificate is not valid for any names, but wanted to match a",
        ),
    ],
)
def test_names(names: tuple[str, ...], wanted: str, why: str) -> None:
    assert certificate_failure(certificate(*names), wanted, NOW) == why


def test_dates_come_first() -> None:
    made = certificate("a")
    late, early = NOW + 2 * DAY, NOW - 3 * DAY
    told = certificate_failure(made, "b", late)
    assert told.endswith(
        f"current time {late:%Y-%m-%dT%H:%M:%SZ} is after {NOW + DAY:%Y-%m-%dT%H:%M:%SZ}"
    )
    told = certificate_failure(made, "b", early)
    assert f" is before {NOW - 2 * DAY:%Y-%m-%dT%H:%M:%SZ}" in told


HINT = (
    f'{UNKNOWN} (possibly because of "{{}}" while trying to verify candidate authority '
    'certificate "{}")'
)
RSA = rsa.generate_private_key(65537, 2048)
ED25519 = ed25519.Ed25519PrivateKey.generate()


def signed_by(key: Any, *names: x509.NameAttribute[str]) -> tuple[x509.Certificate, ...]:
    """A server's certificate, and an authority of that name with another key of that kind."""
    issuer = x509.Name(names)
    unsigned = (
        x509.CertificateBuilder()
        .issuer_name(issuer)
        .not_valid_before(NOW - DAY)
        .not_valid_after(NOW + DAY)
        .public_key(key.public_key())
    )
    algorithm = None if key is ED25519 else hashes.SHA256()
    host = x509.SubjectAlternativeName([x509.DNSName("a")])
    leaf = unsigned.subject_name(x509.Name([])).serial_number(1).add_extension(host, critical=False)
    constraints = x509.BasicConstraints(ca=True, path_length=None)
    authority = (
        unsigned.subject_name(issuer).serial_number(7).add_extension(constraints, critical=False)
    )
    made = leaf.sign(key, algorithm)
    broken = made.public_bytes(serialization.Encoding.DER)
    broken = broken[:-9] + bytes([broken[-9] ^ 1]) + broken[-8:]
    return x509.load_der_x509_certificate(broken), authority.sign(key, algorithm)


@pytest.mark.parametrize(
    ("key", "names", "why", "shown"),
    [
        (RSA, {"CN": "x", "O": "y"}, "crypto/rsa: verification error", "x"),
        (ED25519, {"O": "y"}, "x509: Ed25519 verification failure", "y"),
        (AUTHORITY_KEY, {}, "x509: ECDSA verification failure", "serial:7"),
    ],
)
def test_an_authority_of_the_name_that_has_not_signed_it(
    key: Any, names: dict[str, str], why: str, shown: str
) -> None:
    kinds = {"CN": x509.NameOID.COMMON_NAME, "O": x509.NameOID.ORGANIZATION_NAME}
    attributes = [x509.NameAttribute(kinds[kind], name) for kind, name in names.items()]
    leaf, authority = signed_by(key, *attributes)
    told = certificate_failure(leaf, "a", NOW, [authority])
    assert told == HINT.format(why, shown)


def test_many_names_are_counted() -> None:
    made = certificate(*(f"n{i}" for i in range(100)))
    assert certificate_failure(made, "x", NOW) == (
        "certificate is valid for 100 names, but none matched x"
    )
    made = certificate(*(f"10.0.0.{i}" for i in range(100)))
    assert certificate_failure(made, "127.0.0.1", NOW) == (
        "certificate is valid for 100 IP SANs, but none matched 127.0.0.1"
    )


def test_a_common_name_is_mentioned_if_it_would_do() -> None:
    legacy = "certificate relies on legacy Common Name field, use SANs instead"
    assert certificate_failure(certificate(common_name="*.b"), "a.b.", NOW) == legacy
    assert certificate_failure(certificate(common_name="c"), "a.b", NOW) == (
        "certificate is not valid for any names, but wanted to match a.b"
    )
