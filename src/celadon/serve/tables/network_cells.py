"""The cells of services and of what stands before and behind them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from celadon.kube import GroupResource, JsonObject, metadata
from celadon.serve.tables.cell_texts import (
    NONE,
    SHOWN,
    UNKNOWN,
    UNSET,
    Cell,
    CellsOf,
    age,
    at,
    first_three,
    items,
    joined,
    labels_text,
    number,
    selector_text,
    text,
    texts,
)


def _service(obj: JsonObject, now: float) -> list[Cell]:
    cluster_ips = items(obj, "spec", "clusterIPs")
    return [
        metadata.name(obj),
        text(obj, "spec", "type"),
        cluster_ips[0] if cluster_ips else NONE,
        _external_ip(obj),
        ",".join(map(_port, items(obj, "spec", "ports"))) or NONE,
        age(obj, now),
        labels_text(at(obj, "spec", "selector")),
    ]


def _external_ip(obj: JsonObject) -> str:
    given = ",".join(items(obj, "spec", "externalIPs"))
    match text(obj, "spec", "type"):
        case "ClusterIP" | "NodePort":
            return given or NONE
        case "LoadBalancer":
            return ",".join(filter(None, (_load_balancer(obj), given))) or "<pending>"
        case "ExternalName":
            return text(obj, "spec", "externalName")
        case _:
            return UNKNOWN


def _load_balancer(obj: JsonObject) -> str:
    entries = items(obj, "status", "loadBalancer", "ingress")
    addresses = {text(one, "ip") or text(one, "hostname") for one in entries}
    return ",".join(sorted(filter(None, addresses)))


def _port(port: JsonObject) -> str:
    node_port = number(port, "nodePort")
    shown = f"{port.get('port')}:{node_port}" if node_port else port.get("port")
    return f"{shown}/{text(port, 'protocol')}"


def _endpoints(obj: JsonObject, now: float) -> list[Cell]:
    return [metadata.name(obj), _addresses(obj), age(obj, now)]


def _addresses(obj: JsonObject) -> str:
    """Every address with every port, or alone where its subset has no ports."""
    subsets = items(obj, "subsets")
    if not subsets:
        return NONE
    found: list[str] = []
    for subset in subsets:
        addresses = texts(items(subset, "addresses"), "ip")
        ports = items(subset, "ports")
        found += (
            [_host_port(ip, number(port, "port")) for port in ports for ip in addresses]
            if ports
            else addresses
        )
    return first_three(found, "")


def _host_port(address: str, port: int) -> str:
    return f"[{address}]:{port}" if ":" in address else f"{address}:{port}"


def _endpoint_slice(obj: JsonObject, now: float) -> list[Cell]:
    addresses = [ip for one in items(obj, "endpoints") for ip in items(one, "addresses")]
    ports = [_slice_port(port) for port in items(obj, "ports")]
    return [
        metadata.name(obj),
        text(obj, "addressType"),
        first_three(ports, "") or UNSET,
        first_three(addresses, UNSET),
        age(obj, now),
    ]


def _slice_port(port: JsonObject) -> str:
    if port.get("port") is not None:
        return str(port["port"])
    name = port.get("name")
    return "*" if name is None else str(name)


def _ingress(obj: JsonObject, now: float) -> list[Cell]:
    name = at(obj, "spec", "ingressClassName")
    return [
        metadata.name(obj),
        NONE if name is None else name,
        _hosts(obj),
        _load_balancer(obj),
        "80, 443" if items(obj, "spec", "tls") else "80",
        age(obj, now),
    ]


def _hosts(obj: JsonObject) -> str:
    """Rules without a host count among those that are not shown."""
    rules = items(obj, "spec", "rules")
    hosts: list[str] = []
    for rule in rules:
        if len(hosts) == SHOWN:
            return joined(hosts, total=len(rules))
        if text(rule, "host"):
            hosts.append(text(rule, "host"))
    return joined(hosts) or "*"


def _ingress_class(obj: JsonObject, now: float) -> list[Cell]:
    return [metadata.name(obj), text(obj, "spec", "controller"), _parameters(obj), age(obj, now)]


def _parameters(obj: JsonObject) -> str:
    parameters = at(obj, "spec", "parameters")
    if parameters is None:
        return NONE
    group = parameters.get("apiGroup")
    kind = text(parameters, "kind")
    return f"{kind if group is None else f'{kind}.{group}'}/{text(parameters, 'name')}"


def _network_policy(obj: JsonObject, now: float) -> list[Cell]:
    return [
        metadata.name(obj),
        selector_text(at(obj, "spec", "podSelector") or {}),
        age(obj, now),
    ]


def _ip_address(obj: JsonObject, now: float) -> list[Cell]:
    """The last cell has no column."""
    return [metadata.name(obj), _parent(obj), age(obj, now)]


def _parent(obj: JsonObject) -> str:
    parent = at(obj, "spec", "parentRef")
    if parent is None:
        return NONE
    resource = str(GroupResource(text(parent, "group"), text(parent, "resource"))).lower()
    return "/".join(filter(None, (resource, text(parent, "namespace")))) + (
        f"/{text(parent, 'name')}"
    )


def _service_cidr(obj: JsonObject, now: float) -> list[Cell]:
    return [metadata.name(obj), ",".join(items(obj, "spec", "cidrs")), age(obj, now)]


NETWORK: Final[Mapping[str, CellsOf]] = {
    "endpoints": _endpoints,
    "endpointslices.discovery.k8s.io": _endpoint_slice,
    "ingressclasses.networking.k8s.io": _ingress_class,
    "ingresses.networking.k8s.io": _ingress,
    "ipaddresses.networking.k8s.io": _ip_address,
    "networkpolicies.networking.k8s.io": _network_policy,
    "servicecidrs.networking.k8s.io": _service_cidr,
    "services": _service,
}
"""By the resource's name with its group."""
