"""The costs of the standard library's calls that are not simply 1.

Each rule holds what a call costs (cel-go `interpreter/runtimecost.go`) beside what it is estimated
to cost (`checker/cost.go`). The two differ where cel-go's do: `startsWith` is charged by its
receiver and estimated by its argument; ordering and equality are charged ceil(min/10) and
estimated at least 1.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from celadon.cel.cost_rules import (
    ONE,
    REGEX_DIVISOR,
    TRAVERSAL_DIVISOR,
    CallEstimate,
    CostRule,
    Range,
    Sized,
    ceil_div,
    traversal,
)
from celadon.cel.values.value_sizes import size_of

_QUOTES = Range(2, 2)


def _traverse_first(args: Sequence[Any], result: Any) -> int:
    return traversal(size_of(args[0]))


def _traversed(sized: Sized) -> CallEstimate:
    return CallEstimate(sized.size.divided(TRAVERSAL_DIVISOR))


def _string_to_bytes(args: Sequence[Sized]) -> CallEstimate:
    size = args[0].size
    return CallEstimate(size.divided(TRAVERSAL_DIVISOR), size.times(Range(1, 4)))


def _bytes_to_string(args: Sequence[Sized]) -> CallEstimate:
    size = args[0].size
    return CallEstimate(size.divided(TRAVERSAL_DIVISOR), Range(size.min // 4, size.max))


def _estimate_quote(args: Sequence[Sized]) -> CallEstimate:
    size = args[0].size
    return CallEstimate(size.divided(TRAVERSAL_DIVISOR), size.times(Range(1, 2)).plus(_QUOTES))


def _track_in_list(args: Sequence[Any], result: Any) -> int:
    return size_of(args[1])


def _estimate_in_list(args: Sequence[Sized]) -> CallEstimate:
    return CallEstimate(args[1].size)


def _track_comparison(args: Sequence[Any], result: Any) -> int:
    return traversal(min(size_of(args[0]), size_of(args[1])))


def _estimate_comparison(args: Sequence[Sized]) -> CallEstimate:
    smaller = min(args[0].size.max, args[1].size.max)
    return CallEstimate(Range(1 if smaller else 0, smaller).divided(TRAVERSAL_DIVISOR))


def _track_concatenation(args: Sequence[Any], result: Any) -> int:
    return traversal(size_of(args[0]) + size_of(args[1]))


def _estimate_concatenation(args: Sequence[Sized]) -> CallEstimate:
    size = args[0].size.plus(args[1].size)
    return CallEstimate(size.divided(TRAVERSAL_DIVISOR), size)


def _estimate_list_concatenation(args: Sequence[Sized]) -> CallEstimate:
    return CallEstimate(ONE, args[0].size.plus(args[1].size))


def _track_matches(args: Sequence[Any], result: Any) -> int:
    return traversal(size_of(args[0]) + 1) * ceil_div(size_of(args[1]), REGEX_DIVISOR)


def _estimate_matches(args: Sequence[Sized]) -> CallEstimate:
    text = args[0].size.plus(ONE).divided(TRAVERSAL_DIVISOR)
    return CallEstimate(text.times(args[1].size.divided(REGEX_DIVISOR)))


def _track_contains(args: Sequence[Any], result: Any) -> int:
    return traversal(size_of(args[0])) * traversal(size_of(args[1]))


def _estimate_contains(args: Sequence[Sized]) -> CallEstimate:
    text = args[0].size.divided(TRAVERSAL_DIVISOR)
    return CallEstimate(text.times(args[1].size.divided(TRAVERSAL_DIVISOR)))


def _one(args: Sequence[Any], result: Any) -> int:
    return 1


STRING_TO_BYTES = CostRule(_traverse_first, _string_to_bytes)
BYTES_TO_STRING = CostRule(_traverse_first, _bytes_to_string)
AFFIX = CostRule(_traverse_first, lambda args: _traversed(args[1]))
IN_LIST = CostRule(_track_in_list, _estimate_in_list)
COMPARISON = CostRule(_track_comparison, _estimate_comparison)
CONCATENATION = CostRule(_track_concatenation, _estimate_concatenation)
LIST_CONCATENATION = CostRule(_one, _estimate_list_concatenation)
MATCHES = CostRule(_track_matches, _estimate_matches)
CONTAINS = CostRule(_track_contains, _estimate_contains)
#: `strings.quote` and `format` belong to another library but are charged by the standard rules.
QUOTE = CostRule(_traverse_first, _estimate_quote)
TRAVERSE_RECEIVER = CostRule(_traverse_first, lambda args: _traversed(args[0]))
