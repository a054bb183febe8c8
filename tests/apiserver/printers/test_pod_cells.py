"""Which of many states a pod's row shows."""

from __future__ import annotations

from typing import Any

import pytest

from celadon.apiserver.printers.cell_texts import pod_conditions
from celadon.apiserver.printers.tables import built_in_shape
from celadon.kube import GroupVersionResource

pod_cells = built_in_shape(GroupVersionResource("", "v1", "pods")).cells

RUNNING: dict[str, Any] = {"running": {}}
DONE = {"terminated": {"exitCode": 0, "reason": "Completed"}}
CRASHED = {"waiting": {"reason": "CrashLoopBackOff"}}
ENDED = "1970-01-01T00:00:40Z"


def status(name: str, state: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"name": name, "state": state, "ready": "running" in state, **more}


def pod(
    phase: str = "Running",
    containers: list[dict[str, Any]] | None = None,
    initial: list[dict[str, Any]] | None = None,
    sidecars: tuple[str, ...] = (),
    *,
    deleted: bool = False,
    reason: str = "",
    conditions: tuple[dict[str, str], ...] = (),
) -> dict[str, Any]:
    containers, initial = containers or [], initial or []
    meta = {"name": "p", "creationTimestamp": "1970-01-01T00:00:00Z"}
    if deleted:
        meta["deletionTimestamp"] = ENDED
    return {
        "metadata": meta,
        "spec": {
            "containers": [{"name": one["name"]} for one in containers] or [{"name": "c"}],
            "initContainers": [
                {"name": one["name"], "restartPolicy": "Always" if one["name"] in sidecars else ""}
                for one in initial
            ],
        },
        "status": {
            "phase": phase,
            "reason": reason,
            "conditions": list(conditions),
            "containerStatuses": containers,
            "initContainerStatuses": initial,
        },
    }


READY = {"type": "Ready", "status": "True"}
ROWS: list[tuple[str, dict[str, Any], tuple[str, str, str]]] = [
    ("pending", pod("Pending"), ("0/1", "Pending", "0")),
    ("running", pod(containers=[status("a", RUNNING)]), ("1/1", "Running", "0")),
    ("evicted", pod("Failed", reason="Evicted"), ("0/1", "Evicted", "0")),
    (
        "gated",
        pod("Pending", conditions=({"type": "PodScheduled", "reason": "SchedulingGated"},)),
        ("0/1", "SchedulingGated", "0"),
    ),
    (
        "the first container has the last word",
        pod(containers=[status("a", CRASHED, restartCount=2), status("b", DONE)]),
        ("0/2", "CrashLoopBackOff", "2"),
    ),
    (
        "restarts have a time",
        pod(
            containers=[
                status(
                    "a",
                    RUNNING,
                    restartCount=3,
                    lastState={"terminated": {"finishedAt": ENDED}},
                )
            ]
        ),
        ("1/1", "Running", "3 (60s ago)"),
    ),
    (
        "completed beside running",
        pod(containers=[status("a", DONE), status("b", RUNNING)]),
        ("1/2", "NotReady", "0"),
    ),
    (
        "completed beside running, ready",
        pod(containers=[status("a", DONE), status("b", RUNNING)], conditions=(READY,)),
        ("1/2", "Running", "0"),
    ),
    (
        "completed beside failed",
        pod(containers=[status("a", DONE), status("b", {"terminated": {"exitCode": 3}})]),
        ("0/2", "ExitCode:3", "0"),
    ),
    (
        "signal",
        pod(containers=[status("a", {"terminated": {"exitCode": 137, "signal": 9}})]),
        ("0/1", "Signal:9", "0"),
    ),
    (
        "initializing",
        pod("Pending", initial=[status("i", DONE, restartCount=1), status("j", {"waiting": {}})]),
        ("0/1", "Init:1/2", "1"),
    ),
    (
        "failed initialization",
        pod("Pending", initial=[status("i", {"terminated": {"exitCode": 1, "reason": "Error"}})]),
        ("0/1", "Init:Error", "0"),
    ),
    (
        "initialized all the same",
        pod(
            containers=[status("a", RUNNING)],
            initial=[status("i", RUNNING, restartCount=4)],
            conditions=({"type": "Initialized", "status": "True"},),
        ),
        ("1/1", "Init:0/1", "0"),
    ),
    (
        "sidecar",
        pod(
            containers=[status("a", RUNNING)],
            initial=[status("s", RUNNING, started=True, restartCount=2)],
            sidecars=("s",),
        ),
        ("2/2", "Running", "2"),
    ),
    ("deleted", pod(containers=[status("a", RUNNING)], deleted=True), ("1/1", "Terminating", "0")),
    ("deleted after its end", pod("Succeeded", deleted=True), ("0/1", "Succeeded", "0")),
    ("lost", pod(reason="NodeLost", deleted=True), ("0/1", "Unknown", "0")),
]


@pytest.mark.parametrize(("given", "want"), [row[1:] for row in ROWS], ids=[row[0] for row in ROWS])
def test_ready_status_restarts(given: dict[str, Any], want: tuple[str, str, str]) -> None:
    cells = pod_cells(given, 100.0)
    assert tuple(cells[1:4]) == want
    assert cells[4] == "100s"


def test_wide_cells() -> None:
    given = pod(conditions=(READY, {"type": "x", "status": "True"}))
    given["spec"] |= {
        "nodeName": "n1",
        "readinessGates": [{"conditionType": "x"}, {"conditionType": "y"}],
    }
    given["status"] |= {"podIPs": [{"ip": "10.0.0.1"}, {"ip": "::1"}], "nominatedNodeName": "n2"}
    assert pod_cells(given, 0)[5:] == ["10.0.0.1", "n1", "n2", "1/2"]
    assert pod_cells(pod(), 0)[5:] == ["<none>"] * 4


def test_conditions_of_a_row() -> None:
    assert pod_conditions(pod()) == []
    assert [one["reason"] for one in pod_conditions(pod("Failed"))] == ["Failed"]
