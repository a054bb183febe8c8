"""Data that carries its schema: JSON as the CEL values of its types.

Rules of custom resources see their data so, and policies only in typed evaluation. What differs
from plain JSON (k8s.io/apiserver `pkg/cel/common/values.go`): properties have their escaped names,
a null property is absent, numbers are doubles, dates, durations and bytes are what they say, and
sets and map lists know it. What no schema describes takes part in equality, under its own name.

Conversion goes all the way down at once. Data was validated before, so what does not fit is rare:
a part that does not is an error where an expression looks at it, and nowhere else (`FaultyObject`);
a list with such an item is one as a whole. What does not fit raises that `EvaluationError`.
"""

from __future__ import annotations

import base64
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

from celadon.cel.extend import Duration, EvaluationError, Opaque, types
from celadon.cel.value_functions import MapList, SetList, parse_timestamp
from celadon.kube.crd.correlation import same
from celadon.kube.go.go_text import Base64Error, canonical_base64
from celadon.kube.go.go_time import DurationError, parse_duration
from celadon.kube.json_types import Json
from celadon.kube.schemas.schema_model import QUANTITY, Schema, escape
from celadon.kube.schemas.schema_packs import resolved


class KeywordObject(dict[str, Any]):
    """An object with members that are called like reserved words: `self.namespace` finds
    `__namespace__`."""

    __slots__ = ()

    def __missing__(self, name: str) -> Any:
        escaped = f"__{name}__"
        if escaped not in self:
            raise KeyError(name)
        return self[escaped]


class Fault:
    """In the place of a part that does not fit its schema."""

    __slots__ = ("message",)

    def __init__(self, error: EvaluationError) -> None:
        self.message = error.message


def _sound(value: Any) -> Any:
    if value.__class__ is Fault:
        raise EvaluationError(value.message)
    return value


class FaultyObject(KeywordObject):
    """An object, or a map, with members that are faults."""

    __slots__ = ()

    def __getitem__(self, name: str) -> Any:
        return _sound(super().__getitem__(name))

    def __contains__(self, name: object) -> bool:
        if not super().__contains__(name):
            return False
        _sound(super().__getitem__(str(name)))
        return True

    def get(self, name: str, default: Any = None) -> Any:
        return _sound(super().get(name, default))

    def values(self) -> Any:
        return [_sound(one) for one in super().values()]

    def items(self) -> Any:
        return [(key, _sound(one)) for key, one in super().items()]

    def __eq__(self, other: object) -> bool:
        return dict(self.items()) == other

    __hash__ = None  # type: ignore[assignment]


class Preserved(Opaque):
    """What `x-kubernetes-preserve-unknown-fields` keeps: it can be compared, and nothing else."""

    __slots__ = ("value",)
    cel_type = types.opaque("unknown")

    def __init__(self, value: Json) -> None:
        self.value = value

    def equals(self, other: Opaque) -> bool:
        """As JSON, kinds of numbers told apart."""
        return isinstance(other, Preserved) and same(self.value, other.value)


def typed(value: Any, schema: Schema) -> Any:
    """The value of a schema's type; raises `EvaluationError` for what does not fit."""
    if value is None:
        if schema.nullable:
            return None
        raise EvaluationError("invalid data, got null for schema with nullable=false")
    schema = resolved(schema)
    if schema.int_or_string or schema.name == QUANTITY:
        if value.__class__ in (int, str):
            return value
        raise EvaluationError(
            "invalid data, expected XIntOrString value to be either a string or integer"
        )
    convert = _CONVERTERS.get(schema.type)
    if convert is not None:
        return convert(value, schema)
    if schema.preserve_unknown:
        return Preserved(value)
    raise EvaluationError(
        "invalid type, expected object, array, number, integer, boolean or string, or no type with "
        "x-kubernetes-int-or-string or x-kubernetes-preserve-unknown-fields is true, got "
        f"{schema.type}"
    )


def _part(value: Any, schema: Schema) -> Any:
    """As `typed`, with a fault for what does not fit."""
    try:
        return typed(value, schema)
    except EvaluationError as error:
        return Fault(error)


def _object(value: Json, schema: Schema) -> Any:
    if not isinstance(value, dict):
        raise EvaluationError(
            "invalid data, expected a map for the provided schema with type=object"
        )
    made: dict[str, Any] = {}
    if schema.additional_properties is not None:
        values = schema.additional_properties
        made = {key: _part(one, values) for key, one in value.items()}
        return FaultyObject(made) if _has_faults(made.values()) else made
    keywords = False
    for key, one in value.items():
        member = schema.properties.get(key)
        if member is None:
            made[key] = Preserved(one)
        elif one is not None:
            name = escape(key) or key
            keywords |= name != key and name == f"__{key}__"
            made[name] = _part(one, member)
    if _has_faults(made.values()):
        return FaultyObject(made)
    return KeywordObject(made) if keywords else made


def _has_faults(values: Iterable[Any]) -> bool:
    return Fault in [value.__class__ for value in values]


def _array(value: Json, schema: Schema) -> Any:
    if not isinstance(value, list):
        raise EvaluationError(
            "invalid data, expected an array for the provided schema with type=array"
        )
    if schema.items is None:
        raise EvaluationError("invalid array type, expected Items with a non-empty Schema")
    items = [typed(one, schema.items) for one in value]
    if schema.list_type == "set":
        return SetList(items)
    if schema.list_type == "map":
        return MapList(items, tuple(escape(key) or key for key in schema.list_map_keys))
    if schema.list_type not in ("", "atomic"):
        raise EvaluationError(
            "invalid x-kubernetes-list-type, expected 'map', 'set' or 'atomic' but got "
            f"{schema.list_type}"
        )
    return items


def _string(value: Json, schema: Schema) -> Any:
    if not isinstance(value, str):
        raise EvaluationError(f"invalid data, expected string, got {_go_type(value)}")
    convert = _FORMATS.get(schema.format)
    return value if convert is None else convert(value)


def _duration(text: str) -> Any:
    try:
        return Duration(parse_duration(text))
    except DurationError as error:
        raise EvaluationError(f"Invalid duration {text}: {error}") from None


def _date(text: str) -> Any:
    found = parse_timestamp(f"{text}T00:00:00Z")
    if found is None:
        raise EvaluationError(f"Invalid date formatted string {text}: invalid date")
    return found


def _date_time(text: str) -> Any:
    found = parse_timestamp(text.upper())
    if found is None:
        raise EvaluationError(f"Invalid date-time formatted string {text}: invalid date-time")
    return found


def _bytes(text: str) -> Any:
    try:
        return base64.b64decode(canonical_base64(text))
    except Base64Error as error:
        raise EvaluationError(f"Invalid byte formatted string {text}: {error}") from None


def _number(value: Json, schema: Schema) -> Any:
    if value.__class__ in (int, float):
        return float(value)
    raise EvaluationError(f"invalid data, expected float, got {_go_type(value)}")


def _integer(value: Json, schema: Schema) -> Any:
    """`2.0` is none: it was read as a double."""
    if value.__class__ is int:
        return value
    raise EvaluationError(f"invalid data, expected int, got {_go_type(value)}")


def _boolean(value: Json, schema: Schema) -> Any:
    if value.__class__ is bool:
        return value
    raise EvaluationError(f"invalid data, expected bool, got {_go_type(value)}")


_GO_TYPES: Final = {
    str: "string",
    bool: "bool",
    int: "int64",
    float: "float64",
    list: "[]interface {}",
    dict: "map[string]interface {}",
}


def _go_type(value: Json) -> str:
    return _GO_TYPES.get(value.__class__, "<nil>")


_CONVERTERS: Final[Mapping[str, Callable[[Json, Schema], Any]]] = {
    "object": _object,
    "array": _array,
    "string": _string,
    "number": _number,
    "integer": _integer,
    "boolean": _boolean,
}
_FORMATS: Final[Mapping[str, Callable[[str], Any]]] = {
    "duration": _duration,
    "date": _date,
    "date-time": _date_time,
    "byte": _bytes,
}
