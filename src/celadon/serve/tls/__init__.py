"""Certificates and contexts of TLS, whatever they are for.

`issued_certificates` signs them, `changing_tls` lets a listener change its own, `private_files`
keeps keys from others.
"""

from celadon.serve.access.credentials.signing_keys import new_elliptic_key
from celadon.serve.tls.changing_tls import ChangingTls, context_with, server_context
from celadon.serve.tls.issued_certificates import (
    Pair,
    authority_certificate,
    covers_names,
    server_certificate,
)
from celadon.serve.tls.private_files import load_pair, write_private

__all__ = [
    "ChangingTls",
    "Pair",
    "authority_certificate",
    "context_with",
    "covers_names",
    "load_pair",
    "new_elliptic_key",
    "server_certificate",
    "server_context",
    "write_private",
]
