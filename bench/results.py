"""What a run found, and the bars it is held against."""

from __future__ import annotations

import platform
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from bench.audit import OBJECTS, Audited
from bench.check import Commands
from bench.evaluation import BY_HAND, CELADON, METERED, Outcome, fresh, shared
from bench.measure import geometric_mean
from bench.peers import PEERS, Installed


@dataclass(frozen=True, slots=True)
class Around:
    """What was measured besides evaluation, in seconds."""

    mean_ready: float
    mean_hot: float
    policies_loaded: float
    policies_validated: float
    policies_again: float
    review: float
    review_size_unknown: float
    mutation: float
    mutation_by_hand: float
    commands: Commands
    audit: Audited


@dataclass(frozen=True, slots=True)
class Results:
    """All that was measured: expressions, and what is around them."""

    outcomes: Sequence[Outcome]
    installed: Sequence[Installed]
    around: Around
    rounds: int

    def mean_ratio(self, name: str, to: str) -> float | None:
        """The geometric mean over the expressions that both can do."""
        return geometric_mean(outcome.timings.ratio(name, to) for outcome in self.outcomes)

    def count(self, name: str) -> int:
        """How many expressions an engine can do."""
        return sum(name in outcome.timings.rounds for outcome in self.outcomes)


@dataclass(frozen=True, slots=True)
class Bar:
    """A goal: `measured` in `unit` should be at most (or with `at_least`, at least) `goal`."""

    what: str
    measured: float | None
    goal: float
    unit: str
    at_least: bool = False

    @property
    def holds(self) -> bool | None:
        """None when it could not be measured."""
        if self.measured is None:
            return None
        return self.measured >= self.goal if self.at_least else self.measured <= self.goal


def bars(results: Results) -> Iterable[Bar]:
    """Everything Celadon promises about speed."""
    around, mean = results.around, results.mean_ratio
    yield Bar("evaluation, to functions written by hand", mean(CELADON, BY_HAND), 1.5, "×")
    yield Bar("metered evaluation, to the plain one", mean(METERED, CELADON), 2, "×")
    for peer, goal in zip(PEERS, (100, 20, 100), strict=True):
        what = f"{peer} on a fresh object, to Celadon"
        yield Bar(what, mean(fresh(peer), CELADON), goal, "×", at_least=True)
    yield Bar("compiling an expression, mean", around.mean_ready * 1e3, 0.15, "ms")
    yield Bar("an expression to its function, mean", around.mean_hot * 1e3, 0.5, "ms")
    yield Bar("loading 1,000 policies of 5 expressions", around.policies_loaded, 0.8, "s")
    yield Bar("the same once more in a process", around.policies_again, 0.2, "s")
    yield Bar("deciding 20 policies on a Deployment", around.review * 1e6, 40, "µs")
    yield Bar("20 mutating policies on a Pod", around.mutation * 1e6, 400, "µs")
    ratio = around.mutation / around.mutation_by_hand
    yield Bar("20 mutating policies, to edits written by hand", ratio, 5, "×")
    commands = around.commands
    yield Bar("`celadon check`, 1,000 JSON manifests", commands.thousand["json"], 2, "s")
    yield Bar("`celadon check`, one object of a JSON stream", commands.each["json"], 0.3, "ms")
    yield Bar("`celadon check`, one object of a YAML stream", commands.each["yaml"], 0.7, "ms")
    yield Bar("memory of 20,000 Deployments in a stream", commands.stream_mib, 120, "MiB")
    yield Bar("`celadon check` of one file, from its start", commands.check_start, 0.2, "s")
    yield Bar("`celadon eval 1+1`, from its start", commands.eval_start, 0.15, "s")
    audit = around.audit
    yield Bar(f"`celadon audit`, {OBJECTS:,} mixed objects, 20 policies", audit.wall, 12, "s")
    each = audit.processor / OBJECTS * 1e3
    yield Bar("`celadon audit`, one object of these, on one core", each, 0.1, "ms")
    yield Bar("memory of the largest process of that", audit.mib, 200, "MiB")


def engines(results: Results) -> list[str]:
    """The names of all that took part, in the order of the tables."""
    names = [BY_HAND, CELADON, METERED]
    for peer in results.installed:
        names += [fresh(peer.name), shared(peer.name)]
    return names


def machine() -> str:
    """Where it was measured."""
    python = f"{platform.python_implementation()} {platform.python_version()}"
    return f"{python}, {platform.system()} {platform.machine()}"
