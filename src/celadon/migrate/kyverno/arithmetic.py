"""Kyverno's arithmetic: of numbers, quantities and durations, whichever both operands are; times;
and ranges of versions.

Facts are those of Kyverno's `pkg/engine/jmespath/arithmetic.go`. A text is a quantity there if it
can be, else a duration.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Final

from celadon.migrate.cel_text import (
    Condition,
    choice,
    comparison,
    conjunction,
    constant,
    disjunction,
    negation,
    quoted,
    truth,
)
from celadon.migrate.kyverno.pattern_translation import DURATION
from celadon.migrate.kyverno.patterns import amount, nanoseconds
from celadon.migrate.kyverno.queries import Computed, Constant, Query, Truth, single
from celadon.migrate.shapes import Form
from celadon.migrate.translations import NotTranslated

_SCALARS: Final = (Form.INTEGER, Form.NUMBER)


def _operand(value: Query) -> Computed:
    """Return an operand; one that is a text still may be a quantity or a duration."""
    if isinstance(value, Constant) and isinstance(value.value, str):
        known = quoted(value.value)
        if amount(value.value) is not None:
            return Computed(f"quantity({known})", Form.AMOUNT)
        if nanoseconds(value.value) is not None:
            return Computed(f"duration({known})", Form.SPAN)
    one = single(value)
    if one.form is Form.QUANTITY:
        return Computed(f"quantity({one.text})", Form.AMOUNT, one.there)
    if one.form not in (*_SCALARS, Form.AMOUNT, Form.SPAN, Form.STRING):
        raise NotTranslated("arithmetic of what may be no number")
    return one


def _as(one: Computed, form: Form) -> Computed:
    """Return a text as what the other operand is."""
    if one.form is not Form.STRING:
        return one
    is_amount = truth(f"isQuantity({one.text})")
    if form is Form.AMOUNT:
        there = conjunction([one.there, is_amount])
        return Computed(f"quantity({one.text})", form, there)
    if form is Form.SPAN:
        is_span = truth(f"{one.text}.matches({DURATION})")
        there = conjunction([one.there, negation(is_amount), is_span])
        return Computed(f"duration({one.text})", form, there)
    raise NotTranslated("arithmetic of texts of which nothing is known")


def _operands(left: Query, right: Query) -> tuple[Computed, Computed, Condition]:
    """Return both operands, and whether both are there."""
    one, other = _operand(left), _operand(right)
    one, other = _as(one, other.form), _as(other, one.form)
    if Form.NUMBER in (one.form, other.form) and {one.form, other.form} <= set(_SCALARS):
        one, other = _as_double(one), _as_double(other)
    return one, other, conjunction([one.there, other.there])


def _as_double(one: Computed) -> Computed:
    if one.form is Form.NUMBER:
        return one
    text = f"{one.text}.0" if one.text.isdecimal() else f"double({one.text})"
    return replace(one, text=text, form=Form.NUMBER)


def _mismatch(name: str) -> NotTranslated:
    return NotTranslated(f"`{name}` of a number and an amount, or of what CEL does not compute")


def _added(name: str, operator: str, method: str) -> Callable[[Query, Query], Query]:
    def called(left: Query, right: Query) -> Query:
        one, other, there = _operands(left, right)
        if one.form is not other.form:
            raise _mismatch(name)
        if one.form is Form.AMOUNT:
            return Computed(f"{one.text}.{method}({other.text})", Form.AMOUNT, there)
        return Computed(f"({one.text} {operator} {other.text})", one.form, there)

    return called


def _multiply(left: Query, right: Query) -> Query:
    one, other, there = _operands(left, right)
    if one.form is not other.form or one.form not in _SCALARS:
        raise _mismatch("multiply")
    return Computed(f"({one.text} * {other.text})", one.form, there)


def _divide(left: Query, right: Query) -> Query:
    one, other, there = _operands(left, right)
    if one.form is not other.form or one.form is Form.SPAN:
        raise _mismatch("divide")
    if one.form is Form.AMOUNT:
        a, b = (f"{each.text}.asApproximateFloat()" for each in (one, other))
    else:
        a, b = _as_double(one).text, _as_double(other).text
    is_other = [] if _is_not_zero(right) else [comparison(b, "!=", "0.0")]
    return Computed(f"({a} / {b})", Form.NUMBER, conjunction([there, *is_other]))


def _is_not_zero(value: Query) -> bool:
    if not isinstance(value, Constant):
        return False
    known = value.value
    if isinstance(known, str):
        quantity = amount(known)
        return quantity is not None and quantity.as_int64() != 0
    return bool(known)


def _modulo(left: Query, right: Query) -> Query:
    one, other, there = _operands(left, right)
    if (one.form, other.form) != (Form.INTEGER, Form.INTEGER):
        raise _mismatch("modulo")
    is_other = [] if _is_not_zero(right) else [comparison(other.text, "!=", "0")]
    text = f"({one.text} % {other.text})"
    return Computed(text, Form.INTEGER, conjunction([there, *is_other]))


def _number(value: Query) -> Computed:
    one = single(value)
    if one.form not in _SCALARS:
        raise NotTranslated("a function of numbers, of what is none")
    return one


def _abs(value: Query) -> Query:
    one = _number(value)
    zero = "0" if one.form is Form.INTEGER else "0.0"
    return replace(one, text=f"({one.text} < {zero} ? -{one.text} : {one.text})")


def _to_whole(sign: str, relation: str) -> Callable[[Query], Query]:
    def called(value: Query) -> Query:
        one = _number(value)
        if one.form is Form.INTEGER:
            return one
        whole = f"int({one.text})"
        text = f"(double({whole}) {relation} {one.text} ? {whole} {sign} 1 : {whole})"
        return replace(one, text=text, form=Form.INTEGER)

    return called


def _round(value: Query, digits: Query) -> Query:
    one = _number(value)
    if one.form is Form.INTEGER and isinstance(digits, Constant):
        return one
    raise NotTranslated("`round` of what may be no integer", "Compare without rounding.")


ARITHMETIC: Final[Mapping[str, tuple[int, int, Callable[..., Query]]]] = {
    "abs": (1, 1, _abs),
    "add": (2, 2, _added("add", "+", "add")),
    "ceil": (1, 1, _to_whole("+", "<")),
    "divide": (2, 2, _divide),
    "floor": (1, 1, _to_whole("-", ">")),
    "modulo": (2, 2, _modulo),
    "multiply": (2, 2, _multiply),
    "round": (2, 2, _round),
    "subtract": (2, 2, _added("subtract", "-", "sub")),
}
"""Functions by name: how many arguments they have, and what they read."""


# --- Times ---------------------------------------------------------------------

# Times that are written down: CEL compares and adds them; it has no clock. Facts are those of
# `time.go`.


def _instant(value: Query) -> Computed:
    one = single(value)
    if one.form is Form.INSTANT:
        return one
    if one.form not in (Form.STRING, Form.ANY):
        raise NotTranslated("a time that is no text")
    return Computed(f"timestamp({one.text})", Form.INSTANT, one.there)


def _is_earlier(before: Query, after: Query) -> Condition:
    one, other = _instant(before), _instant(after)
    return conjunction([one.there, other.there, comparison(one.text, "<", other.text)])


def _before(one: Query, other: Query) -> Query:
    return Truth(_is_earlier(one, other))


def _after(one: Query, other: Query) -> Query:
    return Truth(_is_earlier(other, one))


def _between(time: Query, start: Query, end: Query) -> Query:
    return Truth(conjunction([_is_earlier(start, time), _is_earlier(time, end)]))


def _diff(start: Query, end: Query) -> Query:
    one, other = _instant(start), _instant(end)
    there = conjunction([one.there, other.there])
    return Computed(f"({other.text} - {one.text})", Form.SPAN, there)


def _time_add(time: Query, span: Query) -> Query:
    one, other = _instant(time), single(span)
    if other.form is not Form.SPAN:
        other = Computed(f"duration({other.text})", Form.SPAN, other.there)
    there = conjunction([one.there, other.there])
    return Computed(f"({one.text} + {other.text})", Form.INSTANT, there)


TIMES: Final[Mapping[str, tuple[int, int, Callable[..., Query]]]] = {
    "time_add": (2, 2, _time_add),
    "time_after": (2, 2, _after),
    "time_before": (2, 2, _before),
    "time_between": (3, 3, _between),
    "time_diff": (2, 2, _diff),
    "time_utc": (1, 1, _instant),
}
"""Functions by name: how many arguments they have, and what they read."""


# --- Semantic versions -------------------------------------------------------
#
# Ranges of semantic versions (`>=1.2.0 <2.0.0 || 3.0.0`) as conditions of CEL.
#
# Facts are those of `blang/semver`, which `semver_compare` of Kyverno reads ranges with. It
# takes what is no version for 0.0.0.


_AFTER_OPERATOR: Final = re.compile(r"(?<=[<>=!])\s+")
_PART: Final = re.compile(r"(>=|<=|!=|==|=|!|>|<|)(\d+\.\d+\.\d+(?:-[0-9A-Za-z.-]+)?)", re.ASCII)
_OPERATORS: Final = {"": "==", "=": "==", "!": "!="}
_HOLDS_OF_SIGN: Final = {
    "==": (0,), "!=": (-1, 1), ">": (1,), ">=": (0, 1), "<": (-1,), "<=": (-1, 0),
}  # fmt: skip


def is_in_versions(text: str, versions: str) -> Condition:
    """Return whether a text is a version in a range. Raises NotTranslated."""
    alternatives = [_parts(one) for one in versions.split("||")]
    inside = disjunction(
        conjunction(
            comparison(f"semver({text}).compareTo(semver({quoted(version)}))", operator, "0")
            for operator, version in one
        )
        for one in alternatives
    )
    takes_zero = any(
        all(_sign_of_zero(version) in _HOLDS_OF_SIGN[operator] for operator, version in one)
        for one in alternatives
    )
    return choice(truth(f"isSemver({text})"), inside, constant(takes_zero))


def _parts(text: str) -> list[tuple[str, str]]:
    found = [_PART.fullmatch(one) for one in _AFTER_OPERATOR.sub("", text).split()]
    parts = [(_OPERATORS.get(one[1], one[1]), one[2]) for one in found if one is not None]
    if not parts or None in found:
        raise NotTranslated(f"the range of versions `{text.strip()}`")
    return parts


def _sign_of_zero(version: str) -> int:
    """Return how 0.0.0 compares with a version."""
    numbers, _, before_release = version.partition("-")
    if numbers.strip("0."):
        return -1
    return 1 if before_release else 0
