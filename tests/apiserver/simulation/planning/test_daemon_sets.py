"""A pod on each node that takes it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from celadon.apiserver.simulation.planning.daemon_sets import (
    DaemonWorld,
    daemon_set_plan,
    target_node,
)
from celadon.apiserver.simulation.planning.plans import Plan, Verb
from celadon.kube import JsonObject, metadata
from tests.apiserver.simulation.planning.sample_objects import (
    at,
    going,
    made,
    pod,
    shown,
    status_of_plan,
    stored,
    told,
)

ROLLING = {"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": 1, "maxSurge": 0}}
SURGING = {"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": 0, "maxSurge": 1}}


def daemon_set(**spec: Any) -> dict[str, Any]:
    template = {
        "metadata": {"labels": {"app": "d"}},
        "spec": {"containers": [{"name": "c"}], **spec.pop("pod", {})},
    }
    given = {
        "selector": {"matchLabels": {"app": "d"}},
        "template": template,
        "updateStrategy": ROLLING,
        **spec,
    }
    return stored("DaemonSet", "d", given)


def node(name: str, *taints: tuple[str, str], **labels: str) -> dict[str, Any]:
    listed = [{"key": key, "effect": effect} for key, effect in taints]
    return stored("Node", name, {"taints": listed}, "v1", labels=labels)


NODES = [node("n1"), node("n2"), node("n3")]


def revision(given: JsonObject) -> JsonObject:
    (found,) = made(daemon_set_plan(given, DaemonWorld((), (), ()), at()), "ControllerRevision")
    return found


def plan_of(
    given: JsonObject,
    pods: Sequence[JsonObject] = (),
    nodes: Sequence[JsonObject] = NODES,
    revisions: Sequence[JsonObject] | None = None,
) -> Plan:
    known = [revision(given)] if revisions is None else revisions
    return daemon_set_plan(given, DaemonWorld(nodes, pods, known), at(100))


def daemon(given: JsonObject, on: str, *, name: str = "", old: bool = False, **more: Any) -> Any:
    label = "old" if old else metadata.labels(revision(given))["controller-revision-hash"]
    labels = {"controller-revision-hash": label}
    return pod(name or f"d-{on}", given, spec={"nodeName": on}, labels=labels, **more)


def test_each_node_gets_a_pod() -> None:
    given = daemon_set()
    plan = plan_of(given, revisions=())
    name = metadata.name(revision(given))
    assert shown(plan) == [f"create ControllerRevision {name}", *["create Pod d-"] * 3]
    found = made(plan, "Pod")
    assert [target_node(one) for one in found] == ["n1", "n2", "n3"]
    assert f"d-{found[0]['metadata']['labels']['controller-revision-hash']}" == name
    assert {one["key"] for one in found[0]["spec"]["tolerations"]} >= {
        "node.kubernetes.io/not-ready",
        "node.kubernetes.io/unschedulable",
    }


@pytest.mark.parametrize(
    ("given", "nodes", "wanted"),
    [
        (daemon_set(), [node("a", ("x", "NoSchedule"))], []),
        (daemon_set(), [node("a", ("x", "NoExecute"))], []),
        (daemon_set(), [node("a", ("x", "PreferNoSchedule"))], ["a"]),
        (daemon_set(), [node("a", ("node.kubernetes.io/unschedulable", "NoSchedule"))], ["a"]),
        (
            daemon_set(pod={"tolerations": [{"key": "x", "operator": "Exists"}]}),
            [node("a", ("x", "NoSchedule")), node("b", ("y", "NoSchedule"))],
            ["a"],
        ),
        (
            daemon_set(pod={"nodeSelector": {"disk": "ssd"}}),
            [node("a", disk="ssd"), node("b")],
            ["a"],
        ),
        (daemon_set(pod={"nodeName": "b"}), [node("a"), node("b")], ["b"]),
    ],
)  # fmt: skip
def test_which_nodes(given: JsonObject, nodes: Sequence[JsonObject], wanted: list[str]) -> None:
    plan = plan_of(given, nodes=nodes)
    assert [target_node(one) for one in made(plan, "Pod")] == wanted
    assert status_of_plan(plan)["desiredNumberScheduled"] == len(wanted)


def test_pods_stay_where_new_ones_would_not_go() -> None:
    given = daemon_set()
    there = daemon(given, "a")
    stays = plan_of(given, [there], [node("a", ("x", "NoSchedule"))])
    assert shown(stays) == []
    assert status_of_plan(stays)["numberMisscheduled"] == 1
    assert shown(plan_of(given, [there], [node("a", ("x", "NoExecute"))])) == ["delete Pod d-a"]


@pytest.mark.parametrize(
    ("phase", "reason", "text"),
    [
        (
            "Failed",
            "FailedDaemonPod",
            "Found failed daemon pod default/d-n1 on node n1, will try to kill it",
        ),
        (
            "Succeeded",
            "SucceededDaemonPod",
            "Found succeeded daemon pod default/d-n1 on node n1, will try to delete it",
        ),
    ],
)
def test_pods_that_have_ended_go(phase: str, reason: str, text: str) -> None:
    given = daemon_set()
    plan = plan_of(given, [daemon(given, "n1", phase=phase)], NODES[:1])
    assert shown(plan) == [f"tell {reason}", "delete Pod d-n1"]
    assert told(plan) == [text]


def test_of_several_the_oldest_stays() -> None:
    given = daemon_set()
    pods = [daemon(given, "n1", name=name) for name in ("d-b", "d-a")]
    assert shown(plan_of(given, pods, NODES[:1])) == ["delete Pod d-b"]


def test_a_selector_of_everything_is_refused() -> None:
    plan = plan_of(daemon_set(selector={}), revisions=())
    text = "This daemon set is selecting all pods. A non-empty selector is required."
    assert told(plan) == [text]


# --- Updates -----------------------------------------------------------------


def test_one_old_pod_goes_at_a_time() -> None:
    given = daemon_set()
    pods = [daemon(given, f"n{number}", old=True) for number in (1, 2, 3)]
    assert shown(plan_of(given, pods)) == ["delete Pod d-n1"]
    pods[0] = daemon(given, "n1", ready=False)
    assert shown(plan_of(given, pods)) == []
    pods[0] = daemon(given, "n1")
    assert shown(plan_of(given, pods)) == ["delete Pod d-n2"]


def test_old_pods_that_are_not_available_go_at_once() -> None:
    given = daemon_set()
    pods = [daemon(given, f"n{number}", old=True, ready=False) for number in (1, 2, 3)]
    assert shown(plan_of(given, pods)) == [f"delete Pod d-n{number}" for number in (1, 2, 3)]


def test_a_share_of_the_nodes() -> None:
    strategy = {"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": "50%"}}
    given = daemon_set(updateStrategy=strategy)
    pods = [daemon(given, f"n{number}", old=True) for number in (1, 2, 3)]
    assert shown(plan_of(given, pods)) == ["delete Pod d-n1", "delete Pod d-n2"]


def test_without_updates_old_pods_stay() -> None:
    given = daemon_set(updateStrategy={"type": "OnDelete"})
    pods = [daemon(given, f"n{number}", old=True) for number in (1, 2, 3)]
    plan = plan_of(given, pods)
    assert shown(plan) == []
    assert "updatedNumberScheduled" not in status_of_plan(plan)


def test_a_surge_adds_before_it_takes_away() -> None:
    given = daemon_set(updateStrategy=SURGING)
    old = [daemon(given, f"n{number}", old=True) for number in (1, 2, 3)]
    first = plan_of(given, old)
    assert [target_node(one) for one in made(first, "Pod")] == ["n1"]
    coming = daemon(given, "n1", name="d-new", ready=False)
    assert shown(plan_of(given, [*old, coming])) == []
    there = daemon(given, "n1", name="d-new")
    assert shown(plan_of(given, [*old, there])) == ["delete Pod d-n1"]
    broken = daemon(given, "n2", old=True, ready=False)
    both = plan_of(given, [old[0], broken, old[2]])
    assert sorted(target_node(one) for one in made(both, "Pod")) == ["n1", "n2"]


def test_going_back_renumbers_the_old_revision() -> None:
    given = daemon_set()
    other = {**revision(given), "data": {}, "revision": 2}
    plan = plan_of(given, revisions=[revision(given), other], nodes=())
    assert plan.steps[0].verb is Verb.UPDATE
    assert plan.steps[0].object["revision"] == 3


def test_status() -> None:
    given = daemon_set()
    pods = [daemon(given, "n1"), daemon(given, "n2", ready=False), daemon(given, "gone")]
    assert status_of_plan(plan_of(given, pods)) == {
        "currentNumberScheduled": 2,
        "numberMisscheduled": 0,
        "desiredNumberScheduled": 3,
        "numberReady": 1,
        "observedGeneration": 1,
        "updatedNumberScheduled": 2,
        "numberAvailable": 1,
        "numberUnavailable": 2,
    }


def test_nothing_happens_to_a_set_that_is_being_deleted() -> None:
    assert plan_of(going(daemon_set()), revisions=()).steps == ()
