"""What comprehensions and chains are recognised as, from the macros that users write."""

from __future__ import annotations

import pytest

from celadon.cel import Environment, Switches, types
from celadon.cel.analysis.tree_context import (
    Collect,
    chain_of,
    classify,
    macro_call,
    mapped_element,
    optional_mapping,
)
from celadon.cel.libraries import comprehensions, lists, optionals
from celadon.cel.syntax import Call, Comprehension, Ident, walk

ENVIRONMENT = Environment(
    {"o": types.DYN, "l": types.list_of(types.INT)},
    libraries=(
        optionals.library(),
        lists.library(),
        comprehensions.LIBRARY,
        comprehensions.bindings(),
    ),
    switches=Switches(optional_syntax=True),
)


@pytest.mark.parametrize(
    ("text", "shapes"),
    [
        ("l.all(x, x > 1)", ["Quantified"]),
        ("l.exists(x, x > 1)", ["Quantified"]),
        ("l.exists_one(x, x > 1)", ["ExistsOne"]),
        ("l.map(x, x + 1)", ["Collect"]),
        ("l.map(x, x > 1, x + 1)", ["Collect"]),
        ("l.filter(x, x > 1)", ["Collect"]),
        ("l.all(i, x, i < x)", ["Quantified"]),
        ("l.existsOne(i, x, i < x)", ["ExistsOne"]),
        ("l.transformList(i, x, i + x)", ["Collect"]),
        ("l.transformMap(i, x, i + x)", ["Insert"]),
        ("l.transformMap(i, x, i < x, i + x)", ["Insert"]),
        ("l.transformMapEntry(i, x, {x: i})", ["Insert"]),
        ("cel.bind(v, l, v == l)", ["Bind"]),
        ("l.all(x, l.exists(y, x == y))", ["Quantified", "Quantified"]),
    ],
)
def test_macros_have_a_shape(text: str, shapes: list[str]) -> None:
    root = ENVIRONMENT.compile(text).checked().root
    found = [type(classify(n)).__name__ for n in walk(root) if isinstance(n, Comprehension)]
    assert found == shapes


@pytest.mark.parametrize(
    ("text", "mapped"),
    [
        ("l.map(x, x + 1)", True),
        ("l.map(x, x > 1, x + 1)", False),
        ("l.filter(x, x > 1)", False),
        ("l.all(x, x > 1)", False),
        ("l.transformList(i, x, i + x)", False),
    ],
)
def test_what_map_makes_of_each(text: str, mapped: bool) -> None:
    root = ENVIRONMENT.compile(text).checked().root
    assert isinstance(root, Comprehension)
    element = mapped_element(root)
    assert isinstance(element, Call) is mapped


def test_the_predicate_of_a_filter() -> None:
    root = ENVIRONMENT.compile("l.filter(x, x > 1)").checked().root
    assert isinstance(root, Comprehension)
    shape = classify(root)
    assert isinstance(shape, Collect)
    assert isinstance(shape.element, Ident)
    assert shape.predicate is not None


@pytest.mark.parametrize(
    ("text", "mapped"),
    [("o.?a.optMap(v, v + 1)", True), ("l == [] ? o : 1", False), ("o.a", False)],
)
def test_optional_mappings(text: str, mapped: bool) -> None:
    root = ENVIRONMENT.compile(text).checked().root
    assert (optional_mapping(root) is not None) == mapped


@pytest.mark.parametrize(
    ("text", "keys", "optional"),
    [
        ("o", (), False),
        ("o.a.b", ("a", "b"), False),
        ("o['a'].b", ("a", "b"), False),
        ("o.a[0]", None, False),
        ("o.a[o.b].c", None, False),
        ("o.?a.b", None, True),
        ("o[?'a']", None, True),
        ("has(o.a)", (), False),
        ("(o.a + o.b).c", ("c",), False),
    ],
)
def test_chains(text: str, keys: tuple[str, ...] | None, optional: bool) -> None:
    chain = chain_of(ENVIRONMENT.compile(text).checked().root)
    assert chain.constant_keys() == keys
    assert chain.is_optional == optional


@pytest.mark.parametrize(
    ("text", "macro", "names"),
    [
        ("l.all(x, x > 1)", "all", ["x"]),
        ("l.exists(i, x, x > i)", "exists", ["i", "x"]),
        ("l.exists_one(x, x > 1)", "exists_one", ["x"]),
        ("l.map(x, x > 1, x + 1)", "map", ["x"]),
        ("l.filter(x, x > 1)", "filter", ["x"]),
        ("l.transformList(i, x, i + x)", "transformList", ["i", "x"]),
        ("l.transformMap(i, x, i + x)", "transformMap", ["i", "x"]),
        ("l.transformMapEntry(i, x, {x: i})", "transformMapEntry", ["i", "x"]),
        ("cel.bind(v, l, v == l)", "cel.bind", ["v"]),
    ],
)
def test_calls_that_people_would_write(text: str, macro: str, names: list[str]) -> None:
    root = ENVIRONMENT.compile(text).checked().root
    assert isinstance(root, Comprehension)
    call = macro_call(root)
    assert call is not None
    assert (call.id, call.function) == (root.id, macro)
    variables = [one for one in call.args if isinstance(one, Ident) and one.id < 0]
    assert [one.name for one in variables] == names
    assert len({one.id for one in variables}) == len(names)


def test_no_macro_makes_a_fold() -> None:
    node = Comprehension(
        1, Ident(2, "l"), "x", "", "a", Ident(3, "b"), Ident(4, "c"), Ident(5, "s"), Ident(6, "r")
    )
    assert macro_call(node) is None
