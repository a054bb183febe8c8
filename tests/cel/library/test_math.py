"""The math library."""

from __future__ import annotations

import math as python_math
from collections.abc import Callable
from typing import Any

import pytest

from celadon.cel.errors import EvaluationError
from celadon.cel.library import math
from celadon.cel.library import math as m
from celadon.cel.values.text import MAX_INT, MAX_UINT, MIN_INT, Uint

INF = python_math.inf


@pytest.mark.parametrize(
    ("function", "args", "result"),
    [
        (m.least, (1, 1.0), 1),
        (m.least, (1.0, 1), 1.0),
        (m.least, (2, Uint(1)), Uint(1)),
        (m.greatest, (Uint(1), 1), Uint(1)),
        (m.greatest, (1, 2.5), 2.5),
        (m.least_of, ([3, 1.5, Uint(2)],), 1.5),
        (m.greatest_of, ([3],), 3),
        (m.ceil, (1.2,), 2.0),
        (m.ceil, (-0.2,), -0.0),
        (m.floor, (-1.2,), -2.0),
        (m.floor, (INF,), INF),
        (m.trunc, (-1.8,), -1.0),
        (m.trunc, (1e300,), 1e300),
        (m.round_half_away, (2.5,), 3.0),
        (m.round_half_away, (-2.5,), -3.0),
        (m.round_half_away, (0.49999999999999994,), 0.0),
        (m.round_half_away, (-INF,), -INF),
        (m.sign_double, (-0.5,), -1.0),
        (m.sign_double, (0.0,), 0.0),
        (m.sign_int, (-7,), -1),
        (m.sign_uint, (Uint(7),), Uint(1)),
        (m.absolute_int, (-5,), 5),
        (m.absolute_double, (-1.5,), 1.5),
        (m.and_int, (-1, 5), 5),
        (m.or_int, (4, 1), 5),
        (m.xor_int, (7, 2), 5),
        (m.not_int, (0,), -1),
        (m.not_uint, (Uint(0),), Uint(MAX_UINT)),
        (m.xor_uint, (Uint(7), Uint(2)), Uint(5)),
        (m.shift_left_int, (1, 63), MIN_INT),
        (m.shift_left_int, (1, 64), 0),
        (m.shift_left_int, (MAX_INT, 1), -2),
        (m.shift_left_uint, (Uint(MAX_UINT), 1), Uint(MAX_UINT - 1)),
        (m.shift_right_int, (-1, 1), MAX_INT),
        (m.shift_right_int, (-1, 0), -1),
        (m.shift_right_int, (-1024, 100), 0),
        (m.shift_right_uint, (Uint(8), 2), Uint(2)),
        (m.square_root, (81,), 9.0),
        (m.is_finite, (INF,), False),
        (m.is_inf, (-INF,), True),
    ],
)
def test_results(function: Callable[..., Any], args: tuple[Any, ...], result: Any) -> None:
    found = function(*args)
    assert found == result
    assert found.__class__ is result.__class__
    if result.__class__ is float:
        assert python_math.copysign(1, found) == python_math.copysign(1, result)


def test_nan() -> None:
    for function in (m.ceil, m.floor, m.trunc, m.round_half_away, m.sign_double):
        assert python_math.isnan(function(python_math.nan))
    assert python_math.isnan(m.square_root(-1.0))
    assert m.is_nan(python_math.nan)


@pytest.mark.parametrize(
    ("function", "args", "message"),
    [
        (m.least, (1, "a"), "no such overload: math.@min"),
        (m.greatest, (python_math.nan, 1), "NaN values cannot be ordered: math.@max"),
        (m.least_of, ([],), "math.@min(list) argument must not be empty"),
        (m.greatest_of, (["a"],), "no such overload: math.@max"),
        (m.least_of, ([1, "a"],), "no such overload: math.@min"),
        (m.absolute_int, (MIN_INT,), "integer overflow"),
        (m.shift_left_int, (1, -1), "math.bitShiftLeft() negative offset: -1"),
        (m.shift_right_uint, (Uint(1), -2), "math.bitShiftRight() negative offset: -2"),
    ],
)
def test_errors(function: Callable[..., Any], args: tuple[Any, ...], message: str) -> None:
    with pytest.raises(EvaluationError) as raised:
        function(*args)
    assert raised.value.message == message


def test_versions() -> None:
    names = [{f.name for f in math.library(version).functions} for version in range(3)]
    assert names[0] == {"math.@min", "math.@max"}
    assert len(names[1] - names[0]) == 15
    assert names[2] - names[1] == {"math.sqrt"}


def test_ids_follow_cel_go() -> None:
    ids = [o.id for f in math.library().functions for o in f.overloads]
    for id in (
        "math_@min_list_double",
        "math_@max_int_uint",
        "math_bitNot_int_int",
        "math_sqrt_int",
    ):
        assert id in ids
