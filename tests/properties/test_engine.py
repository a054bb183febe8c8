"""The two generated variants and a plain interpreter agree, whatever the expression."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import assume, given, reject, settings
from hypothesis import strategies as st

from celadon.cel import CheckedAst, CostLimitExceeded, EvaluationError, Program, ProgramError, types
from celadon.cel.analysis.constant_folding import constant_identifiers, fold
from celadon.cel.analysis.tree_context import Context
from celadon.kube.library.environments import environment
from tests.examples import examples
from tests.properties.expressions import MARKER, OBJECT, expressions
from tests.properties.interpreter import Interpreter, failed, show

ENVIRONMENT = environment().extend({"object": types.DYN, "x": types.DYN, "y": types.DYN})
ACTIVATION: dict[str, Any] = {"object": OBJECT}
SIZE = len(json.dumps(OBJECT))


#: Loops in loops in loops are legal and slow; they say nothing that smaller ones do not.
AFFORDABLE = 20_000


def compiled(text: str) -> tuple[CheckedAst, Program]:
    compilation = ENVIRONMENT.compile(text)
    assume(compilation.ast is not None)
    checked = compilation.checked()
    try:
        program = ENVIRONMENT.program(checked)
    except ProgramError:
        reject()
    try:
        program.evaluate_metered(ACTIVATION, AFFORDABLE)
    except CostLimitExceeded:
        assume(False)
    except EvaluationError:
        pass
    return checked, program


def context_of(checked: CheckedAst) -> Context:
    declarations = ENVIRONMENT.declarations
    constants = constant_identifiers(checked, declarations)
    return Context(
        checked,
        fold(checked, declarations.functions, constants),
        declarations.functions,
        constants,
        ENVIRONMENT.switches,
    )


def plain_outcome(program: Program) -> str:
    try:
        return show(program.evaluate(ACTIVATION))
    except EvaluationError as error:
        return f"error: {error.message}"


def metered_outcome(program: Program, *, exactly: bool = False) -> tuple[str, int | None]:
    evaluate = program.evaluate_exactly if exactly else program.evaluate_metered
    try:
        value, cost = evaluate(ACTIVATION)
    except EvaluationError as error:
        return f"error: {error.message}", error.cost
    return show(value), cost


@settings(max_examples=examples(300))
@given(expressions)
def test_five_ways_to_the_same_answer(text: str) -> None:
    checked, program = compiled(text)
    interpreter = Interpreter(context_of(checked), ACTIVATION)
    value = interpreter.run()
    expected = f"error: {value.message}" if failed(value) else show(value)
    assert plain_outcome(program) == expected  # as yet interpreted
    assert metered_outcome(program) == (expected, interpreter.cost)
    assert metered_outcome(program, exactly=True) == (expected, interpreter.cost)
    assert plain_outcome(program.prepare()) == expected


@settings(max_examples=examples(150))
@given(expressions)
def test_the_bound_is_never_below_the_cost(text: str) -> None:
    _, program = compiled(text)
    _, cost = metered_outcome(program)
    assert cost is not None
    assert program.cost_bound(SIZE) >= cost


@settings(max_examples=examples(150))
@given(expressions)
def test_nothing_of_the_user_becomes_source(text: str) -> None:
    _, program = compiled(text)
    for source in (program.source, program.counted_source, program.metered_source):
        assert MARKER not in source
        assert "object" not in source


@settings(max_examples=examples(150))
@given(expressions, st.integers(0, 60))
def test_a_limit_cuts_off_exactly(text: str, limit: int) -> None:
    _, program = compiled(text)
    _, cost = metered_outcome(program)
    assert cost is not None
    try:
        program.evaluate_metered(ACTIVATION, limit)
    except EvaluationError as error:
        within, charged = "actual cost limit exceeded" not in error.message, error.cost
    else:
        within, charged = True, None
    assert within or (charged is not None and charged > limit)
    assert within == (cost <= limit)


@given(expressions)
def test_the_same_text_gives_the_same_source(text: str) -> None:
    _, one = compiled(text)
    _, two = compiled(text)
    assert one.source == two.source
    assert one.counted_source == two.counted_source
    assert one.metered_source == two.metered_source
