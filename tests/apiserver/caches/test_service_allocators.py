"""Addresses and ports of Services."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable, Coroutine
from typing import Any

import pytest

from celadon.apiserver.caches.service_allocators import (
    LiveNetwork,
    ServiceNetworkView,
    check_range,
    first_address,
)
from celadon.kube import GroupVersionResource, StatusError
from tests.apiserver.serving import Shelf, resource

SERVICES = resource(GroupVersionResource("", "v1", "services"))
RANGE = "The range of valid"


class Network:
    """A view of Services on a shelf."""

    def __init__(self, addresses: str = "10.0.0.0/24") -> None:
        self.shelf = Shelf()
        self.view = ServiceNetworkView(self.shelf.objects, SERVICES, random.Random(1), addresses)

    async def store(self, name: str, **spec: Any) -> None:
        obj = {"metadata": {"name": name, "namespace": "a"}, "spec": spec}
        assert await self.shelf.objects.create(SERVICES, "a", name, obj) is not None


def run(scenario: Callable[[], Coroutine[None, None, None]]) -> None:
    asyncio.run(scenario())


def test_every_service_gets_an_address_of_its_own() -> None:
    async def scenario() -> None:
        network = Network("10.0.0.0/29")
        seen = set()
        for name in "abcdef":
            address = network.view.network(dry_run=False).cluster_ip("IPv4")
            await network.store(name, clusterIPs=[address])
            seen.add(address)
        assert seen == {f"10.0.0.{i}" for i in range(1, 7)}
        with pytest.raises(StatusError, match="failed to allocate a serviceIP: range is full"):
            network.view.network(dry_run=False).cluster_ip("IPv4")

    run(scenario)


def test_what_was_handed_out_is_not_handed_out_again() -> None:
    network = Network().view.network(dry_run=False)
    ports = [network.node_port(()) for _ in range(20)]
    assert len(set(ports)) == 20
    assert all(30086 <= port <= 32767 for port in ports)
    addresses = [network.cluster_ip("IPv4") for _ in range(20)]
    assert len(set(addresses)) == 20
    assert all(int(one.rpartition(".")[2]) > 16 for one in addresses)


OTHER_NETWORK = "the provided network does not match the current range"


def outside(address: str) -> str:
    return f"the provided IP ({address}) is not in the valid range. {RANGE} IPs is 10.0.0.0/24"


@pytest.mark.parametrize(
    ("address", "fault", "dry"),
    [
        ("10.0.0.9", "provided IP is already allocated", ""),
        ("10.0.0.10", "", ""),
        ("010.00.0.09", "provided IP is already allocated", ""),
        ("010.00.0.08", "provided IP is already allocated", ""),
        ("10.0.0.0011", "", ""),
        ("001.2.3.4", OTHER_NETWORK, outside("1.2.3.4")),
        ("bad", "", ""),
        ("10.0.1.1", OTHER_NETWORK, outside("10.0.1.1")),
        ("fd00::1", OTHER_NETWORK, outside("fd00::1")),
        ("10.0.0.0", outside("10.0.0.0"), outside("10.0.0.0")),
    ],
)
def test_chosen_addresses(address: str, fault: str, dry: str) -> None:
    async def scenario() -> None:
        network = Network()
        await network.store("s", clusterIPs=["10.0.0.9", "10.0.0.08"])
        assert network.view.network(dry_run=False).address_fault(address) == fault
        assert network.view.network(dry_run=True).address_fault(address) == dry

    run(scenario)


@pytest.mark.parametrize(
    ("port", "fault"),
    [
        (30001, "provided port is already allocated"),
        (30002, "provided port is already allocated"),
        (30003, ""),
        (80, f"provided port is not in the valid range. {RANGE} ports is 30000-32767"),
    ],
)
def test_chosen_ports(port: int, fault: str) -> None:
    """A dry run does not ask whether the port lies in the range."""

    async def scenario() -> None:
        network = Network()
        await network.store("s", ports=[{"nodePort": 30001}, {}], healthCheckNodePort=30002)
        assert network.view.network(dry_run=False).port_fault(port) == fault
        in_range = port >= 30000
        assert network.view.network(dry_run=True).port_fault(port) == (fault if in_range else "")

    run(scenario)


def test_a_dry_run_gets_placeholders() -> None:
    dry = Network().view.network(dry_run=True)
    assert (dry.cluster_ip("IPv4"), dry.node_port(())) == ("10.0.0.0", 32769)
    assert list(dry.families) == ["IPv4"]


def test_a_service_that_is_gone_leaves_its_address() -> None:
    async def scenario() -> None:
        network = Network()
        await network.store("s", clusterIPs=["10.0.0.9"])
        assert network.view.network(dry_run=False).address_fault("10.0.0.9")
        stored = network.shelf.objects.get(SERVICES, "a", "s")
        assert stored is not None
        await network.shelf.objects.delete(SERVICES, "a", "s", stored.revision)
        assert not network.view.network(dry_run=False).address_fault("10.0.0.9")

    run(scenario)


def test_a_claim_holds_once() -> None:
    async def scenario() -> None:
        network = Network()
        first, second = (network.view.network(dry_run=False) for _ in range(2))
        assert isinstance(first, LiveNetwork)
        assert isinstance(second, LiveNetwork)
        for one in (first, second):
            assert one.port_fault(30_500) == one.address_fault("10.0.0.9") == ""
        assert len(first.claims) == 2
        objects, created = network.shelf.objects, []
        for name, one in (("one", first), ("two", second)):
            obj = {"metadata": {"name": name, "namespace": "a"}, "spec": {}}
            created.append(await objects.create(SERVICES, "a", name, obj, one.claims))
        assert created[0] is not None
        assert created[1] is None, "the same was given to another"

    run(scenario)


def test_ranges_of_addresses() -> None:
    check_range("10.1.0.0/16")
    assert first_address("10.1.0.0/16") == "10.1.0.1"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("10.1.0.1/16", "is not a range of addresses"),
        ("fd00::/108", "of IPv4 only"),
        ("10.1.0.0/30", "has fewer than 8 addresses"),
    ],
)
def test_what_is_no_range(text: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        check_range(text)
