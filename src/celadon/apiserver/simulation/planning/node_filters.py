"""On which node a pod may run, and why not on others: taints, affinity, ports, resources, and how
the pods that are there are spread.

As the filters of k8s.io/kubernetes `pkg/scheduler/framework/plugins`, in their order and words: the
first that says no speaks for its node. Of several nodes that will do, `node_scores` chooses one; it
also says who has to go if none will. Nothing is read or written here.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import chain
from typing import Final, Generic, TypeAlias, TypeVar

from celadon.apiserver.simulation.planning.pod_predicates import has_ended, node_of
from celadon.kube import JsonObject, metadata
from celadon.kube.quantity import parse_amounts, pod_needs
from celadon.kube.releases import is_since
from celadon.kube.selectors import LabelSelector, Operator, Requirement, label_selector
from celadon.kube.well_known_values import OPERATING_SYSTEM, PREFERRED_TERMS, REQUIRED_TERMS
from celadon.records import dataclass, field

# --- Neighbours --------------------------------------------------------------
#
# Nodes with the pods that are on them, and how many pods of a sort are where.
#
# They are kept: a pod that comes or goes costs what it has to do with, not all that there is. So a
# thousand pods cost a thousand looks, not their square, also where they come one by one.

NEAR: Final = "podAffinity"
FAR: Final = "podAntiAffinity"
LEAST_ASKED: Final = {"cpu": 100, "memory": 200 << 20}
"""What a pod counts for that asks for nothing: thousandths of a CPU, bytes."""
Place: TypeAlias = tuple[str, str]
"""A topology, and where in it."""
_MOST_COUNTED: Final = 1000
"""Sorts of pods whose counts are kept."""


def amounts(listed: JsonObject) -> dict[str, int]:
    """Return amounts of resources as whole numbers: thousandths of a CPU, units of all else."""
    result = {}
    for name, text in listed.items():
        quantity = parse_amounts(str(text))
        result[name] = quantity.int64_value(3) if name == "cpu" else quantity.int64_value()
    return result


def needs(pod: JsonObject) -> dict[str, int]:
    """Return what a pod requests of a node."""
    return amounts(pod_needs(pod.get("spec") or {}, "requests"))


@dataclass(slots=True)
class NodeState:
    """A node, the pods that are on it, what they ask for together, and how many of them do not ask
    for something."""

    node: JsonObject
    pods: list[JsonObject] = field(default_factory=list)
    used: Counter[str] = field(default_factory=Counter)
    unasked: Counter[str] = field(default_factory=Counter)
    _requests: dict[int, Mapping[str, int]] = field(default_factory=dict)
    _allocatable: dict[str, int] | None = None
    _labels: Mapping[str, str] | None = None

    @property
    def name(self) -> str:
        """Return the name of the node."""
        return metadata.name(self.node)

    @property
    def labels(self) -> Mapping[str, str]:
        """Return the labels of the node. They are read once: a pod with thousands of terms asks
        for them for each."""
        if self._labels is None:
            self._labels = metadata.labels(self.node)
        return self._labels

    @property
    def allocatable(self) -> Mapping[str, int]:
        """Return what the node has for pods. It is read once: a node that has got more is another
        state."""
        if self._allocatable is None:
            self._allocatable = amounts((self.node.get("status") or {}).get("allocatable") or {})
        return self._allocatable

    def take(self, pod: JsonObject, requests: Mapping[str, int]) -> None:
        """Note that a pod is here."""
        self.pods.append(pod)
        self._requests[id(pod)] = requests
        self.used.update(requests)
        self.unasked.update(name for name in LEAST_ASKED if not requests.get(name))

    def leave(self, pod: JsonObject) -> Mapping[str, int]:
        """Note that this very object is here no longer; return what it wanted."""
        del self.pods[next(index for index, item in enumerate(self.pods) if item is pod)]
        requests = self._requests.pop(id(pod))
        self.used.subtract(requests)
        self.unasked.subtract(name for name in LEAST_ASKED if not requests.get(name))
        return requests

    def places(self, topologies: Iterable[str]) -> Iterable[Place]:
        """Yield the places that the node is in, one for each of the topologies that it has a label
        for."""
        return (
            (topology, self.labels[topology]) for topology in topologies if topology in self.labels
        )


# --- Sorts of pods -----------------------------------------------------------


@dataclass(frozen=True, slots=True)
class PodSort:
    """Describes pods in some namespaces that a selector matches; with `living` those only that are
    not being deleted."""

    namespaces: frozenset[str]
    selector: LabelSelector
    of_namespaces: LabelSelector | None = None
    living: bool = False

    def matches(self, pod: JsonObject, namespaces: Mapping[str, Mapping[str, str]]) -> bool:
        """Tell whether a pod is of this sort; `namespaces` are the labels of namespaces."""
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
    """Return one kind of the affinities of a pod; empty where there is none."""
    affinity: JsonObject = ((pod.get("spec") or {}).get("affinity") or {}).get(kind) or {}
    return affinity


def required_terms(pod: JsonObject, kind: str) -> list[Term]:
    """Return the terms of a pod's affinity without which it does not run."""
    return [_term(pod, item) for item in affinity_of(pod, kind).get(REQUIRED_TERMS) or ()]


def preferred_terms(pod: JsonObject, kind: str) -> list[Term]:
    """Return the terms of a pod's affinity that it would rather have. What it would rather not have
    weighs less than nothing."""
    sign = -1 if kind == FAR else 1
    return [
        _term(pod, item.get("podAffinityTerm") or {}, sign * int(item.get("weight") or 0))
        for item in affinity_of(pod, kind).get(PREFERRED_TERMS) or ()
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


_ONE_OF: Final = frozenset({Operator.IN, Operator.EQUALS, Operator.DOUBLE_EQUALS})
_Label: TypeAlias = tuple[str, str, str]
"""A namespace, a label, its value."""
_About = TypeVar("_About", bound=Hashable)
_Key = TypeVar("_Key", bound=Hashable)
_Of = TypeVar("_Of", bound=Hashable)
_Value = TypeVar("_Value")


def _asked(sort: PodSort) -> Iterable[_Label] | None:
    """Return the labels of which a pod of this sort has one; None where nothing is known."""
    if sort.of_namespaces is None:
        for requirement in sort.selector.requirements:
            if requirement.operator in _ONE_OF:
                return {
                    (space, requirement.key, value)
                    for space in sort.namespaces
                    for value in requirement.values
                }
    return None


def _labels_of(pod: JsonObject) -> Iterable[_Label]:
    namespace = metadata.namespace(pod)
    return ((namespace, key, value) for key, value in metadata.labels(pod).items())


def _forget(counts: dict[_Key, dict[_Of, _Value]], key: _Key, value: _Of) -> None:
    """Take one of what is found by a key away, and the key with the last of it."""
    del counts[key][value]
    if not counts[key]:
        del counts[key]


def _count_down(counts: dict[_Key, Counter[_Of]], key: _Key, value: _Of) -> None:
    """Count one less, and take away what has come to nothing."""
    counts[key][value] -= 1
    if not counts[key][value]:
        del counts[key][value]
    if not counts[key]:
        del counts[key]


class _BySort(Generic[_About]):
    """Finds what is about a pod by the labels that sorts of pods ask for."""

    def __init__(self) -> None:
        self._labelled: dict[_Label, dict[_About, None]] = {}
        self._unsorted: dict[_About, None] = {}

    def add(self, sort: PodSort, about: _About) -> None:
        """Add what is about pods of a sort."""
        labels = _asked(sort)
        if labels is None:
            self._unsorted[about] = None
        else:
            for label in labels:
                self._labelled.setdefault(label, {})[about] = None

    def remove(self, sort: PodSort, about: _About) -> None:
        """Take a pod away again."""
        self._unsorted.pop(about, None)
        for label in _asked(sort) or ():
            _forget(self._labelled, label, about)

    def perhaps(self, pod: JsonObject) -> Iterable[_About]:
        """Return what may be about a pod; its sort has to be asked."""
        result = dict(self._unsorted)
        for label in _labels_of(pod):
            result |= self._labelled.get(label, {})
        return result


class Neighbours:
    """Holds all nodes with their pods; `namespaces` are the labels of namespaces."""

    def __init__(
        self, states: Sequence[NodeState], namespaces: Mapping[str, Mapping[str, str]]
    ) -> None:
        self.states = states
        self.namespaces = namespaces
        self._counts: dict[PodSort, Counter[str]] = {}
        self._counted: _BySort[PodSort] = _BySort()
        self._owners: dict[str, Counter[str]] = {}
        self._terms: dict[tuple[str, Term], Counter[Place]] = {}
        self._about: dict[str, _BySort[Term]] = {NEAR: _BySort(), FAR: _BySort()}
        self._labelled: dict[_Label, dict[int, tuple[NodeState, JsonObject]]] = {}
        for state in states:
            for pod in state.pods:
                self._note(state, pod)

    def take(self, state: NodeState, pod: JsonObject, requests: Mapping[str, int]) -> None:
        """Note that a pod is on a node."""
        state.take(pod, requests)
        self._count(state, pod, 1)
        self._note(state, pod)

    def leave(self, state: NodeState, pod: JsonObject) -> Mapping[str, int]:
        """Note that this very object is on a node no longer; return what it wanted."""
        self._count(state, pod, -1)
        for label in _labels_of(pod):
            _forget(self._labelled, label, id(pod))
        for uid in self._living_owners(pod):
            _count_down(self._owners, uid, state.name)
        for key, place in self._said(state, pod):
            _count_down(self._terms, key, place)
            if key not in self._terms:
                kind, term = key
                self._about[kind].remove(term.sort, term)
        return state.leave(pod)

    @contextmanager
    def without(self, state: NodeState, pods: Iterable[JsonObject]) -> Iterator[None]:
        """See for a while how it would be if some pods left a node."""
        former = list(state.pods)
        departed = [(pod, self.leave(state, pod)) for pod in pods]
        try:
            yield
        finally:
            for pod, needed in departed:
                self.take(state, pod, needed)
            state.pods[:] = former

    def counted(self, sort: PodSort) -> Counter[str]:
        """Return how many pods of a sort are on each node. The counts are kept for the next pod."""
        count = self._counts.get(sort)
        if count is None:
            if len(self._counts) >= _MOST_COUNTED:
                self._counts.clear()
                self._counted = _BySort()
            count = self._counts[sort] = Counter()
            self._counted.add(sort, sort)
            for state, pod in self._candidates(sort):
                count[state.name] += sort.matches(pod, self.namespaces)
        return count

    def of_owner(self, uid: str) -> Counter[str]:
        """Return how many living pods an owner has on each node."""
        return self._owners.get(uid) or Counter()

    def terms(self, kind: str, pod: JsonObject) -> Iterator[tuple[Term, Mapping[Place, int]]]:
        """Yield what the pods that are here say of pods like one, with how many say so in which
        places."""
        for term in self._about[kind].perhaps(pod):
            if term.sort.matches(pod, self.namespaces):
                yield term, self._terms[kind, term]

    def _candidates(self, sort: PodSort) -> Iterable[tuple[NodeState, JsonObject]]:
        labels = _asked(sort)
        if labels is None:
            return ((state, pod) for state in self.states for pod in state.pods)
        return chain.from_iterable(self._labelled.get(label, {}).values() for label in labels)

    def _count(self, state: NodeState, pod: JsonObject, change: int) -> None:
        for sort in self._counted.perhaps(pod):
            if sort.matches(pod, self.namespaces):
                self._counts[sort][state.name] += change

    def _note(self, state: NodeState, pod: JsonObject) -> None:
        for label in _labels_of(pod):
            self._labelled.setdefault(label, {})[id(pod)] = state, pod
        for uid in self._living_owners(pod):
            self._owners.setdefault(uid, Counter())[state.name] += 1
        for key, place in self._said(state, pod):
            if key not in self._terms:
                kind, term = key
                self._terms[key] = Counter()
                self._about[kind].add(term.sort, term)
            self._terms[key][place] += 1

    def _living_owners(self, pod: JsonObject) -> Iterator[str]:
        for reference in metadata.metadata(pod).get("ownerReferences") or ():
            if reference.get("controller") and not metadata.deletion_timestamp(pod):
                yield reference.get("uid") or ""

    def _said(self, state: NodeState, pod: JsonObject) -> Iterator[tuple[tuple[str, Term], Place]]:
        """Yield the terms of a pod with the place of each that the node is in."""
        if (pod.get("spec") or {}).get("affinity"):
            for kind in (NEAR, FAR):
                for term in (*required_terms(pod, kind), *preferred_terms(pod, kind)):
                    for place in state.places((term.topology,)):
                        yield (kind, term), place


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
    """Says why a node will not do. `final`: it would not help if pods left it."""

    reasons: Sequence[str]
    final: bool = False


# --- Taints ------------------------------------------------------------------


def tolerates(tolerations: Iterable[JsonObject], taint: JsonObject) -> bool:
    """Tell whether one of the tolerations is about this taint."""
    return any(_is_about(toleration, taint) for toleration in tolerations)


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
    tolerations: Sequence[JsonObject] = (pod.get("spec") or {}).get("tolerations") or ()
    return tolerations


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
    """Tell whether a NodeSelectorTerm matches the node; an empty term matches nothing."""
    expressions, fields = term.get("matchExpressions") or (), term.get("matchFields") or ()
    named = {"metadata.name": metadata.name(node)}
    return bool(expressions or fields) and all(
        _requirement(item).matches(values)
        for listed, values in ((expressions, metadata.labels(node)), (fields, named))
        for item in listed
    )


def _requirement(expression: JsonObject) -> Requirement:
    values = tuple(expression.get("values") or ("",))
    return Requirement(expression["key"], _OPERATORS[expression["operator"]], values)


def is_wanted_node(pod: JsonObject, node: JsonObject) -> bool:
    """Tell whether the node selector and the required node affinity of a pod allow the node."""
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
        init_container
        for init_container in spec.get("initContainers") or ()
        if init_container.get("restartPolicy") == "Always"
    )
    for container in (*(spec.get("containers") or ()), *sidecars):
        for port in container.get("ports") or ():
            if port.get("hostPort"):
                address = port.get("hostIP") or "0.0.0.0"
                yield port.get("protocol") or "TCP", port["hostPort"], address


def _ports(pod: JsonObject, state: NodeState) -> Refusal | None:
    host_ports = list(_host_ports(pod))
    if not host_ports:
        return None
    pods = {port for pod in state.pods for port in _host_ports(pod)}
    for protocol, port, address in host_ports:
        for other in (pod for pod in pods if pod[:2] == (protocol, port)):
            if "0.0.0.0" in (address, other[2]) or address == other[2]:
                return Refusal(("node(s) didn't have free ports for the requested pod ports",))
    return None


def _resources(requests: Mapping[str, int], state: NodeState) -> Refusal | None:
    reasons, final = [], False
    if len(state.pods) + 1 > state.allocatable.get(PODS_RESOURCE, 0):
        reasons.append("Too many pods")
    for name, value in requests.items():
        allocatable = state.allocatable.get(name, 0)
        if value and value > allocatable - state.used[name]:
            reasons.append(f"Insufficient {name}")
            final |= value > allocatable
    return Refusal(reasons, final) if reasons else None


# --- Other pods --------------------------------------------------------------


class PodAffinity:
    """Knows which places are required or forbidden by affinity between pods; worked out once for
    all nodes."""

    def __init__(self, pod: JsonObject, neighbours: Neighbours) -> None:
        self._near = required_terms(pod, NEAR)
        self._far = required_terms(pod, FAR)
        spaces = neighbours.namespaces
        self._with = [_places(term, neighbours) for term in self._near]
        self._without = [_places(term, neighbours) for term in self._far]
        self._refused = {
            place
            for term, places in neighbours.terms(FAR, pod)
            if not term.weight
            for place in places
        }
        self._is_first = not any(self._with) and all(
            term.sort.matches(pod, spaces) for term in self._near
        )

    def refusal(self, state: NodeState) -> Refusal | None:
        """Return why affinity between pods forbids the node, or None if it allows it."""
        if not self._is_near(state):
            return Refusal(("node(s) didn't match pod affinity rules",), final=True)
        for term, places in zip(self._far, self._without, strict=True):
            if state.labels.get(term.topology) in places:
                return Refusal(("node(s) didn't match pod anti-affinity rules",))
        if any(state.labels.get(topology) == place for topology, place in self._refused):
            return Refusal(("node(s) didn't satisfy existing pods anti-affinity rules",))
        return None

    def _is_near(self, state: NodeState) -> bool:
        """Return whether a pod may run near. The first of pods that want to be together may run
        anywhere."""
        for term, places in zip(self._near, self._with, strict=True):
            place = state.labels.get(term.topology)
            if place is None or (place not in places and not self._is_first):
                return False
        return True


def _places(term: Term, neighbours: Neighbours) -> frozenset[str]:
    """Return the values of its topology where pods are that it matches."""
    counts = neighbours.counted(term.sort)
    return frozenset(
        state.labels[term.topology]
        for state in neighbours.states
        if term.topology in state.labels and counts[state.name]
    )


def alike(pod: JsonObject, constraint: JsonObject) -> PodSort:
    """Return the pods that a constraint wants to be spread, of which one is this pod."""
    parsed = label_selector(constraint.get("labelSelector"))
    mine = metadata.labels(pod)
    same = (
        Requirement(key, Operator.IN, (mine[key],))
        for key in constraint.get("matchLabelKeys") or ()
        if key in mine
    )
    selector = LabelSelector((*parsed.requirements, *same), parsed.nothing)
    return PodSort(frozenset((metadata.namespace(pod),)), selector, living=True)


class TopologySpread:
    """Knows how evenly the pods like one must be spread; worked out once for all nodes."""

    def __init__(self, pod: JsonObject, neighbours: Neighbours) -> None:
        constraints = (pod.get("spec") or {}).get("topologySpreadConstraints") or ()
        self._pod = pod
        self._hard = [
            constraint
            for constraint in constraints
            if constraint.get("whenUnsatisfiable") == "DoNotSchedule"
        ]
        keys = [item["topologyKey"] for item in self._hard]
        states = [state for state in neighbours.states if all(key in state.labels for key in keys)]
        self._counts = [self._counted(item, states, neighbours) for item in self._hard]

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
        """Return why a pod on this node would be spread too unevenly, or None if it would not."""
        unmet = "node(s) didn't match pod topology spread constraints"
        for constraint, counts in zip(self._hard, self._counts, strict=True):
            place = state.labels.get(constraint["topologyKey"])
            if place is None:
                return Refusal((f"{unmet} (missing required label)",), final=True)
            least = min(counts.values(), default=0)
            if len(counts) < (constraint.get("minDomains") or 1):
                least = 0
            matches = alike(self._pod, constraint).selector.matches(metadata.labels(self._pod))
            if counts[place] + matches - least > constraint["maxSkew"]:
                return Refusal((unmet,))
        return None


# --- Decision ----------------------------------------------------------------


class Filters:
    """Holds what a pod asks of nodes, worked out once for all of them."""

    def __init__(self, pod: JsonObject, neighbours: Neighbours) -> None:
        self._pod = pod
        self._needs = needs(pod)
        self._spread = TopologySpread(pod, neighbours)
        self._affinity = PodAffinity(pod, neighbours)

    def refusal(self, state: NodeState) -> Refusal | None:
        """Return why a node will not do; None if it will."""
        return (
            _taints(self._pod, state)
            or _node_affinity(self._pod, state)
            or _ports(self._pod, state)
            or _resources(self._needs, state)
            or self._spread.refusal(state)
            or self._affinity.refusal(state)
        )


@dataclass(frozen=True, slots=True)
class Fit:
    """The nodes that will do for a pod, and why the others will not, by their names."""

    fitting: Sequence[NodeState]
    refusals: Mapping[str, Refusal]


def fit_of(pod: JsonObject, neighbours: Neighbours) -> Fit:
    """Try all nodes: return those that will do for the pod, and why the others will not."""
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
    """Return the message about a pod that no node will do for. `preemption` is what came of making
    room; None while others make room."""
    if not refusals:
        return NO_NODES
    reasons = Counter(reason for refusal in refusals.values() for reason in refusal.reasons)
    text = nodes_told(len(refusals), reasons)
    if preemption is None:
        return text
    claims = "no new claims to deallocate, " if is_since(_CLAIMS_SINCE) else ""
    return f"{text} {claims}preemption: {preemption}"


def nodes_told(nodes: int, reasons: Mapping[str, int]) -> str:
    """Return the sentence that says how many nodes will not do for which reason."""
    listed = ", ".join(sorted(f"{count} {reason}" for reason, count in reasons.items()))
    return f"0/{nodes} nodes are available: {listed}."


def before_filters(nodes: int, reason: str) -> str:
    """Return the message about a pod for which no node is looked at. Since there are claims of
    devices, their plugin, which has not been asked yet, complains about that."""
    if is_since(_CLAIMS_SINCE):
        return f"0/{nodes} nodes are available: {reason}. not found"
    useless = nodes_told(nodes, {"Preemption is not helpful for scheduling": nodes})
    return f"0/{nodes} nodes are available: {reason}. preemption: {useless}"


def takes_room(pod: JsonObject) -> bool:
    """Tell whether the pod is on a node and has not ended."""
    return bool(node_of(pod)) and not has_ended(pod)


# --- Rejection ---------------------------------------------------------------
#
# Why the kubelet of a node does not take a pod that somebody has put there: binding asks nobody.


@dataclass(frozen=True, slots=True)
class Rejection:
    """Says in the kubelet's words why it does not run a pod, or no longer."""

    reason: str
    message: str


# As `predicateAdmitHandler` of `pkg/kubelet/lifecycle/predicate.go`. What it does for critical
# pods, to stop others, is left out, and nothing is lacking that a node does not list.
def rejection_of(
    pod: JsonObject, requests: Mapping[str, int], state: NodeState
) -> Rejection | None:
    """Return why a node does not take a pod, which requests so much, beside those that it has
    taken; None if it does."""
    system = state.labels.get(OPERATING_SYSTEM, "linux")
    if metadata.labels(pod).get(OPERATING_SYSTEM, system) != system:
        text = "Failed to admit pod as the `kubernetes.io/os` label doesn't match node label"
        return Rejection("PodOSSelectorNodeLabelDoesNotMatch", text)
    if ((pod.get("spec") or {}).get("os") or {}).get("name", system) != system:
        text = "Failed to admit pod as the OS field doesn't match node OS"
        return Rejection("PodOSNotSupported", text)
    used = {**state.used, PODS_RESOURCE: len(state.pods)}
    for name, value in {PODS_RESOURCE: 1, **requests}.items():
        capacity = state.allocatable.get(name)
        if capacity is not None and value and value > capacity - used.get(name, 0):
            text = f"{name}, requested: {value}, used: {used.get(name, 0)}, capacity: {capacity}"
            return Rejection(f"OutOf{name}", f"Node didn't have enough resource: {text}")
    refusals = (("NodeAffinity", _node_affinity(pod, state)), ("NodePorts", _ports(pod, state)))
    for name, refusal in refusals:
        if refusal is not None:
            return Rejection(name, f"Predicate {name} failed: {refusal.reasons[0]}")
    return None
