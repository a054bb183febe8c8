"""What is said against the status of claims to devices."""

from __future__ import annotations

from typing import Any

import pytest

from celadon.kube.releases import answering_as
from celadon.kube.validation.resource_claim_statuses import claim_status

Json = dict[str, Any]
DEVICE = {"driver": "d", "pool": "p", "device": "x"}
ALLOCATION = {"devices": {"results": [{"request": "r", **DEVICE}]}}
USER = {"resource": "pods", "name": "p", "uid": "u"}


@pytest.mark.parametrize(
    ("status", "old", "expected"),
    [
        ({"allocation": ALLOCATION, "reservedFor": [USER], "devices": [DEVICE]}, {}, []),
        ({"allocation": ALLOCATION}, {"allocation": ALLOCATION}, []),
        (
            {"reservedFor": [{}, USER, USER]},
            {},
            [
                "status.reservedFor[0].resource: Required value",
                "status.reservedFor[0].name: Required value",
                "status.reservedFor[0].uid: Required value",
                'status.reservedFor[2]: Duplicate value: "u"',
                "status.reservedFor: Forbidden: may not be specified when `allocated` is not set",
            ],
        ),
        (
            {"devices": [{
                **DEVICE, "shareID": "x", "data": [1],
                "networkData": {"interfaceName": "x" * 257, "ips": ["10.0.0.1"]}}]},
            {},
            [
                'status.devices[0].shareID: Invalid value: "x": error validating uid: invalid UUID '
                "length: 1",
                'status.devices[0]: Invalid value: {"Driver":"d","Pool":"p","Device":"x",'
                '"ShareID":"x"}: must be an allocated device in the claim',
                'status.devices[0].data: Invalid value: "<value omitted>": must be a valid JSON '
                "object",
                "status.devices[0].networkData.interfaceName: Too long: may not be more than 256 "
                "bytes",
                'status.devices[0].networkData.ips[0]: Invalid value: "10.0.0.1": must be a valid '
                "address in CIDR form, (e.g. 10.9.8.7/24 or 2001:db8::1/64)",
            ],
        ),
        (
            {"allocation": {
                "devices": {
                    "results": [{"request": "z", **DEVICE, "bindingConditions": ["a"]}],
                    "config": [{"source": "x", "requests": ["r"]}]},
                "nodeSelector": {}}},
            {},
            [
                'status.allocation.devices.results[0].request: Invalid value: "z": must be the '
                "name of a request in the claim or the name of a request and a subrequest "
                "separated by '/'",
                "status.allocation.devices.results[0].bindingFailureConditions: Invalid value: "
                "null: bindingFailureConditions are required to use bindingConditions",
                'status.allocation.devices.config[0].source: Unsupported value: "x": supported '
                'values: "FromClaim", "FromClass"',
                "status.allocation.devices.config[0].opaque: Required value",
                "status.allocation.nodeSelector.nodeSelectorTerms: Required value: must have at "
                "least one node selector term",
            ],
        ),
        (
            {"allocation": {}},
            {"allocation": ALLOCATION},
            [
                'status.allocation: Invalid value: {"Devices":{"Results":null,"Config":null},'
                '"NodeSelector":null,"AllocationTimestamp":null}: field is immutable'
            ],
        ),
    ],
)  # fmt: skip
def test_statuses(status: Json, old: Json, expected: list[str]) -> None:
    spec = {"devices": {"requests": [{"name": "r"}]}}
    found = claim_status({"spec": spec, "status": status}, {"spec": spec, "status": old})
    assert list(map(str, found)) == expected


@pytest.mark.parametrize(("release", "more"), [
    ("1.32", ""), ("1.33", ", Tolerations:[]resource.DeviceToleration(nil)"),
])  # fmt: skip
def test_how_changed_allocations_were_shown(release: str, more: str) -> None:
    old: Json = {"allocation": {"devices": {}}}
    with answering_as(release):
        (found,) = claim_status({"status": {"allocation": ALLOCATION}}, {"status": old})
        assert str(found) == (
            "status.allocation: Invalid value: resource.AllocationResult{Devices:"
            "resource.DeviceAllocationResult{Results:[]resource.DeviceRequestAllocationResult{"
            'resource.DeviceRequestAllocationResult{Request:"r", Driver:"d", Pool:"p", Device:"x", '
            f"AdminAccess:(*bool)(nil){more}}}}}, "
            "Config:[]resource.DeviceAllocationConfiguration(nil)}, "
            "NodeSelector:(*core.NodeSelector)(nil)}: field is immutable"
        )


UUID = "01234567-89ab-cdef-0123-456789abcdef"
NOT_NORMAL = (
    "uid must be in RFC 4122 normalized form, `xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx` with "
    "lowercase hexadecimal characters"
)
NO_UUID = "error validating uid: "


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (UUID, ""),
        (UUID.upper(), NOT_NORMAL),
        (UUID.replace("-", ""), NOT_NORMAL),
        (f"{{{UUID}}}", NOT_NORMAL),
        (f"URN:uuid:{UUID}", NOT_NORMAL),
        ("", f"{NO_UUID}invalid UUID length: 0"),
        ("ä", f"{NO_UUID}invalid UUID length: 2"),
        (f"urn-uuid:{UUID}", f'{NO_UUID}invalid urn prefix: "urn-uuid:"'),
        (f"<{UUID}>", f"{NO_UUID}invalid bracketed UUID format"),
        (UUID.replace("-", "_"), f"{NO_UUID}invalid UUID format"),
        (UUID.replace("-", "").replace("a", "g"), f"{NO_UUID}invalid UUID format"),
    ],
)
def test_parts_of_devices_are_named_by_uuids(text: str, why: str) -> None:
    device = {**DEVICE, "shareID": text}
    status = {"allocation": {"devices": {"results": [{"request": "r", **device}]}}}
    spec = {"devices": {"requests": [{"name": "r"}]}}
    found = [error.detail for error in claim_status({"spec": spec, "status": status}, {})]
    assert found == ([why] if why else [])


def test_nobody_is_added_to_what_goes_away() -> None:
    meta = {"deletionTimestamp": "2024-01-01T00:00:00Z"}
    spec = {"devices": {"requests": [{"name": "r"}]}}
    status = {"allocation": ALLOCATION, "reservedFor": [USER]}
    value = {"metadata": meta, "spec": spec, "status": status}
    assert list(map(str, claim_status(value, {"status": {"allocation": ALLOCATION}}))) == [
        "status.reservedFor: Forbidden: new entries may not be added while "
        "`deallocationRequested` or `deletionTimestamp` are set"
    ]
    assert list(claim_status(value, value)) == []


@pytest.mark.parametrize(
    ("release", "shown"),
    [
        ("1.33", "d/p/x"),
        ("1.34", '{"Driver":{},"Pool":{},"Device":{},"ShareID":{}}'),
        ("1.35", '{"Driver":"d","Pool":"p","Device":"x","ShareID":""}'),
    ],
)
def test_identities_of_devices_are_shown_as_their_release_does(release: str, shown: str) -> None:
    with answering_as(release):
        found = map(str, claim_status({"status": {"devices": [DEVICE]}}, {}))
        assert list(found) == [
            f"status.devices[0]: Invalid value: {shown}: must be an allocated device in the claim"
        ]
