"""What is said against taken addresses and the ranges that they are taken from."""

from __future__ import annotations

from typing import Any

import pytest

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


def test_a_changed_owner_is_judged_as_a_new_one_too() -> None:
    name, parent = update_complaints(address(name="a/b"), address())
    assert name == "spec.parentRef.name: Invalid value: \"a/b\": may not contain '/'"
    assert parent.endswith(": field is immutable")
