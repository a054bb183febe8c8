"""The functions written by hand say what the expressions say, on every object of their kind."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from bench.case import Case
from bench.engines import celadon_environment, celadon_program
from bench.expressions import CASES
from bench.objects import ACTIVATIONS

from celadon.cel import EvaluationError

FAILED = object()

ENVIRONMENT = celadon_environment()


def outcome(function: Callable[[], Any], *errors: type[Exception]) -> Any:
    try:
        return function()
    except errors:
        return FAILED


def test_there_are_enough() -> None:
    assert len(CASES) >= 40
    assert len({case.name for case in CASES}) == len(CASES)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_agreement(case: Case) -> None:
    program = celadon_program(ENVIRONMENT, case.expression)
    for number, activation in enumerate(ACTIVATIONS[case.kind]):
        inputs = {name: activation[name] for name in case.variables}
        compiled = outcome(lambda: program.evaluate(inputs), EvaluationError)  # noqa: B023
        metered = outcome(lambda: program.evaluate_metered(inputs)[0], EvaluationError)  # noqa: B023
        by_hand = outcome(
            lambda: case.by_hand(*inputs.values()),  # noqa: B023
            KeyError,
            ValueError,
            TypeError,
            IndexError,
        )
        assert (metered, number) == (compiled, number)
        assert (by_hand, number) == (compiled, number)
        assert type(compiled) is type(by_hand)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_measured_input_has_a_value(case: Case) -> None:
    activation = ACTIVATIONS[case.kind][0]
    assert case.by_hand(*(activation[name] for name in case.variables)) not in (False, None)
