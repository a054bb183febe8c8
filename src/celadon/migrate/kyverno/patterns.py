"""Kyverno's pattern language: what a value has to look like, what an anchor says of a field, which
values a leaf takes; and its operators.

A pattern is a tree like the object it describes. Its leaves are values, or strings in a small
language: alternatives with `|`, each of conditions with `&`, each with an operator (`!`, `>`, `>=`,
`<`, `<=`) or a range (`1-10`, `1!-10`), and wildcards (`*` any text, `?` one character). Keys may
be anchors: `(a)` a condition, `<(a)` a condition for the whole rule, `=(a)` if there, `^(a)` one
item at least, `X(a)` must not be there, `+(a)` add if not there (of mutations).
"""

from __future__ import annotations

import enum
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from celadon.kube import Json, quantity
from celadon.kube.go import JsonSyntaxError, parse_int, read_json


class AnchorKind(enum.Enum):
    """A key of a pattern says this of its field."""

    CONDITION = ""
    GLOBAL = "<"
    NEGATION = "X"
    ADDITION = "+"
    EQUALITY = "="
    EXISTENCE = "^"


@dataclass(frozen=True, slots=True)
class Anchor:
    """A key of a pattern that is an anchor."""

    kind: AnchorKind
    key: str


_ANCHOR: Final = re.compile(r"([+<=X^])?\((.+)\)", re.DOTALL)


def anchor_of(key: str) -> Anchor | None:
    """Return the anchor that a key is, None of an ordinary key."""
    match = _ANCHOR.fullmatch(key.strip())
    return Anchor(AnchorKind(match[1] or ""), match[2]) if match else None


def has_anchors(pattern: Json) -> bool:
    """Return whether there are anchors (other than `+`) anywhere in a pattern."""
    if isinstance(pattern, Mapping):
        return any(
            ((anchor := anchor_of(key)) is not None and anchor.kind is not AnchorKind.ADDITION)
            or has_anchors(value)
            for key, value in pattern.items()
        )
    if isinstance(pattern, Sequence) and not isinstance(pattern, str):
        return any(map(has_anchors, pattern))
    return False


def ordinary_keys(pattern: Mapping[str, Json]) -> list[str]:
    """Return the keys that are no anchors, in the order in which they are judged: first those with
    anchors below, the last of them first, then the others."""
    keys = sorted(
        key
        for key in pattern
        if (anchor := anchor_of(key)) is None or anchor.kind is AnchorKind.ADDITION
    )
    nested = [key for key in keys if has_anchors(pattern[key])]
    return [*reversed(nested), *(key for key in keys if key not in nested)]


# --- Strings -----------------------------------------------------------------


class Operator(enum.Enum):
    """A value is compared in one of these ways."""

    EQUAL = ""
    NOT_EQUAL = "!"
    MORE = ">"
    MORE_EQUAL = ">="
    LESS = "<"
    LESS_EQUAL = "<="


@dataclass(frozen=True, slots=True)
class Comparison:
    """One operator with its operand."""

    operator: Operator
    operand: str


Alternatives = tuple[tuple[tuple[Comparison, ...], ...], ...]
"""One alternative must hold, all conditions of it, and of each condition one comparison."""

_NUMBER: Final = r"([-|+]?\d+(?:\.\d+)?[A-Za-z]*)"
_RANGE: Final = re.compile(f"{_NUMBER}-{_NUMBER}", re.ASCII)
_OUTSIDE: Final = re.compile(f"{_NUMBER}!-{_NUMBER}", re.ASCII)
_OPERATORS: Final = (">=", "<=", ">", "<", "!")


def read_string(pattern: str) -> Alternatives:
    """Return what a string of a pattern means."""
    return tuple(
        tuple(
            comparisons
            # Kyverno trims spaces around each part, no other white space (`pattern.go`,
            # `validateStringPatterns`).
            for condition in alternative.strip(" ").split("&")
            for comparisons in _conditions(condition.strip(" "))
        )
        for alternative in pattern.split("|")
    )


def _conditions(text: str) -> list[tuple[Comparison, ...]]:
    """Return what one condition demands: all of these, and of each one comparison."""
    operator = next(
        (operator for operator in _OPERATORS if len(text) > 1 and text.startswith(operator)), ""
    )
    if not operator and (match := _OUTSIDE.fullmatch(text)):
        # `1!-10` holds outside of the range, and its ends belong to it.
        return [(Comparison(Operator.LESS, match[1]), Comparison(Operator.MORE, match[2]))]
    if not operator and (match := _RANGE.fullmatch(text)):
        ends = (
            Comparison(Operator.MORE_EQUAL, match[1]),
            Comparison(Operator.LESS_EQUAL, match[2]),
        )
        return [(end,) for end in ends]
    return [(Comparison(Operator(operator), text[len(operator) :].strip()),)]


def has_wildcards(text: str) -> bool:
    """Return whether a text stands for several."""
    return "*" in text or "?" in text


def wildcard_match(pattern: str, text: str) -> bool:
    """Return whether a text is one that a pattern with wildcards stands for. Each part between two
    `*` is found at its first place, so a pattern with many takes no longer."""
    first, *parts = pattern.split("*")
    if not parts:
        return len(text) == len(first) and _stands_at(first, text, 0)
    last = parts.pop()
    end = len(text) - len(last)
    if end < len(first) or not _stands_at(first, text, 0) or not _stands_at(last, text, end):
        return False
    index = len(first)
    for part in filter(None, parts):
        begin = _place_of(part, text, index, end)
        if begin < 0:
            return False
        index = begin + len(part)
    return True


def _place_of(part: str, text: str, start: int, end: int) -> int:
    """Return the first place of a part between two places; -1 if there is none."""
    if "?" not in part:
        return text.find(part, start, end)
    places = range(start, end - len(part) + 1)
    return next((index for index in places if _stands_at(part, text, index)), -1)


def _stands_at(part: str, text: str, index: int) -> bool:
    """Return whether a part, of which `?` is any character, stands at a place."""
    if "?" not in part:
        return text.startswith(part, index)
    return all(
        text in ("?", other)
        for text, other in zip(part, text[index : index + len(part)], strict=True)
    )


# --- Amounts of time ---------------------------------------------------------

_DURATION: Final = re.compile(
    r"[-+]?(?:0|(?:(?:\d+(?:\.\d*)?|\.\d+)(?:ns|us|µs|μs|ms|s|m|h))+)", re.ASCII
)
_PART: Final = re.compile(r"(?<![\d.])(\d++(?:\.\d*+)?|\.\d++)(ns|us|µs|μs|ms|s|m|h)")
_UNITS: Final = {
    "ns": 1, "us": 10**3, "µs": 10**3, "μs": 10**3, "ms": 10**6, "s": 10**9,
    "m": 60 * 10**9, "h": 3600 * 10**9,
}  # fmt: skip
"""Nanoseconds of a unit of Go's `time.ParseDuration`."""


def nanoseconds(text: str) -> int | None:
    """Return a duration as Go reads it; None of a text that is none."""
    if not _DURATION.fullmatch(text):
        return None
    parts = [float(n) * _UNITS[unit] for n, unit in _PART.findall(text)]
    if sum(parts) >= 2**63:
        return None
    total = sum(map(int, parts))
    return -total if text.startswith("-") else total


# --- Scalars -----------------------------------------------------------------

# What Kyverno says of a single value and a leaf of a pattern.
#
# Facts are those of Kyverno 1.15 `pkg/engine/pattern`: both sides are compared as durations if
# they are such, else as quantities, else as texts with wildcards.


def scalar_matches(value: Json, pattern: Json) -> bool:
    """Return whether a value is what a leaf of a pattern demands."""
    match pattern:
        case bool():
            return value is pattern
        case int() | float():
            return number_matches(value, pattern)
        case None:
            return value is None or value is False or value == "" or (value == 0)
        case str():
            return value == pattern or any(
                all(
                    any(compares(value, comparison) for comparison in condition)
                    for condition in alternative
                )
                for alternative in read_string(pattern)
            )
    return False


def number_matches(value: Json, pattern: float) -> bool:
    """Return whether a value is a number, or a text that is written as it is."""
    if isinstance(value, str):
        return (integer_in(value) if isinstance(pattern, int) else number_in(value)) == pattern
    return isinstance(value, int | float) and not isinstance(value, bool) and value == pattern


def integer_in(text: str) -> int | None:
    """Return the integer that a text is for Go; None of a text that is none."""
    try:
        return parse_int(text)
    except ValueError:
        return None


def number_in(text: str) -> float | None:
    """Return the number that a text is for Go, in decimal digits; None of a text that is none."""
    return float(text) if _GO_NUMBER.fullmatch(text) else None


GO_NUMBER: Final = r"[-+]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][-+]?[0-9]+)?"
"""Numbers as `strconv.ParseFloat` reads them, but for those in hexadecimal digits and names."""
_GO_NUMBER: Final = re.compile(GO_NUMBER)


def compares(value: Json, comparison: Comparison) -> bool:
    """Return whether a value compares as demanded: as a duration, a quantity, or a text."""
    operator, operand = comparison.operator, comparison.operand
    text = _as_amount(value)
    if text is not None:
        # Durations come before quantities (`pattern.go`, `validateString`): `1m` is a minute, not a
        # thousandth.
        for read in (nanoseconds, amount):
            left, right = read(text), read(operand)
            if left is not None and right is not None:
                return ordered(_sign(left, right), operator)
    # Texts have no order (`pattern.go`, `compareString`): what is no amount fails every `>` and
    # `<`.
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


# --- Operators ---------------------------------------------------------------
#
# Operators of conditions between two values: what a condition says whose both sides are known.
#
# Facts are those of Kyverno 1.15 `pkg/engine/variables/operator`: both sides are compared as
# durations if they are such, else as quantities, else as texts with wildcards. Patterns compare
# numbers with texts otherwise (`compares`).


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
        return _order(*durations)
    if isinstance(key, str) and isinstance(value, str):
        left, right = amount(key), amount(value)
        if left is not None and right is not None:
            return left.compare(right)
    number, other = None if is_duration(key) else as_number(key), as_number(value)
    if number is None or other is None:
        return None
    return _order(number, other)


def _order(left: float, right: float) -> int:
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


def is_alike(text: str, patterns: Iterable[str]) -> bool:
    """Return whether a text is one of others; either side may have wildcards."""
    return any(wildcard_match(text, word) or wildcard_match(word, text) for word in patterns)


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
