"""Volumes, claims, classes, drivers."""

from __future__ import annotations

from typing import Any

import pytest

from celadon.kube import warnings as warned
from celadon.kube.releases import answering_as
from celadon.kube.well_known_values import MOUNT_OPTIONS, STORAGE_CLASS

ARCH = "beta.kubernetes.io/arch"
OLD = 'deprecated since v1.14; use "kubernetes.io/arch" instead'


def test_volumes() -> None:
    notes = {STORAGE_CLASS: "c", MOUNT_OPTIONS: "ro"}
    terms = [{"matchExpressions": [{"key": ARCH, "operator": "Exists"}]}]
    spec = {
        "persistentVolumeReclaimPolicy": "Recycle",
        "nodeAffinity": {"required": {"nodeSelectorTerms": terms}},
        "storageos": {},
    }
    obj = {"metadata": {"annotations": notes}, "spec": spec}
    assert list(warned.volume_warnings(obj, None)) == [
        "metadata.annotations[volume.beta.kubernetes.io/storage-class]: deprecated since v1.8; use "
        '"storageClassName" attribute instead',
        "metadata.annotations[volume.beta.kubernetes.io/mount-options]: deprecated since v1.31; "
        'use "mountOptions" attribute instead',
        "spec.persistentVolumeReclaimPolicy: The Recycle reclaim policy is deprecated. Instead, "
        "the recommended approach is to use dynamic provisioning.",
        f"spec.nodeAffinity.required.nodeSelectorTerms[0].matchExpressions[0].key: {ARCH} is {OLD}",
        "spec.storageOS: deprecated in v1.22, non-functional in v1.25+",
    ]


def test_mount_options_are_deprecated_since_1_31() -> None:
    obj = {"metadata": {"annotations": {MOUNT_OPTIONS: "ro"}}, "spec": {}}
    assert len(list(warned.volume_warnings(obj, None))) == 1
    with answering_as("1.30"):
        assert not list(warned.volume_warnings(obj, None))


def test_claims() -> None:
    meta = {"annotations": {STORAGE_CLASS: "c"}}
    spec = {"resources": {"requests": {"storage": "1m"}}}
    first, second = warned.claim_warnings({"metadata": meta, "spec": spec}, None)
    assert first.startswith("metadata.annotations[volume.beta.kubernetes.io/storage-class]: ")
    assert second.startswith("spec.resources.requests[storage]: fractional byte value")


def test_topologies() -> None:
    expressions = [{"key": "a", "values": ["b"]}, {"key": ARCH, "values": ["b"]}]
    chosen = {"allowedTopologies": [{"matchLabelExpressions": expressions}]}
    assert list(warned.storage_class_warnings(chosen, None)) == [
        f"allowedTopologies[0].matchLabelExpressions[1].key: {OLD}"
    ]
    capacity = {"nodeTopology": {"matchLabels": {ARCH: "x"}}}
    assert list(warned.storage_capacity_warnings(capacity, None)) == [
        f"nodeTopology.matchLabels.{ARCH}: {OLD}"
    ]


@pytest.mark.parametrize(
    ("spec", "warns"),
    [
        ({}, False),
        ({"tokenRequests": [{"audience": ""}]}, True),
        ({"tokenRequests": [{"audience": ""}], "serviceAccountTokenInSecrets": False}, False),
    ],
)
def test_drivers_that_want_tokens(spec: dict[str, Any], warns: bool) -> None:
    found = list(warned.driver_warnings({"spec": spec}, None))
    assert [one.partition(";")[0] for one in found] == (
        ["spec.serviceAccountTokenInSecrets is unset"] if warns else []
    )


def test_drivers_are_warned_of_changed_tokens() -> None:
    one, other = ({"spec": {"tokenRequests": [{"audience": name}]}} for name in "ab")
    assert len([*warned.driver_warnings(one, other)]) == 1
    assert [*warned.driver_warnings(one, one)] == []
