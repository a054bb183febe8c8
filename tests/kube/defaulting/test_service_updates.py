"""Changed Services: what the server allocated, and what no longer fits."""

from __future__ import annotations

from typing import Any

import pytest

from celadon.kube.names import GroupVersionKind
from celadon.kube.registry.create import admit_form
from celadon.kube.registry.decoded_object import drafted
from celadon.kube.registry.update import prepare_for_update
from celadon.kube.status import StatusError

SERVICE = GroupVersionKind("", "v1", "Service")
PORTS = [{"name": "a", "port": 80}, {"name": "b", "port": 81}]


def service(**spec: Any) -> dict[str, Any]:
    meta = {"name": "s", "namespace": "default"}
    return {"apiVersion": "v1", "kind": "Service", "metadata": meta, "spec": spec}


@pytest.mark.parametrize(
    ("before", "after", "want"),
    [
        (
            {},
            {},
            {
                "clusterIP": "10.0.0.0",
                "clusterIPs": ["10.0.0.0"],
                "ipFamilies": ["IPv4"],
                "ipFamilyPolicy": "SingleStack",
            },
        ),
        ({"clusterIP": "10.9.9.9"}, {}, {"clusterIP": "10.9.9.9", "clusterIPs": ["10.9.9.9"]}),
        ({"clusterIP": "10.9.9.9"}, {"clusterIP": "10.1.1.1"}, {"clusterIPs": ["10.1.1.1"]}),
        ({"clusterIP": "None"}, {}, {"clusterIP": "None", "clusterIPs": ["None"]}),
        (
            {"clusterIP": "None"},
            {"clusterIP": "None", "type": "unknown"},
            {"clusterIP": "None", "clusterIPs": ["None"]},
        ),
        (
            {},
            {"type": "ExternalName", "externalName": "e.example.com"},
            {"clusterIP": None, "ipFamilies": None},
        ),
        # a name has no list of addresses, unless what it had was sent with another address
        (
            {"clusterIP": "10.9.9.9"},
            {"type": "ExternalName", "clusterIP": "x"},
            {"clusterIPs": None},
        ),
        (
            {"clusterIP": "10.9.9.9"},
            {"type": "ExternalName", "clusterIP": "10.9.9.9", "clusterIPs": ["10.9.9.9"]},
            {"clusterIP": None, "clusterIPs": None},
        ),
        (
            {"clusterIP": "10.9.9.9"},
            {"type": "ExternalName", "clusterIP": "x", "clusterIPs": ["10.9.9.9"]},
            {"clusterIP": "x", "clusterIPs": ["x"]},
        ),
        (
            {"type": "LoadBalancer", "externalTrafficPolicy": "Local"},
            {"type": "LoadBalancer", "externalTrafficPolicy": "Local"},
            {"healthCheckNodePort": 32771},
        ),
        (
            {"type": "LoadBalancer", "loadBalancerClass": "x.io/y"},
            {"loadBalancerClass": "x.io/y", "allocateLoadBalancerNodePorts": True},
            {"loadBalancerClass": None, "allocateLoadBalancerNodePorts": None},
        ),
        # a policy for traffic from outside is for Services that have any
        *(
            (
                {"externalTrafficPolicy": "Local", **before},
                {"externalTrafficPolicy": "Local", **after},
                {"externalTrafficPolicy": kept},
            )
            for before, after, kept in (
                ({"type": "NodePort"}, {"type": "NodePort"}, "Local"),
                ({"type": "NodePort"}, {}, None),
                ({"type": "NodePort"}, {"externalIPs": ["192.0.2.1"]}, "Local"),
                ({"externalIPs": ["192.0.2.1"]}, {}, None),
                (
                    {"type": "NodePort"},
                    {"type": "ExternalName", "externalIPs": ["192.0.2.1"]},
                    None,
                ),
            )
        ),
    ],
)
def test_fields(before: dict[str, Any], after: dict[str, Any], want: dict[str, Any]) -> None:
    old = admit_form(service(ports=PORTS, **before), SERVICE)
    new = prepare_for_update(drafted(service(ports=PORTS, **after), SERVICE), old)
    assert {key: new["spec"].get(key) for key in want} == want


def node_ports(before: dict[str, Any], after: dict[str, Any]) -> list[int | None]:
    old = admit_form(service(**before), SERVICE)
    new = prepare_for_update(drafted(service(**after), SERVICE), old)
    return [port.get("nodePort") for port in new["spec"]["ports"]]


def test_node_ports_stay_with_the_name_of_their_port() -> None:
    given = [{"name": "a", "port": 80, "nodePort": 30001}, {"name": "b", "port": 81}]
    before = {"type": "NodePort", "ports": given}
    assert node_ports(before, {"type": "NodePort", "ports": PORTS}) == [30001, 30002]
    renamed = [{"name": "c", "port": 80}, {"name": "b", "port": 81}]
    assert node_ports(before, {"type": "NodePort", "ports": renamed}) == [32769, 30002]
    moved = [{"name": "a", "port": 80}, {"name": "b", "port": 81, "nodePort": 30001}]
    assert node_ports(before, {"type": "NodePort", "ports": moved}) == [32769, 30001]


def test_node_ports_go_with_the_type() -> None:
    given = [{"name": "a", "port": 80, "nodePort": 30001}]
    before = {"type": "NodePort", "ports": given}
    assert node_ports(before, {"ports": given}) == [None]
    changed = [{"name": "a", "port": 80, "nodePort": 30002}]
    assert node_ports(before, {"ports": changed}) == [30002]
    several = [*given, {"name": "b", "port": 81, "nodePort": 30003}]
    assert node_ports({"type": "NodePort", "ports": several}, {"ports": given}) == [None]


def test_a_balancer_that_needs_no_node_ports_keeps_those_that_are_sent() -> None:
    given = [{"name": "a", "port": 80, "nodePort": 30001}]
    bare = {"type": "LoadBalancer", "allocateLoadBalancerNodePorts": False}
    assert node_ports({"type": "NodePort", "ports": given}, {**bare, "ports": given}) == [30001]
    unsent = [{"name": "a", "port": 80}]
    assert node_ports({"type": "NodePort", "ports": given}, {**bare, "ports": unsent}) == [None]


def test_an_address_that_was_changed_alone_is_the_whole_list() -> None:
    old = admit_form(service(ports=PORTS), SERVICE)
    sent = {**old, "spec": {**old["spec"], "clusterIP": "10.1.1.1"}}
    assert prepare_for_update(drafted(sent, SERVICE), old)["spec"]["clusterIPs"] == ["10.1.1.1"]


def test_a_protocol_cannot_have_a_node_port_twice() -> None:
    ports = [{"name": "a", "port": 80}, {"name": "b", "port": 80, "protocol": "UDP"}]
    old = admit_form(service(type="NodePort", ports=ports), SERVICE)
    sent = {**old, "spec": {**old["spec"], "ports": [dict(one) for one in old["spec"]["ports"]]}}
    sent["spec"]["ports"][0]["protocol"] = "UDP"
    with pytest.raises(StatusError) as refused:
        prepare_for_update(drafted(sent, SERVICE), old)
    assert (refused.value.code, str(refused.value)) == (500, "duplicate nodePort: {UDP 32769}")
