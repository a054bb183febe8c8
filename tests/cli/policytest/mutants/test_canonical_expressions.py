"""Which expressions are proved to be the same, and that only those are."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from celadon.cel import Environment, EvaluationError, types
from celadon.cel.tracing import unexpanded_tree
from celadon.cli.policytest.mutants.canonical_expressions import canonical_text, flat_text


def canonical(text: str) -> str:
    ast = unexpanded_tree(text)
    assert ast is not None
    return canonical_text(ast)


@pytest.mark.parametrize(
    "same",
    [
        ("x.size() == 0", "x.size() <= 0", "x.size() < 1", "!(x.size() >= 1)", "0 == x.size()"),
        ("size(x) != 0", "size(x) > 0", "size(x) >= 1", "0 < size(x)", "1 <= size(x)"),
        ("size(x) < 3", "size(x) <= 2", "3 > size(x)"),
        ("a != b", "!(a == b)"),
        ("a && a", "a"),
        ("(a || b) || (a || b)", "a || b"),
        ("x.all(i, i.size() > 0)", "x.all(i, i.size() != 0)"),
    ],
)
def test_the_same(same: tuple[str, ...]) -> None:
    assert len({canonical(one) for one in same}) == 1


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("a < 5", "a <= 4"),
        ("size(x) == 1", "size(x) <= 1"),
        ("size(x) > 0", "size(x) > 1"),
        ("x.size(y) == 0", "x.size(y) <= 0"),
        ("size(x) < 1.0", "size(x) <= 0.0"),
        ("a && b", "b && a"),
        ("a == b", "b == a"),
        ("!(a < b)", "a >= b"),
    ],
)
def test_not_proved(one: str, other: str) -> None:
    assert canonical(one) != canonical(other)


def test_chains_are_flat() -> None:
    texts = ("a && b && c && d", "a && (b && (c && d))", "((a && b) && c) && d")
    trees = [unexpanded_tree(one) for one in texts]
    assert len({flat_text(one) for one in trees if one is not None}) == 1


_ENV = Environment({"x": types.list_of(types.INT), "a": types.DYN, "b": types.DYN})
_PARTS = [
    f"{left} {sign} {right}"
    for sign in ("<", "<=", ">", ">=", "==", "!=")
    for left, right in (("x.size()", "0"), ("x.size()", "1"), ("1", "size(x)"), ("a", "b"))
]
_WHOLE = [*_PARTS, *(f"!({one})" for one in _PARTS), *(f"{one} && {one}" for one in _PARTS)]
_BY_TREE = {
    tree: list(texts)
    for tree, texts in itertools.groupby(sorted(_WHOLE, key=canonical), key=canonical)
}
_VALUES = st.none() | st.booleans() | st.integers(-2, 2) | st.floats() | st.text(max_size=2)


@given(st.lists(st.integers(0, 1), max_size=3), _VALUES, _VALUES)
def test_what_has_one_tree_has_one_value(x: list[int], a: object, b: object) -> None:
    for texts in _BY_TREE.values():
        assert len({_value(text, {"x": x, "a": a, "b": b}) for text in texts}) == 1, texts


_PROGRAMS = {text: _ENV.program(_ENV.compile(text).checked()) for text in _WHOLE}


def _value(text: str, activation: dict[str, object]) -> object:
    try:
        return _PROGRAMS[text].evaluate(activation)
    except EvaluationError:
        return "error"
