"""Addresses, networks, URLs, and the hosts and paths of an Ingress."""

# mypy: disable-error-code="no-any-return"
from __future__ import annotations

from ipaddress import ip_address, ip_network
from typing import Final
from urllib.parse import urlsplit

from bench.case import Case, JsonObject

PRIVATE: Final = ip_network("10.0.0.0/8")


def private_endpoint(database: JsonObject) -> bool:
    return ip_address(database["spec"]["network"]["endpoint"]) in PRIVATE


def ipv4_endpoint(database: JsonObject) -> bool:
    try:
        address = ip_address(database["spec"]["network"]["endpoint"])
    except ValueError:
        return False
    return address.version == 4


def narrow_networks(database: JsonObject) -> bool:
    for text in database["spec"]["network"]["allowedCIDRs"]:
        try:
            network = ip_network(text, strict=False)
        except ValueError:
            return False
        if network.prefixlen < 8:
            return False
    return True


def ingress_hosts(ingress: JsonObject) -> bool:
    return all(
        "host" in rule and rule["host"].endswith(".example.com")
        for rule in ingress["spec"]["rules"]
    )


def ingress_tls(ingress: JsonObject) -> bool:
    spec = ingress["spec"]
    return all(any(rule["host"] in tls["hosts"] for tls in spec["tls"]) for rule in spec["rules"])


def ingress_paths(ingress: JsonObject) -> bool:
    return all(
        path["pathType"] == "Prefix" and path["path"].startswith("/")
        for rule in ingress["spec"]["rules"]
        for path in rule["http"]["paths"]
    )


def ingress_class(ingress: JsonObject) -> bool:
    spec = ingress["spec"]
    return "ingressClassName" in spec and spec["ingressClassName"] in ("public", "internal")


def unique_hosts(ingress: JsonObject) -> bool:
    rules = ingress["spec"]["rules"]
    return all(sum(other["host"] == rule["host"] for other in rules) == 1 for rule in rules)


def callback_url(ingress: JsonObject) -> bool:
    parts = urlsplit(ingress["metadata"]["annotations"]["example.com/callback"])
    return parts.scheme == "https" and parts.hostname == "hooks.example.com"


CASES: Final = (
    Case(
        private_endpoint,
        "cidr('10.0.0.0/8').containsIP(object.spec.network.endpoint)",
        "PostgresCluster",
    ),
    Case(
        ipv4_endpoint,
        "isIP(object.spec.network.endpoint) && ip(object.spec.network.endpoint).family() == 4",
        "PostgresCluster",
    ),
    Case(
        narrow_networks,
        "object.spec.network.allowedCIDRs.all(n, isCIDR(n) && cidr(n).prefixLength() >= 8)",
        "PostgresCluster",
    ),
    Case(
        ingress_hosts,
        "object.spec.rules.all(r, has(r.host) && r.host.endsWith('.example.com'))",
        "Ingress",
    ),
    Case(
        ingress_tls,
        "object.spec.rules.all(r, object.spec.tls.exists(t, r.host in t.hosts))",
        "Ingress",
    ),
    Case(
        ingress_paths,
        "object.spec.rules.all(r, r.http.paths.all(p,"
        " p.pathType == 'Prefix' && p.path.startsWith('/')))",
        "Ingress",
    ),
    Case(
        ingress_class,
        "has(object.spec.ingressClassName)"
        " && object.spec.ingressClassName in ['public', 'internal']",
        "Ingress",
    ),
    Case(
        unique_hosts,
        "object.spec.rules.all(r, object.spec.rules.exists_one(s, s.host == r.host))",
        "Ingress",
    ),
    Case(
        callback_url,
        "url(object.metadata.annotations['example.com/callback']).getScheme() == 'https' &&"
        " url(object.metadata.annotations['example.com/callback']).getHostname()"
        " == 'hooks.example.com'",
        "Ingress",
    ),
)
