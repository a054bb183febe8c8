"""The debugging pages of flow control, which dump priority levels, queues and requests.

Three tables under `/debug/api_priority_and_fairness/`: of levels, of their queues, and of requests
that execute or wait. As k8s.io/apiserver `pkg/util/flowcontrol/apf_controller_debug.go`, with the
layout of Go's `text/tabwriter`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Final

from celadon.apiserver.flowcontrol import priority_levels
from celadon.apiserver.flowcontrol.priority_levels import Estimate
from celadon.apiserver.request_info import RequestInfo
from celadon.kube import User
from celadon.kube.go import ZERO_TIME
from celadon.records import dataclass

PAGES: Final = "/debug/api_priority_and_fairness/"

_LEVEL_COLUMNS: Final = (
    "PriorityLevelName",
    "ActiveQueues",
    "IsIdle",
    "IsQuiescing",
    "WaitingRequests",
    "ExecutingRequests",
    "DispatchedRequests",
    "RejectedRequests",
    "TimedoutRequests",
    "CancelledRequests",
)
# The names are upstream's to the letter, `FlowDistingsher` among them.
_QUEUE_COLUMNS: Final = (
    "PriorityLevelName",
    "Index",
    "PendingRequests",
    "ExecutingRequests",
    "SeatsInUse",
    "NextDispatchR",
    "InitialSeatsSum",
    "MaxSeatsSum",
    "TotalWorkSum",
)
_REQUEST_COLUMNS: Final = (
    "PriorityLevelName",
    "FlowSchemaName",
    "QueueIndex",
    "RequestIndexInQueue",
    "FlowDistingsher",
    "ArriveTime",
    "InitialSeats",
    "FinalSeats",
    "AdditionalLatency",
    "StartTime",
)
_DETAIL_COLUMNS: Final = (
    "UserName",
    "Verb",
    "APIPath",
    "Namespace",
    "Name",
    "APIVersion",
    "Resource",
    "SubResource",
)

# As `tabwriter.NewWriter(w, 8, 0, 1, ' ', 0)` lays it out.
_LEAST_WIDTH: Final = 8
_SEAT_SECOND: Final = 10**8
"""As how many parts upstream counts it."""


@dataclass(slots=True, eq=False)
class Present:
    """A request that executes or waits. Times are seconds since 1970; `began` is None as long as it
    waits."""

    flow: priority_levels.Flow
    turn: priority_levels.Turn
    user: User
    info: RequestInfo
    arrived: float
    began: float | None = None


def levels_dump(
    levels: Mapping[str, priority_levels.PriorityLevel],
    present: Iterable[Present],
    dispatched: Mapping[str, int],
    rejected: Mapping[tuple[str, ...], float],
) -> str:
    """Return the table of levels. What there was until now is told by level (`dispatched`), or by
    level, schema and reason (`rejected`)."""
    executing = Counter(present.flow.level.name for present in present if present.turn.is_executing)
    reasons: dict[str, Counter[str]] = {name: Counter() for name in levels}
    for (name, _, reason), count in rejected.items():
        if name in reasons:
            reasons[name][reason] += int(count)
    rows = []
    for name, level in sorted(levels.items()):
        lengths = [len(queue.waiting) for queue in level.queues]
        is_idle = not executing[name] and not sum(lengths)
        row = (
            sum(map(bool, lengths)),
            str(is_idle).lower(),
            # No level is quiescing here: what is deleted is gone, and its requests have moved on.
            "false",
            sum(lengths),
            executing[name],
            dispatched.get(name, 0),
            reasons[name].total(),
            0,
            reasons[name][priority_levels.TOO_LATE] + reasons[name][priority_levels.CANCELLED],
        )
        rows.append((name, *map(str, row)))
    return table([_LEVEL_COLUMNS, *rows])


def queues_dump(
    levels: Mapping[str, priority_levels.PriorityLevel], present: Iterable[Present]
) -> str:
    """Return the table of the queues of all levels."""
    executing = Counter(id(present.turn.queue) for present in present if present.turn.is_executing)
    rows = [
        (name, str(index), *_queue(queue, executing[id(queue)]))
        for name, level in sorted(levels.items())
        for index, queue in enumerate(level.queues)
    ]
    return table([_QUEUE_COLUMNS, *rows])


def _queue(queue: priority_levels.Queue, executing: int) -> tuple[str, ...]:
    estimates = [turn.estimate for turn in queue.waiting]
    return (
        str(len(estimates)),
        str(executing),
        str(queue.executing),
        _seat_seconds(queue.turn_time),
        str(sum(estimate.seats for estimate in estimates)),
        str(sum(estimate.width for estimate in estimates)),
        _seat_seconds(sum(estimate.seat_seconds for estimate in estimates)),
    )


def requests_dump(
    levels: Mapping[str, priority_levels.PriorityLevel],
    present: Iterable[Present],
    *,
    detailed: bool,
) -> str:
    """Return the table of requests, by level and queue, those that wait first."""
    by_level: dict[str, list[Present]] = {name: [] for name in levels}
    for item in present:
        by_level.setdefault(item.flow.level.name, []).append(item)
    rows = []
    for _, requests in sorted(by_level.items()):
        result = [(*_place(request), request) for request in requests]
        result.sort(key=lambda row: (row[0] < 0, row[0], row[1] < 0, row[1]))
        rows += [_request(*row, detailed=detailed) for row in result]
    columns = (*_REQUEST_COLUMNS, *_DETAIL_COLUMNS) if detailed else _REQUEST_COLUMNS
    return table([columns, *rows])


# Upstream's numbers: a request that executes has no place in its queue, and one that nothing limits
# has no queue.
def _place(present: Present) -> tuple[int, int]:
    """Return the queue, and the place in it; -1 for none."""
    queue = present.turn.queue
    if queue is None:
        return -1, -1
    index = present.flow.level.queues.index(queue)
    waits = present.turn in queue.waiting
    return index, list(queue.waiting).index(present.turn) if waits else -1


def _request(queue: int, place: int, present: Present, *, detailed: bool) -> tuple[str, ...]:
    estimate: Estimate = present.turn.estimate
    row = (
        present.flow.level.name,
        present.flow.labels[1],
        str(queue),
        str(place),
        present.flow.distinguisher,
        _time(present.arrived),
        str(estimate.seats),
        str(estimate.final_seats),
        _duration(estimate.final_seconds),
        ZERO_TIME if present.began is None else _time(present.began),
    )
    if not detailed:
        return row
    info = present.info
    version = f"{info.group}/{info.version}" if info.group else info.version
    about = (info.verb, info.path, info.namespace, info.name)
    return (*row, present.user.name, *about, version, info.resource, info.subresource)


def table(rows: Sequence[Sequence[str]]) -> str:
    """Cells with commas behind them, in columns; the last one of a row is as long as it is."""
    widths = [
        max(_LEAST_WIDTH, max(len(cell) + 2 for cell in column))
        for column in zip(*(row[:-1] for row in rows), strict=True)
    ]
    lines = (
        "".join(f"{cell},".ljust(width) for cell, width in zip(row, widths, strict=False))
        + f"{row[-1]}\n"
        for row in rows
    )
    return "".join(lines)


# As `SeatSeconds.String` of k8s.io/apiserver `pkg/util/flowcontrol/request/seat_seconds.go`.
def _seat_seconds(number: float) -> str:
    whole, part = divmod(round(number * _SEAT_SECOND), _SEAT_SECOND)
    return f"{whole}.{part:08}ss"


def _time(seconds: float) -> str:
    """Return a time as Go's RFC3339Nano prints it."""
    text = datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%S.%f")
    return text.rstrip("0").rstrip(".") + "Z"


def _duration(seconds: float) -> str:
    """Return a span of less than a minute as Go prints it."""
    microseconds = round(seconds * 1_000_000)
    if not microseconds:
        return "0s"
    if microseconds < 1_000:
        return f"{microseconds}µs"
    if microseconds < 1_000_000:
        return f"{microseconds / 1_000:g}ms"
    return f"{microseconds / 1_000_000:g}s"
