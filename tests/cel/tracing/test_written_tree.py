"""Spans of parts in the text: tables, and any expression."""

from __future__ import annotations

from random import Random

import pytest

from celadon.cel import Environment, syntax, types
from celadon.cel.libraries import comprehensions, math
from celadon.cel.syntax import Literal
from celadon.cel.tracing import SourceNode, written_tree
from celadon.kube.library.environments import environment as release
from tests.cel.codegen.test_variants import ENVIRONMENT, ROWS
from tests.fuzz.typed_expressions import Expressions
from tests.fuzz.variants import ENVIRONMENT as FUZZED

WITH_NAMESPACES = Environment(
    {"i": types.INT}, libraries=[comprehensions.bindings(), math.library()]
)

SPANS = [
    ("i", ["i"]),
    ("i + 1", ["i + 1", "i"]),
    ("( i + 1 ) * 2", ["( i + 1 ) * 2", "i + 1", "i"]),
    ("((i)) - (i + i)", ["((i)) - (i + i)", "i", "i + i", "i", "i"]),
    ("-i + -1", ["-i + -1", "-i", "i"]),
    ("!!b && !b", ["!!b && !b", "b", "!b", "b"]),
    ("i - --i * 2", ["i - --i * 2", "i", "--i * 2", "i"]),
    ("--i - i", ["--i - i", "i", "i"]),
    ("(!!(b)) || b", ["(!!(b)) || b", "b", "b"]),
    ("!!!b", ["!!!b", "b"]),
    ("o.a.b", ["o.a.b", "o.a", "o"]),
    (".o . a", [".o . a", ".o"]),
    ("o.?a[?0].b", ["o.?a[?0].b", "o.?a[?0]", "o.?a", "o"]),
    ("(o.a)['k'][i]", ["(o.a)['k'][i]", "(o.a)['k']", "o.a", "o", "i"]),
    ("[i, 1][0]", ["[i, 1][0]", "[i, 1]", "i"]),
    ("{s: [i]}[s]", ["{s: [i]}[s]", "{s: [i]}", "s", "[i]", "i", "s"]),
    ("s in [s]", ["s in [s]", "s", "[s]", "s"]),
    ("b ? (i) : l[0]", ["b ? (i) : l[0]", "b", "i", "l[0]", "l"]),
    ("b && (i > 1 || b)", ["b && (i > 1 || b)", "b", "i > 1 || b", "i > 1", "i", "b"]),
    ("'a'.size() + size((s))", ["'a'.size() + size((s))", "'a'.size()", "size((s))", "s"]),
    ("(s + s).size()", ["(s + s).size()", "s + s", "s", "s"]),
    ("has(o.a.b)", ["has(o.a.b)", "o.a", "o"]),
    ("l.all(x, x > i)", ["l.all(x, x > i)", "l", "x > i", "x", "i"]),
    ("o.?a.optMap(x, x + 1)", ["o.?a.optMap(x, x + 1)", "o.?a", "o", "x + 1", "x"]),
    ("l.sortBy(x, -x)", ["l.sortBy(x, -x)", "l", "-x", "x"]),
    ("ip.isCanonical(s)", ["ip.isCanonical(s)", "s"]),
    ("// first\ni +\n  // second\n  i", ["i +\n  // second\n  i", "i", "i"]),
]


@pytest.mark.parametrize(("text", "expected"), SPANS, ids=[text for text, _ in SPANS])
def test_spans(text: str, expected: list[str]) -> None:
    whole = written_tree(ENVIRONMENT.compile(text).checked().ast)
    shown = [text[one.start : one.end] for one in depth_first(whole) if not is_literal(one)]
    assert shown == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("cel.bind(x, i + 1, x * 2)", ["i + 1", "i", "x * 2", "x"]),
        ("math.greatest(i, i + 1, 2)", ["i", "i + 1", "i"]),
    ],
)
def test_macros_of_namespaces(text: str, expected: list[str]) -> None:
    whole = written_tree(WITH_NAMESPACES.compile(text).checked().ast)
    shown = [text[one.start : one.end] for one in depth_first(whole) if not is_literal(one)]
    assert shown == [text, *expected]
    assert all(one.loop is None for one in whole.walk())


def test_parts_know_their_loop() -> None:
    text = "l.map(x, x + i).all(y, l.exists(z, z == y))"
    whole = written_tree(ENVIRONMENT.compile(text).checked().ast)
    loops = {
        text[one.start : one.end]: one.loop and one.loop.iter_var
        for one in whole.walk()
        if not is_literal(one)
    }
    assert loops == {
        text: None,
        "l.map(x, x + i)": None,
        "l": "y",
        "x + i": "x",
        "x": "x",
        "i": "x",
        "l.exists(z, z == y)": "y",
        "z == y": "z",
        "z": "z",
        "y": "z",
    }


@pytest.mark.parametrize("text", ROWS)
def test_the_text_of_a_part_is_the_part(text: str) -> None:
    assert_parts_are_their_texts(ENVIRONMENT, text)


@pytest.mark.parametrize("seed", range(4))
def test_any_expression(seed: int) -> None:
    random = Random(seed)
    expressions = Expressions(FUZZED, random, ("x", "x", "x.a"))
    for _ in range(40):
        text = expressions.any_piece(random.randrange(1, 6)).text
        if FUZZED.compile(text).ast is not None:
            assert_parts_are_their_texts(FUZZED, text)


def test_deep_expressions() -> None:
    depth = 200
    text = "(" * depth + "i" + " + 1)" * depth
    whole = written_tree(ENVIRONMENT.compile(text).checked().ast)
    assert len(whole.walk()) == 2 * depth + 1


def assert_parts_are_their_texts(environment: Environment, text: str) -> None:
    """Parsed alone, what a part is written with has the same nodes, ids and positions aside."""
    ast = environment.parse(text)[0]
    assert ast is not None
    for part in written_tree(ast).walk():
        alone = environment.parse(text[part.start : part.end])[0]
        assert alone is not None, text[part.start : part.end]
        wanted = [type(node) for node in syntax.walk(part.node)]
        assert [type(node) for node in syntax.walk(alone.root)] == wanted


def depth_first(part: SourceNode) -> list[SourceNode]:
    return [part, *(inner for one in part.parts for inner in depth_first(one))]


def is_literal(part: SourceNode) -> bool:
    return isinstance(part.node, Literal)


def test_releases_have_no_other_positions() -> None:
    """What the oldest release expands is written alike."""
    text = "[1].all(x, x > 0)"
    oldest, newest = (
        written_tree(release(version).compile(text).checked().ast) for version in ("1.30", "1.36")
    )
    spans = [(one.start, one.end) for one in oldest.walk()]
    assert spans == [(one.start, one.end) for one in newest.walk()]
