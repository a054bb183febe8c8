"""The printers of trees."""

from __future__ import annotations

import pytest

from celadon.cel.errors import Source
from celadon.cel.parsing.macros import TWO_VARIABLE_MACROS
from celadon.cel.parsing.parser import ParseOptions, parse
from celadon.cel.parsing.unparser import literal_text, print_ast
from celadon.cel.syntax import Ast, Ident, LiteralValue, Unspecified
from celadon.cel.values.text import Uint


def _print(text: str) -> str:
    ast, issues = parse(Source(text), ParseOptions())
    assert ast is not None, issues.display()
    return print_ast(ast)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "null"),
        (True, "true"),
        (1, "1"),
        (Uint(1), "1u"),
        (1.5, "1.5"),
        ('a"\n', '"a\\"\\n"'),
        (b'a"\\\x00\xff', 'b"a\\"\\\\\\x00\\xff"'),
    ],
)
def test_literals_stay_on_one_line(value: LiteralValue, text: str) -> None:
    assert literal_text(value) == text


@pytest.mark.parametrize(
    ("expression", "printed"),
    [
        ("a.b.c", "a.b.c"),
        ("has(a.b)", "a.b~test-only~"),
        ("f()", "f()"),
        ("a.f(b, c)", "a.f(\n  b,\n  c\n)"),
        ("[a, ?b]", "[\n  a,\n  ?b\n]"),
        ("{a: b, ?c: d}", "{\n  a:b,\n  ?c:d\n}"),
        ("a.B{c: d, ?e: f}", "a.B{\n  c:d,\n  ?e:f\n}"),
        ("[[]]", "[\n  []\n]"),
    ],
)
def test_trees(expression: str, printed: str) -> None:
    assert _print(expression) == printed


def test_both_variables_of_a_comprehension_are_shown() -> None:
    ast, _ = parse(Source("{}.all(k, v, k == v)"), ParseOptions(macros=TWO_VARIABLE_MACROS))
    assert ast is not None
    assert "// Variable\n  k, v," in print_ast(ast)


def test_a_placeholder_is_shown_as_such() -> None:
    assert print_ast(Ast(Unspecified(1), Source(""), {})) == "*unspecified*"
    assert print_ast(Ast(Ident(1, "x"), Source("x"), {})) == "x"
