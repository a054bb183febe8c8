"""The traced variant: the outcome of the whole is the program's, that of each part its own."""

from __future__ import annotations

from random import Random

import pytest

from celadon.cel import CostLimitExceeded, ProgramError, syntax
from celadon.cel.tracing import TraceRecorder
from tests.cel.codegen.test_variants import ENVIRONMENT, INPUTS, ROWS, compiled, costed
from tests.cel.tracing.separate_evaluation import differences, traced
from tests.fuzz.typed_expressions import Expressions
from tests.fuzz.variants import AFFORDABLE, activations, context_of
from tests.fuzz.variants import ENVIRONMENT as FUZZED


@pytest.mark.parametrize("text", ROWS)
def test_parts_come_to_what_they_come_to_alone(text: str) -> None:
    checked, program = compiled(ENVIRONMENT, text)
    value, cost, frame = traced(program, INPUTS, AFFORDABLE)
    assert (value, cost) == costed(program.evaluate_exactly, INPUTS)
    assert list(differences(context_of(ENVIRONMENT, checked), INPUTS, frame)) == []


@pytest.mark.thorough
@pytest.mark.parametrize("seed", range(8))
def test_any_expression(seed: int) -> None:
    random = Random(seed)
    expressions = Expressions(FUZZED, random, ("x", "x", "x.a"))
    traces = 0
    for _ in range(60):
        text = expressions.any_piece(random.randrange(1, 6)).text
        checked = FUZZED.compile(text).ast
        if checked is None:
            continue
        try:
            program = FUZZED.program(checked)
        except ProgramError:
            continue
        for activation in activations():
            try:
                value, cost, frame = traced(program, activation, AFFORDABLE)
            except CostLimitExceeded:
                continue
            traces += 1
            assert (value, cost) == costed(program.evaluate_exactly, activation), text
            assert list(differences(context_of(FUZZED, checked), activation, frame)) == [], text
    assert traces > 60


@pytest.mark.parametrize(
    "text",
    ["(" * 200 + "i" + " + 1)" * 200, "!" + "!(" * 199 + "b" + ")" * 199, "[" * 90 + "]" * 90],
    ids=["sums", "negations", "lists"],
)
def test_deep_expressions(text: str) -> None:
    checked, program = compiled(ENVIRONMENT, text)
    value, cost, frame = traced(program, INPUTS, AFFORDABLE)
    assert (value, cost) == costed(program.evaluate_exactly, INPUTS)
    assert len(frame.outcomes) >= len(syntax.walk(checked.root)) // 2


@pytest.mark.parametrize("limit", range(0, 40, 3))
def test_the_limit_is_reached_alike(limit: int) -> None:
    _, program = compiled(ENVIRONMENT, "l.map(x, x + i).all(y, y > 3) && o.f == 1")
    with pytest.raises(CostLimitExceeded) as expected:
        program.evaluate_metered(INPUTS, limit)
    with pytest.raises(CostLimitExceeded) as found:
        program.evaluate_traced(INPUTS, TraceRecorder(), limit)
    assert found.value.cost == expected.value.cost
