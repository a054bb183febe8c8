"""TLS with a certificate from files, read again when they change, or with one made for the day."""

from __future__ import annotations

import ssl
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

from cryptography import x509

from celadon.serve.transport import (
    Address,
    CredentialsFolder,
    ServerTls,
    StartError,
    TlsSettings,
    server_tls,
)


class ServedCertificate:
    """A `Certificate`; `pem` gives the one in use."""

    def __init__(self, tls: ServerTls, pem: Callable[[], bytes]) -> None:
        self._tls = tls
        self._pem = pem
        self._expires = _end_of(pem())

    @property
    def context(self) -> ssl.SSLContext:
        """Chooses the newest certificate for each handshake."""
        return self._tls.context

    @property
    def trusted(self) -> bytes:
        """What clients should trust: the `caBundle`, PEM."""
        return self._tls.trusted

    def reload(self) -> bool:
        """Whether files have changed, and are in use now."""
        changed = self._tls.reload()
        if changed:
            self._expires = _end_of(self._pem())
        return changed

    def expires(self) -> float:
        """In Unix time."""
        return self._expires


def certificate_of(settings: TlsSettings, listen: Address) -> ServedCertificate | None:
    """None for plain HTTP. Raises StartError."""
    kept = CredentialsFolder(None)
    now = datetime.now(UTC)
    try:
        tls = server_tls(settings, listen, kept, now)
        if tls is None:
            return None
        given = settings.certificate
        if given is not None:
            return ServedCertificate(tls, given.read_bytes)
        names = () if listen.is_wildcard else (listen.host,)
        pair = kept.server(names, now)
        return ServedCertificate(tls, lambda: pair.certificate)
    except OSError as error:
        raise StartError(f"`{error.filename}`: {error.strerror}") from error


def _end_of(pem: bytes) -> float:
    return x509.load_pem_x509_certificate(pem).not_valid_after_utc.timestamp()


def write_trusted(certificate: ServedCertificate, path: Path) -> None:
    """The authority for clients that are to trust a made certificate. Raises StartError."""
    try:
        path.write_bytes(certificate.trusted)
    except OSError as error:
        raise StartError(f"`{path}`: {error.strerror}") from error
