"""What is said against drivers of storage and what belongs to them."""

from __future__ import annotations

from typing import Any

import pytest

from celadon.kube import name_rules
from celadon.kube.validation.storage import node_update
from tests.kube.validation.objects import complaints, obj, update_complaints

Json = dict[str, Any]
SUBDOMAIN = (
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or "
    "'.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used "
    r"for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')"
)


def driver(name: str = "d.example.com", **spec: Any) -> Json:
    return obj("storage.k8s.io/v1", "CSIDriver", meta={"name": name}, spec=spec)


def node(*drivers: Json) -> Json:
    return obj("storage.k8s.io/v1", "CSINode", spec={"drivers": list(drivers)})


def on_node(**fields: Any) -> Json:
    return {"name": "d", "nodeID": "n", "topologyKeys": ["zone"], **fields}


def capacity(**fields: Any) -> Json:
    return obj("storage.k8s.io/v1", "CSIStorageCapacity", storageClassName="fast", **fields)


def attachment(source: Json | None = None, **spec: Any) -> Json:
    found = {"persistentVolumeName": "pv"} if source is None else source
    given = {"attacher": "d", "nodeName": "n", "source": found, **spec}
    return obj("storage.k8s.io/v1", "VolumeAttachment", spec=given)


def inline_iscsi(portal: str) -> Json:
    iscsi: Json = {"targetPortal": portal, "iqn": "iqn.2001-04.com.example:a", "lun": 0}
    iscsi["initiatorName"] = "iqn.2001-04.com.example:b"
    return attachment({"inlineVolumeSpec": {"accessModes": ["ReadWriteOnce"], "iscsi": iscsi}})


GOOD = [
    driver(tokenRequests=[{"audience": "a"}], serviceAccountTokenInSecrets=True),
    driver("a.example.com", fsGroupPolicy="File", volumeLifecycleModes=["Ephemeral"]),
    node(on_node(allocatable={"count": 3})),
    capacity(capacity="1Gi", nodeTopology={"matchLabels": {"a": "b"}}),
    attachment(),
    attachment({"inlineVolumeSpec": {"accessModes": ["ReadWriteOnce"], "csi": {
        "driver": "d", "volumeHandle": "h"}}}),
]  # fmt: skip


@pytest.mark.parametrize("value", GOOD)
def test_good_objects(value: Json) -> None:
    assert complaints(value) == []
    assert update_complaints(value, value) == []


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (driver("a_b"), [f'metadata.name: Invalid value: "a_b": {SUBDOMAIN}']),
        (driver("a" * 64), []),
        (
            driver(fsGroupPolicy="x", volumeLifecycleModes=["x"]),
            [
                'spec.fsGroupPolicy: Unsupported value: "x": supported values: '
                '"File", "None", "ReadWriteOnceWithFSType"',
                'spec.volumeLifecycleModes: Unsupported value: "x": supported values: '
                '"Persistent", "Ephemeral"',
            ],
        ),
        (
            driver(
                tokenRequests=[
                    {"audience": "a", "expirationSeconds": 1},
                    {"audience": "a", "expirationSeconds": 1},
                    {"audience": "b", "expirationSeconds": 1 << 33},
                ]
            ),
            [
                "spec.tokenRequests[0].expirationSeconds: Invalid value: 1: may not specify a "
                "duration less than 10 minutes",
                'spec.tokenRequests[1].audience: Duplicate value: "a"',
                "spec.tokenRequests[2].expirationSeconds: Invalid value: 8589934592: may not "
                "specify a duration larger than 2^32 seconds",
            ],
        ),
        (
            driver(nodeAllocatableUpdatePeriodSeconds=9, serviceAccountTokenInSecrets=False),
            [
                "spec.nodeAllocatableUpdatePeriodSeconds: Invalid value: 9: must be greater than "
                "or equal to 10 seconds",
                "spec.serviceAccountTokenInSecrets: Invalid value: false: "
                "serviceAccountTokenInSecrets is set but no tokenRequests are specified",
            ],
        ),
        (
            node(on_node(nodeID="", allocatable={"count": -1}), on_node(nodeID="x" * 257)),
            [
                "spec.drivers[0].nodeID: Required value",
                "spec.drivers[0].allocatable.count: Invalid value: -1: must be greater than or "
                "equal to 0",
                f'spec.drivers[1].nodeID: Invalid value: "{"x" * 257}": must be 256 characters or '
                "less",
                'spec.drivers[1].name: Duplicate value: "d"',
            ],
        ),
        (
            node(on_node(topologyKeys=["a", "a"])),
            ['spec.drivers[0]: Duplicate value: "a"'],
        ),
        (
            node(on_node(topologyKeys=["zone", ""])),
            [
                "spec.drivers[0]: Required value",
                'spec.drivers[0]: Invalid value: "": name part must be non-empty',
                f'spec.drivers[0]: Invalid value: "": {name_rules.qualified_name("")[1]}',
            ],
        ),
        (
            capacity(capacity="-1", maximumVolumeSize="-2"),
            ['capacity: Invalid value: "-1": must be greater than or equal to 0'],
        ),
        (
            attachment({}),
            [
                "spec.source: Required value: must specify exactly one of inlineVolumeSpec and "
                "persistentVolumeName"
            ],
        ),
        (
            attachment({"persistentVolumeName": ""}, attacher="", nodeName=""),
            [
                "spec.attacher: Required value",
                "spec.source.persistentVolumeName: Required value: must specify non empty "
                "persistentVolumeName",
                f'spec.nodeName: Invalid value: "": {SUBDOMAIN}',
                f'spec.source.persistentVolumeName: Invalid value: "": {SUBDOMAIN}',
            ],
        ),
        (
            attachment({"inlineVolumeSpec": {
                "capacity": {"storage": "1"}, "storageClassName": "x", "volumeMode": "Block",
                "persistentVolumeReclaimPolicy": "Delete", "hostPath": {"path": "/x"}}}),
            [
                "spec.source.inlineVolumeSpec.capacity: Forbidden: may not be specified in the "
                "context of inline volumes",
                "spec.source.inlineVolumeSpec.csi: Required value: has to be specified in the "
                "context of inline volumes",
                "spec.source.inlineVolumeSpec.accessModes: Required value",
                "spec.source.inlineVolumeSpec.persistentVolumeReclaimPolicy: Forbidden: may only "
                "be Retain in the context of inline volumes",
                "spec.source.inlineVolumeSpec.storageClassName: Forbidden: may not be specified "
                "in the context of inline volumes",
                "spec.source.inlineVolumeSpec.volumeMode: Forbidden: may not specify volumeMode "
                "other than Filesystem in the context of inline volumes",
            ],
        ),
    ],
)  # fmt: skip
def test_complaints(value: Json, expected: list[str]) -> None:
    assert complaints(value) == expected


@pytest.mark.parametrize(
    ("value", "old", "expected"),
    [
        (
            driver(attachRequired=False, requiresRepublish=True),
            driver(),
            ["spec.attachedRequired: Invalid value: false: field is immutable"],
        ),
        (
            node(on_node(nodeID="m")),
            node(on_node()),
            [
                'spec.drivers: Invalid value: {"Name":"d","NodeID":"m","TopologyKeys":["zone"],'
                '"Allocatable":null}: field is immutable'
            ],
        ),
        (node(on_node(allocatable={"count": 1})), node(on_node()), []),
        (
            {**capacity(), "storageClassName": "slow"},
            capacity(),
            ['storageClassName: Invalid value: "slow": field is immutable'],
        ),
        (
            attachment(nodeName="m"),
            attachment(),
            [
                'spec: Invalid value: {"Attacher":"d","Source":{"PersistentVolumeName":"pv",'
                '"InlineVolumeSpec":null},"NodeName":"m"}: field is immutable'
            ],
        ),
    ],
)
def test_changes(value: Json, old: Json, expected: list[str]) -> None:
    assert update_complaints(value, old) == expected


def test_no_keys_of_a_topology_are_as_good_as_none() -> None:
    empty = on_node(topologyKeys=[])
    absent = {key: value for key, value in empty.items() if key != "topologyKeys"}
    for new, old in ((empty, absent), (absent, empty)):
        assert list(map(str, node_update(node(new), node(old)))) == []


def test_an_inline_volume_has_no_name_that_counts() -> None:
    """Of a portal and the name of its volume together, at most 64 characters, with a colon."""
    [missing] = complaints(inline_iscsi("p" * 63))
    assert missing.startswith("spec.source.inlineVolumeSpec.csi: Required value")
    [same, long] = complaints(inline_iscsi("p" * 64))
    assert same == missing
    assert "iscsi.targetportal: Invalid value" in long
