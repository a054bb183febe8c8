"""Lists besides Python's own: those that know what their schema says about their items (sets,
lists with keys), and long ones joined without copying.

Only typed data has them (validation rules of custom resources); they differ from other lists in two
operations, and in both the list on the *left* decides, as k8s.io/apiserver
`pkg/cel/common/values.go`:

    set       `==` in any order; `a + b` is a with what b has more
    map list  `==` in any order, items matched by key; `a + b` is a with items replaced by those of
              b that have the same keys, then the other items of b

Everything else takes them for plain lists (`runtime_types.is_list`). Use `Program.evaluate_metered`
for typed data: the plain variant may compare two lists with Python's own operator.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from itertools import chain
from typing import Any, Final, SupportsIndex, overload

from celadon.cel.errors import CostLimitExceeded, EvaluationError, no_such_overload
from celadon.cel.types import Type
from celadon.cel.values import Value, equality
from celadon.cel.values.equality import Pay
from celadon.cel.values.runtime_types import NONE, Opaque, Optional, TypedList
from celadon.cel.values.text import too_long
from celadon.cel.values.timestamps import Duration, Timestamp

# --- Joined lists ------------------------------------------------------------
#
# Long lists put together without copying: `a + b` as a tree over both.
#
# The cost model charges one for `a + b` of lists, however long they are, so it must take next to
# no time and memory. cel-go keeps both sides and goes through them later, and so does this: long
# lists are leaves of a balanced tree, as in ropes; short ones are copied. `v + v`, again and
# again, is longer than any memory after forty steps: past `LONGEST` there is an error, where
# cel-go has none but takes time without end. What goes through a list is charged for its
# elements.

JOINED_FROM: Final = 1024
"""Elements; a shorter list is copied in about the time that an operation takes anyway."""

LONGEST: Final = 10_000_000
"""Elements; looking at more, for a tenth each, is over what one expression may cost in
Kubernetes."""


def concatenation(left: list[Any], right: list[Any]) -> list[Any]:
    """`left + right` of lists without a schema: one of them where the other is empty, as in cel-go.
    Raises EvaluationError past `LONGEST`."""
    if not (left and right):
        return left or right
    length = len(left) + len(right)
    if length < JOINED_FROM:
        return [*left, *right]
    if length > LONGEST:
        raise too_long()
    return _joined(left, right)


class JoinedList(TypedList):
    """Two lists, one behind the other, either of which may be such a list itself.

    INVARIANT (balance): the heights of the two sides differ by one at most. Nothing is in the
    memory of the list that this class extends.
    """

    __slots__ = ("height", "left", "length", "right")

    def __init__(self, left: list[Value], right: list[Value]) -> None:
        super().__init__()
        self.left = left
        self.right = right
        self.height = 1 + max(_height(left), _height(right))
        self.length = len(left) + len(right)

    def __len__(self) -> int:
        return self.length

    @overload
    def __getitem__(self, key: SupportsIndex) -> Any: ...

    @overload
    def __getitem__(self, key: slice) -> list[Any]: ...

    def __getitem__(self, key: SupportsIndex | slice) -> Any:
        if isinstance(key, slice):
            return list(self)[key]
        index = range(self.length)[key]
        part: list[Value] = self
        while isinstance(part, JoinedList):
            before = len(part.left)
            if index < before:
                part = part.left
            else:
                index, part = index - before, part.right
        return part[index]

    def __iter__(self) -> Iterator[Value]:
        return chain.from_iterable(self._leaves())

    def _leaves(self) -> Iterator[list[Value]]:
        pending: list[list[Value]] = [self]
        while pending:
            part = pending.pop()
            if isinstance(part, JoinedList):
                pending += (part.right, part.left)
            else:
                yield part

    def __contains__(self, value: object) -> bool:
        return any(value in leaf for leaf in self._leaves())

    def matches(self, other: list[Any], pay: Pay | None = None) -> bool:
        """Return whether both have the same elements in the same order."""
        return equality.containers_equal(self, other, pay)

    def __add__(self, other: list[Any]) -> list[Any]:
        return concatenation(self, other)


def _height(part: list[Value]) -> int:
    return part.height if isinstance(part, JoinedList) else 0


def _joined(left: list[Value], right: list[Value]) -> JoinedList:
    """Join two lists in balance: the lower one goes to the side of the higher one, as far down as
    it has its equals."""
    difference = _height(left) - _height(right)
    if difference > 1 and isinstance(left, JoinedList):
        return _balanced(left.left, _joined(left.right, right))
    if difference < -1 and isinstance(right, JoinedList):
        return _balanced(_joined(left, right.left), right.right)
    return JoinedList(left, right)


def _balanced(left: list[Value], right: list[Value]) -> JoinedList:
    """Join two lists whose heights differ by two at most, rotated where needed."""
    difference = _height(left) - _height(right)
    if difference > 1 and isinstance(left, JoinedList):
        outer, inner = left.left, left.right
        if _height(inner) > _height(outer) and isinstance(inner, JoinedList):
            return JoinedList(JoinedList(outer, inner.left), JoinedList(inner.right, right))
        return JoinedList(outer, JoinedList(inner, right))
    if difference < -1 and isinstance(right, JoinedList):
        inner, outer = right.left, right.right
        if _height(inner) > _height(outer) and isinstance(inner, JoinedList):
            return JoinedList(JoinedList(left, inner.left), JoinedList(inner.right, outer))
        return JoinedList(JoinedList(left, inner), outer)
    return JoinedList(left, right)


# --- Optional contents -------------------------------------------------------
#
# Optional values that pass through an attribute.
#
# Where cel-go resolves an attribute whose value is an optional (a name, or a branch of a
# conditional, which `optMap` and `optFlatMap` are made of), it takes out the *Go* value and
# makes an optional of what that is as a CEL value (cel-go `interpreter/attributes.go`,
# `applyQualifiers`). Most values come back as they were. An optional inside comes back as its
# content, a type as its name, and of an abstract value nothing can be made: the optional then
# holds an error, which is the result where somebody takes it out. Of that error nothing can be
# made either, if the optional passes through one more attribute.

#: Contents that come back as they were, at a glance.
_SETTLED = frozenset({str, int, bool, float, type(None), list, dict, bytes, Timestamp, Duration})

_NO_VALUE = "unsupported conversion to ref.Val: "
"""How the text begins that says what Go value is none of CEL: its class, and what it prints."""


def reopened(value: Value) -> Any:
    """Return the value of an attribute, given what it would be if nothing happened to optionals."""
    if value.__class__ is not Optional or value is NONE or value.value.__class__ in _SETTLED:
        return value
    return Optional(_again(value.value))


def _again(content: Value) -> Value:
    while content.__class__ is Optional:
        content = None if content is NONE else content.value
    if content.__class__ is Type:
        return content.name
    if isinstance(content, EvaluationError):
        return EvaluationError(f"{_NO_VALUE}(*errors.errorString){content.message}")
    return content.reopened() if isinstance(content, Opaque) else content


def settled(content: Value) -> Value:
    """Return the content of an optional, for the plain variant: gives up where `reopened` would
    change it."""
    if content.__class__ not in _SETTLED and _again(content) is not content:
        raise no_such_overload()
    return content


def settled_optional(value: Value) -> Any:
    """Return the value of an attribute, for the plain variant, likewise."""
    if value.__class__ is Optional:
        settled(value.value)
    return value


def go_text(value: Value) -> str:
    """Return the Go value inside as a string: of an optional that in its content, of a type its
    name. Raises EvaluationError if it is none."""
    content = _again(value)
    if content.__class__ is not str:
        raise no_such_overload()
    return content


def go_integer(value: Value) -> int:
    """Return the Go value inside as an int64, likewise."""
    content = _again(value)
    if content.__class__ is not int:
        raise no_such_overload()
    return content


_ABSENT = object()


class SetList(TypedList):
    """Compares as `x-kubernetes-list-type: set` says."""

    __slots__ = ()

    def matches(self, other: list[object], pay: Pay | None = None) -> bool:
        """Return whether there are the same items in any order."""
        if len(self) != len(other):
            return False
        if _equal_as_hashed(self, other):
            return set(self).issuperset(other)
        alike = equality.candidates(other, self)
        return all(any(_equal(mine, item, pay) for mine in some) for item, some in alike)

    def __add__(self, other: list[Any]) -> SetList:
        set_list = SetList(self)
        if _equal_as_hashed(self, other):
            mine = set(self)
            set_list += [item for item in dict.fromkeys(other) if item not in mine]
            return set_list
        keys = equality.common_keys((*self, *other))
        alike: dict[Hashable, list[Any]] = {}
        for key, item in zip(keys, self, strict=False):
            alike.setdefault(key, []).append(item)
        for key, item in zip(keys[len(self) :], other, strict=True):
            some = alike.setdefault(key, [])
            if not any(_equal(mine, item) for mine in some):
                some.append(item)
                set_list.append(item)
        return set_list


class MapList(TypedList):
    """Compares as `x-kubernetes-list-type: map` says; `keys` are the names of the members that
    identify an item."""

    __slots__ = ("keys",)

    def __init__(self, items: Sequence[Value], keys: tuple[str, ...]) -> None:
        super().__init__(items)
        self.keys = keys

    def matches(self, other: list[object], pay: Pay | None = None) -> bool:
        """Items with equal keys are equal, in any order."""
        if len(self) != len(other):
            return False
        positions = self._positions()
        for item in other:
            position = positions.get(self._key(item))
            if position is None or not _equal(self[position], item, pay):
                return False
        return True

    def __add__(self, other: list[Any]) -> MapList:
        map_list = MapList(self, self.keys)
        positions = self._positions()
        for item in other:
            position = positions.setdefault(self._key(item), len(map_list))
            if position == len(map_list):
                map_list.append(item)
            else:
                map_list[position] = item
        return map_list

    def _positions(self) -> dict[Hashable, int]:
        """Return the first position of each key."""
        positions: dict[Hashable, int] = {}
        for position, item in enumerate(self):
            positions.setdefault(self._key(item), position)
        return positions

    def _key(self, item: object) -> Hashable:
        """Return the members that identify an item, by class and value. Schemas want scalars there,
        and what is none of them is written: it has no hash, or one that its author can foresee."""
        members = item if isinstance(item, dict) else {}
        values = [members.get(key, _ABSENT) for key in self.keys]
        return tuple([(x.__class__, x if x.__class__ is str else repr(x)) for x in values])


LIST_CLASSES: Final[frozenset[type[list[Value]]]] = frozenset({list, SetList, MapList, JoinedList})
"""All there are, for tables and for code in which `is_list` would be slow."""


def _equal_as_hashed(a: list[Value], b: list[Value]) -> bool:
    """Return whether Python's sets find what is equal in CEL, as they do without bools and
    doubles."""
    return _EQUAL_AS_HASHED.issuperset(map(type, a)) and _EQUAL_AS_HASHED.issuperset(map(type, b))


_EQUAL_AS_HASHED: Final[frozenset[type]] = frozenset({str, int, bytes})


def _equal(a: object, b: object, pay: Pay | None = None) -> bool:
    try:
        return equality.equal(a, b, pay)
    except CostLimitExceeded:
        raise
    except EvaluationError:
        return False


# --- Sizes -------------------------------------------------------------------
#
# The size of a value as the cost model counts it.

_LENGTHS = frozenset({str, dict, bytes}) | LIST_CLASSES
_UNITS = frozenset({bool, int, float, type(None)})


def shown_size(value: Value) -> int:
    """Return the size as libraries of functions see it: an optional is 1, whatever is in it."""
    return 1 if value.__class__ is Optional else size_of(value)


def size_of(value: Any) -> int:
    """Code points, bytes, elements or entries; a present optional's content; otherwise 1.

    Errors stand for arguments that failed and count 1.
    """
    kind = value.__class__
    if kind in _LENGTHS:
        return len(value)
    if kind in _UNITS or isinstance(value, EvaluationError):
        return 1
    if kind is Optional:
        return 1 if value is NONE else size_of(value.value)
    if isinstance(value, Opaque):
        return value.cost_size
    return len(value) if hasattr(value, "items") else 1
