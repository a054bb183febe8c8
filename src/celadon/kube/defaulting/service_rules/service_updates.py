"""What the registry does with a changed Service: what was allocated stays, what no longer fits
goes.

A client need not send what the server allocated. When the type changes, the fields of the old type
are wiped unless the client changed them in the same request. What is still missing is allocated.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from celadon.kube import status
from celadon.kube.defaulting.defaulting_context import Run
from celadon.kube.defaulting.service_rules.service_defaults import allocate
from celadon.kube.defaulting.service_rules.service_families import WITH_ADDRESS
from celadon.kube.json_types import JsonObject
from celadon.kube.well_known_values import WITH_NODE_PORTS


def _has_address(spec: JsonObject) -> bool:
    return spec.get("type") in WITH_ADDRESS


def _has_node_ports(spec: JsonObject) -> bool:
    kind = spec.get("type")
    unwanted = kind == "LoadBalancer" and spec.get("allocateLoadBalancerNodePorts") is False
    return kind in WITH_NODE_PORTS and not unwanted


def _has_health_check(spec: JsonObject) -> bool:
    return _is_balancer(spec) and spec.get("externalTrafficPolicy") == "Local"


def _is_balancer(spec: JsonObject) -> bool:
    return spec.get("type") == "LoadBalancer"


def _is_external(spec: JsonObject) -> bool:
    by_address = spec.get("type") == "ClusterIP" and bool(spec.get("externalIPs"))
    return spec.get("type") in WITH_NODE_PORTS or by_address


WIPED: Final[tuple[tuple[Callable[[JsonObject], bool], tuple[str, ...]], ...]] = (
    (
        _has_address,
        ("clusterIPs", "clusterIP", "ipFamilies", "ipFamilyPolicy", "internalTrafficPolicy"),
    ),
    (_has_health_check, ("healthCheckNodePort",)),
    (_is_balancer, ("allocateLoadBalancerNodePorts", "loadBalancerClass")),
    (_is_external, ("externalTrafficPolicy",)),
)
"""Who has which fields. They go when a Service is no longer one of those."""


def service_update(spec: dict[str, Any], old: JsonObject, run: Run) -> None:
    """Changes the new spec to what is validated and stored. Raises StatusError (500) when a
    protocol would have a node port twice."""
    for has, fields in WIPED:
        if has(old) and not has(spec):
            for field in fields:
                if spec.get(field) == old.get(field):
                    spec.pop(field, None)
    was, now = _has_node_ports(old), _has_node_ports(spec)
    if was and not now and _node_ports(spec) == _node_ports(old):
        for port in spec.get("ports") or ():
            port.pop("nodePort", None)
    if _has_address(old) and _has_address(spec):
        _keep_addresses(spec, old)
    if was and now:
        _keep_node_ports(spec, old)
    if _has_health_check(old) and _has_health_check(spec):
        spec.setdefault("healthCheckNodePort", old.get("healthCheckNodePort", 0))
    allocate(spec, run, old)
    if now:
        _require_distinct_node_ports(spec)


def _require_distinct_node_ports(spec: JsonObject) -> None:
    taken = set()
    for port in spec.get("ports") or ():
        one = port.get("protocol", ""), port.get("nodePort", 0)
        if one in taken:
            raise status.plain_error(f"duplicate nodePort: {{{one[0]} {one[1]}}}")
        taken.add(one)


def _node_ports(spec: JsonObject) -> set[int]:
    return {port["nodePort"] for port in spec.get("ports") or () if port.get("nodePort")}


def _keep_addresses(spec: dict[str, Any], old: JsonObject) -> None:
    if not spec.get("clusterIP") and old.get("clusterIP"):
        spec["clusterIP"] = old["clusterIP"]
    addresses = old.get("clusterIPs")
    if spec.get("clusterIP") == old.get("clusterIP"):
        if addresses and not spec.get("clusterIPs"):
            spec["clusterIPs"] = list(addresses)
    elif spec.get("clusterIPs") == addresses:
        spec["clusterIPs"] = [spec["clusterIP"]]


def _keep_node_ports(spec: dict[str, Any], old: JsonObject) -> None:
    """By the name of the port, and none twice."""
    used = _node_ports(old) & _node_ports(spec)
    named = {port.get("name", ""): port.get("nodePort", 0) for port in old.get("ports") or ()}
    for port in spec.get("ports") or ():
        kept = named.get(port.get("name", ""), 0)
        if not port.get("nodePort") and kept and kept not in used:
            port["nodePort"] = kept
            used.add(kept)
