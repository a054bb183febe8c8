"""Requests to tell two policies apart by, generated when somebody wants them.

They begin with the requests of the cases, and with a small object of each kind that the rules name,
as `celadon test init` makes them. Then one thing is changed: the operation, the user, the labels of
the Namespace, or a value at a place that the expressions read, to what they compare with or a
neighbour of that. What comes to something that nothing has come to before is changed further.
What the API server would refuse before any policy sees it is left out.
"""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import islice
from typing import Any, Final

from celadon.admission import ADMIN
from celadon.cli.checking.check_report import Place
from celadon.cli.checking.questions import user_info
from celadon.cli.checking.refusals import refusal
from celadon.cli.policy_tests.expectations import CaseVerdict, Expectation
from celadon.cli.policy_tests.first_tests.changed_values import (
    with_second_item,
    with_value_at,
)
from celadon.cli.policy_tests.first_tests.seed_objects import seed_object
from celadon.cli.policy_tests.policy_test import Case
from celadon.cli.policy_tests.running.case_bench import Bench
from celadon.cli.policy_tests.telling_apart.case_changes import CaseChanges, asked_otherwise
from celadon.cli.policy_tests.telling_apart.glances import Glance, glance
from celadon.cli.policy_tests.telling_apart.read_policies import ReadPolicy, read_policy
from celadon.records import dataclass

_ADMIT: Final = Expectation(CaseVerdict.ADMIT)
_MOST_TRIALS: Final = 1500
_TURN: Final = 8
"""Requests that are made of one before it is another one's turn."""


@dataclass(frozen=True, slots=True)
class Generated:
    """A request, and what it comes to with the policy as it is. `origin` is the case of the test
    that it was made of; None for what was made of nothing."""

    case: Case
    glance: Glance
    origin: Case | None


class RequestPool:
    """For one policy and the cases of one test that are about it."""

    def __init__(self, bench: Bench, cases: Sequence[Case], name: str) -> None:
        self._bench = bench
        self._cases = cases
        self.read: ReadPolicy = read_policy(bench.setting(cases[0]).engines, name)
        self._name = name
        self._known: dict[str, Generated | None] = {}
        self._signs: set[Any] = set()
        self._made: list[Generated] = []
        self._source = self._all()
        self.changes = CaseChanges(bench, self.read.param_kind, {})

    def first(self, count: int) -> Iterator[Generated]:
        """So many, or fewer if there are no more; the same ones each time."""
        known = len(self._made)
        yield from self._made[:count]
        for one in islice(self._source, max(0, count - known)):
            self._made.append(one)
            yield one

    def taken(self, case: Case, origin: Case | None) -> Generated | None:
        """The request; None if the API server refuses it. Made once."""
        key = _key(case)
        if key not in self._known:
            self._known[key] = self._made_of(case, origin)
        return self._known[key]

    def _made_of(self, case: Case, origin: Case | None) -> Generated | None:
        found = glance(self._bench, case)
        if found.sent is None or refusal(found.sent.asked, found.sent.setting.prepare) is not None:
            return None
        return Generated(case, found, origin)

    def _all(self) -> Iterator[Generated]:
        waiting: deque[Iterator[tuple[Case, Case | None]]] = deque([self._first()])
        trials = 0
        while waiting and trials < _MOST_TRIALS:
            turn = waiting.popleft()
            made = list(islice(turn, _TURN))
            trials += len(made)
            for case, origin in made:
                found = None if _key(case) in self._known else self.taken(case, origin)
                if found is not None:
                    yield found
                    if self._is_news(found):
                        waiting.append(self._changed(found))
            if made:
                waiting.append(turn)

    def _is_news(self, one: Generated) -> bool:
        sign = (one.case.operation, one.case.object.value["kind"], *one.glance.signs)
        is_new = sign not in self._signs
        self._signs.add(sign)
        return is_new

    def _first(self) -> Iterator[tuple[Case, Case | None]]:
        for case in self._cases:
            yield case, case
        pattern = self._cases[0]
        for kind, operations in self.read.kinds:
            document = self.changes.kept(seed_object(kind, self.read.object_labels))
            case = Case(
                "", Place(), _ADMIT, document, cluster=pattern.cluster, policies=(self._name,)
            )
            yield from ((one, None) for one in asked_otherwise(case) if one.operation in operations)

    def _changed(self, one: Generated) -> Iterator[tuple[Case, Case | None]]:
        for case in self._changes(one.case):
            yield case, one.origin

    def _changes(self, case: Case) -> Iterator[Case]:
        yield from asked_otherwise(case)
        for name, groups in self.read.users:
            yield replace(case, user=user_info(name, groups) if name else ADMIN)
        for labels in self.read.namespaces:
            yield self.changes.in_namespace(case, labels)
        for value in (None, *self.read.places.values):
            for place in self.read.places.places:
                for change in (with_value_at, with_second_item):
                    made = self.changes.with_value(case, place, value, change)
                    if made is not None:
                        yield made


def _key(case: Case) -> str:
    """The same for the same request."""
    objects = [case.object.value, None if case.old is None else case.old.value]
    user = [case.user.name, case.user.groups, case.user.uid, dict(case.user.extra)]
    cluster = [one.value for one in case.cluster]
    asked = [case.operation.value, case.subresource, case.namespace, case.dry_run]
    asked += [repr(one) for one in case.answers]
    return json.dumps([objects, user, cluster, asked], sort_keys=True, default=str)
