"""Kyverno's functions of JMESPath beside those of the specification, for the oracle of conditions.

Facts are those of Kyverno's `pkg/engine/jmespath`. What fails there is an error here.
"""

from __future__ import annotations

import datetime
import re
from collections.abc import Callable
from typing import Any, Final, TypeVar

import jmespath
from jmespath import functions
from jmespath.exceptions import JMESPathError

from celadon.kube import Json, quantity
from celadon.migrate.kyverno.patterns import amount, wildcard_match


def _failed(reason: str) -> JMESPathError:
    return JMESPathError(reason)


def _amounts(*texts: str) -> list[quantity.Quantity]:
    found = [amount(one) for one in texts]
    if None in found:
        raise _failed("no quantity")
    return [one for one in found if one is not None]


def _scalars(left: Json, right: Json) -> bool:
    kinds = {isinstance(one, str) for one in (left, right)}
    if len(kinds) > 1:
        raise _failed("a number and an amount")
    return kinds == {False}


def _time(text: str) -> datetime.datetime:
    try:
        return datetime.datetime.fromisoformat(text)
    except ValueError as error:
        raise _failed("no time") from error


_Function = TypeVar("_Function", bound=Callable[..., Any])


def _signature(*arguments: dict[str, list[str]]) -> Callable[[_Function], _Function]:
    typed: Callable[[_Function], _Function] = functions.signature(*arguments)
    return typed


STRING: Final = {"types": ["string"]}
NUMBER: Final = {"types": ["number"]}
EITHER: Final = {"types": ["string", "number"]}
OBJECT: Final = {"types": ["object"]}


class KyvernoFunctions(functions.Functions):  # type: ignore[misc]
    """The names of methods and their signatures are how jmespath finds functions."""

    @_signature(STRING, STRING)
    def _func_compare(self, left: str, right: str) -> int:
        return (left > right) - (left < right)

    @_signature(STRING, STRING)
    def _func_equal_fold(self, left: str, right: str) -> bool:
        return left.casefold() == right.casefold()

    @_signature(STRING, STRING, STRING, NUMBER)
    def _func_replace(self, text: str, old: str, new: str, count: float) -> str:
        return text.replace(old, new, int(count))

    @_signature(STRING, STRING, STRING)
    def _func_replace_all(self, text: str, old: str, new: str) -> str:
        return text.replace(old, new)

    @_signature(STRING)
    def _func_to_upper(self, text: str) -> str:
        return text.upper()

    @_signature(STRING)
    def _func_to_lower(self, text: str) -> str:
        return text.lower()

    @_signature(STRING, STRING)
    def _func_trim(self, text: str, characters: str) -> str:
        return text.strip(characters) if characters else text

    @_signature(STRING, STRING)
    def _func_trim_prefix(self, text: str, prefix: str) -> str:
        return text.removeprefix(prefix)

    @_signature(STRING, STRING)
    def _func_split(self, text: str, separator: str) -> list[str]:
        return text.split(separator) if separator else list(text)

    @_signature(STRING, EITHER)
    def _func_regex_match(self, pattern: str, value: Json) -> bool:
        return re.search(pattern, str(value)) is not None

    @_signature(STRING, EITHER)
    def _func_pattern_match(self, pattern: str, value: Json) -> bool:
        return wildcard_match(pattern, str(value))

    @_signature(OBJECT, OBJECT)
    def _func_label_match(self, wanted: dict[str, Json], labels: dict[str, Json]) -> bool:
        return all(key in labels and labels[key] == value for key, value in wanted.items())

    @_signature(STRING)
    def _func_to_boolean(self, text: str) -> bool:
        if text.lower() not in ("true", "false"):
            raise _failed("no truth value")
        return text.lower() == "true"

    @_signature(EITHER, EITHER)
    def _func_add(self, left: Any, right: Any) -> Any:
        if _scalars(left, right):
            return left + right
        one, other = _amounts(left, right)
        return str(one.add(other))

    @_signature(EITHER, EITHER)
    def _func_subtract(self, left: Any, right: Any) -> Any:
        if _scalars(left, right):
            return left - right
        one, other = _amounts(left, right)
        return str(one.sub(other))

    @_signature(NUMBER, NUMBER)
    def _func_multiply(self, left: float, right: float) -> float:
        return left * right

    @_signature(EITHER, EITHER)
    def _func_divide(self, left: Any, right: Any) -> float:
        if not _scalars(left, right):
            one, other = _amounts(left, right)
            left, right = one.approximate_float(), other.approximate_float()
        if not right:
            raise _failed("a division by zero")
        return float(left) / float(right)

    @_signature(NUMBER, NUMBER)
    def _func_modulo(self, left: int, right: int) -> int:
        if not right:
            raise _failed("a division by zero")
        return left - right * int(left / right)

    @_signature(STRING, NUMBER)
    def _func_truncate(self, text: str, length: float) -> str:
        return text[: max(int(length), 0)]

    @_signature(OBJECT, STRING, STRING)
    def _func_items(self, value: dict[str, Json], key: str, member: str) -> list[Json]:
        return [{key: name, member: one} for name, one in sorted(value.items())]

    @_signature({"types": ["object", "array"]}, EITHER)
    def _func_lookup(self, value: Any, key: Any) -> Json:
        if isinstance(value, dict):
            return value.get(key)
        return value[key] if 0 <= key < len(value) else None

    @_signature({"types": ["array-number"]})
    def _func_sum(self, items: list[float]) -> float:
        if not items:
            raise _failed("nothing to add")
        return sum(items)

    @_signature(STRING, STRING)
    def _func_time_before(self, one: str, other: str) -> bool:
        return _time(one) < _time(other)

    @_signature(STRING, STRING)
    def _func_time_after(self, one: str, other: str) -> bool:
        return _time(one) > _time(other)

    @_signature(STRING, STRING, STRING)
    def _func_time_between(self, one: str, start: str, end: str) -> bool:
        return _time(start) < _time(one) < _time(end)

    @_signature(STRING, STRING)
    def _func_time_diff(self, start: str, end: str) -> str:
        return f"{(_time(end) - _time(start)).total_seconds():.0f}s"


OPTIONS: Final = jmespath.Options(custom_functions=KyvernoFunctions())
