"""What the registry fills into a new Service: addresses, families, node ports."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from celadon.kube import fieldpath, status
from celadon.kube.defaulting.defaulting_context import Run
from celadon.kube.defaulting.service_rules.service_families import refused, settle_families
from celadon.kube.fieldpath import FieldPath
from celadon.kube.well_known_values import HEADLESS, WITH_NODE_PORTS

_ADDRESSES: Final = FieldPath("spec", "clusterIPs")
_PORTS: Final = FieldPath("spec", "ports")


def service_allocate(spec: Any, run: Run) -> None:
    """Of a new Service. Raises StatusError: 422 for a value that cannot be had, 500 where nothing
    is left."""
    allocate(spec, run, {})


def allocate(spec: Any, run: Run, old: Mapping[str, Any]) -> None:
    """What is still missing; `old` is the spec of the Service as it was, whose addresses and ports
    stay its own."""
    cluster_ip = spec.get("clusterIP", "")
    if cluster_ip and not spec.get("clusterIPs"):
        spec["clusterIPs"] = [cluster_ip]
    if spec.get("type") == "ExternalName":
        return
    settle_families(spec, run, old)
    if cluster_ip != HEADLESS:
        _require_addresses(spec, run, old)
        _allocate_addresses(spec, run)
    if spec.get("type") in WITH_NODE_PORTS:
        _require_ports(spec, run, old)
    _require_health_check(spec, run, old)
    _allocate_ports(spec, run)


def _require_addresses(spec: Any, run: Run, old: Mapping[str, Any]) -> None:
    """An address that replaces another is no matter of allocation: it is refused later."""
    given = spec.get("clusterIPs") or []
    kept = len(old.get("clusterIPs") or ())
    for address in given[kept:]:
        fault = run.context.network.address_fault(address)
        if fault:
            detail = f"failed to allocate IP {address}: {fault}"
            raise refused(run, [fieldpath.invalid(_ADDRESSES, given, detail)])


def _require_ports(spec: Any, run: Run, old: Mapping[str, Any]) -> None:
    known = {port.get("nodePort", 0) for port in old.get("ports") or ()} | {0}
    for index, port in enumerate(spec.get("ports") or ()):
        number = port.get("nodePort", 0)
        fault = "" if number in known else run.context.network.port_fault(number)
        known.add(number)
        if fault:
            at = _PORTS.index(index).child("nodePort")
            raise refused(run, [fieldpath.invalid(at, number, fault)])


def _require_health_check(spec: Any, run: Run, old: Mapping[str, Any]) -> None:
    number = spec.get("healthCheckNodePort", 0)
    if not number or not _wants_health_check(spec) or _wants_health_check(old):
        return
    fault = run.context.network.port_fault(number)
    if fault:
        why = f"failed to allocate requested HealthCheck NodePort {number}: {fault}"
        raise status.internal_error(why)


def _wants_health_check(spec: Mapping[str, Any]) -> bool:
    return spec.get("type") == "LoadBalancer" and spec.get("externalTrafficPolicy") == "Local"


def _allocate_addresses(spec: Any, run: Run) -> None:
    given = spec.get("clusterIPs") or []
    network = run.context.network
    missing = [one for one in spec["ipFamilies"][len(given) :] if one in network.families]
    addresses = [*given, *map(network.cluster_ip, missing)]
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
    free = run.context.network.node_ports()
    numbers: Iterator[int] = (number for number in free if number not in taken_numbers)
    if _wants_node_ports(spec):
        taken: dict[int, tuple[int, set[str]]] = {}
        for port in spec.get("ports") or ():
            _allocate_port(port, taken, numbers)
    if _wants_health_check(spec) and not spec.get("healthCheckNodePort"):
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
