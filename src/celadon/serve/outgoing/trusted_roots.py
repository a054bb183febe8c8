"""Whom a webhook's certificate has to come from: its `caBundle`, or the system's authorities.

As k8s.io/client-go `transport` (`rootCertPool`), with its texts.
"""

from __future__ import annotations

import base64
import re
import ssl
from typing import Final

from cryptography import x509
from cryptography.hazmat.primitives.serialization import Encoding

from celadon.patterns import late_pattern
from celadon.serve.tls.go_trust import trust_as_go

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
    except ValueError:
        text = f"{_UNUSABLE}failed to parse certificate: x509: malformed certificate"
        raise UnusableRoots(text) from None
