"""Scores nodes for a pod, and finds pods that have to leave a node for it (preemption).

As the scores of k8s.io/kubernetes `pkg/scheduler/framework/plugins`, from 0 to 100 each, with the
weights of the default profile. Images and the balance of resources are not weighed. Of nodes that
are as good the one with the fewest pods is taken; upstream takes any.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final

from celadon.apiserver.simulation.planning import node_filters
from celadon.apiserver.simulation.planning import pod_predicates as facts
from celadon.kube import JsonObject, metadata
from celadon.kube.selectors import KeyConditions, conditions_of
from celadon.kube.well_known_values import PREFERRED_TERMS
from celadon.records import dataclass

_MOST: Final = 100
_BY_DEFAULT: Final = (
    {"maxSkew": 3, "topologyKey": "kubernetes.io/hostname"},
    {"maxSkew": 5, "topologyKey": "topology.kubernetes.io/zone"},
)
"""How the pods of one owner are spread that say nothing about it."""
_HARD_WEIGHT: Final = 1
"""Of what another pod requires, for one that it wants to be with."""

Scores = Mapping[str, float]
"""By the names of nodes."""


def best_node(
    pod: JsonObject, fitting: Sequence[node_filters.NodeState], neighbours: node_filters.Neighbours
) -> node_filters.NodeState:
    """Return the best of the nodes that will do; there is at least one."""
    if len(fitting) == 1:
        return fitting[0]
    total: Counter[str] = Counter()
    for weight, score in _SCORES:
        for name, value in score(pod, fitting, neighbours).items():
            total[name] += weight * int(value)
    return min(fitting, key=lambda state: (-total[state.name], len(state.pods)))


def _tolerated(
    pod: JsonObject, fitting: Sequence[node_filters.NodeState], _: node_filters.Neighbours
) -> Scores:
    """Score nodes: the fewer taints a pod would rather avoid, the better."""
    tolerations: Sequence[JsonObject] = [
        toleration
        for toleration in facts.spec_of(pod).get("tolerations") or ()
        if toleration.get("effect") in (None, "", "PreferNoSchedule")
    ]
    result = {
        state.name: float(
            sum(
                taint.get("effect") == "PreferNoSchedule"
                and not node_filters.tolerates(tolerations, taint)
                for taint in facts.spec_of(state.node).get("taints") or ()
            )
        )
        for state in fitting
    }
    most = max(result.values())
    return {name: _MOST - _MOST * value / most if most else _MOST for name, value in result.items()}


def _node_affinity(
    pod: JsonObject, fitting: Sequence[node_filters.NodeState], _: node_filters.Neighbours
) -> Scores:
    preferred = node_filters.affinity_of(pod, node_filters.NODE_AFFINITY).get(PREFERRED_TERMS) or ()
    result = {
        state.name: sum(
            term["weight"]
            for term in preferred
            if node_filters.matches_term(term.get("preference") or {}, state.node)
        )
        for state in fitting
    }
    most = max(result.values())
    return {name: _MOST * value / most if most else 0 for name, value in result.items()}


def _spread(
    pod: JsonObject, fitting: Sequence[node_filters.NodeState], neighbours: node_filters.Neighbours
) -> Scores:
    """Score nodes: the fewer pods like it there are in the same places, the better."""
    topology_spread_constraints = facts.spec_of(pod).get("topologySpreadConstraints") or ()
    soft = [
        constraint
        for constraint in topology_spread_constraints
        if constraint.get("whenUnsatisfiable") == "ScheduleAnyway"
    ]
    owner = str(facts.controller_of(pod).get("uid") or "")
    if soft:
        counts = [neighbours.counted(node_filters.alike(pod, constraint)) for constraint in soft]
    elif not topology_spread_constraints and owner:
        soft, counts = list(_BY_DEFAULT), [neighbours.of_owner(owner)] * 2
    else:
        return {}
    keys = [constraint["topologyKey"] for constraint in soft]
    states = [state for state in fitting if all(key in state.labels for key in keys)]
    scores = dict.fromkeys((state.name for state in states), 0.0)
    for constraint, of_nodes in zip(soft, counts, strict=True):
        key = constraint["topologyKey"]
        places = {state.labels[key] for state in states}
        counter: Counter[str] = Counter()
        for state in neighbours.states:
            if state.labels.get(key) in places:
                counter[state.labels[key]] += of_nodes[state.name]
        weight = math.log(len(places) + 2)
        for item in states:
            scores[item.name] += counter[item.labels[key]] * weight + constraint["maxSkew"] - 1
    rounded = {name: round(value) for name, value in scores.items()}
    if not rounded:
        return {}
    most, least = max(rounded.values()), min(rounded.values())
    return {
        name: _MOST * (most + least - value) / most if most else _MOST
        for name, value in rounded.items()
    }


def _pod_affinity(
    pod: JsonObject, fitting: Sequence[node_filters.NodeState], neighbours: node_filters.Neighbours
) -> Scores:
    """Score nodes by the pods there that the pod wants to be with, and that want to be with it."""
    total: Counter[tuple[str, str]] = Counter()
    for kind in (node_filters.NEAR, node_filters.FAR):
        for term in node_filters.preferred_terms(pod, kind):
            counts = neighbours.counted(term.sort)
            for state in neighbours.states:
                for place in state.places((term.topology,)):
                    total[place] += term.weight * counts[state.name]
        for term, places in neighbours.terms(kind, pod):
            weight = term.weight or (_HARD_WEIGHT if kind == node_filters.NEAR else 0)
            if weight:
                for place, count in places.items():
                    total[place] += weight * count
    if not total:
        return {}
    topologies = {topology for topology, _ in total}
    result = {
        state.name: sum(total[place] for place in state.places(topologies)) for state in fitting
    }
    most, least = max(result.values()), min(result.values())
    apart = most - least
    return {name: _MOST * (value - least) / apart if apart else 0 for name, value in result.items()}


def _least_allocated(
    pod: JsonObject, fitting: Sequence[node_filters.NodeState], _: node_filters.Neighbours
) -> Scores:
    """Score nodes: the more would be left, the better."""
    needs = node_filters.needs(pod)
    requests = {name: needs.get(name) or least for name, least in node_filters.LEAST_ASKED.items()}
    result: dict[str, float] = {}
    for state in fitting:
        shares = []
        for name, value in requests.items():
            allocatable = state.allocatable.get(name, 0)
            used = value + state.used[name] + state.unasked[name] * node_filters.LEAST_ASKED[name]
            shares.append(max(0, allocatable - used) * _MOST // allocatable if allocatable else 0)
        result[state.name] = sum(shares) // len(shares)
    return result


_Score = Callable[[JsonObject, Sequence[node_filters.NodeState], node_filters.Neighbours], Scores]
_SCORES: Final[Iterable[tuple[int, _Score]]] = (
    (3, _tolerated),
    (2, _node_affinity),
    (2, _spread),
    (2, _pod_affinity),
    (1, _least_allocated),
)


# --- Preemption --------------------------------------------------------------
#
# Who has to leave a node for a pod of higher priority.
#
# As k8s.io/kubernetes `pkg/scheduler/framework/preemption` and its plugin `defaultpreemption`: of
# each node as few pods as possible go, rather those that no budget protects, and the least
# important ones; of the nodes that one is chosen where it hurts least.

_USELESS: Final = "Preemption is not helpful for scheduling"
_NOBODY: Final = "No preemption victims found for incoming pod"
_NEVER: Final = "not eligible due to preemptionPolicy=Never."
_WAITING: Final = "not eligible due to a terminating pod on the nominated node."


@dataclass(frozen=True, slots=True)
class Preemption:
    """The node that becomes free when some pods leave it; without one, why nobody leaves."""

    state: node_filters.NodeState | None = None
    victims: Sequence[JsonObject] = ()
    message: str = ""


@dataclass(frozen=True, slots=True)
class _Candidate:
    state: node_filters.NodeState
    victims: Sequence[JsonObject]
    violations: int


def priority_of(pod: JsonObject) -> int:
    """Return the priority of a pod, 0 where there is none."""
    return int(facts.spec_of(pod).get("priority") or 0)


def nominated_node(pod: JsonObject) -> str:
    """Return the name of the node where others make room for the pod; empty if nobody does."""
    return str(facts.status_of(pod).get("nominatedNodeName") or "")


def preemption_for(
    pod: JsonObject,
    neighbours: node_filters.Neighbours,
    refusals: Mapping[str, node_filters.Refusal],
    budgets: Iterable[JsonObject],
) -> Preemption:
    """Choose the node that pods have to leave for one that no node will do for, or say why that
    would not help."""
    if facts.spec_of(pod).get("preemptionPolicy") == "Never":
        return Preemption(message=_NEVER)
    mine = priority_of(pod)
    by_name = {state.name: state for state in neighbours.states}
    nominated = by_name.get(nominated_node(pod))
    if nominated is not None and any(
        facts.is_going(pod) and priority_of(pod) < mine for pod in nominated.pods
    ):
        return Preemption(message=_WAITING)
    protected = _Budgets(budgets)
    candidates: list[_Candidate] = []
    counter: Counter[str] = Counter()
    for name, refusal in refusals.items():
        outcome = refusal if refusal.final else _on_node(pod, by_name[name], neighbours, protected)
        if isinstance(outcome, _Candidate):
            candidates.append(outcome)
        else:
            counter.update((_USELESS,) if refusal.final else outcome.reasons)
    if not candidates:
        return Preemption(message=node_filters.nodes_told(len(refusals), counter))
    best = min(candidates, key=_harm)
    return Preemption(best.state, best.victims)


def _on_node(
    pod: JsonObject,
    state: node_filters.NodeState,
    neighbours: node_filters.Neighbours,
    budgets: _Budgets,
) -> _Candidate | node_filters.Refusal:
    """Return which pods would have to leave the node, or why that would not help. The pod has to
    fit without all less important ones; then they come back one by one, the most important first,
    as long as it still fits."""
    mine = priority_of(pod)
    possible = sorted((pod for pod in state.pods if priority_of(pod) < mine), key=_importance)
    if not possible:
        return node_filters.Refusal((_NOBODY,), final=True)
    refusal = _refusal_without(pod, possible, state, neighbours)
    if refusal is not None:
        return refusal
    victims = list(possible)
    violating = budgets.violated(possible)
    violations = 0
    for victim in (*violating, *(victim for victim in possible if victim not in violating)):
        rest = [other for other in victims if other is not victim]
        if _refusal_without(pod, rest, state, neighbours) is None:
            victims = rest
        else:
            violations += victim in violating
    return _Candidate(state, victims, violations)


def _refusal_without(
    pod: JsonObject,
    victims: Sequence[JsonObject],
    state: node_filters.NodeState,
    neighbours: node_filters.Neighbours,
) -> node_filters.Refusal | None:
    with neighbours.without(state, victims):
        return node_filters.Filters(pod, neighbours).refusal(state)


def _importance(pod: JsonObject) -> tuple[int, str]:
    """Return what pods are sorted by: the most important first, of higher priority, then that has
    run for longer."""
    return -priority_of(pod), str(facts.status_of(pod).get("startTime") or "~")


def _harm(candidate: _Candidate) -> tuple[Any, ...]:
    """Return what candidates are compared by, the most important first. Of equal nodes that one is
    taken whose most important victims began last."""
    priorities = [priority_of(victim) for victim in candidate.victims]
    highest = max(priorities, default=0)
    starts = [
        _importance(victim)[1] for victim in candidate.victims if priority_of(victim) == highest
    ]
    latest = tuple(-ord(sign) for sign in min(starts, default=""))
    return candidate.violations, highest, sum(priorities), len(priorities), latest


class _Budgets:
    """PodDisruptionBudgets, and how many more pods each lets go."""

    def __init__(self, budgets: Iterable[JsonObject]) -> None:
        self._budgets = [(budget, _selector(budget)) for budget in budgets]

    def violated(self, pods: Sequence[JsonObject]) -> list[JsonObject]:
        """Return those of the pods whose disruption a budget forbids, if all of them went in their
        order."""
        allowed = [
            facts.status_of(budget).get("disruptionsAllowed") or 0 for budget, _ in self._budgets
        ]
        result = []
        for pod in pods:
            is_violating = False
            for number, (budget, selector) in enumerate(self._budgets):
                same = metadata.namespace(budget) == metadata.namespace(pod)
                if same and selector.matches(metadata.labels(pod)):
                    allowed[number] -= 1
                    is_violating |= allowed[number] < 0
            if is_violating:
                result.append(pod)
        return result


def _selector(budget: JsonObject) -> KeyConditions:
    return conditions_of(facts.spec_of(budget).get("selector"))
