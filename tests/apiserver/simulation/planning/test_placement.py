"""On which node a pod may run, and why not on others."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from celadon.apiserver.simulation.planning.node_filters import (
    Neighbours,
    NodeState,
    PodSort,
    Rejection,
    amounts,
    fit_of,
    matches_term,
    needs,
    rejection_of,
    tolerates,
    unschedulable,
)
from celadon.apiserver.simulation.planning.node_scores import best_node, preemption_for

ZONE = "topology.kubernetes.io/zone"
HELPLESS = "3 Preemption is not helpful for scheduling"
VICTIMS = "3 No preemption victims found for incoming pod"


def node(name: str, cpu: str = "4", **spec: Any) -> dict[str, Any]:
    number = int(name[-1])
    labels = {"kubernetes.io/hostname": name, ZONE: f"z{number % 2}", "number": str(number)}
    allocatable = {"cpu": cpu, "memory": "8Gi", "pods": "3"}
    return {
        "metadata": {"name": name, "labels": labels},
        "spec": spec,
        "status": {"allocatable": allocatable},
    }


def pod(
    labels: Mapping[str, str] | None = None, namespace: str = "default", **spec: Any
) -> dict[str, Any]:
    requests = spec.pop("requests", {})
    ports = spec.pop("ports", [])
    containers = [{"name": "c", "resources": {"requests": requests}, "ports": ports}]
    meta = {"name": "p", "namespace": namespace, "labels": dict(labels or {})}
    return {"metadata": meta, "spec": {"containers": containers, **spec}}


def states(*placed: tuple[str, Any], nodes: Sequence[Any] = ()) -> list[NodeState]:
    made = [NodeState(one) for one in nodes or [node(f"n{number}") for number in (1, 2, 3)]]
    for name, one in placed:
        state = next(state for state in made if state.name == name)
        state.take(one, needs(one))
    return made


def found(wanted: Any, *placed: tuple[str, Any], nodes: Sequence[Any] = ()) -> str:
    spaces = {"default": {"team": "a"}, "other": {"team": "b"}}
    return decided(wanted, Neighbours(states(*placed, nodes=nodes), spaces))


def decided(wanted: Any, neighbours: Neighbours, budgets: Sequence[Any] = ()) -> str:
    fit = fit_of(wanted, neighbours)
    if fit.fitting:
        return best_node(wanted, fit.fitting, neighbours).name
    preemption = preemption_for(wanted, neighbours, fit.refusals, budgets)
    if preemption.state is not None:
        gone = ", ".join(one["metadata"]["name"] for one in preemption.victims)
        return f"{preemption.state.name} without {gone}"
    return unschedulable(fit.refusals, preemption.message)


def refused(reasons: str, preemption: str) -> str:
    told = f"0/3 nodes are available: {reasons}."
    useless = f"0/3 nodes are available: {preemption}."
    return f"{told} no new claims to deallocate, preemption: {useless}"


def term_of(app: str) -> dict[str, Any]:
    """A term about pods of an app, by node."""
    return {"labelSelector": {"matchLabels": {"app": app}}, "topologyKey": "kubernetes.io/hostname"}


def affinity(kind: str, **term: Any) -> dict[str, Any]:
    return {"affinity": {kind: {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}}


def near(kind: str = "podAffinity", topology: str = ZONE, **more: Any) -> dict[str, Any]:
    return affinity(
        kind, labelSelector={"matchLabels": {"app": "db"}}, topologyKey=topology, **more
    )


def required(*expressions: Any, **more: Any) -> dict[str, Any]:
    terms = {"nodeSelectorTerms": [{"matchExpressions": list(expressions), **more}]}
    return {"affinity": {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": terms}}}


def spread(skew: int = 1, **more: Any) -> dict[str, Any]:
    constraint = {
        "maxSkew": skew,
        "topologyKey": ZONE,
        "whenUnsatisfiable": "DoNotSchedule",
        "labelSelector": {"matchLabels": {"app": "db"}},
        **more,
    }
    return {"topologySpreadConstraints": [constraint]}


DB = {"app": "db"}
NAMED = {"key": "metadata.name", "operator": "In"}
TAINT = {"key": "gpu", "value": "yes", "effect": "NoSchedule"}
TAINTED = [node(f"n{number}", taints=[TAINT]) for number in (1, 2, 3)]
CORDONED = [node(f"n{number}", unschedulable=True) for number in (1, 2, 3)]


@pytest.mark.parametrize(
    ("wanted", "placed", "nodes", "expected"),
    [
        (pod(), [], (), "n1"),
        (pod(), [("n1", pod()), ("n2", pod())], (), "n3"),
        (pod(requests={"cpu": "3"}), [("n1", pod(requests={"cpu": "1500m"}))], (), "n2"),
        (pod(nodeSelector={"number": "2"}), [], (), "n2"),
        (pod(**required({"key": "number", "operator": "Gt", "values": ["2"]})), [], (), "n3"),
        (
            pod(
                **required(
                    matchFields=[{"key": "metadata.name", "operator": "In", "values": ["n2"]}]
                )
            ),
            [],
            (),
            "n2",
        ),
        (pod(tolerations=[{"operator": "Exists"}]), [], TAINTED, "n1"),
        (
            pod(ports=[{"hostPort": 80, "protocol": "TCP"}]),
            [("n1", pod(ports=[{"hostPort": 80, "protocol": "TCP", "hostIP": "10.0.0.1"}]))],
            (),
            "n2",
        ),
        (
            pod(ports=[{"hostPort": 80, "protocol": "UDP"}]),
            [("n1", pod(ports=[{"hostPort": 80, "protocol": "TCP"}]))],
            [node("n1")],
            "n1",
        ),
        (pod(**near()), [("n2", pod(DB))], (), "n2"),
        (pod(DB, **near()), [], (), "n1"),  # the first of them
        (pod(**near(namespaces=["other"])), [("n3", pod(DB, "other")), ("n2", pod(DB))], (), "n1"),
        (
            pod(**near(namespaceSelector={"matchLabels": {"team": "b"}})),
            [("n2", pod(DB, "other"))],
            (),
            "n2",
        ),
        (pod(**near("podAntiAffinity")), [("n1", pod(DB))], (), "n2"),
        (pod(DB), [("n2", pod(**near("podAntiAffinity")))], (), "n1"),
        (pod(DB, **spread()), [("n1", pod(DB))], (), "n2"),
        (pod(DB, **spread(2)), [("n1", pod(DB)), ("n2", pod()), ("n2", pod())], (), "n3"),
    ],
)
def test_a_node_that_will_do(
    wanted: Any, placed: list[tuple[str, Any]], nodes: Sequence[Any], expected: str
) -> None:
    assert found(wanted, *placed, nodes=nodes) == expected


FULL = [(f"n{number}", pod()) for number in (1, 2, 3) for _ in range(3)]


@pytest.mark.parametrize(
    ("wanted", "placed", "nodes", "expected"),
    [
        (pod(requests={"cpu": "5"}), [], (), refused("3 Insufficient cpu", HELPLESS)),
        (
            pod(requests={"cpu": "3", "memory": "9Gi"}),
            [(name, pod(requests={"cpu": "2"})) for name in ("n1", "n2", "n3")],
            (),
            refused("3 Insufficient cpu, 3 Insufficient memory", HELPLESS),
        ),
        (
            pod(requests={"cpu": "3"}),
            [(name, pod(requests={"cpu": "2"})) for name in ("n1", "n2", "n3")],
            (),
            refused("3 Insufficient cpu", VICTIMS),
        ),
        (pod(), FULL, (), refused("3 Too many pods", VICTIMS)),
        (pod(), [], TAINTED, refused("3 node(s) had untolerated taint(s)", HELPLESS)),
        (pod(), [], CORDONED, refused("3 node(s) were unschedulable", HELPLESS)),
        (
            pod(nodeSelector={"no": "where"}),
            [],
            (),
            refused("3 node(s) didn't match Pod's node affinity/selector", HELPLESS),
        ),
        (pod(**near()), [], (), refused("3 node(s) didn't match pod affinity rules", HELPLESS)),
        (
            pod(**near("podAntiAffinity", topology="kubernetes.io/hostname")),
            [(name, pod(DB)) for name in ("n1", "n2", "n3")],
            (),
            refused("3 node(s) didn't match pod anti-affinity rules", VICTIMS),
        ),
        (
            pod(DB, **spread(topologyKey="nothing")),
            [],
            (),
            refused(
                "3 node(s) didn't match pod topology spread constraints (missing required label)",
                HELPLESS,
            ),
        ),
        (
            pod(ports=[{"hostPort": 80}]),
            [(name, pod(ports=[{"hostPort": 80}])) for name in ("n1", "n2", "n3")],
            (),
            refused("3 node(s) didn't have free ports for the requested pod ports", VICTIMS),
        ),
        (
            pod(requests={"cpu": "5"}),
            [],
            [node("n1"), node("n2", taints=[TAINT]), node("n3", unschedulable=True)],
            refused(
                "1 Insufficient cpu, 1 node(s) had untolerated taint(s), "
                "1 node(s) were unschedulable",
                HELPLESS,
            ),
        ),
    ],
)
def test_why_no_node_will_do(
    wanted: Any, placed: list[tuple[str, Any]], nodes: Sequence[Any], expected: str
) -> None:
    assert found(wanted, *placed, nodes=nodes) == expected


def test_without_nodes() -> None:
    assert decided(pod(), Neighbours([], {})) == "no nodes available to schedule pods"


def test_who_may_not_make_others_leave_is_told_so() -> None:
    message = found(pod(requests={"cpu": "5"}, preemptionPolicy="Never"))
    assert message.endswith("preemption: not eligible due to preemptionPolicy=Never.")


@pytest.mark.parametrize(
    ("toleration", "expected"),
    [
        ({"key": "gpu", "operator": "Equal", "value": "yes"}, True),
        ({"key": "gpu", "value": "yes"}, True),
        ({"key": "gpu", "value": "no"}, False),
        ({"key": "gpu", "operator": "Exists"}, True),
        ({"key": "cpu", "operator": "Exists"}, False),
        ({"operator": "Exists"}, True),
        ({"operator": "Exists", "effect": "NoExecute"}, False),
        ({"operator": "Exists", "effect": "NoSchedule"}, True),
    ],
)
def test_tolerations(toleration: Any, expected: bool) -> None:
    assert tolerates([toleration], TAINT) is expected


def test_an_empty_term_matches_nothing() -> None:
    assert not matches_term({}, node("n1"))
    key = {"key": "nothing", "operator": "DoesNotExist"}
    assert matches_term({"matchExpressions": [key]}, node("n1"))


def soft(kind: str, weight: int = 10, topology: str = ZONE) -> dict[str, Any]:
    term = {"labelSelector": {"matchLabels": {"app": "db"}}, "topologyKey": topology}
    preferred = [{"weight": weight, "podAffinityTerm": term}]
    return {"affinity": {kind: {"preferredDuringSchedulingIgnoredDuringExecution": preferred}}}


def prefers(number: str, weight: int = 1) -> dict[str, Any]:
    wanted = {"matchExpressions": [{"key": "number", "operator": "In", "values": [number]}]}
    preferred = [{"weight": weight, "preference": wanted}]
    return {
        "affinity": {"nodeAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": preferred}}
    }


def owned(owner: str = "web") -> dict[str, Any]:
    made = pod()
    made["metadata"]["ownerReferences"] = [{"uid": owner, "controller": True}]
    return made


DB = pod({"app": "db"})
AVOIDED = [node("n1", taints=[{"key": "x", "effect": "PreferNoSchedule"}]), node("n2")]


@pytest.mark.parametrize(
    ("wanted", "placed", "nodes", "name"),
    [
        (pod(**soft("podAffinity")), [("n2", DB)], [], "n2"),
        (pod(**soft("podAntiAffinity", topology="kubernetes.io/hostname")), [("n1", DB)], [], "n2"),
        (pod(**soft("podAntiAffinity")), [("n1", DB)], [], "n2"),
        (DB, [("n3", pod(**soft("podAffinity")))], [], "n1"),
        (DB, [("n2", pod(**soft("podAffinity")))], [], "n2"),
        (pod(**prefers("3")), [("n3", pod())], [], "n3"),
        (pod(), [], AVOIDED, "n2"),
        (pod(tolerations=[{"operator": "Exists"}]), [], AVOIDED, "n1"),
        (pod(requests={"cpu": "1"}), [("n1", pod(requests={"cpu": "2"}))], [], "n2"),
        (owned(), [("n1", owned()), ("n2", owned("other")), ("n2", owned("other"))], [], "n2"),
        (
            pod({"app": "db"}, **spread(whenUnsatisfiable="ScheduleAnyway")),
            [("n1", DB), ("n2", pod())],
            [],
            "n2",
        ),
    ],
)
def test_the_best_node_is_taken(wanted: Any, placed: Any, nodes: Sequence[Any], name: str) -> None:
    assert found(wanted, *placed, nodes=nodes) == name


def ranked(name: str, priority: int, cpu: str = "2", **more: Any) -> dict[str, Any]:
    made = pod(priority=priority, requests={"cpu": cpu}, **more)
    return {**made, "metadata": {**made["metadata"], "name": name, "labels": {"name": name}}}


def budget(name: str) -> dict[str, Any]:
    return {
        "metadata": {"name": name, "namespace": "default"},
        "spec": {"selector": {"matchLabels": {"name": name}}},
        "status": {"disruptionsAllowed": 0},
    }


PREEMPTION = [
    # the least important pod goes, and only as many as have to
    ([("n1", ranked("a", 1)), ("n1", ranked("b", 2))], [], "n1 without a"),
    # the node where the most important victim is the least important one
    ([("n1", ranked("a", 3, "3")), ("n2", ranked("b", 2, "3"))], [], "n2 without b"),
    # one of equal pods rather than two
    (
        [("n1", ranked("a", 1)), ("n1", ranked("b", 1)), ("n2", ranked("c", 1, "4"))],
        [],
        "n2 without c",
    ),
    # a budget is respected where there is another way
    ([("n1", ranked("a", 1, "4")), ("n2", ranked("b", 2, "4"))], [budget("a")], "n2 without b"),
]


@pytest.mark.parametrize(("placed", "budgets", "told"), PREEMPTION)
def test_who_makes_room(placed: Any, budgets: Any, told: str) -> None:
    cpu = "4" if told.endswith("c") else "2"
    nodes = [node("n1"), node("n2")] if len({name for name, _ in placed}) > 1 else [node("n1")]
    neighbours = Neighbours(states(*placed, nodes=nodes), {})
    assert decided(ranked("high", 10, cpu), neighbours, budgets) == told


@pytest.mark.parametrize(
    ("wanted", "said"),
    [
        (ranked("high", 0), "1 No preemption victims found for incoming pod"),
        (ranked("high", 10, "5"), "1 Preemption is not helpful for scheduling"),
        (ranked("high", 2, "3"), "1 Insufficient cpu"),
    ],
)
def test_why_nobody_makes_room(wanted: Any, said: str) -> None:
    placed = [("n1", ranked("a", 1, "1")), ("n1", ranked("b", 5, "3"))]
    told = decided(wanted, Neighbours(states(*placed, nodes=[node("n1")]), {}))
    assert told.endswith(f"preemption: 0/1 nodes are available: {said}.")


def test_a_pod_for_which_others_go_waits_for_them() -> None:
    going = ranked("a", 1, "4")
    going["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z"
    wanted = {**ranked("high", 10), "status": {"nominatedNodeName": "n1"}}
    told = decided(wanted, Neighbours(states(("n1", going), nodes=[node("n1")]), {}))
    assert told.endswith("not eligible due to a terminating pod on the nominated node.")


# --- Neighbours that are kept ---

SORTS = [
    pod({"app": "db"}),
    pod({"app": "db"}, namespace="other", **affinity("podAntiAffinity", **term_of("db"))),
    pod({"app": "web"}, **affinity("podAffinity", **term_of("db"))),
    pod({"app": "web"}, **soft("podAntiAffinity")),
    pod({"app": "all"}, **affinity("podAntiAffinity", **term_of("web"), namespaceSelector={})),
    pod({"app": "even"}, **spread()),
    owned(),
]


@given(st.lists(st.tuples(st.integers(0, 6), st.integers(1, 3), st.booleans()), max_size=12))
def test_pods_that_came_and_went_leave_no_trace(steps: list[tuple[int, int, bool]]) -> None:
    spaces = {"default": {"team": "a"}, "other": {"team": "b"}}
    kept = Neighbours(states(), spaces)
    placed: list[tuple[str, Any]] = []
    for sort, number, goes in steps:
        for wanted in SORTS:  # all sorts have been counted before
            decided(wanted, kept)
        if goes and placed:
            name, one = placed.pop(sort % len(placed))
            kept.leave(next(state for state in kept.states if state.name == name), one)
        else:
            name, one = f"n{number}", dict(SORTS[sort])
            kept.take(kept.states[number - 1], one, needs(one))
            placed.append((name, one))
        anew = Neighbours(states(*placed), spaces)
        assert [decided(one, kept) for one in SORTS] == [decided(one, anew) for one in SORTS]


@pytest.mark.parametrize("kind", ["podAffinity", "podAntiAffinity"])
def test_what_a_pod_costs_does_not_depend_on_the_others(
    kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[PodSort] = []
    matches = PodSort.matches

    def counted(sort: PodSort, *given: Any) -> bool:
        asked.append(sort)
        return matches(sort, *given)

    monkeypatch.setattr(PodSort, "matches", counted)
    looks = []
    for count in (10, 20, 40):
        nodes = [node(f"n{number}") for number in range(1, 10)]
        for one in nodes:
            one["status"]["allocatable"]["pods"] = "1000"
        kept = Neighbours(states(nodes=nodes), {})
        asked.clear()
        for number in range(count):
            for _ in range(3):
                one = pod({"app": str(number)}, **affinity(kind, **term_of(str(number))))
                kept.take(fit_of(one, kept).fitting[0], one, {})
        looks.append(len(asked))
    assert looks[2] - looks[1] == 2 * (looks[1] - looks[0])


SYSTEM = "kubernetes.io/os"


@pytest.mark.parametrize(
    ("more", "reason", "message"),
    [
        ({"cpu": "3"}, "", ""),
        (
            {"cpu": "3500m"},
            "OutOfcpu",
            "Node didn't have enough resource: cpu, requested: 3500, used: 1000, capacity: 4000",
        ),
        (
            {"cpu": "1", "nodeSelector": {"disk": "fast"}},
            "NodeAffinity",
            "Predicate NodeAffinity failed: node(s) didn't match Pod's node affinity/selector",
        ),
        (
            {"cpu": "1", "port": 80},
            "NodePorts",
            "Predicate NodePorts failed: node(s) didn't have free ports for the requested pod "
            "ports",
        ),
        (
            {"cpu": "1", "os": {"name": "windows"}},
            "PodOSNotSupported",
            "Failed to admit pod as the OS field doesn't match node OS",
        ),
        ({"cpu": "1", "os": {"name": "linux"}}, "", ""),
        ({"cpu": "1", "lacks": "example.com/gpu"}, "", ""),
    ],
)
def test_why_a_node_does_not_take_a_pod(more: dict[str, Any], reason: str, message: str) -> None:
    rejection = rejected(**more)
    assert rejection == (Rejection(reason, message) if reason else None)


def rejected(
    cpu: str, port: int = 0, lacks: str = "", labels: dict[str, str] | None = None, **spec: Any
) -> Rejection | None:
    """Why `node-1`, where a pod of one CPU has the port 80, does not take another pod."""
    state = NodeState(node("node-1"))
    taken = {"spec": {"containers": [{"ports": [{"hostPort": 80}]}]}}
    state.take(taken, {"cpu": 1000})
    ports = [{"hostPort": port}] if port else []
    new = {"metadata": {"labels": labels or {}}, "spec": {"containers": [{"ports": ports}], **spec}}
    requests = amounts({"cpu": cpu, **({lacks: "1"} if lacks else {})})
    return rejection_of(new, requests, state)


def test_a_label_that_names_another_system_is_refused() -> None:
    rejection = rejected("1", labels={SYSTEM: "windows"})
    assert rejection is not None
    assert rejection.reason == "PodOSSelectorNodeLabelDoesNotMatch"
    assert rejected("1", labels={SYSTEM: "linux"}) is None


def test_a_node_takes_no_more_pods_than_it_has_room_for() -> None:
    state = NodeState({"metadata": {"name": "n"}, "status": {"allocatable": {"pods": "1"}}})
    assert rejection_of({}, {}, state) is None
    state.take({}, {})
    text = "Node didn't have enough resource: pods, requested: 1, used: 1, capacity: 1"
    assert rejection_of({}, {}, state) == Rejection("OutOfpods", text)
