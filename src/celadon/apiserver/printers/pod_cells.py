"""The cells of pods: which of many states is shown as the pod's status, and who counts as ready.

As `printPod` in k8s.io/kubernetes `pkg/printers/internalversion/printers.go`. Init containers are
looked at in order until one has not finished; if none is left (or the pod says that it is
initialized) the containers speak, the first of them with the last word.
"""

from __future__ import annotations

from typing import Any, Final

from celadon.apiserver.printers import cell_texts as texts
from celadon.kube import JsonObject, metadata
from celadon.kube.releases import is_since
from celadon.kube.well_known_values import ENDED_PHASES
from celadon.records import dataclass

_GATED: Final = "SchedulingGated"
_NODE_LOST: Final = "NodeLost"
_COMPLETED: Final = {
    "Succeeded": "The pod has completed successfully.",
    "Failed": "The pod failed.",
}


@dataclass(frozen=True, slots=True)
class PodSummary:
    """`last_restart` is when a container last ended before it was started again; empty if none."""

    reason: str
    ready: int
    restarts: int
    last_restart: str


def pod_ready(pod: JsonObject, row: texts.Row) -> texts.Cell:
    """Return how many containers are ready, of how many that go on running."""
    total = len(texts.items(pod, "spec", "containers")) + len(_sidecars(pod))
    return f"{_summary(row).ready}/{total}"


def pod_restarts(pod: JsonObject, row: texts.Row) -> texts.Cell:
    """Return how often containers were started again, and when the last one ended before that."""
    summary = _summary(row)
    if summary.restarts and summary.last_restart:
        return f"{summary.restarts} ({texts.since(summary.last_restart, row.now)} ago)"
    return str(summary.restarts)


def _summary(row: texts.Row) -> PodSummary:
    """The summary of the pod of a row, which three cells need."""
    summary: PodSummary | None = row.results.get("pod")
    if summary is None:
        summary = row.results["pod"] = summarized(row.obj)
    return summary


def pod_conditions(pod: JsonObject) -> list[dict[str, str]]:
    """The conditions of the row: whether the pod has come to its end."""
    phase = texts.text(pod, "status", "phase")
    message = _COMPLETED.get(phase)
    if message is None:
        return []
    return [{"type": "Completed", "status": "True", "reason": phase, "message": message}]


def summarized(pod: JsonObject) -> PodSummary:
    """Return what the statuses of all containers come to."""
    sidecars = _sidecars(pod)
    statuses = texts.items(pod, "status", "initContainerStatuses")
    reason, ready, looked_at = "", 0, []
    for index, status in enumerate(statuses):
        looked_at.append(status)
        if _has_succeeded(status):
            continue
        if texts.text(status, "name") in sidecars and status.get("started"):
            ready += bool(status.get("ready"))
            continue
        reason = _initial_reason(pod, status, index)
        break
    if reason and not texts.is_true(pod, "Initialized"):
        return PodSummary(reason, ready, _restarts(looked_at), _last_restart(looked_at))
    restarted = [one for one in looked_at if texts.text(one, "name") in sidecars]
    return _running(pod, reason or _pod_reason(pod), ready, restarted)


def _has_succeeded(status: JsonObject) -> bool:
    terminated = texts.at(status, "state", "terminated")
    return terminated is not None and not texts.number(terminated, "exitCode")


def _initial_reason(pod: JsonObject, status: JsonObject, index: int) -> str:
    terminated = texts.at(status, "state", "terminated")
    if terminated is not None:
        return f"Init:{_end(terminated)}"
    waiting = texts.text(status, "state", "waiting", "reason")
    if waiting and waiting != "PodInitializing":
        return f"Init:{waiting}"
    return f"Init:{index}/{len(texts.items(pod, 'spec', 'initContainers'))}"


def _running(pod: JsonObject, reason: str, ready: int, sidecars: list[Any]) -> PodSummary:
    """Return what the containers say, the first with the last word."""
    failure, running = "", 0
    statuses = texts.items(pod, "status", "containerStatuses")
    for status in reversed(statuses):
        terminated = texts.at(status, "state", "terminated")
        waiting = texts.text(status, "state", "waiting", "reason")
        if waiting:
            reason = waiting
        elif terminated is not None:
            reason = _end(terminated)
            failure = reason if texts.number(terminated, "exitCode") else failure
        elif status.get("ready") and texts.at(status, "state", "running") is not None:
            running += 1
    if reason == "Completed":
        reason = _beside_completed(pod, running, failure)
    restarted = [*sidecars, *statuses]
    return PodSummary(reason, ready + running, _restarts(restarted), _last_restart(restarted))


def _beside_completed(pod: JsonObject, running: int, failure: str) -> str:
    """The status when the first container has completed."""
    if running and is_ready(pod):
        return "Running"
    if not is_since("1.35"):
        failure = ""
    return failure or ("NotReady" if running else "Completed")


def is_ready(pod: JsonObject) -> bool:
    """Return whether any condition says so."""
    conditions = texts.items(pod, "status", "conditions")
    return any(one.get("type") == "Ready" and one.get("status") == "True" for one in conditions)


def _pod_reason(pod: JsonObject) -> str:
    for condition in texts.items(pod, "status", "conditions"):
        if condition.get("type") == "PodScheduled" and condition.get("reason") == _GATED:
            return _GATED
    return texts.text(pod, "status", "reason") or texts.text(pod, "status", "phase")


def pod_status(pod: JsonObject, row: texts.Row) -> texts.Cell:
    """Return why the pod is as it is, in a word."""
    if metadata.deletion_timestamp(pod):
        if texts.text(pod, "status", "reason") == _NODE_LOST:
            return "Unknown"
        if texts.text(pod, "status", "phase") not in ENDED_PHASES or not is_since("1.31"):
            return "Terminating"
    return _summary(row).reason


def _end(terminated: JsonObject) -> str:
    """Return why a container has ended."""
    reason = texts.text(terminated, "reason")
    if reason:
        return reason
    signal = texts.number(terminated, "signal")
    return f"Signal:{signal}" if signal else f"ExitCode:{texts.number(terminated, 'exitCode')}"


def _sidecars(pod: JsonObject) -> set[str]:
    """The names of init containers that go on running beside the others."""
    return {
        texts.text(one, "name")
        for one in texts.items(pod, "spec", "initContainers")
        if one.get("restartPolicy") == "Always"
    }


def _restarts(statuses: list[Any]) -> int:
    return sum(texts.number(one, "restartCount") for one in statuses)


def _last_restart(statuses: list[Any]) -> str:
    """Timestamps of one form are ordered like their texts."""
    ends = (texts.text(one, "lastState", "terminated", "finishedAt") for one in statuses)
    return max(ends, default="")


def pod_readiness_gates(pod: JsonObject, row: texts.Row) -> texts.Cell:
    """Return how many of the conditions hold that the pod waits for."""
    gates = texts.items(pod, "spec", "readinessGates")
    if not gates:
        return texts.NONE
    passed = sum(texts.is_true(pod, texts.text(gate, "conditionType")) for gate in gates)
    return f"{passed}/{len(gates)}"
