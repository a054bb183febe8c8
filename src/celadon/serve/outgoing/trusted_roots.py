"""Whom a webhook's certificate has to come from: its `caBundle`, or the system's authorities.

As k8s.io/client-go `transport` (`rootCertPool`), with its texts.
"""

from __future__ import annotations

import base64
import re
import ssl
from typing import Final

from cryptography import x509

from celadon.patterns import late_pattern

_BLOCK: Final = late_pattern(rb"-----BEGIN ([A-Z0-9 ]+)-----\r?\n(.*?)-----END \1-----", re.DOTALL)
_UNUSABLE: Final = "unable to load root certificates: "


class UnusableRoots(Exception):
    """A bundle without a certificate that could be trusted."""


def tls_context(ca_bundle: str, protocols: list[str]) -> ssl.SSLContext:
    """`ca_bundle` is base64 as in the configuration; empty for the system's. `protocols` are those
    offered to the server. Raises UnusableRoots."""
    context = ssl.create_default_context(cadata=_certificates(ca_bundle) if ca_bundle else None)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    # Go trusts what it is told to, also an authority whose certificate lacks some extension.
    context.verify_flags &= ~ssl.VERIFY_X509_STRICT
    context.set_alpn_protocols(protocols)
    return context


def _certificates(ca_bundle: str) -> bytes:
    """The certificates, one behind the other, as DER."""
    text = base64.b64decode(ca_bundle)
    blocks = _BLOCK.findall(text)
    if not blocks:
        raise UnusableRoots(f"{_UNUSABLE}unable to parse bytes as PEM block")
    found = [_certificate(body) for label, body in blocks if label == b"CERTIFICATE"]
    if not found:
        raise UnusableRoots(f"{_UNUSABLE}no valid certificate authority data seen")
    return b"".join(found)


def _certificate(body: bytes) -> bytes:
    try:
        der = base64.b64decode(body)
        x509.load_der_x509_certificate(der)
    except ValueError:
        text = f"{_UNUSABLE}failed to parse certificate: x509: malformed certificate"
        raise UnusableRoots(text) from None
    return der
