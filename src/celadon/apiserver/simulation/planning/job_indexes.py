"""The indexes of an Indexed Job: sets of numbers as text, and the number of a pod.

As k8s.io/kubernetes `pkg/controller/job/indexed_job_utils.go`. A set is a list of intervals in
order, which neither overlap nor touch.
"""

from __future__ import annotations

import bisect
import operator
from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Final, TypeAlias

from celadon.apiserver.simulation.planning.replica_pods import pods_to_delete
from celadon.kube import JsonObject, metadata
from celadon.kube.go import int_or, parse_int
from celadon.kube.workload_controllers import COMPLETION_INDEX, FAILURE_COUNT

IGNORED_FAILURE_COUNT: Final = "batch.kubernetes.io/job-index-ignored-failure-count"
_LARGEST_COUNT: Final = 2**31 - 1

Intervals: TypeAlias = "tuple[tuple[int, int], ...]"


def parsed(text: str, completions: int) -> Intervals:
    """`0,2-4`, as far as it is below the number of completions; what is no number is left out."""
    result: list[tuple[int, int]] = []
    for part in filter(None, text.split(",")):
        first, _, last = part.partition("-")
        try:
            interval = parse_int(first), parse_int(last or first)
        except ValueError:
            continue
        if interval[0] >= completions:
            break
        result.append((interval[0], min(interval[1], completions - 1)))
    return merged(result)


def merged(*sets: Iterable[tuple[int, int]]) -> Intervals:
    """Return all that is in any of the sets."""
    result: list[tuple[int, int]] = []
    for first, last in sorted(interval for intervals in sets for interval in intervals):
        if result and first <= result[-1][1] + 1:
            result[-1] = result[-1][0], max(result[-1][1], last)
        else:
            result.append((first, last))
    return tuple(result)


def of_numbers(numbers: Iterable[int]) -> Intervals:
    """Return the set of some numbers."""
    return merged((number, number) for number in numbers)


def count(intervals: Intervals) -> int:
    """Return how many numbers the intervals hold."""
    return sum(last - first + 1 for first, last in intervals)


def has(intervals: Intervals, number: int) -> bool:
    """Tell whether a number is in one of the intervals."""
    place = bisect.bisect_right(intervals, number, key=operator.itemgetter(0))
    return place > 0 and number <= intervals[place - 1][1]


def overlap(left: Intervals, right: Intervals) -> int:
    """Return how many numbers are in both sets of intervals."""
    return count(left) + count(right) - count(merged(left, right))


def text_of(intervals: Intervals) -> str:
    """Write intervals: two neighbours with a comma between them, more with a dash."""
    return ",".join(map(_interval_text, intervals))


def _interval_text(interval: tuple[int, int]) -> str:
    first, last = interval
    if first == last:
        return str(first)
    return f"{first}{',' if last == first + 1 else '-'}{last}"


def first_missing(taken: Intervals, count: int, completions: int) -> list[int]:
    """Return the lowest numbers that are not taken, as many as are wanted."""
    result: list[int] = []
    candidate = 0
    for first, last in (*taken, (completions, completions)):
        while candidate < min(first, completions) and len(result) < count:
            result.append(candidate)
            candidate += 1
        candidate = max(candidate, last + 1)
    return result


# --- The index of a pod ------------------------------------------------------


def index_of(pod: JsonObject) -> int | None:
    """Return the completion index that a pod is annotated with, or None if it has none that is a
    number."""
    text = metadata.annotations(pod).get(COMPLETION_INDEX, "")
    index = int_or(text, -1)
    return index if index >= 0 else None


def valid_index(pod: JsonObject, completions: int) -> int | None:
    """Return the completion index of a pod, or None if it has none below `completions`."""
    index = index_of(pod)
    return index if index is not None and index < completions else None


def indexes_of(pods: Iterable[JsonObject]) -> Intervals:
    """Return the completion indexes of the pods that have one."""
    return of_numbers(pod for pod in map(index_of, pods) if pod is not None)


def failures_of(pod: JsonObject) -> int:
    """Return how often the index of a pod had failed before this pod was made."""
    return _counted(pod, FAILURE_COUNT)


def all_failures_of(pod: JsonObject) -> int:
    """Return the same with the failures that the Job's policy ignores."""
    return failures_of(pod) + _counted(pod, IGNORED_FAILURE_COUNT)


def _counted(pod: JsonObject, annotation: str) -> int:
    text = metadata.annotations(pod).get(annotation, "")
    count = int_or(text, 0)
    return count if 0 <= count <= _LARGEST_COUNT else 0


def next_failures(replaced: JsonObject | None, *, is_counted: bool) -> dict[str, str]:
    """Return the annotations of a pod that takes the place of one that has failed, if there is
    one."""
    if replaced is None:
        return {FAILURE_COUNT: "0"}
    ignored = _counted(replaced, IGNORED_FAILURE_COUNT) + (not is_counted)
    result = {FAILURE_COUNT: str(failures_of(replaced) + is_counted)}
    if ignored:
        result[IGNORED_FAILURE_COUNT] = str(ignored)
    return result


def surplus_of_indexes(
    pods: Sequence[JsonObject], completions: int, now: datetime
) -> tuple[list[JsonObject], list[JsonObject]]:
    """Return the pods that go, since they have no valid index or one that another pod has, and the
    rest."""
    by_index: dict[int, list[JsonObject]] = {}
    surplus: list[JsonObject] = []
    for pod in pods:
        index = valid_index(pod, completions)
        if index is None:
            surplus.append(pod)
        else:
            by_index.setdefault(index, []).append(pod)
    left: list[JsonObject] = []
    for index in sorted(by_index):
        ranked = pods_to_delete(by_index[index], (), len(by_index[index]), now)
        surplus += ranked[:-1]
        left.append(ranked[-1])
    return surplus, left
