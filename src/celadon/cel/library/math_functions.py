"""What the math library computes: extrema, rounding, signs, bits.

int and uint are 64 bits wide, so shifts and complements are masked. A right shift of an int fills
with zeros, as cel-go's does.
"""

from __future__ import annotations

import math
from typing import Any

from celadon.cel.errors import EvaluationError, no_such_overload
from celadon.cel.values.numbers import MAX_INT, MAX_UINT, MIN_INT, Uint
from celadon.cel.values.operations.arithmetic import integer_overflow
from celadon.cel.values.operations.equality import compare

#: From here on every double is integral.
_INTEGRAL_FROM = 2.0**52
_NUMBERS = frozenset({int, Uint, float})


def least(a: object, b: object) -> Any:
    """The smaller; the first of equal ones."""
    return b if _compare(a, b, "math.@min") > 0 else a


def greatest(a: object, b: object) -> Any:
    """The greater; the first of equal ones."""
    return b if _compare(a, b, "math.@max") < 0 else a


def _compare(a: object, b: object, function: str) -> int:
    try:
        return compare(a, b)
    except EvaluationError as error:
        raise EvaluationError(f"{error.message}: {function}") from error


def least_of(numbers: list[Any]) -> Any:
    return _extremum(numbers, 1, "math.@min")


def greatest_of(numbers: list[Any]) -> Any:
    return _extremum(numbers, -1, "math.@max")


def _extremum(numbers: list[Any], replaced_when: int, function: str) -> Any:
    if not numbers:
        raise EvaluationError(f"{function}(list) argument must not be empty")
    best = numbers[0]
    try:
        for number in numbers[1:]:
            if compare(best, number) == replaced_when:
                best = number
    except EvaluationError as error:
        raise no_such_overload(function) from error
    if best.__class__ not in _NUMBERS:
        raise no_such_overload(function)
    return best


def _is_integral(x: float) -> bool:
    return not abs(x) < _INTEGRAL_FROM


def ceil(x: float) -> float:
    return x if _is_integral(x) else math.copysign(float(math.ceil(x)), x)


def floor(x: float) -> float:
    return x if _is_integral(x) else math.copysign(float(math.floor(x)), x)


def trunc(x: float) -> float:
    return x if _is_integral(x) else math.copysign(float(math.trunc(x)), x)


def round_half_away(x: float) -> float:
    """To the nearest integer, halves away from zero."""
    if _is_integral(x):
        return x
    whole = math.floor(abs(x))
    return math.copysign(float(whole + (abs(x) - whole >= 0.5)), x)


def is_finite(x: float) -> bool:
    return math.isfinite(x)


def is_inf(x: float) -> bool:
    return math.isinf(x)


def is_nan(x: float) -> bool:
    return x != x


def absolute_int(n: int) -> int:
    if n == MIN_INT:
        raise integer_overflow()
    return abs(n)


def absolute_double(x: float) -> float:
    return abs(x)


def sign_double(x: float) -> float:
    if x != x:
        return x
    return float((x > 0) - (x < 0))


def sign_int(n: int) -> int:
    return (n > 0) - (n < 0)


def sign_uint(n: Uint) -> Uint:
    return Uint(n > 0)


def _signed(bits: int) -> int:
    bits &= MAX_UINT
    return bits if bits <= MAX_INT else bits - (1 << 64)


def and_int(a: int, b: int) -> int:
    return a & b


def or_int(a: int, b: int) -> int:
    return a | b


def xor_int(a: int, b: int) -> int:
    return a ^ b


def not_int(a: int) -> int:
    return ~a


def and_uint(a: Uint, b: Uint) -> Uint:
    return Uint(int(a) & int(b))


def or_uint(a: Uint, b: Uint) -> Uint:
    return Uint(int(a) | int(b))


def xor_uint(a: Uint, b: Uint) -> Uint:
    return Uint(int(a) ^ int(b))


def not_uint(a: Uint) -> Uint:
    return Uint(MAX_UINT - int(a))


def _left(bits: int, by: int) -> int:
    if by < 0:
        raise EvaluationError(f"math.bitShiftLeft() negative offset: {by}")
    return bits << by if by < 64 else 0


def _right(bits: int, by: int) -> int:
    if by < 0:
        raise EvaluationError(f"math.bitShiftRight() negative offset: {by}")
    return (bits & MAX_UINT) >> by if by < 64 else 0


def shift_left_int(n: int, by: int) -> int:
    return _signed(_left(n, by))


def shift_left_uint(n: Uint, by: int) -> Uint:
    return Uint(_left(int(n), by) & MAX_UINT)


def shift_right_int(n: int, by: int) -> int:
    return _signed(_right(n, by))


def shift_right_uint(n: Uint, by: int) -> Uint:
    return Uint(_right(int(n), by))


def square_root(x: float) -> float:
    """NaN for negative numbers."""
    return math.sqrt(x) if x >= 0 else math.nan
