from __future__ import annotations

from celadon.cel.parsing.macros import OPTIONAL_MACROS, Expansion, Macro
from celadon.cel.parsing.parser import ParseOptions
from celadon.cel.parsing.recursive_descent import ParseLimits
from celadon.cel.syntax import Call, Expr, walk
from tests.cel.trees import EVERYTHING, errors, show, tree


def _twice(x: Expansion, target: Expr | None, args: object) -> Expr | None:
    assert target is not None
    return x.call("pair", target, x.copy(target))


TWICE = Macro("twice", 0, True, _twice)


def copied(text: str) -> None:
    options = ParseOptions(macros=(*EVERYTHING.macros, TWICE), escape_syntax=True)
    ast = tree(f"({text}).twice()", options)
    assert isinstance(ast.root, Call)
    original, copy = ast.root.args
    assert show(original) == show(copy)
    ids = [{node.id for node in walk(tree)} for tree in (original, copy)]
    assert not ids[0] & ids[1]
    places = [[ast.positions[node.id] for node in walk(tree)] for tree in (original, copy)]
    assert places[0] == places[1]
    calls = [
        [show(ast.macro_calls[n.id]) for n in walk(tree) if n.id in ast.macro_calls]
        for tree in (original, copy)
    ]
    assert calls[0] == calls[1]


def test_copies_of_all_kinds_of_nodes() -> None:
    for text in (
        "a",
        "1",
        "a.b",
        "has(a.b)",
        "f(a).g(b)",
        "[a, ?b]",
        "{a: b, ?c: d}",
        "T{a: b, ?c: d}",
        "r.map(x, r.exists(y, has(y.b)))",
    ):
        copied(text)


def test_copies_are_counted() -> None:
    options = ParseOptions(macros=OPTIONAL_MACROS, limits=ParseLimits(copied_nodes=1000))
    assert errors("a" + ".optMap(x, x)" * 5, options) == []
    chain = "a" + ".optMap(x, x)" * 40
    assert errors(chain, options) == ["-1:0 macro expansion exceeds limit: 1000 copied nodes"]


def test_an_expander_may_decline() -> None:
    decline = Macro("f", 1, False, lambda x, target, args: None)
    assert show(tree("f(1)", ParseOptions(macros=(decline,))).root) == "f(1)"


def test_an_expander_may_blame_the_call() -> None:
    refuse = Macro("f", 1, False, lambda x, target, args: x.fail("no"))
    assert errors("  f(1)", ParseOptions(macros=(refuse,))) == ["1:4 no"]
