"""The search for objects that a policy lets pass, and for one that each validation refuses.

It begins with a seed for each kind that the rules name, and changes what the expressions read to
what they compare with: one place at a time, then one more, up to `MOST_TRIALS` requests in all.
Each trial is a case that is judged as any other, so whatever is found is so.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import field, replace
from typing import Any, Final

from celadon.admission import Operation
from celadon.admission.registration import MatchResources
from celadon.cli.checking.check_report import Place
from celadon.cli.checking.questions import user_info
from celadon.cli.policy_tests.case_results import CaseOutcome
from celadon.cli.policy_tests.expectations import CaseVerdict, Expectation
from celadon.cli.policy_tests.first_tests.changed_values import with_value_at
from celadon.cli.policy_tests.first_tests.read_places import ReadPlaces, read_places
from celadon.cli.policy_tests.first_tests.seed_objects import seed_object
from celadon.cli.policy_tests.policy_test import Case, PolicyTest, plain_document
from celadon.cli.policy_tests.running.case_bench import Bench
from celadon.cli.policy_tests.running.case_outcomes import outcome_of
from celadon.cli.reading.documents import Document
from celadon.cli.reading.json_places import Path
from celadon.kube import GroupVersionKind
from celadon.kube.catalogue import Resource, known_resources
from celadon.records import dataclass

MOST_TRIALS: Final = 3000
_MOST_KINDS: Final = 3
_PLACE: Final = "search"
_USERS: Final = ("", "alice")


@dataclass(frozen=True, slots=True)
class Tried:
    """A request: its object, the one it replaces (None for a CREATE), params (None for none), and
    who asks (empty: an administrator)."""

    object: dict[str, Any]
    old: dict[str, Any] | None = None
    params: dict[str, Any] | None = None
    user: str = ""

    @property
    def key(self) -> str:
        """The same for the same request."""
        return json.dumps([self.object, self.old, self.params, self.user], sort_keys=True)


@dataclass(slots=True)
class Found:
    """What a search came to: a request that is admitted, and by index of the validation one that is
    refused, with its message. `namespace_labels` are those that selectors ask for."""

    validations: tuple[str, ...]
    namespace_labels: dict[str, str]
    trials: int = 0
    admitted: Tried | None = None
    refused: dict[int, tuple[Tried, str]] = field(default_factory=dict)

    @property
    def unsolved(self) -> list[int]:
        """The validations that refused nothing."""
        return [i for i in range(len(self.validations)) if i not in self.refused]

    @property
    def is_complete(self) -> bool:
        """Whether nothing is left to be found."""
        return self.admitted is not None and not self.unsolved


def search(documents: Sequence[Document], name: str, version: str) -> Found:
    """For the policy of a name among the documents, which are taken by the API server."""
    test = PolicyTest("search", "", tuple(documents), ())
    return _Search(Bench(test, version), name).found()


class _Search:
    def __init__(self, bench: Bench, name: str) -> None:
        self._bench = bench
        self._name = name
        self._documents: dict[str, Document] = {}
        self._alone: set[int] = set()
        """Validations of which a request is known that nothing else refuses."""
        probe = Case("", Place(), Expectation(CaseVerdict.ADMIT), plain_document(_NOTHING, _PLACE))
        engines = bench.setting(probe).engines
        placed = engines.sets.validating.policies[name]
        self._spec = placed.value.spec
        self._bindings = [
            one.value.spec
            for one in engines.sets.validating.bindings.values()
            if one.value.spec.policy_name == name
        ]
        compiled = next(one for one in engines.validating.policies if one.name == name)
        programs = {key: one.program for key, one in compiled.variables.items()}
        variables = {k: one.checked.ast.root for k, one in programs.items() if one is not None}
        expressions = [
            *(one.expression for one in compiled.validations),
            *(one.expression for one in compiled.conditions),
        ]
        roots = [one.program.checked.ast.root for one in expressions if one.program is not None]
        self._read: ReadPlaces = read_places(roots, variables)
        constraints = [
            self._spec.match_constraints,
            *(one.match_resources for one in self._bindings),
        ]
        namespaces = _wanted_labels(constraints, "namespace_selector")
        texts = tuple(one.expression.text for one in compiled.validations)
        self._found = Found(texts, namespaces)
        self._labels = _wanted_labels(constraints, "object_selector")

    def found(self) -> Found:
        """What the search comes to."""
        seeds = [replace(one, user=user) for user in _USERS for one in self._seeds()]
        seen: set[str] = set()
        layer = [one for one in seeds if self._is_new(one, seen)]
        for _ in range(3):
            reached = [one for one in layer if self._try(one)]
            layer = [
                one for seed in reached for one in self._changed(seed) if self._is_new(one, seen)
            ]
        return self._found

    def _is_new(self, one: Tried, seen: set[str]) -> bool:
        key = one.key
        fresh = key not in seen
        seen.add(key)
        return fresh

    def _seeds(self) -> Iterator[Tried]:
        updates = "oldObject" in {place[0] for place in self._read.places}
        params = self._params()
        for resource, operations in self._resources():
            value = seed_object(resource.gvk, self._labels)
            if operations & {"CREATE", "*"} and not updates:
                yield Tried(value, None, params)
            if operations & {"UPDATE", "*"}:
                yield Tried(value, value, params)

    def _params(self) -> dict[str, Any] | None:
        kind = self._spec.param_kind
        if kind is None:
            return None
        refs = [one.param_ref for one in self._bindings if one.param_ref is not None]
        name = next((one.name for one in refs if one.name), "params")
        labels = next(
            (dict(one.selector.get("matchLabels", {})) for one in refs if one.selector), {}
        )
        group, _, version = kind.api_version.rpartition("/")
        made = seed_object(GroupVersionKind(group, version, kind.kind), labels)
        return {**made, "metadata": {**made["metadata"], "name": name}}

    def _resources(self) -> list[tuple[Resource, set[str]]]:
        constraints = self._spec.match_constraints
        found = []
        for rule in () if constraints is None else constraints.resource_rules:
            for resource in known_resources(all_versions=True):
                own = resource.gvr
                if (
                    {own.group, "*"} & set(rule.api_groups)
                    and {own.version, "*"} & set(rule.api_versions)
                    and {own.resource, "*", "*/*"} & set(rule.resources)
                ):
                    found.append((resource, set(rule.operations)))
        return found[:_MOST_KINDS]

    def _changed(self, seed: Tried) -> Iterator[Tried]:
        """With one place changed: gone, or one of the values."""
        for place in self._read.places:
            for change in (None, *self._read.values):
                made = _with_change(seed, place, change)
                if made is not None:
                    yield made

    def _try(self, one: Tried) -> bool:
        """Whether the policy looked at it, and there is something left to be looked for."""
        found = self._found
        if found.is_complete or found.trials >= MOST_TRIALS:
            return False
        found.trials += 1
        outcome = self._outcome(one)
        if outcome is None or outcome.verdict is CaseVerdict.INVALID:
            return False
        if outcome.verdict is CaseVerdict.ADMIT and found.admitted is None:
            found.admitted = one
        fields = {violation.field: violation for violation in outcome.deciding}
        for i in range(len(found.validations)):
            violation = fields.get(f"spec.validations[{i}].expression")
            better = i not in found.refused or (len(fields) == 1 and i not in self._alone)
            if violation is not None and not violation.is_error and better:
                found.refused[i] = one, violation.message
                if len(fields) == 1:
                    self._alone.add(i)
        return True

    def _outcome(self, one: Tried) -> CaseOutcome | None:
        document = plain_document(one.object, _PLACE)
        cluster = [] if one.params is None else [self._kept(one.params)]
        if self._found.namespace_labels:
            meta = {"name": "default", "labels": self._found.namespace_labels}
            cluster.append(self._kept({"apiVersion": "v1", "kind": "Namespace", "metadata": meta}))
        case = Case(
            "",
            Place(),
            Expectation(CaseVerdict.ADMIT),
            document,
            None if one.old is None else plain_document(one.old, _PLACE),
            Operation.CREATE if one.old is None else Operation.UPDATE,
            cluster=tuple(cluster),
            policies=(self._name,),
        )
        if one.user:
            case = replace(case, user=user_info(one.user, ()))
        judged = self._bench.judged(case)
        return outcome_of(case, judged) if judged.findings.results else None

    def _kept(self, value: dict[str, Any]) -> Document:
        """One document for all that are the same."""
        return self._documents.setdefault(json.dumps(value), plain_document(value, _PLACE))


_NOTHING: Final = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "nothing"}}


def _wanted_labels(constraints: Sequence[MatchResources | None], which: str) -> dict[str, str]:
    """The labels that selectors name."""
    found: dict[str, str] = {}
    for one in constraints:
        if one is not None:
            selectors = {
                "namespace_selector": one.namespace_selector,
                "object_selector": one.object_selector,
            }
            found |= (selectors[which] or {}).get("matchLabels", {})
    return found


def _with_change(seed: Tried, place: Path, value: Any) -> Tried | None:  # noqa: ANN401 - any JSON
    """None where nothing can be changed."""
    root, *steps = place
    given = {"object": seed.object, "oldObject": seed.old, "params": seed.params}[str(root)]
    if given is None:
        return None
    made = with_value_at(given, steps, value)
    if made is None:
        return None
    if root == "object":
        return replace(seed, object=made)
    return replace(seed, old=made) if root == "oldObject" else replace(seed, params=made)
