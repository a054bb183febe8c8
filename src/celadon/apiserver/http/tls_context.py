"""TLS for the server: a given or a generated certificate, and certificates of clients.

Certificates that are given as files are read again when the files change, as upstream does: new
connections get the new ones, what cannot be used is logged and the old ones stay.
"""

from __future__ import annotations

import datetime
import os
import ssl
from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache
from pathlib import Path

from celadon.apiserver.http.server_settings import (
    Address,
    CredentialsFolder,
    StartError,
    TlsSettings,
)
from celadon.apiserver.http_messages import SignedFor
from celadon.apiserver.operation import log_lines
from celadon.apiserver.tls import (
    ChangingTls,
    load_pair,
    server_context,
    trust_as_go,
    verified_chain,
)
from celadon.kube.x509 import CERTIFICATE, pem_blocks


class ServerTls:
    """Give `context` to the listener. `trusted` is what clients should trust (PEM), which a reload
    may change. `recalls` says whether the last reload has changed whose clients are trusted.
    `proxies` has authorities of front proxies."""

    def __init__(
        self,
        make: Callable[[], ssl.SSLContext],
        files: Iterable[Path],
        trusted: Callable[[], bytes],
        authorities: Path | None,
        proxies: Path | None = None,
    ) -> None:
        self._tls = ChangingTls(make())
        self.context = self._tls.context
        self.trusted = trusted()
        self._make = make
        self._read_trusted = trusted
        self._authorities = authorities, proxies
        self._files = (*files, *filter(None, self._authorities))
        self._seen = _signatures(self._files)
        self._trusts = _contents(self._authorities)
        self.recalls = False

    def reload(self) -> bool:
        """Return whether files have changed and new connections get what is in them now."""
        found = _signatures(self._files)
        if found == self._seen:
            return False
        self._seen = found
        try:
            made, trusted = self._make(), self._read_trusted()
            trusts = _contents(self._authorities)
        except (OSError, StartError) as error:
            log_lines.warn("the certificates cannot be reloaded", {"err": str(error)})
            return False
        self._tls.use(made)
        self.trusted = trusted
        self.recalls, self._trusts = trusts != self._trusts, trusts
        log_lines.say(log_lines.LIFE, "the certificates were reloaded")
        return True

    @property
    def signed_for(self) -> Callable[[ssl.SSLObject], SignedFor] | None:
        """Return what tells whose authorities have signed the certificate of a connection; None
        where only those of clients can have."""
        return self._signed_for if self._authorities[1] else None

    def _signed_for(self, tls: ssl.SSLObject) -> SignedFor:
        """OpenSSL has checked every link of the chain, by all authorities together. Whoever trusts
        one certificate of it would have gone no further."""
        chain = verified_chain(tls)
        found = SignedFor.NOBODY
        for bundle, of in zip(
            self._trusts, (SignedFor.CLIENTS, SignedFor.FRONT_PROXIES), strict=True
        ):
            if not chain.isdisjoint(_certificates(bundle)):
                found |= of
        return found


def server_tls(
    settings: TlsSettings,
    listen: Address,
    kept: CredentialsFolder,
    now: datetime.datetime,
    proxies: Path | None = None,
) -> ServerTls | None:
    """Return the TLS of a server; None for plain HTTP. `proxies` has authorities of front proxies.
    Raises StartError."""
    if settings.plain:
        if not listen.is_loopback and not settings.force_plain:
            raise StartError(
                f"plain HTTP on `{listen.host}` could be read by others (--force-plain-http)"
            )
        return None
    if settings.certificate is not None and settings.key is not None:
        certificate, key = settings.certificate, settings.key

        def given() -> ssl.SSLContext:
            context = _context(settings.client_authorities, proxies)
            _load(context, certificate, key)
            return context

        files = certificate, key
        return ServerTls(given, files, certificate.read_bytes, settings.client_authorities, proxies)
    names = () if listen.is_wildcard else (listen.host,)
    pair = kept.server(names, now)

    def generated() -> ssl.SSLContext:
        context = _context(settings.client_authorities, proxies)
        load_pair(context, pair.certificate, pair.key)
        return context

    return ServerTls(
        generated,
        (),
        lambda: kept.authority(now).certificate,
        settings.client_authorities,
        proxies,
    )


def _contents(paths: Iterable[Path | None]) -> tuple[bytes, ...]:
    return tuple(b"" if path is None else path.read_bytes() for path in paths)


@lru_cache(maxsize=4)
def _certificates(bundle: bytes) -> frozenset[bytes]:
    """Return those in PEM form, in DER form."""
    blocks = pem_blocks(bundle)
    return frozenset(one.content for one in blocks if one.kind == CERTIFICATE)


def joined_bundles(bundles: Iterable[str], now: datetime.datetime) -> str:
    """Return all their certificates that have not expired, each once, in PEM form. What is no
    certificate is left out."""
    # late: few servers have authorities of others, and fewer change them
    from cryptography import x509

    blocks = pem_blocks("\n".join(bundles).encode())
    found = dict.fromkeys(one.content for one in blocks if one.kind == CERTIFICATE)
    return "".join(
        ssl.DER_cert_to_PEM_cert(one)
        for one in found
        if x509.load_der_x509_certificate(one).not_valid_after_utc >= now
    )


def _context(*authorities: Path | None) -> ssl.SSLContext:
    context = server_context()
    for one in filter(None, authorities):
        trust_clients(context, one)
    return context


def trust_clients(context: ssl.SSLContext, authorities: Path) -> None:
    """A client may show a certificate; one that the authorities did not sign is refused."""
    context.verify_mode = ssl.CERT_OPTIONAL
    trust_as_go(context)
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


def _signatures(files: Iterable[Path]) -> Mapping[Path, tuple[int, ...]]:
    """Return what tells that a file is another one; links are followed. Files that are not there
    (yet) count as empty."""
    found: dict[Path, tuple[int, ...]] = {}
    for path in files:
        try:
            about = os.stat(path)
            found[path] = (about.st_ino, about.st_size, about.st_mtime_ns)
        except OSError:
            found[path] = ()
    return found
