"""What cases have not reached, for people: policy by policy, each part with its line."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby
from typing import Final

from celadon.cli.checking.check_report import Place
from celadon.cli.explaining.value_texts import shortened
from celadon.cli.formats.check_human import Look
from celadon.cli.policy_tests.coverage_counts import Coverage, Goal, Measured, Wanted

_MOST_CHARACTERS: Final = 100


def coverage_blocks(coverage: Coverage, wanted: float, look: Look) -> Iterator[list[str]]:
    """A block for each policy, then one for all."""
    for policy, found in coverage.of_policies().items():
        yield [_head(policy, found, look), *missing_lines(found)]
    seen, every = coverage.errors
    less = f", less than {wanted:g}%" if coverage.percentage < wanted else ""
    yield [
        f"coverage: {share(coverage)}{look.paint('denied', less) if less else ''}; "
        f"{seen} of {every} expressions gave an error once"
    ]


def share(coverage: Coverage) -> str:
    """Rounded down: 100% is all."""
    tenths = int(coverage.percentage * 10) / 10
    return f"{tenths:g}% ({coverage.reached} of {coverage.goals})"


def _head(policy: Measured, found: Coverage, look: Look) -> str:
    style, word = ("admitted", "FULL") if found.reached == found.goals else ("warning", "PART")
    where = f"{policy.file}:{policy.line}"
    return f"{look.paint(style, word)} {where} {policy.kind} `{policy.name}`: {share(found)}"


def missing_lines(coverage: Coverage) -> Iterator[str]:
    """One for each part of which something is missing; of an expression that was never evaluated
    only that."""
    missed = (goal for goal, count in coverage.hits if goal.counts and not count)
    for _, of_field in groupby(missed, lambda one: one.field):
        goals = list(of_field)
        if goals[0].wanted is Wanted.EVALUATED:
            goals = goals[:1]
        for (place, field, text, _), parts in groupby(goals, _part):
            said = ", ".join(f"never {one.wanted.value}" for one in parts)
            shown = f": {shortened(' '.join(text.split()), _MOST_CHARACTERS)}" if text else ""
            yield f"  {place} {field}{shown}: {said}"


def _part(goal: Goal) -> tuple[Place, str, str, int]:
    return goal.place, goal.field, goal.text, goal.start
