"""What Kubernetes charges for calls: k8s.io/apiserver `pkg/cel/library/cost.go`.

Kubernetes charges by *function name*, whatever the receiver: its rules for `indexOf`, `replace` or
`join` replace cel-go's for strings, and `lists.min` costs what `[..].min()` costs. `COSTS` is that
table. Its keys are function names; three are overload ids (`cidr_ip`, `cidr_contains_ip_string`,
`cidr_contains_cidr_string`), which come first where the checker settled on that overload.

Each rule holds the cost of a call at run time beside its estimate; where the two disagree, they do
upstream. `LIBRARY` brings the table into an environment.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Final

from celadon.cel.extend import (
    CallEstimate,
    CostRule,
    Library,
    Literal,
    Opaque,
    Range,
    Sized,
    cost_rules,
    types,
)
from celadon.cel.libraries import standard_costs
from celadon.cel.value_functions import value_sizes
from celadon.kube.library import value_types
from celadon.kube.library.named_formats import NamedFormat

#: An authorization check: two fit in the limit of one expression, three do not.
AUTHORIZATION_CHECK_COST: Final = 350_000

#: The shortest requirement that takes memory is two characters, `k,`; it is a list and a struct.
_CHARACTERS_PER_REQUIREMENT: Final = 2
_REQUIREMENT_COST: Final = cost_rules.LIST_CREATE_COST + cost_rules.STRUCT_CREATE_COST

#: Traversal plus building a result of the same size.
_TWICE_DIVISOR: Final = cost_rules.TRAVERSAL_DIVISOR // 2

#: IPv4 and IPv6 addresses in bytes: what an estimate takes for the size of a prefix.
_ADDRESS_SIZE: Final = Range(4, 16)
#: Estimates of `validate` know no format: the length of a long name pattern, and its cost.
_FORMAT_REGEX_COST: Final = 128 // cost_rules.REGEX_DIVISOR
#: The longest name of a format, which is what comparing two of them is estimated to walk.
_FORMAT_NAME_SIZE: Final = 64


def _track_first(args: Sequence[Any], result: Any) -> int:
    return cost_rules.traversal(value_sizes.size_of(args[0]))


def _estimate_first(args: Sequence[Sized]) -> CallEstimate:
    return CallEstimate(args[0].size.divided(cost_rules.TRAVERSAL_DIVISOR))


def _estimate_first_same_size(args: Sequence[Sized]) -> CallEstimate:
    return CallEstimate(args[0].size.divided(cost_rules.TRAVERSAL_DIVISOR), args[0].size)


def _track_first_twice(args: Sequence[Any], result: Any) -> int:
    return cost_rules.ceil_div(value_sizes.size_of(args[0]), _TWICE_DIVISOR)


def _estimate_first_twice(args: Sequence[Sized]) -> CallEstimate:
    return CallEstimate(args[0].size.divided(_TWICE_DIVISOR))


def _track_walk(args: Sequence[Any], result: Any) -> int:
    return walk_cost(args[0])


def walk_cost(value: Any) -> int:
    """One for each leaf of lists and maps; for text a tenth of its bytes, rounded down."""
    total, stack = 0, [value]
    while stack:
        top = stack.pop()
        kind = top.__class__
        if kind is str:
            total += (
                len(top) if top.isascii() else _utf8_length(top)
            ) // cost_rules.TRAVERSAL_DIVISOR
        elif kind is bytes:
            total += len(top) // cost_rules.TRAVERSAL_DIVISOR
        elif kind is list:
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
        cost = cost.plus(_element_size(receiver).divided(cost_rules.TRAVERSAL_DIVISOR))
    return CallEstimate(receiver.size.times(cost))


def _element_size(sized: Sized) -> Range:
    """Only as a schema tells it, which the estimator ascribes to the list's own node: Kubernetes
    does not look at the elements of a literal."""
    element = sized.element
    return (
        element.size if element is not None and element.node is sized.node else cost_rules.UNKNOWN
    )


def _track_selector(args: Sequence[Any], result: Any) -> int:
    length = value_sizes.size_of(args[1])
    requirements = cost_rules.ceil_div(length, _CHARACTERS_PER_REQUIREMENT)
    return (
        cost_rules.LIST_CREATE_COST
        + cost_rules.traversal(length)
        + requirements * _REQUIREMENT_COST
    )


def _estimate_selector(args: Sequence[Sized]) -> CallEstimate:
    length = args[1].size
    requirements = length.divided(_CHARACTERS_PER_REQUIREMENT).times(
        cost_rules.fixed(_REQUIREMENT_COST)
    )
    cost = (
        cost_rules.fixed(cost_rules.LIST_CREATE_COST)
        .plus(length.divided(cost_rules.TRAVERSAL_DIVISOR))
        .plus(requirements)
    )
    return CallEstimate(cost)


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
    return CallEstimate(text.divided(_TWICE_DIVISOR), size)


def _estimate_split(args: Sequence[Sized]) -> CallEstimate:
    text = args[0].size
    most = text.max
    if len(args) > 2:
        limit = args[2].node
        if isinstance(limit, Literal) and limit.value.__class__ is int:
            most = limit.value % (cost_rules.MAX_UINT64 + 1)
    return CallEstimate(text.divided(_TWICE_DIVISOR), Range(0, most))


def _track_join(args: Sequence[Any], result: Any) -> int:
    return cost_rules.ceil_div(value_sizes.size_of(result), _TWICE_DIVISOR)


def _estimate_join(args: Sequence[Sized]) -> CallEstimate:
    count = args[0].size
    size = cost_rules.ZERO
    if args[0].type.params:
        size = count.times(_element_size(args[0]))
    if len(args) > 1:
        separators = Range(max(count.min - 1, 0), max(count.max - 1, 0))
        size = size.plus(args[1].size.times(separators))
    return CallEstimate(size.divided(cost_rules.TRAVERSAL_DIVISOR), size)


def _track_find(args: Sequence[Any], result: Any) -> int:
    return cost_rules.traversal(value_sizes.size_of(args[0]) + 1) * cost_rules.ceil_div(
        value_sizes.size_of(args[1]), cost_rules.REGEX_DIVISOR
    )


def _estimate_find(args: Sequence[Sized]) -> CallEstimate:
    text = args[0].size
    walk = text.plus(cost_rules.ONE).divided(cost_rules.TRAVERSAL_DIVISOR)
    cost = walk.times(args[1].size.divided(cost_rules.REGEX_DIVISOR))
    return CallEstimate(cost, Range(0, text.max))


def _track_contains_ip(args: Sequence[Any], result: Any) -> int:
    return cost_rules.traversal(2 * value_sizes.size_of(args[0]))


def _track_contains_cidr(args: Sequence[Any], result: Any) -> int:
    size = value_sizes.size_of(args[0])
    return cost_rules.traversal(2 * size) + cost_rules.traversal(size) + 1


_IP_ESTIMATE: Final = _ADDRESS_SIZE.plus(_ADDRESS_SIZE).divided(cost_rules.TRAVERSAL_DIVISOR)
_CIDR_ESTIMATE: Final = _IP_ESTIMATE.plus(_ADDRESS_SIZE.divided(cost_rules.TRAVERSAL_DIVISOR)).plus(
    cost_rules.ONE
)

_CONTAINS_IP: Final = CostRule(_track_contains_ip, lambda args: CallEstimate(_IP_ESTIMATE))
_CONTAINS_CIDR: Final = CostRule(_track_contains_cidr, lambda args: CallEstimate(_CIDR_ESTIMATE))


def _and_parse(rule: CostRule) -> CostRule:
    """The same where the argument is text that is parsed first."""

    def tracked(args: Sequence[Any], result: Any) -> int:
        return rule.tracked(args, result) + cost_rules.traversal(value_sizes.size_of(args[1]))

    def estimated(args: Sequence[Sized]) -> CallEstimate:
        parse = args[1].size.divided(cost_rules.TRAVERSAL_DIVISOR)
        return CallEstimate(rule.estimated(args).cost.plus(parse))

    return CostRule(tracked, estimated)


def _track_validate(args: Sequence[Any], result: Any) -> int:
    if args[0].__class__ is not NamedFormat:
        return 1
    pattern = cost_rules.ceil_div(args[0].regex_size, cost_rules.REGEX_DIVISOR)
    return cost_rules.traversal(value_sizes.size_of(args[1]) + 1) * pattern


def _estimate_validate(args: Sequence[Sized]) -> CallEstimate:
    walk = args[1].size.divided(cost_rules.TRAVERSAL_DIVISOR)
    return CallEstimate(walk.times(cost_rules.fixed(_FORMAT_REGEX_COST)))


_NAMED_COMPARISON: Final = Range(1, _FORMAT_NAME_SIZE).divided(cost_rules.TRAVERSAL_DIVISOR)


def _track_equals(args: Sequence[Any], result: Any) -> int:
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
            return CallEstimate(Range(1, right.size.max).divided(cost_rules.TRAVERSAL_DIVISOR))
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


def _rules() -> dict[str, CostRule]:
    first = CostRule(_track_first, _estimate_first)
    first_same_size = CostRule(_track_first, _estimate_first_same_size)
    first_twice = CostRule(_track_first_twice, _estimate_first_twice)
    selector = CostRule(_track_selector, _estimate_selector)
    walk = CostRule(_track_walk, _estimate_walk)
    find = CostRule(_track_find, _estimate_find)
    return {
        **dict.fromkeys(_NOMINAL, cost_rules.constant(1)),
        **dict.fromkeys(_WALKS, walk),
        **dict.fromkeys(_FIRST, first),
        **dict.fromkeys(_FIRST_SAME_SIZE, first_same_size),
        "check": cost_rules.constant(AUTHORIZATION_CHECK_COST),
        "containsCIDR": _CONTAINS_CIDR,
        "containsIP": _CONTAINS_IP,
        "fieldSelector": selector,
        "find": find,
        "findAll": find,
        "ip.isCanonical": first_twice,
        "join": CostRule(_track_join, _estimate_join),
        "labelSelector": selector,
        "replace": CostRule(_track_first_twice, _estimate_replace),
        "split": CostRule(_track_first_twice, _estimate_split),
        "validate": CostRule(_track_validate, _estimate_validate),
        "_==_": CostRule(_track_equals, _estimate_equals),
        "cidr_contains_cidr_string": _and_parse(_CONTAINS_CIDR),
        "cidr_contains_ip_string": _and_parse(_CONTAINS_IP),
        "cidr_ip": cost_rules.constant(1),
    }


#: Builders and accessors.
_NOMINAL: Final = (
    "serviceAccount",
    "path",
    "group",
    "resource",
    "subresource",
    "namespace",
    "name",
    "allowed",
    "reason",
    "error",
    "errored",
    "masked",
    "prefixLength",
    "family",
    "isUnspecified",
    "isLoopback",
    "isLinkLocalMulticast",
    "isLinkLocalUnicast",
    "isGlobalUnicast",
    "format.named",
    "sign",
    "asInteger",
    "isInteger",
    "asApproximateFloat",
    "isGreaterThan",
    "isLessThan",
    "compareTo",
    "add",
    "sub",
    "major",
    "minor",
    "patch",
    "getScheme",
    "getHostname",
    "getHost",
    "getPort",
    "getEscapedPath",
    "getQuery",
)
_WALKS: Final = ("isSorted", "sum", "max", "min", "indexOf", "lastIndexOf")
_FIRST: Final = (
    "cidr",
    "ip",
    "isIP",
    "isCIDR",
    "quantity",
    "isQuantity",
    "semver",
    "isSemver",
)
_FIRST_SAME_SIZE: Final = (
    "url",
    "lowerAscii",
    "upperAscii",
    "substring",
    "trim",
    "jsonpatch.escapeKey",
)

COSTS: Final = _rules()

LIBRARY: Final = Library("kubernetes.costs", costs=COSTS)
