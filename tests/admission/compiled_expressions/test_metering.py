"""Budgets: who is charged when, and what happens at the end of one."""

from __future__ import annotations

import pytest

from celadon.admission import decision_source, policy_limits
from celadon.admission.compiled_expressions import (
    Condition,
    Expression,
    LazyVariables,
    Meter,
    OutOfBudget,
    PolicyScope,
    attempt,
    evaluate,
    run_plain,
)
from celadon.cel import EvaluationError

SCOPE = PolicyScope("1.36", has_params=False, has_variables=False)
BROKEN = "object.a"
OBJECT = {"object": {"n": 1}}


def compiled(text: str, index: int = 0) -> Expression:
    return SCOPE.compile(text, source=decision_source.validation(index))


def cost_of(text: str) -> int:
    meter = Meter(1000)
    meter.run(compiled(text), OBJECT)
    return meter.cost


def test_both_ways_have_the_same_values() -> None:
    expression = compiled("object.n + 1")
    assert run_plain(expression, OBJECT) == Meter(1000).run(expression, OBJECT) == 2
    assert Meter(1000).run_variable(expression, OBJECT) == 2


def test_an_expression_that_does_not_compile_fails_when_it_runs() -> None:
    broken = compiled("nonsense")
    for run in (run_plain, Meter(1000).run, Meter(1000).run_variable):
        with pytest.raises(EvaluationError, match="undeclared reference to 'nonsense'"):
            run(broken, OBJECT)
    value, failure = attempt(run_plain, broken, OBJECT)
    assert value is None
    assert failure is not None
    assert failure.text.startswith("compilation error: ")


def test_the_budget_is_what_all_expressions_have_together() -> None:
    one = cost_of("object.n == 1")
    meter = Meter(2 * one)
    for left in (one, 0):
        meter.run(compiled("object.n == 1"), OBJECT)
        assert (meter.cost, meter.remaining) == (one, left)
    with pytest.raises(OutOfBudget) as caught:
        meter.run(compiled("object.n == 1", 7), OBJECT)
    assert caught.value.failure.source == decision_source.validation(7)
    assert meter.remaining < 0


def test_a_failure_is_charged_too() -> None:
    meter = Meter(1000)
    with pytest.raises(EvaluationError, match="no such key: a"):
        meter.run(compiled(BROKEN), OBJECT)
    assert 1000 - meter.remaining == meter.cost > 0


def test_variables_are_charged_with_the_expression_that_reads_them_first() -> None:
    scope = PolicyScope("1.36", has_params=False, has_variables=True)
    variable = scope.declare("v", "object.n + object.n")
    reader = scope.compile("variables.v == 2")
    alone = Meter(1000)
    alone.run(variable, OBJECT)
    meter = Meter(1000)
    variables = LazyVariables({"v": variable}, OBJECT, meter.run_variable)
    activation = {**OBJECT, "variables": variables}
    assert meter.run(reader, activation) is True
    first = meter.cost
    assert meter.remaining == 1000 - first
    assert meter.run(reader, activation) is True
    assert first - meter.cost == alone.cost > 0


def test_a_variable_that_fails_is_charged_and_fails_again_for_nothing() -> None:
    scope = PolicyScope("1.36", has_params=False, has_variables=True)
    variable = scope.declare("v", "object.n + object.n > 1 && object.a")
    reader = scope.compile("variables.v == true")
    meter = Meter(1000)
    activation = {**OBJECT, "variables": LazyVariables({"v": variable}, OBJECT, meter.run_variable)}
    costs = []
    for _ in range(2):
        with pytest.raises(EvaluationError, match='"v" fails to evaluate: no such key: a'):
            meter.run(reader, activation)
        costs.append(meter.cost)
    assert costs[0] > costs[1] > 0
    assert meter.remaining == 1000 - sum(costs)


def test_variables_that_are_too_much() -> None:
    scope = PolicyScope("1.36", has_params=False, has_variables=True)
    variable = scope.declare("v", "object.n + object.n")
    reader = scope.compile("variables.v == 2", source=decision_source.validation(3))
    meter = Meter(1)
    activation = {**OBJECT, "variables": LazyVariables({"v": variable}, OBJECT, meter.run_variable)}
    with pytest.raises(OutOfBudget) as caught:
        meter.run(reader, activation)
    assert caught.value.failure.source == decision_source.validation(3)


def test_one_expression_has_a_limit_of_its_own() -> None:
    items = {"object": {"n": [1] * 2000}}
    much = compiled("object.n.all(a, object.n.all(b, a == b))")
    meter = Meter(100 * policy_limits.PER_CALL_COST)
    with pytest.raises(EvaluationError, match="actual cost limit exceeded"):
        meter.run(much, items)
    assert meter.remaining >= 0


@pytest.mark.parametrize(
    ("texts", "false", "failure"),
    [
        (["true", "object.n == 1"], "", ""),
        (["true", "object.n == 2", "false"], "c1", ""),
        ([BROKEN, "false"], "c1", ""),
        (["true", BROKEN], "", "expression 'object.a' resulted in error: no such key: a"),
        (
            [BROKEN, "object.b"],
            "",
            "[expression 'object.a' resulted in error: no such key: a, "
            "expression 'object.b' resulted in error: no such key: b]",
        ),
        ([BROKEN, BROKEN], "", "expression 'object.a' resulted in error: no such key: a"),
    ],
)
def test_match_conditions(texts: list[str], false: str, failure: str) -> None:
    conditions = [Condition(f"c{i}", compiled(text, i)) for i, text in enumerate(texts)]
    result = evaluate(conditions, Meter(1000).run, OBJECT)
    assert result.false_condition == false
    assert (result.failure.text if result.failure else "") == failure
    if result.failure:
        first = next(i for i, text in enumerate(texts) if text == BROKEN)
        assert result.failure.source == decision_source.validation(first)


def test_conditions_have_one_budget() -> None:
    conditions = [Condition("false", compiled("false")), Condition("c", compiled("object.n == 1"))]
    result = evaluate(conditions, Meter(0).run, OBJECT)
    assert result.false_condition == ""
    assert result.failure is not None
    assert result.failure.text == (
        "validation failed due to running out of cost budget, no further validation rules will be "
        "run"
    )


def test_before_anything_ran() -> None:
    meter = Meter(7)
    assert (meter.cost, meter.remaining) == (0, 7)


def test_variables_alone_may_use_up_all_there_is() -> None:
    scope = PolicyScope("1.36", has_params=False, has_variables=True)
    variable = scope.declare("v", "object.n + object.n")
    alone = Meter(1000)
    alone.run(variable, OBJECT)
    enough = Meter(alone.cost)
    assert enough.run_variable(variable, OBJECT) == 2
    with pytest.raises(OutOfBudget):
        Meter(alone.cost - 1).run_variable(variable, OBJECT)
