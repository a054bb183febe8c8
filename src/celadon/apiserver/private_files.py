"""Keys and certificates that TLS takes from files alone, and only for a moment."""

from __future__ import annotations

import ssl
import tempfile
from pathlib import Path

from celadon import owner_only


def load_pair(context: ssl.SSLContext, certificate: bytes, key: bytes) -> None:
    """Both are PEM; the standard library reads them from files only. A key with a password is not
    asked for it. Raises OSError, ssl.SSLError among them."""
    with tempfile.TemporaryDirectory(prefix="celadon-") as folder:
        files = Path(folder, "tls.crt"), Path(folder, "tls.key")
        for path, content in zip(files, (certificate, key), strict=True):
            owner_only.write(path, content)
        context.load_cert_chain(*files, password="")
