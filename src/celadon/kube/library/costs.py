"""Declaring functions of Kubernetes: short signatures, what calls cost as far as several functions
are charged alike, and what an expression may cost at all.

Facts: k8s.io/apiserver `pkg/cel/library/cost.go`. Kubernetes charges by *function name*, whatever
the receiver: its rules for `indexOf` or `min` hold for strings and lists alike. A rule that serves
one library is in that library's module; those for functions of the language have a section below.

Each rule holds the cost of a call at run time beside its estimate (where the two disagree, they do
upstream) and what the call costs at most.
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
    Growth,
    Impl,
    Library,
    Literal,
    Opaque,
    Overload,
    Polynomial,
    Range,
    Sized,
    cost_rules,
    types,
)
from celadon.cel.value_functions import LIST_CLASSES, paid_again, shown_size

# --- Value types -------------------------------------------------------------
#
# The types that Kubernetes adds to CEL.
#
# Two are abstract types that can be named in an expression (`type(x) == net.IP`). The others
# are object types without fields that no expression can name, as upstream declares them.

CIDR: Final = types.opaque("net.CIDR")
IP: Final = types.opaque("net.IP")

NAMED_FORMAT: Final = types.object_type("kubernetes.NamedFormat")
QUANTITY: Final = types.object_type("kubernetes.Quantity")
SEMVER: Final = types.object_type("kubernetes.Semver")
URL: Final = types.object_type("kubernetes.URL")

AUTHORIZER: Final = types.object_type("kubernetes.authorization.Authorizer")
"""Of the variable `authorizer`."""
DECISION: Final = types.object_type("kubernetes.authorization.Decision")
GROUP_CHECK: Final = types.object_type("kubernetes.authorization.GroupCheck")
PATH_CHECK: Final = types.object_type("kubernetes.authorization.PathCheck")
RESOURCE_CHECK: Final = types.object_type("kubernetes.authorization.ResourceCheck")
"""Of the variable `authorizer.requestResource`."""


# --- Signatures --------------------------------------------------------------
#
# Functions as upstream's documentation writes them: `<Quantity>.add(<Quantity>) <Quantity>`.
#
# Kubernetes charges by function name, so the cost is the function's; without one a call costs 1.

Example = tuple[str, str]

_NAMED: Final[Mapping[str, types.Type]] = {
    "bool": types.BOOL,
    "double": types.DOUBLE,
    "int": types.INT,
    "string": types.STRING,
    "Authorizer": AUTHORIZER,
    "CIDR": CIDR,
    "Decision": DECISION,
    "GroupCheck": GROUP_CHECK,
    "IP": IP,
    "NamedFormat": NAMED_FORMAT,
    "PathCheck": PATH_CHECK,
    "Quantity": QUANTITY,
    "ResourceCheck": RESOURCE_CHECK,
    "Semver": SEMVER,
    "T": types.type_param("T"),
    "URL": URL,
    "list(T)": types.list_of(types.type_param("T")),
    "map(string, list(string))": types.map_of(types.STRING, types.list_of(types.STRING)),
    "optional(NamedFormat)": types.optional_of(NAMED_FORMAT),
    "optional(list(string))": types.optional_of(types.list_of(types.STRING)),
}
"""The types of signatures, as `declared` writes them."""


def declared(
    signature: str,
    overload_id: str,
    impl: Impl,
    doc: str,
    *examples: Example,
    cost: CostRule | None = None,
    growth: Growth | None = None,
) -> Function:
    """Return a function of one overload: `name(int) -> bool`, or a method: `IP.name(int) -> bool`.
    A name may have a dot (`ip.isCanonical`) if no type is called like what is before it."""
    called, _, result = signature.partition(" -> ")
    name, _, params = called.removesuffix(")").rpartition("(")
    receiver, _, method = name.rpartition(".")
    names = params.split(", ") if params else []
    is_member = receiver in _NAMED
    if is_member:
        name, names = method, [receiver, *names]
    overload = Overload(
        overload_id,
        tuple(_NAMED[one] for one in names),
        _NAMED[result],
        impl,
        member=is_member,
        doc=doc,
        examples=examples,
        growth=growth,
    )
    return Function(name, (overload,), cost=cost)


def overloaded(*functions: Function, cost: CostRule | None = None) -> Function:
    """Return one function with the overloads of several of the same name."""
    overloads = tuple(overload for function in functions for overload in function.overloads)
    return Function(functions[0].name, overloads, cost=cost)


# --- Limits of expressions ---------------------------------------------------
#
# What an expression may cost, wherever Kubernetes evaluates it: policies and custom resources.
#
# Cost units are those of the CEL cost model. As k8s.io/apiserver `pkg/apis/cel/config.go`.

PER_CALL_COST: Final = 1_000_000
"""Cost of one expression; each variable is a call of its own. About 0.1 s of a Go evaluator."""
RUNTIME_COST_BUDGET: Final = 10_000_000
"""Cost of all validation rules and message expressions of a custom resource, or of all validations
and message expressions of one (policy, binding, param); audit annotations get the same again."""
MESSAGE_EXPRESSION_BYTES: Final = 5 * 1024
"""A longer evaluated message, after trimming, is discarded."""
OUT_OF_BUDGET: Final = (
    "validation failed due to running out of cost budget, no further validation rules will be run"
)
"""What a client is told when the budget is spent."""

#: Traversal plus building a result of the same size.
TWICE_DIVISOR: Final = cost_rules.TRAVERSAL_DIVISOR // 2

#: Values that a walk looks at; at one for each, more are over every limit worth setting.
_LONGEST_WALK: Final = 4_000_000


def _track_first(args: Sequence[Any], result: object) -> int:
    return cost_rules.traversal(shown_size(args[0]))


def _estimate_first(args: Sequence[Sized]) -> CallEstimate:
    return CallEstimate(args[0].size.divided(cost_rules.TRAVERSAL_DIVISOR))


def _estimate_first_same_size(args: Sequence[Sized]) -> CallEstimate:
    return CallEstimate(args[0].size.divided(cost_rules.TRAVERSAL_DIVISOR), args[0].size)


def track_first_twice(args: Sequence[Any], result: object) -> int:
    return cost_rules.ceil_div(shown_size(args[0]), TWICE_DIVISOR)


def _estimate_first_twice(args: Sequence[Sized]) -> CallEstimate:
    return CallEstimate(args[0].size.divided(TWICE_DIVISOR))


def write_first_twice(
    first: cost_rules.SizeSource, *others: cost_rules.SizeSource
) -> cost_rules.SizeSource:
    """Return the source of `track_first_twice`."""
    if isinstance(first, int):
        return cost_rules.ceil_div(first, TWICE_DIVISOR)
    return f"({first} + {TWICE_DIVISOR - 1}) // {TWICE_DIVISOR}"


def bound_first_twice(text: Argument, *others: Argument) -> Polynomial:
    return text.size * 0.2 + 1


def _track_walk(args: Sequence[Any], result: object) -> int:
    return walk_cost(args[0])


def walk_cost(value: Any) -> int:  # noqa: ANN401 - a value of CEL
    """Charge one for each leaf of lists and maps; for text a tenth of its bytes, rounded down. What
    is larger than anything may cost is not walked to its end."""
    if value.__class__ is list and (quickly := _cost_of_scalars(value)) is not None:
        return quickly
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


def _cost_of_scalars(values: list[Any]) -> int | None:
    """Charge the same for a list of numbers, or of texts in ASCII; None for any other."""
    total = 0
    for value in values:
        if value.__class__ is int:
            total += 1
        elif value.__class__ is str and value.isascii():
            total += len(value) // cost_rules.TRAVERSAL_DIVISOR
        else:
            return None
    return total if len(values) < _LONGEST_WALK else None


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
    _track_first, _estimate_first, bound=cost_rules.bound_first, written=cost_rules.write_first
)
"""Walking over the first argument."""

FIRST_SAME_SIZE: Final = FIRST._replace(estimated=_estimate_first_same_size)
"""The same, with a result of the argument's size."""

FIRST_TWICE: Final = CostRule(
    track_first_twice, _estimate_first_twice, bound=bound_first_twice, written=write_first_twice
)
"""Walking over the first argument and building a result of its size."""

WALK: Final = CostRule(_track_walk, _estimate_walk, bound=_bound_walk)
"""Walking over everything in the first argument."""


# --- Language costs ----------------------------------------------------------
#
# What Kubernetes charges for functions of the language itself.
#
# `charged` makes of one of the language's libraries what Kubernetes has: the same functions,
# with Kubernetes' costs in their records. Facts: k8s.io/apiserver `pkg/cel/library/cost.go`.

#: The longest name of a format, which is what comparing two of them is estimated to walk.
_FORMAT_NAME_SIZE: Final = 64


def _ratio(a: int, b: int) -> int:
    """Return a / b rounded up, divided as doubles."""
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
    return CallEstimate(text.divided(TWICE_DIVISOR), size)


def _estimate_split(args: Sequence[Sized]) -> CallEstimate:
    text = args[0].size
    most = text.max
    if len(args) > 2:
        limit = args[2].node
        if isinstance(limit, Literal) and limit.value.__class__ is int:
            most = limit.value % (cost_rules.MAX_UINT64 + 1)
    return CallEstimate(text.divided(TWICE_DIVISOR), Range(0, most))


def _track_join(args: Sequence[Any], result: object) -> int:
    return cost_rules.ceil_div(shown_size(result), TWICE_DIVISOR)


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
    for item in separator:
        size = size + elements.size * item.size
    return size * 0.2 + 1


_NAMED_COMPARISON: Final = Range(1, _FORMAT_NAME_SIZE).divided(cost_rules.TRAVERSAL_DIVISOR)


def _track_equals(args: Sequence[Any], result: object) -> int:
    if isinstance(args[0], Opaque):
        return 1
    return cost_rules.COMPARISON.tracked(args, result)


def _estimate_equals(args: Sequence[Sized]) -> CallEstimate:
    left, right = args
    if left.type == right.type:
        if left.type in _UNIT_COMPARISONS:
            return CallEstimate(cost_rules.ONE)
        if left.type == NAMED_FORMAT:
            return CallEstimate(_NAMED_COMPARISON)
        if left.type == URL:
            longest = right.size.max if right.is_known else 1
            return CallEstimate(Range(1, longest).divided(cost_rules.TRAVERSAL_DIVISOR))
    return cost_rules.COMPARISON.estimated(args)


_UNIT_COMPARISONS: Final = frozenset(
    {
        CIDR,
        IP,
        QUANTITY,
        SEMVER,
        AUTHORIZER,
        PATH_CHECK,
        GROUP_CHECK,
        RESOURCE_CHECK,
        DECISION,
    }
)


def _bound_equals(left: Argument, right: Argument) -> Polynomial:
    return cost_rules.bound_comparison(left, right) + 1


_REPLACE: Final = CostRule(
    track_first_twice, _estimate_replace, bound=bound_first_twice, written=write_first_twice
)
_SPLIT: Final = _REPLACE._replace(estimated=_estimate_split)
_JOIN: Final = CostRule(_track_join, _estimate_join, bound=_bound_join)
_EQUALS: Final = CostRule(
    _track_equals, _estimate_equals, bound=_bound_equals, written=cost_rules.write_comparison
)

COSTS: Final[Mapping[str, CostRule]] = {
    "_==_": _EQUALS,
    "indexOf": WALK,
    "join": _JOIN,
    "lastIndexOf": WALK,
    "lowerAscii": FIRST_SAME_SIZE,
    "replace": _REPLACE,
    "split": _SPLIT,
    "substring": FIRST_SAME_SIZE,
    "trim": FIRST_SAME_SIZE,
    "upperAscii": FIRST_SAME_SIZE,
}
"""By function name."""


def charged(library: Library, besides: frozenset[str] = frozenset()) -> Library:
    """Return the library as Kubernetes charges for it, `besides` these functions."""
    functions = (
        function if function.name in besides else _charged(function)
        for function in library.functions
    )
    return library._replace(functions=tuple(functions))


def uncharged(library: Library) -> Library:
    """Return the library as it is charged for where nobody says what its calls cost: one for
    each."""
    return library._replace(functions=tuple(map(_uncharged, library.functions)))


def _uncharged(function: Function) -> Function:
    unpaid = function.unpaid or paid_again
    return function.with_each(cost=None)._replace(cost=cost_rules.constant(1), unpaid=unpaid)


def _charged(function: Function) -> Function:
    rule = COSTS.get(function.name)
    return function if rule is None else function.with_each(cost=None)._replace(cost=rule)
