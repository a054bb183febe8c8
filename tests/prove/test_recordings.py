"""Recorded expressions come to the same symbolically: a sample, and all of them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.conformance.kubernetes_cases import kubernetes_environment
from tests.paths import shared

pytest.importorskip("z3")

import z3

from celadon.prove import symbolic_functions
from celadon.prove.solver_terms import negated
from celadon.prove.symbolic_evaluator import Evaluator
from celadon.prove.symbolic_objects import Inputs
from celadon.prove.symbolic_values import EngineCall, certain
from celadon.prove.uninterpreted_functions import Unmodelled
from tests.prove.agreement import Hidden, compared, judge, judge_random, put_in, unmodelled_table

NAMES = (
    *("conversions", "errors", "fields", "format", "lists", "logic", "macros", "net", "operators"),
    *("optionals", "quantity", "random", "regex", "semver", "sets", "strings", "time", "url"),
)
"""Without `cost`, whose inputs are too large."""
FILES = (*(f"cel-kubernetes/{name}" for name in NAMES), "fuzz/cel/agreeing", "fuzz/cel/differing")
SAMPLE = 20


def path_of(name: str) -> Path:
    return shared("conformance", *f"{name}.json".split("/"))


def verdicts(name: str, count: int | None = None) -> set[str]:
    """What becomes of all cases, or of so many."""
    cases = json.loads(path_of(name).read_text())
    found = set()
    for case in cases[:: 1 if count is None else max(1, len(cases) // count)]:
        verdict, why = judge(case)
        assert verdict != "differs", f"{case['id']} {case['expr']}: {why}"
        found.add(verdict)
    return found


@pytest.mark.parametrize("name", FILES)
def test_a_sample_agrees(name: str) -> None:
    assert "agrees" in verdicts(name, SAMPLE)


@pytest.mark.thorough
@pytest.mark.parametrize("name", FILES)
def test_all_agree(name: str) -> None:
    assert "agrees" in verdicts(name)


@pytest.mark.thorough
def test_the_decision_lists_what_is_not_modelled() -> None:
    table = unmodelled_table([path_of(name) for name in FILES])
    decision = Path(__file__).parents[2] / "docs" / "decisions" / "0050-proofs.md"
    assert table in decision.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        # A test of presence in an optional is what it finds, in a branch or as a key.
        ("object.b ? has(object.?m.k) : false", {"b": True, "m": {"k": 1}}),
        ("{true: 1}[has(object.?m.k)]", {"m": {"k": 1}}),
        # Keys of an optional without a value are not evaluated; others fail.
        ("object.?zz[object.n]", {"n": None}),
        ("object.?l[object.n]", {"n": None, "l": [1]}),
        ("{null: 1}[object.n]", {"n": None}),
        # Of two that have the same key, the later one counts.
        ("{object.a: 1, object.b: 2}[object.a]", {"a": "x", "b": "x"}),
        # What is no list is an error, whatever is asked of its items.
        ("object.l.all(i, false)", {"l": 443}),
        # `in []` is false, even where there is nothing to look for.
        ("(object.zz in []) || object.b", {"b": False}),
        ("object.s.substring(0, object.n) == ''", {"s": "a", "n": None}),
        (r"object.s == '\\u{41}'", {"s": "A"}),
        # An optional that passes through a name or a conditional is one of the Go value inside.
        ("object.?s.optMap(s, object.?s).value()", {"s": "a"}),
        ("optional.of(1).optMap(x, ip('10.0.0.1')).value().family()", {}),
        ("optional.of(1).optMap(x, ip('10.0.0.1')).hasValue()", {}),
        ("optional.of(true).optMap(c, bytes).value()", {}),
        # One inside of another stays one where no name is between.
        ("optional.ofNonZeroValue(object.l[?1]).value() <= 'x'", {"l": ["a", "b"]}),
        ("optional.ofNonZeroValue(object.l[?1]).value().hasValue()", {"l": ["a", "b"]}),
        ("optional.ofNonZeroValue(object.l[?2]).hasValue()", {"l": ["a", "b"]}),
        # A quantity can be compared with another one, if it stands on the left.
        ("quantity('1') == object.q", {"q": "1"}),
        ("object.q != quantity('1')", {"q": "1"}),
        # Parts of a text by their place, and where there are not so many.
        ("object.s.split('/')[0]", {"s": "a"}),
        ("object.s.split('/')[1].size()", {"s": "a//b"}),
        ("object.s.split('//')[2]", {"s": "//a//"}),
        ("object.s.split('/')[3]", {"s": "a/b/c"}),
        *(
            (expression, {"s": text})
            for text in ("", "/", "a", "a/", "/a//b", "//", "a///b/c", "///")
            for expression in (
                *("object.s.split('/')", "object.s.split('//')", "size(object.s.split('//'))"),
                *(
                    "object.s.split('/')[size(object.s.split('/')) - 1]",
                    "'b' in object.s.split('/')",
                ),
                "object.s.split('/').filter(p, p != '').map(p, p + '!')",
                "object.s.split('//') == ['', '/']",
                "object.s.split('/')[?1].orValue('none')",
                "object.s.split('//').all(p, p.startsWith('a') || size(p) < 2)",
                "object.s.findAll('[a-z]/?').exists(m, m.endsWith('/'))",
                "object.s.findAll('/+') + ['x']",
                *("size(object.s.findAll('//'))", "object.s.findAll('[a-z]')[1]"),
            )
        ),
        # What fails leaves a zero in its place, of which another call may have been asked.
        (
            "string(quantity(string(quantity(object.k).asApproximateFloat())).asApproximateFloat())",
            {"k": "x"},
        ),
        # Where the quotient leaves the 64 bits there is no rest either.
        ("object.i % object.j", {"i": -(1 << 63), "j": -1}),
        # Integers are compared with doubles as doubles; keys as the integers that doubles are.
        ("object.i == object.d", {"i": (1 << 53) + 1, "d": float(1 << 53)}),
        ("object.i > object.d", {"i": (1 << 53) + 1, "d": float(1 << 53)}),
        ("object.i < object.d", {"i": (1 << 63) - 1, "d": float(1 << 63)}),
        ("object.i <= object.d", {"i": -(1 << 53) - 3, "d": -float((1 << 53) + 4)}),
        ("double(object.i) == object.i", {"i": (1 << 62) + 513}),
        ("dyn(uint(object.s)) == object.d", {"s": f"{(1 << 64) - 1}", "d": float(1 << 64)}),
        ("{object.i: 1}[object.d]", {"i": (1 << 53) + 1, "d": float(1 << 53)}),
        ("object.d in {object.i: 1}", {"i": (1 << 53) + 1, "d": float(1 << 53)}),
        # NaN has no order, and no integer is equal to it.
        ("double(object.s) < 1.0", {"s": "NaN"}),
        ("object.i >= double(object.s)", {"s": "NaN", "i": 1}),
        ("dyn(double(object.s)) == object.i", {"s": "NaN", "i": 1}),
        # Texts in the place of a number.
        ("object.s.split('-', object.s)", {"s": "a-b"}),
        ("object.s.replace('-', '+', object.s)", {"s": "a-b"}),
        ("object.s.lastIndexOf('-', object.s)", {"s": "a-b"}),
        # Digits are their number as a quantity, however many they are.
        *(
            (f"quantity(string(object.i)).compareTo(quantity('{limit}'))", {"i": number})
            for limit, number in (
                *(("7", 7), ("-7", -7), ("0", 1), ("1k", 1000), ("1Ki", -1024)),
                *((f"{(1 << 63) - 1}", (1 << 63) - 1), (f"-{(1 << 63) - 1}", -(1 << 63))),
            )
        ),
        ("quantity(string(uint(object.s))) == quantity(object.s)", {"s": f"{(1 << 64) - 1}"}),
        (
            "quantity(object.b ? string(object.i) : object.s).isInteger()",
            {"b": True, "i": 1, "s": ""},
        ),
        (
            "quantity(object.b ? string(object.i) : object.s) == quantity('1')",
            {"b": False, "i": 1, "s": "2"},
        ),
        # What never fails does not change what is false because a call inside of it fails.
        ("false && ip(object.k).isLoopback()", {"k": "x"}),
    ],
)
def test_what_once_differed(expression: str, value: dict[str, object]) -> None:
    env = kubernetes_environment()
    checked = env.compile(expression).checked()
    verdict, why = compared(env, checked, {"object": value}, put_in)
    assert verdict == "agrees", why


@pytest.mark.parametrize("separator", ["/", "//", "aba", "ab"])
@pytest.mark.parametrize("text", ["", "ab", "/", "///", "a/b", "ababa", "abab", "xabay"])
def test_the_solver_splits_as_the_engine(text: str, separator: str) -> None:
    """Without being told what the engine says of the text."""
    env = kubernetes_environment()
    checked = env.compile(f"object.split('{separator}')").checked()
    words = env.program(checked).evaluate({"object": text})
    assert isinstance(words, list)
    hidden, unmodelled = Hidden(), Unmodelled(env, inputs=Inputs(len(words) + 1))
    (case,) = Evaluator(checked, unmodelled).evaluate({"object": certain(hidden.hide(text))}).cases
    assert isinstance(case.value, EngineCall)
    parts = unmodelled.parts(case.value)
    assert parts is not None
    solver = z3.Solver()
    solver.add(*hidden.assumed, *unmodelled.inputs.assumed)
    assert solver.check() == z3.sat
    is_same = symbolic_functions.equal(parts, symbolic_functions.literal(words))
    solver.add(negated(is_same))
    assert solver.check() == z3.unsat


def test_random_expressions_agree() -> None:
    """A sample; `python -m tests.prove.agreement --random FIRST COUNT` compares more."""
    assert agreeing(0, 150) > 100


@pytest.mark.thorough
@pytest.mark.parametrize("part", range(1, 3))
def test_more_random_expressions_agree(part: int) -> None:
    assert agreeing(1000 * part, 150) > 100


def agreeing(first: int, count: int) -> int:
    """How many of so many random cases are modelled, all of which come to the same."""
    verdicts = [judge_random(seed) for seed in range(first, first + count)]
    assert [why for verdict, why in verdicts if verdict == "differs"] == []
    return sum(verdict == "agrees" for verdict, _ in verdicts)
