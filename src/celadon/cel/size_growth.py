"""Growth of sizes: bounds of sizes and costs as polynomials, and the growth of functions.

The *size* of a value counts everything in it: one for each value, list or map, and one more for
each character of a text. No JSON text of a value is shorter than that. It is never less than what
the cost model calls a size (`size_of` in `celadon.cel.values.typed_lists`).

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
    """Holds a polynomial with coefficients that are not negative: an upper bound.

    Its first variable is the size of all inputs together; the analysis adds one for the element of
    each loop around. Infinite coefficients stand alone: see `UNBOUNDED`. The constant stands apart
    from the terms with variables: most of what an analysis adds are constants.
    """

    __slots__ = ("constant", "variable_terms")

    def __init__(self, variable_terms: Mapping[Exponents, float], constant: float = 0.0) -> None:
        self.variable_terms = variable_terms
        self.constant = constant

    @property
    def terms(self) -> dict[Exponents, float]:
        """Return all terms, by their exponents."""
        return {(): self.constant, **self.variable_terms}

    @property
    def degree(self) -> int:
        return max(map(sum, self.variable_terms), default=0)

    def __add__(self, other: Polynomial | float) -> Polynomial:
        if not isinstance(other, Polynomial):
            return Polynomial(self.variable_terms, self.constant + other)
        constant = self.constant + other.constant
        if not other.variable_terms:
            return Polynomial(self.variable_terms, constant)
        if not self.variable_terms:
            return Polynomial(other.variable_terms, constant)
        terms = dict(self.variable_terms)
        for exponents, coefficient in other.variable_terms.items():
            terms[exponents] = terms.get(exponents, 0.0) + coefficient
        return Polynomial(terms, constant)

    def __mul__(self, other: Polynomial | float) -> Polynomial:
        if isinstance(other, Polynomial):
            return _product(self, other)
        terms = {e: c * other + _ROUNDING for e, c in self.variable_terms.items()}
        return Polynomial(terms, self.constant * other + _ROUNDING if self.constant else 0.0)

    __radd__ = __add__
    __rmul__ = __mul__

    def __or__(self, other: Polynomial) -> Polynomial:
        """Return a bound of either."""
        constant = max(self.constant, other.constant)
        if not other.variable_terms:
            return Polynomial(self.variable_terms, constant)
        terms = dict(self.variable_terms)
        for exponents, coefficient in other.variable_terms.items():
            terms[exponents] = max(terms.get(exponents, 0.0), coefficient)
        return Polynomial(terms, constant)

    def smaller(self, other: Polynomial) -> Polynomial:
        """Return a bound of the smaller of two values: the bound that grows less, else either."""
        if not self.variable_terms and not other.variable_terms:
            return self if self.constant <= other.constant else other
        return self if self.degree <= other.degree else other

    def summed(self, variable: int, count: Polynomial, total: Polynomial) -> Polynomial:
        """Return the sum over a range of `count` elements and size `total`, the variable being the
        size of one: a term without it is multiplied by the count, a power j of it becomes the j-th
        power of the total, because sum(m ** j) <= sum(m) ** j."""
        result = at_most(self.constant) * count
        for exponents, coefficient in self.variable_terms.items():
            power = exponents[variable] if len(exponents) > variable else 0
            trim = _trim(exponents[:variable])
            term = Polynomial({trim: coefficient}) if trim else at_most(coefficient)
            for factor in (total,) * power or (count,):
                term = term * factor
            result = result + term
        return result

    def in_one_variable(self) -> tuple[float, ...]:
        """Return the coefficients, lowest power first, all variables taken for the first."""
        result = [self.constant] + [0.0] * self.degree
        for exponents, coefficient in self.variable_terms.items():
            result[sum(exponents)] += coefficient
        return tuple(result) if math.isfinite(sum(result)) else (math.inf,)


def _product(a: Polynomial, b: Polynomial) -> Polynomial:
    left, right = _nonzero(a), _nonzero(b)
    terms: dict[Exponents, float] = {}
    for shorter, x in left.items():
        for longer, y in right.items():
            exponents = _multiplied(shorter, longer) if shorter and longer else shorter or longer
            if sum(exponents) > _MAX_DEGREE or not math.isfinite(x * y):
                return UNBOUNDED
            terms[exponents] = terms.get(exponents, 0.0) + x * y
    return Polynomial(terms, terms.pop((), 0.0))


def _nonzero(polynomial: Polynomial) -> Mapping[Exponents, float]:
    return polynomial.terms if polynomial.constant else polynomial.variable_terms


def _multiplied(left: Exponents, right: Exponents) -> Exponents:
    shorter, longer = (left, right) if len(left) < len(right) else (right, left)
    padded = shorter + (0,) * (len(longer) - len(shorter))
    return tuple(i + j for i, j in zip(longer, padded, strict=True))


def _trim(exponents: Exponents) -> Exponents:
    while exponents and exponents[-1] == 0:
        exponents = exponents[:-1]
    return exponents


def at_most(number: float) -> Polynomial:
    return Polynomial({}, float(number))


ZERO: Final = Polynomial({})
ONE: Final = at_most(1)
UNBOUNDED: Final = at_most(math.inf)


class Argument(NamedTuple):
    """Holds what is known of an argument: a bound of its size, and its value where that is
    constant."""

    size: Polynomial
    is_constant: bool = False
    value: Any = None

    @property
    def integer(self) -> int | None:
        """Return the value if it is a constant int."""
        return self.value if self.is_constant and self.value.__class__ is int else None


Growth: TypeAlias = Callable[..., Polynomial]
"""From the arguments (each an `Argument`) to a bound."""


def first(argument: Argument, *others: Argument) -> Polynomial:
    """Return the growth of the first argument, or a part of it."""
    return argument.size


def together(*arguments: Argument) -> Polynomial:
    """Return the growth of all arguments in one value."""
    result = ONE
    for argument in arguments:
        result = result + argument.size
    return result


def times(factor: float) -> Growth:
    """Return the growth of the first argument, written so many times as long, and a few characters
    more."""
    return lambda value, *others: value.size * factor + 16


def fixed(number: float) -> Growth:
    """No more than that, whatever the arguments are."""
    bound = at_most(number)
    return lambda *arguments: bound


#: A value that counts for one.
single: Final = fixed(1)
#: The text of a number, a truth value, a time, a type or a network address.
short_text: Final = fixed(400)
