"""Where parts are named, and what is said of them."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

from celadon.admission.compiled_expressions import Expression
from celadon.admission.explanation_values import TracingMeter
from celadon.cel import EvaluationError, types
from celadon.cli.annotated_source import Mark, Snippet, State, annotated
from celadon.kube.library import environment

ENVIRONMENT = environment().extend({"o": types.DYN})


def snippet(text: str, o: Any) -> Snippet:
    program = ENVIRONMENT.program(ENVIRONMENT.compile(text).checked())
    meter = TracingMeter(10_000_000)
    with suppress(EvaluationError):
        meter.run(Expression(text, program), {"o": o})
    return annotated(meter.runs[-1])


def marks(one: Snippet) -> dict[str, Mark]:
    return {one.text[m.start : m.end]: m for whole in one.marks for m in whole.walk()}


def test_parts_are_named_by_their_operators() -> None:
    text = "o.a.b + 1 > 2 && has(o.c) && (o.l[0] in o.l) && o.a.?x.hasValue()"
    found = marks(snippet(text, {"a": {"b": 3}, "c": 1, "l": [1]}))
    named = {part: text[mark.offset :].split(" ")[0] for part, mark in found.items()}
    assert named["o.a.b"] == "b"
    assert named["o.a.b + 1"] == "+"
    assert named["o.a.b + 1 > 2"] == ">"
    assert named["has(o.c)"] == "has(o.c)"
    assert named["o.l[0]"] == "[0]"
    assert named["o.l[0] in o.l"] == "in"
    assert named["o.a.?x"] == "?x.hasValue()"
    assert named["o.a.?x.hasValue()"] == "hasValue()"


def test_states() -> None:
    found = marks(snippet("o.zz.y == 1 || o.b && o.c", {"b": False}))
    states = {part: mark.state for part, mark in found.items()}
    assert states["o.zz"] is State.ERROR
    assert states["o.zz.y"] is State.PASSED_ON
    assert states["o.zz.y == 1"] is State.PASSED_ON
    assert states["o.b && o.c"] is State.VALUE
    assert states["o.c"] is State.SKIPPED


def test_rounds() -> None:
    one = snippet("o.filter(x, x > 1).map(y, y + 1).size() == 2", [1, 2, 3])
    first, second = sorted(one.loops, key=lambda loop: loop.end)
    assert (first.count, second.count) == (3, 2)
    assert [each.variables for each in first.rounds] == [(("x", n),) for n in (1, 2, 3)]
    bodies = [each.snippet for each in (*first.rounds, *second.rounds)]
    assert {one.text[body.start : body.end] for body in bodies} == {"x > 1", "y + 1"}
