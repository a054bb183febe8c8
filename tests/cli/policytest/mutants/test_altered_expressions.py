"""What an expression is changed into: each way with what it gives, and how it is written."""

from __future__ import annotations

import pytest

from celadon.cel import unparse
from celadon.cel.tracing import unexpanded_tree
from celadon.cli.policytest.case_results import AlterationKind as Kind
from celadon.cli.policytest.mutants.canonical_expressions import altered_expressions, flat_text


def altered(text: str, kind: Kind) -> list[str]:
    """The expressions that changes of a kind give."""
    return [one.text for one in altered_expressions(text) if one.kind is kind]


@pytest.mark.parametrize(
    ("kind", "text", "expected"),
    [
        (Kind.COMPARISON, "a < b", ["a <= b", "a >= b"]),
        (Kind.COMPARISON, "a <= b", ["a < b", "a > b"]),
        (Kind.COMPARISON, "a > b", ["a >= b", "a <= b"]),
        (Kind.COMPARISON, "a >= b", ["a > b", "a < b"]),
        (Kind.COMPARISON, "a == b", ["a != b"]),
        (Kind.COMPARISON, "a != b", ["a == b"]),
        (Kind.COMPARISON, "a.startsWith(b)", ["a.endsWith(b)"]),
        (Kind.LOGIC, "a && b", ["a || b"]),
        (Kind.LOGIC, "a && b || c", ["a && b && c", "a || b || c"]),
        (Kind.NEGATION, "!a", ["a"]),
        (Kind.NEGATION, "a in b", ["!(a in b)"]),
        (Kind.NEGATION, "!(a && b) && c", ["a && b && c"]),
        (Kind.ARITHMETIC, "a + b", ["a - b"]),
        (Kind.ARITHMETIC, "a * b", ["a / b"]),
        (Kind.ARITHMETIC, "a % b", ["a * b"]),
        (Kind.ARITHMETIC, "a - (b - c)", ["a + (b - c)", "a - (b + c)"]),
        (Kind.QUANTIFIER, "x.all(i, i)", ["x.exists(i, i)"]),
        (Kind.QUANTIFIER, "x.exists(i, i)", ["x.all(i, i)", "x.exists_one(i, i)"]),
        (Kind.QUANTIFIER, "x.exists_one(i, i)", ["x.exists(i, i)"]),
        (Kind.PRESENCE, "has(a.b) ? 1 : 2", ["true ? 1 : 2"]),
        (Kind.PRESENCE, "has(a.b) && c", []),
        (Kind.CLAUSE, "a && b && c", ["a && b", "b && c", "a && c"]),
        (Kind.CLAUSE, "a || b", ["b", "a"]),
        (Kind.CLAUSE, "a ? b : c", ["b", "c"]),
        (Kind.CLAUSE, "a + b", ["a", "b"]),
        (Kind.CLAUSE, "x.filter(i, i > 1).size()", ["x.size()"]),
        (
            Kind.OBJECT,
            "object.a == oldObject.a",
            ["oldObject.a == oldObject.a", "object.a == object.a"],
        ),
        (Kind.CONSTANT, "a[0]", ["a[1]", "a[-1]"]),
        (Kind.CONSTANT, "a == 'x'", ["a == 'xx'"]),
        (Kind.CONSTANT, "a == 2u", ["a == 3u", "a == 1u"]),
        (Kind.CONSTANT, "a == 0u", ["a == 1u"]),
        (Kind.CONSTANT, "a < 1.5", ["a < 2.5", "a < 0.5"]),
        (Kind.CONSTANT, "a ? true : b", ["a ? false : b"]),
        (Kind.CONSTANT, "a in ['x', 'y']", []),
        (Kind.LIST, "a in ['x', 'y']", ["a in ['y']", "a in ['x']"]),
        (Kind.LIST, "a in ['x']", []),
        (Kind.FIELD, "{'a': b, 'c': d}", ["{'c': d}", "{'a': b}"]),
        (Kind.FIELD, "Object{a: B{c: d}}", ["Object{}", "Object{a: B{}}"]),
    ],
)
def test_each_way(kind: Kind, text: str, expected: list[str]) -> None:
    assert altered(text, kind) == expected


def test_what_cannot_be_read_has_none() -> None:
    assert not list(altered_expressions("a &&"))


def test_the_same_change_is_made_once() -> None:
    texts = [one.text for one in altered_expressions("a || a")]
    assert texts == ["a && a", "a"]


def test_layout_and_comments_stay() -> None:
    text = "object.items.all(i,\n  has(i.a) // sometimes\n  && i.a > 1)"
    found = {one.text for one in altered_expressions(text)}
    assert text.replace("all", "exists") in found
    assert text.replace("> 1", ">= 1") in found
    assert "object.items.all(i,\n  i.a > 1)" in found


def test_the_changed_part_is_where_it_was() -> None:
    for one in altered_expressions("a.b <= 5 && !(c in ['x', 'y'])"):
        before = one.text[: one.start] + one.old + one.text[one.start + len(one.new) :]
        assert before == "a.b <= 5 && !(c in ['x', 'y'])"


@pytest.mark.parametrize(
    "text",
    [
        "object.spec.containers.all(c, !(has(c.x) && has(c.x.y) && c.x.y))",
        "a ? b && c : (d || e) && !f",
        "-(a + b) * c - -1",
        "object.?metadata.labels['a'].orValue('') == -1 || a in [1, ?b]",
        "Object{metadata: Object.metadata{labels: {'a': string(x + 1), ?'b': y}}}",
        "x.map(i, i > 1, i * 2).exists(i, i == 4) && 'it\\'s' + \"\\n\" != b'x'",
    ],
)
def test_every_text_is_another_tree(text: str) -> None:
    """What is written reads as one tree, which is not the old one and which nothing else is."""
    original = unexpanded_tree(text)
    assert original is not None
    seen = {flat_text(original)}
    for one in altered_expressions(text):
        ast = unexpanded_tree(one.text)
        assert ast is not None, one.text
        assert flat_text(ast) not in seen
        seen.add(flat_text(ast))
        assert unparse(ast)
    assert len(seen) > 4
