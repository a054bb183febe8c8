"""Certificates that we sign ourselves, and keys for them. A door of its own: what knows of X.509
takes an eighth of a server's start, and not every server signs or looks at a certificate.
"""

from celadon.serve.access.credentials.signing_keys import new_elliptic_key
from celadon.serve.tls.issuing.issued_certificates import (
    Pair,
    authority_certificate,
    covers_names,
    server_certificate,
)

__all__ = [
    "Pair",
    "authority_certificate",
    "covers_names",
    "new_elliptic_key",
    "server_certificate",
]
