"""What Kyverno says of a single value and a leaf of a pattern.

Facts are those of Kyverno 1.15 `pkg/engine/pattern`: both sides are compared as durations if they
are such, else as quantities, else as texts with wildcards.
"""

from __future__ import annotations

from celadon.kube import Json, quantity
from celadon.migrate.kyverno.patterns import (
    Comparison,
    Operator,
    nanoseconds,
    read_string,
    wildcard_match,
)


def scalar_matches(value: Json, pattern: Json) -> bool:
    """Return whether a value is what a leaf of a pattern demands."""
    match pattern:
        case bool():
            return value is pattern
        case int() | float():
            return _number_matches(value, pattern)
        case None:
            return value is None or value is False or value == "" or (value == 0)
        case str():
            return value == pattern or any(
                all(any(compares(value, one) for one in condition) for condition in alternative)
                for alternative in read_string(pattern)
            )
    return False


def _number_matches(value: Json, pattern: float) -> bool:
    if isinstance(value, str):
        try:
            return (int(value) if isinstance(pattern, int) else float(value)) == pattern
        except ValueError:
            return False
    return isinstance(value, int | float) and not isinstance(value, bool) and value == pattern


def compares(value: Json, comparison: Comparison) -> bool:
    """Return whether a value compares as demanded: as a duration, a quantity, or a text."""
    operator, operand = comparison.operator, comparison.operand
    text = _as_amount(value)
    if text is not None:
        for read in (nanoseconds, amount):
            left, right = read(text), read(operand)
            if left is not None and right is not None:
                return ordered(_sign(left, right), operator)
    if operator not in (Operator.EQUAL, Operator.NOT_EQUAL):
        return False
    text = as_text(value)
    return text is not None and wildcard_match(operand, text) is (operator is Operator.EQUAL)


def ordered(sign: int, operator: Operator) -> bool:
    """Return whether a comparison came out as demanded: -1 less, 0 equal, 1 more."""
    return sign in {
        Operator.EQUAL: (0,), Operator.NOT_EQUAL: (-1, 1), Operator.MORE: (1,),
        Operator.MORE_EQUAL: (0, 1), Operator.LESS: (-1,), Operator.LESS_EQUAL: (-1, 0),
    }[operator]  # fmt: skip


def _sign(left: object, right: object) -> int:
    if isinstance(left, quantity.Quantity) and isinstance(right, quantity.Quantity):
        return left.compare(right)
    assert isinstance(left, int)
    assert isinstance(right, int)
    return (left > right) - (left < right)


def amount(text: str) -> quantity.Quantity | None:
    """Return a quantity; None of a text that is none."""
    try:
        return quantity.parse(text)
    except quantity.QuantityError:
        return None


def _as_amount(value: Json) -> str | None:
    match value:
        case bool():
            return None
        case None:
            return "0"
        case str() | int():
            return str(value)
        case float():
            return f"{value:f}"
    return None


def as_text(value: Json) -> str | None:
    """Return a scalar as a text; None of what is none."""
    match value:
        case bool():
            return "true" if value else "false"
        case str() | int():
            return str(value)
        case float():
            mantissa, _, exponent = f"{value:E}".partition("E")
            digits = mantissa.rstrip("0").rstrip(".")
            return f"{digits}E{exponent}"
    return None
