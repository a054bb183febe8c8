"""Numbers where no type says what they are, as in custom resources: read and written as Go does.

Read, a number without fraction and exponent is an int64 if it is one, and everything else a double.
Written, a double without a fraction has none: 2.0 comes back as 2. As sigs.k8s.io/json and Go's
`encoding/json`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

MIN_INT64: Final = -(1 << 63)
MAX_INT64: Final = (1 << 63) - 1
EXPONENT_FROM: Final = 1e21
"""Doubles from here on are written with an exponent."""


def as_read(value: Any) -> Any:
    """A JSON value with the numbers that Go has. What was given is not changed."""
    return _changed(value, _read)


def as_written(value: Any) -> Any:
    """The same value as it is read after it was written. What was given is not changed."""
    return _changed(value, _written)


def _read(number: int | float) -> int | float:
    if isinstance(number, int):
        return number if MIN_INT64 <= number <= MAX_INT64 else float(number)
    return float(number)


def _written(number: int | float) -> int | float:
    if isinstance(number, float) and number.is_integer() and abs(number) < EXPONENT_FROM:
        return _read(int(number))
    return number


def _changed(value: Any, change: Callable[[int | float], int | float]) -> Any:
    if isinstance(value, dict):
        return {key: _changed(one, change) for key, one in value.items()}
    if isinstance(value, list):
        return [_changed(one, change) for one in value]
    if isinstance(value, int | float) and not isinstance(value, bool):
        return change(value)
    return value
