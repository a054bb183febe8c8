"""What is said against Nodes."""

from __future__ import annotations

from typing import Any

import pytest

from celadon.kube import metadata
from celadon.kube.releases import answering_as
from celadon.kube.validation import nodes_and_runtime_classes
from celadon.kube.validation.built_in_validations import validate_status_update
from tests.kube.validation.objects import admitted, complaints, obj, update_complaints

Json = dict[str, Any]


def judged(changed: Json) -> list[Any]:
    return [
        *nodes_and_runtime_classes.node(changed),
        *nodes_and_runtime_classes.node_changes(changed, {"spec": {}}),
    ]


def node(status: Json | None = None, **spec: Any) -> Json:
    return obj("v1", "Node", spec=spec, status=status or {})


def taint(**fields: str) -> Json:
    return {"key": "a", "effect": "NoSchedule", **fields}


GOOD = [
    node({"capacity": {"cpu": "4", "example.com/gpu": "2"}}),
    node(taints=[taint(), taint(effect="NoExecute")]),
    node(podCIDR="10.0.0.0/24", podCIDRs=["10.0.0.0/24", "fd00::/64"], providerID="x"),
]  # fmt: skip


@pytest.mark.parametrize("value", GOOD)
def test_good_nodes(value: Json) -> None:
    assert complaints(value) == []
    assert update_complaints(value, value) == []


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (
            node(taints=[taint(effect=""), taint(value="-"), taint(effect="x")]),
            [
                "metadata.taints[0].effect: Required value",
                'metadata.taints[1].value: Invalid value: "-": a valid label must be an empty '
                "string or consist of alphanumeric characters, '-', '_' or '.', and must start and "
                "end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', "
                "regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')",
                'metadata.taints[2].effect: Unsupported value: "x": supported values: '
                '"NoSchedule", "PreferNoSchedule", "NoExecute"',
            ],
        ),
        (
            node(taints=[taint(value="v"), taint(value="w")]),
            [
                'metadata.taints[1]: Duplicate value: {"Key":"a","Value":"w","Effect":"NoSchedule",'
                '"TimeAdded":null}: taints must be unique by key and effect pair'
            ],
        ),
        (
            node({"capacity": {"pods": "1.5"}, "allocatable": {"cpu": "-1"}}),
            [
                'status.capacity.pods: Invalid value: "1500m": must be an integer',
                'status.allocatable.cpu: Invalid value: "-1": must be greater than or equal to 0',
            ],
        ),
        (
            node(podCIDR="10.0.0.0/24", podCIDRs=["10.0.0.0/24"] * 2),
            [
                'spec.podCIDRs: Invalid value: ["10.0.0.0/24","10.0.0.0/24"]: may specify no more '
                "than one CIDR for each IP family",
            ],
        ),
        (
            node(podCIDR="x", podCIDRs=["x"]),
            [
                'spec.podCIDRs[0]: Invalid value: "x": must be a valid CIDR value, (e.g. '
                "10.9.8.0/24 or 2001:db8::/64)"
            ],
        ),
    ],
)
def test_complaints(value: Json, expected: list[str]) -> None:
    assert complaints(value) == expected


@pytest.mark.parametrize(
    ("value", "old", "expected"),
    [
        (node(podCIDR="10.0.0.0/24", podCIDRs=["10.0.0.0/24"], providerID="p"), node(), []),
        (
            node(podCIDR="10.0.1.0/24", podCIDRs=["10.0.1.0/24"], providerID="q"),
            node(podCIDR="10.0.0.0/24", podCIDRs=["10.0.0.0/24"], providerID="p"),
            [
                'spec.podCIDRs: Forbidden: node updates may not change podCIDR except from "" to '
                "valid",
                'spec.providerID: Forbidden: node updates may not change providerID except from "" '
                "to valid",
            ],
        ),
        (
            node(externalID="x", configSource={"configMap": {"uid": "u"}}),
            node(),
            ["spec.externalID: Forbidden: may not be updated"],
        ),
    ],
)
def test_changes(value: Json, old: Json, expected: list[str]) -> None:
    assert update_complaints(value, old) == expected


def test_where_a_node_that_was_configured_is_configured_from() -> None:
    changed = {"spec": {"configSource": {"configMap": {"uid": "u"}}}}
    assert [str(one) for one in judged(changed)] == [
        "spec.configSource.configMap.uid: Forbidden: uid must not be set in spec",
        "spec.configSource.configMap.namespace: Required value",
        "spec.configSource.configMap.name: Required value",
        "spec.configSource.configMap.kubeletConfigKey: Required value",
    ]
    with answering_as("1.33"):
        found = [str(one) for one in judged(changed)]
    assert found[1:] == [
        f"spec.configSource.configMap.{field}: Required value: {field} must be set"
        for field in ("namespace", "name", "kubeletConfigKey")
    ]


def test_the_status_is_looked_at() -> None:
    address = {"type": "InternalIP", "address": "10.0.0.1"}
    old = admitted(node())
    status = {
        "addresses": [address, address],
        "config": {
            "active": {"configMap": {"namespace": "n", "name": "a", "kubeletConfigKey": "k"}}
        },
    }
    found = validate_status_update({**old, "status": status}, old, metadata.gvk(old))
    assert list(map(str, found)) == [
        'status.addresses[1]: Duplicate value: {"Type":"InternalIP","Address":"10.0.0.1"}',
        "status.config.active.configMap.uid: Required value",
        "status.config.active.configMap.resourceVersion: Required value",
    ]
    with answering_as("1.33"):
        found = validate_status_update({**old, "status": status}, old, metadata.gvk(old))
    assert [one.detail for one in found[1:]] == [
        "uid must be set in status",
        "resourceVersion must be set in status",
    ]


def test_ranges_of_pods_that_are_none() -> None:
    value = obj("v1", "Node", spec={"podCIDRs": ["10.0.0.0/24", "x"]})
    assert complaints(value)[-2] == (
        "spec.podCIDRs: Internal error: invalid PodCIDRs. failed to check with dual stack with "
        "error:invalid CIDR[1]: <nil> (invalid CIDR address: x)"
    )


def test_features_and_swap() -> None:
    features = ["B", "A", "A", "a"]
    status = {"declaredFeatures": features, "nodeInfo": {"swap": {"capacity": 0}}}
    at = "status.declaredFeatures"
    assert complaints(obj("v1", "Node", status=status)) == [
        "metadata.nodeSwapStatus.capacity: Invalid value: 0: must be greater than zero",
        f'{at}[1]: Invalid value: "A": list must be sorted alphabetically',
        f'{at}[2]: Duplicate value: "A"',
        f'{at}[3]: Invalid value: "a": invalid feature name "a": must start with an UpperCamelCase '
        "segment, with subsequent segments separated by '/' (e.g., MyFeature or "
        "MyFeature/mySubFeature), and contain only alphanumeric characters and slashes",
    ]


def test_taints_before_1_34() -> None:
    """They are shown as Go's structures."""
    with answering_as("1.32"):
        assert complaints(node(taints=[taint(value="v"), taint(value="w")])) == [
            'metadata.taints[1]: Duplicate value: core.Taint{Key:"a", Value:"w", '
            'Effect:"NoSchedule", TimeAdded:<nil>}: taints must be unique by key and effect pair'
        ]
