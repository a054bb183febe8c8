"""Data that carries its schema: JSON as the CEL values of its types, beside what a part of it was
before an update.

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
from collections.abc import Callable, Hashable, Iterable, Mapping
from typing import Any, Final

from celadon.cel.extend import Duration, EvaluationError, Opaque, types
from celadon.cel.value_functions import MapList, SetList, parse_timestamp
from celadon.kube.go.go_text import Base64Error, canonical_base64
from celadon.kube.go.go_time import DurationError, date_complaint, parse_duration
from celadon.kube.json_types import Json, JsonDict, same
from celadon.kube.schemas.schema_packs import QUANTITY, Schema, escape, resolved

# --- What was there before ---------------------------------------------------
#
# What a part of an object was before an update, and whether it is still that.
#
# Members of objects correspond by name, and items of map lists by their keys; of all other items
# nobody can say what they were. `Correlated` is a part beside what it was; whether it changed is
# worked out once, when somebody asks. As k8s.io/apiserver `pkg/cel/common/{equality,maplist}.go`.


class Unknown:
    """Nothing is known of the time before: there was no object, or no part that corresponds."""

    __slots__ = ()


UNKNOWN: Final = Unknown()
_SCALARS: Final = (bool, float, int, str)


def member_before(before: object | Unknown, key: str) -> Any | Unknown:
    """Return what a member was."""
    if isinstance(before, dict) and key in before:
        return before[key]
    return UNKNOWN


class ItemsBefore:
    """The items of a list before an update, by their keys; none of a list that has no keys. Of
    several with the same keys the first counts."""

    __slots__ = ("_items", "_keys")

    def __init__(self, schema: Schema, before: object | Unknown) -> None:
        self._keys: tuple[str, ...] = ()
        self._items: dict[Hashable, Any] = {}
        if schema.list_type != "map" or not isinstance(before, list):
            return
        self._keys = schema.list_map_keys
        for item in before:
            identity = self._identity(item)
            if identity is not None:
                self._items.setdefault(identity, item)

    def of(self, item: object) -> Any | Unknown:
        """Return what an item was."""
        identity = self._identity(item)
        return UNKNOWN if identity is None else self._items.get(identity, UNKNOWN)

    def _identity(self, item: object) -> Hashable | None:
        """Return the values of an item's keys, each with its kind; None if one is no scalar, or
        absent."""
        if not self._keys or not isinstance(item, dict):
            return None
        values = [item.get(key) for key in self._keys]
        if not all(isinstance(value, _SCALARS) for value in values):
            return None
        return tuple((value.__class__, value) for value in values)


class Correlated:
    """A part of an object whose schema is known, beside the part that it was."""

    __slots__ = ("_children", "_is_same", "_items", "_old_value", "_schema", "_value")

    def __init__(self, value: object, before: object, schema: Schema) -> None:
        self._value = value
        self._old_value = before
        self._schema = schema
        self._is_same: bool | None = None
        self._children: dict[str | int, Correlated] = {}
        self._items: ItemsBefore | None = None

    def member(self, key: str) -> Correlated | None:
        """Return a member that was there before, and of which the schema knows."""
        correlated = self._children.get(key)
        if correlated is not None:
            return correlated
        value, before, schema = self._value, self._old_value, self._schema
        if not (isinstance(value, dict) and isinstance(before, dict)):
            return None
        below = schema.properties.get(key, schema.additional_properties)
        if below is None or key not in value or key not in before:
            return None
        return self._child(key, value[key], before[key], below)

    def item(self, position: int) -> Correlated | None:
        """Return an item of a list with keys, if it was there before."""
        correlated = self._children.get(position)
        if correlated is not None:
            return correlated
        value, schema = self._value, self._schema
        if schema.list_type != "map" or schema.items is None or not isinstance(value, list):
            return None
        if self._items is None:
            self._items = ItemsBefore(schema, self._old_value)
        before = self._items.of(value[position])
        if isinstance(before, Unknown):
            return None
        return self._child(position, value[position], before, schema.items)

    def _child(self, step: str | int, value: object, before: object, schema: Schema) -> Correlated:
        correlated = Correlated(value, before, schema)
        self._children[step] = correlated
        return correlated

    @property
    def is_same(self) -> bool:
        """Return whether it is what it was. The order of a list with keys does not count; a member
        that the schema does not know does, as one that may have changed."""
        if self._is_same is None:
            self._is_same = self._compare()
        return self._is_same

    def _compare(self) -> bool:
        value, before = self._value, self._old_value
        children: list[Correlated | None]
        if isinstance(value, dict) and isinstance(before, dict):
            if len(value) != len(before):
                return False
            children = [self.member(key) for key in value]
        elif isinstance(value, list) and isinstance(before, list) and self._has_keys:
            if len(value) != len(before):
                return False
            children = [self.item(i) for i in range(len(value))]
        else:
            return same(value, before)
        return all(correlated is not None and correlated.is_same for correlated in children)

    @property
    def _has_keys(self) -> bool:
        return self._schema.list_type == "map"


class KeywordObject(JsonDict):
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
        return [_sound(member) for member in super().values()]

    def items(self) -> Any:
        return [(key, _sound(member)) for key, member in super().items()]

    def __eq__(self, other: object) -> bool:
        return dict(self.items()) == other

    __hash__ = None  # type: ignore[assignment]


class Preserved(Opaque):
    """A value that `x-kubernetes-preserve-unknown-fields` keeps: it can be compared, and nothing
    else."""

    __slots__ = ("value",)
    cel_type = types.opaque("unknown")

    def __init__(self, value: Json) -> None:
        self.value = value

    def equals(self, other: Opaque) -> bool:
        """Compare two of them as JSON, kinds of numbers told apart."""
        return isinstance(other, Preserved) and same(self.value, other.value)


def typed(value: Any, schema: Schema) -> Any:
    """Return the value of a schema's type; raises `EvaluationError` for what does not fit."""
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
    """Return a part as `typed` does, with a fault in place of what does not fit."""
    try:
        return typed(value, schema)
    except EvaluationError as error:
        return Fault(error)


def _object(value: Json, schema: Schema) -> Any:
    if not isinstance(value, dict):
        raise EvaluationError(
            "invalid data, expected a map for the provided schema with type=object"
        )
    result: JsonDict = {}
    if schema.additional_properties is not None:
        values = schema.additional_properties
        result = {key: _part(member, values) for key, member in value.items()}
        return FaultyObject(result) if _has_faults(result.values()) else result
    keywords = False
    for key, entry in value.items():
        member = schema.properties.get(key)
        if member is None:
            result[key] = Preserved(entry)
        elif entry is not None:
            name = escape(key) or key
            keywords |= name != key and name == f"__{key}__"
            result[name] = _part(entry, member)
    if _has_faults(result.values()):
        return FaultyObject(result)
    return KeywordObject(result) if keywords else result


def _has_faults(values: Iterable[Any]) -> bool:
    return Fault in [value.__class__ for value in values]


def _array(value: Json, schema: Schema) -> Any:
    if not isinstance(value, list):
        raise EvaluationError(
            "invalid data, expected an array for the provided schema with type=array"
        )
    if schema.items is None:
        raise EvaluationError("invalid array type, expected Items with a non-empty Schema")
    items = [typed(item, schema.items) for item in value]
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
    timestamp = parse_timestamp(f"{text}T00:00:00Z")
    if timestamp is None:
        complaint = date_complaint(text)
        raise EvaluationError(f"Invalid date formatted string {text}: {complaint}")
    return timestamp


def _date_time(text: str) -> Any:
    timestamp = parse_timestamp(text.upper())
    if timestamp is None:
        raise EvaluationError(f"Invalid date-time formatted string {text}: invalid date-time")
    return timestamp


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
    """Return the integer. `2.0` is none, since it was read as a double."""
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
    return _GO_TYPES[value.__class__]


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
