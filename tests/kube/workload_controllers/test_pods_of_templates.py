"""What controllers add to the template of a pod."""

from __future__ import annotations

from typing import Any

from celadon.kube.workload_controllers import created_objects

Json = dict[str, Any]
CONTAINER: Json = {"name": "c", "image": "i"}


def pod(
    api_version: str, kind: str, name: str = "web", spec: Json | None = None, **told: Any
) -> Json:
    template = {
        "metadata": {"labels": {"app": "web"}, "finalizers": ["example.com/f"]},
        "spec": {"containers": [CONTAINER], **(spec or {})},
    }
    own = {"name": name, "namespace": "shop", "uid": "u"}
    own |= told.pop("own", {})
    value = {"apiVersion": api_version, "kind": kind, "metadata": own}
    *_, found = created_objects({**value, "spec": {"template": template, **told}})
    return found.value


def test_replica_sets_add_a_name() -> None:
    made = pod("apps/v1", "ReplicaSet")
    assert made["metadata"]["generateName"] == "web-"
    assert made["metadata"]["labels"] == {"app": "web"}
    assert made["metadata"]["finalizers"] == ["example.com/f"]
    assert made["spec"] == {"containers": [CONTAINER]}
    assert pod("apps/v1", "ReplicaSet", "a" * 253)["metadata"]["generateName"] == "a" * 253


def test_daemon_sets_add_tolerations_and_a_node() -> None:
    tolerations = [
        {"key": "mine", "operator": "Exists"},
        {
            "key": "node.kubernetes.io/not-ready",
            "operator": "Exists",
            "effect": "NoExecute",
            "tolerationSeconds": 300,
        },
    ]
    preferred: Json = {"preferredDuringSchedulingIgnoredDuringExecution": []}
    spec = {"tolerations": tolerations, "affinity": {"nodeAffinity": preferred}}
    note = {"deprecated.daemonset.template.generation": "1"}
    made = pod("apps/v1", "DaemonSet", spec=spec, own={"annotations": note})
    assert [(one["key"], one.get("effect")) for one in made["spec"]["tolerations"]] == [
        ("mine", None),
        ("node.kubernetes.io/not-ready", "NoExecute"),
        ("node.kubernetes.io/unreachable", "NoExecute"),
        ("node.kubernetes.io/disk-pressure", "NoSchedule"),
        ("node.kubernetes.io/memory-pressure", "NoSchedule"),
        ("node.kubernetes.io/pid-pressure", "NoSchedule"),
        ("node.kubernetes.io/unschedulable", "NoSchedule"),
    ]
    assert "tolerationSeconds" not in made["spec"]["tolerations"][1]
    field = {"key": "metadata.name", "operator": "In", "values": ["node"]}
    assert made["spec"]["affinity"]["nodeAffinity"] == {
        **preferred,
        "requiredDuringSchedulingIgnoredDuringExecution": {
            "nodeSelectorTerms": [{"matchFields": [field]}]
        },
    }
    assert made["metadata"]["labels"]["pod-template-generation"] == "1"
    assert made["metadata"]["labels"]["controller-revision-hash"]
    host = pod("apps/v1", "DaemonSet", spec={"hostNetwork": True})["spec"]["tolerations"]
    assert host[-1]["key"] == "node.kubernetes.io/network-unavailable"


def test_stateful_sets_add_an_identity_and_claims() -> None:
    volumes = [{"name": "data", "emptyDir": {}}, {"name": "other", "emptyDir": {}}]
    made = pod(
        "apps/v1",
        "StatefulSet",
        spec={"volumes": volumes},
        serviceName="peers",
        ordinals={"start": 2},
        volumeClaimTemplates=[{"metadata": {"name": "data"}}],
    )
    labels = made["metadata"]["labels"]
    assert made["metadata"]["name"] == "web-2"
    assert labels["statefulset.kubernetes.io/pod-name"] == "web-2"
    assert labels["apps.kubernetes.io/pod-index"] == "2"
    assert labels["controller-revision-hash"].startswith("web-")
    assert (made["spec"]["hostname"], made["spec"]["subdomain"]) == ("web-2", "peers")
    assert made["spec"]["volumes"] == [
        {"name": "data", "persistentVolumeClaim": {"claimName": "data-web-2"}},
        {"name": "other", "emptyDir": {}},
    ]


def test_jobs_count_their_pods() -> None:
    made = pod("batch/v1", "Job")
    assert made["metadata"]["finalizers"] == ["example.com/f", "batch.kubernetes.io/job-tracking"]
    assert made["metadata"]["generateName"] == "web-"


def test_indexed_jobs_tell_pods_their_index() -> None:
    made = pod("batch/v1", "Job", completionMode="Indexed", backoffLimitPerIndex=1)
    assert made["metadata"]["generateName"] == "web-0-"
    assert made["metadata"]["annotations"] == {
        "batch.kubernetes.io/job-completion-index": "0",
        "batch.kubernetes.io/job-index-failure-count": "0",
    }
    assert made["metadata"]["labels"]["batch.kubernetes.io/job-completion-index"] == "0"
    assert made["spec"]["hostname"] == "web-0"
    (variable,) = made["spec"]["containers"][0]["env"]
    assert variable["name"] == "JOB_COMPLETION_INDEX"
    assert "env" not in CONTAINER, "the template stays what it is"
