"""Rules and texts that came, changed or went with a release.

Each case is an object, the release that judges it differently from the one before, and the texts
that only one of both has.
"""

from __future__ import annotations

import copy
from typing import Any

import pytest

from celadon.kube import metadata
from celadon.kube.fieldpath import FieldPath
from celadon.kube.releases import answering_as, previous_minor
from celadon.kube.validation.built_in_validations import validate_update
from celadon.kube.validation.jobs import job_changes
from celadon.kube.validation.pods.containers import mounts_and_devices
from celadon.kube.validation.pods.pod_placement import affinity
from tests.kube.validation.objects import (
    Json,
    admitted,
    complaints,
    container,
    job,
    obj,
    pod,
    pod_spec,
    update_complaints,
    workload,
)

LONG = "x" * 64
NODES = {
    "nodeSelectorTerms": [{"matchExpressions": [{"key": "k", "operator": "In", "values": [LONG]}]}]
}
REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
LABEL_OF_63 = f'Invalid value: "{LONG}": must be no more than 63 characters'
ON_NODES = "spec.affinity.nodeAffinity." + REQUIRED
VALUE = "nodeSelectorTerms[0].matchExpressions[0].values[0]"
ENV_NAME = (
    "a valid environment variable name must consist of alphabetic characters, digits, '_', '-', or "
    "'.', and must not start with a digit (e.g. 'my.env-name',  or 'MY_ENV.NAME',  or "
    "'MyEnvName1', regex used for validation is '[-._a-zA-Z][-._a-zA-Z0-9]*')"
)
DNS_NAME = (
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or "
    "'.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used "
    "for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')"
)
DNS_LABEL = (
    "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and "
    "must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used "
    "for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')"
)
C = "spec.containers[0]"
INIT = "spec.initContainers[0]"
SPREAD = {
    "maxSkew": 1,
    "topologyKey": "k",
    "whenUnsatisfiable": "DoNotSchedule",
    "matchLabelKeys": ["a"],
}
AGAIN = "exists in both matchLabelKeys and labelSelector"
SOURCES = "must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef`"
RULE = {"action": "Restart", "exitCodes": {"operator": "In", "values": [1]}}
TO_KUBELET = "may not expose port 10250 externally since it is used by kubelet"


def tolerating(**toleration: Any) -> Json:
    return pod(tolerations=[toleration])


def sleeping(seconds: int) -> Json:
    return pod(container(lifecycle={"preStop": {"sleep": {"seconds": seconds}}}))


def spreading(**constraint: Any) -> Json:
    return workload("Deployment", template={
        "metadata": {"labels": {"a": "b"}},
        "spec": pod_spec(topologySpreadConstraints=[{**SPREAD, **constraint}]),
    })  # fmt: skip


def quota(**spec: Any) -> Json:
    return obj("v1", "ResourceQuota", spec=spec)


def service(**spec: Any) -> Json:
    return obj("v1", "Service", spec={"ports": [{"port": 80}], **spec})


def volume(**spec: Any) -> Json:
    given = {"accessModes": ["ReadWriteOnce"], "capacity": {"storage": "1"}, **spec}
    return obj("v1", "PersistentVolume", spec=given)


def driven(driver: str) -> Json:
    return volume(csi={"driver": driver, "volumeHandle": "h"})


Case = tuple[Json, str, list[str], list[str]]
"""An object, a release, what is said before it, and what since."""

SCHEDULING: list[Case] = [
    (
        tolerating(key="k", operator="Lt", value="1"),
        "1.35",
        [
            'spec.tolerations[0].operator: Unsupported value: "Lt": supported values: "Equal", '
            '"Exists"'
        ],
        [
            'spec.tolerations[0].operator: Unsupported value: "Lt": supported values: "Equal", '
            '"Exists", "Lt", "Gt"'
        ],
    ),
    (
        tolerating(key="k", operator="Exists", value="v"),
        "1.32",
        [
            'spec.tolerations[0].operator: Invalid value: core.Toleration{Key:"k", '
            'Operator:"Exists", Value:"v", Effect:"", TolerationSeconds:(*int64)(nil)}: value must '
            "be empty when `operator` is 'Exists'"
        ],
        [
            'spec.tolerations[0].operator: Invalid value: "v": value must be empty when `operator` '
            "is 'Exists'"
        ],
    ),
    (
        pod(affinity={"nodeAffinity": {REQUIRED: NODES}}),
        "1.33",
        [],
        [f"{ON_NODES}.{VALUE}: {LABEL_OF_63}"],
    ),
    (
        volume(nodeAffinity={"required": NODES}, csi={"driver": "a", "volumeHandle": "h"}),
        "1.33",
        [],
        [f"spec.nodeAffinity.required.{VALUE}: {LABEL_OF_63}"],
    ),
    (
        spreading(matchLabelKeys=["*"]),
        "1.34",
        [
            "spec.template.spec.topologySpreadConstraints[0].matchLabelKeys[0]: Invalid value: "
            "\"*\": name part must consist of alphanumeric characters, '-', '_' or '.', and must "
            "start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or "
            "'123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')"
        ],
        [],
    ),
    (
        spreading(labelSelector={"matchLabels": {"a": "b"}}),
        "1.34",
        [
            "spec.template.spec.topologySpreadConstraints[0].matchLabelKeys[0]: Invalid value: "
            f'"a": {AGAIN}'
        ],
        [],
    ),
    (
        spreading(labelSelector={"matchExpressions": [{"key": "a", "operator": "Exists"}]}),
        "1.34",
        [
            "spec.template.spec.topologySpreadConstraints[0].matchLabelKeys[0]: Invalid value: "
            f'"a": {AGAIN}'
        ],
        [],
    ),
]  # fmt: skip
CONTAINERS: list[Case] = [
    (
        pod(container(env=[{"name": "é"}, {"name": "..a"}, {"name": "1"}])),
        "1.32",
        [
            f'{C}.env[0].name: Invalid value: "é": {ENV_NAME}',
            f"{C}.env[1].name: Invalid value: \"..a\": must not start with '..'",
            f'{C}.env[2].name: Invalid value: "1": {ENV_NAME}',
        ],
        [
            f'{C}.env[0].name: Invalid value: "é": a valid environment variable name must consist '
            "only of printable ASCII characters other than '='"
        ],
    ),
    (
        pod(container(env=[{"name": "A", "valueFrom": {}}])),
        "1.35",
        [f'{C}.env[0].valueFrom: Invalid value: "": {SOURCES} or `secretKeyRef`'],
        [f'{C}.env[0].valueFrom: Invalid value: "": {SOURCES}, `secretKeyRef` or `fileKeyRef`'],
    ),
    (
        pod(container(restartPolicy="Always")),
        "1.34",
        [f"{C}.restartPolicy: Forbidden: may not be set for non-init containers"],
        [],
    ),
    (
        pod(initContainers=[container(name="i", restartPolicy="Never")]),
        "1.34",
        [f'{INIT}.restartPolicy: Unsupported value: "Never": supported values: "Always"'],
        [],
    ),
    (
        pod(initContainers=[
            container(name="i", restartPolicy="Always", restartPolicyRules=[RULE])]),
        "1.36",
        [
            f"{INIT}.restartPolicyRules: Forbidden: restartPolicyRules are not allowed for init "
            "containers with restart policy Always"
        ],
        [],
    ),
    (
        pod(container(restartPolicy="Always", restartPolicyRules=[
            {**RULE, "action": "RestartAllContainers"}])),
        "1.36",
        [
            f'{C}.restartPolicyRules[0].action: Unsupported value: "RestartAllContainers": '
            'supported values: "Restart"'
        ],
        [],
    ),
    (
        pod(container(restartPolicy="Always", restartPolicyRules=[RULE] * 21)),
        "1.36",
        [f"{C}.restartPolicyRules: Too long: may not be more than 20 bytes"],
        [f"{C}.restartPolicyRules: Too many: 21: must have at most 20 items"],
    ),
    (
        pod(initContainers=[container(name="i", resizePolicy=[
            {"resourceName": "cpu", "restartPolicy": "RestartContainer"}])]),
        "1.36",
        [],
        [
            f'{INIT}.resizePolicy[0].restartPolicy: Invalid value: "RestartContainer": must not be '
            "set to 'RestartContainer' for non-sidecar initContainers"
        ],
    ),
    (
        sleeping(0),
        "1.33",
        [
            f"{C}.lifecycle.preStop.sleep: Invalid value: 0: must be greater than 0 and less than "
            "terminationGracePeriodSeconds (30). Enable AllowPodLifecycleSleepActionZeroValue "
            "feature gate for zero sleep."
        ],
        [],
    ),
    (
        sleeping(31),
        "1.32",
        [
            f"{C}.lifecycle.preStop.sleep: Invalid value: 31: must be greater than 0 and less than "
            "terminationGracePeriodSeconds (30)"
        ],
        [
            f"{C}.lifecycle.preStop.sleep: Invalid value: 31: must be greater than 0 and less than "
            "terminationGracePeriodSeconds (30). Enable AllowPodLifecycleSleepActionZeroValue "
            "feature gate for zero sleep."
        ],
    ),
    (
        pod(dnsConfig={"searches": [".", "a_b.", "c"]}),
        "1.33",
        [
            f'spec.dnsConfig.searches[0]: Invalid value: "": {DNS_NAME}',
            f'spec.dnsConfig.searches[1]: Invalid value: "a_b": {DNS_NAME}',
        ],
        [],
    ),
]  # fmt: skip
TWO_SOURCES = {"secret": {"name": "s"}, "configMap": {"name": "c"}}
AT_SOURCE = "spec.volumes[0].projected.sources[0]"
OTHERS: list[Case] = [
    (
        pod(volumes=[{"name": "v", "projected": {"sources": [TWO_SOURCES]}}]),
        "1.31",
        [f"{AT_SOURCE}: Forbidden: may not specify more than 1 volume type"],
        [f"{AT_SOURCE}: Forbidden: may not specify more than 1 volume type per source"],
    ),
    (
        pod(volumes=[{"name": "v", "ephemeral": {"volumeClaimTemplate": {"spec": {
            "accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1"}}}}}}]),
        "1.34",
        [],
        [],
    ),
    (
        service(type="LoadBalancer", ports=[{"port": 10250}]),
        "1.33",
        [f"spec.ports[0]: Invalid value: 10250: {TO_KUBELET}"],
        [],
    ),
    (
        service(trafficDistribution="PreferSameZone"),
        "1.34",
        [
            'spec.trafficDistribution: Unsupported value: "PreferSameZone": supported values: '
            '"PreferClose"'
        ],
        [],
    ),
    (
        service(trafficDistribution="x"),
        "1.34",
        ['spec.trafficDistribution: Unsupported value: "x": supported values: "PreferClose"'],
        [
            'spec.trafficDistribution: Unsupported value: "x": supported values: "PreferClose", '
            '"PreferSameZone", "PreferSameNode"'
        ],
    ),
    (
        quota(scopes=["VolumeAttributesClass"], hard={"pods": "1"}),
        "1.33",
        [
            'spec.scopes: Invalid value: []core.ResourceQuotaScope{"VolumeAttributesClass"}: '
            "unsupported scope"
        ],
        [
            'spec.scopes: Invalid value: []core.ResourceQuotaScope{"VolumeAttributesClass"}: '
            "unsupported scope applied to resource"
        ],
    ),
    (
        obj("node.k8s.io/v1", "RuntimeClass"),
        "1.36",
        [f'handler: Invalid value: "": {DNS_LABEL}'],
        ["handler: Required value"],
    ),
    (
        obj("node.k8s.io/v1", "RuntimeClass", handler="h", scheduling={
            "tolerations": [{"operator": "Exists", "value": "v"}]}),
        "1.35",
        [
            "scheduling.tolerations.tolerations[0].operator: Invalid value: "
            "\"v\": value must be empty when `operator` is 'Exists'"
        ],
        [
            "scheduling.tolerations[0].operator: Invalid value: \"v\": value must be empty when "
            "`operator` is 'Exists'"
        ],
    ),
    (
        obj("apps/v1", "ControllerRevision", revision=1, data="text"),
        "1.31",
        [],
        ["data: Required value: data must be a valid JSON object"],
    ),
    *(
        (
            {**value, "metadata": {"name": "a", "generateName": "X"}},
            "1.35",
            [f'metadata.generateName: Invalid value: "X": {DNS_NAME}'],
            [],
        )
        for value in (
            {**workload("ReplicationController", selector={"a": "b"}), "apiVersion": "v1"},
            obj("resource.k8s.io/v1beta1", "DeviceClass", spec={}),
        )
    ),
    (
        driven(""),
        "1.35",
        [f'spec.csi.driver: Invalid value: "": {DNS_NAME}'],
        [],
    ),
]  # fmt: skip


@pytest.mark.parametrize(("value", "since", "before", "after"), [*SCHEDULING, *CONTAINERS, *OTHERS])
def test_the_release_decides(value: Json, since: str, before: list[str], after: list[str]) -> None:
    with answering_as(previous_minor(since)):
        old = complaints(value)
    with answering_as(since):
        new = complaints(value)
    assert [text for text in old if text not in new] == before
    assert [text for text in new if text not in old] == after


def test_errors_of_revisions_change_places() -> None:
    revision = obj("apps/v1", "ControllerRevision", revision=-1)
    texts = ["data: Required value: data is mandatory", "revision: Invalid value: -1: must be"]
    for release, order in (("1.30", texts), ("1.31", texts[::-1])):
        with answering_as(release):
            found = complaints(revision)
        assert [any(text.startswith(one) for one in order) for text in found] == [True, True]
        assert found[0].startswith(order[0])


def test_values_of_nodes_may_stay_as_they_were() -> None:
    given = {"nodeAffinity": {REQUIRED: NODES}}
    assert list(affinity(FieldPath("affinity"), given, given)) == []
    old = volume(nodeAffinity={"required": NODES}, csi={"driver": "a", "volumeHandle": "h"})
    new = {**old, "metadata": {**old["metadata"], "labels": {"a": "b"}}}
    assert update_complaints(new, old) == []


def test_exit_codes_are_integers_of_go() -> None:
    rule = {"action": "FailJob", "onExitCodes": {"operator": "In", "values": [2, 1]}}
    with answering_as("1.33"):
        found = complaints(job(podFailurePolicy={"rules": [rule]}))
    assert found == [
        "spec.podFailurePolicy.rules[0].onExitCodes.values: Invalid value: []int32{2, 1}: must be "
        "ordered"
    ]


CHANGES: list[tuple[Json, Json, str, list[str], list[str]]] = [
    (
        workload("StatefulSet", serviceName="a", revisionHistoryLimit=1),
        workload("StatefulSet", serviceName="a", revisionHistoryLimit=2),
        "1.33",
        [
            "spec: Forbidden: updates to statefulset spec for fields other than 'replicas', "
            "'ordinals', 'template', 'updateStrategy', 'persistentVolumeClaimRetentionPolicy' and "
            "'minReadySeconds' are forbidden"
        ],
        [],
    ),
]


@pytest.mark.parametrize(("value", "old", "since", "before", "after"), CHANGES)
def test_the_release_decides_about_changes(
    value: Json, old: Json, since: str, before: list[str], after: list[str]
) -> None:
    with answering_as(previous_minor(since)):
        first = update_complaints(value, old)
    with answering_as(since):
        then = update_complaints(value, old)
    assert [text for text in first if text not in then] == before
    assert [text for text in then if text not in first] == after


@pytest.mark.parametrize(
    ("kind", "times"),
    [
        ("DaemonSet", {"1.33": 2, "1.34": 1}),
        ("Deployment", {"1.33": 1, "1.34": 1}),
        ("ReplicaSet", {"1.33": 2, "1.34": 1}),
        ("ReplicationController", {"1.34": 2, "1.35": 1}),
    ],
)
def test_changed_controllers_were_looked_at_twice(kind: str, times: dict[str, int]) -> None:
    old = workload(kind, minReadySeconds=1)
    if kind == "ReplicationController":
        old = {**old, "apiVersion": "v1", "spec": {**old["spec"], "selector": {"a": "b"}}}
    new = {**old, "spec": {**old["spec"], "minReadySeconds": -1}}
    gvk = metadata.gvk(old)
    for release, expected in times.items():
        with answering_as(release):
            found = validate_update(admitted(new), admitted(old), gvk)
        fields = [one.field for one in found if one.field == "spec.minReadySeconds"]
        assert len(fields) == expected


def test_endpoints_that_stay_were_looked_at_again() -> None:
    value = obj("v1", "Endpoints", subsets=[{"addresses": [{"ip": "127.0.0.1"}]}])
    old = admitted(value)
    for release, refused in (("1.32", True), ("1.33", False)):
        with answering_as(release):
            found = validate_update(old, old, metadata.gvk(old))
        assert bool(found) is refused


def test_images_were_mounted_whole() -> None:
    mount = {"name": "v", "mountPath": "/a", "subPath": "b"}
    given = pod_spec(container(volumeMounts=[mount]))
    why = f'{C}.volumeMounts[0].subPath: Invalid value: "b": not allowed in image volume sources'
    volumes = {"v": {"name": "v", "image": {"reference": "example.com/i:1"}}}
    for release, expected in (("1.32", [why]), ("1.33", [])):
        with answering_as(release):
            path = FieldPath("spec").child("containers").index(0)
            found = mounts_and_devices(path, given["containers"][0], volumes)
            assert list(map(str, found)) == expected


def test_the_metadata_of_changed_attachments_were_looked_at_twice() -> None:
    spec = {"attacher": "a", "nodeName": "n", "source": {"persistentVolumeName": "v"}}
    old = admitted(obj("storage.k8s.io/v1", "VolumeAttachment", spec=spec))
    given = {"labels": {"a b": ""}, "finalizers": ["a.b"]}
    new = {**old, "metadata": {**old["metadata"], **given}}
    for field in ("metadata.labels", "metadata.finalizers[0]"):
        times = {}
        for release in ("1.34", "1.35"):
            with answering_as(release):
                found = validate_update(new, old, metadata.gvk(old))
            times[release] = sum(one.field == field for one in found)
        assert times["1.34"] - times["1.35"] == 1


def test_changed_claims_were_looked_at_twice() -> None:
    spec = {"accessModes": ["x"], "resources": {"requests": {"storage": "1Gi"}}}
    claim = admitted(obj("v1", "PersistentVolumeClaim", spec=spec))
    times = {}
    for release in ("1.34", "1.35"):
        with answering_as(release):
            found = validate_update(claim, claim, metadata.gvk(claim))
        times[release] = sum(one.field == "spec.accessModes" for one in found)
    assert times == {"1.34": 2, "1.35": 1}


def test_the_metadata_of_changed_services_were_looked_at_as_new_ones() -> None:
    old = admitted(service())
    new = {**old, "metadata": {**old["metadata"], "labels": {"a b": ""}}}
    times = {}
    for release in ("1.33", "1.34"):
        with answering_as(release):
            found = validate_update(new, old, metadata.gvk(old))
        times[release] = sum(one.field == "metadata.labels" for one in found)
    assert times["1.33"] - times["1.34"] == 1


def test_selectors_of_daemon_sets_were_compared_last() -> None:
    old = workload("DaemonSet")
    new = workload("DaemonSet", selector={"matchLabels": {"a": "c"}})
    with answering_as("1.33"):
        assert update_complaints(new, old)[-1].endswith("field is immutable")
    with answering_as("1.34"):
        assert update_complaints(new, old)[0].endswith("field is immutable")


def test_what_of_suspended_jobs_may_change() -> None:
    old = admitted(job(suspend=True, completions=1))
    labelled, larger = copy.deepcopy(old), copy.deepcopy(old)
    labelled["spec"]["template"]["metadata"]["labels"]["c"] = "d"
    first = larger["spec"]["template"]["spec"]["containers"][0]
    first["resources"] = {"requests": {"cpu": "1"}}
    for release, new, refused in (
        ("1.35", labelled, False),
        ("1.35", larger, True),
        ("1.36", larger, False),
    ):
        with answering_as(release):
            fields = [one.field for one in job_changes(new, old)]
        assert ("spec.template" in fields) is refused


def test_devices_without_the_users_of_the_host() -> None:
    given = pod(container(volumeDevices=[{"name": "v", "devicePath": "/d"}]), hostUsers=False)
    why = f"{C}.volumeDevices: Forbidden: when `hostUsers` is false"
    for release, refused in (("1.33", False), ("1.34", True)):
        with answering_as(release):
            assert (why in complaints(given)) is refused
