"""The costs of the lists library: a call, the list it allocates, and the elements it visits.

cel-go `ext/lists.go`. Two oddities are kept: the estimated *size* of a sorted or distinct list is
the square of the list's size, and a negative depth of `flatten` subtracts from the cost, wrapping
around below zero.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from celadon.cel.pricing.cost_rules import (
    CALL_COST,
    LIST_CREATE_COST,
    MAX_UINT64,
    CallEstimate,
    CostRule,
    Range,
    Sized,
    fixed,
)
from celadon.cel.pricing.growth import UNBOUNDED, Argument, Polynomial, at_most
from celadon.cel.syntax import Literal
from celadon.cel.values.list_classes import is_list
from celadon.cel.values.value_sizes import size_of

#: A longer range is not built (it could take all memory), but charged as if it were.
LONGEST_RANGE = 4_000_000

_BASE = CALL_COST + LIST_CREATE_COST
_COMPARISON_FACTOR = 2.0
_TEXT_COMPARISON_FACTOR = 2.1
_TWO_TO_64 = 1 << 64


def _literal(argument: Sized, default: int) -> int:
    """The value of an int literal, 0 if negative; the default for anything else."""
    node = argument.node
    if isinstance(node, Literal) and node.value.__class__ is int:
        return max(0, int(node.value))
    return default


def _scaled(n: int, factor: float) -> int:
    return min(MAX_UINT64, math.ceil(n * factor))


def _allocating(size: Range, factor: float = 1.0) -> CallEstimate:
    visited = Range(_scaled(size.min, factor), _scaled(size.max, factor))
    return CallEstimate(visited.plus(fixed(_BASE)), size)


def _track_output(args: Sequence[Any], result: object) -> int:
    return _BASE + size_of(result)


def _track_range(args: Sequence[Any], result: object) -> int:
    if args[0].__class__ is int and args[0] > LONGEST_RANGE:
        return _BASE + int(args[0])
    return _track_output(args, result)


def _estimate_slice(args: Sequence[Sized]) -> CallEstimate:
    start, end = _literal(args[1], 0), _literal(args[2], args[0].size.max)
    return _allocating(fixed((end - start) % _TWO_TO_64))


def _estimate_range(args: Sequence[Sized]) -> CallEstimate:
    return _allocating(fixed(_literal(args[0], MAX_UINT64)))


def _estimate_same_size(args: Sequence[Sized]) -> CallEstimate:
    return _allocating(args[0].size)


def _track_flatten(args: Sequence[Any], result: object) -> int:
    depth = args[1] if len(args) == 2 and args[1].__class__ is int else 1
    return (_BASE + depth * size_of(args[0])) % _TWO_TO_64


def _estimate_flatten(args: Sequence[Sized]) -> CallEstimate:
    depth = _literal(args[1], MAX_UINT64) if len(args) == 2 else 1
    return _allocating(args[0].size, float(depth))


def _self_comparison(elements: object) -> int:
    if not is_list(elements):
        return 0  # cel-go panics here, before it adds anything
    size = len(elements)
    factor = _COMPARISON_FACTOR
    if elements and elements[0].__class__ in (str, bytes):
        factor = _TEXT_COMPARISON_FACTOR
    return _BASE + int(size * size * factor)


def _track_first(args: Sequence[Any], result: object) -> int:
    return _self_comparison(args[0])


def _track_keys(args: Sequence[Any], result: object) -> int:
    return _self_comparison(args[1])


def _estimate_distinct(args: Sequence[Sized]) -> CallEstimate:
    return _allocating(args[0].size.times(args[0].size), _COMPARISON_FACTOR)


def sort_cost(*, text: bool, keys: int) -> CostRule:
    """Of `sort` (`keys` 0) or `sortBy` (1, the argument that holds the keys)."""
    factor = _TEXT_COMPARISON_FACTOR if text else _COMPARISON_FACTOR

    def estimate(args: Sequence[Sized]) -> CallEstimate:
        size = args[keys].size
        return _allocating(size.times(size), factor)

    def bound(*arguments: Argument) -> Polynomial:
        return arguments[keys].size * arguments[keys].size * _TEXT_COMPARISON_FACTOR + _BASE

    return CostRule(_track_keys if keys else _track_first, estimate, bound=bound)


def _bound_first(elements: Argument, *others: Argument) -> Polynomial:
    return elements.size + _BASE


def _bound_distinct(elements: Argument) -> Polynomial:
    return elements.size * elements.size * _TEXT_COMPARISON_FACTOR + _BASE


def _bound_range(count: Argument) -> Polynomial:
    return UNBOUNDED if count.integer is None else at_most(_BASE + max(0, count.integer))


def _bound_deep(elements: Argument, depth: Argument) -> Polynomial:
    """A negative depth makes the cost wrap around."""
    if depth.integer is None or depth.integer < 0:
        return UNBOUNDED
    return elements.size * depth.integer + _BASE


SLICE = CostRule(_track_output, _estimate_slice, bound=_bound_first)
RANGE = CostRule(_track_range, _estimate_range, bound=_bound_range)
REVERSE = CostRule(_track_output, _estimate_same_size, bound=_bound_first)
FLATTEN = CostRule(_track_flatten, _estimate_flatten, bound=_bound_first)
#: To a depth that is given.
FLATTEN_DEEP = CostRule(_track_flatten, _estimate_flatten, bound=_bound_deep)
DISTINCT = CostRule(_track_first, _estimate_distinct, bound=_bound_distinct)
