"""From two objects to the JSON patch that makes one of the other.

Lists are compared item by item from the front; what is left over at the end is added or removed. A
list that only grew somewhere else is patched by the insertion of what is new.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any


def json_patch(before: object, after: object) -> list[dict[str, Any]]:
    """Operations that `apply_json_patch` makes `after` of `before` with; none for equal objects."""
    return list(_operations(before, after, ""))


def _operations(before: Any, after: Any, path: str) -> Iterator[dict[str, Any]]:
    if isinstance(before, dict) and isinstance(after, dict):
        yield from _members(before, after, path)
    elif isinstance(before, list) and isinstance(after, list):
        yield from _items(before, after, path)
    elif before.__class__ is not after.__class__ or before != after:
        yield {"op": "replace", "path": path, "value": after}


def _members(before: dict[str, Any], after: dict[str, Any], path: str) -> Iterator[dict[str, Any]]:
    for key in before:
        if key not in after:
            yield {"op": "remove", "path": _at(path, key)}
    for key, value in after.items():
        if key in before:
            yield from _operations(before[key], value, _at(path, key))
        else:
            yield {"op": "add", "path": _at(path, key), "value": value}


def _items(before: list[Any], after: list[Any], path: str) -> Iterator[dict[str, Any]]:
    added = _insertions(before, after)
    if added is not None:
        for i in added:
            yield {"op": "add", "path": _at(path, str(i)), "value": after[i]}
        return
    shared = min(len(before), len(after))
    for i in range(shared):
        yield from _operations(before[i], after[i], _at(path, str(i)))
    for i in reversed(range(shared, len(before))):
        yield {"op": "remove", "path": _at(path, str(i))}
    for i in range(shared, len(after)):
        yield {"op": "add", "path": _at(path, str(i)), "value": after[i]}


def _insertions(before: list[Any], after: list[Any]) -> list[int] | None:
    """The indices of the new items, if the others are the old ones in their order."""
    new: list[int] = []
    at = 0
    for i, item in enumerate(after):
        if at < len(before) and _is_same(before[at], item):
            at += 1
        else:
            new.append(i)
    return new if at == len(before) else None


def _is_same(before: object, after: object) -> bool:
    """Also in the types: `1` is not `true`."""
    return next(_operations(before, after, ""), None) is None


def _at(path: str, key: str) -> str:
    return f"{path}/{key.replace('~', '~0').replace('/', '~1')}"
