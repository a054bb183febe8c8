from __future__ import annotations

import pytest

from celadon.cel.parsing.recursive_descent import balance
from celadon.cel.syntax import Ident
from tests.cel.trees import show


@pytest.mark.parametrize(
    ("terms", "shape"),
    [
        ("ab", "&(a, b)"),
        ("abc", "&(&(a, b), c)"),
        ("abcd", "&(&(a, b), &(c, d))"),
        ("abcde", "&(&(&(a, b), c), &(d, e))"),
        ("abcdefg", "&(&(&(a, b), &(c, d)), &(&(e, f), g))"),
    ],
)
def test_shapes(terms: str, shape: str) -> None:
    nodes = [Ident(number, name) for number, name in enumerate(terms)]
    assert show(balance("&", nodes, list(range(100, 99 + len(terms))))) == shape


def test_the_middle_operator_is_the_root() -> None:
    nodes = [Ident(number, "x") for number in range(4)]
    assert balance("&", nodes, [10, 11, 12]).id == 11
