"""Values as Go holds them, with their types, and how two of them differ.

A value knows what its type is called (`core.PodSpec`, `[]string`), of which kind that is, and what
its `String` method gives, if it has one. They are for those who print values as Go does.
"""

from __future__ import annotations

import enum
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Final, NamedTuple

from celadon.kube.errors import KubeError
from celadon.records import dataclass


class Kind(enum.Enum):
    """The kind of a type, as Go's `reflect` tells them apart."""

    STRUCT = "struct"
    LIST = "slice"
    MAP = "map"
    POINTER = "ptr"
    TEXT = "string"
    PLAIN = "plain"
    """A number or a boolean."""


@dataclass(frozen=True, slots=True)
class GoData:
    """A value of a type with a name.

    `members` are the fields of a struct that is one, the entries of a map and, by their numbers,
    the items of a list; None for a map or a list that is nil. A pointer points to `target`; a text,
    number or boolean is its `text`. Two values of a type that `compares` itself are not taken
    apart to see whether they are equal: their `text` says it.
    """

    type: str
    kind: Kind
    members: Mapping[str, GoData] | None = None
    target: GoData | None = None
    text: str = ""
    string: str | None = None
    """What its `String` method gives."""
    shown_by_pointer: str | None = None
    """The same, of a type whose method belongs to pointers."""
    names_keys: bool = False
    """The keys of a map have a `String` method."""
    compares: bool = False

    @property
    def is_nil(self) -> bool:
        """Return whether it is a map, a list or a pointer that is nil."""
        if self.kind is Kind.POINTER:
            return self.target is None
        return self.kind in _NILLABLE and self.members is None

    @property
    def is_zero(self) -> bool:
        """Return whether it is what Go has for a field that nobody has set."""
        match self.kind:
            case Kind.STRUCT:
                return all(member.is_zero for member in (self.members or {}).values())
            case Kind.TEXT:
                return not self.text
            case Kind.PLAIN:
                return self.text in _ZEROS
        return self.is_nil


_NILLABLE: Final = (Kind.LIST, Kind.MAP)
_ZEROS: Final = ("", "0", "false")


def go_struct(type_: str, members: Mapping[str, GoData]) -> GoData:
    """Return the data of a struct, with its fields in order."""
    return GoData(type_, Kind.STRUCT, members)


def go_list(items: Sequence[GoData] | None, type_: str) -> GoData:
    """Return the data of a list, nil for none; `type_` is that of its items."""
    members = None if items is None else {str(index): item for index, item in enumerate(items)}
    return GoData(f"[]{type_}", Kind.LIST, members)


def go_map(entries: Mapping[str, GoData] | None, type_: str, *, names_keys: bool = False) -> GoData:
    """Return the data of a map, nil for none; `names_keys` says that its keys have a `String`
    method."""
    return GoData(type_, Kind.MAP, entries, names_keys=names_keys)


def go_pointer(target: GoData | None, type_: str) -> GoData:
    """Return the data of a pointer to a value of this type; nil to none."""
    text = None if target is None else target.shown_by_pointer
    return GoData(f"*{type_}", Kind.POINTER, target=target, string=text)


def go_text(text: str) -> GoData:
    """Return the data of a text."""
    return GoData("string", Kind.TEXT, text=text)


def go_number(value: int, type_: str) -> GoData:
    """Return the data of a whole number."""
    return GoData(type_, Kind.PLAIN, text=str(value))


# --- Comparison --------------------------------------------------------------
#
# How two values of Go differ, part by part, as github.com/google/go-cmp finds it.
#
# Lists are compared with a search for what became of each item. It is the greedy one of
# `cmp/internal/diff`, begun in front: which end it begins at, real servers choose at random.


class Comparison:
    """Two values of one type and what differs below them; one of them may be missing."""

    __slots__ = ("depth", "descendants", "differs", "entries", "inner", "new", "old", "same")

    def __init__(self, old: GoData | None, new: GoData | None) -> None:
        self.old, self.new = old, new
        self.same = self.differs = self.descendants = self.depth = 0
        self.entries: list[tuple[str, Comparison]] = []
        self.inner: Comparison | None = None

    @property
    def either(self) -> GoData:
        """Return one of the two: both are of one type."""
        go_data = self.old if self.old is not None else self.new
        assert go_data is not None, "one of the two is there"
        return go_data

    def leaf(self, *, equal: bool) -> Comparison:
        """Return this as one that is compared as a whole."""
        self.same, self.differs = int(equal), int(not equal)
        return self

    def add(self, key: str, child: Comparison) -> None:
        """Take the comparison of a member."""
        self.entries.append((key, child))
        self._count(child)

    def point(self, child: Comparison) -> Comparison:
        """Take the comparison of what both point to, and return this."""
        self.inner = child
        self._count(child)
        return self

    def _count(self, child: Comparison) -> None:
        self.same += child.same
        self.differs += child.differs
        self.descendants += child.descendants + 1
        self.depth = max(self.depth, child.depth + 1)


class TooLongError(KubeError):
    """There is more to compare than may be."""


class Steps:
    """Compares values, so many and no more."""

    def __init__(self, left: int) -> None:
        self._remaining = left

    def take(self) -> None:
        """Count a step. Raises TooLongError after the last one."""
        self._remaining -= 1
        if self._remaining < 0:
            raise TooLongError

    def compared(self, old: GoData | None, new: GoData | None) -> Comparison:
        """Return how two values differ, one of which may be missing. Raises TooLongError."""
        self.take()
        comparison = Comparison(old, new)
        if old is None or new is None:
            return comparison.leaf(equal=False)
        if old.compares or old.kind in (Kind.TEXT, Kind.PLAIN):
            return comparison.leaf(equal=old.text == new.text)
        if old.kind is Kind.POINTER:
            if old.target is None or new.target is None:
                return comparison.leaf(equal=old.target is new.target)
            return comparison.point(self.compared(old.target, new.target))
        if old.members is None or new.members is None:
            return comparison.leaf(equal=old.members is new.members)
        if old.kind is Kind.LIST:
            self._compare_items(comparison, [*old.members.values()], [*new.members.values()])
            return comparison
        names: Iterable[str] = old.members
        if old.kind is Kind.MAP:
            names = sorted({*old.members, *new.members})
        for name in names:
            comparison.add(name, self.compared(old.members.get(name), new.members.get(name)))
        return comparison

    def _compare_items(
        self, comparison: Comparison, old: Sequence[GoData], new: Sequence[GoData]
    ) -> None:
        def likeness(position: int, other: int) -> _Likeness:
            compared = self.compared(old[position], new[other])
            return _Likeness(compared.same, compared.differs)

        index = other = 0
        for edit in find_edits(len(old), len(new), likeness):
            before = old[index] if edit is not Edit.ADDED else None
            after = new[other] if edit is not Edit.REMOVED else None
            comparison.add("", self.compared(before, after))
            index += before is not None
            other += after is not None

    def edits(self, old: Sequence[object], new: Sequence[object]) -> list[Edit]:
        """Return how a row of parts becomes another. Raises TooLongError."""

        def likeness(index: int, other: int) -> _Likeness:
            self.take()
            return _LIKE if old[index] == new[other] else _UNLIKE

        return find_edits(len(old), len(new), likeness)


class Edit(enum.Enum):
    """One thing that happens with an item of a list, or a byte of a text."""

    SAME = "same"
    CHANGED = "changed"
    REMOVED = "removed"
    ADDED = "added"


class _Likeness(NamedTuple):
    same: int
    differs: int

    @property
    def is_change(self) -> bool:
        """Return whether they count as one item that was changed."""
        return self.same + 1 >= self.differs


_UNLIKE: Final = _Likeness(0, 2)
_LIKE: Final = _Likeness(1, 0)
_BUDGET: Final = 4
"""How often two items are compared in vain, for each of them."""


class _Path:
    """Edits from one end of two lists, forwards or backwards, to where both have been read."""

    def __init__(
        self, step: int, place: tuple[int, int], likeness: Callable[[int, int], _Likeness]
    ) -> None:
        self.step, self.likeness = step, likeness
        self.x, self.y = place
        self.edits: list[Edit] = []

    def next(self) -> _Likeness:
        """Return how much the next two items are alike."""
        back = self.step < 0
        return self.likeness(self.x - back, self.y - back)

    def take(self, edit: Edit) -> None:
        """Go on by one edit."""
        self.edits.append(edit)
        self.x += self.step * (edit is not Edit.ADDED)
        self.y += self.step * (edit is not Edit.REMOVED)

    def connect(self, x: int, y: int) -> None:
        """Go on to a place."""
        while self._left(x, y)[0] > 0 and self._left(x, y)[1] > 0:
            of_x, of_y = self._left(x, y)
            likeness = self.next()
            if not likeness.differs:
                self.take(Edit.SAME)
            elif likeness.is_change:
                self.take(Edit.CHANGED)
            elif of_x > of_y or (of_x == of_y and self.step > 0):
                self.take(Edit.REMOVED)
            else:
                self.take(Edit.ADDED)
        while self._left(x, y)[0] > 0:
            self.take(Edit.REMOVED)
        while self._left(x, y)[1] > 0:
            self.take(Edit.ADDED)

    def _left(self, x: int, y: int) -> tuple[int, int]:
        return (x - self.x) * self.step, (y - self.y) * self.step


def find_edits(size: int, other: int, likeness: Callable[[int, int], _Likeness]) -> list[Edit]:
    """Return how a list of one size becomes another: not the shortest way, but the one that go-cmp
    finds. It searches from both ends in turn, each time along the diagonal through where it has
    come to, takes the first two items that are equal and goes on as long as the next ones are."""
    front, back = _Path(1, (0, 0), likeness), _Path(-1, (size, other), likeness)
    near, far = [0, 0], [size, other]
    budget = _BUDGET * (size + other)
    forwards = True
    while near[0] < far[0] and near[1] < far[1] and budget > 0:
        path, reached = (front, near) if forwards else (back, far)
        budget -= _search(path, reached, front, back, budget)
        left_x, left_y = (
            (back.x - near[0], back.y - near[1])
            if forwards
            else (far[0] - front.x, far[1] - front.y)
        )
        reached[0 if left_x >= left_y else 1] += path.step
        forwards = not forwards
    front.connect(back.x, back.y)
    return front.edits + back.edits[::-1]


def _search(path: _Path, reached: list[int], front: _Path, back: _Path, budget: int) -> int:
    """Look for two equal items along a diagonal, and follow it from there. Return how many pairs
    were compared in vain."""
    missed = turn = 0
    at_one_end = at_other_end = False
    while not (at_one_end and at_other_end) and missed < budget:
        aside = _zigzag(turn) * path.step
        turn += 1
        x, y = reached[0] + aside, reached[1] - aside
        if (x >= back.x or y < front.y) if path is front else (front.x >= x or back.y < y):
            at_one_end = True
        elif (y >= back.y or x < front.x) if path is front else (front.y >= y or back.x < x):
            at_other_end = True
        elif not path.likeness(x - (path is back), y - (path is back)).differs:
            path.connect(x, y)
            path.take(Edit.SAME)
            while front.x < back.x and front.y < back.y and not path.next().differs:
                path.take(Edit.SAME)
            reached[:] = path.x, path.y
            break
        else:
            missed += 1
    return missed


def _zigzag(turn: int) -> int:
    """0, -1, 1, -2, 2 and so on."""
    return (~turn if turn & 1 else turn) >> 1
