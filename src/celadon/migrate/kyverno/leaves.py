"""Leaves of patterns as conditions of CEL: one value compared with what a pattern demands of it.

What a value may be is known by its schema, so that `replicas: ">2"` becomes `object.spec.replicas >
2` and not what it would have to be for a text. Where the schema is not known, the value is taken as
a text or a number as the pattern has it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Final

from celadon.kube import Json
from celadon.migrate.cel_text import (
    ALWAYS,
    NEVER,
    Condition,
    choice,
    comparison,
    conjunction,
    constant,
    disjunction,
    literal,
    member,
    negation,
    quoted,
    truth,
)
from celadon.migrate.kyverno.patterns import (
    Alternatives,
    Comparison,
    Operator,
    has_wildcards,
    nanoseconds,
    read_string,
)
from celadon.migrate.kyverno.queries import Computed, Reference, compare
from celadon.migrate.kyverno.scalars import amount, compares, scalar_matches
from celadon.migrate.losses import NotTranslated
from celadon.migrate.shapes import Form, Place

_RELATIONS: Final = {
    Operator.EQUAL: "==",
    Operator.NOT_EQUAL: "!=",
    Operator.MORE: ">",
    Operator.MORE_EQUAL: ">=",
    Operator.LESS: "<",
    Operator.LESS_EQUAL: "<=",
}
DURATION: Final = quoted(r"^([-+]0|[-+]?(([0-9]+(\.[0-9]*)?|\.[0-9]+)(ns|us|µs|ms|s|m|h))+)$")
"""The pattern of durations as Go reads them, as a literal; `0` is taken for a number before."""


def leaf(text: str, form: Form, pattern: Json | Reference) -> Condition:
    """Return what a leaf of a pattern demands of a value that is there, `text` reads it. Raises
    NotTranslated."""
    match pattern:
        case Reference(query):
            return compare(query, "==", Computed(text, form))
        case bool():
            return _bool(text, form, value=pattern)
        case int():
            return _integer(text, form, pattern)
        case float():
            return compared_leaf(text, form, Comparison(Operator.EQUAL, repr(pattern)))
        case None:
            return _empty(text, form)
        case str():
            return _string(text, form, read_string(pattern))
    raise NotTranslated("a pattern that is neither a value nor a map nor a list")


def optional_leaf(place: Place, pattern: Json, *, fine_if_absent: bool) -> Condition:
    """Return what a leaf of a pattern demands of a value that may be absent. Raises
    NotTranslated."""
    form = place.shape.form
    default = _DEFAULTS.get(form)
    if place.unsure > 1 and default is not None:
        for value in default:
            if scalar_matches(value, pattern) is fine_if_absent:
                return leaf(f"{place.optional}.orValue({literal(value)})", form, pattern)
    there = place.present()
    demanded = leaf(place.plain, form, pattern)
    if fine_if_absent:
        return disjunction([negation(there), demanded])
    return conjunction([there, demanded])


_DEFAULTS: Final[Mapping[Form, tuple[Json, ...]]] = {Form.BOOL: (False, True), Form.STRING: ("",)}
"""Values that may stand for one that is absent, where they come to the same."""


def _string(text: str, form: Form, alternatives: Alternatives) -> Condition:
    words = [_word(one, form) for one in alternatives]
    if len(words) > 1 and None not in words:
        return member(text, literal(words))
    return disjunction(
        conjunction(
            disjunction(compared_leaf(text, form, one) for one in condition)
            for condition in alternative
        )
        for alternative in alternatives
    )


def _word(alternative: tuple[tuple[Comparison, ...], ...], form: Form) -> str | None:
    """Return the one text that an alternative means; None of others."""
    if form not in (Form.STRING, Form.ANY) or len(alternative) > 1 or len(alternative[0]) > 1:
        return None
    one = alternative[0][0]
    is_word = one.operator is Operator.EQUAL and not has_wildcards(one.operand)
    return one.operand if is_word and not _is_scalar(one.operand) else None


def _is_scalar(text: str) -> bool:
    """Return whether a text also means a value that is no text."""
    return text in ("true", "false") or amount(text) is not None or nanoseconds(text) is not None


def _bool(text: str, form: Form, *, value: bool) -> Condition:
    if form is Form.BOOL:
        return truth(text) if value else negation(truth(text))
    return comparison(text, "==", literal(value)) if form is Form.ANY else NEVER


def _integer(text: str, form: Form, value: int) -> Condition:
    match form:
        case Form.INTEGER | Form.NUMBER:
            return comparison(text, "==", str(value))
        case Form.STRING:
            return comparison(text, "==", quoted(str(value)))
        case Form.ANY | Form.INT_OR_STRING:
            return comparison(f"string({text})", "==", quoted(str(value)))
        case Form.QUANTITY:
            return _quantities(text, Comparison(Operator.EQUAL, str(value)))
    return NEVER


def _empty(text: str, form: Form) -> Condition:
    empty = {Form.STRING: "''", Form.INTEGER: "0", Form.NUMBER: "0.0"}
    if form is Form.BOOL:
        return negation(truth(text))
    if form in empty:
        return comparison(text, "==", empty[form])
    if form is Form.ANY:
        return disjunction(comparison(text, "==", one) for one in ("null", "false", "0", "''"))
    return NEVER


def compared_leaf(text: str, form: Form, one: Comparison) -> Condition:
    """Return how a value that is there compares, by what it may be. Raises NotTranslated."""
    match form:
        case Form.BOOL:
            return _as_bool(text, one)
        case Form.INTEGER:
            return _as_integer(text, one)
        case Form.QUANTITY:
            return _as_quantity(text, one)
        case Form.STRING:
            return _as_string(text, one)
        case Form.INT_OR_STRING:
            is_number = comparison(f"type({text})", "==", "int")
            number, string = (
                compared_leaf(f"{kind}({text})", shape, one) for kind, shape in _EITHER
            )
            return choice(is_number, number, string)
        case Form.ANY:
            return _as_string(f"string({text})" if _is_scalar(one.operand) else text, one)
        case Form.NUMBER:
            raise NotTranslated("a string compared with a number that is no integer")
    return NEVER


_EITHER: Final = (("int", Form.INTEGER), ("string", Form.STRING))


def _as_bool(text: str, one: Comparison) -> Condition:
    outcomes = [compares(value, one) for value in (True, False)]
    if outcomes[0] == outcomes[1]:
        return constant(outcomes[0])
    return truth(text) if outcomes[0] else negation(truth(text))


def _as_integer(text: str, one: Comparison) -> Condition:
    known = amount(one.operand)
    if known is None or not known.is_integer:
        if one.operator in (Operator.EQUAL, Operator.NOT_EQUAL):
            return _wild(f"string({text})", one)
        if known is None:
            return NEVER
        raise NotTranslated(f"an integer compared with `{one.operand}`")
    return comparison(text, _RELATIONS[one.operator], str(known.as_int64()))


def _as_quantity(text: str, one: Comparison) -> Condition:
    if amount(one.operand) is not None:
        return _quantities(text, one)
    if one.operator is Operator.EQUAL and set(one.operand) <= {"*", "?"}:
        return constant(one.operand.count("?") < 2)  # every quantity has a text
    return _as_text(text, one)


def _quantities(text: str, one: Comparison) -> Condition:
    left = f"quantity({text}).compareTo(quantity({quoted(one.operand)}))"
    return comparison(left, _RELATIONS[one.operator], "0")


def _as_string(text: str, one: Comparison) -> Condition:
    """Durations are compared as durations, and quantities as quantities, where both sides are."""
    result = _as_text(text, one)
    if amount(one.operand) is not None:
        is_amount = truth(f"isQuantity({text})")
        result = choice(is_amount, _quantities(text, one), result)
    if nanoseconds(one.operand) not in (None, 0):
        left = f"duration({text})"
        right = f"duration({quoted(one.operand)})"
        is_duration = truth(f"{text}.matches({DURATION})")
        result = choice(is_duration, comparison(left, _RELATIONS[one.operator], right), result)
    return result


def _as_text(text: str, one: Comparison) -> Condition:
    if one.operator not in (Operator.EQUAL, Operator.NOT_EQUAL):
        return NEVER
    return _wild(text, one)


def _wild(text: str, one: Comparison) -> Condition:
    same = globbed(text, one.operand)
    return negation(same) if one.operator is Operator.NOT_EQUAL else same


def globbed(text: str, pattern: str) -> Condition:
    """Return whether a text is one that a pattern with wildcards stands for."""
    if not has_wildcards(pattern):
        return comparison(text, "==", quoted(pattern))
    squeezed = re.sub(r"\*+", "*", pattern)
    for wild, written in _SIMPLE:
        found = wild.fullmatch(squeezed)
        if found is not None:
            return written(text, *found.groups())
    parts = {"*": ".*", "?": "."}
    regex = "".join(parts.get(part) or _literal_of(part) for part in re.split(r"([*?])", squeezed))
    return truth(f"{text}.matches({quoted(f'^{regex}$')})")


def _literal_of(part: str) -> str:
    """Return a text as a regular expression of RE2 that means it."""
    return re.sub(r"([\\.+*?()|\[\]{}^$])", r"\\\1", part)


def _ends(text: str, start: str, end: str) -> Condition:
    return conjunction([truth(f"{text}.startsWith({quoted(start)})"), _longer(text, start, end)])


def _longer(text: str, start: str, end: str) -> Condition:
    """Return whether a text that starts so ends so, where both do not overlap."""
    ends = truth(f"{text}.endsWith({quoted(end)})")
    return conjunction([ends, comparison(f"size({text})", ">=", str(len(start) + len(end)))])


_PLAIN: Final = r"([^*?]+)"
_SIMPLE: Final[tuple[tuple[re.Pattern[str], Callable[..., Condition]], ...]] = tuple(
    (re.compile(pattern, re.DOTALL), written)
    for pattern, written in (
        (r"\*", lambda text: ALWAYS),
        (r"\?\*|\*\?", lambda text: comparison(text, "!=", "''")),
        (rf"{_PLAIN}\*", lambda text, start: truth(f"{text}.startsWith({quoted(start)})")),
        (rf"\*{_PLAIN}", lambda text, end: truth(f"{text}.endsWith({quoted(end)})")),
        (rf"\*{_PLAIN}\*", lambda text, part: truth(f"{text}.contains({quoted(part)})")),
        (rf"{_PLAIN}\*{_PLAIN}", _ends),
    )
)
"""How patterns with few wildcards are written."""
