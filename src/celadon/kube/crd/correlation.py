"""What a part of an object was before an update, and whether it is still that.

Members of objects correspond by name, and items of map lists by their keys; of all other items
nobody can say what they were. `Correlated` is a part beside what it was; whether it changed is
worked out once, when somebody asks. As k8s.io/apiserver `pkg/cel/common/{equality,maplist}.go`.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any, Final

from celadon.kube.schemas.schema_model import Schema


class Unknown:
    """Nothing is known of the time before: there was no object, or no part that corresponds."""

    __slots__ = ()


UNKNOWN: Final = Unknown()
_SCALARS: Final = (bool, float, int, str)


def member_before(before: object | Unknown, key: str) -> Any | Unknown:
    """What a member was."""
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
        for one in before:
            identity = self._identity(one)
            if identity is not None:
                self._items.setdefault(identity, one)

    def of(self, item: object) -> Any | Unknown:
        """What an item was."""
        identity = self._identity(item)
        return UNKNOWN if identity is None else self._items.get(identity, UNKNOWN)

    def _identity(self, item: object) -> Hashable | None:
        """The values of an item's keys, each with its kind; None if one is no scalar, or absent."""
        if not self._keys or not isinstance(item, dict):
            return None
        values = [item.get(key) for key in self._keys]
        if not all(isinstance(value, _SCALARS) for value in values):
            return None
        return tuple((value.__class__, value) for value in values)


class Correlated:
    """A part of an object whose schema is known, beside the part that it was."""

    __slots__ = ("_before", "_children", "_is_same", "_items", "_schema", "_value")

    def __init__(self, value: object, before: object, schema: Schema) -> None:
        self._value = value
        self._before = before
        self._schema = schema
        self._is_same: bool | None = None
        self._children: dict[str | int, Correlated] = {}
        self._items: ItemsBefore | None = None

    def member(self, key: str) -> Correlated | None:
        """A member that was there before, and of which the schema knows."""
        known = self._children.get(key)
        if known is not None:
            return known
        value, before, schema = self._value, self._before, self._schema
        if not (isinstance(value, dict) and isinstance(before, dict)):
            return None
        below = schema.properties.get(key, schema.additional_properties)
        if below is None or key not in value or key not in before:
            return None
        return self._child(key, value[key], before[key], below)

    def item(self, position: int) -> Correlated | None:
        """An item of a list with keys, if it was there before."""
        known = self._children.get(position)
        if known is not None:
            return known
        value, schema = self._value, self._schema
        if schema.list_type != "map" or schema.items is None or not isinstance(value, list):
            return None
        if self._items is None:
            self._items = ItemsBefore(schema, self._before)
        before = self._items.of(value[position])
        if isinstance(before, Unknown):
            return None
        return self._child(position, value[position], before, schema.items)

    def _child(self, step: str | int, value: object, before: object, schema: Schema) -> Correlated:
        made = Correlated(value, before, schema)
        self._children[step] = made
        return made

    @property
    def is_same(self) -> bool:
        """Whether it is what it was. The order of a list with keys does not count; a member that
        the schema does not know does, as one that may have changed."""
        if self._is_same is None:
            self._is_same = self._compare()
        return self._is_same

    def _compare(self) -> bool:
        value, before = self._value, self._before
        found: list[Correlated | None]
        if isinstance(value, dict) and isinstance(before, dict):
            if len(value) != len(before):
                return False
            found = [self.member(key) for key in value]
        elif isinstance(value, list) and isinstance(before, list) and self._has_keys:
            if len(value) != len(before):
                return False
            found = [self.item(i) for i in range(len(value))]
        else:
            return same(value, before)
        return all(one is not None and one.is_same for one in found)

    @property
    def _has_keys(self) -> bool:
        return self._schema.list_type == "map"


def same(value: object, before: object | Unknown) -> bool:
    """Whether it is what it was: also the kinds of numbers and booleans are the same."""
    if value.__class__ is not before.__class__:
        return False
    if isinstance(value, dict) and isinstance(before, dict):
        if value.keys() != before.keys():
            return False
        return all(same(one, before[key]) for key, one in value.items())
    if isinstance(value, list) and isinstance(before, list):
        return len(value) == len(before) and all(map(same, value, before))
    return bool(value == before)
