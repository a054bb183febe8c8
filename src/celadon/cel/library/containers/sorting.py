"""Sorting as `sort()` and `sortBy()` do it: keys of one kind, order of equal keys as in Go.

Up to twelve elements Go's `sort.Slice` is an insertion sort, which is stable and, unlike a merge
sort, well defined when NaN is among the keys (a comparison with NaN fails, and a failure is "not
less"). Longer lists are sorted stably here; Go leaves the order of their equal keys open.
"""

from __future__ import annotations

from typing import Any

from celadon.cel.errors import EvaluationError
from celadon.cel.values.operations.equality import is_comparable

_INSERTION_SORT_LIMIT = 12


def sort_by_keys(elements: list[Any], keys: list[Any]) -> list[Any]:
    """The elements in ascending order of their keys."""
    if len(elements) != len(keys):
        raise EvaluationError(
            "@sortByAssociatedKeys() expected a list of the same size as the associated keys "
            f"list, but got {len(elements)} and {len(keys)} elements respectively"
        )
    if not keys:
        return elements
    kind = keys[0].__class__
    if not is_comparable(keys[0]):
        raise EvaluationError("list elements must be comparable")
    if any(key.__class__ is not kind for key in keys):
        raise EvaluationError("list elements must have the same type")
    positions = list(range(len(keys)))
    if kind is float and len(keys) <= _INSERTION_SORT_LIMIT:
        _insertion_sort(positions, keys)
    else:
        positions.sort(key=keys.__getitem__)
    return [elements[position] for position in positions]


def _insertion_sort(positions: list[int], keys: list[float]) -> None:
    for end in range(1, len(positions)):
        at = end
        while at > 0 and keys[positions[at]] < keys[positions[at - 1]]:
            positions[at], positions[at - 1] = positions[at - 1], positions[at]
            at -= 1
