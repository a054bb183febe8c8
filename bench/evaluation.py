"""One expression, one object, all engines."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from bench import peers
from bench.case import Case
from bench.engines import celadon_environment, celadon_program
from bench.measure import ROUNDS, Call, Timings, side_by_side
from bench.objects import ACTIVATIONS

BY_HAND: Final = "by hand"
CELADON: Final = "Celadon"
METERED: Final = "Celadon, metered"

COST_LIMIT: Final = 10_000_000
"""The limit Kubernetes sets for one expression."""


def fresh(peer: str) -> str:
    """The name of a peer that converts the object first."""
    return f"{peer}, fresh object"


def shared(peer: str) -> str:
    """The name of a peer whose object was converted before."""
    return f"{peer}, converted before"


@dataclass(frozen=True, slots=True)
class Outcome:
    """A case, and the time it took in every engine that can do it."""

    case: Case
    timings: Timings


def evaluate(
    cases: Sequence[Case], competitors: Sequence[peers.Installed], rounds: int = ROUNDS
) -> list[Outcome]:
    """Each case, timed in every engine that can do it."""
    environment = celadon_environment()
    outcomes = []
    for case in cases:
        program = celadon_program(environment, case.expression).prepare()
        assert program.counted_source, "it is generated before anything is timed"
        activation = ACTIVATIONS[case.kind][0]
        inputs = {name: activation[name] for name in case.variables}
        calls = {
            BY_HAND: Call(case.by_hand, tuple(inputs.values())),
            CELADON: Call(program.evaluate, (inputs,)),
            METERED: Call(program.evaluate_metered, (inputs, COST_LIMIT)),
        }
        expected = case.by_hand(*inputs.values())
        for competitor in competitors:
            runs = peers.runs(competitor.peer, case.expression, inputs, expected)
            if runs is not None:
                calls[fresh(competitor.name)] = Call(runs.fresh)
                calls[shared(competitor.name)] = Call(runs.shared)
        outcomes.append(Outcome(case, side_by_side(calls, rounds)))
    return outcomes
