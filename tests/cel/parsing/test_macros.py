"""Each macro: what it becomes, node for node, and what it refuses."""

from __future__ import annotations

import pytest

from celadon.cel.parsing import macros
from celadon.cel.parsing.parser import ParseOptions
from celadon.cel.syntax import Call, walk
from tests.cel.trees import ALL_MACROS, errors, show, tree

_ALL = "@not_strictly_false(@result)"
_EXISTS = "@not_strictly_false(!_(@result))"
_ADD = "_+_(@result, [{}])"
_IF = "_?_:_(p, {}, @result)"


def _loop(variables: str, init: str, condition: str, step: str, result: str = "@result") -> str:
    return f"loop(r; {variables}; @result = {init}; {condition}; {step}; {result})"


@pytest.mark.parametrize(
    ("text", "expansion"),
    [
        ("has(a.b.c)", "a.b.c~test~"),
        ("has(has(a.b))", "a.b~test~"),
        ("r.all(v, p)", _loop("v", "True", _ALL, "_&&_(@result, p)")),
        ("r.exists(v, p)", _loop("v", "False", _EXISTS, "_||_(@result, p)")),
        (
            "r.exists_one(v, p)",
            _loop("v", "0", "True", _IF.format("_+_(@result, 1)"), "_==_(@result, 1)"),
        ),
        ("r.map(v, t)", _loop("v", "[]", "True", _ADD.format("t"))),
        ("r.map(v, p, t)", _loop("v", "[]", "True", _IF.format(_ADD.format("t")))),
        ("r.filter(v, p)", _loop("v", "[]", "True", _IF.format(_ADD.format("v")))),
        ("r.all(v, w, p)", _loop("v, w", "True", _ALL, "_&&_(@result, p)")),
        ("r.exists(v, w, p)", _loop("v, w", "False", _EXISTS, "_||_(@result, p)")),
        (
            "r.existsOne(v, w, p)",
            _loop("v, w", "0", "True", _IF.format("_+_(@result, 1)"), "_==_(@result, 1)"),
        ),
        (
            "r.exists_one(v, w, p)",
            _loop("v, w", "0", "True", _IF.format("_+_(@result, 1)"), "_==_(@result, 1)"),
        ),
        ("r.transformList(v, w, t)", _loop("v, w", "[]", "True", _ADD.format("t"))),
        (
            "r.transformList(v, w, p, t)",
            _loop("v, w", "[]", "True", _IF.format(_ADD.format("t"))),
        ),
        (
            "r.transformMap(v, w, t)",
            _loop("v, w", "{}", "True", "cel.@mapInsert(@result, v, t)"),
        ),
        (
            "r.transformMap(v, w, p, t)",
            _loop("v, w", "{}", "True", _IF.format("cel.@mapInsert(@result, v, t)")),
        ),
        (
            "r.transformMapEntry(v, w, t)",
            _loop("v, w", "{}", "True", "cel.@mapInsert(@result, t)"),
        ),
        (
            "r.transformMapEntry(v, w, p, t)",
            _loop("v, w", "{}", "True", _IF.format("cel.@mapInsert(@result, t)")),
        ),
        (
            "o.optMap(v, e)",
            "_?_:_(o.hasValue(), optional.of("
            "loop([]; #unused; v = o.value(); False; v; e)), optional.none())",
        ),
        (
            "o.optFlatMap(v, e)",
            "_?_:_(o.hasValue(), loop([]; #unused; v = o.value(); False; v; e), optional.none())",
        ),
        (
            "r.sortBy(v, t)",
            "loop([]; #unused; @__sortBy_input__ = r; False; @__sortBy_input__; "
            "@__sortBy_input__.@sortByAssociatedKeys("
            + _loop("v", "[]", "True", _ADD.format("t")).replace("(r;", "(@__sortBy_input__;")
            + "))",
        ),
        ("cel.bind(v, a, e)", "loop([]; #unused; v = a; False; v; e)"),
        ("cel.block([a], b)", "cel.@block([a], b)"),
        ("cel.index(2)", "@index2"),
        ("cel.iterVar(0, 1)", "@it:0:1"),
        ("cel.accuVar(2, 3)", "@ac:2:3"),
        ("math.least(a)", "math.@min(a)"),
        ("math.least([1, 2.0])", "math.@min([1, 2.0])"),
        ("math.greatest(a, 1u)", "math.@max(a, Uint(1))"),
        ("math.greatest(a, 1, 2)", "math.@max([a, 1, 2])"),
        ("proto.getExt(a, b.c.d)", "a.b.c.d"),
        ("proto.hasExt(a, b.c.d)", "a.b.c.d~test~"),
    ],
)
def test_expansions(text: str, expansion: str) -> None:
    assert show(tree(text).root) == expansion


@pytest.mark.parametrize(
    "text",
    [
        "all(r, v, p)",
        "r.has(a.b)",
        "r.all(v)",
        "r.map(v)",
        "r.all(v, w, x, p)",
        "x.bind(v, a, e)",
        "x.block([a], b)",
        "x.index(1)",
        "x.iterVar(1, 2)",
        "x.least(1)",
        "x.getExt(a, b.c)",
        "r.sortBy(v)",
    ],
)
def test_other_calls_stay_calls(text: str) -> None:
    assert isinstance(tree(text).root, Call)
    assert show(tree(text).root) == text


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("has(a)", "1:5 invalid argument to has() macro"),
        ("has(a[1])", "1:6 invalid argument to has() macro"),
        ("has(a.?b)", "1:6 invalid argument to has() macro"),
        ("r.all(a.b, p)", "1:8 argument must be a simple name"),
        ("r.exists(1, p)", "1:10 argument must be a simple name"),
        ("r.exists_one(f(), p)", "1:15 argument must be a simple name"),
        ("r.map(1, p)", "1:7 argument is not an identifier"),
        ("r.map('x', p, t)", "1:7 argument is not an identifier"),
        ("r.filter(1, p)", "1:10 argument is not an identifier"),
        ("r.all(__result__, p)", "1:7 iteration variable overwrites accumulator variable"),
        ("r.map(__result__, p)", "1:7 iteration variable overwrites accumulator variable"),
        ("r.all(1, w, p)", "1:7 argument must be a simple name"),
        ("r.all(v, 1, p)", "1:10 argument must be a simple name"),
        ("r.transformMap(v, v, p)", "1:19 duplicate variable name: v"),
        (
            "r.transformList(v, __result__, p)",
            "1:20 iteration variable overwrites accumulator variable",
        ),
        ("o.optMap(1, e)", "1:10 optMap() variable name must be a simple identifier"),
        ("o.optFlatMap(1, e)", "1:14 optFlatMap() variable name must be a simple identifier"),
        ("{}.sortBy(v, v)", f"1:1 {macros.NOT_SORTABLE}"),
        ("r.sortBy(1, v)", "1:10 argument is not an identifier"),
        ("cel.bind(1, a, e)", "1:10 cel.bind() variable names must be simple identifiers"),
        ("cel.block(a, b)", "1:11 cel.block requires the first arg to be a list literal"),
        ("cel.index(-1)", "1:11 cel.index requires a single non-negative int constant arg"),
        ("cel.iterVar(0, a)", "1:16 cel.iterVar requires two non-negative int constant args"),
        ("cel.accuVar('', 0)", "1:13 cel.accuVar requires two non-negative int constant args"),
        ("math.least()", "1:11 math.least() requires at least one argument"),
        ("math.least('')", "1:12 math.least() invalid single argument value"),
        ("math.greatest([])", "1:15 math.greatest() invalid single argument value"),
        ("math.greatest([1, true])", "1:15 math.greatest() invalid single argument value"),
        (
            "math.greatest(1, {})",
            "1:18 math.greatest() simple literal arguments must be numeric",
        ),
        ("proto.getExt(a, b)", "1:17 invalid extension field"),
        ("proto.hasExt(a, f().b)", "1:20 invalid extension field"),
    ],
)
def test_refusals(text: str, expected: str) -> None:
    assert errors(text) == [expected]


def test_generated_nodes_are_where_the_call_is() -> None:
    ast = tree("xs.all(v, v > 0)")
    generated = [ast.positions[n.id] for n in walk(ast.root) if show(n) == "@result"]
    assert generated == [6, 6, 6]


def test_a_variable_with_a_leading_dot_passes() -> None:
    assert show(tree("r.map(.v, 1)").root).startswith("loop(r; .v;")


def test_macro_calls_are_kept_on_request() -> None:
    ast = tree("a.map(x, has(x.b))")
    kept = {show(call) for call in ast.macro_calls.values()}
    assert kept == {"has(x.b)", "a.map(x, x.b~test~)"}
    assert ast.root.id in ast.macro_calls
    assert not tree("has(a.b)", ParseOptions(macro_calls=False)).macro_calls


def test_without_macros_they_are_calls() -> None:
    assert show(tree("has(a.b) && r.all(v, p)", ParseOptions(macros=())).root) == (
        "_&&_(has(a.b), r.all(v, p))"
    )


def test_no_two_macros_have_the_same_shape() -> None:
    shapes = [(m.name, m.arg_count, m.member) for m in ALL_MACROS]
    assert len(set(shapes)) == len(shapes)
