"""Costs: ranges of numbers, and the one record that says all about the cost of a call.

cel-go keeps the estimated cost (`checker/cost.go`) and the tracked cost
(`interpreter/runtimecost.go`) in two files that must be changed together. Here an overload has one
`CostRule` with both, so that they are read and written side by side, and beside them the two other
things this compiler needs: a bound, and how generated code charges without calling the rule.

Sizes are what the cost model calls sizes: strings in code points, bytes, lists and maps by
length, everything else 1 (`size_of` in `celadon.cel.values.value_sizes` computes it for values).
All arithmetic saturates at 2**64 - 1.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from celadon.cel.growth import Growth

if TYPE_CHECKING:
    from celadon.cel.syntax import Expr
    from celadon.cel.types import Type

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
    """A closed interval of unsigned 64-bit numbers: a size, or a cost."""

    min: int
    max: int

    def plus(self, other: Range) -> Range:
        """Both ends added; no end exceeds the largest cost."""
        return Range(_cap(self.min + other.min), _cap(self.max + other.max))

    def times(self, other: Range) -> Range:
        """Both ends multiplied; no end exceeds the largest cost."""
        return Range(_cap(self.min * other.min), _cap(self.max * other.max))

    def divided(self, divisor: int) -> Range:
        """Each bound divided, rounded up: cel-go `MultiplyByCostFactor` with factor 1/divisor."""
        return Range(_ceil_factor(self.min, divisor), _ceil_factor(self.max, divisor))

    def union(self, other: Range) -> Range:
        """The smallest range that covers both: of alternatives, one of which runs."""
        return Range(min(self.min, other.min), max(self.max, other.max))


def _cap(n: int) -> int:
    return n if n <= MAX_UINT64 else MAX_UINT64


def fixed(n: int) -> Range:
    """The range of exactly `n`."""
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
    """An argument as the estimator sees it: its node, its checked type, its size.

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
    """This is what a call costs, and what is known of that beforehand.

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
    """The same cost whatever the arguments."""
    estimate = CallEstimate(fixed(n))
    return CostRule(lambda args, result: n, lambda args: estimate, n)


def tenth(size: SizeSource) -> SizeSource:
    """The source of `traversal`."""
    return traversal(size) if isinstance(size, int) else f"({size} + 9) // 10"


def write_first(first: SizeSource, *others: SizeSource) -> SizeSource:
    """The source of walking over the first argument once."""
    return tenth(first)
