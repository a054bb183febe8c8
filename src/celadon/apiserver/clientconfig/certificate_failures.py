"""Why a TLS handshake failed, as Go says it.

OpenSSL decides whether a certificate is good; what it says about a bad one is less than Go does. So
after a failed verification the certificate is fetched once more, by a handshake that verifies
nothing and over which nothing is sent, to be looked at for the reason. As Go's `crypto/x509`, in
its order: dates, names, authority, usages.
"""

from __future__ import annotations

import asyncio
import base64
import re
import ssl
from collections.abc import Sequence
from datetime import UTC, datetime
from ipaddress import ip_address
from typing import Final, TypeVar

from cryptography import x509
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric import ed25519, rsa
from cryptography.hazmat.primitives.serialization import Encoding
from cryptography.x509.oid import ExtendedKeyUsageOID

from celadon.apiserver.tls import trust_as_go
from celadon.kube.go import quote
from celadon.patterns import late_pattern

LOOK_SECONDS: Final = 5.0
"""How long the second look may take."""
_PREFIX: Final = "tls: failed to verify certificate: x509: "
UNKNOWN_AUTHORITY: Final = "certificate signed by unknown authority"
WRONG_USAGE: Final = "certificate specifies an incompatible key usage"
_WRONG_PURPOSE: Final = 26
"""What OpenSSL calls X509_V_ERR_INVALID_PURPOSE."""
_SERVING: Final = frozenset(
    {ExtendedKeyUsageOID.SERVER_AUTH, ExtendedKeyUsageOID.ANY_EXTENDED_KEY_USAGE}
)
_MAX_SHOWN: Final = 100
"""Go counts names from so many on."""

_Extension = TypeVar("_Extension", bound=x509.ExtensionType)


async def handshake_failure(
    error: ssl.SSLError,
    address: tuple[str, int],
    name: str,
    pool: Sequence[x509.Certificate] = (),
) -> str:
    """The text about a handshake with `address` that was to prove the name `name`. `pool` is what
    was trusted, as far as it is known."""
    if isinstance(error, ssl.SSLCertVerificationError):
        certificate = await _certificate_of(*address)
        why = UNKNOWN_AUTHORITY
        if certificate is not None:
            why = certificate_failure(certificate, name, datetime.now(UTC), pool)
            if why == UNKNOWN_AUTHORITY and error.verify_code == _WRONG_PURPOSE:
                why = WRONG_USAGE
        return _PREFIX + why
    if error.reason in {"WRONG_VERSION_NUMBER", "RECORD_LAYER_FAILURE"}:
        return "http: server gave HTTP response to HTTPS client"
    if error.reason == "UNEXPECTED_EOF_WHILE_READING":
        return "EOF"
    words = (error.reason or "handshake failure").lower().replace("_", " ")
    return f"remote error: tls: {words}"


async def _certificate_of(host: str, port: int) -> x509.Certificate | None:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    try:
        async with asyncio.timeout(LOOK_SECONDS):
            _, writer = await asyncio.open_connection(host, port, ssl=context)
    except OSError:
        return None
    try:
        found = writer.get_extra_info("ssl_object").getpeercert(binary_form=True)
        return x509.load_der_x509_certificate(found)
    except (ValueError, x509.InvalidVersion):
        return None
    finally:
        writer.transport.abort()


def certificate_failure(
    certificate: x509.Certificate,
    name: str,
    now: datetime,
    pool: Sequence[x509.Certificate] = (),
) -> str:
    """Return what is wrong with it for a server of that name, all after `x509: `."""
    return (
        _out_of_date(certificate, now)
        or _wrong_name(certificate, name)
        or _no_chain(certificate, now, pool)
    )


def _out_of_date(certificate: x509.Certificate, now: datetime) -> str:
    """Empty if the certificate is valid now."""
    for side, bound, is_outside in (
        ("before", certificate.not_valid_before_utc, now < certificate.not_valid_before_utc),
        ("after", certificate.not_valid_after_utc, now > certificate.not_valid_after_utc),
    ):
        if is_outside:
            times = [f"{moment:%Y-%m-%dT%H:%M:%SZ}" for moment in (now, bound)]
            return (
                "certificate has expired or is not yet valid: current time "
                f"{times[0]} is {side} {times[1]}"
            )
    return ""


def _wrong_name(certificate: x509.Certificate, name: str) -> str:
    """Empty if the certificate is for that name."""
    names = _extension(certificate, x509.SubjectAlternativeName)
    given = names or x509.SubjectAlternativeName([])
    hosts = given.get_values_for_type(x509.DNSName)
    addresses = [str(one) for one in given.get_values_for_type(x509.IPAddress)]
    address = _address(name)
    name = address or name
    shown, kind = (addresses, "IP SANs") if address else (hosts, "names")
    if name in addresses if address else any(_covers(host, name) for host in hosts):
        return ""
    if names is None and any(_covers(one, name) for one in _common_names(certificate)[-1:]):
        return "certificate relies on legacy Common Name field, use SANs instead"
    if address and not addresses:
        return f"cannot validate certificate for {name} because it doesn't contain any IP SANs"
    if len(shown) >= _MAX_SHOWN:
        return f"certificate is valid for {len(shown)} {kind}, but none matched {name}"
    if not shown:
        return f"certificate is not valid for any names, but wanted to match {name}"
    return f"certificate is valid for {', '.join(shown)}, not {name}"


def _no_chain(
    certificate: x509.Certificate, now: datetime, pool: Sequence[x509.Certificate]
) -> str:
    """Return why no certificate of the pool stands behind it, as far as that can be told: the first
    that has the issuer's name is named."""
    if certificate in pool:
        return UNKNOWN_AUTHORITY if _serves(certificate) else WRONG_USAGE
    for one in pool:
        if one.subject == certificate.issuer:
            why = _not_signed(certificate, one) or _out_of_date(one, now)
            if why:
                why = why if why.startswith("crypto/") else f"x509: {why}"
                return (
                    f"{UNKNOWN_AUTHORITY} (possibly because of {quote(why)} while trying to verify "
                    f"candidate authority certificate {quote(_shown_name(one))})"
                )
            return UNKNOWN_AUTHORITY if _serves(certificate) and _serves(one) else WRONG_USAGE
    return UNKNOWN_AUTHORITY


def _not_signed(certificate: x509.Certificate, authority: x509.Certificate) -> str:
    """Empty if the authority has signed it, and may."""
    constraints = _extension(authority, x509.BasicConstraints)
    usage = _extension(authority, x509.KeyUsage)
    if constraints is None or not constraints.ca or (usage and not usage.key_cert_sign):
        return "invalid signature: parent certificate cannot sign this kind of certificate"
    try:
        certificate.verify_directly_issued_by(authority)
    except InvalidSignature:
        return _bad_signature(authority.public_key())
    except (TypeError, ValueError, KeyError):
        return "cannot verify signature: algorithm unimplemented"
    return ""


def _bad_signature(key: object) -> str:
    if isinstance(key, rsa.RSAPublicKey):
        return "crypto/rsa: verification error"
    kind = "Ed25519" if isinstance(key, ed25519.Ed25519PublicKey) else "ECDSA"
    return f"{kind} verification failure"


def _serves(certificate: x509.Certificate) -> bool:
    """Return whether it may stand for a server: its usages say so, or there are none."""
    usages = _extension(certificate, x509.ExtendedKeyUsage)
    return usages is None or not _SERVING.isdisjoint(usages)


def _extension(certificate: x509.Certificate, kind: type[_Extension]) -> _Extension | None:
    try:
        return certificate.extensions.get_extension_for_class(kind).value
    except (x509.ExtensionNotFound, x509.DuplicateExtension, ValueError):
        return None


def _common_names(certificate: x509.Certificate) -> list[str]:
    found = certificate.subject.get_attributes_for_oid(x509.NameOID.COMMON_NAME)
    return [str(one.value) for one in found]


def _shown_name(authority: x509.Certificate) -> str:
    common = _common_names(authority)[-1:]
    found = authority.subject.get_attributes_for_oid(x509.NameOID.ORGANIZATION_NAME)
    organizations = [str(one.value) for one in found]
    return next(filter(None, [*common, *organizations[:1]]), f"serial:{authority.serial_number}")


def _address(name: str) -> str:
    """As Go writes it; empty for what is a name."""
    try:
        return str(ip_address(name.removeprefix("[").removesuffix("]")))
    except ValueError:
        return ""


def _covers(pattern: str, name: str) -> bool:
    """A star stands for the whole first label."""
    wanted, given = pattern.lower().split("."), name.lower().removesuffix(".").split(".")
    if len(wanted) != len(given):
        return False
    return wanted[0] in {"*", given[0]} and wanted[1:] == given[1:]


# --- Trusted roots -----------------------------------------------------------
#
# Whom a webhook's certificate has to come from: its `caBundle`, or the system's authorities.
#
# As k8s.io/client-go `transport` (`rootCertPool`), with its texts.


_BLOCK: Final = late_pattern(rb"-----BEGIN ([A-Z0-9 ]+)-----\r?\n(.*?)-----END \1-----", re.DOTALL)
_UNUSABLE: Final = "unable to load root certificates: "


class UnusableRoots(Exception):
    """A bundle without a certificate that could be trusted."""


class RootedContext(ssl.SSLContext):
    """A client's context that knows its pool, for who has to say what is wrong with a certificate.
    Empty: the system's."""

    pool: tuple[x509.Certificate, ...] = ()


def tls_context(ca_bundle: str, protocols: list[str]) -> RootedContext:
    """`ca_bundle` is base64 as in the configuration; empty for the system's. `protocols` are those
    offered to the server. Raises UnusableRoots."""
    context = RootedContext(ssl.PROTOCOL_TLS_CLIENT)
    if ca_bundle:
        context.pool = _certificates(ca_bundle)
        ders = {one.public_bytes(Encoding.DER): None for one in context.pool}
        context.load_verify_locations(cadata=b"".join(ders))
    else:
        context.load_default_certs()
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    trust_as_go(context)
    context.set_alpn_protocols(protocols)
    return context


def _certificates(ca_bundle: str) -> tuple[x509.Certificate, ...]:
    text = base64.b64decode(ca_bundle)
    blocks = _BLOCK.findall(text)
    if not blocks:
        raise UnusableRoots(f"{_UNUSABLE}unable to parse bytes as PEM block")
    found = [_certificate(body) for label, body in blocks if label == b"CERTIFICATE"]
    if not found:
        raise UnusableRoots(f"{_UNUSABLE}no valid certificate authority data seen")
    return tuple(found)


def _certificate(body: bytes) -> x509.Certificate:
    try:
        return x509.load_der_x509_certificate(base64.b64decode(body))
    except (ValueError, x509.InvalidVersion):
        text = f"{_UNUSABLE}failed to parse certificate: x509: malformed certificate"
        raise UnusableRoots(text) from None
