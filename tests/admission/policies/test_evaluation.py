"""Budgets: what is charged, when they run out, and that not counting changes nothing."""

from __future__ import annotations

import math
from bisect import bisect_left
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from celadon.admission import policy_limits
from celadon.admission.compiled_expressions import (
    LazyVariables,
    Meter,
    OutOfBudget,
    PolicyScope,
    run_plain,
    size_bound,
)
from celadon.admission.policies.compiled_policy import PlainSizes, compile_policy
from celadon.admission.policies.validating import Engine
from celadon.admission.request import Request
from celadon.cel import EvaluationError
from celadon.kube.library import OUT_OF_BUDGET
from tests.admission.building import WORLD, binding, config_map, judge, policy, refusal, request

CHECK = "authorizer.path('/').check('get').allowed()"
LOOP = "object.data.l.split(',').all(x, !object.data.t.contains('zz'))"
"""Dear: as many traversals of t as l has elements."""


def dear(elements: int) -> Request:
    data = {"l": ",".join("x" * elements), "t": "y" * 4000}
    return request(config_map(data=data))


def validations(*expressions: str) -> list[dict[str, str]]:
    return [{"expression": expression} for expression in expressions]


def test_three_checks_are_too_dear_for_one_expression() -> None:
    two = policy(validations=validations(f"{CHECK} && {CHECK}"))
    three = policy(validations=validations(f"{CHECK} && {CHECK} && {CHECK}"))
    assert judge(two).allowed
    assert refusal(judge(three)).endswith("operation cancelled: actual cost limit exceeded")


def test_texts_that_variables_make_for_next_to_nothing_count_together() -> None:
    replaced = {"name": "a", "expression": "'aaaaaaaa'.replace('a', object.data.t)"}
    others = [
        {"name": f"a{number}", "expression": "'aaaaaaaa'.replace('a', variables.a)"}
        for number in range(20)
    ]
    size = " + ".join(f"variables.a{number}.size()" for number in range(20))
    many = policy(variables=[replaced, *others], validations=validations(f"{size} > 0"))
    assert judge(many, asked=request(config_map(data={"t": "y" * 100}))).allowed
    denied = judge(many, asked=request(config_map(data={"t": "y" * 150_000})))
    assert refusal(denied).endswith("operation cancelled: actual cost limit exceeded")


def test_checks_of_many_expressions_exhaust_the_budget() -> None:
    enough = policy(validations=validations(*[CHECK] * 28))
    more = policy(validations=validations(*[CHECK] * 29))
    assert judge(enough).allowed
    verdict = judge(more)
    assert refusal(verdict) == OUT_OF_BUDGET
    assert [decision.index for decision in verdict.decisions] == [0]


def test_match_conditions_have_a_smaller_budget() -> None:
    def conditions(count: int) -> list[dict[str, str]]:
        return [{"name": f"c{i}", "expression": CHECK} for i in range(count)]

    passed = validations("true")
    assert judge(policy(matchConditions=conditions(7), validations=passed)).allowed
    assert refusal(judge(policy(matchConditions=conditions(8)))) == OUT_OF_BUDGET
    assert judge(policy(matchConditions=conditions(8), failurePolicy="Ignore")).allowed


def test_messages_over_budget_fail_what_was_true_too() -> None:
    message = LOOP + " ? 'a' : 'b'"
    spec: dict[str, Any] = {
        "validations": [
            {"expression": "true", "messageExpression": message},
            *({"expression": LOOP, "messageExpression": message} for _ in range(6)),
        ]
    }
    asked = dear(2400)
    verdict = judge(policy(**spec), asked=asked)
    assert refusal(verdict) == f"failed messageExpression: {OUT_OF_BUDGET}"
    assert len(verdict.decisions) == 7
    assert judge(policy(**spec, failurePolicy="Ignore"), asked=asked).allowed


def test_annotations_over_budget_replace_a_denial() -> None:
    value = LOOP + " ? 'a' : 'b'"
    annotations = [{"key": f"k{i}", "valueExpression": value} for i in range(11)]
    spec: dict[str, Any] = {
        "validations": [{"expression": "false", "message": "no"}],
        "auditAnnotations": annotations,
    }
    asked = dear(2400)
    assert refusal(judge(policy(**spec), asked=asked)) == OUT_OF_BUDGET
    assert judge(policy(**spec, failurePolicy="Ignore"), asked=asked).allowed


def test_annotations_have_a_budget_of_their_own() -> None:
    """Together they would be too dear; each half alone is just cheap enough."""
    value = LOOP + " ? 'a' : 'b'"
    annotations = [{"key": f"k{i}", "valueExpression": value} for i in range(10)]
    spec: dict[str, Any] = {
        "validations": validations(*[LOOP] * 10),
        "auditAnnotations": annotations,
    }
    verdict = judge(policy(**spec), asked=dear(2400))
    assert verdict.allowed
    assert len(verdict.audit_annotations) == 10
    more = {**spec, "validations": validations(*[LOOP] * 11)}
    assert refusal(judge(policy(**more), asked=dear(2400))) == OUT_OF_BUDGET


def test_variables_are_charged_once_and_to_the_budget() -> None:
    given = policy(
        variables=[{"name": "v", "expression": LOOP}],
        validations=validations(*["variables.v"] * 3),
    )
    engine = Engine([given], [binding()])
    costs = [d.cost or 0 for d in engine.explain(dear(100), WORLD).decisions]
    assert costs[0] > 10_000
    assert costs[1:] == [2, 2]


def test_a_variable_has_a_limit_of_its_own() -> None:
    given = policy(
        variables=[{"name": "v", "expression": LOOP}], validations=validations("variables.v")
    )
    assert judge(given, asked=dear(2400)).allowed
    assert refusal(judge(given, asked=dear(2600))) == (
        "expression 'variables.v' resulted in error: composited variable \"v\" fails to evaluate: "
        "operation cancelled: actual cost limit exceeded"
    )


def test_a_meter_charges_variables_first() -> None:
    scope = PolicyScope("1.36", has_params=False, has_variables=True)
    variable = scope.declare("v", "object.a + object.b")
    expression = scope.compile("variables.v == 3")
    given = {"object": {"a": 1, "b": 2}}

    def run(budget: int) -> Meter:
        meter = Meter(budget)
        activation: dict[str, Any] = dict(given)
        activation["variables"] = LazyVariables({"v": variable}, activation, meter.run_variable)
        meter.run(expression, activation)
        return meter

    cost = run(1000).cost
    assert run(cost).remaining == 0
    with pytest.raises(OutOfBudget):
        run(cost - 1)


def test_errors_of_variables_are_kept() -> None:
    scope = PolicyScope("1.36", has_params=False, has_variables=True)
    variable = scope.declare("v", "object.nope")
    broken = scope.declare("w", "nope")
    seen: list[str] = []

    def run(expression: Any, activation: Any) -> Any:
        seen.append(expression.text)
        return run_plain(expression, activation)

    activation: dict[str, Any] = {"object": {}}
    variables = LazyVariables({"v": variable, "w": broken}, activation, run)
    for _ in range(2):
        with pytest.raises(EvaluationError, match='composited variable "v" fails to evaluate: no'):
            variables["v"]
    assert seen == ["object.nope"]
    with pytest.raises(EvaluationError, match='composited variable "w" fails to compile: comp'):
        variables["w"]
    with pytest.raises(KeyError):
        variables["x"]
    assert "x" not in variables


PLAIN_SIZES = [
    ("true", policy_limits.UNBOUNDED_SIZE),
    ("object.spec.replicas <= 5", policy_limits.UNBOUNDED_SIZE),
    (f"{CHECK} && {CHECK} && {CHECK}", -1),
]


@pytest.mark.parametrize(("expression", "size"), PLAIN_SIZES)
def test_where_nothing_needs_to_be_counted(expression: str, size: int) -> None:
    assert plain_size(validations=validations(expression)) == size


def plain_size(**spec: Any) -> int:
    return largest(compile_policy(policy(**spec)).plain_sizes)


def largest(sizes: PlainSizes) -> int:
    """The largest of them; -1 if there are none."""
    if sizes.are_all:
        return policy_limits.UNBOUNDED_SIZE
    every = range(policy_limits.UNBOUNDED_SIZE)
    return bisect_left(every, True, key=lambda size: not sizes.include(size)) - 1


@given(st.lists(st.integers(0, 60_000), max_size=20))
def test_in_whatever_order_sizes_come_the_answer_is_the_same(sizes: list[int]) -> None:
    compiled = compile_policy(policy(validations=validations(LOOP)))
    most = plain_size(validations=validations(LOOP))
    assert [compiled.plain_sizes.include(size) for size in sizes] == [
        size <= most for size in sizes
    ]


def test_messages_share_the_budget_of_validations() -> None:
    """What both can cost together decides from which size on they are counted."""
    six = [LOOP] * 6
    messages = [{"expression": text, "messageExpression": f"{LOOP} ? 'a' : 'b'"} for text in six]
    both, alone = plain_size(validations=messages), plain_size(validations=validations(*six))
    twelve = plain_size(validations=validations(*six, *six))
    assert both < alone
    assert both == pytest.approx(twelve, rel=0.05)


def test_a_message_alone_is_counted_too() -> None:
    message = [{"expression": "true", "messageExpression": f"{LOOP} ? 'a' : 'b'"}]
    assert 0 < plain_size(validations=message) < 100_000


def test_variables_may_be_computed_for_validations_and_again_for_messages() -> None:
    """The last size at which the budget is enough for both."""
    linear = "object.data.t.contains('zz')"
    compiled = compile_policy(
        policy(
            variables=[{"name": "v", "expression": linear}],
            validations=validations(*[linear] * 10, "variables.v"),
        )
    )

    def most(size: int) -> float:
        variable = compiled.variables["v"].program
        assert variable is not None
        total = size + math.ceil(variable.size_bound(size))
        programs = [one.expression.program for one in compiled.validations]
        return 2 * variable.cost_bound(size) + sum(
            one.cost_bound(total) for one in programs if one is not None
        )

    size = largest(compiled.plain_sizes)
    assert most(size) <= policy_limits.RUNTIME_COST_BUDGET < most(size + 1)


def test_loops_are_counted_only_in_large_requests() -> None:
    size = plain_size(validations=validations(LOOP))
    assert 0 < size < 100_000


@pytest.mark.parametrize("elements", [1, 10, 200, 2453, 2455, 3000])
def test_counting_or_not_the_verdict_is_the_same(elements: int) -> None:
    engine = Engine(
        [
            policy("a", validations=validations(LOOP, "object.data.l.size() > 20")),
            policy(
                "b",
                variables=[{"name": "n", "expression": "object.data.l.size()"}],
                validations=[
                    {"expression": "variables.n > 3000", "messageExpression": "string(variables.n)"}
                ],
                auditAnnotations=[{"key": "n", "valueExpression": "string(variables.n)"}],
            ),
        ],
        [binding("ba", "a"), binding("bb", "b", "Warn")],
    )
    asked = dear(elements)
    quick, exact = engine.review(asked, WORLD), engine.explain(asked, WORLD)
    assert quick.status == exact.status
    assert quick.warnings == exact.warnings
    assert quick.audit_annotations == exact.audit_annotations


@pytest.mark.parametrize(
    "value",
    [
        None,
        True,
        12345678901234567890,
        1.5,
        "x" * 100,
        "ä" * 100,
        [None] * 50,
        {"k": [True, {"a": "b"}]},
        {},
    ],
)
def test_the_size_bound_counts_everything(value: Any) -> None:
    def everything(value: Any) -> int:
        if isinstance(value, str):
            return 1 + len(value)
        if isinstance(value, list):
            return 1 + sum(map(everything, value))
        if isinstance(value, dict):
            return 1 + sum(everything(k) + everything(v) for k, v in value.items())
        return 1

    assert size_bound(value) >= everything(value)


def test_the_size_of_anything_can_be_asked() -> None:
    nested: Any = 1
    for _ in range(100_000):
        nested = [nested]
    assert size_bound(nested) == policy_limits.UNBOUNDED_SIZE
    while isinstance(nested, list):  # taken apart by hand: the interpreter would recurse
        nested = nested.pop()


@pytest.mark.parametrize(
    ("value", "published"),
    [
        ("a" * 10240, "a" * 10240),
        ("a" * 10241, "a" * 10240),
        ("a" * 10239 + "\u00e9", "a" * 10239 + "\ufffd"),
        ("a" * 10238 + "\u20ac", "a" * 10238 + "\ufffd\ufffd"),
    ],
)
def test_long_annotations_are_cut(value: str, published: str) -> None:
    given = policy(
        validations=[], auditAnnotations=[{"key": "k", "valueExpression": "string(object.data.v)"}]
    )
    verdict = judge(given, binding(), asked=request(config_map(data={"v": value})))
    assert verdict.audit_annotations == {"p/k": published}
