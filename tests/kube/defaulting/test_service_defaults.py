"""What the registry fills into services."""

from __future__ import annotations

from typing import Any

import pytest

from celadon.kube.defaulting.defaulting_context import DefaultingContext, Run, ServiceNetwork
from celadon.kube.defaulting.service_defaults import service_allocate

SINGLE = ServiceNetwork()
DUAL = ServiceNetwork({"IPv4": "10.0.0.0", "IPv6": "fd00::"})


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
            {"type": "ClusterIP", "ipFamilies": ["IPv6"], "clusterIPs": ["fd00::9"]},
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
