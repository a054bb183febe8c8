"""Differences of pod specs as text."""

from __future__ import annotations

from typing import Any

import pytest

from celadon.kube.releases import answering_as
from celadon.kube.validation.pods.internal_types import (
    claim_spec_diff,
    pod_spec_diff,
    signing_conditions_diff,
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


def test_what_came_empty_is_shown_of_the_new_one() -> None:
    old = {"containers": [{**CONTAINER, "ports": []}], "volumes": [], "overhead": {}}
    new = {"containers": [{**CONTAINER, "ports": []}], "volumes": [], "hostname": "x"}
    changed = [line for line in pod_spec_diff(old, new).splitlines() if line.startswith(("+", "-"))]
    assert changed == [
        '- "Volumes": null,',
        '+ "Volumes": [],',
        '-   "Ports": null,',
        '+   "Ports": [],',
        '- "Hostname": "",',
        '+ "Hostname": "x",',
    ]


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
        assert f'+ \tHostname:          "{"a" * 40}",' in pod_spec_diff(
            old, {**old, "hostname": "a" * 40}
        )


def test_templates_of_claims_lie_open() -> None:
    meta = {"labels": {"a": "b"}}
    claimed = volumes({"ephemeral": {"volumeClaimTemplate": {"metadata": meta, "spec": {}}}})
    assert (
        '+   "Ephemeral": {\n+    "VolumeClaimTemplate": {\n+     "labels": {\n+      "a": "b"\n'
        '+     },\n+     "Spec": {\n+      "AccessModes": null,\n'
    ) in pod_spec_diff(volumes({}), claimed)


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
AMOUNT = """\
  core.PersistentVolumeClaimSpec{
  \tAccessModes: {"ReadWriteOnce"},
  \tSelector:    nil,
  \tResources: core.VolumeResourceRequirements{
  \t\tLimits: nil,
- \t\tRequests: core.ResourceList{
- \t\t\ts"storage": {i: resource.int64Amount{value: 1073741824}, s: "1Gi", Format: "BinarySI"},
- \t\t},
+ \t\tRequests: core.ResourceList{
+ \t\t\ts"storage": {i: resource.int64Amount{value: 2147483648}, s: "2Gi", Format: "BinarySI"},
+ \t\t},
  \t},
  \tVolumeName:       "",
  \tStorageClassName: &"fast",
  \t... // 4 identical fields
  }
"""


@pytest.mark.parametrize(
    ("was", "changed", "report"),
    [
        ({}, {"storageClassName": "slow"}, CLASS),
        ({}, {"accessModes": ["ReadWriteMany"]}, MODES),
        ({"volumeName": "a"}, {"volumeName": ""}, NAME),
        ({"volumeName": ""}, {"resources": {"requests": {"storage": "2Gi"}}}, AMOUNT),
    ],
)
def test_older_servers_report_fields_of_claims(was: Json, changed: Json, report: str) -> None:
    old = {**CLAIM, **was}
    with answering_as("1.33"):
        assert claim_spec_diff(old, {**old, **changed}) == report
    assert claim_spec_diff(old, {**old, **changed}).startswith("@@")


@pytest.mark.parametrize(
    ("storage", "shown"),
    [
        ("1", 's: "1", Format: "DecimalSI"'),
        ("100M", 's: "100M", Format: "DecimalSI"'),
        ("1e3", 's: "1e3", Format: "DecimalExponent"'),
        ("1500m", 's: "1500m", Format: "DecimalSI"'),
        ("1536Mi", 'Format: "BinarySI"'),
        ("1.5Gi", 'Format: "BinarySI"'),
        ("1000", 's: "1k", Format: "DecimalSI"'),
    ],
)
def test_older_servers_report_amounts(storage: str, shown: str) -> None:
    old = {**CLAIM, "resources": {"requests": {"storage": storage}}}
    with answering_as("1.30"):
        found = claim_spec_diff(old, {**old, "storageClassName": None})
    assert f'{{Requests: {{s"storage": {{i: {{...}}, {shown}}}}}}},\n' in found
    assert "+ \tStorageClassName: nil,\n" in found


ARGS = """\
  core.PodSpec{
  \tVolumes:        nil,
  \tInitContainers: nil,
  \tContainers: []core.Container{
  \t\t{
  \t\t\tName:    "c",
  \t\t\tImage:   "i",
- \t\t\tCommand: nil,
+ \t\t\tCommand: []string{"sh"},
  \t\t\tArgs: []string{
  \t\t\t\t"a",
+ \t\t\t\t"c",
  \t\t\t\t"b",
  \t\t\t},
  \t\t\tWorkingDir: "",
  \t\t\tPorts:      nil,
  \t\t\t... // 18 identical fields
  \t\t},
  \t},
  \tEphemeralContainers: nil,
  \tRestartPolicy:       "",
  \t... // 29 identical fields
  }
"""


def test_older_servers_report_what_became_of_items() -> None:
    old, new = container(args=["a", "b"]), container(args=["a", "c", "b"], command=["sh"])
    with answering_as("1.32"):
        assert pod_spec_diff(old, new) == ARGS


def container(**fields: Any) -> Json:
    return {"containers": [{**CONTAINER, **fields}]}


def volumes(*sources: Json) -> Json:
    return {"volumes": [{"name": f"v{at}", **source} for at, source in enumerate(sources)]}


LONG = "https://example.{}/a/rather/long/path?query=1"
SCRIPT = "#!/bin/sh\nset -e\none\ntwo\n{}\nfour\nfive\n"
PORTS = [{"containerPort": 80, "protocol": "TCP"}]
SELECTOR = {"matchLabels": {"a": "b"}}
AMOUNT_OF_CPU = '{{i: resource.int64Amount{{value: {}}}, s: {}, Format: "DecimalSI"}}'
ONE_CPU = AMOUNT_OF_CPU.format(1, '"1"')


@pytest.mark.parametrize(
    ("old", "new", "changes"),
    [
        pytest.param(
            container(env=[{"name": "A", "value": "1"}]),
            container(env=[{"name": "A", "value": "3"}]),
            ['- Value:     "1",', '+ Value:     "3",'],
            id="a field in a list",
        ),
        pytest.param(
            container(),
            container(ports=PORTS),
            [
                "- Ports:      nil,",
                '+ Ports:      []core.ContainerPort{{ContainerPort: 80, Protocol: "TCP"}},',
            ],
            id="a list where there was none",
        ),
        pytest.param(
            container(resources={"limits": {"cpu": "1"}, "requests": {"cpu": "1"}}),
            container(resources={"limits": {}}),
            [
                f'- Limits:   core.ResourceList{{s"cpu": {ONE_CPU}}},',
                "+ Limits:   core.ResourceList{},",
                f'- Requests: core.ResourceList{{s"cpu": {ONE_CPU}}},',
                "+ Requests: core.ResourceList{},",
            ],
            id="limits that are an empty map make requests one, too",
        ),
        pytest.param(
            container(ports=PORTS),
            container(ports=[]),
            [
                '- Ports:      []core.ContainerPort{{ContainerPort: 80, Protocol: "TCP"}},',
                "+ Ports:      []core.ContainerPort{},",
            ],
            id="a list that becomes empty",
        ),
        pytest.param(
            container(resources={"limits": {"memory": "0"}}),
            container(resources={"limits": {"memory": "1"}}),
            [
                '- Limits:   core.ResourceList{s"memory": {s: "0", Format: "DecimalSI"}},',
                '+ Limits:   core.ResourceList{s"memory": {i: resource.int64Amount{value: 1}, '
                's: "1", Format: "DecimalSI"}},',
            ],
            id="an amount of nothing has a text",
        ),
        pytest.param(
            container(resizePolicy=[{"resourceName": "cpu", "restartPolicy": "NotRequired"}]),
            container(resizePolicy=[{"resourceName": "memory", "restartPolicy": "NotRequired"}]),
            ['- ResourceName:  s"cpu",', '+ ResourceName:  s"memory",'],
            id="the name of a resource prints itself",
        ),
        pytest.param(
            container(resources={"requests": {"cpu": "100m", "memory": "1Gi"}}),
            container(resources={"requests": {"cpu": "1", "memory": "1Gi"}}),
            [
                '- s"cpu":    {i: resource.int64Amount{value: 100, scale: -3}, s: "100m", '
                'Format: "DecimalSI"},',
                '+ s"cpu":    {i: resource.int64Amount{value: 1}, s: "1", Format: "DecimalSI"},',
            ],
            id="amounts",
        ),
        pytest.param(
            volumes({"emptyDir": {}}, {"configMap": {"name": "x"}}),
            volumes({"emptyDir": {"sizeLimit": "1Gi"}}, {"secret": {"secretName": "x"}}),
            [
                "- SizeLimit: nil,",
                '+ SizeLimit: s"1Gi",',
                "- Secret:               nil,",
                '+ Secret:               &core.SecretVolumeSource{SecretName: "x"},',
                "- ConfigMap:     &core.ConfigMapVolumeSource{LocalObjectReference: "
                'core.LocalObjectReference{Name: "x"}},',
                "+ ConfigMap:     nil,",
            ],
            id="embedded structs",
        ),
        pytest.param(
            container(env=[{"name": "U", "value": LONG.format("org")}]),
            container(env=[{"name": "U", "value": LONG.format("com")}]),
            ['- "org",', '+ "com",'],
            id="a part of a long text",
        ),
        pytest.param(
            container(env=[{"name": "S", "value": SCRIPT.format("three")}]),
            container(env=[{"name": "S", "value": SCRIPT.format("3")}]),
            ["- three", "+ 3"],
            id="a line of a text",
        ),
        pytest.param(
            {"securityContext": {"supplementalGroups": [1, 2, 3]}},
            {"securityContext": {"supplementalGroups": [4, 5, 6, 7]}},
            ["- 1, 2, 3,", "+ 4, 5, 6, 7,"],
            id="numbers",
        ),
        pytest.param(
            {},
            {"topologySpreadConstraints": [{"maxSkew": 1, "labelSelector": SELECTOR}]},
            [
                "- TopologySpreadConstraints: nil,",
                "+ TopologySpreadConstraints: []core.TopologySpreadConstraint{",
                "+ {",
                "+ MaxSkew:       1,",
                '+ LabelSelector: s"&LabelSelector{MatchLabels:map[string]string{a: b,},'
                'MatchExpress"...,',
                "+ },",
                "+ },",
            ],
            id="what says itself what it is",
        ),
        pytest.param(
            container(livenessProbe={"httpGet": {"path": "/", "port": 80}}),
            container(livenessProbe={"httpGet": {"path": "/", "port": "web"}}),
            [
                "- Type:   0,",
                "+ Type:   1,",
                "- IntVal: 80,",
                "+ IntVal: 0,",
                '- StrVal: "",',
                '+ StrVal: "web",',
            ],
            id="a port",
        ),
        pytest.param(
            volumes({"emptyDir": {}}),
            volumes({"ephemeral": {"volumeClaimTemplate": {"spec": {}}}}),
            [
                "- EmptyDir:             &core.EmptyDirVolumeSource{},",
                "+ EmptyDir:             nil,",
                "- Ephemeral: nil,",
                "+ Ephemeral: &core.EphemeralVolumeSource{",
                '+ VolumeClaimTemplate: s"&ObjectMeta{Name:,GenerateName:,Namespace:,SelfLink:,'
                'UID:,ResourceVersion:,Generation:0,CreationTimestamp:0001-01-01 00:00:00 +0"...,',
                "+ },",
            ],
            id="embedded metadata",
        ),
    ],
)
def test_older_servers_report_changes(old: Json, new: Json, changes: list[str]) -> None:
    with answering_as("1.32"):
        lines = pod_spec_diff(old, new).splitlines()
    shown = [f"{line[0]} {line[1:].strip()}" for line in lines if line[0] in "+-"]
    assert shown == changes


def test_older_servers_report_volumes_and_conditions() -> None:
    old, new = {"hostPath": {"path": "/x"}}, {"nfs": {"path": "/y", "server": "s"}}
    condition = {"type": "Approved", "status": "True", "lastUpdateTime": "2026-01-02T03:04:05Z"}
    with answering_as("1.30"):
        assert volume_source_diff(old, old) == ""
        assert volume_source_diff(old, new).splitlines()[3:5] == [
            '- \tHostPath:             &core.HostPathVolumeSource{Path: "/x"},',
            "+ \tHostPath:             nil,",
        ]
        assert signing_conditions_diff([condition], [{**condition, "reason": "R"}]) == (
            "  []certificates.CertificateSigningRequestCondition{\n"
            "  \t{\n"
            '  \t\tType:               "Approved",\n'
            '  \t\tStatus:             "True",\n'
            '- \t\tReason:             "",\n'
            '+ \t\tReason:             "R",\n'
            '  \t\tMessage:            "",\n'
            '  \t\tLastUpdateTime:     {Time: s"2026-01-02 03:04:05 +0000 UTC"},\n'
            "  \t\tLastTransitionTime: {},\n"
            "  \t},\n"
            "  }\n"
        )


def test_what_takes_long_is_not_reported() -> None:
    """The lines of both are compared instead, as since 1.34."""
    names = [f"{at}" for at in range(3000)]
    with answering_as("1.32"):
        found = pod_spec_diff(container(args=names), container(args=[f"{one}x" for one in names]))
    assert found.startswith("@@")
