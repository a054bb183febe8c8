"""Claims about random policies and their mutants hold for random objects."""

from __future__ import annotations

from random import Random

import pytest

pytest.importorskip("z3")

from celadon.admission import decode_policy
from celadon.prove import Prover
from tests.prove import random_requests
from tests.prove.campaign import Trial, run
from tests.prove.test_policy_questions import policy


def test_a_sample_holds() -> None:
    found = run([6], 30)
    assert found.claims
    assert not found.against


def test_a_sample_about_requests_holds() -> None:
    found = run([78], 30, random_requests.random_policy)
    assert found.claims
    assert not found.against


@pytest.mark.parametrize(
    "said", ["oldObject.", "params.", "namespaceObject.", "request.userInfo.", "authorizer."]
)
def test_random_policies_are_about_all_that_expressions_see(said: str) -> None:
    documents = [random_requests.random_policy(seed) for seed in range(40)]
    assert any(said in str(one) for one in documents)
    assert documents == [random_requests.random_policy(seed) for seed in range(40)]


@pytest.mark.parametrize(
    ("claimed", "is_against"),
    [("object.metadata.name != 'a'", True), ("has(object.metadata.name)", False)],
)
def test_a_false_claim_is_found(claimed: str, is_against: bool) -> None:
    """Here that a policy admits everything."""
    document = policy(claimed)
    trial = Trial(Random(0), 60, [document])
    (endpoint,) = Prover(decode_policy(document).value).endpoints()
    trial.claim("never refuses", endpoint, [document], lambda said: not said.allowed)
    assert bool(trial.against) is is_against


@pytest.mark.thorough
@pytest.mark.parametrize("part", range(5))
def test_claims_about_requests_hold(part: int) -> None:
    seeds = range(100 + 2 * part, 102 + 2 * part)
    assert not run(seeds, 300, random_requests.random_policy).against


@pytest.mark.thorough
@pytest.mark.parametrize("part", range(10))
def test_claims_hold(part: int) -> None:
    """A hundred times as much by hand: `python -m tests.prove.campaign 0 200`."""
    assert not run(range(100 + 2 * part, 102 + 2 * part), 500).against
