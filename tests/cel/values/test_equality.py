"""Equality and ordering across kinds."""

from __future__ import annotations

import math
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from celadon.cel import types
from celadon.cel.errors import EvaluationError
from celadon.cel.values import equality
from celadon.cel.values.equality import candidates, common_keys, compare, equal, not_equal
from celadon.cel.values.maps import make_map
from celadon.cel.values.runtime_types import NONE, Opaque, Optional
from celadon.cel.values.text import MAX_INT, Uint
from celadon.cel.values.timestamps import Duration, Timestamp


class Weight(Opaque):
    """An abstract value for these tests."""

    __slots__ = ("grams",)
    cel_type = types.opaque("test.Weight")

    def __init__(self, grams: int) -> None:
        self.grams = grams

    def equals(self, other: Opaque) -> bool:
        return isinstance(other, Weight) and self.grams == other.grams


@pytest.mark.parametrize(
    ("a", "b", "expected"),
    [
        (1, 1, True),
        (1, Uint(1), True),
        (1, 1.0, True),
        (Uint(2), 2.0, True),
        (1, True, False),
        (True, 1.0, False),
        (0, False, False),
        (None, None, True),
        (None, 0, False),
        ("", None, False),
        ("a", b"a", False),
        (-0.0, 0.0, True),
        (math.nan, math.nan, False),
        (MAX_INT, 9223372036854775808.0, True),
        (9007199254740993, 9007199254740992.0, True),
        (-1, Uint(2**64 - 1), False),
        ([], {}, False),
        ({}, [], False),
        ([1, [2.0]], [1.0, [2]], True),
        ([True], [1], False),
        ([math.nan], [math.nan], False),
        ({"a": 1}, {"a": True}, False),
        ({"a": [{"b": None}]}, {"a": [{"b": None}]}, True),
        ({"a": 1}, {"b": 1}, False),
        ({1: "a"}, {Uint(1): "a"}, True),
        (make_map([(1.0, "a")]), {1: "a"}, True),
        ({1: "a"}, make_map([(1.0, "a")]), False),
        (make_map([(True, "a")]), {1: "a"}, False),
        (make_map([(True, "a"), (1, "b")]), make_map([(1, "b"), (True, "a")]), True),
        (Timestamp(0, 0, 60), Timestamp(0), True),
        (Timestamp(0), Duration(0), False),
        (types.INT, types.INT, True),
        (types.list_of(types.INT), types.LIST, True),
        (types.INT, "int", False),
        ("int", types.INT, False),
        (NONE, NONE, True),
        (NONE, Optional(None), False),
        (Optional(1), Optional(1.0), True),
        (Optional(1), 1, False),
        (1, Optional(1), False),
        (Weight(1), Weight(1), True),
        (Weight(1), Weight(2), False),
        (1, Weight(1), False),
        ({}, Weight(1), False),
        (Weight(1), None, False),
        (None, Weight(1), False),
    ],
)
def test_equal(a: object, b: object, expected: bool) -> None:
    assert equal(a, b) is expected
    assert not_equal(a, b) is not expected


@pytest.mark.parametrize(
    ("a", "b"),
    [(Weight(1), 1), (Weight(1), []), (Optional(Weight(1)), Optional(1)), (Weight(1), NONE)],
)
def test_abstract_values_on_the_left_refuse_other_kinds(a: object, b: object) -> None:
    with pytest.raises(EvaluationError, match=r"^no such overload$"):
        equal(a, b)
    assert not_equal(a, b) is True


@pytest.mark.parametrize(
    ("a", "b", "expected"),
    [
        ({"a": "x", "b": "y"}, {"b": "y", "a": "x"}, True),
        ({"a": "x"}, {"a": "x", "b": "y"}, False),
        ({"a": "x"}, {"b": "x"}, False),
        ({"m": {"a": "x"}}, {"m": {"a": "x"}}, True),
        ({"m": {"a": "x"}}, {"m": {"a": Weight(1)}}, False),
        ({"a": "x"}, {"a": Weight(1)}, False),
        ({"m": {"a": "1"}}, {"m": {"a": 1}}, False),
        ({"m": {"a": 1}}, {"m": {"a": True}}, False),
        ({"m": {"a": math.nan}}, {"m": {"a": math.nan}}, False),
        ({"m": {"d": {"a": "x"}}}, {"m": {"d": {"a": "x"}}}, True),
        ({}, {}, True),
    ],
)
def test_maps_of_texts(a: object, b: object, expected: bool) -> None:
    assert equal(a, b) is expected


def test_elements_that_cannot_be_compared_count_as_equal() -> None:
    assert equal([Weight(1), 2], ["x", 2])
    assert not equal([Weight(1), 2], ["x", 3])
    assert equal({"a": Weight(1)}, {"a": 1})
    assert not equal(["x"], [Weight(1)])


def test_deep_values_are_compared() -> None:
    a: object = 1
    b: object = 1
    for _ in range(3_000):
        a, b = {"x": [a]}, {"x": [b]}
    assert equal(a, b)
    assert not equal(a, {"x": [b]})


ORDERS: dict[str, Callable[[object, object], bool]] = {
    "_<_": equality.less,
    "_<=_": equality.less_equals,
    "_>_": equality.greater,
    "_>=_": equality.greater_equals,
}


@pytest.mark.parametrize(
    ("a", "b", "order"),
    [
        (1, 2, -1),
        (2, 1.5, 1),
        (Uint(1), 1, 0),
        (-1, Uint(0), -1),
        (2**63 - 1, 2.0**63, 0),
        (False, True, -1),
        ("a", "b", -1),
        ("\uffff", "\U00010000", -1),
        (b"a", b"aa", -1),
        (Timestamp(0), Timestamp(0, 1), -1),
        (Duration(1), Duration(1), 0),
    ],
)
def test_order(a: object, b: object, order: int) -> None:
    assert compare(a, b) == order
    assert compare(b, a) == -order
    results = [operator(a, b) for operator in ORDERS.values()]
    assert results == [order < 0, order <= 0, order > 0, order >= 0]


@pytest.mark.parametrize(
    ("a", "b", "message"),
    [
        (1, "a", "no such overload"),
        (True, 1, "no such overload"),
        ("a", b"a", "no such overload"),
        (Timestamp(0), Duration(0), "no such overload"),
        (math.nan, 1, "NaN values cannot be ordered"),
        (1, math.nan, "NaN values cannot be ordered"),
        (math.nan, math.nan, "NaN values cannot be ordered"),
        (math.nan, "a", "NaN values cannot be ordered"),
        ("a", math.nan, "no such overload"),
        (None, 1, "no such overload: {}"),
        ([1], [2], "no such overload: {}"),
        ({}, {}, "no such overload: {}"),
        (types.INT, types.INT, "no such overload: {}"),
        (Weight(1), Weight(2), "no such overload: {}"),
    ],
)
def test_what_has_no_order(a: object, b: object, message: str) -> None:
    for name, operator in ORDERS.items():
        with pytest.raises(EvaluationError) as raised:
            operator(a, b)
        assert raised.value.message == message.format(name)
    with pytest.raises(EvaluationError):
        compare(a, b)


VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-5, 5)
    | st.integers(0, 5).map(Uint)
    | st.sampled_from([0.0, 1.0, 2.5])
    | st.text(max_size=2),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=1), inner),
    max_leaves=8,
)


@given(VALUES, VALUES)
def test_equality_is_symmetric(a: object, b: object) -> None:
    assert equal(a, b) is equal(b, a)


@given(VALUES)
def test_equality_is_reflexive(a: object) -> None:
    assert equal(a, a)


def shared(depth: int, leaf: object, *, optional: bool = False) -> object:
    """A list of twice the same, so many levels deep: 2 ** depth leaves."""
    value = leaf
    for _ in range(depth):
        value = [value, Optional(value) if optional and isinstance(value, list) else value]
    return value


@pytest.mark.parametrize("optional", [False, True])
def test_values_that_share_structure_are_compared_in_time(optional: bool) -> None:
    one, other = shared(200, 1, optional=optional), shared(200, 1.0, optional=optional)
    assert equal(one, one)
    assert equal(one, other)
    assert not equal(one, shared(200, 2, optional=optional))
    nan = shared(200, math.nan, optional=optional)
    assert not equal(nan, nan), "the same object is no shortcut"


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("leaf", "itself"),
    [(1.5, True), (math.nan, False), (Optional(math.nan), False), (Weight(1), True), (NONE, True)],
)
@pytest.mark.parametrize("count", [1, 120_000])
def test_what_stands_on_both_sides(leaf: object, itself: bool, count: int) -> None:
    value = {
        "a": [["x", None, True, Uint(1)]] * 2,
        "b": [{"c": 1} for _ in range(count)],
        "c": leaf,
    }
    assert equal(value, value) is itself
    assert equal([value], [value]) is itself
    assert not_equal(value, value) is not itself


PLAIN = st.recursive(
    st.sampled_from(
        [
            *(0, 1, -1, 1.0, -0.0, 0.0, 0.5, math.nan, math.inf, Uint(0), Uint(1), True, False),
            *(None, "", "a", b"", b"a", 2**53, 2**53 + 1, float(2**53), Uint(2**53 + 1)),
            *(Duration(1), Duration(2), Timestamp(1), Timestamp(1, 0, 60)),
        ]
    ),
    lambda inner: st.one_of(
        st.lists(inner, max_size=2),
        st.dictionaries(st.sampled_from(["a", 1, Uint(2)]), inner, max_size=2),
    ),
    max_leaves=4,
)


def nested(levels: int, width: int) -> object:
    whole: object = 1
    for _ in range(levels):
        whole = [whole] * width
    return whole


@given(st.lists(PLAIN, max_size=8))
def test_equal_values_have_a_common_key(values: list[object]) -> None:
    keys = common_keys(values)
    assert None not in keys
    for one, key in zip(values, keys, strict=True):
        for other, its_key in zip(values, keys, strict=True):
            assert key == its_key or not equal(one, other)


@pytest.mark.parametrize(
    "value",
    [
        Weight(1),
        [Weight(1)],
        NONE,
        types.INT,
        make_map([(True, 1), (1, 2)]),  # what it equals, a lookup says
        nested(100, 1),
        nested(30, 2),  # small and yet endless
    ],
)
def test_where_that_cannot_be_told_all_may_be_equal(
    value: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(equality, "_MOST_PARTS", 1_000)
    assert common_keys([1, value]) == [None, None]
    assert list(candidates([1], [2, value])) == [(1, [2, value])]


def test_what_is_different_is_not_compared() -> None:
    nothing = {"a": math.nan}
    elements, others = [1, "b", nothing], [Uint(1), 1.0, "a", nothing]
    assert [some for _, some in candidates(elements, others)] == [[Uint(1), 1.0], [], []]
