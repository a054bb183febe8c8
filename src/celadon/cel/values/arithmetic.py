"""`+ - * / %` and unary minus for operands of unknown type.

Each function is the whole operator: it picks the behaviour by the operands' classes, checks the
range of the result and raises cel-go's texts. int and uint never mix with anything else; division
truncates toward zero and the remainder has the dividend's sign.
"""

from __future__ import annotations

import math
from typing import Any

from celadon.cel.errors import EvaluationError
from celadon.cel.values.equality import refusal
from celadon.cel.values.text import MAX_INT, MAX_UINT, MIN_INT, Uint
from celadon.cel.values.timestamps import Duration, Timestamp, timestamp_at
from celadon.cel.values.typed_lists import LIST_CLASSES, concatenation

_ADDERS = frozenset({int, Uint, float, str, bytes, Duration, Timestamp}) | LIST_CLASSES
_SUBTRACTORS = frozenset({int, Uint, float, Duration, Timestamp})
_MULTIPLIERS = frozenset({int, Uint, float})
_MODDERS = frozenset({int, Uint})
_NEGATORS = frozenset({int, float, bool, Duration})


def integer_overflow() -> EvaluationError:
    """Return the error that the result does not fit in int64, or in a duration."""
    return EvaluationError("integer overflow")


def unsigned_overflow() -> EvaluationError:
    """Return the error that the result does not fit in uint64."""
    return EvaluationError("unsigned integer overflow")


def _int(n: int) -> int:
    if MIN_INT <= n <= MAX_INT:
        return n
    raise integer_overflow()


def _uint(n: int) -> Uint:
    if 0 <= n <= MAX_UINT:
        return Uint(n)
    raise unsigned_overflow()


def _duration(nanoseconds: int) -> Duration:
    return Duration(_int(nanoseconds))


def add(a: Any, b: Any) -> Any:
    """Evaluate `a + b`: numbers of one type, strings, bytes, lists, durations, and a timestamp with
    a duration. Raises EvaluationError on overflow and for other operands."""
    kind = a.__class__
    if kind is b.__class__:
        if kind is int:
            return _int(a + b)
        if kind is str or kind is float or kind is bytes:
            return a + b
        if kind is list:
            return concatenation(a, b)
        if kind is Uint:
            return _uint(int(a) + int(b))
        if kind is Duration:
            return _duration(a.nanoseconds + b.nanoseconds)
    elif kind is Timestamp and b.__class__ is Duration:
        return timestamp_at(a.unix_nanoseconds + b.nanoseconds, a.offset_minutes)
    elif kind is Duration and b.__class__ is Timestamp:
        return timestamp_at(b.unix_nanoseconds + a.nanoseconds, b.offset_minutes)
    if isinstance(a, list) and isinstance(b, list):
        # INVARIANT (typed lists): the one on the left decides
        return concatenation(a, b) if kind is list else a + b
    raise refusal("_+_", a, _ADDERS)


def subtract(a: Any, b: Any) -> Any:
    """Evaluate `a - b`, also of timestamps (a duration) and of a duration from a timestamp. Raises
    EvaluationError on overflow and for other operands."""
    kind = a.__class__
    if kind is b.__class__:
        if kind is int:
            return _int(a - b)
        if kind is float:
            return a - b
        if kind is Uint:
            return _uint(int(a) - int(b))
        if kind is Duration:
            return _duration(a.nanoseconds - b.nanoseconds)
        if kind is Timestamp:
            return _duration(a.unix_nanoseconds - b.unix_nanoseconds)
    elif kind is Timestamp and b.__class__ is Duration:
        return timestamp_at(a.unix_nanoseconds - b.nanoseconds, a.offset_minutes)
    raise refusal("_-_", a, _SUBTRACTORS)


def multiply(a: Any, b: Any) -> Any:
    """Evaluate `a * b` of two numbers of one type. Raises EvaluationError on overflow and for other
    operands."""
    kind = a.__class__
    if kind is b.__class__:
        if kind is int:
            return _int(a * b)
        if kind is float:
            return a * b
        if kind is Uint:
            return _uint(int(a) * int(b))
    raise refusal("_*_", a, _MULTIPLIERS)


def divide(a: Any, b: Any) -> Any:
    """Evaluate `a / b`, towards zero for int and uint. Raises EvaluationError for their division by
    zero, on overflow and for other operands."""
    kind = a.__class__
    if kind is b.__class__:
        if kind is float:
            return _divide_doubles(a, b)
        if kind is int or kind is Uint:
            if b == 0:
                raise EvaluationError("division by zero")
            quotient = abs(int(a)) // abs(int(b))
            if kind is Uint:
                return Uint(quotient)
            return _int(quotient if (a < 0) is (b < 0) else -quotient)
    raise refusal("_/_", a, _MULTIPLIERS)


def _divide_doubles(a: float, b: float) -> float:
    if b != 0.0:
        return a / b
    if a == 0.0 or a != a:
        return math.nan
    return math.copysign(math.inf, a) * math.copysign(1.0, b)


def modulo(a: Any, b: Any) -> Any:
    """Evaluate `a % b` of two ints or uints; the sign is that of `a`. Raises EvaluationError for a
    zero `b`."""
    kind = a.__class__
    if kind is b.__class__ and (kind is int or kind is Uint):
        if b == 0:
            raise EvaluationError("modulus by zero")
        if a == MIN_INT and b == -1:
            raise integer_overflow()
        remainder = abs(int(a)) % abs(int(b))
        if kind is Uint:
            return Uint(remainder)
        return -remainder if a < 0 else remainder
    raise refusal("_%_", a, _MODDERS)


def negate(a: Any) -> Any:
    """Evaluate `-a` of an int, double or duration. Raises EvaluationError on overflow and for other
    operands."""
    kind = a.__class__
    if kind is int:
        return _int(-a)
    if kind is float:
        return -a
    if kind is Duration:
        return _duration(-a.nanoseconds)
    raise refusal("-_", a, _NEGATORS)
