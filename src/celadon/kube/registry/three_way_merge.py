"""The patches of `kubectl apply`: from what was applied last, what is applied now, what is there.

What is applied now is set where the object differs; what was applied last and is applied no more is
removed; all else stays, whoever has put it there. So a patch is made of two: what to remove follows
from the two configurations, what to set from the new one and the object. For kinds whose schema
says how lists are merged it is a strategic merge patch, as k8s.io/apimachinery
`pkg/util/strategicpatch/patch.go` (CreateThreeWayMergePatch) makes it; for others a merge patch, as
`pkg/util/jsonmergepatch/patch.go`.

An empty patch says that there is nothing to do. Nothing that is given is changed.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from typing import Any

from celadon.kube.json_types import Json, JsonDict, JsonObject
from celadon.kube.registry import strategic_merge
from celadon.kube.registry.patches import same_json
from celadon.kube.schemas.schema_packs import Schema
from celadon.records import dataclass

_Item = JsonDict


@dataclass(frozen=True, slots=True)
class ThreeWays:
    """Holds the three sides of `kubectl apply`. `last` is the configuration that was applied before
    (empty if none was), `modified` the one that is applied now, `live` the object as it is."""

    last: JsonObject
    modified: JsonObject
    live: JsonObject

    def strategic_patch(self, schema: Schema) -> dict[str, object]:
        """Return the patch for a kind with this schema. Raises MergeError when items of a list lack
        their key."""
        removed = _removed(self.last, self.modified, schema, retains=False)
        changed = _changed(self.live, self.modified, schema, retains=False)
        return _joined(removed, changed, schema)

    def merge_patch(self) -> dict[str, object]:
        """Return the patch for a kind of which nothing is known: lists are replaced as a whole."""
        return _united(_unset(self.last, self.modified), _set(self.live, self.modified))


# --- strategic: what to remove ---


def _removed(
    last: JsonObject, modified: JsonObject, schema: Schema | None, *, retains: bool
) -> JsonObject:
    patch: dict[str, object] = {}
    for key, before in last.items():
        now = modified.get(key)
        member = strategic_merge.member_of(schema, key)
        strategy = strategic_merge.merge_strategy(member)
        if key not in modified:
            patch[key] = None
        elif isinstance(before, dict) and isinstance(now, dict) and strategy != "replace":
            inner = _removed(
                before,
                now,
                strategic_merge.shape_of(member),
                retains=strategic_merge.retains_keys(member),
            )
            if inner:
                patch[key] = inner
        elif isinstance(before, list) and isinstance(now, list) and strategy == "merge":
            _remove_items(patch, key, before, now, member)
    _retain(patch, last, modified, retains=retains)
    return patch


def _remove_items(
    patch: JsonDict, key: str, before: list[Any], now: list[Any], member: Schema | None
) -> None:
    if member is None or not before:
        return
    if not isinstance(before[0], dict):
        distinct = [item for item in _distinct(before) if not _holds(now, item)]
        if distinct:
            patch[strategic_merge.DELETE_FROM_LIST + key] = distinct
            _order(patch, key, now, "")
        return
    merge_key = member.merge_key
    shape, retains = strategic_merge.items_of(member), strategic_merge.retains_keys(member)
    result: list[_Item] = []
    distinct = []
    for old, new in _pairs(before, now, merge_key):
        if new is None:
            distinct.append(
                {strategic_merge.DIRECTIVE: "delete", merge_key: old and old[merge_key]}
            )
        elif old is not None:
            inner = _removed(old, new, shape, retains=retains)
            if inner:
                result.append({**inner, merge_key: new[merge_key]})
    if result or distinct:
        patch[key] = [*_as_in(now, result, merge_key), *distinct]
        _order(patch, key, now, merge_key)


# --- strategic: what to set ---


def _changed(
    live: JsonObject, modified: JsonObject, schema: Schema | None, *, retains: bool
) -> JsonDict:
    patch: dict[str, object] = {}
    for key, value in modified.items():
        live_value = live.get(key)
        member = strategic_merge.member_of(schema, key)
        strategy = strategic_merge.merge_strategy(member)
        if key not in live or live_value.__class__ is not value.__class__:
            patch[key] = value
        elif isinstance(value, dict) and strategy != "replace":
            inner = _changed(
                live[key],
                value,
                strategic_merge.shape_of(member),
                retains=strategic_merge.retains_keys(member),
            )
            if inner:
                patch[key] = inner
        elif isinstance(value, list) and strategy == "merge" and member is not None:
            _change_items(patch, key, live[key], value, member)
        elif isinstance(value, dict) or not same_json(live_value, value):
            patch[key] = value
    _retain(patch, live, modified, retains=retains)
    return patch


def _change_items(
    patch: JsonDict, key: str, live_items: list[Any], modified: list[Any], member: Schema
) -> None:
    if not live_items:
        if modified:
            patch[key] = modified
        return
    if not isinstance(live_items[0], dict):
        new = [item for item in _distinct(modified) if not _holds(live_items, item)]
        if new:
            patch[key] = new
        if not same_json(live_items, modified):
            _order(patch, key, modified, "")
        return
    merge_key = member.merge_key
    shape, retains = strategic_merge.items_of(member), strategic_merge.retains_keys(member)
    result: list[_Item] = []
    for old, item in _pairs(live_items, modified, merge_key):
        if item is not None:
            if old is None:
                result.append(item)
            elif inner := _changed(old, item, shape, retains=retains):
                result.append({**inner, merge_key: item[merge_key]})
    if result:
        patch[key] = _as_in(modified, result, merge_key)
    if result or _marks(live_items, merge_key) != _marks(modified, merge_key):
        _order(patch, key, modified, merge_key)


# --- strategic: what both need ---


def _retain(
    patch: dict[str, object], before: JsonObject, modified: JsonObject, *, retains: bool
) -> None:
    """Say which members stay, where that makes a difference."""
    result = sorted(key for key, value in modified.items() if value is not None)
    goes = any(value is not None and key not in modified for key, value in before.items())
    if retains and result and (patch or goes):
        patch[strategic_merge.RETAIN_KEYS] = result


def _order(patch: JsonDict, key: str, modified: Sequence[Any], merge_key: str) -> None:
    if modified:
        order = [{merge_key: item[merge_key]} for item in modified] if merge_key else modified
        patch[strategic_merge.ELEMENT_ORDER + key] = order


def _pairs(
    before: Sequence[_Item], now: Sequence[_Item], merge_key: str
) -> Iterator[tuple[_Item | None, _Item | None]]:
    """Items of the same key, one after the other where several have it; None where there is none on
    that side."""
    left, right = _by_key(before, merge_key), _by_key(now, merge_key)
    i = j = 0
    while i < len(left) or j < len(right):
        older = j == len(right) or (i < len(left) and left[i][0] <= right[j][0])
        newer = i == len(left) or (j < len(right) and right[j][0] <= left[i][0])
        yield left[i][1] if older else None, right[j][1] if newer else None
        i, j = i + older, j + newer


def _by_key(items: Sequence[_Item], merge_key: str) -> list[tuple[str, _Item]]:
    """Sorted by key; of those with one key the last comes first, as upstream's order has it."""
    keyed = [(strategic_merge.key_text(item, merge_key), item) for item in reversed(items)]
    return sorted(keyed, key=lambda pair: pair[0])


def _marks(items: Sequence[object], merge_key: str) -> list[Hashable]:
    return [strategic_merge.item_mark(item, merge_key) for item in items]


def _as_in(order: Sequence[object], items: list[_Item], merge_key: str) -> list[_Item]:
    ranks = {mark: i for i, mark in reversed(list(enumerate(_marks(order, merge_key))))}
    return sorted(
        items, key=lambda value: ranks.get(strategic_merge.item_mark(value, merge_key), len(ranks))
    )


def _distinct(items: Sequence[object]) -> list[object]:
    result: list[Any] = []
    for item in items:
        if not _holds(result, item):
            result.append(item)
    return result


def _holds(items: Sequence[object], value: object) -> bool:
    return any(same_json(item, value) for item in items)


def _joined(removed: JsonObject, changed: JsonObject, schema: Schema | None) -> dict[str, object]:
    """Return one patch that does what both patches do."""
    result = dict(removed)
    for key, value in changed.items():
        mine = result.get(key)
        member = strategic_merge.member_of(schema, key)
        strategy = strategic_merge.merge_strategy(member)
        if isinstance(mine, dict) and isinstance(value, dict) and strategy != "replace":
            result[key] = _joined(mine, value, strategic_merge.shape_of(member))
        elif isinstance(mine, list) and strategy == "merge" and member is not None:
            order = changed.get(
                strategic_merge.ELEMENT_ORDER + key,
                removed.get(strategic_merge.ELEMENT_ORDER + key, ()),
            )
            result[key] = _joined_items(mine, value, order, member)
        else:
            result[key] = value
    return result


def _joined_items(
    removed: list[_Item], changed: list[_Item], order: Sequence[Json], member: Schema
) -> list[_Item]:
    merge_key = member.merge_key
    shape = strategic_merge.items_of(member)
    result = {strategic_merge.key_text(element, merge_key): element for element in removed}
    for item in changed:
        key = strategic_merge.key_text(item, merge_key)
        result[key] = _joined(result[key], item, shape) if key in result else item
    return _as_in(order, list(result.values()), merge_key)


# --- merge patches ---


def _unset(last: Json, modified: JsonObject) -> JsonDict:
    """Nulls for what goes, at any depth; those of the new configuration, too."""
    before = last if isinstance(last, dict) else {}
    patch: dict[str, object] = {}
    for key, value in modified.items():
        if value is None and (key not in before or before[key] is not None):
            patch[key] = None
        elif isinstance(value, dict) and (inner := _unset(before.get(key), value)):
            patch[key] = inner
    patch.update((key, None) for key in before if key not in modified)
    return patch


def _set(live: object, modified: JsonObject) -> JsonDict:
    """Return what is to be there and is not."""
    current = live if isinstance(live, dict) else {}
    patch: dict[str, object] = {}
    for key, value in modified.items():
        if isinstance(value, dict) and value:
            inner = _set(current.get(key), value)
            if inner:
                patch[key] = inner
        elif value is not None and not (key in current and _same_value(current[key], value)):
            patch[key] = value
    return patch


def _same_value(live: object, value: object) -> bool:
    """Return whether the live value needs no change. Members of an object are compared elsewhere;
    numbers are compared as doubles."""
    if isinstance(value, dict):
        return isinstance(live, dict)
    if isinstance(value, list) and isinstance(live, list):
        return len(live) == len(value) and all(map(_equal, live, value))
    return _equal(live, value)


def _equal(a: object, b: object) -> bool:
    """Compare JSON as if all numbers were doubles."""
    if isinstance(a, dict) and isinstance(b, dict):
        return a.keys() == b.keys() and all(_equal(a[key], b[key]) for key in a)
    if isinstance(a, list) and isinstance(b, list):
        return len(a) == len(b) and all(map(_equal, a, b))
    return isinstance(a, bool) is isinstance(b, bool) and a == b


def _united(unset: JsonObject, sets: JsonObject) -> dict[str, object]:
    result = dict(unset)
    for key, value in sets.items():
        mine = result.get(key)
        result[key] = _united(mine, value) if isinstance(mine, dict) else value
    return result
