"""TLS for the server: a given or a generated certificate, and certificates of clients."""

from __future__ import annotations

import datetime
import ssl
import tempfile
from pathlib import Path

from celadon.serve.transport.generated_credentials import CredentialsFolder, Pair, write_private
from celadon.serve.transport.server_settings import Address, StartError, TlsSettings


def server_tls(
    settings: TlsSettings, listen: Address, kept: CredentialsFolder, now: datetime.datetime
) -> tuple[ssl.SSLContext | None, bytes]:
    """The context, None for plain HTTP, and what clients should trust (PEM). Raises StartError."""
    if settings.plain:
        if not listen.is_loopback and not settings.force_plain:
            raise StartError(
                f"plain HTTP on `{listen.host}` could be read by others (--force-plain-http)"
            )
        return None, b""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    context.set_alpn_protocols(["http/1.1"])
    if settings.client_authorities is not None:
        _trust_clients(context, settings.client_authorities)
    if settings.certificate is not None and settings.key is not None:
        _load(context, settings.certificate, settings.key)
        return context, settings.certificate.read_bytes()
    names = () if listen.is_wildcard else (listen.host,)
    _load_pair(context, kept.server(names, now))
    return context, kept.authority(now).certificate


def _trust_clients(context: ssl.SSLContext, authorities: Path) -> None:
    """A client may show a certificate; one that the authorities did not sign is refused."""
    context.verify_mode = ssl.CERT_OPTIONAL
    try:
        context.load_verify_locations(authorities)
    except (OSError, ssl.SSLError) as error:
        raise StartError(f"`{authorities}`: no certificates of authorities: {error}") from None


def _load(context: ssl.SSLContext, certificate: Path, key: Path) -> None:
    for path in (certificate, key):
        if not path.is_file():
            raise StartError(f"`{path}`: no such file")
    try:
        context.load_cert_chain(certificate, key, password="")
    except (OSError, ssl.SSLError) as error:
        raise StartError(f"`{certificate}`: not a certificate with its key: {error}") from None


def _load_pair(context: ssl.SSLContext, pair: Pair) -> None:
    """The standard library reads certificates from files only."""
    with tempfile.TemporaryDirectory(prefix="celadon-") as folder:
        certificate, key = Path(folder, "server.crt"), Path(folder, "server.key")
        write_private(certificate, pair.certificate)
        write_private(key, pair.key)
        _load(context, certificate, key)
