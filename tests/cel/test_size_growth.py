"""Polynomials as bounds: arithmetic, loops summed up, and nothing that is no number."""

from __future__ import annotations

import math

import pytest

from celadon.cel import size_growth
from celadon.cel.size_growth import UNBOUNDED, ZERO, Argument, Polynomial, at_most

N = Polynomial({(1,): 1.0})
#: The element of one loop.
M = Polynomial({(0, 1): 1.0})


@pytest.mark.parametrize(
    ("polynomial", "coefficients"),
    [
        (ZERO, (0.0,)),
        (N + 2, (2.0, 1.0)),
        (2 + N, (2.0, 1.0)),
        (N * N + N, (0.0, 1.0, 1.0)),
        (N + N, (0.0, 2.0)),
        (N + (N + 1), (1.0, 2.0)),
        (N | at_most(3), (3.0, 1.0)),
        (N * N | N + 1, (1.0, 1.0, 1.0)),
        (M * N, (0.0, 0.0, 1.0)),
        (N.smaller(at_most(7)), (7.0,)),
        (at_most(7).smaller(at_most(6)), (6.0,)),
        (N.smaller(N * N), (0.0, 1.0)),
        (UNBOUNDED + N, (math.inf,)),
        (UNBOUNDED * ZERO, (0.0,)),
        (UNBOUNDED * N, (math.inf,)),
        (at_most(1e200) * at_most(1e200), (math.inf,)),
        (N * N * N * N * N * N * N, (math.inf,)),
    ],
)
def test_arithmetic(polynomial: Polynomial, coefficients: tuple[float, ...]) -> None:
    assert polynomial.in_one_variable() == coefficients


def test_a_fraction_is_rounded_up() -> None:
    assert 0.1 < (N * 0.1).in_one_variable()[1] < 0.1 + 1e-6


@pytest.mark.parametrize(
    ("each", "total"),
    [
        (at_most(3), {(1,): 3.0}),  # three for each of at most n
        (M, {(1,): 1.0}),  # the elements are no larger than the list
        (M * M, {(2,): 1.0}),
        (M * N + 1, {(2,): 1.0, (1,): 1.0}),
    ],
)
def test_the_sum_over_a_range(each: Polynomial, total: dict[tuple[int, ...], float]) -> None:
    assert each.summed(1, N, N).variable_terms == total


def test_growths() -> None:
    one, two = Argument(N), Argument(at_most(5), True, 4)
    assert size_growth.first(one, two) is N
    assert size_growth.together(one, two).in_one_variable() == (6.0, 1.0)
    assert size_growth.times(2)(one).in_one_variable() == pytest.approx((16.0, 2.0))
    assert size_growth.single(one).in_one_variable() == (1.0,)
    assert (one.integer, two.integer, Argument(N, True, "4").integer) == (None, 4, None)
