"""Maps: which keys are the same, and the one map class that is not a `dict`.

INVARIANT (plain keys): the keys of a `dict` that is a CEL map are `str`, `int` and `Uint`, and no
int and uint key of one dict are numerically equal. Python then finds by itself what CEL finds,
because CEL's lookup tolerates int for uint. A map with any other key (`{true: 1, 1: 2}`,
`{1: 'a', 1.0: 'b'}`, `{null: 1}`) is a `MixedMap`. `make_map` decides; maps that come from JSON
satisfy the invariant by nature.

Lookup (cel-go `common/types/map.go`): first the key itself, kind included; then an integral double
finds an int, else a uint; a non-negative int finds a uint; a uint finds an int. Never a double by
an int, never a bool by a number.
"""

from __future__ import annotations

from collections.abc import Hashable, ItemsView, Iterable, Iterator, Mapping
from typing import Any, Final, TypeAlias

from celadon.cel.errors import EvaluationError, unhashable
from celadon.cel.values import Value
from celadon.cel.values.runtime_types import Opaque
from celadon.cel.values.text import Uint
from celadon.cel.values.timestamps import Duration, Timestamp


class Missing:
    """The class of `MISSING`, the answer of lookups that find nothing."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "MISSING"

    def __bool__(self) -> bool:
        return False


MISSING: Final = Missing()

_PLAIN_KEYS = frozenset({str, int})
#: The kinds of keys that the specification allows.
_SPECIFIED_KEYS = frozenset({str, bool, int, Uint})


def _identity(key: Any) -> Hashable:
    """Return what makes a key of a `MixedMap` the same key: its kind and its value.

    Values that Go hashes by address (lists, maps, types, optionals) are the same only as objects.
    """
    kind = key.__class__
    if kind is str:
        return key  # type: ignore[no-any-return]  # the class was just compared
    if kind in (bool, int, Uint, float):
        return (kind, key)
    if key is None:
        return (kind,)
    if kind is Timestamp:
        return (kind, key.seconds, key.nanos, key.offset_minutes)
    if kind is Duration:
        return (kind, key.nanoseconds)
    refuse_unhashable(key)
    return (kind, id(key))


def refuse_unhashable(key: object) -> None:
    """Check a key. Raises `Panicked` for a value that Go cannot hash."""
    if key.__class__ is bytes:
        raise unhashable("types.Bytes")
    if isinstance(key, Opaque) and not key.is_hashable:
        raise unhashable(key.go_name)


class MixedMap(Mapping[Any, Any]):
    """A map whose keys Python would merge or mistake. Behaves as a read-only mapping by CEL keys.

    `m[key]` and `key in m` use CEL's numeric-tolerant lookup; `m[key]` raises KeyError.
    """

    __slots__ = ("_entries",)

    def __init__(self, pairs: Iterable[tuple[Value, Value]] = ()) -> None:
        self._entries: dict[Hashable, tuple[Value, Value]] = {}
        for key, value in pairs:
            self._entries[_identity(key)] = (key, value)

    def with_entry(self, key: object, value: object) -> MixedMap:
        """Return a copy with one entry more, behind the others."""
        return MixedMap((*self.items(), (key, value)))

    def find(self, key: object) -> Any:
        """Return the value for the key, or `MISSING`."""
        for candidate in _candidates(key):
            entry = self._entries.get(candidate)
            if entry is not None:
                return entry[1]
        return MISSING

    def __getitem__(self, key: object) -> Any:
        value = self.find(key)
        if value is MISSING:
            raise KeyError(key)
        return value

    def __contains__(self, key: object) -> bool:
        return self.find(key) is not MISSING

    def __iter__(self) -> Iterator[Value]:
        return (key for key, _ in self._entries.values())

    def __len__(self) -> int:
        return len(self._entries)

    def items(self) -> ItemsView[Any, Any]:
        """Keys as they were given (`1u` is not `1`) with their values."""
        return _Items(self)

    def __repr__(self) -> str:
        return f"MixedMap({list(self._entries.values())!r})"


class _Items(ItemsView[Any, Any]):
    """Pairs straight from the entries: looking each key up again would miss NaN."""

    _mapping: MixedMap

    def __iter__(self) -> Iterator[tuple[Value, Value]]:
        return iter(self._mapping._entries.values())


AnyMap: TypeAlias = "dict[Any, Any] | MixedMap"


def _candidates(key: Any) -> Iterator[Hashable]:
    """Yield the identities under which a key is looked for, in order. NaN is found nowhere."""
    kind = key.__class__
    if kind is float and key != key:
        return
    yield _identity(key)
    if kind is float and key.is_integer():
        yield (int, int(key))
        yield (Uint, Uint(key))
    elif kind is int:
        yield (Uint, Uint(key))
    elif kind is Uint:
        yield (int, int(key))


def make_map(pairs: Iterable[tuple[Value, Value]]) -> AnyMap:
    """Return a map literal: the last of several equal keys wins."""
    pairs = list(pairs)
    kinds = {key.__class__ for key, _ in pairs}
    if kinds <= _PLAIN_KEYS or kinds == {Uint} or kinds == {str, Uint}:
        return dict(pairs)
    return MixedMap(pairs)


def make_strict_map(pairs: Iterable[tuple[Value, Value]]) -> AnyMap:
    """Return a map literal as the specification has it: only keys that JSON-like maps have, each
    once."""
    result: AnyMap = {}
    for key, value in pairs:
        if key.__class__ not in _SPECIFIED_KEYS:
            raise EvaluationError("unsupported key type")
        if find(result, key) is not MISSING:
            raise EvaluationError("Failed with repeated key")
        result = put(result, key, value)
    return result


def is_map(value: object) -> bool:
    """Is the value a CEL map, whichever of the classes it has?"""
    return value.__class__ is dict or isinstance(value, (dict, MixedMap))


def find(a_map: AnyMap, key: Any) -> Any:
    """Return the value for the key, or `MISSING`."""
    if a_map.__class__ is MixedMap:
        return a_map.find(key)
    kind = key.__class__
    if kind is float:
        if not key.is_integer():
            return MISSING
        key = int(key)
    elif kind is not str and kind is not int and kind is not Uint:
        return MISSING
    if a_map.__class__ is dict:
        return a_map.get(key, MISSING)
    try:
        return a_map[key]
    except KeyError:
        return MISSING


def with_entry(a_map: AnyMap, key: object, value: object) -> AnyMap:
    """Return a copy with one more entry; `find` must not have found the key."""
    if a_map.__class__ is MixedMap:
        return a_map.with_entry(key, value)
    return put(dict(a_map), key, value)


def put(a_map: AnyMap, key: object, value: object) -> AnyMap:
    """`with_entry` in place, for a map that nobody else holds; returns another map if it must."""
    if isinstance(a_map, MixedMap):
        a_map._entries[_identity(key)] = (key, value)
        return a_map
    if key.__class__ in _PLAIN_KEYS or key.__class__ is Uint:
        a_map[key] = value
        return a_map
    return MixedMap((*a_map.items(), (key, value)))
