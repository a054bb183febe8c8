"""Bounds: never below the cost, finite where it matters, growing with the input."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest

from celadon.cel import Environment, EvaluationError, Switches, types
from celadon.cel.analysis.cost_bound import weight
from celadon.cel.extend import CallEstimate, CostRule, Function, Library, ObjectType, Overload
from celadon.cel.libraries import comprehensions, lists, optionals, sets, strings
from celadon.cel.values.runtime_types import NONE, Optional

ENVIRONMENT = Environment(
    {"o": types.DYN, "l": types.list_of(types.INT), "s": types.STRING},
    libraries=(
        optionals.library(),
        strings.library(),
        lists.library(),
        sets.LIBRARY,
        comprehensions.LIBRARY,
    ),
    switches=Switches(optional_syntax=True),
)
EXPRESSIONS = [
    "o.a.b == 1",
    "o.items.all(i, i.n > 0)",
    "o.items.all(i, o.items.exists(j, i == j))",
    "l.map(x, x + 1).filter(x, x > 2).size() > 1",
    "s + s + s == s.replace('a', 'bb')",
    "s.split(',').all(p, p.matches('^[a-z]*$'))",
    "s.contains(s) && s.startsWith('a') && s.endsWith('z')",
    "l.transformMap(i, v, v + i).size() == 2",
    "o.?a.?b.optMap(v, v + 1).orValue(3) in l",
    "l.sort().reverse().distinct() == l || l.slice(0, 0) == l",
    "[l, l, l].exists(m, m == l)",
    "{'a': l, 'b': l}.a.first().orValue(7) == -1",
    "sets.contains(l, [1, 2]) ? s.lowerAscii() == s : string(l.size()) == s",
    "'%s and %s'.format([l, s]).size() > 10",
    "bytes(s).size() + size(s) + size(l) > 0",
]


def inputs(n: int) -> dict[str, Any]:
    return {
        "o": {"a": {"b": n}, "items": [{"n": i} for i in range(n)]},
        "l": list(range(n)),
        "s": ",".join("abcz" for _ in range(n)),
    }


@pytest.mark.parametrize("text", EXPRESSIONS)
@pytest.mark.parametrize("n", [0, 1, 3, 40])
def test_never_below_the_cost(text: str, n: int) -> None:
    program = ENVIRONMENT.program(ENVIRONMENT.compile(text).checked())
    activation = inputs(n)
    try:
        cost: int | None = program.evaluate_metered(activation)[1]
    except EvaluationError as error:
        cost = error.cost
    assert cost is not None
    bound = program.cost_bound(len(json.dumps(activation)))
    assert cost <= bound
    assert math.isfinite(bound)


@pytest.mark.parametrize("text", EXPRESSIONS)
def test_larger_inputs_have_larger_bounds(text: str) -> None:
    program = ENVIRONMENT.program(ENVIRONMENT.compile(text).checked())
    bounds = [program.cost_bound(size) for size in (0, 10, 1_000, 100_000)]
    assert bounds == sorted(bounds)


def test_a_field_costs_the_same_however_large_the_object() -> None:
    program = ENVIRONMENT.program(ENVIRONMENT.compile("o.a.b").checked())
    assert program.cost_bound(10) == program.cost_bound(10_000_000)


@pytest.mark.parametrize("text", ["s + s", "l + l", "l.map(x, [x, x])", "[s, s, s]", "o.a", "s"])
def test_values_are_no_larger_than_their_bound(text: str) -> None:
    program = ENVIRONMENT.program(ENVIRONMENT.compile(text).checked())
    activation = inputs(20)
    value = program.evaluate(activation)
    assert len(json.dumps(value)) <= program.size_bound(len(json.dumps(activation)))


def test_too_many_loops_within_loops_have_no_bound() -> None:
    text = "l.size() > 0"
    for level in range(8):
        text = f"l.all(v{level}, {text})"
    program = ENVIRONMENT.program(ENVIRONMENT.compile(text).checked())
    assert program.cost_bound(10) == math.inf


def _repeated(count: int) -> list[int]:
    return list(range(count))


def _anything(value: Any) -> bool:
    return True


OWN_FUNCTIONS = Library(
    "own",
    functions=(
        Function(
            "repeated",
            (Overload("int_repeated", (types.INT,), types.list_of(types.INT), _repeated),),
        ),
        Function(
            "dear",
            (
                Overload(
                    "string_dear",
                    (types.STRING,),
                    types.BOOL,
                    _anything,
                    cost=CostRule(
                        lambda args, result: len(args[0]) ** 4,
                        lambda args: CallEstimate(args[0].size),
                    ),
                ),
            ),
        ),
    ),
)


@pytest.mark.parametrize("text", ["repeated(i).all(x, x >= 0)", "dear(s)"])
def test_what_nothing_is_known_of_has_no_bound(text: str) -> None:
    environment = Environment({"i": types.INT, "s": types.STRING}, libraries=(OWN_FUNCTIONS,))
    program = environment.program(environment.compile(text).checked())
    assert program.cost_bound(10_000) == math.inf


def test_a_plain_object_is_as_large_as_its_fields_and_their_names() -> None:
    plain = ObjectType("shop.Plain", {"name": types.STRING, "n": types.INT})
    environment = Environment({"s": types.STRING}, objects=(plain,))
    program = environment.program(environment.compile("shop.Plain{name: s, n: 1}").checked())
    value, cost = program.evaluate_metered({"s": "x" * 100})
    assert weight(value) <= program.size_bound(101) < 2 * weight(value)
    assert cost <= program.cost_bound(101) < 2 * cost


def test_what_a_constructor_makes_has_no_bound() -> None:
    made = ObjectType("shop.Made", {"n": types.INT}, lambda fields: {"n": "n" * 10_000})
    environment = Environment(objects=(made,))
    program = environment.program(environment.compile("shop.Made{n: 1}").checked())
    assert math.isfinite(program.cost_bound(10))
    assert program.size_bound(10) == math.inf


def test_sizes_of_literals_count_where_they_decide() -> None:
    def bound(text: str) -> float:
        return ENVIRONMENT.program(ENVIRONMENT.compile(text).checked()).cost_bound(100)

    assert bound("lists.range(10).all(x, x in l)") < bound("lists.range(1000).all(x, x in l)")
    assert bound("lists.range(l[0]).all(x, x in l)") == math.inf
    assert bound("[l].flatten(2) == []") < math.inf
    assert bound("[l].flatten(l[0]) == []") == math.inf
    assert bound("'%.3f'.format([2.5]) + s == s") < bound("s.format([2.5]) + s == s") < math.inf


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (None, 1),
        (True, 1),
        (7, 1),
        ("abc", 4),
        ("", 1),
        ([], 1),
        ([1, 2], 3),
        ([[1], "ab"], 6),
        ({}, 1),
        ({"ab": 1}, 5),
        (NONE, 1),
        (Optional([1]), 3),
    ],
)
def test_weights(value: Any, expected: int) -> None:
    assert weight(value) == expected
