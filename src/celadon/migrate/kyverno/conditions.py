"""Kyverno's conditions (`key`, `operator`, `value`) as conditions of CEL.

Facts are those of Kyverno 1.15 `pkg/engine/variables/operator`. Wildcards are taken from the
policy's side only: Kyverno reads them in the object's values, too.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Final

from celadon.admission import Operation
from celadon.kube import Json, JsonObject
from celadon.migrate.cel_text import (
    ALWAYS,
    NEVER,
    Condition,
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
from celadon.migrate.kyverno.pattern_translation import compared_leaf, globbed
from celadon.migrate.kyverno.patterns import (
    Comparison,
    Operator,
    compares,
    has_wildcards,
    ordered,
    read_string,
    wildcard_match,
)
from celadon.migrate.kyverno.queries import (
    ABSENT,
    Branch,
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
    read,
    some_item,
)
from celadon.migrate.shapes import Form
from celadon.migrate.translations import NotTranslated

VARIABLE: Final = re.compile(r"\{\{(.*?)\}\}", re.DOTALL)

OPERATIONS: Final = tuple(Operation.__members__)


def conditions(value: Json, names: Names) -> Condition:
    """Return whether conditions hold: a list of them, or `any` and `all`. Raises NotTranslated."""
    if isinstance(value, Mapping):
        parts = []
        if value.get("all"):
            parts.append(conjunction(condition(one, names) for one in _each(value["all"])))
        if value.get("any"):
            parts.append(disjunction(condition(one, names) for one in _each(value["any"])))
        return conjunction(parts)
    return conjunction(condition(one, names) for one in _each(value))


def _each(value: Json) -> list[JsonObject]:
    if not isinstance(value, Sequence) or isinstance(value, str):
        raise NotTranslated("conditions that are no list")
    return [one for one in value if isinstance(one, Mapping)]


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
        read_items = [operand(one, names) for one in value]
        if all(isinstance(one, Constant) for one in read_items):
            return Constant(list(value))
        return Stream(tuple(Branch((), one) for one in read_items))
    if not isinstance(value, str) or "{{" not in value:
        return Constant(value)
    text = value.strip()
    if text.startswith("{{") and text.endswith("}}") and _is_one(text):
        return read(text[2:-2], names)
    raise NotTranslated("a text with variables in it")


def _is_one(text: str) -> bool:
    """Return whether a text is one variable: others may be inside it, but none beside it."""
    depth = 0
    for position in range(len(text) - 1):
        pair = text[position : position + 2]
        depth += {"{{": 1, "}}": -1}.get(pair, 0)
        if pair == "}}" and depth == 0 and position < len(text) - 2:
            return False
    return True


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
        case Constant(left), Constant(right):
            return constant(_constants_compare(left, operator, right))
        case Truth(held), Constant(bool(expected)):
            same = held if expected else negation(held)
            return same if operator is Operator.EQUAL else negation(same)
        case Constant(), _:
            return _compared(value, _TURNED[operator], key)
        case Length(of), Constant(number):
            return _length_compared(of, operator, _integer(number))
        case Length(left), Length(right):
            return _lengths_compared(left, operator, right)
        case Otherwise(first, Constant([])), Constant([]) if equality:
            filled = is_true(first)
            return negation(filled) if operator is Operator.EQUAL else filled
        case Otherwise(first, Constant(None)), Constant(str(expected)) if equality and expected:
            same = _compared(first, Operator.EQUAL, value)
            return same if operator is Operator.EQUAL else negation(same)
        case Otherwise(first, second), _ if equality or isinstance(second, Constant):
            return _otherwise_compared(first, second, operator, value)
        case Located(place), Constant(expected):
            there = place.there()
            demanded = _leaf(there.plain, place.shape.form, operator, expected)
            return conjunction([place.present(), demanded])
        case Computed(text, form), Constant(expected):
            return _leaf(text, form, operator, expected)
    if equality:
        same = compare(key, "==", value)
        return same if operator is Operator.EQUAL else negation(same)
    raise NotTranslated("an order of two values that are both read")


_TURNED: Final = {
    Operator.EQUAL: Operator.EQUAL,
    Operator.NOT_EQUAL: Operator.NOT_EQUAL,
    Operator.MORE: Operator.LESS,
    Operator.LESS: Operator.MORE,
    Operator.MORE_EQUAL: Operator.LESS_EQUAL,
    Operator.LESS_EQUAL: Operator.MORE_EQUAL,
}


def _constants_compare(left: Json, operator: Operator, right: Json) -> bool:
    if isinstance(left, bool) or isinstance(right, bool):
        return (left is right) is (operator is Operator.EQUAL)
    return compares(left, Comparison(operator, str(right)))


def _leaf(text: str, form: Form, operator: Operator, expected: Json) -> Condition:
    match expected:
        case bool():
            if form is not Form.BOOL:
                return comparison(text, _RELATIONS[operator], literal(expected))
            same = truth(text) if expected else negation(truth(text))
            return same if operator is Operator.EQUAL else negation(same)
        case int() | float() | str():
            return compared_leaf(text, form, Comparison(operator, str(expected)))
        case None:
            return NEVER
    return comparison(text, _RELATIONS[operator], literal(expected))


_RELATIONS: Final = {Operator.EQUAL: "==", Operator.NOT_EQUAL: "!="}


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
    there = is_true(first)
    return disjunction(
        [
            conjunction([there, _compared(first, operator, value)]),
            conjunction([negation(there), _compared(second, operator, value)]),
        ]
    )


def _integer(value: Json) -> int:
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    if isinstance(value, str) and value.lstrip("-").isdigit():
        return int(value)
    raise NotTranslated("a length compared with what is no number")


def _length_compared(of: Query, operator: Operator, number: int) -> Condition:
    if isinstance(of, Otherwise) and isinstance(of.second, Constant):
        if of.second.value not in ([], {}, "", None):
            raise NotTranslated("a length of what may be a constant")
        of = of.first
    right = [
        ordered((length > number) - (length < number), operator)
        for length in range(max(number, 0) + 3)
    ]
    if of == ABSENT:
        return constant(right[0])
    if (
        len(set(right[1:])) == 1 and right[0] != right[1]
    ):  # all that matters is whether there is one
        return is_true(of) if right[1] else negation(is_true(of))
    return comparison(length_text(of), _SIGNS[operator], str(number))


_SIGNS: Final = {
    **_RELATIONS,
    Operator.MORE: ">",
    Operator.LESS: "<",
    Operator.MORE_EQUAL: ">=",
    Operator.LESS_EQUAL: "<=",
}


def _lengths_compared(left: Query, operator: Operator, right: Query) -> Condition:
    texts = []
    for of in (left, right):
        if isinstance(of, Otherwise) and of.second in (Constant([]), Constant("")):
            of = of.first
        texts.append(length_text(of))
    return comparison(texts[0], _SIGNS[operator], texts[1])


# Nothing is in what is absent, and nothing is not in it either.


def _any_in(key: Query, value: Query) -> Condition:
    return conjunction([is_defined(value), some_item(key, lambda one: is_in(one, value))])


def _any_not_in(key: Query, value: Query) -> Condition:
    outside = some_item(key, lambda one: negation(is_in(one, value)))
    return conjunction([is_defined(value), outside])


def _all_in(key: Query, value: Query) -> Condition:
    outside = some_item(key, lambda one: negation(is_in(one, value)))
    return conjunction([is_defined(key), is_defined(value), negation(outside)])


def _all_not_in(key: Query, value: Query) -> Condition:
    inside = some_item(key, lambda one: is_in(one, value))
    return conjunction([is_defined(key), is_defined(value), negation(inside)])


def is_in(one: Query, value: Query) -> Condition:
    """Return whether a single value is among others."""
    match value:
        case Constant(list() as items):
            return _is_one_of(one, items)
        case Constant(str(pattern)):
            return _is_one_of(one, [pattern])
        case Constant():
            raise NotTranslated("a list that is neither a list nor a text")
        case Keys(place) if isinstance(one, Constant):
            return has_key(place, str(one.value))
    return some_item(value, lambda other: _same_text(one, other))


def _same_text(one: Query, other: Query) -> Condition:
    for known, open_one in ((one, other), (other, one)):
        if isinstance(known, Constant) and not isinstance(open_one, Constant):
            return _is_one_of(open_one, [known.value])
    return compare(one, "==", other)


def _is_one_of(one: Query, items: Sequence[Json]) -> Condition:
    if isinstance(one, Constant):
        texts = [str(item) for item in items]
        known = str(one.value)
        return constant(any(wildcard_match(a, known) or wildcard_match(known, a) for a in texts))
    if isinstance(one, Truth):
        expected = [item in (True, "true") for item in items]
        if len(expected) == 1:
            return one.condition if expected[0] else negation(one.condition)
        return ALWAYS
    text, form = _text_of(one)
    if isinstance(one, Located) and _RBAC.fullmatch(one.place.path):
        items = [*items, *(["*"] if "*" not in items else ())]
        return member(text, literal(items))
    if form is Form.STRING and len(items) > 1 and not any(map(_is_special, items)):
        return member(text, literal(list(items)))
    return disjunction(_is_item(text, form, item) for item in items)


_RBAC: Final = re.compile(r"rules\[\*\]\.(verbs|apiGroups|resources|nonResourceURLs)\[\*\]")
"""Where `*` in an object means everything: Kyverno reads wildcards on both sides."""


def _is_special(item: Json) -> bool:
    return not isinstance(item, str) or has_wildcards(item) or _is_range(item)


def _is_range(text: str) -> bool:
    ((first, *more),) = (read_string(text)[0],) if "|" not in text else (((),),)
    return bool(more) or any(one.operator not in _RELATIONS for one in first)


def _is_item(text: str, form: Form, item: Json) -> Condition:
    if form is Form.INTEGER:
        if isinstance(item, str) and _is_range(item):
            ends = [one for group in read_string(item)[0] for one in group]
            return conjunction(compared_leaf(text, form, one) for one in ends)
        if isinstance(item, int) or (isinstance(item, str) and item.lstrip("-").isdigit()):
            return comparison(text, "==", str(int(item)))
        text = f"string({text})"
    elif form not in (Form.STRING, Form.ANY):
        text = f"string({text})"
    elif form is Form.ANY and not isinstance(item, str):
        return comparison(f"string({text})", "==", quoted(str(item)))
    return globbed(text, str(item))


def _text_of(one: Query) -> tuple[str, Form]:
    match one:
        case Located(place):
            return place.plain, place.shape.form
        case Computed(text, form):
            return text, form
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
    found = False
    if isinstance(value, Mapping):
        every = list(_each(value.get("all") or ()))
        either = list(_each(value.get("any") or ()))
    else:
        every, either = list(_each(value or ())), []
    left = []
    for one in every:
        known = _operations_demanded(one)
        found = found or known is not None
        allowed = tuple(name for name in allowed if known is None or name in known)
        left += [one] if known is None else []
    demanded = [_operations_demanded(one) for one in either]
    if either and all(one is not None for one in demanded):
        found = True
        allowed = tuple(name for name in allowed if any(name in (one or ()) for one in demanded))
        either = []
    return (allowed if found else None), {"all": left, "any": either}


_OPERATION: Final = re.compile(
    r"\{\{\s*request\.operation\s*(?:\|\|\s*'BACKGROUND'\s*)?\}\}", re.ASCII
)


def _operations_demanded(value: JsonObject) -> tuple[str, ...] | None:
    key = value.get("key")
    if not (isinstance(key, str) and _OPERATION.fullmatch(key.strip())):
        return None
    names = Names({})
    return tuple(name for name in OPERATIONS if condition({**value, "key": name}, names) == ALWAYS)


def substituted(message: str, names: Names) -> Sequence[str | Query]:
    """Return the parts of a text with variables. Raises NotTranslated."""
    parts: list[str | Query] = []
    end = 0
    for found in VARIABLE.finditer(message):
        parts += [message[end : found.start()], read(found[1], names)]
        end = found.end()
    return [*parts, message[end:]]


def joined(parts: Iterable[str | Query]) -> str:
    """Return a text with variables as an expression. Raises NotTranslated."""
    texts = []
    for one in parts:
        match one:
            case "":
                continue
            case str():
                texts.append(quoted(one))
            case Located(place) if not place.unsure:
                is_text = place.shape.form is Form.STRING
                texts.append(place.plain if is_text else f"string({place.plain})")
            case Located(place) if place.shape.form is Form.STRING:
                texts.append(f"{place.optional}.orValue('')")
            case Computed(text, _):
                texts.append(text)
            case _:
                raise NotTranslated("a variable in a message")
    return " + ".join(texts)
