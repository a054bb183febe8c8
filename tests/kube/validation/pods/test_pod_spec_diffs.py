"""Differences of pod specs as text."""

from __future__ import annotations

from celadon.kube.releases import answering_as
from celadon.kube.validation.pods.pod_specs import pod_spec_diff, volume_source_diff

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
