"""What is said against EndpointSlices."""

from __future__ import annotations

from typing import Any

import pytest

from tests.kube.validation.objects import complaints, obj, update_complaints

Json = dict[str, Any]
PORT = {"name": "p", "port": 80, "protocol": "TCP"}


def endpoint_slice(*endpoints: Json, kind: str = "IPv4", **fields: Any) -> Json:
    found = {"addressType": kind, "endpoints": list(endpoints), "ports": [PORT], **fields}
    return obj("discovery.k8s.io/v1", "EndpointSlice", **found)


def at(*addresses: str, **fields: Any) -> Json:
    return {"addresses": list(addresses), **fields}


GOOD = [
    endpoint_slice(at("10.0.0.1", nodeName="n", hostname="h", hints={"forZones": [{"name": "z"}]})),
    endpoint_slice(at("fd00::1"), kind="IPv6", ports=[]),
    endpoint_slice(at("a.example.com", "b.example.com."), kind="FQDN"),
]


@pytest.mark.parametrize("value", GOOD)
def test_good_slices(value: Json) -> None:
    assert complaints(value) == []
    assert update_complaints(value, value) == []


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (endpoint_slice(kind=""), ["addressType: Required value"]),
        (
            endpoint_slice(kind="x"),
            ['addressType: Unsupported value: "x": supported values: "FQDN", "IPv4", "IPv6"'],
        ),
        (
            endpoint_slice(at(), at(*(f"10.0.0.{number}" for number in range(1, 102)))),
            [
                "endpoints[0].addresses: Required value: must contain at least 1 address",
                "endpoints[1].addresses: Too many: 101: must have at most 100 items",
            ],
        ),
        (
            endpoint_slice(at("x", "fd00::1", "127.0.0.1")),
            [
                'endpoints[0].addresses[0]: Invalid value: "x": must be a valid IP address, (e.g. '
                "10.9.8.7 or 2001:db8::ffff)",
                'endpoints[0].addresses: Invalid value: "fd00::1": must be an IPv4 address',
                'endpoints[0].addresses[2]: Invalid value: "127.0.0.1": may not be in the loopback '
                "range (127.0.0.0/8, ::1/128)",
            ],
        ),
        (
            endpoint_slice(at("", "one"), kind="FQDN"),
            [
                "endpoints[0].addresses[0]: Required value",
                'endpoints[0].addresses[1]: Invalid value: "one": should be a domain with at least '
                "two segments separated by dots",
            ],
        ),
        (
            endpoint_slice(
                at("10.0.0.1", hints={
                    "forZones": [{"name": "a"}, {"name": "a"}],
                    "forNodes": [{"name": str(number)} for number in range(9)]})
            ),
            [
                'endpoints[0].hints.forZones[1].name: Duplicate value: "a"',
                "endpoints[0].hints.forNodes: Too many: 9: must have at most 8 items",
            ],
        ),
        (
            endpoint_slice(*[at("10.0.0.1")] * 1001),
            ["endpoints: Too many: 1001: must have at most 1000 items"],
        ),
        (
            endpoint_slice(ports=[{**PORT, "protocol": ""}]),
            [
                'ports[0].protocol: Unsupported value: "": supported values: "SCTP", "TCP", "UDP"'
            ],
        ),
        (
            endpoint_slice(ports=[PORT, {**PORT, "protocol": "x"}]),
            [
                'ports[1].name: Duplicate value: "p"',
                'ports[1].protocol: Unsupported value: "x": supported values: "SCTP", "TCP", '
                '"UDP"',
            ],
        ),
    ],
)  # fmt: skip
def test_complaints(value: Json, expected: list[str]) -> None:
    assert complaints(value) == expected


def test_long_names_of_domains() -> None:
    (found,) = complaints(endpoint_slice(at("a_.b"), kind="FQDN"))
    assert found.startswith(
        'endpoints[0].addresses[0]: Invalid value: "a_.b": a lowercase RFC 1123'
    )
    (found,) = complaints(endpoint_slice(at(f"{'a' * 64}.b"), kind="FQDN"))
    assert found.endswith('": must be no more than 63 characters')


def test_the_type_of_addresses_stays() -> None:
    assert update_complaints(endpoint_slice(kind="IPv6"), endpoint_slice()) == [
        'addressType: Invalid value: "IPv6": field is immutable'
    ]
