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
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from typing import Any, Final

from celadon.admission import ADMIN, Operation, PolicyFrame
from celadon.admission.registration import MatchResources
from celadon.cel import CheckedAst
from celadon.cel.extend import Literal
from celadon.cel.syntax import walk
from celadon.cli.check.check_report import Place
from celadon.cli.check.cluster import Engines
from celadon.cli.check.document_requests import refusal, user_info
from celadon.cli.policytest.case_judging import Bench
from celadon.cli.policytest.case_results import Case, CaseVerdict, Expectation, plain_document
from celadon.cli.policytest.mutants.policy_stages import Glance, compiled_policy, glance
from celadon.cli.policytest.referenced_fields import (
    ReadPlaces,
    read_places,
    seed_object,
    with_second_item,
    with_value_at,
)
from celadon.cli.reading.documents import Document, shape_problem
from celadon.cli.reading.json_text import Path, value_at
from celadon.kube import GroupVersionKind, JsonObject, metadata
from celadon.kube import User as KubeUser
from celadon.kube.json_types import JsonDict
from celadon.kube.resources import known_resources
from celadon.records import dataclass

# --- Case changes ------------------------------------------------------------
#
# A case with one thing changed that expressions can read, or selectors look at.
#
# Places are those of `input_combinations`: their first step is a variable of expressions. Behind
# `request` stand the user and whether it is a dry run; what a request is called comes from its
# object.

_PLACE: Final = "generated"
_NAMESPACE: Final = ("v1", "Namespace")
_NAMES: Final[Mapping[Path, Path]] = {
    ("request", "namespace"): ("object", "metadata", "namespace"),
    ("request", "name"): ("object", "metadata", "name"),
}

Change = Callable[[JsonObject, Sequence[str | int], Any], JsonDict | None]
"""What makes an object with another value at a place, as `value_search` has them."""


def asked_otherwise(case: Case) -> Iterator[Case]:
    """Yield the case with each operation; an update changes nothing as yet."""
    if case.subresource:
        return
    old = case.old or case.object
    yield replace(case, operation=Operation.CREATE, old=None)
    yield replace(case, operation=Operation.UPDATE, old=old)
    yield replace(case, operation=Operation.DELETE, old=None)


@dataclass(slots=True)
class CaseChanges:
    """Changes the cases of a test. `param_kind` is the version and kind of params, if the policy
    has any. Documents that are the same are one, so that settings are shared."""

    _bench: Bench
    _param_kind: tuple[str, str] | None
    _documents: dict[str, Document]

    def with_value(self, case: Case, place: Path, value: Any, change: Change) -> Case | None:  # noqa: ANN401 - any JSON
        """Return the changed case; None where that is nothing that could stand there, or nothing
        would be different."""
        root, *steps = _NAMES.get(place[:2], place[:2]) + place[2:]
        data = self._given(case, str(root))
        if data is None or not _may_be(value, value_at(data, steps)):
            return None
        result = change(data, steps, value)
        if result is None or not _is_like(result, data):
            return None
        if root in ("params", "namespaceObject"):
            return replace(case, cluster=(*case.cluster, self.kept(result)))
        if root == "request":
            return _asked_by(case, result)
        document = plain_document(result, _PLACE)
        if shape_problem(document) is not None:
            return None
        return replace(case, object=document) if root == "object" else replace(case, old=document)

    def value_at(self, case: Case, place: Path) -> Any:  # noqa: ANN401 - any JSON
        """Return what is there now; None if nothing is."""
        root, *steps = _NAMES.get(place[:2], place[:2]) + place[2:]
        return value_at(self._given(case, str(root)), steps)

    def in_namespace(self, case: Case, labels: Mapping[str, str]) -> Case:
        """Return the case in its Namespace with other labels."""
        changed = self.with_value(
            case, ("namespaceObject", "metadata", "labels"), labels, with_value_at
        )
        return case if changed is None else changed

    def without_params(self, case: Case) -> Case | None:
        """Return the case without the params that it brings; None if it brings none."""
        rest = tuple(
            document for document in case.cluster if _kind_of(document) != self._param_kind
        )
        return replace(case, cluster=rest) if len(rest) < len(case.cluster) else None

    def _given(self, case: Case, root: str) -> JsonObject | None:
        """Return what stands for a variable of expressions."""
        match root:
            case "object":
                return case.object.value
            case "oldObject":
                return None if case.old is None else case.old.value
            case "request":
                return _request(case)
            case "params":
                return self._latest(case, self._param_kind)
            case "namespaceObject":
                name = metadata.namespace(case.object.value) or case.namespace
                latest = self._latest(case, _NAMESPACE, name)
                return latest or {
                    "apiVersion": "v1",
                    "kind": "Namespace",
                    "metadata": {"name": name},
                }
            case _:
                return None

    def _latest(
        self, case: Case, kind: tuple[str, str] | None, name: str = ""
    ) -> JsonObject | None:
        """Return the last object of a kind that the case or its test brings."""
        result = [
            document.value
            for document in (*self._bench.setting(case).manifests.looked_up, *case.cluster)
            if _kind_of(document) == kind and (not name or metadata.name(document.value) == name)
        ]
        return result[-1] if result else None

    def kept(self, value: JsonObject) -> Document:
        """Return a document with this object."""
        key = json.dumps(value, sort_keys=True)
        return self._documents.setdefault(key, plain_document(value, _PLACE))


def _kind_of(document: Document) -> tuple[str, str]:
    return str(document.value["apiVersion"]), str(document.value["kind"])


def _request(case: Case) -> dict[str, object]:
    user = case.user
    return {
        "dryRun": case.dry_run,
        "userInfo": {
            "username": user.name,
            "groups": list(user.groups),
            "uid": user.uid,
            "extra": {key: list(values) for key, values in user.extra.items()},
        },
    }


def _asked_by(case: Case, obj: JsonObject) -> Case | None:
    """Ask by the user, and in the way, that the request tells."""
    info = obj.get("userInfo", {})
    name = info.get("username")
    if not name:
        return None
    groups, extra = info.get("groups") or (), info.get("extra") or {}
    if not all(map(_are_texts, (groups, *extra.values()))):
        return None
    defaulted = user_info(name, groups)  # nobody is without groups
    user = KubeUser(name, defaulted.groups, info.get("uid") or "", extra)
    return replace(case, user=user, dry_run=bool(obj.get("dryRun")))


def _are_texts(value: object) -> bool:
    return isinstance(value, list | tuple) and all(isinstance(item, str) for item in value)


def _may_be(value: object, now: object) -> bool:
    """Return whether something may stand where this stands now: anything for nothing, else the
    like."""
    return value is None or now is None or type(value) is type(now)


def _is_like(obj: JsonObject, value: JsonObject) -> bool:
    """Return whether it is of the same kind and has a name, if it is an object."""
    if "kind" not in value:
        return True
    kinds = [
        (value_of_kind.get("apiVersion"), value_of_kind.get("kind"))
        for value_of_kind in (obj, value)
    ]
    return kinds[0] == kinds[1] and isinstance(obj.get("metadata"), dict)


# --- Read policies -----------------------------------------------------------
#
# What a policy and its bindings ask of a request: kinds, labels, users, places and values.

_MOST_KINDS: Final = 8
_MOST_USERS: Final = 8
_MOST_OTHERS: Final = 4
"""Other policies whose wishes are looked at."""
_OTHER: Final = "something-else"

User = tuple[str, tuple[str, ...]]
"""Name and groups; an empty name is an administrator."""


@dataclass(frozen=True, slots=True)
class ReadPolicy:
    """Holds what a policy reads. `kinds` with the operations that are asked about; `namespaces` are
    labels of Namespaces that may make a difference; `object_labels` those that selectors want,
    `object_wishes` all values of them that selectors name."""

    kinds: tuple[tuple[GroupVersionKind, frozenset[Operation]], ...]
    places: ReadPlaces
    users: tuple[User, ...]
    namespaces: tuple[dict[str, str], ...]
    object_labels: dict[str, str]
    object_wishes: Mapping[str, Sequence[str]]
    param_kind: tuple[str, str] | None


def read_policy(engines: Engines, name: str) -> ReadPolicy:
    """Read a policy that is loaded."""
    part = next(policy_set for policy_set in engines.sets.all if name in policy_set.policies)
    spec = part.policies[name].value.spec
    bindings = [binding.value.spec for binding in part.bindings.values()]
    bound_resources = [
        binding.match_resources for binding in bindings if binding.policy_name == name
    ]
    constraints = [
        resources
        for resources in (spec.match_constraints, *bound_resources)
        if resources is not None
    ]
    checked = _checked(compiled_policy(engines, name))
    places = _places(engines, name)
    labels = [_wanted(constraint.object_selector) for constraint in constraints]
    spaces = [_wanted(constraint.namespace_selector) for constraint in constraints]
    kind = spec.param_kind
    return ReadPolicy(
        tuple(_kinds(constraints[:1])),
        _with_labels(places, labels),
        tuple(_users(checked)),
        tuple(_label_sets(spaces)),
        {key: values[0] for label in labels for key, values in label.items()},
        {key: values for label in labels for key, values in label.items()},
        None if kind is None else (kind.api_version, kind.kind),
    )


def _checked(compiled: PolicyFrame) -> list[CheckedAst]:
    return [
        expression.program.checked
        for expression in compiled.expressions
        if expression.program is not None
    ]


def _places(engines: Engines, name: str) -> ReadPlaces:
    """Return the places of the policy, then those of others that may have something against the
    request."""
    other_names = [other for part in engines.sets.all for other in part.policies if other != name]
    read = []
    for text in (name, *other_names[:_MOST_OTHERS]):
        compiled = compiled_policy(engines, text)
        variables = {
            key: variable.program.checked.root
            for key, variable in compiled.variables.items()
            if variable.program is not None
        }
        read.append(read_places([ast.root for ast in _checked(compiled)], variables))
    values = {(type(value), str(value)): value for places in read for value in places.values}
    places = dict.fromkeys(place for places in read for place in places.places)
    return ReadPlaces(tuple(places), tuple(values.values()))


def _kinds(
    constraints: Iterable[MatchResources],
) -> Iterator[tuple[GroupVersionKind, frozenset[Operation]]]:
    count = 0
    for rule in (rule for constraint in constraints for rule in constraint.resource_rules):
        expected = set(rule.operations)
        operations = frozenset(
            operation for operation in Operation if expected & {operation.value, "*"}
        )
        for resource in known_resources(all_versions=True):
            gvr = resource.gvr
            if (
                {gvr.group, "*"} & set(rule.api_groups)
                and {gvr.version, "*"} & set(rule.api_versions)
                and {gvr.resource, "*", "*/*"} & set(rule.resources)
                and count < _MOST_KINDS
            ):
                count += 1
                yield resource.gvk, operations


def _wanted(selector: JsonObject | None) -> dict[str, list[str]]:
    """Keys that a selector names, with values."""
    data = selector or {}
    result = {key: [value] for key, value in data.get("matchLabels", {}).items()}
    for match_expression in data.get("matchExpressions", ()):
        result.setdefault(match_expression["key"], []).extend(
            match_expression.get("values") or ["yes"]
        )
    return result


def _label_sets(label_values: Sequence[Mapping[str, list[str]]]) -> Iterator[dict[str, str]]:
    """Yield those that satisfy everybody, and others that lack one thing."""
    labels_by_key: dict[str, list[str]] = {}
    for labels in label_values:
        for key, values in labels.items():
            labels_by_key.setdefault(key, []).extend(values)
    if not labels_by_key:
        return
    full = {key: values[0] for key, values in labels_by_key.items()}
    yield full
    yield {}
    for key, values in labels_by_key.items():
        yield {other: value for other, value in full.items() if other != key}
        for value in dict.fromkeys((*values, _OTHER)):
            yield {**full, key: value}


def _with_labels(
    places_read: ReadPlaces, label_values: Sequence[Mapping[str, list[str]]]
) -> ReadPlaces:
    """Return the places with the labels of objects that selectors ask for."""
    places: list[Path] = []
    values: list[str] = []
    for labels in label_values:
        for key, value in labels.items():
            places.append(("object", "metadata", "labels", key))
            values += value
    return ReadPlaces(
        tuple(dict.fromkeys((*places, *places_read.places))),
        (
            *(value for value in dict.fromkeys(values) if value not in places_read.values),
            *places_read.values,
        ),
    )


def _users(checked: Sequence[CheckedAst]) -> Iterator[User]:
    """Anybody, and whoever is named where expressions read the user."""
    names = dict.fromkeys(
        node.value
        for expression in checked
        if "userInfo" in expression.ast.source.text
        for node in walk(expression.root)
        if isinstance(node, Literal) and isinstance(node.value, str)
    )
    yield "", ()
    yield "alice", ()
    for name in list(names)[:_MOST_USERS]:
        yield name or "nobody", ()
        yield "alice", (name,)


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
    """The requests for one policy and the cases of one test that are about it."""

    def __init__(self, bench: Bench, cases: Sequence[Case], name: str) -> None:
        self._bench = bench
        self._cases = cases
        self.read: ReadPolicy = read_policy(bench.setting(cases[0]).engines, name)
        self._name = name
        self._by_key: dict[str, Generated | None] = {}
        self._signs: set[object] = set()
        self._requests: list[Generated] = []
        self._source = self._all()
        self.changes = CaseChanges(bench, self.read.param_kind, {})

    def first(self, count: int) -> Iterator[Generated]:
        """Yield so many requests, or fewer if there are no more; the same ones each time."""
        count_made = len(self._requests)
        yield from self._requests[:count]
        for generated in islice(self._source, max(0, count - count_made)):
            self._requests.append(generated)
            yield generated

    def taken(self, case: Case, origin: Case | None) -> Generated | None:
        """Return the request; None if the API server refuses it. Made once."""
        key = _key(case)
        if key not in self._by_key:
            self._by_key[key] = self._made_of(case, origin)
        return self._by_key[key]

    def _made_of(self, case: Case, origin: Case | None) -> Generated | None:
        first_glance = glance(self._bench, case)
        if (
            first_glance.sent is None
            or refusal(first_glance.sent.document_request, first_glance.sent.setting.prepare)
            is not None
        ):
            return None
        return Generated(case, first_glance, origin)

    def _all(self) -> Iterator[Generated]:
        waiting: deque[Iterator[tuple[Case, Case | None]]] = deque([self._first()])
        trials = 0
        while waiting and trials < _MOST_TRIALS:
            turn = waiting.popleft()
            result = list(islice(turn, _TURN))
            trials += len(result)
            for case, origin in result:
                generated = None if _key(case) in self._by_key else self.taken(case, origin)
                if generated is not None:
                    yield generated
                    if self._is_news(generated):
                        waiting.append(self._changed(generated))
            if result:
                waiting.append(turn)

    def _is_news(self, generated: Generated) -> bool:
        sign = (
            generated.case.operation,
            generated.case.object.value["kind"],
            *generated.glance.signs,
        )
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
            yield from (
                (other_case, None)
                for other_case in asked_otherwise(case)
                if other_case.operation in operations
            )

    def _changed(self, generated: Generated) -> Iterator[tuple[Case, Case | None]]:
        for case in self._changes(generated.case):
            yield case, generated.origin

    def _changes(self, case: Case) -> Iterator[Case]:
        yield from asked_otherwise(case)
        for name, groups in self.read.users:
            yield replace(case, user=user_info(name, groups) if name else ADMIN)
        for labels in self.read.namespaces:
            yield self.changes.in_namespace(case, labels)
        for value in (None, *self.read.places.values):
            for place in self.read.places.places:
                for change in (with_value_at, with_second_item):
                    changed = self.changes.with_value(case, place, value, change)
                    if changed is not None:
                        yield changed


def _key(case: Case) -> str:
    """Return a text that is the same for the same request."""
    objects = [case.object.value, None if case.old is None else case.old.value]
    user = [case.user.name, case.user.groups, case.user.uid, dict(case.user.extra)]
    cluster = [document.value for document in case.cluster]
    question = [case.operation.value, case.subresource, case.namespace, case.dry_run]
    question += [repr(answer) for answer in case.answers]
    return json.dumps([objects, user, cluster, question], sort_keys=True, default=str)
