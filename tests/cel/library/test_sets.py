"""The sets library and its costs."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from celadon.cel import types
from celadon.cel.cost import Range, Sized
from celadon.cel.errors import EvaluationError
from celadon.cel.library import lists, sets
from celadon.cel.syntax import Ident
from celadon.cel.values.container_access import contains as is_in
from celadon.cel.values.text import Uint
from tests.growth.counted_steps import LINEAR, growth


@pytest.mark.parametrize(
    ("a", "b", "contains", "intersects"),
    [
        ([], [], True, False),
        ([], [1], False, False),
        ([1], [], True, False),
        ([1, 2, 3], [3, 1], True, True),
        ([1, 2, 3], [3, 4], False, True),
        ([1, 2.0, Uint(3)], [1.0, Uint(2), 3], True, True),
        ([True], [1], False, False),
        (["a", "b"], ["b", "b"], True, True),
        ([b"a"], ["a"], False, False),
        ([[1], [2, 3]], [[2, 3.0]], True, True),
        ([{"a": 1}], [{"a": 1.0}], True, True),
    ],
)
def test_relations(a: list[Any], b: list[Any], contains: bool, intersects: bool) -> None:
    assert sets.contains(a, b) is contains
    assert sets.intersects(a, b) is intersects
    assert sets.equivalent(a, b) is (contains and sets.contains(b, a))


ELEMENTS = st.lists(st.sampled_from([0, 1, True, 1.0, Uint(1), "a", None]), max_size=4)


@given(ELEMENTS, ELEMENTS)
def test_elements_are_found_as_by_in(a: list[Any], b: list[Any]) -> None:
    assert sets.contains(a, b) is all(is_in(x, a) for x in b)
    assert sets.intersects(a, b) is any(is_in(x, b) for x in a)


@pytest.mark.parametrize(
    ("name", "cost", "estimate"),
    [
        ("sets.contains", 7, Range(7, 21)),
        ("sets.intersects", 7, Range(7, 21)),
        ("sets.equivalent", 13, Range(13, 41)),
    ],
)
def test_costs(name: str, cost: int, estimate: Range) -> None:
    function = next(f for f in sets.LIBRARY.functions if f.name == name)
    rule = function.overloads[0].cost
    assert rule is not None
    assert rule.tracked(([1, 2, 3], [1, 2]), True) == cost
    sized = [
        Sized(Ident(1, "x"), types.DYN, Range(3, 5)),
        Sized(Ident(2, "y"), types.DYN, Range(2, 4)),
    ]
    assert rule.estimated(sized).cost == estimate


@pytest.mark.parametrize("function", [sets.contains, sets.intersects, sets.equivalent])
def test_too_many_elements_are_not_compared(function: Any) -> None:
    with pytest.raises(EvaluationError, match="actual cost limit exceeded"):
        function([[i] for i in range(3000)], [[-i] for i in range(1, 3000)])
    assert not function(list(range(9000)), [-1])


def maps(count: int, first: int = 0) -> list[Any]:
    return [{"a": number, "b": [{"c": "x"}]} for number in range(first, first + count)]


@pytest.mark.parametrize(
    "work",
    [
        lambda count: lambda: sets.contains(maps(count), maps(count)[::-1]),
        lambda count: lambda: sets.intersects(maps(count), maps(count, count)),
        lambda count: lambda: sets.equivalent(maps(count), maps(count)[::-1]),
        lambda count: lambda: lists.distinct(maps(count)),
        lambda count: lambda: lists.distinct([[math.nan] for _ in range(count)]),
    ],
    ids=["contains", "intersects", "equivalent", "distinct", "distinct, which nothing is"],
)
def test_maps_are_found_in_steps_in_proportion(work: Callable[[int], Callable[[], object]]) -> None:
    assert growth(work, 20) < LINEAR
