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
from celadon.cli.policy_tests.telling_apart.combining.input_combinations import Space
from celadon.cli.policy_tests.telling_apart.difference_search import Difference, DifferenceSearch
from celadon.cli.policy_tests.telling_apart.equality_proofs import proof
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
