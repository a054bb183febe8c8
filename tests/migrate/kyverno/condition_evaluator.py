"""What Kyverno says of a condition (`key`, `operator`, `value`): the oracle of its translation.

Facts are those of Kyverno 1.15 `pkg/engine/variables/operator`. A variable that reads nothing makes
the rule an error there; such a condition has no answer here, either.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Final

import jmespath

from celadon.kube import Json, JsonObject
from celadon.migrate.kyverno.patterns import (
    Operator,
    compares,
    equals,
    is_alike,
    listed,
    order,
    ordered,
    printed,
    range_of,
)
from tests.migrate.kyverno.jmespath_functions import OPTIONS


class NotResolvedError(Exception):
    """A variable reads nothing."""


def holds(condition: JsonObject, request: JsonObject) -> bool:
    """Return whether a condition holds for a request; NotResolvedError where it has no answer."""
    key, value = (_resolved(condition[side], request) for side in ("key", "value"))
    return _OPERATORS[str(condition["operator"]).lower()](key, value)


def _resolved(operand: Json, request: JsonObject) -> Json:
    if isinstance(operand, list):
        return [_resolved(item, request) for item in operand]
    if not isinstance(operand, str) or "{{" not in operand:
        return operand
    text = operand.strip()
    assert text.startswith("{{"), operand
    assert text.endswith("}}"), operand
    value: Json = jmespath.search(text[2:-2], {"request": request}, options=OPTIONS)
    if value is None:
        raise NotResolvedError(text)
    return value


def _ordering(operator: Operator) -> Callable[[Json, Json], bool]:
    def compared(key: Json, value: Json) -> bool:
        sign = order(key, value)
        return sign is not None and ordered(sign, operator)

    return compared


# --- Membership --------------------------------------------------------------


def _not_all(inside: Sequence[bool]) -> bool:
    return not all(inside)


def _none(inside: Sequence[bool]) -> bool:
    return not any(inside)


def _membership(verdict: Callable[[Sequence[bool]], bool], key: Json, value: Json) -> bool:
    if isinstance(key, dict) or key is None:
        return False
    items = [printed(item) for item in key] if isinstance(key, list) else [printed(key)]
    match value:
        case list():
            texts: list[str] | None = [printed(item) for item in value]
        case str() if (ends := range_of(value)) is not None:
            return verdict([all(compares(item, end) for end in ends) for item in items])
        case str():
            texts = [value] if items == [value] else listed(value)
        case bool() | int() | float() if isinstance(key, list) and verdict in (any, _not_all):
            texts = [printed(value)]
        case _:
            return False
    return texts is not None and verdict([is_alike(item, texts) for item in items])


_OPERATORS: Final[dict[str, Callable[[Json, Json], bool]]] = {
    "equals": equals,
    "notequals": lambda key, value: not equals(key, value),
    "anyin": partial(_membership, any),
    "allin": partial(_membership, all),
    "anynotin": partial(_membership, _not_all),
    "allnotin": partial(_membership, _none),
    "greaterthan": _ordering(Operator.MORE),
    "greaterthanorequals": _ordering(Operator.MORE_EQUAL),
    "lessthan": _ordering(Operator.LESS),
    "lessthanorequals": _ordering(Operator.LESS_EQUAL),
}
