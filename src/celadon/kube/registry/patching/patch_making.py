"""From an object and what somebody made of it to the JSON Patch (RFC 6902) between them.

Only `add`, `remove` and `replace` are written. Of several ways that is taken which has the least to
write of values, in as few operations as may be: items of lists are aligned, so that one more at the
front is one `add`, and a part that has nothing in common with the other is replaced as a whole.
Operations on a list go from its end to its beginning, so that no index depends on those before it.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, Final

from celadon.kube.json_types import Json, JsonObject
from celadon.kube.registry.patching.patches import same_json
from celadon.records import dataclass

Operation = dict[str, Any]
"""One of a patch: `op`, `path` and mostly `value`."""

MOST_PAIRS: Final = 2500
"""Of two lists with more pairs of items, items at the same index are compared."""


def patch_between(before: object, after: object) -> list[Operation]:
    """The operations that make the one JSON value of the other; none if they are the same."""
    return list(_changed(before, after, "").operations)


OPERATION_COST: Final = 4
"""So many characters of values an operation is worth."""


@dataclass(frozen=True, slots=True)
class _Change:
    """A part of a patch; `size` is the length of its values, and something for each operation."""

    operations: tuple[Operation, ...] = ()
    size: int = 0

    def __add__(self, other: _Change) -> _Change:
        return _Change(self.operations + other.operations, self.size + other.size)


_NOTHING: Final = _Change()


def _operation(op: str, path: str, *value: object) -> _Change:
    made: Operation = {"op": op, "path": path}
    if not value:
        return _Change((made,), OPERATION_COST)
    made["value"] = value[0]
    return _Change((made,), OPERATION_COST + len(json.dumps(value[0])))


def _changed(before: Any, after: object, path: str) -> _Change:
    if same_json(before, after):
        return _NOTHING
    whole = _operation("replace", path, after)
    if isinstance(before, dict) and isinstance(after, dict):
        parts = _object(before, after, path)
    elif isinstance(before, list) and isinstance(after, list):
        parts = _list(before, after, path)
    else:
        return whole
    return parts if not path or parts.size <= whole.size else whole


def _object(before: JsonObject, after: JsonObject, path: str) -> _Change:
    found = _NOTHING
    for key, old in before.items():
        below = f"{path}/{_escaped(key)}"
        if key in after:
            found += _changed(old, after[key], below)
        else:
            found += _operation("remove", below)
    for key, new in after.items():
        if key not in before:
            found += _operation("add", f"{path}/{_escaped(key)}", new)
    return found


def _escaped(key: str) -> str:
    return key.replace("~", "~0").replace("/", "~1")


def _list(before: Sequence[Json], after: Sequence[Json], path: str) -> _Change:
    start = 0
    while start < min(len(before), len(after)) and same_json(before[start], after[start]):
        start += 1
    end = 0
    most = min(len(before), len(after)) - start
    while end < most and same_json(before[-1 - end], after[-1 - end]):
        end += 1
    old = before[start : len(before) - end]
    new = after[start : len(after) - end]
    if len(old) * len(new) > MOST_PAIRS:
        return _side_by_side(old, new, start, path)
    return _aligned(old, new, start, path)


def _side_by_side(old: Sequence[Json], new: Sequence[Json], start: int, path: str) -> _Change:
    """Items at the same index are the same item; the rest comes or goes at the end."""
    both = min(len(old), len(new))
    found = _NOTHING
    for i in range(len(old) - 1, both - 1, -1):
        found += _operation("remove", f"{path}/{start + i}")
    for i in range(both - 1, -1, -1):
        found += _changed(old[i], new[i], f"{path}/{start + i}")
    for i in range(both, len(new)):
        found += _operation("add", f"{path}/{start + i}", new[i])
    return found


def _aligned(old: Sequence[Json], new: Sequence[Json], start: int, path: str) -> _Change:
    """The shortest way over all alignments of the items, as for the distance between two words.
    `best[j]` leads from what is left of `old` to `new[j:]`."""
    removals = [_operation("remove", f"{path}/{start + i}") for i in range(len(old))]
    last = len(new)
    best = [_NOTHING] * (last + 1)
    for j in range(last - 1, -1, -1):
        # Each goes in at the same index, so the last one goes first.
        best[j] = best[j + 1] + _operation("add", f"{path}/{start + len(old)}", new[j])
    for i in range(len(old) - 1, -1, -1):
        above, best = best, [_NOTHING] * (last + 1)
        best[last] = above[last] + removals[i]
        for j in range(last - 1, -1, -1):
            here = f"{path}/{start + i}"
            ways = [
                above[j + 1] + _changed(old[i], new[j], here),
                above[j] + removals[i],
                best[j + 1] + _operation("add", here, new[j]),
            ]
            best[j] = min(ways, key=lambda way: way.size)
    return best[0]
