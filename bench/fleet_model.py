"""What the audit of a fleet takes: a model with few numbers, and a simulation of it.

A part of a dump is work for a processor: its objects are read, some are judged. A resource of a
cluster is a list of pages, each asked for when the one before has come, so a worker waits for the
API server and works in turns. Parts go to workers in the order of the fleet, as `celadon audit
--fleet` hands them out. The simulation plays that; the bounds say what holds it up.

    python -m bench.fleet_model        the fleet of docs/auditing.md
"""

from __future__ import annotations

import argparse
import heapq
from collections.abc import Iterator
from dataclasses import dataclass, replace
from math import inf
from typing import Final

PAGE: Final = 500
_HOUR: Final = 3600.0


@dataclass(frozen=True, slots=True)
class Costs:
    """Seconds of one processor; `page_wait` is what an API server takes for a page."""

    start: float
    """Of a worker, until it has compiled all policies: this much for each."""
    compile: float
    read: float
    """An object that some policy is about."""
    pass_by: float
    """Any other, in a dump. A cluster is not asked for those."""
    judge: float
    """One policy, about one object."""
    page_wait: float
    survey: float
    """A source, whatever is in it."""
    page_rate: float = inf
    """Pages a second that an API server lets through; it says when to come again (429)."""


@dataclass(frozen=True, slots=True)
class Fleet:
    """So many sources of so many objects. A policy is about `matched` of the objects; together they
    are about `concerned` of them, in `resources` resources of different size."""

    sources: int
    objects: int
    policies: int
    matched: float
    concerned: float
    resources: int
    live: bool


@dataclass(frozen=True, slots=True)
class Course:
    """How an audit went: seconds by the clock and of processors, requests, and the longest time
    that one part took."""

    seconds: float
    processor: float
    requests: int
    longest: float
    workers: int

    @property
    def busy(self) -> float:
        """The share of the workers' time in which they work."""
        return self.processor / (self.seconds * self.workers)


@dataclass(frozen=True, slots=True)
class _Part:
    processor: float
    wait: float
    requests: int
    least: float = 0.0

    @property
    def seconds(self) -> float:
        return max(self.processor + self.wait, self.least)


def parts(fleet: Fleet, costs: Costs) -> Iterator[_Part]:
    """In the order of the fleet. Of `n` resources the first has most objects, the second half as
    many and so on, which is how clusters are: pods first."""
    each = costs.read + costs.judge * fleet.policies * fleet.matched / fleet.concerned
    shares = [1 / (number + 1) for number in range(fleet.resources)]
    whole = sum(shares)
    for _ in range(fleet.sources):
        yield _Part(costs.survey, costs.page_wait if fleet.live else 0.0, 2)
        passed = 0.0 if fleet.live else fleet.objects * (1 - fleet.concerned) * costs.pass_by
        for share in shares:
            objects = fleet.objects * fleet.concerned * share / whole
            pages = -(-int(objects) // PAGE) if fleet.live else 0
            work = objects * each + passed * share / whole
            yield _Part(work, pages * costs.page_wait, pages, max(0, pages - 1) / costs.page_rate)


def course(fleet: Fleet, costs: Costs, workers: int) -> Course:
    """Plays an audit: whoever is free takes the next part."""
    begun = costs.start + costs.compile * fleet.policies
    free = [begun] * workers
    processor, requests, longest = begun * workers, 0, 0.0
    end = begun
    for part in parts(fleet, costs):
        at = heapq.heappop(free) + part.seconds
        heapq.heappush(free, at)
        processor += part.processor
        requests += part.requests
        longest = max(longest, part.seconds)
        end = max(end, at)
    return Course(end, processor, requests, longest, workers)


MEASURED: Final = Costs(
    start=0.9,
    compile=0.0025,
    read=0.25e-3,
    pass_by=3e-6,
    judge=15e-6,
    page_wait=0.25,
    survey=0.4,
)
"""Two cores of the machine of docs/performance.md; `page_wait` is an assumption about others'."""
LARGE: Final = Fleet(1000, 100_000, 200, 0.1, 0.6, 12, live=True)
"""A thousand clusters."""


def main() -> None:
    """Tables for the documentation."""
    argparse.ArgumentParser(prog="python -m bench.fleet_model", description=__doc__).parse_args()
    for what, costs in (("", MEASURED), (", one page a second", replace(MEASURED, page_rate=1.0))):
        print(f"| workers{what} | hours | busy | requests a second | held up by |")  # noqa: T201
        print("|---:|---:|---:|---:|---|")  # noqa: T201
        for workers in (1, 8, 64, 256, 1024, 4096):
            one = course(LARGE, costs, workers)
            rate = one.requests / one.seconds
            held = "the largest resource" if one.seconds < 2 * one.longest else "workers"
            row = f"{workers} | {one.seconds / _HOUR:.2f} | {one.busy:.0%} | {rate:.0f} | {held}"
            print(f"| {row} |")  # noqa: T201


if __name__ == "__main__":
    main()
