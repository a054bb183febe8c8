"""What comprehensions and chains are recognised as, from the macros that users write."""

from __future__ import annotations

import pytest

from celadon.cel import Environment, Switches, types
from celadon.cel.analysis.attribute_chains import chain_of
from celadon.cel.analysis.comprehension_shapes import Collect, classify, optional_mapping
from celadon.cel.libraries import bindings, comprehensions, lists, optionals
from celadon.cel.syntax import Comprehension, Ident, walk

ENVIRONMENT = Environment(
    {"o": types.DYN, "l": types.list_of(types.INT)},
    libraries=(
        optionals.library(),
        lists.library(),
        comprehensions.LIBRARY,
        bindings.library(),
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
