"""Where a service is that a webhook is behind.

A server outside of a cluster's network can be told (`given`); else the address is that of the
Service in the store. As k8s.io/apiserver `pkg/util/webhook/serviceresolver.go` and
`pkg/util/proxy` of k8s.io/kube-aggregator, with their texts.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from celadon.admission import World
from celadon.kube.go import quote
from celadon.kube.well_known_values import SERVICES
from celadon.serve.network_failures import NetworkFailure

SUFFIX: Final = ".svc"

Address = tuple[str, int]


class ServiceRoutes:
    """`given` is by (namespace, name, port); a port of 0 is for all of them."""

    def __init__(self, world: World, given: Mapping[tuple[str, str, int], Address] = {}) -> None:
        self._world = world
        self._given = given

    def address(self, host: str, port: int) -> Address:
        """Where to dial `host`, the host of a URL. Raises NetworkFailure."""
        name, dot, namespace = host.removesuffix(SUFFIX).partition(".")
        if not host.endswith(SUFFIX) or not dot or "." in namespace:
            return host, port
        for key in ((namespace, name, port), (namespace, name, 0)):
            if key in self._given:
                return self._given[key]
        service = self._world.get(SERVICES, namespace, name)
        if service is None:
            raise NetworkFailure(f"service {quote(name)} not found")
        return _service_address(service.get("spec") or {}, name, port)


def _service_address(spec: Mapping[str, Any], name: str, port: int) -> Address:
    kind = spec.get("type", "ClusterIP")
    if kind == "ExternalName":
        return spec.get("externalName", ""), port
    if kind not in {"ClusterIP", "NodePort", "LoadBalancer"}:
        raise NetworkFailure(f"unsupported service type {quote(kind)}")
    if spec.get("clusterIP") == "None":
        raise NetworkFailure('cannot route to service with ClusterIP "None"')
    if all(one.get("port") != port for one in spec.get("ports") or ()):
        raise NetworkFailure(f"no service port {port} found for service {quote(name)}")
    return spec.get("clusterIP", ""), port
