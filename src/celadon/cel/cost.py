"""Costs: ranges of numbers, and the one record that says all about the cost of a call.

cel-go keeps the estimated cost (`checker/cost.go`) and the tracked cost
(`interpreter/runtimecost.go`) in two files that must be changed together. Here an overload has one
`CostRule` with both, so that they are read and written side by side, and beside them the two other
things this compiler needs: a bound, and how generated code charges without calling the rule.

Sizes are what the cost model calls sizes: strings in code points, bytes, lists and maps by
length, everything else 1 (`size_of` in `celadon.cel.values.typed_lists` computes it for values).
All arithmetic saturates at 2**64 - 1.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from celadon.cel.size_growth import Growth

if TYPE_CHECKING:
    from celadon.cel.syntax import Expr
    from celadon.cel.types import Type
from celadon.cel.size_growth import Argument, Polynomial
from celadon.cel.values import Value
from celadon.cel.values.typed_lists import size_of

MAX_UINT64 = (1 << 64) - 1

#: Cost of looking at one unit (code point, byte, element) of a string, cel-go's
#: `StringTraversalCostFactor`. Kept as a divisor, because 0.1 is not
#: exact in binary and the results must be.
TRAVERSAL_DIVISOR = 10
#: Cost of a regular expression per unit of its text: cel-go `RegexStringLengthCostFactor` (0.25).
REGEX_DIVISOR = 4

LIST_CREATE_COST = 10
MAP_CREATE_COST = 30
STRUCT_CREATE_COST = 40
CALL_COST = 1


class Range(NamedTuple):
    """Holds a closed interval of unsigned 64-bit numbers: a size, or a cost."""

    min: int
    max: int

    def plus(self, other: Range) -> Range:
        """Return both ends added; no end exceeds the largest cost."""
        return Range(_cap(self.min + other.min), _cap(self.max + other.max))

    def times(self, other: Range) -> Range:
        """Return both ends multiplied; no end exceeds the largest cost."""
        return Range(_cap(self.min * other.min), _cap(self.max * other.max))

    def divided(self, divisor: int) -> Range:
        """Return each bound divided, rounded up: cel-go `MultiplyByCostFactor` with factor
        1/divisor."""
        return Range(_ceil_factor(self.min, divisor), _ceil_factor(self.max, divisor))

    def union(self, other: Range) -> Range:
        """Return the smallest range that covers both: of alternatives, one of which runs."""
        return Range(min(self.min, other.min), max(self.max, other.max))


def _cap(n: int) -> int:
    return n if n <= MAX_UINT64 else MAX_UINT64


def fixed(n: int) -> Range:
    """Return the range of exactly `n`."""
    return Range(n, n)


def _ceil_factor(n: int, divisor: int) -> int:
    """n divided, rounded up. Beyond 2**52 through a double, because cel-go multiplies doubles and
    estimates of unknown sizes show it: a tenth of 2**64 - 1 is 1844674407370955264."""
    return ceil_div(n, divisor) if n <= 1 << 52 else _cap(math.ceil(float(n) * (1 / divisor)))


def ceil_div(n: int, divisor: int) -> int:
    """`n / divisor`, rounded up."""
    return -(-n // divisor)


def traversal(n: int) -> int:
    """Cost of walking over n units once: ceil(n * 0.1)."""
    return -(-n // TRAVERSAL_DIVISOR)


ONE = Range(1, 1)
ZERO = Range(0, 0)
UNKNOWN = Range(0, MAX_UINT64)


class Sized(NamedTuple):
    """Describes an argument as the estimator sees it: its node, its checked type, its size.

    `item` is the size of one element as a schema tells it, not as a literal shows it. `is_known` is
    false where nothing is known of the size, which for some rules is not the same as that it may be
    anything.
    """

    node: Expr
    type: Type
    size: Range
    item: Range = UNKNOWN
    is_known: bool = True


class CallEstimate(NamedTuple):
    """Cost of the call itself (arguments excluded) and, if the rule knows it, its result's size."""

    cost: Range
    size: Range | None = None


#: Run-time cost of a call from its evaluated arguments (receiver first) and its result. An
#: argument or result that is an error is passed as the EvaluationError (its size counts 1).
Tracked = Callable[[Sequence[Any], Any], int]
Estimated = Callable[[Sequence[Sized]], CallEstimate]
Lazily = Callable[[Sequence[Range], Sequence[Sized]], CallEstimate]
"""From the costs and sizes of the operands, some of which may not be evaluated."""

SizeSource = int | str
"""The size of an argument in generated code: a number, or the Python source that computes it."""

Written = Callable[..., SizeSource]
"""From the `SizeSource` of each argument to the source of the cost."""


class CostRule(NamedTuple):
    """Records what a call costs, and what is known of that beforehand.

    `fixed` is the cost when it never depends on the arguments, which saves the call. `bound` is
    what no call costs more than; without it nothing is promised, and every evaluation is counted.
    `panics` says that `tracked` may raise `Panicked`, which ends the evaluation.
    `written` says what `tracked` does as Python source, for arguments that are texts, lists, maps
    or numbers; without it `tracked` is called.
    """

    tracked: Tracked
    estimated: Estimated
    fixed: int | None = None
    bound: Growth | None = None
    written: Written | None = None
    panics: bool = False


def constant(n: int) -> CostRule:
    """Return the same cost whatever the arguments."""
    estimate = CallEstimate(fixed(n))
    return CostRule(lambda args, result: n, lambda args: estimate, n)


def tenth(size: SizeSource) -> SizeSource:
    """Return the source of `traversal`."""
    return traversal(size) if isinstance(size, int) else f"({size} + 9) // 10"


def write_first(first: SizeSource, *others: SizeSource) -> SizeSource:
    """Return the source of walking over the first argument once."""
    return tenth(first)


# --- The standard library ----------------------------------------------------
#
# The costs of the standard library's calls that are not simply 1.
#
# Each rule holds what a call costs (cel-go `interpreter/runtimecost.go`) beside what it is
# estimated to cost (`checker/cost.go`), what it costs at most, and the source that charges it. The
# first two differ where cel-go's do: `startsWith` is charged by its receiver and estimated by its
# argument; ordering and equality are charged ceil(min/10) and estimated at least 1.

_TWO_TO_64 = 1 << 64


def either_or_both(costs: Sequence[Range], sized: Sequence[Sized]) -> CallEstimate:
    """`&&`, `||`: the left operand, and perhaps the right one."""
    left, right = costs
    return CallEstimate(Range(left.min, left.plus(right).max))


def chosen(costs: Sequence[Range], sized: Sequence[Sized]) -> CallEstimate:
    """`?:`: the condition, and one of the others."""
    condition, yes, no = costs
    return CallEstimate(condition.plus(yes.union(no)), sized[1].size.union(sized[2].size))


def _traverse_first(args: Sequence[Value], result: object) -> int:
    return traversal(size_of(args[0]))


def _traversed(sized: Sized) -> CallEstimate:
    return CallEstimate(sized.size.divided(TRAVERSAL_DIVISOR))


def _wrapped(least: int, most: int) -> Range:
    """Numbers that cel-go computes without regard to what 64 bits hold."""
    return Range(least % _TWO_TO_64, most % _TWO_TO_64)


def _string_to_bytes(args: Sequence[Sized]) -> CallEstimate:
    size = args[0].size
    return CallEstimate(size.divided(TRAVERSAL_DIVISOR), _wrapped(size.min, size.max * 4))


def _bytes_to_string(args: Sequence[Sized]) -> CallEstimate:
    size = args[0].size
    return CallEstimate(size.divided(TRAVERSAL_DIVISOR), Range(size.min // 4, size.max))


def _estimate_quote(args: Sequence[Sized]) -> CallEstimate:
    size = args[0].size
    return CallEstimate(size.divided(TRAVERSAL_DIVISOR), _wrapped(size.min + 2, size.max * 2 + 2))


def _track_in_list(args: Sequence[Value], result: object) -> int:
    return size_of(args[1])


def _estimate_in_list(args: Sequence[Sized]) -> CallEstimate:
    return CallEstimate(args[1].size)


def _track_comparison(args: Sequence[Value], result: object) -> int:
    return traversal(min(size_of(args[0]), size_of(args[1])))


def _estimate_comparison(args: Sequence[Sized]) -> CallEstimate:
    smaller = min(args[0].size.max, args[1].size.max)
    return CallEstimate(Range(1 if smaller else 0, smaller).divided(TRAVERSAL_DIVISOR))


def _track_concatenation(args: Sequence[Value], result: object) -> int:
    return traversal(size_of(args[0]) + size_of(args[1]))


def _estimate_concatenation(args: Sequence[Sized]) -> CallEstimate:
    size = args[0].size.plus(args[1].size)
    return CallEstimate(size.divided(TRAVERSAL_DIVISOR), size)


def _estimate_list_concatenation(args: Sequence[Sized]) -> CallEstimate:
    return CallEstimate(ONE, args[0].size.plus(args[1].size))


def _track_matches(args: Sequence[Value], result: object) -> int:
    return traversal(size_of(args[0]) + 1) * ceil_div(size_of(args[1]), REGEX_DIVISOR)


def _estimate_matches(args: Sequence[Sized]) -> CallEstimate:
    text = args[0].size.plus(ONE).divided(TRAVERSAL_DIVISOR)
    return CallEstimate(text.times(args[1].size.divided(REGEX_DIVISOR)))


def _track_contains(args: Sequence[Value], result: object) -> int:
    return traversal(size_of(args[0])) * traversal(size_of(args[1]))


def _estimate_contains(args: Sequence[Sized]) -> CallEstimate:
    text = args[0].size.divided(TRAVERSAL_DIVISOR)
    return CallEstimate(text.times(args[1].size.divided(TRAVERSAL_DIVISOR)))


def _one(args: Sequence[Value], result: object) -> int:
    return 1


# What calls cost at most. Every tenth is rounded up, hence the one more.


def bound_first(argument: Argument, *others: Argument) -> Polynomial:
    """Return the bound of walking over the first argument once."""
    return argument.size * 0.1 + 1


def bound_comparison(left: Argument, right: Argument) -> Polynomial:
    return left.size.smaller(right.size) * 0.1 + 1


def _bound_concatenation(left: Argument, right: Argument) -> Polynomial:
    return (left.size + right.size) * 0.1 + 1


def _bound_second(first: Argument, second: Argument) -> Polynomial:
    return second.size


def bound_matches(text: Argument, pattern: Argument, *others: Argument) -> Polynomial:
    """Return the bound of searching a regular expression."""
    return (text.size * 0.1 + 2) * (pattern.size * 0.25 + 1)


def _bound_contains(text: Argument, part: Argument) -> Polynomial:
    return (text.size * 0.1 + 1) * (part.size * 0.1 + 1)


# The same costs as source.


def write_comparison(left: SizeSource, right: SizeSource) -> SizeSource:
    """Return the source of a tenth of the smaller size."""
    if isinstance(left, int) and isinstance(right, int):
        return traversal(min(left, right))
    for item, other in ((left, right), (right, left)):
        if isinstance(item, int) and item <= TRAVERSAL_DIVISOR:
            return f"1 if {other} else 0" if item else 0
    return tenth(f"({left} if {left} < {right} else {right})")


def _write_concatenation(left: SizeSource, right: SizeSource) -> SizeSource:
    if isinstance(left, int) and isinstance(right, int):
        return traversal(left + right)
    return tenth(f"{left} + {right}")


def _write_matches(text: SizeSource, pattern: SizeSource) -> SizeSource:
    parts = ceil_div(pattern, REGEX_DIVISOR) if isinstance(pattern, int) else f"-(-{pattern} // 4)"
    return f"({text} + 10) // 10 * {parts}"


def _write_contains(text: SizeSource, part: SizeSource) -> SizeSource:
    if isinstance(part, int):
        times = traversal(part)
        return tenth(text) if times == 1 else f"{tenth(text)} * {times}"
    return f"{tenth(text)} * ({tenth(part)})"


STRING_TO_BYTES = CostRule(_traverse_first, _string_to_bytes, bound=bound_first)
BYTES_TO_STRING = CostRule(_traverse_first, _bytes_to_string, bound=bound_first)
AFFIX = CostRule(
    _traverse_first, lambda args: _traversed(args[1]), bound=bound_first, written=write_first
)
IN_LIST = CostRule(_track_in_list, _estimate_in_list, bound=_bound_second)
COMPARISON = CostRule(
    _track_comparison, _estimate_comparison, bound=bound_comparison, written=write_comparison
)
CONCATENATION = CostRule(
    _track_concatenation,
    _estimate_concatenation,
    bound=_bound_concatenation,
    written=_write_concatenation,
)
LIST_CONCATENATION = CostRule(_one, _estimate_list_concatenation, fixed=1)
MATCHES = CostRule(_track_matches, _estimate_matches, bound=bound_matches, written=_write_matches)
CONTAINS = CostRule(
    _track_contains, _estimate_contains, bound=_bound_contains, written=_write_contains
)
#: `strings.quote` and `format` belong to another library but are charged by the standard rules.
QUOTE = CostRule(_traverse_first, _estimate_quote, bound=bound_first, written=write_first)
TRAVERSE_RECEIVER = CostRule(
    _traverse_first, lambda args: _traversed(args[0]), bound=bound_first, written=write_first
)
