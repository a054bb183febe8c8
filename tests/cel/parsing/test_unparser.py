from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from celadon.cel.errors import Source
from celadon.cel.parsing.parser import ParseOptions
from celadon.cel.parsing.unparser import UnparseError, unparse
from celadon.cel.syntax import Ast, Call, Ident, Literal, Select, Unspecified
from celadon.cel.values.text import Uint
from tests.cel.trees import EVERYTHING, expressions, show, tree


@pytest.mark.parametrize(
    ("text", "canonical"),
    [
        ("a+b*c", "a + b * c"),
        ("(a+b)*c", "(a + b) * c"),
        ("a-(b-c)", "a - (b - c)"),
        ("a-b-c", "a - b - c"),
        ("a<b==c", "a < b == c"),
        ("a<(b==c)", "a < (b == c)"),
        ("a in b", "a in b"),
        ("a&&b&&c&&d", "a && b && c && d"),
        ("(a&&b)&&(c&&d)", "a && b && c && d"),
        ("a&&(b&&c)", "a && (b && c)"),
        ("(a||b)&&c", "(a || b) && c"),
        ("a||b&&c", "a || b && c"),
        ("a?b:c?d:e", "a ? b : c ? d : e"),
        ("(a?b:c)?(d?1:2):e", "(a ? b : c) ? (d ? 1 : 2) : e"),
        ("!a.b", "!a.b"),
        ("!(a&&b)", "!(a && b)"),
        ("-(1)", "-(1)"),
        ("-(-a)", "-(-a)"),
        ("---a", "-a"),
        ("!(-a)", "!(-a)"),
        ("!(1)", "!1"),
        ("-((1).f)", "-(1.f)"),
        ("-(-1.f())", "-(-1.f())"),
        ("-1 - -1", "-1 - -1"),
        ("-1.f()", "-1.f()"),
        ("(-a).f()", "(-a).f()"),
        ("(a+b).c[d].?e[?f]", "(a + b).c[d].?e[?f]"),
        ("a.`b-c`.?`d e`", "a.`b-c`.?`d e`"),
        ("[1,?a,]", "[1, ?a]"),
        ("{1:2,?a:b}", "{1: 2, ?a: b}"),
        ("T{a:1,?`b-c`:2}", "T{a: 1, ?`b-c`: 2}"),
        (".a.b(.c)", ".a.b(.c)"),
        ("0x10 + 0x1u", "16 + 1u"),
        ("1.0 + 1e30 + .5", "1.0 + 1e+30 + 0.5"),
        (r"'\n\x41\"' + r'\d'", r'"\nA\"" + "\\d"'),
        ("'語\u200b'", r'"語\u200b"'),
        (r"b'a\xff\n'", r'b"a\xff\n"'),
        ("true?null:false", "true ? null : false"),
        ("has(a.b)", "has(a.b)"),
        ("r.all(x,has(x.b)&&x.c>0)", "r.all(x, has(x.b) && x.c > 0)"),
        ("r.map(x,p,t).filter(y,y)", "r.map(x, p, t).filter(y, y)"),
        ("o.optMap(v,v+1).orValue(2)", "o.optMap(v, v + 1).orValue(2)"),
        ("math.greatest(1,2,3)", "math.greatest(1, 2, 3)"),
    ],
)
def test_canonical_texts(text: str, canonical: str) -> None:
    assert unparse(tree(text)) == canonical


@given(expressions())
def test_parsing_the_text_gives_the_tree(text: str) -> None:
    ast = tree(text)
    written = unparse(ast)
    again = tree(written)
    assert show(again.root) == show(ast.root)
    assert unparse(again) == written


@given(
    st.one_of(
        st.none(),
        st.booleans(),
        st.integers(-(1 << 63), (1 << 63) - 1),
        st.integers(0, (1 << 64) - 1).map(Uint),
        st.floats(allow_nan=False, allow_infinity=False),
        st.text(),
        st.binary(),
    )
)
def test_literals_keep_their_values(value: bool | int | Uint | float | str | bytes | None) -> None:
    written = unparse(Ast(Literal(1, value), Source(""), {}))
    literal = tree(written).root
    assert isinstance(literal, Literal)
    assert repr(literal.value) == repr(value)


def test_an_expanded_macro_needs_its_call() -> None:
    options = ParseOptions(macros=EVERYTHING.macros, macro_calls=False)
    with pytest.raises(UnparseError, match="macro calls were not kept"):
        unparse(tree("a.all(x, x)", options))
    assert unparse(tree("has(a.b)", options)) == "has(a.b)"


@pytest.mark.parametrize(
    ("root", "message"),
    [
        (Unspecified(1), "this was not parsed"),
        (Ident(1, "@result"), "no source text names `@result`"),
        (Ident(1, "true"), "no source text names `true`"),
        (Select(1, Ident(2, "a"), "b\n"), "no source text names a field `b\n`"),
        (Call(1, "@f", Ident(2, "a"), ()), "no source text calls `@f`"),
    ],
)
def test_what_no_text_gives(root: Ident | Select | Call | Unspecified, message: str) -> None:
    with pytest.raises(UnparseError) as error:
        unparse(Ast(root, Source(""), {}))
    assert str(error.value) == message


def test_deep_trees() -> None:
    text = "[x].map(y, " * 200 + "y" + ")" * 200
    assert unparse(tree(text)) == text
