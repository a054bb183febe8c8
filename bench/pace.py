"""How slow this machine is, beside the one for which the goals were set.

Goals in seconds and in calls a second are for a quiet core of 2025. The functions by hand are what
both machines have run, so they are the measure: a machine on which they take three times as long is
given three times as long, and a faster one less.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Final

from bench.evaluation import BY_HAND, Outcome
from bench.expressions import CASES
from bench.measure import Call, geometric_mean, side_by_side
from bench.objects import ACTIVATIONS
from bench.results import Bar

REFERENCE_SECONDS: Final = 0.347e-6
"""The geometric mean of the functions by hand on the machine for which the goals were set."""

_ROUNDS: Final = 5
_TIMES: Final = frozenset({"s", "ms", "µs"})
_RATES: Final = frozenset({"a second"})


def slowness(outcomes: Iterable[Outcome]) -> float:
    """2 on a machine that is half as fast as the one of the goals; from a run's own timings."""
    return _slowness(outcome.timings.best(BY_HAND) for outcome in outcomes)


def measured_slowness() -> float:
    """The same from a short run (about a second) of nothing but the functions by hand."""
    calls = (Call(case.by_hand, _inputs(case.kind, case.variables)) for case in CASES)
    return _slowness(side_by_side({BY_HAND: call}, _ROUNDS).best(BY_HAND) for call in calls)


def goal_here(bar: Bar, slowness: float) -> Bar:
    """The bar with the goal that is worth the same on this machine."""
    if bar.unit in _TIMES:
        return replace(bar, goal=bar.goal * slowness)
    if bar.unit in _RATES:
        return replace(bar, goal=bar.goal / slowness)
    return bar


def _slowness(seconds: Iterable[float | None]) -> float:
    mean = geometric_mean(seconds)
    if mean is None:
        raise ValueError("no function by hand was timed")
    return mean / REFERENCE_SECONDS


def _inputs(kind: str, variables: tuple[str, ...]) -> tuple[object, ...]:
    activation = ACTIVATIONS[kind][0]
    return tuple(activation[name] for name in variables)
