"""OpenAPI validation of custom resources, as k8s.io/kube-openapi `pkg/validation/validate`.

A node is checked by a row of validators in a fixed order (type, branches, string, format, number,
list, enum, object); each says what it finds. `matches` counts the checks that passed: of several
branches that all fail, the one with the most counts as the one that was meant.

Members are visited in the order of their names, since upstream's order is that of a Go map.

On update a subtree that is what it was before may stay invalid (ratcheting): its faults are dropped
if old and new are surely the same thing: members of objects by name, items of map lists by key.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterable
from dataclasses import field
from typing import Any, Final, TypeAlias

from celadon.cel.extend import re2
from celadon.kube.custom import openapi_texts, string_formats
from celadon.kube.custom.number_validation import is_json_integer, number_errors
from celadon.kube.custom.rules.correlation import Correlated, Unknown
from celadon.kube.fieldpath import ROOT, ErrorType, FieldError, FieldPath
from celadon.kube.json_types import Json
from celadon.kube.schemas.schema_model import Schema, ValueLimits
from celadon.kube.well_known_values import TYPE_FIELDS
from celadon.records import dataclass

_KINDS: Final = {bool: "boolean", str: "string", list: "array", dict: "object"}

_Told: TypeAlias = tuple[str, str, ErrorType]


@dataclass(slots=True)
class Result:
    """What was found out about one value."""

    errors: list[FieldError] = field(default_factory=list)
    matches: int = 0
    _said: set[_Told] = field(default_factory=set, init=False)
    """What `_noted` errors say; all anew for each of thousands would be quadratic."""
    _noted: int = field(default=0, init=False)

    def take(self, other: Result) -> None:
        """Adds what another check found, errors and matches. What was said before is not said
        again."""
        if not self.errors:
            self.errors += other.errors
        elif other.errors:
            said = self._said_before()
            self.errors += [one for one in other.errors if _told(one) not in said]
        self.matches += other.matches

    def _said_before(self) -> set[_Told]:
        self._said.update(map(_told, self.errors[self._noted :]))
        self._noted = len(self.errors)
        return self._said


def _told(error: FieldError) -> _Told:
    return error.path.text, error.detail, error.type


def value_errors(value: Json, schema: Schema, before: Json | Unknown) -> list[FieldError]:
    """What is wrong with a whole object. `before` is the stored object of an update, else
    `Unknown`."""
    was = None if isinstance(before, Unknown) else Correlated(value, before, schema)
    return _ratcheted(ROOT, value, schema, was).errors


def _ratcheted(name: FieldPath, value: Json, schema: Schema, was: Correlated | None) -> Result:
    result = _check(name, value, schema, was)
    if result.errors and was is not None and was.is_same:
        return Result(matches=result.matches)
    return result


def _check(name: FieldPath, value: Json, schema: Schema, was: Correlated | None = None) -> Result:
    if value is None:
        null = _type(name, value, schema)
        null.take(_enum(name, value, schema))
        return null
    result = Result(matches=1)
    for check in _checks(value):
        result.take(check(name, value, schema))
        result.matches += 1
    if isinstance(value, list):
        result.take(_items(name, value, schema, was))
    result.take(_enum(name, value, schema))
    if isinstance(value, dict):
        result.take(_object(name, value, schema, was))
    return result


_Check = Callable[[FieldPath, Any, Schema], Result]


def _checks(value: Json) -> Iterable[_Check]:
    if isinstance(value, str):
        return _type, _branches, _string, _format
    if value.__class__ in (int, float):
        return _type, _branches, _numeric
    return _type, _branches


def _fault(error: FieldError) -> Result:
    return Result([error])


# --- type, enum, format -------------------------------------------------------------------------


def json_type(value: Json) -> str:
    """The JSON type of a value that is not null."""
    kind = value.__class__
    if kind is int:
        return "integer"
    return "number" if kind is float else _KINDS.get(kind, "object")


def _type(name: FieldPath, value: Json, schema: Schema) -> Result:
    wanted = schema.types
    format_ = string_formats.known_format(schema.format, schema.type)
    if not wanted and not format_:
        return Result()
    if value is None:
        if wanted and not schema.nullable:
            return _fault(openapi_texts.type_mismatch(name, ",".join(wanted), "null"))
        return Result(matches=1)
    found = json_type(value)
    integral = isinstance(value, float) and "integer" in wanted and is_json_integer(value)
    fits = found in wanted or integral or (found == "integer" and "number" in wanted)
    if format_ and found in ("string", "array"):
        if not {"number", "integer"}.intersection(wanted):
            return Result(matches=1)
    elif format_ and not fits:
        sized = {"integer": "int64", "number": "float64"}.get(found, "")
        return _fault(openapi_texts.type_mismatch(name, format_, sized))
    if not fits:
        return _fault(openapi_texts.type_mismatch(name, ",".join(wanted), found))
    return Result(matches=1)


def _enum(name: FieldPath, value: Json, schema: Schema) -> Result:
    choices = schema.enum
    if not choices or any(_is_choice(value, one) for one in choices):
        return Result(matches=1)
    return _fault(openapi_texts.not_in_enum(name, value, choices))


def _is_choice(value: Json, choice: Json) -> bool:
    """Go converts the value to the choice's type first: a fraction is cut off, and an integer
    becomes the character that it numbers."""
    match value, choice:
        case bool(), _:
            return value is choice
        case float(), int():
            return math.trunc(value) == choice and not isinstance(choice, bool)
        case int(), str():
            return choice == _character(value)
        case _:
            return not isinstance(choice, bool) and bool(value == choice)


def _character(number: int) -> str:
    is_one = 0 <= number <= sys.maxunicode and not 0xD800 <= number <= 0xDFFF
    return chr(number) if is_one else "\N{REPLACEMENT CHARACTER}"


def _format(name: FieldPath, value: str, schema: Schema) -> Result:
    format_ = string_formats.known_format(schema.format, schema.type)
    if string_formats.is_of_texts(format_) and not string_formats.matches(format_, value):
        return _fault(openapi_texts.type_mismatch(name, format_, value))
    return Result(matches=1)


# --- strings and numbers ------------------------------------------------------------------------


def _string(name: FieldPath, value: str, schema: Schema) -> Result:
    limits = schema.limits
    if limits.max_length is not None and len(value) > limits.max_length:
        return _fault(openapi_texts.too_long(name, limits.max_length))
    if limits.min_length is not None and len(value) < limits.min_length:
        return _fault(openapi_texts.too_short(name, value, limits.min_length))
    if limits.pattern and not _found(limits.pattern, value):
        return _fault(openapi_texts.no_match(name, value, limits.pattern))
    return Result(matches=1)


def _found(pattern: str, value: str) -> bool:
    try:
        return bool(re2.compile(pattern).search(value))
    except re2.RegexError:
        return False


def _numeric(name: FieldPath, value: int | float, schema: Schema) -> Result:
    return Result(list(number_errors(name, value, schema)), matches=1)


# --- lists and objects --------------------------------------------------------------------------


def _items(name: FieldPath, value: list[Json], schema: Schema, was: Correlated | None) -> Result:
    result = Result(matches=1)
    if schema.items is not None:
        for i, one in enumerate(value):
            below = None if was is None else was.item(i)
            result.take(_ratcheted(name.index(i), one, schema.items, below))
    limits, count = schema.limits, len(value)
    if limits.min_items is not None and count < limits.min_items:
        result.errors.append(openapi_texts.too_few_items(name, count, limits.min_items))
    if limits.max_items is not None and count > limits.max_items:
        result.errors.append(openapi_texts.too_many_items(name, count, limits.max_items))
    return result


def _object(
    name: FieldPath, value: dict[str, Json], schema: Schema, was: Correlated | None
) -> Result:
    result = Result(_count_errors(name, len(value), schema.limits), matches=1)
    if schema.additional_properties is not None:
        for key in sorted(value.keys() - schema.properties.keys()):
            place = openapi_texts.additional(name, key)
            below = _member(name, was, key)
            result.take(_ratcheted(place, value[key], schema.additional_properties, below))
    for key in sorted(schema.properties.keys() & value.keys()):
        below = _member(name, was, key)
        result.take(_ratcheted(name.child(key), value[key], schema.properties[key], below))
    for key in schema.required:
        if key not in value:
            result.errors.append(openapi_texts.required(name.child(key)))
    return result


def _member(name: FieldPath, was: Correlated | None, key: str) -> Correlated | None:
    """What version an object was stored in cannot be seen, so its type is always judged."""
    if was is None or (not name.steps and key in TYPE_FIELDS):
        return None
    return was.member(key)


def _count_errors(name: FieldPath, count: int, limits: ValueLimits) -> list[FieldError]:
    found = []
    if limits.min_properties is not None and count < limits.min_properties:
        found.append(openapi_texts.too_few_properties(name, count, limits.min_properties))
    if limits.max_properties is not None and count > limits.max_properties:
        found.append(openapi_texts.too_many_items(name, count, limits.max_properties))
    return found


# --- branches -----------------------------------------------------------------------------------


def _branches(name: FieldPath, value: Json, schema: Schema) -> Result:
    """`anyOf`, `oneOf`, `allOf`, `not`; what they hold is never ratcheted."""
    result = Result(matches=1)
    if schema.any_of:
        _any_of(name, [_check(name, value, one) for one in schema.any_of], result)
    if schema.one_of:
        _one_of(name, [_check(name, value, one) for one in schema.one_of], result)
    if schema.all_of:
        tried = [_check(name, value, one) for one in schema.all_of]
        for one in tried:
            result.take(one)
        failed = sum(bool(one.errors) for one in tried)
        if failed:
            result.errors.append(openapi_texts.not_all(name, none=failed == len(tried)))
    if schema.not_ is not None and not _check(name, value, schema.not_).errors:
        result.errors.append(openapi_texts.forbidden_match(name))
    return result


def _any_of(name: FieldPath, tried: list[Result], result: Result) -> None:
    good = next((one for one in tried if not one.errors), None)
    if good is None:
        result.errors.append(openapi_texts.none_of(name))
    result.take(good or _closest(tried))


def _one_of(name: FieldPath, tried: list[Result], result: Result) -> None:
    good = [one for one in tried if not one.errors]
    if len(good) == 1:
        result.take(good[0])
        return
    result.errors.append(openapi_texts.not_exactly_one(name, len(good)))
    if not good:
        result.take(_closest(tried))


def _closest(tried: list[Result]) -> Result:
    """The first of those with the most matches."""
    return max(tried, key=lambda one: one.matches)
