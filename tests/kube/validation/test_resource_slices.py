"""What is said against slices of pools, their devices, and taints."""

from __future__ import annotations

from typing import Any

import pytest

from celadon.kube.releases import answering_as
from celadon.kube.validation import resource_slices
from celadon.kube.validation.resource_slices import resource_slice as resource_slice_rules
from celadon.kube.validation.resource_slices import shortened, taint_rule_status
from tests.kube.validation.objects import complaints, obj, update_complaints

Json = dict[str, Any]
POOL = {"name": "p", "generation": 1, "resourceSliceCount": 1}


def resource_slice(*devices: Json, **spec: Any) -> Json:
    found = {"driver": "d", "nodeName": "n", "pool": POOL, **spec}
    if devices:
        found["devices"] = list(devices)
    return obj("resource.k8s.io/v1", "ResourceSlice", spec=found)


def device(name: str = "a", **fields: Any) -> Json:
    return {"name": name, **fields}


def taint_rule(**taint: Any) -> Json:
    spec = {
        "deviceSelector": {"driver": "d"},
        "taint": {"key": "k", "effect": "NoSchedule", **taint},
    }
    return obj("resource.k8s.io/v1alpha3", "DeviceTaintRule", spec=spec)


CONDITIONS: Json = {"bindingConditions": ["a"], "bindingFailureConditions": ["b"]}
GOOD = [
    resource_slice(
        device(
            attributes={"model": {"string": "x"}, "a.b/v": {"version": "1.0.0"}},
            capacity={"memory": {"value": "1Gi"}},
            **CONDITIONS,
        )
    ),
    resource_slice(device(taints=[{"key": "k", "effect": "NoExecute"}]), device("b")),
    resource_slice(sharedCounters=[{"name": "s", "counters": {"c": {"value": "1"}}}]),
    taint_rule(),
]


@pytest.mark.parametrize("value", GOOD)
def test_good_objects(value: Json) -> None:
    assert complaints(value) == []
    assert update_complaints(value, value) == []


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (
            resource_slice(pool={"name": "", "generation": -1, "resourceSliceCount": 0}),
            [
                "spec.pool.name: Required value",
                "spec.pool.resourceSliceCount: Invalid value: 0: must be greater than zero",
                "spec.pool.generation: Invalid value: -1: must be greater than or equal to zero",
            ],
        ),
        (
            resource_slice(nodeName=None, allNodes=False),
            [
                "spec.allNodes: Invalid value: false: must be either unset or set to true",
                "spec: Required value: exactly one of `nodeName`, `nodeSelector`, `allNodes`, "
                "`perDeviceNodeSelection` is required",
            ],
        ),
        (
            resource_slice(allNodes=True, nodeSelector={"nodeSelectorTerms": []}),
            [
                "spec.nodeSelector.nodeSelectorTerms: Required value: must have at least one node "
                "selector term",
                "spec.nodeSelector.nodeSelectorTerms: Invalid value: []: must have exactly one "
                "node selector term",
                'spec: Invalid value: "{`nodeName`, `nodeSelector`, `allNodes`}": exactly one of '
                "`nodeName`, `nodeSelector`, `allNodes`, `perDeviceNodeSelection` is required, but "
                "multiple fields are set",
            ],
        ),
        (
            resource_slice(device(), sharedCounters=[{"name": "", "counters": {}}]),
            [
                'spec: Invalid value: "": only one of `sharedCounters` or `devices` is allowed',
                "spec.sharedCounters[0].name: Required value",
                "spec.sharedCounters[0].counters: Required value",
            ],
        ),
        (
            resource_slice(device(), device(nodeName="n")),
            [
                "spec.devices[1]: Invalid value: null: `nodeName`, `nodeSelector` and `allNodes` "
                "can only be set if `perDeviceNodeSelection` is set to true in the ResourceSlice "
                "spec",
                'spec.devices[1]: Duplicate value: "a"',
            ],
        ),
        (
            resource_slice(*(device(f"d{number}") for number in range(129))),
            ["spec.devices: Too many: 129: must have at most 128 items"],
        ),
        (
            resource_slice(*(device(f"d{number}", taints=[{"key": "k", "effect": "NoExecute"}])
                             for number in range(65))),
            ["spec.devices: Too many: 65: must have at most 64 items"],
        ),
        (
            resource_slice(device(attributes={
                "a": {}, "b": {"int": 1, "bool": True}, "c": {"version": "1"},
                "d": {"string": "x" * 65}})),
            [
                'spec.devices[0].attributes[a]: Invalid value: "": exactly one value must be '
                "specified",
                'spec.devices[0].attributes[b]: Invalid value: {"IntValue":1,"BoolValue":true,'
                '"StringValue":null,"VersionValue":null,"IntValues":null,"BoolValues":null,'
                '"StringValues":null,"VersionValues":null}: exactly one value must be specified',
                'spec.devices[0].attributes[c].version: Invalid value: "1": must be a string '
                "compatible with semver.org spec 2.0.0",
                "spec.devices[0].attributes[d].string: Too long: may not be more than 64 bytes",
            ],
        ),
        (
            resource_slice(device(attributes={f"a{number}": {"int": 1} for number in range(33)})),
            [
                "spec.devices[0]: Invalid value: 33: the total number of attributes and capacities "
                "must not exceed 32"
            ],
        ),
        (
            resource_slice(device(taints=[{"key": "", "effect": ""}],
                                  consumesCounters=[{"counterSet": ""}] * 3)),
            [
                "spec.devices[0].taints[0].key: Invalid value: \"\": name part must be non-empty",
                "spec.devices[0].taints[0].key: Invalid value: \"\": name part must consist of "
                "alphanumeric characters, '-', '_' or '.', and must start and end with an "
                "alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used "
                "for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')",
                "spec.devices[0].taints[0].effect: Required value",
                "spec.devices[0].consumesCounters: Too many: 3: must have at most 2 items",
            ],
        ),
        (
            resource_slice(device(), nodeName=None, perDeviceNodeSelection=True),
            [
                "spec.devices[0]: Required value: exactly one of `nodeName`, `nodeSelector`, or "
                "`allNodes` is required when `perDeviceNodeSelection` is set to true in the "
                "ResourceSlice spec"
            ],
        ),
        (
            resource_slice(device(nodeName="", allNodes=False), nodeName=None,
                           perDeviceNodeSelection=True),
            [
                'spec.devices[0].nodeName: Invalid value: "": must not be empty',
                "spec.devices[0].allNodes: Invalid value: false: must be either unset or set to "
                "true",
                "spec.devices[0]: Required value: exactly one of `nodeName`, `nodeSelector`, or "
                "`allNodes` is required when `perDeviceNodeSelection` is set to true in the "
                "ResourceSlice spec",
            ],
        ),
        (
            taint_rule(effect="x"),
            [
                'spec.taint.effect: Unsupported value: "x": supported values: "NoExecute", '
                '"NoSchedule", "None"'
            ],
        ),
    ],
)  # fmt: skip
def test_complaints(value: Json, expected: list[str]) -> None:
    assert complaints(value) == expected


def test_the_nested_form_of_an_old_version() -> None:
    value = resource_slice(device(basic={"attributes": {"a": {}}}))
    assert complaints({**value, "apiVersion": "resource.k8s.io/v1beta1"}) == [
        'spec.devices[0].attributes[a]: Invalid value: "": exactly one value must be specified'
    ]


def test_changes() -> None:
    pool = {**POOL, "name": "q"}
    assert update_complaints(resource_slice(driver="e", pool=pool), resource_slice()) == [
        'spec.pool.name: Invalid value: "q": field is immutable',
        'spec.driver: Invalid value: "e": field is immutable',
    ]


def counters(count: int, name: str = "c") -> Json:
    return {f"{name}{index}": {"value": "1"} for index in range(count)}


SETS: Json = {
    "sharedCounters": [
        {"name": "s", "counters": counters(20)},
        {"name": "t", "counters": counters(20)},
    ]
}
USED: Json = {
    "consumesCounters": [
        {"counterSet": "s", "counters": counters(21)},
        {"counterSet": "N!", "counters": counters(12)},
    ]
}


@pytest.mark.parametrize(
    ("release", "spec", "expected"),
    [
        ("1.35", SETS, []),
        ("1.34", SETS, [
            "spec.sharedCounters: Invalid value: 40: the total number of shared counters must not "
            "exceed 32"]),
        ("1.34", {"devices": [device(**USED)], "sharedCounters": SETS["sharedCounters"][:1]}, [
            "spec.devices[0]: Invalid value: 33: the total number of counters must not exceed 32",
            'spec.devices[0].consumesCounters[0].counters: Invalid value: "c20": must reference a '
            "counter defined in the ResourceSlice sharedCounters",
            'spec.devices[0].consumesCounters[1].counterSet: Invalid value: "N!": must reference '
            "a counterSet defined in the ResourceSlice sharedCounters"]),
        ("1.35", {"sharedCounters": [{"name": f"s{n}", "counters": counters(1)} for n in range(8)]},
            []),
        ("1.35", {"sharedCounters": [{"name": f"s{n}", "counters": counters(1)} for n in range(9)]},
            ["spec.sharedCounters: Too many: 9: must have at most 8 items"]),
        ("1.36", {"sharedCounters": [{"name": "s", "counters": counters(1, "X")}]}, [
            'spec.sharedCounters[0].counters: Invalid value: "X0": a lowercase RFC 1123 label']),
        ("1.35", {"sharedCounters": [{"name": "s", "counters": counters(1, "X")}]}, [
            'spec.sharedCounters[0].counters[X0]: Invalid value: "X0": a lowercase RFC 1123 '
            "label"]),
        ("1.34", {"sharedCounters": [{"name": "s", "counters": counters(32)}],
                  "devices": [device(f"d{index}", consumesCounters=[
                      {"counterSet": "s", "counters": counters(32)}]) for index in range(33)]}, [
            "spec.devices: Invalid value: 1056: the total number of counters in devices must not "
            "exceed 1024"]),
    ],
)  # fmt: skip
def test_counters_by_release(release: str, spec: Json, expected: list[str]) -> None:
    with answering_as(release):
        found = list(resource_slice_rules(resource_slice(**spec)))
    assert [str(error).partition(" must consist")[0] for error in found] == expected


def test_long_names_lose_their_middle() -> None:
    assert shortened("abcdefghijklmnopqrstuvwxyz", 16) == "abcdefg...uvwxyz"
    assert shortened("abc", 16) == "abc"


def test_conditions_of_taint_rules() -> None:
    condition = {"status": "True", "reason": "R", "lastTransitionTime": "2024-01-01T00:00:00Z"}
    value = {"status": {"conditions": [{**condition, "type": f"T{one}"} for one in range(9)]}}
    assert list(map(str, taint_rule_status(value, value))) == [
        "status.conditions: Too many: 9: must have at most 8 items"
    ]


def test_what_a_device_takes_of_its_node() -> None:
    mappings = {
        "cpu": {"capacityKey": "memory", "allocationMultiplier": "1"},
        "example.com/x": {},
        "memory": {"capacityKey": "", "allocationMultiplier": "-1"},
        "pods": {"capacityKey": "x"},
    }
    given = device(capacity={"memory": {"value": "1"}}, nodeAllocatableResourceMappings=mappings)
    at = "spec.devices[0].nodeAllocatableResourceMappings"
    assert list(map(str, resource_slices.resource_slice(resource_slice(given)))) == [
        f'{at}[example.com/x]: Invalid value: "example.com/x": must be a node allocatable resource '
        "name",
        f'{at}[example.com/x]: Invalid value: "": at least one of allocationMultiplier or '
        "capacityKey must be set",
        f'{at}[memory].allocationMultiplier: Invalid value: "-1": must be positive',
        f'{at}[memory].capacityKey: Invalid value: "": capacityKey must not be an empty string',
        f'{at}[pods].capacityKey: Not found: "x"',
    ]
