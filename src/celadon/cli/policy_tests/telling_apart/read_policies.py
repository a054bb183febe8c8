"""What a policy and its bindings ask of a request: kinds, labels, users, places and values."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from celadon.admission import Operation, PolicyFrame
from celadon.admission.registration import MatchResources
from celadon.cel import CheckedAst
from celadon.cel.extend import Literal
from celadon.cel.syntax import walk
from celadon.cli.checking.given_cluster import Engines
from celadon.cli.policy_tests.first_tests.read_places import ReadPlaces, read_places
from celadon.cli.policy_tests.telling_apart.altered_benches import compiled_policy
from celadon.cli.reading.json_places import Path
from celadon.kube import GroupVersionKind
from celadon.kube.catalogue import known_resources
from celadon.records import dataclass

_MOST_KINDS: Final = 8
_MOST_USERS: Final = 8
_MOST_OTHERS: Final = 4
"""Other policies whose wishes are looked at."""
_OTHER: Final = "something-else"

User = tuple[str, tuple[str, ...]]
"""Name and groups; an empty name is an administrator."""


@dataclass(frozen=True, slots=True)
class ReadPolicy:
    """`kinds` with the operations that are asked about; `namespaces` are labels of Namespaces that
    may make a difference; `object_labels` those that selectors want, `object_wishes` all values of
    them that selectors name."""

    kinds: tuple[tuple[GroupVersionKind, frozenset[Operation]], ...]
    places: ReadPlaces
    users: tuple[User, ...]
    namespaces: tuple[dict[str, str], ...]
    object_labels: dict[str, str]
    object_wishes: Mapping[str, Sequence[str]]
    param_kind: tuple[str, str] | None


def read_policy(engines: Engines, name: str) -> ReadPolicy:
    """Of a policy that is loaded."""
    part = next(one for one in engines.sets.all if name in one.policies)
    spec = part.policies[name].value.spec
    bindings = [one.value.spec for one in part.bindings.values()]
    own = [one.match_resources for one in bindings if one.policy_name == name]
    constraints = [one for one in (spec.match_constraints, *own) if one is not None]
    checked = _checked(compiled_policy(engines, name))
    found = _places(engines, name)
    labels = [_wanted(one.object_selector) for one in constraints]
    spaces = [_wanted(one.namespace_selector) for one in constraints]
    kind = spec.param_kind
    return ReadPolicy(
        tuple(_kinds(constraints[:1])),
        _with_labels(found, labels),
        tuple(_users(checked)),
        tuple(_label_sets(spaces)),
        {key: values[0] for one in labels for key, values in one.items()},
        {key: values for one in labels for key, values in one.items()},
        None if kind is None else (kind.api_version, kind.kind),
    )


def _checked(compiled: PolicyFrame) -> list[CheckedAst]:
    return [one.program.checked for one in compiled.expressions if one.program is not None]


def _places(engines: Engines, name: str) -> ReadPlaces:
    """Those of the policy, then those of others that may have something against the request."""
    others = [one for part in engines.sets.all for one in part.policies if one != name]
    read = []
    for one in (name, *others[:_MOST_OTHERS]):
        compiled = compiled_policy(engines, one)
        variables = {
            key: variable.program.checked.root
            for key, variable in compiled.variables.items()
            if variable.program is not None
        }
        read.append(read_places([found.root for found in _checked(compiled)], variables))
    values = {(type(one), str(one)): one for found in read for one in found.values}
    places = dict.fromkeys(place for found in read for place in found.places)
    return ReadPlaces(tuple(places), tuple(values.values()))


def _kinds(
    constraints: Iterable[MatchResources],
) -> Iterator[tuple[GroupVersionKind, frozenset[Operation]]]:
    count = 0
    for rule in (rule for one in constraints for rule in one.resource_rules):
        wanted = set(rule.operations)
        operations = frozenset(one for one in Operation if wanted & {one.value, "*"})
        for resource in known_resources(all_versions=True):
            own = resource.gvr
            if (
                {own.group, "*"} & set(rule.api_groups)
                and {own.version, "*"} & set(rule.api_versions)
                and {own.resource, "*", "*/*"} & set(rule.resources)
                and count < _MOST_KINDS
            ):
                count += 1
                yield resource.gvk, operations


def _wanted(selector: Mapping[str, Any] | None) -> dict[str, list[str]]:
    """Keys that a selector names, with values."""
    given = selector or {}
    found = {key: [value] for key, value in given.get("matchLabels", {}).items()}
    for one in given.get("matchExpressions", ()):
        found.setdefault(one["key"], []).extend(one.get("values") or ["yes"])
    return found


def _label_sets(wanted: Sequence[Mapping[str, list[str]]]) -> Iterator[dict[str, str]]:
    """Those that satisfy everybody, and others that lack one thing."""
    every: dict[str, list[str]] = {}
    for one in wanted:
        for key, values in one.items():
            every.setdefault(key, []).extend(values)
    if not every:
        return
    full = {key: values[0] for key, values in every.items()}
    yield full
    yield {}
    for key, values in every.items():
        yield {other: value for other, value in full.items() if other != key}
        for value in dict.fromkeys((*values, _OTHER)):
            yield {**full, key: value}


def _with_labels(found: ReadPlaces, wanted: Sequence[Mapping[str, list[str]]]) -> ReadPlaces:
    """And the labels of objects that selectors ask for."""
    places: list[Path] = []
    values: list[str] = []
    for one in wanted:
        for key, known in one.items():
            places.append(("object", "metadata", "labels", key))
            values += known
    return ReadPlaces(
        tuple(dict.fromkeys((*places, *found.places))),
        (*(one for one in dict.fromkeys(values) if one not in found.values), *found.values),
    )


def _users(checked: Sequence[CheckedAst]) -> Iterator[User]:
    """Anybody, and whoever is named where expressions read the user."""
    names = dict.fromkeys(
        node.value
        for one in checked
        if "userInfo" in one.ast.source.text
        for node in walk(one.root)
        if isinstance(node, Literal) and isinstance(node.value, str)
    )
    yield "", ()
    yield "alice", ()
    for name in list(names)[:_MOST_USERS]:
        yield name or "nobody", ()
        yield "alice", (name,)
