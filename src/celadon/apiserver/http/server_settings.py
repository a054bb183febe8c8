"""The settings of a server process: the place of its data, its addresses and TLS, its users.

Errors are one line each, for the command line: `StartError` is all that starting raises.
"""

from __future__ import annotations

import base64
import datetime
import ipaddress
import json
import os
import secrets
import ssl
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Final

from celadon import private_files
from celadon.admission.plugins import PluginSettings
from celadon.apiserver.aggregation.api_services import ProxySettings
from celadon.apiserver.api_settings import SimulationSettings
from celadon.apiserver.audit import Rotation
from celadon.apiserver.authn.service_account_tokens import SignerOnDemand
from celadon.apiserver.caches.service_allocators import CLUSTER_ADDRESSES
from celadon.apiserver.controllers.controller_loops import ON_BY_DEFAULT
from celadon.apiserver.controllers.garbage_collection import LAG_SECONDS
from celadon.apiserver.http_messages import SignedFor
from celadon.apiserver.object_store import EVENT_SECONDS
from celadon.apiserver.operation import log_lines
from celadon.apiserver.operation.request_limits import RequestLimits
from celadon.apiserver.operation.runtime_config import EffectiveVersion, RuntimeConfig
from celadon.apiserver.tls import (
    ChangingTls,
    load_pair,
    server_context,
    trust_as_go,
    verified_chain,
)
from celadon.kube.json_types import JsonDict, JsonObject
from celadon.kube.resources import DEFAULT_PLUGINS
from celadon.kube.well_known_values import API_SERVER
from celadon.kube.x509 import CERTIFICATE, pem_blocks
from celadon.records import dataclass, field

if TYPE_CHECKING:
    from celadon.apiserver.self_signed import Pair
    from celadon.storage.etcd import EtcdSettings

MEMORY: Final = ":memory:"
"""What `--data` says for a store that ends with the process."""

DEFAULT_PORT: Final = 6443


class StartError(Exception):
    """Says why the server does not start."""


@dataclass(frozen=True, slots=True)
class Address:
    """Port 0 is any that is free."""

    host: str = "127.0.0.1"
    port: int = DEFAULT_PORT

    @property
    def is_loopback(self) -> bool:
        """Tell whether only programs on this machine can reach the address."""
        if self.host == "localhost":
            return True
        try:
            return ipaddress.ip_address(self.host).is_loopback
        except ValueError:
            return False

    @property
    def is_wildcard(self) -> bool:
        """Tell whether it stands for all addresses of the machine."""
        return self.host in ("0.0.0.0", "::")

    def url(self, scheme: str) -> str:
        """Return the URL by which clients on this machine reach it."""
        host = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(self.host, self.host)
        return (
            f"{scheme}://[{host}]:{self.port}" if ":" in host else f"{scheme}://{host}:{self.port}"
        )


def parse_address(text: str) -> Address:
    """Return the address that a text names: `HOST:PORT`, `:PORT`, `PORT` or `[::1]:PORT`. Raises
    ValueError."""
    host, _, port = text.rpartition(":")
    host = host.removeprefix("[").removesuffix("]") or "127.0.0.1"
    if not port.isascii() or not port.isdigit() or len(port) > 5 or int(port) > 65535:
        raise ValueError(f"`{text}` is not HOST:PORT")
    return Address(host, int(port))


@dataclass(frozen=True, slots=True)
class TlsSettings:
    """Files in PEM form. Without a certificate, one is generated; `plain` is HTTP without TLS, and
    `force_plain` that even where others can listen in."""

    certificate: Path | None = None
    key: Path | None = None
    client_authorities: Path | None = None
    plain: bool = False
    force_plain: bool = False


@dataclass(frozen=True, slots=True)
class ServerSettings:
    """Holds the settings of a server process. `data` is a file or MEMORY; `manifests` are objects
    that are created at the start, each with the place it was read from; for `shutdown_delay`
    seconds after it was told to end, the server says that it is not ready and goes on.
    `read_manifests`, if given, is asked for the manifests again and again; it raises StartError for
    what cannot be read. `credentials` is the folder of keys, if not beside the data; `etcd` is
    where objects are kept instead of in `data`."""

    data: str = MEMORY
    etcd: EtcdSettings | None = None
    credentials: Path | None = None
    listen: Address = Address()
    tls: TlsSettings = TlsSettings()
    kubeconfig_out: Path | None = None
    token_file: Path | None = None
    issuers: tuple[str, ...] = ()
    """Of service account tokens: the one of new tokens, and those whose tokens are good as well;
    empty for upstream's default."""
    signing_key: Path | None = None
    """What signs those tokens; without one, a key is made."""
    token_keys: tuple[Path, ...] = ()
    """More keys and certificates that may have signed such tokens."""
    anonymous: bool = True
    allows_everything: bool = False
    """Whether everybody may do everything, as with `--authorization-mode=AlwaysAllow`."""
    authorizes_nodes: bool = False
    """Whether kubelets are asked about first, as with `--authorization-mode=Node,RBAC`."""
    service_addresses: str = CLUSTER_ADDRESSES
    audit_log: Path | None = None
    audit_policy: Path | None = None
    audit_rotation: Rotation = field(default_factory=Rotation)
    version: str = "1.36"
    effective: EffectiveVersion | None = None
    gates: Mapping[str, bool] = field(default_factory=dict)
    runtime_config: RuntimeConfig = field(default_factory=RuntimeConfig)
    read_manifests: Callable[[], Sequence[tuple[str, JsonObject]]] | None = None
    service_ca_config_map: str = ""
    """Of what pods' token volumes also have, as OpenShift's do; empty for upstream's."""
    plugins: frozenset[str] = DEFAULT_PLUGINS
    """Names of the admission plugins that are asked."""
    plugin_settings: PluginSettings = field(default_factory=PluginSettings)
    """What they are told beside."""
    webhook_services: Mapping[tuple[str, str, int], tuple[str, int]] = field(default_factory=dict)
    """Where services of webhooks are dialed: by namespace, name and port (0 for all of them)."""
    front_proxy: ProxySettings = ProxySettings()
    """What is shown to extension servers."""
    manifests: tuple[tuple[str, JsonObject], ...] = ()
    limits: RequestLimits = field(default_factory=RequestLimits)
    shutdown_delay: float = 0.0
    controllers: frozenset[str] = ON_BY_DEFAULT
    collection_lag: float = LAG_SECONDS
    event_seconds: int | None = EVENT_SECONDS
    simulation: SimulationSettings | None = None
    openapi_descriptions: Path | None = None
    """An OpenAPI document, or a folder of some, with texts of built-in types."""

    @property
    def credentials_folder(self) -> Path | None:
        """Return the folder with the server's credentials; None if nothing is kept."""
        if self.credentials is not None or self.data == MEMORY:
            return self.credentials
        return Path(f"{self.data}.credentials")


# --- Generated credentials ---------------------------------------------------
#
# Keys, certificates and the administrator's token, made once and kept beside the data.
#
# They stand in one folder, readable by its owner only. A server with its data in memory makes
# them anew each time; a server certificate that does not name the address that is listened on,
# or that ends soon, is made anew from the authority that is kept.
#
# What knows of keys and certificates is loaded when one is made or looked at: it takes an
# eighth of the start of a server that has none.

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
    """Keeps files by name; without a folder only as long as this object. Raises OSError,
    ValueError."""

    def __init__(self, folder: Path | None) -> None:
        self._folder = folder
        self._files: dict[str, bytes] = {}

    def administrator_token(self) -> str:
        return self._kept("admin.token", lambda: secrets.token_urlsafe(32).encode()).decode()

    def signer(self, more: Sequence[bytes] = ()) -> SignerOnDemand:
        """Return the signer of service account tokens; `more` are keys that may have signed them,
        too. A key that is kept and cannot be used is known at once. Raises KeyFileError."""
        name = "service-accounts.key"
        signer = SignerOnDemand(lambda: self._kept(name, _new_key), more)
        if self._folder is not None:
            signer.signer()
        return signer

    def authority(self, now: datetime.datetime) -> Pair:
        """Return a certificate authority of this server's own."""
        # late: see above
        from celadon.apiserver.self_signed import Pair, authority_certificate

        key = self._kept("ca.key", _new_key)
        return Pair(
            self._kept("ca.crt", lambda: authority_certificate(key, AUTHORITY_NAME, now, YEARS)),
            key,
        )

    def server(self, names: Iterable[str], now: datetime.datetime) -> Pair:
        """Return the server's certificate, good for `names` (hosts and addresses) and the usual
        ones."""
        # late: see above
        from celadon.apiserver.self_signed import Pair, server_certificate

        all_names = sorted({*ALWAYS_NAMED, *names})
        authority = self.authority(now)
        key = self._kept("server.key", _new_key)

        def new_certificate() -> bytes:
            return server_certificate(authority, key, API_SERVER, all_names, now, YEARS)

        certificate = self._kept("server.crt", new_certificate)
        if not _is_good(certificate, all_names, now):
            certificate = new_certificate()
            self._write("server.crt", certificate)
        return Pair(certificate, key)

    def _kept(self, name: str, make: Callable[[], bytes]) -> bytes:
        if name in self._files:
            return self._files[name]
        if self._folder is not None and (self._folder / name).exists():
            return (self._folder / name).read_bytes()
        content = make()
        self._write(name, content)
        return content

    def _write(self, name: str, content: bytes) -> None:
        self._files[name] = content
        if self._folder is not None:
            private_files.make_folder(self._folder)
            private_files.write(self._folder / name, content)


def _new_key() -> bytes:
    # late: see above
    from celadon.apiserver.authn.signing_keys import new_elliptic_key

    return new_elliptic_key()


def _is_good(certificate: bytes, names: Iterable[str], now: datetime.datetime) -> bool:
    from cryptography import x509  # late: see above

    # late: see above
    from celadon.apiserver.self_signed import covers_names

    loaded = x509.load_pem_x509_certificate(certificate)
    return covers_names(loaded, names) and loaded.not_valid_after_utc > now + SOON


# --- Kubeconfig --------------------------------------------------------------
#
# The file that tells kubectl and all client libraries where the server is and who they are.

NAME: Final = "celadon"


def kubeconfig(url: str, authority: bytes, token: str) -> str:
    """JSON, which is YAML too. `authority` is PEM; empty for plain HTTP."""
    cluster: JsonDict = {"server": url}
    if authority:
        cluster["certificate-authority-data"] = base64.b64encode(authority).decode()
    config = {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": NAME, "cluster": cluster}],
        "users": [{"name": NAME, "user": {"token": token}}],
        "contexts": [{"name": NAME, "context": {"cluster": NAME, "user": NAME}}],
        "current-context": NAME,
    }
    return json.dumps(config, indent=2) + "\n"


# --- TLS ---------------------------------------------------------------------
#
# TLS for the server: a given or a generated certificate, and certificates of clients.
#
# Certificates that are given as files are read again when the files change, as upstream does:
# new connections get the new ones, what cannot be used is logged and the old ones stay.


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
        self._signatures = _signatures(self._files)
        self._trusts = _contents(self._authorities)
        self.recalls = False

    def reload(self) -> bool:
        """Return whether files have changed and new connections get what is in them now."""
        signatures = _signatures(self._files)
        if signatures == self._signatures:
            return False
        self._signatures = signatures
        try:
            context, trusted = self._make(), self._read_trusted()
            trusts = _contents(self._authorities)
        except (OSError, StartError) as error:
            log_lines.warn("the certificates cannot be reloaded", {"err": str(error)})
            return False
        self._tls.use(context)
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
        signed_for = SignedFor.NOBODY
        for bundle, use in zip(
            self._trusts, (SignedFor.CLIENTS, SignedFor.FRONT_PROXIES), strict=True
        ):
            if not chain.isdisjoint(_certificates(bundle)):
                signed_for |= use
        return signed_for


def server_tls(
    settings: TlsSettings,
    listen: Address,
    folder: CredentialsFolder,
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

        def served_context() -> ssl.SSLContext:
            context = _context(settings.client_authorities, proxies)
            _load(context, certificate, key)
            return context

        files = certificate, key
        return ServerTls(
            served_context,
            files,
            lambda: private_files.content(certificate),
            settings.client_authorities,
            proxies,
        )
    names = () if listen.is_wildcard else (listen.host,)
    pair = folder.server(names, now)

    def generated() -> ssl.SSLContext:
        context = _context(settings.client_authorities, proxies)
        load_pair(context, pair.certificate, pair.key)
        return context

    return ServerTls(
        generated,
        (),
        lambda: folder.authority(now).certificate,
        settings.client_authorities,
        proxies,
    )


def _contents(paths: Iterable[Path | None]) -> tuple[bytes, ...]:
    return tuple(b"" if path is None else private_files.content(path) for path in paths)


@lru_cache(maxsize=4)
def _certificates(bundle: bytes) -> frozenset[bytes]:
    """Return those in PEM form, in DER form."""
    blocks = pem_blocks(bundle)
    return frozenset(block.content for block in blocks if block.kind == CERTIFICATE)


def joined_bundles(bundles: Iterable[str], now: datetime.datetime) -> str:
    """Return all their certificates that have not expired, each once, in PEM form. What is no
    certificate is left out."""
    # late: few servers have authorities of others, and fewer change them
    from cryptography import x509

    blocks = pem_blocks("\n".join(bundles).encode())
    contents = dict.fromkeys(block.content for block in blocks if block.kind == CERTIFICATE)
    return "".join(
        ssl.DER_cert_to_PEM_cert(content)
        for content in contents
        if x509.load_der_x509_certificate(content).not_valid_after_utc >= now
    )


def _context(*authorities: Path | None) -> ssl.SSLContext:
    context = server_context()
    for authority in filter(None, authorities):
        trust_clients(context, authority)
    return context


def trust_clients(context: ssl.SSLContext, authorities: Path) -> None:
    """Let clients show a certificate; one that the authorities did not sign is refused."""
    context.verify_mode = ssl.CERT_OPTIONAL
    trust_as_go(context)
    try:
        private_files.content(authorities)  # OpenSSL would read on for as long as there is more
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
    result: dict[Path, tuple[int, ...]] = {}
    for path in files:
        try:
            about = os.stat(path)
            result[path] = (about.st_ino, about.st_size, about.st_mtime_ns)
        except OSError:
            result[path] = ()
    return result
