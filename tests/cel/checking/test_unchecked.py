"""Evaluation without a check: names, functions by name, and errors where they are reached."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

import pytest

from celadon import cel
from celadon.cel.cost import CallEstimate, CostRule, fixed
from celadon.cel.declarations import Function, Library, ObjectType, Overload
from celadon.cel.library import optionals
from celadon.cel.types import INT, STRING

CHARGED = CostRule(lambda args, result: len(args) + 2, lambda args: CallEstimate(fixed(2)))
LIBRARY = Library(
    "own",
    functions=(
        Function("twice", (Overload("twice_int", (INT,), INT, lambda n: 2 * n),)),
        Function("a.b.twice", (Overload("ab_twice", (INT,), INT, lambda n: -2 * n),)),
        Function(
            "name",
            (Overload("name", (), STRING, lambda: "Ada", cost=CHARGED),),
        ),
    ),
    objects=(ObjectType("a.Thing", {"size": INT}),),
)


def environment(container: str = "") -> cel.Environment:
    return cel.Environment(
        {"x": cel.types.INT, "a.x": cel.types.INT},
        libraries=(optionals.library(), LIBRARY),
        enums={"a.Color.RED": 1},
        container=container,
        switches=cel.Switches(optional_syntax=True),
    )


def outcomes(
    expression: str, container: str = "", variables: Mapping[str, object] = MappingProxyType({})
) -> list[object]:
    """Values, or texts of errors, of the plain and metered variants and partial evaluation."""
    env = environment(container)
    ast, issues = env.parse(expression)
    assert ast is not None, issues.display()
    program = env.program(env.unchecked(ast))
    ways: tuple[Callable[[], object], ...] = (
        lambda: program.evaluate(variables),
        lambda: program.evaluate_metered(variables)[0],
        lambda: program.evaluate_partial(variables, ())[0],
    )
    found: list[object] = []
    for way in ways:
        try:
            found.append(way())
        except cel.EvaluationError as error:
            found.append(error.message)
    return found


@pytest.mark.parametrize(
    ("expression", "outcome"),
    [
        ("x + 1", 6),
        ("a.x", 7),
        ("m.x", 8),
        ("[1, 2].map(x, x + 1)", [2, 3]),
        ("[{'x': 1}].map(a, a.x)", [1]),
        ("[1].exists(x, .x == 5)", True),
        ("[{'b': 3}].map(a, a.b)[0]", 3),
        ("twice(x)", 10),
        ("a.b.twice(x)", -10),
        ("[a.b.twice(1)].map(a, a)", [-2]),
        ("name()", "Ada"),
        ("a.Color.RED + 1", 2),
        ("type(1) == int", True),
        ("[1].map(int, int + 1)", [2]),
        ("a.Thing{size: 2}.size", 2),
        ("optional.of(x).orValue(0)", 5),
        ("{'a': 1}.?b.orValue(x)", 5),
        ("[x, 'y', 1.5].size()", 3),
        ("x == 'a' || true", True),
    ],
)
def test_values(expression: str, outcome: object) -> None:
    variables = {"x": 5, "a.x": 7, "m": {"x": 8}}
    assert outcomes(expression, variables=variables) == [outcome] * 3


def test_names_are_looked_for_in_the_container() -> None:
    assert outcomes("x", "a", {"x": 5, "a.x": 7}) == [7] * 3
    assert outcomes(".x", "a", {"x": 5, "a.x": 7}) == [5] * 3
    assert outcomes("Thing{size: 2}.size", "a") == [2] * 3
    assert outcomes("b.twice(1)", "a") == [-2] * 3


@pytest.mark.parametrize(
    ("expression", "message"),
    [
        ("missing", "no such attribute(s): missing"),
        ("missing.field", "no such attribute(s): missing"),
        ("x + 'a'", "no such overload"),
        ("undeclared(1)", "no such overload: undeclared 1"),
        ("twice('a')", "no such overload: twice(string)"),
        ("twice(1, 2)", "no such overload: twice(int, int)"),
        ("twice()", "no such overload: twice()"),
        ("'a'.twice(1)", "no such overload: twice(string, int)"),
        ("size([1], 2)", "no such overload: size(list, int)"),
        ("int(1, 2)", "no such overload: int(int, int)"),
        ("'a'.startsWith()", "no such overload: startsWith(string)"),
        ("twice(1 / 0, 2)", "division by zero"),
        ("x.f", "no such key: f"),
        ("x ? 1 : 2", "no such overload"),
    ],
)
def test_errors_come_up_when_evaluated(expression: str, message: str) -> None:
    assert outcomes(expression, variables={"x": 5}) == [message] * 3


def test_what_is_not_reached_is_no_error() -> None:
    assert outcomes("true || undeclared(1, 2, 3)") == [True] * 3
    assert outcomes("false ? twice(1, 2) : 'fine'") == ["fine"] * 3
