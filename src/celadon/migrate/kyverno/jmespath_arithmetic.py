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
from celadon.migrate.kyverno.jmespath_queries import Computed, Constant, Query, Truth, single
from celadon.migrate.kyverno.pattern_translation import DURATION
from celadon.migrate.kyverno.patterns import amount, nanoseconds
from celadon.migrate.schema_fields import Form
from celadon.migrate.translations import NotTranslated

_SCALARS: Final = (Form.INTEGER, Form.NUMBER)


def _operand(value: Query) -> Computed:
    """Return an operand; one that is a text still may be a quantity or a duration."""
    if isinstance(value, Constant) and isinstance(value.value, str):
        literal_text = quoted(value.value)
        if amount(value.value) is not None:
            return Computed(f"quantity({literal_text})", Form.AMOUNT)
        if nanoseconds(value.value) is not None:
            return Computed(f"duration({literal_text})", Form.SPAN)
    computed = single(value)
    if computed.form is Form.QUANTITY:
        return Computed(f"quantity({computed.text})", Form.AMOUNT, computed.presence)
    if computed.form not in (*_SCALARS, Form.AMOUNT, Form.SPAN, Form.STRING):
        raise NotTranslated("arithmetic of what may be no number")
    return computed


def _as(computed: Computed, form: Form) -> Computed:
    """Return a text as what the other operand is."""
    if computed.form is not Form.STRING:
        return computed
    is_amount = truth(f"isQuantity({computed.text})")
    if form is Form.AMOUNT:
        condition = conjunction([computed.presence, is_amount])
        return Computed(f"quantity({computed.text})", form, condition)
    if form is Form.SPAN:
        is_span = truth(f"{computed.text}.matches({DURATION})")
        condition = conjunction([computed.presence, negation(is_amount), is_span])
        return Computed(f"duration({computed.text})", form, condition)
    raise NotTranslated("arithmetic of texts of which nothing is known")


def _operands(left: Query, right: Query) -> tuple[Computed, Computed, Condition]:
    """Return both operands, and whether both are there."""
    computed, other = _operand(left), _operand(right)
    computed, other = _as(computed, other.form), _as(other, computed.form)
    if Form.NUMBER in (computed.form, other.form) and {computed.form, other.form} <= set(_SCALARS):
        computed, other = _as_double(computed), _as_double(other)
    return computed, other, conjunction([computed.presence, other.presence])


def _as_double(computed: Computed) -> Computed:
    if computed.form is Form.NUMBER:
        return computed
    text = f"{computed.text}.0" if computed.text.isdecimal() else f"double({computed.text})"
    return replace(computed, text=text, form=Form.NUMBER)


def _mismatch(name: str) -> NotTranslated:
    return NotTranslated(f"`{name}` of a number and an amount, or of what CEL does not compute")


def _added(name: str, operator: str, method: str) -> Callable[[Query, Query], Query]:
    def called(left: Query, right: Query) -> Query:
        computed, other, condition = _operands(left, right)
        if computed.form is not other.form:
            raise _mismatch(name)
        if computed.form is Form.AMOUNT:
            return Computed(f"{computed.text}.{method}({other.text})", Form.AMOUNT, condition)
        return Computed(f"({computed.text} {operator} {other.text})", computed.form, condition)

    return called


def _multiply(left: Query, right: Query) -> Query:
    computed, other, condition = _operands(left, right)
    if computed.form is not other.form or computed.form not in _SCALARS:
        raise _mismatch("multiply")
    return Computed(f"({computed.text} * {other.text})", computed.form, condition)


def _divide(left: Query, right: Query) -> Query:
    computed, other, condition = _operands(left, right)
    if computed.form is not other.form or computed.form is Form.SPAN:
        raise _mismatch("divide")
    if computed.form is Form.AMOUNT:
        a, b = (f"{each.text}.asApproximateFloat()" for each in (computed, other))
    else:
        a, b = _as_double(computed).text, _as_double(other).text
    is_other = [] if _is_not_zero(right) else [comparison(b, "!=", "0.0")]
    return Computed(f"({a} / {b})", Form.NUMBER, conjunction([condition, *is_other]))


def _is_not_zero(value: Query) -> bool:
    if not isinstance(value, Constant):
        return False
    constant = value.value
    if isinstance(constant, str):
        quantity = amount(constant)
        return quantity is not None and quantity.as_int64() != 0
    return bool(constant)


def _modulo(left: Query, right: Query) -> Query:
    computed, other, condition = _operands(left, right)
    if (computed.form, other.form) != (Form.INTEGER, Form.INTEGER):
        raise _mismatch("modulo")
    is_other = [] if _is_not_zero(right) else [comparison(other.text, "!=", "0")]
    text = f"({computed.text} % {other.text})"
    return Computed(text, Form.INTEGER, conjunction([condition, *is_other]))


def _number(value: Query) -> Computed:
    computed = single(value)
    if computed.form not in _SCALARS:
        raise NotTranslated("a function of numbers, of what is none")
    return computed


def _abs(value: Query) -> Query:
    computed = _number(value)
    zero = "0" if computed.form is Form.INTEGER else "0.0"
    return replace(
        computed, text=f"({computed.text} < {zero} ? -{computed.text} : {computed.text})"
    )


def _to_whole(sign: str, relation: str) -> Callable[[Query], Query]:
    def called(value: Query) -> Query:
        computed = _number(value)
        if computed.form is Form.INTEGER:
            return computed
        whole = f"int({computed.text})"
        text = f"(double({whole}) {relation} {computed.text} ? {whole} {sign} 1 : {whole})"
        return replace(computed, text=text, form=Form.INTEGER)

    return called


def _round(value: Query, digits: Query) -> Query:
    computed = _number(value)
    if computed.form is Form.INTEGER and isinstance(digits, Constant):
        return computed
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
    computed = single(value)
    if computed.form is Form.INSTANT:
        return computed
    if computed.form not in (Form.STRING, Form.ANY):
        raise NotTranslated("a time that is no text")
    return Computed(f"timestamp({computed.text})", Form.INSTANT, computed.presence)


def _is_earlier(before: Query, after: Query) -> Condition:
    computed, other = _instant(before), _instant(after)
    return conjunction(
        [computed.presence, other.presence, comparison(computed.text, "<", other.text)]
    )


def _before(left: Query, right: Query) -> Query:
    return Truth(_is_earlier(left, right))


def _after(left: Query, right: Query) -> Query:
    return Truth(_is_earlier(right, left))


def _between(time: Query, start: Query, end: Query) -> Query:
    return Truth(conjunction([_is_earlier(start, time), _is_earlier(time, end)]))


def _diff(start: Query, end: Query) -> Query:
    computed, other = _instant(start), _instant(end)
    condition = conjunction([computed.presence, other.presence])
    return Computed(f"({other.text} - {computed.text})", Form.SPAN, condition)


def _time_add(time: Query, span: Query) -> Query:
    computed, other = _instant(time), single(span)
    if other.form is not Form.SPAN:
        other = Computed(f"duration({other.text})", Form.SPAN, other.presence)
    condition = conjunction([computed.presence, other.presence])
    return Computed(f"({computed.text} + {other.text})", Form.INSTANT, condition)


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
    alternatives = [_parts(version) for version in versions.split("||")]
    inside = disjunction(
        conjunction(
            comparison(f"semver({text}).compareTo(semver({quoted(version)}))", operator, "0")
            for operator, version in alternative
        )
        for alternative in alternatives
    )
    takes_zero = any(
        all(_sign_of_zero(version) in _HOLDS_OF_SIGN[operator] for operator, version in alternative)
        for alternative in alternatives
    )
    return choice(truth(f"isSemver({text})"), inside, constant(takes_zero))


def _parts(text: str) -> list[tuple[str, str]]:
    matches = [_PART.fullmatch(text) for text in _AFTER_OPERATOR.sub("", text).split()]
    parts = [
        (_OPERATORS.get(match[1], match[1]), match[2]) for match in matches if match is not None
    ]
    if not parts or None in matches:
        raise NotTranslated(f"the range of versions `{text.strip()}`")
    return parts


def _sign_of_zero(version: str) -> int:
    """Return how 0.0.0 compares with a version."""
    numbers, _, before_release = version.partition("-")
    if numbers.strip("0."):
        return -1
    return 1 if before_release else 0
