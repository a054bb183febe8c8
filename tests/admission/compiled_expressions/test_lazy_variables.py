"""Variables that read variables, in chains of any length."""

from __future__ import annotations

from typing import Any

import pytest

from celadon.admission.compiled_expressions import (
    Expression,
    LazyVariables,
    Meter,
    OutOfBudget,
    PolicyScope,
    run_plain,
)
from celadon.cel import EvaluationError

LENGTH = 400
OBJECT = {"object": {"n": 1}}


def chain(first: str, link: str) -> tuple[dict[str, Expression], Expression]:
    """So many variables, each of which reads the one before twice, and a reader of the last."""
    scope = PolicyScope("1.36", has_params=False, has_variables=True)
    variables = {"v0": scope.declare("v0", first)}
    for i in range(1, LENGTH):
        text = link.replace("PREVIOUS", f"variables.v{i - 1}")
        variables[f"v{i}"] = scope.declare(f"v{i}", text)
    return variables, scope.compile(f"variables.v{LENGTH - 1} == {LENGTH}")


def counted(variables: dict[str, Expression]) -> tuple[dict[str, Any], Meter, list[str]]:
    meter = Meter(100_000)
    computed: list[str] = []

    def run(expression: Expression, activation: Any) -> Any:
        computed.append(expression.text)
        return meter.run_variable(expression, activation)

    activation: dict[str, Any] = dict(OBJECT)
    activation["variables"] = LazyVariables(variables, activation, run)
    return activation, meter, computed


def test_a_long_chain_is_computed_in_proportion_to_its_length() -> None:
    variables, reader = chain("object.n", "PREVIOUS + PREVIOUS - PREVIOUS + 1")
    activation, meter, computed = counted(variables)
    assert meter.run(reader, activation) is True
    assert LENGTH < len(computed) < 3 * LENGTH
    plain: dict[str, Any] = dict(OBJECT)
    plain["variables"] = LazyVariables(variables, plain, run_plain)
    assert run_plain(reader, plain) is True


def test_a_long_chain_is_charged_once_for_each_variable() -> None:
    costs = []
    for count in (LENGTH // 4, LENGTH // 2, LENGTH):
        variables, _ = chain("object.n", "PREVIOUS + 1")
        activation, meter, _ = counted(variables)
        scope = PolicyScope("1.36", has_params=False, has_variables=True)
        scope.declare(f"v{count - 1}", "1")
        meter.run(scope.compile(f"variables.v{count - 1} > 0"), activation)
        costs.append(meter.cost)
    assert costs[2] - costs[1] == 2 * (costs[1] - costs[0]) > 0


@pytest.mark.parametrize("first", ["object.nothing", "1 / 0"])
def test_an_error_at_the_end_of_a_long_chain(first: str) -> None:
    variables, reader = chain(first, "PREVIOUS + 1")
    for metered in (True, False):
        activation, meter, computed = counted(variables)
        if not metered:
            activation["variables"] = LazyVariables(variables, activation, run_plain)
        run = meter.run if metered else run_plain
        with pytest.raises(EvaluationError) as caught:
            run(reader, activation)
        text = str(caught.value)
        assert text.startswith(f'composited variable "v{LENGTH - 1}" fails to evaluate: ')
        assert text.endswith(("no such key: nothing", "division by zero"))
        assert len(text) < 20_000
        assert len(computed) < 3 * LENGTH


def test_what_variables_cost_together_ends_their_computation() -> None:
    variables, reader = chain("object.n", "[1, 2, 3].map(a, a)[0] + PREVIOUS")
    activation, meter, computed = counted(variables)
    meter.remaining = 1000
    with pytest.raises(OutOfBudget):
        meter.run(reader, activation)
    known = activation["variables"].keys()
    assert 0 < len(known) < LENGTH // 4
    assert len(computed) < 2 * LENGTH


def test_variables_that_were_read_one_by_one_make_no_chain() -> None:
    variables, reader = chain("object.n", "PREVIOUS + 1")
    scope = PolicyScope("1.36", has_params=False, has_variables=True)
    single = {f"w{i}": scope.declare(f"w{i}", "object.n") for i in range(LENGTH)}
    activation, meter, computed = counted({**variables, **single})
    for name in single:
        assert activation["variables"][name] == 1
    assert meter.run(reader, activation) is True
    assert len(computed) < 4 * LENGTH


def test_a_single_variable_that_is_too_deep_is_not_tried_again() -> None:
    variables, _ = chain("object.n", "PREVIOUS + 1")
    tries: list[str] = []

    def run(expression: Expression, activation: Any) -> Any:
        tries.append(expression.text)
        if len(tries) == 1:
            raise RecursionError
        return run_plain(expression, activation)

    lazy = LazyVariables(variables, {}, run)
    with pytest.raises(RecursionError):
        lazy["v0"]
    assert len(tries) == 1
