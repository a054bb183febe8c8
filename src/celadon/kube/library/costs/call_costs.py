"""What Kubernetes charges for calls, as far as several functions are charged alike.

Facts: k8s.io/apiserver `pkg/cel/library/cost.go`. Kubernetes charges by *function name*, whatever
the receiver: its rules for `indexOf` or `min` hold for strings and lists alike. A rule that serves
one library is in that library's module; those for functions of the language, in `language_costs`.

Each rule holds the cost of a call at run time beside its estimate (where the two disagree, they do
upstream) and what the call costs at most.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from celadon.cel.extend import (
    Argument,
    CallEstimate,
    CostRule,
    Polynomial,
    Sized,
    cost_rules,
    types,
)
from celadon.cel.libraries import standard_costs
from celadon.cel.value_functions import LIST_CLASSES, value_sizes

#: Traversal plus building a result of the same size.
TWICE_DIVISOR: Final = cost_rules.TRAVERSAL_DIVISOR // 2

#: Values that a walk looks at; at one for each, more are over every limit worth setting.
_LONGEST_WALK: Final = 4_000_000


def _track_first(args: Sequence[Any], result: object) -> int:
    return cost_rules.traversal(value_sizes.shown_size(args[0]))


def _estimate_first(args: Sequence[Sized]) -> CallEstimate:
    return CallEstimate(args[0].size.divided(cost_rules.TRAVERSAL_DIVISOR))


def _estimate_first_same_size(args: Sequence[Sized]) -> CallEstimate:
    return CallEstimate(args[0].size.divided(cost_rules.TRAVERSAL_DIVISOR), args[0].size)


def track_first_twice(args: Sequence[Any], result: object) -> int:
    return cost_rules.ceil_div(value_sizes.shown_size(args[0]), TWICE_DIVISOR)


def _estimate_first_twice(args: Sequence[Sized]) -> CallEstimate:
    return CallEstimate(args[0].size.divided(TWICE_DIVISOR))


def write_first_twice(
    first: cost_rules.SizeSource, *others: cost_rules.SizeSource
) -> cost_rules.SizeSource:
    """The source of `track_first_twice`."""
    if isinstance(first, int):
        return cost_rules.ceil_div(first, TWICE_DIVISOR)
    return f"({first} + {TWICE_DIVISOR - 1}) // {TWICE_DIVISOR}"


def bound_first_twice(text: Argument, *others: Argument) -> Polynomial:
    return text.size * 0.2 + 1


def _track_walk(args: Sequence[Any], result: object) -> int:
    return walk_cost(args[0])


def walk_cost(value: Any) -> int:  # noqa: ANN401 - a value of CEL
    """One for each leaf of lists and maps; for text a tenth of its bytes, rounded down. What is
    larger than anything may cost is not walked to its end."""
    total, stack = 0, [value]
    steps = 0
    while stack:
        steps += 1
        if steps > _LONGEST_WALK:
            return cost_rules.MAX_UINT64
        top = stack.pop()
        kind = top.__class__
        if kind is str:
            total += (
                len(top) if top.isascii() else _utf8_length(top)
            ) // cost_rules.TRAVERSAL_DIVISOR
        elif kind is bytes:
            total += len(top) // cost_rules.TRAVERSAL_DIVISOR
        elif kind in LIST_CLASSES:
            stack += top
        elif kind is dict or hasattr(top, "items"):
            for key, element in top.items():
                stack += (key, element)
        else:
            total += 1
    return total


def _utf8_length(text: str) -> int:
    return len(text.encode("utf-8", "surrogatepass"))


def _estimate_walk(args: Sequence[Sized]) -> CallEstimate:
    receiver = args[0]
    if not receiver.type.params:  # a string, or something dynamic
        return _estimate_first(args)
    cost = cost_rules.ONE
    if receiver.type.params[0].kind in (types.Kind.STRING, types.Kind.BYTES):
        cost = cost.plus(receiver.item.divided(cost_rules.TRAVERSAL_DIVISOR))
    return CallEstimate(receiver.size.times(cost))


def _bound_walk(value: Argument, *others: Argument) -> Polynomial:
    return value.size


FIRST: Final = CostRule(
    _track_first,
    _estimate_first,
    bound=standard_costs.bound_first,
    written=cost_rules.write_first,
)
"""Walking over the first argument."""

FIRST_SAME_SIZE: Final = FIRST._replace(estimated=_estimate_first_same_size)
"""The same, with a result of the argument's size."""

FIRST_TWICE: Final = CostRule(track_first_twice, _estimate_first_twice, bound=bound_first_twice)
"""Walking over the first argument and building a result of its size."""

WALK: Final = CostRule(_track_walk, _estimate_walk, bound=_bound_walk)
"""Walking over everything in the first argument."""
