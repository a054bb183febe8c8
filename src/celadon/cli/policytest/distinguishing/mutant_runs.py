"""`celadon test --mutate`: every alteration of every policy under test, and what became of it.

Cases are run until one fails; what survives them all is searched for a request that makes a
difference. Policies are independent of each other, so several processes may share them.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from typing import Any, Final, NamedTuple

from celadon.cli.check.check_report import Place
from celadon.cli.check.cluster import Cluster
from celadon.cli.policytest.coverage_counts import Measured
from celadon.cli.policytest.distinguishing.input_combinations import (
    InputCombinations,
    PolicyInputs,
    Space,
)
from celadon.cli.policytest.distinguishing.policy_stages import (
    Stage,
    altered_bench,
    as_original,
    compiled_policy,
    glance,
    is_mutating,
    is_same_object,
    stages,
)
from celadon.cli.policytest.distinguishing.proposed_cases import CaseWriter
from celadon.cli.policytest.distinguishing.request_pool import Generated, RequestPool
from celadon.cli.policytest.mutants.alteration_counts import (
    AlterationResult,
    Alterations,
    Fate,
    all_alterations,
)
from celadon.cli.policytest.mutants.canonical_expressions import is_same
from celadon.cli.policytest.mutants.mutated_files import diff
from celadon.cli.policytest.mutants.policy_mutants import Alteration, alterations
from celadon.cli.policytest.run.case_judging import Bench
from celadon.cli.policytest.run.case_results import Case, PolicyTest
from celadon.cli.worker_pipes import possible_workers, received, started
from celadon.kube import JsonObject
from celadon.kube.resources import Catalog

# --- Difference search -------------------------------------------------------
#
# The search for a request that tells a policy from an altered one.
#
# What it finds is a killing case. That it finds nothing is a proof within its bound, which it
# tells: all combinations of so many inputs with so many values (`input_combinations`).


MOST_REQUESTS: Final = 150
"""Requests that are compared before combinations are."""
_MOST_PROPOSALS: Final = 20
"""Requests that make a difference, of which each is tried as a case."""
_MOST_HIDDEN: Final = 5
"""Of those that make a difference which the answer does not show."""


_INSIDE: Final = frozenset({"validations", "mutations", "auditAnnotations"})


class Difference(NamedTuple):
    """`case` is the text of a killing case, empty if there is none. `requests` came to the policy
    and made no difference; `differs` says that others did, though no case could tell. `spaces` are
    the combinations that were asked without finding a case."""

    case: str
    requests: int
    differs: bool = False
    spaces: tuple[Space, ...] = ()


class DifferenceSearch:
    """The search for one policy on one stage; the requests are the same for all alterations."""

    def __init__(self, stage: Stage, name: str) -> None:
        self._stage = stage
        self._name = name
        self._writer = CaseWriter(stage)
        self._pool = RequestPool(stage.bench, stage.cases, name)
        engines = stage.bench.setting(stage.cases[0]).engines
        inputs = PolicyInputs(compiled_policy(engines, name))
        self._combinations = InputCombinations(self._pool, inputs, name)

    def difference(self, alteration: Alteration) -> Difference:
        """Return what the search comes to."""
        other = altered_bench(self._stage.bench, alteration)
        inside = self._is_inside(alteration)
        alike = proposals = 0
        hidden: list[Generated] = []
        spaces: list[Space] = []
        for one in self._requests(alteration, spaces):
            before = one.glance
            if inside and self._name not in before.reached:
                continue
            after = glance(other, one.case, None if is_mutating(alteration) else before.sent)
            is_same = after.seen == before.seen
            if is_same or as_original(after.shown, alteration) == before.shown:
                alike += self._name in before.reached
            elif after.answer == before.answer:
                hidden.append(one)
            elif proposals < _MOST_PROPOSALS:
                proposals += 1
                case = self._writer.killing_case(alteration, other, one)
                if case:
                    return Difference(case, alike, differs=True)
        case = self._first_case(alteration, other, hidden)
        return Difference(case, alike, proposals > 0 or bool(hidden), tuple(spaces))

    def _first_case(self, alteration: Alteration, other: Bench, found: list[Generated]) -> str:
        """Return the first of the requests whose answer is the same that a case tells apart all the
        same."""
        made = (self._writer.killing_case(alteration, other, one) for one in found[:_MOST_HIDDEN])
        return next(filter(None, made), "")

    def _requests(self, alteration: Alteration, spaces: list[Space]) -> Iterator[Generated]:
        """Some that are likely to make a difference, then all combinations within bounds, which
        are put to `spaces`."""
        asked = set()
        for one in self._pool.first(MOST_REQUESTS):
            asked.add(id(one))
            yield one
        for space in self._combinations.spaces(alteration):
            spaces.append(space)
            for one in space.requests:
                if id(one) not in asked:
                    asked.add(id(one))
                    yield one

    def _is_inside(self, alteration: Alteration) -> bool:
        """Return whether it shows only where the policy is evaluated."""
        path = alteration.path
        return path[:1] == ("spec",) and path[1] in _INSIDE


# --- Equality proofs ---------------------------------------------------------
#
# Alterations that are proved to make no difference, with the reason in a line.
#
# What is proved holds for any request to the clusters of the tests, not only for those of a
# search.


_LOGIC: Final = "both come to the same for any values"
_OBJECT: Final = "the API server makes the same of both"
_ALONE: Final = "nothing else in the tests changes objects, so no policy is asked again"


def proof(alteration: Alteration, stages: Sequence[Stage]) -> str:
    """Return why it makes no difference on any stage; empty if that is not proved."""
    if alteration.expression is not None:
        text = str(alteration.document.value_at(alteration.path))
        return _LOGIC if is_same(text, alteration.expression.text) else ""
    settings = [stage.bench.setting(case) for stage in stages for case in stage.cases]
    if is_same_object(alteration, settings[0].sets):
        return _OBJECT
    match alteration.path:
        case ("spec", "reinvocationPolicy"):
            others = (len(one.sets.mutating.policies) > 1 for one in settings)
            return "" if any(others) else _ALONE
        case ("spec", *_, "matchPolicy"):
            return _of_versions(alteration, settings)
        case _:
            return ""


def _of_versions(alteration: Alteration, settings: Sequence[Cluster]) -> str:
    """The policy of matching is about objects that are sent in another version, or another group,
    than rules name."""
    found: Any = alteration.document.value_at(alteration.path[:-1])
    constraints: JsonObject = found or {}
    rules = [
        *(constraints.get("resourceRules") or ()),
        *(constraints.get("excludeResourceRules") or ()),
    ]
    catalogs = {id(one.world.catalog): one.world.catalog for one in settings}.values()
    named = [list(_named(rules, one)) for one in catalogs]
    if any(several for found in named for _, several in found):
        return ""
    names = sorted({name for found in named for name, _ in found})
    if not names:
        return ""
    shown = ", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")
    return f"of {shown} one version is served"


def _named(rules: Sequence[JsonObject], catalog: Catalog) -> Iterator[tuple[str, bool]]:
    """Resources that rules name, and whether they are served in several versions."""
    for one in catalog:
        if any(_names(rule, one.gvr.group, one.gvr.version, one.gvr.resource) for rule in rules):
            yield str(one.gvr.group_resource), bool(catalog.equivalents(one.gvr))


def _names(rule: JsonObject, group: str, version: str, resource: str) -> bool:
    resources = {one.partition("/")[0] for one in rule.get("resources") or ()}
    return all(
        {value, "*"} & given
        for value, given in (
            (group, set(rule.get("apiGroups") or ())),
            (version, set(rule.get("apiVersions") or ())),
            (resource, resources),
        )
    )


def run_alterations(
    chosen: Sequence[tuple[PolicyTest, Sequence[Case]]],
    versions: Sequence[str],
    jobs: int,
    step: Callable[[int], None],
) -> Alterations:
    """Run the alterations of all policies that the chosen cases are about. `versions` are for tests
    that name none; `step` is told how many policies are done."""
    given = sorted(stages(chosen, versions).items(), key=lambda one: one[0])
    workers = max(1, min(possible_workers(jobs), len(given)))
    found: list[Alterations] = []
    with ExitStack() as stack:
        pipes = [
            started(functools.partial(_some, given[first::workers]), stack)
            for first in range(workers if workers > 1 else 0)
        ]
        for number, (policy, own) in enumerate(given):
            made = received(pipes[number % workers]) if pipes else None
            found.append(policy_alterations(policy, own) if made is None else made)
            step(number + 1)
    return all_alterations(found)


def _some(given: Sequence[tuple[Measured, list[Stage]]]) -> Iterator[Alterations]:
    for policy, own in given:
        yield policy_alterations(policy, own)


def policy_alterations(policy: Measured, own: Sequence[Stage]) -> Alterations:
    """Run the alterations of one policy, on all its stages."""
    searches = [DifferenceSearch(stage, policy.name) for stage in own]
    results = [
        _result(policy, one, own, searches)
        for one in alterations(own[0].documents)
        if all(stage.is_valid(one, policy.name) for stage in own)
    ]
    return Alterations(tuple(sorted(results, key=lambda one: one.place.line)))


def _result(
    policy: Measured, one: Alteration, own: Sequence[Stage], searches: Sequence[DifferenceSearch]
) -> AlterationResult:
    place = Place(one.document.file, one.document.line(one.path))
    result = functools.partial(AlterationResult, policy, one.kind, place, one.field, one.text)
    killers = (stage.killer(one) for stage in own)
    killer = next((found for found in killers if found is not None), None)
    if killer is not None:
        return result(Fate.KILLED, killer)
    reason = proof(one, own)
    if reason:
        return result(Fate.SAME, reason=reason)
    alike, differs = 0, False
    spaces: list[Space] = []
    for search in searches:
        found: Difference = search.difference(one)
        alike, differs = alike + found.requests, differs or found.differs
        spaces += found.spaces
        if found.case:
            return result(Fate.SURVIVED, requests=alike, diff=diff(one), case=found.case)
    if differs or not alike:
        fate = Fate.SURVIVED if differs else Fate.UNREACHED
        return result(fate, requests=alike, diff=diff(one))
    varied = frozenset[str]().union(*(space.varied for space in spaces))
    fixed = dict.fromkeys(name for space in spaces for name in space.fixed if name not in varied)
    if fixed:
        return result(Fate.OPEN, requests=alike, diff=diff(one), reason=", ".join(fixed))
    bounds = dict.fromkeys(space.bound for space in spaces)
    return result(Fate.ALIKE, requests=alike, reason="; ".join(bounds))
