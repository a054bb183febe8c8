"""Values of the engine as symbolic ones, and back: whole ones only."""

from __future__ import annotations

import pytest

pytest.importorskip("z3")

import z3

from celadon.cel import EvaluationError, syntax, types
from celadon.cel import extend as cel
from celadon.kube.library import environment
from celadon.prove.solver_terms import FALSE, TRUE, text
from celadon.prove.symbolic_evaluator import Evaluator, optional_member
from celadon.prove.symbolic_functions import MEANINGS, NOT_LITERAL, literal, native
from celadon.prove.symbolic_objects import Inputs
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
from celadon.prove.uninterpreted_functions import Unmodelled
from tests.prove.agreement import ERROR, Hidden, put_in

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


SMALLEST, LARGEST = -(1 << 63), (1 << 63) - 1
MEANT: list[tuple[str, list[tuple[object, ...]]]] = [
    ("object.a == object.b", [(1, 1), (1, 2), ("x", "x"), ("x", 1), (True, True), ([1], [1]),
                              ([1], [1, 2]), ({"k": 1}, {"k": 1}), ({"k": 1}, {"j": 1}),
                              (1.5, 1.5), (1.0, 1), (1.5, 1), (None, None), (None, 1)]),
    ("object.a != object.b", [(1, 1), (1, 2), ([1], [2]), ({"k": 1}, {"k": 2}), (2, 2.0)]),
    ("object.?a == object.?b", [(1, 1), (1, 2), (1,), ()]),
    ("object.a < object.b", [(1, 2), (2, 2), (3, 2), ("a", "b"), ("b", "a"), (False, True),
                             (1, 1.5), (1.5, 1.5), (2.5, 1.5)]),
    ("object.a <= object.b", [(1, 2), (2, 2), (3, 2), ("a", "a"), (True, True), (2, 1.5)]),
    ("object.a > object.b", [(1, 2), (2, 2), (3, 2), ("b", "a"), (True, False), (2, 1.5)]),
    ("object.a >= object.b", [(1, 2), (2, 2), (3, 2), ("a", "b"), (False, True), (1.5, 2)]),
    ("uint(object.a) < uint(object.b)", [(1, 2), (2, 1)]),
    ("object.a + object.b", [(1, -3), (LARGEST, 0), (LARGEST, 1), (SMALLEST, -1), ("x", "y"),
                             ([1], [2, 3])]),
    ("object.a - object.b", [(1, 3), (SMALLEST, 0), (SMALLEST, 1), (LARGEST, -1)]),
    ("uint(object.a) - uint(object.b)", [(3, 1), (1, 1), (1, 3)]),
    ("object.a * object.b", [(-2, 3), (1 << 62, 2), (1 << 62, -2)]),
    ("object.a / object.b", [(7, 2), (-7, 2), (7, -2), (-7, -2), (7, 0), (SMALLEST, -1)]),
    ("object.a % object.b", [(7, 2), (-7, 2), (7, -2), (-7, -2), (7, 0)]),
    ("-object.a", [(7,), (-7,), (LARGEST,), (SMALLEST,)]),
    ("!object.a", [(True,), (False,)]),
    ("object.a in object.b", [(1, [2, 1]), (3, [2, 1]), (1, []), ("k", {"k": 1}), ("x", {"k": 1})]),
    ("size(object.a)", [("",), ("abc",), ([],), ([1, 2],), ({"k": 1},)]),
    ("object.a.startsWith(object.b)", [("abc", "ab"), ("abc", "c"), ("abc", ""), ("a", "ab")]),
    ("object.a.endsWith(object.b)", [("abc", "bc"), ("abc", "a"), ("abc", ""), ("b", "ab")]),
    ("object.a.contains(object.b)", [("abc", "b"), ("abc", "ac"), ("abc", "")]),
    ("object.a.matches('^a+$')", [("aa",), ("ab",), ("",)]),
    ("object.a.charAt(object.b)", [("abc", at) for at in (-1, 0, 2, 3, 4)]),
    ("object.a.substring(object.b)", [("abc", at) for at in (-1, 0, 1, 3, 4)]),
    ("object.a.substring(object.b, 2)", [("abc", at) for at in (-1, 0, 2, 3)]),
    ("object.a.substring(1, object.b)", [("abc", at) for at in (0, 1, 3, 4)]),
    ("object.a.indexOf(object.b)", [("abcb", "b"), ("abc", "x"), ("abc", "")]),
    ("int(object.a)", [("5",), ("-5",), ("+5",), ("-",), ("--5",), ("5x",), ("",), (f"{LARGEST}",),
                       (f"{LARGEST + 1}",), (f"{SMALLEST}",), (f"{SMALLEST - 1}",), (5,)]),
    ("int(uint(object.a))", [("5",), (f"{LARGEST + 1}",)]),
    ("uint(object.a)", [("5",), ("+5",), ("-5",), (f"{(1 << 64) - 1}",), (f"{1 << 64}",), (0,),
                        (-1,)]),
    ("string(object.a)", [("x",), (-5,), (0,), (5,), (True,), (False,)]),
    ("dyn(object.a)", [(1,), ("x",)]),
    ("optional.of(object.a)", [(1,)]),
    ("object.a ? optional.none() : optional.of(1)", [(True,), (False,)]),
    ("object.?a.hasValue()", [(1,), ()]),
    ("object.?a.value()", [(1,), ()]),
    ("optional.unwrap([object.?a, object.?b])", [(1, 2), (1,), ()]),
    ("[object.?b, object.?a].unwrapOpt()", [(1, 2), (1,), ()]),
    ("optional.unwrap(object.a)", [([1],), ([],)]),
]  # fmt: skip
"""Expressions, and the values of `object.a` and `object.b` (if they are there)."""


@pytest.mark.parametrize(
    ("expression", "given"), MEANT, ids=[expression for expression, _ in MEANT]
)
def test_what_has_a_meaning_is_known_to_the_solver(
    expression: str, given: list[tuple[object, ...]]
) -> None:
    """It gives what the engine gives, of whom nothing is asked."""
    scope = environment().extend({"object": types.DYN})
    checked = scope.compile(expression).checked()
    program = scope.program(checked)
    for values in given:
        value = dict(zip("ab", values, strict=False))
        hidden, unmodelled = Hidden(), Unmodelled(scope, inputs=Inputs(8))
        made = Evaluator(checked, unmodelled).evaluate({"object": certain(hidden.hide(value))})
        assert not unmodelled.calls, value
        try:
            expected = inside(program.evaluate({"object": value}))
        except EvaluationError:
            expected = ERROR
        found = inside(put_in(made, hidden, unmodelled))
        assert (type(found), found) == (type(expected), expected), value


def test_each_meaning_is_in_the_table() -> None:
    scope = environment().extend({"object": types.DYN})
    nodes = [node for text, _ in MEANT for node in scope.compile(text).checked().nodes]
    assert {node.function for node in nodes if isinstance(node, syntax.Call)} >= set(MEANINGS)
