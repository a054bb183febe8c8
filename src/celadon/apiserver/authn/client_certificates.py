"""A verified client certificate as a user: the common name, in the organisations as groups.

The transport has checked the chain; here is what the server asks of the certificate itself. As
k8s.io/apiserver `pkg/authentication/request/x509`.
"""

from __future__ import annotations

import datetime
import hashlib
from typing import Final

from cryptography import x509
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from celadon.apiserver.authn.identities import CREDENTIAL_ID
from celadon.kube import User

_USAGES: Final = frozenset(
    {ExtendedKeyUsageOID.CLIENT_AUTH, ExtendedKeyUsageOID.ANY_EXTENDED_KEY_USAGE}
)


class CertificateRefused(Exception):
    """A certificate that proves nobody's identity; the request is not authenticated by it."""


def certificate_user(der: bytes, now: datetime.datetime) -> User | None:
    """None for a certificate without a common name; raises CertificateRefused."""
    try:
        certificate = x509.load_der_x509_certificate(der)
        subject = certificate.subject
    except (ValueError, x509.InvalidVersion) as error:
        raise CertificateRefused(f"x509: malformed certificate: {error}") from None
    if not certificate.not_valid_before_utc <= now <= certificate.not_valid_after_utc:
        raise CertificateRefused("x509: certificate has expired or is not yet valid")
    if not _for_clients(certificate):
        raise CertificateRefused("x509: certificate specifies an incompatible key usage")
    names = _values(subject, NameOID.COMMON_NAME)
    if not names or not names[-1]:
        return None
    fingerprint = hashlib.sha256(der).hexdigest()
    return User(
        names[-1],
        _values(subject, NameOID.ORGANIZATION_NAME),
        extra={CREDENTIAL_ID: (f"X509SHA256={fingerprint}",)},
    )


def _values(subject: x509.Name, oid: x509.ObjectIdentifier) -> tuple[str, ...]:
    return tuple(str(one.value) for one in subject.get_attributes_for_oid(oid))


def _for_clients(certificate: x509.Certificate) -> bool:
    """A certificate that lists no usages may be used for anything."""
    try:
        usages = certificate.extensions.get_extension_for_class(x509.ExtendedKeyUsage).value
    except x509.ExtensionNotFound:
        return True
    except (ValueError, x509.DuplicateExtension) as error:
        raise CertificateRefused(f"x509: malformed extension: {error}") from None
    return any(usage in _USAGES for usage in usages)
