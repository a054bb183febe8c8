"""The server on the network: HTTP, TLS, credentials, a process with a beginning and an end.

Needs the packages of `celadon[serve]`. Read first `server_process` (how it all comes together),
then `asgi_app` (between HTTP and the handler).
"""

from celadon.serve.transport.server_process import Serving, run
from celadon.serve.transport.server_settings import (
    MEMORY,
    Address,
    ServerSettings,
    StartError,
    TlsSettings,
    parse_address,
)

__all__ = [
    "MEMORY",
    "Address",
    "ServerSettings",
    "Serving",
    "StartError",
    "TlsSettings",
    "parse_address",
    "run",
]
