"""Devices and claims in the versions of resource.k8s.io."""

from __future__ import annotations

from typing import Any

import pytest

from celadon.admission.conversion import ConversionError, convert
from celadon.kube import GroupVersionKind

CLAIM = GroupVersionKind("resource.k8s.io", "v1", "ResourceClaim")
TEMPLATE = CLAIM._replace(kind="ResourceClaimTemplate")
SLICE = CLAIM._replace(kind="ResourceSlice")


def device_object(kind: GroupVersionKind, **spec: Any) -> dict[str, Any]:
    return {
        "apiVersion": kind.api_version,
        "kind": kind.kind,
        "metadata": {"name": "x"},
        "spec": spec,
    }


def claim(version: str, *requests: dict[str, Any]) -> dict[str, Any]:
    return device_object(CLAIM._replace(version=version), devices={"requests": list(requests)})


FLAT = {"name": "r", "deviceClassName": "c", "allocationMode": "ExactCount", "count": 2}
EXACT = {
    "name": "r",
    "exactly": {"deviceClassName": "c", "allocationMode": "ExactCount", "count": 2},
}
CHOICE = {"name": "q", "firstAvailable": [{"name": "a", "deviceClassName": "d"}]}
FLAT_CHOICE = {**CHOICE, "deviceClassName": ""}


@pytest.mark.parametrize(
    ("flat", "exact"),
    [
        (FLAT, EXACT),
        (FLAT_CHOICE, CHOICE),
        ({"name": "r", "deviceClassName": ""}, {"name": "r"}),
        (
            {**FLAT, "adminAccess": False},
            {"name": "r", "exactly": {**EXACT["exactly"], "adminAccess": False}},  # type: ignore[dict-item]
        ),
        (
            {**FLAT, "tolerations": [{"operator": "Exists"}], "capacity": {"requests": {"a": "1"}}},
            {
                "name": "r",
                "exactly": {
                    **EXACT["exactly"],  # type: ignore[dict-item]
                    "tolerations": [{"operator": "Exists"}],
                    "capacity": {"requests": {"a": "1"}},
                },
            },
        ),
    ],
)
@pytest.mark.parametrize("older", ["v1beta1", "v1alpha3"])
@pytest.mark.parametrize("newer", ["v1", "v1beta2"])
def test_requests_there_and_back(
    flat: dict[str, Any], exact: dict[str, Any], older: str, newer: str
) -> None:
    shown = convert(claim(older, flat, FLAT_CHOICE), CLAIM._replace(version=newer))
    assert shown == claim(newer, exact, CHOICE)
    assert convert(shown, CLAIM._replace(version=older)) == claim(older, flat, FLAT_CHOICE)


def test_a_request_without_a_class_gets_an_empty_one() -> None:
    shown = convert(claim("v1beta1", {"name": "r", "count": 1}), CLAIM)
    assert shown == claim("v1", {"name": "r", "exactly": {"deviceClassName": "", "count": 1}})
    assert convert(shown, CLAIM._replace(version="v1beta1")) == claim(
        "v1beta1", {"name": "r", "deviceClassName": "", "count": 1}
    )


def test_fields_stand_in_the_order_of_their_version() -> None:
    both = {**FLAT, "tolerations": [{}], "firstAvailable": []}
    shown: Any = convert(claim("v1beta1", both), CLAIM)
    assert list(shown["spec"]["devices"]["requests"][0]) == ["name", "exactly", "firstAvailable"]
    back: Any = convert(shown, CLAIM._replace(version="v1beta1"))
    assert list(back["spec"]["devices"]["requests"][0]) == [
        *("name", "deviceClassName", "allocationMode", "count", "firstAvailable", "tolerations")
    ]


def test_the_requests_of_templates() -> None:
    old = TEMPLATE._replace(version="v1beta1")
    given = device_object(old, spec={"devices": {"requests": [FLAT]}})
    assert convert(given, TEMPLATE) == device_object(
        TEMPLATE, spec={"devices": {"requests": [EXACT]}}
    )


ATTRIBUTES = {"model": {"string": "x"}}


@pytest.mark.parametrize(
    ("version", "device"),
    [
        ("v1beta2", {"attributes": ATTRIBUTES, "capacity": {"memory": {"value": "1Gi"}}}),
        (
            "v1beta1",
            {"basic": {"attributes": ATTRIBUTES, "capacity": {"memory": {"value": "1Gi"}}}},
        ),
        ("v1alpha3", {"basic": {"attributes": ATTRIBUTES, "capacity": {"memory": "1Gi"}}}),
    ],
)
def test_devices_there_and_back(version: str, device: dict[str, Any]) -> None:
    newest = {"attributes": ATTRIBUTES, "capacity": {"memory": {"value": "1Gi"}}}
    kind = SLICE._replace(version=version)
    given = device_object(kind, devices=[{"name": "d", **device}], driver="x")
    shown = convert(given, SLICE)
    assert shown == device_object(SLICE, devices=[{"name": "d", **newest}], driver="x")
    assert convert(shown, kind) == given


def test_older_devices_always_have_basic_properties() -> None:
    shown = convert(
        device_object(SLICE, devices=[{"name": "d"}]), SLICE._replace(version="v1beta1")
    )
    assert shown["spec"] == {"devices": [{"name": "d", "basic": {}}]}


def test_what_has_the_same_fields_or_none_of_them_stays() -> None:
    old = claim("v1beta1", FLAT)
    assert convert(old, CLAIM._replace(version="v1alpha3")) == claim("v1alpha3", FLAT)
    assert convert(device_object(SLICE._replace(version="v1beta1")), SLICE) == device_object(SLICE)


def test_what_lacks_the_shape_of_its_kind() -> None:
    bare = device_object(SLICE, devices=[{"name": "d", "capacity": {"memory": {}}}])
    with pytest.raises(ConversionError):
        convert(bare, SLICE._replace(version="v1alpha3"))
