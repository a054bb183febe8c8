"""Why a TLS handshake failed, as Go says it.

OpenSSL decides whether a certificate is good; what it says about a bad one is less than Go does. So
after a failed verification the certificate is fetched once more, by a handshake that verifies
nothing and over which nothing is sent, to be looked at for the reason. As Go's `crypto/x509`, in
its order: dates, names, authority.
"""

from __future__ import annotations

import asyncio
import ssl
from datetime import UTC, datetime
from ipaddress import ip_address
from typing import Final

from cryptography import x509

LOOK_SECONDS: Final = 5.0
"""How long the second look may take."""
_PREFIX: Final = "tls: failed to verify certificate: x509: "
UNKNOWN_AUTHORITY: Final = "certificate signed by unknown authority"


async def handshake_failure(error: ssl.SSLError, host: str, port: int, name: str) -> str:
    """The text about a handshake with `host:port` that was to prove the name `name`."""
    if isinstance(error, ssl.SSLCertVerificationError):
        certificate = await _certificate_of(host, port)
        why = UNKNOWN_AUTHORITY
        if certificate is not None:
            why = certificate_failure(certificate, name, datetime.now(UTC))
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
    except ValueError:
        return None
    finally:
        writer.transport.abort()


def certificate_failure(certificate: x509.Certificate, name: str, now: datetime) -> str:
    """What is wrong with it for a server of that name, all after `x509: `."""
    if now > certificate.not_valid_after_utc:
        return _out_of_date(now, "after", certificate.not_valid_after_utc)
    if now < certificate.not_valid_before_utc:
        return _out_of_date(now, "before", certificate.not_valid_before_utc)
    return _wrong_name(certificate, name) or UNKNOWN_AUTHORITY


def _out_of_date(now: datetime, side: str, bound: datetime) -> str:
    times = [f"{moment:%Y-%m-%dT%H:%M:%SZ}" for moment in (now, bound)]
    return (
        f"certificate has expired or is not yet valid: current time {times[0]} is {side} {times[1]}"
    )


def _wrong_name(certificate: x509.Certificate, name: str) -> str:
    """Empty if the certificate is for that name."""
    try:
        names = certificate.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    except x509.ExtensionNotFound:
        names = x509.SubjectAlternativeName([])
    hosts = names.get_values_for_type(x509.DNSName)
    addresses = [str(one) for one in names.get_values_for_type(x509.IPAddress)]
    if not hosts and not addresses and _has_common_name(certificate):
        return "certificate relies on legacy Common Name field, use SANs instead"
    if _is_address(name):
        if not addresses:
            return f"cannot validate certificate for {name} because it doesn't contain any IP SANs"
        fits, shown = name in addresses, addresses
    else:
        fits, shown = any(_covers(host, name) for host in hosts), hosts
    if fits:
        return ""
    if not shown:
        return f"certificate is not valid for any names, but wanted to match {name}"
    return f"certificate is valid for {', '.join(shown)}, not {name}"


def _has_common_name(certificate: x509.Certificate) -> bool:
    return bool(certificate.subject.get_attributes_for_oid(x509.NameOID.COMMON_NAME))


def _is_address(name: str) -> bool:
    try:
        ip_address(name)
    except ValueError:
        return False
    return True


def _covers(pattern: str, name: str) -> bool:
    """A star stands for the whole first label."""
    wanted, given = pattern.lower().split("."), name.lower().rstrip(".").split(".")
    if len(wanted) != len(given):
        return False
    return wanted[0] in {"*", given[0]} and wanted[1:] == given[1:]
