"""Nodes that say that they are there, and pods that must leave them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from celadon.apiserver.simulation.nodes import (
    fake_node,
    lifecycle_taints,
    node_status,
    seconds_to_eviction,
)
from celadon.apiserver.simulation.planning.pod_predicates import time_text
from tests.apiserver.simulation.living import (
    DEPLOYMENTS,
    EVENTS,
    NODES,
    PODS,
    conditions,
    deployment,
    items,
    living,
    pod,
    told,
)

NOW = datetime(2026, 1, 1, tzinfo=UTC)
LEASE = "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases"


def test_nodes_of_the_start() -> None:
    with living(nodes=3) as api:
        nodes = items(api, NODES)
        assert [one["metadata"]["name"] for one in nodes] == ["node-1", "node-2", "node-3"]
        for one in nodes:
            assert conditions(one)["Ready"] == (
                "True",
                "KubeletReady",
                "kubelet is posting ready status",
            )
            assert "taints" not in one["spec"]
            assert one["status"]["allocatable"]["pods"] == "110"
        assert len({one["metadata"]["labels"]["topology.kubernetes.io/zone"] for one in nodes}) == 3
        assert len({one["status"]["addresses"][0]["address"] for one in nodes}) == 3
        assert len(items(api, LEASE)) == 3


READY = [
    ("MemoryPressure", "False", "KubeletHasSufficientMemory",
     "kubelet has sufficient memory available"),
    ("DiskPressure", "False", "KubeletHasNoDiskPressure", "kubelet has no disk pressure"),
    ("PIDPressure", "False", "KubeletHasSufficientPID", "kubelet has sufficient PID available"),
    ("Ready", "True", "KubeletReady", "kubelet is posting ready status"),
]  # fmt: skip
DEAD = ("Unknown", "NodeStatusUnknown", "Kubelet stopped posting node status.")


@pytest.mark.parametrize(
    ("annotations", "expected"),
    [
        ({}, READY),
        ({"simulation.celadon.dev/ready": "false"}, [(one[0], *DEAD) for one in READY]),
    ],
)
def test_all_that_a_kubelet_says(annotations: dict[str, str], expected: list[tuple[str]]) -> None:
    node = fake_node(2)
    node["metadata"]["annotations"] = annotations
    status = node_status(node, "1.35", "now")
    assert status.pop("capacity") == status.pop("allocatable")
    keys = ("type", "status", "reason", "message")
    assert [tuple(one[key] for key in keys) for one in status["conditions"]] == expected
    times = [one[key] for one in status.pop("conditions") for key in one if key.endswith("Time")]
    assert times == ["now"] * 8
    assert status == {
        "addresses": [
            {"type": "InternalIP", "address": "172.18.0.4"},
            {"type": "Hostname", "address": "node-2"},
        ],
        "daemonEndpoints": {"kubeletEndpoint": {"Port": 10250}},
        "nodeInfo": {
            "architecture": "amd64",
            "bootID": "",
            "containerRuntimeVersion": "containerd://2.1.0",
            "kernelVersion": "6.12.0",
            "kubeProxyVersion": "",
            "kubeletVersion": "v1.35.0",
            "machineID": "node-2",
            "operatingSystem": "linux",
            "osImage": "Celadon",
            "systemUUID": "node-2",
        },
    }


def test_a_node_of_a_user_is_looked_after() -> None:
    mine = {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": "mine"},
        "status": {"capacity": {"cpu": "1", "memory": "1Gi", "pods": "5"}},
    }
    with living(nodes=0) as api:
        api.create(mine)
        api.settle()
        found = api.request("GET", f"{NODES}/mine")
        assert conditions(found)["Ready"][0] == "True"
        assert found["status"]["allocatable"]["cpu"] == "1"
        assert "taints" not in found["spec"]


def test_a_pod_waits_for_an_address_until_another_has_ended() -> None:
    node = {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": "mine"},
        "spec": {"podCIDR": "10.9.0.0/32", "podCIDRs": ["10.9.0.0/32"]},
    }
    with living(nodes=0) as api:
        api.create(node)
        api.create(pod("first", restartPolicy="Never", container={"command": ["sleep", "3600"]}))
        api.settle()
        api.create(pod("second"))
        api.advance(seconds=60)
        assert "podIP" not in api.request("GET", f"{PODS}/second")["status"]
        text = "Failed to create pod sandbox: no IP addresses available in 10.9.0.0/32"
        assert text in [event["message"] for event in items(api, EVENTS)]
        api.advance(hours=2)
        assert api.request("GET", f"{PODS}/second")["status"]["podIP"] == "10.9.0.0"


def test_leases_are_renewed() -> None:
    with living(nodes=1) as api:
        (before,) = items(api, LEASE)
        api.advance(hours=1)
        (after,) = items(api, LEASE)
        assert before["spec"]["renewTime"] < after["spec"]["renewTime"]
        versions = [int(one["metadata"]["resourceVersion"]) for one in (before, after)]
        assert versions[1] - versions[0] < 10, "an hour leaves the history alone"


def test_what_is_cordoned_says_so() -> None:
    with living(nodes=2) as api:
        path = f"{NODES}/node-1"
        api.request("PATCH", path, {"spec": {"unschedulable": True}})
        api.create(deployment(replicas=4))
        api.settle()
        (taint,) = api.request("GET", path)["spec"]["taints"]
        assert taint["key"] == "node.kubernetes.io/unschedulable"
        assert {one["spec"]["nodeName"] for one in items(api, PODS)} == {"node-2"}
        api.request("PATCH", path, {"spec": {"unschedulable": None}})
        api.settle()
        assert "taints" not in api.request("GET", path)["spec"]


def test_pods_leave_a_node_that_is_gone_for_long() -> None:
    with living(nodes=2) as api:
        api.create(deployment(replicas=4))
        api.settle()
        silent = {"metadata": {"annotations": {"simulation.celadon.dev/ready": "false"}}}
        api.request("PATCH", f"{NODES}/node-1", silent)
        api.advance(seconds=299)
        assert len(items(api, PODS)) == 4
        api.advance(seconds=2)
        pods = items(api, PODS)
        leaving = [one for one in pods if "deletionTimestamp" in one["metadata"]]
        assert {one["spec"]["nodeName"] for one in leaving} == {"node-1"}
        assert len(pods) - len(leaving) == 4
        assert conditions(leaving[0])["DisruptionTarget"] == (
            "True",
            "DeletionByTaintManager",
            "Taint manager: deleting due to NoExecute taint",
        )
        back = {"metadata": {"annotations": {"simulation.celadon.dev/ready": None}}}
        api.request("PATCH", f"{NODES}/node-1", back)
        api.settle()
        assert len(items(api, PODS)) == 4


def test_pods_of_a_node_that_is_deleted() -> None:
    with living(nodes=2) as api:
        api.create(deployment(replicas=4))
        api.settle()
        api.request("DELETE", f"{NODES}/node-1")
        api.advance(minutes=1)
        assert {one["spec"]["nodeName"] for one in items(api, PODS)} == {"node-2"}
        assert len(items(api, NODES)) == 1


def test_a_pod_that_finds_no_node_waits_for_one() -> None:
    with living(nodes=1) as api:
        wanted = {"resources": {"requests": {"cpu": "100"}}}
        api.create(pod("large", container=wanted))
        api.settle()
        found = api.request("GET", f"{PODS}/large")
        message = (
            "0/1 nodes are available: 1 Insufficient cpu. no new claims to deallocate, preemption: "
            "0/1 nodes are available: 1 Preemption is not helpful for scheduling."
        )
        assert conditions(found)["PodScheduled"] == ("False", "Unschedulable", message)
        assert told(api, "large") == [("FailedScheduling", message)]
        large = {"cpu": "200", "memory": "1Ti", "pods": "9"}
        node = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "large"}}
        api.create({**node, "status": {"capacity": large, "allocatable": large}})
        api.settle()
        found = api.request("GET", f"{PODS}/large")
        assert (found["spec"]["nodeName"], found["status"]["phase"]) == ("large", "Running")
        assert ("Scheduled", "Successfully assigned default/large to large") in told(api, "large")


def test_the_most_important_pods_come_first() -> None:
    with living(nodes=0) as api:
        api.create(pod("usual", container={"resources": {"requests": {"cpu": "20"}}}))
        urgent = "system-cluster-critical"
        large = {"resources": {"requests": {"cpu": "20"}}}
        api.create(pod("urgent", container=large, priorityClassName=urgent))
        api.settle()
        assert conditions(api.request("GET", f"{PODS}/usual"))["PodScheduled"][2] == (
            "no nodes available to schedule pods"
        )
        api.create({"apiVersion": "v1", "kind": "Node", "metadata": {"name": "only"}})
        api.settle()
        phases = {one["metadata"]["name"]: one["status"]["phase"] for one in items(api, PODS)}
        assert phases == {"usual": "Pending", "urgent": "Running"}


def test_a_pod_that_is_evicted() -> None:
    with living(nodes=1) as api:
        api.create(pod())
        api.settle()
        why = "The node was low on resource: memory."
        told_so = {"metadata": {"annotations": {"simulation.celadon.dev/evict": why}}}
        api.request("PATCH", f"{PODS}/one", told_so)
        api.settle()
        status = api.request("GET", f"{PODS}/one")["status"]
        assert (status["phase"], status["reason"], status["message"]) == ("Failed", "Evicted", why)


def taint(effect: str = "NoExecute", seconds: int = 0) -> dict[str, Any]:
    added = time_text(NOW - timedelta(seconds=seconds))
    return {"key": "bad", "effect": effect, "timeAdded": added}


@pytest.mark.parametrize(
    ("taints", "tolerations", "expected"),
    [
        ([], [], None),
        ([taint("NoSchedule")], [], None),
        ([taint()], [], 0.0),
        ([taint()], [{"operator": "Exists"}], None),
        ([taint()], [{"operator": "Exists", "tolerationSeconds": 300}], 300),
        ([taint(seconds=100)], [{"operator": "Exists", "tolerationSeconds": 300}], 200),
        ([taint(seconds=500)], [{"operator": "Exists", "tolerationSeconds": 300}], 0),
        (
            [taint(), {**taint(), "key": "worse"}],
            [{"key": "bad", "operator": "Exists"}],
            0.0,
        ),
    ],
)
def test_how_long_a_pod_may_stay(taints: Any, tolerations: Any, expected: float | None) -> None:
    assert seconds_to_eviction(taints, tolerations, NOW) == expected


def test_taints_of_others_stay() -> None:
    other = {"key": "gpu", "effect": "NoSchedule"}
    ready = {"conditions": [{"type": "Ready", "status": "True"}]}
    node = {"spec": {"taints": [other], "unschedulable": True}, "status": ready}
    made = lifecycle_taints(node, "now")
    cordoned = {
        "key": "node.kubernetes.io/unschedulable",
        "effect": "NoSchedule",
        "timeAdded": "now",
    }
    assert made == [other, cordoned]
    assert lifecycle_taints({"spec": {"taints": made}, "status": ready}, "now") == [other]


def test_an_important_pod_takes_the_place_of_another() -> None:
    def ranked(name: str, value: int) -> dict[str, Any]:
        kind = {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass"}
        return {**kind, "metadata": {"name": name}, "value": value}

    big: Any = {"container": {"resources": {"requests": {"cpu": "20"}}}}
    slow = {"simulation.celadon.dev/stop-after": "10s"}
    with living(nodes=1) as api:
        api.create(ranked("low", 1), ranked("high", 1000))
        api.create(pod("small", slow, priorityClassName="low", **big))
        api.settle()
        api.create(pod("large", priorityClassName="high", **big))
        api.settle()
        waiting = api.request("GET", f"{PODS}/large")
        assert waiting["status"]["nominatedNodeName"] == "node-1"
        victim = api.request("GET", f"{PODS}/small")
        assert conditions(victim)["DisruptionTarget"] == (
            "True",
            "PreemptionByScheduler",
            "default-scheduler: preempting to accommodate a higher priority pod",
        )
        uid = waiting["metadata"]["uid"]
        assert ("Preempted", f"Preempted by pod {uid} on node node-1") in told(api, "small")
        api.advance(seconds=11)
        placed = api.request("GET", f"{PODS}/large")
        assert placed["spec"]["nodeName"] == "node-1"
        assert "nominatedNodeName" not in placed["status"]
        assert told(api, "large")[0] == (
            "FailedScheduling",
            "0/1 nodes are available: 1 Insufficient cpu.",
        )


def test_pods_wait_for_what_configures_them() -> None:
    needs = {"envFrom": [{"configMapRef": {"name": "settings"}}]}
    mounts = [{"name": "v", "secret": {"secretName": "keys"}}]
    with living() as api:
        api.create(deployment("web", replicas=2, pod={"container": needs, "volumes": mounts}))
        api.settle()
        phases = {one["status"]["phase"] for one in items(api, PODS)}
        assert phases == {"Pending"}
        api.create(configuration("Secret", "keys"))
        api.settle()
        (state,) = {
            one["status"]["containerStatuses"][0]["state"]["waiting"]["reason"]
            for one in items(api, PODS)
        }
        assert state == "CreateContainerConfigError"
        api.create(configuration("ConfigMap", "other"))
        api.create(configuration("ConfigMap", "settings"))
        api.settle()
        assert api.request("GET", f"{DEPLOYMENTS}/web")["status"]["availableReplicas"] == 2


def configuration(kind: str, name: str) -> dict[str, Any]:
    return {"apiVersion": "v1", "kind": kind, "metadata": {"name": name, "namespace": "default"}}


def test_pods_of_a_node_that_is_not_ready_are_not_ready() -> None:
    def ready(value: str | None) -> int:
        """How many are available once the first node says so."""
        annotations = {"simulation.celadon.dev/ready": value}
        api.request("PATCH", f"{NODES}/node-1", {"metadata": {"annotations": annotations}})
        api.settle()
        status = api.request("GET", f"{DEPLOYMENTS}/web")["status"]
        return int(status.get("availableReplicas", 0))

    with living(nodes=2) as api:
        api.create(deployment("web", replicas=2))
        api.settle()
        assert ready("false") == 1
        (lost,) = [one for one in items(api, PODS) if one["spec"]["nodeName"] == "node-1"]
        assert conditions(lost)["Ready"][0] == "False"
        assert conditions(lost)["ContainersReady"][0] == "True"
        assert ("NodeNotReady", "Node is not ready") in told(api, lost["metadata"]["name"])
        assert ready(None) == 2
        assert len(items(api, PODS)) == 2


def test_what_is_told_of_nodes() -> None:
    with living(nodes=1) as api:
        for cordoned in (True, False):
            api.request("PATCH", f"{NODES}/node-1", {"spec": {"unschedulable": cordoned}})
            api.settle()
        for value in ("false", None):
            annotations = {"simulation.celadon.dev/ready": value}
            api.request("PATCH", f"{NODES}/node-1", {"metadata": {"annotations": annotations}})
            api.settle()
        found = [one for one in items(api, EVENTS) if one["involvedObject"]["kind"] == "Node"]
        by_name = [(one["reason"], one["source"]["component"]) for one in found]
        assert sorted(by_name) == [
            ("NodeNotReady", "node-controller"),
            ("NodeNotSchedulable", "kubelet"),
            ("NodeReady", "kubelet"),
            ("NodeSchedulable", "kubelet"),
            ("RegisteredNode", "node-controller"),
        ]
        (again,) = [one for one in found if one["reason"] == "NodeReady"]
        assert again["message"] == "Node node-1 status is now: NodeReady"
        assert (again["count"], again["involvedObject"]["uid"]) == (2, "node-1")


def test_a_pod_that_somebody_put_where_there_is_no_room_is_rejected() -> None:
    with living(nodes=1) as api:
        big = {"resources": {"requests": {"cpu": "20"}}}
        for name in ("first", "second"):
            api.request("POST", PODS, pod(name, nodeName="node-1", container=big))
            api.settle()
        first, second = items(api, PODS)
        assert first["status"]["phase"] == "Running"
        status = {key: second["status"][key] for key in ("phase", "reason", "message")}
        text = (
            "Node didn't have enough resource: cpu, requested: 20000, used: 20000, capacity: 32000"
        )
        message = f"Pod was rejected: {text}"
        assert status == {"phase": "Failed", "reason": "OutOfcpu", "message": message}
        assert told(api, "second") == [("OutOfcpu", text)]


def test_a_resource_that_is_advertised_can_be_had() -> None:
    with living(nodes=1) as api:
        status = {"capacity": {"example.com/dongle": "4"}}
        api.request("PATCH", f"{NODES}/node-1/status", {"status": status})
        api.settle()
        allocatable = api.request("GET", f"{NODES}/node-1")["status"]["allocatable"]
        assert (allocatable["example.com/dongle"], allocatable["cpu"]) == ("4", "32")
