"""Asks the solver about mutants that no case and no search told apart: it proves them the same, or
gives a request on which they differ. And asks it for the requests of a first test.

Needs `celadon[prove]`; without it, nothing is said of them.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Final, NamedTuple

from celadon.admission import ADMIN, Operation
from celadon.cli.check.check_report import Place
from celadon.cli.check.manifests import PolicySet
from celadon.cli.policytest.case_results import Case, CaseVerdict, Expectation, plain_document
from celadon.cli.policytest.mutants.policy_mutants import Alteration
from celadon.cli.policytest.mutants.policy_stages import Stage, is_original
from celadon.cli.reading.documents import Document
from celadon.kube import GroupVersionKind, JsonObject, metadata
from celadon.kube.json_types import JsonDict
from celadon.kube.well_known_values import NAMESPACE_NAME
from celadon.records import dataclass

if TYPE_CHECKING:
    from celadon.prove import BoundPolicy, Example

_SECONDS: Final = 5
"""For one question. A mutant is as many as there are validations that may differ, with each kind
and operation of the policy."""

_PLACE: Final = "generated"
_TEXTS: Final = frozenset({"auditAnnotations", "messageExpression"})
"""What changes nothing but texts, which are not compared."""

EVERYWHERE_SAME: Final = "each validation says the same of every request"


def can_prove() -> bool:
    """Return whether there is a solver."""
    return importlib.util.find_spec("z3") is not None


@dataclass(frozen=True, slots=True)
class Proof:
    """Tells whether a mutant differs at all. `case` is a request on which the two differ. If there
    is none, `is_proved` says that there is none anywhere, or in what `bound` says."""

    case: Case | None = None
    is_proved: bool = False
    bound: str = ""


class MutantProofs:
    """Asks about the mutants of one policy on one stage."""

    def __init__(self, stage: Stage, name: str) -> None:
        self._name = name
        self._version = stage.bench.version
        case = stage.cases[0]
        policy_set = stage.bench.setting(case).sets.validating
        self._policy = policy_set.policies[name].document if name in policy_set.policies else None
        self._bindings = [
            binding.document
            for binding in policy_set.bindings.values()
            if binding.value.spec.policy_name == name
        ]
        self._definitions = [
            document.value
            for document in (*stage.test.cluster, *case.cluster)
            if document.is_definition
        ]

    def proof(self, alteration: Alteration) -> Proof:
        """Return what is proved of a mutant; nothing if it is not decided."""
        from celadon.prove import Finding, Mutant

        if self._policy is None or _TEXTS.intersection(alteration.path):
            return Proof()
        old, new = self._bound(None), self._bound(alteration)
        answer = Mutant(
            old, new, self._version, seconds=_SECONDS, definitions=self._definitions
        ).answer()
        if answer.telling is not None and answer.telling.example is not None:
            subresource = answer.telling.endpoint.subresource
            return Proof(self._case(answer.telling.example, subresource))
        if answer.finding is Finding.BOUNDED:
            bound = f"with at most {answer.items} items in {', '.join(answer.bounded)}"
            return Proof(is_proved=True, bound=f"{EVERYWHERE_SAME} {bound}")
        return Proof(is_proved=answer.finding is Finding.SAME)

    def _bound(self, alteration: Alteration | None) -> BoundPolicy:
        """Return the policy and its bindings, with an alteration."""
        from celadon.prove import BoundPolicy

        assert self._policy is not None
        policy = _altered(self._policy, alteration)
        assert policy is not None
        bindings = [_altered(binding, alteration) for binding in self._bindings]
        return BoundPolicy(policy, [binding for binding in bindings if binding is not None])

    def _case(self, example: Example, subresource: str) -> Case | None:
        """Return a request as a case of the test."""
        request = example.request
        is_deletion = request.operation is Operation.DELETE
        old_manifest = example.old_manifest if is_deletion else example.manifest
        if old_manifest is None:
            return None
        old = None if is_deletion else example.old_manifest
        return Case(
            "",
            Place(),
            Expectation(CaseVerdict.ADMIT),
            plain_document(old_manifest, _PLACE),
            None if old is None else plain_document(old, _PLACE),
            request.operation,
            subresource,
            request.namespace or "default",
            request.user if example.is_about_user else ADMIN,
            request.dry_run,
            tuple(plain_document(value, _PLACE) for value in example.around),
            policies=(self._name,),
        )


def _altered(document: Document, alteration: Alteration | None) -> JsonObject | None:
    """Return a policy or binding, with the alteration if that is of it; None if it is gone."""
    if alteration is None or not is_original(document, alteration.document):
        return document.value
    return alteration.altered


# --- Requests for a first test ------------------------------------------------


class Solved(NamedTuple):
    """A request: its object, the one it replaces (None for a CREATE), params (None for none), who
    asks (empty: an administrator), and the labels of the Namespace."""

    object: JsonDict
    old: JsonDict | None
    params: JsonDict | None
    user: str
    namespace: Mapping[str, str]


def solved_requests(
    policy_set: PolicySet,
    name: str,
    version: str,
    definitions: Sequence[JsonObject],
    param_kind: GroupVersionKind | None,
) -> Iterator[Solved]:
    """Yield requests for a validating policy; none without a solver."""
    if importlib.util.find_spec("z3") is None or name not in policy_set.policies:
        return
    from celadon.prove import BoundPolicy, TellingRequests

    bindings = [
        binding
        for binding in policy_set.bindings.values()
        if binding.value.spec.policy_name == name
    ]
    policy = BoundPolicy(
        policy_set.policies[name].document.value, [binding.document.value for binding in bindings]
    )
    for request in TellingRequests(policy, version, definitions).found():
        tried = _tried(request.example, param_kind)
        if tried is not None:
            yield tried


def _tried(example: Example, param_kind: GroupVersionKind | None) -> Solved | None:
    """Return the same as the search has requests; None for what it does not have: deletions, users
    of groups, several params."""
    if example.manifest is None:
        return None
    request = example.request
    params = [value for value in example.around if metadata.gvk(value) == param_kind]
    if len(params) > 1 or (example.is_about_user and request.user.groups):
        return None
    labels = [
        {key: value for key, value in metadata.labels(item).items() if key != NAMESPACE_NAME}
        for item in example.around
        if item["kind"] == "Namespace" and param_kind != metadata.gvk(item)
    ]
    return Solved(
        dict(example.manifest),
        None if example.old_manifest is None else dict(example.old_manifest),
        dict(params[0]) if params else None,
        request.user.name if example.is_about_user else "",
        labels[0] if labels else {},
    )
