"""How things are timed: side by side, in rounds.

The machine is shared, so times wander. In each round everything that is compared runs once, one
right after the other, in turns forwards and backwards. A time is the least of all rounds; a ratio
is taken within each round, and the median of the rounds counts.
"""

from __future__ import annotations

import gc
import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import repeat
from statistics import median
from time import perf_counter
from typing import Any, Final

SAMPLE_SECONDS: Final = 0.0008
"""How long one engine runs in one round, at least."""

ROUNDS: Final = 25


@dataclass(frozen=True, slots=True)
class Call:
    """A function and what it is called with, at most two things: so that nothing but the call
    itself is timed."""

    function: Callable[..., Any]
    arguments: tuple[Any, ...] = ()

    def seconds(self, times: int) -> float:
        """What so many calls take."""
        function = self.function
        turns = repeat(None, times)
        match self.arguments:
            case ():
                start = perf_counter()
                for _ in turns:
                    function()
                return perf_counter() - start
            case (one,):
                start = perf_counter()
                for _ in turns:
                    function(one)
                return perf_counter() - start
            case (one, two):
                start = perf_counter()
                for _ in turns:
                    function(one, two)
                return perf_counter() - start
        raise ValueError("at most two arguments")

    def times(self) -> int:
        """How many calls fill a sample."""
        times = 1
        while (taken := self.seconds(times)) < SAMPLE_SECONDS / 2:
            times *= max(2, min(100, int(SAMPLE_SECONDS / max(taken, 1e-7))))
        return max(1, round(times * SAMPLE_SECONDS / taken))


@dataclass(frozen=True, slots=True)
class Timings:
    """Seconds for one call, by engine and round."""

    rounds: Mapping[str, list[float]]

    def best(self, name: str) -> float | None:
        """None for an engine that did not take part."""
        return min(self.rounds[name]) if name in self.rounds else None

    def ratio(self, name: str, to: str) -> float | None:
        """How many times as long as `to` it takes; None when one did not take part."""
        ratios = self.ratios(name, to)
        return median(ratios) if ratios else None

    def ratios(self, name: str, to: str) -> list[float]:
        """The same by round; empty when one did not take part."""
        if name not in self.rounds or to not in self.rounds:
            return []
        pairs = zip(self.rounds[name], self.rounds[to], strict=True)
        return [seconds / other for seconds, other in pairs]


def side_by_side(calls: Mapping[str, Call], rounds: int = ROUNDS) -> Timings:
    """Time all calls, `rounds` times each."""
    with _no_collection():
        times = {name: call.times() for name, call in calls.items()}
        seconds: dict[str, list[float]] = {name: [] for name in calls}
        order = list(calls.items())
        for _ in range(rounds):
            for name, call in order:
                seconds[name].append(call.seconds(times[name]) / times[name])
            order.reverse()
    return Timings(seconds)


@contextmanager
def _no_collection() -> Iterator[None]:
    gc.collect()
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


def geometric_mean(values: Iterable[float | None]) -> float | None:
    """Of those that are there; None when none is."""
    logarithms = [math.log(value) for value in values if value is not None]
    return math.exp(sum(logarithms) / len(logarithms)) if logarithms else None
