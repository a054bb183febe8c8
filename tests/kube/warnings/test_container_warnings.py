"""Variables and ports of containers."""

from __future__ import annotations

from typing import Any

import pytest

from celadon.kube.fieldpath import FieldPath
from celadon.kube.pod_warnings import amount_warnings, containers, port_warnings, variable_warnings

SPEC = FieldPath("spec")


def test_the_order_of_containers() -> None:
    spec: dict[str, Any] = {
        "containers": [{}],
        "ephemeralContainers": [{}],
        "initContainers": [{}, {}],
    }
    assert [str(path) for path, _ in containers(spec, SPEC)] == [
        "spec.initContainers[0]",
        "spec.initContainers[1]",
        "spec.containers[0]",
        "spec.ephemeralContainers[0]",
    ]


def test_fractions_of_bytes() -> None:
    resources = {"requests": {"memory": "1m"}, "limits": {"ephemeral-storage": "1m", "cpu": "1m"}}
    assert [one.partition(":")[0] for one in amount_warnings({"resources": resources}, SPEC)] == [
        "spec.resources.requests[memory]",
        "spec.resources.limits[ephemeral-storage]",
    ]


@pytest.mark.parametrize(
    ("second", "hides"),
    [
        ({"value": "2"}, True),
        ({"value": "$(X)"}, True),
        ({"value": "$(X)2"}, False),
        ({"value": "$(X)2", "valueFrom": {}}, True),
    ],
)
def test_a_variable_that_comes_twice(second: dict[str, Any], hides: bool) -> None:
    container = {"env": [{"name": "X", "value": "1"}, {"name": "Y"}, {"name": "X", **second}]}
    text = 'spec.env[2]: hides previous definition of "X", which may be dropped when using apply'
    assert list(variable_warnings(container, SPEC)) == ([text] if hides else [])


@pytest.mark.parametrize(
    ("second", "what"),
    [
        ({}, "overlapping"),
        ({"hostPort": 81}, ""),
        ({"hostPort": 80, "hostIP": "1.1.1.1"}, "duplicate"),
        ({"hostPort": 80}, "dangerously ambiguous"),
        ({"hostPort": 80, "hostIP": "2.2.2.2"}, ""),
        ({"hostPort": 80, "hostIP": "1.1.1.1", "protocol": "UDP"}, ""),
    ],
)
def test_ports(second: dict[str, Any], what: str) -> None:
    first = {"containerPort": 80, "protocol": "TCP", "hostPort": 80, "hostIP": "1.1.1.1"}
    other = {"containerPort": 80, "protocol": "TCP", **second}
    spec = {"containers": [{"ports": [first]}, {"ports": [other]}]}
    text = f"spec.containers[1].ports[0]: {what} port definition with spec.containers[0].ports[0]"
    assert list(port_warnings(spec, SPEC)) == ([text] if what else [])


def test_an_address_without_a_port() -> None:
    port = {"containerPort": 80, "protocol": "TCP", "hostIP": "1.1.1.1", "name": "a"}
    assert list(port_warnings({"containers": [{"ports": [port]}]}, SPEC)) == [
        "spec.containers[0].ports[0]: hostIP set without hostPort: "
        "{Name:a HostPort:0 ContainerPort:80 Protocol:TCP HostIP:1.1.1.1}"
    ]


def test_names_of_ports() -> None:
    one, other = {"containerPort": 1, "name": "a"}, {"containerPort": 2, "name": "a"}
    spec = {"containers": [{"ports": [one, {"containerPort": 3}]}, {"ports": [other]}]}
    first = "spec.containers[0].ports[0]"
    assert list(port_warnings(spec, SPEC)) == [
        f'spec.containers[1].ports[0]: duplicate port name "a" with {first}, services and probes '
        f"that select ports by name will use {first}"
    ]
