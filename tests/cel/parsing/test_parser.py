"""What texts become: shapes, positions, limits. Syntax errors are in `recovery/`."""

from __future__ import annotations

import sys
from collections.abc import Callable

import pytest
from hypothesis import given

from celadon.cel.errors import Issues, Source
from celadon.cel.parsing.diagnosis import diagnose
from celadon.cel.parsing.parser import ParseOptions, parse
from celadon.cel.parsing.recursive_descent import ParseLimits, descend
from celadon.cel.syntax import Ast, MapLiteral, Struct, walk
from tests.cel.trees import EVERYTHING, errors, expressions, show, token_soup, tree


@pytest.mark.parametrize(
    ("text", "shape"),
    [
        ("a + b * c - d", "_-_(_+_(a, _*_(b, c)), d)"),
        ("a < b == c in d", "@in(_==_(_<_(a, b), c), d)"),
        ("a % b / c", "_/_(_%_(a, b), c)"),
        ("a || b && c", "_||_(a, _&&_(b, c))"),
        ("a && b && c && d", "_&&_(_&&_(a, b), _&&_(c, d))"),
        ("a && (b && c)", "_&&_(a, _&&_(b, c))"),
        ("a ? b : c ? d : e", "_?_:_(a, b, _?_:_(c, d, e))"),
        ("a ? (b ? c : d) : e", "_?_:_(a, _?_:_(b, c, d), e)"),
        ("a || b ? c && d : e || f", "_?_:_(_||_(a, b), _&&_(c, d), _||_(e, f))"),
        ("a >= b ? 1 : 2", "_?_:_(_>=_(a, b), 1, 2)"),
        ("-x.y", "-_(x.y)"),
        ("-1.f()", "-1.f()"),
        ("- 1", "-1"),
        ("--1", "1"),
        ("---1", "-_(1)"),
        ("!!a", "a"),
        ("!-1", "!_(-1)"),
        ("a - -b", "_-_(a, -_(b))"),
        ("a--1", "_-_(a, -1)"),
        ("-1 - -1", "_-_(-1, -1)"),
        (".a.b", ".a.b"),
        (".f(1)", ".f(1)"),
        ("a.f(b, c)", "a.f(b, c)"),
        ("f()", "f()"),
        ("a[b][?c].?d.e", "_?._(_[?_](_[_](a, b), c), 'd').e"),
        ("a.`b-c/d e.f`", "a.b-c/d e.f"),
        ("[a, ?b, c,]", "[a, ?b, c]"),
        ("[,]", "[]"),
        ("{,}", "{}"),
        ("{a: b, ?c: d ? 1 : 2}", "{a: b, ?c: _?_:_(d, 1, 2)}"),
        ("A{,}", "A{}"),
        ("pkg.A{a: 1, ?`b-c`: 2,}.a", "pkg.A{a: 1, ?b-c: 2}.a"),
        (".pkg.for{if: 1}", ".pkg.for{if: 1}"),
        ("a.package.var()", "a.package.var()"),
        ("f(A{})", "f(A{})"),
        ("'a' + 'b'", "_+_('a', 'b')"),
        ("b'a'", "b'a'"),
        ("1u", "Uint(1)"),
        ("((a))", "a"),
        ("a // comment", "a"),
        ("true ? null : false", "_?_:_(True, None, False)"),
    ],
)
def test_shapes(text: str, shape: str) -> None:
    assert show(tree(text).root) == shape


def positions(text: str) -> dict[str, int]:
    ast = tree(text)
    return {show(node): ast.positions[node.id] for node in walk(ast.root)}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a + b", {"a": 0, "b": 4, "_+_(a, b)": 2}),
        ("x ? y : z", {"_?_:_(x, y, z)": 2}),
        ("!!!a", {"!_(a)": 0}),
        ("- 1", {"-1": 0}),
        (" .ab", {".ab": 2}),
        ("a.bc", {"a": 0, "a.bc": 1}),
        ("a.?bc", {"'bc'": 3, "_?._(a, 'bc')": 1}),
        ("a . f (b)", {"a.f(b)": 6}),
        ("ff(b)", {"ff(b)": 2}),
        ("a[b]", {"_[_](a, b)": 1}),
        ("a[?b]", {"_[?_](a, b)": 1}),
        (" [a]", {"[a]": 1}),
        (" {a: b}", {"{a: b}": 1}),
        ("p.T{f: b}", {"p.T{f: b}": 3}),
        ("a || b || c", {"_||_(_||_(a, b), c)": 7, "_||_(a, b)": 2}),
        ("(a)", {"a": 1}),
        ("has(a.b)", {"a": 4, "a.b~test~": 3}),
    ],
)
def test_positions(text: str, expected: dict[str, int]) -> None:
    found = positions(text)
    assert {shape: found[shape] for shape in expected} == expected


def test_entries_and_fields_are_at_their_colons() -> None:
    ast = tree("{a : b}")
    assert isinstance(ast.root, MapLiteral)
    assert ast.positions[ast.root.entries[0].id] == 3
    ast = tree("T{f : b}")
    assert isinstance(ast.root, Struct)
    assert ast.positions[ast.root.fields[0].id] == 4


@given(expressions())
def test_ids_are_unique_and_have_positions(text: str) -> None:
    ast = tree(text)
    ids = [node.id for node in walk(ast.root)]
    assert len(set(ids)) == len(ids)
    assert all(0 <= ast.positions[node_id] <= len(text) for node_id in ids)
    assert min(ids) > 0


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("if", ["1:1 reserved identifier: if"]),
        (" .var(1)", ["1:2 reserved identifier: var"]),
        (
            "1 + package + for",
            ["1:5 reserved identifier: package", "1:15 reserved identifier: for"],
        ),
        ("9223372036854775808", ["1:1 invalid int literal"]),
        ("1 - - 9223372036854775809", ["1:5 invalid int literal"]),
        ("18446744073709551616u", ["1:1 invalid uint literal"]),
        ("-1e999", ["1:1 invalid double literal"]),
        (r"[b'\u0041']", ["1:2 unable to unescape string"]),
        (r"'\ud800'", ["1:1 invalid unicode code point"]),
        (
            "[1].map(var, 1)",
            ["1:9 reserved identifier: var", "1:9 argument is not an identifier"],
        ),
    ],
)
def test_errors_beyond_syntax(text: str, expected: list[str]) -> None:
    assert errors(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a.?b", ["1:2 unsupported syntax '.?'"]),
        ("a[?b]", ["1:2 unsupported syntax '[?'"]),
        ("[a, ?b]", ["1:5 unsupported syntax '?'"]),
        ("{?a: b}", ["1:2 unsupported syntax '?'"]),
        ("T{a: 1, ?b: c}", ["1:9 unsupported syntax '?'"]),
        ("a.`b`", ["1:3 unsupported syntax: '`'"]),
        ("a.b.`c-d`.e", ["1:5 unsupported syntax: '`'"]),
        ("T{a: 1, `b`: c}", ["1:3 unsupported syntax: '`'"]),
    ],
)
def test_syntax_that_is_switched_off(text: str, expected: list[str]) -> None:
    assert errors(text, ParseOptions(optional_syntax=False)) == expected
    assert errors(text) == []


_LEVELS = 250


def _nested(opening: str, closing: str, depth: int) -> str:
    return opening * depth + "1" + closing * depth


@pytest.mark.parametrize(
    ("make", "deepest"),
    [
        (lambda n: _nested("(", ")", n), 249),
        (lambda n: _nested("[", "]", n), 249),
        (lambda n: _nested("f(", ")", n), 249),
        (lambda n: _nested("a.f(", ")", n), 249),
        (lambda n: _nested("{1: ", "}", n), 249),
        (lambda n: _nested("T{a: ", "}", n), 249),
        (lambda n: _nested("-(", ")", n), 249),
        (lambda n: _nested("!(", ")", n), 249),
        (lambda n: _nested("a[", "]", n), 249),
        (lambda n: _nested("a ? b : ", "", n), 249),
        (lambda n: _nested("1 + (", ")", n), 124),
        (lambda n: _nested("1 + 1 * (", ")", n), 83),
        (lambda n: _nested("1 == (", ")", n), 124),
        (lambda n: _nested("1 && (", ")", n), 249),
        (lambda n: "!" * n + "a", 5000),
        (lambda n: "&&".join("a" * n), 5000),
    ],
)
def test_nesting_of_rules_is_limited(make: Callable[[int], str], deepest: int) -> None:
    assert errors(make(deepest)) == []
    if deepest < _LEVELS:
        assert errors(make(deepest + 1)) == ["-1:0 expression recursion limit exceeded: 250"]


@pytest.mark.parametrize(
    "make",
    [
        lambda n: "+".join("a" * (n + 1)),
        lambda n: "<".join("a" * (n + 1)),
        lambda n: "a" + ".b" * n,
        lambda n: "a" + ".?b" * n,
        lambda n: "a" + "[1]" * n,
        lambda n: "a" + ".f()" * n,
        lambda n: "a" + ".f().b[1]" * (n // 3) + ".c" * (n % 3),
        lambda n: "[f({1: a" + ".b" * n + "})]",
        lambda n: "[1].map(x, x" + ".b" * (n - 1) + ")",
    ],
)
def test_height_of_the_tree_is_limited(make: Callable[[int], str]) -> None:
    assert errors(make(250)) == []
    assert errors(make(251)) == ["-1:0 max recursion depth exceeded"]


def test_size_is_limited() -> None:
    limits = ParseOptions(limits=ParseLimits(code_points=3))
    assert errors("a+b", limits) == []
    message = "-1:0 expression code point size exceeds limit: size: 4, limit 3"
    assert errors("語+語 ", limits) == [message]


def test_errors_before_a_limit_are_kept() -> None:
    limits = ParseOptions(limits=ParseLimits(recursion=8))
    assert errors("@" + "(" * 10, limits) == [
        "-1:0 expression recursion limit exceeded: 8",
        "1:1 Syntax error: token recognition error at: '@'",
    ]


def _on_a_deep_stack(frames: int, text: str) -> list[str]:
    return errors(text) if frames == 0 else _on_a_deep_stack(frames - 1, text)


@pytest.mark.parametrize("opening", ["(", "[", "f(", "a.f("])
def test_a_deep_stack_of_the_caller_does_not_matter(opening: str) -> None:
    closing = "]" if opening == "[" else ")"
    frames = sys.getrecursionlimit() - 300 - _frames()
    assert _on_a_deep_stack(frames, _nested(opening, closing, 249)) == []


def _frames() -> int:
    frame, count = sys._getframe(), 0
    while frame.f_back is not None:
        frame, count = frame.f_back, count + 1
    return count


def _both(text: str, options: ParseOptions) -> tuple[Ast | None, Ast | None]:
    source = Source(text)
    issues = Issues(source)
    return descend(source, options), diagnose(source, options, issues)


def _placed(ast: Ast) -> list[tuple[str, int]]:
    return [(type(node).__name__, ast.positions[node.id]) for node in walk(ast.root)]


@given(expressions() | token_soup())
def test_the_quick_parser_agrees_with_the_faithful_one(text: str) -> None:
    for recursion in (3, 6, 250):
        options = ParseOptions(
            macros=EVERYTHING.macros, escape_syntax=True, limits=ParseLimits(recursion=recursion)
        )
        quick, faithful = _both(text, options)
        assert (quick is None) == (faithful is None)
        if quick is not None and faithful is not None:
            assert show(quick.root) == show(faithful.root)
            assert _placed(quick) == _placed(faithful)


def test_parsing_has_no_memory() -> None:
    assert errors("a +") == errors("a +")
    assert show(tree("a.b").root) == "a.b"


@pytest.mark.parametrize("text", ["\0", "(" * 5000, "'" * 5001, "a." * 3000, "\ud800", "@" * 3000])
def test_nonsense_gives_issues(text: str) -> None:
    ast, issues = parse(Source(text), EVERYTHING)
    assert ast is None
    assert issues.display().startswith("ERROR: ")
