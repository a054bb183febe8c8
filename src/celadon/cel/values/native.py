"""Python objects as CEL values: what callers may bind to variables.

    None, bool, str, bytes, list, Uint, Timestamp, Duration, Type, Optional, Opaque   unchanged
    int            int; beyond int64 a uint if it fits, else an error
    float          double
    Decimal        double (int64 if integral and in range)
    datetime       timestamp; naive ones are taken as UTC
    timedelta      duration
    tuple          list
    Mapping        map; keys are converted like values
    bytearray, memoryview   bytes

Nothing else is accepted: a `TypeError` names the class and the path. Values that need no change
are returned as they are, not copied. A request's JSON does not come through here; it is CEL
already.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from celadon.cel.types import Type
from celadon.cel.values import Value
from celadon.cel.values.list_values import is_list
from celadon.cel.values.maps import MixedMap, make_map
from celadon.cel.values.runtime_types import NONE, Opaque, Optional
from celadon.cel.values.text import MAX_INT, MAX_UINT, MIN_INT, Uint
from celadon.cel.values.timestamps import Duration, Timestamp

_UNCHANGED = frozenset(
    {type(None), bool, str, bytes, float, Uint, Timestamp, Duration, Type, MixedMap}
)


def to_cel(value: Any, path: str = "value") -> Any:
    """The CEL value for a Python object. Raises TypeError or ValueError, with the path."""
    kind = value.__class__
    if kind in _UNCHANGED or isinstance(value, Opaque):
        return value
    if kind is int:
        return _integer(value, path)
    if isinstance(value, (list, tuple)):
        return _list(value, path)
    if isinstance(value, Mapping):
        return _map(value, path)
    if kind is Optional:
        return value if value is NONE else Optional(to_cel(value.value, path))
    return _converted(value, path)


def _converted(value: object, path: str) -> Value:
    match value:
        case bytearray() | memoryview():
            return bytes(value)
        case str():
            return str(value)
        case int():
            return _integer(int(value), path)
        case float():
            return float(value)
        case _:
            # late: `datetime` and `decimal` are loaded with the first of their objects.
            from celadon.cel.values.python_types import converted

            return converted(value, path)


def _integer(n: int, path: str) -> int:
    if MIN_INT <= n <= MAX_INT:
        return n
    if 0 <= n <= MAX_UINT:
        return Uint(n)
    raise ValueError(f"{path}: {n} is beyond the range of int and uint")


def _list(elements: list[Value] | tuple[Value, ...], path: str) -> list[object]:
    converted = [to_cel(element, f"{path}[{i}]") for i, element in enumerate(elements)]
    if is_list(elements) and all(old is new for old, new in zip(elements, converted, strict=True)):
        return elements
    return converted


def _map(entries: Mapping[Value, Value], path: str) -> Value:
    pairs = [
        (to_cel(key, f"{path} key"), to_cel(value, f"{path}.{key}"))
        for key, value in entries.items()
    ]
    if entries.__class__ is dict and all(
        key.__class__ is str and entries[key] is value for key, value in pairs
    ):
        return entries
    return make_map(pairs)
