"""Lists that carry what their schema says about their items: sets, and lists with keys.

Only typed data has them (validation rules of custom resources); they differ from other lists in two
operations, and in both the list on the *left* decides, as k8s.io/apiserver
`pkg/cel/common/values.go`:

    set       `==` in any order; `a + b` is a with what b has more
    map list  `==` in any order, items matched by key; `a + b` is a with items replaced by those of
              b that have the same keys, then the other items of b

Everything else takes them for plain lists (`list_values`). Use `Program.evaluate_metered` for
typed data: the plain variant may compare two lists with Python's own operator.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from celadon.cel.errors import EvaluationError
from celadon.cel.values import Value, equality
from celadon.cel.values.joined_lists import JoinedList
from celadon.cel.values.list_values import TypedList

_ABSENT = object()


class SetList(TypedList):
    """`x-kubernetes-list-type: set`."""

    __slots__ = ()

    def matches(self, other: list[object]) -> bool:
        """The same items in any order."""
        return len(self) == len(other) and all(_has(self, one) for one in other)

    def __add__(self, other: list[Any]) -> SetList:
        made = SetList(self)
        for one in other:
            if not _has(made, one):
                made.append(one)
        return made


class MapList(TypedList):
    """`x-kubernetes-list-type: map`; `keys` are the names of the members that identify an item."""

    __slots__ = ("keys",)

    def __init__(self, items: Sequence[Value], keys: tuple[str, ...]) -> None:
        super().__init__(items)
        self.keys = keys

    def matches(self, other: list[object]) -> bool:
        """Items with equal keys are equal, in any order."""
        if len(self) != len(other):
            return False
        for one in other:
            at = self._position(one)
            if at is None or not _equal(self[at], one):
                return False
        return True

    def __add__(self, other: list[Any]) -> MapList:
        made = MapList(self, self.keys)
        for one in other:
            at = made._position(one)
            if at is None:
                made.append(one)
            else:
                made[at] = one
        return made

    def _position(self, item: object) -> int | None:
        wanted = self._key(item)
        for i, one in enumerate(self):
            if self._key(one) == wanted:
                return i
        return None

    def _key(self, item: object) -> list[Value]:
        members = item if isinstance(item, dict) else {}
        return [(members.get(key, _ABSENT).__class__, members.get(key)) for key in self.keys]


LIST_CLASSES: Final[frozenset[type[list[Value]]]] = frozenset({list, SetList, MapList, JoinedList})
"""All there are, for tables and for code in which `is_list` would be slow."""


def _has(items: list[Value], wanted: object) -> bool:
    return any(_equal(one, wanted) for one in items)


def _equal(a: object, b: object) -> bool:
    try:
        return equality.equal(a, b)
    except EvaluationError:
        return False
