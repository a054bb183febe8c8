"""Selecting, indexing, testing, iterating."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any
from unittest.mock import ANY

import pytest

from celadon.cel import Environment, types
from celadon.cel.errors import CostLimitExceeded, EvaluationError
from celadon.cel.library import comprehensions, lists, optionals, sets, strings
from celadon.cel.values import container_access, equality
from celadon.cel.values.maps import MISSING, make_map
from celadon.cel.values.runtime_types import NONE, Opaque, Optional
from celadon.cel.values.text import Uint
from celadon.cel.values.timestamps import Duration, Timestamp
from tests.growth.counted_steps import LINEAR, growth, steps_of


class Weight(Opaque):
    """Never equal to anything."""

    cel_type = types.opaque("test.Weight")
    __slots__ = ()


MIXED = make_map([(True, "yes"), ("a", 1)])


@pytest.mark.parametrize(
    ("operand", "key", "value"),
    [
        ({"a": 1}, "a", 1),
        ({"a": None}, "a", None),
        (MIXED, "a", 1),
        (MIXED, True, "yes"),
        ({1: "x"}, 1.0, "x"),
        (["x", "y"], 1, "y"),
        (["x", "y"], Uint(1), "y"),
        (["x", "y"], 1.0, "y"),
    ],
)
def test_index(operand: object, key: object, value: object) -> None:
    assert container_access.index(operand, key) == value
    assert container_access.find_index(operand, key) == value
    if key.__class__ is str:
        assert container_access.select(operand, str(key)) == value
        assert container_access.has_field(operand, str(key))


@pytest.mark.parametrize(
    ("operand", "key", "message"),
    [
        ({}, "a", "no such key: a"),
        ({"a": 1}, 1, "no such key: 1"),
        ({1: 1}, True, "no such key: true"),
        ({}, -0.0, "no such key: -0"),
        ([1], 1, "index out of bounds: 1"),
        ([1], -1, "index out of bounds: -1"),
        ([1], Uint(5), "index out of bounds: 5"),
        ([1], 2.0, "index out of bounds: 2"),
        ([1], 0.5, "unsupported index value 0.5 in list"),
        ([1], "a", "unsupported index type 'string' in list"),
        ([1], True, "unsupported index type 'bool' in list"),
        ("abc", 0, "no such key: 0"),
        (None, "f", "no such key: f"),
        (5, "f", "no such key: f"),
        ({}, None, "invalid qualifier type: types.Null"),
        ({}, [1], "invalid qualifier type: *types.baseList"),
        ([], {}, "invalid qualifier type: *types.baseMap"),
        ("a", b"x", "invalid qualifier type: types.Bytes"),
        ({}, types.INT, "invalid qualifier type: *types.Type"),
    ],
)
def test_index_errors(operand: object, key: object, message: str) -> None:
    with pytest.raises(EvaluationError) as raised:
        container_access.index(operand, key)
    assert raised.value.message == message


@pytest.mark.parametrize(
    ("operand", "message"),
    [
        ({}, "no such key: f"),
        ([], "unsupported index type 'string' in list"),
        ("a", "no such key: f"),
        (Optional({"f": 1}), "no such key: f"),
    ],
)
def test_select_errors(operand: object, message: str) -> None:
    with pytest.raises(EvaluationError) as raised:
        container_access.select(operand, "f")
    assert raised.value.message == message


def test_optional_lookups_miss_quietly() -> None:
    assert container_access.find_field({}, "a") is MISSING
    assert container_access.find_field(5, "a") is MISSING
    assert container_access.find_index([], 0) is MISSING
    assert container_access.find_index(None, 0) is MISSING
    with pytest.raises(EvaluationError, match="unsupported index type 'string' in list"):
        container_access.find_field([], "a")


@pytest.mark.parametrize(
    ("operand", "expected"),
    [
        ({"f": None}, True),
        ({}, False),
        (5, False),
        (None, False),
        (NONE, False),
        (Optional({"f": 1}), True),
        (Optional({}), False),
    ],
)
def test_has_field(operand: object, expected: bool) -> None:
    assert container_access.has_field(operand, "f") is expected


def test_has_field_of_a_list_is_an_error() -> None:
    with pytest.raises(EvaluationError, match="unsupported index type 'string' in list"):
        container_access.has_field([], "f")


@pytest.mark.parametrize(
    ("element", "container", "expected"),
    [
        (1, [1.0], True),
        (1, [True], False),
        (True, [1, True], True),
        ("a", ["b", "a"], True),
        ("a", [b"a", 1], False),
        (None, [None], True),
        (None, [0], False),
        ([1], [[1.0]], True),
        (1, [2, Uint(1)], True),
        (5, [True, 5.0], True),
        (2**53 + 1, [2.0**53], True),
        ("a", [Weight(), "a"], True),
        (None, [Weight()], False),
        (Weight(), [1, Weight()], False),
        ("a", {"a": 1}, True),
        (1, {"a": 1}, False),
        (1.0, {1: 1}, True),
        (True, {1: 1}, False),
        (True, MIXED, True),
        (2.0, [True, 2], True),
        (1.0, [True], False),
        (0.0, [False, -0.0], True),
        (1.5, [Weight(), "1.5", 1.5], True),
        (math.nan, [math.nan], False),
        (float("inf"), [1, float("inf")], True),
        (float(1 << 53), [(1 << 53) + 1], True),
        (Uint(2), [2.0], True),
        (Uint(1), [True], False),
    ],
)
def test_contains(element: object, container: object, expected: bool) -> None:
    assert container_access.contains(element, container) is expected


@pytest.mark.parametrize("element", [1.5, 7.0, Uint(7), 7, "a"])
def test_python_looks_for_what_is_equal_for_it_too(element: object) -> None:
    few, many = [0.5] * 100, [0.5] * 100_000
    steps = steps_of(lambda: container_access.contains(element, few))
    assert steps_of(lambda: container_access.contains(element, many)) == steps


VALUES: list[Any] = [
    *(None, True, False, "", "a", b"a", 0, -0.0, 1, 1.0, Uint(1), 1.5, "1.0", math.nan, math.inf),
    *(2**53, 2**53 + 1, 2.0**53, Uint(2**53), -(2**63), Duration(1), Weight(), MIXED),
    *([], {}, [1], [1.0], [[True]], [[1]], {"a": [1]}, {"a": [1.0]}, {1: "a"}, {Uint(1): "a"}),
    *([math.nan], [2**53 + 1], [2.0**53], [None, "a"], ["a", None], {"a": 1, "b": "1"}),
]


@pytest.mark.parametrize("left_out", range(len(VALUES)))
def test_looking_up_finds_what_searching_finds(left_out: int) -> None:
    elements = [*VALUES[:left_out], *VALUES[left_out + 1 :], *("b",) * container_access.LONG]
    work = container_access.UnpaidWork()
    for value in VALUES * 3:
        again = container_access.contains_again(work, None, value, elements)
        assert again is container_access.contains(value, elements)


def test_searching_short_lists_and_maps_again_is_searching() -> None:
    for container in ([1, 2], {2: "a"}):
        assert container_access.contains_again(container_access.UnpaidWork(), None, 2.0, container)
        assert not container_access.contains_again(
            container_access.UnpaidWork(), None, 3, container
        )
    with pytest.raises(EvaluationError, match=r"^no such overload$"):
        container_access.contains_again(container_access.UnpaidWork(), None, 2, "a")


def test_new_lists_without_end_are_not_searched(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(container_access.UnpaidWork, "left", 100_000)
    work = container_access.UnpaidWork()
    with pytest.raises(EvaluationError, match="actual cost limit exceeded"):
        any(container_access.contains_again(work, None, 1, [0] * 10_000) for _ in range(20))


def test_short_lists_are_searched_without_end(monkeypatch: pytest.MonkeyPatch) -> None:
    """As cel-go does in a moment, whatever their rounds are charged."""
    monkeypatch.setattr(container_access.UnpaidWork, "left", 100)
    work, short = container_access.UnpaidWork(), [Timestamp(0), 0.5] * 20
    for element in (1, Duration(1), "a", None):
        assert not any(work.contains(element, [*short]) for _ in range(100))


@pytest.mark.parametrize("few", [0, container_access.UnpaidWork.left + 1])
@pytest.mark.parametrize("a", [*VALUES, *map(Optional, VALUES), NONE])
def test_comparing_again_finds_what_comparing_finds(
    a: object, few: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whether by keys or part by part."""
    monkeypatch.setattr(container_access, "_FEW_COMPARED", few)
    work = container_access.UnpaidWork()
    for b in [*VALUES, *map(Optional, VALUES), NONE]:
        for x, y in [(a, b), ([a, [a]], [b, [b]]), ({"a": a}, {"a": b})]:
            again = partial(container_access.equal_again, work, None, x, y)
            assert _told(again) == _told(partial(equality.equal, x, y)), (x, y)
            assert container_access.not_equal_again(work, None, x, y) == equality.not_equal(x, y)


def _told(compare: Callable[[], bool]) -> object:
    try:
        return compare()
    except EvaluationError as error:
        return error.message


def _maps(count: int) -> list[Any]:
    return [{"a": number, "b": [{"c": "x"}]} for number in range(count)]


def _evaluation(source: str, method: str) -> Callable[[int], Callable[[], object]]:
    environment = Environment({"object": types.DYN}, libraries=_LIBRARIES)
    program = environment.program(environment.compile(source).checked()).prepare()
    evaluate = program.hot() if method == "evaluate" else getattr(program, method)

    def prepared(count: int) -> Callable[[], object]:
        items, copy, large = _maps(count), _maps(count), range(2**60, 2**60 + count)
        parts = {"items": items, "copy": copy, "large": list(large), "one": {}, "comma": ","}
        parts |= {"text": "a,b" * 10 * count, "hours": "1h" * count, "digits": "1" * count}
        parts |= {"map": dict.fromkeys(large), "options": [NONE] * count}
        return partial(evaluate, {"object": parts})

    return prepared


_LIBRARIES = [
    *(sets.LIBRARY, lists.library(), strings.library(2), optionals.library()),
    comprehensions.LIBRARY,
]


@pytest.mark.parametrize("method", ["evaluate", "evaluate_metered", "evaluate_exactly"])
@pytest.mark.parametrize(
    "source",
    [
        "object.items.all(x, x in object.items)",
        "object.items.all(x, !(object.one in object.items))",
        "object.items.map(x, dyn({'y': x})).all(x, !(x in object.items))",
        "object.large.all(x, x in object.large)",
        # in a function of its own, since loops are nested deeply
        f"{'[1].all(y, ' * 13}object.items.all(x, x in object.items){')' * 13}",
    ],
)
def test_loops_that_search_take_steps_in_proportion(source: str, method: str) -> None:
    assert growth(_evaluation(source, method), 100) < LINEAR


@pytest.mark.parametrize("method", ["evaluate", "evaluate_metered", "evaluate_exactly"])
@pytest.mark.parametrize(
    "comparison",
    [
        "object.items == object.copy",
        "!(object.items != object.copy)",
        "[object.items] == [object.copy]",
        "optional.of(object.items) == optional.of(object.copy)",
        "object.copy in [object.items]",
        "sets.contains([object.items], [object.copy])",
        "sets.equivalent([object.items], [object.copy])",
        "sets.intersects([object.items], [object.copy])",
        "[object.items, object.copy].distinct().size() == 1",
    ],
)
def test_loops_that_compare_take_steps_in_proportion(
    comparison: str, method: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(container_access, "_FEW_COMPARED", container_access.UnpaidWork.left + 1)
    loop = f"object.items.all(x, {comparison})"
    assert _evaluation(loop, method)(2)() in (True, (True, ANY))
    assert growth(_evaluation(loop, method), 50) < LINEAR


@pytest.mark.parametrize("method", ["evaluate", "evaluate_metered", "evaluate_exactly"])
@pytest.mark.parametrize(
    "call",
    [
        "'%s'.format([object.items]) != ''",
        "[object.items].flatten().size() > 0",
        "[[object.items]].flatten(3).size() > 0",
        "object.large.sort().size() > 0",
        "[double('NaN'), object.items] == [double('NaN'), object.items]",
        "'%s'.format([object.text]) != ''",
        "object.text.replace('a,b', object.hours) != ''",
        "object.text.replace('a', 'bbbbbbbbbbbbbbbbbbbbbbbbb') != ''",
        "object.text.split(object.comma).size() > 0",
        "['a', 'b'].join(object.text) != ''",
        "duration(object.hours) > duration('1s')",
        "timestamp('2000-01-01T00:00:00.' + object.digits + 'Z') > timestamp(0)",
        "double(object.digits) > 1.0",
        "optional.unwrap(object.options).size() > 0",
        "[1].transformMapEntry(k, v, object.map).size() > 0",
    ],
)
def test_what_nobody_pays_for_ends_the_evaluation(
    call: str, method: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And is not absorbed, as what costs too much is not."""
    loop = f"object.items.all(x, {call} || true)"
    assert _evaluation(loop, method)(100)() in (True, (True, ANY))
    monkeypatch.setattr(container_access.UnpaidWork, "left", 50)
    with pytest.raises(CostLimitExceeded):
        _evaluation(loop, method)(100)()


@pytest.mark.parametrize("container", [1, "abc", None, b"a"])
def test_in_needs_a_container(container: object) -> None:
    with pytest.raises(EvaluationError, match=r"^no such overload$"):
        container_access.contains("a", container)


@pytest.mark.parametrize(
    ("value", "size"), [("é", 1), ("é".encode(), 2), ([1, 2], 2), ({"a": 1}, 1), (MIXED, 2)]
)
def test_size(value: object, size: int) -> None:
    assert container_access.size(value) == size


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (1, "no such overload: size"),
        (None, "no such overload: size"),
        (Timestamp(0), "no such overload"),
        (Duration(0), "no such overload"),
    ],
)
def test_size_errors(value: object, message: str) -> None:
    with pytest.raises(EvaluationError) as raised:
        container_access.size(value)
    assert raised.value.message == message


def test_iteration() -> None:
    assert container_access.iterate([1, 2]) == [1, 2]
    assert container_access.iterate({"a": 1}) == ["a"]
    assert container_access.iterate(MIXED) == [True, "a"]
    assert container_access.iterate2(["x"]) == [(0, "x")]
    assert container_access.iterate2({"a": 1}) == [("a", 1)]
    assert container_access.iterate2(MIXED) == [(True, "yes"), ("a", 1)]


@pytest.mark.parametrize(
    ("iterate", "message"),
    [
        (container_access.iterate, "got 'types.Int', expected iterable type"),
        (container_access.iterate2, "unsupported comprehension range type: types.Int"),
    ],
)
def test_iteration_errors(iterate: Callable[[Any], object], message: str) -> None:
    with pytest.raises(EvaluationError) as raised:
        iterate(1)
    assert raised.value.message == message


def test_inserting() -> None:
    original = {"a": 1}
    assert container_access.map_insert(original, "b", 2) == {"a": 1, "b": 2}
    assert original == {"a": 1}
    assert container_access.insert_entry(original, "b", 2) is original
    insert = partial(container_access.insert_entries, container_access.UnpaidWork())
    assert insert(original, {"c": 3}) is original, "not copied each time"
    assert original == {"a": 1, "b": 2, "c": 3}
    assert container_access.map_insert_all({1: 1}, {2: 2}) == {1: 1, 2: 2}
    assert dict(container_access.map_insert_all(MIXED, {"b": 2}))["b"] == 2


@pytest.mark.parametrize(
    ("a_map", "key", "message"),
    [
        ({"a": 1}, "a", "insert failed: key a already exists"),
        ({1: 1}, Uint(1), "insert failed: key 1 already exists"),
        ({1: 1}, 1.0, "insert failed: key 1 already exists"),
    ],
)
def test_inserting_a_key_twice(a_map: dict[Any, Any], key: object, message: str) -> None:
    with pytest.raises(EvaluationError) as raised:
        container_access.map_insert(a_map, key, 0)
    assert raised.value.message == message
    insert_entries = partial(container_access.insert_entries, container_access.UnpaidWork())
    for insert in (container_access.map_insert_all, insert_entries):
        with pytest.raises(EvaluationError):
            insert(a_map, make_map([(key, 0)]))


def test_programs_insert_into_the_map_that_they_make() -> None:
    env = Environment({"x": types.list_of(types.DYN)}, libraries=[comprehensions.LIBRARY])
    program = env.program(env.compile("x.transformMapEntry(i, v, {v: i}).size()").checked())
    for source in (program.source, program.counted_source, program.metered_source):
        assert "insert_entries" in source
