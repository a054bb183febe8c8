"""Nodes with the pods that are on them, and how many pods of a sort are where.

What has been counted for one pod is kept for those that come after it: a thousand equal pods cost a
thousand looks, not their square.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field
from typing import Final, TypeAlias

from celadon.kube import JsonObject, metadata
from celadon.kube.quantity import parse_amounts, pod_needs
from celadon.kube.selectors import LabelSelector, label_selector
from celadon.kube.well_known_values import PREFERRED_TERMS, REQUIRED_TERMS
from celadon.records import dataclass

NEAR: Final = "podAffinity"
FAR: Final = "podAntiAffinity"
LEAST_ASKED: Final = {"cpu": 100, "memory": 200 << 20}
"""What a pod counts for that asks for nothing: thousandths of a CPU, bytes."""
Place: TypeAlias = tuple[str, str]
"""A topology, and where in it."""


def amounts(listed: JsonObject) -> dict[str, int]:
    """Of resources, in units that are whole numbers: thousandths of a CPU, else what there is."""
    found = {}
    for name, text in listed.items():
        quantity = parse_amounts(str(text))
        found[name] = quantity.int64_value(3) if name == "cpu" else quantity.int64_value()
    return found


def needs(pod: JsonObject) -> dict[str, int]:
    """What a pod asks for of a node."""
    return amounts(pod_needs(pod.get("spec") or {}, "requests"))


@dataclass(slots=True)
class NodeState:
    """A node, the pods that are on it, what they ask for together, and how many of them do not ask
    for something."""

    node: JsonObject
    pods: list[JsonObject] = field(default_factory=list)
    used: Counter[str] = field(default_factory=Counter)
    unasked: Counter[str] = field(default_factory=Counter)

    @property
    def name(self) -> str:
        """Of the node."""
        return metadata.name(self.node)

    @property
    def labels(self) -> Mapping[str, str]:
        """Of the node."""
        return metadata.labels(self.node)

    def take(self, pod: JsonObject, wanted: Mapping[str, int]) -> None:
        """Note that a pod is here."""
        self.pods.append(pod)
        self.used.update(wanted)
        self.unasked.update(name for name in LEAST_ASKED if not wanted.get(name))

    def without(self, gone: Iterable[JsonObject]) -> NodeState:
        """The same node when some of its pods have left it."""
        left = {id(one) for one in gone}
        made = NodeState(self.node)
        for pod in self.pods:
            if id(pod) not in left:
                made.take(pod, needs(pod))
        return made

    def places(self, topologies: Iterable[str]) -> Iterable[Place]:
        """Where the node is."""
        return ((one, self.labels[one]) for one in topologies if one in self.labels)


# --- Sorts of pods -----------------------------------------------------------


@dataclass(frozen=True, slots=True)
class PodSort:
    """Pods in some namespaces that a selector matches; with `living` those only that are not being
    deleted."""

    namespaces: frozenset[str]
    selector: LabelSelector
    of_namespaces: LabelSelector | None = None
    living: bool = False

    def matches(self, pod: JsonObject, namespaces: Mapping[str, Mapping[str, str]]) -> bool:
        """Whether a pod is one; `namespaces` are the labels of namespaces."""
        name = metadata.namespace(pod)
        is_there = name in self.namespaces or (
            self.of_namespaces is not None and self.of_namespaces.matches(namespaces.get(name, {}))
        )
        if not is_there or not self.selector.matches(metadata.labels(pod)):
            return False
        return not (self.living and metadata.deletion_timestamp(pod))


@dataclass(frozen=True, slots=True)
class Term:
    """A term of a pod's affinity to other pods, or of what it does not want beside it; `weight` is
    0 where it is required."""

    sort: PodSort
    topology: str
    weight: int = 0


def affinity_of(pod: JsonObject, kind: str) -> JsonObject:
    """One kind of the affinities of a pod; empty where there is none."""
    found: JsonObject = ((pod.get("spec") or {}).get("affinity") or {}).get(kind) or {}
    return found


def required_terms(pod: JsonObject, kind: str) -> list[Term]:
    """Those without which it does not run."""
    return [_term(pod, one) for one in affinity_of(pod, kind).get(REQUIRED_TERMS) or ()]


def preferred_terms(pod: JsonObject, kind: str) -> list[Term]:
    """Those that it would rather have; what it would rather not have weighs less than nothing."""
    sign = -1 if kind == FAR else 1
    return [
        _term(pod, one.get("podAffinityTerm") or {}, sign * int(one.get("weight") or 0))
        for one in affinity_of(pod, kind).get(PREFERRED_TERMS) or ()
    ]


def _term(pod: JsonObject, term: JsonObject, weight: int = 0) -> Term:
    of_namespaces, named = term.get("namespaceSelector"), term.get("namespaces") or ()
    if of_namespaces is None and not named:
        named = (metadata.namespace(pod),)
    sort = PodSort(
        frozenset(named),
        label_selector(term.get("labelSelector")),
        None if of_namespaces is None else label_selector(of_namespaces),
    )
    return Term(sort, term["topologyKey"], weight)


class Neighbours:
    """All nodes with their pods; `namespaces` are the labels of namespaces."""

    def __init__(
        self, states: Sequence[NodeState], namespaces: Mapping[str, Mapping[str, str]]
    ) -> None:
        self.states = states
        self.namespaces = namespaces
        self._counts: dict[PodSort, Counter[str]] = {}
        self._owners: dict[str, Counter[str]] = {}
        self._terms: dict[tuple[str, Term], Counter[Place]] = {}
        for state in states:
            for pod in state.pods:
                self._note(state, pod)

    def take(self, state: NodeState, pod: JsonObject, wanted: Mapping[str, int]) -> None:
        """Note that a pod is on a node."""
        state.take(pod, wanted)
        for sort, counts in self._counts.items():
            counts[state.name] += sort.matches(pod, self.namespaces)
        self._note(state, pod)

    def replacing(self, former: NodeState, state: NodeState) -> Neighbours:
        """The same, but for one node."""
        states = [state if one is former else one for one in self.states]
        return Neighbours(states, self.namespaces)

    def counted(self, sort: PodSort) -> Counter[str]:
        """How many pods of a sort are on each node."""
        found = self._counts.get(sort)
        if found is None:
            found = self._counts[sort] = Counter()
            for state in self.states:
                found[state.name] = sum(sort.matches(one, self.namespaces) for one in state.pods)
        return found

    def of_owner(self, uid: str) -> Counter[str]:
        """How many living pods an owner has on each node."""
        return self._owners.get(uid) or Counter()

    def terms(self, kind: str) -> Iterable[tuple[Term, Mapping[Place, int]]]:
        """What pods that are here say of others, and how many say so in which places."""
        return ((term, places) for (one, term), places in self._terms.items() if one == kind)

    def _note(self, state: NodeState, pod: JsonObject) -> None:
        for one in metadata.metadata(pod).get("ownerReferences") or ():
            if one.get("controller") and not metadata.deletion_timestamp(pod):
                self._owners.setdefault(one.get("uid") or "", Counter())[state.name] += 1
        if (pod.get("spec") or {}).get("affinity"):
            for kind in (NEAR, FAR):
                for term in (*required_terms(pod, kind), *preferred_terms(pod, kind)):
                    for place in state.places((term.topology,)):
                        self._terms.setdefault((kind, term), Counter())[place] += 1
