"""The corpus, and a few of its cases; `make hostile` runs them all."""

from __future__ import annotations

import dataclasses

import pytest

from tests.hostile.confinement import Outcome, run
from tests.hostile.corpus import CORPUS
from tests.hostile.hostile_case import MOST_BYTES, HostileCase, evaluated

PATIENCE = 12.0
"""How slow the machine may be that runs the tests; `make hostile` measures it."""

_SOME = (
    "yaml: a billion laughs",
    "yaml: lists in lists",
    "json: number of a megabyte",
    "cel: doubled lists",
    "cel: pairs of pairs, formatted",
    "policy: a chain of 180 failing variables",
    "policy: doubled lists",
    "policy: pairs of pairs, both built",
    "crd: anyOf of anyOf",
)


@pytest.mark.thorough
def test_there_are_enough_of_them_and_each_is_small() -> None:
    names = [case.name for case in CORPUS]
    assert len(set(names)) == len(names) >= 150
    for case in CORPUS:
        size = sum(map(len, case.contents().values())) + len(case.stdin)
        assert 0 < size <= MOST_BYTES, case.name


@pytest.mark.thorough
@pytest.mark.parametrize("name", _SOME)
def test_some_are_withstood(name: str) -> None:
    (case,) = (one for one in CORPUS if one.name == name)
    outcome = run(case, PATIENCE)
    assert outcome.complaints(case, PATIENCE) == [], outcome.output


def test_what_takes_too_much_is_noticed() -> None:
    case = HostileCase("", ())
    assert Outcome(0, 1.0, 100, "").complaints(case, 1) == []
    assert Outcome(0, 9.0, 100, "").complaints(case, 2) == []
    bad = Outcome(70, 11.0, 900, "internal error: x").complaints(case, 2)
    assert [text.split()[0] for text in bad] == ["exit", "11.0", "900", "says"]


@pytest.mark.thorough
def test_a_process_that_wants_too_much_is_ended() -> None:
    case = evaluated("", lambda: "lists.range(900000).all(x, x >= 0 || x < 0)")
    strict = dataclasses.replace(case, seconds=0.01)
    assert "may take" in str(run(strict, 1.0).complaints(strict, 1.0))


@pytest.mark.thorough
def test_the_memory_is_its_own_not_that_of_who_measures() -> None:
    large = bytearray(b"x") * (300 << 20)
    outcome = run(evaluated("", lambda: "1 + 1"), PATIENCE)
    assert 10 < outcome.megabytes < len(large) >> 21
