"""Values of the engine as symbolic ones, and back: whole ones only."""

from __future__ import annotations

import pytest

pytest.importorskip("z3")

import z3

from celadon.cel import extend as cel
from celadon.cel import types
from celadon.kube.library import environment
from celadon.prove.solver_terms import FALSE, TRUE, text
from celadon.prove.symbolic_evaluator import optional_member
from celadon.prove.symbolic_functions import NOT_LITERAL, literal, native
from celadon.prove.symbolic_values import (
    Entry,
    Int,
    Item,
    List,
    Map,
    Maybe,
    Text,
    Truth,
    Value,
    certain,
)

ONE = Text(text("one"))
SOME = z3.Bool("some")


def inside(value: object) -> object:
    """The value of an optional that is there, in a tuple; anything else as it is."""
    return (value.value,) if isinstance(value, cel.Optional) and value is not cel.NONE else value


@pytest.mark.parametrize(
    "value",
    [
        None,
        True,
        False,
        -5,
        cel.Uint(5),
        0.5,
        "one",
        b"one",
        [],
        [1, ["one", None]],
        {},
        {"one": {"two": [True]}, 2: "two"},
        cel.Optional("one"),
        cel.NONE,
    ],
)
def test_a_whole_value_comes_back(value: object) -> None:
    back = native(literal(value))
    assert (type(back), inside(back)) == (type(value), inside(value))


@pytest.mark.parametrize(
    "value",
    [
        Truth(SOME),
        Int(z3.Int("number")),
        Text(z3.String("text")),
        List((Item(TRUE, certain(ONE)), Item(TRUE, certain(Truth(SOME))))),
        List((Item(TRUE, certain(ONE)), Item(SOME, certain(ONE)))),
        Map((Entry(TRUE, ONE, certain(Truth(SOME))),)),
        Map((Entry(TRUE, Text(z3.String("text")), certain(ONE)),)),
        Map((Entry(SOME, ONE, certain(ONE)),)),
        Maybe(TRUE, certain(Truth(SOME))),
        Maybe(SOME, certain(ONE)),
    ],
)
def test_a_value_with_an_unknown_part_is_no_literal(value: Value) -> None:
    assert native(value) is NOT_LITERAL


@pytest.mark.parametrize(
    ("value", "key", "expected"),
    [
        ({"one": 1}, "one", cel.Optional(1)),
        ({"one": 1}, "two", cel.NONE),
        (["a"], 0, cel.Optional("a")),
        (["a"], 1, cel.NONE),
        (cel.Optional({"one": 1}), "one", cel.Optional(1)),
        (cel.Optional({"one": 1}), "two", cel.NONE),
        (cel.NONE, "one", cel.NONE),
        ("text", "one", cel.NONE),
        (5, "one", cel.NONE),
        (None, "one", cel.NONE),
    ],
)
def test_optional_members(value: object, key: object, expected: object) -> None:
    (case,) = optional_member(literal(value), literal(key)).cases
    scope = environment().extend({"value": types.DYN, "key": types.DYN})
    program = scope.program(scope.compile("value[?key]").checked())
    by_engine = program.evaluate({"value": value, "key": key})
    assert inside(native(case.value)) == inside(by_engine) == inside(expected)


def test_an_absent_entry_has_no_member() -> None:
    value = Map((Entry(FALSE, ONE, certain(ONE)),))
    (case,) = optional_member(value, ONE).cases
    assert native(case.value) is cel.NONE
