"""The run-time type of a value, its Go name, and the guards that overloads are chosen by.

cel-go checks a declared overload's arguments by type name before running it, looking only at the
first element of a list and the first entry of a map. `guard` builds that predicate once per
parameter type, so that choosing an overload costs one call per argument.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

from celadon.cel import types
from celadon.cel.errors import EvaluationError, no_such_overload
from celadon.cel.types import Kind, Type
from celadon.cel.values.list_classes import TypedList, is_list
from celadon.cel.values.numbers import Uint
from celadon.cel.values.opaque import Opaque
from celadon.cel.values.optional_values import Optional
from celadon.cel.values.times.timestamps import Duration, Timestamp

Guard: TypeAlias = Callable[[Any], bool]

OPTIONAL = types.opaque(types.OPTIONAL_NAME)

_TYPES: dict[type, Type] = {
    type(None): types.NULL,
    bool: types.BOOL,
    int: types.INT,
    Uint: types.UINT,
    float: types.DOUBLE,
    str: types.STRING,
    bytes: types.BYTES,
    list: types.LIST,
    dict: types.MAP,
    Timestamp: types.TIMESTAMP,
    Duration: types.DURATION,
    Type: types.TYPE,
    Optional: OPTIONAL,
}

_GO_NAMES: dict[type, str] = {
    type(None): "types.Null",
    bool: "types.Bool",
    int: "types.Int",
    Uint: "types.Uint",
    float: "types.Double",
    str: "types.String",
    bytes: "types.Bytes",
    list: "*types.baseList",
    dict: "*types.baseMap",
    Timestamp: "types.Timestamp",
    Duration: "types.Duration",
    Type: "*types.Type",
    Optional: "*types.Optional",
}

_CLASSES: dict[Kind, type] = {
    Kind.NULL: type(None),
    Kind.BOOL: bool,
    Kind.INT: int,
    Kind.UINT: Uint,
    Kind.DOUBLE: float,
    Kind.STRING: str,
    Kind.BYTES: bytes,
    Kind.TIMESTAMP: Timestamp,
    Kind.DURATION: Duration,
    Kind.TYPE: Type,
}


def type_of(value: object) -> Type:
    """What `type(value)` gives: names without parameters (`list(dyn)` for every list)."""
    found = _TYPES.get(value.__class__)
    if found is not None:
        return found
    if isinstance(value, Opaque):
        return value.cel_type
    return types.LIST if isinstance(value, TypedList) else types.MAP


def type_name(value: object) -> str:
    """The name of the value's type, without parameters: `list`, `google.protobuf.Timestamp`."""
    return type_of(value).name


def go_name(value: object) -> str:
    """What Go's `%T` prints: `types.Int`, `*types.baseList`."""
    found = _GO_NAMES.get(value.__class__)
    if found is not None:
        return found
    if isinstance(value, Opaque):
        return value.go_name
    return "*types.baseList" if isinstance(value, TypedList) else "*types.baseMap"


def overload_error(name: str, args: Sequence[Any]) -> EvaluationError:
    """`no such overload: getHours(string)`: no declared overload takes these values."""
    return no_such_overload(f"{name}({', '.join(map(type_name, args))})")


def conversion_error(source: Type | str, target: Type) -> EvaluationError:
    """`type conversion error from 'string' to 'int'`."""
    return EvaluationError(f"type conversion error from '{source}' to '{target}'")


def guard(declared: Type) -> Guard:
    """A predicate: may a value of unknown type stand for a parameter of this declared type?"""
    match declared.kind:
        case Kind.DYN | Kind.ANY | Kind.TYPE_PARAM | Kind.ERROR:
            return _anything
        case Kind.LIST:
            return _list_guard(declared.params[0])
        case Kind.MAP:
            return _map_guard(*declared.params)
        case Kind.OPAQUE | Kind.OBJECT:
            return _name_guard(declared.name)
        case Kind.WRAPPER:
            return _wrapper_guard(declared.name)
        case kind:
            return _class_guard(_CLASSES[kind])


def is_decided_by_class(declared: Type, *, with_first: bool = False) -> bool:
    """Does the guard of this type look at nothing but the value's class? `with_first` also allows
    a look at the class of a list's first element."""
    open_kinds = (Kind.DYN, Kind.ANY, Kind.TYPE_PARAM, Kind.ERROR)
    if declared.kind is Kind.LIST and with_first:
        return is_decided_by_class(declared.params[0])
    if declared.kind in (Kind.LIST, Kind.MAP):
        return all(part.kind in open_kinds for part in declared.params)
    return True


def _anything(value: object) -> bool:
    return True


def _class_guard(wanted: type) -> Guard:
    return lambda value: value.__class__ is wanted


def _name_guard(name: str) -> Guard:
    return lambda value: type_of(value).name == name


def _wrapper_guard(primitive: str) -> Guard:
    return lambda value: value is None or type_of(value).name == primitive


def _is_map(value: object) -> bool:
    return value.__class__ is dict or type_of(value) is types.MAP


def _list_guard(element: Type) -> Guard:
    check = guard(element)
    if check is _anything:
        return is_list
    return lambda value: is_list(value) and (not value or check(value[0]))


def _map_guard(key: Type, value_type: Type) -> Guard:
    check_key, check_value = guard(key), guard(value_type)
    if check_key is _anything and check_value is _anything:
        return _is_map

    def matches(value: Any) -> bool:
        if not _is_map(value):
            return False
        for first_key, first_value in value.items():
            return check_key(first_key) and check_value(first_value)
        return True

    return matches
