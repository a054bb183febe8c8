"""Cheaper dataclasses do what those of the standard library do, but for freezing."""

from __future__ import annotations

import copy
import pickle
from dataclasses import dataclass as standard_dataclass
from dataclasses import field, fields, replace
from typing import Any

import pytest

from celadon.records import dataclass


@dataclass(frozen=True, slots=True)
class Point:
    x: int
    y: int = 0
    note: str = field(default="", compare=False)
    secret: str = field(default="hidden", repr=False)


@standard_dataclass(frozen=True, slots=True)
class StandardPoint:
    x: int
    y: int = 0
    note: str = field(default="", compare=False)
    secret: str = field(default="hidden", repr=False)


@dataclass(frozen=True, slots=True)
class Wrapper:
    value: Any


@dataclass(frozen=True, slots=True)
class Nothing:
    pass


@dataclass(slots=True)
class Counter:
    count: int = 0


@dataclass(slots=True, eq=False)
class Identity:
    count: int = 0


@dataclass(frozen=True, slots=True)
class Named:
    """Has its own idea of sameness."""

    name: str
    rest: int = 0

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Named) and self.name == other.name

    def __hash__(self) -> int:
        return len(self.name)

    def __repr__(self) -> str:
        return f"<{self.name}>"


@dataclass(slots=True, kw_only=True)
class Tree:
    below: list[Tree] = field(default_factory=list)


POINTS = [(1,), (1, 2), (1, 2, "noted"), (1, 2, "", "other"), (2, 1)]


@pytest.mark.parametrize("left", POINTS)
@pytest.mark.parametrize("right", POINTS)
def test_compares_hashes_and_shows_as_the_standard_library(
    left: tuple[Any, ...], right: tuple[Any, ...]
) -> None:
    own, other = Point(*left), Point(*right)
    standard, standard_other = StandardPoint(*left), StandardPoint(*right)
    assert (own == other) is (standard == standard_other)
    assert (hash(own) == hash(other)) is (hash(standard) == hash(standard_other))
    assert f"Standard{own!r}" == repr(standard)


def test_other_classes_are_not_equal() -> None:
    others: list[object] = [StandardPoint(1), Wrapper(1), Nothing(), 1]
    assert all(other != Point(1) for other in others)
    assert Nothing() == Nothing()
    assert hash(Nothing()) == hash(())


def test_one_field_compares_as_a_tuple_would() -> None:
    nan = float("nan")
    assert Wrapper(nan) == Wrapper(nan)
    assert hash(Wrapper("a")) == hash(("a",))


def test_what_may_change_cannot_be_hashed() -> None:
    assert Counter(1) == Counter(1)
    with pytest.raises(TypeError, match="unhashable"):
        hash(Counter())


def test_identity_and_own_functions_stay() -> None:
    one = Identity()
    assert one == one
    assert one != Identity()
    assert hash(one) == object.__hash__(one)
    assert Named("a", 1) == Named("a", 2)
    assert hash(Named("four")) == len("four")
    assert repr(Named("a")) == "<a>"


def test_shows_what_contains_itself() -> None:
    tree = Tree()
    tree.below.append(tree)
    assert repr(tree) == "Tree(below=[...])"


def test_is_a_dataclass_with_slots() -> None:
    point = Point(1, 2)
    assert [one.name for one in fields(point)] == ["x", "y", "note", "secret"]
    assert replace(point, y=3) == Point(1, 3)
    assert not hasattr(point, "__dict__")
    assert pickle.loads(pickle.dumps(point)) == point
    assert copy.deepcopy(point) == point
    match point:
        case Point(x, y):
            assert (x, y) == (1, 2)
