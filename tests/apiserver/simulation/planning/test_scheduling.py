"""On which node a pod may run, and why not on others."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from celadon.apiserver.simulation.planning.scheduling import (
    Neighbours,
    NodeState,
    matches_term,
    needs,
    place,
    tolerates,
)

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
    result = place(wanted, Neighbours(states(*placed, nodes=nodes), spaces))
    return result if isinstance(result, str) else result.name


def refused(reasons: str, preemption: str) -> str:
    told = f"0/3 nodes are available: {reasons}."
    useless = f"0/3 nodes are available: {preemption}."
    return f"{told} no new claims to deallocate, preemption: {useless}"


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
    assert place(pod(), Neighbours([], {})) == "no nodes available to schedule pods"


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
