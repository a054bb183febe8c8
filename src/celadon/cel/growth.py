"""How sizes grow: bounds of sizes and costs as polynomials, and the growth of functions.

The *size* of a value counts everything in it: one for each value, list or map, and one more for
each character of a text. No JSON text of a value is shorter than that. It is never less than what
the cost model calls a size (`size_of` in `celadon.cel.values.value_sizes`).

A `Growth` says how large the result of a call is at most, or how dear the call is, given what is
known of its arguments (receiver first). Functions whose results are numbers, truth values or times
need none; for any other, no growth means that nothing is known, and then no bound holds.

    growth=growth.first                                       # part of the first argument
    growth=growth.together                                    # all arguments, put together
    growth=lambda text, old, new: text.size * (new.size + 1)  # `replace`
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any, Final, NamedTuple, TypeAlias

_MAX_DEGREE: Final = 6
#: Added to products with fractions, whose last bits are rounded.
_ROUNDING: Final = 1e-9

Exponents: TypeAlias = tuple[int, ...]
"""Of each variable in turn, without zeros at the end."""


class Polynomial:
    """A polynomial with coefficients that are not negative: an upper bound.

    Its first variable is the size of all inputs together; the analysis adds one for the element of
    each loop around. Infinite coefficients stand alone: see `UNBOUNDED`.
    """

    __slots__ = ("terms",)

    def __init__(self, terms: Mapping[Exponents, float]) -> None:
        self.terms = terms

    @property
    def is_constant(self) -> bool:
        return self.terms.keys() <= {()}

    @property
    def degree(self) -> int:
        return max((sum(exponents) for exponents in self.terms), default=0)

    def __add__(self, other: Polynomial | float) -> Polynomial:
        terms = dict(self.terms)
        added = other.terms if isinstance(other, Polynomial) else {(): float(other)}
        for exponents, coefficient in added.items():
            terms[exponents] = terms.get(exponents, 0.0) + coefficient
        return Polynomial(terms)

    def __mul__(self, other: Polynomial | float) -> Polynomial:
        if isinstance(other, Polynomial):
            return _product(self.terms, other.terms)
        return Polynomial({e: c * other + _ROUNDING for e, c in self.terms.items()})

    __radd__ = __add__
    __rmul__ = __mul__

    def __or__(self, other: Polynomial) -> Polynomial:
        """A bound of either."""
        terms = dict(self.terms)
        for exponents, coefficient in other.terms.items():
            terms[exponents] = max(terms.get(exponents, 0.0), coefficient)
        return Polynomial(terms)

    def smaller(self, other: Polynomial) -> Polynomial:
        """A bound of the smaller of two values: the bound that grows less, else either."""
        if self.is_constant and other.is_constant:
            return self if self.terms.get((), 0.0) <= other.terms.get((), 0.0) else other
        return self if self.degree <= other.degree else other

    def summed(self, variable: int, count: Polynomial, total: Polynomial) -> Polynomial:
        """The sum over a range of `count` elements and size `total`, the variable being the size
        of one: a term without it is multiplied by the count, a power j of it becomes the j-th power
        of the total, because sum(m ** j) <= sum(m) ** j."""
        result = ZERO
        for exponents, coefficient in self.terms.items():
            power = exponents[variable] if len(exponents) > variable else 0
            term = Polynomial({_trim(exponents[:variable]): coefficient})
            for factor in (total,) * power or (count,):
                term = term * factor
            result = result + term
        return result

    def in_one_variable(self) -> tuple[float, ...]:
        """The coefficients, lowest power first, all variables taken for the first."""
        result = [0.0] * (self.degree + 1)
        for exponents, coefficient in self.terms.items():
            result[sum(exponents)] += coefficient
        return tuple(result) if math.isfinite(sum(result)) else (math.inf,)


def _product(a: Mapping[Exponents, float], b: Mapping[Exponents, float]) -> Polynomial:
    terms: dict[Exponents, float] = {}
    for left, x in a.items():
        for right, y in b.items():
            shorter, longer = (left, right) if len(left) < len(right) else (right, left)
            padded = shorter + (0,) * (len(longer) - len(shorter))
            exponents = tuple(i + j for i, j in zip(longer, padded, strict=True))
            if sum(exponents) > _MAX_DEGREE or not math.isfinite(x * y):
                return UNBOUNDED
            terms[exponents] = terms.get(exponents, 0.0) + x * y
    return Polynomial(terms)


def _trim(exponents: Exponents) -> Exponents:
    while exponents and exponents[-1] == 0:
        exponents = exponents[:-1]
    return exponents


def at_most(number: float) -> Polynomial:
    return Polynomial({(): float(number)})


ZERO: Final = Polynomial({})
ONE: Final = at_most(1)
UNBOUNDED: Final = at_most(math.inf)


class Argument(NamedTuple):
    """This is what is known of an argument: a bound of its size, and its value where that is
    constant."""

    size: Polynomial
    is_constant: bool = False
    value: Any = None

    @property
    def integer(self) -> int | None:
        """The value if it is a constant int."""
        return self.value if self.is_constant and self.value.__class__ is int else None


Growth: TypeAlias = Callable[..., Polynomial]
"""From the arguments (each an `Argument`) to a bound."""


def first(one: Argument, *others: Argument) -> Polynomial:
    """The first argument, or a part of it."""
    return one.size


def together(*arguments: Argument) -> Polynomial:
    """All arguments in one value."""
    result = ONE
    for argument in arguments:
        result = result + argument.size
    return result


def times(factor: float) -> Growth:
    """The first argument, written so many times as long, and a few characters more."""
    return lambda one, *others: one.size * factor + 16


def fixed(number: float) -> Growth:
    """No more than that, whatever the arguments are."""
    bound = at_most(number)
    return lambda *arguments: bound


#: A value that counts for one.
single: Final = fixed(1)
#: The text of a number, a truth value, a time, a type or a network address.
short_text: Final = fixed(400)
