"""All combinations of what an alteration can have to do with: a search with a bound that is told.

For each kind of object a request that comes to the policy is the beginning. Its inputs (the
operation, what the expressions read, the labels that selectors look at) are each given a few
values, see `input_values`; which the API server refuses whatever else there is, are left out. Then
all combinations are asked; of too many inputs those of any three of them, or of any two, the others
as they were. Where nothing differs, the alteration makes no difference within this bound.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import combinations, product
from math import prod
from typing import Final

from celadon.admission import Operation
from celadon.cli.policy_tests.altering.alterations import Alteration
from celadon.cli.policy_tests.first_tests.changed_values import with_second_item, with_value_at
from celadon.cli.policy_tests.policy_test import AuthorizerAnswer, Case
from celadon.cli.policy_tests.telling_apart.case_changes import CaseChanges, asked_otherwise
from celadon.cli.policy_tests.telling_apart.combining.input_values import Value, choices
from celadon.cli.policy_tests.telling_apart.combining.policy_inputs import PolicyInputs, with_labels
from celadon.cli.policy_tests.telling_apart.combining.read_inputs import Inputs, place_text
from celadon.cli.policy_tests.telling_apart.request_pool import Generated, RequestPool
from celadon.kube import Ruling
from celadon.records import dataclass

_MOST: Final = 900
"""Combinations for one alteration."""
_LEAST: Final = 120
"""Combinations of what one expression reads, however many expressions there are."""
_MOST_BASES: Final = 3
_NAMED: Final = 6
"""Inputs that a bound names."""

_TELL_OPERATIONS: Final = frozenset({"oldObject", "request"})
"""Variables by which expressions know what a request does, short of a DELETE."""
_MATCHING: Final = frozenset({"matchConstraints", "matchResources", "paramRef"})

_Changed = Callable[[Case], Case | None]


@dataclass(frozen=True, slots=True)
class _Input:
    """`changes` make it something else than it is."""

    name: str
    changes: tuple[_Changed, ...]


@dataclass(frozen=True, slots=True)
class Space:
    """Requests, and by what they are all that there are. `strength` is how many inputs are changed
    together; `inputs` are their names with the number of values, `varied` their names, and those of
    objects that have to be there. `fixed` are places that are read and could not be changed: about
    them nothing is known."""

    requests: tuple[Generated, ...]
    count: int
    strength: int
    inputs: tuple[str, ...]
    varied: frozenset[str]
    fixed: tuple[str, ...]

    @property
    def bound(self) -> str:
        """For people."""
        if not self.inputs:
            return "nothing that is read can have another value"
        named = ", ".join(self.inputs[:_NAMED])
        more = f" and {len(self.inputs) - _NAMED} more" if len(self.inputs) > _NAMED else ""
        any_of = f" of any {self.strength}" if self.strength < len(self.inputs) else ""
        return f"{self.count} combinations{any_of} of {named}{more}"


class InputCombinations:
    """For one policy and the requests of one test. Spaces are kept: many alterations share one."""

    def __init__(self, pool: RequestPool, inputs: PolicyInputs, name: str) -> None:
        self._pool = pool
        self._inputs = inputs
        self._name = name
        self._spaces: dict[tuple[int, bool], list[Space]] = {}

    def spaces(self, alteration: Alteration) -> Iterator[Space]:
        """Those that an alteration may show in: of each part of the policy that it has to do
        with."""
        groups = self._inputs.groups(alteration)
        most = max(_LEAST, _MOST // max(1, len(groups) * len(self._beginnings)))
        of_matching = _is_about_matching(alteration)
        for number, group in groups:
            key = number, of_matching
            if key not in self._spaces:
                self._spaces[key] = [
                    self._space(base, group, most, of_matching=of_matching)
                    for base in self._beginnings
                ]
            yield from self._spaces[key]

    @cached_property
    def _beginnings(self) -> list[Generated]:
        """One for each kind of object; requests of cases before all others."""
        found: dict[tuple[str, str], Generated] = {}
        for one in self._pool.first(_LEAST):
            value = one.case.object.value
            kind = str(value["apiVersion"]), str(value["kind"])
            known = found.get(kind)
            better = known is not None and known.origin is None and one.origin is not None
            if self._name in one.glance.reached and (known is None or better):
                found[kind] = one
        return list(found.values())[:_MOST_BASES]

    def _space(self, base: Generated, group: Inputs, most: int, *, of_matching: bool) -> Space:
        base = self._replacing(base, group)
        group = group.without("oldObject") if base.case.old is None else group
        inputs = list(self._taken_inputs(base, group, of_matching=of_matching))
        sizes = [len(one.changes) for one in inputs]
        fitting = [one for one in range(1, len(inputs) + 1) if _count(sizes, one) <= most]
        strength = max([*fitting, min(2, len(inputs))])
        made = {id(one): one for one in self._asked(base, inputs, strength)}
        names = tuple(f"{one.name} ({len(one.changes) + 1})" for one in inputs)
        varied = {one.name for one in inputs} | set(self._needed(base.case, group))
        fixed = tuple(name for name in map(place_text, group.leaves) if name not in varied)
        count = _count(sizes, strength)
        return Space(tuple(made.values()), count, strength, names, frozenset(varied), fixed)

    def _needed(self, case: Case, group: Inputs) -> Iterator[str]:
        """Objects that have to be there: of them, only what is in them can be another."""
        for place in group.leaves:
            if isinstance(self._pool.changes.value_at(case, place), dict):
                yield place_text(place)

    def _replacing(self, base: Generated, group: Inputs) -> Generated:
        """The same request as an UPDATE, where the object before it is read and that is possible:
        nothing can be different in an object that is not there."""
        if base.case.old is None and any(place[0] == "oldObject" for place in group.related):
            for case in asked_otherwise(base.case):
                found = self._pool.taken(case, base.origin) if case.old is not None else None
                if found is not None and self._name in found.glance.reached:
                    return found
        return base

    def _asked(
        self, base: Generated, inputs: Sequence[_Input], strength: int
    ) -> Iterator[Generated]:
        yield base
        for count in range(1, strength + 1):
            for some in combinations(inputs, count):
                for changes in product(*(one.changes for one in some)):
                    found = self._with(base, changes)
                    if found is not None:
                        yield found

    def _with(self, base: Generated, changes: Sequence[_Changed]) -> Generated | None:
        case: Case | None = base.case
        for change in changes:
            case = None if case is None else change(case)
        return None if case is None else self._pool.taken(case, base.origin)

    def _taken_inputs(
        self, base: Generated, group: Inputs, *, of_matching: bool
    ) -> Iterator[_Input]:
        """With what makes another request that the API server does not refuse."""
        for one in self._all_inputs(base.case, group, of_matching=of_matching):
            found = ((change, self._with(base, (change,))) for change in one.changes)
            taken = tuple(change for change, made in found if made is not None and made is not base)
            if taken:
                yield replace(one, changes=taken)

    def _all_inputs(self, case: Case, group: Inputs, *, of_matching: bool) -> Iterator[_Input]:
        read, changes = self._pool.read, self._pool.changes
        operations = self._operations(group, of_matching=of_matching)
        yield _Input("operation", tuple(map(_asking, operations)))
        if of_matching:
            labels = tuple(functools.partial(_labelled, changes, one) for one in read.namespaces)
            yield _Input("labels of the Namespace", labels)
            group = with_labels(group, read.object_wishes)
        if "authorizer" in group.names:
            yield _Input("what the authorizer says", tuple(_answers(group)))
        now = {place: changes.value_at(case, place) for place in group.related}
        for choice in choices(group, now):
            yield _Input(place_text(choice.place), tuple(map(self._putting, choice.values)))

    def _operations(self, group: Inputs, *, of_matching: bool) -> list[Operation]:
        """Those by which something may be different."""
        asked = {one for _, some in self._pool.read.kinds for one in some}
        if not of_matching and not group.names & _TELL_OPERATIONS:
            asked &= {Operation.DELETE}
        return [one for one in Operation if of_matching or one in asked]

    def _putting(self, one: Value) -> _Changed:
        change = with_second_item if one.second else with_value_at
        return lambda case: self._pool.changes.with_value(case, one.place, one.value, change)


def _is_about_matching(alteration: Alteration) -> bool:
    """Whether it shows by which requests come to the policy, and with which params."""
    return not alteration.path or bool(_MATCHING.intersection(alteration.path))


def _count(sizes: Sequence[int], strength: int) -> int:
    """How many combinations there are: of so many inputs at most, each with so many changes."""
    return sum(prod(some) for count in range(strength + 1) for some in combinations(sizes, count))


def _asking(operation: Operation) -> _Changed:
    def change(case: Case) -> Case | None:
        same = (one for one in asked_otherwise(case) if one.operation is operation)
        return next(same, None)

    return change


def _answers(group: Inputs) -> Iterator[_Changed]:
    """Everything is allowed, nothing is, and what is asked about one thing."""
    no = AuthorizerAnswer(Ruling.DENY)
    yield _answered(AuthorizerAnswer(Ruling.ALLOW))
    yield _answered(no)
    for field, value in group.questions:
        yield _answered(AuthorizerAnswer(Ruling.ALLOW, {field: value}), no)


def _answered(*answers: AuthorizerAnswer) -> _Changed:
    return lambda case: replace(case, answers=answers)


def _labelled(changes: CaseChanges, labels: Mapping[str, str], case: Case) -> Case | None:
    return changes.in_namespace(case, labels)
