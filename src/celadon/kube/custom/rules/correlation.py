"""What a part of an object was before an update.

Members of objects correspond by name, and items of map lists by their keys; of all other items
nobody can say what they were.
"""

from __future__ import annotations

from typing import Any

from celadon.kube.schemas.schema_model import Schema


class Unknown:
    """Nothing is known of the time before: there was no object, or no part that corresponds."""

    __slots__ = ()


def member_before(before: object | Unknown, key: str) -> Any | Unknown:
    """What a member was."""
    if isinstance(before, dict) and key in before:
        return before[key]
    return Unknown()


def item_before(schema: Schema, before: object | Unknown, item: object) -> Any | Unknown:
    """What an item was: the last one that had its keys."""
    if schema.list_type != "map" or not isinstance(before, list) or not isinstance(item, dict):
        return Unknown()
    keys = key_of(item, schema)
    found: Any | Unknown = Unknown()
    for one in before:
        if isinstance(one, dict) and key_of(one, schema) == keys:
            found = one
    return found


def key_of(item: dict[str, Any], schema: Schema) -> tuple[Any, ...]:
    """The values of an item's keys, each with its kind."""
    return tuple((item.get(key).__class__, item.get(key)) for key in schema.list_map_keys)


def same(value: object, before: object | Unknown) -> bool:
    """Whether it is what it was: also the kinds of numbers and booleans are the same."""
    if value.__class__ is not before.__class__:
        return False
    if isinstance(value, dict) and isinstance(before, dict):
        return value.keys() == before.keys() and all(same(value[key], before[key]) for key in value)
    if isinstance(value, list) and isinstance(before, list):
        return len(value) == len(before) and all(map(same, value, before))
    return bool(value == before)
