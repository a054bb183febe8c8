"""On which node a pod may run, and why not on others. Nothing is read or written here.

As the filters of k8s.io/kubernetes `pkg/scheduler/framework/plugins`, in their order and words: the
first that says no speaks for its node. Nobody is made to leave for a pod of higher priority.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import field
from typing import Any, Final

from celadon.apiserver.simulation.planning.pod_facts import has_ended, node_of
from celadon.kube import JsonObject, metadata
from celadon.kube.quantity import parse_amounts, pod_needs
from celadon.kube.releases import is_since
from celadon.kube.selectors import LabelSelector, Operator, Requirement, label_selector
from celadon.kube.well_known_values import PREFERRED_TERMS, REQUIRED_TERMS
from celadon.records import dataclass

NO_NODES: Final = "no nodes available to schedule pods"
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


# --- Amounts -----------------------------------------------------------------


def amounts(listed: Mapping[str, Any]) -> dict[str, int]:
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
    """A node, the pods that are on it, and what they ask for together."""

    node: JsonObject
    pods: list[JsonObject] = field(default_factory=list)
    used: Counter[str] = field(default_factory=Counter)

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
    required = _affinity(pod, "nodeAffinity").get(REQUIRED_TERMS)
    return required is None or any(
        matches_term(term, node) for term in required.get("nodeSelectorTerms") or ()
    )


def _affinity(pod: JsonObject, kind: str) -> JsonObject:
    found: JsonObject = ((pod.get("spec") or {}).get("affinity") or {}).get(kind) or {}
    return found


def _node_affinity(pod: JsonObject, state: NodeState) -> Refusal | None:
    if is_wanted_node(pod, state.node):
        return None
    return Refusal(("node(s) didn't match Pod's node affinity/selector",), final=True)


def preference(pod: JsonObject, node: JsonObject) -> int:
    """The weights of the preferred terms that match."""
    preferred = _affinity(pod, "nodeAffinity").get(PREFERRED_TERMS) or ()
    return sum(
        one["weight"] for one in preferred if matches_term(one.get("preference") or {}, node)
    )


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


def _resources(pod: JsonObject, state: NodeState) -> Refusal | None:
    allocatable = amounts((state.node.get("status") or {}).get("allocatable") or {})
    reasons, final = [], False
    if len(state.pods) + 1 > allocatable.get(PODS_RESOURCE, 0):
        reasons.append("Too many pods")
    for name, wanted in needs(pod).items():
        there = allocatable.get(name, 0)
        if wanted and wanted > there - state.used[name]:
            reasons.append(f"Insufficient {name}")
            final |= wanted > there
    return Refusal(reasons, final) if reasons else None


# --- Other pods --------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Neighbours:
    """All nodes with their pods; `namespaces` are the labels of namespaces."""

    states: Sequence[NodeState]
    namespaces: Mapping[str, Mapping[str, str]]


@dataclass(frozen=True, slots=True)
class _Term:
    """A term of a pod's affinity to other pods, or of what it does not want beside it."""

    namespaces: frozenset[str]
    of_namespaces: LabelSelector | None
    selector: LabelSelector
    topology: str

    def matches(self, pod: JsonObject, namespaces: Mapping[str, Mapping[str, str]]) -> bool:
        name = metadata.namespace(pod)
        is_there = name in self.namespaces or (
            self.of_namespaces is not None and self.of_namespaces.matches(namespaces.get(name, {}))
        )
        return is_there and self.selector.matches(metadata.labels(pod))


def _terms(pod: JsonObject, kind: str) -> list[_Term]:
    return [_term(pod, one) for one in _affinity(pod, kind).get(REQUIRED_TERMS) or ()]


def _term(pod: JsonObject, term: JsonObject) -> _Term:
    of_namespaces, named = term.get("namespaceSelector"), term.get("namespaces") or ()
    if of_namespaces is None and not named:
        named = (metadata.namespace(pod),)
    return _Term(
        frozenset(named),
        None if of_namespaces is None else label_selector(of_namespaces),
        label_selector(term.get("labelSelector")),
        term["topologyKey"],
    )


class PodAffinity:
    """What other pods have to do with where one may run, looked at once for all nodes."""

    def __init__(self, pod: JsonObject, neighbours: Neighbours) -> None:
        self._near = _terms(pod, "podAffinity")
        self._far = _terms(pod, "podAntiAffinity")
        spaces = neighbours.namespaces
        self._with = [_places(term, neighbours) for term in self._near]
        self._without = [_places(term, neighbours) for term in self._far]
        self._refused = {
            (term.topology, state.labels[term.topology])
            for state in neighbours.states
            for other in state.pods
            if (other.get("spec") or {}).get("affinity")
            for term in _terms(other, "podAntiAffinity")
            if term.topology in state.labels and term.matches(pod, spaces)
        }
        self._is_first = not any(self._with) and all(
            term.matches(pod, spaces) for term in self._near
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


def _places(term: _Term, neighbours: Neighbours) -> frozenset[str]:
    """The values of its topology where pods are that it matches."""
    return frozenset(
        state.labels[term.topology]
        for state in neighbours.states
        if term.topology in state.labels
        and any(term.matches(one, neighbours.namespaces) for one in state.pods)
    )


class TopologySpread:
    """How evenly the pods like one must be spread."""

    def __init__(self, pod: JsonObject, neighbours: Neighbours) -> None:
        constraints = (pod.get("spec") or {}).get("topologySpreadConstraints") or ()
        self._pod = pod
        self._hard = [one for one in constraints if one.get("whenUnsatisfiable") == "DoNotSchedule"]
        keys = [one["topologyKey"] for one in self._hard]
        states = [one for one in neighbours.states if all(key in one.labels for key in keys)]
        self._counts = [self._counted(one, states) for one in self._hard]

    def _counted(self, constraint: JsonObject, states: Sequence[NodeState]) -> Counter[str]:
        counts: Counter[str] = Counter()
        selector = self._selector(constraint)
        for state in states:
            if not self._is_considered(constraint, state):
                continue
            counts[state.labels[constraint["topologyKey"]]] += sum(
                metadata.namespace(one) == metadata.namespace(self._pod)
                and not metadata.deletion_timestamp(one)
                and selector.matches(metadata.labels(one))
                for one in state.pods
            )
        return counts

    def _selector(self, constraint: JsonObject) -> LabelSelector:
        found = label_selector(constraint.get("labelSelector"))
        mine = metadata.labels(self._pod)
        same = (
            Requirement(key, Operator.IN, (mine[key],))
            for key in constraint.get("matchLabelKeys") or ()
            if key in mine
        )
        return LabelSelector((*found.requirements, *same), found.nothing)

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
            own = self._selector(constraint).matches(metadata.labels(self._pod))
            if counts[place] + own - least > constraint["maxSkew"]:
                return Refusal((unmet,))
        return None


# --- Decision ----------------------------------------------------------------


def place(pod: JsonObject, neighbours: Neighbours) -> NodeState | str:
    """The node for a pod: of those that will do, one that it prefers, with the fewest pods; or
    why there is none."""
    if not neighbours.states:
        return NO_NODES
    spread, affinity = TopologySpread(pod, neighbours), PodAffinity(pod, neighbours)
    fitting, refusals = [], []
    for state in neighbours.states:
        refusal = (
            _taints(pod, state)
            or _node_affinity(pod, state)
            or _ports(pod, state)
            or _resources(pod, state)
            or spread.refusal(state)
            or affinity.refusal(state)
        )
        if refusal is None:
            fitting.append(state)
        else:
            refusals.append(refusal)
    if not fitting:
        return unschedulable(pod, refusals)
    return min(fitting, key=lambda one: (-preference(pod, one.node), len(one.pods)))


def unschedulable(pod: JsonObject, refusals: Sequence[Refusal]) -> str:
    """What is said of a pod that no node will do for."""
    reasons = Counter(reason for one in refusals for reason in one.reasons)
    preemption: Counter[str] = Counter()
    for one in refusals:
        no_victims = "No preemption victims found for incoming pod"
        preemption["Preemption is not helpful for scheduling" if one.final else no_victims] += 1
    said = _told(len(refusals), preemption)
    if (pod.get("spec") or {}).get("preemptionPolicy") == "Never":
        said = "not eligible due to preemptionPolicy=Never."
    claims = "no new claims to deallocate, " if is_since(_CLAIMS_SINCE) else ""
    return f"{_told(len(refusals), reasons)} {claims}preemption: {said}"


def _told(nodes: int, reasons: Mapping[str, int]) -> str:
    listed = ", ".join(sorted(f"{count} {reason}" for reason, count in reasons.items()))
    return f"0/{nodes} nodes are available: {listed}."


def before_filters(nodes: int, reason: str) -> str:
    """What is said of a pod for which no node is looked at. Since there are claims of devices,
    their plugin, which has not been asked yet, complains about that."""
    if is_since(_CLAIMS_SINCE):
        return f"0/{nodes} nodes are available: {reason}. not found"
    useless = _told(nodes, {"Preemption is not helpful for scheduling": nodes})
    return f"0/{nodes} nodes are available: {reason}. preemption: {useless}"


def takes_room(pod: JsonObject) -> bool:
    """Whether it is on a node and has not ended."""
    return bool(node_of(pod)) and not has_ended(pod)
