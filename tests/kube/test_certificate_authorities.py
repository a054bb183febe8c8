"""Whether some bytes are a certificate, and one of an authority."""

from __future__ import annotations

import pytest
from cryptography import x509
from cryptography.hazmat.primitives.asymmetric import ed25519
from cryptography.hazmat.primitives.serialization import Encoding
from cryptography.x509 import BasicConstraints, OCSPNoCheck

from celadon.kube.x509 import Authority, authority_of
from tests.kube.test_key_pairs import NAME, validity

KEY = ed25519.Ed25519PrivateKey.generate()


def certificate(*constraints: BasicConstraints) -> bytes:
    """In DER, with an extension before the one that counts."""
    builder = x509.CertificateBuilder(NAME, NAME, KEY.public_key(), 7, *validity())
    builder = builder.add_extension(OCSPNoCheck(), critical=False)
    for extension in constraints:
        builder = builder.add_extension(extension, critical=True)
    return builder.sign(KEY, None).public_bytes(Encoding.DER)


AUTHORITY = certificate(BasicConstraints(ca=True, path_length=None))


@pytest.mark.parametrize(
    ("der", "expected"),
    [
        (AUTHORITY, Authority.GIVEN),
        (certificate(BasicConstraints(ca=False, path_length=None)), Authority.NONE),
        (certificate(), Authority.NONE),
        (b"", Authority.NO_CERTIFICATE),
        (AUTHORITY[:-1], Authority.NO_CERTIFICATE),
        (AUTHORITY + b"x", Authority.NO_CERTIFICATE),
    ],
)
def test_authorities(der: bytes, expected: Authority) -> None:
    assert authority_of(der) is expected
