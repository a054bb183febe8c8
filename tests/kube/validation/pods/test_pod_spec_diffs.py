"""Differences of pod specs as text."""

from __future__ import annotations

from typing import Any

import pytest

from celadon.kube.releases import answering_as
from celadon.kube.validation.pods.pod_specs import (
    claim_spec_diff,
    pod_spec_diff,
    volume_source_diff,
)

Json = dict[str, Any]

CONTAINER = {"name": "c", "image": "i"}


def test_a_hunk_around_a_change() -> None:
    old = {"containers": [CONTAINER], "nodeName": "n1", "serviceAccountName": "default"}
    assert pod_spec_diff(old, {**old, "nodeName": "n3"}) == (
        "@@ -42,7 +42,7 @@\n"
        '  "NodeSelector": null,\n'
        '  "ServiceAccountName": "default",\n'
        '  "AutomountServiceAccountToken": null,\n'
        '- "NodeName": "n1",\n'
        '+ "NodeName": "n3",\n'
        '  "SecurityContext": {\n'
        '   "HostNetwork": false,\n'
        '   "HostPID": false,\n'
    )


REPORTED = """\
  core.PodSpec{
  \t... // 5 identical fields
  \tTerminationGracePeriodSeconds: nil,
  \tActiveDeadlineSeconds:         nil,
- \tDNSPolicy:                     "",
+ \tDNSPolicy:                     "Default",
  \tNodeSelector:                  nil,
  \tServiceAccountName:            "default",
  \tAutomountServiceAccountToken:  &false,
- \tNodeName:                      "n1",
+ \tNodeName:                      "n3",
  \tSecurityContext:               &{},
  \tImagePullSecrets:              nil,
  \t... // 20 identical fields
  }
"""


def test_older_servers_report_fields() -> None:
    old = {
        "containers": [CONTAINER],
        "nodeName": "n1",
        "serviceAccountName": "default",
        "automountServiceAccountToken": False,
        "securityContext": {},
    }
    with answering_as("1.33"):
        assert pod_spec_diff(old, {**old, "nodeName": "n3", "dnsPolicy": "Default"}) == REPORTED
        assert pod_spec_diff(old, {**old, "priority": 3}).splitlines()[2:] == [
            "  \tHostAliases:       nil,",
            '  \tPriorityClassName: "",',
            "- \tPriority:          nil,",
            "+ \tPriority:          &3,",
            "  \tPreemptionPolicy:  nil,",
            "  \tDNSConfig:         nil,",
            "  \t... // 9 identical fields",
            "  }",
        ]
        assert pod_spec_diff(old, {**old, "hostname": "a" * 40}).startswith("@@")


def test_signs_of_html_are_escaped() -> None:
    old = {"containers": [CONTAINER]}
    assert '\n+ "Hostname": "\\u003c\\u0026\\u003e",\n' in pod_spec_diff(
        old, {**old, "hostname": "<&>"}
    )


def test_nothing_to_tell() -> None:
    assert pod_spec_diff({}, {"containers": None}) == ""


def test_what_a_volume_is_made_of() -> None:
    old = {"hostPath": {"path": "/x", "type": ""}, "capacity": {"storage": "1Gi"}}
    assert volume_source_diff(old, {**old, "capacity": {"storage": "2Gi"}}) == ""
    assert volume_source_diff(old, {**old, "hostPath": {"path": "/y", "type": ""}}) == (
        "@@ -2,7 +2,7 @@\n"
        '  "GCEPersistentDisk": null,\n'
        '  "AWSElasticBlockStore": null,\n'
        '  "HostPath": {\n'
        '-  "Path": "/x",\n'
        '+  "Path": "/y",\n'
        '   "Type": ""\n'
        "  },\n"
        '  "Glusterfs": null,\n'
    )


CLAIM = {
    "accessModes": ["ReadWriteOnce"],
    "resources": {"requests": {"storage": "1Gi"}},
    "storageClassName": "fast",
    "volumeMode": "Filesystem",
    "volumeName": "pvc-0b7b8c9c-64a7-4d6e-9d64-0d3d6a0d7a4a",
}
CLASS = """\
  core.PersistentVolumeClaimSpec{
  \t... // 2 identical fields
  \tResources:        {Requests: {s"storage": {i: {...}, s: "1Gi", Format: "BinarySI"}}},
  \tVolumeName:       "pvc-0b7b8c9c-64a7-4d6e-9d64-0d3d6a0d7a4a",
- \tStorageClassName: &"fast",
+ \tStorageClassName: &"slow",
  \tVolumeMode:       &"Filesystem",
  \tDataSource:       nil,
  \t... // 2 identical fields
  }
"""
MODES = """\
  core.PersistentVolumeClaimSpec{
- \tAccessModes: []core.PersistentVolumeAccessMode{"ReadWriteOnce"},
+ \tAccessModes: []core.PersistentVolumeAccessMode{"ReadWriteMany"},
  \tSelector:    nil,
  \tResources:   {Requests: {s"storage": {i: {...}, s: "1Gi", Format: "BinarySI"}}},
  \t... // 6 identical fields
  }
"""
NAME = """\
  core.PersistentVolumeClaimSpec{
  \tAccessModes:      {"ReadWriteOnce"},
  \tSelector:         nil,
  \tResources:        {Requests: {s"storage": {i: {...}, s: "1Gi", Format: "BinarySI"}}},
- \tVolumeName:       "a",
+ \tVolumeName:       "",
  \tStorageClassName: &"fast",
  \tVolumeMode:       &"Filesystem",
  \t... // 3 identical fields
  }
"""


@pytest.mark.parametrize(
    ("was", "changed", "report"),
    [
        ({}, {"storageClassName": "slow"}, CLASS),
        ({}, {"accessModes": ["ReadWriteMany"]}, MODES),
        ({"volumeName": "a"}, {"volumeName": ""}, NAME),
        ({"resources": {"requests": {"storage": "1.5Gi"}}}, {"storageClassName": "slow"}, None),
        ({}, {"accessModes": ["ReadWriteOnce", "ReadWriteMany"]}, None),
        ({}, {"resources": {"requests": {"storage": "2Gi"}}}, None),
    ],
)
def test_older_servers_report_fields_of_claims(
    was: Json, changed: Json, report: str | None
) -> None:
    old = {**CLAIM, **was}
    with answering_as("1.33"):
        found = claim_spec_diff(old, {**old, **changed})
    if report is None:
        assert found.startswith("@@")
    else:
        assert found == report
    assert claim_spec_diff(old, {**old, **changed}).startswith("@@")


@pytest.mark.parametrize(
    ("storage", "shown"),
    [
        ("1", 's: "1", Format: "DecimalSI"'),
        ("100M", 's: "100M", Format: "DecimalSI"'),
        ("1e3", 's: "1e3", Format: "DecimalExponent"'),
        ("1500m", 's: "1500m", Format: "DecimalSI"'),
    ],
)
def test_older_servers_report_amounts(storage: str, shown: str) -> None:
    old = {**CLAIM, "resources": {"requests": {"storage": storage}}}
    with answering_as("1.30"):
        found = claim_spec_diff(old, {**old, "storageClassName": None})
    assert f'{{Requests: {{s"storage": {{i: {{...}}, {shown}}}}}}},\n' in found
    assert "+ \tStorageClassName: nil,\n" in found
