"""Looking on changes nothing: rounds of mutating policies, and what is seen of them."""

from __future__ import annotations

from typing import Any

from celadon.admission import Outcome, Request
from celadon.admission.explain import CaseExplanation, Explanation, MutationLook
from celadon.admission.policies.mutating import PolicyRounds
from celadon.kube import StatusError
from celadon.kube.fieldmanager import MutatedKinds
from tests.admission.building import WORLD, config_map, request
from tests.admission.policies.mutating.altering import apply, engine, label, patch, policy

COUNT = patch("[JSONPatch{op: 'add', path: '/data/n', value: object.?data.n.orValue('') + 'x'}]")


def explained(asked: Request, *registered: Any, rounds: int = 1) -> Explanation:
    """The outcome must be what it is if nobody looks on."""
    policies = engine(*registered)
    look = MutationLook(policies)
    watched = policies.rounds(WORLD, MutatedKinds(), contexts=look.context)
    alone = policies.rounds(WORLD, MutatedKinds())
    refused = None
    for number in range(rounds):
        made, refused = outcome(watched, asked, number)
        expected, refusal = outcome(alone, asked, number)
        assert made == expected
        assert (refused and refused.status) == (refusal and refusal.status)
    return look.explained(watched.notes, refused)


def outcome(one: PolicyRounds, asked: Request, number: int) -> tuple[Any, StatusError | None]:
    try:
        return one.run(asked, number), None
    except StatusError as refused:
        return None, refused


def cases(found: Explanation) -> list[CaseExplanation]:
    return [case for one in found.policies for binding in one.bindings for case in binding.cases]


def test_what_each_mutation_did() -> None:
    found = explained(request(), policy("p", label("a"), label("b", "object.no.way")))
    assert found.verdict.allowed is False
    (case,) = cases(found)
    first, second = case.mutations
    assert first.change is not None
    assert first.change.after["metadata"]["labels"] == {"a": "set"}
    assert first.run is not None
    assert not first.run.failed
    assert second.change is None
    assert second.failure is not None
    assert second.run is not None
    assert second.run.failed
    assert [one.phase for one in case.budgets] == ["mutations", "mutations"]


def test_ignored_failures() -> None:
    broken = policy("p", label("b", "object.no.way"), failurePolicy="Ignore")
    found = explained(request(), broken)
    (case,) = cases(found)
    assert found.verdict.allowed
    assert case.mutations[0].failure is not None
    assert case.mutations[0].failure.ignored


def test_conditions_are_seen_with_what_came_before() -> None:
    condition = {"name": "labelled", "expression": "object.metadata.?labels.a.hasValue()"}
    found = explained(
        request(), policy("p", label("a")), policy("q", label("b"), matchConditions=[condition])
    )
    first, second = cases(found)
    assert first.outcome is not None
    assert first.outcome.outcome is Outcome.EVALUATED
    assert second.conditions[0].run is not None
    assert second.conditions[0].run.value is True


def test_rounds() -> None:
    obj = config_map(data={})
    asked = request(obj)
    found = explained(asked, policy("p", COUNT, reinvokes=True), policy("q", label("b")), rounds=2)
    numbers = [
        (case.round, [part.change is not None for part in case.mutations]) for case in cases(found)
    ]
    assert (0, [True]) in numbers
    assert {number for number, _ in numbers} == {0, 1}


def test_policies_that_do_not_match() -> None:
    found = explained(
        request(), policy("p", apply("Object{}"), matchConstraints={"resourceRules": []})
    )
    (one,) = found.policies
    assert one.match.hit is not None or one.match.missed
