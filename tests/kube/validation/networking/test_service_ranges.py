"""What is said against taken addresses and the ranges that they are taken from."""

from __future__ import annotations

from typing import Any

import pytest

from celadon.kube.validation.networking.service_ranges import address_name, range_text
from tests.kube.validation.objects import complaints, obj, update_complaints

Json = dict[str, Any]


def address(name: str = "10.0.0.1", /, **parent: str) -> Json:
    found = {"parentRef": {"resource": "services", "name": "s", "namespace": "n", **parent}}
    return obj("networking.k8s.io/v1", "IPAddress", meta={"name": name}, spec=found)


def ranges(*cidrs: str) -> Json:
    return obj("networking.k8s.io/v1", "ServiceCIDR", spec={"cidrs": list(cidrs)})


GOOD = [address(), address("fd00::1"), ranges("10.0.0.0/24"), ranges("10.0.0.0/24", "fd00::/64")]


@pytest.mark.parametrize("value", GOOD)
def test_good_objects(value: Json) -> None:
    assert complaints(value) == []
    assert update_complaints(value, value) == []


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("x", ["must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)"]),
        ("010.0.0.1", ["must not have leading 0s"]),
        ("::ffff:10.0.0.1", ["must not be an IPv4-mapped IPv6 address"]),
        ("FD00::1", ['must be in canonical form ("fd00::1")']),
    ],
)
def test_names_of_addresses(name: str, expected: list[str]) -> None:
    assert address_name(name) == expected


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("x", ["must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)"]),
        ("010.0.0.0/8", ["must not have leading 0s in IP or prefix length"]),
        ("::ffff:10.0.0.0/104", ["must not have an IPv4-mapped IPv6 address"]),
        ("10.0.0.1/8", ["must not have bits set beyond the prefix length"]),
        ("FD00::/8", ['must be in canonical form ("fd00::/8")']),
    ],
)
def test_ranges(value: str, expected: list[str]) -> None:
    assert range_text(value) == expected


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (
            address(resource="", name="a/b"),
            [
                "spec.parentRef.resource: Required value",
                "spec.parentRef.name: Invalid value: \"a/b\": may not contain '/'",
            ],
        ),
        ({**address(), "spec": {}}, ["spec.parentRef: Required value"]),
        (ranges(), ["spec.cidrs: Required value: at least one CIDR required"]),
        (
            ranges("10.0.0.0/8", "fd00::/8", "11.0.0.0/8"),
            [
                'spec.cidrs: Invalid value: {"CIDRs":["10.0.0.0/8","fd00::/8","11.0.0.0/8"]}: may '
                "only hold up to 2 values"
            ],
        ),
        (
            ranges("10.0.0.0/8", "11.0.0.0/8"),
            [
                'spec.cidrs: Invalid value: ["10.0.0.0/8","11.0.0.0/8"]: may specify no more than '
                "one IP for each IP family, i.e 192.168.0.0/24 and 2001:db8::/64"
            ],
        ),
    ],
)
def test_complaints(value: Json, expected: list[str]) -> None:
    assert complaints(value) == expected


@pytest.mark.parametrize(
    ("value", "old", "expected"),
    [
        (
            address(name="t"),
            address(),
            [
                'spec.parentRef: Invalid value: {"Group":"","Resource":"services","Namespace":"n",'
                '"Name":"t"}: field is immutable'
            ],
        ),
        (ranges("10.0.0.0/8", "fd00::/8"), ranges("10.0.0.0/8"), []),
        (
            ranges("11.0.0.0/8", "12.0.0.0/8"),
            ranges("10.0.0.0/8"),
            [
                'spec.cidrs[0]: Invalid value: "11.0.0.0/8": field is immutable',
                'spec.cidrs: Invalid value: ["11.0.0.0/8","12.0.0.0/8"]: may specify no more than '
                "one IP for each IP family, i.e 192.168.0.0/24 and 2001:db8::/64",
            ],
        ),
        (
            ranges("10.0.0.0/8"),
            ranges("10.0.0.0/8", "fd00::/8"),
            ['spec.cidrs: Invalid value: ["10.0.0.0/8"]: field is immutable'],
        ),
    ],
)
def test_changes(value: Json, old: Json, expected: list[str]) -> None:
    assert update_complaints(value, old) == expected
