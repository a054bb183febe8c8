"""An applied configuration on top of what there is.

Leaves are those of the configuration where it has them. Lists with keys and sets take the order of
the configuration for the items that both have; items that only the live object has keep their
place. As structured-merge-diff `typed/merge.go`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Protocol

from celadon.kube.apply.typed.merge_types import DEDUCED, ListRule, MapRule, MergeType


class Joiner(Protocol):
    """Whoever has something to do with what a merge puts into an object."""

    def joined(
        self,
        type_: MergeType,
        live: Mapping[str, Any],
        made: dict[str, Any],
        config: Mapping[str, Any],
    ) -> None:
        """A struct or a map was made of two; `made` may be changed. Members of it that are the very
        ones of `config` were taken over."""

    def added(self, type_: MergeType, item: Any) -> Any:
        """What becomes of an item that the live list does not have."""

    def passed(self, live: Sequence[Any]) -> None:
        """A list was made of this one and another."""


def merged(type_: MergeType, live: Any, config: Any, joiner: Joiner | None = None) -> Any:
    """A new value, which shares what did not change. ItemError for an item without a key."""
    live_class, config_class = live.__class__, config.__class__
    rule = type_.map
    if rule is not None and live_class is dict and (config_class is dict or config is None):
        if rule.atomic or not (live or config):
            return config
        return _merged_maps(type_, rule, live, config or {}, joiner)
    list_rule = type_.list
    if list_rule is not None and live_class is list and (config_class is list or config is None):
        if list_rule.atomic or not (live or config):
            return config
        return _merged_lists(list_rule, live, config or [], joiner)
    return config


def _merged_maps(
    type_: MergeType,
    rule: MapRule,
    live: Mapping[str, Any],
    config: Mapping[str, Any],
    joiner: Joiner | None,
) -> dict[str, Any]:
    made = dict(live)
    for name, value in config.items():
        if name in live:
            value = merged(rule.child(name) or DEDUCED, live[name], value, joiner)
        made[name] = value
    if joiner is not None:
        joiner.joined(type_, live, made, config)
    return made


def _merged_lists(
    rule: ListRule, live: Sequence[Any], config: Sequence[Any], joiner: Joiner | None
) -> list[Any]:
    """Items that the live list has several times are replaced where the configuration has them.
    Mostly that has only such as are there already, in this order, or only new ones."""
    theirs = rule.elements(live)
    wanted = dict(zip(rule.elements(config), config, strict=True))
    mine, type_ = list(wanted), rule.item
    common = [element for element in theirs if element in wanted]
    if joiner is not None:
        joiner.passed(live)
    if common == mine:
        return [
            merged(type_, item, wanted[element], joiner) if element in wanted else item
            for element, item in zip(theirs, live, strict=True)
        ]
    if not common:
        return [*live, *(_added(type_, item, joiner) for item in wanted.values())]
    present: dict[str, Any] = {}
    for element, item in zip(theirs, live, strict=True):
        present[element] = None if element in present else item
    made = []
    for at, element in _mixed_order(theirs, mine):
        if at is not None:
            made.append(live[at])
        elif present.get(element) is None:
            made.append(_added(type_, wanted[element], joiner))
        else:
            made.append(merged(type_, present[element], wanted[element], joiner))
    return made


def _added(type_: MergeType, item: Any, joiner: Joiner | None) -> Any:
    return item if joiner is None else joiner.added(type_, item)


def _mixed_order(theirs: Sequence[str], mine: Sequence[str]) -> Iterator[tuple[int | None, str]]:
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
