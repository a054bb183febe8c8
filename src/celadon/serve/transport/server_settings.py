"""What a server process is told: where its data is, where it listens, whom it knows.

Errors are one line each, for the command line: `StartError` is all that starting raises.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from celadon.admission.plugins import PluginSettings
from celadon.kube.catalogue import DEFAULT_PLUGINS
from celadon.records import dataclass
from celadon.serve.audit.audit_log import Rotation
from celadon.serve.controllers.controller_names import ON_BY_DEFAULT
from celadon.serve.controllers.garbage_collection import LAG_SECONDS
from celadon.serve.objects.object_store import EVENT_SECONDS
from celadon.serve.operation.request_limits import RequestLimits
from celadon.serve.operation.runtime_config import RuntimeConfig

if TYPE_CHECKING:
    from celadon.store.etcd import EtcdSettings

MEMORY: Final = ":memory:"
"""What `--data` says for a store that ends with the process."""

DEFAULT_PORT: Final = 6443


class StartError(Exception):
    """Why the server does not start."""


@dataclass(frozen=True, slots=True)
class Address:
    """Port 0 is any that is free."""

    host: str = "127.0.0.1"
    port: int = DEFAULT_PORT

    @property
    def is_loopback(self) -> bool:
        """Whether only programs on this machine can reach it."""
        if self.host == "localhost":
            return True
        try:
            return ipaddress.ip_address(self.host).is_loopback
        except ValueError:
            return False

    @property
    def is_wildcard(self) -> bool:
        """Whether it stands for all addresses of the machine."""
        return self.host in ("0.0.0.0", "::")

    def url(self, scheme: str) -> str:
        """Where clients on this machine reach it."""
        host = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(self.host, self.host)
        return (
            f"{scheme}://[{host}]:{self.port}" if ":" in host else f"{scheme}://{host}:{self.port}"
        )


def parse_address(text: str) -> Address:
    """`HOST:PORT`, `:PORT`, `PORT` or `[::1]:PORT`. Raises ValueError."""
    host, _, port = text.rpartition(":")
    host = host.removeprefix("[").removesuffix("]") or "127.0.0.1"
    if not port.isascii() or not port.isdigit() or int(port) > 65535:
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
    """`data` is a file or MEMORY; `manifests` are objects that are created at the start, each with
    the place it was read from; for `shutdown_delay` seconds after it was told to end, the server
    says that it is not ready and goes on. `read_manifests`, if given, is asked for the manifests
    again and again; it raises StartError for what cannot be read. `credentials` is the folder of
    keys, if not beside the data; `etcd` is where objects are kept instead of in `data`."""

    data: str = MEMORY
    etcd: EtcdSettings | None = None
    credentials: Path | None = None
    listen: Address = Address()
    tls: TlsSettings = TlsSettings()
    kubeconfig_out: Path | None = None
    token_file: Path | None = None
    audit_log: Path | None = None
    audit_policy: Path | None = None
    audit_rotation: Rotation = field(default_factory=Rotation)
    version: str = "1.36"
    gates: Mapping[str, bool] = field(default_factory=dict)
    runtime_config: RuntimeConfig = field(default_factory=RuntimeConfig)
    read_manifests: Callable[[], Sequence[tuple[str, Mapping[str, Any]]]] | None = None
    service_ca_config_map: str = ""
    """Of what pods' token volumes also have, as OpenShift's do; empty for upstream's."""
    plugins: frozenset[str] = DEFAULT_PLUGINS
    """Names of the admission plugins that are asked."""
    plugin_settings: PluginSettings = field(default_factory=PluginSettings)
    """What they are told beside."""
    webhook_services: Mapping[tuple[str, str, int], tuple[str, int]] = field(default_factory=dict)
    """Where services of webhooks are dialed: by namespace, name and port (0 for all of them)."""
    manifests: tuple[tuple[str, Mapping[str, Any]], ...] = ()
    limits: RequestLimits = field(default_factory=RequestLimits)
    shutdown_delay: float = 0.0
    controllers: frozenset[str] = ON_BY_DEFAULT
    collection_lag: float = LAG_SECONDS
    event_seconds: int | None = EVENT_SECONDS

    @property
    def credentials_folder(self) -> Path | None:
        """None if nothing is kept."""
        if self.credentials is not None or self.data == MEMORY:
            return self.credentials
        return Path(f"{self.data}.credentials")
