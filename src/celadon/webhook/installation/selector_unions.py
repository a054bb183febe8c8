"""Label selectors put together: one that matches whatever any of several does.

What labels a selector takes is looked at key by key: which values, and whether the key may be
absent. The union of several selectors takes at each key what any of them takes there. That may be
more than they take together, never less. What no selector can say (absent, or one of these) is not
asked for.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import KW_ONLY
from typing import Any, Final

from celadon.records import dataclass

Selector = Mapping[str, Any]
"""A LabelSelector as in the API."""


@dataclass(frozen=True, slots=True)
class _Values:
    """What is taken at one key: the values, or all but the values; and absence."""

    values: frozenset[str] = frozenset()
    _: KW_ONLY
    others: bool = True
    absent: bool = True

    @property
    def is_nothing(self) -> bool:
        return not (self.values or self.others or self.absent)

    def __and__(self, other: _Values) -> _Values:
        absent = self.absent and other.absent
        if self.others and other.others:
            return _Values(self.values | other.values, others=True, absent=absent)
        if self.others:
            return _Values(other.values - self.values, others=False, absent=absent)
        if other.others:
            return _Values(self.values - other.values, others=False, absent=absent)
        return _Values(self.values & other.values, others=False, absent=absent)

    def __or__(self, other: _Values) -> _Values:
        absent = self.absent or other.absent
        if self.others and other.others:
            return _Values(self.values & other.values, others=True, absent=absent)
        if self.others:
            return _Values(self.values - other.values, others=True, absent=absent)
        if other.others:
            return _Values(other.values - self.values, others=True, absent=absent)
        return _Values(self.values | other.values, others=False, absent=absent)

    def requirements(self, key: str) -> list[dict[str, Any]]:
        """As expressions of a selector; none where everything is taken, or more can be said than a
        selector can."""
        values = sorted(self.values)
        if not self.others:
            if not self.absent:
                return [{"key": key, "operator": "In", "values": values}]
            return [] if values else [{"key": key, "operator": "DoesNotExist"}]
        found: list[dict[str, Any]] = [] if self.absent else [{"key": key, "operator": "Exists"}]
        if values:
            found.append({"key": key, "operator": "NotIn", "values": values})
        return found


_EVERYTHING: Final = _Values()
_Keys = Mapping[str, _Values]


def conjunction(selectors: Iterable[Selector]) -> Selector:
    """Matches what all of them match: of one and the same object."""
    labels: dict[str, str] = {}
    expressions: list[Any] = []
    for selector in selectors:
        for key, value in (selector.get("matchLabels") or {}).items():
            if labels.setdefault(key, value) != value:
                expressions.append({"key": key, "operator": "In", "values": [value]})
        for expression in selector.get("matchExpressions") or ():
            if expression not in expressions:
                expressions.append(expression)
    found: dict[str, Any] = {}
    if labels:
        found["matchLabels"] = labels
    if expressions:
        found["matchExpressions"] = expressions
    return found


def union(selectors: Sequence[Selector]) -> Selector:
    """Matches at least what any of them matches; one that matches nothing adds nothing. Of a single
    selector, or of equal ones, that selector."""
    if all(selector == selectors[0] for selector in selectors[1:]):
        return selectors[0] if selectors else {}
    taken = [keys for keys in map(_keys, selectors) if not _is_nothing(keys)]
    if not taken:
        return selectors[0]
    both = set(taken[0]).intersection(*taken[1:])
    expressions: list[dict[str, Any]] = []
    for key in sorted(both):
        values = taken[0][key]
        for keys in taken[1:]:
            values |= keys[key]
        expressions += values.requirements(key)
    return {"matchExpressions": expressions} if expressions else {}


def _keys(selector: Selector) -> _Keys:
    found: dict[str, _Values] = {}
    for key, value in (selector.get("matchLabels") or {}).items():
        found[key] = found.get(key, _EVERYTHING) & _Values(
            frozenset([value]), others=False, absent=False
        )
    for expression in selector.get("matchExpressions") or ():
        key = expression["key"]
        found[key] = found.get(key, _EVERYTHING) & _expression(expression)
    return found


def _expression(expression: Mapping[str, Any]) -> _Values:
    values = frozenset(expression.get("values") or ())
    operator = expression["operator"]
    if operator == "In":
        return _Values(values, others=False, absent=False)
    if operator == "NotIn":
        return _Values(values)
    return _Values(absent=False) if operator == "Exists" else _Values(others=False)


def _is_nothing(keys: _Keys) -> bool:
    return any(values.is_nothing for values in keys.values())
