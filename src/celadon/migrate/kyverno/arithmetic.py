"""Kyverno's arithmetic: of numbers, quantities and durations, whichever both operands are.

Facts are those of Kyverno's `pkg/engine/jmespath/arithmetic.go`. A text is a quantity there if it
can be, else a duration.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Final

from celadon.migrate.cel_text import Condition, comparison, conjunction, negation, quoted, truth
from celadon.migrate.kyverno.pattern_translation import DURATION
from celadon.migrate.kyverno.patterns import amount, nanoseconds
from celadon.migrate.kyverno.queries import Computed, Constant, Query, single
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
