"""The lists library and its costs."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from celadon.cel import types
from celadon.cel.cost import MAX_UINT64, CostRule, Range, Sized
from celadon.cel.errors import EvaluationError, Panicked
from celadon.cel.library import lists
from celadon.cel.library import lists as costs
from celadon.cel.library.lists import sort_by_keys
from celadon.cel.syntax import Ident, Literal
from celadon.cel.values.runtime_types import Optional
from celadon.cel.values.text import Uint
from celadon.cel.values.timestamps import Timestamp

ERROR = EvaluationError("x")


@pytest.mark.parametrize(
    ("function", "args", "result"),
    [
        (lists.slice_list, ([1, 2, 3], 1, 2), [2]),
        (lists.slice_list, ([1, 2, 3], 3, 3), []),
        (lists.slice_list, ([1, 2, 3], 0, 3), [1, 2, 3]),
        (lists.slice_list, ([1, 2, 3], 0, 0), []),
        (lists.slice_list, ([], 0, 0), []),
        (lists.flatten, ([1, [2, [3]], []],), [1, 2, [3]]),
        (lists.flatten, ([1, "a"],), [1, "a"]),
        (lists.flatten_deep, ([[1, [2]], 3], 0), [[1, [2]], 3]),
        (lists.flatten_deep, ([[1, [2, [3]]], 4], 2), [1, 2, [3], 4]),
        (lists.sort, ([3, 1, 2],), [1, 2, 3]),
        (lists.sort, ([True, False],), [False, True]),
        (lists.sort, ([Timestamp(2), Timestamp(1)],), [Timestamp(1), Timestamp(2)]),
        (lists.sort, ([],), []),
        (lists.sort_by_associated_keys, (["a", "b"], [2, 1]), ["b", "a"]),
        (lists.integer_range, (3,), [0, 1, 2]),
        (lists.integer_range, (-3,), []),
        (lists.integer_range, (0,), []),
        (lists.integer_range, (1,), [0]),
        (lists.reverse, ([1, 2],), [2, 1]),
        (lists.distinct, ([1, 2, 1],), [1, 2]),
        (lists.distinct, (["a", "b", "a"],), ["a", "b"]),
        (lists.distinct, ([1, 1.0, Uint(1), True],), [1, True]),
        (lists.distinct, ([[1], [1.0], {}],), [[1], {}]),
        (lists.distinct, ([],), []),
    ],
)
def test_results(function: Callable[..., Any], args: tuple[Any, ...], result: object) -> None:
    found = function(*args)
    assert found == result
    assert [x.__class__ for x in found] == [x.__class__ for x in result]  # type: ignore[attr-defined]  # lists


@pytest.mark.parametrize(
    ("function", "args", "message"),
    [
        (
            lists.slice_list,
            ([1], -1, 1),
            "cannot slice(-1, 1), negative indexes not supported",
        ),
        (
            lists.slice_list,
            ([1], 2, 1),
            "cannot slice(2, 1), start index must be less than or equal to end index",
        ),
        (
            lists.slice_list,
            ([1], 0, -1),
            "cannot slice(0, -1), negative indexes not supported",
        ),
        (lists.slice_list, ([1], 0, 2), "cannot slice(0, 2), list is length 1"),
        (lists.slice_list, ([1], 2, 2), "cannot slice(2, 2), list is length 1"),
        (lists.flatten, ("a",), "no such overload: string.flatten()"),
        (lists.flatten, ({},), "no such overload: map(dyn, dyn).flatten()"),
        (lists.flatten_deep, ([], -1), "level must be non-negative"),
        (lists.flatten_deep, ([], "a"), "no such overload: list(dyn).flatten(string)"),
        (lists.flatten_deep, (None, 1), "no such overload: null_type.flatten(int)"),
        (lists.distinct, ("a",), "no such overload"),
        (lists.distinct, (None,), "no such overload: distinct"),
        (lists.sort, ([None],), "list elements must be comparable"),
        (lists.sort, ([1, Uint(1)],), "list elements must have the same type"),
        (lists.sort, (1,), "no such overload: sort"),
        (lists.sort, ("a",), "no such overload"),
        (lists.sort_by_associated_keys, ([1], 1), "no such overload"),
        (lists.sort_by_associated_keys, (1, [1]), "no such overload: @sortByAssociatedKeys"),
        (
            lists.sort_by_associated_keys,
            ([1, 2], [1]),
            "@sortByAssociatedKeys() expected a list of the same size as the associated keys "
            "list, but got 2 and 1 elements respectively",
        ),
    ],
)
def test_errors(function: Callable[..., Any], args: tuple[Any, ...], message: str) -> None:
    with pytest.raises(EvaluationError) as raised:
        function(*args)
    assert raised.value.message == message


def test_a_range_that_would_take_all_memory() -> None:
    with pytest.raises(EvaluationError, match="actual cost limit exceeded"):
        lists.integer_range(2**63 - 1)
    assert costs.RANGE.tracked((2**63 - 1,), ERROR) == 2**63 + 10


def test_nan_keys_stay_where_comparisons_leave_them() -> None:
    assert sort_by_keys(["c", "nan", "a"], [3.0, math.nan, 1.0]) == ["c", "nan", "a"]
    assert sort_by_keys(["c", "a", "nan"], [3.0, 1.0, math.nan]) == ["a", "c", "nan"]


@given(st.lists(st.integers(0, 3), max_size=30))
def test_equal_keys_keep_their_order(keys: list[int]) -> None:
    positions = list(range(len(keys)))
    assert sort_by_keys(positions, keys) == sorted(positions, key=keys.__getitem__)
    doubles = [float(key) for key in keys]
    assert sort_by_keys(positions, doubles) == sorted(positions, key=keys.__getitem__)


def test_deep_lists_are_flattened() -> None:
    deep: list[Any] = [1]
    for _ in range(5000):
        deep = [deep]
    assert lists.flatten_deep(deep, 2**63 - 1) == [1]


@pytest.mark.parametrize(
    ("rule", "args", "result", "cost"),
    [
        (costs.SLICE, ([1, 2, 3], 0, 2), [1, 2], 13),
        (costs.SLICE, ([1, 2, 3], 0, 9), ERROR, 12),
        (costs.RANGE, (3,), [0, 1, 2], 14),
        (costs.REVERSE, ([1, 2],), [2, 1], 13),
        (costs.FLATTEN, ([[1], [2]],), [1, 2], 13),
        (costs.FLATTEN, ([[1], [2]], 3), [1, 2], 17),
        (costs.FLATTEN, ([1], -1), ERROR, 10),
        (costs.FLATTEN, ([1] * 20, -1), ERROR, 2**64 - 9),
        (costs.FLATTEN, ([1] * 2, -(2**63)), ERROR, 2**63 + 11),
        (costs.FLATTEN, ([1] * 2, 2**63 - 1), ERROR, 2**63 + 11),
        (costs.FLATTEN, ([1], 2**63 - 1), ERROR, 2**63 + 11),
        (costs.FLATTEN, (Optional([1, 2, 3]),), ERROR, 12),
        (costs.DISTINCT, ([1, 2, 2, 3],), [1, 2, 3], 43),
        (costs.DISTINCT, (["a"] * 3,), ["a"], 29),
        (costs.DISTINCT, ([],), [], 11),
        (costs.sort_cost(text=True, keys=0), (["b", "a"],), ["a", "b"], 19),
        (costs.sort_cost(text=False, keys=1), ([1, 2, 3], [3, 2, 1]), [3, 2, 1], 29),
    ],
)
def test_tracked_cost(rule: CostRule, args: tuple[Any, ...], result: object, cost: int) -> None:
    assert rule.tracked(args, result) == cost


@pytest.mark.parametrize(
    ("rule", "args", "text"),
    [
        (costs.DISTINCT, ("abc",), "types.String is not traits.Lister: missing method Contains"),
        (costs.DISTINCT, (None,), "types.Null is not traits.Lister: missing method Add"),
        (costs.DISTINCT, (ERROR,), "*types.Err is not traits.Lister: missing method Add"),
        (
            costs.sort_cost(text=False, keys=1),
            ([1], ERROR),
            "*types.Err is not traits.Lister: missing method Add",
        ),
    ],
)
def test_counting_comparisons_panics(rule: CostRule, args: tuple[Any, ...], text: str) -> None:
    assert rule.panics
    with pytest.raises(Panicked) as raised:
        rule.tracked(args, ERROR)
    assert raised.value.message == f"internal error: interface conversion: {text}"


def sized(low: int, high: int) -> Sized:
    return Sized(Ident(1, "x"), types.DYN, Range(low, high))


def literal(value: int) -> Sized:
    return Sized(Literal(1, value), types.INT, Range(1, 1))


@pytest.mark.parametrize(
    ("rule", "args", "cost", "size"),
    [
        (costs.SLICE, [sized(0, 9), literal(1), literal(3)], Range(13, 13), Range(2, 2)),
        (costs.SLICE, [sized(0, 9), sized(1, 1), sized(1, 1)], Range(20, 20), Range(9, 9)),
        (costs.SLICE, [sized(0, 9), literal(-1), literal(3)], Range(14, 14), Range(3, 3)),
        (
            costs.SLICE,
            [sized(0, 9), literal(2), literal(1)],
            Range(MAX_UINT64, MAX_UINT64),
            Range(MAX_UINT64, MAX_UINT64),
        ),
        (costs.RANGE, [literal(5)], Range(16, 16), Range(5, 5)),
        (costs.REVERSE, [sized(1, 5)], Range(12, 16), Range(1, 5)),
        (costs.FLATTEN, [sized(1, 5)], Range(12, 16), Range(1, 5)),
        (costs.FLATTEN, [sized(1, 5), literal(3)], Range(14, 26), Range(1, 5)),
        (costs.DISTINCT, [sized(1, 5)], Range(13, 61), Range(1, 25)),
        (costs.sort_cost(text=True, keys=0), [sized(1, 5)], Range(14, 64), Range(1, 25)),
        (
            costs.sort_cost(text=False, keys=1),
            [sized(9, 9), sized(1, 5)],
            Range(13, 61),
            Range(1, 25),
        ),
    ],
)
def test_estimated_cost(rule: CostRule, args: list[Sized], cost: Range, size: Range) -> None:
    estimate = rule.estimated(args)
    assert estimate.cost == cost
    assert estimate.size == size


def test_versions() -> None:
    names = [{f.name for f in lists.library(version).functions} for version in range(4)]
    assert names[0] == {"slice"}
    assert names[1] - names[0] == {"flatten"}
    assert names[2] - names[1] == {
        "sort",
        "@sortByAssociatedKeys",
        "lists.range",
        "reverse",
        "distinct",
    }
    assert names[3] == names[2]
    assert [len(lists.library(version).macros) for version in range(4)] == [0, 0, 1, 1]
    for version in range(4):
        overloads = [o for f in lists.library(version).functions for o in f.overloads]
        assert all((o.cost is not None) is (version == 3) for o in overloads)


@pytest.mark.parametrize("leaf", [[], 1])
def test_what_has_no_end_is_not_flattened(leaf: object) -> None:
    value = leaf
    for _ in range(60):
        value = [value, value]
    with pytest.raises(EvaluationError, match="actual cost limit exceeded"):
        lists.flatten_deep(value, 100)


def test_too_many_elements_are_not_compared_each_with_each() -> None:
    assert lists.distinct([1] * 10_000) == [1]
    with pytest.raises(EvaluationError, match="actual cost limit exceeded"):
        lists.distinct([[i] for i in range(10_000)])
