"""A verified client certificate as a user: the common name, in the organisations as groups.

The transport has checked the chain; here is what the server asks of the certificate itself. As
k8s.io/apiserver `pkg/authentication/request/x509`.
"""

from __future__ import annotations

import datetime
import hashlib
from collections.abc import Iterator, Sequence
from typing import Final, TypeAlias

from cryptography import x509
from cryptography.x509.oid import ExtendedKeyUsageOID

from celadon.apiserver.authn.identities import CREDENTIAL_ID, FrontProxies, extra_key
from celadon.apiserver.http_messages import Header
from celadon.kube import User
from celadon.kube.x509 import DerError, subject_texts

_USAGES: Final = frozenset(
    {ExtendedKeyUsageOID.CLIENT_AUTH, ExtendedKeyUsageOID.ANY_EXTENDED_KEY_USAGE}
)

_COMMON_NAME: Final = bytes.fromhex("550403")
_ORGANIZATION: Final = bytes.fromhex("55040a")
_UID: Final = bytes.fromhex("2b0601040183c25302")
"""1.3.6.1.4.1.57683.2, encoded: a UID among the names of a certificate, an idea of Kubernetes."""
Subject: TypeAlias = Sequence[tuple[bytes, str | None]]


class CertificateRefused(Exception):
    """A certificate that proves nobody's identity; the request is not authenticated by it."""


def certificate_user(der: bytes, now: datetime.datetime, *, has_uid: bool = True) -> User | None:
    """Return the user that a certificate names; None for one without a common name. Raises
    CertificateRefused. `has_uid` says whether a certificate may name the user's UID: the gate
    AllowParsingUserUIDFromCertAuth."""
    subject = subject_of(der, now)
    name = common_name(subject)
    if not name:
        return None
    extra = {CREDENTIAL_ID: (f"X509SHA256={hashlib.sha256(der).hexdigest()}",)}
    groups = _texts(subject, _ORGANIZATION)
    return User(name, groups, _uid(subject) if has_uid else "", extra)


def subject_of(der: bytes, now: datetime.datetime) -> Subject:
    """Return the subject of a certificate which clients may show now. Raises
    CertificateRefused."""
    try:
        subject = subject_texts(der)
        certificate = x509.load_der_x509_certificate(der)
    except (ValueError, x509.InvalidVersion, DerError) as error:
        raise CertificateRefused(f"x509: malformed certificate: {error}") from None
    if not certificate.not_valid_before_utc <= now <= certificate.not_valid_after_utc:
        raise CertificateRefused("x509: certificate has expired or is not yet valid")
    if not _for_clients(certificate):
        raise CertificateRefused("x509: certificate specifies an incompatible key usage")
    return subject


def common_name(subject: Subject) -> str:
    """Return the last one, which counts; empty if there is none."""
    return (_texts(subject, _COMMON_NAME) or ("",))[-1]


def _texts(subject: Subject, kind: bytes) -> tuple[str, ...]:
    return tuple(text for attribute, text in subject if attribute == kind and text is not None)


def _uid(subject: Subject) -> str:
    """Return the UID that a certificate names; empty if there is none. Raises
    CertificateRefused."""
    uids = [text for kind, text in subject if kind == _UID]
    if None in uids:
        raise CertificateRefused("unable to parse UID into a string")
    texts = _texts(subject, _UID)
    if len(texts) > 1:
        raise CertificateRefused(f"expected 1 UID, but found multiple: [{' '.join(texts)}]")
    if texts == ("",):
        raise CertificateRefused("UID cannot be an empty string")
    return texts[0] if texts else ""


def _for_clients(certificate: x509.Certificate) -> bool:
    """Return whether a certificate is for clients. One that lists no usages may be used for
    anything."""
    try:
        usages = certificate.extensions.get_extension_for_class(x509.ExtendedKeyUsage).value
    except x509.ExtensionNotFound:
        return True
    except (ValueError, x509.DuplicateExtension) as error:
        raise CertificateRefused(f"x509: malformed extension: {error}") from None
    return any(usage in _USAGES for usage in usages)


# --- Front proxies -----------------------------------------------------------
#
# Users whom a front proxy vouches for: it shows its certificate, and headers say who asks.
#
# As k8s.io/apiserver `pkg/authentication/request/headerrequest`, and the verifier of `x509` beside
# it.


def vouched_user(
    proxies: FrontProxies, certificate: bytes, headers: Sequence[Header], now: datetime.datetime
) -> User | None:
    """Return whom the headers name, None if nobody. The transport has checked that `certificate`
    (DER) is of an authority of front proxies. Raises CertificateRefused."""
    proxy_name = common_name(subject_of(certificate, now))
    if proxies.allowed_names and proxy_name not in proxies.allowed_names:
        raise CertificateRefused(f"x509: subject with cn={proxy_name} is not in the allowed list")
    name = _first(headers, proxies.user_headers)
    if not name:
        return None
    return User(
        name,
        tuple(value for value in _values(headers, proxies.group_headers) if value),
        _first(headers, proxies.uid_headers),
        _extra(headers, proxies.extra_prefixes),
    )


def _values(headers: Sequence[Header], names: Sequence[str]) -> Iterator[str]:
    """Yield the values of headers, in the order of their names."""
    for text in names:
        yield from (value for name, value in headers if name == text.lower())


def _first(headers: Sequence[Header], names: Sequence[str]) -> str:
    """Return the first value that is not empty. Of each header, only the first one counts."""
    firsts = (next(_values(headers, (name,)), "") for name in names)
    return next((value for value in firsts if value), "")


def _extra(headers: Sequence[Header], prefixes: Sequence[str]) -> dict[str, tuple[str, ...]]:
    result: dict[str, tuple[str, ...]] = {}
    for prefix in (prefix.lower() for prefix in prefixes):
        for name, value in headers:
            if name.startswith(prefix):
                key = extra_key(name[len(prefix) :])
                result[key] = (*result.get(key, ()), value)
    return result
