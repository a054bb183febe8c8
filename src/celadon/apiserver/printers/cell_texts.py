"""The functions that make texts of cells: members of an object, ages, lists cut short, selectors;
and the cells of pods.

Objects have been validated, so a member has the type that its schema says, or is not there. Times
are seconds since 1970; the time of asking is always an argument.
"""

from __future__ import annotations

import datetime
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final, TypeAlias

from celadon.kube import JsonObject, metadata
from celadon.kube.json_types import JsonDict
from celadon.kube.quantity import QuantityError, parse
from celadon.kube.releases import is_since
from celadon.kube.resources import UNKNOWN_AGE, human_duration
from celadon.kube.selectors import SelectorError, label_selector
from celadon.kube.well_known_values import ENDED_PHASES, ZERO_TIME
from celadon.records import dataclass

Cell: TypeAlias = str | int | float | bool | None
CellsOf: TypeAlias = Callable[[JsonObject, float], list[Cell]]
"""The cells of an object at a time, in the order of the kind's columns."""


@dataclass(frozen=True, slots=True)
class Row:
    """Holds what the cells of one row share. `results` are what one cell has worked out for
    others."""

    obj: JsonObject
    now: float
    results: JsonDict


NONE: Final = "<none>"
UNSET: Final = "<unset>"
UNKNOWN: Final = "<unknown>"
INVALID: Final = "<invalid>"

SHOWN: Final = 3
"""How many addresses, ports and hosts a cell names."""

LONGEST: Final = (2**63 - 1) // 10**9
"""Seconds in the longest duration that Go knows; differences beyond it count as that."""


def at(value: object, *path: str) -> Any:  # noqa: ANN401 - any JSON
    """Return the value that the members lead to; None where one is not there."""
    for name in path:
        if not isinstance(value, Mapping):
            return None
        value = value.get(name)
    return value


def text(value: object, *path: str) -> str:
    """Return a text; empty where there is none."""
    result = at(value, *path)
    return result if isinstance(result, str) else ""


def number(value: object, *path: str) -> int:
    """Return an integer; 0 where there is none."""
    result = at(value, *path)
    return result if isinstance(result, int) else 0


def items(value: object, *path: str) -> Sequence[Any]:
    """Return a list; empty where there is none."""
    result = at(value, *path)
    return result if isinstance(result, list) else ()


def size(value: object, *path: str) -> int:
    """Return how many members or elements there are."""
    result = at(value, *path)
    return len(result) if isinstance(result, list | Mapping) else 0


def seconds(timestamp: str) -> float:
    """Return the seconds of a timestamp as objects have it, in RFC 3339 and UTC."""
    return datetime.datetime.fromisoformat(timestamp).timestamp()


def pointed_time(value: object, *path: str) -> str | None:
    """Return a time that Go holds by a pointer, the zero time where null is written; None where
    there is none."""
    *way, name = path
    holder = at(value, *way)
    if not isinstance(holder, Mapping) or name not in holder:
        return None
    return text(holder, name) or ZERO_TIME


def since(timestamp: str, now: float) -> str:
    """Return how long ago; `<unknown>` for a time that is not set, or the zero time."""
    if timestamp in ("", ZERO_TIME):
        return UNKNOWN_AGE
    return elapsed(now - seconds(timestamp))


def elapsed(duration: float) -> str:
    """Return a number of seconds for human eyes."""
    return human_duration(int(max(-LONGEST, min(duration, LONGEST))))


def joined(values: Sequence[str], *, separator: str = ",", total: int | None = None) -> str:
    """Return the values given, and how many more there are when `total` says so."""
    message = separator.join(values)
    rest = 0 if total is None else total - len(values)
    return f"{message} + {rest} more..." if rest > 0 else message


def first_three(values: Sequence[str], default: str) -> str:
    """Join as many of the values as are shown, and the number of the others."""
    return joined(values[:SHOWN], total=len(values)) if values else default


def labels_text(labels: Any) -> str:  # noqa: ANN401 - any JSON
    """`a-b=x,a=y`, sorted as they are written; `<none>` without any."""
    if not labels:
        return NONE
    return ",".join(sorted(f"{key}={value}" for key, value in labels.items()))


def selector_text(selector: Any, empty: str = NONE, broken: str = "<error>") -> str:  # noqa: ANN401
    """Return the canonical text of a label selector; `empty` for one that selects all or
    nothing."""
    try:
        return str(label_selector(selector)) or empty
    except SelectorError:
        return broken


def quantity_text(amount: object) -> str:
    """Return an amount in its canonical form; `0` where there is none."""
    if amount is None:
        return "0"
    try:
        return str(parse(str(amount)))
    except QuantityError:
        return str(amount)


def condition(obj: object, kind: str) -> JsonObject | None:
    """Return the first condition of a type in `status`."""
    status = items(obj, "status", "conditions")
    return next((item for item in status if text(item, "type") == kind), None)


def is_true(obj: JsonObject, kind: str) -> bool:
    """Return whether the first condition of this type holds."""
    result = condition(obj, kind)
    return result is not None and text(result, "status") == "True"


def texts(values: Iterable[Any], member: str) -> list[str]:
    """Return the texts of one member of each object in a list."""
    return [text(value, member) for value in values]


# --- Cells of pods -----------------------------------------------------------
#
# Which of many states is shown as the status of a pod, and who counts as ready.
#
# As `printPod` in k8s.io/kubernetes `pkg/printers/internalversion/printers.go`. Init containers
# are looked at in order until one has not finished; if none is left (or the pod says that it is
# initialized) the containers speak, the first of them with the last word.

_GATED: Final = "SchedulingGated"
_NODE_LOST: Final = "NodeLost"
_COMPLETED: Final = {
    "Succeeded": "The pod has completed successfully.",
    "Failed": "The pod failed.",
}


@dataclass(frozen=True, slots=True)
class PodSummary:
    """Holds what the columns of a pod show. `last_restart` is when a container last ended before it
    was started again; empty if none."""

    reason: str
    ready: int
    restarts: int
    last_restart: str


def pod_ready(pod: JsonObject, row: Row) -> Cell:
    """Return how many containers are ready, of how many that go on running."""
    total = len(items(pod, "spec", "containers")) + len(_sidecars(pod))
    return f"{_summary(row).ready}/{total}"


def pod_restarts(pod: JsonObject, row: Row) -> Cell:
    """Return how often containers were started again, and when the last one ended before that."""
    summary = _summary(row)
    if summary.restarts and summary.last_restart:
        return f"{summary.restarts} ({since(summary.last_restart, row.now)} ago)"
    return str(summary.restarts)


# `row.results` is there for this: one walk over the statuses instead of three for each pod of a
# list.
def _summary(row: Row) -> PodSummary:
    """Return the summary of the pod of a row, which three cells need."""
    summary: PodSummary | None = row.results.get("pod")
    if summary is None:
        summary = row.results["pod"] = summarized(row.obj)
    return summary


def pod_conditions(pod: JsonObject) -> list[dict[str, str]]:
    """Return the conditions of the row: whether the pod has come to its end."""
    phase = text(pod, "status", "phase")
    message = _COMPLETED.get(phase)
    if message is None:
        return []
    return [{"type": "Completed", "status": "True", "reason": phase, "message": message}]


# As `printPod` of k8s.io/kubernetes `pkg/printers/internalversion/printers.go`. The cell STATUS is
# not the phase: the first init container that has not succeeded has the word, then the containers
# from the last to the first, so that the first one overrules the others.
def summarized(pod: JsonObject) -> PodSummary:
    """Return what the statuses of all containers come to."""
    sidecars = _sidecars(pod)
    statuses = items(pod, "status", "initContainerStatuses")
    reason, ready, looked_at = "", 0, []
    for index, status in enumerate(statuses):
        looked_at.append(status)
        if _has_succeeded(status):
            continue
        if text(status, "name") in sidecars and status.get("started"):
            ready += bool(status.get("ready"))
            continue
        reason = _initial_reason(pod, status, index)
        break
    if reason and not is_true(pod, "Initialized"):
        return PodSummary(reason, ready, _restarts(looked_at), _last_restart(looked_at))
    restarted = [item for item in looked_at if text(item, "name") in sidecars]
    return _running(pod, reason or _pod_reason(pod), ready, restarted)


def _has_succeeded(status: JsonObject) -> bool:
    terminated = at(status, "state", "terminated")
    return terminated is not None and not number(terminated, "exitCode")


def _initial_reason(pod: JsonObject, status: JsonObject, index: int) -> str:
    terminated = at(status, "state", "terminated")
    if terminated is not None:
        return f"Init:{_end(terminated)}"
    waiting = text(status, "state", "waiting", "reason")
    if waiting and waiting != "PodInitializing":
        return f"Init:{waiting}"
    return f"Init:{index}/{len(items(pod, 'spec', 'initContainers'))}"


def _running(pod: JsonObject, reason: str, ready: int, sidecars: list[Any]) -> PodSummary:
    """Return what the containers say, the first with the last word."""
    failure, running = "", 0
    statuses = items(pod, "status", "containerStatuses")
    for status in reversed(statuses):
        terminated = at(status, "state", "terminated")
        waiting = text(status, "state", "waiting", "reason")
        if waiting:
            reason = waiting
        elif terminated is not None:
            reason = _end(terminated)
            failure = reason if number(terminated, "exitCode") else failure
        elif status.get("ready") and at(status, "state", "running") is not None:
            running += 1
    if reason == "Completed":
        reason = _beside_completed(pod, running, failure)
    restarted = [*sidecars, *statuses]
    return PodSummary(reason, ready + running, _restarts(restarted), _last_restart(restarted))


def _beside_completed(pod: JsonObject, running: int, failure: str) -> str:
    """Return the status when the first container has completed."""
    # A container that has done its work beside one that runs on does not make the pod complete.
    if running and is_ready(pod):
        return "Running"
    # Before that a container that had failed was hidden behind one that had completed.
    if not is_since("1.35"):
        failure = ""
    return failure or ("NotReady" if running else "Completed")


def is_ready(pod: JsonObject) -> bool:
    """Return whether any condition says so."""
    conditions = items(pod, "status", "conditions")
    return any(
        condition.get("type") == "Ready" and condition.get("status") == "True"
        for condition in conditions
    )


def _pod_reason(pod: JsonObject) -> str:
    for condition in items(pod, "status", "conditions"):
        if condition.get("type") == "PodScheduled" and condition.get("reason") == _GATED:
            return _GATED
    return text(pod, "status", "reason") or text(pod, "status", "phase")


def pod_status(pod: JsonObject, row: Row) -> Cell:
    """Return why the pod is as it is, in a word."""
    if metadata.deletion_timestamp(pod):
        # Nobody knows of such a pod whether it still runs, so it is not called terminating.
        if text(pod, "status", "reason") == _NODE_LOST:
            return "Unknown"
        if text(pod, "status", "phase") not in ENDED_PHASES or not is_since("1.31"):
            return "Terminating"
    return _summary(row).reason


# As `printPod`: the runtime's word, else what the process ended with.
def _end(terminated: JsonObject) -> str:
    """Return why a container has ended."""
    reason = text(terminated, "reason")
    if reason:
        return reason
    signal = number(terminated, "signal")
    return f"Signal:{signal}" if signal else f"ExitCode:{number(terminated, 'exitCode')}"


def _sidecars(pod: JsonObject) -> set[str]:
    """Return the names of init containers that go on running beside the others."""
    return {
        text(item, "name")
        for item in items(pod, "spec", "initContainers")
        if item.get("restartPolicy") == "Always"
    }


def _restarts(statuses: list[Any]) -> int:
    return sum(number(status, "restartCount") for status in statuses)


def _last_restart(statuses: list[Any]) -> str:
    """Timestamps of one form are ordered like their texts."""
    ends = (text(status, "lastState", "terminated", "finishedAt") for status in statuses)
    return max(ends, default="")


def pod_readiness_gates(pod: JsonObject, row: Row) -> Cell:
    """Return how many of the conditions hold that the pod waits for."""
    gates = items(pod, "spec", "readinessGates")
    if not gates:
        return NONE
    passed = sum(is_true(pod, text(gate, "conditionType")) for gate in gates)
    return f"{passed}/{len(gates)}"
