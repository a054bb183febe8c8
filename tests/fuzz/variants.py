"""One expression, run in three ways: what they do not agree on.

The interpreter decides. Compared are values and errors of both variants, the cost, and that the
bound of the cost holds. A text that does not compile must have issues that can be shown; nothing
may raise anything but what it says it raises.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any

from celadon.cel import (
    CheckedAst,
    CostLimitExceeded,
    Environment,
    EvaluationError,
    Program,
    ProgramError,
    types,
)
from celadon.cel.analysis.constant_folding import constant_identifiers, fold
from celadon.cel.analysis.tree_context import Context, ResolvedCalls
from celadon.kube.library.environments import environment
from tests.fuzz.pieces import Piece, shrunk
from tests.fuzz.typed_expressions import SIMPLEST, Expressions, damaged, objects
from tests.properties.interpreter import Interpreter, failed, show

ENVIRONMENT = environment().extend({"object": types.DYN, "x": types.DYN})
AFFORDABLE = 30_000
"""Evaluations that cost more are given up: they say nothing that smaller ones do not."""
_RESOLVED: ResolvedCalls = {}
"""Of functions, for all expressions."""


@dataclass(frozen=True, slots=True)
class Disagreement:
    """What was found: the text, made as small as it goes, and what each way gave."""

    text: str
    details: str


def activations() -> list[dict[str, Any]]:
    """With and without `x`."""
    first, second, third = objects()
    return [{"object": first, "x": "abc"}, {"object": second, "x": {"a": 1}}, {"object": third}]


def campaign(seed: int, count: int) -> Iterator[Disagreement | None]:
    """Of so many expressions, one by one."""
    random, runs = Random(seed), activations()
    expressions = Expressions(ENVIRONMENT, random, ("x", "x", "x.a"))
    for _ in range(count):
        piece = expressions.any_piece(random.randrange(1, 6))
        text = piece.text
        if random.random() < 0.03:
            text = damaged(random, text)
            piece = Piece("", text)
        details = disagreement(text, runs)
        if details:
            small = shrunk(piece, SIMPLEST, lambda one: bool(disagreement(one, runs))).text
            yield Disagreement(small, disagreement(small, runs))
        else:
            yield None


def disagreement(text: str, runs: Sequence[Mapping[str, Any]]) -> str:
    """What the ways do not agree on, for people to read; empty if they do."""
    try:
        return _disagreement(text, runs)
    except RecursionError:
        return ""
    except Exception as failure:  # noqa: BLE001 - whatever it is, it is what is looked for
        return f"{type(failure).__name__}: {failure}"


def _disagreement(text: str, runs: Sequence[Mapping[str, Any]]) -> str:
    compilation = ENVIRONMENT.compile(text)
    if compilation.ast is None:
        return "" if compilation.issues.display() else "no issue is shown"
    checked = compilation.checked()
    try:
        program = ENVIRONMENT.program(checked)
    except ProgramError:
        return ""
    context = context_of(ENVIRONMENT, checked)
    for activation in runs:
        try:
            counted = _costed(program.evaluate_metered, activation)
            metered = _costed(program.evaluate_exactly, activation)
        except CostLimitExceeded:
            continue
        cold = _plain(ENVIRONMENT.program(checked), activation)
        ways = {"counted": counted, "metered": metered}
        found = _compared(Interpreter(context, activation), program, activation, ways, cold)
        if found:
            return found
    return ""


def _compared(
    interpreter: Interpreter,
    program: Program,
    activation: Mapping[str, Any],
    ways: Mapping[str, tuple[str, int | None]],
    cold: str,
) -> str:
    value = interpreter.run()
    expected = f"error: {value.message}" if failed(value) else show(value)
    outcomes = {
        **ways,
        "plain": (_plain(program.prepare(), activation), interpreter.cost),
        "cold": (cold, interpreter.cost),
    }
    for way, outcome in outcomes.items():
        if outcome != (expected, interpreter.cost):
            return f"{way} {outcome}, interpreter {expected, interpreter.cost}"
    if program.cost_bound(len(json.dumps(activation, default=str))) < interpreter.cost:
        return f"the bound is below the cost {interpreter.cost}"
    return ""


def context_of(env: Environment, checked: CheckedAst) -> Context:
    declarations = env.declarations
    constants = constant_identifiers(checked, declarations)
    folded = fold(checked, declarations.functions, constants)
    return Context(
        checked, folded, declarations.functions, constants, env.switches, resolved=_RESOLVED
    )


def _plain(program: Program, activation: Mapping[str, Any]) -> str:
    try:
        return show(program.evaluate(activation))
    except EvaluationError as error:
        return f"error: {error.message}"


def _costed(
    evaluate: Callable[..., tuple[Any, int]], activation: Mapping[str, Any]
) -> tuple[str, int | None]:
    """Raises CostLimitExceeded for what is not affordable."""
    try:
        value, cost = evaluate(activation, AFFORDABLE)
    except CostLimitExceeded:
        raise
    except EvaluationError as error:
        return f"error: {error.message}", error.cost
    return show(value), cost
