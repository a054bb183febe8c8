"""Kyverno's conditions (`key`, `operator`, `value`) as conditions of CEL.

Facts are those of Kyverno 1.15 `pkg/engine/variables/operator`. Wildcards are taken from the
policy's side only: Kyverno reads them in the object's values, too.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Final

from celadon.admission import Operation
from celadon.kube import Json, JsonObject
from celadon.kube.go import parse_int
from celadon.migrate.cel_text import (
    ALWAYS,
    NEVER,
    Binding,
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
from celadon.migrate.kyverno.jmespath_expressions import read
from celadon.migrate.kyverno.jmespath_queries import (
    ABSENT,
    PARAMS,
    Branch,
    Chosen,
    Computed,
    Constant,
    Keys,
    Length,
    Located,
    Names,
    Otherwise,
    Query,
    Stream,
    Truth,
    compare,
    has_key,
    is_defined,
    is_true,
    length_text,
    single,
    some_item,
    text_or,
)
from celadon.migrate.kyverno.pattern_translation import DURATION, compared_leaf, globbed
from celadon.migrate.kyverno.patterns import (
    GO_NUMBER,
    Comparison,
    Operator,
    amount,
    as_number,
    compares,
    equals,
    has_wildcards,
    integer_in,
    is_alike,
    is_duration,
    listed,
    number_in,
    order,
    ordered,
    printed,
    range_of,
)
from celadon.migrate.kyverno.policies import Rule
from celadon.migrate.schema_fields import Form, Place
from celadon.migrate.translations import NotTranslated

OPERATIONS: Final = tuple(Operation.__members__)


def conditions(value: Json, names: Names) -> Condition:
    """Return whether conditions hold: a list of them, or `any` and `all`. Raises NotTranslated."""
    if isinstance(value, Mapping):
        parts = []
        if value.get("all"):
            parts.append(conjunction(condition(item, names) for item in _each(value["all"])))
        if value.get("any"):
            parts.append(disjunction(condition(item, names) for item in _each(value["any"])))
        return conjunction(parts)
    return conjunction(condition(item, names) for item in _each(value))


def _each(value: Json) -> list[JsonObject]:
    if not isinstance(value, Sequence) or isinstance(value, str):
        raise NotTranslated("conditions that are no list")
    return [item for item in value if isinstance(item, Mapping)]


def condition(value: JsonObject, names: Names) -> Condition:
    """Return whether one condition holds. Raises NotTranslated."""
    key, right = operand(value.get("key"), names), operand(value.get("value"), names)
    name = str(value.get("operator", "")).lower()
    if name not in _OPERATORS:
        raise NotTranslated(f"the operator `{value.get('operator')}`")
    return _OPERATORS[name](key, right)


def operand(value: Json, names: Names) -> Query:
    """Return what stands on one side of a condition: a value, or what a `{{ variable }}` reads."""
    if isinstance(value, Sequence) and not isinstance(value, str):
        read_items = [operand(item, names) for item in value]
        if all(isinstance(query, Constant) for query in read_items):
            return Constant(list(value))
        return Stream(tuple(Branch((), query) for query in read_items))
    if not isinstance(value, str) or "{{" not in value:
        return Constant(value)
    text = value.strip()
    if next(variables_in(text), None) == (0, len(text)):
        return _variable(text[2:-2], names)
    return _joined_text(substituted(value, names))


_MOST_CHARACTERS: Final = 100_000
"""Of an expression that an API server takes. Variables made of variables double with each."""


def _joined_text(parts: Sequence[str | Query]) -> Query:
    """Return a text with variables in it. Raises NotTranslated."""
    texts, theres = [], []
    for part in parts:
        if isinstance(part, str):
            if has_wildcards(part):
                raise NotTranslated("a text with variables and wildcards in it")
            texts += [quoted(part)] if part else []
            continue
        computed = single(part)
        if computed.form in _AMOUNTS:
            raise NotTranslated("an amount in a text")
        is_text = computed.form in (Form.STRING, Form.QUANTITY)
        texts.append(computed.text if is_text else f"string({computed.text})")
        theres.append(computed.presence)
    return Computed(f"({' + '.join(_short(texts))})", Form.STRING, conjunction(theres))


def _short(texts: Iterable[str]) -> Iterator[str]:
    """Yield the texts. Raises NotTranslated if no expression may have so many characters."""
    left = _MOST_CHARACTERS
    for text in texts:
        left -= len(text)
        if left < 0:
            raise NotTranslated("a text of variables that is longer than an expression may be")
        yield text


def _variable(text: str, names: Names) -> Query:
    """Return what a variable reads. Where a ConfigMap does not have the key, the rule fails, and so
    does its policy."""
    query = read(text, names)
    if isinstance(query, Located) and query.place.root == PARAMS:
        return Located(query.place.there())
    return query


# --- Operators ---------------------------------------------------------------


def _equals(key: Query, value: Query) -> Condition:
    return _compared(key, Operator.EQUAL, value)


def _not_equals(key: Query, value: Query) -> Condition:
    return _compared(key, Operator.NOT_EQUAL, value)


def _ordering(operator: Operator) -> Callable[[Query, Query], Condition]:
    return lambda key, value: _compared(key, operator, value)


def _compared(key: Query, operator: Operator, value: Query) -> Condition:
    equality = operator in (Operator.EQUAL, Operator.NOT_EQUAL)
    match key, value:
        case Chosen(condition, then, other), _:
            return choice(
                condition, _compared(then, operator, value), _compared(other, operator, value)
            )
        case _, Chosen(condition, then, other):
            return choice(
                condition, _compared(key, operator, then), _compared(key, operator, other)
            )
        case Computed(presence=there), _ if there != ALWAYS:
            read = replace(key, presence=ALWAYS)
            return conjunction([there, _compared(read, operator, value)])
        case _, Computed(presence=there) if there != ALWAYS:
            read = replace(value, presence=ALWAYS)
            return conjunction([there, _compared(key, operator, read)])
        case Constant(left), Constant(right):
            return constant(_constants_compare(left, operator, right))
        case Truth(held), Constant(bool(expected)) if equality:
            return held if expected is (operator is Operator.EQUAL) else negation(held)
        # A bool equals nothing but a bool (`equal.go`, `validateValueWithBoolPattern`).
        case Truth(), Constant():
            return constant(operator is Operator.NOT_EQUAL)
        case Constant(int() | float() as number), _ if equality and not isinstance(number, bool):
            # A number equals texts that are written so; the other way round it would not.
            return _compared(value, operator, Constant(str(number)))
        # CEL has the value that is read on the left; an order is turned round with its sides.
        case Constant(), _:
            return _compared(value, _TURNED[operator], key)
        case Length(of), Constant(number):
            return _length_compared(of, operator, _integer(number))
        case Length(left), Length(right):
            return _lengths_compared(left, operator, right)
        # `list || [] == []` asks whether the list is empty or absent, which is how policies write
        # it.
        case Otherwise(first, Constant([])), Constant([]) if equality:
            filled = is_true(first)
            return negation(filled) if operator is Operator.EQUAL else filled
        case Otherwise(first, Constant(None)), Constant(str(expected)) if equality and expected:
            same = _compared(first, Operator.EQUAL, value)
            return same if operator is Operator.EQUAL else negation(same)
        case _, Otherwise() if equality and (text := _as_text(value)) is not value:
            return _compared(_as_text(key), operator, text)
        case Otherwise(first, second), _ if equality or isinstance(second, Constant):
            return _otherwise_compared(first, second, operator, value)
        case Located(place), Constant(expected):
            demanded = _leaf(place.there().plain, place.shape.form, operator, expected)
            return conjunction([place.present(), demanded])
        case Computed(text, form), Constant(expected):
            return _leaf(text, form, operator, expected)
    if equality:
        same = compare(key, "==", value)
        if isinstance(key, Located) and operator is Operator.EQUAL:
            # What is absent equals nothing, not even what is absent, too.
            return conjunction([key.place.present(), same])
        return same if operator is Operator.EQUAL else negation(same)
    raise NotTranslated("an order of two values that are both read")


def _as_text(value: Query) -> Query:
    """Return a text that another stands for where it is absent as one that is always there. In
    ConfigMaps and namespaces, where administrators write patterns, texts may be such."""
    match value:
        case Otherwise(Located(place), Constant(str(default))) if (
            place.shape.form is Form.STRING and place.root not in _OF_ADMINISTRATORS
        ):
            return Computed(text_or(place, default))
    return value


_OF_ADMINISTRATORS: Final = (PARAMS, "namespaceObject")

_TURNED: Final = {
    Operator.EQUAL: Operator.EQUAL,
    Operator.NOT_EQUAL: Operator.NOT_EQUAL,
    Operator.MORE: Operator.LESS,
    Operator.LESS: Operator.MORE,
    Operator.MORE_EQUAL: Operator.LESS_EQUAL,
    Operator.LESS_EQUAL: Operator.MORE_EQUAL,
}


def _constants_compare(left: Json, operator: Operator, right: Json) -> bool:
    match operator:
        case Operator.EQUAL:
            return equals(left, right)
        case Operator.NOT_EQUAL:
            return left is not None and not equals(left, right)
    sign = order(left, right)
    return sign is not None and ordered(sign, operator)


# --- A value and a constant --------------------------------------------------
#
# The side that is a key decides: a number is compared with texts that are numbers, a text with
# numbers only where it is a duration. `operators.equals` and `operators.order` say the same of
# values.


def _leaf(text: str, form: Form, operator: Operator, expected: Json) -> Condition:
    """Return how a value that is there compares with a constant. Raises NotTranslated."""
    match operator:
        case Operator.EQUAL:
            return _equal_leaf(text, form, expected)
        case Operator.NOT_EQUAL:
            return negation(_equal_leaf(text, form, expected))
    if isinstance(expected, bool) or not isinstance(expected, str | int | float):
        return NEVER
    return _ordered_leaf(text, form, operator, expected)


def _equal_leaf(text: str, form: Form, expected: Json) -> Condition:
    match form, expected:
        case Form.BOOL, bool():
            return truth(text) if expected else negation(truth(text))
        case Form.ANY, bool():
            return comparison(text, "==", literal(expected))
        case (Form.LIST, list([])) | ((Form.MAP | Form.FIELDS), dict()) if not expected:
            return comparison(f"size({text})", "==", "0")
        case (Form.LIST, list()) | ((Form.MAP | Form.FIELDS), dict()):
            raise NotTranslated("a whole list or map compared with another")
        case _, bool() | list() | dict() | None:
            return NEVER
        case Form.INTEGER, int() | float() | str():
            number = _integral(expected)
            return NEVER if number is None else comparison(text, "==", str(number))
        case Form.STRING, str():
            return _text_equals(text, expected)
        case ((Form.QUANTITY | Form.AMOUNT), str()):
            return _amounts_compare(text, form, Operator.EQUAL, expected)
        case Form.SPAN, str() | int() | float():
            return _spans_compare(text, Operator.EQUAL, expected)
        case Form.AMOUNT, int() | float():
            raise NotTranslated("a quantity compared with a number, not with a text")
        case Form.NUMBER, int() | float() | str():
            numeral = number_in(expected) if isinstance(expected, str) else float(expected)
            return NEVER if numeral is None else comparison(text, "==", literal(numeral))
        case ((Form.STRING | Form.QUANTITY), int() | float()):
            return _durations_compare(text, Operator.EQUAL, expected)
        case Form.INT_OR_STRING, _:
            return _either_kind(text, lambda side, kind: _equal_leaf(side, kind, expected))
        case Form.ANY, int() | float() | str():
            return compared_leaf(text, form, Comparison(Operator.EQUAL, str(expected)))
    return NEVER


def _ordered_leaf(text: str, form: Form, operator: Operator, expected: str | float) -> Condition:
    match form, expected:
        case ((Form.INTEGER | Form.NUMBER), _):
            number = as_number(expected)
            if number is None:
                return NEVER
            return comparison(text, _SIGNS[operator], literal(_shortened(number)))
        case Form.STRING, _:
            return _ordered_text(text, operator, expected)
        case Form.SPAN, _:
            return _spans_compare(text, operator, expected)
        case ((Form.QUANTITY | Form.AMOUNT), str()):
            if amount(expected) is None and as_number(expected) is not None:
                raise NotTranslated(f"a quantity compared with the duration `{expected}`")
            return _amounts_compare(text, form, operator, expected)
        case ((Form.QUANTITY | Form.AMOUNT), _):
            raise NotTranslated("a quantity compared with a number, not with a text")
        case Form.INT_OR_STRING, _:
            return _either_kind(
                text, lambda side, kind: _ordered_leaf(side, kind, operator, expected)
            )
        case Form.ANY, _:
            return compared_leaf(text, form, Comparison(operator, str(expected)))
    return NEVER


def _ordered_text(text: str, operator: Operator, expected: str | float) -> Condition:
    # `numeric.go` orders texts that are no amounts as semantic versions. `semver` of CEL could,
    # too, but which of both a text is would have to be asked at run time.
    if isinstance(expected, str) and _VERSION.match(expected):
        raise NotTranslated("versions compared by their order")
    result = NEVER
    number = as_number(expected)
    if isinstance(expected, str) and amount(expected) is not None:
        is_amount = truth(f"isQuantity({text})")
        result = conjunction([is_amount, _amounts_compare(text, Form.QUANTITY, operator, expected)])
    elif number is not None:
        compared = comparison(f"double({text})", _SIGNS[operator], literal(_shortened(number)))
        result = conjunction([truth(f"{text}.matches({_NUMBER})"), compared])
    if isinstance(expected, str) and not is_duration(expected):
        return result
    return choice(
        truth(f"{text}.matches({DURATION})"), _durations_compare(text, operator, expected), result
    )


_VERSION: Final = re.compile(r"[0-9]+\.[0-9]+\.[0-9]+", re.ASCII)
_NUMBER: Final = quoted(f"^{GO_NUMBER}$")


def _either_kind(text: str, test: Callable[[str, Form], Condition]) -> Condition:
    is_number = comparison(f"type({text})", "==", "int")
    number, string = test(f"int({text})", Form.INTEGER), test(f"string({text})", Form.STRING)
    return choice(is_number, number, string)


def _integral(expected: str | float) -> int | None:
    """Return the integer that a constant beside one stands for; None where it is none."""
    if isinstance(expected, str):
        return integer_in(expected)
    return int(expected) if float(expected).is_integer() else None


def _shortened(number: float) -> float:
    return int(number) if number.is_integer() else number


def _text_equals(text: str, expected: str) -> Condition:
    """Return whether a text is a duration, a quantity or a text as demanded: the first of them
    that both sides can be. A quantity matches no wildcards."""
    result = globbed(text, expected)
    is_amount = truth(f"isQuantity({text})")
    if amount(expected) is not None:
        result = choice(
            is_amount, _amounts_compare(text, Form.QUANTITY, Operator.EQUAL, expected), result
        )
    elif has_wildcards(expected) and set(expected) <= _OF_QUANTITIES:
        result = conjunction([negation(is_amount), result])
    if is_duration(expected):
        result = disjunction([_durations_compare(text, Operator.EQUAL, expected), result])
    return result


_OF_QUANTITIES: Final = frozenset("*?+-.0123456789eEkKMGTPimnu")
"""What a pattern consists of that a quantity could match."""


def _amounts_compare(text: str, form: Form, operator: Operator, expected: str) -> Condition:
    if amount(expected) is None:
        return NEVER
    amount_text = text if form is Form.AMOUNT else f"quantity({text})"
    compared = f"{amount_text}.compareTo(quantity({quoted(expected)}))"
    return comparison(compared, _SIGNS[operator], "0")


def _spans_compare(text: str, operator: Operator, expected: str | float) -> Condition:
    """Return how a duration compares; a number is one of whole seconds."""
    if isinstance(expected, str) and not is_duration(expected):
        return NEVER
    written = expected if isinstance(expected, str) else f"{int(expected)}s"
    return comparison(text, _SIGNS[operator], f"duration({quoted(written)})")


def _durations_compare(text: str, operator: Operator, expected: str | float) -> Condition:
    """Return whether a text is a duration and compares so; a number is one of whole seconds."""
    # `parseDuration` takes a number beside a duration as whole seconds.
    written = expected if isinstance(expected, str) else f"{int(expected)}s"
    compared = comparison(f"duration({text})", _SIGNS[operator], f"duration({quoted(written)})")
    return conjunction([truth(f"{text}.matches({DURATION})"), compared])


def _otherwise_compared(first: Query, second: Query, operator: Operator, value: Query) -> Condition:
    """Return how a value compares that gives way to another where it is absent or empty."""
    if isinstance(first, Located) and isinstance(second, Constant) and isinstance(value, Constant):
        place = first.place
        default, expected = second.value, value.value
        is_like = {Form.STRING: str, Form.INTEGER: int, Form.ANY: str}.get(place.shape.form)
        if place.unsure and is_like is not None and isinstance(default, is_like):
            empty = is_like()
            same_of_empty = _constants_compare(empty, operator, expected)
            if same_of_empty == _constants_compare(default, operator, expected):
                text = f"{place.optional}.orValue({literal(default)})"
                return _leaf(text, place.shape.form, operator, expected)
    present = is_true(first)
    return disjunction(
        [
            conjunction([present, _compared(first, operator, value)]),
            conjunction([negation(present), _compared(second, operator, value)]),
        ]
    )


def _integer(value: Json) -> int:
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    with suppress(ValueError):
        if isinstance(value, str):
            return parse_int(value)
    raise NotTranslated("a length compared with what is no number")


def _length_compared(query: Query, operator: Operator, number: int) -> Condition:
    if isinstance(query, Otherwise) and isinstance(query.second, Constant):
        if query.second.value not in ([], {}, "", None):
            raise NotTranslated("a length of what may be a constant")
        query = query.first
    right = [
        ordered((length > number) - (length < number), operator)
        for length in range(max(number, 0) + 3)
    ]
    if query == ABSENT:
        return constant(right[0])
    if (
        len(set(right[1:])) == 1 and right[0] != right[1]
    ):  # all that matters is whether there is one
        return is_true(query) if right[1] else negation(is_true(query))
    return comparison(length_text(query), _SIGNS[operator], str(number))


_SIGNS: Final = {
    Operator.EQUAL: "==",
    Operator.NOT_EQUAL: "!=",
    Operator.MORE: ">",
    Operator.LESS: "<",
    Operator.MORE_EQUAL: ">=",
    Operator.LESS_EQUAL: "<=",
}


def _lengths_compared(left: Query, operator: Operator, right: Query) -> Condition:
    texts = []
    for query in (left, right):
        if isinstance(query, Otherwise) and query.second in (Constant([]), Constant("")):
            query = query.first
        texts.append(length_text(query))
    return comparison(texts[0], _SIGNS[operator], texts[1])


# Nothing is in what is absent, and nothing is not in it either.


def _any_in(key: Query, value: Query) -> Condition:
    return conjunction([is_defined(value), some_item(key, lambda item: is_in(item, value))])


def _any_not_in(key: Query, value: Query) -> Condition:
    outside = some_item(key, lambda item: negation(is_in(item, value)))
    return conjunction([is_defined(value), outside])


def _all_in(key: Query, value: Query) -> Condition:
    outside = some_item(key, lambda item: negation(is_in(item, value)))
    return conjunction([is_defined(key), is_defined(value), negation(outside)])


def _all_not_in(key: Query, value: Query) -> Condition:
    inside = some_item(key, lambda item: is_in(item, value))
    return conjunction([is_defined(key), is_defined(value), negation(inside)])


def is_in(candidate: Query, value: Query) -> Condition:
    """Return whether a single value is among others. Raises NotTranslated."""
    if isinstance(candidate, Located | Constant):
        _text_of(candidate)
    match value:
        case Constant(list() as items):
            return _is_one_of(candidate, [printed(item) for item in items])
        case Constant(str(text)) if range_of(text) is not None:
            return _is_in_range(candidate, text)
        # A text is a list of one, unless it is JSON: then it has to be a list of texts (`anyin.go`,
        # `anyKeyExistsInArray`).
        case Constant(str(text)):
            words = listed(text)
            if words is None:
                raise NotTranslated(f"`{text}` as a list: Kyverno reads it as JSON, which is none")
            return _is_one_of(candidate, words)
        case Constant():
            raise NotTranslated("a list that is neither a list nor a text")
        case Keys(place) if isinstance(candidate, Constant):
            return has_key(place, str(candidate.value))
        case Located(place) if _is_of_config_map(place):
            return _is_a_word(candidate, place.plain)
        case Otherwise(Located(place), Constant(None | "")) if _is_of_config_map(place):
            return _is_a_word(candidate, f"{place.optional}.orValue('')")
    return some_item(value, lambda other: _same_text(candidate, other))


def _is_of_config_map(place: Place) -> bool:
    return place.root == PARAMS and place.shape.form is Form.STRING


def _is_a_word(item: Query, text: str) -> Condition:
    """Return whether a value is one of those that stand in a ConfigMap: a list of JSON, or one
    text."""
    word, form = _text_of(item)
    if form is not Form.STRING and not isinstance(item, Constant):
        word = f"string({word})"
    return member(word, f"{text}.findAll({_WORD})")


_WORD: Final = quoted(r'[^\[\]\s",]+')


def _same_text(left: Query, right: Query) -> Condition:
    for item, open_one in ((left, right), (right, left)):
        if isinstance(item, Constant) and not isinstance(open_one, Constant):
            return _is_one_of(open_one, [printed(item.value)])
    return compare(left, "==", right)


def _is_one_of(candidate: Query, items: Sequence[str]) -> Condition:
    if isinstance(candidate, Constant):
        return constant(is_alike(printed(candidate.value), items))
    if isinstance(candidate, Truth):
        return _by_truth(candidate.condition, lambda word: is_alike(word, items))
    text, form = _text_of(candidate)
    if form is Form.BOOL:
        return _by_truth(truth(text), lambda word: is_alike(word, items))
    if isinstance(candidate, Located) and _RBAC.fullmatch(candidate.place.path):
        items = [*items, *(["*"] if "*" not in items else ())]
        return member(text, literal(items))
    if form is Form.STRING and len(items) > 1 and not any(map(has_wildcards, items)):
        return member(text, literal(list(items)))
    return disjunction(_is_item(text, form, item) for item in items)


_RBAC: Final = re.compile(r"rules\[\*\]\.(verbs|apiGroups|resources|nonResourceURLs)\[\*\]")
"""Where `*` in an object means everything: Kyverno reads wildcards on both sides."""


def _by_truth(condition: Condition, test: Callable[[str], bool]) -> Condition:
    if test("true") is test("false"):
        return constant(test("true"))
    return condition if test("true") else negation(condition)


def _is_item(text: str, form: Form, item: str) -> Condition:
    if form is Form.INTEGER and _INTEGER.fullmatch(item):
        return comparison(text, "==", item)
    if form not in (Form.STRING, Form.ANY) or (form is Form.ANY and _INTEGER.fullmatch(item)):
        text = f"string({text})"
    return globbed(text, item)


_INTEGER: Final = re.compile(r"0|-?[1-9][0-9]{0,17}", re.ASCII)


def _is_in_range(value: Query, text: str) -> Condition:
    ends = range_of(text)
    assert ends is not None
    if isinstance(value, Constant):
        return constant(all(compares(value.value, end) for end in ends))
    item, form = _text_of(value)
    if form not in (Form.INTEGER, Form.QUANTITY):
        raise NotTranslated("a range that is no range of numbers")
    return conjunction(compared_leaf(item, form, end) for end in ends)


def _text_of(query: Query) -> tuple[str, Form]:
    match query:
        case Located(place) if place.shape.form not in (Form.FIELDS, Form.MAP, Form.LIST):
            return place.plain, place.shape.form
        case Computed(text, form) if form not in _AMOUNTS:
            return text, form
        case Constant(str() | int() | float() as value):
            return literal(value), Form.ANY
    raise NotTranslated("an item that is no single value")


_OPERATORS: Final[Mapping[str, Callable[[Query, Query], Condition]]] = {
    "equal": _equals,
    "equals": _equals,
    "notequal": _not_equals,
    "notequals": _not_equals,
    "in": _all_in,
    "anyin": _any_in,
    "allin": _all_in,
    "notin": _any_not_in,
    "anynotin": _any_not_in,
    "allnotin": _all_not_in,
    "greaterthan": _ordering(Operator.MORE),
    "greaterthanorequals": _ordering(Operator.MORE_EQUAL),
    "lessthan": _ordering(Operator.LESS),
    "lessthanorequals": _ordering(Operator.LESS_EQUAL),
    "durationgreaterthan": _ordering(Operator.MORE),
    "durationgreaterthanorequals": _ordering(Operator.MORE_EQUAL),
    "durationlessthan": _ordering(Operator.LESS),
    "durationlessthanorequals": _ordering(Operator.LESS_EQUAL),
}


# --- Operations --------------------------------------------------------------


def operations_of(value: Json) -> tuple[tuple[str, ...] | None, Json]:
    """Return the operations that preconditions demand, None where they do not, and the
    preconditions that are left."""
    allowed: tuple[str, ...] = OPERATIONS
    has_demands = False
    if isinstance(value, Mapping):
        every = list(_each(value.get("all") or ()))
        either = list(_each(value.get("any") or ()))
    else:
        every, either = list(_each(value or ())), []
    left = []
    for item in every:
        names = _operations_demanded(item)
        has_demands = has_demands or names is not None
        allowed = tuple(name for name in allowed if names is None or name in names)
        left += [item] if names is None else []
    demanded = [_operations_demanded(condition) for condition in either]
    if either and all(names is not None for names in demanded):
        has_demands = True
        allowed = tuple(
            name for name in allowed if any(name in (names or ()) for names in demanded)
        )
        either = []
    return (allowed if has_demands else None), {"all": left, "any": either}


_OPERATION: Final = re.compile(
    r"\{\{\s*request\.operation\s*(?:\|\|\s*'BACKGROUND'\s*)?\}\}", re.ASCII
)


def _operations_demanded(value: JsonObject) -> tuple[str, ...] | None:
    key = value.get("key")
    if not (isinstance(key, str) and _OPERATION.fullmatch(key.strip())):
        return None
    names = Names({})
    return tuple(name for name in OPERATIONS if condition({**value, "key": name}, names) == ALWAYS)


def asked_operations(rule: Rule) -> tuple[str, ...]:
    """Return the operations that a rule is about: objects come or change, and those that it
    names."""
    validate: JsonObject = rule.value.get("validate") or {}
    matched = " ".join(operation for block in rule.match.blocks for operation in block.operations)
    if "cel" in validate:
        text = json.dumps([matched, validate["cel"], rule.value.get("celPreconditions")])
        asks_of_deletions = any(word in text for word in _OF_DELETIONS)
        return tuple(
            operation for operation in OPERATIONS if operation != "DELETE" or asks_of_deletions
        )
    named = json.dumps([rule.preconditions, validate.get("deny"), matched])
    usual = {Operation.CREATE.name, Operation.UPDATE.name}
    usual |= {operation for operation in OPERATIONS if operation in named}
    if rule.kind == "mutate" or "podSecurity" in validate:
        usual -= {Operation.DELETE.name, Operation.CONNECT.name}  # requests without an object
    operations, _ = operations_of(rule.preconditions)
    return tuple(operation for operation in operations or OPERATIONS if operation in usual)


_OF_DELETIONS: Final = ("DELETE", "oldObject", "request.operation")
"""Words of expressions that are about deletions, too, which have no `object`."""


def substituted(message: str, names: Names) -> Sequence[str | Query]:
    """Return the parts of a text with variables. Raises NotTranslated."""
    parts: list[str | Query] = []
    end = 0
    for start, after in variables_in(message):
        parts += [message[end:start], _variable(message[start + 2 : after - 2], names)]
        end = after
    return [*parts, message[end:]]


def variables_in(text: str) -> Iterator[tuple[int, int]]:
    """Yield where variables begin and end; those inside of others are part of them, and what never
    ends is none."""
    depth = begin = position = 0
    while position < len(text) - 1:
        pair = text[position : position + 2]
        if pair == "{{":
            begin = position if depth == 0 else begin
            depth += 1
        elif pair == "}}" and depth:
            depth -= 1
            if depth == 0:
                yield begin, position + 2
        position += 2 if pair in ("{{", "}}") else 1


def joined(parts: Iterable[str | Query], *, fails: bool = False) -> str:
    """Return a text with variables as an expression. Where one is absent, nothing stands in its
    place, or the expression fails. Raises NotTranslated."""
    texts = []
    for part in parts:
        match part:
            case "":
                continue
            case str():
                texts.append(quoted(part))
            case Located(place) if place.shape.form is Form.STRING and not fails:
                is_sure = not place.unsure
                texts.append(place.plain if is_sure else f"{place.optional}.orValue('')")
            case _:
                texts.append(_written(part, fails=fails))
    return " + ".join(_short(texts))


_AMOUNTS: Final = (Form.AMOUNT, Form.SPAN, Form.INSTANT)
"""What CEL has no text of."""


def _written(value: Query, *, fails: bool) -> str:
    """Return a value as a text. Raises NotTranslated."""
    computed = single(value)
    if computed.form in _AMOUNTS:
        raise NotTranslated("an amount in a text")
    text = (
        computed.text
        if computed.form in (Form.STRING, Form.QUANTITY)
        else f"string({computed.text})"
    )
    if fails or computed.presence == ALWAYS:
        return text
    return f"({computed.presence.inside(Binding.OR)} ? {text} : '')"
