"""Cheaper dataclasses do what those of the standard library do, but for freezing."""

from __future__ import annotations

import copy
import inspect
import pickle
from collections.abc import Callable
from dataclasses import KW_ONLY, field, fields, replace
from dataclasses import dataclass as standard_dataclass
from typing import Any, ClassVar

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


def _base(dataclass: Any) -> Any:
    @dataclass(frozen=True, slots=True)
    class Shape:
        name: str
        sides: int = 4

    return Shape


def _derived(dataclass: Any) -> Any:
    @dataclass(frozen=True, slots=True)
    class Shape(_base(dataclass)):  # type: ignore[misc] # made here
        sides: int = 3
        notes: list[str] = field(default_factory=list)

    return Shape


def _factories(dataclass: Any) -> Any:
    @dataclass(slots=True)
    class Shape:
        a: int
        b: list[int] = field(default_factory=list)
        c: int = 1
        d: dict[str, int] = field(default_factory=dict)

    return Shape


def _keywords(dataclass: Any) -> Any:
    @dataclass(slots=True, kw_only=True)
    class Shape:
        a: list[int] = field(default_factory=list)
        b: int  # type: ignore[misc] # as the argument that it becomes
        c: int = 1

    return Shape


def _some_keywords(dataclass: Any) -> Any:
    @dataclass(slots=True)
    class Shape:
        a: int
        _: KW_ONLY
        b: int = 0

    return Shape


def _one_keyword(dataclass: Any) -> Any:
    @dataclass(slots=True)
    class Shape:
        a: int = field(default=1, kw_only=True)
        b: int

    return Shape


def _class_variable(dataclass: Any) -> Any:
    @dataclass(slots=True)
    class Shape:
        kind: ClassVar[str] = "round"
        a: int = 0

    return Shape


def _after(dataclass: Any) -> Any:
    @dataclass(slots=True)
    class Shape:
        a: int = 0
        twice: int = field(init=False)

        def __post_init__(self) -> None:
            self.twice = 2 * self.a

    return Shape


def _own_initializer(dataclass: Any) -> Any:
    @dataclass(slots=True)
    class Shape:
        a: int

        def __init__(self) -> None:
            self.a = 7

    return Shape


def _without_slots(dataclass: Any) -> Any:
    @dataclass(frozen=True)
    class Shape:
        a: int
        b: list[int] = field(default_factory=list)

    return Shape


_SHAPES = (
    _base,
    _derived,
    _factories,
    _keywords,
    _some_keywords,
    _one_keyword,
    _class_variable,
    _after,
    _own_initializer,
    _without_slots,
)
_ARGUMENTS: tuple[tuple[tuple[Any, ...], dict[str, Any]], ...] = (
    ((), {}),
    ((1,), {}),
    ((1, 2), {}),
    ((1, 2, 3), {}),
    ((1, [2], 3, {}), {}),
    ((1, 2, 3, 4, 5), {}),
    ((), {"a": 1}),
    ((), {"b": 1}),
    ((), {"a": [1], "b": 2, "c": 3}),
    ((1,), {"b": [2]}),
    ((1,), {"b": 2, "a": 3}),
    (("x",), {"notes": ["y"]}),
    (("x",), {"sides": 5}),
    ((), {"strange": 1}),
)


def _outcome(cls: Any, given: tuple[Any, ...], named: dict[str, Any]) -> object:
    try:
        made = cls(*given, **named)
    except TypeError as error:
        return str(error).replace("standard_", "")
    return {one.name: getattr(made, one.name) for one in fields(made)}


@pytest.mark.parametrize("shape", _SHAPES)
def test_takes_and_refuses_what_the_standard_library_does(shape: Callable[[Any], Any]) -> None:
    own, standard = shape(dataclass), shape(standard_dataclass)
    for given, named in _ARGUMENTS:
        assert _outcome(own, given, named) == _outcome(standard, given, named)
    assert str(inspect.signature(own)) == str(inspect.signature(standard))
    assert own.__match_args__ == standard.__match_args__
    assert own.__qualname__ == standard.__qualname__
    for left, right in zip(fields(own), fields(standard), strict=True):
        assert repr(left) == repr(right)


def test_each_object_has_what_its_factory_makes() -> None:
    shape = _factories(dataclass)
    assert shape(1).b is not shape(1).b
    assert shape(1, None).b is None


def test_refuses_the_classes_that_the_standard_library_refuses() -> None:
    with pytest.raises(ValueError, match="mutable default"):

        @dataclass(slots=True)
        class Mutable:
            a: list[int] = []  # noqa: RUF012 # the mistake that is meant

    with pytest.raises(TypeError, match="non-default argument 'b' follows"):

        @dataclass(slots=True)
        class Unordered:
            a: int = 0
            b: int  # type: ignore[misc] # the mistake that is meant
