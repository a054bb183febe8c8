"""Explanations of validating policies: who was asked, why not, and what followed from what."""

from __future__ import annotations

import itertools
from typing import Any

import pytest

from celadon.admission import Action, Engine, Operation, Outcome, Request
from celadon.admission.cluster_lookups import ObjectWorld
from celadon.admission.explain import (
    BindingExplanation,
    CaseExplanation,
    Explanation,
    PolicyExplanation,
    explain,
)
from celadon.admission.registration import ValidatingAdmissionPolicy
from celadon.cel import EvaluationError
from celadon.kube import GroupVersionResource
from tests.admission.building import RULE, WORLD, binding, config_map, policy, request

PARAM_KIND = {"apiVersion": "v1", "kind": "ConfigMap"}


def explained(
    *registered: Any, asked: Request | None = None, world: ObjectWorld = WORLD
) -> Explanation:
    """With the engine's own verdict, which must be the same."""
    policies = [one for one in registered if isinstance(one, ValidatingAdmissionPolicy)]
    bindings = [one for one in registered if not isinstance(one, ValidatingAdmissionPolicy)]
    engine = Engine(policies, bindings or [binding()])
    found = explain(engine, asked or request(), world)
    verdict = engine.review(asked or request(), world)
    assert found.verdict.status == verdict.status
    assert found.verdict.warnings == verdict.warnings
    assert found.verdict.audit_annotations == verdict.audit_annotations
    return found


def only_policy(found: Explanation) -> PolicyExplanation:
    (one,) = found.policies
    return one


def only_binding(found: Explanation) -> BindingExplanation:
    (one,) = only_policy(found).bindings
    return one


def only_case(found: Explanation) -> CaseExplanation:
    (one,) = only_binding(found).cases
    return one


def test_every_validation_has_a_trace_and_a_decision() -> None:
    validations = [
        {"expression": "object.metadata.name == 'c'"},
        {"expression": "size(object.data) > 0", "message": "empty"},
        {"expression": "object.data.x == 'y'"},
    ]
    obj = config_map(data={})
    case = only_case(explained(policy(validations=validations), asked=request(obj)))
    decisions = [part.decision for part in case.validations]
    assert [one and one.action for one in decisions] == [Action.ADMIT, Action.DENY, Action.DENY]
    assert [part.run and part.run.value for part in case.validations[:2]] == [True, False]
    assert isinstance(case.validations[2].run and case.validations[2].run.value, EvaluationError)
    assert case.decisions == ()
    (budget,) = case.budgets
    assert (budget.phase, budget.limit) == ("validations", 10_000_000)
    assert budget.spent == sum(one.cost or 0 for one in decisions if one is not None)


def test_variables_are_evaluated_or_never_needed() -> None:
    variables = [
        {"name": "one", "expression": "1"},
        {"name": "two", "expression": "variables.one + 1"},
        {"name": "three", "expression": "object.no.way"},
    ]
    validations = [
        {"expression": "variables.two == 2 || variables.three"},
        {"expression": "variables.two == 2 && variables.one == 1"},
    ]
    case = only_case(explained(policy(variables=variables, validations=validations)))
    assert [len(one.runs) for one in case.variables] == [1, 1, 0]
    first, second = case.validations
    assert first.run is not None
    (two,) = first.run.variables
    assert [one.expression.text for one in two.variables] == ["1"]
    assert second.run is not None
    assert second.run.variables == ()
    assert first.run.charged == first.run.cost + two.cost + two.variables[0].cost
    assert first.decision is not None
    assert first.decision.cost == first.run.charged


def test_long_chains_of_variables_are_kept_once() -> None:
    names = [f"v{n}" for n in range(60)]
    variables = [{"name": names[0], "expression": "1"}]
    variables += [
        {"name": name, "expression": f"variables.{before} + 1"}
        for before, name in itertools.pairwise(names)
    ]
    validations = [{"expression": "variables.v59 == 60"}]
    case = only_case(explained(policy(variables=variables, validations=validations)))
    assert [len(one.runs) for one in case.variables] == [1] * 60


def test_message_expressions_and_annotations() -> None:
    found = explained(
        policy(
            validations=[
                {"expression": "true", "messageExpression": "'unused'"},
                {"expression": "false", "messageExpression": "'no ' + object.metadata.name"},
            ],
            auditAnnotations=[
                {"key": "a", "valueExpression": "'x'"},
                {"key": "b", "valueExpression": "object.no.way"},
            ],
        )
    )
    case = only_case(found)
    messages = [part.message for part in case.validations]
    assert [one and one.run and one.run.value for one in messages] == ["unused", "no c"]
    assert case.validations[1].decision is not None
    assert case.validations[1].decision.message == "no c"
    assert [part.name for part in case.annotations] == ["a", "b"]
    assert [part.decision is not None for part in case.annotations] == [False, True]
    assert [one.phase for one in case.budgets] == ["validations", "auditAnnotations"]


def test_false_conditions_keep_validations_from_being_asked() -> None:
    conditions = [
        {"name": "yes", "expression": "true"},
        {"name": "no", "expression": "object.metadata.name == 'x'"},
    ]
    case = only_case(explained(policy(matchConditions=conditions)))
    assert [(one.name, one.run and one.run.value) for one in case.conditions] == [
        ("yes", True),
        ("no", False),
    ]
    assert case.validations[0].run is None
    assert case.outcome is not None
    assert case.outcome.outcome is Outcome.CONDITION_FALSE
    assert case.outcome.detail == "no"


@pytest.mark.parametrize("failure_policy", ["Fail", "Ignore"])
def test_failed_conditions_meet_the_failure_policy(failure_policy: str) -> None:
    conditions = [{"name": "broken", "expression": "object.no.way"}]
    found = explained(policy(matchConditions=conditions, failurePolicy=failure_policy))
    case = only_case(found)
    assert only_policy(found).ignores_failures is (failure_policy == "Ignore")
    assert found.verdict.allowed is (failure_policy == "Ignore")
    assert bool(case.decisions) is (failure_policy == "Fail")
    assert case.outcome is not None


def test_an_exhausted_budget_stands_for_all_validations() -> None:
    costly = {"expression": f"!object.data.x.contains('{'b' * 90}')"}
    obj = config_map(data={"x": "a" * 1_000_000})
    found = explained(policy(validations=[costly] * 13), asked=request(obj))
    case = only_case(found)
    (decision,) = case.decisions
    assert "budget" in decision.message
    (budget,) = case.budgets
    assert budget.spent > budget.limit
    assert case.validations[0].run is not None
    assert case.validations[12].run is None


def test_expressions_that_do_not_compile() -> None:
    case = only_case(explained(policy(validations=[{"expression": "nothing + 1 == 2"}])))
    (part,) = case.validations
    assert part.run is None
    assert part.broken.startswith("compilation failed: ")
    assert part.decision is not None


def test_one_case_for_each_param() -> None:
    world = ObjectWorld(
        [config_map("one", labels={"p": "yes"}), config_map("two", labels={"p": "yes"})],
        implicit_namespaces=True,
    )
    ref = {"selector": {"matchLabels": {"p": "yes"}}, "parameterNotFoundAction": "Allow"}
    found = explained(
        policy(paramKind=PARAM_KIND, validations=[{"expression": "params.metadata.name == 'one'"}]),
        binding(paramRef=ref),
        world=world,
    )
    bound = only_binding(found)
    assert [case.param for case in bound.cases] == ["ns/one", "ns/two"]
    lookup = bound.lookup
    assert lookup is not None
    assert (lookup.namespace, lookup.name, lookup.selector) == ("ns", "", ref["selector"])
    assert lookup.found_names == ("ns/one", "ns/two")
    assert lookup.resource == GroupVersionResource("", "v1", "configmaps")
    decisions = [case.validations[0].decision for case in bound.cases]
    assert [one and one.action for one in decisions] == [Action.ADMIT, Action.DENY]


@pytest.mark.parametrize("action", ["Allow", "Deny"])
def test_missing_params(action: str) -> None:
    ref = {"name": "nobody", "parameterNotFoundAction": action}
    found = explained(policy(paramKind=PARAM_KIND), binding(paramRef=ref))
    bound = only_binding(found)
    assert bound.cases == ()
    assert bound.lookup is not None
    assert (bound.lookup.name, bound.lookup.found_names, bound.lookup.action) == (
        "nobody",
        (),
        action,
    )
    assert bool(bound.decisions) is (action == "Deny")
    assert bool(bound.notes) is (action == "Allow")


def test_params_of_unknown_kinds() -> None:
    kind = {"apiVersion": "example.com/v1", "kind": "Widget"}
    found = explained(policy(paramKind=kind), binding(paramRef={"name": "x"}))
    one = only_policy(found)
    assert one.match.hit is not None
    (decision,) = one.decisions
    assert "failed to find resource referenced by paramKind" in decision.message
    assert only_binding(found).match is None


def test_policies_in_the_order_of_evaluation() -> None:
    found = explained(
        policy("b"), policy("a"), binding("y", "a"), binding("x", "a"), binding("z", "b")
    )
    order = [(p.policy.name, b.binding.name) for p in found.policies for b in p.bindings]
    assert order == [("a", "x"), ("a", "y"), ("b", "z")]


def test_policies_that_do_not_match() -> None:
    other = {**RULE, "resources": ["secrets"]}
    found = explained(policy(matchConstraints={"resourceRules": [other]}))
    one = only_policy(found)
    assert one.match.missed == "resourceRules"
    assert only_binding(found).match is None
    assert [note.outcome for note in one.notes] == [Outcome.POLICY_UNMATCHED]


def test_bindings_that_do_not_match() -> None:
    resources = {"objectSelector": {"matchLabels": {"a": "b"}}}
    bound = only_binding(explained(policy(), binding(matchResources=resources)))
    assert bound.match is not None
    assert bound.match.missed == "objectSelector"
    assert [note.outcome for note in bound.notes] == [Outcome.BINDING_UNMATCHED]


def test_exempt_resources() -> None:
    resource = GroupVersionResource("authentication.k8s.io", "v1", "tokenreviews")
    found = explained(policy(), asked=request(resource=resource))
    assert found.exempt
    assert found.policies == ()


def test_deletions_have_no_object() -> None:
    asked = request(None, Operation.DELETE, old_object=config_map())
    case = only_case(explained(policy(validations=[{"expression": "object == null"}]), asked=asked))
    assert case.validations[0].run is not None
    assert case.validations[0].run.value is True
