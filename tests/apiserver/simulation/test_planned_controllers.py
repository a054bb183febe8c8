"""StatefulSets, DaemonSets, Jobs and all that is around them, in a cluster that lives."""

from __future__ import annotations

import asyncio
import itertools
import re
import sys
from typing import Any

import pytest

from celadon.apiserver.simulation.planning import stateful_sets
from celadon.apiserver.simulation.planning.node_filters import NodeState
from celadon.apiserver.workers import is_worker
from celadon.kube import workload_controllers
from celadon.kube.template_hashes import template_hash
from celadon.storage import put
from celadon.testing import HandlerAccess, KubeApi, RequestRefused, ServerOptions
from tests.apiserver.simulation import living as cluster
from tests.apiserver.simulation.living import PODS, items, living, pod_spec, told

APPS = "/apis/apps/v1/namespaces/default"
BATCH = "/apis/batch/v1/namespaces/default"
CLAIMS = "/api/v1/namespaces/default/persistentvolumeclaims"
BUDGET = "/apis/policy/v1/namespaces/default/poddisruptionbudgets/b"
SLICES = "/apis/discovery.k8s.io/v1/namespaces/default/endpointslices"


def workload(kind: str, name: str, *, annotations: Any = None, **spec: Any) -> dict[str, Any]:
    """One of the group `apps`; `pod` is about the spec of its pods."""
    meta = {"labels": {"app": name}, "annotations": annotations or {}}
    given = {
        "selector": {"matchLabels": {"app": name}},
        "template": {"metadata": meta, "spec": pod_spec(**spec.pop("pod", {}))},
        **spec,
    }
    return created("apps/v1", kind, name, given)


def running(run_for: str = "5s", **more: str) -> dict[str, Any]:
    """A template of pods that end after a while."""
    notes = {"simulation.celadon.dev/run-for": run_for}
    notes |= {f"simulation.celadon.dev/{key}": value for key, value in more.items()}
    return {"metadata": {"annotations": notes}, "spec": pod_spec(restartPolicy="Never")}


def job(name: str, template: Any = None, **spec: Any) -> dict[str, Any]:
    """Its pods end well after five seconds unless their template says otherwise."""
    return created("batch/v1", "Job", name, {"template": template or running(), **spec})


def created(api_version: str, kind: str, name: str, spec: dict[str, Any]) -> dict[str, Any]:
    meta = {"name": name, "namespace": "default"}
    return {"apiVersion": api_version, "kind": kind, "metadata": meta, "spec": spec}


def status(api: KubeApi, path: str) -> dict[str, Any]:
    api.settle()
    found: dict[str, Any] = api.request("GET", path)["status"]
    return found


def conditions(api: KubeApi, path: str) -> dict[str, str]:
    return {one["type"]: one["status"] for one in status(api, path).get("conditions", ())}


def names(api: KubeApi, path: str) -> list[str]:
    return [one["metadata"]["name"] for one in items(api, path)]


def test_a_stateful_set_with_claims() -> None:
    template = {
        "metadata": {"name": "data"},
        "spec": {
            "accessModes": ["ReadWriteOnce"],
            "resources": {"requests": {"storage": "1Gi"}},
        },
    }
    with living() as api:
        api.create(
            workload(
                "StatefulSet",
                "db",
                replicas=3,
                serviceName="db",
                volumeClaimTemplates=[template],
                persistentVolumeClaimRetentionPolicy={
                    "whenDeleted": "Delete", "whenScaled": "Delete",
                },
            )
        )  # fmt: skip
        path = f"{APPS}/statefulsets/db"
        first = status(api, path)
        assert (first["readyReplicas"], first["availableReplicas"]) == (3, 3)
        assert names(api, PODS) == ["db-0", "db-1", "db-2"]
        assert {one["status"]["phase"] for one in items(api, CLAIMS)} == {"Bound"}
        api.request("PATCH", path, {"spec": {"template": {"metadata": {"labels": {"v": "2"}}}}})
        api.advance(minutes=5)
        second = status(api, path)
        assert second["updatedReplicas"] == 3
        assert second["currentRevision"] == second["updateRevision"] != first["currentRevision"]
        assert len(items(api, f"{APPS}/controllerrevisions")) == 2
        api.request("PATCH", path, {"spec": {"replicas": 1}})
        api.advance(minutes=5)
        assert names(api, PODS) == ["db-0"]
        assert names(api, CLAIMS) == ["data-db-0"]
        api.request("DELETE", path)
        api.advance(minutes=5)
        assert (names(api, PODS), names(api, CLAIMS)) == ([], [])
        assert items(api, "/api/v1/persistentvolumes") == []
        assert ("SuccessfulCreate", "Create Pod db-0 in StatefulSet db successful") in told(
            api, "db"
        )


def test_a_daemon_set_follows_the_nodes() -> None:
    with living(nodes=2) as api:
        api.create(workload("DaemonSet", "agent"))
        path = f"{APPS}/daemonsets/agent"
        found = status(api, path)
        assert (found["desiredNumberScheduled"], found["numberReady"]) == (2, 2)
        node = items(api, "/api/v1/nodes")[0]["metadata"]["name"]
        taint = {"key": "x", "effect": "NoExecute"}
        api.request("PATCH", f"/api/v1/nodes/{node}", {"spec": {"taints": [taint]}})
        api.advance(minutes=2)
        assert status(api, path)["desiredNumberScheduled"] == 1
        assert len(items(api, PODS)) == 1
        api.request("PATCH", f"/api/v1/nodes/{node}", {"spec": {"taints": None}})
        assert status(api, path)["numberReady"] == 2


@pytest.mark.parametrize("mode", ["NonIndexed", "Indexed"])
def test_a_job_completes(mode: str) -> None:
    with living() as api:
        api.create(job("work", completions=4, parallelism=2, completionMode=mode))
        path = f"{BATCH}/jobs/work"
        assert status(api, path)["active"] == 2
        api.advance(minutes=1)
        found = status(api, path)
        assert found["succeeded"] == 4
        assert found.get("completedIndexes") == ("0-3" if mode == "Indexed" else None)
        assert conditions(api, path) == {"SuccessCriteriaMet": "True", "Complete": "True"}
        assert all("finalizers" not in one["metadata"] for one in items(api, PODS))
        assert told(api, "work")[-1] == ("Completed", "Job completed")


def test_a_job_gives_up() -> None:
    bad = running(**{"exit-code": "1"})
    with living() as api:
        api.create(job("work", bad, backoffLimit=2, ttlSecondsAfterFinished=3600))
        api.advance(minutes=10)
        path = f"{BATCH}/jobs/work"
        assert status(api, path)["failed"] == 3
        assert conditions(api, path) == {"FailureTarget": "True", "Failed": "True"}
        api.advance(minutes=60)
        assert (names(api, f"{BATCH}/jobs"), names(api, PODS)) == ([], [])


def test_the_pods_of_a_deleted_job_go_where_another_has_its_name() -> None:
    with living() as api:
        made = api.create(job("work", parallelism=2))[0]
        api.settle()
        path = f"{BATCH}/jobs/work"
        api.request("DELETE", path, {"propagationPolicy": "Background"})
        api.create(job("work", parallelism=0))
        api.advance(minutes=2)
        assert api.request("GET", path)["metadata"]["uid"] != made["metadata"]["uid"]
        assert names(api, PODS) == []


def test_the_pods_of_a_deleted_job_go() -> None:
    with living() as api:
        api.create(job("work", running("1h")))
        api.settle()
        api.request("DELETE", f"{BATCH}/jobs/work", {"propagationPolicy": "Background"})
        api.advance(minutes=2)
        assert names(api, PODS) == []


def test_a_cron_job_by_the_clock() -> None:
    with living() as api:
        template = {"spec": {"template": running()}}
        spec = {"schedule": "*/10 * * * *", "jobTemplate": template}
        api.create(created("batch/v1", "CronJob", "tick", spec))
        api.advance(minutes=60)
        if "active" in status(api, f"{BATCH}/cronjobs/tick"):  # it is just after the tenth minute
            api.advance(seconds=30)
        assert len(names(api, f"{BATCH}/jobs")) == 3
        found = status(api, f"{BATCH}/cronjobs/tick")
        assert "active" not in found
        assert found["lastSuccessfulTime"] > found["lastScheduleTime"]
        assert len([one for one in told(api, "tick") if one[0] == "SuccessfulCreate"]) == 6


@pytest.mark.thorough
def test_a_minute_of_cron_jobs_takes_no_longer_because_much_has_been_told() -> None:
    async def scenario() -> None:
        async with HandlerAccess(ServerOptions(tls=False, simulate=True)) as api:
            spec = {"schedule": "* * * * *", "jobTemplate": {"spec": {"template": running()}}}
            for number in range(4):
                await api.create([created("batch/v1", "CronJob", f"tick{number}", spec)])
            await api.advance(360)  # from here on old jobs go as new ones come
            before = await calls_of_a_minute(api)
            store = api.server.core.objects.store
            (event,) = store.range("/registry/core/events/", limit=1).entries
            for number in range(5_000):
                store.submit(put(f"{event.key}-{number}", event.value))
            await api.settle()
            assert await calls_of_a_minute(api) < 1.5 * before

    asyncio.run(scenario())


async def calls_of_a_minute(api: HandlerAccess) -> int:
    """How many functions the server's loop calls while the clock moves on by a minute."""
    calls = itertools.count()
    sys.setprofile(lambda *_: next(calls))
    try:
        await api.advance(60)
    finally:
        sys.setprofile(None)
    return next(calls)


def test_evictions_respect_a_budget() -> None:
    with living() as api:
        api.create(workload("Deployment", "web", replicas=2))
        selector = {"matchLabels": {"app": "web"}}
        budget = {"selector": selector, "minAvailable": 2}
        api.create(created("policy/v1", "PodDisruptionBudget", "b", budget))
        assert status(api, BUDGET)["disruptionsAllowed"] == 0
        victim = names(api, PODS)[0]
        eviction = {"metadata": {"name": victim, "namespace": "default"}}
        path = f"{PODS}/{victim}/eviction"
        body = {"apiVersion": "policy/v1", "kind": "Eviction", **eviction}
        with pytest.raises(RequestRefused, match="would violate the pod's disruption budget"):
            api.request("POST", path, body)
        api.request("PATCH", BUDGET, {"spec": {"minAvailable": 1}})
        assert status(api, BUDGET)["disruptionsAllowed"] == 1
        api.request("POST", path, body)
        api.advance(minutes=2)
        assert victim not in names(api, PODS)
        assert status(api, BUDGET)["currentHealthy"] == 2


def test_services_find_their_pods() -> None:
    with living() as api:
        port = {"name": "http", "containerPort": 8080}
        pod = {"container": {"ports": [port]}}
        api.create(workload("Deployment", "web", replicas=2, pod=pod))
        ports = [{"port": 80, "targetPort": "http"}]
        spec = {"selector": {"app": "web"}, "ports": ports}
        api.create(created("v1", "Service", "web", spec))
        api.settle()
        (found,) = [one for one in items(api, SLICES) if one["metadata"]["name"] != "kubernetes"]
        assert [one["conditions"]["ready"] for one in found["endpoints"]] == [True, True]
        assert found["ports"][0]["port"] == 8080
        endpoints = api.request("GET", "/api/v1/namespaces/default/endpoints/web")
        assert len(endpoints["subsets"][0]["addresses"]) == 2
        api.request("DELETE", "/api/v1/namespaces/default/services/web")
        api.advance(seconds=5)
        assert [one for one in names(api, SLICES) if one != "kubernetes"] == []
        assert "web" not in names(api, "/api/v1/namespaces/default/endpoints")


@pytest.mark.parametrize("replicas", [10, pytest.param(30, marks=pytest.mark.thorough)])
def test_what_a_rollout_reads_grows_with_its_pods_and_not_with_their_square(
    replicas: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    read: list[int] = []
    begin = stateful_sets._Member.__init__

    def counted(self: Any, *given: Any) -> None:
        read.append(1)
        begin(self, *given)

    taken: list[int] = []
    take = NodeState.take

    def counted_take(self: NodeState, *given: Any) -> None:
        taken.append(1)
        take(self, *given)

    monkeypatch.setattr(stateful_sets._Member, "__init__", counted)
    monkeypatch.setattr(NodeState, "take", counted_take)
    path = f"{APPS}/statefulsets/db"
    with living() as api:
        api.create(workload("StatefulSet", "db", replicas=replicas, serviceName="db"))
        api.advance(minutes=1)
        assert status(api, path)["availableReplicas"] == replicas
        api.request("PATCH", path, {"spec": {"template": {"metadata": {"labels": {"v": "2"}}}}})
        api.advance(minutes=30)
        assert status(api, path)["updatedReplicas"] == replicas
    # A pod is seen some times while it comes, and while it goes; there are two for each number.
    assert len(read) <= 2 * 10 * replicas
    assert len(taken) <= 2 * 5 * replicas


def test_a_claim_gets_the_volume_that_it_names_when_that_comes() -> None:
    size = {"storage": "1Gi"}
    claim = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": size}}
    volume = {"accessModes": ["ReadWriteOnce"], "capacity": size, "hostPath": {"path": "/x"}}
    with living() as api:
        named = {**claim, "storageClassName": "", "volumeName": "mine"}
        api.create(created("v1", "PersistentVolumeClaim", "early", named))
        api.settle()
        assert status(api, f"{CLAIMS}/early")["phase"] == "Pending"
        api.create(
            {**created("v1", "PersistentVolume", "mine", volume), "metadata": {"name": "mine"}}
        )
        api.settle()
        assert status(api, f"{CLAIMS}/early")["phase"] == "Bound"
        assert status(api, "/api/v1/persistentvolumes/mine")["phase"] == "Bound"


def test_a_class_of_attributes_goes_with_the_last_claim_that_has_it() -> None:
    classes = "/apis/storage.k8s.io/v1/volumeattributesclasses"
    size = {"resources": {"requests": {"storage": "1Gi"}}}
    claim = {"accessModes": ["ReadWriteOnce"], "volumeAttributesClassName": "gold", **size}
    with living() as api:
        api.create(
            {
                "apiVersion": "storage.k8s.io/v1",
                "kind": "VolumeAttributesClass",
                "metadata": {"name": "gold"},
                "driverName": "d.example.com",
                "parameters": {"iops": "1"},
            }
        )
        api.create(created("v1", "PersistentVolumeClaim", "one", claim))
        api.request("DELETE", f"{classes}/gold")
        api.settle()
        assert [found["metadata"]["name"] for found in items(api, classes)] == ["gold"]
        api.request("DELETE", f"{CLAIMS}/one")
        api.settle()
        assert not items(api, classes)


def test_endpoints_of_a_user_are_mirrored_as_long_as_they_are_there() -> None:
    endpoints = "/api/v1/namespaces/default/endpoints/db"
    with living() as api:
        api.create(created("v1", "Service", "db", {"ports": [{"port": 80}]}))
        subset = {"addresses": [{"ip": "192.0.2.1"}], "ports": [{"port": 80}]}
        given = created("v1", "Endpoints", "db", {})
        api.create({**{key: given[key] for key in given if key != "spec"}, "subsets": [subset]})
        api.settle()
        (found,) = [one for one in items(api, SLICES) if one["metadata"]["name"] != "kubernetes"]
        assert found["endpoints"] == [{"addresses": ["192.0.2.1"], "conditions": {"ready": True}}]
        api.request("PATCH", endpoints, {"subsets": [{**subset, "ports": [{"port": 81}]}]})
        api.settle()
        name = found["metadata"]["name"]
        assert api.request("GET", f"{SLICES}/{name}")["ports"][0]["port"] == 81
        api.request("DELETE", endpoints)
        api.advance(seconds=5)
        assert [one for one in names(api, SLICES) if one != "kubernetes"] == []


HPA = "/apis/autoscaling/v2/namespaces/default/horizontalpodautoscalers/h"
SIZES = r"New size: (\d+)"


def autoscaled(usage: str, **more: Any) -> list[dict[str, Any]]:
    """A Deployment whose pods request processor time, and its autoscaler, which wants the half."""
    container = {"resources": {"requests": {"cpu": "100m"}}}
    target = {"type": "Utilization", "averageUtilization": 50}
    spec = {
        "scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"},
        "maxReplicas": 6,
        "metrics": [{"type": "Resource", "resource": {"name": "cpu", "target": target}}],
        **more,
    }
    one = created("autoscaling/v2", "HorizontalPodAutoscaler", "h", spec)
    one["metadata"]["annotations"] = {"simulation.celadon.dev/usage": usage}
    return [workload("Deployment", "web", replicas=2, pod={"container": container}), one]


def sizes(api: KubeApi) -> list[str]:
    """That the autoscaler told, each once."""
    found = re.findall(SIZES, " ".join(text for _, text in told(api, "h")))
    return sorted(set(found), key=int)


def test_an_autoscaler_scales_by_the_usage_it_is_told() -> None:
    with living() as api:
        for one in autoscaled("cpu=100%"):
            api.create(one)
            api.settle()
        assert sizes(api) == ["4"]
        api.advance(seconds=14)
        assert sizes(api) == ["4"], "what it writes itself is no reason to look again"
        api.advance(seconds=2)
        assert sizes(api) == ["4", "6"]
        assert status(api, f"{APPS}/deployments/web")["readyReplicas"] == 6
        api.advance(seconds=15)
        (cpu,) = status(api, HPA)["currentMetrics"]
        assert cpu["resource"]["current"] == {"averageUtilization": 100, "averageValue": "100m"}
        assert status(api, HPA)["currentReplicas"] == 6
        annotations = {"simulation.celadon.dev/usage": "cpu=10%"}
        api.request("PATCH", HPA, {"metadata": {"annotations": annotations}})
        api.advance(minutes=4)
        assert status(api, f"{APPS}/deployments/web")["readyReplicas"] == 6
        api.advance(minutes=15)
        assert status(api, f"{APPS}/deployments/web")["readyReplicas"] == 1


def test_an_autoscaler_keeps_to_its_policies() -> None:
    up = {"policies": [{"type": "Pods", "value": 1, "periodSeconds": 60}]}
    with living() as api:
        for one in autoscaled("cpu=100%", behavior={"scaleUp": up}):
            api.create(one)
            api.settle()
        assert sizes(api) == ["3"]
        api.advance(seconds=50)
        assert sizes(api) == ["3"]
        limited = cluster.conditions(api.request("GET", HPA))["ScalingLimited"]
        assert limited[:2] == ("True", "ScaleUpLimit")
        api.advance(seconds=40)
        assert sizes(api) == ["3", "4"]


def test_an_autoscaler_is_judged() -> None:
    """What it may not do stands in its status, and does not count as done."""
    policies = "/apis/admissionregistration.k8s.io/v1"
    rule = {
        "apiGroups": ["apps"],
        "apiVersions": ["v1"],
        "operations": ["UPDATE"],
        "resources": ["deployments/scale"],
    }
    check = {"expression": "object.spec.replicas < 4", "message": "three are enough"}
    policy = {"matchConstraints": {"resourceRules": [rule]}, "validations": [check]}
    binding = {"policyName": "p", "validationActions": ["Deny"]}
    with living() as api:
        api.request(
            "POST",
            f"{policies}/validatingadmissionpolicies",
            {"metadata": {"name": "p"}, "spec": policy},
        )
        api.request(
            "POST",
            f"{policies}/validatingadmissionpolicybindings",
            {"metadata": {"name": "p"}, "spec": binding},
        )
        for one in autoscaled("cpu=100%"):
            api.create(one)
            api.settle()
        state, reason, text = cluster.conditions(api.request("GET", HPA))["AbleToScale"]
        assert (state, reason) == ("False", "FailedUpdateScale")
        assert text.startswith("the HPA controller was unable to update the target scale: ")
        assert text.endswith("denied request: three are enough")
        assert status(api, HPA)["currentReplicas"] == 2


def test_what_is_refused_is_told_and_tried_again() -> None:
    with living() as api:
        quota = {"hard": {"pods": "1"}}
        api.create(created("v1", "ResourceQuota", "few", quota))
        api.settle()
        api.create(workload("StatefulSet", "db", replicas=1, serviceName="db"))
        api.create(job("work"))
        api.settle()
        assert len(names(api, PODS)) == 1
        about = [*told(api, "db"), *told(api, "work")]
        assert any("exceeded quota: few" in text for _, text in about)
        api.request(
            "PATCH",
            "/api/v1/namespaces/default/resourcequotas/few",
            {"spec": {"hard": {"pods": "9"}}},
        )
        api.advance(minutes=2)
        assert len(names(api, PODS)) == 2


def test_a_pod_that_is_no_longer_its_own_is_not_counted_though_its_name_is_taken() -> None:
    with living() as api:
        api.create(workload("StatefulSet", "db", replicas=1, serviceName="db"))
        path = f"{APPS}/statefulsets/db"
        assert status(api, path)["replicas"] == 1
        api.request("PATCH", f"{PODS}/db-0", {"metadata": {"labels": {"app": "nobody"}}})
        assert status(api, path)["replicas"] == 0
        api.request("DELETE", f"{PODS}/db-0")
        api.advance(minutes=2)
        assert status(api, path)["readyReplicas"] == 1


def test_a_pod_that_has_ended_is_counted_though_no_other_may_be_made() -> None:
    with living() as api:
        api.create(created("v1", "ResourceQuota", "few", {"hard": {"pods": "9"}}))
        api.create(job("work", completions=2))
        api.settle()
        path = "/api/v1/namespaces/default/resourcequotas/few"
        api.request("PATCH", path, {"spec": {"hard": {"pods": "0"}}})
        api.advance(minutes=2)
        (ended,) = items(api, PODS)
        assert "finalizers" not in ended["metadata"]
        found = status(api, f"{BATCH}/jobs/work")
        assert found["succeeded"] == 1
        assert not found.get("uncountedTerminatedPods")
        assert any("exceeded quota: few" in text for _, text in told(api, "work"))


def test_a_replication_controller() -> None:
    with living() as api:
        template = {"metadata": {"labels": {"app": "old"}}, "spec": pod_spec()}
        spec = {"replicas": 2, "selector": {"app": "old"}, "template": template}
        api.create(created("v1", "ReplicationController", "old", spec))
        path = "/api/v1/namespaces/default/replicationcontrollers/old"
        assert status(api, path) == {
            "replicas": 2,
            "fullyLabeledReplicas": 2,
            "readyReplicas": 2,
            "availableReplicas": 2,
            "observedGeneration": 1,
        }
        api.request("DELETE", path)
        api.settle()
        assert len(names(api, PODS)) == 2
        assert all("ownerReferences" not in one["metadata"] for one in items(api, PODS))


def test_the_pods_of_a_job_that_is_only_deleted_stay() -> None:
    with living() as api:
        api.create(job("work", running("1h")))
        api.settle()
        api.request("DELETE", f"{BATCH}/jobs/work")
        api.advance(minutes=2)
        (kept,) = items(api, PODS)
        assert not {"finalizers", "ownerReferences"} & kept["metadata"].keys()


@pytest.mark.parametrize("kind", ["StatefulSet", "DaemonSet"])
def test_revisions_are_adopted(kind: str) -> None:
    revisions = f"{APPS}/controllerrevisions"
    with living(nodes=1) as api:
        api.create(workload(kind, "db"))
        api.settle()
        former = names(api, revisions)
        api.request("DELETE", f"{APPS}/{kind.lower()}s/db", {"propagationPolicy": "Orphan"})
        api.settle()
        (orphan,) = items(api, revisions)
        assert "ownerReferences" not in orphan["metadata"]
        api.create(workload(kind, "db"))
        api.advance(minutes=1)
        (adopted,) = items(api, revisions)
        assert adopted["metadata"]["ownerReferences"][0]["kind"] == kind
        assert names(api, revisions) == former
        assert status(api, f"{APPS}/{kind.lower()}s/db").get("collisionCount", 0) == 0


@pytest.mark.parametrize(("release", "has_time"), [("1.33", True), ("1.34", False)])
def test_revisions_hold_what_the_release_writes(release: str, has_time: bool) -> None:
    with living(nodes=1, version=release) as api:
        api.create(workload("StatefulSet", "db", replicas=1))
        api.advance(minutes=1)
        (revision,) = items(api, f"{APPS}/controllerrevisions")
        template = revision["data"]["spec"]["template"]
        assert ("creationTimestamp" in template["metadata"]) == has_time


@pytest.mark.parametrize("kind", ["Deployment", "DaemonSet"])
def test_the_hash_of_a_large_template_is_made_in_a_worker(
    kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    places: list[bool] = []

    def hashed(*args: Any) -> str:
        places.append(is_worker())
        return template_hash(*args)

    monkeypatch.setattr(workload_controllers, "template_hash", hashed)
    with living() as api:
        api.create(workload(kind, "large", annotations={"a": "x" * 50_000}))
        api.settle()
        assert items(api, PODS)
    assert places
    assert all(places)
