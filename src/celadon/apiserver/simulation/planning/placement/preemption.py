"""Who has to leave a node for a pod of higher priority.

As k8s.io/kubernetes `pkg/scheduler/framework/preemption` and its plugin `defaultpreemption`: of
each node as few pods as possible go, rather those that no budget protects, and the least important
ones; of the nodes that one is chosen where it hurts least.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from celadon.apiserver.simulation.planning.placement.filters import Filters, Refusal, nodes_told
from celadon.apiserver.simulation.planning.placement.neighbours import Neighbours, NodeState
from celadon.apiserver.simulation.planning.pod_facts import is_going, spec_of, status_of
from celadon.kube import JsonObject, metadata
from celadon.kube.selectors import NOTHING, LabelSelector, SelectorError, label_selector
from celadon.records import dataclass

_USELESS: Final = "Preemption is not helpful for scheduling"
_NOBODY: Final = "No preemption victims found for incoming pod"
_NEVER: Final = "not eligible due to preemptionPolicy=Never."
_WAITING: Final = "not eligible due to a terminating pod on the nominated node."


@dataclass(frozen=True, slots=True)
class Preemption:
    """The node that becomes free when some pods leave it; without one, why nobody leaves."""

    state: NodeState | None = None
    victims: Sequence[JsonObject] = ()
    said: str = ""


@dataclass(frozen=True, slots=True)
class _Candidate:
    state: NodeState
    victims: Sequence[JsonObject]
    violations: int


def priority_of(pod: JsonObject) -> int:
    """0 where there is none."""
    return int(spec_of(pod).get("priority") or 0)


def nominated_node(pod: JsonObject) -> str:
    """Where others make room for it; empty if nobody does."""
    return str(status_of(pod).get("nominatedNodeName") or "")


def preemption_for(
    pod: JsonObject,
    neighbours: Neighbours,
    refusals: Mapping[str, Refusal],
    budgets: Iterable[JsonObject],
) -> Preemption:
    """For a pod that no node will do for."""
    if spec_of(pod).get("preemptionPolicy") == "Never":
        return Preemption(said=_NEVER)
    mine = priority_of(pod)
    by_name = {one.name: one for one in neighbours.states}
    nominated = by_name.get(nominated_node(pod))
    if nominated is not None and any(
        is_going(one) and priority_of(one) < mine for one in nominated.pods
    ):
        return Preemption(said=_WAITING)
    protected = _Budgets(budgets)
    candidates: list[_Candidate] = []
    said: Counter[str] = Counter()
    for name, refusal in refusals.items():
        found = refusal if refusal.final else _on_node(pod, by_name[name], neighbours, protected)
        if isinstance(found, _Candidate):
            candidates.append(found)
        else:
            said.update((_USELESS,) if refusal.final else found.reasons)
    if not candidates:
        return Preemption(said=nodes_told(len(refusals), said))
    best = min(candidates, key=_harm)
    return Preemption(best.state, best.victims)


def _on_node(
    pod: JsonObject, state: NodeState, neighbours: Neighbours, budgets: _Budgets
) -> _Candidate | Refusal:
    """Without all less important pods it has to fit; then they come back one by one, the most
    important first, as long as it still fits."""
    mine = priority_of(pod)
    possible = sorted((one for one in state.pods if priority_of(one) < mine), key=_importance)
    if not possible:
        return Refusal((_NOBODY,), final=True)
    refusal = _refusal_without(pod, possible, state, neighbours)
    if refusal is not None:
        return refusal
    gone = list(possible)
    violating = budgets.violated(possible)
    violations = 0
    for one in (*violating, *(one for one in possible if one not in violating)):
        rest = [other for other in gone if other is not one]
        if _refusal_without(pod, rest, state, neighbours) is None:
            gone = rest
        else:
            violations += one in violating
    return _Candidate(state, gone, violations)


def _refusal_without(
    pod: JsonObject, gone: Sequence[JsonObject], state: NodeState, neighbours: Neighbours
) -> Refusal | None:
    left = state.without(gone)
    return Filters(pod, neighbours.replacing(state, left)).refusal(left)


def _importance(pod: JsonObject) -> tuple[int, str]:
    """The most important pod first: of higher priority, then that has run for longer."""
    return -priority_of(pod), str(status_of(pod).get("startTime") or "~")


def _harm(candidate: _Candidate) -> tuple[Any, ...]:
    """What is looked at first comes first; of equal nodes that one is taken whose most important
    victims began last."""
    priorities = [priority_of(one) for one in candidate.victims]
    highest = max(priorities, default=0)
    starts = [_importance(one)[1] for one in candidate.victims if priority_of(one) == highest]
    latest = tuple(-ord(sign) for sign in min(starts, default=""))
    return candidate.violations, highest, sum(priorities), len(priorities), latest


class _Budgets:
    """PodDisruptionBudgets, and how many more pods each lets go."""

    def __init__(self, budgets: Iterable[JsonObject]) -> None:
        self._budgets = [(one, _selector(one)) for one in budgets]

    def violated(self, pods: Sequence[JsonObject]) -> list[JsonObject]:
        """Those of the pods that a budget protects, if all of them went in their order."""
        allowed = [status_of(one).get("disruptionsAllowed") or 0 for one, _ in self._budgets]
        found = []
        for pod in pods:
            is_violating = False
            for number, (budget, selector) in enumerate(self._budgets):
                same = metadata.namespace(budget) == metadata.namespace(pod)
                if same and selector.matches(metadata.labels(pod)):
                    allowed[number] -= 1
                    is_violating |= allowed[number] < 0
            if is_violating:
                found.append(pod)
        return found


def _selector(budget: JsonObject) -> LabelSelector:
    try:
        return label_selector(spec_of(budget).get("selector"))
    except SelectorError:
        return NOTHING
