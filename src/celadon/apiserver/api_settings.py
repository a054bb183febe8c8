"""The settings of an API server: the release whose behaviour it shows, the users it knows, the
memory and time it may use."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

from celadon.admission.plugins import PluginSettings
from celadon.apiserver.aggregation.api_services import ProxySettings
from celadon.apiserver.authn.authentication import TokenFile
from celadon.apiserver.authn.service_account_tokens import SignerOnDemand
from celadon.apiserver.caches.service_allocators import CLUSTER_ADDRESSES
from celadon.apiserver.controllers.controller_loops import ON_BY_DEFAULT, Timers
from celadon.apiserver.controllers.garbage_collection import LAG_SECONDS
from celadon.apiserver.controllers.namespaces import GRACE_SECONDS
from celadon.apiserver.object_store import EVENT_SECONDS
from celadon.apiserver.operation.request_limits import RequestLimits
from celadon.apiserver.operation.runtime_config import ALL, EffectiveVersion, RuntimeConfig
from celadon.kube.json_types import JsonDict
from celadon.kube.quantity import remember_sent
from celadon.kube.releases import Answering, answering, enter, parse_version
from celadon.kube.resources import DEFAULT_PLUGINS, Catalog, gates_of
from celadon.records import dataclass, field

if TYPE_CHECKING:
    from celadon.apiserver.discovery.openapi_descriptions import Descriptions

DEFAULT_ISSUER: Final = "https://kubernetes.default.svc"
"""Of service account tokens, unless the server is told another one."""


@dataclass(frozen=True, slots=True)
class AccessSettings:
    """Says whom the server knows. `issuer` is what its own tokens say that they are from; tokens of
    `former_issuers` are taken, too."""

    signer: SignerOnDemand
    tokens: TokenFile = field(default_factory=TokenFile)
    issuer: str = DEFAULT_ISSUER
    client_certificates: bool = False
    anonymous: bool = True
    former_issuers: tuple[str, ...] = ()

    @property
    def issuers(self) -> tuple[str, ...]:
        """Return whose tokens are taken, which are also the audiences of this server."""
        return (self.issuer, *self.former_issuers)


@dataclass(frozen=True, slots=True)
class SimulationSettings:
    """Says what a cluster is like that comes alive. `nodes` are made at the start; a pod is ready
    `ready_seconds` after it has a node, and one that is to end does so `run_seconds` after that.
    Without a `clock`, the controllers wait by the event loop."""

    nodes: int = 1
    ready_seconds: float = 0.0
    run_seconds: float = 0.0
    clock: Timers | None = None


SENT_IS_SHOWN_BEFORE: Final = (1, 34)
"""Older releases show quantities as they were sent."""


@dataclass(frozen=True, slots=True)
class ServedRelease:
    """The release that a server serves."""

    answering: Answering
    shows_sent: bool

    def enter(self) -> Answering:
        """Make this the current one until it is left again."""
        before = enter(self.answering)
        if self.shows_sent:
            remember_sent()
        return before


@dataclass(frozen=True, slots=True)
class Settings:
    """Holds the settings of an API server. `version` is the release whose behaviour is served.
    Without `controllers`, whoever runs them elsewhere must do what they do. `effective` says more
    about releases: what it emulates."""

    version: str = "1.36"
    all_versions: bool = False
    address: str = "127.0.0.1:6443"
    """Host and port at which clients find the server."""
    service_addresses: str = CLUSTER_ADDRESSES
    """The range that Services get their addresses from."""
    allows_everything: bool = False
    """Whether everybody may do everything, as with `--authorization-mode=AlwaysAllow`."""
    authorizes_nodes: bool = False
    """Whether kubelets are asked about first, as with `--authorization-mode=Node,RBAC`."""
    extra_token_sources: tuple[JsonDict, ...] = ()
    controllers: bool = True
    plugins: frozenset[str] = DEFAULT_PLUGINS
    """Names of the admission plugins that are asked."""
    plugin_settings: PluginSettings = field(default_factory=PluginSettings)
    """What they are told beside."""
    webhook_services: Mapping[tuple[str, str, int], tuple[str, int]] = field(default_factory=dict)
    """Where services of webhooks are dialed: by namespace, name and port (0 for all of them)."""
    namespace_grace: float = GRACE_SECONDS
    """Seconds between the deletion of a namespace and that of its content."""
    limits: RequestLimits = field(default_factory=RequestLimits)
    controller_names: frozenset[str] = ON_BY_DEFAULT
    """Which of the controllers run, if any do."""
    collection_lag: float = LAG_SECONDS
    """Seconds that deleted owners keep their finalizer at least."""
    event_seconds: int | None = EVENT_SECONDS
    """How long events last after they were last written; None: for ever."""
    root_certificates: str = ""
    """PEM: what clients inside should trust."""
    client_ca: str = ""
    """PEM: whose client certificates are trusted, for those who check them elsewhere."""
    gates: Mapping[str, bool] = field(default_factory=dict)
    """Feature gates that are not as they are by default."""
    is_one_of_several: bool = False
    """Whether other servers look after the same objects: then one of them leads."""
    runtime_config: RuntimeConfig = field(default_factory=RuntimeConfig)
    """More about what is served than `all_versions`."""
    effective: EffectiveVersion | None = None
    simulation: SimulationSettings | None = None
    """What makes workloads run, if anything does."""
    descriptions: Descriptions | None = None
    """Texts of built-in types; without, those of an installed client are taken."""
    front_proxy: ProxySettings = ProxySettings()
    """What is shown to extension servers."""

    @property
    def compatible(self) -> str:
        """The oldest release to get along with; empty for the one before."""
        return "" if self.effective is None else self.effective.min_compatibility

    @property
    def emulated(self) -> str:
        """Return the release that is emulated; the same as a rule."""
        return self.version if self.effective is None else self.effective.emulation

    def release(self) -> ServedRelease:
        """Return what is entered for each request."""
        entered = answering(self.version, self.compatible, self.emulated)
        return ServedRelease(entered, parse_version(self.version) < SENT_IS_SHOWN_BEFORE)

    def catalog(self) -> Catalog:
        """Return the built-in resources that are served."""
        config = self.runtime_config
        if self.all_versions and not config.switches:
            config = RuntimeConfig({ALL: True})
        return config.catalog(self.gates)

    def has_gate(self, name: str) -> bool:
        """Return whether a feature gate is on; one that the release does not know is off."""
        gate = gates_of(self.emulated).get(name)
        return gate is not None and self.gates.get(name, gate.on)

    def as_flags(self, issuer: str) -> dict[str, str]:
        """Return the flags that kube-apiserver would have been given, as far as it has such
        flags."""
        config = {ALL: True} if self.all_versions else self.runtime_config.switches
        return {
            "enable-admission-plugins": ",".join(sorted(self.plugins)),
            "feature-gates": _pairs(self.gates),
            "runtime-config": _pairs(config),
            "service-account-issuer": issuer,
        }


def _pairs(switches: Mapping[str, bool]) -> str:
    return ",".join(f"{name}={str(on).lower()}" for name, on in sorted(switches.items()))
