"""The costs of the lists library: a call, the list it allocates, and the elements it visits.

cel-go `ext/lists.go`. Two oddities are kept: the estimated *size* of a sorted or distinct list is
the square of the list's size, and a negative depth of `flatten` subtracts from the cost, wrapping
around below zero.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from celadon.cel.errors import EvaluationError, Panicked
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
from celadon.cel.values.numbers import Uint
from celadon.cel.values.runtime_types import go_name
from celadon.cel.values.times.timestamps import Duration, Timestamp
from celadon.cel.values.value_sizes import shown_size

#: A longer range is not built (it could take all memory), but charged as if it were.
LONGEST_RANGE = 4_000_000

_BASE = CALL_COST + LIST_CREATE_COST
_COMPARISON_FACTOR = 2.0
_TEXT_COMPARISON_FACTOR = 2.1
_TWO_TO_64 = 1 << 64
_SIGN_BIT = 1 << 63


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
    return _BASE + shown_size(result)


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
    size = shown_size(args[0])
    if len(args) == 2:
        depth = args[1]
        if depth.__class__ is not int:
            raise Panicked(f"interface conversion: ref.Val is {_class(depth)}, not types.Int")
        size = _unsigned(float(size) * float(depth))
    return (_BASE + size) % _TWO_TO_64


def _unsigned(number: float) -> int:
    """Go's `uint64(number)` as amd64 computes it: numbers out of range give the sign bit."""
    if -float(_SIGN_BIT) <= number < _SIGN_BIT:
        return int(number) % _TWO_TO_64
    if _SIGN_BIT <= number < _TWO_TO_64:
        return int(number)
    return _SIGN_BIT


def _estimate_flatten(args: Sequence[Sized]) -> CallEstimate:
    depth = _literal(args[1], MAX_UINT64) if len(args) == 2 else 1
    return _allocating(args[0].size, float(depth))


def _self_comparison(elements: object) -> int:
    if not is_list(elements):
        raise _not_a_list(elements)
    size = len(elements)
    factor = _COMPARISON_FACTOR
    if elements and elements[0].__class__ in (str, bytes):
        factor = _TEXT_COMPARISON_FACTOR
    return _BASE + int(size * size * factor)


#: Classes that have the first method that a list has, which Go's panic then does not name.
_ADDERS = frozenset({int, Uint, float, str, bytes, Duration, Timestamp})


def _not_a_list(value: object) -> Panicked:
    """cel-go takes for granted that it compares the elements of a list. The text names the first
    method of a list that the class lacks."""
    name = _class(value)
    missing = "Contains" if value.__class__ in _ADDERS else "Add"
    return Panicked(f"interface conversion: {name} is not traits.Lister: missing method {missing}")


def _class(value: object) -> str:
    return "*types.Err" if isinstance(value, EvaluationError) else go_name(value)


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

    track = _track_keys if keys else _track_first
    return CostRule(track, estimate, bound=bound, panics=True)


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
FLATTEN_DEEP = CostRule(_track_flatten, _estimate_flatten, bound=_bound_deep, panics=True)
DISTINCT = CostRule(_track_first, _estimate_distinct, bound=_bound_distinct, panics=True)
