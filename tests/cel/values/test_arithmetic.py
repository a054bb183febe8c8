"""Arithmetic on operands of unknown type."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from celadon.cel.errors import EvaluationError
from celadon.cel.values.arithmetic import add, divide, modulo, multiply, negate, subtract
from celadon.cel.values.text import MAX_INT, MAX_UINT, MIN_INT, Uint
from celadon.cel.values.timestamps import MAX_SECONDS, Duration, Timestamp

SECOND = 1_000_000_000
Operator = Callable[[Any, Any], Any]


@pytest.mark.parametrize(
    ("operator", "a", "b", "result"),
    [
        (add, 1, 2, 3),
        (add, Uint(1), Uint(2), Uint(3)),
        (add, 1.5, 2.0, 3.5),
        (add, "a", "b", "ab"),
        (add, b"a", b"b", b"ab"),
        (add, [1], ["a"], [1, "a"]),
        (add, Duration(1), Duration(2), Duration(3)),
        (add, Timestamp(1, 0, 60), Duration(SECOND), Timestamp(2, 0, 60)),
        (add, Duration(SECOND), Timestamp(1), Timestamp(2)),
        (subtract, 1, 2, -1),
        (subtract, Uint(3), Uint(2), Uint(1)),
        (subtract, Timestamp(2), Timestamp(1), Duration(SECOND)),
        (subtract, Timestamp(1), Duration(1), Timestamp(0, 999_999_999)),
        (subtract, Duration(1), Duration(2), Duration(-1)),
        (multiply, -3, 4, -12),
        (multiply, Uint(3), Uint(4), Uint(12)),
        (multiply, 1.5, 2.0, 3.0),
        (divide, -7, 2, -3),
        (divide, 7, -2, -3),
        (divide, -7, -2, 3),
        (divide, Uint(7), Uint(2), Uint(3)),
        (divide, 1.0, 4.0, 0.25),
        (divide, 1.0, 0.0, math.inf),
        (divide, 1.0, -0.0, -math.inf),
        (divide, -1.0, 0.0, -math.inf),
        (modulo, -7, 3, -1),
        (modulo, 7, -3, 1),
        (modulo, Uint(7), Uint(3), Uint(1)),
    ],
)
def test_results(operator: Operator, a: object, b: object, result: object) -> None:
    found = operator(a, b)
    assert found == result
    assert found.__class__ is result.__class__


def test_zero_by_zero_is_nan() -> None:
    assert math.isnan(divide(0.0, 0.0))
    assert math.isnan(divide(math.nan, 0.0))


def test_timestamps_keep_their_offset() -> None:
    assert add(Timestamp(1, 0, 60), Duration(1)).offset_minutes == 60
    assert subtract(Timestamp(1, 0, 60), Duration(1)).offset_minutes == 60


@pytest.mark.parametrize(
    ("operator", "a", "b", "message"),
    [
        (add, MAX_INT, 1, "integer overflow"),
        (subtract, MIN_INT, 1, "integer overflow"),
        (multiply, MAX_INT, 2, "integer overflow"),
        (divide, MIN_INT, -1, "integer overflow"),
        (modulo, MIN_INT, -1, "integer overflow"),
        (add, Uint(MAX_UINT), Uint(1), "unsigned integer overflow"),
        (subtract, Uint(1), Uint(2), "unsigned integer overflow"),
        (multiply, Uint(MAX_UINT), Uint(2), "unsigned integer overflow"),
        (divide, 1, 0, "division by zero"),
        (divide, Uint(1), Uint(0), "division by zero"),
        (modulo, 1, 0, "modulus by zero"),
        (add, Duration(MAX_INT), Duration(1), "integer overflow"),
        (subtract, Timestamp(MAX_SECONDS), Timestamp(-MAX_SECONDS), "integer overflow"),
        (add, Timestamp(MAX_SECONDS), Duration(SECOND), "timestamp overflow"),
        # the left operand has the operator
        (add, 1, "a", "no such overload"),
        (add, 1, Uint(1), "no such overload"),
        (add, 1, 1.0, "no such overload"),
        (add, [1], 2, "no such overload"),
        (add, Timestamp(0), Timestamp(0), "no such overload"),
        (subtract, Duration(0), Timestamp(0), "no such overload"),
        # the left operand lacks it, but is a string, timestamp or duration
        (subtract, "a", "b", "no such overload"),
        (multiply, Duration(1), 2, "no such overload"),
        # the left operand lacks it
        (add, True, 1, "no such overload: _+_"),
        (add, None, 1, "no such overload: _+_"),
        (add, {}, {}, "no such overload: _+_"),
        (subtract, [1], [1], "no such overload: _-_"),
        (multiply, True, True, "no such overload: _*_"),
        (divide, None, None, "no such overload: _/_"),
        (modulo, 1.0, 1.0, "no such overload: _%_"),
    ],
)
def test_errors(operator: Operator, a: object, b: object, message: str) -> None:
    with pytest.raises(EvaluationError) as raised:
        operator(a, b)
    assert raised.value.message == message


@pytest.mark.parametrize(
    ("value", "result"), [(5, -5), (1.5, -1.5), (Duration(3), Duration(-3)), (0, 0)]
)
def test_negation(value: object, result: object) -> None:
    assert negate(value) == result


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (MIN_INT, "integer overflow"),
        (Duration(MIN_INT), "integer overflow"),
        (True, "no such overload"),
        ("a", "no such overload"),
        (Timestamp(0), "no such overload"),
        (Uint(1), "no such overload: -_"),
        (None, "no such overload: -_"),
    ],
)
def test_negation_errors(value: object, message: str) -> None:
    with pytest.raises(EvaluationError) as raised:
        negate(value)
    assert raised.value.message == message


@given(
    st.integers(MIN_INT, MAX_INT), st.integers(MIN_INT, MAX_INT).filter(lambda n: n not in (0, -1))
)
def test_quotient_and_remainder_belong_together(a: int, b: int) -> None:
    assert divide(a, b) * b + modulo(a, b) == a
    assert abs(modulo(a, b)) < abs(b)
