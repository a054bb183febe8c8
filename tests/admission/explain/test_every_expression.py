"""All expressions of a policy, in order, with the fields they stand in."""

from __future__ import annotations

from celadon.admission.explain import policy_expressions
from tests.admission import building
from tests.admission.policies.mutating import altering


def test_of_a_validating_policy() -> None:
    given = building.policy(
        matchConditions=[{"name": "m", "expression": "true"}],
        variables=[{"name": "v", "expression": "1"}],
        validations=[{"expression": "1 +"}, {"expression": "true", "messageExpression": "'a'"}],
        auditAnnotations=[{"key": "k", "valueExpression": "'b'"}],
    )
    found = policy_expressions(given, "1.36")
    assert [(str(one.source), one.text) for one in found] == [
        ("matchConditions[0]", "true"),
        ("variables[0]", "1"),
        ("validations[0]", "1 +"),
        ("validations[1]", "true"),
        ("validations[1].messageExpression", "'a'"),
        ("auditAnnotations[0]", "'b'"),
    ]
    assert [one.program is None for one in found].index(True) == 2


def test_of_a_mutating_policy() -> None:
    given = altering.policy("p", altering.label("'x'"), altering.patch("[]"))
    found = policy_expressions(given, "1.36")
    assert [str(one.source) for one in found] == ["mutations[0]", "mutations[1]"]
