"""Goals that are worth the same on slower and faster machines."""

from __future__ import annotations

import pytest
from bench.evaluation import BY_HAND, Outcome
from bench.expressions import CASES
from bench.measure import Timings
from bench.pace import REFERENCE_SECONDS, goal_here, measured_slowness, slowness
from bench.results import Bar


def outcome(seconds: float) -> Outcome:
    return Outcome(CASES[0], Timings({BY_HAND: [seconds * 2, seconds]}))


def test_a_machine_is_judged_by_the_functions_by_hand() -> None:
    assert slowness([outcome(REFERENCE_SECONDS * 2), outcome(REFERENCE_SECONDS * 8)]) == (
        pytest.approx(4)
    )


@pytest.mark.thorough
def test_this_machine_is_judged() -> None:
    assert 0.05 < measured_slowness() < 1000


@pytest.mark.parametrize(
    ("unit", "at_least", "goal"),
    [
        ("s", False, 20),
        ("ms", False, 20),
        ("µs", False, 20),
        ("a second", True, 5),
        ("×", False, 10),
        ("×", True, 10),
        ("MiB", False, 10),
    ],
)
def test_times_and_rates_scale_and_nothing_else(unit: str, at_least: bool, goal: float) -> None:
    bar = Bar("what", 10, 10, unit, at_least)
    assert goal_here(bar, 2).goal == goal
    assert goal_here(bar, 1) == bar
