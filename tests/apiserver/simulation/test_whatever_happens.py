"""A property: whatever is created, changed and deleted, when the clock has run, what controllers
say agrees with the pods that there are."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from celadon.testing import KubeApi, RequestRefused
from tests.apiserver.simulation.living import (
    DEPLOYMENTS,
    FAIL,
    NODES,
    PODS,
    REPLICA_SETS,
    deployment,
    items,
    living,
)

pytestmark = pytest.mark.thorough

STATEFUL_SETS = "/apis/apps/v1/namespaces/default/statefulsets"
JOBS = "/apis/batch/v1/namespaces/default/jobs"
BUDGETS = "/apis/policy/v1/namespaces/default/poddisruptionbudgets"
QUOTAS = "/api/v1/namespaces/default/resourcequotas"
QUOTA = {
    "apiVersion": "v1",
    "kind": "ResourceQuota",
    "metadata": {"name": "all", "namespace": "default"},
    "spec": {
        "hard": {
            "pods": "14",
            "requests.cpu": "1000",
            "count/replicasets.apps": "100",
            "count/jobs.batch": "3",
        }
    },
}
NAMES = st.sampled_from(["a", "b", "c"])
STRATEGIES = st.sampled_from(
    [
        {"type": "Recreate"},
        {"type": "RollingUpdate"},
        {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 0, "maxUnavailable": 2}},
        {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": "50%", "maxUnavailable": 0}},
    ]
)
MADE = st.builds(
    lambda name, replicas, strategy, cpu: deployment(
        name,
        replicas,
        strategy=strategy,
        pod={"container": {"resources": {"requests": {"cpu": cpu}}}},
    ),
    NAMES,
    st.integers(0, 6),
    STRATEGIES,
    st.sampled_from(["1", "10", "40"]),
)


def stateful(name: str, replicas: int, management: str, strategy: Any) -> dict[str, Any]:
    """A StatefulSet whose pods are a CPU each."""
    made = deployment(name, replicas, pod={"container": {"resources": {"requests": {"cpu": "1"}}}})
    spec = {"serviceName": "s", "podManagementPolicy": management, "updateStrategy": strategy}
    return {**made, "kind": "StatefulSet", "spec": {**made["spec"], **spec}}


def job(name: str, parallelism: int, completions: int, fails: bool) -> dict[str, Any]:
    """A Job whose pods may fail."""
    made = deployment(name, pod={"container": {"resources": {"requests": {"cpu": "1"}}}})
    template = made["spec"]["template"]
    template["spec"]["restartPolicy"] = "Never"
    if fails:
        template["metadata"]["annotations"] = {"simulation.celadon.dev/exit-code": "1"}
    spec = {"parallelism": parallelism, "completions": completions, "backoffLimit": 2}
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": name, "namespace": "default"},
        "spec": {**spec, "template": template},
    }


def budget(name: str, least: int) -> dict[str, Any]:
    """For the pods of a Deployment or StatefulSet of that name."""
    return {
        "apiVersion": "policy/v1",
        "kind": "PodDisruptionBudget",
        "metadata": {"name": name, "namespace": "default"},
        "spec": {"minAvailable": least, "selector": {"matchLabels": {"app": name}}},
    }


OTHER_NAMES = st.sampled_from(["s", "t"])
UPDATES = st.sampled_from(
    [
        {"type": "OnDelete"},
        {"type": "RollingUpdate"},
        {"type": "RollingUpdate", "rollingUpdate": {"partition": 1}},
    ]
)
MANAGED = st.sampled_from(["OrderedReady", "Parallel"])
TEMPLATES = st.fixed_dictionaries(
    {"v": st.sampled_from("123"), FAIL: st.sampled_from([None, None, "crash", "pull"])}
)
ACTIONS = st.one_of(
    st.tuples(st.just("create"), MADE),
    st.tuples(st.just("scale"), NAMES, st.integers(0, 8)),
    st.tuples(st.just("template"), NAMES, TEMPLATES),
    st.tuples(st.just("pause"), NAMES, st.booleans()),
    st.tuples(st.just("delete"), NAMES, st.sampled_from(["Background", "Foreground", "Orphan"])),
    st.tuples(st.just("delete pods"), st.integers(0, 3)),
    st.tuples(st.just("relabel"), st.integers(0, 9)),
    st.tuples(st.just("cordon"), st.sampled_from(["node-1", "node-2"]), st.booleans()),
    st.tuples(st.just("wait"), st.integers(0, 400)),
    st.tuples(st.just("settle"), st.just(0)),
    st.tuples(
        st.just("stateful"), st.builds(stateful, OTHER_NAMES, st.integers(0, 4), MANAGED, UPDATES)
    ),
    st.tuples(st.just("scale stateful"), OTHER_NAMES, st.integers(0, 4)),
    st.tuples(st.just("template stateful"), OTHER_NAMES, TEMPLATES),
    st.tuples(st.just("delete stateful"), OTHER_NAMES, st.sampled_from(["Background", "Orphan"])),
    st.tuples(
        st.just("job"),
        st.builds(
            job,
            st.sampled_from(["j", "k"]),
            st.integers(0, 3),
            st.integers(1, 4),
            st.booleans(),
        ),
    ),
    st.tuples(st.just("suspend"), st.sampled_from(["j", "k"]), st.booleans()),
    st.tuples(
        st.just("delete job"),
        st.sampled_from(["j", "k"]),
        st.sampled_from(["Background", "Foreground"]),
    ),
    st.tuples(st.just("budget"), st.builds(budget, NAMES | OTHER_NAMES, st.integers(0, 3))),
    st.tuples(st.just("rollback"), NAMES),
    st.tuples(st.just("drain"), st.sampled_from(["node-1", "node-2"])),
)


def act(api: KubeApi, action: tuple[Any, ...]) -> None:
    """Whatever the server says to it."""
    what, name, *rest = action
    path = f"{DEPLOYMENTS}/{name}"
    match what:
        case "create":
            answered(api, "POST", DEPLOYMENTS, name)
        case "scale":
            answered(api, "PATCH", path, {"spec": {"replicas": rest[0]}})
        case "template":
            template = {"metadata": {"annotations": rest[0]}}
            answered(api, "PATCH", path, {"spec": {"template": template}})
        case "pause":
            answered(api, "PATCH", path, {"spec": {"paused": rest[0]}})
        case "delete":
            answered(api, "DELETE", path, {"propagationPolicy": rest[0]})
        case "delete pods":
            for one in items(api, PODS)[:name]:
                answered(api, "DELETE", f"{PODS}/{one['metadata']['name']}")
        case "relabel":
            for one in items(api, PODS)[name : name + 1]:
                change = {"metadata": {"labels": {"app": "nobody"}}}
                answered(api, "PATCH", f"{PODS}/{one['metadata']['name']}", change)
        case "cordon":
            answered(api, "PATCH", f"{NODES}/{name}", {"spec": {"unschedulable": rest[0]}})
        case "stateful":
            answered(api, "POST", STATEFUL_SETS, name)
        case "scale stateful":
            answered(api, "PATCH", f"{STATEFUL_SETS}/{name}", {"spec": {"replicas": rest[0]}})
        case "template stateful":
            template = {"metadata": {"annotations": rest[0]}}
            answered(api, "PATCH", f"{STATEFUL_SETS}/{name}", {"spec": {"template": template}})
        case "delete stateful":
            options = {"propagationPolicy": rest[0]}
            answered(api, "DELETE", f"{STATEFUL_SETS}/{name}", options)
        case "job":
            answered(api, "POST", JOBS, name)
        case "suspend":
            answered(api, "PATCH", f"{JOBS}/{name}", {"spec": {"suspend": rest[0]}})
        case "delete job":
            answered(api, "DELETE", f"{JOBS}/{name}", {"propagationPolicy": rest[0]})
        case "budget":
            answered(api, "POST", BUDGETS, name)
        case "rollback":
            roll_back(api, name)
        case "drain":
            drain(api, name)
        case "wait":
            api.advance(seconds=name)
        case _:
            api.settle()


def roll_back(api: KubeApi, name: str) -> None:
    """To the template of the oldest ReplicaSet, as `kubectl rollout undo`."""
    for one in items(api, REPLICA_SETS):
        if any(ref["name"] == name for ref in one["metadata"].get("ownerReferences", ())):
            template = one["spec"]["template"]
            annotations = {"v": None, FAIL: None} | template["metadata"].get("annotations", {})
            change = {"spec": {"template": {"metadata": {"annotations": annotations}}}}
            answered(api, "PATCH", f"{DEPLOYMENTS}/{name}", change)
            return


def drain(api: KubeApi, node: str) -> None:
    """As `kubectl drain`, which asks once only."""
    answered(api, "PATCH", f"{NODES}/{node}", {"spec": {"unschedulable": True}})
    for one in items(api, PODS):
        if one["spec"].get("nodeName") == node:
            name = one["metadata"]["name"]
            eviction = {
                "apiVersion": "policy/v1",
                "kind": "Eviction",
                "metadata": {"name": name, "namespace": "default"},
            }
            answered(api, "POST", f"{PODS}/{name}/eviction", eviction)


def answered(api: KubeApi, method: str, path: str, body: Any = None) -> None:
    """What is not there, there already, too much or protected is nobody's mistake."""
    try:
        api.request(method, path, body)
    except RequestRefused as refused:
        if refused.code not in (403, 404, 409, 429):
            raise


def agrees(api: KubeApi) -> None:
    """What is said, and what is there."""
    pods, sets = items(api, PODS), items(api, REPLICA_SETS)
    jobs, stateful_sets = items(api, JOBS), items(api, STATEFUL_SETS)
    generations = (*sets, *items(api, DEPLOYMENTS), *stateful_sets)
    owners = {one["metadata"]["uid"]: one for one in (*generations, *jobs)}
    for one in (*pods, *sets):
        for reference in one["metadata"].get("ownerReferences", ()):
            assert reference["uid"] in owners, "an owner that is gone"
            assert owners[reference["uid"]]["metadata"]["name"] == reference["name"]
    for one in jobs:
        job_agrees(one, owned(pods, one))
    for one in generations:
        assert one["status"]["observedGeneration"] == one["metadata"]["generation"]
    for one in sets:
        mine = owned(pods, one)
        assert one["status"].get("replicas", 0) == len(mine)
        assert one["status"].get("readyReplicas", 0) == sum(map(ready, mine))
        failed = [c for c in one["status"].get("conditions", ()) if c["type"] == "ReplicaFailure"]
        assert len(mine) == one["spec"]["replicas"] or failed
    for one in items(api, DEPLOYMENTS):
        mine = [pod for owner in owned(sets, one) for pod in owned(pods, owner)]
        assert one["status"].get("replicas", 0) == len(mine)
        assert one["status"].get("availableReplicas", 0) == sum(map(ready, mine))
    for one in stateful_sets:
        stateful_set_agrees(one, owned(pods, one))
    for one in items(api, BUDGETS):
        budget_agrees(one, pods)
    used = api.request("GET", f"{QUOTAS}/all")["status"]["used"]
    assert used["pods"] == str(sum(not has_ended(one) for one in pods))
    assert used["count/jobs.batch"] == str(len(jobs))
    assert used["count/replicasets.apps"] == str(len(sets))
    cpu = Counter[str]()
    for one in pods:
        if has_ended(one):
            continue
        asked = int(one["spec"]["containers"][0]["resources"]["requests"]["cpu"])
        cpu[one["spec"].get("nodeName", "")] += asked
    assert all(total <= 32 for node, total in cpu.items() if node)


def stateful_set_agrees(one: Any, mine: list[Any]) -> None:
    """The numbers of its status are those of its pods, which have the first ordinals."""
    status = one["status"]
    assert status["replicas"] == len(mine)
    assert status.get("readyReplicas", 0) == sum(map(ready, mine))
    names = {f"{one['metadata']['name']}-{at}" for at in range(one["spec"]["replicas"])}
    assert {pod["metadata"]["name"] for pod in mine} <= names
    revisions = Counter(pod["metadata"]["labels"]["controller-revision-hash"] for pod in mine)
    assert status.get("updatedReplicas", 0) == revisions[status["updateRevision"]]


def job_agrees(one: Any, mine: list[Any]) -> None:
    """Nothing is left to count, and what has ended is told."""
    status, spec = one["status"], one["spec"]
    phases = Counter(pod["status"]["phase"] for pod in mine)
    assert not any(pod["metadata"].get("finalizers") for pod in mine if has_ended(pod))
    assert status.get("active", 0) == phases["Pending"] + phases["Running"]
    assert status.get("succeeded", 0) >= phases["Succeeded"]
    assert status.get("failed", 0) >= phases["Failed"]
    told = {c["type"] for c in status.get("conditions", ()) if c["status"] == "True"}
    assert ("Complete" in told) == (status.get("succeeded", 0) >= spec["completions"])
    assert ("Failed" in told) == (status.get("failed", 0) > spec["backoffLimit"])
    assert ("Suspended" in told) == (
        bool(spec.get("suspend")) and not {"Complete", "Failed"} & told
    )


def budget_agrees(one: Any, pods: list[Any]) -> None:
    """It has counted the pods that its selector matches."""
    app = one["spec"]["selector"]["matchLabels"]["app"]
    mine = [pod for pod in pods if pod["metadata"].get("labels", {}).get("app") == app]
    status = one["status"]
    healthy = sum(map(ready, mine))
    assert status["observedGeneration"] == one["metadata"]["generation"]
    assert status["currentHealthy"] == healthy
    wanted = one["spec"]["minAvailable"]
    assert status["disruptionsAllowed"] == max(0, healthy - wanted)


def has_ended(pod: Any) -> bool:
    return pod["status"].get("phase") in ("Succeeded", "Failed")


def owned(objects: list[Any], owner: Any) -> list[Any]:
    uid = owner["metadata"]["uid"]
    return [
        one
        for one in objects
        if any(ref["uid"] == uid for ref in one["metadata"].get("ownerReferences", ()))
    ]


def ready(pod: Any) -> bool:
    conditions = pod["status"].get("conditions", ())
    return any(one["type"] == "Ready" and one["status"] == "True" for one in conditions)


@given(st.lists(ACTIONS, min_size=3, max_size=25))
def test_all_agree_when_the_clock_has_run(actions: list[tuple[Any, ...]]) -> None:
    with living(nodes=2) as api:
        api.create(QUOTA)
        for action in actions:
            act(api, action)
        api.advance(minutes=30)
        agrees(api)
