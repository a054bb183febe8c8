"""What Kubernetes charges for functions of the language itself.

`charged` makes of one of the language's libraries what Kubernetes has: the same functions, with
Kubernetes' costs in their records. Facts: k8s.io/apiserver `pkg/cel/library/cost.go`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, Final

from celadon.cel.extend import (
    Argument,
    CallEstimate,
    CostRule,
    Function,
    Library,
    Literal,
    Opaque,
    Polynomial,
    Range,
    Sized,
    cost_rules,
)
from celadon.cel.libraries import standard_costs
from celadon.cel.value_functions import value_sizes
from celadon.kube.library import value_types
from celadon.kube.library.costs import call_costs

#: The longest name of a format, which is what comparing two of them is estimated to walk.
_FORMAT_NAME_SIZE: Final = 64


def _ratio(a: int, b: int) -> int:
    """a / b rounded up, divided as doubles."""
    return min(math.ceil(float(a) / float(b)), cost_rules.MAX_UINT64)


def _estimate_replace(args: Sequence[Sized]) -> CallEstimate:
    text, old, new = (arg.size for arg in args[:3])
    most, kept_most = 0, text.max
    if old.min == 0:  # an empty text is found around every character
        most = min(text.max + 1, cost_rules.MAX_UINT64)
    elif new.max > old.min:
        most, kept_most = _ratio(text.max, old.min), 0
    least, kept_least = 0, text.min
    if old.max == 0:
        least = min(text.min + 1, cost_rules.MAX_UINT64)
    elif old.max > new.min:
        least, kept_least = _ratio(text.min, old.max), 0
    size = Range(least, most).times(new).plus(Range(kept_least, kept_most))
    return CallEstimate(text.divided(call_costs.TWICE_DIVISOR), size)


def _estimate_split(args: Sequence[Sized]) -> CallEstimate:
    text = args[0].size
    most = text.max
    if len(args) > 2:
        limit = args[2].node
        if isinstance(limit, Literal) and limit.value.__class__ is int:
            most = limit.value % (cost_rules.MAX_UINT64 + 1)
    return CallEstimate(text.divided(call_costs.TWICE_DIVISOR), Range(0, most))


def _track_join(args: Sequence[Any], result: object) -> int:
    return cost_rules.ceil_div(value_sizes.shown_size(result), call_costs.TWICE_DIVISOR)


def _estimate_join(args: Sequence[Sized]) -> CallEstimate:
    count = args[0].size
    size = cost_rules.ZERO
    if args[0].type.params:
        size = count.times(args[0].item)
    if len(args) > 1:
        separators = Range(max(count.min - 1, 0), max(count.max - 1, 0))
        size = size.plus(args[1].size.times(separators))
    return CallEstimate(size.divided(cost_rules.TRAVERSAL_DIVISOR), size)


def _bound_join(elements: Argument, *separator: Argument) -> Polynomial:
    size = elements.size
    for one in separator:
        size = size + elements.size * one.size
    return size * 0.2 + 1


_NAMED_COMPARISON: Final = Range(1, _FORMAT_NAME_SIZE).divided(cost_rules.TRAVERSAL_DIVISOR)


def _track_equals(args: Sequence[Any], result: object) -> int:
    if isinstance(args[0], Opaque):
        return 1
    return standard_costs.COMPARISON.tracked(args, result)


def _estimate_equals(args: Sequence[Sized]) -> CallEstimate:
    left, right = args
    if left.type == right.type:
        if left.type in _UNIT_COMPARISONS:
            return CallEstimate(cost_rules.ONE)
        if left.type == value_types.NAMED_FORMAT:
            return CallEstimate(_NAMED_COMPARISON)
        if left.type == value_types.URL:
            longest = right.size.max if right.is_known else 1
            return CallEstimate(Range(1, longest).divided(cost_rules.TRAVERSAL_DIVISOR))
    return standard_costs.COMPARISON.estimated(args)


_UNIT_COMPARISONS: Final = frozenset(
    {
        value_types.CIDR,
        value_types.IP,
        value_types.QUANTITY,
        value_types.SEMVER,
        value_types.AUTHORIZER,
        value_types.PATH_CHECK,
        value_types.GROUP_CHECK,
        value_types.RESOURCE_CHECK,
        value_types.DECISION,
    }
)


def _bound_equals(left: Argument, right: Argument) -> Polynomial:
    return standard_costs.bound_comparison(left, right) + 1


_REPLACE: Final = CostRule(
    call_costs.track_first_twice,
    _estimate_replace,
    bound=call_costs.bound_first_twice,
    written=call_costs.write_first_twice,
)
_SPLIT: Final = _REPLACE._replace(estimated=_estimate_split)
_JOIN: Final = CostRule(_track_join, _estimate_join, bound=_bound_join)
_EQUALS: Final = CostRule(
    _track_equals,
    _estimate_equals,
    bound=_bound_equals,
    written=standard_costs.write_comparison,
)

COSTS: Final[Mapping[str, CostRule]] = {
    "_==_": _EQUALS,
    "indexOf": call_costs.WALK,
    "join": _JOIN,
    "lastIndexOf": call_costs.WALK,
    "lowerAscii": call_costs.FIRST_SAME_SIZE,
    "replace": _REPLACE,
    "split": _SPLIT,
    "substring": call_costs.FIRST_SAME_SIZE,
    "trim": call_costs.FIRST_SAME_SIZE,
    "upperAscii": call_costs.FIRST_SAME_SIZE,
}
"""By function name."""


def charged(library: Library) -> Library:
    """The library as Kubernetes charges for it."""
    return library._replace(functions=tuple(map(_charged, library.functions)))


def _charged(function: Function) -> Function:
    rule = COSTS.get(function.name)
    return function if rule is None else function.with_each(cost=None)._replace(cost=rule)
