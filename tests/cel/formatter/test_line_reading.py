"""The layout of every kind of expression, and what holds for all of them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from celadon.cel.formatter import UNLIMITED, commented_tokens, laid_out
from tests.cel.formatter.spacing import comments, spaced, spaces
from tests.cel.trees import expressions, show, tree

WIDTH = 40

ON_ONE_LINE = [
    ("a&&b", "a && b"),
    ("a  ||\n b", "a || b"),
    ("x in y", "x in y"),
    ("a--1", "a - -1"),
    ("! ! a", "!!a"),
    ("- ( -1 )", "-(-1)"),
    ("a ?b: c", "a ? b : c"),
    ("a . b [ 0 ] . ?c [ ? d ]", "a.b[0].?c[?d]"),
    ("f ( a ,b )", "f(a, b)"),
    (". a . b ( )", ".a.b()"),
    ("[ 1 ,? a , ]", "[1, ?a,]"),
    ("[ , ]", "[,]"),
    ("{ 'a' :1 , ?'b':c }", "{'a': 1, ?'b': c}"),
    ("T . U { a : 1 }", "T.U{a: 1}"),
    ("a.`b-c`", "a.`b-c`"),
    ("((a))", "((a))"),
    ("0x1F+1u+.5e3", "0x1F + 1u + .5e3"),
    ("r'\\d' + b\"x\"", "r'\\d' + b\"x\""),
]

BROKEN = {
    "a run of &&": (
        "object.spec.replicas>5&&object.spec.paused==true&&x",
        "object.spec.replicas > 5 &&\nobject.spec.paused == true &&\nx",
    ),
    "a stronger run inside": (
        "object.spec.replicas>5||object.spec.paused&&object.x",
        "object.spec.replicas > 5 ||\nobject.spec.paused && object.x",
    ),
    "a comparison": (
        "object.spec.template.metadata.name==object.metadata.name",
        "object.spec.template.metadata.name ==\n  object.metadata.name",
    ),
    "a list behind in": (
        "object.metadata.name in ['one','two','three','four']",
        "object.metadata.name in [\n  'one',\n  'two',\n  'three',\n  'four'\n]",
    ),
    "a sum": (
        "'the object '+object.metadata.name+' is bad'",
        "'the object ' +\nobject.metadata.name +\n' is bad'",
    ),
    "a macro": (
        "object.spec.containers.all(c,c.image.startsWith('a'))",
        "object.spec.containers.all(c,\n  c.image.startsWith('a')\n)",
    ),
    "a macro with two variables": (
        "object.spec.containers.all(i,c,c.image.startsWith('a'))",
        "object.spec.containers.all(i, c,\n  c.image.startsWith('a')\n)",
    ),
    "a ternary of several": (
        "object.spec.paused?'the first':object.spec.x?'the second':'c'",
        "object.spec.paused\n  ? 'the first'\n  : object.spec.x\n  ? 'the second'\n  : 'c'",
    ),
    "a run in a ternary": (
        "object.spec.paused?object.spec.first&&object.spec.second:false",
        "object.spec.paused\n  ? object.spec.first &&\n    object.spec.second\n  : false",
    ),
    "calls in a row": (
        "authorizer.group('apps').resource('pods').check('get').allowed()",
        "authorizer\n  .group('apps')\n  .resource('pods')\n  .check('get')\n  .allowed()",
    ),
    "objects": (
        "Object{spec:Object.spec{replicas:3,paused:a&&b,x:true}}",
        "Object{\n  spec: Object.spec{\n    replicas: 3,\n    paused: a && b,\n    x: true\n  }\n}",
    ),
    "a run as the value of an entry": (
        "{'key':object.spec.replicas>5&&object.spec.paused}",
        "{\n  'key': object.spec.replicas > 5 &&\n    object.spec.paused\n}",
    ),
    "one list as the argument": (
        "'%s is not %s'.format([object.metadata.name,object.kind])",
        "'%s is not %s'.format([\n  object.metadata.name,\n  object.kind\n])",
    ),
    "parentheses": (
        "(object.spec.first||object.spec.second)&&c",
        "(\n  object.spec.first ||\n  object.spec.second\n) &&\nc",
    ),
    "arguments": (
        "cel.bind(x,object.spec.containers,x.size()>1&&true)",
        "cel.bind(x,\n  object.spec.containers,\n  x.size() > 1 && true\n)",
    ),
    "what cannot be broken": ("aaaaaaaaaaaaaaaaaaaaaaaa.bbbbbbbbbbbbbbbbbbbbbbbbbbb",) * 2,
    "a text of several lines": ("'''x\n  y'''+\"b\"", "'''x\n  y''' + \"b\""),
    "comments": (
        "// head\n\n  a // first\n &&\n// second\n\nb//end\n// tail",
        "// head\na // first\n&&\n// second\nb //end\n// tail",
    ),
    "a comment behind a bracket": (
        "f( // why\n// because\na,\n// of this\nb)",
        "f( // why\n  // because\n  a,\n  // of this\n  b\n)",
    ),
    "a comment in the middle of a name": ("a\n// c\n.b", "a\n// c\n.b"),
}


@pytest.mark.parametrize(("text", "layout"), ON_ONE_LINE)
def test_spaces(text: str, layout: str) -> None:
    assert laid_out(text, WIDTH) == layout


@pytest.mark.parametrize("name", BROKEN)
def test_lines(name: str) -> None:
    text, layout = BROKEN[name]
    assert laid_out(text, WIDTH) == layout
    assert laid_out(layout, WIDTH) == layout


@pytest.mark.parametrize("text", ["a &&", "'", "a b", "@", ""])
def test_what_is_no_expression_has_no_layout(text: str) -> None:
    assert laid_out(text, WIDTH) is None


def test_deep_nesting_keeps_its_layout() -> None:
    deep = " " + "(" * 61 + "a&&b" + ")" * 61
    assert laid_out(deep, WIDTH) == deep.strip()
    assert laid_out(deep[2:-1], UNLIMITED) == deep[2:-1].replace("&&", " && ")


widths = st.sampled_from([1, 10, 30, 80, UNLIMITED])


@given(expressions(), spaces, widths)
def test_white_space_is_no_matter(text: str, gaps: list[str], width: int) -> None:
    assert laid_out(spaced(text, gaps), width) == laid_out(text, width)


@given(expressions(), comments, widths)
def test_tokens_and_comments_stay_and_a_layout_is_its_own(
    text: str, gaps: list[str], width: int
) -> None:
    given_text = spaced(text, gaps)
    layout = laid_out(given_text, width)
    assert layout is not None
    assert commented_tokens(layout) == commented_tokens(given_text)
    assert laid_out(layout, width) == layout
    assert show(tree(layout).root) == show(tree(text).root)
    assert not any(line != line.rstrip() for line in layout.split("\n"))


@given(expressions())
def test_one_line_unless_a_comment_ends_it(text: str) -> None:
    layout = laid_out(text, UNLIMITED)
    assert layout is not None
    assert "\n" not in layout
