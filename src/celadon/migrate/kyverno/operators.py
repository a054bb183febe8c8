"""Kyverno's operators between two values: what a condition says whose both sides are known.

Facts are those of Kyverno 1.15 `pkg/engine/variables/operator`: both sides are compared as
durations if they are such, else as quantities, else as texts with wildcards. Patterns compare
numbers with texts otherwise (`patterns.compares`).
"""

from __future__ import annotations

from collections.abc import Iterable

from celadon.kube import Json
from celadon.kube.go import JsonSyntaxError, read_json
from celadon.migrate.kyverno.patterns import (
    Comparison,
    Operator,
    amount,
    nanoseconds,
    number_in,
    number_matches,
    read_string,
    wildcard_match,
)


def equals(key: Json, value: Json) -> bool:
    """Return what the operator `Equals` says of a key and a value."""
    # The type of the key decides (`equal.go`, `EqualHandler.Evaluate`), so the operator is not
    # symmetric: a number equals a text that is written as it is, the text does not equal the
    # number.
    match key:
        case bool():
            return key is value
        case int() | float():
            return number_matches(value, key)
        case str():
            return _text_equals(key, value)
        case dict() | list():
            return type(key) is type(value) and key == value
    return False


def _text_equals(key: str, value: Json) -> bool:
    durations = _durations(key, value)
    if durations is not None:
        return durations[0] == durations[1]
    if not isinstance(value, str):
        return False
    left, right = amount(key), amount(value)
    if left is not None:
        return right is not None and left.compare(right) == 0
    return wildcard_match(value, key)


def order(key: Json, value: Json) -> int | None:
    """Return -1, 0 or 1 as a key is less than, equal to or more than a value for the operators of
    order; None where they cannot be compared, so that none of the operators holds."""
    durations = _durations(key, value)
    if durations is not None:
        return _sign(*durations)
    if isinstance(key, str) and isinstance(value, str):
        left, right = amount(key), amount(value)
        if left is not None and right is not None:
            return left.compare(right)
    number, other = None if is_duration(key) else as_number(key), as_number(value)
    if number is None or other is None:
        return None
    return _sign(number, other)


def _sign(left: float, right: float) -> int:
    return (left > right) - (left < right)


def _durations(key: Json, value: Json) -> tuple[int, int] | None:
    """Return both sides in nanoseconds if one is a duration and the other is one or a number."""
    # One side has to be a text with a unit (`duration.go`, `parseDuration`): two plain numbers are
    # compared as numbers, a number beside a duration counts seconds.
    if not (is_duration(key) or is_duration(value)):
        return None
    left, right = _as_duration(key), _as_duration(value)
    return None if left is None or right is None else (left, right)


def is_duration(value: Json) -> bool:
    """Return whether a value is a text that is a duration with a unit."""
    return isinstance(value, str) and value != "0" and nanoseconds(value) is not None


def _as_duration(value: Json) -> int | None:
    if isinstance(value, str):
        return nanoseconds(value) if value != "0" else None
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return int(value) * 10**9


def as_number(value: Json) -> float | None:
    """Return the number that a value has in an order: a text that is one, a duration in seconds."""
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return None
    if not isinstance(value, str):
        return float(value)
    return (nanoseconds(value) or 0) / 10**9 if is_duration(value) else number_in(value)


def printed(value: Json) -> str:
    """Return a value as Go's `fmt.Sprint` writes it, for the operators of membership."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)


def is_alike(text: str, others: Iterable[str]) -> bool:
    """Return whether a text is one of others; either side may have wildcards."""
    return any(wildcard_match(text, one) or wildcard_match(one, text) for one in others)


def range_of(text: str) -> tuple[Comparison, ...] | None:
    """Return the ends of a range (`10-20`); None of a text that is none."""
    alternatives = read_string(text)
    if len(alternatives) > 1 or any(len(group) > 1 for group in alternatives[0]):
        return None
    ends = tuple(group[0] for group in alternatives[0])
    is_range = [end.operator for end in ends] == [Operator.MORE_EQUAL, Operator.LESS_EQUAL]
    return ends if is_range and "&" not in text else None


def listed(text: str) -> list[str] | None:
    """Return the items of a list that is written as a text: a JSON list, or the text alone; None of
    other JSON, which Kyverno refuses."""
    try:
        value = read_json(text).value
    except JsonSyntaxError:
        return [text]
    is_list = isinstance(value, list) and all(isinstance(item, str) for item in value)
    return value if is_list else None
