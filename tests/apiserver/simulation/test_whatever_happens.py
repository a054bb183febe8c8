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

QUOTAS = "/api/v1/namespaces/default/resourcequotas"
QUOTA = {
    "apiVersion": "v1",
    "kind": "ResourceQuota",
    "metadata": {"name": "all", "namespace": "default"},
    "spec": {"hard": {"pods": "12", "requests.cpu": "1000", "count/replicasets.apps": "100"}},
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
        case "wait":
            api.advance(seconds=name)
        case _:
            api.settle()


def answered(api: KubeApi, method: str, path: str, body: Any = None) -> None:
    """What is not there, or there already, is nobody's mistake."""
    try:
        api.request(method, path, body)
    except RequestRefused as refused:
        if refused.code not in (404, 409):
            raise


def agrees(api: KubeApi) -> None:
    """What is said, and what is there."""
    pods, sets = items(api, PODS), items(api, REPLICA_SETS)
    owners = {one["metadata"]["uid"]: one for one in (*sets, *items(api, DEPLOYMENTS))}
    for one in (*pods, *sets):
        for reference in one["metadata"].get("ownerReferences", ()):
            assert reference["uid"] in owners, "an owner that is gone"
            assert owners[reference["uid"]]["metadata"]["name"] == reference["name"]
    for one in owners.values():
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
    used = api.request("GET", f"{QUOTAS}/all")["status"]["used"]
    assert used["pods"] == str(len(pods))
    assert used["count/replicasets.apps"] == str(len(sets))
    cpu = Counter[str]()
    for one in pods:
        asked = int(one["spec"]["containers"][0]["resources"]["requests"]["cpu"])
        cpu[one["spec"].get("nodeName", "")] += asked
    assert all(total <= 32 for node, total in cpu.items() if node)


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
