"""How addresses and ranges have to be written, in younger fields and in older ones."""

from __future__ import annotations

from typing import Any

import pytest

from celadon.kube.fieldpath import FieldPath
from celadon.kube.validation import format_checks
from celadon.kube.validation.field_checks import STRICT_ADDRESSES, default_gates, holding
from tests.kube.validation.objects import complaints, obj, pod, pod_spec, update_complaints

Json = dict[str, Any]

ZEROS = "must not have leading 0s"
MAPPED = "must not be an IPv4-mapped IPv6 address"
BITS = "must not have bits set beyond the prefix length"


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("10.0.0.1", []),
        ("x", ["must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)"]),
        ("010.0.0.1", [ZEROS]),
        ("::ffff:10.0.0.1", [MAPPED]),
        ("FD00::1", ['must be in canonical form ("fd00::1")']),
    ],
)
def test_canonical_addresses(name: str, expected: list[str]) -> None:
    assert format_checks.canonical_address(name) == expected


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("10.0.0.0/8", []),
        ("x", ["must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)"]),
        ("010.0.0.0/8", ["must not have leading 0s in IP or prefix length"]),
        ("10.0.0.0/08", ["must not have leading 0s in IP or prefix length"]),
        ("10.0.0.0/+8", ["must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)"]),
        ("::ffff:10.0.0.0/104", ["must not have an IPv4-mapped IPv6 address"]),
        ("10.0.0.1/8", [BITS]),
        ("FD00::/8", ['must be in canonical form ("fd00::/8")']),
    ],
)
def test_canonical_ranges(value: str, expected: list[str]) -> None:
    assert format_checks.canonical_range(value) == expected


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("192.168.1.5/24", []),
        ("2001:db8::1/64", []),
        ("x", ["must be a valid address in CIDR form, (e.g. 10.9.8.7/24 or 2001:db8::1/64)"]),
        ("192.168.001.5/24", ['must be in canonical form ("192.168.1.5/24")']),
        ("::ffff:192.168.0.1/120", ['must be in canonical form ("192.168.0.1/24")']),
    ],
)
def test_addresses_of_interfaces(value: str, expected: list[str]) -> None:
    assert format_checks.interface_address(value) == expected


def test_what_is_no_address_needs_no_gate() -> None:
    at = FieldPath("ip")
    for rule, value in (
        (format_checks.older_address, "10.0.0"),
        (format_checks.older_range, "10.0.0.0/33"),
    ):
        assert len(holding(rule(at, value), frozenset())) == 1
    assert holding(format_checks.older_address(at, "FD00::1"), default_gates()) == []


def endpoints(ip: str) -> Json:
    return obj("v1", "Endpoints", subsets=[{"addresses": [{"ip": ip}]}])


def endpoint_slice(ip: str) -> Json:
    found = [{"addresses": [ip]}]
    return obj("discovery.k8s.io/v1", "EndpointSlice", addressType="IPv4", endpoints=found)


def policy(cidr: str, *excepted: str) -> Json:
    block = {"cidr": cidr, "except": list(excepted)}
    rules = [{"to": [{"ipBlock": block}]}]
    return obj("networking.k8s.io/v1", "NetworkPolicy", spec={"podSelector": {}, "egress": rules})


def service(**spec: Any) -> Json:
    return obj("v1", "Service", spec={"ports": [{"port": 80}], **spec})


def balancer(**spec: Any) -> Json:
    return service(type="LoadBalancer", allocateLoadBalancerNodePorts=False, **spec)


RANGES = "service.beta.kubernetes.io/load-balancer-source-ranges"
STRICT: list[tuple[Json, str]] = [
    (endpoints("01.2.3.4"), f'subsets[0].addresses[0].ip: Invalid value: "01.2.3.4": {ZEROS}'),
    (
        endpoints("::ffff:1.2.3.4"),
        f'subsets[0].addresses[0].ip: Invalid value: "::ffff:1.2.3.4": {MAPPED}',
    ),
    (
        endpoint_slice("1.2.3.04"),
        f'endpoints[0].addresses[0]: Invalid value: "1.2.3.04": {ZEROS}',
    ),
    (
        policy("10.0.0.1/8"),
        f'spec.egress[0].to[0].ipBlock.cidr: Invalid value: "10.0.0.1/8": {BITS}',
    ),
    (
        policy("10.0.0.0/8", "10.1.0.1/16"),
        f'spec.egress[0].to[0].ipBlock.except[0]: Invalid value: "10.1.0.1/16": {BITS}',
    ),
    (
        service(externalIPs=["01.2.3.4"]),
        f'spec.externalIPs[0]: Invalid value: "01.2.3.4": {ZEROS}',
    ),
    (
        balancer(loadBalancerSourceRanges=[" 10.0.0.1/8 "]),
        f'spec.LoadBalancerSourceRanges[0]: Invalid value: "10.0.0.1/8": {BITS}',
    ),
    (
        {**balancer(), "metadata": {"name": "a", "annotations": {RANGES: "10.0.0.1/8"}}},
        f'metadata.annotations[{RANGES}]: Invalid value: "10.0.0.1/8": {BITS}',
    ),
    (
        service(clusterIP="010.0.0.5"),
        f'spec.clusterIPs[0]: Invalid value: "010.0.0.5": {ZEROS}',
    ),
    (
        pod(dnsConfig={"nameservers": ["1.1.1.01"]}),
        f'spec.dnsConfig.nameservers[0]: Invalid value: "1.1.1.01": {ZEROS}',
    ),
    (
        obj("v1", "Pod", spec=pod_spec(hostAliases=[{"ip": "1.1.1.01"}])),
        f'spec.hostAliases[0].ip: Invalid value: "1.1.1.01": {ZEROS}',
    ),
    (
        obj("v1", "Node", spec={"podCIDR": "10.0.0.1/8"}),
        f'spec.podCIDRs[0]: Invalid value: "10.0.0.1/8": {BITS}',
    ),
]


@pytest.mark.parametrize(("value", "message"), STRICT)
def test_older_fields_are_strict_while_the_gate_is_on(value: Json, message: str) -> None:
    assert complaints(value) == [message]
    assert complaints(value, STRICT_ADDRESSES) == []


@pytest.mark.parametrize(
    "value", [value for value, _ in STRICT if value["kind"] not in {"Pod", "Node"}]
)
def test_what_was_there_may_stay(value: Json) -> None:
    labelled = {**value, "metadata": {**value["metadata"], "labels": {"a": "b"}}}
    assert update_complaints(labelled, value) == []


def test_what_the_gate_lets_through_is_looked_at_further() -> None:
    loops = "may not be in the loopback range (127.0.0.0/8, ::1/128)"
    outside = service(externalIPs=["127.0.0.01"])
    assert complaints(outside) == [f'spec.externalIPs[0]: Invalid value: "127.0.0.01": {ZEROS}']
    assert complaints(outside, STRICT_ADDRESSES) == [
        f'spec.externalIPs[0]: Invalid value: "127.0.0.01": {loops}'
    ]
    inside = endpoint_slice("::ffff:127.0.0.1")
    at = "endpoints[0].addresses[0]: Invalid value"
    assert complaints(inside) == [f'{at}: "::ffff:127.0.0.1": {MAPPED}']
    assert complaints(inside, STRICT_ADDRESSES) == [f'{at}: "::ffff:127.0.0.1": {loops}']
