"""From what was refused to what it keeps from coming about: one chain per culprit.

The entries of a course are a graph: a refusal or something missing leads to all that needs it, and
a gate that never opens (params that are not there, a webhook that nobody answers for) to all that
its culprit refuses meanwhile. A culprit's chain is the shortest way from one of its refusals to the
last of the worst that follows. Where the way comes back to the gate that it began at, each waits
for the other: a deadlock in the strict sense (`cycle`).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping, Sequence, Set

from celadon.cli.bootstrapping.bootstrap_run import Culprit, Refusal, RunResult, Sent
from celadon.cli.bootstrapping.step_tables import Level, Sending, State
from celadon.records import dataclass


@dataclass(frozen=True, slots=True)
class Chain:
    """What a culprit leads to. `sent` is the request at its head, refused or broken; `states` never
    come about because of it, in the order of their causes, the worst last; `cycle` is whether the
    request itself is refused for want of one of them. With `once`, all of that happens only where
    something that clusters have from their beginning must be made anew. `others` are the culprit's
    other refusals, `also` what else never comes about."""

    culprit: Culprit
    level: Level
    sent: Sent
    refusal: Refusal
    states: tuple[State, ...]
    cycle: bool = False
    once: bool = False
    others: tuple[Sent, ...] = ()
    also: tuple[State, ...] = ()


def chains(found: RunResult) -> list[Chain]:
    """One for each culprit, the worst first."""
    graph = _Graph.of(found)
    made = [_chain(graph, culprit) for culprit in graph.culprits]
    return sorted((one for one in made if one is not None), key=lambda one: -one.level)


@dataclass(frozen=True, slots=True)
class _Graph:
    """`follows` are the entries that wait for another; `unique` what is only written once."""

    found: RunResult
    culprits: Sequence[Culprit]
    states: Mapping[str, State]
    follows: Mapping[str, Sequence[str]]
    unique: Set[str]

    @staticmethod
    def of(found: RunResult) -> _Graph:
        follows: dict[str, list[str]] = {}
        states = {one.name: one for one in found.course.states if one.name not in found.done}
        waiting: list[Sending | State] = [*found.course.sendings, *states.values()]
        for one in waiting:
            if one.name not in found.done:
                for need in one.needs:
                    follows.setdefault(need, []).append(one.name)
        culprits = dict[Culprit, None]()
        for name, sent in found.sent.items():
            for refusal in sent.refusals:
                culprits[refusal.culprit] = None
                if refusal.gate in states:
                    follows.setdefault(refusal.gate, []).append(name)
        unique = {one.name for one in found.course.sendings if one.once}
        return _Graph(found, list(culprits), states, follows, unique)

    def ways(self, start: str, *, once: bool) -> Mapping[str, tuple[str, ...]]:
        """The shortest way to everything that follows from an entry; to the entry itself where it
        follows from itself. What is only written `once` is passed by unless that is wanted."""
        ways: dict[str, tuple[str, ...]] = {}
        queue: deque[tuple[str, tuple[str, ...]]] = deque([(start, (start,))])
        while queue:
            name, way = queue.popleft()
            for after in self.follows.get(name, ()):
                if after not in ways and (once or after not in self.unique):
                    ways[after] = (*way, after)
                    queue.append((after, ways[after]))
        return ways

    def refused(self, culprit: Culprit) -> Iterator[tuple[Sent, Refusal]]:
        for sent in self.found.sent.values():
            for refusal in sent.refusals:
                if refusal.culprit == culprit:
                    yield sent, refusal


def _chain(graph: _Graph, culprit: Culprit) -> Chain | None:
    """None for a culprit that is only waiting for what others refuse."""
    refused = list(graph.refused(culprit))
    heads = [one for one in (_head(graph, sent, why) for sent, why in refused) if one is not None]
    if not heads:
        return None
    best = max(heads, key=lambda one: one.rank)
    others = dict.fromkeys(sent.sending.name for sent, _ in refused)
    others.pop(best.sent.sending.name)
    reached = {state.name: state for one in heads for state in one.reached}
    return Chain(
        culprit,
        best.level,
        best.sent,
        best.refusal,
        best.states,
        best.cycle,
        best.once,
        tuple(graph.found.sent[name] for name in others),
        tuple(state for state in reached.values() if state not in best.states),
    )


@dataclass(frozen=True, slots=True)
class _Head:
    """One refusal as the head of a chain: `states` lead to the last of the worst of those that it
    keeps from being `reached`."""

    sent: Sent
    refusal: Refusal
    level: Level
    states: tuple[State, ...]
    reached: tuple[State, ...]
    cycle: bool
    once: bool

    @property
    def rank(self) -> tuple[Level, bool, int]:
        """How much it tells."""
        return self.level, not self.once, len(self.reached)


def _head(graph: _Graph, sent: Sent, refusal: Refusal) -> _Head | None:
    """None where what would let the request through does not wait for the request itself."""
    static = refusal.culprit.is_static
    once = sent.sending.once and not static
    ways = graph.ways(sent.sending.name, once=once or static)
    before: tuple[str, ...] = ()
    if refusal.gate in graph.states:
        if refusal.gate not in ways:
            return None
        before = ways[refusal.gate]
        ways = {refusal.gate: (), **graph.ways(refusal.gate, once=once or static)}
    reached = tuple(graph.states[name] for name in ways if name in graph.states)
    worst = max(reached, key=lambda one: (one.level, len(ways[one.name])), default=None)
    names = dict.fromkeys((*before, *(ways[worst.name] if worst is not None else ())))
    return _Head(
        sent,
        refusal,
        Level.DEGRADED if worst is None or once else worst.level,
        tuple(graph.states[name] for name in names if name in graph.states),
        reached,
        bool(before),
        once,
    )
