"""`celadon test --mutate`: every alteration of every policy under test, and what became of it.

Cases are run until one fails; what survives them all is searched for a request that makes a
difference. Policies are independent of each other, so several processes may share them.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack

from celadon.cli.checking.check_report import Place
from celadon.cli.policy_tests.alteration_counts import (
    AlterationResult,
    Alterations,
    Fate,
    all_alterations,
)
from celadon.cli.policy_tests.altering.alterations import Alteration, alterations
from celadon.cli.policy_tests.altering.altered_files import diff
from celadon.cli.policy_tests.coverage_counts import Measured
from celadon.cli.policy_tests.policy_test import Case, PolicyTest
from celadon.cli.policy_tests.telling_apart.altered_benches import is_same_object
from celadon.cli.policy_tests.telling_apart.difference_search import Difference, DifferenceSearch
from celadon.cli.policy_tests.telling_apart.policy_stages import Stage, stages
from celadon.cli.worker_pipes import possible_workers, received, started


def run_alterations(
    chosen: Sequence[tuple[PolicyTest, Sequence[Case]]],
    versions: Sequence[str],
    jobs: int,
    step: Callable[[int], None],
) -> Alterations:
    """Of all policies that the chosen cases are about. `versions` are for tests that name none;
    `step` is told how many policies are done."""
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
    """Of one policy, on all its stages."""
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
    if _is_same(one, own[0]):
        return result(Fate.SAME)
    killers = (stage.killer(one) for stage in own)
    killer = next((found for found in killers if found is not None), None)
    if killer is not None:
        return result(Fate.KILLED, killer)
    alike, differs = 0, False
    for search in searches:
        found: Difference = search.difference(one)
        alike, differs = alike + found.requests, differs or found.differs
        if found.case:
            return result(Fate.SURVIVED, requests=alike, diff=diff(one), case=found.case)
    if not differs and alike:
        return result(Fate.ALIKE, requests=alike)
    fate = Fate.SURVIVED if differs else Fate.UNREACHED
    return result(fate, requests=alike, diff=diff(one))


def _is_same(one: Alteration, stage: Stage) -> bool:
    """Whether it is proved that nothing is different."""
    if one.expression is not None:
        return one.expression.is_same
    return is_same_object(one, stage.bench.setting(stage.cases[0]).sets)
