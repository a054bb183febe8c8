"""The bound of an expression is never below its cost, nor below the size of its value: for every
overload's examples, for random calls of every overload, and with functions of one's own."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from celadon.cel import CostLimitExceeded, Environment, EvaluationError, ProgramError, types
from celadon.cel.declarations import Switches
from celadon.cel.extend import (
    CallEstimate,
    CostRule,
    Function,
    Library,
    Opaque,
    Optional,
    Overload,
    Sized,
    growth,
)
from celadon.cel.libraries import (
    comprehensions,
    encoders,
    lists,
    math,
    network,
    optionals,
    regex,
    sets,
    strings,
)
from celadon.kube.library import environment
from tests.examples import examples
from tests.properties.typed_calls import Calls

pytestmark = pytest.mark.thorough

#: Dearer evaluations are stopped; they say nothing that others do not.
AFFORDABLE = 200_000

VARIABLES = {
    "b": types.BOOL,
    "i": types.INT,
    "s": types.STRING,
    "t": types.STRING,
    "l": types.list_of(types.INT),
    "words": types.list_of(types.STRING),
    "d": types.DYN,
}


def _square(args: Sequence[Any], result: Any) -> int:
    return len(args[0]) ** 2 if isinstance(args[0], str) else 1


def _estimate(args: Sequence[Sized]) -> CallEstimate:
    return CallEstimate(args[0].size)


def _count(number: int) -> list[int]:
    return list(range(max(0, min(number, 5000))))


OWN = Library(
    "own",
    functions=(
        Function(
            "thrice",
            (
                Overload(
                    "own_thrice",
                    (types.STRING,),
                    types.STRING,
                    lambda text: text * 3,
                    True,
                    CostRule(_square, _estimate, bound=lambda text: text.size * text.size + 1),
                    growth=growth.times(3),
                ),
            ),
        ),
        Function(
            "counted",
            (Overload("own_counted", (types.INT,), types.list_of(types.INT), _count),),
        ),
        Function(
            "loud",
            (
                Overload(
                    "own_loud",
                    (types.STRING,),
                    types.BOOL,
                    lambda text: len(text) > 3,
                    cost=CostRule(_square, _estimate),
                ),
            ),
        ),
        Function(
            "worn",
            (Overload("own_worn", (types.DYN,), types.STRING, lambda value: "w" * 3000),),
        ),
    ),
)

UNFOLDED = Switches(optional_syntax=True, cross_type_numeric_comparisons=True, fold_constants=False)
LANGUAGE = Environment(
    VARIABLES,
    libraries=(
        optionals.library(),
        strings.library(),
        math.library(),
        lists.library(),
        sets.LIBRARY,
        encoders.LIBRARY,
        comprehensions.bindings(),
        comprehensions.LIBRARY,
        regex.LIBRARY,
        network.LIBRARY,
        OWN,
    ),
    switches=UNFOLDED,
)
KUBERNETES = environment(has_patch_types=True).extend(VARIABLES).with_switches(fold_constants=False)
ENVIRONMENTS = {"language": LANGUAGE, "kubernetes": KUBERNETES}
CALLS = {name: Calls(env.declarations.functions) for name, env in ENVIRONMENTS.items()}

RESULTS = (
    types.BOOL,
    types.INT,
    types.STRING,
    types.BYTES,
    types.list_of(types.STRING),
    types.list_of(types.INT),
    types.DYN,
)

activations = st.fixed_dictionaries(
    {
        "b": st.booleans(),
        "i": st.integers(-5, 10_000),
        "s": st.text(max_size=60),
        "t": st.sampled_from(["", "a", "-", "%s", "%.300f", "a,b", "10.0.0.1", "https://a/b?c=d"]),
        "l": st.lists(st.integers(0, 50), max_size=30),
        "words": st.lists(st.text("abc,%s", max_size=12), max_size=12),
        "d": st.fixed_dictionaries(
            {"name": st.text(max_size=30), "items": st.lists(st.integers(), max_size=20)}
        ),
    }
)


def size(value: Any) -> int:
    """As `celadon.cel.size_growth` defines it, of values that are no abstract ones."""
    if isinstance(value, str | bytes):
        return 1 + len(value)
    if isinstance(value, list):
        return 1 + sum(map(size, value))
    if isinstance(value, Optional):
        return 1 + size(getattr(value, "value", None))
    if hasattr(value, "items"):
        return 1 + sum(size(key) + size(element) for key, element in value.items())
    return value.cost_size if isinstance(value, Opaque) else 1


def check(env: Environment, text: str, activation: dict[str, Any]) -> bool:
    """Whether it could be checked; fails where a bound is too low."""
    compilation = env.compile(text)
    if compilation.ast is None:
        return False
    try:
        program = env.program(compilation.ast)
    except ProgramError:
        return False
    given_size = sum(map(size, activation.values()))
    value, cost = None, None
    try:
        value, cost = program.evaluate_metered(activation, AFFORDABLE)
    except CostLimitExceeded:
        return False
    except EvaluationError as error:
        cost = error.cost
    assert cost is not None
    assert size(value) <= program.size_bound(given_size), text
    assert cost <= program.cost_bound(given_size), text
    return True


def _examples() -> list[tuple[str, str, str]]:
    return [
        (name, overload.id, source)
        for name, env in ENVIRONMENTS.items()
        for function in env.declarations.functions.values()
        for overload in function.overloads
        for source, _ in overload.examples
    ]


@pytest.mark.parametrize(("name", "id", "source"), _examples())
def test_of_every_example(name: str, id: str, source: str) -> None:
    checked = check(ENVIRONMENTS[name], source, {})
    assert checked or name == "kubernetes", id  # whose validators are stricter with literals


@pytest.mark.parametrize(
    ("name", "function", "id"),
    [(name, function, o.id) for name, calls in CALLS.items() for function, o in calls.overloads()],
)
@settings(max_examples=examples(6))
@given(activation=activations, seed=st.integers(0, 1 << 32))
def test_of_calls_of_every_overload(
    name: str, function: str, id: str, activation: dict[str, Any], seed: int
) -> None:
    env, calls = ENVIRONMENTS[name], CALLS[name]
    overload = next(o for o in env.declarations.functions[function].overloads if o.id == id)
    check(env, calls.call(Random(seed), function, overload, 2), activation)


@pytest.mark.parametrize("name", ENVIRONMENTS)
@settings(max_examples=examples(300))
@given(
    activation=activations,
    result=st.sampled_from(RESULTS),
    depth=st.integers(1, 4),
    seed=st.integers(0, 1 << 32),
)
def test_of_random_expressions(
    name: str, activation: dict[str, Any], result: types.Type, depth: int, seed: int
) -> None:
    env = ENVIRONMENTS[name]
    check(env, CALLS[name].expression(Random(seed), result, depth), activation)


@pytest.mark.parametrize("name", ENVIRONMENTS)
def test_most_random_expressions_can_be_checked(name: str) -> None:
    activation = {
        "b": True,
        "i": 3,
        "s": "abc",
        "t": "a",
        "l": [1, 2],
        "words": ["a", "b"],
        "d": {"name": "n", "items": [1]},
    }
    texts = [CALLS[name].expression(Random(seed), types.STRING, 2) for seed in range(300)]
    assert sum(check(ENVIRONMENTS[name], text, activation) for text in texts) > 200
