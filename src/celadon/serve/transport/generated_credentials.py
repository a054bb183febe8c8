"""Keys, certificates and the administrator's token, made once and kept beside the data.

They stand in one folder, readable by its owner only. A server with its data in memory makes them
anew each time; a server certificate that does not name the address that is listened on, or that
ends soon, is made anew from the authority that is kept.
"""

from __future__ import annotations

import datetime
import ipaddress
import os
import secrets
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from celadon.serve.access.credentials.signing_keys import new_elliptic_key

YEARS: Final = datetime.timedelta(days=3650)
SOON: Final = datetime.timedelta(days=30)
AUTHORITY_NAME: Final = "celadon"
SERVER_NAME: Final = "kube-apiserver"
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


@dataclass(frozen=True, slots=True)
class Pair:
    """A certificate and its private key, both PEM."""

    certificate: bytes
    key: bytes


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
        return Pair(self._kept("ca.crt", lambda: _authority(key, now)), key)

    def server(self, names: Iterable[str], now: datetime.datetime) -> Pair:
        """The server's certificate, good for `names` (hosts and addresses) and the usual ones."""
        wanted = sorted({*ALWAYS_NAMED, *names})
        authority = self.authority(now)
        key = self._kept("server.key", new_elliptic_key)
        certificate = self._kept("server.crt", lambda: _server(authority, key, wanted, now))
        if not _is_good(certificate, wanted, now):
            certificate = _server(authority, key, wanted, now)
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


def _key(pem: bytes) -> ec.EllipticCurvePrivateKey:
    key = serialization.load_pem_private_key(pem, password=None)
    if not isinstance(key, ec.EllipticCurvePrivateKey):
        raise ValueError("a kept key is not one that celadon made")  # noqa: TRY004  a file's content
    return key


def _authority(key: bytes, now: datetime.datetime) -> bytes:
    private = _key(key)
    name = _name(AUTHORITY_NAME)
    usage = x509.KeyUsage(
        digital_signature=True,
        content_commitment=False,
        key_encipherment=False,
        data_encipherment=False,
        key_agreement=False,
        key_cert_sign=True,
        crl_sign=True,
        encipher_only=False,
        decipher_only=False,
    )
    built = (
        _begun(name, name, private.public_key(), now)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .add_extension(usage, critical=True)
        .add_extension(
            x509.SubjectKeyIdentifier.from_public_key(private.public_key()), critical=False
        )
    )
    return built.sign(private, hashes.SHA256()).public_bytes(serialization.Encoding.PEM)


def _server(authority: Pair, key: bytes, names: Iterable[str], now: datetime.datetime) -> bytes:
    signer, public = _key(authority.key), _key(key).public_key()
    built = (
        _begun(_name(SERVER_NAME), _name(AUTHORITY_NAME), public, now)
        .add_extension(
            x509.SubjectAlternativeName([_general(one) for one in names]), critical=False
        )
        .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
        .add_extension(x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH]), critical=False)
        .add_extension(
            x509.AuthorityKeyIdentifier.from_issuer_public_key(signer.public_key()), critical=False
        )
    )
    return built.sign(signer, hashes.SHA256()).public_bytes(serialization.Encoding.PEM)


def _begun(
    subject: x509.Name,
    issuer: x509.Name,
    public: ec.EllipticCurvePublicKey,
    now: datetime.datetime,
) -> x509.CertificateBuilder:
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(public)
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(hours=1))
        .not_valid_after(now + YEARS)
    )


def _name(common: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, common)])


def _general(name: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ipaddress.ip_address(name))
    except ValueError:
        return x509.DNSName(name)


def _is_good(certificate: bytes, names: Iterable[str], now: datetime.datetime) -> bool:
    found = x509.load_pem_x509_certificate(certificate)
    alternatives = found.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    missing = {_general(name) for name in names} - set(alternatives)
    return not missing and found.not_valid_after_utc > now + SOON
