"""The addresses and ports of Services: which are taken, and which one the next gets.

What Services have is read off the stored ones. What has been handed out lately counts as taken,
too, because its Service may not be stored yet. New values come from the upper part of a range
first, so that those that clients choose, mostly low ones, stay free longest. As k8s.io/kubernetes
`pkg/registry/core/service/{ipallocator,portallocator}`.

Other servers on the same store hand out at the same time. So each address, and each few ports, have
a key, which the write of a Service that is given one claims in the same transaction: of two that
were given the same the second fails, and begins again with what is taken by then. Claims are not
given back: they only say when something was given last.
"""

from __future__ import annotations

import ipaddress
import random
from collections import deque
from collections.abc import Callable, Collection, Iterator, Sequence
from typing import Final

from celadon.apiserver.caches.store_informers import Mirror
from celadon.apiserver.object_store import CLAIMS, ObjectStore, collection_prefix
from celadon.apiserver.workers import on_loop
from celadon.kube import JsonObject, status
from celadon.kube.defaulting import ALLOCATED_PORT, DefaultingContext, ServiceNetwork
from celadon.kube.resources import Resource
from celadon.records import dataclass, field
from celadon.storage import Condition

CLUSTER_ADDRESSES: Final = "10.0.0.0/24"
"""`--service-cluster-ip-range` of kube-apiserver."""


def first_address(addresses: str) -> str:
    """Return the first of a range that a Service may have: that of the server's own."""
    return str(ipaddress.IPv4Network(addresses)[1])


def check_range(text: str) -> None:
    """Look at what `--service-cluster-ip-range` says. Raises ValueError, also for IPv6, which is
    not served."""
    try:
        addresses = ipaddress.ip_network(text)
    except ValueError as error:
        raise ValueError(f"`{text}` is not a range of addresses: {error}") from None
    if addresses.version != 4:
        raise ValueError(f"`{text}`: Services have addresses of IPv4 only")
    if addresses.num_addresses < _LEAST_ADDRESSES:
        raise ValueError(f"`{text}` has fewer than {_LEAST_ADDRESSES} addresses")


FIRST_PORT: Final = 30_000
LAST_PORT: Final = 32_767
"""`--service-node-port-range`."""

ALLOCATED_ADDRESS: Final = "provided IP is already allocated"
NO_NETWORK: Final = "the provided network does not match the current range"
FULL: Final = "range is full"
LATELY: Final = 32
"""Values that count as taken although no Service may have them."""

_LEAST_ADDRESSES: Final = 8
"""As k8s.io/kubernetes `cmd/kube-apiserver/app/options/validation.go`."""

_PORTS_TOGETHER: Final = 32
"""So few keys that all ports there are can be claimed in one transaction."""

_STATIC_SHARE: Final = {"addresses": 16, "ports": 32}
_STATIC_MOST: Final = {"addresses": 256, "ports": 128}
_STATIC_LEAST: Final = 16


class ServiceNetworkView:
    """Knows the addresses and ports of the Services of one server. `resource` is that of
    Services."""

    def __init__(
        self,
        objects: ObjectStore,
        resource: Resource,
        randomness: random.Random,
        addresses: str = CLUSTER_ADDRESSES,
    ) -> None:
        self._objects = objects
        self._services = Mirror(objects, collection_prefix(resource, ""))
        self._randomness = randomness
        self._range = ipaddress.IPv4Network(addresses)
        self._taken_addresses: set[str] = set()
        self._taken_ports: set[int] = set()
        self._lately: deque[str | int] = deque(maxlen=LATELY)
        self._read()

    def network(self, *, dry_run: bool) -> ServiceNetwork:
        """Return the addresses and ports to hand out. In a dry run nothing is handed out, but what
        is taken is known."""
        return DryNetwork(self) if dry_run else LiveNetwork(self)

    @on_loop
    def address_claim(self, address: str) -> Condition:
        """Return a condition that the address is as free at the write as it is now."""
        return self._objects.claim(f"{CLAIMS}serviceips/{address}")

    @on_loop
    def port_claim(self, port: int) -> Condition:
        """Return a condition that the port, and some others, are as free at the write as now."""
        return self._objects.claim(f"{CLAIMS}servicenodeports/{port // _PORTS_TOGETHER}")

    def _refresh(self) -> None:
        """Read what is taken as of now, so that a claim that follows at once is about the same."""
        if self._services.refresh():
            self._read()

    def _read(self) -> None:
        specs = [stored.object.get("spec") or {} for stored in self._services]
        addresses = (address for spec in specs for address in spec.get("clusterIPs") or ())
        self._taken_addresses = {str(_read_address(address) or address) for address in addresses}
        self._taken_ports = {port for spec in specs for port in _ports(spec)}

    @on_loop
    def address_fault(self, text: str, *, dry_run: bool) -> str:
        """Return what is wrong with an address that a client chose; what is none is refused
        later."""
        address = _read_address(text)
        if address is None:
            return ""
        if address not in self._range and not dry_run:
            return NO_NETWORK
        if address.version != 4 or not self._range[1] <= address <= self._range[-2]:
            return (
                f"the provided IP ({address}) is not in the valid range. The range of valid IPs is "
                f"{self._range}"
            )
        self._refresh()
        return ALLOCATED_ADDRESS if not dry_run and str(address) in self._taken_addresses else ""

    @on_loop
    def port_fault(self, port: int, *, dry_run: bool) -> str:
        """Return what is wrong with a port that a client chose. A dry run takes one that is out of
        range."""
        if not FIRST_PORT <= port <= LAST_PORT and not dry_run:
            return (
                "provided port is not in the valid range. The range of valid ports is "
                f"{FIRST_PORT}-{LAST_PORT}"
            )
        self._refresh()
        return ALLOCATED_PORT if port in self._taken_ports else ""

    @on_loop
    def next_address(self) -> str:
        """Return a free address. Raises StatusError."""
        self._refresh()
        first, size = int(self._range[1]), self._range.num_addresses - 2

        def text(offset: int) -> str:
            return str(ipaddress.IPv4Address(first + offset))

        def is_free(offset: int) -> bool:
            return text(offset) not in self._taken_addresses and text(offset) not in self._lately

        chosen = self._chosen(size, _reserved(size, "addresses"), is_free)
        if chosen is None:
            raise status.internal_error(f"failed to allocate a serviceIP: {FULL}")
        self._lately.append(text(chosen))
        return text(chosen)

    @on_loop
    def next_port(self, taken: Sequence[int]) -> int:
        """Return a free port besides those. Raises StatusError."""
        self._refresh()
        size = LAST_PORT - FIRST_PORT + 1

        def is_free(offset: int) -> bool:
            port = FIRST_PORT + offset
            return not (port in self._taken_ports or port in self._lately or port in taken)

        chosen = self._chosen(size, _reserved(size, "ports"), is_free)
        if chosen is None:
            raise status.internal_error(f"failed to allocate a nodePort: {FULL}")
        self._lately.append(FIRST_PORT + chosen)
        return FIRST_PORT + chosen

    def _chosen(self, size: int, low: int, is_free: Callable[[int], bool]) -> int | None:
        """Choose any free offset of the upper part, else of the lower one."""
        for start, end in ((low, size), (0, low)):
            offset = self._randomness.randrange(end - start) if end > start else 0
            for step in range(end - start):
                candidate = start + (offset + step) % (end - start)
                if is_free(candidate):
                    return candidate
        return None


def _reserved(size: int, subject: str) -> int:
    """Return how much of a range is left to clients as long as possible."""
    if size <= _STATIC_LEAST:
        return 0
    return min(max(_STATIC_LEAST, size // _STATIC_SHARE[subject]), _STATIC_MOST[subject])


def _ports(spec: JsonObject) -> Iterator[int]:
    numbers: list[JsonObject] = list(spec.get("ports") or ())
    yield from (port["nodePort"] for port in numbers if port.get("nodePort"))
    if spec.get("healthCheckNodePort"):
        yield spec["healthCheckNodePort"]


@dataclass(frozen=True, slots=True)
class LiveNetwork:
    """Gives addresses and ports to a write that will be stored; `claims` are to be written with it.
    Each is taken in the same step of the loop that looks at what is free, so that nothing can come
    between."""

    view: ServiceNetworkView
    families: Sequence[str] = ("IPv4",)
    families_are_known: bool = True
    _claims: dict[str, Condition] = field(default_factory=dict)

    @property
    def claims(self) -> Collection[Condition]:
        """Return the first for each key, which is the strictest."""
        return self._claims.values()

    def _claim(self, claim: Condition) -> None:
        self._claims.setdefault(claim.key, claim)

    @on_loop
    def cluster_ip(self, _: str) -> str:
        address = self.view.next_address()
        self._claim(self.view.address_claim(address))
        return address

    @on_loop
    def node_port(self, taken: Sequence[int]) -> int:
        port = self.view.next_port(taken)
        self._claim(self.view.port_claim(port))
        return port

    @on_loop
    def address_fault(self, address: str) -> str:
        fault = self.view.address_fault(address, dry_run=False)
        if not fault:
            self._claim(self.view.address_claim(address))
        return fault

    @on_loop
    def port_fault(self, port: int) -> str:
        fault = self.view.port_fault(port, dry_run=False)
        if not fault:
            self._claim(self.view.port_claim(port))
        return fault


def _read_address(text: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    """Return an address, whose numbers may begin with zeros as long as it has no colons."""
    bare = text
    if ":" not in text:
        bare = ".".join(text.lstrip("0") or text[-1:] for text in text.split("."))
    try:
        return ipaddress.ip_address(bare)
    except ValueError:
        return None


@dataclass(frozen=True, slots=True)
class DryNetwork:
    """Gives addresses and ports to a write that will not be stored."""

    view: ServiceNetworkView
    placeholders: ServiceNetwork = field(default_factory=lambda: DefaultingContext().network)

    @property
    def families(self) -> Sequence[str]:
        return self.placeholders.families

    @property
    def families_are_known(self) -> bool:
        return True

    def cluster_ip(self, family: str) -> str:
        return self.placeholders.cluster_ip(family)

    def node_port(self, taken: Sequence[int]) -> int:
        return self.placeholders.node_port(taken)

    def address_fault(self, address: str) -> str:
        return self.view.address_fault(address, dry_run=True)

    def port_fault(self, port: int) -> str:
        return self.view.port_fault(port, dry_run=True)
