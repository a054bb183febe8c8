"""Contexts of TLS, whatever they are for.

`changing_tls` lets a listener change its certificate, `private_files` hands keys to TLS,
`go_trust` says what of a pool of certificates is trusted; `issuing`, a door of its own, signs
certificates.
"""

from celadon.serve.tls.changing_tls import ChangingTls, context_with, server_context
from celadon.serve.tls.private_files import load_pair

__all__ = [
    "ChangingTls",
    "context_with",
    "load_pair",
    "server_context",
]
