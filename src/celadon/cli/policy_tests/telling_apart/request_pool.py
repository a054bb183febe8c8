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
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import islice
from typing import Any, Final

from celadon.admission import ADMIN, Operation
from celadon.cli.checking.check_report import Place
from celadon.cli.checking.questions import user_info
from celadon.cli.checking.refusals import refusal
from celadon.cli.policy_tests.expectations import CaseVerdict, Expectation
from celadon.cli.policy_tests.first_tests.changed_values import (
    value_at,
    with_second_item,
    with_value_at,
)
from celadon.cli.policy_tests.first_tests.seed_objects import seed_object
from celadon.cli.policy_tests.policy_test import Case, plain_document
from celadon.cli.policy_tests.running.case_bench import Bench
from celadon.cli.policy_tests.telling_apart.glances import Glance, glance
from celadon.cli.policy_tests.telling_apart.read_policies import ReadPolicy, read_policy
from celadon.cli.reading.documents import Document
from celadon.cli.reading.json_places import Path
from celadon.cli.reading.object_shape import shape_problem
from celadon.kube import JsonObject, metadata
from celadon.records import dataclass

_PLACE: Final = "generated"
_ADMIT: Final = Expectation(CaseVerdict.ADMIT)
_MOST_TRIALS: Final = 1500
_TURN: Final = 8
"""Requests that are made of one before it is another one's turn."""

_Change = Callable[[JsonObject, Sequence[str | int], Any], dict[str, Any] | None]


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
        self._read: ReadPolicy = read_policy(bench.setting(cases[0]).engines, name)
        self._name = name
        self._keys: set[str] = set()
        self._signs: set[Any] = set()
        self._made: list[Generated] = []
        self._source = self._all()
        self._documents: dict[str, Document] = {}

    def first(self, count: int) -> Iterator[Generated]:
        """So many, or fewer if there are no more; the same ones each time."""
        known = len(self._made)
        yield from self._made[:count]
        for one in islice(self._source, max(0, count - known)):
            self._made.append(one)
            yield one

    def _all(self) -> Iterator[Generated]:
        waiting: deque[Iterator[tuple[Case, Case | None]]] = deque([self._first()])
        trials = 0
        while waiting and trials < _MOST_TRIALS:
            turn = waiting.popleft()
            made = list(islice(turn, _TURN))
            trials += len(made)
            for case, origin in made:
                found = self._fresh(case, origin)
                if found is not None:
                    yield found
                    if self._is_news(found):
                        waiting.append(self._changed(found))
            if made:
                waiting.append(turn)

    def _fresh(self, case: Case, origin: Case | None) -> Generated | None:
        """None for what was there before, or is refused."""
        key = _key(case)
        if key in self._keys:
            return None
        self._keys.add(key)
        found = glance(self._bench, case)
        if found.sent is None or refusal(found.sent.asked, found.sent.setting.prepare) is not None:
            return None
        return Generated(case, found, origin)

    def _is_news(self, one: Generated) -> bool:
        sign = (one.case.operation, one.case.object.value["kind"], *one.glance.signs)
        is_new = sign not in self._signs
        self._signs.add(sign)
        return is_new

    def _first(self) -> Iterator[tuple[Case, Case | None]]:
        for case in self._cases:
            yield case, case
        pattern = self._cases[0]
        for kind, operations in self._read.kinds:
            document = self._kept(seed_object(kind, self._read.object_labels))
            case = Case(
                "", Place(), _ADMIT, document, cluster=pattern.cluster, policies=(self._name,)
            )
            yield from (
                (one, None) for one in _asked_otherwise(case) if one.operation in operations
            )

    def _changed(self, one: Generated) -> Iterator[tuple[Case, Case | None]]:
        for case in self._changes(one.case):
            yield case, one.origin

    def _changes(self, case: Case) -> Iterator[Case]:
        yield from _asked_otherwise(case)
        for name, groups in self._read.users:
            yield replace(case, user=user_info(name, groups) if name else ADMIN)
        yield from self._namespaces(case)
        for value in (None, *self._read.places.values):
            for place in self._read.places.places:
                for change in (with_value_at, with_second_item):
                    made = self._with_value(case, place, value, change)
                    if made is not None:
                        yield made

    def _namespaces(self, case: Case) -> Iterator[Case]:
        """In Namespaces with other labels, if somebody asks for labels."""
        name = metadata.namespace(case.object.value) or case.namespace
        for labels in self._read.namespaces:
            meta = {"name": name, "labels": labels}
            made = self._kept({"apiVersion": "v1", "kind": "Namespace", "metadata": meta})
            yield replace(case, cluster=(*case.cluster, made))

    def _with_value(
        self,
        case: Case,
        place: Path,
        value: Any,  # noqa: ANN401 - any JSON
        change: _Change,
    ) -> Case | None:
        root, *steps = place
        given = self._given(case, str(root))
        if given is None or not _may_be(value, value_at(given, steps)):
            return None
        made = change(given, steps, value)
        if made is None or not _is_like(made, given):
            return None
        if root == "params":
            return replace(case, cluster=(*case.cluster, self._kept(made)))
        document = plain_document(made, _PLACE)
        if shape_problem(document) is not None:
            return None
        return replace(case, object=document) if root == "object" else replace(case, old=document)

    def _given(self, case: Case, root: str) -> JsonObject | None:
        """What stands for a variable of expressions."""
        if root == "object":
            return case.object.value
        if root == "oldObject":
            return None if case.old is None else case.old.value
        kind = self._read.param_kind
        if kind is None:
            return None
        found = (*self._bench.setting(case).manifests.looked_up, *case.cluster)
        same = [one for one in found if (one.value["apiVersion"], one.value["kind"]) == kind]
        return same[-1].value if same else None

    def _kept(self, value: dict[str, Any]) -> Document:
        """One document for all that are the same, so that settings are shared."""
        key = json.dumps(value, sort_keys=True)
        return self._documents.setdefault(key, plain_document(value, _PLACE))


def _asked_otherwise(case: Case) -> Iterator[Case]:
    """The same object with each operation; an update changes nothing as yet."""
    if case.subresource:
        return
    old = case.old or case.object
    yield replace(case, operation=Operation.CREATE, old=None)
    yield replace(case, operation=Operation.UPDATE, old=old)
    yield replace(case, operation=Operation.DELETE, old=None)


def _may_be(value: object, now: object) -> bool:
    """Whether something may stand where this stands now: anything for nothing, else the like."""
    return value is None or now is None or type(value) is type(now)


def _is_like(made: JsonObject, given: JsonObject) -> bool:
    """Whether it is of the same kind and has a name."""
    kinds = [(one.get("apiVersion"), one.get("kind")) for one in (made, given)]
    return kinds[0] == kinds[1] and isinstance(made.get("metadata"), dict)


def _key(case: Case) -> str:
    """The same for the same request."""
    objects = [case.object.value, None if case.old is None else case.old.value]
    user = [case.user.name, case.user.groups, case.user.uid]
    cluster = [one.value for one in case.cluster]
    asked = [case.operation.value, case.subresource, case.namespace, case.dry_run]
    return json.dumps([objects, user, cluster, asked], sort_keys=True, default=str)
