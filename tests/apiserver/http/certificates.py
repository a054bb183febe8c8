"""Certificates for tests, signed by an authority that is made for them."""

from __future__ import annotations

import datetime

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from celadon.apiserver.authn.signing_keys import new_elliptic_key
from celadon.apiserver.http.server_settings import CredentialsFolder
from celadon.apiserver.self_signed import Pair

DAY = datetime.timedelta(days=1)


def new_authority() -> Pair:
    return CredentialsFolder(None).authority(datetime.datetime.now(datetime.UTC))


def client_pair(authority: Pair, name: str, group: str) -> Pair:
    """For a client of this name."""
    signer = serialization.load_pem_private_key(authority.key, None)
    assert isinstance(signer, ec.EllipticCurvePrivateKey)
    key = new_elliptic_key()
    public = serialization.load_pem_private_key(key, None).public_key()
    assert isinstance(public, ec.EllipticCurvePublicKey)
    now = datetime.datetime.now(datetime.UTC)
    built = (
        x509.CertificateBuilder()
        .subject_name(
            x509.Name(
                [
                    x509.NameAttribute(NameOID.ORGANIZATION_NAME, group),
                    x509.NameAttribute(NameOID.COMMON_NAME, name),
                ]
            )
        )
        .issuer_name(x509.load_pem_x509_certificate(authority.certificate).subject)
        .public_key(public)
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - DAY)
        .not_valid_after(now + DAY)
        .add_extension(x509.ExtendedKeyUsage([ExtendedKeyUsageOID.CLIENT_AUTH]), critical=False)
        .sign(signer, hashes.SHA256())
    )
    return Pair(built.public_bytes(serialization.Encoding.PEM), key)
