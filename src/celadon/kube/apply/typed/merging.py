"""An applied configuration on top of what there is.

Leaves are those of the configuration where it has them. Lists with keys and sets take the order of
the configuration for the items that both have; items that only the live object has keep their
place. As structured-merge-diff `typed/merge.go`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from celadon.kube.apply.typed.merge_types import DEDUCED, ListRule, MapRule, MergeType


def merged(type_: MergeType, live: Any, config: Any) -> Any:
    """A new value, which shares what did not change. ItemError for an item without a key."""
    live_class, config_class = live.__class__, config.__class__
    rule = type_.map
    if rule is not None and live_class is dict and (config_class is dict or config is None):
        if rule.atomic or not (live or config):
            return config
        return _merged_maps(rule, live, config or {})
    list_rule = type_.list
    if list_rule is not None and live_class is list and (config_class is list or config is None):
        if list_rule.atomic or not (live or config):
            return config
        return _merged_lists(list_rule, live, config or [])
    return config


def _merged_maps(
    rule: MapRule, live: Mapping[str, Any], config: Mapping[str, Any]
) -> dict[str, Any]:
    made = dict(live)
    for name, value in config.items():
        if name in live:
            value = merged(rule.child(name) or DEDUCED, live[name], value)
        made[name] = value
    return made


def _merged_lists(rule: ListRule, live: Sequence[Any], config: Sequence[Any]) -> list[Any]:
    """Items that the live list has several times are replaced where the configuration has them."""
    theirs = [rule.element(item) for item in live]
    wanted = {rule.element(item): item for item in config}
    present: dict[str, Any] = {}
    for element, item in zip(theirs, live, strict=True):
        present[element] = None if element in present else item
    made = []
    for at, element in _order(theirs, list(wanted)):
        if at is not None:
            made.append(live[at])
        elif element in present:
            made.append(merged(rule.item, present[element], wanted[element]))
        else:
            made.append(wanted[element])
    return made


def _order(theirs: Sequence[str], mine: Sequence[str]) -> Iterator[tuple[int | None, str]]:
    """The order of two lists put together: elements of the live list (`theirs`) that the other does
    not have, with their index, and all elements of the other."""
    wanted, known, merged_already = set(mine), set(theirs), set[str]()
    shared = [element for element in mine if element in known]
    at, next_mine, next_shared = 0, 0, 0
    while at < len(theirs) or next_mine < len(mine):
        if at < len(theirs):
            other = theirs[at]
            if other not in wanted:
                yield at, other
                at += 1
                continue
            if next_mine < len(mine) and other != mine[next_mine]:
                expected = shared[next_shared] if next_shared < len(shared) else other
                if other != expected:  # shared, but its turn comes with the other list's order
                    at += 1
                    continue
            if other in merged_already or (next_mine < len(mine) and other == mine[next_mine]):
                at += 1
        if next_mine < len(mine):
            element = mine[next_mine]
            yield None, element
            merged_already.add(element)
            next_mine += 1
            if next_shared < len(shared) and shared[next_shared] == element:
                next_shared += 1
