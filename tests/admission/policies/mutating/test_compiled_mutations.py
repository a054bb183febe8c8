"""What becomes of a mutating policy before any request."""

from __future__ import annotations

import pytest

from celadon.admission.policies.compiled_mutations import compile_mutating_policy
from tests.admission.policies.mutating.altering import label, patch, policy

SORTED = "[2, 1].sort() == [1, 2]"


@pytest.mark.parametrize(("version", "known"), [("1.33", False), ("1.34", True)])
def test_stored_policies_may_use_all_that_the_release_knows(version: str, known: bool) -> None:
    """What is new in a release, too, which nobody may write yet."""
    given = policy(
        "p",
        patch("[2, 1].sort().map(x, JSONPatch{op: 'test', path: '/a'})"),
        label("a", "string([1].sort()[0])"),
        matchConditions=[{"name": "c", "expression": SORTED}],
        variables=[{"name": "v", "expression": SORTED}],
    )
    made = compile_mutating_policy(given, version)
    expressions = [
        *made.variables.values(),
        *(one.expression for one in made.conditions),
        *(one.expression for one in made.mutations),
    ]
    assert [one.program is not None for one in expressions] == [known] * 4


@pytest.mark.parametrize("reinvokes", [False, True])
@pytest.mark.parametrize("failure_policy", ["Fail", "Ignore"])
def test_what_a_policy_says_of_itself(reinvokes: bool, failure_policy: str) -> None:
    given = policy("p", label("a"), patch("[]"), reinvokes=reinvokes, failurePolicy=failure_policy)
    made = compile_mutating_policy(given)
    assert (made.name, made.reinvokes) == ("p", reinvokes)
    assert made.ignores_failures is (failure_policy == "Ignore")
    assert [one.is_patch for one in made.mutations] == [False, True]
    assert [str(one.expression.source.path) for one in made.mutations] == [
        "spec.mutations[0].applyConfiguration.expression",
        "spec.mutations[1].jsonPatch.expression",
    ]


@pytest.mark.parametrize("used", ["mutation", "condition", "variable", ""])
def test_who_uses_the_authorizer(used: str) -> None:
    asking = "authorizer.requestResource.check('get').allowed()"
    text = {used: asking}
    made = compile_mutating_policy(
        policy(
            "p",
            label("a", f"string({text.get('mutation', 'true')})"),
            matchConditions=[{"name": "c", "expression": text.get("condition", "true")}],
            variables=[{"name": "v", "expression": text.get("variable", "true")}],
        )
    )
    assert made.uses_authorizer is bool(used)
