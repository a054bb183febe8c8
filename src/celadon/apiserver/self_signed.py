"""Certificates that we sign ourselves, and keys for them. A door of its own: what knows of X.509
takes an eighth of a server's start, and not every server signs or looks at a certificate.
"""

from __future__ import annotations

import datetime
import ipaddress
from collections.abc import Iterable
from typing import Final

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from celadon.apiserver.authn.signing_keys import new_elliptic_key
from celadon.records import dataclass, field

__all__ = [
    "Pair",
    "authority_certificate",
    "covers_names",
    "new_elliptic_key",
    "server_certificate",
]


# --- Issued certificates -----------------------------------------------------
#
# Certificates that we sign ourselves: an authority, and those of servers.
#
# Keys are ECDSA on P-256 (`new_elliptic_key`), everything is PEM. Who keeps what for how long
# is the caller's matter.

EARLIER: Final = datetime.timedelta(hours=1)
"""A certificate is good from a while before it was made: clocks differ."""


@dataclass(frozen=True, slots=True)
class Pair:
    """A certificate and its private key, both PEM."""

    certificate: bytes
    key: bytes = field(repr=False)


def authority_certificate(
    key: bytes, name: str, now: datetime.datetime, lifetime: datetime.timedelta
) -> bytes:
    """Return the certificate of an authority that signs itself. Raises ValueError for a key that is
    not one of ours."""
    private = _key(key)
    named = _name(name)
    usage = x509.KeyUsage(
        digital_signature=True,
        content_commitment=False,
        key_encipherment=False,
        data_encipherment=False,
        key_agreement=False,
        key_cert_sign=True,
        crl_sign=True,
        encipher_only=False,
        decipher_only=False,
    )
    built = (
        _begun(named, named, private.public_key(), now, lifetime)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .add_extension(usage, critical=True)
        .add_extension(
            x509.SubjectKeyIdentifier.from_public_key(private.public_key()), critical=False
        )
    )
    return built.sign(private, hashes.SHA256()).public_bytes(serialization.Encoding.PEM)


def server_certificate(
    authority: Pair,
    key: bytes,
    subject: str,
    names: Iterable[str],
    now: datetime.datetime,
    lifetime: datetime.timedelta,
) -> bytes:
    """Return a certificate for a server that is reached by these `names` (hosts and addresses).
    Raises ValueError."""
    signer, public = _key(authority.key), _key(key).public_key()
    issuer = x509.load_pem_x509_certificate(authority.certificate).subject
    built = (
        _begun(_name(subject), issuer, public, now, lifetime)
        .add_extension(
            x509.SubjectAlternativeName([general_name(name) for name in names]), critical=False
        )
        .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
        .add_extension(x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH]), critical=False)
        .add_extension(
            x509.AuthorityKeyIdentifier.from_issuer_public_key(signer.public_key()), critical=False
        )
    )
    return built.sign(signer, hashes.SHA256()).public_bytes(serialization.Encoding.PEM)


def covers_names(certificate: x509.Certificate, names: Iterable[str]) -> bool:
    """Return whether a server's certificate names all of these."""
    try:
        extension = certificate.extensions.get_extension_for_class(
            x509.SubjectAlternativeName
        ).value
    except x509.ExtensionNotFound:
        return False
    return {general_name(name) for name in names} <= set(extension)


def general_name(name: str) -> x509.GeneralName:
    """Return a host or an address, as certificates name them."""
    try:
        return x509.IPAddress(ipaddress.ip_address(name))
    except ValueError:
        return x509.DNSName(name)


def _key(pem: bytes) -> ec.EllipticCurvePrivateKey:
    key = serialization.load_pem_private_key(pem, password=None)
    if not isinstance(key, ec.EllipticCurvePrivateKey):
        raise ValueError("a kept key is not one that celadon made")  # noqa: TRY004  a file's content
    return key


def _begun(
    subject: x509.Name,
    issuer: x509.Name,
    public: ec.EllipticCurvePublicKey,
    now: datetime.datetime,
    lifetime: datetime.timedelta,
) -> x509.CertificateBuilder:
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(public)
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - EARLIER)
        .not_valid_after(now + lifetime)
    )


def _name(common: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, common)])
