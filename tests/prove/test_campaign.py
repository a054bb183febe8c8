"""Claims about random policies and their mutants hold for random objects."""

from __future__ import annotations

import pytest

pytest.importorskip("z3")

from tests.prove.campaign import run


def test_a_sample_holds() -> None:
    found = run([6], 30)
    assert found.claims
    assert not found.against


@pytest.mark.thorough
@pytest.mark.parametrize("part", range(10))
def test_claims_hold(part: int) -> None:
    """A hundred times as much by hand: `python -m tests.prove.campaign 0 200`."""
    assert not run(range(100 + 2 * part, 102 + 2 * part), 500).against
