"""Looking for an example: a solver, the engine that has the last word, and a time limit.

What the solver finds is told to whoever asked (`confirm`), who has the engine decide it. A model
that the engine does not confirm is ruled out, and the search goes on.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Final, Generic, TypeVar

import z3

from celadon.kube.schemas import DecodeError
from celadon.prove.functions import Unmodelled
from celadon.prove.logic import Formula, either, negated
from celadon.prove.objects import Inputs

T = TypeVar("T")

TRIES: Final = 20
"""Models that are looked at for one question."""

MOST_ITEMS: Final = 6
"""Items of lists that are looked at, however many an expression asks for."""


@dataclass(frozen=True, slots=True)
class Found(Generic[T]):
    """What came of a search: an example, a proof that there is none, or a reason why nobody
    knows."""

    example: T | None = None
    is_proved: bool = False
    reason: str = ""


@dataclass(slots=True)
class Search:
    """One question about unknowns. `seconds` is for the whole of it."""

    inputs: Inputs
    unmodelled: Unmodelled
    seconds: float
    deadline: float = field(init=False)

    def __post_init__(self) -> None:
        self.deadline = time.monotonic() + self.seconds

    def find(
        self,
        wanted: Formula,
        confirm: Callable[[z3.ModelRef], T | None],
        preferred: Sequence[Formula] = (),
        tries: int = TRIES,
    ) -> Found[T]:
        """An example of what is wanted. Of several, those are preferred where these hold."""
        if z3.is_false(wanted):
            return Found(is_proved=True)
        solver = z3.Solver()
        solver.add(*self.inputs.assumed, wanted)
        for _ in range(tries):
            found = solver.check() if self._allow(solver) else z3.unknown
            if found == z3.unsat:
                return Found(is_proved=True)
            if found == z3.unknown:
                return Found(reason="the solver needs more time")
            model = solver.model()
            lessons = self.unmodelled.lessons(model)
            if lessons:
                solver.add(*lessons)
                continue
            model = self._smallest(solver, model, preferred)
            try:
                example = confirm(model)
            except DecodeError:  # a time, say, that is none
                example = None
            if example is not None:
                return Found(example)
            solver.add(_another(model))
        return Found(reason=f"{tries} examples did not hold")

    def _smallest(
        self, solver: z3.Solver, model: z3.ModelRef, preferred: Sequence[Formula]
    ) -> z3.ModelRef:
        """A model with what is preferred, and as few fields as it can do without, one after the
        other, while there is time."""
        kept: list[Formula] = []
        for wish in (*preferred, *map(negated, self.inputs.presences)):
            if not z3.is_true(model.eval(wish, model_completion=True)):
                if not self._allow(solver):
                    break
                # Not by `push`, in which z3 works without a limit.
                if solver.check(*kept, wish) != z3.sat:
                    continue
                smaller = solver.model()
                if self.unmodelled.lessons(smaller):
                    continue
                model = smaller
            kept.append(wish)
        return model

    def _allow(self, solver: z3.Solver) -> bool:
        """Give the solver the time that is left; whether there is any."""
        left = self.deadline - time.monotonic()
        solver.set("timeout", max(1, int(left * 1000)))
        return left > 0


def _another(model: z3.ModelRef) -> Formula:
    """Anything but this model."""
    return either(
        z3.Const(one.name(), one.range()) != model[one] for one in model.decls() if one.arity() == 0
    )
