"""Expressions as they are put together."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from celadon.cel import Environment
from celadon.kube import Json
from celadon.migrate.cel_text import (
    ALWAYS,
    NEVER,
    Condition,
    choice,
    comparison,
    conjunction,
    disjunction,
    every,
    filled,
    literal,
    member,
    negation,
    quoted,
    some,
    truth,
)

A, B, C = truth("a"), truth("b"), truth("c")


@pytest.mark.parametrize(
    ("condition", "text", "opposite"),
    [
        (A, "a", "!a"),
        (comparison("x", "<", "5"), "x < 5", "x >= 5"),
        (member("x", "y"), "x in y", "!(x in y)"),
        (filled("x"), "size(x) > 0", "size(x) == 0"),
        (conjunction([A, B]), "a && b", "!a || !b"),
        (disjunction([A, conjunction([B, C])]), "a || b && c", "!a && (!b || !c)"),
        (conjunction([A, A]), "a", "!a"),
        (conjunction([A, ALWAYS]), "a", "!a"),
        (conjunction([A, NEVER]), "false", "true"),
        (disjunction([]), "false", "true"),
        (every("x", "i", A), "x.all(i, a)", "x.exists(i, !a)"),
        (some("x", "i", NEVER), "false", "true"),
        (choice(A, B, C), "a ? b : c", "a ? !b : !c"),
        (choice(A, B, B), "b", "!b"),
        (conjunction([choice(A, B, C), A]), "(a ? b : c) && a", "(a ? !b : !c) || !a"),
    ],
)
def test_conditions(condition: Condition, text: str, opposite: str) -> None:
    assert str(condition) == text
    assert str(negation(condition)) == opposite
    assert negation(negation(condition)) == condition


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "null"),
        (True, "true"),
        (-1, "-1"),
        ("it's", r"'it\'s'"),
        (r"^\d$", r"r'^\d$'"),
        ("a\\'b", r"'a\\\'b'"),
        ("\x00", r"'\u0000'"),
        ("\r\n\t\0", r"'\r\n\t\u0000'"),
        ("'\\", r"'\'\\'"),
        (["a", 1], "[dyn('a'), dyn(1)]"),
        ([["a"], ["b"]], "[['a'], ['b']]"),
        ({"a": ["b"], "c": [1]}, "{'a': dyn(['b']), 'c': dyn([1])}"),
        ({"a": []}, "{'a': []}"),
    ],
)
def test_literals(value: Json, text: str) -> None:
    assert literal(value) == text


@given(st.text())
def test_a_literal_means_its_text(text: str) -> None:
    environment = Environment()
    compiled = environment.compile(quoted(text)).ast
    assert compiled is not None
    assert environment.program(compiled).evaluate({}) == text


def held(items: str, name: str) -> Condition:
    return every(items, "one", truth(f"one.{name}"))


@pytest.mark.parametrize(
    ("condition", "text"),
    [
        # What is said already is not said again.
        (disjunction([A, conjunction([negation(A), B])]), "a || b"),
        (disjunction([A, conjunction([disjunction([A, B]), disjunction([A, C])])]), "a || b && c"),
        (conjunction([A, disjunction([negation(A), B])]), "a && b"),
        (disjunction([A, conjunction([A, B])]), "a"),
        (disjunction([disjunction([A, B]), disjunction([B, C])]), "a || b || c"),
        # A list is gone through once.
        (conjunction([held("x", "p"), B, held("x", "q")]), "x.all(one, one.p && one.q) && b"),
        (
            disjunction([negation(held("x", "p")), negation(held("x", "q"))]),
            "x.exists(one, !one.p || !one.q)",
        ),
        (disjunction([held("x", "p"), held("x", "q")]), "x.all(one, one.p) || x.all(one, one.q)"),
    ],
)
def test_what_is_joined_is_short(condition: Condition, text: str) -> None:
    assert condition.text == text
    assert negation(negation(condition)).text == text
