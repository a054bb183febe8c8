"""Recorded expressions come to the same symbolically: a sample, and all of them."""

from __future__ import annotations

import json

import pytest

from tests.paths import shared

pytest.importorskip("z3")

from tests.prove.agreement import judge

FILES = (
    *("conversions", "fields", "format", "lists", "logic", "macros", "net", "operators"),
    *("optionals", "quantity", "random", "regex", "semver", "sets", "strings", "time", "url"),
)
"""Without `cost`, whose inputs are too large."""


def verdicts(name: str, step: int) -> set[str]:
    """What becomes of each `step`th case."""
    cases = json.loads(shared("conformance", "cel-kubernetes", f"{name}.json").read_text())
    found = set()
    for case in cases[::step]:
        verdict, why = judge(case)
        assert verdict != "differs", f"{case['id']} {case['expr']}: {why}"
        found.add(verdict)
    return found


@pytest.mark.parametrize("name", FILES)
def test_a_sample_agrees(name: str) -> None:
    assert "agrees" in verdicts(name, 50)


@pytest.mark.thorough
@pytest.mark.parametrize("name", FILES)
def test_all_agree(name: str) -> None:
    assert "agrees" in verdicts(name, 1)
