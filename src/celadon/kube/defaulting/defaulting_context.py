"""The context of defaulting rules: an object at paths, and time, identity, gates, plugins and
cluster beside it.

Defaulting is pure, so whatever a server would take from its clock, its random source or its caches
is an argument. The defaults are recognisable placeholders and an empty cluster.
"""

from __future__ import annotations

import enum
import itertools
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple, Protocol

from celadon.kube.authorization import User
from celadon.kube.json_types import JsonDict, JsonObject, SharedParts
from celadon.kube.names import GroupVersionKind
from celadon.kube.resources.admission_plugins import DEFAULT_PLUGINS
from celadon.kube.resources.api_resources import Lookups, ObjectIndex
from celadon.kube.schemas import schema_packs
from celadon.kube.schemas.struct_decoding import EmptyValue
from celadon.records import dataclass, field

# --- The context -------------------------------------------------------------

NOBODY: Final = User("")
EMPTY: Final[Lookups] = ObjectIndex()

ALLOCATED_PORT: Final = "provided port is already allocated"
"""What is wrong with a node port that is taken."""


class ServiceNetwork(Protocol):
    """Says where services get addresses and ports. Faults are upstream's words for what is wrong
    with a value that a client chose, empty if it can have it."""

    @property
    def families(self) -> Sequence[str]:
        """IP families of the cluster, the default one first."""

    @property
    def families_are_known(self) -> bool:
        """Return whether it has no others; else nobody is refused for one."""

    def cluster_ip(self, family: str) -> str:
        """Return a free address of one of them. StatusError (500) when there is none."""

    def node_port(self, taken_ports: Sequence[int]) -> int:
        """Return a free port besides those that this write has taken. StatusError (500) when there
        is none."""

    def address_fault(self, address: str) -> str: ...
    def port_fault(self, port: int) -> str: ...


@dataclass(frozen=True, slots=True)
class PlaceholderNetwork:
    """Gives services what they get in a dry run: the first address of the range, and port numbers
    counted up from those they ask for, or from one outside the range of real ones."""

    cluster_ips: Mapping[str, str] = field(default_factory=lambda: {"IPv4": "10.0.0.0"})
    first_node_port: int = 32769

    @property
    def families(self) -> Sequence[str]:
        return tuple(self.cluster_ips)

    @property
    def families_are_known(self) -> bool:
        return False

    def cluster_ip(self, family: str) -> str:
        return self.cluster_ips[family]

    def node_port(self, taken_ports: Sequence[int]) -> int:
        return max(taken_ports, default=self.first_node_port - 1) + 1

    def address_fault(self, _: str) -> str:
        return ""

    def port_fault(self, _: int) -> str:
        return ""


_NO_NETWORK: Final = PlaceholderNetwork()


@dataclass(frozen=True, slots=True)
class DefaultingContext:
    """Holds what a server adds of its own to one write.

    `suffix` are the five random characters of generated names; `gates` overrides defaults.

    `extra_token_sources` are projected sources that follow upstream's three in the token volume of
    pods. Upstream has none; some distributions add their own certificates there. What is created
    through a subresource is given no addresses and ports: that is not `allocating`.
    """

    now: str = "1970-01-01T00:00:00Z"
    uid: str = "00000000-0000-0000-0000-000000000000"
    suffix: str = "xxxxx"
    user: User = NOBODY
    gates: Mapping[str, bool] = field(default_factory=dict)
    plugins: frozenset[str] = DEFAULT_PLUGINS
    cluster: Lookups = EMPTY
    extra_token_sources: Sequence[JsonObject] = ()
    network: ServiceNetwork = _NO_NETWORK
    allocating: bool = True


def service_ca_source(config_map: str) -> JsonDict:
    """Return the token source of clusters that publish the authority of their services in a
    ConfigMap of every namespace, as OpenShift does in `openshift-service-ca.crt`."""
    key = "service-ca.crt"
    return {"configMap": {"name": config_map, "items": [{"key": key, "path": key}]}}


@dataclass(slots=True)
class Run:
    """One object on its way through the rules."""

    root: JsonDict
    context: DefaultingContext
    gates: frozenset[str]
    is_disturbed: bool = False
    """Whether something was changed or taken away after defaulting that defaulting may look at."""
    empties: Sequence[EmptyValue] = ()
    """What came empty and is not in the object: for rules that ask for nil, not for empty."""
    settled: Container[int] = frozenset()
    """The identities of parts that are as rules leave them: rules that were compiled for shared
    parts do not enter them."""
    shared: SharedParts = field(default_factory=dict)
    """Copies of parts of the object as it is stored, which nobody has changed."""

    def forget_changed(self) -> None:
        """Forget the copies that are not what they were made of any more."""
        if self.shared:
            self.shared = {place: pair for place, pair in self.shared.items() if pair[0] == pair[1]}


# --- Paths of rules ----------------------------------------------------------
#
# The paths of defaulting rules: dotted names, `name[*]` for each item, `name{*}` for each value.
#
# A path starts at the object a rule applies to; one that starts with `$.` starts at the root.

Apply = Callable[[Any, Run], None]


class Each(enum.Enum):
    """Says what a step of a path goes on to."""

    FIELD = ""
    ITEMS = "[*]"
    VALUES = "{*}"


class Step(NamedTuple):
    """A field, and whether all its items or values are meant."""

    name: str
    each: Each


AT_ROOT: Final = "$."
"""How a path begins that starts at the root."""


def parse_path(path: str) -> tuple[Step, ...]:
    steps = []
    for part in path.split(".") if path else ():
        each = next((item for item in (Each.ITEMS, Each.VALUES) if part.endswith(item.value)), None)
        if each is None:
            steps.append(Step(part, Each.FIELD))
        else:
            steps.append(Step(part.removesuffix(each.value), each))
    return tuple(steps)


def lookup(path: str, parent: object, root: object) -> object:
    """Return the value at a path without wildcards; None when something on the way is missing."""
    result = root if path.startswith(AT_ROOT) else parent
    for name in path.removeprefix(AT_ROOT).split("."):
        if not isinstance(result, dict):
            return None
        result = result.get(name)
    return result


Placed = tuple[tuple[Step, ...], Apply]
"""What is done to everything that the steps lead to; missing objects on the way end the walk."""


def grouped(rules: Sequence[Placed], *, sharing: bool = False) -> tuple[Apply, ...]:
    """Return the same in the same order, where rules that follow one another go the same way
    together. What is done to the items of a list is done item by item then. If `sharing`, nothing
    happens in the settled parts of an object."""
    result: list[Apply] = []
    way = _sharing_way if sharing else _way
    for first, group in itertools.groupby(rules, key=lambda rule: rule[0][:1]):
        inner = [(steps[1:], apply) for steps, apply in group]
        if first:
            result.append(way(first[0], in_order(grouped(inner, sharing=sharing))))
        else:
            result += [apply for _, apply in inner]
    return tuple(result)


def in_order(rules: tuple[Apply, ...]) -> Apply:
    """Return a rule that applies these rules one after the other."""
    if len(rules) == 1:
        return rules[0]

    def apply(obj: object, run: Run) -> None:
        for rule in rules:
            rule(obj, run)

    return apply


def _way(step: Step, apply: Apply) -> Apply:
    name = step.name

    def field(obj: Any, run: Run) -> None:
        child = obj.get(name)
        if child is not None:
            apply(child, run)

    def items(obj: Any, run: Run) -> None:
        children = obj.get(name)
        if children:
            for child in children:
                apply(child, run)

    def values(obj: Any, run: Run) -> None:
        children = obj.get(name)
        if children:
            for child in children.values():
                apply(child, run)

    return {Each.FIELD: field, Each.ITEMS: items, Each.VALUES: values}[step.each]


def _sharing_way(step: Step, apply: Apply) -> Apply:
    """Return the way as `_way` does, past what is settled."""
    name = step.name

    def field(obj: Any, run: Run) -> None:
        child = obj.get(name)
        if child is not None and id(child) not in run.settled:
            apply(child, run)

    def each(obj: Any, run: Run) -> None:
        children = obj.get(name)
        if children and id(children) not in run.settled:
            settled = run.settled
            for child in children.values() if children.__class__ is dict else children:
                if id(child) not in settled:
                    apply(child, run)

    return field if step.each is Each.FIELD else each


# --- Certain fields ----------------------------------------------------------


def always_set(gvk: GroupVersionKind) -> frozenset[str]:
    """Return the fields that each object of a kind has after defaulting, once it has their parents:
    those that a rule without conditions sets. Paths are those of rules:
    `spec.template.spec.containers[*].terminationMessagePath`."""
    pack = schema_packs.load("defaults")
    rules = pack["kinds"].get(f"{gvk.api_version}/{gvk.kind}", {}).get("default", ())
    return frozenset(_always_set(rules, pack["sets"], ""))


def _always_set(
    rules: Iterable[JsonObject], sets: Mapping[str, Sequence[JsonObject]], above: str
) -> Iterator[str]:
    for rule in rules:
        if "when" in rule or "gate" in rule or "plugin" in rule:
            continue
        path = ".".join(part for part in (above, rule["path"]) if part)
        if "use" in rule:
            yield from _always_set(sets[rule["use"]], sets, path)
        elif "value" in rule:
            yield path
