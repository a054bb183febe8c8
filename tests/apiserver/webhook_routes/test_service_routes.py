"""Where the service of a webhook is dialed."""

from __future__ import annotations

from typing import Any

import pytest

from celadon.admission import ObjectWorld
from celadon.apiserver.http_messages import NetworkFailure
from celadon.apiserver.webhook_routes import ServiceRoutes


def service(name: str, **spec: Any) -> dict[str, Any]:
    return {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": name, "namespace": "n"},
        "spec": spec,
    }


WORLD = ObjectWorld(
    [
        service("plain", clusterIP="10.0.0.7", ports=[{"port": 443}]),
        service("headless", clusterIP="None", ports=[{"port": 443}]),
        service("outside", type="ExternalName", externalName="h.example.com"),
        service("odd", type="Odd"),
    ]
)
ROUTES = ServiceRoutes(WORLD, {("n", "given", 0): ("localhost", 1), ("n", "one", 8): ("here", 2)})


@pytest.mark.parametrize(
    ("host", "port", "address"),
    [
        ("h.example.com", 443, ("h.example.com", 443)),
        ("localhost", 8443, ("localhost", 8443)),
        ("plain.n.svc", 443, ("10.0.0.7", 443)),
        ("outside.n.svc", 8443, ("h.example.com", 8443)),
        ("given.n.svc", 443, ("localhost", 1)),
        ("one.n.svc", 8, ("here", 2)),
    ],
)
def test_addresses(host: str, port: int, address: tuple[str, int]) -> None:
    assert ROUTES.address(host, port) == address


@pytest.mark.parametrize(
    ("host", "port", "why"),
    [
        ("none.n.svc", 443, 'service "none" not found'),
        ("one.n.svc", 9, 'service "one" not found'),
        ("plain.n.svc", 8443, 'no service port 8443 found for service "plain"'),
        ("headless.n.svc", 443, 'cannot route to service with ClusterIP "None"'),
        ("odd.n.svc", 443, 'unsupported service type "Odd"'),
    ],
)
def test_no_way(host: str, port: int, why: str) -> None:
    with pytest.raises(NetworkFailure) as failed:
        ROUTES.address(host, port)
    assert str(failed.value) == why
