"""Rules put together: each resource of a group and version stands once, with all its operations.

A rule is taken apart into one for each group, version and resource; those that another one covers
go, and what is left is put together by operations. A star stays in a rule of its own, since the API
does not let it stand beside others.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from celadon.admission import Operation
from celadon.admission.registration import Rule
from celadon.records import dataclass

ANY: Final = "*"
OPERATIONS: Final = tuple(one.value for one in Operation)


@dataclass(frozen=True, slots=True)
class _Place:
    """Of one resource, or of many by stars."""

    group: str
    version: str
    resource: str
    scope: str

    def covers(self, other: _Place) -> bool:
        """Whether all that the other one takes is taken here, too."""
        return (
            self.group in {ANY, other.group}
            and self.version in {ANY, other.version}
            and self.scope in {ANY, other.scope}
            and _covers(self.resource, other.resource)
        )


def _covers(resource: str, other: str) -> bool:
    name, _, below = resource.partition("/")
    other_name, _, other_below = other.partition("/")
    return name in {ANY, other_name} and below in {ANY, other_below}


def union_of_rules(rules: Iterable[Rule]) -> tuple[Rule, ...]:
    """Rules that take the same requests, in the order in which their resources first came."""
    taken: dict[_Place, frozenset[str]] = {}
    for rule in rules:
        for place in _places(rule):
            taken[place] = taken.get(place, frozenset()) | frozenset(rule.operations)
    left = {
        place: operations
        for place, operations in taken.items()
        if not _is_covered(place, operations, taken)
    }
    return tuple(_together(left))


def _places(rule: Rule) -> Iterator[_Place]:
    for group in rule.api_groups:
        for version in rule.api_versions:
            for resource in rule.resources:
                yield _Place(group, version, resource, rule.scope or ANY)


def _is_covered(
    place: _Place, operations: frozenset[str], taken: dict[_Place, frozenset[str]]
) -> bool:
    return any(
        other != place and other.covers(place) and (ANY in more or operations <= more)
        for other, more in taken.items()
    )


def _together(left: dict[_Place, frozenset[str]]) -> Iterator[Rule]:
    found: dict[tuple[object, ...], list[_Place]] = {}
    for place, operations in left.items():
        alone = place.resource if ANY in place.resource else ""
        key = (place.group, place.version, place.scope, ordered(operations), alone)
        found.setdefault(key, []).append(place)
    for places in found.values():
        first = places[0]
        yield Rule(
            ordered(left[first]),
            (first.group,),
            (first.version,),
            tuple(place.resource for place in places),
            first.scope,
        )


def ordered(operations: Iterable[str]) -> tuple[str, ...]:
    """As the API lists them; a star is all of them."""
    taken = frozenset(operations)
    return (ANY,) if ANY in taken else tuple(one for one in OPERATIONS if one in taken)
