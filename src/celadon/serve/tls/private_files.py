"""Files that only their owner may read, and keys that TLS takes from such files alone."""

from __future__ import annotations

import os
import ssl
import tempfile
from pathlib import Path


def write_private(path: Path, content: bytes) -> None:
    """A file that its owner alone may read; there is never half of it. Raises OSError."""
    draft = path.with_name(f".{path.name}.{os.getpid()}")
    descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
        draft.replace(path)
    except OSError as error:
        draft.unlink(missing_ok=True)
        raise type(error)(error.errno, error.strerror, str(path)) from None


def load_pair(context: ssl.SSLContext, certificate: bytes, key: bytes) -> None:
    """Both are PEM; the standard library reads them from files only. A key with a password is not
    asked for it. Raises OSError, ssl.SSLError among them."""
    with tempfile.TemporaryDirectory(prefix="celadon-") as folder:
        files = Path(folder, "tls.crt"), Path(folder, "tls.key")
        for path, content in zip(files, (certificate, key), strict=True):
            write_private(path, content)
        context.load_cert_chain(*files, password="")
