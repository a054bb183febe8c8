"""What the registry fills into services."""

from __future__ import annotations

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
                    {"port": 53, "protocol": "UDP", "nodePort": 32770},
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
