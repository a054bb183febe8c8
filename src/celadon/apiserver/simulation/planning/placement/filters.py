"""On which node a pod may run, and why not on others. Nothing is read or written here.

As the filters of k8s.io/kubernetes `pkg/scheduler/framework/plugins`, in their order and words: the
first that says no speaks for its node. Of several nodes that will do, `node_scores` chooses one;
who has to go if none will, `preemption` says.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

from celadon.apiserver.simulation.planning.placement.neighbours import (
    FAR,
    NEAR,
    Neighbours,
    NodeState,
    PodSort,
    Term,
    affinity_of,
    amounts,
    needs,
    required_terms,
)
from celadon.apiserver.simulation.planning.pod_facts import has_ended, node_of
from celadon.kube import JsonObject, metadata
from celadon.kube.releases import is_since
from celadon.kube.selectors import LabelSelector, Operator, Requirement, label_selector
from celadon.kube.well_known_values import REQUIRED_TERMS
from celadon.records import dataclass

NO_NODES: Final = "no nodes available to schedule pods"
NODE_AFFINITY: Final = "nodeAffinity"
PODS_RESOURCE: Final = "pods"
UNSCHEDULABLE_TAINT: Final = "node.kubernetes.io/unschedulable"
_CLAIMS_SINCE: Final = "1.34"
"""The release whose scheduler also tries to free claims of devices."""
_PLACED_EFFECTS: Final = frozenset({"NoSchedule", "NoExecute"})
_OPERATORS: Final = {
    "In": Operator.IN,
    "NotIn": Operator.NOT_IN,
    "Exists": Operator.EXISTS,
    "DoesNotExist": Operator.DOES_NOT_EXIST,
    "Gt": Operator.GREATER_THAN,
    "Lt": Operator.LESS_THAN,
}


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why a node will not do. `final` says that it would not help if pods left it."""

    reasons: Sequence[str]
    final: bool = False


# --- Taints ------------------------------------------------------------------


def tolerates(tolerations: Iterable[JsonObject], taint: JsonObject) -> bool:
    """Whether one of them is about this taint."""
    return any(_is_about(one, taint) for one in tolerations)


def _is_about(toleration: JsonObject, taint: JsonObject) -> bool:
    if (toleration.get("effect") or taint.get("effect")) != taint.get("effect"):
        return False
    if (toleration.get("key") or taint.get("key")) != taint.get("key"):
        return False
    operator = toleration.get("operator") or "Equal"
    mine, other = toleration.get("value") or "", taint.get("value") or ""
    if operator in ("Gt", "Lt"):
        is_number = mine.lstrip("-").isdigit() and other.lstrip("-").isdigit()
        return is_number and (int(other) > int(mine)) == (operator == "Gt") and mine != other
    return operator == "Exists" or bool(mine == other)


def _tolerations(pod: JsonObject) -> Sequence[JsonObject]:
    found: Sequence[JsonObject] = (pod.get("spec") or {}).get("tolerations") or ()
    return found


def _taints(pod: JsonObject, state: NodeState) -> Refusal | None:
    spec = state.node.get("spec") or {}
    cordoned = {"key": UNSCHEDULABLE_TAINT, "effect": "NoSchedule"}
    tolerations = _tolerations(pod)
    if spec.get("unschedulable") and not tolerates(tolerations, cordoned):
        return Refusal(("node(s) were unschedulable",), final=True)
    for taint in spec.get("taints") or ():
        if taint.get("effect") in _PLACED_EFFECTS and not tolerates(tolerations, taint):
            return Refusal(("node(s) had untolerated taint(s)",), final=True)
    return None


# --- Node affinity -----------------------------------------------------------


def matches_term(term: JsonObject, node: JsonObject) -> bool:
    """Whether a NodeSelectorTerm matches; an empty one matches nothing."""
    expressions, fields = term.get("matchExpressions") or (), term.get("matchFields") or ()
    named = {"metadata.name": metadata.name(node)}
    return bool(expressions or fields) and all(
        _requirement(one).matches(values)
        for listed, values in ((expressions, metadata.labels(node)), (fields, named))
        for one in listed
    )


def _requirement(expression: JsonObject) -> Requirement:
    values = tuple(expression.get("values") or ("",))
    return Requirement(expression["key"], _OPERATORS[expression["operator"]], values)


def is_wanted_node(pod: JsonObject, node: JsonObject) -> bool:
    """By the node selector and the required node affinity of a pod."""
    spec = pod.get("spec") or {}
    if not (spec.get("nodeSelector") or {}).items() <= metadata.labels(node).items():
        return False
    required = affinity_of(pod, NODE_AFFINITY).get(REQUIRED_TERMS)
    return required is None or any(
        matches_term(term, node) for term in required.get("nodeSelectorTerms") or ()
    )


def _node_affinity(pod: JsonObject, state: NodeState) -> Refusal | None:
    if is_wanted_node(pod, state.node):
        return None
    return Refusal(("node(s) didn't match Pod's node affinity/selector",), final=True)


# --- Ports and resources -----------------------------------------------------


def _host_ports(pod: JsonObject) -> Iterator[tuple[str, int, str]]:
    spec = pod.get("spec") or {}
    sidecars = (
        one for one in spec.get("initContainers") or () if one.get("restartPolicy") == "Always"
    )
    for container in (*(spec.get("containers") or ()), *sidecars):
        for port in container.get("ports") or ():
            if port.get("hostPort"):
                address = port.get("hostIP") or "0.0.0.0"
                yield port.get("protocol") or "TCP", port["hostPort"], address


def _ports(pod: JsonObject, state: NodeState) -> Refusal | None:
    wanted = list(_host_ports(pod))
    if not wanted:
        return None
    taken = {port for one in state.pods for port in _host_ports(one)}
    for protocol, port, address in wanted:
        for other in (one for one in taken if one[:2] == (protocol, port)):
            if "0.0.0.0" in (address, other[2]) or address == other[2]:
                return Refusal(("node(s) didn't have free ports for the requested pod ports",))
    return None


def _resources(asked: Mapping[str, int], state: NodeState) -> Refusal | None:
    allocatable = amounts((state.node.get("status") or {}).get("allocatable") or {})
    reasons, final = [], False
    if len(state.pods) + 1 > allocatable.get(PODS_RESOURCE, 0):
        reasons.append("Too many pods")
    for name, wanted in asked.items():
        there = allocatable.get(name, 0)
        if wanted and wanted > there - state.used[name]:
            reasons.append(f"Insufficient {name}")
            final |= wanted > there
    return Refusal(reasons, final) if reasons else None


# --- Other pods --------------------------------------------------------------


class PodAffinity:
    """What other pods have to do with where one may run, looked at once for all nodes."""

    def __init__(self, pod: JsonObject, neighbours: Neighbours) -> None:
        self._near = required_terms(pod, NEAR)
        self._far = required_terms(pod, FAR)
        spaces = neighbours.namespaces
        self._with = [_places(term, neighbours) for term in self._near]
        self._without = [_places(term, neighbours) for term in self._far]
        self._refused = {
            place
            for term, places in neighbours.terms(FAR)
            if not term.weight and term.sort.matches(pod, spaces)
            for place in places
        }
        self._is_first = not any(self._with) and all(
            term.sort.matches(pod, spaces) for term in self._near
        )

    def refusal(self, state: NodeState) -> Refusal | None:
        """Of a node."""
        if not self._is_near(state):
            return Refusal(("node(s) didn't match pod affinity rules",), final=True)
        for term, places in zip(self._far, self._without, strict=True):
            if state.labels.get(term.topology) in places:
                return Refusal(("node(s) didn't match pod anti-affinity rules",))
        if any(state.labels.get(topology) == place for topology, place in self._refused):
            return Refusal(("node(s) didn't satisfy existing pods anti-affinity rules",))
        return None

    def _is_near(self, state: NodeState) -> bool:
        """The first of pods that want to be together may run anywhere."""
        for term, places in zip(self._near, self._with, strict=True):
            place = state.labels.get(term.topology)
            if place is None or (place not in places and not self._is_first):
                return False
        return True


def _places(term: Term, neighbours: Neighbours) -> frozenset[str]:
    """The values of its topology where pods are that it matches."""
    counts = neighbours.counted(term.sort)
    return frozenset(
        state.labels[term.topology]
        for state in neighbours.states
        if term.topology in state.labels and counts[state.name]
    )


def alike(pod: JsonObject, constraint: JsonObject) -> PodSort:
    """The pods that a constraint wants to be spread, of which one is this pod."""
    found = label_selector(constraint.get("labelSelector"))
    mine = metadata.labels(pod)
    same = (
        Requirement(key, Operator.IN, (mine[key],))
        for key in constraint.get("matchLabelKeys") or ()
        if key in mine
    )
    selector = LabelSelector((*found.requirements, *same), found.nothing)
    return PodSort(frozenset((metadata.namespace(pod),)), selector, living=True)


class TopologySpread:
    """How evenly the pods like one must be spread."""

    def __init__(self, pod: JsonObject, neighbours: Neighbours) -> None:
        constraints = (pod.get("spec") or {}).get("topologySpreadConstraints") or ()
        self._pod = pod
        self._hard = [one for one in constraints if one.get("whenUnsatisfiable") == "DoNotSchedule"]
        keys = [one["topologyKey"] for one in self._hard]
        states = [one for one in neighbours.states if all(key in one.labels for key in keys)]
        self._counts = [self._counted(one, states, neighbours) for one in self._hard]

    def _counted(
        self, constraint: JsonObject, states: Sequence[NodeState], neighbours: Neighbours
    ) -> Counter[str]:
        counts: Counter[str] = Counter()
        of_nodes = neighbours.counted(alike(self._pod, constraint))
        for state in states:
            if self._is_considered(constraint, state):
                counts[state.labels[constraint["topologyKey"]]] += of_nodes[state.name]
        return counts

    def _is_considered(self, constraint: JsonObject, state: NodeState) -> bool:
        honors_affinity = constraint.get("nodeAffinityPolicy", "Honor") == "Honor"
        if honors_affinity and not is_wanted_node(self._pod, state.node):
            return False
        honors_taints = constraint.get("nodeTaintsPolicy", "Ignore") == "Honor"
        return not honors_taints or _taints(self._pod, state) is None

    def refusal(self, state: NodeState) -> Refusal | None:
        """Of a node."""
        unmet = "node(s) didn't match pod topology spread constraints"
        for constraint, counts in zip(self._hard, self._counts, strict=True):
            place = state.labels.get(constraint["topologyKey"])
            if place is None:
                return Refusal((f"{unmet} (missing required label)",), final=True)
            least = min(counts.values(), default=0)
            if len(counts) < (constraint.get("minDomains") or 1):
                least = 0
            own = alike(self._pod, constraint).selector.matches(metadata.labels(self._pod))
            if counts[place] + own - least > constraint["maxSkew"]:
                return Refusal((unmet,))
        return None


# --- Decision ----------------------------------------------------------------


class Filters:
    """What a pod asks of nodes, looked at once for all of them."""

    def __init__(self, pod: JsonObject, neighbours: Neighbours) -> None:
        self._pod = pod
        self._wanted = needs(pod)
        self._spread = TopologySpread(pod, neighbours)
        self._affinity = PodAffinity(pod, neighbours)

    def refusal(self, state: NodeState) -> Refusal | None:
        """Why a node will not do; None if it will."""
        return (
            _taints(self._pod, state)
            or _node_affinity(self._pod, state)
            or _ports(self._pod, state)
            or _resources(self._wanted, state)
            or self._spread.refusal(state)
            or self._affinity.refusal(state)
        )


@dataclass(frozen=True, slots=True)
class Fit:
    """The nodes that will do for a pod, and why the others will not, by their names."""

    fitting: Sequence[NodeState]
    refusals: Mapping[str, Refusal]


def fit_of(pod: JsonObject, neighbours: Neighbours) -> Fit:
    """Of all nodes."""
    filters = Filters(pod, neighbours)
    fitting: list[NodeState] = []
    refusals: dict[str, Refusal] = {}
    for state in neighbours.states:
        refusal = filters.refusal(state)
        if refusal is None:
            fitting.append(state)
        else:
            refusals[state.name] = refusal
    return Fit(fitting, refusals)


def unschedulable(refusals: Mapping[str, Refusal], preemption: str | None) -> str:
    """What is said of a pod that no node will do for; without `preemption`, others make room."""
    if not refusals:
        return NO_NODES
    reasons = Counter(reason for one in refusals.values() for reason in one.reasons)
    told = nodes_told(len(refusals), reasons)
    if preemption is None:
        return told
    claims = "no new claims to deallocate, " if is_since(_CLAIMS_SINCE) else ""
    return f"{told} {claims}preemption: {preemption}"


def nodes_told(nodes: int, reasons: Mapping[str, int]) -> str:
    """How many nodes will not do for which reason."""
    listed = ", ".join(sorted(f"{count} {reason}" for reason, count in reasons.items()))
    return f"0/{nodes} nodes are available: {listed}."


def before_filters(nodes: int, reason: str) -> str:
    """What is said of a pod for which no node is looked at. Since there are claims of devices,
    their plugin, which has not been asked yet, complains about that."""
    if is_since(_CLAIMS_SINCE):
        return f"0/{nodes} nodes are available: {reason}. not found"
    useless = nodes_told(nodes, {"Preemption is not helpful for scheduling": nodes})
    return f"0/{nodes} nodes are available: {reason}. preemption: {useless}"


def takes_room(pod: JsonObject) -> bool:
    """Whether it is on a node and has not ended."""
    return bool(node_of(pod)) and not has_ended(pod)
