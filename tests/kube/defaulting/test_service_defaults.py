"""What the registry fills into services."""

from __future__ import annotations

import re
from typing import Any

import pytest

from celadon.kube.defaulting.defaulting_context import (
    DefaultingContext,
    PlaceholderNetwork,
    Run,
    ServiceNetwork,
)
from celadon.kube.defaulting.workload_defaults import allocate, service_allocate
from celadon.kube.status import StatusError

SINGLE = PlaceholderNetwork()
DUAL = PlaceholderNetwork({"IPv4": "10.0.0.0", "IPv6": "fd00::"})


@pytest.mark.parametrize(
    ("network", "spec", "want"),
    [
        (
            SINGLE,
            {"type": "ClusterIP"},
            {
                "clusterIP": "10.0.0.0",
                "clusterIPs": ["10.0.0.0"],
                "ipFamilies": ["IPv4"],
                "ipFamilyPolicy": "SingleStack",
            },
        ),
        (SINGLE, {"type": "ExternalName"}, {"clusterIP": None, "ipFamilies": None}),
        (
            SINGLE,
            {"type": "ClusterIP", "clusterIP": "fd00::5"},
            {"clusterIPs": ["fd00::5"], "ipFamilies": ["IPv6"], "ipFamilyPolicy": "SingleStack"},
        ),
        (
            SINGLE,
            {"type": "ClusterIP", "clusterIP": "None"},
            {
                "clusterIPs": ["None"],
                "ipFamilies": ["IPv4", "IPv6"],
                "ipFamilyPolicy": "RequireDualStack",
            },
        ),
        (
            SINGLE,
            {"type": "ClusterIP", "clusterIP": "None", "selector": {"a": "b"}},
            {"ipFamilies": ["IPv4"], "ipFamilyPolicy": "SingleStack"},
        ),
        (
            SINGLE,
            {"type": "ClusterIP", "ipFamilyPolicy": "PreferDualStack"},
            {"clusterIPs": ["10.0.0.0"], "ipFamilies": ["IPv4"]},
        ),
        (
            DUAL,
            {"type": "ClusterIP", "ipFamilyPolicy": "PreferDualStack"},
            {"clusterIPs": ["10.0.0.0", "fd00::"], "ipFamilies": ["IPv4", "IPv6"]},
        ),
        (
            DUAL,
            {
                "type": "ClusterIP",
                "ipFamilies": ["IPv6"],
                "clusterIP": "fd00::9",
                "clusterIPs": ["fd00::9"],
            },
            {"clusterIP": "fd00::9", "clusterIPs": ["fd00::9"], "ipFamilies": ["IPv6"]},
        ),
        (
            SINGLE,
            {"type": "LoadBalancer", "externalTrafficPolicy": "Local", "ports": [{"port": 1}]},
            {"ports": [{"port": 1, "nodePort": 32769}], "healthCheckNodePort": 32770},
        ),
        (
            SINGLE,
            {
                "type": "LoadBalancer",
                "allocateLoadBalancerNodePorts": False,
                "ports": [{"port": 1}],
            },
            {"ports": [{"port": 1}]},
        ),
        (SINGLE, {"type": "ClusterIP", "ports": [{"port": 1}]}, {"ports": [{"port": 1}]}),
        (
            SINGLE,
            {
                "type": "NodePort",
                "ports": [
                    {"port": 53, "protocol": "TCP"},
                    {"port": 53, "protocol": "UDP"},
                    {"port": 53, "protocol": "UDP"},
                    {"port": 80, "protocol": "TCP", "nodePort": 30080},
                ],
            },
            {
                "ports": [
                    {"port": 53, "protocol": "TCP", "nodePort": 32769},
                    {"port": 53, "protocol": "UDP", "nodePort": 32769},
                    {"port": 53, "protocol": "UDP", "nodePort": 32769},
                    {"port": 80, "protocol": "TCP", "nodePort": 30080},
                ]
            },
        ),
    ],
)
def test_allocate(network: ServiceNetwork, spec: dict[str, Any], want: dict[str, Any]) -> None:
    service_allocate(spec, Run({}, DefaultingContext(network=network), frozenset()))
    assert {key: spec.get(key) for key in want} == want


class Full(PlaceholderNetwork):
    """A network that has nothing for anybody."""

    def address_fault(self, address: str) -> str:
        return "provided IP is already allocated"

    def port_fault(self, port: int) -> str:
        return "provided port is already allocated"


@pytest.mark.parametrize(
    ("spec", "text"),
    [
        (
            {"type": "ClusterIP", "clusterIP": "10.0.0.9"},
            'Service "s" is invalid: spec.clusterIPs: Invalid value: ["10.0.0.9"]: failed to '
            "allocate IP 10.0.0.9: provided IP is already allocated",
        ),
        (
            {"type": "NodePort", "ports": [{"port": 1}, {"port": 2, "nodePort": 30001}]},
            'Service "s" is invalid: spec.ports[1].nodePort: Invalid value: 30001: provided port '
            "is already allocated",
        ),
    ],
)
def test_values_that_cannot_be_had(spec: dict[str, Any], text: str) -> None:
    run = Run({"metadata": {"name": "s"}}, DefaultingContext(network=Full()), frozenset())
    with pytest.raises(StatusError) as refused:
        service_allocate(spec, run)
    assert (refused.value.code, str(refused.value)) == (422, text)


NEW_PORTS: list[tuple[list[tuple[int, str, int]], list[int] | str]] = [
    # Whoever has the same number gets the port that one of them names.
    ([(53, "TCP", 0), (53, "UDP", 30053)], [30053, 30053]),
    ([(53, "TCP", 30053), (53, "UDP", 30053)], [30053, 30053]),
    # A dry run counts up from those that were named before.
    ([(80, "TCP", 30080), (81, "TCP", 0), (82, "TCP", 0)], [30080, 30081, 30082]),
    ([(81, "TCP", 0), (80, "TCP", 30080)], [32769, 30080]),
    # Another number cannot have the same port, whatever its protocol.
    (
        [(80, "TCP", 30080), (81, "UDP", 30080)],
        "spec.ports[1].nodePort: Invalid value: 30080: provided port is already allocated",
    ),
    (
        [(53, "TCP", 0), (54, "TCP", 32769)],
        "spec.ports[1].nodePort: Invalid value: 32769: provided port is already allocated",
    ),
]


def ports(given: list[tuple[int, str, int]]) -> list[dict[str, Any]]:
    return [
        {"port": number, "protocol": protocol, **({"nodePort": asked} if asked else {})}
        for number, protocol, asked in given
    ]


@pytest.mark.parametrize(("given", "want"), NEW_PORTS)
def test_ports_of_a_new_service(given: list[tuple[int, str, int]], want: list[int] | str) -> None:
    spec: dict[str, Any] = {"type": "NodePort", "ports": ports(given)}
    run = Run({"metadata": {"name": "s"}}, DefaultingContext(), frozenset())
    if isinstance(want, str):
        with pytest.raises(StatusError, match=re.escape(want)):
            service_allocate(spec, run)
    else:
        service_allocate(spec, run)
        assert [port["nodePort"] for port in spec["ports"]] == want


def test_a_health_check_takes_a_port_besides_the_others() -> None:
    spec = {"type": "LoadBalancer", "externalTrafficPolicy": "Local", "healthCheckNodePort": 30080,
            "ports": ports([(80, "TCP", 30080)])}  # fmt: skip
    why = "failed to allocate requested HealthCheck NodePort 30080: provided port is already"
    with pytest.raises(StatusError, match=why):
        service_allocate(spec, Run({"metadata": {}}, DefaultingContext(), frozenset()))


def test_ports_that_no_type_has_are_not_asked_for() -> None:
    spec = {"type": "ClusterIP", "ports": [{"port": 1, "nodePort": 30001}]}
    service_allocate(spec, Run({}, DefaultingContext(network=Full()), frozenset()))
    assert spec["ports"] == [{"port": 1, "nodePort": 30001}]


def test_a_health_check_port_that_cannot_be_had() -> None:
    spec = {
        "type": "LoadBalancer",
        "externalTrafficPolicy": "Local",
        "healthCheckNodePort": 30001,
    }
    with pytest.raises(StatusError) as refused:
        service_allocate(spec, Run({}, DefaultingContext(network=Full()), frozenset()))
    assert (refused.value.code, str(refused.value)) == (
        500,
        "Internal error occurred: failed to allocate requested HealthCheck NodePort 30001: "
        "provided port is already allocated",
    )


def test_what_a_service_has_stays_its_own() -> None:
    run = Run({}, DefaultingContext(network=Full()), frozenset())
    old = {"clusterIPs": ["10.0.0.9"], "ports": [{"port": 1, "nodePort": 30001}]}
    spec = {"type": "NodePort", "clusterIP": "10.0.0.9", **old}
    allocate(spec, run, old)
    assert spec["clusterIPs"] == ["10.0.0.9"]
