"""The order of lists that a strategic merge patch changes.

Items that the patch names come in its sequence, the others in the one they had; the two are merged
by where the items stood before. As `normalizeElementOrder` of k8s.io/apimachinery
`pkg/util/strategicpatch/patch.go`.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from typing import Any, Final

from celadon.kube.go.go_text import plain_text
from celadon.kube.registry.patching.merge_strategies import (
    DIRECTIVE,
    ELEMENT_ORDER,
    MergeError,
    item_mark,
    require_key,
    require_map,
)

_SMALL: Final = 20
"""So many items Go sorts by insertion."""

_Places = Mapping[Hashable, int]


def ordered(
    found: Sequence[Any],
    order: Sequence[Any],
    before: Sequence[Any],
    key: str,
    of_maps: Callable[[], bool],
) -> list[Any]:
    """`found` in the sequence of `order`, and else of `before`. `of_maps` says whether the items
    are objects, or raises. MergeError when items that are told by a key lack it, be it that the
    list has none."""
    ranks, places = _first_places(order, key), _first_places(before, key)
    if key:
        _require_maps(found, order, ranks, key)
    named = [one for one in found if item_mark(one, key) in ranks]
    others = [one for one in found if item_mark(one, key) not in ranks]
    if of_maps():
        for one in (*order, *before):
            require_key(one, key)
    return _interleaved(_sorted(others, places, key), _sorted(named, ranks, key), places, key)


def _first_places(items: Sequence[Any], key: str) -> _Places:
    return {
        item_mark(one, key): i
        for i, one in reversed(list(enumerate(items)))
        if not key or (isinstance(one, dict) and key in one)
    }


def _require_maps(found: Iterable[Any], order: Sequence[Any], ranks: _Places, key: str) -> None:
    """Items of the order are looked at one after the other until the right one comes."""
    wrong = next((i for i, one in enumerate(order) if not isinstance(one, dict)), len(order))
    for one in found:
        require_key(one, key)
        if wrong < ranks.get(item_mark(one, key), len(order)):
            raise MergeError(f"value for key {wrong} is not a map")


def _sorted(items: list[Any], places: _Places, key: str) -> list[Any]:
    """Sorted by place; deletions that stand in a new item, where they delete nothing, come last. An
    item that has no place is less than any other, as any other is less than it: the result is what
    Go's way of sorting makes of that."""
    deletions = [one for one in items if is_deletion(one)]
    if deletions:
        return [*_sorted([one for one in items if not is_deletion(one)], places, key), *deletions]
    marks = [item_mark(one, key) for one in items]
    if all(mark in places for mark in marks):
        return sorted(items, key=lambda one: places[item_mark(one, key)])
    if len(items) > _SMALL:
        return sorted(items, key=lambda one: places.get(item_mark(one, key), -1))
    made: list[tuple[int, Any]] = []
    for mark, one in zip(marks, items, strict=True):
        place, at = places.get(mark, -1), len(made)
        while at and (place < 0 or made[at - 1][0] < 0 or place < made[at - 1][0]):
            at -= 1
        made.insert(at, (place, one))
    return [one for _, one in made]


def is_deletion(item: object) -> bool:
    """Whether an item of a patch says that an item goes."""
    return isinstance(item, dict) and item.get(DIRECTIVE) == "delete"


def _interleaved(left: list[Any], right: list[Any], places: _Places, key: str) -> list[Any]:
    made: list[Any] = []
    i = j = 0
    while i < len(left) and j < len(right):
        mine, other = (places.get(item_mark(one, key)) for one in (left[i], right[j]))
        if mine is not None and other is not None and mine < other:
            made.append(left[i])
            i += 1
        else:
            made.append(right[j])
            j += 1
    return [*made, *left[i:], *right[j:]]


def require_in_order(theirs: Sequence[Any], order: Sequence[Any], key: str) -> None:
    """MergeError unless the items of a patch stand in its order, in the same sequence. Those with
    directives are passed over, but for those that the order leaves at the end."""
    if not theirs or not order:
        return
    wanted = _without_deletions(theirs) if key else list(theirs)
    i = j = 0
    while i < len(wanted) and j < len(order):
        if isinstance(wanted[i], dict) and DIRECTIVE in wanted[i]:
            i += 1
            continue
        if key:
            require_map(order[j])
            require_key(wanted[i], key)
            require_key(order[j], key)
        i += item_mark(wanted[i], key) == item_mark(order[j], key)
        j += 1
    if i < len(wanted) and j >= len(order):
        raise MergeError(
            f"The order in patch list:\n{plain_text(list(theirs))}\n doesn't match "
            f"{ELEMENT_ORDER[:-1]} list:\n{plain_text(list(order))}\n"
        )


def _without_deletions(items: Sequence[Any]) -> list[Any]:
    kept = []
    for one in items:
        require_map(one)
        if not is_deletion(one):
            kept.append(one)
    return kept
