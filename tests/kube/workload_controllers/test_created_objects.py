"""Which controller creates what, as whom, and how many."""

from __future__ import annotations

from typing import Any

import pytest

from celadon.kube import GroupKind
from celadon.kube.workload_controllers import CreatedObject, created_kinds, created_objects

Json = dict[str, Any]


def created_object(value: Json) -> CreatedObject | None:
    """The last of what is created: that which all workloads have."""
    return next(reversed(created_objects(value)), None)


TEMPLATE: Json = {
    "metadata": {"labels": {"app": "web"}, "annotations": {"a": "b"}},
    "spec": {"containers": [{"name": "c", "image": "i"}]},
}


def workload(api_version: str, kind: str, **spec: Any) -> Json:
    own = {"name": "web", "namespace": "shop", "uid": "u"}
    full = {"template": TEMPLATE, **spec}
    return {"apiVersion": api_version, "kind": kind, "metadata": own, "spec": full}


@pytest.mark.parametrize(
    ("value", "account", "kind", "count"),
    [
        (workload("apps/v1", "Deployment", replicas=3), "deployment-controller", "ReplicaSet", 1),
        (workload("apps/v1", "ReplicaSet", replicas=3), "replicaset-controller", "Pod", 3),
        (workload("v1", "ReplicationController"), "replication-controller", "Pod", 1),
        (workload("apps/v1", "DaemonSet"), "daemon-set-controller", "Pod", 1),
        (workload("apps/v1", "StatefulSet", replicas=2), "statefulset-controller", "Pod", 2),
        (workload("batch/v1", "Job", parallelism=5, completions=2), "job-controller", "Pod", 2),
        (workload("batch/v1", "Job", suspend=True), "job-controller", "Pod", 0),
        (
            workload("batch/v1", "CronJob", jobTemplate={"spec": {"template": TEMPLATE}}),
            "cronjob-controller",
            "Job",
            1,
        ),
    ],
)
def test_who_creates_what(value: Json, account: str, kind: str, count: int) -> None:
    found = created_object(value)
    assert found is not None
    assert (found.value["kind"], found.count) == (kind, count)
    assert found.value["metadata"]["namespace"] == "shop"
    assert found.user.name == f"system:serviceaccount:kube-system:{account}"
    assert found.user.groups == (
        "system:serviceaccounts",
        "system:serviceaccounts:kube-system",
        "system:authenticated",
    )
    assert found.value["metadata"]["ownerReferences"] == [
        {
            "apiVersion": value["apiVersion"],
            "kind": value["kind"],
            "name": "web",
            "uid": "u",
            "controller": True,
            "blockOwnerDeletion": True,
        }
    ]


@pytest.mark.parametrize(
    "value",
    [
        {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"}},
        {"apiVersion": "example.com/v1", "kind": "Deployment", "metadata": {"name": "p"}},
        workload("batch/v1", "Job", managedBy="example.com/other"),
    ],
)
def test_what_nothing_is_created_of(value: Json) -> None:
    assert created_object(value) is None


def test_replica_sets() -> None:
    strategy = {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": "25%"}}
    deployment = workload(
        "apps/v1",
        "Deployment",
        replicas=5,
        strategy=strategy,
        selector={"matchLabels": {"app": "web"}},
    )
    deployment["metadata"]["annotations"] = {
        "kubectl.kubernetes.io/last-applied-configuration": "{}",
        "deployment.kubernetes.io/revision": "7",
        "team": "a",
    }
    found = created_object(deployment)
    assert found is not None
    made = found.value
    name = made["metadata"]["name"].removeprefix("web-")
    assert made["metadata"]["annotations"] == {
        "deployment.kubernetes.io/desired-replicas": "5",
        "deployment.kubernetes.io/max-replicas": "7",
        "deployment.kubernetes.io/revision": "1",
        "team": "a",
    }
    labels = {"app": "web", "pod-template-hash": name}
    assert made["metadata"]["labels"] == labels
    assert made["spec"]["selector"] == {"matchLabels": labels}
    assert made["spec"]["template"]["metadata"]["labels"] == labels
    assert made["spec"]["replicas"] == 5
    assert TEMPLATE["metadata"]["labels"] == {"app": "web"}, "the template stays what it is"
    other = created_object(workload("apps/v1", "Deployment", template={**TEMPLATE, "spec": {}}))
    assert other is not None
    assert other.value["metadata"]["name"] != made["metadata"]["name"]


def test_long_names_are_cut() -> None:
    deployment = workload("apps/v1", "Deployment")
    deployment["metadata"]["name"] = "a" * 253
    found = created_object(deployment)
    assert found is not None
    assert len(found.value["metadata"]["name"]) == 253


def test_jobs_of_cron_jobs() -> None:
    template = {"metadata": {"labels": {"x": "y"}}, "spec": {"template": TEMPLATE}}
    found = created_object(workload("batch/v1", "CronJob", jobTemplate=template))
    assert found is not None
    assert found.value["metadata"]["name"] == "web-29453760"
    assert found.value["metadata"]["labels"] == {"x": "y"}
    assert found.value["metadata"]["annotations"] == {
        "batch.kubernetes.io/cronjob-scheduled-timestamp": "2026-01-01T00:00:00Z"
    }
    assert found.value["spec"] == {"template": TEMPLATE}
    assert found.template == ("spec", "jobTemplate")


@pytest.mark.parametrize(
    ("group", "kind", "created"),
    [
        ("apps", "Deployment", ("ReplicaSet", "Pod")),
        ("batch", "CronJob", ("Job", "Pod")),
        ("apps", "StatefulSet", ("PersistentVolumeClaim", "Pod")),
        ("", "ConfigMap", ()),
    ],
)
def test_chains(group: str, kind: str, created: tuple[str, ...]) -> None:
    assert created_kinds(GroupKind(group, kind)) == created


def claim_template(name: str, **own: Any) -> Json:
    return {"metadata": {"name": name, **own}, "spec": {"accessModes": ["ReadWriteOnce"]}}


def test_claims_of_a_stateful_set() -> None:
    value = workload(
        "apps/v1",
        "StatefulSet",
        replicas=3,
        ordinals={"start": 2},
        selector={"matchLabels": {"app": "web"}},
        persistentVolumeClaimRetentionPolicy={"whenDeleted": "Delete", "whenScaled": "Delete"},
        volumeClaimTemplates=[
            claim_template("data"),
            claim_template("logs", labels={"app": "x", "b": "c"}, annotations={"d": "e"}),
        ],
    )
    data, logs, pod = created_objects(value)
    assert data.value == {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "metadata": {"name": "data-web-2", "namespace": "shop", "labels": {"app": "web"}},
        "spec": {"accessModes": ["ReadWriteOnce"]},
    }, "the owner is written into it later"
    assert logs.value["metadata"] == {
        "name": "logs-web-2",
        "namespace": "shop",
        "labels": {"app": "web", "b": "c"},
        "annotations": {"d": "e"},
    }
    assert (data.template, logs.template) == (
        ("spec", "volumeClaimTemplates", 0),
        ("spec", "volumeClaimTemplates", 1),
    )
    assert {(one.user.name, one.count) for one in (data, logs, pod)} == {
        ("system:serviceaccount:kube-system:statefulset-controller", 3)
    }
    names = [one["persistentVolumeClaim"]["claimName"] for one in pod.value["spec"]["volumes"]]
    assert names == ["data-web-2", "logs-web-2"]
    assert "labels" not in value["spec"]["volumeClaimTemplates"][0]["metadata"]


def test_claims_without_labels_have_none() -> None:
    value = workload("apps/v1", "StatefulSet", volumeClaimTemplates=[claim_template("data")])
    assert "labels" not in created_objects(value)[0].value["metadata"]
