"""Structural schemas: the form in which a CRD's `openAPIV3Schema` is worked with.

`decode` reads the JSON of a schema and never fails: what is not of the type it should be counts as
absent, since a CRD that an API server would refuse may still be all that a user has. The branches
of `allOf`, `anyOf`, `oneOf` and `not` are schemas too, but they only validate.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

Json = Any

MAX_DEPTH: Final = 200
"""Levels of schemas within schemas; below them everything is allowed."""


class Absent:
    """The class of `ABSENT`: no default, which is something else than a default of null."""

    __slots__ = ()


ABSENT: Final = Absent()


@dataclass(frozen=True, slots=True)
class ValidationRule:
    """One of `x-kubernetes-validations`."""

    rule: str = ""
    message: str = ""
    message_expression: str = ""
    reason: str = ""
    field_path: str = ""
    optional_old_self: bool = False


@dataclass(frozen=True, slots=True)
class ValueLimits:
    """What only validates a value; None is no limit. Numbers keep the kind they are written in."""

    enum: tuple[Json, ...] = ()
    minimum: float | None = None
    maximum: float | None = None
    exclusive_minimum: bool = False
    exclusive_maximum: bool = False
    multiple_of: float | None = None
    min_length: int | None = None
    max_length: int | None = None
    pattern: str = ""
    min_items: int | None = None
    max_items: int | None = None
    min_properties: int | None = None
    max_properties: int | None = None


@dataclass(frozen=True, slots=True)
class Structural:
    """One node. `open_values` is `additionalProperties: true`."""

    type: str = ""
    format: str = ""
    nullable: bool = False
    default: Json | Absent = ABSENT
    properties: Mapping[str, Structural] = field(default_factory=dict)
    additional: Structural | None = None
    open_values: bool = False
    items: Structural | None = None
    required: tuple[str, ...] = ()
    limits: ValueLimits = ValueLimits()
    all_of: tuple[Structural, ...] = ()
    any_of: tuple[Structural, ...] = ()
    one_of: tuple[Structural, ...] = ()
    not_: Structural | None = None
    embedded_resource: bool = False
    int_or_string: bool = False
    preserve_unknown: bool = False
    list_type: str = ""
    list_map_keys: tuple[str, ...] = ()
    map_type: str = ""
    rules: tuple[ValidationRule, ...] = ()

    @property
    def types(self) -> tuple[str, ...]:
        """The JSON types that a value may have; none is any."""
        if self.int_or_string:
            return ("integer", "string")
        return (self.type,) if self.type else ()


OPEN: Final = Structural(preserve_unknown=True)
"""Allows everything and keeps it."""


def decode(given: Json, depth: int = 0) -> Structural:
    """A schema from its JSON."""
    if depth > MAX_DEPTH:
        return OPEN
    if not isinstance(given, dict):
        return Structural()
    additional = given.get("additionalProperties")
    items = given.get("items")
    return Structural(
        type=_text(given, "type"),
        format=_text(given, "format"),
        nullable=given.get("nullable") is True,
        default=ABSENT if given.get("default") is None else given["default"],
        properties={key: decode(one, depth + 1) for key, one in _map(given, "properties").items()},
        additional=decode(additional, depth + 1) if isinstance(additional, dict) else None,
        open_values=additional is True,
        items=decode(items, depth + 1) if isinstance(items, dict) else None,
        required=_texts(given, "required"),
        limits=_limits(given),
        all_of=_branches(given, "allOf", depth),
        any_of=_branches(given, "anyOf", depth),
        one_of=_branches(given, "oneOf", depth),
        not_=decode(given["not"], depth + 1) if isinstance(given.get("not"), dict) else None,
        embedded_resource=given.get("x-kubernetes-embedded-resource") is True,
        int_or_string=given.get("x-kubernetes-int-or-string") is True,
        preserve_unknown=given.get("x-kubernetes-preserve-unknown-fields") is True,
        list_type=_text(given, "x-kubernetes-list-type"),
        list_map_keys=_texts(given, "x-kubernetes-list-map-keys"),
        map_type=_text(given, "x-kubernetes-map-type"),
        rules=tuple(_rule(one) for one in _list(given, "x-kubernetes-validations")),
    )


def _rule(given: Json) -> ValidationRule:
    if not isinstance(given, dict):
        return ValidationRule()
    return ValidationRule(
        rule=_text(given, "rule"),
        message=_text(given, "message"),
        message_expression=_text(given, "messageExpression"),
        reason=_text(given, "reason"),
        field_path=_text(given, "fieldPath"),
        optional_old_self=given.get("optionalOldSelf") is True,
    )


_NO_LIMITS: Final = ValueLimits()


def _limits(given: Mapping[str, Json]) -> ValueLimits:
    found = ValueLimits(
        enum=tuple(_list(given, "enum")),
        minimum=_number(given, "minimum"),
        maximum=_number(given, "maximum"),
        exclusive_minimum=given.get("exclusiveMinimum") is True,
        exclusive_maximum=given.get("exclusiveMaximum") is True,
        multiple_of=_number(given, "multipleOf"),
        min_length=_integer(given, "minLength"),
        max_length=_integer(given, "maxLength"),
        pattern=_text(given, "pattern"),
        min_items=_integer(given, "minItems"),
        max_items=_integer(given, "maxItems"),
        min_properties=_integer(given, "minProperties"),
        max_properties=_integer(given, "maxProperties"),
    )
    return _NO_LIMITS if found == _NO_LIMITS else found


def _branches(given: Mapping[str, Json], key: str, depth: int) -> tuple[Structural, ...]:
    return tuple(decode(one, depth + 1) for one in _list(given, key) if isinstance(one, dict))


def _text(given: Mapping[str, Json], key: str) -> str:
    value = given.get(key)
    return value if isinstance(value, str) else ""


def _texts(given: Mapping[str, Json], key: str) -> tuple[str, ...]:
    return tuple(one for one in _list(given, key) if isinstance(one, str))


def _list(given: Mapping[str, Json], key: str) -> list[Json]:
    value = given.get(key)
    return value if isinstance(value, list) else []


def _map(given: Mapping[str, Json], key: str) -> dict[str, Json]:
    value = given.get(key)
    return value if isinstance(value, dict) else {}


def _number(given: Mapping[str, Json], key: str) -> float | None:
    value = given.get(key)
    return value if value.__class__ in (int, float) else None


def _integer(given: Mapping[str, Json], key: str) -> int | None:
    value = given.get(key)
    return value if value.__class__ is int else None
