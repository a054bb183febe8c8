"""What of a certificate Go trusts, where OpenSSL, or Python for it, would decide otherwise."""

from __future__ import annotations

import ssl


def trust_as_go(context: ssl.SSLContext) -> None:
    """Whatever is in a pool is an anchor: an intermediate certificate, the certificate of the other
    side itself, an authority whose certificate lacks some extension. A common name is no name of a
    host. As Go's `crypto/x509`."""
    context.verify_flags |= ssl.VERIFY_X509_PARTIAL_CHAIN
    context.verify_flags &= ~ssl.VERIFY_X509_STRICT
    if context.protocol is ssl.PROTOCOL_TLS_CLIENT:
        context.hostname_checks_common_name = False
