"""Keys, certificates and the administrator's token, made once and kept beside the data.

They stand in one folder, readable by its owner only. A server with its data in memory makes them
anew each time; a server certificate that does not name the address that is listened on, or that
ends soon, is made anew from the authority that is kept.

What knows of keys and certificates is loaded when one is made or looked at: it takes an eighth of
the start of a server that has none.
"""

from __future__ import annotations

import datetime
import secrets
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Final

from celadon import owner_only
from celadon.kube.well_known_values import API_SERVER
from celadon.serve.access.credentials.signer_on_demand import SignerOnDemand

if TYPE_CHECKING:
    from celadon.serve.tls.issuing.issued_certificates import Pair

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

    def signer(self) -> SignerOnDemand:
        """Of service account tokens. Whether a key that is kept can be used is known at once.
        Raises KeyFileError."""
        name = "service-accounts.key"
        signer = SignerOnDemand(lambda: self._kept(name, _new_key))
        if self._folder is not None:
            signer.signer()
        return signer

    def authority(self, now: datetime.datetime) -> Pair:
        """A certificate authority of this server's own."""
        # late: see above
        from celadon.serve.tls.issuing.issued_certificates import Pair, authority_certificate

        key = self._kept("ca.key", _new_key)
        return Pair(
            self._kept("ca.crt", lambda: authority_certificate(key, AUTHORITY_NAME, now, YEARS)),
            key,
        )

    def server(self, names: Iterable[str], now: datetime.datetime) -> Pair:
        """The server's certificate, good for `names` (hosts and addresses) and the usual ones."""
        # late: see above
        from celadon.serve.tls.issuing.issued_certificates import Pair, server_certificate

        wanted = sorted({*ALWAYS_NAMED, *names})
        authority = self.authority(now)
        key = self._kept("server.key", _new_key)

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
            owner_only.make_folder(self._folder)
            owner_only.write(self._folder / name, content)


def _new_key() -> bytes:
    from celadon.serve.access.credentials.signing_keys import new_elliptic_key  # late: see above

    return new_elliptic_key()


def _is_good(certificate: bytes, names: Iterable[str], now: datetime.datetime) -> bool:
    from cryptography import x509  # late: see above

    from celadon.serve.tls.issuing.issued_certificates import covers_names  # late: see above

    found = x509.load_pem_x509_certificate(certificate)
    return covers_names(found, names) and found.not_valid_after_utc > now + SOON
