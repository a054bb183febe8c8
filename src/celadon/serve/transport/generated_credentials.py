"""Keys, certificates and the administrator's token, made once and kept beside the data.

They stand in one folder, readable by its owner only. A server with its data in memory makes them
anew each time; a server certificate that does not name the address that is listened on, or that
ends soon, is made anew from the authority that is kept.
"""

from __future__ import annotations

import datetime
import secrets
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Final

from cryptography import x509

from celadon.kube.well_known_values import API_SERVER
from celadon.serve.access.credentials.signing_keys import new_elliptic_key
from celadon.serve.tls.issued_certificates import (
    Pair,
    authority_certificate,
    covers_names,
    server_certificate,
)
from celadon.serve.tls.private_files import write_private

YEARS: Final = datetime.timedelta(days=3650)
SOON: Final = datetime.timedelta(days=30)
AUTHORITY_NAME: Final = "celadon"
ALWAYS_NAMED: Final = (
    "localhost",
    "127.0.0.1",
    "::1",
    "kubernetes",
    "kubernetes.default",
    "kubernetes.default.svc",
    "kubernetes.default.svc.cluster.local",
)
"""In every server certificate."""


class CredentialsFolder:
    """What is kept, by name; without a folder only as long as this object. Raises OSError,
    ValueError."""

    def __init__(self, folder: Path | None) -> None:
        self._folder = folder
        self._made: dict[str, bytes] = {}

    def administrator_token(self) -> str:
        return self._kept("admin.token", lambda: secrets.token_urlsafe(32).encode()).decode()

    def signing_key(self) -> bytes:
        """Of service account tokens, PEM."""
        return self._kept("service-accounts.key", new_elliptic_key)

    def authority(self, now: datetime.datetime) -> Pair:
        """A certificate authority of this server's own."""
        key = self._kept("ca.key", new_elliptic_key)
        return Pair(
            self._kept("ca.crt", lambda: authority_certificate(key, AUTHORITY_NAME, now, YEARS)),
            key,
        )

    def server(self, names: Iterable[str], now: datetime.datetime) -> Pair:
        """The server's certificate, good for `names` (hosts and addresses) and the usual ones."""
        wanted = sorted({*ALWAYS_NAMED, *names})
        authority = self.authority(now)
        key = self._kept("server.key", new_elliptic_key)

        def made() -> bytes:
            return server_certificate(authority, key, API_SERVER, wanted, now, YEARS)

        certificate = self._kept("server.crt", made)
        if not _is_good(certificate, wanted, now):
            certificate = made()
            self._write("server.crt", certificate)
        return Pair(certificate, key)

    def _kept(self, name: str, make: Callable[[], bytes]) -> bytes:
        if name in self._made:
            return self._made[name]
        if self._folder is not None and (self._folder / name).exists():
            return (self._folder / name).read_bytes()
        made = make()
        self._write(name, made)
        return made

    def _write(self, name: str, content: bytes) -> None:
        self._made[name] = content
        if self._folder is not None:
            self._folder.mkdir(mode=0o700, exist_ok=True)
            write_private(self._folder / name, content)


def _is_good(certificate: bytes, names: Iterable[str], now: datetime.datetime) -> bool:
    found = x509.load_pem_x509_certificate(certificate)
    return covers_names(found, names) and found.not_valid_after_utc > now + SOON
