"""What else a new server has, and what every new namespace gets.

The objects are as one would create them; the write path completes them. As k8s.io/kubernetes
`pkg/controlplane/controller/{systemnamespaces,kubernetesservice,clusterauthenticationtrust}`,
`pkg/registry/scheduling/rest`, `pkg/controller/{serviceaccount,certificates/rootcacertpublisher}`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from celadon.kube.well_known_values import HTTPS_PORT, SYSTEM_NAMESPACES

SERVICE: Final = "kubernetes"

FIRST_ADDRESS: Final = "10.0.0.1"
"""Of the Services: that of the server's own."""

API_PORT: Final = 6443
"""What that Service leads to (`--secure-port` of kube-apiserver)."""

MANAGED_BY: Final = "ipaddress.kubernetes.io/managed-by"
ADDRESS_ALLOCATOR: Final = "ipallocator.k8s.io"
"""Label and value of the records that the server keeps itself."""

ROOT_CA_CONFIG_MAP: Final = "kube-root-ca.crt"
_ROOT_CA_DESCRIPTION: Final = (
    "Contains a CA bundle that can be used to verify the kube-apiserver when using internal "
    "endpoints such as the internal service IP or kubernetes.default.svc. No other usage is "
    "guaranteed across distributions of Kubernetes clusters."
)

PRIORITY_CLASSES: Final = (
    (
        "system-node-critical",
        2_000_001_000,
        "Used for system critical pods that must not be moved from their current node.",
    ),
    (
        "system-cluster-critical",
        2_000_000_000,
        "Used for system critical pods that must run in the cluster, but can be moved to another "
        "node if necessary.",
    ),
)
"""Name, value and description."""


def initial_namespaces() -> Iterator[dict[str, Any]]:
    """The four that no server is without."""
    for name in SYSTEM_NAMESPACES:
        yield {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}


def initial_priority_classes() -> Iterator[dict[str, Any]]:
    for name, value, description in PRIORITY_CLASSES:
        yield {
            "apiVersion": "scheduling.k8s.io/v1",
            "kind": "PriorityClass",
            "metadata": {"name": name},
            "value": value,
            "description": description,
        }


def kubernetes_service() -> dict[str, Any]:
    """The server's own Service."""
    return {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {
            "name": SERVICE,
            "namespace": "default",
            "labels": {"component": "apiserver", "provider": "kubernetes"},
        },
        "spec": {
            "clusterIP": FIRST_ADDRESS,
            "ports": [
                {
                    "name": "https",
                    "protocol": "TCP",
                    "port": HTTPS_PORT,
                    "targetPort": API_PORT,
                }
            ],
            "sessionAffinity": "None",
            "type": "ClusterIP",
        },
    }


def service_range(cidr: str, now: str) -> dict[str, Any]:
    """From where Services get their addresses."""
    ready = {
        "type": "Ready",
        "status": "True",
        "lastTransitionTime": now,
        "reason": "",
        "message": "Kubernetes default Service CIDR is ready",
    }
    return {
        "apiVersion": "networking.k8s.io/v1",
        "kind": "ServiceCIDR",
        "metadata": {"name": SERVICE},
        "spec": {"cidrs": [cidr]},
        "status": {"conditions": [ready]},
    }


def address_record(address: str, namespace: str, name: str) -> dict[str, Any]:
    """Who has an address: a Service."""
    return {
        "apiVersion": "networking.k8s.io/v1",
        "kind": "IPAddress",
        "metadata": {
            "name": address,
            "labels": {
                "ipaddress.kubernetes.io/ip-family": "IPv6" if ":" in address else "IPv4",
                MANAGED_BY: ADDRESS_ALLOCATOR,
            },
        },
        "spec": {"parentRef": {"resource": "services", "namespace": namespace, "name": name}},
    }


def kubernetes_endpoints(address: str, port: int) -> Iterator[dict[str, Any]]:
    """Where that Service leads: an Endpoints object and an EndpointSlice. `address` is an IPv4 or
    IPv6 address that is not a loopback one: validation refuses those."""
    ports = [{"name": "https", "port": port, "protocol": "TCP"}]
    yield {
        "apiVersion": "v1",
        "kind": "Endpoints",
        "metadata": {
            "name": SERVICE,
            "namespace": "default",
            "labels": {"endpointslice.kubernetes.io/skip-mirror": "true"},
        },
        "subsets": [{"addresses": [{"ip": address}], "ports": ports}],
    }
    yield {
        "apiVersion": "discovery.k8s.io/v1",
        "kind": "EndpointSlice",
        "metadata": {
            "name": SERVICE,
            "namespace": "default",
            "labels": {"kubernetes.io/service-name": SERVICE},
        },
        "addressType": "IPv6" if ":" in address else "IPv4",
        "endpoints": [{"addresses": [address], "conditions": {"ready": True}}],
        "ports": ports,
    }


def authentication_config_map(client_ca: str) -> dict[str, Any]:
    """What extension servers read to check clients; `client_ca` is PEM, empty if there is none."""
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {
            "name": "extension-apiserver-authentication",
            "namespace": "kube-system",
        },
        **({"data": {"client-ca-file": client_ca}} if client_ca else {}),
    }


def default_service_account(namespace: str) -> dict[str, Any]:
    """The account of pods that name none."""
    return {
        "apiVersion": "v1",
        "kind": "ServiceAccount",
        "metadata": {"name": "default", "namespace": namespace},
    }


def root_ca_config_map(namespace: str, server_ca: str) -> dict[str, Any]:
    """By which pods know the server; `server_ca` is PEM."""
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {
            "name": ROOT_CA_CONFIG_MAP,
            "namespace": namespace,
            "annotations": {"kubernetes.io/description": _ROOT_CA_DESCRIPTION},
        },
        "data": {"ca.crt": server_ca},
    }
