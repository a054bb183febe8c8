"""What defaulting needs to know besides the object: time, identity, gates, plugins, cluster.

Defaulting is pure, so whatever a server would take from its clock, its random source or its caches
is an argument. The defaults are recognisable placeholders and an empty cluster.
"""

from __future__ import annotations

import itertools
from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import field
from typing import Any, Final, Protocol

from celadon.kube.authorization import User
from celadon.kube.json_types import JsonObject
from celadon.kube.resources.api_resources import Lookups, ObjectIndex
from celadon.kube.resources.plugin_facts import DEFAULT_PLUGINS
from celadon.kube.schemas.typed_objects import EmptyValue
from celadon.records import dataclass

NOBODY: Final = User("")
EMPTY: Final[Lookups] = ObjectIndex()


class ServiceNetwork(Protocol):
    """Says where services get addresses and ports. Faults are upstream's words for what is wrong
    with a value that a client chose, empty if it can have it."""

    @property
    def families(self) -> Sequence[str]:
        """IP families of the cluster, the default one first."""

    @property
    def families_are_known(self) -> bool:
        """Return whether it has no others; else nobody is refused for one."""

    def cluster_ip(self, family: str) -> str:
        """A free address of one of them. StatusError (500) when there is none."""

    def node_ports(self) -> Iterator[int]:
        """Free ports, one after the other. StatusError (500) when there are no more."""

    def address_fault(self, address: str) -> str: ...

    def port_fault(self, port: int) -> str: ...


@dataclass(frozen=True, slots=True)
class PlaceholderNetwork:
    """This is what services get in a dry run: the first address of the range, and port numbers
    counted up from one outside the range of real ones."""

    cluster_ips: Mapping[str, str] = field(default_factory=lambda: {"IPv4": "10.0.0.0"})
    first_node_port: int = 32769

    @property
    def families(self) -> Sequence[str]:
        return tuple(self.cluster_ips)

    @property
    def families_are_known(self) -> bool:
        return False

    def cluster_ip(self, family: str) -> str:
        return self.cluster_ips[family]

    def node_ports(self) -> Iterator[int]:
        return itertools.count(self.first_node_port)

    def address_fault(self, _: str) -> str:
        return ""

    def port_fault(self, _: int) -> str:
        return ""


_NO_NETWORK: Final = PlaceholderNetwork()


@dataclass(frozen=True, slots=True)
class DefaultingContext:
    """Holds what a server adds of its own to one write.

    `suffix` are the five random characters of generated names; `gates` overrides defaults.

    `extra_token_sources` are projected sources that follow upstream's three in the token volume of
    pods. Upstream has none; some distributions add their own certificates there.
    """

    now: str = "1970-01-01T00:00:00Z"
    uid: str = "00000000-0000-0000-0000-000000000000"
    suffix: str = "xxxxx"
    user: User = NOBODY
    gates: Mapping[str, bool] = field(default_factory=dict)
    plugins: frozenset[str] = DEFAULT_PLUGINS
    cluster: Lookups = EMPTY
    extra_token_sources: Sequence[JsonObject] = ()
    network: ServiceNetwork = _NO_NETWORK


def service_ca_source(config_map: str) -> dict[str, Any]:
    """The token source of clusters that publish the authority of their services in a ConfigMap of
    every namespace, as OpenShift does in `openshift-service-ca.crt`."""
    key = "service-ca.crt"
    return {"configMap": {"name": config_map, "items": [{"key": key, "path": key}]}}


@dataclass(slots=True)
class Run:
    """One object on its way through the rules."""

    root: dict[str, Any]
    context: DefaultingContext
    gates: frozenset[str]
    is_disturbed: bool = False
    """Whether something was changed or taken away after defaulting that defaulting may look at."""
    empties: Sequence[EmptyValue] = ()
    """What came empty and is not in the object: for rules that ask for nil, not for empty."""
    settled: Container[int] = frozenset()
    """The identities of parts that are as rules leave them, and belong to somebody else: rules that
    were compiled for shared parts do not enter them."""
