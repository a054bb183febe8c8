"""What the registry fills into a new Service: addresses, families, node ports."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

from celadon.kube.defaulting.defaulting_context import Run
from celadon.kube.well_known_values import HEADLESS, IP_FAMILIES


def service_allocate(spec: Any, run: Run) -> None:
    cluster_ip = spec.get("clusterIP", "")
    if cluster_ip and not spec.get("clusterIPs"):
        spec["clusterIPs"] = [cluster_ip]
    if spec.get("type") == "ExternalName":
        return
    headless = cluster_ip == HEADLESS
    available = list(run.context.network.cluster_ips)
    without_selector = headless and not spec.get("selector")
    if not spec.get("ipFamilyPolicy"):
        spec["ipFamilyPolicy"] = "RequireDualStack" if without_selector else "SingleStack"
    spec["ipFamilies"] = _families(spec, available, any_family=without_selector)
    if not headless:
        _allocate_addresses(spec, run)
    _allocate_ports(spec, run)


def _families(spec: Any, available: list[str], *, any_family: bool) -> list[str]:
    """The given ones first, then those of the given addresses, then the cluster's."""
    families = list(spec.get("ipFamilies") or ())
    if not families:
        addresses = [ip for ip in spec.get("clusterIPs") or () if ip != HEADLESS]
        families = ["IPv6" if ":" in ip else "IPv4" for ip in addresses]
    families = families or available[:1]
    if spec["ipFamilyPolicy"] != "SingleStack" and len(families) == 1:
        offered = IP_FAMILIES if any_family else available
        families += [family for family in offered if family != families[0]]
    return families


def _allocate_addresses(spec: Any, run: Run) -> None:
    given = spec.get("clusterIPs") or []
    placeholders = run.context.network.cluster_ips
    missing = spec["ipFamilies"][len(given) :]
    addresses = [*given, *(placeholders[family] for family in missing if family in placeholders)]
    if addresses:
        spec["clusterIPs"] = addresses
        spec.setdefault("clusterIP", addresses[0])


def _wants_node_ports(spec: Any) -> bool:
    if spec.get("type") == "LoadBalancer":
        return spec.get("allocateLoadBalancerNodePorts") is not False
    return bool(spec.get("type") == "NodePort")


def _allocate_ports(spec: Any, run: Run) -> None:
    taken_numbers = {port.get("nodePort") for port in spec.get("ports") or ()}
    taken_numbers.add(spec.get("healthCheckNodePort"))
    counted = itertools.count(run.context.network.first_node_port)
    numbers: Iterator[int] = (number for number in counted if number not in taken_numbers)
    if _wants_node_ports(spec):
        taken: dict[int, tuple[int, set[str]]] = {}
        for port in spec.get("ports") or ():
            _allocate_port(port, taken, numbers)
    local = spec.get("externalTrafficPolicy") == "Local"
    if spec.get("type") == "LoadBalancer" and local and not spec.get("healthCheckNodePort"):
        spec["healthCheckNodePort"] = next(numbers)


def _allocate_port(
    port: Any, taken: dict[int, tuple[int, set[str]]], numbers: Iterator[int]
) -> None:
    """Ports with the same number and different protocols share a node port."""
    number, protocol = port.get("port", 0), port.get("protocol", "")
    shared = taken.get(number)
    if not port.get("nodePort"):
        free = shared is None or protocol in shared[1]
        port["nodePort"] = next(numbers) if shared is None or free else shared[0]
    taken.setdefault(number, (port["nodePort"], set()))[1].add(protocol)
